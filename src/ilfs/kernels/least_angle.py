"""One step of least angle regression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel


@formula
def step_to_entry(c: float, a: float, top: float, relative: float) -> float:
    """How far to go until a correlation c, which falls by a, has the size of the top one, which falls by 1.

    A copy of a feature that entered falls as fast as the top one but for rounding and never enters.
    """
    step = np.inf
    if a < 1.0 - relative:
        step = max((top - c) / (1.0 - a), 0.0)
    if a > relative - 1.0:
        step = min(step, max((top + c) / (1.0 + a), 0.0))
    return step


@kernel
def next_entry(
    c: Floats, a: Floats, top: float, usable: NDArray[Any], relative: float, floor: float
) -> tuple[float, int]:
    """How far to go until another feature is correlated as much as those that entered, and which; -1 if none is.

    Along the way the correlations are c - step * a, and those of the features that entered fall from top as fast as 1.
    Of features whose steps are equal, by a relative tolerance or a floor, the first enters: rounding must not choose
    between copies.
    """
    least = np.inf
    for j in range(c.size):
        if usable[j]:
            least = min(least, step_to_entry(c[j], a[j], top, relative))
    if not least < top:
        return top, -1
    limit = least + max(relative * least, floor)
    for j in range(c.size):
        if usable[j]:
            step = step_to_entry(c[j], a[j], top, relative)
            if step <= limit and step < top:
                return step, j
    return top, -1


@kernel
def advance(c: Floats, a: Floats, step: float, top: float, nearness: Floats) -> None:
    """Go a step, to where the features that entered have this correlation; remember how near the others came to it."""
    for j in range(c.size):
        c[j] -= step * a[j]
        if abs(c[j]) > nearness[j] * top:
            nearness[j] = min(abs(c[j]) / top, 1.0)


@kernel
def close_up(S: Floats, panel: Floats, gone: Integers, n: int) -> None:
    """Move what is left of a symmetric matrix, of which the upper triangle is stored, and of the panel to the front.

    Rows and columns go, in ascending order, of the first n; those between two that go are moved together.
    """
    for a in range(gone.size + 1):
        row, after = (gone[a - 1] + 1 if a > 0 else 0), (gone[a] if a < gone.size else n)
        for i in range(row, after):
            _close_row(S[i], S[i - a], gone, a, i, n)
    for i in range(panel.shape[0]):
        _close_row(panel[i], panel[i], gone, 0, 0, n)


@formula
def _close_row(source: Floats, target: Floats, gone: Integers, a: int, start: int, n: int) -> None:
    """Cells from start on, before which a have gone."""
    for b in range(a, gone.size + 1):
        stop = gone[b] if b < gone.size else n
        for j in range(start, stop):
            target[j - b] = source[j]
        start = stop + 1
