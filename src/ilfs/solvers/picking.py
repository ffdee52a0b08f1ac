"""Forward selection: features are picked one at a time, each for what it adds to those picked before.

The functions need no rows. They take the relevance of some candidate features and their correlations, and
`gaining_picks` takes their correlations with the classes.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.blas import add_squares
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR, first_of_largest

if TYPE_CHECKING:
    from ilfs.kernels.gains import Needs, Regression

MAX_FEATURES = 3  # that a term may need
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


@dataclass(frozen=True)
class FurtherTerms:
    """Terms of the regression beside the linear term of each candidate.

    Shape terms need one candidate each and come first. Product terms need two or three.

    Parameters
    ----------
    features : ndarray of shape (n_terms, 3)
        Candidates that each term needs; -1 in unused places, which come last.
    ridge : ndarray of shape (n_terms,)
        Penalty of the squared coefficient of each term.
    covariance : ndarray of shape (n_candidates + n_terms, n_terms)
        Covariances of the candidates, and then of these terms, with these terms. Among the terms themselves, only the
        diagonal and the values above it are used.
    of_classes : ndarray of shape (n_terms, n_classes)
        Covariances with the indicators of the classes, which have variance 1.
    """

    features: Integers
    ridge: Floats
    covariance: Floats
    of_classes: Floats

    @classmethod
    def none(cls, n_candidates: int, n_classes: int) -> Self:
        """Return no terms."""
        return cls(
            np.empty((0, MAX_FEATURES), np.int64), np.empty(0), np.empty((n_candidates, 0)), np.empty((0, n_classes))
        )

    @property
    def n_shapes(self) -> int:
        """Number of shape terms."""
        return int(np.count_nonzero(self.features[:, 1] < 0))

    def needs(self, n_candidates: int) -> "Needs":
        """Return the tables by which the kernel finds the terms of a candidate."""
        from ilfs.kernels.gains import Needs

        shape = np.full(n_candidates, -1)
        shape[self.features[: self.n_shapes, 0]] = n_candidates + np.arange(self.n_shapes)
        features = np.ascontiguousarray(self.features[self.n_shapes :])
        product, place = np.nonzero(features >= 0)
        needed = features[product, place]
        by_candidate = np.argsort(needed, kind="stable")
        starts = np.searchsorted(needed[by_candidate], np.arange(n_candidates + 1))
        entered = np.zeros(len(features), dtype=bool)
        return Needs(shape, n_candidates + self.n_shapes, features, starts, product[by_candidate], entered)

    def most_at_once(self, n_candidates: int) -> int:
        """Return an upper bound of the number of terms that enter by one move."""
        n_terms_of = np.bincount(self.features[self.features >= 0], minlength=1)
        return MAX_FEATURES * (1 + int(n_terms_of.max())) if n_candidates else 0


@dataclass(frozen=True)
class Gains:
    """Decrease of the loss by each pick.

    Parameters
    ----------
    total : ndarray of shape (n_candidates, n_classes)
        Decrease of the loss of each class, as a fraction of the variance of the class; 0 for candidates that were not
        picked. What a product adds is divided equally among the candidates whose picks made it available.
    of_shapes : ndarray of shape (n_candidates, n_classes)
        Part of it that comes from the shape terms.
    """

    total: Floats
    of_shapes: Floats


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
    terms = FurtherTerms.none(*of_classes.shape)
    picks, gains = picks_by_terms(of_classes, correlation, ridge, terms, covariance, forced)
    return picks, gains.total


def picks_by_terms(
    of_classes: Floats,
    correlation: Floats,
    ridge: float,
    terms: FurtherTerms,
    covariance: Floats | None = None,
    forced: Integers = NO_CANDIDATES,
) -> tuple[Picks, Gains]:
    """Pick features by how much each lowers the loss of a ridge regression that has further terms.

    A pick makes the terms available that need no other feature. It enters with all of them. A move picks one feature,
    or all features that a product term needs. The next move is the one with the largest gain per feature. The gain of
    a feature alone is exact: it is the decrease of the loss by its linear and its shape term. Gains of products are
    added to it. A product whose features are all picked enters at once.

    Parameters
    ----------
    of_classes, correlation, ridge, covariance, forced
        As for `gaining_picks`; they describe the linear terms of the candidates.
    terms : FurtherTerms
        Shape terms and product terms.

    Returns
    -------
    picks : Picks
        Candidates that lower the loss and are not copies of one picked before. Candidates that were picked together
        have the same value, and the one with the largest gain alone comes first.
    gains : Gains
        Decrease of the loss of each class by each pick.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.picking import FurtherTerms, picks_by_terms
    >>> terms = FurtherTerms(  # the product of the last two of three features, which have no effect of their own
    ...     features=np.array([[1, 2, -1]]),
    ...     ridge=np.array([2.0]),
    ...     covariance=np.array([[0.0], [0.0], [0.0], [1.0]]),
    ...     of_classes=np.array([[0.9]]),
    ... )
    >>> picks, gains = picks_by_terms(np.array([[0.3], [0.0], [0.0]]), np.eye(3), 1.0, terms)
    >>> picks.order, gains.total.ravel()
    (array([1, 2, 0]), array([0.045, 0.135, 0.135]))
    """
    from ilfs.kernels.gains import Candidates, Found, Tolerance, pick_some

    n, n_classes = of_classes.shape
    regression = start_regression(of_classes, correlation if covariance is None else covariance, ridge, terms)
    needs = terms.needs(n)
    state = Candidates(correlation, np.ones(n, dtype=bool), np.ones(n), np.full(n, -1), is_among(forced, n))
    found = Found(np.empty(n, dtype=np.int64), np.empty(n), np.zeros((n_classes, n)), np.zeros((n_classes, n)))
    tolerance = Tolerance(RELATIVE_TOLERANCE, UNIT_FLOOR, MIN_GAIN)
    largest = largest_gain_alone(regression, needs.shape)
    n_picked, n_steps = pick_some(regression, needs, state, tolerance, forced.size, 0, found)
    while n_steps and n_picked < n:
        # Subtract what these picks explain from the covariances: steps holds rows of the Cholesky factor.
        add_squares(regression.covariance, regression.steps[:n_steps], times=-1.0)
        n_picked, n_steps = pick_some(regression, needs, state, tolerance, forced.size, n_picked, found)
    fractions = falling_fractions(found.value[:n_picked], forced.size, largest)
    picks = Picks(found.order[:n_picked], fractions, state.novelty, state.nearest, forced.size)
    return picks, Gains(found.gain.T, found.shape_gain.T)


def start_regression(of_classes: Floats, covariance: Floats, ridge: float, terms: FurtherTerms) -> "Regression":
    """Return the state of the regression before the first pick."""
    from ilfs.kernels.gains import Regression

    n, n_terms = len(of_classes), len(of_classes) + terms.ridge.size
    classes = np.ascontiguousarray(np.vstack([of_classes, terms.of_classes]).T, dtype=np.float64)
    whole = np.zeros((n_terms, n_terms))
    whole[:n, :n], whole[:, n:] = covariance, terms.covariance
    needs = terms.needs(n)
    with_shape = np.where(needs.shape >= 0, whole[np.arange(n), needs.shape], 0.0)
    steps = np.zeros((max(PICKS_PER_UPDATE, terms.most_at_once(n)), n_terms))
    every_ridge = np.concatenate([np.full(n, ridge), terms.ridge])
    return Regression(classes, whole.diagonal().copy(), with_shape, whole, every_ridge, steps)


def largest_gain_alone(regression: "Regression", shape: Integers) -> float:
    """Return the gain of the best single candidate before the first pick."""
    gains = (regression.classes**2).sum(axis=0) / (regression.variance + regression.ridge)
    alone = gains[: shape.size] + np.where(shape >= 0, gains[shape], 0.0)
    return float(alone.max(initial=0.0))


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
