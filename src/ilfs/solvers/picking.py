"""Features picked one at a time, each by what it adds to those before it: pure arithmetic on small matrices.

Nothing here sees rows. What is picked from are some candidates, given by their relevance, their correlations, and for
`gaining_picks` their correlations with the classes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.blas import add_squares
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR, first_of_largest

LEAST_GAIN = 1e-12  # a smaller gain is rounding: the square of a correlation that is zero but for its last bits
DELAYED = 64  # picks after which what they explain is taken off all covariances at once, as a product of matrices


@dataclass(frozen=True)
class Picks:
    """Candidates in the order in which they were picked.

    Parameters
    ----------
    order : ndarray of shape (n_picked,)
        Which; candidates that add nothing are not among them.
    value : ndarray of shape (n_picked,)
        What each added, as share of what the first did, but never more than the one before.
    novelty : ndarray of shape (n_candidates,)
        Share of the variance that the nearest one picked before does not explain; 1 for the first.
    nearest : ndarray of shape (n_candidates,)
        That one; -1 for the first, and for one that has nothing to do with any.
    """

    order: Integers
    value: Floats
    novelty: Floats
    nearest: Integers


def novel_picks(relevance: Floats, correlation: Floats) -> Picks:
    """Always the feature with the largest relevance times novelty.

    Parameters
    ----------
    relevance : ndarray of shape (n_candidates,)
        Not negative. Of equal values the first is picked, so they should be descending.
    correlation : ndarray of shape (n_candidates, n_candidates)
        Of all pairs.

    Returns
    -------
    Picks
        Of candidates with a relevance above 0 that are no copies of another.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.picking import novel_picks
    >>> correlation = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> picks = novel_picks(np.array([1.0, 0.9, 0.5]), correlation)
    >>> picks.order, picks.value.round(3)
    (array([0, 2, 1]), array([1.   , 0.5  , 0.171]))
    """
    family = Families.of(correlation)
    order, values = [], []
    left = relevance.astype(np.float64)
    for _ in range(left.size):
        value = left * family.novelty
        if value.max(initial=0.0) <= 0.0:
            break
        j = first_of_largest(value, UNIT_FLOOR)
        order.append(j)
        values.append(float(value[j]))
        family.admit(j)
        left[j] = 0.0
    return family.picks(order, values)


def gaining_picks(
    of_classes: Floats, correlation: Floats, ridge: float, covariance: Floats | None = None
) -> tuple[Picks, Floats]:
    r"""Always the feature by which a ridge regression of the classes gains most.

    With :math:`S` picked, the regression of the (standardised) classes :math:`y_k` on the (standardised) features has
    the loss

    .. math:: \ell(S) = \sum_k \min_w \|y_k - X_S w\|^2 + \lambda \|w\|^2

    and a further feature lowers it by exactly :math:`\sum_k c_{jk}^2 / (v_j + \lambda)`, where :math:`c_{jk}` is the
    product of the feature with what is left of class :math:`k`, and :math:`v_j` what is left of its own variance.

    Parameters
    ----------
    of_classes : ndarray of shape (n_candidates, n_classes)
        Correlations of the candidates with the indicators of the classes.
    correlation : ndarray of shape (n_candidates, n_candidates)
        Of all pairs, by which copies are known, and which of those picked is nearest.
    ridge : float
        :math:`\lambda`, above 0: for infinity a pick explains nothing, and the order is that of the correlations with
        the classes; near 0 it explains all that it can of the samples seen.
    covariance : ndarray of shape (n_candidates, n_candidates), optional
        What the regression is made of, if not of the correlations: those of a table with missing cells, each from other
        rows, need not fit together, and a regression on them would find more to explain than there is.

    Returns
    -------
    picks : Picks
        Of candidates that the loss gains by and that are no copies of another.
    gain : ndarray of shape (n_candidates, n_classes)
        What each class gained by each when it was picked, as share of its variance; 0 for those not picked.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.picking import gaining_picks
    >>> correlation = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> picks, gain = gaining_picks(np.array([[0.8], [0.72], [0.3]]), correlation, ridge=0.1)
    >>> picks.order, gain.round(3).ravel()
    (array([0, 2, 1]), array([0.582, 0.012, 0.082]))
    """
    from ilfs.kernels.gains import pick_some

    n, n_classes = of_classes.shape
    left = np.array(of_classes.T, dtype=np.float64, order="C")  # of the classes
    covariance = (correlation if covariance is None else covariance).copy()
    variance = covariance.diagonal().copy()
    waiting, novelty, nearest = np.ones(n, dtype=bool), np.ones(n), np.full(n, -1)
    order, value, gain = np.empty(n, dtype=np.int64), np.empty(n), np.zeros((n_classes, n))
    steps = np.zeros((DELAYED, n))
    for start in range(0, n, DELAYED):
        now = slice(start, start + DELAYED)
        n_picked = pick_some(
            left, variance, covariance, correlation, ridge, RELATIVE_TOLERANCE, UNIT_FLOOR, LEAST_GAIN,
            waiting, novelty, nearest, steps, order[now], value[now], gain,
        )  # fmt: skip
        if n_picked < DELAYED:
            order, value = order[: start + n_picked], value[: start + n_picked]
            break
        add_squares(covariance, steps, times=-1.0)
    return Picks(order, falling_shares(value), novelty, nearest), gain.T


def falling_shares(value: Floats) -> Floats:
    """Values as shares of the first, each at most the one before."""
    return np.minimum.accumulate(value) / value[0] if value.size else value


@dataclass
class Families:
    """For every candidate the nearest of those picked before it."""

    squares: Floats
    novelty: Floats
    nearest: Integers
    waiting: NDArray[np.bool_]

    @classmethod
    def of(cls, correlation: Floats) -> "Families":
        """Nothing picked yet."""
        n = len(correlation)
        return cls(correlation**2, np.ones(n), np.full(n, -1), np.ones(n, dtype=bool))

    def admit(self, j: int) -> None:
        """Pick one more."""
        self.waiting[j] = False
        novelty = 1.0 - self.squares[j]
        novelty[novelty <= UNIT_FLOOR] = 0.0  # a copy, but for rounding
        closer = (novelty < self.novelty - UNIT_FLOOR) & self.waiting
        np.copyto(self.novelty, novelty, where=closer)
        self.nearest[closer] = j

    def picks(self, order: list[int], values: list[float]) -> Picks:
        """All that was picked."""
        value = falling_shares(np.array(values, dtype=np.float64))
        return Picks(np.array(order, dtype=np.int64), value, self.novelty, self.nearest)
