"""Tables in Arrow's columnar format: Parquet files, and anything else that gives Arrow record batches.

pyarrow is imported only here and where such tables are opened.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.sources.batches import Batch, BatchReader, column_places

MAX_NAMES_SHOWN = 5  # columns that a message names; it counts the others
EXACT_IN_FLOAT32 = ("float", "halffloat", "int8", "int16", "uint8", "uint16", "bool")  # names of Arrow's types
Open = Callable[[Sequence[str], int], Iterable[Any]]


class ArrowReader(BatchReader):
    """Reader of record batches.

    Parameters
    ----------
    schema : pyarrow.Schema
        Names and types of all columns.
    open_batches : callable
        Function of a list of column names and the most rows of a batch. It returns an iterable of record batches, from
        the first row to the last, each with these columns in this order.
    target : str or sequence of str, optional
        Column that holds the classes, or several columns of 0 and 1, one for each label.
    drop : sequence of str, default=()
        Columns that are not features.
    weight : str, optional
        Column that holds the weights of the rows.
    name : str
        Name of the table in messages.
    n_rows : int, optional
        Number of rows, if known.
    strip_columns : int, optional
        Number of columns to read at a time.
    """

    by_column = True

    def __init__(
        self,
        schema: Any,
        open_batches: Open,
        target: str | Sequence[str] | None = None,
        drop: Sequence[str] = (),
        weight: str | None = None,
        *,
        name: str = "the table",
        n_rows: int | None = None,
        strip_columns: int | None = None,
    ) -> None:
        self.name, self.n_rows, self.strip_columns = name, n_rows, strip_columns
        self._open, self._weight = open_batches, weight
        self._targets = [] if target is None else [target] if isinstance(target, str) else list(target)
        self._is_indicator = target is not None and not isinstance(target, str)
        self.has_labels = bool(self._targets)
        check_column_names(schema.names, name)
        for role, column in (*(("target", one) for one in self._targets), *(("drop", one) for one in drop)):
            check_column(role, column, schema.names, name)
        if weight is not None:
            check_column("weight", weight, schema.names, name)
        aside = {*self._targets, *drop, *([] if weight is None else [weight])}
        features = [field for field in schema if field.name not in aside]
        refuse_other_types(features, name)
        self.feature_names = [field.name for field in features]
        self.n_features = len(features)
        self.dtype = common_dtype(features)

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last."""
        assert self.feature_names is not None
        names = [self.feature_names[j] for j in column_places(columns, self.n_features)]
        more = [*self._targets, *([] if self._weight is None else [self._weight])]
        for batch in self._open([*names, *more], max_rows):
            yield Batch(
                [column_values(batch.column(j)) for j in range(len(names))],
                self._labels([batch.column(len(names) + j) for j in range(len(self._targets))]),
                None if self._weight is None else column_values(batch.column(len(names) + len(self._targets))),
                batch.num_rows,
            )

    def _labels(self, columns: list[Any]) -> NDArray[Any] | None:
        if not columns:
            return None
        labels = [label_values(column) for column in columns]
        return np.column_stack(labels) if self._is_indicator else labels[0]


def check_column_names(names: Sequence[str], table: str) -> None:
    """Raise if two columns have the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"columns of {table} must have different names, {name!r} occurs twice")
        seen.add(name)


def check_column(role: str, column: str, names: Sequence[str], table: str) -> None:
    """Raise if a table has no such column."""
    if column not in names:
        near = get_close_matches(column, names, n=3) or list(names[:3])
        raise ValueError(f"{role} must be a column of {table} (such as {', '.join(near)}), got {column!r}")


def refuse_other_types(fields: Sequence[Any], table: str) -> None:
    """Raise if there are no columns, or some of them do not hold numbers; all of these are named."""
    if not fields:
        raise ValueError(f"{table} must have at least one column besides target, weight and dropped columns, got none")
    wrong = [field for field in fields if not is_numeric(field.type)]
    if wrong:
        some = ", ".join(f"{field.name!r} holds {field.type}" for field in wrong[:MAX_NAMES_SHOWN])
        n_more = len(wrong) - MAX_NAMES_SHOWN
        more = f" and {n_more} more columns are not numeric" if n_more > 0 else ""
        raise ValueError(
            f"columns of {table} must hold numbers, {some}{more}: drop them, or convert them to numbers; if one of "
            "them holds the classes, name it as the target"
        )


def is_numeric(kind: Any) -> bool:
    """Check if an Arrow type holds numbers or booleans."""
    from pyarrow import types

    return bool(
        types.is_floating(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def common_dtype(fields: Sequence[Any]) -> "np.dtype[Any]":
    """Return float32 if it holds all columns exactly and one of them is float32, float64 otherwise."""
    kinds = {str(field.type) for field in fields}
    is_single = "float" in kinds and kinds <= set(EXACT_IN_FLOAT32)
    return np.dtype(np.float32 if is_single else np.float64)


def column_values(column: Any) -> NDArray[Any]:
    """Convert a column of numbers; a missing value becomes NaN."""
    from pyarrow import types

    kind = column.type
    if types.is_floating(kind) or (types.is_integer(kind) and not column.null_count):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False))


def label_values(column: Any) -> NDArray[Any]:
    """Convert a column of labels; text and categories become their names.

    A missing label becomes None or NaN, which `check_types` refuses.
    """
    from pyarrow import types

    if types.is_string(column.type) or types.is_large_string(column.type) or types.is_string_view(column.type):
        column = column.dictionary_encode()
    if not types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    names = np.array(column.dictionary.to_pylist()) if len(column.dictionary) else np.empty(0, dtype=str)
    return np.asarray(names[column.indices.to_numpy(zero_copy_only=False)])
