"""The cells of an AnnData as a source: the matrix that is ranked, and columns of ``obs``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats
from ilfs.importing import check_installed
from ilfs.parameters import check_choice
from ilfs.sources import Source, TableSource
from ilfs.sources.anndata import is_dask, open_anndata
from ilfs.sources.cluster import local_options
from ilfs.sources.recognise import kinds_of
from ilfs.sources.roles import MAX_NAMES_SHOWN, Request, find_column
from ilfs.warn import warn

MAX_LOGARITHM = 25.0  # of log1p values: the natural logarithm of 7e10 counts
MAX_ROWS_PROBED = 200  # rows of a table in memory that are searched for values that are no counts


@dataclass(frozen=True)
class MatrixOfCells:
    """One matrix of an AnnData, with the attributes that `open_anndata` reads.

    Parameters
    ----------
    X : ndarray, sparse matrix, HDF5 dataset or Dask array of shape (n_cells, n_genes)
        The values.
    var_names : sequence of str
        Names of the genes.
    obs : data frame
        Columns of the cells.
    isbacked : bool
        True if X is in a file.
    is_view : bool
        True if X has some of the rows or columns of the file only.
    """

    X: Any
    var_names: Any
    obs: Any
    isbacked: bool
    is_view: bool = False


def check_anndata(adata: Any) -> None:
    """Raise unless the object is an AnnData, or if the package anndata is not installed."""
    check_installed("anndata", "omics", "ilfs.omics")
    if ("anndata", "AnnData") not in kinds_of(adata):
        raise TypeError(f"adata must be an AnnData, got {type(adata).__name__}: make one, anndata.AnnData(X, obs, var)")


def matrix_of(adata: Any, layer: str | None, use_raw: bool) -> MatrixOfCells:
    """Return the matrix that is to be ranked: ``X``, a layer, or ``raw.X``.

    Parameters
    ----------
    adata : AnnData
        In memory, backed or lazy.
    layer : str or None
        Name of the layer; None for ``X``.
    use_raw : bool
        True for ``raw.X``.

    Returns
    -------
    MatrixOfCells
        The matrix.
    """
    check_choice("use_raw", use_raw, (True, False))
    if not adata.n_vars:
        raise ValueError("adata must have at least 1 gene, got 0 in adata.var_names")
    check_unique(adata.var_names)
    backed = bool(adata.isbacked)
    if use_raw:
        check_raw(adata, layer)
        check_unique(adata.raw.var_names)
        return MatrixOfCells(adata.raw.X, adata.raw.var_names, adata.obs, backed, adata.is_view)
    if backed and adata.is_view:  # some versions of anndata cannot even return its sparse matrix
        raise TypeError("adata must be a whole file, got a view of a backed AnnData: load it, adata.to_memory()")
    if layer is not None:
        check_layer(adata, layer)
        X = adata.layers[layer]
        return MatrixOfCells(X, adata.var_names, adata.obs, backed and not is_loaded(X))
    return MatrixOfCells(adata.X, adata.var_names, adata.obs, backed, adata.is_view)


def check_unique(names: Any) -> None:
    """Raise if two genes have the same name."""
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise ValueError(f"genes must have different names, got {twice!r} twice: call adata.var_names_make_unique()")


def check_raw(adata: Any, layer: str | None) -> None:
    """Raise if ``raw`` cannot be ranked."""
    if layer is not None:
        raise ValueError(f"use_raw=True must not be used with a layer, got layer={layer!r}: choose one of the two")
    if adata.raw is None:
        raise ValueError("use_raw=True needs adata.raw, which is None: set use_raw=False to rank adata.X")


def check_layer(adata: Any, layer: str) -> None:
    """Raise if there is no such layer."""
    names = [name for name in adata.layers if name is not None]  # None is X in newer versions of anndata
    if layer not in names:
        some = ", ".join(map(repr, names[:MAX_NAMES_SHOWN])) or "none"
        raise ValueError(f"layer must be one of adata.layers ({some}), got {layer!r}")


def is_loaded(matrix: Any) -> bool:
    """Return True for an array or a sparse matrix in memory."""
    return isinstance(matrix, np.ndarray) or bool(sparse.issparse(matrix))


def open_cells(cells: MatrixOfCells, y: NDArray[Any], weight: Floats | None) -> Source:
    """Make a source of a matrix of cells.

    Parameters
    ----------
    cells : MatrixOfCells
        The matrix.
    y : ndarray of shape (n_cells,) or (n_cells, n_groups)
        0 or 1 for each group of cells.
    weight : ndarray of shape (n_cells,) or None
        0 for a cell that is left out.

    Returns
    -------
    Source
        The cells, in memory or read in blocks.
    """
    if is_dask(cells.X):
        check_readable(cells.X)
    return open_anndata(cells, Request(y=y, sample_weight=weight, name="adata"))


def check_readable(matrix: Any) -> None:
    """Read one row of a lazy matrix; raise if anndata cannot read sparse rows with this version of SciPy."""
    try:
        matrix[:1].compute(**local_options(None))
    except AttributeError as error:
        if "backed_cs" not in str(error):
            raise
        raise TypeError(
            "this version of anndata cannot read a lazy sparse matrix with this version of SciPy: open the file with "
            'anndata.read_h5ad(path, backed="r"), which ilfs reads itself'
        ) from None


def obs_values(adata: Any, role: str, column: str) -> Any:
    """Return a column of ``obs`` as a pandas series; of a lazy AnnData, it is loaded.

    Parameters
    ----------
    adata : AnnData
        In memory, backed or lazy.
    role : str
        Name of the parameter, for messages.
    column : str
        Name of the column.

    Returns
    -------
    pandas.Series
        One value for each cell.
    """
    if not isinstance(column, str):
        raise ValueError(f"{role} must be the name of a column of adata.obs, got {column!r}")
    names = [str(name) for name in adata.obs.columns]
    find_column(role, column, names, len(names), "adata.obs")
    if names.count(column) > 1:
        raise ValueError(f"adata.obs must have one column {column!r}, got {names.count(column)}")
    values = adata.obs[column]
    if not hasattr(values, "to_series"):
        return values
    loaded = values.to_series()
    return loaded.astype(values.dtype) if str(values.dtype) == "category" else loaded  # in the order of its categories


def warn_of_units(source: Source) -> None:
    """Warn if the values do not look like logarithms of counts. Only the first rows are examined."""
    X = source.to_matrix()[:MAX_ROWS_PROBED] if isinstance(source, TableSource) else next(source.blocks()).X
    values = np.asarray(X.data if sparse.issparse(X) else X)
    values = values[np.isfinite(values)]
    if values.size and values.max() > 1 and (values == np.floor(values)).all():
        warn(
            "the values look like counts, and ilfs.omics expects logarithms: use scanpy.pp.normalize_total and "
            "scanpy.pp.log1p first, or name the layer that has them"
        )
    elif values.size and values.max() > MAX_LOGARITHM:
        warn(
            f"ilfs.omics expects logarithms, and a value of {values.max():g} is too large for one: use scanpy.pp.log1p "
            "first, or name the layer that has logarithms"
        )
    elif values.size and values.min() < 0:
        warn(
            f"logfoldchanges and fractions of expressing cells have no meaning for values below 0, got "
            f"{values.min():g}: name the layer that has logarithms of counts"
        )
