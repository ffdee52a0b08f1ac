"""Writing of columns to a file, which appears complete or not at all."""

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from ilfs.applying.columns import ColumnStream
from ilfs.files import write_atomically
from ilfs.importing import check_installed
from ilfs.spreadsheet import CsvLines

OUTPUT_DELIMITERS = {
    ".csv": (",", ";"),
    ".tsv": ("\t",),
    ".tab": ("\t",),
}  # the first one is written if there is a choice
PARQUET, FEATHER = (".parquet", ".pq"), (".feather", ".arrow")
ROW_GROUP_ROWS = 2**16  # rows of a row group of a Parquet file
GROUP_BYTES = 2**26  # bytes of a row group that is written although it has fewer rows
# Bytes of a column in a row group. The writer keeps about 1 kB of metadata for each of them until the file is complete.
COLUMN_BYTES, MIN_COLUMN_BYTES = 2**16, 2**13
GROUPS_IN_MEMORY = 4  # copies of a row group that the memory limit must allow: as read, collected, encoded


def check_output(path: Path) -> None:
    """Raise if a file of this name cannot be written."""
    ending = path.suffix.lower()
    if ending not in (*OUTPUT_DELIMITERS, *PARQUET, *FEATHER):
        raise ValueError(f"out must end in .csv, .tsv, .parquet or .feather, got {str(path)!r}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder of {str(path)!r} does not exist: make it first")
    if ending not in OUTPUT_DELIMITERS:
        check_installed("pyarrow", "parquet", f"writing {path.name}")


def delimiters_of(path: Path) -> tuple[str, ...]:
    """Return the delimiters that a text file of this name may have; none if it is no text file."""
    return OUTPUT_DELIMITERS.get(path.suffix.lower(), ())


def write_columns(stream: ColumnStream, path: Path, memory_limit: int) -> None:
    """Write a stream of columns, in the format that the name of the file states."""
    with write_atomically(path) as file:
        if delimiters_of(path):
            write_text(stream, file, stream.delimiter or delimiters_of(path)[0])
        elif path.suffix.lower() in PARQUET:
            write_parquet(stream, file, group_bytes(len(stream.names), memory_limit))
        else:
            write_feather(stream, file)


def write_text(stream: ColumnStream, file: IO[bytes], delimiter: str) -> None:
    """Write delimited text in UTF-8."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    lines = CsvLines(text, delimiter)
    lines.writerow(stream.names)
    for columns in stream.batches:
        for row in zip(*map(printed, columns), strict=True):
            lines.writerow(row)
    text.detach()  # flushes, and leaves the file open


def printed(column: Any) -> list[Any]:
    """Return the values of a column as they are written to text."""
    if isinstance(column, list) and isinstance(next(iter(column), ""), str):
        return column
    values = column.to_pylist() if hasattr(column, "to_pylist") else np.asarray(column).tolist()
    return list(map(printed_value, values))


def printed_value(value: Any) -> Any:
    """Return nothing for a missing value, and 0 or 1 for a boolean, which readers of numbers take."""
    if value is None or value != value:
        return ""
    return int(value) if isinstance(value, bool | np.bool_) else value


def group_bytes(n_columns: int, memory_limit: int) -> int:
    """Return the size of a row group: within the limit, unless the metadata of many small ones would take more."""
    usual = max(GROUP_BYTES, n_columns * COLUMN_BYTES)
    return max(min(usual, memory_limit // GROUPS_IN_MEMORY), n_columns * MIN_COLUMN_BYTES)


def write_parquet(stream: ColumnStream, file: IO[bytes], max_bytes: int) -> None:
    """Write a Parquet file."""
    from pyarrow import parquet

    schema, batches = arrow_batches(stream)
    with parquet.ParquetWriter(file, schema) as writer:
        for table in grouped(batches, schema, max_bytes):
            writer.write_table(table, row_group_size=max(table.num_rows, 1))


def write_feather(stream: ColumnStream, file: IO[bytes]) -> None:
    """Write a file in Arrow's IPC format."""
    from pyarrow import ipc

    schema, batches = arrow_batches(stream)
    with ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def arrow_batches(stream: ColumnStream) -> tuple[Any, Iterator[Any]]:
    """Convert a stream to a schema and record batches."""
    import pyarrow

    batches = iter(stream.batches)
    first = next(batches, None)
    schema = stream.schema
    if schema is None:
        kinds = [pyarrow.float64()] * len(stream.names) if first is None else list(map(type_of, first))
        schema = pyarrow.schema(list(zip(stream.names, kinds, strict=True)))
    every = batches if first is None else chain([first], batches)
    return schema, (as_batch(columns, schema) for columns in every)


def type_of(column: Any) -> Any:
    """Return the Arrow type of a column of numbers or text."""
    import pyarrow

    if isinstance(column, np.ndarray) and column.dtype != object:
        return pyarrow.from_numpy_dtype(column.dtype)
    return pyarrow.float64() if isinstance(next(iter(column), None), float) else pyarrow.string()


def as_batch(columns: list[Any], schema: Any) -> Any:
    """Make a record batch of columns."""
    import pyarrow

    arrays = [as_array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def as_array(column: Any, kind: Any) -> Any:
    """Convert a column to an Arrow array of some type."""
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pyarrow.Array):
        return column if column.type == kind else column.cast(kind)
    if kind == pyarrow.string():
        column = [None if value is None else str(value) for value in column]
    return pyarrow.array(column, type=kind)


def grouped(batches: Iterable[Any], schema: Any, max_bytes: int) -> Iterator[Any]:
    """Collect record batches to tables of the size of a row group."""
    import pyarrow

    waiting: list[Any] = []
    n_rows = n_bytes = 0
    for batch in batches:
        waiting.append(batch)
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        if n_rows >= ROW_GROUP_ROWS or n_bytes >= max_bytes:
            yield pyarrow.Table.from_batches(waiting, schema)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield pyarrow.Table.from_batches(waiting, schema)
