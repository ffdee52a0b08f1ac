r"""Stability of the chosen features over splits or resamples of the rows.

All measures are 1 for the same choice in every split and 0 on average for a choice at random. Kuncheva's index is the
mean over all pairs of splits of

.. math:: \frac{|A \cap B| - k^2 / d}{k - k^2 / d},

for sets of :math:`k` of :math:`d` features. Nogueira's measure allows sets of different sizes,

.. math:: \hat\Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1}\, \hat p_f (1 - \hat p_f)}
                              {\frac{\bar k}{d}\big(1 - \frac{\bar k}{d}\big)},

where :math:`\hat p_f` is the fraction of the :math:`M` splits that chose feature :math:`f` and :math:`\bar k` the mean
size, and it has a variance. For equal sizes the two are the same number. Both depend only on how often each feature was
chosen, so no table of splits x features is built.

The measure for families gives credit for a feature that replaces a related one, such as a correlated one. Let
:math:`c(A, B)` be the fraction of the features of A that are in B or related to a feature of B, and :math:`r_f` the
number of features related to :math:`f`. If B were a random set, the expected value of :math:`c(A, B)` would be

.. math:: e(A) = \frac1k \sum_{f \in A} \bigg[ 1 - \binom{d - 1 - r_f}{k} \bigg/ \binom{d}{k} \bigg].

The measure is :math:`(\bar c - \bar e) / (1 - \bar e)`, with means over all ordered pairs of splits. Without related
features, :math:`c = |A \cap B| / k` and :math:`e = k / d`, and it is Kuncheva's index. Zhang et al. proposed it (nPOGR)
with the expected value for two random sets. We take that for the chosen set and a random one: on microarrays, chosen
genes often have fewer relatives than random ones, and their choice would then look worse than a random one.

The confidence interval is about other splits of the same data set, not about other data. It treats the splits as
independent draws from that data set.

References: L. Kuncheva, *A stability index for feature selection*, AIA 2007. S. Nogueira, K. Sechidis, G. Brown, *On
the Stability of Feature Selection Algorithms*, JMLR 18 (2018). M. Zhang et al.,
*Evaluating reproducibility of differential expression discoveries in microarray studies by considering correlated
molecular changes*, Bioinformatics 25 (2009).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ilfs.arrays import Floats, Integers
from ilfs.parameters import check_between, check_integer


@dataclass(frozen=True)
class StabilityIndex:
    """A measure of stability, with the variance of its estimate.

    Parameters
    ----------
    value, variance : float
        The estimate and its variance.
    """

    value: float
    variance: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Compute the approximate confidence interval, cut at 1, which no stability exceeds.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that the interval contains the stability.

        Returns
        -------
        low, high : float
            The interval.
        """
        from scipy.special import ndtri

        check_between("confidence", confidence, 0, 1)
        margin = float(ndtri((1 + confidence) / 2)) * sqrt(self.variance)
        return self.value - margin, min(self.value + margin, 1.0)


@dataclass(frozen=True)
class PairwiseIndex(StabilityIndex):
    """A measure of stability that is a mean over pairs of splits, corrected for chance.

    Parameters
    ----------
    value, variance : float
        ``(chosen_again - by_chance) / (1 - by_chance)``, and its variance.
    chosen_again : float
        Mean fraction of the features of one split that another split has chosen, too, or has replaced by related ones.
    by_chance : float
        Expected fraction if the other split chose at random.
    """

    chosen_again: float
    by_chance: float


def kuncheva_index(subsets: Sequence[ArrayLike], n_features: int) -> float:
    """Kuncheva's stability index of sets of one size.

    Parameters
    ----------
    subsets : sequence of arrays of int
        The chosen features of every split, as column indices in any order; at least two, all of one size.
    n_features : int
        Number of features to choose from.

    Returns
    -------
    float
        At most 1; about 0 for choices at random; NaN if nothing or everything was chosen, since there was no choice.

    Examples
    --------
    >>> from ilfs.stability_indices import kuncheva_index
    >>> kuncheva_index([[0, 1], [1, 2]], n_features=4)
    0.0
    >>> kuncheva_index([[0, 1], [1, 0], [0, 1]], n_features=4)
    1.0
    """
    chosen = _check_subsets(subsets, n_features)
    k, M = _one_size(chosen, "kuncheva_index"), len(chosen)
    if k in (0, n_features):
        return float("nan")
    # every pair of splits that chose a feature adds one to the intersections
    times = _times_chosen(chosen, n_features)
    shared = float(times @ (times - 1)) / (M * (M - 1))
    by_chance = k * k / n_features
    return (shared - by_chance) / (k - by_chance)


def nogueira_stability(subsets: Sequence[ArrayLike], n_features: int) -> StabilityIndex:
    """Nogueira's stability of sets of any sizes, with its variance.

    Parameters
    ----------
    subsets : sequence of arrays of int
        The chosen features of every split, as column indices in any order; at least two.
    n_features : int
        Number of features to choose from.

    Returns
    -------
    StabilityIndex
        Value and variance; both NaN if nothing or everything was chosen, since there was no choice.

    Examples
    --------
    >>> from ilfs.stability_indices import nogueira_stability
    >>> stability = nogueira_stability([[0, 1, 2], [0, 1, 3], [0, 1]], n_features=10)
    >>> round(stability.value, 3)
    0.659
    >>> low, high = stability.interval()
    >>> round(low, 3), round(high, 3)
    (0.612, 0.707)
    """
    chosen = _check_subsets(subsets, n_features)
    M, d = len(chosen), n_features
    k = np.array([one.size for one in chosen]) / d  # sizes, as fractions of all features
    mean_k = float(k.mean())
    spread = mean_k * (1 - mean_k)
    if spread == 0:
        return StabilityIndex(float("nan"), float("nan"))
    p = _times_chosen(chosen, d) / M
    value = 1 - M / (M - 1) * float(p @ (1 - p)) / d / spread
    # Nogueira's variance is 4 / M times the variance of the influence of each split on the value.
    agreement = np.array([p[one].sum() for one in chosen]) / d
    influence = (agreement - k * mean_k + value / 2 * (2 * k * mean_k - k - mean_k + 1)) / spread
    return StabilityIndex(value, 4 / M * float(influence.var()))


def family_stability(
    subsets: Sequence[ArrayLike],
    n_features: int,
    columns: ArrayLike | None = None,
    related: ArrayLike | None = None,
    n_related: ArrayLike | None = None,
    *,
    jackknife_size: int = 1,
) -> PairwiseIndex:
    """Stability of sets of one size in which related features replace each other, with its variance by the jackknife.

    Without related features this is Kuncheva's index.

    Parameters
    ----------
    subsets : sequence of arrays of int
        The chosen features of every split, as column indices in any order; at least two, all of one size.
    n_features : int
        Number of features to choose from.
    columns : array of shape (n,), optional
        The columns that were chosen at least once, ascending; others may be among them.
    related : array of bool of shape (n, n), optional
        Pairs of these columns that replace each other; each column replaces itself. By default there are none.
    n_related : array of shape (n,), optional
        Number of all other features that are related to each of these columns; 0 by default. An estimate need not be an
        integer.
    jackknife_size : int, default=1
        Number of consecutive splits that the jackknife leaves out together: 2 if the rows of every second split are
        the complement of those of the split before.

    Returns
    -------
    PairwiseIndex
        Value and variance, and the fractions before the correction for chance; all NaN if nothing or everything was
        chosen, since there was no choice.

    Examples
    --------
    Two features of ten are copies of each other. Which of the two is chosen does not matter.

    >>> import numpy as np
    >>> from ilfs.stability_indices import family_stability
    >>> family_stability([[0], [1], [0], [1]], 10, [0, 1], np.ones((2, 2), dtype=bool), [1, 1]).value
    1.0
    >>> round(family_stability([[0], [1], [0], [1]], 10).value, 2)
    0.26
    """
    chosen = _check_subsets(subsets, n_features)
    k = _one_size(chosen, "family_stability")
    if k in (0, n_features):
        return PairwiseIndex(*[float("nan")] * 4)
    inside, of_columns = _indicators(chosen, columns)
    replaced = inside.astype(np.float64) @ replaced_columns(inside, related).T / k
    relatives = np.zeros(of_columns.size) if n_related is None else np.asarray(n_related, dtype=np.float64)
    by_chance = inside @ chance_of_replacement(relatives, k, n_features) / k
    chosen_again, chance = _mean_of_pairs(replaced), float(by_chance.mean())
    left_out = _left_out(replaced, by_chance, np.arange(len(chosen)) // jackknife_size)
    variance = (left_out.size - 1) * float(left_out.var()) if left_out.size > 2 else float("nan")
    return PairwiseIndex(float(_corrected(chosen_again, chance)), variance, chosen_again, chance)


def chance_of_replacement(n_related: ArrayLike, k: int, n_features: int) -> Floats:
    """Return the probability that a random set holds a feature or one that is related to it.

    Parameters
    ----------
    n_related : array of shape (n,)
        Number of other features that are related to each feature; an estimate need not be an integer.
    k : int
        Size of the random set.
    n_features : int
        Number of features to choose from.

    Returns
    -------
    ndarray of shape (n,)
        From ``k / n_features``, if no feature is related, to 1.

    Examples
    --------
    >>> from ilfs.stability_indices import chance_of_replacement
    >>> chance_of_replacement([0, 1, 3], k=1, n_features=4).round(3)
    array([0.25, 0.5 , 1.  ])
    """
    from scipy.special import gammaln

    others = n_features - 1 - np.asarray(n_related, dtype=np.float64)  # the features that do not replace it
    possible = others >= k
    others = np.where(possible, others, k)
    # Fraction of the sets that hold only others, a quotient of binomial coefficients.
    missed = gammaln(others + 1) - gammaln(others - k + 1) - gammaln(n_features + 1) + gammaln(n_features - k + 1)
    return np.where(possible, 1 - np.exp(missed), 1.0)


def _indicators(chosen: list[Integers], columns: ArrayLike | None) -> tuple[NDArray[np.bool_], Integers]:
    """Return which columns are in each set, and the columns."""
    of_columns = np.unique(np.concatenate(chosen)) if columns is None else np.asarray(columns)
    inside = np.zeros((len(chosen), of_columns.size), dtype=bool)
    for row, one in zip(inside, chosen, strict=True):
        row[np.searchsorted(of_columns, one)] = True
    return inside, of_columns


def replaced_columns(inside: NDArray[np.bool_], related: ArrayLike | None) -> NDArray[np.bool_]:
    """Return the columns that are in each set or related to a column of it.

    Parameters
    ----------
    inside : ndarray of bool of shape (n_sets, n)
        Columns of each set.
    related : array of bool of shape (n, n) or None
        Pairs of related columns; None if there are none.

    Returns
    -------
    ndarray of bool of shape (n_sets, n)
        Columns that each set replaces.
    """
    if related is None:
        return inside
    pairs = np.asarray(related, dtype=bool)
    return np.asarray(inside | np.array([pairs[row].any(axis=0) for row in inside]))


def _mean_of_pairs(values: Floats) -> float:
    """Average over all ordered pairs of different sets."""
    M = len(values)
    return float(values.sum() - np.trace(values)) / (M * (M - 1))


def _corrected(mean: ArrayLike, by_chance: ArrayLike) -> Floats:
    """Correct means for chance; NaN where chance would replace all features."""
    mean, by_chance = np.asarray(mean), np.asarray(by_chance)
    value = np.full(mean.shape, np.nan)
    return np.asarray(np.divide(mean - by_chance, 1 - by_chance, out=value, where=by_chance < 1))


def _left_out(replaced: Floats, by_chance: Floats, units: Integers) -> Floats:
    """Return the measure without the sets of each unit, for all units at once from sums over rows and columns."""
    pairs = replaced - np.diag(np.diag(replaced))
    n_left = units.size - np.bincount(units)
    if n_left.min() < 2:
        return np.empty(0)
    touching = np.bincount(units, pairs.sum(axis=0) + pairs.sum(axis=1))
    within = np.bincount(units, np.where(units == units[:, None], pairs, 0.0).sum(axis=1))  # twice in the sum above
    mean = (pairs.sum() - touching + within) / (n_left * (n_left - 1))
    return _corrected(mean, (by_chance.sum() - np.bincount(units, by_chance)) / n_left)


def _one_size(chosen: list[Integers], measure: str) -> int:
    sizes = sorted({one.size for one in chosen})
    if len(sizes) > 1:
        raise ValueError(
            f"{measure} needs subsets of one size, got sizes {sizes[0]} to {sizes[-1]}; "
            "nogueira_stability takes different ones"
        )
    return sizes[0]


def stability_by_size(orders: Sequence[ArrayLike], sizes: Sequence[int], n_features: int) -> tuple[StabilityIndex, ...]:
    """Nogueira's stability of the best features of every split, for several sizes.

    Parameters
    ----------
    orders : sequence of arrays of int
        The ranking of every split: column indices, best first. They may be truncated after the largest size.
    sizes : sequence of int
        Numbers of best features.
    n_features : int
        Number of features to choose from.

    Returns
    -------
    tuple of StabilityIndex
        One for each size. Each value also equals Kuncheva's index, as all subsets have the same size.

    Examples
    --------
    >>> from ilfs.stability_indices import stability_by_size
    >>> orders = [[3, 1, 0, 2], [3, 0, 1, 2], [3, 1, 2, 0]]
    >>> [round(one.value, 2) for one in stability_by_size(orders, [1, 2, 3], n_features=4)]
    [1.0, 0.33, 0.11]
    """
    ranked = [np.asarray(order) for order in orders]
    shortest = min((order.size for order in ranked), default=0)
    for size in sizes:
        check_integer("sizes", size, 1)
        if size > shortest:
            raise ValueError(f"sizes must be at most {shortest}, the length of the shortest order, got {size}")
    return tuple(nogueira_stability([order[:size] for order in ranked], n_features) for size in sizes)


def _check_subsets(subsets: Sequence[ArrayLike], n_features: int) -> list[Integers]:
    check_integer("n_features", n_features, 1)
    if len(subsets) < 2:
        raise ValueError(f"stability needs the subsets of at least 2 splits, got {len(subsets)}")
    return [_check_subset(np.asarray(one), place, n_features) for place, one in enumerate(subsets)]


def _check_subset(subset: Integers, place: int, n_features: int) -> Integers:
    if subset.size == 0:
        return np.empty(0, dtype=np.int64)
    if subset.ndim != 1 or not np.issubdtype(subset.dtype, np.integer):
        raise ValueError(
            f"subsets must hold one-dimensional arrays of column indices, got {subset.dtype} of shape {subset.shape} "
            f"in subset {place}"
        )
    outside = subset[(subset < 0) | (subset >= n_features)]
    if outside.size:
        raise ValueError(f"subsets must hold indices from 0 to {n_features - 1}, got {outside[0]} in subset {place}")
    features, times = np.unique(subset, return_counts=True)
    if features.size < subset.size:
        raise ValueError(f"subsets must hold every feature once, got {features[times > 1][0]} again in subset {place}")
    return features.astype(np.int64)


def _times_chosen(chosen: list[Integers], n_features: int) -> Integers:
    return np.bincount(np.concatenate(chosen), minlength=n_features)
