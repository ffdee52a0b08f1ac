"""Tail probabilities of the chi-squared distribution that may be too small for a floating-point number."""

import numpy as np

from ilfs.arrays import Floats

SMALLEST = 1e-290  # below, probabilities lose digits and then become 0
N_TERMS = 60  # of the continued fraction; a few are enough for statistics above a thousand


def log10_chi2_tail(statistic: Floats, degrees_of_freedom: int) -> Floats:
    """Return the decimal logarithm of the probability that a chi-squared variable is at least so large.

    Parameters
    ----------
    statistic : ndarray
        Values of the variable.
    degrees_of_freedom : int
        Its degrees of freedom.

    Returns
    -------
    ndarray
        Logarithms, finite for all finite statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions.tails import log10_chi2_tail
    >>> log10_chi2_tail(np.array([3.841, 5000.0]), 1).round(2)
    array([   -1.3 , -1087.68])
    """
    from scipy.stats import chi2

    p_values = chi2.sf(statistic, degrees_of_freedom)
    is_small = p_values < SMALLEST
    logarithms = np.log10(np.where(is_small, 1.0, p_values))
    logarithms[is_small] = log_of_far_tail(statistic[is_small], degrees_of_freedom) / np.log(10.0)
    return logarithms


def log_of_far_tail(statistic: Floats, degrees_of_freedom: int) -> Floats:
    """Return the natural logarithm by the continued fraction of the incomplete gamma function.

    Gamma(a, x) = x^a e^-x / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), with x half of the
    statistic and a half of the degrees of freedom.
    """
    from scipy.special import gammaln

    a, x = 0.5 * degrees_of_freedom, 0.5 * np.asarray(statistic, dtype=np.float64)
    fraction = x + 2.0 * N_TERMS + 1.0 - a
    for n in range(N_TERMS, 0, -1):
        fraction = x + 2.0 * n - 1.0 - a - n * (n - a) / fraction
    return np.asarray(a * np.log(x) - x - np.log(fraction) - gammaln(a))
