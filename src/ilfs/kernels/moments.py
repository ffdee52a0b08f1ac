"""Count, mean and centred sum of squares of every column in every class, in one pass.

The sums of a class are sums of deviations from a pivot, its own first value. If a column is constant within the class,
all deviations are exactly 0. Otherwise the pivot is at most sqrt(n - 1) standard deviations from the mean of the n
values (Samuelson's inequality). So centring the squares afterwards loses at most a factor n of precision, however far
the values are from 0.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._sizes import STREAMED_COLUMNS

ROWS_PER_SUM = 8  # rows that share one load and one store of the sums; the loops are written out for this number


@formula
def sums_of_four(
    xa: float, xb: float, xc: float, xd: float, pivot: float, wa: float, wb: float, wc: float, wd: float
) -> tuple[float, float, float]:
    """Sum the weights, weighted deviations from the pivot and weighted squares of four values; missing ones add 0."""
    da, db, dc, dd = xa - pivot, xb - pivot, xc - pivot, xd - pivot
    # NaN differs from itself. Set its deviation to 0 as well as its weight, because 0 times NaN is NaN.
    if da != da:
        da = wa = 0.0
    if db != db:
        db = wb = 0.0
    if dc != dc:
        dc = wc = 0.0
    if dd != dd:
        dd = wd = 0.0
    ea, eb, ec, ed = wa * da, wb * db, wc * dc, wd * dd
    # Pairs of pairs: the additions do not wait for each other, and rounding errors grow more slowly than in a chain.
    return (wa + wb) + (wc + wd), (ea + eb) + (ec + ed), (ea * da + eb * db) + (ec * dc + ed * dd)


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
    """Compute count, mean and scatter (each classes x columns) of columns first:last of X.

    The scatter is the centred sum of squares. rows[starts[k]:starts[k + 1]] are the rows of class k, and weight[a] is
    the weight of row rows[a].
    """
    pivot, sums = np.empty(STREAMED_COLUMNS), np.empty((3, STREAMED_COLUMNS))
    i, w = np.empty(ROWS_PER_SUM, np.int64), np.empty(ROWS_PER_SUM)
    for low in range(first, last, STREAMED_COLUMNS):
        high = min(low + STREAMED_COLUMNS, last)
        for k in range(starts.size - 1):
            begin, end = starts[k], starts[k + 1]
            if begin == end:
                continue
            pick_pivots(X, rows, begin, end, low, high, pivot)
            sums[:] = 0.0
            for a in range(begin, end, ROWS_PER_SUM):
                for b in range(ROWS_PER_SUM):
                    # If fewer than eight rows of the class are left, its last row fills the gap with weight 0.
                    i[b] = rows[min(a + b, end - 1)]
                    w[b] = weight[a + b] if a + b < end else 0.0
                add_rows(X, i, w, low, high, pivot, sums)
            for j in range(high - low):
                f = low - first + j
                centre(k, f, sums[0, j], pivot[j], sums[1, j], sums[2, j], count, mean, scatter)


@formula
def add_rows(
    X: NDArray[Any],
    i: Integers | tuple[int, ...],
    w: Floats | tuple[float, ...],
    low: int,
    high: int,
    pivot: Floats,
    sums: Floats,
) -> None:
    """Add eight rows to the weights, the weighted deviations and their squares of columns low:high."""
    # Slices instead of offsets: the compiler vectorises only loops that read all arrays from index 0.
    x0, x1, x2, x3 = X[i[0], low:high], X[i[1], low:high], X[i[2], low:high], X[i[3], low:high]
    x4, x5, x6, x7 = X[i[4], low:high], X[i[5], low:high], X[i[6], low:high], X[i[7], low:high]
    w0, w1, w2, w3, w4, w5, w6, w7 = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
    weight_sum, total, squares = sums[0], sums[1], sums[2]
    for j in range(high - low):
        p = pivot[j]
        n, t, s = sums_of_four(x0[j], x1[j], x2[j], x3[j], p, w0, w1, w2, w3)
        m, u, v = sums_of_four(x4[j], x5[j], x6[j], x7[j], p, w4, w5, w6, w7)
        weight_sum[j] += n + m
        total[j] += t + u
        squares[j] += s + v


@formula
def pick_pivots(X: NDArray[Any], rows: Integers, begin: int, end: int, low: int, high: int, pivot: Floats) -> None:
    """Find the pivot of every column in low:high: its first value in rows[begin:end] that is not missing, or NaN."""
    for j in range(high - low):
        a, x = begin, X[rows[begin], low + j]
        while x != x and a + 1 < end:  # NaN differs from itself
            a += 1
            x = X[rows[a], low + j]
        pivot[j] = x


@formula
def centre(
    k: int, f: int, n: float, pivot: float, total: float, squares: float, count: Floats, mean: Floats, scatter: Floats
) -> None:
    """Turn the sums around a pivot into count, mean and centred sum of squares."""
    count[k, f] = n
    if n > 0.0:
        # With deviations d from the pivot: mean = pivot + sum(d) / n, scatter = sum(d^2) - sum(d)^2 / n.
        shift = total / n
        remainder = squares - total * shift
        mean[k, f] = pivot + shift
        # Not max(): it could turn NaN into 0, and NaN here is how infinite values in the data are detected later.
        scatter[k, f] = 0.0 if remainder < 0.0 else remainder
    else:  # All values are missing or infinite: an infinite pivot makes every deviation NaN.
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
    """Compute count, mean and scatter of sparse columns; values that are not stored are zeros.

    codes[i] is the class of row i, or -1 if the row is left out; class_rows and class_total are the number of rows of
    each class and the sum of their weights.
    """
    n_classes = class_rows.size
    stored, pivot, sums = np.empty(n_classes, np.int64), np.empty(n_classes), np.empty((4, n_classes))
    weight_sum, total, squares, unstored = sums[0], sums[1], sums[2], sums[3]
    for f in range(indptr.size - 1):
        sums[:] = 0.0
        for k in range(n_classes):
            stored[k], pivot[k], unstored[k] = 0, np.nan, class_total[k]
        for a in range(indptr[f], indptr[f + 1]):
            k, x, w = codes[indices[a]], float(data[a]), weight[indices[a]]
            if k < 0:
                continue
            stored[k] += 1
            unstored[k] -= w
            if pivot[k] != pivot[k]:  # still NaN
                pivot[k] = x
            d = x - pivot[k]
            if d == d:
                weight_sum[k] += w
                total[k] += w * d
                squares[k] += w * d * d
        for k in range(n_classes):
            centre(k, f, weight_sum[k], pivot[k], total[k], squares[k], count, mean, scatter)
            # Compare numbers of rows, not weights: rounding would leave a small weight in a column without zeros.
            if stored[k] < class_rows[k] and unstored[k] > 0.0:
                add_zeros(k, f, unstored[k], count, mean, scatter)


@formula
def add_zeros(k: int, f: int, n: float, count: Floats, mean: Floats, scatter: Floats) -> None:
    """Add n values of 0 to the moments of class k, column f."""
    # Chan's formula for merging two sets of values. The second set has mean 0 and scatter 0.
    both = count[k, f] + n
    fraction = n / both
    scatter[k, f] += mean[k, f] * mean[k, f] * count[k, f] * fraction
    mean[k, f] -= mean[k, f] * fraction
    count[k, f] = both
