"""Merging of the moments of combinations of classes; see `ilfs.statistics.many`."""

import numpy as np

from ilfs.arrays import Floats
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.moments import centre

TILE_COLUMNS = 256  # columns whose sums stay in the first-level cache


@kernel
def merge_digits(
    joint_count: Floats,
    joint_mean: Floats,
    joint_scatter: Floats,
    place: int,
    count: Floats,
    mean: Floats,
    scatter: Floats,
) -> None:
    """Merge moments of combinations u (combinations x columns) that have the same digit u // place % n_digits.

    The results are n_digits x columns.
    """
    n_digits, n_columns = count.shape
    pivot, sums = np.empty(TILE_COLUMNS), np.empty((3, TILE_COLUMNS))
    weight, total, squares = sums[0], sums[1], sums[2]
    for low in range(0, n_columns, TILE_COLUMNS):
        high = min(low + TILE_COLUMNS, n_columns)
        for k in range(n_digits):
            pick_pivots(joint_count, joint_mean, place, k, n_digits, low, high, pivot)
            sums[:] = 0.0
            for u in range(joint_count.shape[0]):
                if u // place % n_digits == k:
                    c, m, s = joint_count[u, low:high], joint_mean[u, low:high], joint_scatter[u, low:high]
                    for j in range(high - low):
                        d = m[j] - pivot[j]
                        weight[j] += c[j]
                        total[j] += c[j] * d
                        squares[j] += c[j] * d * d + s[j]
            for j in range(high - low):
                centre(k, low + j, weight[j], pivot[j], total[j], squares[j], count, mean, scatter)


@formula
def pick_pivots(
    count: Floats, mean: Floats, place: int, k: int, n_digits: int, low: int, high: int, pivot: Floats
) -> None:
    """Find the mean of the first combination of digit k that has values, for every column in low:high.

    If a column is constant in all combinations of the digit, all deviations from this pivot are exactly 0.
    """
    n_empty = 0
    for j in range(high - low):
        pivot[j] = mean[place * k, low + j]
        n_empty += 1 if count[place * k, low + j] == 0.0 else 0
    if n_empty == 0:
        return
    for u in range(count.shape[0] - 1, -1, -1):  # backwards, so that the first combination is the last one written
        if u // place % n_digits == k:
            for j in range(high - low):
                if count[u, low + j] > 0.0:
                    pivot[j] = mean[u, low + j]
