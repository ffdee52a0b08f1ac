"""Keys of rows, to find equal rows: a number that depends only on the values of a row and their columns.

The key of a row is the sum, modulo 2^64, of the bit pattern of each value times a multiplier of its column. Sums of
integers do not round, so the key is the same for any partition into blocks. Zeros add nothing, so it is also the same
for dense and sparse storage.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.kernels._jit import formula, kernel

Words = NDArray[np.uint64]

MINUS_ZERO = np.uint64(1 << 63)  # bit pattern of -0.0, which equals 0.0 but has the sign bit set


@formula
def spread_bits(bits: np.uint64) -> np.uint64:
    """Mix the upper bits of a value into its lower ones; -0.0 is treated as 0.0.

    Small integers, as floats, set upper bits only. Without mixing, their products with a multiplier modulo 2^64 would
    keep only the lowest bits of the multiplier, and different rows would often have equal keys.
    """
    if bits == MINUS_ZERO:
        return np.uint64(0)
    return bits ^ (bits >> np.uint64(32)) ^ (bits >> np.uint64(48))


@kernel
def add_row_keys(bits: Words, column: int, multipliers: Words, keys: Words) -> None:
    """Add the terms of a block of columns, which begins at ``column``, to the keys of the rows."""
    for i in range(bits.shape[0]):
        key = np.uint64(0)
        row = bits[i, column : column + multipliers.size]
        for f in range(multipliers.size):
            key += spread_bits(row[f]) * multipliers[f]
        keys[i] += key


@kernel
def add_sparse_row_keys(
    bits: Words, indices: NDArray[Any], indptr: NDArray[Any], multipliers: Words, keys: Words
) -> None:
    """Add the terms of the stored values of a compressed sparse row matrix to the keys of its rows."""
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            keys[i] += spread_bits(bits[e]) * multipliers[indices[e]]
