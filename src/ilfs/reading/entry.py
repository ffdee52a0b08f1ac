"""The function `ilfs.read`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ilfs.memory import bytes_of
from ilfs.parameters import is_integer
from ilfs.reading.files import open_files
from ilfs.reading.loading import loaded
from ilfs.reading.npy import labels_in
from ilfs.sources import BatchSource, Source
from ilfs.sources.recognise import label_array, opened, weight_array
from ilfs.sources.roles import Column, Request
from ilfs.sources.row_index import check_row_index

UNLIMITED_BYTES = 2**62


def read(
    path: Any,
    target: Any = None,
    drop: Column | Sequence[Column] | None = None,
    memory_limit: int | str | None = None,
    *,
    weight: Any = None,
) -> Source:
    r"""Open a table for ``fit``: load it if it is small enough for the memory, otherwise read it in blocks.

    Pass the result to ``fit`` of any selector, without ``y``. Methods that need all rows refuse a table that was not
    loaded; :func:`ilfs.list_methods` tells which methods read rows in blocks.

    Parameters
    ----------
    path : str, path or table
        A file, a folder of Parquet files, or a pattern such as ``"part-*.parquet"``. Files are read in the order of
        their names. Parquet (``.parquet``), Feather (``.feather``), text (``.csv``, ``.tsv``, ``.tab``, ``.txt``, also
        compressed), ``.npy``, svmlight and ``.h5ad`` files may be larger than memory; the other formats of
        :func:`ilfs.datasets.read_table` are loaded. Names of folders such as ``year=2024`` are columns of the Parquet
        files in them.

        Or any table that ``fit`` reads in blocks: a polars LazyFrame, a pyarrow dataset, an object with Arrow's
        PyCapsule stream interface (a DuckDB relation, a pyarrow RecordBatchReader), an AnnData, or a function that
        returns a new iterator of blocks ``(X, y)`` or ``(X, y, weight)``.
    target : str, int, sequence of them or array, optional
        The column that holds the classes, by name or position (-1 is the last); several columns of 0 and 1, one for
        each label; or an array with the label of each row. For ``.npy`` files also the path of another ``.npy`` file.
        For ``.h5ad`` files a column of ``obs``. svmlight files, and formats that state their classes, need none.
        Without a target the table suits methods that read no labels.
    drop : str, int or sequence of them, optional
        Columns that are not features. For ``.h5ad`` files names from ``var_names``.
    memory_limit : int or str, optional
        Memory that the table may take, in bytes or as text such as ``"500MB"``; by default half of the free memory. A
        table is loaded if the limit allows two copies of it. Otherwise the limit determines how many rows are read at
        a time.
    weight : str, int or array, optional
        The column that holds the weight of each row, or an array of weights. For ``.npy`` files also the path of
        another ``.npy`` file.

    Returns
    -------
    Source
        The table with its labels and weights, which can be read any number of times.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ilfs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cells.csv"
    ...     _ = path.write_text("cell;kind;size;round\nc1;benign;3,5;NA\nc2;malignant;4,1;0\nc3;benign;3,9;1\n")
    ...     cells = ilfs.read(path, target="kind", drop="cell")
    >>> cells
    <ArraySource: 3 rows x 2 features>
    >>> selector = ilfs.FisherScore(n_features_to_select=1).fit(cells)
    >>> selector.classes_.tolist(), selector.feature_names_in_.tolist()
    (['benign', 'malignant'], ['size', 'round'])
    """
    return open_table(path, target, drop, memory_limit, weight=weight)


def open_table(
    path: Any,
    target: Any = None,
    drop: Column | Sequence[Column] | None = None,
    memory_limit: int | str | None = None,
    *,
    weight: Any = None,
    engine: Literal["auto", "memory", "stream"] = "auto",
) -> Source:
    """Open a table, as `read` does, with a choice between loading it and reading it in blocks.

    Parameters
    ----------
    path, target, drop, memory_limit, weight
        As for `read`.
    engine : {"auto", "memory", "stream"}, default="auto"
        ``"memory"``: load the table, whatever its size. ``"stream"``: read it in blocks, however small it is.

    Returns
    -------
    Source
        The table.
    """
    limit = bytes_of(memory_limit)
    request = _request(path, target, drop, weight, limit)
    source = _chosen(path, _opened(path, request), engine, limit)
    if isinstance(request.target, str) and request.target not in (source.feature_names or ()):
        source.target_name = request.target
    return source


def _chosen(path: Any, source: Source, engine: str, limit: int) -> Source:
    """Load a source, or leave it to be read in blocks."""
    if not isinstance(source, BatchSource):
        if engine == "stream":
            raise ValueError(f"{path} must be of a format that can be read in blocks, such as Parquet or CSV")
        return source
    table = None if engine == "stream" else loaded(source, UNLIMITED_BYTES if engine == "memory" else limit)
    if table is None:
        return source
    source.close()
    return table


def _opened(path: Any, request: Request) -> Source:
    if isinstance(path, str | os.PathLike):
        return open_files(path, request)
    source = None if isinstance(path, Source) else opened(path, lambda: request)
    if source is None:
        raise TypeError(
            f"path must be a file, a folder, a pattern or a table that is read in blocks, got {type(path).__name__}: "
            "pass a table in memory to fit itself"
        )
    return source


def _request(path: Any, target: Any, drop: Any, weight: Any, limit: int) -> Request:
    """Make a request of the arguments; arrays of labels and weights are separated from names of columns."""
    is_npy = isinstance(path, str | os.PathLike) and str(path).lower().endswith(".npy")
    if is_npy and is_path(target):
        target = labels_in(Path(target), "target")
    if is_npy and is_path(weight):
        weight = labels_in(Path(weight), "weight")
    y, sample_weight = None, None
    if is_array(target):
        check_row_index(path, target, "target")
        target, y = None, label_array(target)
    if is_array(weight):
        check_row_index(path, weight, "weight")
        weight, sample_weight = None, weight_array(weight)
    dropped = () if drop is None else (drop,) if isinstance(drop, str) or is_integer(drop) else tuple(drop)
    return Request(target, dropped, weight, y, sample_weight, limit)


def is_path(value: Any) -> bool:
    """Check if a value is the path of an ``.npy`` file."""
    return isinstance(value, os.PathLike) or (isinstance(value, str) and value.lower().endswith(".npy"))


def is_array(value: Any) -> bool:
    """Check if a value is an array or a series; a list or tuple names columns."""
    return isinstance(value, np.ndarray) or hasattr(value, "__array__")
