"""Count, mean and centred sum of squares of every feature in every class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers, read_only
from ilfs.cached import cached_property
from ilfs.statistics.block import Block, SparseBlock

LARGEST, SMALLEST = 1e150, 1e-150  # differences whose squares float64 can still hold
INFINITE = "holds infinity: give a number, or NaN for a missing cell"
TOO_LARGE = "has values too far apart to be squared (over about 1e150): rescale it"
TOO_SMALL = "has values too close to be squared (under about 1e-150): rescale it"


class UnusableColumnError(ValueError):
    """A column whose moments cannot be computed; ``column`` is its index in the table."""

    def __init__(self, column: int, reason: str) -> None:
        super().__init__(f"column {column} {reason}")
        self.column, self.reason = column, reason


@dataclass(frozen=True)
class ClassMoments:
    """Weight, mean and squared deviations of the cells of every feature in every class.

    A class without cells has count 0 and mean 0.

    Parameters
    ----------
    count : ndarray of shape (n_classes, n_features)
        Weight of the cells that are not missing.
    mean : ndarray of shape (n_classes, n_features)
        Their mean.
    scatter : ndarray of shape (n_classes, n_features)
        Sum of their squared deviations from it.
    """

    count: Floats
    mean: Floats
    scatter: Floats

    @classmethod
    def from_block(cls, block: Block) -> Self:
        """Read one block; raise `UnusableColumnError` if it holds infinity."""
        from ilfs.kernels import moments as kernels

        count, mean, scatter = np.zeros((3, block.n_classes, block.n_columns))
        if isinstance(block, SparseBlock):
            kernels.sparse_moments(
                block.data, block.indices, block.indptr, block.codes, block.weight,
                block.class_rows, block.class_total, count, mean, scatter,
            )  # fmt: skip
        else:
            kernels.dense_moments(
                read_only(block.X), block.rows, block.starts, block.weight, block.first, block.last,
                count, mean, scatter,
            )  # fmt: skip
        _refuse_infinity(block, mean, scatter)
        return cls(count, mean, scatter)

    def merge(self, other: Self) -> Self:
        """The moments of both sets of rows together (Chan, Golub, LeVeque 1979)."""
        count = self.count + other.count
        share = np.divide(other.count, count, out=np.zeros_like(count), where=count > 0)
        apart = other.mean - self.mean
        with np.errstate(over="ignore"):  # `checked` will say so
            scatter = self.scatter + other.scatter + apart**2 * self.count * share
        return type(self)(count, self.mean + apart * share, scatter)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the columns of several blocks side by side."""
        return cls(
            np.hstack([part.count for part in parts]),
            np.hstack([part.mean for part in parts]),
            np.hstack([part.scatter for part in parts]),
        )

    def of_columns(self, columns: Integers) -> Self:
        """The moments of some features."""
        return type(self)(self.count[:, columns], self.mean[:, columns], self.scatter[:, columns])

    def checked(self) -> Self:
        """Itself, unless the differences in a column cannot be squared; then raise `UnusableColumnError`."""
        apart = np.ptp(self.offset, axis=0)
        scatter = self.scatter.sum(axis=0)
        for wrong, reason in (
            ((apart > LARGEST) | ~np.isfinite(scatter), TOO_LARGE),
            ((apart > 0) & (apart < SMALLEST) & (scatter == 0), TOO_SMALL),
        ):
            if wrong.any():
                raise UnusableColumnError(int(wrong.argmax()), reason)
        return self

    @cached_property
    def total(self) -> Floats:
        """Weight of the cells present, per feature."""
        return np.asarray(self.count.sum(axis=0))

    @cached_property
    def n_observed(self) -> NDArray[np.int64]:
        """Number of classes of which the feature has a cell."""
        return np.asarray((self.count > 0).sum(axis=0))

    @cached_property
    def offset(self) -> Floats:
        """Class means measured from one of them, exactly 0 where equal; 0 for a class without cells."""
        observed = self.count > 0
        origin = self.mean[np.argmax(observed, axis=0), np.arange(self.mean.shape[1])]
        return np.where(observed, self.mean - origin, 0.0)

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Features with the same value in every cell present (or with no cell)."""
        return np.asarray(~(self.offset.any(axis=0) | self.scatter.any(axis=0)))

    @cached_property
    def informative(self) -> NDArray[np.bool_]:
        """Features that vary, and of which at least two classes have a cell."""
        return np.asarray((self.n_observed >= 2) & ~self.constant)

    @cached_property
    def pooled_variance(self) -> Floats:
        """Variance within classes; total - (classes observed) degrees of freedom, total if that is none."""
        freedom = self.total - self.n_observed
        freedom = np.where(freedom > 0, freedom, self.total)
        return np.asarray(np.divide(self.scatter.sum(axis=0), freedom, out=np.zeros_like(freedom), where=freedom > 0))


def _refuse_infinity(block: Block, mean: Floats, scatter: Floats) -> None:
    """Infinity anywhere in a column makes a moment of it infinite or NaN, so this costs no pass."""
    suspects = np.flatnonzero(~np.isfinite(mean + scatter).all(axis=0))
    if suspects.size:
        column = int(suspects[0])
        infinite = np.isinf(block.column(column)).any()
        reason = INFINITE if infinite else TOO_LARGE
        raise UnusableColumnError(block.columns.start + column, reason)
