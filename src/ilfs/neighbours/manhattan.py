r"""Samples in forms that give approximate Manhattan distances fast, with proven error bounds.

Features are scaled to a range of 1. There are three forms:

- `LevelManhattan` rounds every scaled feature to one of 8191 levels. Sums of 16-bit integers are exact, so the only
  error of a distance is the rounding of the two samples, which is known for each sample.
- `DenseManhattan` holds float32 values. It takes twice the memory and four times as long, but its error is relative to
  the values: it is the better form if most values are much smaller than the range, and it allows missing values.
- `SparseManhattan` visits only values that both samples store.

Since :math:`|a - b| = 2\max(a, b) - a - b`, and the sum of a sample's features is computed once, the dense forms only
have to sum :math:`\max(a, b)`: two operations per pair of values instead of three.

All forms return distances as integers, in multiples of a small unit: nearest samples are then kept as integers that
hold a bound and an index. The true distance of samples i and j, in this unit, differs from the result by at most
``slack[i] + slack[j]``.
"""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, aligned_zeros, read_only
from ilfs.execution import LabelledRows, blocks, thread_map
from ilfs.neighbours.two_step import FLOAT32_ROUNDING, FLOAT64_ROUNDING, SUMMED_FEATURES, is_very_sparse

MIN_BLOCK_SAMPLES, MAX_BLOCK_SAMPLES = 32, 256  # a block has an eighth of all samples within these limits
SAMPLES_PER_LINE = 32  # in 64 bytes, of levels: the size of a block is a multiple of this
UNITS_PER_DISTANCE = 2**30  # units in the largest possible distance, if distances are computed as floats


class ManhattanSamples(Protocol):
    """Samples with approximate distances."""

    @property
    def row_blocks(self) -> list[slice]:
        """The samples cut into blocks."""

    @property
    def slack(self) -> Integers:
        """Error bound of each sample, including the rounding of float64 distances and the floor for ties."""

    def some(self, index: Integers) -> Self:
        """Copy the samples at these indices."""

    def distances(self, targets: Self, rows: slice, others: slice) -> NDArray[np.int32]:
        """Compute approximate distances of a block of target samples to a block of these samples."""


@dataclass(frozen=True)
class LevelManhattan:
    """Scaled dense samples, rounded to integer levels.

    Parameters
    ----------
    Z : ndarray of shape (n_blocks, n_features, block_size)
        The samples. Features come before samples so that the inner loop runs over adjacent samples; zeros pad the
        features to a multiple of eight, and the last block.
    sums : ndarray of shape (n_samples,)
        Sum of the levels of each sample.
    errors : ndarray of shape (n_samples,)
        Sum of the rounding errors of each sample, in levels.
    n_features : int
        Number of features without the padding.
    """

    Z: NDArray[np.uint16]
    sums: Integers
    errors: Floats
    n_features: int

    @classmethod
    def from_rows(cls, rows: LabelledRows) -> Self | None:
        """Round every column to levels from 0 to `_max_level`; None if a value is missing."""
        from ilfs.kernels.manhattan import ADDED_FEATURES, ERROR_PARTS, round_to_levels

        X = rows.X.tocsr() if sparse.issparse(rows.X) else rows.X
        m, n = X.shape
        row_blocks = blocks(m, _block_size(m))
        Z = aligned_zeros((len(row_blocks), n + -n % ADDED_FEATURES, _block_size(m)), np.uint16)
        sums, errors = np.zeros((2, m), np.int64)
        levels_per_unit = _max_level(n) / (rows.high - rows.low)

        def fill(b: int) -> int:
            here = row_blocks[b]
            values = X[here].toarray() if sparse.issparse(X) else np.ascontiguousarray(X[here])
            return round_to_levels(read_only(values), rows.low, levels_per_unit, Z[b], sums[here], errors[here])

        n_missing = sum(thread_map(fill, range(len(row_blocks)), rows.n_jobs))
        return None if n_missing else cls(Z, sums, errors / ERROR_PARTS, n)

    @property
    def row_blocks(self) -> list[slice]:
        """The samples cut into blocks."""
        return blocks(self.sums.size, self.Z.shape[2])

    @property
    def slack(self) -> Integers:
        """Error bound of each sample, including the rounding of float64 distances and the floor for ties."""
        # Scaling in float64 makes an error of less than 4 roundings of the largest level in each feature.
        n, top = self.n_features, _max_level(self.n_features)
        scaling = 4 * n * top * FLOAT64_ROUNDING
        return _whole(self.errors + scaling + self.sums * (n * FLOAT64_ROUNDING) + top * tie_floor(n))

    @property
    def is_finer_than_float32(self) -> bool:
        """True if the mean error bound is smaller than that of `DenseManhattan`."""
        top = _max_level(self.n_features)
        return bool(self.slack.mean() <= top * _float32_slack(self.sums / top, self.n_features).mean())

    def some(self, index: Integers) -> Self:
        """Copy the samples at these indices."""
        return type(self)(_some_samples(self.Z, index), self.sums[index], self.errors[index], self.n_features)

    def distances(self, targets: Self, rows: slice, others: slice) -> NDArray[np.int32]:
        """Compute approximate distances of a block of target samples to a block of these samples."""
        from ilfs.kernels.manhattan import level_distances

        A, B = targets.Z[rows.start // targets.Z.shape[2]], self.Z[others.start // self.Z.shape[2]]
        distances = aligned_zeros((rows.stop - rows.start, others.stop - others.start), np.int32)
        level_distances(A, B, targets.sums[rows], self.sums[others], distances)
        return distances


@dataclass(frozen=True)
class DenseManhattan:
    """Scaled dense samples in float32.

    Parameters
    ----------
    Z : ndarray of shape (n_blocks, n_features, block_size)
        The samples, as in `LevelManhattan`; the features are padded to a multiple of four.
    sums : ndarray of shape (n_samples,)
        Sum of the scaled features of each sample, NaN if a value is missing.
    n_features : int
        Number of features without the padding.
    """

    Z: NDArray[np.float32]
    sums: Floats
    n_features: int

    @classmethod
    def from_rows(cls, rows: LabelledRows) -> Self:
        """Scale every column to [0, 1]."""
        X = rows.X.tocsr() if sparse.issparse(rows.X) else rows.X
        m, n = X.shape
        row_blocks = blocks(m, _block_size(m))
        Z = aligned_zeros((len(row_blocks), n + -n % 4, _block_size(m)), np.float32)

        def fill(b: int) -> Floats:
            sums = np.zeros(row_blocks[b].stop - row_blocks[b].start)
            for columns in blocks(n, SUMMED_FEATURES):
                z = _scaled(X[row_blocks[b], columns], rows, columns)
                Z[b, columns, : sums.size] = z.T
                sums += z.sum(axis=1, dtype=np.float64)
            return sums

        return cls(Z, np.concatenate(list(thread_map(fill, range(len(row_blocks)), rows.n_jobs))), n)

    @property
    def row_blocks(self) -> list[slice]:
        """The samples cut into blocks."""
        return blocks(self.sums.size, self.Z.shape[2])

    @property
    def slack(self) -> Integers:
        """Error bound of each sample, including the rounding of float64 distances and the floor for ties."""
        # A partial sum is at most the sum of all features; a mean difference times n, with missing values, at most n.
        largest = np.full(self.sums.size, self.n_features) if np.isnan(self.sums).any() else self.sums
        slack = _float32_slack(largest, self.n_features) + tie_floor(self.n_features)
        return _whole(slack * (UNITS_PER_DISTANCE / self.n_features) + 1)  # 1 for rounding distances to integers

    def some(self, index: Integers) -> Self:
        """Copy the samples at these indices."""
        return type(self)(_some_samples(self.Z, index), self.sums[index], self.n_features)

    def distances(self, targets: Self, rows: slice, others: slice) -> NDArray[np.int32]:
        """Compute approximate distances of a block of target samples to a block of these samples."""
        A, B = (one.Z[block.start // one.Z.shape[2]] for one, block in ((targets, rows), (self, others)))
        here = np.s_[: rows.stop - rows.start, : others.stop - others.start]
        units = UNITS_PER_DISTANCE / self.n_features
        if np.isnan(targets.sums[rows]).any() or np.isnan(self.sums[others]).any():
            total, count = _present_differences(A, B)
            # The zeros that pad the features count as present in both samples, hence the subtraction.
            count -= len(A) - self.n_features
            return _rounded(units * times_features(total[here], count[here], self.n_features))
        # |a - b| = 2 max(a, b) - a - b, in float64 from here on: the difference of large sums cancels digits.
        distances = np.multiply(_sums_of_larger(A, B)[here], 2.0, dtype=np.float64)
        distances -= targets.sums[rows, None]
        distances -= self.sums[others]
        distances *= units
        return _rounded(distances)


@dataclass(frozen=True)
class SparseManhattan:
    """Scaled sparse samples in float64.

    Columns are divided by their range but not shifted: zeros stay zeros, and a shift does not change distances. With
    ``overlap(a, b) = min(|a|, |b|)`` for values of the same sign and 0 otherwise, ``|a - b| = |a| + |b| - 2 overlap``.
    So only values that both samples store need to be visited.

    Parameters
    ----------
    X : scipy.sparse.csr_array
        The scaled samples.
    by_row, by_column : list of scipy.sparse.csr_array, list of scipy.sparse.csc_array
        Blocks of the samples in both kinds of compression.
    sums : ndarray of shape (n_samples,)
        Sum of the absolute values of each sample.
    units : float
        Number of units in a distance of 1.
    """

    X: Any
    by_row: list[Any]
    by_column: list[Any]
    sums: Floats
    units: float

    @classmethod
    def from_rows(cls, rows: LabelledRows) -> Self:
        """Divide every column by its range."""
        X = rows.X.astype(np.float64).multiply(1 / (rows.high - rows.low)).tocsr()
        # No distance exceeds the sum of the absolute values of both samples.
        return cls.from_matrix(X, UNITS_PER_DISTANCE / (2.1 * float(abs(X).sum(axis=1).max())))

    @classmethod
    def from_matrix(cls, X: Any, units: float) -> Self:
        """Cut scaled samples into blocks."""
        cuts = [X[block] for block in blocks(X.shape[0], _block_size(X.shape[0]))]
        return cls(X, cuts, [cut.tocsc() for cut in cuts], np.asarray(abs(X).sum(axis=1)).ravel(), units)

    @property
    def row_blocks(self) -> list[slice]:
        """The samples cut into blocks."""
        return blocks(self.sums.size, _block_size(self.sums.size))

    @property
    def slack(self) -> Integers:
        """Error bound of each sample: float64 sums of up to n terms, and rounding to integers."""
        n = self.X.shape[1]
        return _whole(self.units * (self.sums * (4 * n * FLOAT64_ROUNDING) + tie_floor(n)) + 1)

    def some(self, index: Integers) -> Self:
        """Copy the samples at these indices."""
        return self.from_matrix(self.X[index], self.units)

    def distances(self, targets: Self, rows: slice, others: slice) -> NDArray[np.int32]:
        """Compute approximate distances of a block of target samples to a block of these samples."""
        from ilfs.kernels.manhattan import sparse_overlaps

        a = targets.by_row[rows.start // _block_size(targets.sums.size)]
        b = self.by_column[others.start // _block_size(self.sums.size)]
        overlaps = np.empty((a.shape[0], b.shape[0]))
        sparse_overlaps(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, overlaps)
        return _rounded(self.units * (targets.sums[rows, None] + self.sums[others] - 2.0 * overlaps))


def sparse_or_levels(rows: LabelledRows) -> SparseManhattan | LevelManhattan | DenseManhattan:
    """Scale the samples, in the form with the fastest distances."""
    # The sparse kernel cannot leave missing values out.
    if is_very_sparse(rows.X) and not np.isnan(rows.X.data).any():
        return SparseManhattan.from_rows(rows)
    return LevelManhattan.from_rows(rows) or DenseManhattan.from_rows(rows)


def tie_floor(n: int) -> float:
    """Return the largest difference of tied distances: far above the rounding error of a sum of n scaled values."""
    return n * 2.0**-40


def times_features(total: NDArray[Any], count: NDArray[Any], n: int) -> Floats:
    """Return the mean difference times n features; the largest distance, n, if no feature is present in both."""
    return np.where(count > 0, n * (total / np.maximum(count, 1)), float(n))


def _block_size(m: int) -> int:
    """Return an eighth of m samples within the limits, rounded up to whole cache lines."""
    size = min(max(-(-m // 8), MIN_BLOCK_SAMPLES), MAX_BLOCK_SAMPLES)
    return size + -size % SAMPLES_PER_LINE


def _max_level(n: int) -> int:
    """Return the level of the largest value of a feature: distances of n features must fit into 32 bits."""
    from ilfs.kernels.manhattan import MAX_LEVEL

    return min(MAX_LEVEL, (2**31 - 1) // n)


def _whole(slack: Floats) -> Integers:
    return np.ceil(slack).astype(np.int64)


def _rounded(distances: Floats) -> NDArray[np.int32]:
    return np.rint(distances).astype(np.int32)


def _some_samples(Z: NDArray[Any], index: Integers) -> NDArray[Any]:
    """Copy samples to blocks of the same size."""
    size = Z.shape[2]
    row_blocks = blocks(index.size, size)
    some = aligned_zeros((len(row_blocks), *Z.shape[1:]), Z.dtype)
    for b, block in enumerate(row_blocks):
        here = index[block]
        some[b, :, : here.size] = Z[here // size, :, here % size].T
    return some


def _scaled(values: Any, rows: LabelledRows, columns: slice) -> NDArray[np.float32]:
    """Scale some columns so that their smallest value is 0 and their largest 1."""
    dense = values.toarray() if sparse.issparse(values) else values
    scaled: Floats = np.subtract(dense, rows.low[columns], dtype=np.float64, order="C")
    scaled *= 1 / (rows.high - rows.low)[columns]
    return scaled.astype(np.float32)


def _float32_slack(largest: Floats, n: int) -> Floats:
    r"""Return the error bound of float32 distances for samples whose scaled features sum to at most ``largest``.

    The error of a distance is at most :math:`2\,(q + 2)\,u\,(s_i + s_j)`, where s is the sum of a sample's scaled
    features, u the rounding unit, and q the number of additions that a term passes through.
    """
    # The kernel adds four features at a time, and sums of SUMMED_FEATURES are added up; 8 covers the other steps.
    additions = min(n, SUMMED_FEATURES) / 4 + n / SUMMED_FEATURES + 8
    # 2.1 instead of 2 covers terms of second order.
    return np.asarray(2.1 * largest * (additions * FLOAT32_ROUNDING + n * FLOAT64_ROUNDING))


def _sums_of_larger(A: NDArray[np.float32], B: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum max(a, b) over the features of every pair of samples of two blocks."""
    from ilfs.kernels.manhattan import sums_of_larger

    total, added = aligned_zeros((2, A.shape[1], B.shape[1]), np.float32)
    for f in range(0, len(A), SUMMED_FEATURES):
        sums_of_larger(A[f : f + SUMMED_FEATURES], B[f : f + SUMMED_FEATURES], added)
        total += added
    return np.asarray(total)


def _present_differences(
    A: NDArray[np.float32], B: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Sum the differences of the features that both samples have, for every pair of two blocks, and count them."""
    from ilfs.kernels.manhattan import present_differences

    total, count, added, added_count = aligned_zeros((4, A.shape[1], B.shape[1]), np.float32)
    for f in range(0, len(A), SUMMED_FEATURES):
        present_differences(A[f : f + SUMMED_FEATURES], B[f : f + SUMMED_FEATURES], added, added_count)
        total += added
        count += added_count
    return total, count
