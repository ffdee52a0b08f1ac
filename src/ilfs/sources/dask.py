"""Tables of Dask: arrays, data frames, lists of delayed partitions, and AnnData whose X is a Dask array.

The rows are in partitions, which workers compute. Labels and weights are in the partitions, in Dask collections beside
them, or in memory; the latter are cut like the partitions.

The classes are found in a first pass, over the labels only. It also counts the rows of each partition, which Dask does
not always know.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.cached import cached_property
from ilfs.sources.batches import NO_COLUMNS, check_row_weights
from ilfs.sources.cluster import compute, delayed, reduced
from ilfs.sources.label_checks import warn_of_quantity
from ilfs.sources.partitions import (
    Divide,
    PartitionReader,
    RowCounts,
    WiderClasses,
    check_frame,
    check_numbers,
    count_partition,
    described,
    divide_chunks,
    divide_delayed,
    divide_frame,
    divide_unlabelled,
    encode_partition,
    labels_of,
    merge_counts,
    partition_labels,
    side_by_side,
)
from ilfs.sources.permutations import PermutedLabels, check_groups
from ilfs.sources.roles import check_column_names, find_column
from ilfs.sources.source import ReadProgress, RowBlock, Source
from ilfs.sources.subsets import RowSubsets
from ilfs.statistics.labels import LEFT_OUT, Classes, RowLabels

COUNTS_FAN_IN = 32  # counts of labels that are merged at a time
ONE_COLUMN: Integers = np.zeros(1, dtype=np.int64)  # of which the rows are counted if there are no labels
NO_LABELS = "fit requires y to be passed, but the target y is None: every sample needs a class"


# Tables of partitions


class DaskTable(ABC):
    """Base class of the kinds of tables.

    Attributes
    ----------
    n_partitions, n_features : int
        Number of partitions and of columns.
    feature_names : list or None
        Names of the columns, if they have any.
    heights : list of int or None
        Number of rows of each partition, if Dask knows them.
    target : object
        Name of the column of the labels, None if there is none.
    has_labels : bool
        True if the partitions hold labels.
    divide : callable
        Function of a computed partition and the requested columns (None for all). It returns values, labels and
        weights; workers call it.
    """

    n_partitions: int
    n_features: int
    feature_names: list[Any] | None = None
    heights: list[int] | None = None
    target: Any = None
    has_labels: bool = False
    divide: Divide

    @abstractmethod
    def partitions(self, columns: Integers | None) -> list[Any]:
        """Return the partitions as delayed values; some columns are enough, if given."""


class ArrayTable(DaskTable):
    """A Dask array, of dense or sparse chunks.

    Chunks of columns are put side by side by the worker that reads the rows.

    Parameters
    ----------
    X : dask.array.Array
        Two-dimensional.
    feature_names : list, optional
        Names of the columns.
    """

    def __init__(self, X: Any, feature_names: list[Any] | None = None) -> None:
        if X.ndim != 2 or np.isnan(X.shape[1]):
            raise ValueError(f"X must have two dimensions and a known number of columns, got the shape {X.shape}")
        check_numbers(X.dtype)
        self._chunks = delayed_chunks(X)
        self.n_partitions, self.n_features = X.numblocks[0], int(X.shape[1])
        self.heights, self.feature_names = known_heights(X), feature_names
        self.divide = divide_chunks

    def partitions(self, columns: Integers | None) -> list[Any]:  # noqa: ARG002
        """Return the chunks of each partition; a task takes the columns from them."""
        return self._chunks


class FrameTable(DaskTable):
    """A Dask data frame.

    Parameters
    ----------
    X : dask.dataframe.DataFrame
        Numeric columns, and that of the labels.
    target : str, optional
        Name of the column of the labels.
    """

    def __init__(self, X: Any, target: Any = None) -> None:
        names = list(X.columns)
        check_column_names(names, "X")
        if target is not None:
            find_column("y", target, names, len(names), "X")
        self.feature_names = [name for name in names if name != target]
        self._frame, self.target, self.has_labels = X, target, target is not None
        self.n_partitions, self.n_features = X.npartitions, len(self.feature_names)
        check_frame(empty_frame(X.dtypes[self.feature_names]))
        self.divide = partial(divide_frame, names=self.feature_names, target=target)

    def partitions(self, columns: Integers | None) -> list[Any]:
        """Return partitions that hold only the requested columns and the labels, which saves reading the others."""
        assert self.feature_names is not None
        names = self.feature_names if columns is None else [self.feature_names[j] for j in columns]
        return delayed_partitions(self._frame[names if self.target is None else [*names, self.target]])


def delayed_partitions(frame: Any) -> list[Any]:
    """Return the partitions of a Dask data frame or series, as many as it has.

    If few columns of Parquet files are read, Dask's optimizer merges neighbouring partitions. Labels and features
    would then be cut at different rows.
    """
    parts = list(frame.to_delayed())
    return parts if len(parts) == frame.npartitions else list(frame.simplify().to_delayed(optimize_graph=False))


class DelayedTable(DaskTable):
    """Delayed partitions, each of which computes to ``(X, y)``, ``(X, y, weight)`` or a data frame.

    The first of them is computed when the table is made, to know its columns.

    Parameters
    ----------
    partitions : sequence of dask.delayed.Delayed
        The partitions, in the order of their rows.
    target : str, optional
        Name of the column of the labels, if partitions are data frames.
    """

    def __init__(self, partitions: Sequence[Any], target: str | None = None) -> None:
        self._partitions, self.target, self.n_partitions = list(partitions), target, len(partitions)
        self.n_features, self.feature_names, self.has_labels = compute(delayed(described)(partitions[0], target))
        self.divide = partial(divide_delayed, names=self.feature_names, target=target)

    def partitions(self, columns: Integers | None) -> list[Any]:  # noqa: ARG002
        """Return the partitions; a task takes the columns from them."""
        return self._partitions


def delayed_chunks(X: Any) -> list[list[Any]]:
    """Return the chunks of an array as delayed values: a list of chunks of columns for each chunk of rows."""
    if hasattr(X, "to_delayed"):
        return [np.atleast_1d(row).tolist() for row in X.to_delayed()]
    # Arrays with query planning.
    from dask.delayed import Delayed

    X = X.optimize()
    graph = dict(X.__dask_graph__())
    rows = X.__dask_keys__()
    return [[Delayed(key, graph) for key in (row if isinstance(row, list) else [row])] for row in rows]


def known_heights(X: Any) -> list[int] | None:
    """Return the number of rows of each chunk, None if some are not known."""
    return None if any(np.isnan(height) for height in X.chunks[0]) else [int(height) for height in X.chunks[0]]


def empty_frame(dtypes: Any) -> Any:
    """Make a pandas frame without rows."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in dtypes.items()})


# Labels and weights beside a table


def beside(column: Any, table: DaskTable, name: str) -> list[Any]:
    """Cut labels or weights into the partitions of a table.

    Parameters
    ----------
    column : dask.array.Array, dask.dataframe.Series, list of Delayed, or array
        Labels or weights of all rows.
    table : DaskTable
        The table.
    name : str
        Name of the argument, for messages.

    Returns
    -------
    list of Delayed or of ndarray
        One for each partition.
    """
    if is_from_dask(column, "Array"):
        return align_array(column, table, name)
    if is_from_dask(column, "FrameBase"):
        return check_partitions(delayed_partitions(column), table, name)
    if is_list_of_delayed(column):
        return check_partitions(list(column), table, name)
    heights = row_counts(table) if table.heights is None else table.heights
    if len(column) != sum(heights):
        raise ValueError(f"X and {name} must have the same number of rows, got {sum(heights)} and {len(column)}")
    stops = list(accumulate(heights))
    return [column[stop - height : stop] for height, stop in zip(heights, stops, strict=True)]


def align_array(column: Any, table: DaskTable, name: str) -> list[Any]:
    """Give a Dask array the chunks of rows of a table, if the heights of all chunks are known."""
    heights = known_heights(column)
    if heights is not None and table.heights is not None and heights != table.heights:
        if sum(heights) != sum(table.heights):
            raise ValueError(
                f"X and {name} must have the same number of rows, got {sum(table.heights)} and {sum(heights)}"
            )
        column = column.rechunk({0: tuple(table.heights)}, method="tasks")
    return check_partitions([delayed(side_by_side)(chunks) for chunks in delayed_chunks(column)], table, name)


def check_partitions(parts: list[Any], table: DaskTable, name: str) -> list[Any]:
    """Raise unless there are as many partitions as those of the table."""
    if len(parts) != table.n_partitions:
        raise ValueError(
            f"{name} must have the partitions of X, whose numbers of rows are not known: X has {table.n_partitions} "
            f"and {name} has {len(parts)}; call X.compute_chunk_sizes() for an array, or take {name} from the frame"
        )
    return parts


def row_counts(table: DaskTable) -> list[int]:
    """Count the rows of each partition."""
    parts = [delayed(count_rows)(table.divide, part) for part in table.partitions(ONE_COLUMN)]
    return compute(delayed(list)(parts))  # type: ignore[no-any-return]


def count_rows(divide: Divide, part: Any) -> int:
    """Count the rows of a computed partition."""
    return int(divide(part, ONE_COLUMN)[0].shape[0])


def is_from_dask(value: Any, name: str) -> bool:
    """Check if an object is of a class of Dask, without importing Dask."""
    return any(kind.__name__ == name and kind.__module__.startswith("dask") for kind in type(value).__mro__)


def is_list_of_delayed(value: Any) -> bool:
    """Check if an object is a list of delayed values."""
    return isinstance(value, list | tuple) and bool(value) and all(is_from_dask(one, "Delayed") for one in value)


# The source


@dataclass(frozen=True)
class PartitionInputs:
    """Arguments of the tasks that read one partition.

    Parameters
    ----------
    part : Delayed or list of Delayed
        The partition.
    y, weight : Delayed, ndarray or None
        Labels and weights beside it.
    permuted : ndarray or None
        Codes of the permuted labels.
    first_row, number : int
        Number of its first row, and of the partition.
    """

    part: Any
    y: Any
    weight: Any
    permuted: Any
    first_row: int
    number: int


class DaskSource(Source):
    """Source over a table of Dask.

    Parameters
    ----------
    table : DaskTable
        The partitions.
    y : optional
        Labels, as for `beside`, if the partitions hold none.
    sample_weight : optional
        Weights, as for `beside`, if the partitions hold none.
    progress : callable, optional
        Called with a `ReadProgress` whenever a partition was read.
    """

    is_sparse = False  # chunks may be sparse all the same, which only workers see

    def __init__(
        self,
        table: DaskTable,
        y: Any = None,
        sample_weight: Any = None,
        *,
        progress: Callable[[ReadProgress], None] | None = None,
    ) -> None:
        self.table, self.target_name, self.progress = table, table.target, progress
        self.n_features, self.feature_names = table.n_features, table.feature_names
        self.has_labels = table.has_labels or y is not None
        self.label_names: NDArray[Any] | None = None
        self._wider: WiderClasses | None = None
        self._subsets: RowSubsets | None = None
        if y is not None and not is_lazy(y):
            self.label_names, y = codes_of(y)
        self.y = None if y is None else beside(y, table, "y")
        self.weight = None if sample_weight is None else beside(weights_of(sample_weight), table, "sample_weight")

    def without_labels(self) -> "DaskSource":
        """Return the same rows without their labels, for methods that read none."""
        source = copy(self)
        for cached in ("_counts", "worker_labellings", "labellings"):
            source.__dict__.pop(cached, None)
        source.has_labels, source.y = False, None
        source._wider = source._subsets = source.permuted = None
        return source

    def with_permutations(
        self,
        n_permutations: int,
        random_state: int | np.random.Generator | None = 0,
        groups: NDArray[Any] | None = None,
    ) -> "DaskSource":
        """Return the same rows with permuted labels as further labellings; see `Source`.

        The classes of all rows are sent to this process, one byte for each row and label, and so are the weights. Every
        partition gets the permuted labels of its rows back.

        Parameters
        ----------
        n_permutations : int
            Number of permutations.
        random_state : int, numpy.random.Generator or None, default=0
            Source of random numbers.
        groups : ndarray of shape (n_rows,), optional
            Group of each row; labels are then permuted within groups only.

        Returns
        -------
        DaskSource
            The rows.
        """
        classes, observed = self.labellings, self._gather_labels()
        groups = None if groups is None else check_groups(groups, len(observed[0]))
        source = copy(self)
        source.permuted = PermutedLabels.draw(observed, classes, n_permutations, random_state, groups)
        source.is_within_groups = groups is not None
        source.__dict__["labellings"] = classes + source.permuted.labellings
        return source

    def _gather_labels(self) -> list[RowLabels]:
        """Return the classes of all rows, for each labelling."""
        is_beside = self.y is not None and not isinstance(self.table, DelayedTable)
        parts = [None] * self.table.n_partitions if is_beside else self.table.partitions(NO_COLUMNS)
        encode = partial(encode_partition, self._divide, self.worker_labellings)
        arguments = list(zip(parts, *self.labels_and_weights(), first_rows(self._counts.heights), strict=True))
        if self._is_counted_here:
            encoded = [encode(*these) for these in arguments]
        else:
            lazy = delayed(encode)
            encoded = compute(delayed(list)([lazy(*these) for these in arguments]))
        codes = np.concatenate([some for some, _ in encoded], axis=1)
        weights = [weight for _, weight in encoded if weight is not None]
        weight = np.concatenate(weights) if weights else np.ones(codes.shape[1])
        every = np.where(weight > 0, codes.astype(np.int64), LEFT_OUT)
        return [RowLabels(one, weight, some.n_classes) for one, some in zip(every, self.worker_labellings, strict=True)]

    def permuted_codes(self) -> list[NDArray[Any] | None]:
        """Return the codes of the permuted labels of each partition, None if labels are not permuted."""
        if self.permuted is None:
            return [None] * self.table.n_partitions
        heights, codes = self._counts.heights, self.permuted.codes
        starts = first_rows(heights)
        return [
            np.ascontiguousarray(codes[..., start : start + height])
            for start, height in zip(starts, heights, strict=True)
        ]

    def _relabelled(self, labellings: tuple[Classes, ...], places: list[Integers]) -> "DaskSource":
        """Return the same rows with other classes, which workers set: no partition is sent to this process."""
        source = copy(self)
        source._wider = WiderClasses(labellings, places)
        source.__dict__["labellings"] = labellings
        return source

    def encoded_labels(self) -> tuple[RowLabels, ...]:
        """Return the labels of all rows, which are sent to this process; without labels, all rows as one class."""
        if self.has_labels:
            return tuple(self._gather_labels())
        read = delayed(partial(partition_labels, self.reader(ONE_COLUMN)))
        inputs = self.inputs(ONE_COLUMN)
        parts = [read(one.part, one.y, one.weight, one.permuted, one.first_row, one.number) for one in inputs]
        present = [part for part in compute(delayed(list)(parts)) if part is not None]
        return tuple(joined_labels(of_parts) for of_parts in zip(*present, strict=True))

    def with_subsets(self, subsets: RowSubsets) -> "DaskSource":
        """Return the same rows with subsets of them as further labellings, which workers set; see `Source`."""
        source = copy(self)
        source._subsets = subsets
        source.__dict__["labellings"] = self.labellings + subsets.labellings
        return source

    @cached_property
    def _counts(self) -> RowCounts:
        """Rows of partitions and classes, from the labels and weights only if they are beside the table."""
        counts = self._count_here() if self._is_counted_here else self._count_there()
        n_rows = counts.everything.n_rows
        if n_rows < 2:
            raise ValueError(f"X must have at least 2 rows, got {n_rows}")
        return counts

    @property
    def _is_counted_here(self) -> bool:
        """True if labels and weights are in memory, and the heights of the partitions are known."""
        if isinstance(self.table, DelayedTable) or (self.has_labels and self.y is None):
            return False
        parts = [part for column in self.labels_and_weights() for part in column if part is not None]
        return (self.table.heights is not None or bool(parts)) and all(isinstance(part, np.ndarray) for part in parts)

    def _count_here(self) -> RowCounts:
        """Count in this process, in the order of the rows."""
        heights = self.table.heights or [len(part) for part in self.y or self.weight or ()]
        counts, start = RowCounts(), 0
        for height, y, weight in zip(heights, *self.labels_and_weights(), strict=True):
            counts.add(y, check_row_weights(weight, start), height)
            start += height
        return counts

    def _count_there(self) -> RowCounts:
        """Count on the workers."""
        beside_it = self.y is not None if self.has_labels else self.weight is not None
        needs_part = isinstance(self.table, DelayedTable) or not beside_it
        columns = NO_COLUMNS if self.has_labels else ONE_COLUMN
        parts = self.table.partitions(columns) if needs_part else [None] * self.table.n_partitions
        starts = [None] * len(parts) if self.table.heights is None else first_rows(self.table.heights)
        count = delayed(partial(count_partition, self._divide, columns))
        arguments = zip(parts, *self.labels_and_weights(), starts, range(len(parts)), strict=True)
        counts = [count(*these) for these in arguments]
        merged = reduced(counts, merge_counts, COUNTS_FAN_IN)
        return compute(merged, steps=counts, report=self.reporter(0))  # type: ignore[no-any-return]

    def reporter(self, number: int) -> Callable[[float], None] | None:
        """Return a function that reports the fraction of a read, None if nobody asks for it.

        Parameters
        ----------
        number : int
            Number of the read, as in `ReadProgress`.
        """
        progress = self.progress
        return None if progress is None else lambda fraction: progress(ReadProgress(number, fraction))

    @property
    def _divide(self) -> Divide:
        """Function that divides a partition, without its labels if they are not needed."""
        return self.table.divide if self.has_labels else partial(divide_unlabelled, divide=self.table.divide)

    def labels_and_weights(self) -> tuple[list[Any], list[Any]]:
        """Return labels and weights of each partition, None if there are none beside it."""
        nothing = [None] * self.table.n_partitions
        return self.y or nothing, self.weight or nothing

    @cached_property
    def worker_labellings(self) -> tuple[Classes, ...]:
        """Classes of each labelling, as they are in the labels that the workers get."""
        return tuple(tally.classes() for tally in self._counts.tallies) if self.has_labels else ()

    @cached_property
    def labellings(self) -> tuple[Classes, ...]:
        """Classes of each labelling."""
        classes = self.worker_labellings
        if self.label_names is not None:
            classes = tuple(replace(one, labels=self.label_names[one.labels]) for one in classes)
        if len(classes) == 1:
            warn_of_quantity(classes[0].labels, classes[0].rows)
        return classes

    @property
    def all_rows(self) -> Classes:  # type: ignore[override]
        """All rows as one class."""
        return self._counts.everything.classes()

    def reader(self, columns: Integers | None = None) -> PartitionReader:
        """Return the object that opens partitions on a worker."""
        n_columns = self.n_features if columns is None else columns.size
        permuted = () if self.permuted is None else self.permuted.labellings
        labels = (self.worker_labellings, columns, n_columns, self._wider, self._subsets, permuted)
        return PartitionReader(self._divide, *labels)

    def inputs(self, columns: Integers | None = None, *, with_labels: bool = True) -> list[PartitionInputs]:
        """Return the arguments of the tasks that read the partitions, with the labels and weights beside them."""
        parts, starts = self.table.partitions(columns), first_rows(self._counts.heights)
        nothing = [None] * len(parts)
        permuted = self.permuted_codes() if with_labels else nothing
        beside_it = self.labels_and_weights() if with_labels else (nothing, nothing)
        arguments = zip(parts, *beside_it, permuted, starts, range(len(parts)), strict=True)
        return [PartitionInputs(*these) for these in arguments]

    def blocks(self, columns: Integers | None = None) -> Iterator[RowBlock]:
        """Iterate over the rows in blocks; every partition is sent to this process."""
        open_partition = delayed(self.reader(columns).open)
        for one in self.inputs(columns):
            table = compute(open_partition(one.part, one.y, one.weight, one.permuted, one.first_row, one.number))
            yield from () if table is None else table.blocks()


def first_rows(heights: Sequence[int]) -> list[int]:
    """Return the number of the first row of each partition."""
    return [0, *accumulate(heights[:-1])]


def joined_labels(parts: Sequence[RowLabels]) -> RowLabels:
    """Put the labels of neighbouring partitions one after the other."""
    codes, weight = np.concatenate([part.codes for part in parts]), np.concatenate([part.weight for part in parts])
    return RowLabels(codes, weight, parts[0].n_classes)


def is_lazy(column: Any) -> bool:
    """Check if labels or weights are not in memory."""
    return is_from_dask(column, "Array") or is_from_dask(column, "FrameBase") or is_list_of_delayed(column)


def weights_of(sample_weight: Any) -> Any:
    """Convert weights in memory to an array."""
    if is_lazy(sample_weight):
        return sample_weight
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim != 1:
        raise ValueError(f"sample_weight must be a number for each row of X, got an array of shape {weight.shape}")
    return weight


def codes_of(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Encode labels in memory by small integers, which are sent to the workers instead of them."""
    labels = labels_of(y, 0)
    names, codes = np.unique(labels, return_inverse=True)
    return names, codes.reshape(labels.shape).astype(np.min_scalar_type(max(names.size - 1, 0)))


# What `fit` takes


def dask_source(X: Any, y: Any, sample_weight: Any, *, reads_labels: bool, feature_names: Any = None) -> DaskSource:
    """Make a source of a Dask array, a Dask data frame or a list of delayed partitions.

    Parameters
    ----------
    X : dask.array.Array, dask.dataframe.DataFrame, Delayed or list of Delayed
        The table.
    y : object
        Labels, the name of a column of a data frame, or None.
    sample_weight : object
        Weights of the rows, or None.
    reads_labels : bool
        True if the method needs labels.
    feature_names : list, optional
        Names of the columns of an array.

    Returns
    -------
    DaskSource
        The source.
    """
    target = y if isinstance(y, str) else None
    labels = None if target is not None or not reads_labels else y
    if is_from_dask(X, "Array"):
        if target is not None:
            raise TypeError(f"y may be the name of a column only if X is a data frame, got y={target!r} and an array")
        table: DaskTable = ArrayTable(X, feature_names)
    elif is_from_dask(X, "DataFrame"):
        table = FrameTable(X, target)
    else:
        table = DelayedTable([X] if is_from_dask(X, "Delayed") else X, target)
    if reads_labels and labels is None and not table.has_labels:
        raise ValueError(NO_LABELS)
    source = DaskSource(table, labels, sample_weight)
    return source if reads_labels else source.without_labels()


def dask_anndata(adata: Any, y: Any, sample_weight: Any, *, reads_labels: bool) -> DaskSource:
    """Make a source of AnnData whose X is a Dask array.

    Parameters
    ----------
    adata : anndata.AnnData
        Its variables are the features.
    y : object
        Name of a column of ``adata.obs``, labels, or None.
    sample_weight : object
        Weights of the rows, or None.
    reads_labels : bool
        True if the method needs labels.

    Returns
    -------
    DaskSource
        The source.
    """
    if isinstance(y, str):
        find_column("y", y, list(adata.obs.columns), adata.obs.shape[1], "adata.obs")
        y = adata.obs[y] if reads_labels else None
    names = [str(name) for name in adata.var_names]
    return dask_source(adata.X, y, sample_weight, reads_labels=reads_labels, feature_names=names)
