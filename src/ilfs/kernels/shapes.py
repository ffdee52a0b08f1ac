"""Sums of the shapes of all columns in every class, in one pass.

A shape is a U-shaped function of the standardised value, see `ilfs.kernels.terms.shape_of`. Its values are bounded, so
plain sums lose no precision.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._sizes import STREAMED_COLUMNS
from ilfs.kernels.terms import shape_of

ROWS_PER_SUM = 4  # rows that share one load and one store of the sums; the loops are written out for this number


@formula
def weighted_shape(x: float, mean: float, unit: float, w: float) -> tuple[float, float, float]:
    """Return the weighted shape of a value, its weighted square and its weighted product with the value itself."""
    z = (x - mean) * unit
    if z != z:  # NaN differs from itself
        z = w = 0.0
    u = shape_of(z)
    v = w * u
    return v, v * u, v * z


@kernel
def dense_shapes(
    X: NDArray[Any],
    rows: Integers,
    starts: Integers,
    weight: Floats,
    first: int,
    last: int,
    mean: Floats,
    unit: Floats,
    sums: Floats,
) -> None:
    """Add the sums of shapes, of their squares and of their products with the values (3 x classes x columns).

    rows[starts[k]:starts[k + 1]] are the rows of class k, and weight[a] is the weight of row rows[a].
    """
    i, w = np.empty(ROWS_PER_SUM, np.int64), np.empty(ROWS_PER_SUM)
    part = np.empty((3, STREAMED_COLUMNS))  # contiguous, so that the compiler vectorises the loop over columns
    for low in range(first, last, STREAMED_COLUMNS):
        high = min(low + STREAMED_COLUMNS, last)
        centre, scale = mean[low - first : high - first], unit[low - first : high - first]
        for k in range(starts.size - 1):
            end = starts[k + 1]
            part[:] = 0.0
            for a in range(starts[k], end, ROWS_PER_SUM):
                for b in range(ROWS_PER_SUM):
                    # If fewer than four rows of the class are left, its last row fills the gap with weight 0.
                    i[b] = rows[min(a + b, end - 1)]
                    w[b] = weight[a + b] if a + b < end else 0.0
                add_four(X, i, w, low, high, centre, scale, part)
            for s in range(3):
                for j in range(high - low):
                    sums[s, k, low - first + j] += part[s, j]


@formula
def add_four(
    X: NDArray[Any], i: Integers, w: Floats, low: int, high: int, mean: Floats, unit: Floats, sums: Floats
) -> None:
    """Add four rows to the sums of columns low:high."""
    # Slices instead of offsets: the compiler vectorises only loops that read all arrays from index 0.
    x0, x1, x2, x3 = X[i[0], low:high], X[i[1], low:high], X[i[2], low:high], X[i[3], low:high]
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    total, squares, products = sums[0], sums[1], sums[2]
    for j in range(high - low):
        m, r = mean[j], unit[j]
        ta, sa, pa = weighted_shape(x0[j], m, r, w0)
        tb, sb, pb = weighted_shape(x1[j], m, r, w1)
        tc, sc, pc = weighted_shape(x2[j], m, r, w2)
        td, sd, pd = weighted_shape(x3[j], m, r, w3)
        total[j] += (ta + tb) + (tc + td)
        squares[j] += (sa + sb) + (sc + sd)
        products[j] += (pa + pb) + (pc + pd)


@kernel
def sparse_shapes(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: Integers,
    weight: Floats,
    class_total: Floats,
    mean: Floats,
    unit: Floats,
    sums: Floats,
) -> None:
    """Add the same sums of sparse columns; values that are not stored are zeros."""
    n_classes = class_total.size
    for f in range(indptr.size - 1):
        for k in range(n_classes):
            sums[0, k, f], sums[1, k, f], sums[2, k, f] = weighted_shape(0.0, mean[f], unit[f], class_total[k])
        t, s, p = weighted_shape(0.0, mean[f], unit[f], 1.0)
        for a in range(indptr[f], indptr[f + 1]):
            k, w = codes[indices[a]], weight[indices[a]]
            if k >= 0:
                total, square, product = weighted_shape(float(data[a]), mean[f], unit[f], w)
                sums[0, k, f] += total - w * t
                sums[1, k, f] += square - w * s
                sums[2, k, f] += product - w * p
