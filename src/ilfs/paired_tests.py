"""Tests of two methods on splits of one data set, and Holm's correction for several tests.

`corrected_t_test` is the corrected resampled t-test of Nadeau and Bengio, paired by split. `ilfs.selection.compare` and
`ilfs.benchmark.significance` use these functions.

The distributions are scipy's. Its ready-made tests return NaN with a warning where samples have no spread, which
happens here when every split of an easy data set reaches 100 %. The limits are well defined: no difference at all has
the p-value 1, and a difference that never varies has the p-value 0.

References: C. Nadeau, Y. Bengio, *Inference for the Generalization Error*, Machine Learning 52 (2003). R. Bouckaert,
E. Frank, *Evaluating the Replicability of Significance Tests for Comparing Learning Algorithms*, PAKDD 2004. S. Holm,
*A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6 (1979).
"""

from dataclasses import dataclass
from math import ceil, copysign, inf, log10

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.parameters import check_between, check_positive

SIGNIFICANT_DIGITS = 12  # relative to the largest value; smaller differences are rounding errors
MAX_DECIMALS = 300  # numpy cannot round to more decimals


@dataclass(frozen=True)
class Difference:
    """The mean difference of two methods over splits: its interval, t, two-sided p-value and number of splits."""

    mean: float
    low: float
    high: float
    statistic: float
    p_value: float
    n_splits: int


def corrected_t_test(
    first: ArrayLike, second: ArrayLike, *, n_train: float, n_test: float, confidence: float = 0.95
) -> Difference:
    r"""The corrected resampled t-test of Nadeau and Bengio, for random splits of one data set.

    The mean of :math:`n` differences is compared with :math:`\sqrt{(1/n + n_\text{test}/n_\text{train})\, s^2}`.
    Without the second term, which accounts for the rows that splits share, more splits of the same rows would make any
    difference significant.

    Parameters
    ----------
    first, second : array of shape (n_splits,)
        Results of two methods on the same splits, one value for each split, averaged over sizes. Splits with a NaN are
        left out.
    n_train, n_test : float
        Rows for training and for testing in every split.
    confidence : float, default=0.95
        Level of the interval.

    Returns
    -------
    Difference
        First minus second.

    Examples
    --------
    >>> from ilfs.paired_tests import corrected_t_test
    >>> found = corrected_t_test([0.9, 0.8, 0.9, 0.8], [0.8, 0.8, 0.8, 0.8], n_train=40, n_test=20)
    >>> round(found.mean, 3), round(found.statistic, 3), round(found.p_value, 3)
    (0.05, 1.0, 0.391)
    """
    from scipy.special import stdtrit

    check_positive("n_train", n_train)
    check_positive("n_test", n_test)
    check_between("confidence", confidence, 0, 1)
    differences = paired_differences(first, second, 2)
    n, mean = differences.size, float(differences.mean())
    error = float(corrected_error(differences, n_train=n_train, n_test=n_test))
    verdict = student_test(mean, error, n - 1)
    margin = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    return Difference(mean, mean - margin, mean + margin, verdict.statistic, verdict.p_value, n)


def corrected_error(values: ArrayLike, *, n_train: float, n_test: float) -> Floats:
    """Standard error of a mean over splits that share rows, by the variance of Nadeau and Bengio.

    Parameters
    ----------
    values : array of shape (n_splits, ...)
        Two splits or more.
    n_train, n_test : float
        Rows for training and for testing in every split.

    Returns
    -------
    ndarray of shape (...)
        Standard errors.

    Examples
    --------
    >>> from ilfs.paired_tests import corrected_error
    >>> float(corrected_error([0.0, 1.0, 0.0, 1.0], n_train=40, n_test=20).round(3))
    0.5
    """
    sample = np.asarray(values, dtype=np.float64)
    return np.asarray(np.sqrt((1 / len(sample) + n_test / n_train) * sample.var(axis=0, ddof=1)))


def holm(p_values: ArrayLike) -> Floats:
    """Holm's correction for several tests.

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on; none may be smaller than the one before
    it, nor larger than 1. Rejecting the hypotheses whose adjusted p-value is at most alpha keeps the family-wise error
    rate at most alpha, for any dependence between the tests.

    Parameters
    ----------
    p_values : array of any shape
        NaN marks a test that was not made: it stays NaN and is not counted.

    Returns
    -------
    ndarray of the same shape
        Adjusted p-values.

    Examples
    --------
    >>> from ilfs.paired_tests import holm
    >>> holm([0.01, 0.04, 0.03]).round(4)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all(np.isnan(p) | ((p >= 0) & (p <= 1))):
        wrong = p[~np.isnan(p) & ((p < 0) | (p > 1))]
        raise ValueError(f"p_values must be numbers from 0 to 1 or NaN, got {wrong[0]:g}")
    adjusted = p.ravel().copy()
    order = np.argsort(adjusted)[: np.count_nonzero(~np.isnan(adjusted))]  # NaN comes last
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(adjusted[order] * factors), 1.0)
    return adjusted.reshape(p.shape)


@dataclass(frozen=True)
class SignificanceResult:
    """The statistic of a test and its two-sided p-value."""

    statistic: float
    p_value: float


def z_test(difference: float, error: float) -> SignificanceResult:
    """Compare a difference with its standard error, by the normal distribution."""
    from scipy.special import ndtr

    z = in_errors(difference, error)
    return SignificanceResult(z, 2 * float(ndtr(-abs(z))))


def student_test(difference: float, error: float, degrees: int) -> SignificanceResult:
    """Compare a difference with its standard error, by Student's distribution."""
    from scipy.special import stdtr

    t = in_errors(difference, error)
    return SignificanceResult(t, 2 * float(stdtr(degrees, -abs(t))))


def in_errors(difference: float, error: float) -> float:
    """Divide a difference by its standard error; infinite if only the error is 0."""
    if error == 0:
        return 0.0 if difference == 0 else copysign(inf, difference)
    return difference / error


def numbers(name: str, values: ArrayLike, n_dimensions: int | None = None) -> Floats:
    """Convert values to an array of floats; NaN is a missing value, infinity is an error."""
    array = np.asarray(values, dtype=np.float64)
    if n_dimensions is not None and array.ndim != n_dimensions:
        plural = "s" if n_dimensions > 1 else ""
        raise ValueError(f"{name} must have {n_dimensions} dimension{plural}, got an array of shape {array.shape}")
    if np.isinf(array).any():
        raise ValueError(f"{name} must be finite or NaN (missing), got an infinite value")
    return array


def paired_differences(first: ArrayLike, second: ArrayLike, least: int) -> Floats:
    """Differences of pairs, rounded; a pair with a missing value is left out."""
    a, b = numbers("first", first, 1), numbers("second", second, 1)
    if a.size != b.size:
        raise ValueError(f"first and second must be paired, got {a.size} and {b.size} values")
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < least:
        raise ValueError(f"first and second must have {least} pairs or more without NaN, got {both.sum()}")
    return without_noise(a[both] - b[both], float(np.abs([a[both], b[both]]).max(initial=0)))


def without_noise(values: Floats, largest: float) -> Floats:
    """Round to 12 digits of the largest input, so that values that differ by rounding errors only are equal."""
    if largest == 0:
        return values
    return np.round(values, min(SIGNIFICANT_DIGITS - ceil(log10(largest)), MAX_DECIMALS))
