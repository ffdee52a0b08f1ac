"""Adding the result of a ranking to an ``.h5ad`` file, without copying the cells."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from ilfs.files import writing_error
from ilfs.omics.draft import Draft
from ilfs.omics.results import GENE_COLUMNS
from ilfs.omics.tables import result_of


def save(adata: Any, path: str | os.PathLike[str], key: str = "ilfs") -> None:
    """Add the result of `rank` to an ``.h5ad`` file that has the same genes, such as the one that was ranked.

    Only the result is written, so this takes no time for a large file. For AnnData in memory, ``adata.write_h5ad``
    does the same and writes everything else, too. Close a backed AnnData first, ``adata.file.close()``, and for a lazy
    one the file that it was read from: HDF5 does not write to a file that is open for reading. After an error, such as
    a full disk, the file is as it was.

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
    result = result_of(adata, key)
    columns = {f"{key}_{name}": adata.var[f"{key}_{name}"] for name in GENE_COLUMNS if f"{key}_{name}" in adata.var}
    with changed(Path(path)) as file:
        check_genes(file, [str(name) for name in adata.var_names], path)
        for name, values in columns.items():
            replace(file["var"], name, column_of(values))
        add_to_order(file["var"], list(columns))
        replace(file.require_group("uns"), key, {name: frame_of(result[name]) for name in result})


@contextmanager
def changed(path: Path) -> Iterator[Any]:
    """Open an HDF5 file that gets all changes of the block at its end, or none after an error."""
    import h5py

    with opened(path) as file:
        draft = Draft(file)
        try:
            content = h5py.File(draft, "r+")
        except OSError as error:
            raise ValueError(f"{str(path)!r} must be an .h5ad file ({error})") from None
        with content:
            yield content
        try:
            draft.commit()
        except OSError as error:
            raise writing_error(path, error) from None


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading and writing; an error if a program has it open as an HDF5 file."""
    try:
        file = path.open("r+b", buffering=0)
    except OSError as error:
        raise writing_error(path, error) from None
    try:
        lock(file)
    except BlockingIOError:
        file.close()
        raise OSError(f"{str(path)!r} is open in a program, perhaps this one: close it, adata.file.close()") from None
    return file


def lock(file: IO[bytes]) -> None:
    """Take the lock that HDF5 takes for writing, if there are such locks: not on Windows and some network disks."""
    with suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            pass


def check_genes(file: Any, genes: list[str], path: Any) -> None:
    """Raise if the genes of a file are not those of the result."""
    from anndata.io import read_elem

    if "var" not in file or "_index" not in file["var"].attrs:
        raise ValueError(f"{os.fspath(path)} must be an .h5ad file, which has a table var of the genes, got none")
    index = file["var"][file["var"].attrs["_index"]]
    if [str(name) for name in read_elem(index)] != genes:
        raise ValueError(f"{os.fspath(path)} must have the genes of adata in the same order, got others")


def add_to_order(var: Any, names: list[str]) -> None:
    """Add names to the list of the columns of a data frame in a file."""
    known = [str(name) for name in var.attrs["column-order"]]
    var.attrs["column-order"] = np.array([*dict.fromkeys([*known, *names])], dtype=object)


def replace(group: Any, key: str, value: Any) -> None:
    """Write an element in the place of another one, if there is one."""
    from anndata.io import write_elem

    if key in group:
        del group[key]
    write_elem(group, key, value)


def column_of(values: Any) -> Any:
    """Return the values of a column as an array that anndata can write; a lazy column is loaded."""
    import pandas as pd

    found = getattr(values, "array", values)
    if not hasattr(found, "categories"):
        return np.asarray(found)
    return pd.Categorical.from_codes(found.codes, pd.Index(found.categories, dtype=object), ordered=found.ordered)


def frame_of(value: Any) -> Any:
    """Return a data frame with Python strings as names, which all versions of anndata can write; other values as is."""
    import pandas as pd

    if not isinstance(value, pd.DataFrame):
        return value
    return value.set_axis(pd.Index(value.index, dtype=object), axis=0).set_axis(
        pd.Index(value.columns, dtype=object), axis=1
    )
