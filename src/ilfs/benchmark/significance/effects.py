"""Effect sizes with confidence intervals, as a complement to p-values.

Intervals over data sets generalise to other, similar data sets. Intervals over splits of one data set would generalise
only to other splits of the same rows: use the interval of `corrected_t_test` there.

Intervals are BCa (bias corrected and accelerated) bootstraps of the pairs. scipy returns NaN where resamples tie or
have no spread, which is likely with few data sets. Here ties count half, and the interval of a statistic that never
varies is a point.

References: B. Efron, *Better Bootstrap Confidence Intervals*, JASA 82 (1987). L. Hedges, *Distribution theory for
Glass's estimator of effect size*, Journal of Educational Statistics 6 (1981).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.paired_tests import paired_differences
from ilfs.parameters import check_between, check_integer

Statistic = Callable[[Floats], Floats]  # reduces the last axis


@dataclass(frozen=True)
class Estimate:
    """An estimate and its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Effects:
    """Effect sizes of a paired difference.

    Attributes
    ----------
    mean : Estimate
        Mean difference, in the unit of the results.
    standardised : Estimate
        Mean difference in standard deviations of the differences (Cohen's d_z), with Hedges's correction for small
        samples. 0 if there is no difference; infinite if the difference never varies.
    superiority : Estimate
        Probability that the first is better, ties counted by half: 0.5 is no difference. Twice this minus 1 is Cliff's
        delta of the pairs.
    n_pairs : int
        Number of pairs for which both methods have a value.
    """

    mean: Estimate
    standardised: Estimate
    superiority: Estimate
    n_pairs: int


def paired_effects(
    first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95, n_resamples: int = 9999, seed: int = 0
) -> Effects:
    """Compute effect sizes of the difference of two methods, with bootstrap intervals.

    Parameters
    ----------
    first, second : array of shape (n_pairs,)
        Results of two methods, paired by data set; pairs with a NaN are left out. At least three must remain.
    confidence : float, default=0.95
        Level of the intervals. With fewer than about ten pairs they are too short.
    n_resamples : int, default=9999
        Number of bootstrap resamples.
    seed : int, default=0
        Seed of the bootstrap: the same seed gives the same interval.

    Returns
    -------
    Effects
        First minus second.

    Examples
    --------
    >>> from ilfs.benchmark.significance import paired_effects
    >>> effects = paired_effects([0.9, 0.8, 0.9, 0.7, 0.8], [0.8, 0.8, 0.7, 0.6, 0.7])
    >>> round(effects.mean.value, 3), round(effects.standardised.value, 3), effects.superiority.value
    (0.1, 1.131, 0.9)
    """
    differences = paired_differences(first, second, 3)
    check_between("confidence", confidence, 0, 1)
    check_integer("n_resamples", n_resamples, 1)
    drawn = np.random.default_rng(seed).integers(differences.size, size=(n_resamples, differences.size))
    resamples = differences[drawn]
    mean, d, superiority = (
        bca_interval(differences, resamples, statistic, confidence)
        for statistic in (mean_difference, cohens_d, probability_of_superiority)
    )
    J = hedges_correction(differences.size)
    return Effects(mean, Estimate(J * d.value, J * d.low, J * d.high), superiority, differences.size)


def mean_difference(differences: Floats) -> Floats:
    """Mean of the differences."""
    means: Floats = differences.mean(axis=-1)
    return means


def cohens_d(differences: Floats) -> Floats:
    """Mean divided by the standard deviation; 0 if all values are 0, infinite if all equal another number."""
    mean, deviation = differences.mean(axis=-1), differences.std(axis=-1, ddof=1)
    limit = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    unvarying = np.ptp(differences, axis=-1) == 0  # rounding may give equal numbers a standard deviation of 1e-17
    return np.where(unvarying, limit, mean / np.where(unvarying, 1.0, deviation))


def hedges_correction(n_pairs: int) -> float:
    """Factor that removes most of the bias of the standardised mean of few pairs."""
    return 1 - 3 / (4 * (n_pairs - 1) - 1)


def probability_of_superiority(differences: Floats) -> Floats:
    """Fraction of positive differences, zeros counted by half."""
    fractions: Floats = np.mean((np.sign(differences) + 1) / 2, axis=-1)
    return fractions


def bca_interval(sample: Floats, resamples: Floats, statistic: Statistic, confidence: float) -> Estimate:
    """The bias corrected and accelerated bootstrap interval of a statistic."""
    from scipy.special import ndtr, ndtri

    value, replicates = float(statistic(sample)), statistic(resamples)
    n = replicates.size
    below = np.mean(replicates < value) + np.mean(replicates == value) / 2
    # Efron's BCa levels: the bias z0 is the normal quantile of the fraction of replicates below the estimate, kept
    # finite where all replicates are on one side.
    z0 = ndtri(np.clip(below, 1 / (n + 1), n / (n + 1)))
    z = z0 + ndtri([(1 - confidence) / 2, (1 + confidence) / 2])
    level = ndtr(z0 + z / (1 - _acceleration(sample, statistic) * z))
    # no interpolation between replicates, as some may be infinite
    low, high = np.quantile(replicates, level, method="inverted_cdf")
    return Estimate(value, float(low), float(high))


def _acceleration(sample: Floats, statistic: Statistic) -> float:
    """Skewness of the leave-one-out values, over 6; 0 where they do not vary or are infinite."""
    n = sample.size
    left_out = statistic(np.broadcast_to(sample, (n, n))[~np.eye(n, dtype=bool)].reshape(n, n - 1))
    if not np.isfinite(left_out).all() or np.ptp(left_out) == 0:
        return 0.0
    deviation = left_out.mean() - left_out
    return float(np.sum(deviation**3) / (6 * np.sum(deviation**2) ** 1.5))
