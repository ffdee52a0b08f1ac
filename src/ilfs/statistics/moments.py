"""Count, mean and centred sum of squares of every feature in every class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers, read_only
from ilfs.cached import PicklesFieldsOnly, cached_property
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description

MIN_DIFFERENCE, MAX_DIFFERENCE = 1e-150, 1e150  # of values, so that their squares neither underflow nor overflow
INFINITE = "holds infinity: give a number, or NaN for a missing value"
TOO_LARGE = "has values too far apart to be squared (over about 1e150): rescale it"
TOO_SMALL = "has values too close to be squared (under about 1e-150): rescale it"


class UnusableColumnError(ValueError):
    """Error for a column whose moments cannot be computed; ``column`` is its index in the table."""

    def __init__(self, column: int, reason: str) -> None:
        super().__init__(f"column {column} {reason}")
        self.column, self.reason = column, reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.column, self.reason)  # the error may come from another process


def check_column_ranges(low: Floats, high: Floats) -> None:
    """Raise `UnusableColumnError` for infinity and for values too far apart or too close to be squared."""
    infinite = np.isinf(low) | np.isinf(high)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = high - low
    for wrong, reason in (
        (infinite, INFINITE),
        (apart > MAX_DIFFERENCE, TOO_LARGE),
        ((apart > 0) & (apart < MIN_DIFFERENCE), TOO_SMALL),
    ):
        if wrong.any():
            raise UnusableColumnError(int(wrong.argmax()), reason)


@dataclass(frozen=True)
class ClassMoments(PicklesFieldsOnly):
    """Weight, mean and squared deviations of the values of every feature in every class.

    A class without values has count 0 and mean 0.

    Parameters
    ----------
    count : ndarray of shape (n_classes, n_features)
        Weight of the values that are not missing.
    mean : ndarray of shape (n_classes, n_features)
        Their mean.
    scatter : ndarray of shape (n_classes, n_features)
        Sum of their squared deviations from the mean.
    """

    count: Floats
    mean: Floats
    scatter: Floats

    def merge(self, other: Self) -> Self:
        """Combine the moments of two sets of rows (Chan, Golub, LeVeque 1979)."""
        count = self.count + other.count
        fraction = np.divide(other.count, count, out=np.zeros_like(count), where=count > 0)
        # With counts n, o and the difference d of the means: the mean moves by d o / (n + o), and the joint scatter is
        # the sum of the scatters plus d^2 n o / (n + o).
        apart = other.mean - self.mean
        with np.errstate(over="ignore"):  # `checked` reports columns whose squares overflow
            scatter = self.scatter + other.scatter + apart**2 * self.count * fraction
        return type(self)(count, self.mean + apart * fraction, scatter)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the moments of neighbouring columns side by side."""
        return cls(
            np.hstack([part.count for part in parts]),
            np.hstack([part.mean for part in parts]),
            np.hstack([part.scatter for part in parts]),
        )

    def of_columns(self, columns: Integers) -> Self:
        """Return the moments of some features."""
        return type(self)(self.count[:, columns], self.mean[:, columns], self.scatter[:, columns])

    def checked(self) -> Self:
        """Return these moments; raise `UnusableColumnError` if the differences within a column cannot be squared."""
        apart = np.ptp(self.offset, axis=0)
        scatter = self.scatter.sum(axis=0)
        for wrong, reason in (
            ((apart > MAX_DIFFERENCE) | ~np.isfinite(scatter), TOO_LARGE),
            ((apart > 0) & (apart < MIN_DIFFERENCE) & (scatter == 0), TOO_SMALL),
        ):
            if wrong.any():
                raise UnusableColumnError(int(wrong.argmax()), reason)
        return self

    @cached_property
    def total(self) -> Floats:
        """Weight of the values of each feature that are not missing."""
        return np.asarray(self.count.sum(axis=0))

    @cached_property
    def n_observed(self) -> NDArray[np.int64]:
        """Number of classes in which the feature has a value."""
        return np.asarray((self.count > 0).sum(axis=0))

    @cached_property
    def offset(self) -> Floats:
        """Class means minus the mean of the first class that has values; 0 for a class without values."""
        observed = self.count > 0
        origin = self.mean[np.argmax(observed, axis=0), np.arange(self.mean.shape[1])]
        return np.where(observed, self.mean - origin, 0.0)

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Features with one value in all rows where it is not missing (or with no value at all)."""
        return np.asarray(~(self.offset.any(axis=0) | self.scatter.any(axis=0)))

    @cached_property
    def informative(self) -> NDArray[np.bool_]:
        """Features that vary and have values in at least two classes."""
        return np.asarray((self.n_observed >= 2) & ~self.constant)

    @cached_property
    def pooled_variance(self) -> Floats:
        """Variance within classes, with total - (classes observed) degrees of freedom, or total if none are left."""
        freedom = self.total - self.n_observed
        freedom = np.where(freedom > 0, freedom, self.total)
        return np.asarray(np.divide(self.scatter.sum(axis=0), freedom, out=np.zeros_like(freedom), where=freedom > 0))


@dataclass(frozen=True)
class Moments(Description[ClassMoments]):
    """Description of the moments of every feature in every class.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Moments
    >>> fold = fold_of(table_source(np.array([[1.0], [3.0], [7.0]]), np.array(["a", "a", "b"])))
    >>> fold(Moments()).mean
    array([[2.],
           [7.]])
    """

    def __call__(self, block: Block) -> ClassMoments:
        """Compute the moments of one block; raise `UnusableColumnError` if it holds infinity."""
        moments = ClassMoments(*np.zeros((3, block.labels.n_classes, block.n_columns)))
        write_moments(block, moments)
        refuse_infinity(block, moments)
        return moments


def write_moments(block: Block, moments: ClassMoments) -> None:
    """Write the moments of one block into arrays of zeros."""
    from ilfs.kernels import moments as kernels
    from ilfs.kernels.by_column import column_moments

    labels, arrays = block.labels, (moments.count, moments.mean, moments.scatter)
    if isinstance(block, SparseBlock):
        kernels.sparse_moments(
            block.data, block.indices, block.indptr, labels.codes, labels.weight,
            labels.class_rows, labels.class_total, *arrays,
        )  # fmt: skip
    elif block.is_row_major:
        kernels.dense_moments(read_only(block.X), *labels.by_class, block.first, block.last, *arrays)
    elif (columns := block.unweighted_columns()) is not None:
        column_moments(columns.addresses, columns.like, *labels.groups, *arrays)
    else:
        for strip in block.row_major_strips():
            part = Moments()(strip)
            place = slice(strip.columns.start - block.columns.start, strip.columns.stop - block.columns.start)
            for array, values in zip(arrays, (part.count, part.mean, part.scatter), strict=True):
                array[:, place] = values


def refuse_infinity(block: Block, moments: ClassMoments) -> None:
    """Raise `UnusableColumnError` if a moment is not finite: the data hold infinity, or their squares overflow."""
    suspects = np.flatnonzero(~np.isfinite(moments.mean + moments.scatter).all(axis=0))
    if suspects.size:
        column = int(suspects[0])
        infinite = np.isinf(block.column(column)).any()
        reason = INFINITE if infinite else TOO_LARGE
        raise UnusableColumnError(block.columns.start + column, reason)
