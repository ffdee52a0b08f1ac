"""Inner loops of least angle regression; see `solvers.least_angle`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel


@formula
def step_to_entry(c: float, a: float, top: float, relative: float) -> float:
    """Compute the step after which abs(c - step * a) equals top - step.

    c is the correlation of a feature with the residual, and a its fall per unit of distance. The features that have
    entered all have the absolute correlation top, which falls by 1. If a is within ``relative`` of 1 or -1, the
    correlation falls or rises as fast as theirs up to rounding, like that of a copy, and this sign gives no step.
    """
    # The first case has c - step * a = top - step, the second c - step * a = step - top.
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
    """Find the next feature to enter; return the step until then and the feature.

    At that step its absolute correlation equals that of the features that have entered. If there is no such feature,
    the step is top, at which all correlations are 0, and the feature is -1. If several steps are equal within the
    relative tolerance or the floor, the first feature enters: rounding must not choose between copies.
    """
    least = np.inf
    for j in range(c.size):
        if usable[j]:
            least = min(least, step_to_entry(c[j], a[j], top, relative))
    # At a step of top the residual is that of least squares: nothing is left to fit.
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
    """Update the correlations c after a step, and the largest ratio of each to that of the entered features so far.

    top is the absolute correlation of the entered features after the step.
    """
    for j in range(c.size):
        c[j] -= step * a[j]
        if abs(c[j]) > nearness[j] * top:
            nearness[j] = min(abs(c[j]) / top, 1.0)


@kernel
def close_up(S: Floats, panel: Floats, gone: Integers, n: int) -> None:
    """Delete rows and columns of a symmetric matrix and columns of the panel, and close the gaps, in place.

    Only the first n rows and columns are in use, and only the upper triangle of S is stored. ``gone`` has the indices
    to delete, ascending.
    """
    # Values only move to lower indices, and in ascending order, so none is overwritten before it has moved.
    for a in range(gone.size + 1):
        row, after = (gone[a - 1] + 1 if a > 0 else 0), (gone[a] if a < gone.size else n)
        for i in range(row, after):
            _close_row(S[i], S[i - a], gone, a, i, n)
    for i in range(panel.shape[0]):
        _close_row(panel[i], panel[i], gone, 0, 0, n)


@formula
def _close_row(source: Floats, target: Floats, gone: Integers, a: int, start: int, n: int) -> None:
    """Copy the values of a row from ``start`` on without the deleted ones; ``a`` deleted ones come before start."""
    for b in range(a, gone.size + 1):
        stop = gone[b] if b < gone.size else n
        for j in range(start, stop):
            target[j - b] = source[j]
        start = stop + 1
