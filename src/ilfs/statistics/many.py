"""Statistics under many labellings at once, such as permutations of the labels or the labels of an indicator matrix.

The values of the rows are the same under all labellings, and so is a part of the work. Moments, profiles and shapes are
computed for the combinations of the classes of several labellings, and then merged: seven labellings of two classes are
one labelling of 128 classes. Tokens are counted by `ilfs.kernels.cuts` and `ilfs.kernels.sparse_cuts`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np

from ilfs.arrays import Floats, read_only
from ilfs.cached import cached_property
from ilfs.kernels.contrast import Contrast
from ilfs.statistics.block import Block, DenseBlock, SparseBlock
from ilfs.statistics.description import Description, S
from ilfs.statistics.labels import ManyLabels, RowLabels
from ilfs.statistics.moments import ClassMoments, Moments, refuse_infinity, write_moments
from ilfs.statistics.profile import ClassProfile, Profile
from ilfs.statistics.shapes import ClassShapes, Shapes
from ilfs.statistics.tokens import TokenCounts, Tokens

D = TypeVar("D", bound=Description[Any])

# With more classes, or fewer rows in a block, separate counts under each labelling are faster.
MAX_CLASSES_AT_ONCE, MIN_ROWS_AT_ONCE = 6, 512
MIN_STORED_AT_ONCE = (
    50  # stored values of a sparse column, on average; with fewer, the cuts take longer than the values
)


@dataclass(frozen=True)
class ManyStatistics(Generic[S]):
    """Statistics of the same rows under several labellings.

    Parameters
    ----------
    parts : tuple of statistics
        One for each labelling.
    """

    parts: tuple[S, ...]

    def merge(self, other: Self) -> Self:
        """Merge the statistics of each labelling with those of other rows."""
        return type(self)(tuple(map(lambda one, more: one.merge(more), self.parts, other.parts)))

    @classmethod
    def join(cls, strips: Sequence[Self]) -> Self:
        """Put the statistics of neighbouring columns side by side."""
        return cls(tuple(type(one[0]).join(one) for one in zip(*(strip.parts for strip in strips), strict=True)))


def combined(descriptions: Sequence[Description[Any]]) -> Description[ManyStatistics[Any]] | None:
    """Return the description that computes several statistics at once; None if there is none.

    Parameters
    ----------
    descriptions : sequence of Description
        Description of the statistic under each labelling.

    Returns
    -------
    Description or None
        It is for blocks whose labels are `ManyLabels`.
    """
    if all(isinstance(one, Moments) for one in descriptions):
        return ManyMoments()
    if all(isinstance(one, Profile) for one in descriptions):
        return ManyProfiles()
    tokens = all_of(Tokens, descriptions)
    if tokens and all(map(tokens[0].has_same_scale, tokens)):
        return ManyTokens(tokens)
    shapes = all_of(Shapes, descriptions)
    return ManyShapes(shapes[0]) if shapes and all(map(shapes[0].is_close, shapes)) else None


def all_of(kind: type[D], descriptions: Sequence[Description[Any]]) -> tuple[D, ...]:
    """Return the descriptions if all of them are of a kind, otherwise none."""
    of_kind = tuple(one for one in descriptions if isinstance(one, kind))
    return of_kind if len(of_kind) == len(descriptions) else ()


@dataclass(frozen=True)
class ManyDescription(Description[ManyStatistics[S]]):
    """Description of a statistic under several labellings."""

    def under_each(self, n_labellings: int) -> list[Description[S]]:
        """Return the description under each labelling, which `combined` has combined."""
        raise NotImplementedError


def under_each(description: Description[S], block: Block) -> ManyStatistics[S]:
    """Compute a statistic under each labelling in turn."""
    return ManyStatistics(tuple(description(block.with_labels(one)) for one in labels_of(block)))


def labels_of(block: Block) -> Iterator[RowLabels]:
    """Iterate over the labels of a block under each labelling, as kernels read them."""
    assert isinstance(block.labels, ManyLabels)
    return (one.widened() for one in block.labels.each)


@dataclass(frozen=True)
class ManyMoments(ManyDescription[ClassMoments]):
    """Description of the moments of every feature in every class, under several labellings."""

    def under_each(self, n_labellings: int) -> list[Description[ClassMoments]]:
        """Return the description under each labelling."""
        return [Moments()] * n_labellings

    def __call__(self, block: Block) -> ManyStatistics[ClassMoments]:
        """Compute the moments of one block."""
        labels = block.labels
        assert isinstance(labels, ManyLabels)
        if not labels.is_uniform:
            return under_each(Moments(), block)
        parts: list[ClassMoments] = []
        # One array for all combinations: fresh memory would take longer than the kernel that fills it.
        memory = np.empty((3, max(joint.n_classes for joint, _ in labels.joint), block.n_columns))
        for joint, size in labels.joint:
            moments = ClassMoments(*memory[:, : joint.n_classes])
            memory[:, : joint.n_classes] = 0.0
            write_moments(block.with_labels(joint), moments)
            split = split_joint(moments, labels.n_classes, size)
            refuse_infinity(block, split[0])
            parts += split
        return ManyStatistics(tuple(parts))


def split_joint(joint: ClassMoments, n_classes: int, n_labellings: int) -> list[ClassMoments]:
    """Compute the moments under each labelling from those of the combinations of their classes.

    The labellings are halved: combinations of the classes of a half are merged first, then those of its halves.
    """
    if n_labellings == 1:
        return [ClassMoments(joint.count.copy(), joint.mean.copy(), joint.scatter.copy())]
    half = n_labellings // 2
    first, second = n_classes**half, n_classes ** (n_labellings - half)
    return [
        *split_joint(merged_over(joint, 1, first), n_classes, half),
        *split_joint(merged_over(joint, first, second), n_classes, n_labellings - half),
    ]


def merged_over(joint: ClassMoments, place: int, n_digits: int) -> ClassMoments:
    """Merge the moments of combinations u that have the same ``u // place % n_digits``."""
    from ilfs.kernels.joint import merge_digits

    count, mean, scatter = np.empty((3, n_digits, joint.count.shape[1]))
    merge_digits(joint.count, joint.mean, joint.scatter, place, count, mean, scatter)
    return ClassMoments(count, mean, scatter)


@dataclass(frozen=True)
class ManyProfiles(ManyDescription[ClassProfile]):
    """Description of the profile of every feature under several labellings."""

    def under_each(self, n_labellings: int) -> list[Description[ClassProfile]]:
        """Return the description under each labelling."""
        return [Profile()] * n_labellings

    def __call__(self, block: Block) -> ManyStatistics[ClassProfile]:
        """Describe the columns of one block."""
        labels = block.labels
        assert isinstance(labels, ManyLabels)
        if not labels.is_uniform:
            return under_each(Profile(), block)
        parts: list[ClassProfile] = []
        for joint, size in labels.joint:
            profile = Profile()(block.with_labels(joint))
            moments = split_joint(profile.moments, labels.n_classes, size)
            zeros = split_sums(profile.zeros, labels.n_classes, size)
            for of_moments, of_zeros in zip(moments, zeros, strict=True):
                parts.append(ClassProfile.with_moments(of_moments, of_zeros, profile.negative))
        return ManyStatistics(tuple(parts))


@dataclass(frozen=True)
class ManyShapes(ManyDescription[ClassShapes]):
    """Description of the shapes of every feature in every class, under several labellings.

    Parameters
    ----------
    shapes : Shapes
        Description for each of the labellings, which do not change mean and deviation over all rows.
    """

    shapes: Shapes

    def under_each(self, n_labellings: int) -> list[Description[ClassShapes]]:
        """Return the description under each labelling."""
        return [self.shapes] * n_labellings

    def __call__(self, block: Block) -> ManyStatistics[ClassShapes]:
        """Compute the sums of one block."""
        labels = block.labels
        assert isinstance(labels, ManyLabels)
        if not labels.is_uniform:
            return under_each(self.shapes, block)
        parts: list[ClassShapes] = []
        for joint, size in labels.joint:
            found = self.shapes(block.with_labels(joint))
            each = [split_sums(sums, labels.n_classes, size) for sums in (found.sum, found.square, found.product)]
            parts += map(ClassShapes, *each)
        return ManyStatistics(tuple(parts))


def split_sums(joint: Floats, n_classes: int, n_labellings: int) -> list[Floats]:
    """Add up sums of combinations of classes (combinations x columns) for each class of each labelling."""
    by_digit = joint.reshape(*[n_classes] * n_labellings, -1)  # the first labelling is the last of these axes
    axes = range(n_labellings)
    return [by_digit.sum(axis=tuple(axis for axis in axes if axis != n_labellings - 1 - one)) for one in axes]


@dataclass(frozen=True)
class ManyTokens(ManyDescription[TokenCounts]):
    """Description of the token counts of every feature under several labellings.

    Parameters
    ----------
    each : tuple of Tokens
        Description for each labelling; they have the same evidence and the same edges.
    """

    each: tuple[Tokens, ...]

    def under_each(self, n_labellings: int) -> list[Description[TokenCounts]]:
        """Return the description under each labelling."""
        assert len(self.each) == n_labellings
        return list(self.each)

    @cached_property
    def contrast(self) -> Contrast:
        """Coefficients of the evidence: arrays of labellings x classes x features."""
        first = self.each[0].compute_contrast()
        every = Contrast(*(np.empty((len(self.each), *array.shape)) for array in first))
        for number, one in enumerate(self.each):
            for to, array in zip(every, one.compute_contrast() if number else first, strict=True):
                to[number] = array
        return every

    def __call__(self, block: Block) -> ManyStatistics[TokenCounts]:
        """Count the tokens of one block."""
        if not self._is_fast(block):
            pairs = zip(self.each, labels_of(block), strict=True)
            return ManyStatistics(tuple(one(block.with_labels(labels)) for one, labels in pairs))
        return ManyStatistics(tuple(map(TokenCounts, self._count(block))))

    def _is_fast(self, block: Block) -> bool:
        """Return whether the block can be counted under all labellings at once, and whether this is faster."""
        labels = block.labels
        assert isinstance(labels, ManyLabels)
        return (
            self.each[0].evidence == "posterior"
            and labels.is_uniform
            and 1 < labels.n_classes <= MAX_CLASSES_AT_ONCE
            and len(labels) >= MIN_ROWS_AT_ONCE
            and is_fast_to_cut(block)
        )

    def _count(self, block: Block) -> Floats:
        """Count at all thresholds: an array of labellings x thresholds x columns."""
        thresholds = self.each[0].thresholds[: self.each[0].edges.size - 2]
        at_least = np.zeros((len(self.each), thresholds.size, block.n_columns))
        if isinstance(block, SparseBlock):
            self._count_sparse(block, thresholds, at_least)
        else:
            self._count_dense(block, thresholds, at_least)
        return at_least

    def _count_dense(self, block: DenseBlock, thresholds: Floats, at_least: Floats) -> None:
        from ilfs.kernels.cuts import count_by_column, count_row_major

        labels = block.labels
        assert isinstance(labels, ManyLabels)
        groups = labels.bits, np.concatenate([one.class_rows for one in labels.each])
        columns, place = block.column_arrays(), block.columns.start
        if columns is not None:
            count_by_column(
                columns.addresses, columns.like, block.n_rows, *groups, self.contrast, place, thresholds, at_least
            )
        else:
            rows = block.row_major()
            count_row_major(
                read_only(rows.X), rows.first, rows.last, *groups, self.contrast, place, thresholds, at_least
            )

    def _count_sparse(self, block: SparseBlock, thresholds: Floats, at_least: Floats) -> None:
        from ilfs.kernels.sparse_cuts import count_sparse

        labels, first = block.labels, 0
        assert isinstance(labels, ManyLabels)
        for member, rows in labels.members:
            last = first + (rows.size - 1) // (labels.n_classes - 1)
            contrast = Contrast(*(array[first:last] for array in self.contrast))
            count_sparse(
                block.data, block.indices, block.indptr, member, rows, labels.n_classes, contrast, block.columns.start,
                thresholds, at_least[first:last],
            )  # fmt: skip
            first = last


def is_fast_to_cut(block: Block) -> bool:
    """Return whether all weights are 1, as cuts need, and sparse columns have enough values."""
    if isinstance(block, DenseBlock):
        return bool((block.labels.weight == 1.0).all())
    n_stored = int(block.indptr[-1] - block.indptr[0])
    return block.labels.has_unit_weights and n_stored >= MIN_STORED_AT_ONCE * block.n_columns
