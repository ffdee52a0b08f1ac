"""Readers of Parquet and Feather, based on pyarrow."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import VALUE_BYTES
from ilfs.datasets.checks import MAX_EXACT_INTEGER, column_called, inexact_integer, quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.npz import whole_file
from ilfs.datasets.readers.assemble import Drop, Target, assemble, check_names, find_columns, what_to_do


def read_parquet(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read a Parquet file."""
    _check_pyarrow(path)
    from pyarrow import parquet

    def read() -> Any:
        with parquet.ParquetFile(path) as file:
            _check_size(file.metadata.num_rows, file.metadata.num_columns, path, limits)
            return file.read()

    return _read(path, target, drop, name, limits, read)


def read_feather(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read a Feather file."""
    _check_pyarrow(path)
    from pyarrow import dataset, feather, ipc

    with path.open("rb") as file:
        if file.read(4) == b"FEA1":
            raise ValueError(f"{path} must have version 2 of the Feather format, got version 1: write it again")

    def read() -> Any:
        with ipc.open_file(path) as file:
            check_names(file.schema.names, path)
        declared = dataset.dataset(path, format="feather")
        _check_size(declared.count_rows(), len(declared.schema), path, limits)
        return feather.read_table(path, memory_map=False)

    return _read(path, target, drop, name, limits, read)


def _check_size(n_rows: int, n_columns: int, path: Path, limits: ReadLimits) -> None:
    """Compare the declared size with the limits: a small file can hold any number of equal values."""
    limits.check_bytes(VALUE_BYTES * n_rows * n_columns, path)


def _check_pyarrow(path: Path) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(f'reading {path.name} needs pyarrow: pip install "ilfs[parquet]"') from error


def _read(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits, read: Callable[[], Any]) -> Dataset:
    with whole_file(path, f"{path.suffix} file"):
        table = _without_index(read())
        table.validate(full=True)  # otherwise Arrow trusts offsets and lengths
    names = table.column_names
    check_names(names, path)
    if not names:
        raise ValueError(f"{path} must have columns, got none")
    at, features = find_columns(names, len(names), target, drop, path)
    columns = [_numbers(table.column(j), names[j], path) for j in features]
    X = np.column_stack(columns) if columns else np.empty((table.num_rows, 0))
    return assemble(path, name, X, table.column(at).to_pylist(), limits, [names[j] for j in features])


def _without_index(table: Any) -> Any:
    """Drop the columns that pandas stored as its index: row numbers are not a feature."""
    metadata = (table.schema.metadata or {}).get(b"pandas")
    index = json.loads(metadata).get("index_columns", []) if metadata else []
    return table.drop_columns([column for column in index if column in table.column_names])


def _numbers(column: Any, name: str, path: Path) -> NDArray[Any]:
    """Convert a column to floats, with NaN for null."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_integer(kind) or (types.is_decimal(kind) and kind.scale <= 0):
        _check_exact(column, name, path)
    if types.is_float32(kind):
        return np.asarray(column.to_numpy())
    if types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not any(is_kind(kind) for is_kind in (types.is_floating, types.is_integer, types.is_decimal, types.is_null)):
        row, value = _first_value(column)
        raise ValueError(
            f"{column_called([name], 0)} of {path} must hold numbers, got {quoted(value)} ({kind}) in row {row}; "
            f"{what_to_do([name], 0, path)}"
        )
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())


def _check_exact(column: Any, name: str, path: Path) -> None:
    """Raise an error for integers that float64 may have to round."""
    from pyarrow import compute

    ends = compute.min_max(column).as_py().values()
    if any(end is not None and abs(end) > MAX_EXACT_INTEGER for end in ends):
        values = enumerate(column.to_pylist(), start=1)
        row, value = next((i, one) for i, one in values if one is not None and abs(one) > MAX_EXACT_INTEGER)
        raise inexact_integer(column_called([name], 0), value, row, path)


def _first_value(column: Any) -> tuple[int, Any]:
    values = ((row, value) for row, value in enumerate(column.to_pylist(), start=1) if value is not None)
    return next(values, (1, None))
