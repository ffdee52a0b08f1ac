"""Minimisation of an objective that is quadratic as long as no sample crosses the margin.

The objective is ridge |w|^2 / 2 + sum of (y - f)^2 / 2 over the active samples, those with y f < 1, where f are the
decision values. The caller's function ``solve`` finds the minimum for a given set of active samples. If that is the set
of samples with y f < 1 at this minimum, it is also the minimum of the whole objective, which is convex.

Samples may have weights: ``solve`` then minimises the weighted sum, and the line search takes the roots of the weights.

References: S. Keerthi, D. DeCoste, *A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs*, JMLR
6, 2005; C. Lawson, R. Hanson, *Solving Least Squares Problems*, 1974, chapter 23.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats

Mask = NDArray[np.bool_]
Solve = Callable[[Mask], tuple[Floats, Floats]]

MAX_NEWTON_STEPS = 30  # after these the slower exchange takes over, which always converges
MAX_ENTERING_SAMPLES = 16  # samples that one step of the exchange adds to the active set


class Optimum(NamedTuple):
    """Result of a search for the minimum."""

    slack: Floats  # 1 - y f of the active samples, 0 of the others
    converged: bool
    n_iter: int  # number of linear systems that were solved


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
    """Add samples to the active set and take others out until none is on the wrong side of the margin.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        The two classes, -1 and 1.
    active : ndarray of shape (n_samples,)
        First guess of the active samples.
    slack : ndarray of shape (n_samples,)
        Distance of each active sample from the margin in the solution of another problem with the same y, or 0.
    solve : callable
        Returns the solution for a set of active samples, and its decision values.
    inner : callable
        Returns ridge times the inner product of the weights of two solutions.
    tol : float
        Largest distance of a sample from the margin on the wrong side.
    max_iter : int
        Largest number of linear systems to solve.
    root_weights : float or ndarray of shape (n_samples,)
        Square roots of the sample weights that ``solve`` uses.

    Returns
    -------
    Optimum
        Converged unless ``max_iter`` was too small, or ``tol`` smaller than the rounding errors.
    """
    n_steps = min(max_iter, MAX_NEWTON_STEPS)
    found = newton(y, active, solve, inner, tol=tol, max_iter=n_steps, root_weights=root_weights)
    if found.converged or max_iter <= MAX_NEWTON_STEPS:
        return found
    found = exchange(y, slack, solve, tol=tol, max_iter=max_iter - MAX_NEWTON_STEPS)
    return found._replace(n_iter=found.n_iter + MAX_NEWTON_STEPS)


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
    """Run Newton's method with exact line search.

    The minimum for the present active set is a full Newton step. It overshoots when samples cross the margin, and full
    steps may cycle. With an exact line search the objective falls at every step, and finitely many steps reach the
    minimum (Keerthi and DeCoste). They are few unless the ridge is small and the classes are separable.
    """
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
    """Run Lawson and Hanson's method on the dual problem, whose unknowns are the slacks and must not be negative.

    Every step lowers the dual objective, whatever the ridge, but few samples are exchanged per step. With sample
    weights the unknowns are weight times slack: signs and step lengths are the same, so weights matter in ``solve``
    only.
    """
    active = slack > 0
    if not active.any():  # start with one sample of each class
        active[[np.argmax(y), np.argmin(y)]] = True
    for n_iter in range(1, max_iter + 1):
        _, f = solve(active)
        aim = np.where(active, 1 - y * f, 0.0)
        if (aim >= 0).all():
            # Feasible: accept it. It is optimal unless inactive samples are inside the margin; add the worst of them.
            slack = aim
            lacking = np.where(active, -np.inf, 1 - y * f)
            if lacking.max() <= tol:
                return Optimum(slack, True, n_iter)
            worst = np.argsort(-lacking, kind="stable")[:MAX_ENTERING_SAMPLES]
            active[worst[lacking[worst] > tol]] = True
        else:
            # Not feasible: go towards it until the first slack is 0, and take that sample out of the active set.
            falling = np.flatnonzero(aim < 0)
            fraction = slack[falling] / (slack[falling] - aim[falling])
            t = float(fraction.min())
            first = falling[fraction == t]
            slack = np.where(active, np.maximum(0.0, slack + t * (aim - slack)), 0.0)
            out = first[np.argmin(aim[first])]
            active[out], slack[out] = False, 0.0
    return Optimum(slack, False, max_iter)


def slack_of(y: Floats, f: Floats, active: Mask) -> Floats:
    """Return the distance of active samples from the margin, 0 for the others."""
    return np.where(active, np.maximum(1 - y * f, 0.0), 0.0)


def crossed(y: Floats, f: Floats, active: Mask, tol: float) -> Mask:
    """Mark active samples outside the margin and inactive ones inside, by more than ``tol``."""
    gap = 1 - y * f
    return np.asarray(np.where(active, -gap, gap) > tol)


def line_search(
    y: Floats, f: Floats, change: Floats, slope: float, curvature: float, root_weights: Floats | float = 1.0
) -> float:
    """Minimise t slope + t^2 curvature / 2 + sum of (y - f - t change)^2 / 2 over active samples, for t in [0, 1].

    The derivative is continuous, increasing and linear between the values of t at which samples cross the margin. So
    sort these values, find the first interval at whose end the derivative is positive, and solve for its zero there.
    """
    # Multiply residuals and changes by the roots of the weights: crossings stay the same, and squares get the weight.
    # A sample is inside the margin if y (y - f) = 1 - y f > 0.
    rest, change = (y - f) * root_weights, change * root_weights
    inside = (y * rest > 0) | ((rest == 0) & (y * change < 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = rest / change
    order = np.flatnonzero((crossing > 0) & (crossing < 1))
    order = order[np.argsort(crossing[order], kind="stable")]
    # Slope and curvature of the derivative on each interval: a sample adds its terms when it crosses into the margin
    # and takes them away when it crosses out.
    sign = np.where(inside[order], -1.0, 1.0)
    slopes = np.append(0.0, np.cumsum(-sign * rest[order] * change[order])) + slope - rest[inside] @ change[inside]
    curvatures = np.append(0.0, np.cumsum(sign * change[order] ** 2)) + curvature + change[inside] @ change[inside]
    ends = np.append(crossing[order], 1.0)
    rising = slopes + ends * curvatures >= 0
    k = int(rising.argmax()) if rising.any() else -1  # the derivative is negative up to t = 1: the last interval
    return float(np.clip(-slopes[k] / curvatures[k], 0.0, 1.0)) if curvatures[k] > 0 else 1.0
