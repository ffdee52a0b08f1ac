"""Tables that are read in batches from the first row to the last, in every pass: files, queries, generators.

A *reader* knows a format. It gives the rows in batches of any height, as often as it is asked to. `BatchSource` makes a
source of it: it finds the classes in a first pass over the labels, and cuts the rows into blocks of the height that a
table in memory has. So the result does not depend on the batches, to the last bit. Only if such a block would take too
much memory are blocks lower; then the last digits of a score may change.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.cached import cached_property
from ilfs.sources import tables
from ilfs.sources.cutting import BlockCutter, Piece
from ilfs.sources.label_checks import check_kind_of_labels, check_types
from ilfs.sources.permutations import PermutedLabels, check_groups
from ilfs.sources.reader import Batch, BatchReader
from ilfs.sources.source import ReadProgress, RowBlock, Source
from ilfs.sources.subsets import RowSubsets
from ilfs.statistics.labels import LEFT_OUT, Classes, RowLabels

DEFAULT_BLOCK_BYTES = 2**27  # most bytes of a block, 128 MB: wide tables that must be read whole have lower blocks
SPARSE_BLOCK_ROWS = 2048  # rows of a block of a sparse table
BLOCKS_AT_A_TIME = 4  # a block that is computed, the next one that is filled, and the batches it is filled from
MAX_WAITING_BYTES = 2**28  # of the rows at the ends of parts that wait for the next part
NO_COLUMNS: Integers = np.empty(0, dtype=np.int64)


class BatchSource(Source):
    """Source over a table that is read in batches.

    The classes are found in a first pass over the labels, when they are first asked for.

    Parameters
    ----------
    reader : BatchReader
        Reads the rows.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Labels of all rows, if the reader gives none.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of all rows, if the reader gives none.
    memory_limit : int, optional
        Bytes that the blocks of the table may take. If blocks of the usual height take more, they are made lower, and
        the last digits of a score may change.
    progress : callable, optional
        Called with a `ReadProgress` after each block.

    Attributes
    ----------
    block_rows : int
        Rows of a block; the last block may have fewer.
    """

    def __init__(
        self,
        reader: BatchReader,
        y: NDArray[Any] | None = None,
        sample_weight: Floats | None = None,
        *,
        memory_limit: int | None = None,
        progress: Callable[[ReadProgress], None] | None = None,
    ) -> None:
        self.reader, self._y, self._weight, self._is_labelled = reader, y, sample_weight, True
        self.n_features, self.is_sparse, self.feature_names = reader.n_features, reader.is_sparse, reader.feature_names
        self.progress, self.strip_columns = progress, reader.strip_columns
        self.block_rows = SPARSE_BLOCK_ROWS if reader.is_sparse else block_height(reader, memory_limit)
        fraction = MAX_WAITING_BYTES if memory_limit is None else memory_limit // BLOCKS_AT_A_TIME
        self._max_waiting_bytes = min(fraction, MAX_WAITING_BYTES)

    _subsets: RowSubsets | None = None  # labellings after the observed ones, if these are subsets of the rows

    @cached_property
    def _counted(self) -> tuple[tuple[Classes, ...], Classes]:
        """Classes of each observed labelling, and all rows as one class: read from the labels only."""
        return self._count_labels()

    def _count_labels(self, kept: "list[EncodedBatch] | None" = None) -> tuple[tuple[Classes, ...], Classes]:
        """Read the labels and count the classes; if a list is given, it gets the encoded labels of each batch."""
        tallies: list[Tally] = []
        everything = Tally()
        for batch in self._checked_batches():
            weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight
            columns = label_columns(batch.y)
            if kept is not None:
                kept.append(EncodedBatch.encode(columns, weight))
            tallies = tallies or [Tally() for _ in columns]
            for tally, column in zip(tallies, columns, strict=True):
                tally.add(column, weight)
            everything.add(np.zeros(batch.n_rows), weight)
            if self.progress is not None:
                n_rows = self.reader.n_rows
                self.progress(ReadProgress(0, everything.n_rows / n_rows if n_rows else None))
        check_number_of_rows(everything.n_rows, self.reader.name)
        classes = tuple(tally.classes() for tally in tallies)
        if len(classes) == 1:
            self.reader.check_classes(classes[0].labels, classes[0].rows)
        return classes, everything.classes()

    @property
    def labellings(self) -> tuple[Classes, ...]:  # type: ignore[override]
        """Classes of each labelling."""
        further = self.permuted if self._subsets is None else self._subsets
        return self._counted[0] + (() if further is None else further.labellings)

    @property
    def all_rows(self) -> Classes:  # type: ignore[override]
        """All rows as one class."""
        return self._counted[1]

    def with_permutations(
        self,
        n_permutations: int,
        random_state: int | np.random.Generator | None = 0,
        groups: NDArray[Any] | None = None,
    ) -> "BatchSource":
        """Return the same rows with permuted labels as further labellings; see `Source`.

        The pass that finds the classes also encodes the labels, so the rows are read no more often.

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
        BatchSource
            The rows.
        """
        one = copy(self)
        observed = one.encoded_labels()
        groups = None if groups is None else check_groups(groups, len(observed[0]))
        one.permuted = PermutedLabels.draw(observed, one._counted[0], n_permutations, random_state, groups)
        one.is_within_groups = groups is not None
        return one

    def encoded_labels(self) -> tuple[RowLabels, ...]:
        """Return the labels of all rows under each observed labelling; without labels, all rows as one class.

        They are read in the pass that finds the classes.
        """
        batches: list[EncodedBatch] = []
        vars(self)["_counted"] = self._count_labels(batches)
        if not self._counted[0]:
            return (RowLabels.one_class(np.concatenate([one.weight for one in batches])),)
        return tuple(encoded_rows(batches, label, of_label) for label, of_label in enumerate(self._counted[0]))

    def with_subsets(self, subsets: RowSubsets) -> "BatchSource":
        """Return the same rows with subsets of them as further labellings; see `Source`.

        Parameters
        ----------
        subsets : RowSubsets
            The subsets.

        Returns
        -------
        BatchSource
            The rows.
        """
        one = copy(self)
        one.permuted, one._subsets = None, subsets
        return one

    @property
    def has_labels(self) -> bool:  # type: ignore[override]
        """True if rows have labels; this does not read them."""
        return self._is_labelled and (self.reader.has_labels or self._y is not None)

    @property
    def has_weights(self) -> bool:  # type: ignore[override]
        """True if rows have weights."""
        return self.reader.has_weights or self._weight is not None

    def without_labels(self) -> "BatchSource":
        """Return the same rows without labels, for a method that reads none."""
        one = copy(self)
        one._y, one._is_labelled, one.permuted, one._subsets = None, False, None, None
        vars(one).pop("_counted", None)
        return one

    @property
    def block_bytes(self) -> int:
        """Memory that dense blocks take at most: a block that is computed, one that is filled, and its batches."""
        n_columns = self.reader.strip_columns or self.n_features
        return BLOCKS_AT_A_TIME * self.block_rows * n_columns * self.reader.dtype.itemsize

    def close(self) -> None:
        """Free what the reader holds open, such as temporary files."""
        self.reader.close()

    @property
    def n_rows(self) -> int | None:
        """Number of rows of positive weight, if it is known."""
        if "_counted" in vars(self):
            return int(self.all_rows.rows.sum())
        return self.reader.n_rows

    def blocks(self, columns: Integers | None = None) -> Iterator[RowBlock]:
        """Iterate over the rows from the first one, in blocks.

        Parameters
        ----------
        columns : ndarray of int, optional
            Columns to read; all of them by default.

        Yields
        ------
        RowBlock
            The next rows.
        """
        return map(itemgetter(1), self.strip_blocks([columns]))

    def strip_blocks(self, strips: Sequence[Integers | None]) -> Iterator[tuple[int, RowBlock]]:
        """Iterate over the rows of several strips of columns, in blocks.

        The strips are read part by part: a file is opened once for all strips. The rows at its end that do not fill a
        block wait for the next file. If these take too much memory, each strip is read from the first file to the last.

        Parameters
        ----------
        strips : sequence of ndarray of int or None
            Columns of each strip; None for all columns.

        Yields
        ------
        strip, block : int and RowBlock
            Number of a strip and its next rows.
        """
        labellings = self._counted[0]  # before the pass begins: this may read the labels
        passes = [ColumnPass(self, columns, labellings, i, in_place=True) for i, columns in enumerate(strips)]
        for together in [passes] if self._can_wait(strips) else [[one] for one in passes]:
            for part in range(self.reader.n_parts):
                for one in together:
                    yield from one.numbered_blocks(part)

    def _can_wait(self, strips: Sequence[Integers | None]) -> bool:
        """Check if memory allows the last rows of a part to wait for the next part, in all strips."""
        n_columns = sum(self.n_features if columns is None else columns.size for columns in strips)
        waiting_bytes = self.block_rows * n_columns * self.reader.dtype.itemsize
        return self.reader.n_parts == 1 or self.is_sparse or waiting_bytes <= self._max_waiting_bytes

    def pieces(self) -> Iterator[Piece]:
        """Read values, labels and weights in blocks, with labels as the reader gives them.

        Returns
        -------
        iterator of (X, y, weight)
            The blocks.
        """
        one = ColumnPass(self, None)
        return chain.from_iterable(map(one.pieces, range(self.reader.n_parts)))

    def _checked_batches(self) -> Iterator[Batch]:
        """Read labels and weights alone."""
        one = ColumnPass(self, NO_COLUMNS)
        return chain.from_iterable(map(one.batches, range(self.reader.n_parts)))

    def check_batch(self, batch: Batch, start: int) -> Batch:
        """Return a batch with checked labels and weights, from the reader or from the arrays that were given.

        Parameters
        ----------
        batch : Batch
            Some rows.
        start : int
            Number of the first of them.

        Returns
        -------
        Batch
            The same rows.
        """
        rows = slice(start, start + batch.n_rows)
        y = given_rows("y", self._y, rows, batch.y) if self._is_labelled else None
        weight = given_rows("sample_weight", self._weight, rows, batch.weight)
        if y is not None:
            y = check_types(np.asarray(y), start)
            check_kind_of_labels(y)
        return Batch(batch.X, y, check_row_weights(weight, start), batch.n_rows)

    def check_end(self, n_rows: int) -> None:
        """Raise if labels or weights were given for more rows than there are.

        Parameters
        ----------
        n_rows : int
            Number of rows that were read.
        """
        check_all_used("y", self._y, n_rows)
        check_all_used("sample_weight", self._weight, n_rows)


class ColumnPass:
    """One pass over the rows of some columns, part by part.

    Parameters
    ----------
    source : BatchSource
        The rows.
    columns : ndarray of int or None
        Columns to read; None for all of them.
    labellings : sequence of Classes
        Classes by which labels are encoded.
    number : int, default=0
        Number of the strip that these columns are.
    in_place : bool, default=False
        Give a block that lies within one batch of separate columns as `ColumnArrays`, without a copy.
    """

    def __init__(
        self,
        source: BatchSource,
        columns: Integers | None,
        labellings: Sequence[Classes] = (),
        number: int = 0,
        *,
        in_place: bool = False,
    ) -> None:
        self._source, self._columns, self._labellings, self.number = source, columns, labellings, number
        self._n_read, self._n_given = 0, 0
        n_columns = source.n_features if columns is None else columns.size
        self._cutter = BlockCutter(source.reader, n_columns, source.block_rows, in_place=in_place)

    def batches(self, part: int) -> Iterator[Batch]:
        """Read the batches of a part, without empty ones."""
        reader = self._source.reader
        # `map` and `filter` keep no batch, as a loop variable would while the next batch is read.
        read = filter(lambda batch: batch.n_rows, reader.part_batches(part, self._columns, self._source.block_rows))
        yield from map(self._checked, read)
        if part == reader.n_parts - 1:
            self._source.check_end(self._n_read)

    def _checked(self, batch: Batch) -> Batch:
        start, self._n_read = self._n_read, self._n_read + batch.n_rows
        return self._source.check_batch(batch, start)

    def pieces(self, part: int) -> Iterator[Piece]:
        """Cut the rows of a part into blocks; those that are left wait for the next part."""
        yield from self._cutter.cut(self.batches(part))
        if part == self._source.reader.n_parts - 1:
            yield from self._cutter.rest()

    def numbered_blocks(self, part: int) -> Iterator[tuple[int, RowBlock]]:
        """Cut the rows of a part into blocks with encoded labels, each with the number of this strip."""
        return map(self._numbered_block, self.pieces(part))

    def _numbered_block(self, piece: Piece) -> tuple[int, RowBlock]:
        X, y, weight = piece
        start, self._n_given = self._n_given, self._n_given + X.shape[0]
        labels = tuple(
            encode_rows(column, classes, weight, self._source.reader.name)
            for column, classes in zip(label_columns(y), self._labellings, strict=True)
        )
        permuted = self._source.permuted
        if permuted is not None:
            labels += permuted.block_labels(slice(start, self._n_given), weight)
        subsets = self._source._subsets
        if subsets is not None:
            labels += subsets.block_labels(slice(start, self._n_given), labels, weight)
        return self.number, RowBlock(X, labels, weight, start)


def given_rows(name: str, given: NDArray[Any] | None, rows: slice, of_batch: Any) -> Any:
    """Return the labels or weights of some rows: from the array that was given, if any, or from the batch."""
    if given is None:
        return of_batch
    if len(given) < rows.stop:
        raise ValueError(
            f"X and {name} must have the same number of rows, got {len(given)} values of {name} and at least "
            f"{rows.stop} rows"
        )
    return given[rows]


def check_all_used(name: str, given: NDArray[Any] | None, n_rows: int) -> None:
    """Raise if an array of labels or weights has more rows than the table."""
    if given is not None and len(given) != n_rows:
        raise ValueError(f"X and {name} must have the same number of rows, got {n_rows} and {len(given)}")


def check_number_of_rows(n_rows: int, name: str) -> None:
    """Raise if there are fewer than two rows of positive weight."""
    if n_rows < 2:
        raise ValueError(f"{name} must have at least 2 rows, got {n_rows}")


def block_height(reader: BatchReader, memory_limit: int | None) -> int:
    """Return the number of rows of a block of a dense table.

    It is that of a table in memory, or the largest power of two with which the blocks keep within the limit.
    """
    n_columns = max(reader.strip_columns or reader.n_features, 1)
    block_bytes = DEFAULT_BLOCK_BYTES if memory_limit is None else memory_limit // BLOCKS_AT_A_TIME
    fitting = max(block_bytes // (reader.dtype.itemsize * n_columns), 1)
    return min(tables.BLOCK_ROWS, 1 << (fitting.bit_length() - 1))


def label_columns(y: NDArray[Any] | None) -> list[NDArray[Any]]:
    """Return the labels of each labelling: none, one, or the columns of an indicator matrix."""
    if y is None:
        return []
    return [y] if y.ndim == 1 else list(y.T)


def check_row_weights(weight: Any, first_row: int) -> Floats | None:
    """Raise unless weights are finite numbers >= 0."""
    if weight is None:
        return None
    checked: Floats = np.asarray(weight, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(checked) & (checked >= 0)))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            f"sample_weight must be a number >= 0 for each row, got {weight[row]} in row {first_row + row}"
        )
    return np.asarray(weight)


class Tally:
    """Rows and weight of each class, added up over batches."""

    def __init__(self) -> None:
        self.rows: dict[Any, int] = {}
        self.total: dict[Any, float] = {}
        self.kind = ""
        self.n_rows = 0

    def add(self, y: NDArray[Any], weight: Floats) -> None:
        """Add the labels of a batch; rows of weight 0 are absent."""
        counted = weight > 0
        self.n_rows += int(np.count_nonzero(counted))
        labels, codes = np.unique(y[counted], return_inverse=True)
        if not labels.size:
            return
        self._check_kind(labels)
        rows = np.bincount(codes)
        # The totals so far are added first, as if all batches were one: the sums do not depend on the batches.
        so_far = np.array([self.total.get(label, 0.0) for label in labels.tolist()])
        total = np.bincount(np.append(np.arange(labels.size), codes), np.append(so_far, weight[counted]))
        for label, n, w in zip(labels.tolist(), rows.tolist(), total.tolist(), strict=True):
            self.rows[label] = self.rows.get(label, 0) + n
            self.total[label] = w

    def merge(self, other: "Tally") -> None:
        """Add the labels of other rows, which follow these."""
        self._set_kind(other.kind)
        self.n_rows += other.n_rows
        for label, n in other.rows.items():
            self.rows[label] = self.rows.get(label, 0) + n
            self.total[label] = self.total.get(label, 0.0) + other.total[label]

    def _check_kind(self, labels: NDArray[Any]) -> None:
        self._set_kind("text" if labels.dtype.kind in "SUO" else "numbers")

    def _set_kind(self, kind: str) -> None:
        """Raise if labels of another type were added before."""
        if not kind:  # no labels
            return
        if self.kind not in ("", kind):
            raise ValueError(f"labels in y must be of one type, got {self.kind} in some rows and {kind} in others")
        self.kind = kind

    def classes(self) -> Classes:
        """Return all classes, sorted by label."""
        found = np.array(list(self.rows))
        order = np.argsort(found, kind="stable")
        rows, total = np.array(list(self.rows.values()), dtype=np.int64), np.array(list(self.total.values()))
        return Classes(found[order], rows[order], total[order])


@dataclass(frozen=True)
class EncodedBatch:
    """Labels of a batch as numbers: ``labels[k]`` has the distinct labels of labelling k, ``codes[k]`` their places.

    ``weight`` has the weights of the rows; the code of a row of weight 0 has no meaning.
    """

    labels: list[NDArray[Any]]
    codes: list[NDArray[Any]]
    weight: Floats

    @classmethod
    def encode(cls, columns: Sequence[NDArray[Any]], weight: Floats) -> "EncodedBatch":
        """Encode the labels of a batch by the labels that it holds, in few bytes."""
        found = [np.unique(column, return_inverse=True) for column in columns]
        small = [codes.ravel().astype(np.min_scalar_type(max(labels.size - 1, 0))) for labels, codes in found]
        return cls([labels for labels, _ in found], small, weight)


def encoded_rows(batches: Sequence[EncodedBatch], label: int, classes: Classes) -> RowLabels:
    """Encode the labels of all batches by the classes of all rows."""
    codes = [
        np.where(one.weight > 0, np.searchsorted(classes.labels, one.labels[label])[one.codes[label]], LEFT_OUT)
        for one in batches
    ]
    return RowLabels(np.concatenate(codes), np.concatenate([one.weight for one in batches]), classes.n_classes)


def encode_rows(y: NDArray[Any], classes: Classes, weight: Floats, name: str) -> RowLabels:
    """Encode the labels of a block by the classes of all rows."""
    codes = np.minimum(np.searchsorted(classes.labels, y), max(classes.n_classes - 1, 0))
    counted = weight > 0
    unknown = np.flatnonzero(counted & (classes.labels[codes] != y)) if classes.n_classes else np.flatnonzero(counted)
    if unknown.size:
        raise ValueError(f"{name} has changed between two reads: label {y[unknown[0]]!r} was not there before")
    return RowLabels(np.where(counted, codes, LEFT_OUT), weight, classes.n_classes)
