"""The function `prepare`."""

import os
import weakref
from collections.abc import Sequence
from pathlib import Path

from ilfs.preparing.inputs import Input, find_input
from ilfs.preparing.loaded import prepare_loaded
from ilfs.preparing.matrices import prepare_matrix
from ilfs.preparing.options import Options
from ilfs.preparing.prepared import PreparedTable
from ilfs.preparing.raw_files import may_be_table, read_raw_table
from ilfs.preparing.streams import prepare_on_dask, prepare_stream, should_stream


def prepare(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    samples: str | os.PathLike[str] | None = None,
    transpose: bool | None = None,
    drop: str | Sequence[str] = (),
    only: str | Sequence[str] = (),
    id: str | None = None,
    weight: str | None = None,
    groups: str | None = None,
    encode: bool = False,
    input_format: str | None = None,
    engine: str = "auto",
    memory_limit: int | str | None = None,
    needs_target: bool = True,
) -> PreparedTable:
    r"""Prepare a file for ``fit``: set aside names, dates and constants, and transpose tables with genes in rows.

    Parameters
    ----------
    path : str or path
        A file (csv, tsv, txt, parquet, feather, xlsx, npz, npy, svmlight, arff, mat, h5ad and the other formats of
        :func:`ilfs.datasets.read_table`), text also compressed; a folder or pattern of Parquet files; the name of a
        registered data set, unless a file has this name; ``"-"`` for standard input.
    target : str or int, optional
        Column that holds the classes. By default it is guessed: by its name, as the only column of text with few
        different values, or as a last column of few integers.
    samples : str or path, optional
        A sample sheet: a table with a row for each sample, which is matched to the table by the names of the samples.
        Its columns are no features; target, weight and groups may be among them.
    transpose : bool, optional
        True if features are in rows and samples in columns; by default this is recognised.
    drop, only : str or sequence of str, default=()
        Columns that are no features, and the only columns that are: names, or patterns such as ``AFFX*``.
    id : str, optional
        Column that names the rows.
    weight : str, optional
        Column that holds the weights of the rows.
    groups : str, optional
        Column that holds the groups of the rows, such as patients.
    encode : bool, default=False
        If True, columns of text with at most 20 different values become features ``column=value`` of 0 and 1.
    input_format : str, optional
        Format of the input if the ending of its name does not tell it; csv for standard input.
    engine : {"auto", "memory", "stream", "dask"}, default="auto"
        Load the table, read it in blocks, or open Parquet files as a Dask data frame. ``"auto"`` loads a table that
        is small enough.
    memory_limit : int or str, optional
        Memory that the table may take, such as ``"500MB"``; by default half of the free memory.
    needs_target : bool, default=True
        If False, a table in which no target can be guessed has no classes, instead of raising an error.

    Returns
    -------
    PreparedTable
        The source for ``fit``, and an account of what was guessed, set aside and noticed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.preparing import prepare
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cells.csv"
    ...     _ = path.write_text("cell,kind,size,day\nc1,a,3.5,2024-05-01\nc2,b,4.1,2024-05-02\nc3,a,3.9,2024-05-02\n"
    ...                         "c4,b,4.4,2024-05-02\n")
    ...     table = prepare(path)
    >>> table.source
    <ArraySource: 4 rows x 1 features>
    >>> table.guesses
    ("the target of cells.csv was guessed: 'kind', as the only column of text with few different values; ...",)
    >>> [(one.name, one.reason) for one in table.set_aside]
    [('cell', 'identifies the rows by different texts (c1, c2, ...)'), ('day', 'holds dates (2024-05-01)')]
    """
    options = Options(
        target,
        None if samples is None else os.fspath(samples),
        transpose,
        as_tuple(drop),
        as_tuple(only),
        id,
        weight,
        groups,
        encode,
        engine,
        memory_limit,
        needs_target,
    )
    found = find_input(path, input_format)
    try:
        table = prepare_input(found, options)
    except BaseException:
        if found.is_temporary:
            found.files[0].unlink(missing_ok=True)
        raise
    if found.is_temporary:
        delete_with(table, found.files[0])
    return table


def as_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def prepare_input(found: Input, options: Options) -> PreparedTable:
    """Make an input ready: on Dask, as a matrix, in blocks or in memory."""
    if options.engine == "dask":
        return prepare_on_dask(found, options)
    if found.is_dataset or not may_be_table(found, options):
        return prepare_matrix(found, options)
    if should_stream(found, options):
        return prepare_stream(found, options)
    raw = read_raw_table(found, options)
    if raw is None:  # sparse
        return prepare_matrix(found, options)
    sheet = None if options.samples is None else read_raw_table(find_input(options.samples), options, is_sheet=True)
    return prepare_loaded(raw, sheet, options)


def delete_with(table: PreparedTable, file: Path) -> None:
    """Delete a temporary file: at once if the table is in memory, otherwise together with its reader."""
    reader = getattr(table.source, "reader", None)
    if reader is None:
        file.unlink(missing_ok=True)
    else:
        weakref.finalize(reader, file.unlink, missing_ok=True)
