"""Sorted lists of the nearest samples found so far.

Samples are compared by a bound: a number that stands for their distance and is cheaper to compute.
"""

from typing import Any

from numpy.typing import NDArray

from ilfs.kernels._jit import formula


@formula
def comes_before(bound: float, j: int, other_bound: float, other_j: int) -> bool:
    """Return True if j is nearer than the other; if both bounds are equal, the lower index counts as nearer."""
    return bound < other_bound or (bound == other_bound and j < other_j)


@formula
def insert(bounds: NDArray[Any], indices: NDArray[Any], bound: float, j: int) -> None:
    """Insert j into a sorted list and drop the last entry, in place."""
    # One pass of insertion sort: the lists are short, and most candidates belong near the end.
    a = bounds.size - 1
    while a > 0 and comes_before(bound, j, bounds[a - 1], indices[a - 1]):
        bounds[a], indices[a] = bounds[a - 1], indices[a - 1]
        a -= 1
    bounds[a], indices[a] = bound, j
