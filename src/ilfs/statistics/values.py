"""The smallest, the largest and the distinct values of every feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers, read_only
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description
from ilfs.statistics.moments import check_column_ranges


@dataclass(frozen=True)
class ColumnValues:
    """Range and distinct values of every feature.

    Parameters
    ----------
    low, high : ndarray of shape (n_features,)
        Smallest and largest value; infinity and minus infinity for a feature without values.
    values : ndarray of shape (n_features, limit)
        Distinct values in ascending order, if there are at most ``limit`` of them.
    n_values : ndarray of shape (n_features,)
        Number of distinct values; ``limit + 1`` stands for more than ``limit``.
    """

    low: Floats
    high: Floats
    values: Floats
    n_values: Integers

    def merge(self, other: Self) -> Self:
        """Combine the values of two sets of rows."""
        limit = self.values.shape[1]
        place = np.arange(limit)
        both = np.hstack([np.where(place < one.n_values[:, None], one.values, np.nan) for one in (self, other)])
        both.sort(axis=1)  # NaN, the padding, comes last
        is_new = ~np.isnan(both)
        is_new[:, 1:] &= both[:, 1:] != both[:, :-1]
        n_values = np.minimum(is_new.sum(axis=1), limit + 1)
        n_values[np.maximum(self.n_values, other.n_values) > limit] = limit + 1
        # A stable sort moves the distinct values to the front and keeps their order.
        front = np.take_along_axis(both, np.argsort(~is_new, axis=1, kind="stable"), axis=1)[:, :limit]
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return type(self)(low, high, np.ascontiguousarray(front), n_values)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the values of neighbouring columns side by side."""
        return cls(
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.n_values for part in parts]),
        )

    def checked(self) -> Self:
        """Return these values; raise `UnusableColumnError` for infinity and for differences that cannot be squared."""
        has_values = self.n_values > 0  # the range of the other columns is infinite, which is not an error
        check_column_ranges(np.where(has_values, self.low, np.nan), np.where(has_values, self.high, np.nan))
        return self

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Features with at least two different values."""
        return self.n_values > 1

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """Features whose distinct values are all known."""
        return np.asarray(self.n_values <= self.values.shape[1])


@dataclass(frozen=True)
class DistinctValues(Description[ColumnValues]):
    """Description of the range and distinct values of every feature.

    Parameters
    ----------
    limit : int
        Maximum number of distinct values to keep for a feature.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import DistinctValues
    >>> found = fold_of(table_source(np.array([[3.0, 1.0], [2.0, 1.0], [5.0, 1.0]])))(DistinctValues(limit=2))
    >>> found.n_values.tolist(), found.low.tolist()
    ([3, 1], [2.0, 1.0])
    """

    limit: int

    def __call__(self, block: Block) -> ColumnValues:
        """Collect the values of one block."""
        from ilfs.kernels import bins

        low, high = np.full(block.n_columns, np.inf), np.full(block.n_columns, -np.inf)
        values, n_values = np.full((block.n_columns, self.limit), np.nan), np.zeros(block.n_columns, dtype=np.int64)
        labels, found = block.labels, (values, n_values, low, high)
        if isinstance(block, SparseBlock):
            n_rows = int(labels.class_rows.sum())
            bins.distinct_sparse(block.data, block.indices, block.indptr, labels.codes, n_rows, *found)
        elif not block.is_row_major:
            return ColumnValues.join([self(strip) for strip in block.row_major_strips()])
        else:
            bins.distinct_dense(read_only(block.X), labels.by_class.rows, block.first, *found)
        return ColumnValues(low, high, values, n_values)
