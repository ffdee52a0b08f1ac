"""The minimum of an objective that is quadratic as long as no sample crosses the margin.

The objective is ridge |w|^2 / 2 + sum of (y - f)^2 / 2 over the active samples, those with y f < 1. What it takes to
find its minimum for a set of active samples is left to ``solve``, which also gives the values f. Samples may have
weights: ``solve`` then minimises the weighted sum, and the line search takes the roots of the weights.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats

Mask = NDArray[np.bool_]
Solve = Callable[[Mask], tuple[Floats, Floats]]

NEWTON_STEPS = 30  # before the slower way is taken that always gets there
ENTER_AT_ONCE = 16


class Optimum(NamedTuple):
    """Where a search has ended, after how many systems of equations."""

    slack: Floats  # 1 - y f of the active samples, 0 of the others
    converged: bool
    n_iter: int


def minimum(
    y: Floats,
    active: Mask,
    slack: Floats,
    solve: Solve,
    inner: Callable[[Floats, Floats], float],
    *,
    tol: float,
    max_iter: int,
    root_weights: Floats | float = 1.0,
) -> Optimum:
    """Let samples enter and leave until none is on the wrong side of the margin.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        -1 or 1.
    active : ndarray of shape (n_samples,)
        A guess.
    slack : ndarray of shape (n_samples,)
        How far inside the margin samples are in the solution of another problem with the same y; or 0.
    solve : callable
        Solution for a set of active samples, and its values f.
    inner : callable
        ridge times the inner product of the weights of two solutions.
    tol : float
        A sample may be that far on the wrong side of the margin.
    max_iter : int
        Most systems of equations to solve.
    root_weights : float or ndarray of shape (n_samples,)
        Square roots of the sample weights that ``solve`` uses.

    Returns
    -------
    Optimum
        Converged unless max_iter was too small, or rounding too much for tol.
    """
    n_steps = min(max_iter, NEWTON_STEPS)
    found = newton(y, active, solve, inner, tol=tol, max_iter=n_steps, root_weights=root_weights)
    if found.converged or max_iter <= NEWTON_STEPS:
        return found
    found = exchange(y, slack, solve, tol=tol, max_iter=max_iter - NEWTON_STEPS)
    return found._replace(n_iter=found.n_iter + NEWTON_STEPS)


def newton(
    y: Floats,
    active: Mask,
    solve: Solve,
    inner: Callable[[Floats, Floats], float],
    *,
    tol: float,
    max_iter: int,
    root_weights: Floats | float = 1.0,
) -> Optimum:
    """Newton's method with exact line search: few steps unless the ridge is small and the classes separable."""
    here, f = solve(active)
    if not crossed(y, f, active, tol).any():
        return Optimum(slack_of(y, f, active), True, 1)
    for n_iter in range(2, max_iter + 1):
        active = y * f < 1
        there, g = solve(active)
        if not crossed(y, g, active, tol).any():
            return Optimum(slack_of(y, g, active), True, n_iter)
        step = there - here
        t = line_search(y, f, g - f, inner(here, step), inner(step, step), root_weights)
        here, f = here + t * step, f + t * (g - f)
    return Optimum(slack_of(y, f, active), False, max_iter)


def exchange(y: Floats, slack: Floats, solve: Solve, *, tol: float, max_iter: int) -> Optimum:
    """Lawson and Hanson's method for the dual problem, where the slacks are the unknowns and must not be negative.

    Every step lowers the dual objective, whatever the ridge, but few samples are exchanged at once. With sample weights
    the unknowns are weight times slack: signs and step lengths are the same, so weights matter in ``solve`` only.
    """
    active = slack > 0
    if not active.any():  # one of each class is a start
        active[[np.argmax(y), np.argmin(y)]] = True
    for n_iter in range(1, max_iter + 1):
        _, f = solve(active)
        aim = np.where(active, 1 - y * f, 0.0)
        if (aim >= 0).all():
            slack = aim
            lacking = np.where(active, -np.inf, 1 - y * f)
            if lacking.max() <= tol:
                return Optimum(slack, True, n_iter)
            worst = np.argsort(-lacking, kind="stable")[:ENTER_AT_ONCE]
            active[worst[lacking[worst] > tol]] = True
        else:
            falling = np.flatnonzero(aim < 0)
            share = slack[falling] / (slack[falling] - aim[falling])
            t = float(share.min())
            first = falling[share == t]
            slack = np.where(active, np.maximum(0.0, slack + t * (aim - slack)), 0.0)
            out = first[np.argmin(aim[first])]
            active[out], slack[out] = False, 0.0
    return Optimum(slack, False, max_iter)


def slack_of(y: Floats, f: Floats, active: Mask) -> Floats:
    """How far active samples are inside the margin."""
    return np.where(active, np.maximum(1 - y * f, 0.0), 0.0)


def crossed(y: Floats, f: Floats, active: Mask, tol: float) -> Mask:
    """Active samples outside the margin and inactive ones inside, by more than tol."""
    gap = 1 - y * f
    return np.asarray(np.where(active, -gap, gap) > tol)


def line_search(
    y: Floats, f: Floats, change: Floats, slope: float, curvature: float, root_weights: Floats | float = 1.0
) -> float:
    """The t in [0, 1] that minimises t slope + t^2 curvature / 2 + sum of (y - f - t change)^2 / 2 over active samples.

    The derivative grows with t, in a straight line from each crossing of a sample to the next.
    """
    # Residual and change times the root of the weight: crossings stay where they are, squares get the weight.
    rest, change = (y - f) * root_weights, change * root_weights
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
