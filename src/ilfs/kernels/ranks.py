"""Ranks of values, ties averaged."""

from math import sqrt
from typing import Any

from ilfs.kernels._jit import formula, kernel


@kernel
def write_unit_ranks(values: Any, order: Any, ranks: Any) -> None:
    """Ranks of each row of values, of mean 0 and length 1; order sorts the row and equal values share a rank."""
    n_rows, n_values = values.shape
    middle = 0.5 * (n_values - 1)
    for row in range(n_rows):
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
    """The last place in the order with the value of the first."""
    last = first
    while last + 1 < order.size and values[order[last + 1]] == values[order[first]]:
        last += 1
    return last
