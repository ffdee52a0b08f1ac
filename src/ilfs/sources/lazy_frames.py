"""Lazy frames of polars, whose query runs on polars' streaming engine in every pass.

polars marks ``collect_batches`` as unstable. If it is missing, slices of the rows are collected instead, which is
slower: every slice runs the query again.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.sources.frames import common_dtype, polars_values, type_name
from ilfs.sources.reader import Batch, BatchReader, column_places
from ilfs.sources.roles import Request, find_roles, refuse_columns


class LazyFrameReader(BatchReader):
    """Reader of a polars LazyFrame.

    Parameters
    ----------
    frame : polars.LazyFrame
        The query. It must give the same rows in the same order whenever it runs.
    request : Request
        Target, weight and columns to drop.
    """

    by_column = True

    def __init__(self, frame: Any, request: Request) -> None:
        self._frame, self.name = frame, request.name
        schema = frame.collect_schema()
        names, kinds = list(schema.names()), list(schema.dtypes())
        self._roles = find_roles(names, len(names), request.target, request.drop, request.weight, self.name)
        self.has_labels, self.has_weights = bool(self._roles.targets), self._roles.weight is not None
        refuse_columns([(names[j], kinds[j]) for j in self._roles.features if not is_numeric(kinds[j])], self.name)
        self.feature_names = [names[j] for j in self._roles.features]
        self._aside = [names[j] for j in self._roles.aside]
        self.n_features = len(self.feature_names)
        self.dtype = common_dtype({type_name(kinds[j]) for j in self._roles.features})

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Run the query, and read its rows from the first to the last."""
        assert self.feature_names is not None
        names = [self.feature_names[j] for j in column_places(columns, self.n_features)]
        # Without any column polars would not count the rows.
        selected = [*names, *self._aside] or self.feature_names[:1]
        for frame in collected(self._frame.select(selected), max_rows):
            yield Batch(
                [polars_values(frame.to_series(j)) for j in range(len(names))],
                self._labels([frame.to_series(len(names) + j) for j in range(len(self._roles.targets))]),
                None if self._roles.weight is None else polars_values(frame.to_series(frame.width - 1)),
                frame.height,
            )

    def _labels(self, columns: list[Any]) -> NDArray[Any] | None:
        if not columns:
            return None
        labels = [polars_labels(column) for column in columns]
        return np.column_stack(labels) if self._roles.is_indicator else labels[0]


def collected(frame: Any, max_rows: int) -> Iterator[Any]:
    """Run a query and return its rows in data frames of at most this height."""
    collect = getattr(frame, "collect_batches", None)
    if collect is None:
        yield from collected_slices(frame, max_rows)
        return
    for batch in collect(chunk_size=max_rows, maintain_order=True, engine="streaming"):
        yield from batch.iter_slices(max_rows)


def collected_slices(frame: Any, max_rows: int) -> Iterator[Any]:
    """Collect slices of a query's rows, one after the other."""
    start = 0
    while (batch := frame.slice(start, max_rows).collect()).height:
        yield batch
        start += batch.height


def is_numeric(kind: Any) -> bool:
    """Check if a type of polars holds numbers or booleans."""
    return bool(kind.is_numeric()) or str(kind) in ("Boolean", "Null")


def polars_labels(column: Any) -> NDArray[Any]:
    """Convert a column of labels; text and categories become their names, and a missing label None."""
    kind = str(column.dtype)
    if kind.startswith(("String", "Categorical", "Enum")):
        return text_labels(column.to_list())
    if kind.startswith("Decimal"):
        column = column.cast(float)
    return np.array(column.to_list(), dtype=object) if column.null_count() else np.asarray(column.to_numpy())


def text_labels(labels: Sequence[str | None]) -> NDArray[Any]:
    """Make an array of text; it holds Python objects only if labels are missing."""
    return np.array(labels, dtype=object if None in labels else str)
