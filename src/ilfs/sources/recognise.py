"""Recognise tables that are read in batches, by their type, without importing optional packages."""

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats
from ilfs.sources.anndata import open_anndata
from ilfs.sources.arrow_datasets import open_dataset, open_parquet_file
from ilfs.sources.batches import BatchSource
from ilfs.sources.dask import dask_source
from ilfs.sources.iterables import column_or_matrix, open_blocks, refuse_column_names
from ilfs.sources.lazy_frames import LazyFrameReader
from ilfs.sources.reader import BatchReader
from ilfs.sources.roles import Request
from ilfs.sources.row_index import check_position_index, check_row_index
from ilfs.sources.source import Source
from ilfs.sources.spooled import SpooledReader, open_scanner, open_stream

Open = Callable[[Any, Request], Source]

DASK_TABLES = {("dask", "Array"), ("dask", "DataFrame"), ("dask", "Delayed")}  # (package, class)


def streamed(open_reader: Callable[[Any, Request], BatchReader]) -> Open:
    """Make a function that opens a source of one that opens a reader."""

    def open_source(X: Any, request: Request) -> Source:
        return batch_source(open_reader(X, request), request)

    return open_source


def batch_source(reader: BatchReader, request: Request) -> BatchSource:
    """Make a source of a reader, with the labels and weights of a request."""
    if request.y is not None and reader.has_labels:
        raise ValueError(f"y must be None if {request.name} has labels of its own, got an array")
    return BatchSource(reader, request.y, request.sample_weight, memory_limit=request.memory_limit)


OPENERS: dict[tuple[str, str], Open] = {  # (package, class): function that makes a source
    ("polars", "LazyFrame"): streamed(LazyFrameReader),
    ("pyarrow", "Dataset"): streamed(open_dataset),
    ("pyarrow", "ParquetFile"): streamed(open_parquet_file),
    ("pyarrow", "RecordBatchReader"): streamed(SpooledReader),
    ("pyarrow", "Scanner"): streamed(open_scanner),
    ("duckdb", "DuckDBPyRelation"): streamed(open_stream),
    ("anndata", "AnnData"): open_anndata,
}
OTHER_PACKAGES = {"dask", "pyspark"}  # their tables are refused elsewhere, although some of them can be called


def stream_source(X: Any, y: Any, sample_weight: Any, *, reads_labels: bool) -> Source | None:
    """Make a source of a table that is not in memory, or that ``fit`` does not take as a table.

    Parameters
    ----------
    X : object
        Anything that ``fit`` takes.
    y : object
        Labels, the name of a column, or None.
    sample_weight : array, optional
        Weights of the rows.
    reads_labels : bool
        True if the method needs labels.

    Returns
    -------
    Source or None
        None for a table in memory, which is validated elsewhere.
    """
    if isinstance(X, Source):
        source: Source | None = given_source(X, y, sample_weight, reads_labels=reads_labels)
    else:
        source = on_dask(X, y, sample_weight, reads_labels=reads_labels) or opened(
            X, lambda: request_of(X, y, sample_weight, reads_labels=reads_labels)
        )
    if source is None or reads_labels:
        return source if source is None else with_labels(source)
    return source.without_labels()


def on_dask(X: Any, y: Any, sample_weight: Any, *, reads_labels: bool) -> Source | None:
    """Make a source of a table of Dask, None of any other."""
    # A list of tables is recognised by the first of them, which must be delayed: other lists are lists of rows.
    kinds = kinds_of(X[0]) & {("dask", "Delayed")} if isinstance(X, list | tuple) and X else kinds_of(X)
    if not kinds & DASK_TABLES:
        return None
    check_position_index(y if reads_labels else None, "y")
    check_position_index(sample_weight, "sample_weight")
    return dask_source(X, y, sample_weight, reads_labels=reads_labels)


def opened(X: Any, request: Callable[[], Request]) -> Source | None:
    """Make a source of an object that is recognised, None of any other; the request is made only if it is needed."""
    kinds = kinds_of(X)
    openers = [open_source for kind, open_source in OPENERS.items() if kind in kinds]
    if openers:
        return openers[0](X, request())
    if ("pyarrow", "RecordBatch") in kinds or OTHER_PACKAGES & {package for package, _ in kinds} or is_in_memory(X):
        return None
    if hasattr(X, "__arrow_c_stream__"):
        return streamed(open_stream)(X, request())
    reader = open_blocks(X, Request())
    return None if reader is None else batch_source(reader, without_names(request()))


def is_in_memory(X: Any) -> bool:
    """Check if X is an array, a sparse matrix or a data frame in memory."""
    return bool(isinstance(X, np.ndarray) or sparse.issparse(X) or nw.dependencies.is_into_dataframe(X))


def request_of(X: Any, y: Any, sample_weight: Any, *, reads_labels: bool) -> Request:
    """Make a request of the arguments of ``fit``; a column of labels is no feature even if they are not needed."""
    check_row_index(X, y if reads_labels else None, "y")
    check_row_index(X, sample_weight, "sample_weight")
    weight = None if sample_weight is None else weight_array(sample_weight)
    if isinstance(y, str):
        return Request(target=y, sample_weight=weight)
    labels = None if y is None or not reads_labels else label_array(y)
    return Request(y=labels, sample_weight=weight)


def without_names(request: Request) -> Request:
    """Check that no column is named: blocks of rows from Python have their own labels."""
    if request.target is not None:
        raise TypeError(f"y must be None if X gives blocks of rows (X, y), got the name {request.target!r}")
    refuse_column_names(request)
    return request


def label_array(y: Any) -> NDArray[Any]:
    """Convert labels to an array, with a row for each sample."""
    labels = column_or_matrix(y)
    if labels.ndim not in (1, 2):
        raise ValueError(f"y must have a label for each row, or be an indicator matrix, got {labels.ndim} dimensions")
    return np.asarray(labels)


def weight_array(sample_weight: Any) -> Floats:
    """Convert weights to an array of numbers."""
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "buif" or weight.ndim != 1:
        raise ValueError(f"sample_weight must be a number for each row of X, got {sample_weight!r:.40}")
    return weight.astype(np.float64)


def kinds_of(X: Any) -> set[tuple[str, str]]:
    """Return the packages and names of the class of an object and of its base classes."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}


def given_source(source: Source, y: Any, sample_weight: Any, *, reads_labels: bool) -> Source:
    """Check that a source comes with its labels and weights."""
    if (y is not None and reads_labels) or sample_weight is not None:
        given = "sample_weight" if sample_weight is not None else "y"
        raise TypeError(f"{given} must be None if X is a source, which has labels and weights of its own")
    return source


def with_labels(source: Source) -> Source:
    """Check that a source has labels."""
    if not source.has_labels:
        raise ValueError(
            "fit requires y to be passed, but the source has no target: name it, ilfs.read(..., target=) or fit(X, y)"
        )
    return source
