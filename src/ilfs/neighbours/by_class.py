r"""The nearest samples of every class, by Manhattan distance of features scaled to a range of 1.

As in `euclidean`, distances in float32 with a proven error say who may be among the nearest, and the distances of those
are computed in float64. :math:`|a - b| = 2\max(a, b) - a - b` makes the first step a sum of larger ones. Its error is
at most :math:`2\,(q + 2)\,u\,(s_i + s_j)`, where s is the sum of a sample's scaled features, u the rounding unit, and q
the number of additions that a term passes through.
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
from ilfs.execution.columns import column_parts
from ilfs.neighbours.euclidean import SPARSE_SHARE
from ilfs.ties import RELATIVE_TOLERANCE

SMALL_BLOCK, LARGE_BLOCK = 32, 256  # samples of a block: an eighth of all within these limits
SUMMED = 4096  # features that are summed in one go, so that the error bound stays small for many of them
SPARE = 8  # places in a list beyond those asked for, for candidates
MANY_ROWS = 512  # samples that are done again at once
PAIRS = 4096  # whose distances a thread computes at once
SINGLE, DOUBLE = 2.0**-24, 2.0**-53


@dataclass(frozen=True)
class Pairs:
    """Samples ``first`` and their neighbours ``second``; ``share`` is how much of its class each neighbour is.

    The shares of a sample's neighbours of one class add up to 1. Those that tie for the last places share them.
    """

    first: Integers
    second: Integers
    share: Floats


def class_neighbours(
    rows: LabelledRows, n_neighbors: int, drawn: Integers, steps: Callable[[list[slice]], Iterator[slice]]
) -> tuple[Pairs, int]:
    """The nearest others of drawn samples in every class.

    Parameters
    ----------
    rows : LabelledRows
        Samples and their classes. If cells are missing, the distance of two samples is the mean difference of the
        features that both have, times the number of features.
    n_neighbors : int
        How many of each class; a class with fewer gives all it has.
    drawn : ndarray of int
        Samples whose neighbours are looked for, ascending.
    steps : callable
        Gives back blocks of those samples one by one; it may end early, and the samples so far are used.

    Returns
    -------
    pairs : Pairs
        All neighbours.
    n_used : int
        The first so many of the drawn samples have been used.
    """
    codes, sizes = rows.labels.codes, rows.labels.class_rows
    samples = _scaled(rows)
    targets = samples if drawn.size == codes.size else samples.some(drawn)
    n_kept = int(min(n_neighbors + SPARE, sizes.max()))
    bounds, kept, n_used = _keep_nearest(rows, samples, targets, drawn, n_kept, steps)
    drawn = drawn[:n_used]
    places = np.minimum(n_neighbors, sizes - (codes[drawn, None] == np.arange(sizes.size)))
    near = _near(bounds, kept, places, targets.slack, samples.slack)
    rest = (near[:, :, -1] & (n_kept < sizes)).any(axis=1)  # there may be others that there was no room for
    near[rest] = False
    found = [_nearest(rows, drawn[np.nonzero(near)[0]], kept[near].astype(np.intp), n_neighbors)]
    for some in blocks(int(rest.sum()), MANY_ROWS):
        pairs = _candidates(rows, samples, drawn[rest][some], places[rest][some])
        found.append(_nearest(rows, *pairs, n_neighbors))
    return Pairs(*(np.concatenate(values) for values in zip(*found, strict=True))), n_used


@dataclass(frozen=True)
class DenseSamples:
    """Scaled samples in float32, blocks of features x samples.

    The distance of i and j is what `distances` says, give or take ``slack[i] + slack[j]``.
    """

    Z: NDArray[Any]
    sums: Floats
    n_features: int

    @classmethod
    def of(cls, rows: LabelledRows) -> Self:
        """Scale every column to [0, 1]."""
        X = rows.X.tocsr() if sparse.issparse(rows.X) else rows.X
        m, n = X.shape
        pieces = blocks(m, _block_size(m))
        Z = np.zeros((len(pieces), n + -n % 4, _block_size(m)), np.float32)

        def fill(b: int) -> Floats:
            sums = np.zeros(pieces[b].stop - pieces[b].start)
            for columns in blocks(n, SUMMED):
                z = scaled_columns(X[pieces[b]], rows, columns).astype(np.float32)
                Z[b, columns, : sums.size] = z.T
                sums += z.sum(axis=1, dtype=np.float64)
            return sums

        return cls(Z, np.concatenate(list(thread_map(fill, range(len(pieces)), rows.n_jobs))), n)

    @property
    def pieces(self) -> list[slice]:
        """Blocks of samples."""
        return blocks(self.sums.size, self.Z.shape[2])

    @property
    def slack(self) -> Floats:
        """Error bound; the last term is for the distances in float64 and for comparing them by `_tie_floor`."""
        n = self.n_features
        additions = min(n, SUMMED) / 4 + n / SUMMED + 8
        # without missing cells no term is larger than the sum, with them no mean than 1
        largest = np.full(self.sums.size, n) if np.isnan(self.sums).any() else self.sums
        return 2.1 * largest * (additions * SINGLE + n * DOUBLE) + _tie_floor(n)

    def some(self, index: Integers) -> Self:
        """A copy of these samples alone."""
        size = self.Z.shape[2]
        pieces = blocks(index.size, size)
        Z = np.zeros((len(pieces), *self.Z.shape[1:]), np.float32)
        for b, piece in enumerate(pieces):
            here = index[piece]
            Z[b, :, : here.size] = self.Z[here // size, :, here % size].T
        return type(self)(Z, self.sums[index], self.n_features)

    def distances(self, targets: Self, rows: slice, others: slice) -> NDArray[Any]:
        """Of a block of the targets and a block of these."""
        from ilfs.kernels.manhattan import present_differences, sums_of_larger

        A, B = (one.Z[piece.start // one.Z.shape[2]] for one, piece in ((targets, rows), (self, others)))
        total, count, part, some = np.zeros((4, A.shape[1], B.shape[1]), np.float32)
        lacking = np.isnan(targets.sums[rows]).any() or np.isnan(self.sums[others]).any()
        for f in range(0, len(A), SUMMED):
            if lacking:
                present_differences(A[f : f + SUMMED], B[f : f + SUMMED], part, some)
                count += some
            else:
                sums_of_larger(A[f : f + SUMMED], B[f : f + SUMMED], part)
            total += part
        here = np.s_[: rows.stop - rows.start, : others.stop - others.start]
        if lacking:
            return _times_features(total[here], count[here] - (len(A) - self.n_features), self.n_features)
        distances: Floats = np.multiply(total[here], 2.0, dtype=np.float64)
        distances -= targets.sums[rows, None]
        distances -= self.sums[others]
        return distances


@dataclass(frozen=True)
class SparseSamples:
    """The same of sparse samples, which are not shifted, in float64; blocks are compressed both ways."""

    X: Any
    by_row: list[Any]
    by_column: list[Any]
    sums: Floats

    @classmethod
    def of(cls, rows: LabelledRows) -> Self:
        """Divide every column by its range."""
        return cls.cut(rows.X.astype(np.float64).multiply(1 / (rows.high - rows.low)).tocsr())

    @classmethod
    def cut(cls, X: Any) -> Self:
        """Samples in blocks."""
        cuts = [X[piece] for piece in blocks(X.shape[0], _block_size(X.shape[0]))]
        return cls(X, cuts, [cut.tocsc() for cut in cuts], np.asarray(abs(X).sum(axis=1)).ravel())

    @property
    def pieces(self) -> list[slice]:
        """Blocks of samples."""
        return blocks(self.sums.size, _block_size(self.sums.size))

    @property
    def slack(self) -> Floats:
        """Error bound: of sums of at most n in float64, and of lists that keep distances in float32."""
        n = self.X.shape[1]
        return np.asarray(self.sums * (4 * n * DOUBLE + 4 * SINGLE) + _tie_floor(n))

    def some(self, index: Integers) -> Self:
        """These samples alone."""
        return self.cut(self.X[index])

    def distances(self, targets: Self, rows: slice, others: slice) -> Floats:
        """Of a block of the targets and a block of these."""
        from ilfs.kernels.manhattan import sparse_overlaps

        a = targets.by_row[rows.start // _block_size(targets.sums.size)]
        b = self.by_column[others.start // _block_size(self.sums.size)]
        overlaps = np.empty((a.shape[0], b.shape[0]))
        sparse_overlaps(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, overlaps)
        distances: Floats = targets.sums[rows, None] + self.sums[others] - 2.0 * overlaps
        return distances


Samples = DenseSamples | SparseSamples


def _scaled(rows: LabelledRows) -> Samples:
    X = rows.X
    if sparse.issparse(X) and X.nnz < SPARSE_SHARE * X.shape[0] * X.shape[1] and not np.isnan(X.data).any():
        return SparseSamples.of(rows)
    return DenseSamples.of(rows)


def _block_size(m: int) -> int:
    """An eighth of the samples within limits, in fours."""
    size = min(max(-(-m // 8), SMALL_BLOCK), LARGE_BLOCK)
    return size + -size % 4


def _tie_floor(n: int) -> float:
    """Distances of n features that differ by no more than this are equal: a multiple of the rounding of n terms."""
    return n * 2.0**-40


def _times_features(total: NDArray[Any], count: NDArray[Any], n: int) -> Floats:
    """Mean difference times the number of features; samples that have no feature in common are as far as can be."""
    return np.where(count > 0, n * (total / np.maximum(count, 1)), float(n))


def _keep_nearest(
    rows: LabelledRows,
    samples: Any,
    targets: Any,
    drawn: Integers,
    n_kept: int,
    steps: Callable[[list[slice]], Iterator[slice]],
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Lower bounds of the distances to those in each class that are nearest by them, and for how many it was done."""
    from ilfs.kernels.manhattan import keep_nearest_of_classes

    shape = drawn.size, rows.classes.n_classes, n_kept
    bounds, kept = np.full(shape, np.inf, np.float32), np.full(shape, len(samples.sums), np.int32)
    row_slack, slack, codes = targets.slack, samples.slack, rows.labels.codes
    symmetric, lock = targets is samples, Lock()

    def visit(piece: slice, others: slice) -> None:
        distances = samples.distances(targets, piece, others)
        mirrored = symmetric and others.start > piece.start
        with lock:
            keep_nearest_of_classes(
                distances, row_slack, slack, drawn, codes, piece.start, others.start, mirrored, bounds, kept
            )

    n_used = 0
    for piece in steps(targets.pieces):
        facing = [others for others in samples.pieces if not symmetric or others.start >= piece.start]
        list(thread_map(partial(visit, piece), facing, rows.n_jobs))
        n_used = piece.stop
    return bounds[:n_used], kept[:n_used], n_used


def _near(
    bounds: NDArray[Any], kept: NDArray[Any], places: Integers, row_slack: Floats, slack: Floats
) -> NDArray[np.bool_]:
    """Who of those kept may be among the nearest."""
    upper = bounds + 2 * (row_slack[: len(bounds), None, None] + slack[np.minimum(kept, slack.size - 1)])
    upper.sort(axis=2)
    kth = np.take_along_axis(upper, np.maximum(places - 1, 0)[:, :, None], axis=2)
    return np.asarray((bounds <= _with_ties(kth)) & (bounds < np.inf) & (places > 0)[:, :, None])


def _with_ties(kth: NDArray[Any]) -> NDArray[Any]:
    """How far a sample may be and still tie with one at this distance, in addition to the slack of both."""
    return kth * (1.0 + 2.0 * RELATIVE_TOLERANCE)


def _candidates(rows: LabelledRows, samples: Any, here: Integers, places: Integers) -> tuple[Integers, Integers]:
    """Pairs of these samples and whoever may be among the nearest of a class."""
    targets = samples.some(here)
    facing = [(piece, others) for piece in targets.pieces for others in samples.pieces]
    found = thread_map(lambda pair: samples.distances(targets, *pair), facing, rows.n_jobs)
    distances = np.empty((here.size, len(samples.sums)))
    for pair, block in zip(facing, found, strict=True):
        distances[pair] = block
    distances[np.arange(here.size), here] = np.inf
    slack = targets.slack[:, None] + samples.slack
    pairs = []
    for k in range(places.shape[1]):
        members = np.flatnonzero(rows.labels.codes == k)
        upper = np.sort((distances + slack)[:, members], axis=1)
        kth = np.take_along_axis(upper, np.maximum(places[:, k, None] - 1, 0), axis=1)
        near = ((distances - slack)[:, members] <= _with_ties(kth)) & (places[:, k, None] > 0)
        first, second = np.nonzero(near)
        pairs.append((here[first], members[second]))
    return np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs])


def _nearest(
    rows: LabelledRows, first: Integers, second: Integers, n_neighbors: int
) -> tuple[Integers, Integers, Floats]:
    """The nearest of the candidates, list after list, with their shares; rounding makes and breaks no ties."""
    from ilfs.kernels.manhattan import share_places

    distances, floor = _distances(rows, first, second), _tie_floor(rows.X.shape[1])
    lists = first * rows.classes.n_classes + rows.labels.codes[second]
    share = np.empty(first.size)
    share_places(distances, lists, n_neighbors, RELATIVE_TOLERANCE, floor, share)
    near = share > 0
    return first[near], second[near], share[near]


def _distances(rows: LabelledRows, first: Integers, second: Integers) -> Floats:
    """Of pairs of samples, in float64."""
    from ilfs.kernels.manhattan import add_distances, add_present_distances

    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    total, count = np.zeros((2, first.size))
    for columns in column_parts(X):
        part = scaled_columns(X, rows, columns)
        lacking = np.isnan(part.sum())

        def add(pairs: slice, part: Floats = part, lacking: bool = lacking) -> None:
            if lacking:
                add_present_distances(part, first[pairs], second[pairs], total[pairs], count[pairs])
            else:
                add_distances(part, first[pairs], second[pairs], total[pairs])
                count[pairs] += part.shape[1]

        list(thread_map(add, blocks(first.size, PAIRS), rows.n_jobs))
    n = X.shape[1]
    return total if (count == n).all() else np.where(count == n, total, _times_features(total, count, n))


def scaled_columns(X: Any, rows: LabelledRows, columns: slice) -> Floats:
    """A dense copy of some columns on the scale where their least value is 0 and their largest 1."""
    cells = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
    part: Floats = np.subtract(cells, rows.low[columns], order="C")
    part *= 1 / (rows.high - rows.low)[columns]
    return part
