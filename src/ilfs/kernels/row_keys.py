"""A number for every row that depends on its values and their columns alone, for finding equal rows.

The key of a row is the sum, modulo 2^64, of the bits of its values times a multiplier of the column. Sums of integers
do not round, so neither blocks nor storage matter. Zeros add nothing, as in sparse storage.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.kernels._jit import formula, kernel

Words = NDArray[np.uint64]

MINUS_ZERO = np.uint64(1 << 63)


@formula
def spread_bits(bits: np.uint64) -> np.uint64:
    """Copy the upper bits of a value, often the only ones that are set, to the lower end; -0.0 is 0."""
    if bits == MINUS_ZERO:
        return np.uint64(0)
    return bits ^ (bits >> np.uint64(32)) ^ (bits >> np.uint64(48))


@kernel
def add_row_keys(bits: Words, column: int, multipliers: Words, keys: Words) -> None:
    """Add what some columns, from this one on, contribute to the keys."""
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
    """Add the keys of the values of compressed rows."""
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            keys[i] += spread_bits(bits[e]) * multipliers[indices[e]]
