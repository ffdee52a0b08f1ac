"""Tables in Arrow's columnar format: Parquet files, and anything else that gives Arrow record batches.

pyarrow is imported only here and where such tables are opened.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.sources.frames import common_dtype, type_name
from ilfs.sources.reader import Batch, BatchReader, column_places
from ilfs.sources.roles import Column, Request, Target, find_roles, refuse_columns

Open = Callable[[Sequence[str], int], Iterable[Any]]


class ArrowReader(BatchReader):
    """Reader of record batches.

    Parameters
    ----------
    schema : pyarrow.Schema
        Names and types of all columns. Columns in which pandas has stored its index are no features.
    open_batches : callable
        Function of a list of column names and the most rows of a batch. It returns an iterable of record batches, from
        the first row to the last, each with these columns in this order.
    target : str, int or sequence of them, optional
        Column that holds the classes, or several columns of 0 and 1, one for each label.
    drop : sequence of str or int, default=()
        Columns that are not features.
    weight : str or int, optional
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
        target: Target = None,
        drop: Sequence[Column] = (),
        weight: Column | None = None,
        *,
        name: str = "the table",
        n_rows: int | None = None,
        strip_columns: int | None = None,
    ) -> None:
        self.name, self.n_rows, self.strip_columns = name, n_rows, strip_columns
        self._open = open_batches
        roles = find_roles(
            schema.names, len(schema), target, (*drop, *index_columns(schema, (target, weight))), weight, name
        )
        self._is_indicator, self.has_labels = roles.is_indicator, bool(roles.targets)
        self._targets = [schema.names[j] for j in roles.targets]
        self._weight = None if roles.weight is None else schema.names[roles.weight]
        self.has_weights = self._weight is not None
        features = [schema.field(j) for j in roles.features]
        refuse_other_types(features, name)
        self.feature_names = [field.name for field in features]
        self.n_features = len(features)
        self.dtype = common_dtype({type_name(field.type) for field in features})

    @classmethod
    def from_request(
        cls, schema: Any, open_batches: Open, request: Request, n_rows: int | None = None
    ) -> "ArrowReader":
        """Make a reader with the target, weight and name of a request."""
        return cls(schema, open_batches, request.target, request.drop, request.weight, name=request.name, n_rows=n_rows)

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last."""
        return self._converted_batches(self._open, columns, max_rows)

    def _converted_batches(self, open_batches: Open, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read some columns of the record batches that a function opens."""
        assert self.feature_names is not None
        names = [self.feature_names[j] for j in column_places(columns, self.n_features)]
        more = [*self._targets, *([] if self._weight is None else [self._weight])]
        return map(partial(self._converted, len(names)), open_batches([*names, *more], max_rows))

    def _converted(self, n_columns: int, batch: Any) -> Batch:
        """Convert a record batch of some features, the labels and the weights."""
        return Batch(
            [column_values(batch.column(j)) for j in range(n_columns)],
            self._labels([batch.column(n_columns + j) for j in range(len(self._targets))]),
            None if self._weight is None else column_values(batch.column(n_columns + len(self._targets))),
            batch.num_rows,
        )

    def _labels(self, columns: list[Any]) -> NDArray[Any] | None:
        if not columns:
            return None
        labels = [label_values(column) for column in columns]
        return np.column_stack(labels) if self._is_indicator else labels[0]


def index_columns(schema: Any, chosen: Sequence[Any]) -> list[str]:
    """Return the columns in which pandas has stored its index, except chosen ones: row numbers are not a feature."""
    metadata = (schema.metadata or {}).get(b"pandas")
    index = json.loads(metadata).get("index_columns", []) if metadata else []
    return [name for name in index if name in schema.names and name not in chosen]


@contextmanager
def one_line_errors(what: str) -> Iterator[None]:
    """Turn errors of pyarrow into a ValueError of one line that begins with ``what``."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:  # an error of the system, such as too many open files
            raise
        raise ValueError(f"{what}: {(str(error).splitlines() or [type(error).__name__])[0]}") from None


def arranged(batch: Any, names: Sequence[str]) -> Any:
    """Put the columns of a record batch into the order that was asked for; without columns it keeps its rows."""
    return batch.select(list(names)) if names else batch


def refuse_other_types(fields: Sequence[Any], table: str) -> None:
    """Raise if some columns do not hold numbers; all of these are named."""
    wrong = [(field.name, field.type) for field in fields if not is_numeric(field.type)]
    refuse_columns(wrong, table)


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


def column_values(column: Any) -> NDArray[Any]:
    """Convert a column of numbers; a missing value becomes NaN."""
    from pyarrow import types

    kind = column.type
    if types.is_floating(kind) or (types.is_integer(kind) and not column.null_count):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(column.cast("float64", safe=False).to_numpy(zero_copy_only=False))


def label_values(column: Any) -> NDArray[Any]:
    """Convert a column of labels; text and categories become their names.

    A missing label becomes None or NaN, which `check_types` refuses.
    """
    from pyarrow import types

    if types.is_decimal(column.type):
        column = column.cast("float64", safe=False)
    if types.is_string(column.type) or types.is_large_string(column.type) or types.is_string_view(column.type):
        column = column.dictionary_encode()
    if not types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    names = np.array(column.dictionary.to_pylist()) if len(column.dictionary) else np.empty(0, dtype=str)
    return np.asarray(names[column.indices.to_numpy(zero_copy_only=False)])
