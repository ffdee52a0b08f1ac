r"""The nearest samples of every class, by Manhattan distance of features scaled to a range of 1.

The search has the two steps of `ilfs.neighbours.two_step`: float32 distances with a proven error find the candidates,
and float64 distances decide among them. Since :math:`|a - b| = 2\max(a, b) - a - b`, and the sum of a sample's features
is computed once, the first step only has to sum :math:`\max(a, b)`: two operations per pair of values instead of three.
Its error is at most :math:`2\,(q + 2)\,u\,(s_i + s_j)`, where s is the sum of a sample's scaled features, u the
rounding unit, and q the number of additions that a term passes through.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows, blocks, thread_map
from ilfs.execution.columns import dense_column_blocks
from ilfs.neighbours.two_step import (
    FLOAT32_ROUNDING,
    FLOAT64_ROUNDING,
    PAIRS_PER_TASK,
    SPARE_CANDIDATES,
    SUMMED_FEATURES,
    is_very_sparse,
    join_pairs,
)
from ilfs.ties import RELATIVE_TOLERANCE

MIN_BLOCK_SAMPLES, MAX_BLOCK_SAMPLES = 32, 256  # a block has an eighth of all samples within these limits
RETRIED_SAMPLES = 512  # samples per block of the second search, which holds their distances to all others


@dataclass(frozen=True)
class Pairs:
    """Samples and their nearest neighbours in every class.

    Neighbours that tie for the last place of a class share it, so weights may be less than 1.

    Parameters
    ----------
    first : ndarray of shape (n_pairs,)
        The samples.
    second : ndarray of shape (n_pairs,)
        A neighbour of each.
    weight : ndarray of shape (n_pairs,)
        Weight of the neighbour. The weights of a sample's neighbours in one class sum to 1.
    """

    first: Integers
    second: Integers
    weight: Floats


def class_neighbours(
    rows: LabelledRows, n_neighbors: int, drawn: Integers, steps: Callable[[list[slice]], Iterator[slice]]
) -> tuple[Pairs, int]:
    """Find the nearest other samples in every class.

    Parameters
    ----------
    rows : LabelledRows
        Samples and their classes. If values are missing, the distance of two samples is the mean difference of the
        features that both have, times the number of features.
    n_neighbors : int
        Number of neighbours per class. All samples of a smaller class are neighbours.
    drawn : ndarray of int
        Samples whose neighbours are searched for, in ascending order.
    steps : callable
        Takes the blocks of drawn samples and yields them one by one. It may stop early; the search is then limited to
        the blocks that it has yielded.

    Returns
    -------
    pairs : Pairs
        All neighbours.
    n_used : int
        Number of drawn samples that were searched for: ``drawn[:n_used]``.
    """
    codes, sizes = rows.labels.codes, rows.labels.class_rows
    samples = _scaled(rows)
    targets = samples if drawn.size == codes.size else samples.some(drawn)
    n_kept = int(min(n_neighbors + SPARE_CANDIDATES, sizes.max()))
    bounds, kept, n_used = _keep_nearest(rows, samples, targets, drawn, n_kept, steps)
    drawn = drawn[:n_used]
    # A sample is not its own neighbour, so its own class offers one place less.
    places = np.minimum(n_neighbors, sizes - (codes[drawn, None] == np.arange(sizes.size)))
    near = _near(bounds, kept, places, targets.slack, samples.slack)
    # If even the last sample kept is a candidate, further candidates may have been dropped: search again.
    rest = (near[:, :, -1] & (n_kept < sizes)).any(axis=1)
    near[rest] = False
    found = [_nearest(rows, drawn[np.nonzero(near)[0]], kept[near].astype(np.intp), n_neighbors)]
    for some in blocks(int(rest.sum()), RETRIED_SAMPLES):
        pairs = _candidates(rows, samples, drawn[rest][some], places[rest][some])
        found.append(_nearest(rows, *pairs, n_neighbors))
    return Pairs(*(np.concatenate(values) for values in zip(*found, strict=True))), n_used


@dataclass(frozen=True)
class DenseManhattan:
    """Scaled dense samples in float32, with approximate Manhattan distances.

    The distance of samples i and j differs from the result of `distances` by at most ``slack[i] + slack[j]``.

    Parameters
    ----------
    Z : ndarray of shape (n_blocks, n_features, block_size)
        The samples. Features come before samples so that the inner loop runs over adjacent samples; zeros pad the
        features to a multiple of four, and the last block.
    sums : ndarray of shape (n_samples,)
        Sum of the scaled features of each sample, NaN if a value is missing.
    n_features : int
        Number of features without the padding.
    """

    Z: NDArray[Any]
    sums: Floats
    n_features: int

    @classmethod
    def from_rows(cls, rows: LabelledRows) -> Self:
        """Scale every column to [0, 1]."""
        X = rows.X.tocsr() if sparse.issparse(rows.X) else rows.X
        m, n = X.shape
        row_blocks = blocks(m, _block_size(m))
        Z = np.zeros((len(row_blocks), n + -n % 4, _block_size(m)), np.float32)

        def fill(b: int) -> Floats:
            sums = np.zeros(row_blocks[b].stop - row_blocks[b].start)
            for columns in blocks(n, SUMMED_FEATURES):
                z = scaled_columns(X[row_blocks[b]], rows, columns).astype(np.float32)
                Z[b, columns, : sums.size] = z.T
                sums += z.sum(axis=1, dtype=np.float64)
            return sums

        return cls(Z, np.concatenate(list(thread_map(fill, range(len(row_blocks)), rows.n_jobs))), n)

    @property
    def row_blocks(self) -> list[slice]:
        """The samples cut into blocks."""
        return blocks(self.sums.size, self.Z.shape[2])

    @property
    def slack(self) -> Floats:
        """Error bound of each sample, including the rounding of float64 distances and the tolerance for ties."""
        n = self.n_features
        # The kernel adds four features at a time, and sums of SUMMED_FEATURES are added up; 8 covers the other steps.
        additions = min(n, SUMMED_FEATURES) / 4 + n / SUMMED_FEATURES + 8
        # A partial sum is at most the sum of all features; a mean difference times n, with missing values, at most n.
        largest = np.full(self.sums.size, n) if np.isnan(self.sums).any() else self.sums
        # The error bound of the module docstring; 2.1 instead of 2 covers terms of second order.
        return 2.1 * largest * (additions * FLOAT32_ROUNDING + n * FLOAT64_ROUNDING) + _tie_floor(n)

    def some(self, index: Integers) -> Self:
        """Copy the samples at these indices."""
        size = self.Z.shape[2]
        row_blocks = blocks(index.size, size)
        Z = np.zeros((len(row_blocks), *self.Z.shape[1:]), np.float32)
        for b, block in enumerate(row_blocks):
            here = index[block]
            Z[b, :, : here.size] = self.Z[here // size, :, here % size].T
        return type(self)(Z, self.sums[index], self.n_features)

    def distances(self, targets: Self, rows: slice, others: slice) -> NDArray[Any]:
        """Compute approximate distances of a block of target samples to a block of these samples."""
        from ilfs.kernels.manhattan import present_differences, sums_of_larger

        A, B = (one.Z[block.start // one.Z.shape[2]] for one, block in ((targets, rows), (self, others)))
        total, count, added, added_count = np.zeros((4, A.shape[1], B.shape[1]), np.float32)
        has_missing = np.isnan(targets.sums[rows]).any() or np.isnan(self.sums[others]).any()
        for f in range(0, len(A), SUMMED_FEATURES):
            if has_missing:
                present_differences(A[f : f + SUMMED_FEATURES], B[f : f + SUMMED_FEATURES], added, added_count)
                count += added_count
            else:
                sums_of_larger(A[f : f + SUMMED_FEATURES], B[f : f + SUMMED_FEATURES], added)
            total += added
        here = np.s_[: rows.stop - rows.start, : others.stop - others.start]
        if has_missing:
            # The zeros that pad the features count as present in both samples, hence the subtraction.
            return _times_features(total[here], count[here] - (len(A) - self.n_features), self.n_features)
        # |a - b| = 2 max(a, b) - a - b, in float64 from here on: the difference of large sums cancels digits.
        distances: Floats = np.multiply(total[here], 2.0, dtype=np.float64)
        distances -= targets.sums[rows, None]
        distances -= self.sums[others]
        return distances


@dataclass(frozen=True)
class SparseManhattan:
    """Scaled sparse samples in float64, with approximate Manhattan distances.

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
    """

    X: Any
    by_row: list[Any]
    by_column: list[Any]
    sums: Floats

    @classmethod
    def from_rows(cls, rows: LabelledRows) -> Self:
        """Divide every column by its range."""
        return cls.from_matrix(rows.X.astype(np.float64).multiply(1 / (rows.high - rows.low)).tocsr())

    @classmethod
    def from_matrix(cls, X: Any) -> Self:
        """Cut scaled samples into blocks."""
        cuts = [X[block] for block in blocks(X.shape[0], _block_size(X.shape[0]))]
        return cls(X, cuts, [cut.tocsc() for cut in cuts], np.asarray(abs(X).sum(axis=1)).ravel())

    @property
    def row_blocks(self) -> list[slice]:
        """The samples cut into blocks."""
        return blocks(self.sums.size, _block_size(self.sums.size))

    @property
    def slack(self) -> Floats:
        """Error bound of each sample: float64 sums of up to n terms, and lower bounds stored in float32."""
        n = self.X.shape[1]
        return np.asarray(self.sums * (4 * n * FLOAT64_ROUNDING + 4 * FLOAT32_ROUNDING) + _tie_floor(n))

    def some(self, index: Integers) -> Self:
        """Copy the samples at these indices."""
        return self.from_matrix(self.X[index])

    def distances(self, targets: Self, rows: slice, others: slice) -> Floats:
        """Compute approximate distances of a block of target samples to a block of these samples."""
        from ilfs.kernels.manhattan import sparse_overlaps

        a = targets.by_row[rows.start // _block_size(targets.sums.size)]
        b = self.by_column[others.start // _block_size(self.sums.size)]
        overlaps = np.empty((a.shape[0], b.shape[0]))
        sparse_overlaps(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, overlaps)
        distances: Floats = targets.sums[rows, None] + self.sums[others] - 2.0 * overlaps
        return distances


ManhattanSamples = DenseManhattan | SparseManhattan


def _scaled(rows: LabelledRows) -> ManhattanSamples:
    """Scale the samples, as sparse ones if that makes distances faster."""
    # The sparse kernel cannot leave missing values out.
    if is_very_sparse(rows.X) and not np.isnan(rows.X.data).any():
        return SparseManhattan.from_rows(rows)
    return DenseManhattan.from_rows(rows)


def _block_size(m: int) -> int:
    """Return an eighth of m samples within the limits, rounded up to a multiple of four."""
    size = min(max(-(-m // 8), MIN_BLOCK_SAMPLES), MAX_BLOCK_SAMPLES)
    return size + -size % 4


def _tie_floor(n: int) -> float:
    """Return the largest difference of tied distances: far above the rounding error of a sum of n scaled values."""
    return n * 2.0**-40


def _times_features(total: NDArray[Any], count: NDArray[Any], n: int) -> Floats:
    """Return the mean difference times n features; the largest distance, n, if no feature is present in both."""
    return np.where(count > 0, n * (total / np.maximum(count, 1)), float(n))


def _keep_nearest(
    rows: LabelledRows,
    samples: Any,
    targets: Any,
    drawn: Integers,
    n_kept: int,
    steps: Callable[[list[slice]], Iterator[slice]],
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Keep the samples of each class with the smallest lower bounds of the distance.

    Returns the lower bounds and the samples, both of shape (n_used, n_classes, n_kept), and ``n_used``.
    """
    from ilfs.kernels.manhattan import keep_nearest_of_classes

    shape = drawn.size, rows.classes.n_classes, n_kept
    bounds, kept = np.full(shape, np.inf, np.float32), np.full(shape, len(samples.sums), np.int32)
    row_slack, slack, codes = targets.slack, samples.slack, rows.labels.codes
    symmetric, lock = targets is samples, Lock()

    def visit(block: slice, others: slice) -> None:
        distances = samples.distances(targets, block, others)
        mirrored = symmetric and others.start > block.start
        with lock:  # a mirrored block writes to the lists of its rows and of its columns
            keep_nearest_of_classes(
                distances, row_slack, slack, drawn, codes, block.start, others.start, mirrored, bounds, kept
            )

    n_used = 0
    # If all samples are drawn, a block of distances serves its rows and, mirrored, its columns.
    for block in steps(targets.row_blocks):
        facing = [others for others in samples.row_blocks if not symmetric or others.start >= block.start]
        list(thread_map(partial(visit, block), facing, rows.n_jobs))
        n_used = block.stop
    return bounds[:n_used], kept[:n_used], n_used


def _near(
    bounds: NDArray[Any], kept: NDArray[Any], places: Integers, row_slack: Floats, slack: Floats
) -> NDArray[np.bool_]:
    """Mark the kept samples that may be among the nearest."""
    # The upper bound is the lower bound plus twice the slack of both samples. Places of a list that are not filled have
    # an infinite bound and the index n_samples, which np.minimum makes a valid one.
    upper = bounds + 2 * (row_slack[: len(bounds), None, None] + slack[np.minimum(kept, slack.size - 1)])
    upper.sort(axis=2)
    kth = np.take_along_axis(upper, np.maximum(places - 1, 0)[:, :, None], axis=2)
    return np.asarray((bounds <= _with_ties(kth)) & (bounds < np.inf) & (places > 0)[:, :, None])


def _with_ties(kth: NDArray[Any]) -> NDArray[Any]:
    """Return the largest distance that may tie with the k-th one, apart from the slack of both samples."""
    return kth * (1.0 + 2.0 * RELATIVE_TOLERANCE)


def _candidates(rows: LabelledRows, samples: Any, here: Integers, places: Integers) -> tuple[Integers, Integers]:
    """List pairs of these samples and all others that may be among the nearest of a class."""
    targets = samples.some(here)
    facing = [(block, others) for block in targets.row_blocks for others in samples.row_blocks]
    found = thread_map(lambda pair: samples.distances(targets, *pair), facing, rows.n_jobs)
    distances = np.empty((here.size, len(samples.sums)))
    for pair, block in zip(facing, found, strict=True):
        distances[pair] = block
    distances[np.arange(here.size), here] = np.inf  # a sample is not its own neighbour
    slack = targets.slack[:, None] + samples.slack
    pairs = []
    for k in range(places.shape[1]):
        members = np.flatnonzero(rows.labels.codes == k)
        upper = np.sort((distances + slack)[:, members], axis=1)
        kth = np.take_along_axis(upper, np.maximum(places[:, k, None] - 1, 0), axis=1)
        near = ((distances - slack)[:, members] <= _with_ties(kth)) & (places[:, k, None] > 0)
        first, second = np.nonzero(near)
        pairs.append((here[first], members[second]))
    return join_pairs(pairs)


def _nearest(
    rows: LabelledRows, first: Integers, second: Integers, n_neighbors: int
) -> tuple[Integers, Integers, Floats]:
    """Select the nearest of the candidates by float64 distances, compared with a tolerance, and weight them."""
    from ilfs.kernels.manhattan import weight_neighbours

    distances, floor = _distances(rows, first, second), _tie_floor(rows.X.shape[1])
    lists = first * rows.classes.n_classes + rows.labels.codes[second]
    weight = np.empty(first.size)
    weight_neighbours(distances, lists, n_neighbors, RELATIVE_TOLERANCE, floor, weight)
    near = weight > 0
    return first[near], second[near], weight[near]


def _distances(rows: LabelledRows, first: Integers, second: Integers) -> Floats:
    """Compute the distances of pairs of samples in float64."""
    from ilfs.kernels.manhattan import add_distances, add_present_distances

    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    total, count = np.zeros((2, first.size))
    for columns in dense_column_blocks(X):
        block = scaled_columns(X, rows, columns)
        has_missing = np.isnan(block.sum())

        def add(pairs: slice, block: Floats = block, has_missing: bool = has_missing) -> None:
            if has_missing:
                add_present_distances(block, first[pairs], second[pairs], total[pairs], count[pairs])
            else:
                add_distances(block, first[pairs], second[pairs], total[pairs])
                count[pairs] += block.shape[1]

        list(thread_map(add, blocks(first.size, PAIRS_PER_TASK), rows.n_jobs))
    n = X.shape[1]
    # Pairs without missing values keep their plain sum, so that missing values elsewhere do not change its last bits.
    return total if (count == n).all() else np.where(count == n, total, _times_features(total, count, n))


def scaled_columns(X: Any, rows: LabelledRows, columns: slice) -> Floats:
    """Copy some columns to a dense array, scaled so that their smallest value is 0 and their largest 1.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        The values.
    rows : LabelledRows
        Holds the smallest and largest value of every column.
    columns : slice
        The columns to copy.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        Scaled values in float64.
    """
    values = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
    block: Floats = np.subtract(values, rows.low[columns], order="C")
    block *= 1 / (rows.high - rows.low)[columns]
    return block
