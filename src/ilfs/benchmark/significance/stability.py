r"""Stability of the chosen features over splits.

There are two measures, both 1 for the same choice in every split and 0 on average for a choice at random. Kuncheva's
index is the mean over all pairs of splits of

.. math:: \frac{|A \cap B| - k^2 / d}{k - k^2 / d},

for sets of :math:`k` of :math:`d` features. Nogueira's measure allows sets of different sizes,

.. math:: \hat\Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1}\, \hat p_f (1 - \hat p_f)}
                              {\frac{\bar k}{d}\big(1 - \frac{\bar k}{d}\big)},

where :math:`\hat p_f` is the fraction of the :math:`M` splits that chose feature :math:`f` and :math:`\bar k` the mean
size, and it has a variance. For equal sizes the two are the same number. Both depend only on how often each feature was
chosen, so no table of splits x features is built.

The confidence interval is about other splits of the same data set, not about other data. It treats the splits as
independent draws from that data set.

References: L. Kuncheva, *A stability index for feature selection*, AIA 2007. S. Nogueira, K. Sechidis, G. Brown, *On
the Stability of Feature Selection Algorithms*, JMLR 18 (2018).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Integers
from ilfs.benchmark.significance.verdict import Verdict, z_test
from ilfs.parameters import check_between, check_integer


@dataclass(frozen=True)
class Stability:
    """Nogueira's measure of stability, with its variance."""

    value: float
    variance: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The approximate confidence interval, cut at 1, which no stability exceeds."""
        from scipy.special import ndtri

        check_between("confidence", confidence, 0, 1)
        margin = float(ndtri((1 + confidence) / 2)) * sqrt(self.variance)
        return self.value - margin, min(self.value + margin, 1.0)


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
    >>> from ilfs.benchmark.significance.stability import kuncheva_index
    >>> kuncheva_index([[0, 1], [1, 2]], n_features=4)
    0.0
    >>> kuncheva_index([[0, 1], [1, 0], [0, 1]], n_features=4)
    1.0
    """
    chosen = _check_subsets(subsets, n_features)
    sizes = sorted({one.size for one in chosen})
    if len(sizes) > 1:
        raise ValueError(
            f"kuncheva_index needs subsets of one size, got sizes {sizes[0]} to {sizes[-1]}; "
            "nogueira_stability takes different ones"
        )
    k, M = sizes[0], len(chosen)
    if k in (0, n_features):
        return float("nan")
    # every pair of splits that chose a feature adds one to the intersections
    times = _times_chosen(chosen, n_features)
    shared = float(times @ (times - 1)) / (M * (M - 1))
    by_chance = k * k / n_features
    return (shared - by_chance) / (k - by_chance)


def nogueira_stability(subsets: Sequence[ArrayLike], n_features: int) -> Stability:
    """Nogueira's stability of sets of any sizes, with its variance.

    Parameters
    ----------
    subsets : sequence of arrays of int
        The chosen features of every split, as column indices in any order; at least two.
    n_features : int
        Number of features to choose from.

    Returns
    -------
    Stability
        Value and variance; both NaN if nothing or everything was chosen, since there was no choice.

    Examples
    --------
    >>> from ilfs.benchmark.significance.stability import nogueira_stability
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
        return Stability(float("nan"), float("nan"))
    p = _times_chosen(chosen, d) / M
    value = 1 - M / (M - 1) * float(p @ (1 - p)) / d / spread
    # Nogueira's variance is 4 / M times the variance of the influence of each split on the value.
    agreement = np.array([p[one].sum() for one in chosen]) / d
    influence = (agreement - k * mean_k + value / 2 * (2 * k * mean_k - k - mean_k + 1)) / spread
    return Stability(value, 4 / M * float(influence.var()))


def equal_stability(first: Stability, second: Stability) -> Verdict:
    """Test whether two methods are equally stable.

    The two are treated as independent. On the same splits they are correlated, and then the test is conservative.

    Parameters
    ----------
    first, second : Stability
        Stabilities of two methods.

    Returns
    -------
    Verdict
        The z statistic, positive if the first is more stable, and its two-sided p-value.

    Examples
    --------
    >>> from ilfs.benchmark.significance.stability import Stability, equal_stability
    >>> round(equal_stability(Stability(0.8, 0.0009), Stability(0.7, 0.0016)).p_value, 4)
    0.0455
    """
    return z_test(first.value - second.value, sqrt(first.variance + second.variance))


def stability_by_size(orders: Sequence[ArrayLike], sizes: Sequence[int], n_features: int) -> tuple[Stability, ...]:
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
    tuple of Stability
        One for each size. Each value also equals Kuncheva's index, as all subsets have the same size.

    Examples
    --------
    >>> from ilfs.benchmark.significance.stability import stability_by_size
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
