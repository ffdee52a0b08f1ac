"""Manhattan distances of blocks of samples and of pairs of samples.

Blocks of samples hold features x samples. So the compiler vectorises over samples, and no sum has to be reordered.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._sizes import PARALLEL_SUMS

UNROLLED_STEPS = 4  # rows, features or pairs per step of a loop; the loops are written out for this number
CACHED_FEATURES = 32  # features of a block of samples that stay in the first-level cache
ADDED_FEATURES = 8  # features whose levels are added in 16 bits; the loop is written out for this number
MAX_LEVEL = (2**16 - 1) // ADDED_FEATURES  # so that the sum of this many levels fits into 16 bits
TRANSPOSED_FEATURES = 64  # features of a block of samples that are transposed at a time
ERROR_PARTS = 1024  # rounding errors of levels are counted in this fraction of a level
INDEX_BITS = 32  # the lower bits of a key hold the index of a sample, the upper ones the bound of its distance


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


@kernel
def round_to_levels(
    X: NDArray[Any], low: Floats, levels_per_unit: Floats, Z: NDArray[Any], sums: Integers, errors: Integers
) -> int:
    """Round the scaled features of some samples to integer levels, and return the number of missing values.

    Z[f, i] is ``(X[i, f] - low[f]) * levels_per_unit[f]``, rounded. Its sum over all features is added to ``sums[i]``.
    An upper bound of the sum of the rounding errors, in levels / `ERROR_PARTS`, is added to ``errors[i]``.
    """
    levels = np.empty((X.shape[0], TRANSPOSED_FEATURES), np.uint16)
    n_missing = 0
    for begin in range(0, X.shape[1], TRANSPOSED_FEATURES):
        width = min(TRANSPOSED_FEATURES, X.shape[1] - begin)
        low_here, factor = low[begin : begin + width], levels_per_unit[begin : begin + width]
        for i in range(X.shape[0]):
            x, here = X[i, begin : begin + width], levels[i]
            total, error = np.int64(0), np.int64(0)
            for f in range(width):
                value = (np.float64(x[f]) - low_here[f]) * factor[f]
                n_missing += value != value
                value = zero_if_missing(value)  # NaN has no level
                level = np.int32(value + 0.5)
                here[f] = level
                # Sums of integers: the compiler vectorises a sum only if the order of its terms does not matter.
                total += level
                error += np.int32(abs(value - level) * ERROR_PARTS) + 1
            sums[i] += total
            errors[i] += error
        for f in range(width):
            for i in range(X.shape[0]):
                Z[begin + f, i] = levels[i, f]
    return n_missing


@formula
def larger_of_four(a: tuple[Any, ...], B: NDArray[Any], f: int, j: int) -> float:
    """Return the sum of the maxima of four levels and those of four adjacent features of sample j."""
    return four_larger(a, B[f, j], B[f + 1, j], B[f + 2, j], B[f + 3, j])


@kernel
def level_distances(
    A: NDArray[Any], B: NDArray[Any], sums: Integers, other_sums: Integers, distances: NDArray[Any]
) -> None:
    """Compute distances[i, j], the sum of |A[f, i] - B[f, j]| over the features f, without rounding.

    The number of features is a multiple of `ADDED_FEATURES`. As in `sums_of_larger`, sums of maxima give the distances.
    The maxima of a few features are added in 16 bits: a vector register holds twice as many of them as of float32.
    """
    n_rows, width = distances.shape
    added = np.empty(width, np.uint16)
    distances[:] = 0
    for f in range(0, A.shape[0], ADDED_FEATURES):
        for i in range(n_rows):
            near, far, total = four_features(A, f, i), four_features(A, f + 4, i), distances[i]
            for j in range(width):
                added[j] = larger_of_four(near, B, f, j) + larger_of_four(far, B, f + 4, j)
            # A loop of its own: together with 32-bit sums, the compiler would add the maxima in 32 bits, too.
            for j in range(width):
                total[j] += added[j]
    for i in range(n_rows):
        for j in range(width):
            distances[i, j] = 2 * distances[i, j] - sums[i] - other_sums[j]


@formula
def key_of(bound: int, j: int) -> Any:
    """Return a number that orders samples by bound, and by index if the bounds are equal."""
    return (np.int64(bound) << INDEX_BITS) + j


@formula
def insert(keys: Integers, key: int) -> None:
    """Insert a key into a sorted list and drop the last one, in place, if it is smaller than the last one."""
    # One pass of insertion sort: the lists are short, and most candidates belong near the end.
    a = keys.size - 1
    if key < keys[a]:
        while a > 0 and key < keys[a - 1]:
            keys[a] = keys[a - 1]
            a -= 1
        keys[a] = key


@formula
def difference(x: float, y: float) -> float:
    """Return |x - y| in float64, also for float32 values."""
    return abs(np.float64(x) - np.float64(y))


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
def keep_nearest_in_rows(
    distances: NDArray[Any],
    row_slack: Integers,
    slack: Integers,
    names: Integers,
    codes: Integers,
    first: int,
    other: int,
    keys: Integers,
) -> None:
    """Update the nearest samples of each class in the lists of the rows of a block of distances.

    distances[a, b] is that of row ``first + a`` and sample ``other + b``. Every row has one list for each class.
    ``names[row]`` is the index of the sample in a row; a sample is not its own neighbour. The bound of a pair is its
    distance minus the slack of both samples, so it never exceeds the true distance. The lists do not depend on the
    order of updates.
    """
    last, width = keys.shape[2] - 1, distances.shape[1]
    found = np.empty(width + 1, np.int64)
    for a in range(distances.shape[0]):
        row = first + a
        # No list takes a larger bound. Most pairs are sorted out by a loop without branches.
        limit = (keys[row, :, last].max() >> INDEX_BITS) + row_slack[row]
        n_found = 0
        for b in range(width):
            found[n_found] = b
            n_found += distances[a, b] - slack[other + b] <= limit
        for b in found[:n_found]:
            j = other + b
            if names[row] != j:
                insert(keys[row, codes[j]], key_of(distances[a, b] - row_slack[row] - slack[j], j))


@kernel
def keep_nearest_in_columns(
    distances: NDArray[Any],
    row_slack: Integers,
    slack: Integers,
    codes: Integers,
    first: int,
    other: int,
    keys: Integers,
) -> None:
    """Update the nearest samples of each class in the lists of the columns of a block of distances.

    distances[a, b] is that of samples ``first + a`` and ``other + b``, which are different.
    """
    last, width = keys.shape[2] - 1, distances.shape[1]
    found = np.empty(width + 1, np.int64)
    # The largest bounds that the lists of the columns take, with the slack of the column.
    limits = np.empty((keys.shape[1], width), np.int64)
    for k in range(keys.shape[1]):
        for b in range(width):
            limits[k, b] = (keys[other + b, k, last] >> INDEX_BITS) + slack[other + b]
    for a in range(distances.shape[0]):
        i = first + a
        limit = limits[codes[i]]
        n_found = 0
        for b in range(width):
            found[n_found] = b
            n_found += distances[a, b] - row_slack[i] <= limit[b]
        for b in found[:n_found]:
            here = keys[other + b, codes[i]]
            insert(here, key_of(distances[a, b] - row_slack[i] - slack[other + b], i))
            limit[b] = (here[last] >> INDEX_BITS) + slack[other + b]


@kernel
def add_distances(
    X: NDArray[Any], column: int, scale: Floats, first: Integers, second: Integers, distances: Floats
) -> None:
    """Add the contribution of some columns, from ``column`` on, to the Manhattan distance of every pair of rows.

    ``scale`` has one factor for each of these columns.
    """
    lanes = np.empty(PARALLEL_SUMS)
    width = scale.size
    whole = width - width % PARALLEL_SUMS
    for p in range(first.size):
        x, y = X[first[p], column : column + width], X[second[p], column : column + width]
        lanes[:] = 0.0
        for f in range(0, whole, PARALLEL_SUMS):
            for lane in range(PARALLEL_SUMS):
                lanes[lane] += difference(x[f + lane], y[f + lane]) * scale[f + lane]
        for f in range(whole, width):
            lanes[f - whole] += difference(x[f], y[f]) * scale[f]
        distances[p] += lanes.sum()


@kernel
def add_present_distances(
    X: NDArray[Any], column: int, scale: Floats, first: Integers, second: Integers, distances: Floats, counts: Floats
) -> None:
    """Add the contribution of columns with missing values, and count the columns present in both rows."""
    for p in range(first.size):
        x, y = X[first[p], column : column + scale.size], X[second[p], column : column + scale.size]
        for f in range(scale.size):
            d = difference(x[f], y[f])
            distances[p] += zero_if_missing(d) * scale[f]
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
def sum_differences(X: Floats, first: Integers, second: Integers, weights: Floats, total: Floats) -> None:
    """Add the weighted sum of |x - y| over pairs of rows to the total of every column.

    The number of pairs is a multiple of four.
    """
    for p in range(0, first.size, UNROLLED_STEPS):
        x0, x1, x2, x3 = X[first[p]], X[first[p + 1]], X[first[p + 2]], X[first[p + 3]]
        y0, y1, y2, y3 = X[second[p]], X[second[p + 1]], X[second[p + 2]], X[second[p + 3]]
        w0, w1, w2, w3 = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        for f in range(total.size):
            near = w0 * abs(x0[f] - y0[f]) + w1 * abs(x1[f] - y1[f])
            total[f] += near + (w2 * abs(x2[f] - y2[f]) + w3 * abs(x3[f] - y3[f]))


@kernel
def sum_present_differences(
    X: Floats, first: Integers, second: Integers, weights: Floats, total: Floats, present_weight: Floats
) -> None:
    """Add the weighted sum of |x - y| over pairs without a missing value, and the weight of these pairs."""
    for p in range(first.size):
        x, y, w = X[first[p]], X[second[p]], weights[p]
        for f in range(total.size):
            d = abs(x[f] - y[f])
            total[f] += w * zero_if_missing(d)
            present_weight[f] += w if d == d else 0.0
