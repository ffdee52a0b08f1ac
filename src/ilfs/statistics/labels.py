"""Classes of the rows as integer codes, with the label and size of each class."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.cached import PicklesFieldsOnly, cached_property
from ilfs.kernels._sizes import GROUP_ROWS

LEFT_OUT = -1  # code of a row that takes no part
MAX_JOINT_CLASSES = 128  # combinations of the classes of several labellings that are counted together
ROWS_PER_JOINT_CLASS = 48  # at least so many rows for each combination, on average
MAX_SUMS = 32  # sums of some labellings that are counted together in sparse columns: so many bytes for each row
WORD_BITS = 64
COUNTING_SORT_LIMIT = 2**15  # numpy sorts 16-bit integers by counting, others by comparing


class RowsByClass(NamedTuple):
    """Rows grouped by class: those of class k are ``rows[starts[k]:starts[k + 1]]``; ``weight`` goes with ``rows``."""

    rows: Integers
    starts: Integers
    weight: Floats


class RowGroups(NamedTuple):
    """Rows of each class in groups of eight: those of class k are groups ``starts[k]`` to ``starts[k + 1] - 1``.

    ``n_places`` is the number of groups for which to reserve memory. Row i is line ``place[i] // n_places`` of group
    ``place[i] % n_places``. Rows that take no part are in a group after the last one.
    """

    place: Integers
    starts: Integers
    n_places: int


@dataclass(frozen=True)
class RowLabels(PicklesFieldsOnly):
    """Class and weight of every row of a block.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Class of each row, 0 to ``n_classes - 1``; -1 for a row that takes no part, because its weight is 0.
    weight : ndarray of shape (n_rows,)
        Weight of each row.
    n_classes : int
        Number of classes of the whole data, of which a block may have fewer.
    """

    codes: Integers
    weight: Floats
    n_classes: int

    @classmethod
    def one_class(cls, weight: Floats) -> Self:
        """Put all rows of positive weight into one class, for statistics that need no labels."""
        return cls(np.where(weight > 0, 0, LEFT_OUT), weight, 1)

    def __len__(self) -> int:
        return self.codes.size

    def take(self, rows: slice | Integers | NDArray[np.bool_]) -> Self:
        """Return the labels of some of the rows."""
        return type(self)(self.codes[rows], self.weight[rows], self.n_classes)

    def among(self, places: Integers, n_classes: int) -> Self:
        """Return these labels among more classes; ``places`` are the new codes of the old classes."""
        codes = np.append(places, LEFT_OUT)[self.codes]  # -1, the code of rows that take no part, is the last place
        return type(self)(codes, self.weight, n_classes)

    def narrowed(self) -> Self:
        """Return the same labels with codes of the smallest type, to be kept; kernels need `widened` ones."""
        kind = np.min_scalar_type(-max(self.n_classes, 1))  # signed, because of the code of rows that take no part
        return type(self)(self.codes.astype(kind), self.weight, self.n_classes)

    def widened(self) -> Self:
        """Return the same labels with codes as kernels read them."""
        wide = self.codes.dtype == np.int64
        return self if wide else type(self)(self.codes.astype(np.int64), self.weight, self.n_classes)

    @cached_property
    def takes_part(self) -> NDArray[np.bool_]:
        """Mask of the rows that have a class."""
        return self.codes >= 0

    @cached_property
    def by_class(self) -> RowsByClass:
        """The rows that take part, grouped by class and otherwise in their order."""
        codes = self.codes
        if self.n_classes < COUNTING_SORT_LIMIT:
            codes = codes.astype(np.int16)
        order = np.argsort(codes, kind="stable")
        order = order[np.searchsorted(codes[order], 0) :]  # rows that take no part come first
        starts = np.searchsorted(codes[order], np.arange(self.n_classes + 1))
        return RowsByClass(order, starts, self.weight[order])

    @cached_property
    def has_unit_weights(self) -> bool:
        """True if every row that takes part has weight 1."""
        return bool((self.weight[self.takes_part] == 1.0).all())

    @cached_property
    def is_second(self) -> NDArray[np.bool_] | None:
        """Mask of the rows of the second of two classes; None if there are more classes, or rows that take no part."""
        return self.codes == 1 if self.n_classes == 2 and self.takes_part.all() else None

    @cached_property
    def groups(self) -> RowGroups:
        """The rows that take part, in groups of eight rows of a class."""
        rows, class_starts, _ = self.by_class
        sizes = np.diff(class_starts)
        starts = np.concatenate([[0], np.cumsum(-(-sizes // GROUP_ROWS))])
        rank = np.arange(rows.size) - np.repeat(class_starts[:-1], sizes)
        # An odd number: with a power of two, the lines of a group would compete for one set of the cache.
        n_places = (int(starts[-1]) + 1) | 1
        place = np.full(self.codes.size, starts[-1])
        place[rows] = rank % GROUP_ROWS * n_places + np.repeat(starts[:-1], sizes) + rank // GROUP_ROWS
        return RowGroups(place, starts, n_places)

    @cached_property
    def class_rows(self) -> Integers:
        """Number of rows of each class."""
        return np.bincount(self.codes[self.takes_part], minlength=self.n_classes)

    @cached_property
    def class_total(self) -> Floats:
        """Sum of the weights of each class."""
        here = self.takes_part
        return np.bincount(self.codes[here], self.weight[here], minlength=self.n_classes).astype(np.float64)

    def one_against_rest(self) -> Floats:
        """Return signs, 1 in a class and -1 elsewhere: one row of signs for two classes, otherwise one per class."""
        classes = np.arange(self.n_classes) if self.n_classes > 2 else np.array([1])
        return np.where(self.codes == classes[:, None], 1.0, -1.0)


@dataclass(frozen=True)
class ManyLabels(RowLabels):
    """Classes of every row of a block under several labellings.

    As `RowLabels`, it has the classes of the first labelling.

    Parameters
    ----------
    each : tuple of RowLabels
        Labels of each labelling.
    """

    each: tuple[RowLabels, ...] = ()

    @classmethod
    def from_each(cls, each: Sequence[RowLabels]) -> Self:
        """Put the labels of several labellings together."""
        return cls(each[0].codes, each[0].weight, each[0].n_classes, tuple(each))

    def take(self, rows: slice | Integers | NDArray[np.bool_]) -> Self:
        """Return the labels of some of the rows."""
        return self.from_each([one.take(rows) for one in self.each])

    def narrowed(self) -> Self:
        """Return the same labels with codes of the smallest type: 1 byte a row and labelling instead of 8."""
        return self.from_each([one.narrowed() for one in self.each])

    @cached_property
    def is_uniform(self) -> bool:
        """True if all labellings have the same number of classes and the same weights."""
        return all(
            one.n_classes == self.n_classes and (one.weight is self.weight or np.array_equal(one.weight, self.weight))
            for one in self.each
        )

    @cached_property
    def joint(self) -> tuple[tuple[RowLabels, int], ...]:
        """Labels whose classes are the combinations of the classes of some neighbouring labellings, and their number.

        The code of a row is the sum of ``code[i] * n_classes**i`` over the labellings i of a combination.
        """
        size = joint_size(self.n_classes, len(self))
        each = [self.each[i : i + size] for i in range(0, len(self.each), size)]
        return tuple((joint_labels(some), len(some)) for some in each)

    @cached_property
    def bits(self) -> NDArray[np.uint64]:
        """Sets of bits for each labelling and class; bit i of set ``labelling * n_classes + class`` is for row i."""
        n_words = -(-len(self) // WORD_BITS)
        member = np.zeros((len(self.each) * self.n_classes, n_words * WORD_BITS), dtype=bool)
        for number, one in enumerate(self.each):
            sets = member[number * self.n_classes : (number + 1) * self.n_classes, : len(self)]
            sets[:] = one.codes == np.arange(self.n_classes)[:, None]
        return np.packbits(member, axis=-1, bitorder="little").view("<u8").astype(np.uint64, copy=False)

    @cached_property
    def members(self) -> tuple[tuple[NDArray[np.uint8], Integers], ...]:
        """Indicators of each row, which `ilfs.kernels.sparse_cuts` adds up, and their sums over all rows.

        One pair for some neighbouring labellings. The first number of a row is 1 if it takes part. The next ones are,
        for each labelling and each class but the first, 1 if the row has this class.
        """
        size = max((MAX_SUMS - 1) // max(self.n_classes - 1, 1), 1)
        each = [member_sums(self.each[i : i + size]) for i in range(0, len(self.each), size)]
        return tuple((member, member.sum(axis=0, dtype=np.int64)) for member in each)


def member_sums(each: Sequence[RowLabels]) -> NDArray[np.uint8]:
    """Return the indicators of each row under some labellings; see `ManyLabels.members`."""
    classes = np.arange(1, each[0].n_classes)
    sums = np.empty((len(each[0]), 1 + len(each) * classes.size), dtype=np.uint8)
    sums[:, 0] = each[0].takes_part
    for number, one in enumerate(each):
        place = 1 + number * classes.size
        sums[:, place : place + classes.size] = one.codes[:, None] == classes
    return sums


def joint_size(n_classes: int, n_rows: int) -> int:
    """Return the number of labellings that are combined, so that each combination of classes has some rows."""
    limit, size = min(MAX_JOINT_CLASSES, n_rows // ROWS_PER_JOINT_CLASS), 1
    while n_classes > 1 and n_classes ** (size + 1) <= limit:
        size += 1
    return size


def joint_labels(each: Sequence[RowLabels]) -> RowLabels:
    """Combine labellings into one; see `ManyLabels.joint`."""
    first, codes = each[0], np.zeros(len(each[0]), dtype=np.int64)
    for place, one in enumerate(each):
        codes += np.multiply(one.codes, one.n_classes**place, dtype=np.int64)
    return RowLabels(np.where(first.takes_part, codes, LEFT_OUT), first.weight, first.n_classes ** len(each))


@dataclass(frozen=True)
class Classes:
    """The classes of the data and their sizes.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,)
        Label of each class, sorted; only classes that have a row of positive weight.
    rows : ndarray of shape (n_classes,)
        Number of rows of each class.
    total : ndarray of shape (n_classes,)
        Sum of the weights of these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.statistics.labels import encode_labels
    >>> classes, row_labels = encode_labels(np.array(["b", "a", "b"]))
    >>> classes.labels.tolist(), classes.total.tolist(), row_labels.codes.tolist()
    (['a', 'b'], [1.0, 2.0], [1, 0, 1])
    """

    labels: NDArray[Any]
    rows: Integers
    total: Floats

    @classmethod
    def count(cls, labels: NDArray[Any], blocks: Iterable[RowLabels]) -> Self:
        """Add up the sizes of the classes over blocks of rows."""
        rows, total = np.zeros(labels.size, dtype=np.int64), np.zeros(labels.size)
        for block in blocks:
            rows += block.class_rows
            total += block.class_total
        return cls(labels, rows, total)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.labels.size

    @property
    def balance(self) -> Floats:
        """Weight m / (K n_k) of a sample of each class, which gives all classes the same total weight."""
        return np.asarray(self.total.mean() / self.total)


def encode_labels(y: NDArray[Any], sample_weight: Floats | None = None) -> tuple[Classes, RowLabels]:
    """Encode labels as integer class codes.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Label of each row.
    sample_weight : ndarray of shape (n_rows,), optional
        Weight of each row. A row of weight 0 is treated as absent, and so is a class that has only such rows.

    Returns
    -------
    classes : Classes
        The classes that take part.
    row_labels : RowLabels
        The class of every row.
    """
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    counted = weight > 0
    labels, codes = np.unique(y[counted], return_inverse=True)
    every = np.full(len(y), LEFT_OUT)
    every[counted] = codes
    row_labels = RowLabels(every, weight, labels.size)
    return Classes.count(labels, [row_labels]), row_labels
