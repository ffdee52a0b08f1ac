"""Moments of every feature in every class, its zeros, and whether it is negative: all that a description needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ilfs.arrays import Floats, read_only
from ilfs.cached import PicklesFieldsOnly, cached_property
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description
from ilfs.statistics.moments import ClassMoments, refuse_infinity


@dataclass(frozen=True)
class ClassProfile(PicklesFieldsOnly):
    """Moments of every feature in every class, weight of its zeros, and whether it has negative values.

    Parameters
    ----------
    count, mean, scatter : ndarray of shape (n_classes, n_features)
        As in `ClassMoments`.
    zeros : ndarray of shape (n_classes, n_features)
        Weight of the values that are zero.
    negative : ndarray of shape (n_features,)
        1 if a value is negative, otherwise 0.
    """

    count: Floats
    mean: Floats
    scatter: Floats
    zeros: Floats
    negative: Floats

    @cached_property
    def moments(self) -> ClassMoments:
        """The moments alone."""
        return ClassMoments(self.count, self.mean, self.scatter)

    @classmethod
    def with_moments(cls, moments: ClassMoments, zeros: Floats, negative: Floats) -> Self:
        """Add zeros and signs to moments."""
        return cls(moments.count, moments.mean, moments.scatter, zeros, negative)

    def merge(self, other: Self) -> Self:
        """Combine the profiles of two sets of rows."""
        return self.with_moments(
            self.moments.merge(other.moments), self.zeros + other.zeros, np.maximum(self.negative, other.negative)
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the profiles of neighbouring columns side by side."""
        return cls.with_moments(
            ClassMoments.join([part.moments for part in parts]),
            np.hstack([part.zeros for part in parts]),
            np.concatenate([part.negative for part in parts]),
        )


@dataclass(frozen=True)
class Profile(Description[ClassProfile]):
    """Description of the moments, the zeros and the signs of every feature.

    The moments have the bits of those of `Moments`.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Profile
    >>> found = fold_of(table_source(np.array([[1.0], [0.0], [7.0]]), np.array(["a", "a", "b"])))(Profile())
    >>> found.mean.ravel().tolist(), found.zeros.ravel().tolist(), found.negative.tolist()
    ([0.5, 7.0], [1.0, 0.0], [0.0])
    """

    def __call__(self, block: Block) -> ClassProfile:
        """Describe the columns of one block; raise `UnusableColumnError` if it holds infinity."""
        from ilfs.kernels import moments as kernels
        from ilfs.kernels.by_column import column_moments

        labels = block.labels
        count, mean, scatter, zeros = np.zeros((4, labels.n_classes, block.n_columns))
        found = (count, mean, scatter, zeros, np.zeros(block.n_columns))
        if isinstance(block, SparseBlock):
            kernels.sparse_moments(
                block.data, block.indices, block.indptr, labels.codes, labels.weight,
                labels.class_rows, labels.class_total, *found,
            )  # fmt: skip
        elif block.is_row_major:
            kernels.dense_moments(read_only(block.X), *labels.by_class, block.first, block.last, *found)
        elif (columns := block.unweighted_columns()) is not None:
            column_moments(columns.addresses, columns.like, *labels.groups, *found)
        else:
            return ClassProfile.join([self(strip) for strip in block.row_major_strips()])
        refuse_infinity(block, ClassMoments(count, mean, scatter))
        return ClassProfile(*found)
