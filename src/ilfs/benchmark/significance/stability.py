"""Comparison of the stability of two methods; `ilfs.stability_indices` has the measures of stability."""

from math import sqrt

from ilfs.paired_tests import SignificanceResult, z_test
from ilfs.stability_indices import StabilityIndex


def equal_stability(first: StabilityIndex, second: StabilityIndex) -> SignificanceResult:
    """Test whether two methods are equally stable.

    The two are treated as independent. On the same splits they are correlated, and then the test is conservative.

    Parameters
    ----------
    first, second : StabilityIndex
        Stabilities of two methods.

    Returns
    -------
    SignificanceResult
        The z statistic, positive if the first is more stable, and its two-sided p-value.

    Examples
    --------
    >>> from ilfs.benchmark.significance.stability import equal_stability
    >>> from ilfs.stability_indices import StabilityIndex
    >>> round(equal_stability(StabilityIndex(0.8, 0.0009), StabilityIndex(0.7, 0.0016)).p_value, 4)
    0.0455
    """
    return z_test(first.value - second.value, sqrt(first.variance + second.variance))
