"""Cuts that turn the values of a feature into bits, and the packing of these bits into words."""

from typing import Any

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.bit_pairs import Words
from ilfs.kernels.popcount import ones_in

WORD_BITS = 64


@kernel
def find_cuts(values: Any, cuts: Floats) -> None:
    """Find the lower quartile, median and upper quartile of each row of sorted values, in which NaN come last.

    A value with L smaller and E equal ones among m has the mid-rank R = (L + E / 2) / m. The median is the largest
    value with R <= 1/2, the upper quartile the largest with R <= 3/4, the lower quartile the smallest with R >= 1/4.
    """
    for row in range(values.shape[0]):
        m = values.shape[1]
        while m > 0 and values[row, m - 1] != values[row, m - 1]:
            m -= 1
        if m > 0:
            cuts[row, 0] = cut_near(values[row], m, 1, False)
            cuts[row, 1] = cut_near(values[row], m, 2, True)
            cuts[row, 2] = cut_near(values[row], m, 3, True)


@formula
def cut_near(values: Any, m: int, quarters: int, from_below: bool) -> float:
    """Find the largest value with a mid-rank of at most q/4 or, not from below, the smallest of at least q/4."""
    # Only the values that are equal to the one in this place may have a mid-rank on either side.
    place = min(quarters * m // 4, m - 1)
    first, last = place, place
    while first > 0 and values[first - 1] == values[place]:
        first -= 1
    while last < m - 1 and values[last + 1] == values[place]:
        last += 1
    twice = first + last + 1  # 2 L + E, to be compared with 2 q m / 4
    if from_below and 2 * twice > quarters * m:
        place = max(first - 1, 0)
    if not from_below and 2 * twice < quarters * m:
        place = min(last + 1, m - 1)
    return float(values[place])


@kernel
def pack_bits(
    values: Any,
    cuts: Floats,
    row_starts: Integers,
    word_starts: Integers,
    level: Words,
    size: Words,
    present: Words,
) -> None:
    """Pack the level bit, the size bit and the presence of the values of each row, one word for 64 samples.

    The samples of class k are row_starts[k] to row_starts[k + 1] - 1; their words begin at word_starts[k]. The results
    are words x rows of values. A missing value has zeros in all three.
    """
    for row in range(values.shape[0]):
        lower, median, upper = cuts[row, 0], cuts[row, 1], cuts[row, 2]
        for k in range(row_starts.size - 1):
            for word in range(word_starts[k], word_starts[k + 1]):
                first = row_starts[k] + (word - word_starts[k]) * WORD_BITS
                is_high, is_extreme, is_there = np.uint64(0), np.uint64(0), np.uint64(0)
                for place in range(min(WORD_BITS, row_starts[k + 1] - first)):
                    value, here = values[row, first + place], np.uint64(place)
                    is_high |= np.uint64(value > median) << here
                    is_extreme |= np.uint64(value < lower or value > upper) << here
                    is_there |= np.uint64(value == value) << here
                level[word, row], size[word, row], present[word, row] = is_high, is_extreme, is_there


@kernel
def count_ones(words: Words, starts: Integers, counts: Floats) -> None:
    """Count the ones of each bit in each class; counts is classes x bits."""
    for k in range(starts.size - 1):
        for word in range(starts[k], starts[k + 1]):
            for j in range(words.shape[1]):
                counts[k, j] += ones_in(words[word, j])
