"""Nearest candidates from blocks of products, and exact distances of few pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.nearest import comes_before, insert

PARALLEL_SUMS = 32  # of one pair: a single sum could not use vectors without changing the order of additions


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
    """Update the lists of nearest samples by a block of products: rows from first on, columns from other on.

    If mirrored, the samples of the columns get the rows into their lists as well. The bound of a pair, half its squared
    distance, is ``halves[i] + halves[j] - products``. The lists do not depend on the order of updates.
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
    """Sum of the distances of a block of pairs, half the squares being ``halves[i] + halves[j] - products``.

    A pair counts as often as there are copies of its samples.
    """
    width = products.shape[1]
    sums = np.zeros(width)
    for a in range(products.shape[0]):
        half, count = halves[first + a], counts[first + a]
        itself = first + a - other  # left out: its distance is 0, whatever the products round to
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
    """Fill products (some rows x all rows) of a matrix that is given by compressed rows and by compressed columns."""
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
    """Add to the squared distance of every pair of rows what some columns, from this one on, contribute."""
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
def lane_product(x: Floats, y: Floats) -> float:
    """Scalar product in a fixed order of additions."""
    lanes = np.zeros(PARALLEL_SUMS)
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
    """Fill how many of the n places each candidate gets: list i is indptr[i]:indptr[i + 1], nearest first.

    A candidate counts as ``copies`` equal samples. Those at the distance of the last place divide the places that
    nearer ones leave. Squared distances are equal if they differ by no more than a relative tolerance or a floor.
    """
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
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
    """Fill the scalar products of the differences x_j - x_i, j the neighbours of i, for these samples i."""
    k, n = neighbours.shape[1], X.shape[1]
    differences = np.empty((k, n))
    for i in range(neighbours.shape[0]):
        own = X[samples[i]]
        for a in range(k):
            x = X[neighbours[i, a]]
            for f in range(n):
                differences[a, f] = x[f] - own[f]
            for b in range(a + 1):
                grams[i, a, b] = lane_product(differences[a], differences[b])
                grams[i, b, a] = grams[i, a, b]
