"""Selected columns of pyarrow's tables on disk and of Arrow streams, read batch by batch."""

from collections.abc import Iterable
from typing import Any

from ilfs.importing import check_installed
from ilfs.selected_columns.choice import ColumnChoice
from ilfs.sources.arrow import index_columns


def chosen_names(schema: Any, choice: ColumnChoice) -> list[str]:
    """Return the names of the selected columns; columns in which pandas has stored its index are no features."""
    index = set(index_columns(schema, (choice.target,)))
    names = [name for name in schema.names if name not in index]
    return [names[j] for j in choice.positions(names, len(names))]


def from_dataset(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a dataset; the result is a scanner, which reads nothing else."""
    return X.scanner(columns=chosen_names(X.schema, choice))


def from_parquet_file(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of an open Parquet file; the result is a stream."""
    names = chosen_names(X.schema_arrow, choice)
    return stream(X.schema_arrow, names, (batch.select(names) for batch in X.iter_batches(columns=names)))


def from_reader(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a stream, which can be read only once; so can the result."""
    names = chosen_names(X.schema, choice)
    return stream(X.schema, names, (batch.select(names) for batch in X))


def from_scanner(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a scanner; the result is a stream."""
    return from_reader(X.to_reader(), choice)


def from_stream(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of anything with Arrow's PyCapsule stream interface; the result is a stream of pyarrow."""
    check_installed("pyarrow", "parquet", f"reading {type(X).__name__}")
    import pyarrow

    return from_reader(pyarrow.RecordBatchReader.from_stream(X), choice)


def stream(schema: Any, names: list[str], batches: Iterable[Any]) -> Any:
    """Make a stream of record batches with some columns of a schema."""
    import pyarrow

    chosen = pyarrow.schema([schema.field(name) for name in names])
    arrays = (pyarrow.RecordBatch.from_arrays(batch.columns, schema=chosen) for batch in batches)
    return pyarrow.RecordBatchReader.from_batches(chosen, arrays)
