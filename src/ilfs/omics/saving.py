"""Adding the result of a ranking to an ``.h5ad`` file, without copying the cells."""

import os
from typing import Any

import numpy as np

from ilfs.omics.tables import result_of

PART = "ilfs.part"  # key of what is being written; it gets its name when it is complete


def save(adata: Any, path: str | os.PathLike[str], key: str = "ilfs") -> None:
    """Add the result of `rank` to an ``.h5ad`` file that has the same genes, such as the one that was ranked.

    Only the result is written, so this takes no time for a large file. For AnnData in memory, ``adata.write_h5ad``
    does the same and writes everything else, too. Close a backed AnnData first, ``adata.file.close()``, and for a lazy
    one the file that it was read from: HDF5 does not write to a file that is open for reading.

    Parameters
    ----------
    adata : AnnData
        It has been ranked by `rank`.
    path : path-like
        The file; ``uns[key]`` and the columns of ``var`` that `rank` writes are replaced.
    key : str, default="ilfs"
        Key of the result in ``adata.uns``.

    Returns
    -------
    None
        The file is changed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import anndata
    >>> import ilfs
    >>> from ilfs.datasets import make_cells
    >>> path = Path(tempfile.mkdtemp(), "cells.h5ad")
    >>> make_cells(n_cells=300, n_genes=200).write_h5ad(path)
    >>> backed = anndata.read_h5ad(path, backed="r")
    >>> ilfs.omics.rank(backed, "cell_type", n_permutations=0)
    >>> backed.file.close()
    >>> ilfs.omics.save(backed, path)
    >>> anndata.read_h5ad(path).uns["ilfs"]["names"]["B cell"][0]
    'B4'
    """
    import h5py

    result = result_of(adata, key)
    columns = {name: adata.var[name] for name in list(adata.var.columns) if str(name).startswith(f"{key}_")}
    try:
        file = h5py.File(path, "r+")
    except OSError as error:
        raise OSError(
            f"{os.fspath(path)} must be an .h5ad file that can be written to and is not open: close it, "
            f"adata.file.close() ({error})"
        ) from None
    with file:
        check_genes(file["var"], [str(name) for name in adata.var_names], path)
        for name, values in columns.items():
            replace(file["var"], name, column_of(values))
        add_to_order(file["var"], list(columns))
        replace(file.require_group("uns"), key, {name: result[name] for name in result})


def check_genes(var: Any, genes: list[str], path: Any) -> None:
    """Raise if the genes of a file are not those of the result."""
    index = var[var.attrs["_index"]].asstr()[...].tolist()
    if index != genes:
        raise ValueError(f"{os.fspath(path)} must have the genes of adata in the same order, got others")


def add_to_order(var: Any, names: list[str]) -> None:
    """Add names to the list of the columns of a data frame in a file."""
    known = [str(name) for name in var.attrs["column-order"]]
    var.attrs["column-order"] = np.array([*dict.fromkeys([*known, *names])], dtype=object)


def replace(group: Any, key: str, value: Any) -> None:
    """Write an element, and let it take the place of another one when it is complete."""
    from anndata.io import write_elem

    if PART in group:
        del group[PART]
    write_elem(group, PART, value)
    if key in group:
        del group[key]
    group.move(PART, key)


def column_of(values: Any) -> Any:
    """Return the values of a column as an array that anndata can write; a lazy column is loaded."""
    found = getattr(values, "array", values)
    return found if hasattr(found, "categories") else np.asarray(found)
