"""Tests of all methods over data sets, by their ranks."""

from dataclasses import dataclass
from math import factorial, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.paired_tests import numbers, without_noise
from ilfs.parameters import check_between, check_choice, check_integer


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of the ranks of methods over data sets.

    Attributes
    ----------
    mean_ranks : ndarray of shape (n_methods,)
        1 is best.
    n_datasets : int
        Number of data sets that were used.
    chi2, chi2_p_value : float
        Friedman's statistic, with n_methods - 1 degrees of freedom.
    F, F_p_value : float
        Iman and Davenport's statistic, to be preferred: chi2 is too conservative when there are few data sets.
    """

    mean_ranks: Floats
    n_datasets: int
    chi2: float
    chi2_p_value: float
    F: float
    F_p_value: float


def friedman_test(values: ArrayLike, *, higher_is_better: bool = True, missing: str = "refuse") -> Friedman:
    """Friedman's test of the hypothesis that all methods are equally good over the data sets.

    Ranks are taken in every data set, equal values share their mean rank, and the statistic is corrected for ties
    (Demšar's formula is not: see `friedman_from_ranks`).

    Parameters
    ----------
    values : array of shape (n_datasets, n_methods)
        One result for each data set and method, as returned by `mean_over_splits`.
    higher_is_better : bool, default=True
        False for times and errors.
    missing : {"refuse", "drop"}, default="refuse"
        Treatment of data sets on which a method has no value (NaN): raise an error, or leave them out.

    Returns
    -------
    Friedman
        Mean ranks, statistics and p-values.

    Examples
    --------
    >>> from ilfs.benchmark.significance import friedman_test
    >>> found = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.7], [0.9, 0.7, 0.8], [0.6, 0.5, 0.4]])
    >>> found.mean_ranks, round(found.chi2, 3), round(found.F, 3)
    (array([1.   , 2.375, 2.625]), 6.533, 13.364)
    """
    measured = complete_datasets(values, missing)
    r = rank_methods(measured, higher_is_better=higher_is_better)
    N, k = r.shape
    middle = (k + 1) / 2
    # chi2 = (k - 1) times the variation of the rank sums over that of all ranks. Ties make the ranks vary less, so this
    # form corrects for them.
    between, total = float(np.sum((r.sum(axis=0) - N * middle) ** 2)), float(np.sum((r - middle) ** 2))
    return _friedman(r.mean(axis=0), N, (k - 1) * between / total if total else 0.0)


def friedman_from_ranks(mean_ranks: ArrayLike, n_datasets: int) -> Friedman:
    """Friedman's test from mean ranks, as printed in a paper; without a correction for ties.

    Parameters
    ----------
    mean_ranks : array of shape (n_methods,)
        1 is best.
    n_datasets : int
        Number of data sets.

    Returns
    -------
    Friedman
        Statistics and p-values.

    Examples
    --------
    Demšar's example, four variants of C4.5 on 14 data sets:

    >>> from ilfs.benchmark.significance import friedman_from_ranks
    >>> found = friedman_from_ranks([3.143, 2.000, 2.893, 1.964], 14)
    >>> round(found.chi2, 2), round(found.F, 2)
    (9.28, 3.69)
    """
    R = check_mean_ranks(mean_ranks)
    check_integer("n_datasets", n_datasets, 2)
    k = R.size
    return _friedman(R, n_datasets, float(12 * n_datasets / (k * (k + 1)) * (R @ R - k * (k + 1) ** 2 / 4)))


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    r"""Nemenyi's critical difference: the smallest difference of two mean ranks that is significant.

    .. math:: \frac{q_\alpha}{\sqrt 2}\sqrt{\frac{k (k + 1)}{6 N}}

    with the quantile :math:`q_\alpha` of the studentised range of :math:`k` methods and infinite degrees of freedom.

    Parameters
    ----------
    n_methods, n_datasets : int
        k >= 2 and N >= 2.
    alpha : float, default=0.05
        Level: the family-wise error rate over all pairs of methods.

    Returns
    -------
    float
        Critical difference, in ranks.

    Examples
    --------
    >>> from ilfs.benchmark.significance import critical_difference
    >>> round(critical_difference(4, 14), 2), round(critical_difference(12, 8), 2)
    (1.25, 5.89)
    """
    from scipy.stats import studentized_range

    check_between("alpha", alpha, 0, 1)
    return float(studentized_range.isf(alpha, n_methods, inf)) / sqrt(2) * _rank_error(n_methods, n_datasets)


def nemenyi_p_values(mean_ranks: ArrayLike, n_datasets: int) -> Floats:
    """Nemenyi's test of all pairs of methods.

    Parameters
    ----------
    mean_ranks : array of shape (n_methods,)
        1 is best.
    n_datasets : int
        Number of data sets.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        p-values, already corrected for the number of pairs; 1 on the diagonal. A p-value is at most alpha exactly where
        mean ranks differ by at least the critical difference.

    Examples
    --------
    >>> from ilfs.benchmark.significance import nemenyi_p_values
    >>> nemenyi_p_values([1.2, 1.9, 2.9], n_datasets=10).round(3)
    array([[1.   , 0.261, 0.   ],
           [0.261, 1.   , 0.065],
           [0.   , 0.065, 1.   ]])
    """
    from scipy.stats import studentized_range

    R = check_mean_ranks(mean_ranks)
    z = np.abs(R[:, None] - R) / _rank_error(R.size, n_datasets)
    # the numerical integral for 0 is not exactly 1
    return np.where(z == 0, 1.0, np.clip(studentized_range.sf(sqrt(2) * z, R.size, inf), 0.0, 1.0))


def rank_methods(values: ArrayLike, *, higher_is_better: bool = True) -> Floats:
    """Rank the methods in every data set, 1 = best; equal values share their mean rank.

    Parameters
    ----------
    values : array of shape (n_datasets, n_methods)
        NaN has no rank, and the others are ranked among themselves.
    higher_is_better : bool, default=True
        False for times and errors.

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        Ranks.

    Examples
    --------
    >>> from ilfs.benchmark.significance import rank_methods
    >>> rank_methods([[0.9, 0.7, 0.9], [0.5, 0.6, float("nan")]])
    array([[1.5, 3. , 1.5],
           [2. , 1. , nan]])
    """
    from scipy.stats import rankdata

    check_choice("higher_is_better", higher_is_better, (True, False))
    measured = numbers("values", values, 2)
    rounded = without_noise(measured, float(np.nanmax(np.abs(measured), initial=0)))
    ranked: Floats = rankdata(-rounded if higher_is_better else rounded, axis=1, nan_policy="omit")
    return ranked


def complete_datasets(values: ArrayLike, missing: str = "refuse") -> Floats:
    """Select the data sets on which every method has a value.

    Parameters
    ----------
    values : array of shape (n_datasets, n_methods)
        NaN is a missing result.
    missing : {"refuse", "drop"}, default="refuse"
        Treatment of the other data sets: raise an error, or leave them out.

    Returns
    -------
    ndarray of shape (n_complete, n_methods)
        Values of at least 2 data sets and 2 methods.

    Examples
    --------
    >>> from ilfs.benchmark.significance import complete_datasets
    >>> complete_datasets([[1, 2], [3, float("nan")], [5, 6]], missing="drop")
    array([[1., 2.],
           [5., 6.]])
    """
    check_choice("missing", missing, ("refuse", "drop"))
    measured = numbers("values", values, 2)
    lacking = np.isnan(measured)
    if missing == "refuse" and lacking.any():
        dataset, method = np.argwhere(lacking)[0].tolist()
        raise ValueError(
            f"every method must have a value on every data set, got NaN for method {method} on data set {dataset} "
            f"({lacking.sum()} missing in all); missing='drop' leaves such data sets out"
        )
    complete: Floats = measured[~lacking.any(axis=1)]
    if min(complete.shape) < 2:
        n_datasets, n_methods = complete.shape
        raise ValueError(
            f"a test of ranks needs at least 2 methods and 2 complete data sets, got {n_methods} and {n_datasets}"
        )
    return complete


def _friedman(mean_ranks: Floats, N: int, chi2: float) -> Friedman:
    from scipy.special import chdtrc, fdtrc

    k = mean_ranks.size
    room = max(N * (k - 1) - chi2, 0.0)  # 0 if all data sets rank the methods in the same order
    F = (N - 1) * chi2 / room if room > 0 else inf  # Iman and Davenport
    # The probability that all data sets rank the methods in the same order: no exact test has a smaller p-value.
    least_p = factorial(k) ** float(1 - N)
    return Friedman(
        mean_ranks=mean_ranks,
        n_datasets=N,
        chi2=chi2,
        chi2_p_value=float(chdtrc(k - 1, chi2)),
        F=F,
        F_p_value=max(float(fdtrc(k - 1, (k - 1) * (N - 1), F)) if inf > F else 0.0, least_p),
    )


def _rank_error(n_methods: int, n_datasets: int) -> float:
    """Standard error of a difference of two mean ranks."""
    check_integer("n_methods", n_methods, 2)
    check_integer("n_datasets", n_datasets, 2)
    return sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


def check_mean_ranks(mean_ranks: ArrayLike) -> Floats:
    """Raise an error if values cannot be mean ranks of methods."""
    R = numbers("mean_ranks", mean_ranks, 1)
    if R.size < 2 or np.isnan(R).any():
        raise ValueError(f"mean_ranks must be of at least 2 methods and none NaN, got {R}")
    middle = (R.size + 1) / 2
    if R.min() < 1 or R.max() > R.size or abs(float(R.mean()) - middle) > 0.01:
        raise ValueError(
            f"mean_ranks of {R.size} methods must lie between 1 and {R.size} and have the mean {middle:g}, "
            f"got {R.min():g} to {R.max():g} with the mean {R.mean():g}"
        )
    return R
