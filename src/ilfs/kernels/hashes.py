"""Sums of hashes of values, modulo 2^64: exact in any order."""

import numpy as np
from numpy.typing import NDArray

from ilfs.kernels._jit import formula, kernel

Hashes = NDArray[np.uint64]

# The multipliers of the splitmix64 generator. Its last step is a bijection that maps 0 to 0.
FIRST_MULTIPLIER, SECOND_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
FIRST_SHIFT, SECOND_SHIFT, THIRD_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)


@formula
def scramble(number: np.uint64) -> np.uint64:
    """Map different integers to different ones that look random, and 0 to 0."""
    z = (number ^ (number >> FIRST_SHIFT)) * FIRST_MULTIPLIER
    z = (z ^ (z >> SECOND_SHIFT)) * SECOND_MULTIPLIER
    return z ^ (z >> THIRD_SHIFT)


@kernel
def add_hashes_by_row(bits: Hashes, weight: Hashes, total: Hashes) -> None:
    """Add hash(value) x weight of its column to the total of each row."""
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            total[i] += scramble(bits[i, j]) * weight[j]


@kernel
def add_hashes_by_column(bits: Hashes, weight: Hashes, total: Hashes) -> None:
    """Add hash(value) x weight of its row to the total of each column."""
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            total[j] += scramble(bits[i, j]) * weight[i]


@kernel
def scrambled(numbers: Hashes) -> Hashes:
    """Scramble every number."""
    result = np.empty_like(numbers)
    for i in range(numbers.size):
        result[i] = scramble(numbers[i])
    return result
