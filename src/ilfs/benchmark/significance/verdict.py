"""Statistic and p-value of a test, also in limit cases.

The distributions are scipy's. Its ready-made tests return NaN with a warning where samples have no spread, which
happens here when every split of an easy data set reaches 100 %. The limits are well defined: no difference at all has
the p-value 1, and a difference that never varies has the p-value 0.
"""

from dataclasses import dataclass
from math import copysign, inf


@dataclass(frozen=True)
class Verdict:
    """The statistic of a test and its two-sided p-value."""

    statistic: float
    p_value: float


def z_test(difference: float, error: float) -> Verdict:
    """Compare a difference with its standard error, by the normal distribution."""
    from scipy.special import ndtr

    z = in_errors(difference, error)
    return Verdict(z, 2 * float(ndtr(-abs(z))))


def student_test(difference: float, error: float, degrees: int) -> Verdict:
    """Compare a difference with its standard error, by Student's distribution."""
    from scipy.special import stdtr

    t = in_errors(difference, error)
    return Verdict(t, 2 * float(stdtr(degrees, -abs(t))))


def in_errors(difference: float, error: float) -> float:
    """Divide a difference by its standard error; infinite if only the error is 0."""
    if error == 0:
        return 0.0 if difference == 0 else copysign(inf, difference)
    return difference / error
