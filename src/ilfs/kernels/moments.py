"""Count, mean and centred sum of squares of every column in every class, in one pass.

Each class is summed around a pivot, its own first value: x - pivot is exactly 0 in a column that is
constant within the class, and as no sample of n lies further than sqrt(n - 1) standard deviations from
their mean (Samuelson), the subtraction that centres the squares loses at most a factor n of precision,
however far from zero the data sit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._rows import EIGHT, TILE, eight, eight_slices, eight_weights


@formula
def deviation(x: float, pivot: float) -> float:
    """x - pivot; a missing cell deviates by 0."""
    d = x - pivot
    return d if d == d else 0.0


@formula
def present(x: float, pivot: float, w: float) -> float:
    """The weight of a cell; 0 if it is missing."""
    d = x - pivot
    return w if d == d else 0.0


@formula
def sums_of_four(
    xa: float, xb: float, xc: float, xd: float, p: float, wa: float, wb: float, wc: float, wd: float
) -> tuple[float, float, float]:
    """Weight, weighted deviations and their squares of four cells."""
    da, db, dc, dd = deviation(xa, p), deviation(xb, p), deviation(xc, p), deviation(xd, p)
    ea, eb, ec, ed = wa * da, wb * db, wc * dc, wd * dd
    n = (present(xa, p, wa) + present(xb, p, wb)) + (present(xc, p, wc) + present(xd, p, wd))
    return n, (ea + eb) + (ec + ed), (ea * da + eb * db) + (ec * dc + ed * dd)


@kernel
def dense_moments(
    X: NDArray[Any],
    rows: Integers,
    starts: Integers,
    weight: Floats,
    first: int,
    last: int,
    count: Floats,
    mean: Floats,
    scatter: Floats,
) -> None:
    """Fill count, mean, scatter (classes x columns) from columns first:last of X.

    rows[starts[k]:starts[k + 1]] are the rows of class k, weight[a] is the weight of row rows[a].
    """
    pivot, weighed, total, squares = np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE)
    for low in range(first, last, TILE):
        high = min(low + TILE, last)
        for k in range(starts.size - 1):
            begin, final = starts[k], starts[k + 1] - 1
            if begin > final:
                continue
            pick_pivots(X, rows[begin : final + 1], low, high, pivot)
            weighed[:], total[:], squares[:] = 0.0, 0.0, 0.0
            for a in range(begin, final + 1, EIGHT):
                w = eight_weights(weight, a, final)
                x0, x1, x2, x3, x4, x5, x6, x7 = eight_slices(X, eight(rows, a, final), low, high)
                for j in range(high - low):
                    p = pivot[j]
                    n, t, s = sums_of_four(x0[j], x1[j], x2[j], x3[j], p, w[0], w[1], w[2], w[3])
                    m, u, v = sums_of_four(x4[j], x5[j], x6[j], x7[j], p, w[4], w[5], w[6], w[7])
                    weighed[j] += n + m
                    total[j] += t + u
                    squares[j] += s + v
            for j in range(high - low):
                centre(k, low - first + j, weighed[j], pivot[j], total[j], squares[j], count, mean, scatter)


@kernel
def pick_pivots(X: NDArray[Any], rows: Integers, low: int, high: int, pivot: Floats) -> None:
    """The first cell that is not missing, of every column low:high, among the rows."""
    for j in range(high - low):
        a = 0
        pivot[j] = X[rows[0], low + j]
        while np.isnan(pivot[j]) and a + 1 < rows.size:
            a += 1
            pivot[j] = X[rows[a], low + j]


@kernel
def centre(
    k: int, f: int, n: float, pivot: float, total: float, squares: float, count: Floats, mean: Floats, scatter: Floats
) -> None:
    """Turn the sums around a pivot into count, mean and centred sum of squares."""
    count[k, f] = n
    if n > 0.0:
        shift = total / n
        remainder = squares - total * shift
        mean[k, f] = pivot + shift
        # not max(): NaN has to come through, it is how infinity in the data is noticed
        scatter[k, f] = 0.0 if remainder < 0.0 else remainder
    else:  # every cell is missing, or infinite: an infinite pivot makes every deviation NaN
        mean[k, f] = 0.0 if np.isnan(pivot) else pivot
        scatter[k, f] = 0.0


@kernel
def sparse_moments(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: Integers,
    weight: Floats,
    class_rows: Integers,
    class_total: Floats,
    count: Floats,
    mean: Floats,
    scatter: Floats,
) -> None:
    """The same from the stored cells of sparse columns; the cells not stored are zeros.

    codes[i] is the class of row i (-1: the row takes no part); class_rows and class_total are the number of
    rows of each class and the sum of their weights.
    """
    shape = class_rows.size
    stored, pivot, weighed = np.empty(shape, np.int64), np.empty(shape), np.empty(shape)
    unstored, total, squares = np.empty(shape), np.empty(shape), np.empty(shape)
    for f in range(indptr.size - 1):
        stored[:], pivot[:], weighed[:], total[:], squares[:] = 0, np.nan, 0.0, 0.0, 0.0
        unstored[:] = class_total
        for a in range(indptr[f], indptr[f + 1]):
            k, x, w = codes[indices[a]], float(data[a]), weight[indices[a]]
            if k < 0:
                continue
            stored[k] += 1
            unstored[k] -= w
            if np.isnan(pivot[k]):
                pivot[k] = x
            d = deviation(x, pivot[k])
            total[k] += w * d
            squares[k] += w * d * d
            weighed[k] += present(x, pivot[k], w)
        for k in range(shape):
            centre(k, f, weighed[k], pivot[k], total[k], squares[k], count, mean, scatter)
            # asked in rows, not in weights, so that rounding leaves no remainder in a full column
            if stored[k] < class_rows[k] and unstored[k] > 0.0:
                add_zeros(k, f, unstored[k], count, mean, scatter)


@kernel
def add_zeros(k: int, f: int, n: float, count: Floats, mean: Floats, scatter: Floats) -> None:
    """Add n cells of value 0 to the moments of class k, column f."""
    both = count[k, f] + n
    share = n / both
    scatter[k, f] += mean[k, f] * mean[k, f] * count[k, f] * share
    mean[k, f] -= mean[k, f] * share
    count[k, f] = both
