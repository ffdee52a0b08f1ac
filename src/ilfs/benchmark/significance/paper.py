"""The paper's section "Reliability and Validity": normality, two-sample t-tests, the binomial tail over data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ilfs.arrays import Floats
from ilfs.benchmark.significance.normality import MIN_SAMPLE_SIZE, lilliefors
from ilfs.benchmark.significance.values import present, results_on_splits
from ilfs.paired_tests import SignificanceResult, student_test, without_noise
from ilfs.parameters import check_between, check_integer, check_within

PAPER_CHANCE = 0.35  # the success probability for which the paper's formula gives its 4.82e-3


def t_test(first: ArrayLike, second: ArrayLike) -> SignificanceResult:
    """Student's two-sample t-test with equal variances, as in the paper.

    The null hypothesis is that two independent samples have the same mean. Values of overlapping splits are not
    independent, so its p-values are too small here.

    Parameters
    ----------
    first, second : array of shape (n_values,)
        The two samples; NaN is left out. Their lengths may differ.

    Returns
    -------
    SignificanceResult
        t, positive if the first mean is larger, and the two-sided p-value.

    Examples
    --------
    >>> from ilfs.benchmark.significance import t_test
    >>> outcome = t_test([3, 4, 5], [1, 2, 3])
    >>> round(outcome.statistic, 3), round(outcome.p_value, 3)
    (2.449, 0.07)
    """
    a, b = present("first", first, 2), present("second", second, 2)
    a, b = a - a[0], b - a[0]  # so that means of equal numbers are exactly equal
    return t_test_of_moments(*((float(one.mean()), float(one.std(ddof=1)), one.size) for one in (a, b)))


def t_test_of_moments(first: tuple[float, float, int], second: tuple[float, float, int]) -> SignificanceResult:
    """Student's two-sample t-test with equal variances, from means, standard deviations and numbers of values.

    Parameters
    ----------
    first, second : tuple of (float, float, int)
        Mean, standard deviation (of n - 1 degrees of freedom) and number of values of each sample.

    Returns
    -------
    SignificanceResult
        t, positive if the first mean is larger, and the two-sided p-value.

    Examples
    --------
    ILFS and Inf-FS on COLON, as the paper prints them:

    >>> from ilfs.benchmark.significance import t_test_of_moments
    >>> round(t_test_of_moments((96.35, 5, 100), (96.10, 5, 100)).p_value, 2)
    0.72
    """
    (mean, deviation, n), (other_mean, other_deviation, other_n) = first, second
    degrees = n + other_n - 2
    variance = ((n - 1) * deviation**2 + (other_n - 1) * other_deviation**2) / degrees
    return student_test(mean - other_mean, sqrt(variance * (1 / n + 1 / other_n)), degrees)


def binomial_tail(n_trials: int, n_successes: int, p: float) -> float:
    """Probability of more than ``n_successes`` successes in independent trials.

    Parameters
    ----------
    n_trials : int
        Number of trials.
    n_successes : int
        The number to be exceeded.
    p : float
        Probability of one success, from 0 to 1.

    Returns
    -------
    float
        P(X > n_successes). The usual p-value, P(X >= n_successes), is ``binomial_tail(n_trials, n_successes - 1, p)``.

    Examples
    --------
    The number in the paper, P(X > 7), and the usual p-value, P(X >= 7):

    >>> from ilfs.benchmark.significance import binomial_tail
    >>> f"{binomial_tail(10, 7, 0.35):.2e}", f"{binomial_tail(10, 6, 0.35):.2e}"
    ('4.82e-03', '2.60e-02')
    """
    from scipy.special import bdtrc

    check_integer("n_trials", n_trials, 1)
    check_integer("n_successes", n_successes, -1)
    check_within("p", p, 0, 1)
    # bdtrc is not defined for a negative number
    return 1.0 if n_successes < 0 else float(bdtrc(min(n_successes, n_trials), n_trials, p))


@dataclass(frozen=True)
class PaperVerdict:
    """Result of the paper's procedure for a reference method.

    Attributes
    ----------
    normality : ndarray of shape (n_datasets, n_methods)
        Lilliefors's p-value of the values of a method on a data set; NaN if there are fewer than 4 or if they are all
        equal.
    p_values : ndarray of shape (n_datasets, n_methods)
        p-values of the two-sample t-test of the reference against a method; NaN for itself and where either is missing.
    best : ndarray of bool of shape (n_datasets,)
        Whether the reference has the largest mean: the paper's "success".
    significantly_best : ndarray of bool of shape (n_datasets,)
        Whether it has the largest mean and every p-value is below alpha.
    n_trials : int
        Number of data sets on which the reference and at least one other method have values.
    n_successes : int
        Number of these data sets on which the reference is best.
    tail : float
        Probability of more successes than that by chance.
    """

    normality: Floats
    p_values: Floats
    best: NDArray[np.bool_]
    significantly_best: NDArray[np.bool_]
    n_trials: int
    n_successes: int
    tail: float


def paper_procedure(
    values: ArrayLike, reference: int = 0, *, chance: float = PAPER_CHANCE, alpha: float = 0.05
) -> PaperVerdict:
    """Apply the procedure of the paper's section "Reliability and Validity" to any results.

    Every data set is a trial, and a success is to have the largest mean of all methods. The paper does not say what
    ``chance`` was; 0.35 is the value for which its 7 successes in 10 trials give its 4.82e-3.

    Parameters
    ----------
    values : array of shape (n_datasets, n_methods, n_splits) or (n_datasets, n_methods, n_splits, n_sizes)
        Larger is better; the paper has 20 splits and 5 sizes. NaN is left out; a method without two values on a data
        set is not compared there.
    reference : int, default=0
        Index of the method whose successes are counted.
    chance : float, default=0.35
        Probability of a success by chance.
    alpha : float, default=0.05
        Level of the t-tests, for ``significantly_best``.

    Returns
    -------
    PaperVerdict
        The p-values and the count.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.significance import paper_procedure
    >>> noise = np.random.default_rng(0).normal(size=(10, 3, 100))
    >>> verdict = paper_procedure(noise + np.array([0.5, 0.0, 0.0])[:, None])
    >>> verdict.n_successes, verdict.n_trials, int(verdict.significantly_best.sum())
    (10, 10, 9)
    """
    measured = results_on_splits(values, reference)
    check_between("alpha", alpha, 0, 1)
    samples = [[one[~np.isnan(one)] for one in methods] for methods in measured]
    means = np.array([[one.mean() if one.size else np.nan for one in methods] for methods in samples])
    means = without_noise(means, float(np.nanmax(np.abs(means), initial=0)))
    p_values = np.array([_p_values_against(methods[reference], methods) for methods in samples])
    p_values[:, reference] = np.nan
    compared = ~np.isnan(p_values)
    best = compared.any(axis=1) & np.all(~compared | (means[:, [reference]] > means), axis=1)
    n_trials, n_successes = int(compared.any(axis=1).sum()), int(best.sum())
    return PaperVerdict(
        normality=np.array([[_normality(one) for one in methods] for methods in samples]),
        p_values=p_values,
        best=best,
        significantly_best=best & np.all(~compared | (p_values < alpha), axis=1),
        n_trials=n_trials,
        n_successes=n_successes,
        tail=binomial_tail(n_trials, n_successes, chance) if n_trials else float("nan"),
    )


def _p_values_against(reference: Floats, samples: list[Floats]) -> list[float]:
    return [t_test(reference, one).p_value if min(reference.size, one.size) > 1 else np.nan for one in samples]


def _normality(sample: Floats) -> float:
    return lilliefors(sample).p_value if sample.size >= MIN_SAMPLE_SIZE else np.nan


@dataclass(frozen=True)
class JointVerdict:
    """The paper's count of successes over the data sets of several experiments.

    Attributes
    ----------
    n_trials, n_successes, n_significant : int
        Data sets, those on which the reference has the largest mean, and those of them on which every t-test is
        significant.
    tail : float
        Probability of more successes than that by chance, as the paper computes it.
    at_least : float
        Probability of at least as many: the usual p-value.
    """

    n_trials: int
    n_successes: int
    n_significant: int
    tail: float
    at_least: float


def joint_verdict(verdicts: Sequence[PaperVerdict], *, chance: float = PAPER_CHANCE) -> JointVerdict:
    """Count the successes of several experiments together: in the paper, 8 + 2 data sets.

    Parameters
    ----------
    verdicts : sequence of PaperVerdict
        Results of the paper's procedure on each experiment, with different data sets.
    chance : float, default=0.35
        Probability of a success by chance.

    Returns
    -------
    JointVerdict
        The count and its binomial tail.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.significance import joint_verdict, paper_procedure
    >>> rng = np.random.default_rng(0)
    >>> splits, classes = rng.normal(size=(8, 3, 100)), rng.normal(size=(2, 3, 20))
    >>> found = joint_verdict([paper_procedure(splits), paper_procedure(classes)])
    >>> found.n_trials, found.n_successes, round(found.tail, 2), round(found.at_least, 2)
    (10, 4, 0.25, 0.49)
    """
    n_trials, n_successes = sum(one.n_trials for one in verdicts), sum(one.n_successes for one in verdicts)
    tail, at_least = (
        binomial_tail(n_trials, k, chance) if n_trials else float("nan") for k in (n_successes, n_successes - 1)
    )
    n_significant = sum(int(one.significantly_best.sum()) for one in verdicts)
    return JointVerdict(n_trials, n_successes, n_significant, tail, at_least)
