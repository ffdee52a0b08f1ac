"""Sums of absolute differences, of blocks of samples and of pairs.

Blocks hold features x samples, so that vectors run over samples and no sum has to be reordered.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.nearest import comes_before, insert

FOUR = 4  # rows and features taken at once; the loops are written out for this number
CACHED_FEATURES = 32  # features of a block of samples that stay in the first-level cache
PARALLEL_SUMS = 32  # of one pair: a single sum could not use vectors without changing the order of additions


@formula
def larger(a: float, b: float) -> float:
    """Larger of two numbers; written so that it becomes one machine instruction."""
    return a if a > b else b


@formula
def four_larger(a: tuple[Any, ...], b0: float, b1: float, b2: float, b3: float) -> float:
    """Sum of the larger ones of four pairs."""
    return (larger(a[0], b0) + larger(a[1], b1)) + (larger(a[2], b2) + larger(a[3], b3))


@formula
def four_features(A: NDArray[Any], f: int, i: int) -> tuple[Any, ...]:
    """Four features of one sample."""
    return A[f, i], A[f + 1, i], A[f + 2, i], A[f + 3, i]


@kernel
def sums_of_larger(A: NDArray[Any], B: NDArray[Any], sums: NDArray[Any]) -> None:
    """Fill sums[i, j] of max(A[f, i], B[f, j]) over f; features and samples of A come in fours.

    |a - b| = 2 max(a, b) - a - b, so this and the sums of each sample give all distances, with two operations a pair
    and feature instead of three.
    """
    sums[:] = 0
    for begin in range(0, A.shape[0], CACHED_FEATURES):
        end = min(begin + CACHED_FEATURES, A.shape[0])
        for i in range(0, A.shape[1], FOUR):
            s0, s1, s2, s3 = sums[i], sums[i + 1], sums[i + 2], sums[i + 3]
            for f in range(begin, end, FOUR):
                a0, a1 = four_features(A, f, i), four_features(A, f, i + 1)
                a2, a3 = four_features(A, f, i + 2), four_features(A, f, i + 3)
                for j in range(B.shape[1]):
                    b0, b1, b2, b3 = B[f, j], B[f + 1, j], B[f + 2, j], B[f + 3, j]
                    s0[j] += four_larger(a0, b0, b1, b2, b3)
                    s1[j] += four_larger(a1, b0, b1, b2, b3)
                    s2[j] += four_larger(a2, b0, b1, b2, b3)
                    s3[j] += four_larger(a3, b0, b1, b2, b3)


@formula
def known(d: float) -> float:
    """Difference of two values, 0 if one of them is missing."""
    return d if d == d else 0.0


@kernel
def present_differences(A: NDArray[Any], B: NDArray[Any], sums: NDArray[Any], counts: NDArray[Any]) -> None:
    """Fill sums[i, j] of |A[f, i] - B[f, j]| over the features that neither lacks, and counts[i, j] of those."""
    sums[:], counts[:] = 0, 0
    for begin in range(0, A.shape[0], CACHED_FEATURES):
        end = min(begin + CACHED_FEATURES, A.shape[0])
        for i in range(A.shape[1]):
            total, count = sums[i], counts[i]
            for f in range(begin, end, FOUR):
                a = four_features(A, f, i)
                for j in range(B.shape[1]):
                    d0, d1 = abs(a[0] - B[f, j]), abs(a[1] - B[f + 1, j])
                    d2, d3 = abs(a[2] - B[f + 2, j]), abs(a[3] - B[f + 3, j])
                    total[j] += (known(d0) + known(d1)) + (known(d2) + known(d3))
                    count[j] += ((d0 == d0) + (d1 == d1)) + ((d2 == d2) + (d3 == d3))


@kernel
def sparse_overlaps(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    column_data: NDArray[Any],
    column_indices: NDArray[Any],
    column_indptr: NDArray[Any],
    overlaps: Floats,
) -> None:
    """Fill overlaps (some rows x all rows) of sparse values: the sum of the smaller ones where the signs agree.

    |a - b| = |a| + |b| - 2 min(|a|, |b|) if the signs agree, |a| + |b| otherwise.
    """
    overlaps[:] = 0.0
    for i in range(indptr.size - 1):
        for c in range(indptr[i], indptr[i + 1]):
            value, f = data[c], indices[c]
            for e in range(column_indptr[f], column_indptr[f + 1]):
                other = column_data[e]
                if (value > 0.0) == (other > 0.0):
                    overlaps[i, column_indices[e]] += min(abs(value), abs(other))


@kernel
def keep_nearest_of_classes(
    distances: NDArray[Any],
    row_slack: Floats,
    slack: Floats,
    names: Integers,
    codes: Integers,
    first: int,
    other: int,
    mirrored: bool,
    bounds: NDArray[Any],
    kept: NDArray[Any],
) -> None:
    """Update the lists of nearest samples by a block of distances: rows from first on, samples from other on.

    Every row has one list for each class. ``names[row]`` is the sample in a row; a sample is not its own neighbour. If
    mirrored, the samples of the columns get the rows into their lists as well. The bound of a pair is its distance
    minus the slack of both, so never above the true distance. The lists do not depend on the order of updates.
    """
    last = bounds.shape[2] - 1
    for a in range(distances.shape[0]):
        row = first + a
        i = names[row]
        for b in range(distances.shape[1]):
            j = other + b
            bound = float(np.float32(distances[a, b] - row_slack[row] - slack[j]))
            k = codes[j]
            if i != j and comes_before(bound, j, bounds[row, k, last], kept[row, k, last]):
                insert(bounds[row, k], kept[row, k], bound, j)
            if mirrored and comes_before(bound, i, bounds[j, codes[i], last], kept[j, codes[i], last]):
                insert(bounds[j, codes[i]], kept[j, codes[i]], bound, i)


@kernel
def add_distances(part: Floats, first: Integers, second: Integers, distances: Floats) -> None:
    """Add to the distance of every pair of rows what some columns contribute."""
    lanes = np.empty(PARALLEL_SUMS)
    whole = part.shape[1] - part.shape[1] % PARALLEL_SUMS
    for p in range(first.size):
        x, y = part[first[p]], part[second[p]]
        lanes[:] = 0.0
        for f in range(0, whole, PARALLEL_SUMS):
            for lane in range(PARALLEL_SUMS):
                lanes[lane] += abs(x[f + lane] - y[f + lane])
        for f in range(whole, part.shape[1]):
            lanes[f - whole] += abs(x[f] - y[f])
        distances[p] += lanes.sum()


@kernel
def add_present_distances(part: Floats, first: Integers, second: Integers, distances: Floats, counts: Floats) -> None:
    """Add the same where values may be missing, and count the columns where neither row has a missing value."""
    for p in range(first.size):
        x, y = part[first[p]], part[second[p]]
        for f in range(part.shape[1]):
            d = abs(x[f] - y[f])
            distances[p] += known(d)
            counts[p] += d == d


@kernel
def share_places(
    distances: Floats, lists: Integers, n_places: int, relative: float, floor: float, shares: Floats
) -> None:
    """Fill the weights of the nearest in every run of equal ``lists``; ties for the last places divide them evenly.

    Distances are equal if they differ by no more than a relative tolerance or a floor.
    """
    start = 0
    while start < lists.size:
        stop = start + 1
        while stop < lists.size and lists[stop] == lists[start]:
            stop += 1
        here = distances[start:stop]
        places = min(n_places, here.size)
        last = np.sort(here)[places - 1]
        tolerance = max(relative * last, floor)
        low, high = last - tolerance, last + tolerance
        nearer = (here < low).sum()
        tied = (here <= high).sum() - nearer
        for p in range(start, stop):
            if distances[p] < low:
                shares[p] = 1.0 / places
            else:
                shares[p] = (places - nearer) / (tied * places) if distances[p] <= high else 0.0
        start = stop


@kernel
def sum_differences(part: Floats, first: Integers, second: Integers, weights: Floats, total: Floats) -> None:
    """Add the weighted sum of |x - y| over pairs of rows, for every column; pairs come in fours."""
    for p in range(0, first.size, FOUR):
        x0, x1, x2, x3 = part[first[p]], part[first[p + 1]], part[first[p + 2]], part[first[p + 3]]
        y0, y1, y2, y3 = part[second[p]], part[second[p + 1]], part[second[p + 2]], part[second[p + 3]]
        w0, w1, w2, w3 = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        for f in range(part.shape[1]):
            near = w0 * abs(x0[f] - y0[f]) + w1 * abs(x1[f] - y1[f])
            total[f] += near + (w2 * abs(x2[f] - y2[f]) + w3 * abs(x3[f] - y3[f]))


@kernel
def sum_present_differences(
    part: Floats, first: Integers, second: Integers, weights: Floats, total: Floats, weighed: Floats
) -> None:
    """Add the same where values may be missing, and the weight of the pairs without a missing value."""
    for p in range(first.size):
        x, y, w = part[first[p]], part[second[p]], weights[p]
        for f in range(part.shape[1]):
            d = abs(x[f] - y[f])
            total[f] += w * known(d)
            weighed[f] += w if d == d else 0.0
