"""Statistics under many labellings at once, such as permutations of the labels.

The values of the rows are the same under all labellings, and so is a part of the work. Moments are computed for the
combinations of the classes of several labellings, and then merged: seven labellings of two classes are one labelling of
128 classes. Tokens are counted by `ilfs.kernels.cuts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self

import numpy as np

from ilfs.arrays import read_only
from ilfs.cached import cached_property
from ilfs.kernels.contrast import Contrast
from ilfs.statistics.block import Block, DenseBlock
from ilfs.statistics.description import Description, S
from ilfs.statistics.labels import ManyLabels, RowLabels
from ilfs.statistics.moments import ClassMoments, Moments, refuse_infinity, write_moments
from ilfs.statistics.tokens import TokenCounts, Tokens

# With more classes, or fewer rows in a block, separate counts under each labelling are faster.
MAX_CLASSES_AT_ONCE, MIN_ROWS_AT_ONCE = 6, 512


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
    tokens = [one for one in descriptions if isinstance(one, Tokens)]
    return ManyTokens(tuple(tokens)) if len(tokens) == len(descriptions) else None


def separate(description: Description[Any], n_labellings: int) -> list[Description[Any]]:
    """Return the descriptions of the statistics under each labelling, which `combined` has combined."""
    return list(description.each) if isinstance(description, ManyTokens) else [Moments()] * n_labellings


def labels_of(block: Block) -> tuple[RowLabels, ...]:
    """Return the labels of a block under each labelling."""
    assert isinstance(block.labels, ManyLabels)
    return block.labels.each


@dataclass(frozen=True)
class ManyMoments(Description[ManyStatistics[ClassMoments]]):
    """Description of the moments of every feature in every class, under several labellings."""

    def __call__(self, block: Block) -> ManyStatistics[ClassMoments]:
        """Compute the moments of one block."""
        labels = block.labels
        assert isinstance(labels, ManyLabels)
        if not (isinstance(block, DenseBlock) and labels.has_equal_classes):
            return ManyStatistics(tuple(Moments()(block.with_labels(one)) for one in labels.each))
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
class ManyTokens(Description[ManyStatistics[TokenCounts]]):
    """Description of the token counts of every feature under several labellings.

    Parameters
    ----------
    each : tuple of Tokens
        Description for each labelling; they differ in the moments only.
    """

    each: tuple[Tokens, ...]

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
        if not (isinstance(block, DenseBlock) and self._is_fast(block)):
            pairs = zip(self.each, labels_of(block), strict=True)
            return ManyStatistics(tuple(one(block.with_labels(labels)) for one, labels in pairs))
        return ManyStatistics(tuple(map(TokenCounts, self._count(block))))

    def _is_fast(self, block: DenseBlock) -> bool:
        """Return whether the block can be counted under all labellings at once, and whether this is faster."""
        labels = block.labels
        assert isinstance(labels, ManyLabels)
        return (
            self.each[0].evidence == "posterior"
            and labels.has_equal_classes
            and 1 < labels.n_classes <= MAX_CLASSES_AT_ONCE
            and len(labels) >= MIN_ROWS_AT_ONCE
            and bool((labels.weight == 1.0).all())
        )

    def _count(self, block: DenseBlock) -> Any:
        """Count at all thresholds: an array of labellings x thresholds x columns."""
        from ilfs.kernels.cuts import count_by_column, count_row_major

        labels = block.labels
        assert isinstance(labels, ManyLabels)
        thresholds = self.each[0].thresholds[: self.each[0].edges.size - 2]
        at_least = np.zeros((len(self.each), thresholds.size, block.n_columns))
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
        return at_least
