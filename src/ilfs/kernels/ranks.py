"""Ranks of values with ties averaged, as for Spearman's correlation."""

from math import sqrt
from typing import Any

from ilfs.kernels._jit import formula, kernel


@kernel
def write_unit_ranks(values: Any, order: Any, ranks: Any) -> None:
    """Write the ranks of the values in each row, shifted to mean 0 and scaled to length 1.

    order[row] sorts the row. Equal values get the mean of their ranks. No row may be constant.
    """
    n_rows, n_values = values.shape
    middle = 0.5 * (n_values - 1)
    for row in range(n_rows):
        # First pass: the length of the centred ranks, which ties make shorter. Second pass: write the scaled ranks.
        length = 0.0
        first = 0
        while first < n_values:
            last = _last_equal(values[row], order[row], first)
            length += (last + 1 - first) * (0.5 * (first + last) - middle) ** 2
            first = last + 1
        length = sqrt(length)
        first = 0
        while first < n_values:
            last = _last_equal(values[row], order[row], first)
            rank = (0.5 * (first + last) - middle) / length
            for place in range(first, last + 1):
                ranks[row, order[row, place]] = rank
            first = last + 1


@formula
def _last_equal(values: Any, order: Any, first: int) -> int:
    """Find the last position in the order whose value equals the one at position ``first``."""
    last = first
    while last + 1 < order.size and values[order[last + 1]] == values[order[first]]:
        last += 1
    return last
