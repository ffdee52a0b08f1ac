"""Parquet and Feather, through pyarrow."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.readers.assemble import Drop, Target, assemble, check_names, find_columns, what_to_do
from ilfs.datasets.table import Table


def read_parquet(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read a Parquet file."""
    _check_pyarrow(path)
    from pyarrow import parquet

    return _read(path, target, drop, name, lambda: parquet.ParquetFile(path).read())


def read_feather(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read a Feather file."""
    _check_pyarrow(path)
    from pyarrow import feather

    return _read(path, target, drop, name, lambda: feather.read_table(path, memory_map=False))


def _check_pyarrow(path: Path) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(f'reading {path.name} needs pyarrow: pip install "ilfs[parquet]"') from error


def _read(path: Path, target: Target, drop: Drop, name: str, read: Callable[[], Any]) -> Table:
    try:
        table = _without_names_of_rows(read())
    except Exception as error:  # a damaged file makes Arrow raise almost anything
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"{path} must be a whole {path.suffix} file: {reason}") from error
    names = table.column_names
    check_names(names, path)
    if not names:
        raise ValueError(f"{path} has no columns")
    at, features = find_columns(names, len(names), target, drop, path)
    columns = [_numbers(table.column(j), names[j], path) for j in features]
    X = np.column_stack(columns) if columns else np.empty((table.num_rows, 0))
    return assemble(path, name, X, table.column(at).to_pylist(), [names[j] for j in features])


def _without_names_of_rows(table: Any) -> Any:
    """The table without what pandas stored as its index: a number that counts the rows is no feature."""
    metadata = (table.schema.metadata or {}).get(b"pandas")
    index = json.loads(metadata).get("index_columns", []) if metadata else []
    return table.drop_columns([column for column in index if column in table.column_names])


def _numbers(column: Any, name: str, path: Path) -> NDArray[Any]:
    """A column as floats, NaN where it is null."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_float32(kind):
        return np.asarray(column.to_numpy())
    if types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not any(is_kind(kind) for is_kind in (types.is_floating, types.is_integer, types.is_decimal, types.is_null)):
        row, value = _first_value(column)
        raise ValueError(
            f"column {name!r} of {path} must hold numbers, got {value!r} ({kind}) in row {row}; "
            f"{what_to_do([name], 0, path)}"
        )
    return np.asarray(column.cast(pa.float64()).to_numpy())


def _first_value(column: Any) -> tuple[int, Any]:
    values = ((row, value) for row, value in enumerate(column.to_pylist(), start=1) if value is not None)
    return next(values, (1, None))
