"""Token counts of columns that are each contiguous in memory, if the rows have two classes.

Counts of rows with weight 1 are whole numbers, which are exact in any order. So the loop runs down a column and
vectorises over rows, without the copy into groups that `ilfs.kernels.by_column` needs. Each value takes the
coefficients of its class. The formulas are those of the other kernels, so the counts are equal to theirs.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._memory import CACHE_LINE_BYTES, column_at, prefetch
from ilfs.kernels.contrast import Contrast
from ilfs.kernels.evidence import THRESHOLDS_PER_SWEEP, fraction, log_odds

# A row of the second class counts as this number: one sum then holds the counts of both classes.
SECOND = 2**32
# Bytes of a column that are counted at a time. The next ones are requested before: a block has some rows of the table
# only, so the processor does not find the next column by reading on. Half or twice as many bytes take longer.
TILE_BYTES = 2048


def two_class_tokens(
    addresses: Integers,
    like: Any,
    is_second: NDArray[np.bool_],
    contrast: Contrast,
    is_fraction: bool,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Add the number of samples that reach each threshold to at_least (thresholds x columns).

    `like` is any number of the type of the values. is_second[i] is true if row i is of the second class; no row is
    left out, and all weights are 1. See `ilfs.kernels.evidence.dense_tokens` for the other arguments.
    """
    # None has a type of its own, for which Numba does not compile the loop over fractions.
    count_two_classes(addresses, like, is_second, contrast, is_fraction or None, thresholds, at_least)


@kernel
def count_two_classes(
    addresses: Integers,
    like: Any,
    is_second: NDArray[np.bool_],
    contrast: Contrast,
    is_fraction: bool | None,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Count the tokens of two classes, see `two_class_tokens`; is_fraction is True or None."""
    n_rows = is_second.size
    height = TILE_BYTES // column_at(addresses, 0, like, n_rows).itemsize
    for f in range(addresses.size):
        x = column_at(addresses, f, like, n_rows)
        for g in range(0, thresholds.size, THRESHOLDS_PER_SWEEP):
            t = (thresholds[g], thresholds[g + 1], thresholds[g + 2], thresholds[g + 3], thresholds[g + 4])
            n0 = n1 = n2 = n3 = n4 = 0
            for top in range(0, n_rows, height):
                tile = slice(top, min(top + height, n_rows))
                prefetch_tile(addresses, f, top * x.itemsize + TILE_BYTES, n_rows * x.itemsize)
                m0, m1, m2, m3, m4 = count_tile(x[tile], is_second[tile], contrast, f, is_fraction, t)
                n0, n1, n2, n3, n4 = n0 + m0, n1 + m1, n2 + m2, n3 + m3, n4 + m4
            for i, both in enumerate((n0, n1, n2, n3, n4)):
                at_least[g + i, f] += (both % SECOND) * contrast.class_weight[0, f]
                at_least[g + i, f] += (both // SECOND) * contrast.class_weight[1, f]


@formula
def prefetch_tile(addresses: Integers, f: int, offset: int, column_bytes: int) -> None:
    """Start to load the tile at an offset in column f; the first one of the next column if column f ends before."""
    start = addresses[f] + offset if offset < column_bytes else addresses[min(f + 1, addresses.size - 1)]
    for line in range(0, TILE_BYTES, CACHE_LINE_BYTES):
        prefetch(start + line)


@formula
def count_tile(
    x: NDArray[Any],
    is_second: NDArray[np.bool_],
    contrast: Contrast,
    f: int,
    is_fraction: bool | None,
    t: tuple[float, ...],
) -> tuple[int, int, int, int, int]:
    """Count, at each threshold, the values of column f that reach it; one of the second class counts `SECOND`."""
    # Scalars instead of arrays: the compiler keeps them in registers, and selects from them without branches.
    m0, m1, s0, s1 = contrast.mean[0, f], contrast.mean[1, f], contrast.square[0, f], contrast.square[1, f]
    b0, b1, c0, c1 = contrast.linear[0, f], contrast.linear[1, f], contrast.constant[0, f], contrast.constant[1, f]
    sharpness = contrast.sharpness[f]
    n0 = n1 = n2 = n3 = n4 = 0
    for i in range(x.size):
        k = is_second[i]
        m, s, b, c = m1 if k else m0, s1 if k else s0, b1 if k else b0, c1 if k else c0
        e = log_odds(x[i], m, s, b, c, sharpness) if is_fraction is None else fraction(x[i], m, s, b, c)
        step = SECOND if k else 1
        n0 += step if e >= t[0] else 0
        n1 += step if e >= t[1] else 0
        n2 += step if e >= t[2] else 0
        n3 += step if e >= t[3] else 0
        n4 += step if e >= t[4] else 0
    return n0, n1, n2, n3, n4
