"""Count, mean and centred sum of squares of every column in every class, in one pass.

The sums of a class are sums of deviations from a pivot, its own first value. If a column is constant within the class,
all deviations are exactly 0. Otherwise the pivot is at most sqrt(n - 1) standard deviations from the mean of the n
values (Samuelson's inequality). So centring the squares afterwards loses at most a factor n of precision, however far
the values are from 0.

The same loops can also count zeros and find columns with negative values. This is optional, because it takes about 7 %
more time (23 % for float32), and permuted labels do not need it.
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
    zeros: Any = None,
    negative: Any = None,
) -> None:
    """Compute count, mean and scatter (each classes x columns) of columns first:last of X.

    The scatter is the centred sum of squares. rows[starts[k]:starts[k + 1]] are the rows of class k, and weight[a] is
    the weight of row rows[a]. If arrays are given for them, also compute the weight of the zeros (classes x columns),
    and set `negative` (columns) to 1 where a value is negative.
    """
    pivot, sums = np.empty(STREAMED_COLUMNS), np.empty((3, STREAMED_COLUMNS))
    signs = np.empty((2, STREAMED_COLUMNS)) if zeros is not None else None
    i, w = np.empty(ROWS_PER_SUM, np.int64), np.empty(ROWS_PER_SUM)
    for low in range(first, last, STREAMED_COLUMNS):
        high = min(low + STREAMED_COLUMNS, last)
        for k in range(starts.size - 1):
            begin, end = starts[k], starts[k + 1]
            if begin == end:
                continue
            pick_pivots(X, rows, begin, end, low, high, pivot)
            sums[:] = 0.0
            if signs is not None:
                signs[:] = 0.0
            for a in range(begin, end, ROWS_PER_SUM):
                for b in range(ROWS_PER_SUM):
                    # If fewer than eight rows of the class are left, its last row fills the gap with weight 0.
                    i[b] = rows[min(a + b, end - 1)]
                    w[b] = weight[a + b] if a + b < end else 0.0
                add_rows(X, i, w, low, high, pivot, sums, signs)
            for j in range(high - low):
                f = low - first + j
                centre(k, f, sums[0, j], pivot[j], sums[1, j], sums[2, j], count, mean, scatter)
                if signs is not None:
                    zeros[k, f] = signs[0, j]
                    negative[f] = 1.0 if signs[1, j] < 0.0 else negative[f]


@formula
def add_rows(
    X: NDArray[Any],
    i: Integers | tuple[int, ...],
    w: Floats | tuple[float, ...],
    low: int,
    high: int,
    pivot: Floats,
    sums: Floats,
    signs: Floats | None = None,
) -> None:
    """Add eight rows to the weights, the weighted deviations and their squares of columns low:high.

    If `signs` is given, add the weight of the zeros to its first row, and lower its second row to the smallest values
    if these are smaller. (A minimum takes fewer instructions than a flag.)
    """
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
        if signs is not None:
            # As float64: the masks of float32 comparisons would have another width than those of the sums.
            a, b, c, d = float(x0[j]), float(x1[j]), float(x2[j]), float(x3[j])
            e, f, g, h = float(x4[j]), float(x5[j]), float(x6[j]), float(x7[j])
            zeros = plus_zeros(signs[0, j], a, b, c, d, w0, w1, w2, w3)
            signs[0, j] = plus_zeros(zeros, e, f, g, h, w4, w5, w6, w7)
            signs[1, j] = least_of_four(a, b, c, d, least_of_four(e, f, g, h, signs[1, j]))


@formula
def plus_zeros(
    total: float, xa: float, xb: float, xc: float, xd: float, wa: float, wb: float, wc: float, wd: float
) -> float:
    """Add the weights of those of four values that are zero."""
    total = total + wa if xa == 0.0 else total
    total = total + wb if xb == 0.0 else total
    total = total + wc if xc == 0.0 else total
    return total + wd if xd == 0.0 else total


@formula
def least_of_four(xa: float, xb: float, xc: float, xd: float, least: float) -> float:
    """Return the smallest of four values and `least`; missing values are larger than any other."""
    least = xa if xa < least else least
    least = xb if xb < least else least
    least = xc if xc < least else least
    return xd if xd < least else least


@formula
def pick_pivots(X: NDArray[Any], rows: Integers, begin: int, end: int, low: int, high: int, pivot: Floats) -> None:
    """Find the pivot of every column in low:high: its first value in rows[begin:end] that is not missing, or NaN."""
    x, n_missing = X[rows[begin], low:high], 0
    for j in range(high - low):  # two loops, so that the first one is vectorised
        pivot[j] = x[j]
        n_missing += 1 if x[j] != x[j] else 0  # NaN differs from itself
    for j in range(high - low if n_missing else 0):
        a = begin
        while pivot[j] != pivot[j] and a + 1 < end:
            a += 1
            pivot[j] = X[rows[a], low + j]


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
    zeros: Any = None,
    negative: Any = None,
) -> None:
    """Compute count, mean and scatter of sparse columns; values that are not stored are zeros.

    codes[i] is the class of row i, or -1 if the row is left out; class_rows and class_total are the number of rows of
    each class and the sum of their weights. If arrays are given for them, also compute the weight of the zeros, stored
    or not (classes x columns), and set `negative` (columns) to 1 where a value is negative.
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
            if zeros is not None:
                zeros[k, f] += w if x == 0.0 else 0.0
                negative[f] = 1.0 if x < 0.0 else negative[f]
        for k in range(n_classes):
            centre(k, f, weight_sum[k], pivot[k], total[k], squares[k], count, mean, scatter)
            # Compare numbers of rows, not weights: rounding would leave a small weight in a column without zeros.
            if stored[k] < class_rows[k] and unstored[k] > 0.0:
                add_zeros(k, f, unstored[k], count, mean, scatter)
                if zeros is not None:
                    zeros[k, f] += unstored[k]


@formula
def add_zeros(k: int, f: int, n: float, count: Floats, mean: Floats, scatter: Floats) -> None:
    """Add n values of 0 to the moments of class k, column f."""
    # Chan's formula for merging two sets of values. The second set has mean 0 and scatter 0.
    both = count[k, f] + n
    fraction = n / both
    scatter[k, f] += mean[k, f] * mean[k, f] * count[k, f] * fraction
    mean[k, f] -= mean[k, f] * fraction
    count[k, f] = both
