"""Forward selection: features are picked one at a time, each for what it adds to those picked before.

The functions need no rows. They take the relevance of some candidate features and their correlations, and
`gaining_picks` takes their correlations with the classes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.blas import add_squares
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR, first_of_largest

MIN_GAIN = 1e-12  # a smaller gain is the square of a correlation that is zero up to rounding
NO_CANDIDATES: Integers = np.empty(0, dtype=np.int64)
PICKS_PER_UPDATE = 64  # picks per blocked update of the covariances, which is one product of matrices


@dataclass(frozen=True)
class Picks:
    """Candidates in the order in which they were picked.

    Parameters
    ----------
    order : ndarray of shape (n_picked,)
        Indices of the picked candidates. Candidates that add nothing are not picked.
    value : ndarray of shape (n_picked,)
        Gain of each pick as a fraction of the gain of the first, but never more than the value of the pick before.
    novelty : ndarray of shape (n_candidates,)
        Fraction of the variance that is not explained by the nearest of the candidates picked before; 1 for the first.
    nearest : ndarray of shape (n_candidates,)
        Index of that candidate; -1 for the first pick, and if there is no correlation with any of those picked before.
    n_forced : int, default=0
        Number of picks at the beginning that were forced. Values are then fractions of the gain of the best candidate
        alone. Those of the forced picks and those of the others fall separately.
    """

    order: Integers
    value: Floats
    novelty: Floats
    nearest: Integers
    n_forced: int = 0


def novel_picks(relevance: Floats, correlation: Floats, forced: Integers = NO_CANDIDATES) -> Picks:
    """Pick features one at a time by the largest product of relevance and novelty.

    The novelty of a feature is 1 - r^2, where r is its largest absolute correlation with a feature picked before.

    Parameters
    ----------
    relevance : ndarray of shape (n_candidates,)
        Numbers that are not negative, in descending order: of equal ones the first is picked.
    correlation : ndarray of shape (n_candidates, n_candidates)
        Correlations of all pairs of candidates.
    forced : ndarray of int, optional
        Candidates that are picked before all others, best first, even if they are copies or have a relevance of 0.

    Returns
    -------
    Picks
        Candidates with a relevance above 0 that are not copies of one picked before.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.picking import novel_picks
    >>> correlation = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> picks = novel_picks(np.array([1.0, 0.9, 0.5]), correlation)
    >>> picks.order, picks.value.round(3)
    (array([0, 2, 1]), array([1.   , 0.5  , 0.171]))
    """
    nearest = NearestPicked.before_picks(correlation)
    order, values = [], []
    relevance, wanted = relevance.astype(np.float64), is_among(forced, relevance.size)
    for number in range(relevance.size):
        is_forced = number < forced.size
        eligible = nearest.waiting & wanted if is_forced else nearest.waiting
        value = np.where(eligible, relevance * nearest.novelty, -1.0)
        if value.max() <= 0.0 and not is_forced:
            break
        j = first_of_largest(value, UNIT_FLOOR)
        order.append(j)
        values.append(float(value[j]))
        nearest.admit(j)
    return nearest.picks(order, values, forced.size, float(relevance.max(initial=0.0)))


def gaining_picks(
    of_classes: Floats,
    correlation: Floats,
    ridge: float,
    covariance: Floats | None = None,
    forced: Integers = NO_CANDIDATES,
) -> tuple[Picks, Floats]:
    r"""Pick features one at a time by how much each lowers the loss of a ridge regression of the classes.

    With the features :math:`S` picked, the regression of the standardised class indicators :math:`y_k` on the
    standardised features has the loss

    .. math:: \ell(S) = \sum_k \min_w \|y_k - X_S w\|^2 + \lambda \|w\|^2

    Another feature j lowers it by exactly :math:`\sum_k c_{jk}^2 / (v_j + \lambda)`. Here :math:`c_{jk}` is the
    covariance of the feature with the residual of class :math:`k`, and :math:`v_j` is the variance of the feature that
    the picked features do not explain.

    Parameters
    ----------
    of_classes : ndarray of shape (n_candidates, n_classes)
        Correlations of the candidates with the indicators of the classes.
    correlation : ndarray of shape (n_candidates, n_candidates)
        Correlations of all pairs of candidates. They determine copies, novelty and the nearest picked candidate.
    ridge : float
        :math:`\lambda`, above 0. As it goes to infinity, picks explain nothing, and candidates are ordered by their
        correlations with the classes. As it goes to 0, the regression becomes least squares.
    covariance : ndarray of shape (n_candidates, n_candidates), optional
        Covariances for the regression, by default the correlations. If values are missing, each correlation comes from
        other rows. Then their matrix may have negative eigenvalues, and gains computed from it would be too large.
    forced : ndarray of int, optional
        Candidates that are picked before all others, best first, even if they are copies or gain nothing.

    Returns
    -------
    picks : Picks
        Candidates that lower the loss and are not copies of one picked before.
    gain : ndarray of shape (n_candidates, n_classes)
        Decrease of the loss of each class by each pick, as a fraction of the variance of the class; 0 for candidates
        that were not picked.

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
    left = np.array(of_classes.T, dtype=np.float64, order="C")  # residual correlations with the classes
    covariance = (correlation if covariance is None else covariance).copy()
    variance = covariance.diagonal().copy()
    waiting, novelty, nearest = np.ones(n, dtype=bool), np.ones(n), np.full(n, -1)
    order, value, gain = np.empty(n, dtype=np.int64), np.empty(n), np.zeros((n_classes, n))
    is_forced, gain_alone = is_among(forced, n), (left**2).sum(axis=0) / (variance + ridge)
    steps = np.zeros((PICKS_PER_UPDATE, n))
    for start in range(0, n, PICKS_PER_UPDATE):
        now = slice(start, start + PICKS_PER_UPDATE)
        n_picked = pick_some(
            left, variance, covariance, correlation, ridge, RELATIVE_TOLERANCE, UNIT_FLOOR, MIN_GAIN,
            waiting, novelty, nearest, is_forced, forced.size - start, steps, order[now], value[now], gain,
        )  # fmt: skip
        if n_picked < PICKS_PER_UPDATE:
            order, value = order[: start + n_picked], value[: start + n_picked]
            break
        # Subtract what these picks explain from the covariances: steps holds rows of the Cholesky factor.
        add_squares(covariance, steps, times=-1.0)
    fractions = falling_fractions(value, forced.size, float(gain_alone.max(initial=0.0)))
    return Picks(order, fractions, novelty, nearest, forced.size), gain.T


def is_among(some: Integers, n: int) -> NDArray[np.bool_]:
    """Return a mask of n candidates that is true for some of them."""
    mask = np.zeros(n, dtype=bool)
    mask[some] = True
    return mask


def falling_fractions(value: Floats, n_forced: int = 0, largest: float = 0.0) -> Floats:
    """Divide values by the first, and limit each to the one before.

    Parameters
    ----------
    value : ndarray of shape (n_picked,)
        Values of the picks.
    n_forced : int, default=0
        Number of forced picks at the beginning, which do not limit the others.
    largest : float
        With forced picks: value of the best candidate before any pick, by which all values are divided.

    Returns
    -------
    ndarray of shape (n_picked,)
        Fractions from 1 down to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.picking import falling_fractions
    >>> falling_fractions(np.array([2.0, 1.0, 1.5]))
    array([1. , 0.5, 0.5])
    >>> falling_fractions(np.array([0.5, 2.0, 1.0]), n_forced=1, largest=2.0)
    array([0.25, 1.  , 0.5 ])
    """
    if not n_forced:
        return np.minimum.accumulate(value) / value[0] if value.size else value
    if largest <= 0.0:
        return np.zeros_like(value)
    limited = np.minimum(value, largest)
    parts = limited[:n_forced], limited[n_forced:]
    return np.concatenate([np.minimum.accumulate(part) for part in parts]) / largest


@dataclass
class NearestPicked:
    """The nearest picked candidate of every candidate, updated after each pick."""

    squares: Floats
    novelty: Floats
    nearest: Integers
    waiting: NDArray[np.bool_]

    @classmethod
    def before_picks(cls, correlation: Floats) -> "NearestPicked":
        """Make the state before the first pick."""
        n = len(correlation)
        return cls(correlation**2, np.ones(n), np.full(n, -1), np.ones(n, dtype=bool))

    def admit(self, j: int) -> None:
        """Update the novelty of the remaining candidates after candidate j is picked."""
        self.waiting[j] = False
        novelty = 1.0 - self.squares[j]  # fraction of the variance that pick j does not explain
        novelty[novelty <= UNIT_FLOOR] = 0.0  # a copy, up to rounding
        # A difference within rounding is a tie, which the earlier pick wins.
        closer = (novelty < self.novelty - UNIT_FLOOR) & self.waiting
        np.copyto(self.novelty, novelty, where=closer)
        self.nearest[closer] = j

    def picks(self, order: list[int], values: list[float], n_forced: int, largest: float) -> Picks:
        """Return the picks in their order; see `falling_fractions`."""
        value = falling_fractions(np.array(values, dtype=np.float64), n_forced, largest)
        return Picks(np.array(order, dtype=np.int64), value, self.novelty, self.nearest, n_forced)
