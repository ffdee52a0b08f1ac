"""Sums of hashes of values modulo 2^64.

Integer sums modulo 2^64 do not round, so they are the same in any order and for any partition into blocks.
"""

import numpy as np
from numpy.typing import NDArray

from ilfs.kernels._jit import formula, kernel

Hashes = NDArray[np.uint64]

# Multipliers and shifts of the splitmix64 generator. Its last step is a bijection that maps 0 to 0, so that zeros add
# nothing to a sum and need not be stored.
FIRST_MULTIPLIER, SECOND_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
FIRST_SHIFT, SECOND_SHIFT, THIRD_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)


@formula
def scramble(number: np.uint64) -> np.uint64:
    """Map an integer to a pseudo-random one; different integers stay different, and 0 stays 0."""
    z = (number ^ (number >> FIRST_SHIFT)) * FIRST_MULTIPLIER
    z = (z ^ (z >> SECOND_SHIFT)) * SECOND_MULTIPLIER
    return z ^ (z >> THIRD_SHIFT)


@kernel
def add_hashes_by_row(bits: Hashes, weight: Hashes, total: Hashes) -> None:
    """Add the hash of each value times the weight of its column to the total of its row."""
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            total[i] += scramble(bits[i, j]) * weight[j]


@kernel
def add_hashes_by_column(bits: Hashes, weight: Hashes, total: Hashes) -> None:
    """Add the hash of each value times the weight of its row to the total of its column."""
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            total[j] += scramble(bits[i, j]) * weight[i]


@kernel
def scrambled(numbers: Hashes) -> Hashes:
    """Apply `scramble` to every number."""
    result = np.empty_like(numbers)
    for i in range(numbers.size):
        result[i] = scramble(numbers[i])
    return result
