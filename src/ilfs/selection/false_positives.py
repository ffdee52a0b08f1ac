r"""Stability selection: bounds on the expected number of false positives.

A selector chooses :math:`k` of :math:`p` features on each of :math:`M` half-samples of the rows. The features that are
chosen in at least a fraction :math:`\tau > 1/2` of them are kept. Let :math:`V` be the number of kept features whose
probability of being chosen on a half-sample is at most :math:`\theta = k / p`, that of a feature chosen at random. Then

.. math:: E[V] \le \frac{1}{2\tau - 1} \frac{k^2}{p}.

Meinshausen and Bühlmann proved this for the features without effect, if these are exchangeable and the selector is not
worse than random guessing. Shah and Samworth proved it without these assumptions, for features of low selection
probability and :math:`B = M / 2` complementary pairs: two half-samples without a common row. They also proved smaller
bounds under assumptions about the distribution of the frequencies.

``"unimodal"``: the fraction of pairs in which a feature is chosen in both halves has a unimodal distribution. Then, if
:math:`\theta \le 1/\sqrt 3` and :math:`\tau > 1/2 + \min(\theta^2,\ 1/(2B) + 3\theta^2/4)`,

.. math:: E[V] \le C \frac{k^2}{p}, \qquad
          C = \begin{cases} \big(2 (2\tau - 1 - \tfrac{1}{2B})\big)^{-1} & \tau \le 3/4 \\
                            4 (1 - \tau + \tfrac{1}{2B}) / (1 + \tfrac1B) & \tau > 3/4. \end{cases}

``"r-concave"``: that fraction has a -1/2-concave distribution, and the fraction of half-samples in which a feature is
chosen a -1/4-concave one. (A distribution f is r-concave for r < 0 if :math:`f^r` is convex.) Then

.. math:: E[V] \le p\,\min\big\{ D(\theta^2, 2\tau - 1, B, -\tfrac12),\ D(\theta, \tau, 2B, -\tfrac14) \big\},

where :math:`D(\eta, t, n, r)` is the largest probability of a value of at least :math:`t` over all r-concave
distributions on :math:`0, 1/n, \dots, 1` with a mean of at most :math:`\eta`.

A threshold that is not a multiple of :math:`1/M` is rounded up to one, which keeps the same features.

References: N. Meinshausen, P. Bühlmann, *Stability selection*, J. R. Statist. Soc. B 72 (2010). R. D. Shah, R. J.
Samworth, *Variable selection with error control: another look at stability selection*, J. R. Statist. Soc. B 75 (2013).
"""

from functools import lru_cache
from math import ceil, sqrt
from typing import Literal

import numpy as np

from ilfs.arrays import Floats
from ilfs.parameters import check_choice, check_integer, check_within

Assumption = Literal["none", "unimodal", "r-concave"]
ASSUMPTIONS = ("none", "unimodal", "r-concave")
MIN_SHIFT, MAX_SHIFT = 1e-9, 1e7  # of the extremal r-concave distributions; the largest one is almost uniform
ROUNDING = 1e-9  # of a threshold times the number of resamples


def expected_false_positives(
    n_features: int,
    k: int,
    threshold: float,
    n_resamples: int = 50,
    assumption: Assumption = "unimodal",
) -> float:
    """Bound the expected number of false positives of stability selection.

    Parameters
    ----------
    n_features : int
        Number of features to choose from.
    k : int
        Number of features that are chosen on each half-sample.
    threshold : float
        Features that are chosen in at least this fraction of the half-samples are kept; more than 1/2, at most 1.
    n_resamples : int, default=50
        Number of half-samples: twice the number of complementary pairs.
    assumption : {"unimodal", "r-concave", "none"}, default="unimodal"
        Assumption about the distribution of the selection frequencies. ``"none"`` is the bound of Meinshausen and
        Bühlmann. The two others need complementary pairs.

    Returns
    -------
    float
        The bound, at most ``n_features``.

    Examples
    --------
    >>> from ilfs.selection.false_positives import expected_false_positives
    >>> [round(expected_false_positives(1000, 20, 0.6, 100, one), 3) for one in ("none", "unimodal", "r-concave")]
    [2.0, 1.053, 0.334]
    """
    check_integer("n_features", n_features, 1)
    check_integer("k", k, 1)
    check_integer("n_resamples", n_resamples, 2)
    check_choice("assumption", assumption, ASSUMPTIONS)
    check_threshold(threshold)
    tau = ceil(threshold * n_resamples - ROUNDING) / n_resamples
    bound = k**2 / n_features / (2 * tau - 1)
    if assumption == "unimodal":
        bound = min(bound, k**2 / n_features * unimodal_factor(k / n_features, tau, n_resamples / 2))
    elif assumption == "r-concave":
        bound = min(bound, n_features * r_concave_tail(k / n_features, tau, n_resamples // 2))
    return float(min(bound, n_features))


def check_threshold(threshold: float) -> None:
    """Raise unless a threshold is more than 1/2 and at most 1."""
    check_within("threshold", threshold, 0, 1)
    if threshold <= 0.5:
        raise ValueError(f"threshold must be more than 0.5 and at most 1, got {threshold!r}")


def unimodal_factor(theta: float, tau: float, n_pairs: float) -> float:
    """Return the factor C of the unimodal bound; infinity where the theorem does not hold."""
    half = 1 / (2 * n_pairs)
    if theta > 1 / sqrt(3) or tau <= 0.5 + min(theta**2, half + 0.75 * theta**2):
        return float("inf")
    if tau <= 0.75:
        width = 2 * (2 * tau - 1 - half)
        return 1 / width if width > 0 else float("inf")
    return 4 * (1 - tau + half) / (1 + 2 * half)


def r_concave_tail(theta: float, tau: float, n_pairs: int) -> float:
    """Return the smaller of the two r-concave tail probabilities."""
    chosen = round(tau * 2 * n_pairs)  # in this many of the half-samples, so in both halves of chosen - n_pairs pairs
    return min(
        r_concave_bound(theta**2, chosen - n_pairs, n_pairs, -0.5), r_concave_bound(theta, chosen, 2 * n_pairs, -0.25)
    )


@lru_cache(maxsize=1024)
def r_concave_bound(eta: float, least: int, n: int, r: float) -> float:
    r"""Return the largest probability of ``least / n`` or more over r-concave distributions with a given mean.

    The maximum is attained by a distribution on :math:`0, \dots, \ell + 1` with weights :math:`(a + i)^{1/r}` up to
    :math:`\ell`, and a weight at :math:`\ell + 1` that gives the mean. For each :math:`\ell`, the shift :math:`a` lies
    between those at which the weights on :math:`0, \dots, \ell + 1` and on :math:`0, \dots, \ell` have this mean.

    Parameters
    ----------
    eta : float
        Mean of the distribution on 0, 1/n, ..., 1.
    least : int
        Smallest value of the tail, times n.
    n : int
        Number of steps.
    r : float
        Negative; the power of the distribution that is convex.

    Returns
    -------
    float
        The probability; 1 if ``least`` is not above about twice the mean, where nothing can be said.
    """
    from scipy.optimize import minimize_scalar

    mean = eta * n
    first = ceil(2 * mean) + 1  # the uniform distribution on 0, ..., first has a larger mean
    if least < first or first > n:
        return 1.0
    start = max(first, least - 1)  # distributions that end before ``least`` have no tail
    largest, shift = 0.0, shift_of_mean(mean, start, r, MAX_SHIFT)
    for last in range(start, n):
        lower = shift_of_mean(mean, last + 1, r, shift)
        found = minimize_scalar(
            lambda log_a, last=last: -tail_probability(np.exp(log_a), last, least, mean, r),
            bounds=(np.log(lower), np.log(shift)),
            method="bounded",
        )
        largest, shift = max(largest, -float(found.fun)), lower
    # All weights up to n, and none behind.
    return max(largest, tail_probability(shift, n, least, mean, r))


def weights_of(shift: float, last: int, r: float) -> Floats:
    """Return the weights (a + i)^(1/r) for i = 0, ..., last, relative to the first."""
    return np.asarray((1 + np.arange(last + 1) / shift) ** (1 / r))


def shift_of_mean(mean: float, last: int, r: float, largest: float) -> float:
    """Return the shift a at which the weights on 0, ..., last have a given mean, which grows with a."""
    from scipy.optimize import brentq

    def excess(log_a: float) -> float:
        weights = weights_of(float(np.exp(log_a)), last, r)
        return float(weights @ np.arange(last + 1) / weights.sum()) - mean

    low, high = np.log(MIN_SHIFT), np.log(largest)
    if excess(high) <= 0:  # rounding, or a mean of almost last / 2
        return largest
    return float(np.exp(brentq(excess, low, high, xtol=1e-13))) if excess(low) < 0 else MIN_SHIFT


def tail_probability(shift: float, last: int, least: int, mean: float, r: float) -> float:
    """Return the probability of ``least`` or more for weights on 0, ..., last and a mass at last + 1."""
    weights = weights_of(shift, last, r)
    return float(1 - (last + 1 - mean) * weights[:least].sum() / (weights @ (last + 1 - np.arange(last + 1))))
