"""Newton's method for an objective that is quadratic as long as no sample crosses the margin."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats

Mask = NDArray[np.bool_]


class Optimum(NamedTuple):
    """Where Newton's method has ended: the minimum of the quadratic function that the active samples make."""

    solution: Floats
    active: Mask
    converged: bool
    n_iter: int


def newton(
    y: Floats,
    active: Mask,
    solve: Callable[[Mask], tuple[Floats, Floats]],
    inner: Callable[[Floats, Floats], float],
    *,
    tol: float,
    max_iter: int,
) -> Optimum:
    """Minimise ridge |w|^2 / 2 + sum of (y - f)^2 / 2 over the samples with y f < 1.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        -1 or 1.
    active : ndarray of shape (n_samples,)
        A first guess of the samples with y f < 1.
    solve : callable
        The minimum of the quadratic function that a set of active samples makes, and its values f.
    inner : callable
        ridge times the inner product of the weights of two solutions.
    tol : float
        A sample may be that far on the wrong side of the margin.
    max_iter : int
        Most systems to solve.

    Returns
    -------
    Optimum
        Converged unless max_iter was too small.
    """
    here, f = solve(active)
    if not crossed(y, f, active, tol).any():
        return Optimum(here, active, True, 1)
    for n_iter in range(2, max_iter + 1):
        active = y * f < 1
        there, g = solve(active)
        if not crossed(y, g, active, tol).any():
            return Optimum(there, active, True, n_iter)
        step = there - here
        t = line_search(y, f, g - f, inner(here, step), inner(step, step))
        here, f = here + t * step, f + t * (g - f)
    return Optimum(here, active, False, max_iter)


def crossed(y: Floats, f: Floats, active: Mask, tol: float) -> Mask:
    """Active samples outside the margin and inactive ones inside, by more than tol."""
    gap = 1 - y * f
    return np.asarray(np.where(active, -gap, gap) > tol)


def line_search(y: Floats, f: Floats, change: Floats, slope: float, curvature: float) -> float:
    """The t in [0, 1] that minimises t slope + t^2 curvature / 2 + sum of (y - f - t change)^2 / 2 over active samples.

    The derivative grows with t, in a straight line from each crossing of a sample to the next.
    """
    rest = y - f
    inside = (y * rest > 0) | ((rest == 0) & (y * change < 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = rest / change
    order = np.flatnonzero((crossing > 0) & (crossing < 1))
    order = order[np.argsort(crossing[order], kind="stable")]
    sign = np.where(inside[order], -1.0, 1.0)
    slopes = np.append(0.0, np.cumsum(-sign * rest[order] * change[order])) + slope - rest[inside] @ change[inside]
    curvatures = np.append(0.0, np.cumsum(sign * change[order] ** 2)) + curvature + change[inside] @ change[inside]
    ends = np.append(crossing[order], 1.0)
    rising = slopes + ends * curvatures >= 0
    piece = int(rising.argmax()) if rising.any() else -1
    return float(np.clip(-slopes[piece] / curvatures[piece], 0.0, 1.0)) if curvatures[piece] > 0 else 1.0
