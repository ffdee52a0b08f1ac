r"""Convex functions of memberships: minimise f(p) for p in the convex hull of all sets of k features.

A set of k features is a vector of zeros and ones with sum k. The convex hull of these vectors is

.. math:: \{p : 0 \le p_j \le 1,\; \sum_j p_j = k\}.

We use the spectral projected gradient method: steps along the projected gradient, with the step length of Barzilai and
Borwein and a line search that compares with the largest of the last few values. For a convex f the decrease that is
still possible is at most

.. math:: \max_{s} \langle -\nabla f(p), s - p \rangle,

where the maximum over all sets s is that of the k largest components of :math:`-\nabla f`. This bound is the stopping
rule.

Reference: E. G. Birgin, J. M. Martinez, M. Raydan, *Nonmonotone Spectral Projected Gradient Methods on Convex Sets*,
SIAM Journal on Optimization 10, 2000.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ilfs.arrays import Floats

SUFFICIENT_DECREASE = 1e-4  # fraction of the decrease that the gradient promises
REMEMBERED_VALUES = 10  # of f, of which a new value may exceed all but the largest
MAX_HALVINGS = 40  # of a step; a step that is still too long is shorter than rounding errors
STEP_LIMITS = 1e-10, 1e10  # of the step length, relative to the first one

# A function of the memberships: returns f(p) and minus the gradient.
Objective = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True)
class Memberships:
    """Memberships p, with the value of the objective and minus its gradient.

    Parameters
    ----------
    p : ndarray of shape (n_features,)
        From 0 to 1; their sum is ``size``.
    size : int
        Number of features of a set.
    value : float
        f(p).
    descent : ndarray of shape (n_features,)
        Minus the gradient of f at p.
    """

    p: Floats
    size: int
    value: float
    descent: Floats

    @property
    def gap(self) -> float:
        """Upper bound of f(p) minus the minimum."""
        largest = np.partition(self.descent, -self.size)[-self.size :]
        return max(float(largest.sum() - self.descent @ self.p), 0.0)


def minimise_memberships(
    objective: Objective, start: Floats, size: int, *, tol: float, max_iter: int
) -> Iterator[Memberships]:
    """Minimise a convex function over the convex hull of all sets of ``size`` features.

    Parameters
    ----------
    objective : callable
        Returns f(p) and minus the gradient.
    start : ndarray of shape (n_features,)
        Feasible memberships.
    size : int
        Number of features of a set.
    tol : float
        Stop when the gap is at most this fraction of the value.
    max_iter : int
        Maximum number of steps.

    Yields
    ------
    Memberships
        The start, and the result of each step.
    """
    now = Memberships(start, size, *objective(start))
    yield now
    step = first = 1.0 / max(float(np.abs(now.descent).max()), np.finfo(np.float64).tiny)
    values = deque([now.value], maxlen=REMEMBERED_VALUES)
    for _ in range(max_iter):
        if now.gap <= tol * now.value:
            return
        direction = project_memberships(now.p + step * now.descent, size) - now.p
        new = line_search(objective, now, direction, max(values))
        step = spectral_step(now, new, step)
        step = min(max(step, first * STEP_LIMITS[0]), first * STEP_LIMITS[1])
        now = new
        values.append(now.value)
        yield now


def line_search(objective: Objective, now: Memberships, direction: Floats, reference: float) -> Memberships:
    """Halve the step along ``direction`` until the value is sufficiently below ``reference``."""
    slope = float(now.descent @ direction)
    length = 1.0
    for _ in range(MAX_HALVINGS):
        p = np.clip(now.p + length * direction, 0.0, 1.0)
        new = Memberships(p, now.size, *objective(p))
        if new.value <= reference - SUFFICIENT_DECREASE * length * slope:
            break
        length /= 2
    return new


def spectral_step(old: Memberships, new: Memberships, step: float) -> float:
    """Return the step length of Barzilai and Borwein, which estimates the inverse curvature along the last step."""
    moved, curved = new.p - old.p, old.descent - new.descent
    curvature = float(moved @ curved)
    return float(moved @ moved) / curvature if curvature > 0 else 2 * step


def project_memberships(q: Floats, size: int) -> Floats:
    """Return the nearest memberships with sum ``size``: min(max(q - t, 0), 1) for the right t.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.memberships import project_memberships
    >>> project_memberships(np.array([3.0, 0.5, 0.3, -1.0]), 2)
    array([1. , 0.6, 0.4, 0. ])
    """
    ends = np.sort(np.concatenate([q - 1, q]))  # values of t at which a component starts or stops to change
    low, high = 0, ends.size - 1
    while high - low > 1:  # the sum falls with t: find the two neighbouring ends between which it is ``size``
        middle = (low + high) // 2
        if np.clip(q - ends[middle], 0.0, 1.0).sum() >= size:
            low = middle
        else:
            high = middle
    shifted = q - (ends[low] + ends[high]) / 2
    is_free, n_ones = (shifted > 0) & (shifted < 1), np.count_nonzero(shifted >= 1)
    n_free = np.count_nonzero(is_free)
    t = (q[is_free].sum() + n_ones - size) / n_free if n_free else ends[low]
    return np.asarray(np.clip(q - t, 0.0, 1.0))


def largest_memberships(values: Floats, size: int, tolerance: float) -> Floats:
    """Return the set of the ``size`` largest values; values that tie for the last places share them equally.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.memberships import largest_memberships
    >>> largest_memberships(np.array([5.0, 1.0, 4.0, 4.0]), 2, 1e-9)
    array([1. , 0. , 0.5, 0.5])
    """
    last = np.partition(values, -size)[-size]
    above, tied = values > last + tolerance, np.abs(values - last) <= tolerance
    return np.where(above, 1.0, np.where(tied, (size - above.sum()) / tied.sum(), 0.0))
