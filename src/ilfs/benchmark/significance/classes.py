"""Tests of two methods over the classes of one data set, as in the paper's first experiment."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ilfs.benchmark.significance.pairs import wilcoxon_test
from ilfs.benchmark.significance.paper import t_test
from ilfs.benchmark.significance.values import check_reference
from ilfs.paired_tests import SignificanceResult, holm, numbers, paired_differences, student_test

MIN_CLASSES = 3


def paired_t_test(first: ArrayLike, second: ArrayLike) -> SignificanceResult:
    """Student's paired t-test.

    The null hypothesis is that the differences of the pairs have the mean 0.

    Parameters
    ----------
    first, second : array of shape (n_pairs,)
        The two samples; pairs with a NaN are left out.

    Returns
    -------
    SignificanceResult
        t, positive if the first mean is larger, and the two-sided p-value.

    Examples
    --------
    >>> from ilfs.benchmark.significance import paired_t_test
    >>> outcome = paired_t_test([3.0, 5.0, 5.0], [1.0, 2.0, 4.0])
    >>> round(outcome.statistic, 3), round(outcome.p_value, 3)
    (3.464, 0.074)
    """
    differences = paired_differences(first, second, 2)
    error = sqrt(float(differences.var(ddof=1)) / differences.size)
    return student_test(float(differences.mean()), error, differences.size - 1)


@dataclass(frozen=True)
class ClassComparison:
    """Comparison of a reference with one method over the classes of a data set.

    Attributes
    ----------
    method : int
        Index of the other method.
    wins, ties, losses : int
        Number of classes on which the reference is better, equal and worse.
    difference : float
        Mean difference, reference minus method.
    two_sample : SignificanceResult
        The paper's test: Student's two-sample t-test, which ignores that the values are paired.
    paired : SignificanceResult
        Student's paired t-test.
    signed_ranks : float
        p-value of Wilcoxon's signed-ranks test.
    adjusted : float
        That p-value with Holm's correction for all methods compared.
    """

    method: int
    wins: int
    ties: int
    losses: int
    difference: float
    two_sample: SignificanceResult
    paired: SignificanceResult
    signed_ranks: float
    adjusted: float


def compare_over_classes(values: ArrayLike, reference: int = 0) -> tuple[ClassComparison, ...]:
    """Compare a reference with every other method over the classes of a data set.

    The classes share their images, so that their values are not independent, and no test over them says anything about
    other data sets. Of the three tests the paper's has the least power: average precision differs far more between the
    classes than between the methods.

    Parameters
    ----------
    values : array of shape (n_classes, n_methods)
        Larger is better. Classes that either method lacks are left out.
    reference : int, default=0
        Index of the method that is compared with the others.

    Returns
    -------
    tuple of ClassComparison
        In the order of the methods. Methods that share fewer than three classes with the reference are not in it.

    Examples
    --------
    Classes differ by 20 points, methods by 1:

    >>> import numpy as np
    >>> from ilfs.benchmark.significance import compare_over_classes
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(80, 20, size=(20, 1)) + rng.normal(0, 1, size=(20, 2)) + [1, 0]
    >>> (found,) = compare_over_classes(values)
    >>> round(found.two_sample.p_value, 2), round(found.paired.p_value, 3), round(found.signed_ranks, 3)
    (0.92, 0.014, 0.012)
    """
    measured = numbers("values", values, 2)
    check_reference(reference, measured.shape[1])
    ours = measured[:, reference]
    shared = np.sum(~np.isnan(measured) & ~np.isnan(ours)[:, None], axis=0)
    others = [j for j in range(measured.shape[1]) if j != reference and shared[j] >= MIN_CLASSES]
    p_values = np.array([wilcoxon_test(ours, measured[:, j]).p_value for j in others])
    return tuple(
        _comparison(j, ours, measured[:, j], p_value, adjusted)
        for j, p_value, adjusted in zip(others, p_values.tolist(), holm(p_values).tolist(), strict=True)
    )


def _comparison(method: int, ours: ArrayLike, others: ArrayLike, p_value: float, adjusted: float) -> ClassComparison:
    differences = paired_differences(ours, others, MIN_CLASSES)
    return ClassComparison(
        method=method,
        wins=int(np.sum(differences > 0)),
        ties=int(np.sum(differences == 0)),
        losses=int(np.sum(differences < 0)),
        difference=float(differences.mean()),
        two_sample=t_test(ours, others),
        paired=paired_t_test(ours, others),
        signed_ranks=p_value,
        adjusted=adjusted,
    )
