"""Euclidean neighbours: candidates from blocks of scalar products, and exact distances of pairs of samples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._sizes import PARALLEL_SUMS
from ilfs.kernels.nearest import comes_before, insert


@kernel
def keep_nearest(
    products: NDArray[Any],
    halves: Floats,
    first: int,
    other: int,
    mirrored: bool,
    bounds: Floats,
    indices: Integers,
) -> None:
    """Update the lists of nearest samples with a block of scalar products.

    products[a, b] is that of samples ``first + a`` and ``other + b``. If ``mirrored``, the samples in the rows are also
    inserted into the lists of those in the columns. The bound of samples i and j, half their squared distance, is
    ``halves[i] + halves[j] - product``. The lists do not depend on the order of updates.
    """
    last = bounds.shape[1] - 1
    for a in range(products.shape[0]):
        i = first + a
        for b in range(products.shape[1]):
            j = other + b
            bound = halves[i] + halves[j] - products[a, b]
            if i != j and comes_before(bound, j, bounds[i, last], indices[i, last]):
                insert(bounds[i], indices[i], bound, j)
            if mirrored and comes_before(bound, i, bounds[j, last], indices[j, last]):
                insert(bounds[j], indices[j], bound, i)


@kernel
def total_distance(products: NDArray[Any], halves: Floats, counts: Floats, first: int, other: int) -> float:
    """Sum the distances of a block of pairs, where ``halves[i] + halves[j] - product`` is half a squared distance.

    ``counts`` has the number of copies of each sample; a pair is counted once for each pair of copies.
    """
    # If h is half a squared distance, the distance is sqrt(2) sqrt(h). One sum per column allows vectorisation.
    width = products.shape[1]
    sums = np.zeros(width)
    for a in range(products.shape[0]):
        half, count = halves[first + a], counts[first + a]
        itself = first + a - other  # column of the sample itself, left out: its distance is 0 but may not round to 0
        for low, high in ((0, min(max(itself, 0), width)), (max(itself + 1, 0), width)):
            for b in range(low, high):
                sums[b] += count * np.sqrt(max(half + halves[other + b] - products[a, b], 0.0))
    return float(np.sqrt(2.0) * (sums * counts[other : other + width]).sum())


@kernel
def sparse_products(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    column_data: NDArray[Any],
    column_indices: NDArray[Any],
    column_indptr: NDArray[Any],
    rows: Integers,
    products: Floats,
) -> None:
    """Compute the scalar products of some rows of a sparse matrix with all its rows.

    The matrix is given twice, by compressed rows and by compressed columns, so only values that both rows store are
    visited.
    """
    products[:] = 0.0
    for a in range(rows.size):
        for c in range(indptr[rows[a]], indptr[rows[a] + 1]):
            value, f = data[c], indices[c]
            for e in range(column_indptr[f], column_indptr[f + 1]):
                products[a, column_indices[e]] += value * column_data[e]


@kernel
def add_squared_distances(
    X: NDArray[Any], column: int, width: int, first: Integers, second: Integers, squared: Floats
) -> None:
    """Add the contribution of ``width`` columns from ``column`` on to the squared distance of every pair of rows."""
    lanes = np.empty(PARALLEL_SUMS)
    whole = width - width % PARALLEL_SUMS
    for p in range(first.size):
        x, y = X[first[p], column : column + width], X[second[p], column : column + width]
        lanes[:] = 0.0
        for f in range(0, whole, PARALLEL_SUMS):
            for lane in range(PARALLEL_SUMS):
                d = np.float64(x[f + lane]) - np.float64(y[f + lane])
                lanes[lane] += d * d
        for f in range(whole, width):
            d = np.float64(x[f]) - np.float64(y[f])
            lanes[f - whole] += d * d
        squared[p] += lanes.sum()


@formula
def lane_product(x: Floats, y: Floats, lanes: Floats) -> float:
    """Compute a scalar product in a fixed order of additions, as `PARALLEL_SUMS` partial sums in ``lanes``."""
    lanes[:] = 0.0
    whole = x.size - x.size % PARALLEL_SUMS
    for f in range(0, whole, PARALLEL_SUMS):
        for lane in range(PARALLEL_SUMS):
            lanes[lane] += x[f + lane] * y[f + lane]
    for f in range(whole, x.size):
        lanes[f - whole] += x[f] * y[f]
    return float(lanes.sum())


@kernel
def share_places(
    indptr: Integers, squared: Floats, copies: Floats, n_places: int, relative: float, floor: float, places: Floats
) -> None:
    """Distribute ``n_places`` places over the candidates of each list.

    List i is indptr[i]:indptr[i + 1], nearest first. A candidate stands for ``copies`` equal samples. Candidates at the
    distance of the last place are tied: they divide the places that nearer ones leave, in proportion to their copies.
    Squared distances tie if they differ by at most a relative tolerance or a floor.
    """
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
        # The candidate in the last place is the first one up to which the copies fill all places.
        last, filled = start, copies[start]
        while filled < n_places and last + 1 < stop:
            last += 1
            filled += copies[last]
        tolerance = max(relative * squared[last], floor)
        nearer, tied = 0.0, 0.0
        for e in range(start, stop):
            if squared[e] < squared[last] - tolerance:
                nearer += copies[e]
            elif squared[e] <= squared[last] + tolerance:
                tied += copies[e]
        fraction = min((n_places - nearer) / tied, 1.0)
        for e in range(start, stop):
            if squared[e] < squared[last] - tolerance:
                places[e] = copies[e]
            else:
                places[e] = fraction * copies[e] if squared[e] <= squared[last] + tolerance else 0.0


@kernel
def fill_difference_grams(X: Floats, samples: Integers, neighbours: Integers, grams: Floats) -> None:
    """Compute, for each of the samples i, the scalar products of the differences x_j - x_i to its neighbours j."""
    k, n = neighbours.shape[1], X.shape[1]
    differences, lanes = np.empty((k, n)), np.empty(PARALLEL_SUMS)
    for i in range(neighbours.shape[0]):
        own = X[samples[i]]
        for a in range(k):
            x = X[neighbours[i, a]]
            for f in range(n):
                differences[a, f] = x[f] - own[f]
            for b in range(a + 1):
                grams[i, a, b] = lane_product(differences[a], differences[b], lanes)
                grams[i, b, a] = grams[i, a, b]
