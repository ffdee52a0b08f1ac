"""The function `select_columns`, which recognises tables by their type, without importing optional packages."""

from collections.abc import Callable
from typing import Any

from ilfs.selected_columns.anndata import from_anndata
from ilfs.selected_columns.arrow import from_dataset, from_parquet_file, from_reader, from_scanner, from_stream
from ilfs.selected_columns.blocks import from_blocks
from ilfs.selected_columns.choice import ColumnChoice
from ilfs.selected_columns.dask import from_array, from_delayed, from_frame
from ilfs.selected_columns.sources import from_source
from ilfs.sources import Source
from ilfs.sources.recognise import OTHER_PACKAGES, is_in_memory, kinds_of

Select = Callable[[Any, ColumnChoice], Any]


def select_columns(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a table that is not in memory.

    Parameters
    ----------
    X : object
        Anything that ``fit`` takes.
    choice : ColumnChoice
        The columns.

    Returns
    -------
    object
        Of the same kind as X, and as lazy: no rows are read, except of a sparse matrix of an AnnData on disk. None for
        a table in memory, and for anything else that is not recognised.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selected_columns import ColumnChoice, select_columns
    >>> choice = ColumnChoice(np.array([1]), 2)
    >>> selected = select_columns(lambda: iter([np.eye(2), np.ones((1, 2))]), choice)
    >>> [block.tolist() for block in selected()]
    [[[0.0], [1.0]], [[1.0]]]
    """
    if isinstance(X, Source):
        return from_source(X, choice)
    if isinstance(X, list | tuple) and X and ("dask", "Delayed") in kinds_of(X[0]):
        return [from_delayed(part, choice) for part in X]
    kinds = kinds_of(X)
    for kind, select in SELECTORS.items():
        if kind in kinds:
            return select(X, choice)
    if ("pyarrow", "RecordBatch") in kinds or OTHER_PACKAGES & {package for package, _ in kinds} or is_in_memory(X):
        return None
    return from_stream(X, choice) if hasattr(X, "__arrow_c_stream__") else from_blocks(X, choice)


def from_lazy_frame(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a polars LazyFrame; the result is a LazyFrame."""
    names = X.collect_schema().names()
    return X.select([names[j] for j in choice.positions(names, len(names))])


def from_relation(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a relation of DuckDB; the result is a relation."""
    names = X.columns
    chosen = [names[j] for j in choice.positions(names, len(names))]
    return X.project(", ".join('"' + name.replace('"', '""') + '"' for name in chosen))


SELECTORS: dict[tuple[str, str], Select] = {  # (package, class): function that selects columns
    ("polars", "LazyFrame"): from_lazy_frame,
    ("pyarrow", "Dataset"): from_dataset,
    ("pyarrow", "ParquetFile"): from_parquet_file,
    ("pyarrow", "RecordBatchReader"): from_reader,
    ("pyarrow", "Scanner"): from_scanner,
    ("duckdb", "DuckDBPyRelation"): from_relation,
    ("anndata", "AnnData"): from_anndata,
    ("dask", "Array"): from_array,
    ("dask", "DataFrame"): from_frame,
    ("dask", "Delayed"): from_delayed,
}
