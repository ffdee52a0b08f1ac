r"""Lilliefors's test of normality, with unknown mean and variance.

The statistic is Kolmogorov's distance between the sample and the normal distribution of its own mean and variance,

.. math:: D = \max_x |F_n(x) - \Phi((x - \bar x)/s)|.

Since mean and variance are fitted, Kolmogorov's distribution does not hold and p-values come from simulation.
`QUANTILES` holds quantiles from 4 million normal samples of each size (1 million for size 400, 0.4 million for 1000) of
:math:`z = D\,(\sqrt n - 0.01 + 0.85/\sqrt n)`, Stephens's scaling, which hardly depends on the size. Between sizes, z
is interpolated over :math:`1/\sqrt n`; between levels, the logarithm of p over z. The relative error of the p-value is
below 4 % down to p = 0.005 and below 16 % down to 0.001. Smaller p-values are extrapolated linearly on the log scale,
which gives values that are too large rather than too small.

References: H. Lilliefors, *On the Kolmogorov-Smirnov Test for Normality with Mean and Variance Unknown*, JASA 62
(1967). M. Stephens, *EDF Statistics for Goodness of Fit and Some Comparisons*, JASA 69 (1974).
"""

from math import exp, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.benchmark.significance.values import present
from ilfs.paired_tests import SignificanceResult

MIN_SAMPLE_SIZE = 4
P_VALUE_LEVELS = (0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001)
# fmt: off
QUANTILES = {  # size: thousandths of the z that normal samples exceed with these probabilities
    4: (349, 407, 451, 510, 555, 592, 624, 655, 689, 732, 776, 834, 906, 955, 998, 1018, 1045),
    5: (354, 420, 460, 509, 544, 576, 608, 646, 695, 755, 789, 831, 894, 957, 1035, 1077, 1142),
    6: (359, 422, 456, 500, 536, 571, 609, 651, 695, 749, 783, 828, 901, 963, 1033, 1081, 1179),
    7: (363, 419, 451, 496, 535, 572, 610, 648, 691, 746, 781, 828, 899, 962, 1037, 1088, 1186),
    8: (363, 415, 447, 495, 535, 571, 607, 646, 690, 745, 781, 827, 899, 962, 1038, 1089, 1194),
    10: (359, 412, 447, 495, 533, 569, 605, 644, 688, 743, 778, 825, 897, 962, 1038, 1092, 1202),
    14: (357, 412, 446, 493, 531, 567, 603, 641, 685, 740, 775, 822, 894, 960, 1039, 1093, 1207),
    20: (358, 412, 446, 493, 531, 566, 602, 640, 684, 738, 774, 820, 893, 959, 1039, 1095, 1211),
    40: (360, 414, 447, 494, 532, 567, 602, 640, 684, 738, 774, 820, 893, 959, 1040, 1097, 1218),
    100: (364, 418, 451, 498, 535, 570, 606, 643, 687, 742, 777, 824, 896, 963, 1045, 1102, 1226),
    400: (370, 423, 457, 503, 541, 575, 611, 649, 692, 746, 782, 828, 901, 968, 1049, 1106, 1233),
    1000: (371, 426, 459, 505, 543, 578, 613, 651, 694, 749, 784, 831, 904, 971, 1053, 1112, 1235),
}
# fmt: on


def lilliefors(sample: ArrayLike) -> SignificanceResult:
    """Lilliefors's test of normality.

    Parameters
    ----------
    sample : array of shape (n_values,)
        At least 4 values; NaN is left out.

    Returns
    -------
    SignificanceResult
        D and its p-value; both NaN for values that are all equal, which have no variance to fit.

    Examples
    --------
    >>> from ilfs.benchmark.significance import lilliefors
    >>> outcome = lilliefors([148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236])
    >>> round(outcome.statistic, 3), round(outcome.p_value, 3)
    (0.259, 0.037)
    """
    x = np.sort(present("sample", sample, MIN_SAMPLE_SIZE))
    if x[0] == x[-1]:
        return SignificanceResult(float("nan"), float("nan"))
    D = kolmogorov_distance(x)
    return SignificanceResult(D, p_value_of_distance(D, x.size))


def kolmogorov_distance(x: Floats) -> float:
    """Largest distance between the steps of a sorted sample and the normal distribution fitted to it."""
    from scipy.special import ndtr

    n = x.size
    fitted = ndtr((x - x.mean()) / x.std(ddof=1))
    above, below = np.arange(1, n + 1) / n - fitted, fitted - np.arange(n) / n
    return float(max(above.max(), below.max()))


def p_value_of_distance(D: float, n: int) -> float:
    """Probability of a larger distance in a normal sample of the same size."""
    z = D * (sqrt(n) - 0.01 + 0.85 / sqrt(n))
    quantiles, log_levels = _quantiles_of(n), np.log(P_VALUE_LEVELS)
    if z > quantiles[-1]:
        slope = (log_levels[-1] - log_levels[-2]) / (quantiles[-1] - quantiles[-2])
        return exp(log_levels[-1] + slope * (z - quantiles[-1]))
    return float(np.exp(np.interp(z, [0.0, *quantiles], [0.0, *log_levels])))


def _quantiles_of(n: int) -> Floats:
    sizes = np.array(list(QUANTILES))
    table = np.array(list(QUANTILES.values())) / 1000
    # np.interp needs ascending nodes
    return np.array([np.interp(-1 / sqrt(n), -1 / np.sqrt(sizes), column) for column in table.T])
