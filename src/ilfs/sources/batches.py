"""Tables that are read in batches from the first row to the last, in every pass: files, queries, generators.

A *reader* knows a format. It gives the rows in batches of any height, as often as it is asked to. `BatchSource` makes a
source of it: it finds the classes in a first pass over the labels, and cuts the rows into blocks of the height that a
table in memory has. So the result does not depend on the batches, to the last bit. Only if such a block would take too
much memory are blocks lower; then the last digits of a score may change.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, sparse_defect
from ilfs.cached import cached_property
from ilfs.sources import tables
from ilfs.sources.label_checks import check_kind_of_labels, check_types, warn_of_quantity
from ilfs.sources.source import ReadProgress, RowBlock, Source
from ilfs.statistics.block import ColumnArrays
from ilfs.statistics.labels import LEFT_OUT, Classes, RowLabels

DEFAULT_BLOCK_BYTES = 2**27  # most bytes of a block, 128 MB: wide tables that must be read whole have lower blocks
SPARSE_BLOCK_ROWS = 2048  # rows of a block of a sparse table
BLOCKS_AT_A_TIME = 4  # a block that is computed, the next one that is filled, and the batches it is filled from
NO_COLUMNS: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Batch:
    """Some rows as a reader gives them.

    Parameters
    ----------
    X : ndarray, scipy.sparse matrix or sequence of ndarrays
        Values of the requested columns: a table with ``n_rows`` rows, or one array for each column. NaN is a missing
        value.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Labels of these rows.
    weight : ndarray of shape (n_rows,), optional
        Weights of these rows.
    n_rows : int
        Number of rows; a batch may be empty.
    """

    X: Any
    y: NDArray[Any] | None
    weight: Floats | None
    n_rows: int


class BatchReader(ABC):
    """Base class of the formats that are read in batches.

    Attributes
    ----------
    name : str
        Name of the table in messages, such as the path of a file.
    n_features : int
        Number of columns, without those of labels and weights.
    feature_names : list or None
        Names of these columns, if they have any.
    dtype : dtype
        float32 or float64: the type in which dense values are passed on.
    is_sparse : bool
        True if batches are sparse matrices.
    by_column : bool
        True if the values of a column are contiguous in a batch.
    has_labels, has_weights : bool
        True if batches have labels, or weights.
    n_rows : int or None
        Number of rows, if it is known without reading them.
    strip_columns : int or None
        Number of columns to read at a time, if reading some columns takes less time and memory than reading all of
        them; None if all must be read together.
    """

    name: str = "the table"
    n_features: int
    feature_names: list[Any] | None = None
    dtype: "np.dtype[Any]" = np.dtype(np.float64)
    is_sparse: bool = False
    by_column: bool = False
    has_labels: bool = False
    has_weights: bool = False
    n_rows: int | None = None
    strip_columns: int | None = None

    @abstractmethod
    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last.

        Parameters
        ----------
        columns : ndarray of int or None
            Columns to read, ascending; None for all of them. If it is empty, only labels and weights are needed.
        max_rows : int
            Most rows of a batch, if the format allows to choose.

        Yields
        ------
        Batch
            The next rows. Every call starts again at the first row and gives the same rows in the same order.
        """

    @property
    def n_bytes(self) -> int | None:
        """Estimate of the bytes that all values take in memory; None if it is not known."""
        return None if self.n_rows is None else self.n_rows * self.n_features * self.dtype.itemsize

    def check_classes(self, labels: NDArray[Any], rows: NDArray[Any]) -> None:
        """Check the classes of all rows: warn if they look like a quantity.

        Parameters
        ----------
        labels, rows : ndarray of shape (n_classes,)
            Label of each class, and the number of its rows.
        """
        warn_of_quantity(labels, rows)

    def close(self) -> None:  # noqa: B027  most readers hold nothing open
        """Free what the reader holds open, such as temporary files; it cannot be read afterwards."""


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
        self._height = SPARSE_BLOCK_ROWS if reader.is_sparse else block_height(reader, memory_limit)

    @cached_property
    def _counted(self) -> tuple[tuple[Classes, ...], Classes]:
        """Classes of each labelling, and all rows as one class: read from the labels only."""
        tallies: list[Tally] = []
        everything = Tally()
        for batch in self._checked_batches(NO_COLUMNS):
            weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight
            columns = label_columns(batch.y)
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
        return self._counted[0]

    @property
    def all_rows(self) -> Classes:  # type: ignore[override]
        """All rows as one class."""
        return self._counted[1]

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
        one._y, one._is_labelled = None, False
        vars(one).pop("_counted", None)
        return one

    @property
    def block_bytes(self) -> int:
        """Memory that dense blocks take at most: a block that is computed, one that is filled, and its batches."""
        n_columns = self.reader.strip_columns or self.n_features
        return BLOCKS_AT_A_TIME * self._height * n_columns * self.reader.dtype.itemsize

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
        labellings = self.labellings  # before the pass begins: this may read the labels
        start = 0
        for X, y, weight in self.pieces(columns, in_place=True):
            labels = tuple(
                encode_rows(column, classes, weight, self.reader.name)
                for column, classes in zip(label_columns(y), labellings, strict=True)
            )
            yield RowBlock(X, labels, weight, start)
            start += X.shape[0]

    def pieces(self, columns: Integers | None = None, *, in_place: bool = False) -> "Iterator[Piece]":
        """Read values, labels and weights in blocks, with labels as the reader gives them.

        Parameters
        ----------
        columns : ndarray of int, optional
            Columns to read; all of them by default.
        in_place : bool, default=False
            Give a block that lies within one batch of separate columns as `ColumnArrays`, without a copy.

        Returns
        -------
        iterator of (X, y, weight)
            The blocks.
        """
        n_columns = self.n_features if columns is None else columns.size
        return reblocked(self._checked_batches(columns), self.reader, n_columns, self._height, in_place=in_place)

    def _checked_batches(self, columns: Integers | None) -> Iterator[Batch]:
        """Read batches, with labels and weights from the reader or from the arrays that were given."""
        start = 0
        for batch in self.reader.batches(columns, self._height):
            if not batch.n_rows:
                continue
            rows = slice(start, start + batch.n_rows)
            y = given_rows("y", self._y, rows, batch.y) if self._is_labelled else None
            weight = given_rows("sample_weight", self._weight, rows, batch.weight)
            if y is not None:
                y = check_types(np.asarray(y), start)
                check_kind_of_labels(y)
            yield Batch(batch.X, y, check_row_weights(weight, start), batch.n_rows)
            start = rows.stop
        check_all_used("y", self._y, start)
        check_all_used("sample_weight", self._weight, start)


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


def encode_rows(y: NDArray[Any], classes: Classes, weight: Floats, name: str) -> RowLabels:
    """Encode the labels of a block by the classes of all rows."""
    codes = np.minimum(np.searchsorted(classes.labels, y), max(classes.n_classes - 1, 0))
    counted = weight > 0
    unknown = np.flatnonzero(counted & (classes.labels[codes] != y)) if classes.n_classes else np.flatnonzero(counted)
    if unknown.size:
        raise ValueError(f"{name} has changed between two reads: label {y[unknown[0]]!r} was not there before")
    return RowLabels(np.where(counted, codes, LEFT_OUT), weight, classes.n_classes)


Piece = tuple[Any, NDArray[Any] | None, Floats]


def reblocked(
    batches: Iterable[Batch], reader: BatchReader, n_columns: int, height: int, *, in_place: bool = False
) -> Iterator[Piece]:
    """Cut batches of any height into blocks of one height; only the last block may be lower.

    Parameters
    ----------
    batches : iterable of Batch
        The rows.
    reader : BatchReader
        States how values are stored.
    n_columns : int
        Number of columns of the batches.
    height : int
        Rows of a block.
    in_place : bool, default=False
        Give a block that lies within one batch of separate columns as `ColumnArrays`, without a copy.

    Yields
    ------
    X, y, weight
        Values, labels and weights of a block. Dense values are in Fortran order if columns are contiguous in a batch.
    """
    make = SparseFiller if reader.is_sparse else InPlaceFiller if in_place else DenseFiller
    filler = make(reader, n_columns, height)
    for batch in batches:
        start = 0
        while start < batch.n_rows:
            taken = min(height - filler.n_rows, batch.n_rows - start)
            filler.add(batch, slice(start, start + taken))
            start += taken
            if filler.n_rows == height:
                yield filler.block()
                filler = make(reader, n_columns, height)
    if filler.n_rows:
        yield filler.block()


class Filler(ABC):
    """A block that is being filled with rows."""

    def __init__(self, reader: BatchReader, n_columns: int, height: int) -> None:
        self.reader, self.n_columns, self.height, self.n_rows = reader, n_columns, height, 0
        self._y: list[NDArray[Any]] = []
        self._weight: list[Floats] = []

    def add(self, batch: Batch, rows: slice) -> None:
        """Add some rows of a batch."""
        self.add_values(batch.X, rows)
        n_rows = rows.stop - rows.start
        if batch.y is not None:
            self._y.append(batch.y[rows])
        self._weight.append(np.ones(n_rows) if batch.weight is None else batch.weight[rows])
        self.n_rows += n_rows

    def block(self) -> Piece:
        """Return the rows that were added."""
        y = np.concatenate(self._y) if self._y else None
        return self.values(), y, np.concatenate(self._weight)

    @abstractmethod
    def add_values(self, X: Any, rows: slice) -> None:
        """Add the values of some rows of a batch."""

    @abstractmethod
    def values(self) -> Any:
        """Return the values of all rows that were added."""


class DenseFiller(Filler):
    """A dense block, filled in place. A batch that is a whole block already is passed on without a copy."""

    _whole: NDArray[Any] | None = None
    _filled: NDArray[Any] | None = None

    def add_values(self, X: Any, rows: slice) -> None:
        """Copy the values of some rows."""
        if isinstance(X, np.ndarray) and self._is_block(X, rows):
            self._whole = X[rows]
            return
        if self._filled is None:
            order = "F" if self.reader.by_column else "C"
            self._filled = np.empty((self.height, self.n_columns), self.reader.dtype, order=order)  # type: ignore[call-overload]
        place = slice(self.n_rows, self.n_rows + rows.stop - rows.start)
        if isinstance(X, np.ndarray):
            self._filled[place] = X[rows]
        else:
            for j, column in enumerate(X):
                self._filled[place, j] = column[rows]

    def _is_block(self, X: NDArray[Any], rows: slice) -> bool:
        contiguous = X.flags.f_contiguous if self.reader.by_column else X.flags.c_contiguous
        return rows.stop - rows.start == self.height and X.dtype == self.reader.dtype and contiguous

    def values(self) -> NDArray[Any]:
        """Return the values of all rows."""
        if self._whole is not None:
            return self._whole
        assert self._filled is not None
        return self._filled[: self.n_rows]


class InPlaceFiller(DenseFiller):
    """A dense block that is passed on without a copy if it lies within one batch of separate columns."""

    _arrays: ColumnArrays | None = None

    def add_values(self, X: Any, rows: slice) -> None:
        """Keep the place of a whole block, or copy the values of some rows."""
        if not isinstance(X, np.ndarray) and rows.stop - rows.start == self.height:
            self._arrays = ColumnArrays.from_columns([column[rows] for column in X], self.reader.dtype)
        if self._arrays is None:
            super().add_values(X, rows)

    def values(self) -> Any:
        """Return the values of all rows."""
        return super().values() if self._arrays is None else self._arrays


class SparseFiller(Filler):
    """A sparse block: the rows of batches below each other."""

    def __init__(self, reader: BatchReader, n_columns: int, height: int) -> None:
        super().__init__(reader, n_columns, height)
        self._parts: list[Any] = []

    def add_values(self, X: Any, rows: slice) -> None:
        """Keep some rows of a sparse matrix."""
        if X.format == "csr" and (defect := sparse_defect(X.indptr, X.indices, *X.shape)):
            raise ValueError(f"{self.reader.name} must hold valid CSR matrices: {defect}")
        self._parts.append(X.tocsr()[rows])

    def values(self) -> Any:
        """Return all rows as one CSR matrix."""
        return self._parts[0] if len(self._parts) == 1 else sparse.vstack(self._parts, format="csr")


def column_places(columns: Integers | None, n_features: int) -> Sequence[int]:
    """Return the requested columns as a list; all of them if ``columns`` is None."""
    return range(n_features) if columns is None else columns.tolist()
