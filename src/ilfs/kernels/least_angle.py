"""One step of least angle regression."""

from typing import Any

from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.kernels._jit import kernel


@kernel
def next_entry(c: Floats, a: Floats, top: float, usable: NDArray[Any]) -> tuple[float, int]:
    """How far to go until another feature is correlated as much as those that entered, and which; -1 if none is.

    Along the way the correlations are c - step * a, and those of the features that entered fall from top as fast as 1.
    """
    least, entering = top, -1
    for j in range(c.size):
        if usable[j]:
            if a[j] < 1.0 and top - c[j] < least * (1.0 - a[j]):
                least, entering = max((top - c[j]) / (1.0 - a[j]), 0.0), j
            if a[j] > -1.0 and top + c[j] < least * (1.0 + a[j]):
                least, entering = max((top + c[j]) / (1.0 + a[j]), 0.0), j
    return least, entering


@kernel
def advance(c: Floats, a: Floats, step: float, top: float, nearness: Floats) -> None:
    """Go a step, to where the features that entered have this correlation; remember how near the others came to it."""
    for j in range(c.size):
        c[j] -= step * a[j]
        if abs(c[j]) > nearness[j] * top:
            nearness[j] = min(abs(c[j]) / top, 1.0)
