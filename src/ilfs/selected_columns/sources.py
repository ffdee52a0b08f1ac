"""Selected columns of sources, such as files that `ilfs.read` has opened."""

from collections.abc import Iterator
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ilfs.arrays import Integers
from ilfs.selected_columns.choice import ColumnChoice
from ilfs.sources import Batch, BatchReader, BatchSource, DaskSource, Source, TableSource, table_source
from ilfs.sources.dask import DaskTable
from ilfs.sources.partitions import Divide


def from_source(source: Source, choice: ColumnChoice) -> Source:
    """Select columns of a source; the result is a source with the same rows, labels and weights."""
    names = source.feature_names
    columns = np.array(choice.positions(names, source.n_features, "the table"), dtype=np.int64)
    kept = None if names is None else [names[j] for j in columns.tolist()]
    if isinstance(source, TableSource):
        selected: Source = table_source(source.to_matrix()[:, columns], source.y, source.sample_weight, kept)
    elif isinstance(source, BatchSource):
        selected = from_batches(source, columns, kept)
    elif isinstance(source, DaskSource):
        selected = from_partitions(source, columns, kept)
    else:
        raise TypeError(
            f"X must have rows of which columns can be selected, got a {type(source).__name__}: transform the rows "
            "themselves"
        )
    selected.target_name = source.target_name
    return selected


def from_batches(source: BatchSource, columns: Integers, names: list[Any] | None) -> BatchSource:
    """Select columns of a source that is read in batches; blocks keep their height."""
    selected = copy(source)
    selected.reader = ChosenReader(source.reader, columns, names)
    selected.n_features, selected.feature_names = columns.size, names
    return selected


def from_partitions(source: DaskSource, columns: Integers, names: list[Any] | None) -> DaskSource:
    """Select columns of a table of Dask."""
    selected = copy(source)
    selected.table = ChosenTable(source.table, columns, names)
    selected.n_features, selected.feature_names = columns.size, names
    return selected


class ChosenReader(BatchReader):
    """Reader of some columns of another reader, which reads no others if its format allows.

    Parameters
    ----------
    reader : BatchReader
        The other reader.
    columns : ndarray of int
        The columns, in any order.
    names : list or None
        Their names, if they have any.
    """

    def __init__(self, reader: BatchReader, columns: Integers, names: list[Any] | None) -> None:
        self._reader, self._columns = reader, columns
        self.n_features, self.feature_names, self.name, self.dtype = columns.size, names, reader.name, reader.dtype
        self.is_sparse, self.by_column, self.n_parts = reader.is_sparse, reader.by_column, reader.n_parts
        self.has_labels, self.has_weights, self.n_rows = reader.has_labels, reader.has_weights, reader.n_rows
        self.strip_columns = reader.strip_columns
        self.check_classes, self.close = reader.check_classes, reader.close  # type: ignore[method-assign]

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read some of the chosen columns."""
        wanted, places = self._wanted(columns)
        return map(partial(arranged, places), self._reader.batches(wanted, max_rows))

    def part_batches(self, part: int, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read some of the chosen columns of one part."""
        wanted, places = self._wanted(columns)
        return map(partial(arranged, places), self._reader.part_batches(part, wanted, max_rows))

    def _wanted(self, columns: Integers | None) -> tuple[Integers, Integers | None]:
        """Return the columns of the other reader, ascending, and the places of the requested ones among them.

        Places are None if the columns are requested in ascending order.
        """
        wanted = self._columns if columns is None else self._columns[columns]
        order = np.argsort(wanted)
        is_ascending = bool((np.diff(wanted) > 0).all())
        return wanted[order], None if is_ascending else np.argsort(order)


def arranged(places: Integers | None, batch: Batch) -> Batch:
    """Put the columns of a batch into the order that was asked for."""
    if places is None or batch.X is None:
        return batch
    X = [batch.X[j] for j in places] if isinstance(batch.X, list | tuple) else batch.X[:, places]
    return Batch(X, batch.y, batch.weight, batch.n_rows)


class ChosenTable(DaskTable):
    """Some columns of another table of Dask.

    Parameters
    ----------
    table : DaskTable
        The other table.
    columns : ndarray of int
        The columns.
    names : list or None
        Their names, if they have any.
    """

    def __init__(self, table: DaskTable, columns: Integers, names: list[Any] | None) -> None:
        self._table, self._columns = table, columns
        self.n_partitions, self.heights, self.target = table.n_partitions, table.heights, table.target
        self.n_features, self.feature_names, self.has_labels = columns.size, names, table.has_labels
        self.divide = partial(divide_chosen, table.divide, columns)

    def partitions(self, columns: Integers | None) -> list[Any]:
        """Return partitions that hold at least the requested columns."""
        return self._table.partitions(self._columns if columns is None else self._columns[columns])


def divide_chosen(divide: Divide, chosen: Integers, part: Any, columns: Integers | None) -> Any:
    """Divide a partition, as the other table does, for some of the chosen columns."""
    return divide(part, chosen if columns is None else chosen[columns])
