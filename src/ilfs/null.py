r"""Permutation tests: p-values, q-values and a verdict from statistics under permuted labels.

A *statistic* is a number for each feature, larger for a better one. Its *null* values are those of the same features
under permuted labels. If all features have the same null distribution, the null values of all features can be pooled.
With :math:`t_j` the statistic of feature j and N null values :math:`t^0_i` of all features and permutations,

.. math:: p_j = \frac{1 + \#\{i : t^0_i \ge t_j\}}{1 + N}

The 1 counts the observed labels as one of the permutations, so that a p-value is never 0 (Phipson and Smyth 2010).
Pooling gives small p-values from few permutations: 20 permutations of 1,000 features give 20,000 null values. If labels
are permuted within groups, null distributions differ, and `standardised_by_feature` makes them alike first.

References: Y. Benjamini, Y. Hochberg, *Controlling the False Discovery Rate*, Journal of the Royal Statistical Society
B 57, 1995; J. D. Storey, *A direct approach to false discovery rates*, same journal 64, 2002; V. G. Tusher, R.
Tibshirani, G. Chu, *Significance analysis of microarrays*, PNAS 98, 2001; B. Phipson, G. K. Smyth, *Permutation
P-values should never be zero*, Statistical Applications in Genetics and Molecular Biology 9, 2010.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from ilfs.arrays import Floats
from ilfs.ties import tolerance

N_BEST = 10  # features whose mean statistic is compared with that of the permutations
STOREY_LAMBDA = 0.5  # p-values above this are taken for those of features without effect
CONFIDENCE = 0.95  # of the upper bound on the proportion of false discoveries
N_CURVE_RANKS = 200  # ranks at which `NullCurve` is known
CURVE_QUANTILES = (0.05, 0.5, 0.95)  # over the permutations

Procedure = Literal["bh", "storey"]


def pooled_p_values(observed: Floats, null: Floats, floor: float = 0.0) -> Floats:
    """Compute p-values from the null values of all features together.

    Parameters
    ----------
    observed : ndarray of any shape
        Statistics, larger is better; NaN for an uninformative feature, whose p-value is 1.
    null : ndarray of any shape
        Null values of all features and permutations. NaN is left out.
    floor : float, default=0.0
        Absolute tolerance of `ilfs.ties`. A null value that is smaller than the observed one by no more than the
        tolerance counts as equal to it.

    Returns
    -------
    ndarray of the shape of ``observed``
        (1 + number of null values >= the observed one) / (1 + number of null values).

    Examples
    --------
    Nine null values, of which 0, 1 and 4 are at least as large as the observed ones:

    >>> import numpy as np
    >>> from ilfs.null import pooled_p_values
    >>> null = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
    >>> pooled_p_values(np.array([1.0, 0.9, 0.6, np.nan]), null)
    array([0.1, 0.2, 0.5, 1. ])
    """
    pool = np.sort(null[~np.isnan(null)])
    # Sorted numbers are found several times faster, because the places of neighbours are in the cache.
    order, below = np.argsort(observed, axis=None), np.empty(observed.size, dtype=np.int64)
    below[order] = np.searchsorted(pool, (observed - tolerance(observed, floor)).ravel()[order], side="left")
    p_values = (1 + pool.size - below.reshape(observed.shape)) / (1 + pool.size)
    return np.asarray(np.where(np.isnan(observed), 1.0, p_values))


def standardised_by_feature(observed: Floats, null: Floats) -> tuple[Floats, Floats]:
    """Measure each statistic against those of the same feature under permuted labels.

    If labels are permuted within groups, the null distributions of features differ: that of a feature which depends on
    the groups lies far above the others. Pooling would then take this feature for one that depends on the labels. So
    each value is replaced by its difference from the mean of the null values of its feature, divided by the sum of
    their standard deviation and its median over the features. Without the median, a feature whose null values hardly
    vary would get huge values (Tusher, Tibshirani and Chu 2001). A null value is left out of the mean and the deviation
    that it is compared with, as the observed value is.

    Parameters
    ----------
    observed : ndarray of shape (n_features,)
        Statistics, larger is better; NaN for an uninformative feature.
    null : ndarray of shape (n_permutations, n_features)
        Null values.

    Returns
    -------
    observed, null : ndarray
        The values in these units; NaN where a value or all null values of a feature are NaN.

    Examples
    --------
    The null values of the second feature are ten times those of the first. Both deviations and their median are known:

    >>> import numpy as np
    >>> from ilfs.null import standardised_by_feature
    >>> null = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])  # deviations 1 and 10, median 5.5
    >>> standardised_by_feature(np.array([5.0, 20.0]), null)[0].round(3)  # 3 / 6.5 and 0
    array([0.462, 0.   ])
    """
    observed, *others = finite(np.vstack([observed, null]))
    null = np.array(others)
    known = ~np.isnan(null)
    count = known.sum(axis=0)
    centre = np.where(known, null, 0.0).sum(axis=0) / np.maximum(count, 1)
    distance = np.where(known, null - centre, np.nan)
    squares = np.nansum(distance**2, axis=0)
    deviation = np.sqrt(squares / np.maximum(count - 1, 1))
    typical = float(np.median(deviation[count > 1])) if (count > 1).any() else 0.0
    # Without one of n values, its distance d from the mean grows by n / (n - 1), and the sum of squares falls by
    # d^2 n / (n - 1).
    growth = count / np.maximum(count - 1, 1)
    squares_of_others = np.maximum(squares - distance**2 * growth, 0.0)
    deviation_of_others = np.sqrt(squares_of_others / np.maximum(count - 2, 1))
    of_observed = in_units(np.where(count > 0, observed - centre, np.nan), deviation + typical)
    return of_observed, in_units(distance * growth, deviation_of_others + typical)


def finite(values: Floats) -> Floats:
    """Replace infinite statistics by the largest finite one."""
    largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0)
    return np.where(np.isinf(values), np.copysign(largest, values), values)


def in_units(distance: Floats, unit: Floats) -> Floats:
    """Divide; a distance is 0 where the unit is."""
    return np.divide(distance, unit, out=np.where(np.isnan(distance), np.nan, 0.0), where=unit > 0)


def q_values(p_values: Floats, procedure: Procedure = "bh") -> Floats:
    """Convert p-values to q-values: the smallest false discovery rate at which each feature is selected.

    Parameters
    ----------
    p_values : ndarray of shape (n,)
        Numbers in (0, 1].
    procedure : {"bh", "storey"}, default="bh"
        ``"bh"``: Benjamini and Hochberg. ``"storey"``: the same, times an estimate of the fraction of features without
        effect: (1 + number of p-values > 0.5) / (n / 2), at most 1.

    Returns
    -------
    ndarray of shape (n,)
        q-values in (0, 1], in the order of the p-values.

    Examples
    --------
    The i-th smallest of n p-values is multiplied by n / i; a q-value is never larger than that of a larger p-value:

    >>> import numpy as np
    >>> from ilfs.null import q_values
    >>> q_values(np.array([0.01, 0.04, 0.03, 0.20]))  # 0.04, 0.16 / 3, 0.06 lowered to 0.16 / 3, and 0.2
    array([0.04      , 0.05333333, 0.05333333, 0.2       ])
    >>> q_values(np.array([0.01, 0.04, 0.03, 0.20]), "storey")  # (1 + 0) / 2 of that
    array([0.02      , 0.02666667, 0.02666667, 0.1       ])
    """
    if not p_values.size:
        return np.empty(0)
    adjusted: Floats = np.asarray(false_discovery_control(p_values, method="bh"))
    if procedure == "bh":
        return adjusted
    n_large = np.count_nonzero(p_values > STOREY_LAMBDA)
    without_effect = min(1.0, (1 + n_large) / ((1 - STOREY_LAMBDA) * p_values.size))
    return np.asarray(adjusted * without_effect)


def best_mean(statistics: Floats, n_best: int = N_BEST) -> Floats:
    """Return the mean of the largest statistics along the last axis, without NaN; minus infinity if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.null import best_mean
    >>> best_mean(np.array([[1.0, 4.0, 2.0], [0.0, np.nan, 3.0]]), n_best=2)
    array([3. , 1.5])
    """
    falling = -np.sort(-np.where(np.isnan(statistics), -np.inf, statistics), axis=-1)[..., :n_best]
    there = falling > -np.inf
    n_there = there.sum(axis=-1)
    total = np.where(there, falling, 0.0).sum(axis=-1)
    return np.asarray(np.where(n_there > 0, total / np.maximum(n_there, 1), -np.inf))


def chance_p_value(observed: Floats, null_by_permutation: Floats, n_best: int = N_BEST, floor: float = 0.0) -> float:
    """Test whether the best features are better than the best features under permuted labels.

    Parameters
    ----------
    observed : ndarray of shape (n_features,)
        Statistics, larger is better; NaN for an uninformative feature.
    null_by_permutation : ndarray of shape (n_permutations, n_features)
        Null values.
    n_best : int, default=10
        Number of largest statistics whose mean is compared.
    floor : float, default=0.0
        Absolute tolerance of `ilfs.ties`: means that differ only by rounding are equal.

    Returns
    -------
    float
        (1 + number of permutations with a mean that is at least as large) / (1 + number of permutations).

    Examples
    --------
    The two best have the mean 4; those of the permutations have the means 2.5, 4 and 3.5:

    >>> import numpy as np
    >>> from ilfs.null import chance_p_value
    >>> null = np.array([[1.0, 2.0, 3.0], [5.0, 3.0, 0.0], [4.0, 3.0, 0.0]])
    >>> chance_p_value(np.array([5.0, 0.0, 3.0]), null, n_best=2)
    0.5
    """
    return float(pooled_p_values(best_mean(observed, n_best), best_mean(null_by_permutation, n_best), floor))


def permutations_needed(fdr: float) -> int:
    """Return the number of permutations with which a single feature can be found.

    The smallest p-value is 1 / (1 + B n) for B permutations of n features, and a feature that is found alone must have
    p <= fdr / n: this holds for every n if B >= 1 / fdr. The smallest p-value of the verdict, 1 / (1 + B), is then
    below ``fdr``, too.

    Parameters
    ----------
    fdr : float
        Level, between 0 and 1.

    Returns
    -------
    int
        1 / fdr, rounded up.

    Examples
    --------
    >>> from ilfs.null import permutations_needed
    >>> permutations_needed(0.05), permutations_needed(0.3)
    (20, 4)
    """
    return math.ceil(1 / fdr * (1 - 1e-12))  # rounding: 1 / (1 / 49) is 49.000000000000007


def false_discovery_bound(n_selected: int, n_null: NDArray[np.int64], confidence: float = CONFIDENCE) -> float:
    """Return an upper confidence bound on the proportion of false discoveries.

    It is a quantile over the permutations of the number of null statistics that reach the threshold of the selection,
    divided by the number of selected features, as in significance analysis of microarrays. The quantile is the k-th
    smallest of the B numbers, k = ``confidence`` (B + 1), rounded up.

    If no feature has an effect and the threshold is fixed in advance, the observed number of features above the
    threshold exceeds the bound with a probability of at most 1 - ``confidence``. It is assumed that the number of false
    discoveries is distributed in the same way if some features do have an effect. The bound takes all features for
    ones without effect, so it is too large rather than too small. That the threshold was chosen by the same data is
    not allowed for.

    Parameters
    ----------
    n_selected : int
        Number of selected features.
    n_null : ndarray of shape (n_permutations,)
        Number of null statistics of each permutation that reach the threshold.
    confidence : float, default=0.95
        Confidence of the bound.

    Returns
    -------
    float
        From 0 to 1; 0 if nothing is selected, and 1 if there are too few permutations for the confidence.

    Examples
    --------
    With 4 permutations and a confidence of 0.6, the bound uses the third smallest number (0.6 times 5), which is 2:

    >>> import numpy as np
    >>> from ilfs.null import false_discovery_bound
    >>> false_discovery_bound(10, np.array([2, 0, 5, 1]), confidence=0.6)
    0.2
    >>> false_discovery_bound(10, np.array([2, 0, 5, 1]))  # 0.95 would need 19 permutations
    1.0
    """
    if not n_selected:
        return 0.0
    place = math.ceil(confidence * (n_null.size + 1) * (1 - 1e-12))
    if place > n_null.size:
        return 1.0
    return min(1.0, float(np.sort(n_null)[place - 1]) / n_selected)


@dataclass(frozen=True)
class NullCurve:
    """The k-th largest statistic under the observed labels and under permuted ones, for a picture.

    Parameters
    ----------
    ranks : ndarray of int of shape (n_ranks,)
        Ranks k, at about equal distances on a logarithmic scale.
    observed : ndarray of shape (n_ranks,)
        The k-th largest statistic under the observed labels.
    low, median, high : ndarray of shape (n_ranks,)
        5 %, 50 % and 95 % quantiles over the permutations of the k-th largest null value; NaN if a permutation has
        fewer than k informative features, or if the values are infinite.
    """

    ranks: NDArray[np.int64]
    observed: Floats
    low: Floats
    median: Floats
    high: Floats

    @classmethod
    def from_falling(cls, observed: Floats, null: Floats) -> Self:
        """Take some ranks of statistics that are sorted.

        Parameters
        ----------
        observed : ndarray of shape (n_features,)
            Statistics, largest first, NaN last.
        null : ndarray of shape (n_permutations, n_features)
            Null values of each permutation, largest first, NaN last.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.null import NullCurve
        >>> curve = NullCurve.from_falling(np.array([5.0, 3.0]), np.array([[4.0, 1.0], [2.0, 1.0], [3.0, 0.0]]))
        >>> curve.ranks.tolist(), curve.observed.tolist(), curve.median.tolist()
        ([1, 2], [5.0, 3.0], [3.0, 1.0])
        """
        ranks = log_spaced(int(np.count_nonzero(~np.isnan(observed))), N_CURVE_RANKS)
        with np.errstate(invalid="ignore"):  # between two infinite statistics there is no quantile to draw
            low, median, high = np.quantile(null[:, ranks - 1], CURVE_QUANTILES, axis=0)
        return cls(ranks, observed[ranks - 1], low, median, high)


def log_spaced(largest: int, n_values: int) -> NDArray[np.int64]:
    """Return integers from 1 to the largest, at about equal distances on a logarithmic scale.

    Examples
    --------
    >>> from ilfs.null import log_spaced
    >>> log_spaced(1000, 7).tolist(), log_spaced(3, 100).tolist(), log_spaced(0, 5).tolist()
    ([1, 3, 10, 32, 100, 316, 1000], [1, 2, 3], [])
    """
    if largest < 1:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.rint(np.geomspace(1, largest, n_values)).astype(np.int64))


@dataclass(frozen=True)
class PermutationTest:
    """Result of a permutation test of all features.

    Parameters
    ----------
    p_values : ndarray of shape (n_features,)
        p-value of each feature; 1 for an uninformative one.
    null_p_values : ndarray of shape (n_permutations, n_features)
        p-values of the null values themselves, which say how many of them reach a threshold.
    tested : ndarray of bool of shape (n_features,)
        False for an uninformative feature.
    best : float
        Mean of the largest statistics.
    null_best : ndarray of shape (n_permutations,)
        The same for each permutation.
    floor : float
        Absolute tolerance for ties.
    curve : NullCurve, optional
        The largest statistics, for a picture; None for several labels.
    """

    p_values: Floats
    null_p_values: Floats
    tested: NDArray[np.bool_]
    best: float
    null_best: Floats
    floor: float = 0.0
    curve: NullCurve | None = None

    @classmethod
    def from_statistics(
        cls, observed: Floats, null: Floats, floor: float = 0.0, *, within_groups: bool = False
    ) -> Self:
        """Test the statistics of all features.

        Parameters
        ----------
        observed : ndarray of shape (n_features,)
            Statistics, larger is better; NaN for an uninformative feature, which is left out of the null, too.
        null : ndarray of shape (n_permutations, n_features)
            Null values; NaN if a feature is uninformative under the permuted labels.
        floor : float, default=0.0
            Absolute tolerance for ties.
        within_groups : bool, default=False
            The labels were permuted within groups, so that features are not alike (`standardised_by_feature`).
        """
        tested = ~np.isnan(observed)
        null = np.where(tested, null, np.nan)
        compared = standardised_by_feature(observed, null) if within_groups else (observed, null)
        p_values, null_p_values = (pooled_p_values(one, compared[1], floor) for one in compared)
        falling, null_falling = (-np.sort(-one, axis=-1) for one in (observed, null))  # NaN comes last
        best, null_best = float(best_mean(falling[:N_BEST])), best_mean(null_falling[:, :N_BEST])
        curve = NullCurve.from_falling(falling, null_falling)
        return cls(p_values, null_p_values, tested, best, null_best, floor, curve)

    @classmethod
    def over_labels(cls, tests: Sequence[Self]) -> Self:
        """Join the tests of several labels into one test of dependence on any label.

        The p-value of a feature is its smallest one over the labels, times the number of labels (Bonferroni). The
        verdict needs no such factor, because the labels are permuted together: the means of the best features are
        averaged over the labels, under the observed labels as under every permutation.
        """
        return cls(
            np.minimum(len(tests) * np.min([one.p_values for one in tests], axis=0), 1.0),
            np.minimum(len(tests) * np.min([one.null_p_values for one in tests], axis=0), 1.0),
            np.any([one.tested for one in tests], axis=0),
            float(np.mean([one.best for one in tests])),
            np.asarray(np.mean([one.null_best for one in tests], axis=0)),
            tests[0].floor,
        )

    @property
    def q_values(self) -> Floats:
        """q-value of each feature by Benjamini and Hochberg."""
        return self.q_values_by("bh")

    def q_values_by(self, procedure: Procedure) -> Floats:
        """Return the q-value of each feature; uninformative features are not counted and have 1."""
        every = np.ones(self.p_values.size)
        every[self.tested] = q_values(self.p_values[self.tested], procedure)
        return every

    @property
    def chance_p_value(self) -> float:
        """p-value of the best features together; see the function `chance_p_value`."""
        return float(pooled_p_values(np.array(self.best), self.null_best, self.floor))

    def false_discovery_bound(self, selected: NDArray[np.bool_]) -> float:
        """Return the bound for a selection of the features with the smallest p-values."""
        threshold = self.p_values[selected].max(initial=0.0)
        return false_discovery_bound(
            int(np.count_nonzero(selected)), np.count_nonzero(self.null_p_values <= threshold, axis=1)
        )
