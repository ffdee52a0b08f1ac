"""Sorted lists of the nearest so far."""

from typing import Any

from numpy.typing import NDArray

from ilfs.kernels._jit import formula


@formula
def comes_before(bound: float, j: int, other_bound: float, other_j: int) -> bool:
    """Whether j is nearer; of equal bounds the lower index is."""
    return bound < other_bound or (bound == other_bound and j < other_j)


@formula
def insert(bounds: NDArray[Any], indices: NDArray[Any], bound: float, j: int) -> None:
    """Put j into a sorted list and drop its last."""
    a = bounds.size - 1
    while a > 0 and comes_before(bound, j, bounds[a - 1], indices[a - 1]):
        bounds[a], indices[a] = bounds[a - 1], indices[a - 1]
        a -= 1
    bounds[a], indices[a] = bound, j
