"""Manhattan distances of blocks of samples and of pairs of samples.

Blocks of samples hold features x samples. So the compiler vectorises over samples, and no sum has to be reordered.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._sizes import PARALLEL_SUMS
from ilfs.kernels.nearest import comes_before, insert

UNROLLED_STEPS = 4  # rows, features or pairs per step of a loop; the loops are written out for this number
CACHED_FEATURES = 32  # features of a block of samples that stay in the first-level cache


@formula
def larger(a: float, b: float) -> float:
    """Return the larger of two numbers, in a form that compiles to one machine instruction."""
    return a if a > b else b


@formula
def four_larger(a: tuple[Any, ...], b0: float, b1: float, b2: float, b3: float) -> float:
    """Return the sum of the maxima of four pairs of numbers."""
    return (larger(a[0], b0) + larger(a[1], b1)) + (larger(a[2], b2) + larger(a[3], b3))


@formula
def four_features(A: NDArray[Any], f: int, i: int) -> tuple[Any, ...]:
    """Return four adjacent features of one sample."""
    return A[f, i], A[f + 1, i], A[f + 2, i], A[f + 3, i]


@kernel
def sums_of_larger(A: NDArray[Any], B: NDArray[Any], sums: NDArray[Any]) -> None:
    """Compute sums[i, j], the sum of max(A[f, i], B[f, j]) over the features f.

    The numbers of features and of samples in A are multiples of four. Because |a - b| = 2 max(a, b) - a - b, these sums
    and the sum of each sample give all distances. A maximum and an addition are two operations per pair of values; a
    difference, an absolute value and an addition would be three.
    """
    sums[:] = 0
    for begin in range(0, A.shape[0], CACHED_FEATURES):
        end = min(begin + CACHED_FEATURES, A.shape[0])
        for i in range(0, A.shape[1], UNROLLED_STEPS):
            # Four rows and four features at a time: a value of B is loaded once for four rows, a sum for four features.
            s0, s1, s2, s3 = sums[i], sums[i + 1], sums[i + 2], sums[i + 3]
            for f in range(begin, end, UNROLLED_STEPS):
                a0, a1 = four_features(A, f, i), four_features(A, f, i + 1)
                a2, a3 = four_features(A, f, i + 2), four_features(A, f, i + 3)
                for j in range(B.shape[1]):
                    b0, b1, b2, b3 = B[f, j], B[f + 1, j], B[f + 2, j], B[f + 3, j]
                    s0[j] += four_larger(a0, b0, b1, b2, b3)
                    s1[j] += four_larger(a1, b0, b1, b2, b3)
                    s2[j] += four_larger(a2, b0, b1, b2, b3)
                    s3[j] += four_larger(a3, b0, b1, b2, b3)


@formula
def zero_if_missing(d: float) -> float:
    """Return the difference d of two values, or 0 if d is NaN because one of them is missing."""
    return d if d == d else 0.0


@kernel
def present_differences(A: NDArray[Any], B: NDArray[Any], sums: NDArray[Any], counts: NDArray[Any]) -> None:
    """Sum |A[f, i] - B[f, j]| over the features f present in both samples, and count these features."""
    sums[:], counts[:] = 0, 0
    for begin in range(0, A.shape[0], CACHED_FEATURES):
        end = min(begin + CACHED_FEATURES, A.shape[0])
        for i in range(A.shape[1]):
            total, count = sums[i], counts[i]
            for f in range(begin, end, UNROLLED_STEPS):
                a = four_features(A, f, i)
                for j in range(B.shape[1]):
                    d0, d1 = abs(a[0] - B[f, j]), abs(a[1] - B[f + 1, j])
                    d2, d3 = abs(a[2] - B[f + 2, j]), abs(a[3] - B[f + 3, j])
                    total[j] += (zero_if_missing(d0) + zero_if_missing(d1)) + (
                        zero_if_missing(d2) + zero_if_missing(d3)
                    )
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
    """Compute the overlaps of some sparse samples with others: sums of min(|a|, |b|) over values of the same sign.

    |a - b| = |a| + |b| - 2 min(|a|, |b|) if a and b have the same sign, |a| + |b| otherwise. The first samples are
    compressed by row and the others by column, so only features that both samples store are visited.
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
    """Update the nearest samples of each class with a block of distances.

    distances[a, b] is that of row ``first + a`` and sample ``other + b``. Every row has one list for each class.
    ``names[row]`` is the index of the sample in a row; a sample is not its own neighbour. If ``mirrored``, the rows are
    also inserted into the lists of the samples in the columns. The bound of a pair is its distance minus the slack of
    both samples, so it never exceeds the true distance. The lists do not depend on the order of updates.
    """
    last = bounds.shape[2] - 1
    for a in range(distances.shape[0]):
        row = first + a
        i = names[row]
        for b in range(distances.shape[1]):
            j = other + b
            # Rounded as in the lists, so that comparisons with stored bounds do not depend on the order of updates.
            bound = float(np.float32(distances[a, b] - row_slack[row] - slack[j]))
            k = codes[j]
            if i != j and comes_before(bound, j, bounds[row, k, last], kept[row, k, last]):
                insert(bounds[row, k], kept[row, k], bound, j)
            if mirrored and comes_before(bound, i, bounds[j, codes[i], last], kept[j, codes[i], last]):
                insert(bounds[j, codes[i]], kept[j, codes[i]], bound, i)


@kernel
def add_distances(block: Floats, first: Integers, second: Integers, distances: Floats) -> None:
    """Add the contribution of a block of columns to the Manhattan distance of every pair of rows."""
    lanes = np.empty(PARALLEL_SUMS)
    whole = block.shape[1] - block.shape[1] % PARALLEL_SUMS
    for p in range(first.size):
        x, y = block[first[p]], block[second[p]]
        lanes[:] = 0.0
        for f in range(0, whole, PARALLEL_SUMS):
            for lane in range(PARALLEL_SUMS):
                lanes[lane] += abs(x[f + lane] - y[f + lane])
        for f in range(whole, block.shape[1]):
            lanes[f - whole] += abs(x[f] - y[f])
        distances[p] += lanes.sum()


@kernel
def add_present_distances(block: Floats, first: Integers, second: Integers, distances: Floats, counts: Floats) -> None:
    """Add the contribution of a block of columns with missing values, and count the columns present in both rows."""
    for p in range(first.size):
        x, y = block[first[p]], block[second[p]]
        for f in range(block.shape[1]):
            d = abs(x[f] - y[f])
            distances[p] += zero_if_missing(d)
            counts[p] += d == d


@kernel
def weight_neighbours(
    distances: Floats, lists: Integers, n_places: int, relative: float, floor: float, weights: Floats
) -> None:
    """Compute the weights of the ``n_places`` nearest candidates of each list; the weights of a list sum to 1.

    A list is a run of equal numbers in ``lists``. Candidates at the distance of the last place are tied: they divide
    evenly the places that nearer ones leave. Distances tie if they differ by at most a relative tolerance or a floor.
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
                weights[p] = 1.0 / places
            else:
                weights[p] = (places - nearer) / (tied * places) if distances[p] <= high else 0.0
        start = stop


@kernel
def sum_differences(block: Floats, first: Integers, second: Integers, weights: Floats, total: Floats) -> None:
    """Add the weighted sum of |x - y| over pairs of rows to the total of every column.

    The number of pairs is a multiple of four.
    """
    for p in range(0, first.size, UNROLLED_STEPS):
        x0, x1, x2, x3 = block[first[p]], block[first[p + 1]], block[first[p + 2]], block[first[p + 3]]
        y0, y1, y2, y3 = block[second[p]], block[second[p + 1]], block[second[p + 2]], block[second[p + 3]]
        w0, w1, w2, w3 = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        for f in range(block.shape[1]):
            near = w0 * abs(x0[f] - y0[f]) + w1 * abs(x1[f] - y1[f])
            total[f] += near + (w2 * abs(x2[f] - y2[f]) + w3 * abs(x3[f] - y3[f]))


@kernel
def sum_present_differences(
    block: Floats, first: Integers, second: Integers, weights: Floats, total: Floats, present_weight: Floats
) -> None:
    """Add the weighted sum of |x - y| over pairs without a missing value, and the weight of these pairs."""
    for p in range(first.size):
        x, y, w = block[first[p]], block[second[p]], weights[p]
        for f in range(block.shape[1]):
            d = abs(x[f] - y[f])
            total[f] += w * zero_if_missing(d)
            present_weight[f] += w if d == d else 0.0
