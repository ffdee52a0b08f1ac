r"""Direction and size of the difference between classes, feature by feature.

With class means :math:`\mu_k`, and :math:`s` the pooled standard deviation within the classes (:math:`n - K` degrees of
freedom for :math:`n` values in :math:`K` classes):

- The **direction** of two classes is the class with the larger mean. With more classes it is the class h that stands
  out: the one for which :math:`|\mu_h - \mu_r| / s` is largest, where :math:`\mu_r` is the mean of all values of the
  other classes. The feature is higher or lower in this class than in the others. If a class stands out above as far as
  another one below, the direction is the one above.
- The **effect** of two classes is Cohen's :math:`d = (\mu_2 - \mu_1) / s`, with the sign of the second class minus the
  first. With more classes it is :math:`(\mu_h - \mu_r) / s`; it is negative if the feature is lower in class h.
- The **fold change** is :math:`\log_2 (\mu_2 / \mu_1)`, or :math:`\log_2 (\mu_h / \mu_r)`, without a pseudo-count: it
  is infinite if one of the two means is 0. It has no meaning if values may be negative, so it is computed only if no
  value of the whole table is.

Reference: J. Cohen, *Statistical Power Analysis for the Behavioral Sciences*, 1988.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.statistics.labels import Classes
from ilfs.statistics.moments import ClassMoments
from ilfs.statistics.profile import ClassProfile
from ilfs.ties import tolerance

MAX_CLASS_MEANS = 10  # classes whose means are kept; with more, a table would have too many columns
MEAN_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # relative error of a mean; equal means may differ by this much
MIN_VARIANCE_RATIO = 1.2  # of the largest to the second largest class variance, if a class is called the widest
NO_CLASS = -1  # direction of a feature whose class means are equal, or that has values in one class only


@dataclass(frozen=True)
class FeatureProfile:
    """Description of every feature: how it differs between the classes, and how many values are missing or zero.

    Parameters
    ----------
    missing : ndarray of shape (n_features,)
        Fraction of the rows, by weight, in which the feature is missing.
    nonzero : ndarray of shape (n_features,)
        Fraction of its values that are not zero; NaN for a feature without values.
    labels : ndarray of shape (n_classes,), optional
        Class labels. None without labels or for several labels, as all fields below.
    direction : ndarray of int of shape (n_features,), optional
        Index of the class with the larger mean, or of the class that stands out of more than two; -1 if all class means
        are equal up to rounding, or if the feature has values in fewer than two classes.
    effect : ndarray of shape (n_features,), optional
        Standardised difference of the class means. Infinite if the feature is constant within every class, but not
        over all classes; 0 if the class means are equal; NaN if the feature has values in fewer than two classes.
    fold_change : ndarray of shape (n_features,), optional
        Binary logarithm of the quotient of means; None if a value of the table is negative. NaN if both means are 0.
    means : ndarray of shape (n_classes, n_features), optional
        Class means, NaN for a class without values; None for more than `MAX_CLASS_MEANS` classes.
    widest : ndarray of int of shape (n_features,), optional
        Index of the class with the largest variance; -1 if that of another class is about as large.
    """

    missing: Floats
    nonzero: Floats
    labels: NDArray[Any] | None = None
    direction: Integers | None = None
    effect: Floats | None = None
    fold_change: Floats | None = None
    means: Floats | None = None
    widest: Integers | None = None

    @classmethod
    def from_statistics(cls, profile: ClassProfile, classes: Classes) -> Self:
        """Describe the features by the statistics of all rows.

        Parameters
        ----------
        profile : ClassProfile
            Moments, zeros and signs.
        classes : Classes
            Classes of the rows and their weights.

        Returns
        -------
        FeatureProfile
            The description; that of a single class has no direction.

        Examples
        --------
        The means are 2 and 6, and the pooled variance is (2 + 2) / 2:

        >>> import numpy as np
        >>> from ilfs.effects import FeatureProfile
        >>> from ilfs.execution import fold_of
        >>> from ilfs.sources import table_source
        >>> from ilfs.statistics import Profile
        >>> fold = fold_of(table_source(np.array([[1.0], [3.0], [5.0], [7.0]]), np.array(["a", "a", "b", "b"])))
        >>> found = FeatureProfile.from_statistics(fold(Profile()), fold.classes)
        >>> found.direction.tolist(), found.effect.round(4).tolist(), found.fold_change.round(4).tolist()
        ([1], [2.8284], [1.585])
        """
        moments = profile.moments
        described = cls(missing_fraction(moments, classes), nonzero_fraction(profile))
        if classes.n_classes < 2:
            return described
        is_pair = classes.n_classes == 2
        outstanding = highest_class(moments) if is_pair else most_different_class(moments)
        one = np.ones_like(outstanding) if is_pair else outstanding
        difference, of_one, of_others = compare_with_others(moments, one)
        effect = standardised(difference, moments)
        is_difference = np.abs(difference) > MEAN_ROUNDING * np.maximum(np.abs(of_one), np.abs(of_others))
        return replace(
            described,
            labels=classes.labels,
            direction=np.where(is_difference, outstanding, NO_CLASS),
            effect=np.where(is_difference | np.isnan(effect), effect, 0.0),
            fold_change=None if profile.negative.any() else log_ratio(of_one, of_others),
            means=np.where(moments.count > 0, moments.mean, np.nan) if classes.n_classes <= MAX_CLASS_MEANS else None,
            widest=widest_class(moments),
        )

    def without_classes(self) -> Self:
        """Return the fractions of missing and non-zero values alone."""
        return type(self)(self.missing, self.nonzero)


def missing_fraction(moments: ClassMoments, classes: Classes) -> Floats:
    """Return the fraction of the rows in which each feature is missing."""
    fraction = 1.0 - moments.total / classes.total.sum()
    return np.where(np.abs(fraction) < MEAN_ROUNDING * classes.rows.sum(), 0.0, fraction)  # weights are rounded sums


def nonzero_fraction(profile: ClassProfile) -> Floats:
    """Return the fraction of the values of each feature that are not zero."""
    total, zeros = profile.moments.total, profile.zeros.sum(axis=0)
    return np.asarray(1.0 - np.divide(zeros, total, out=np.full_like(total, np.nan), where=total > 0))


def highest_class(moments: ClassMoments) -> Integers:
    """Return the index of the class with the largest mean, for each feature."""
    return np.asarray(np.argmax(np.where(moments.count > 0, moments.mean, -np.inf), axis=0))


def widest_class(moments: ClassMoments) -> Integers:
    """Return the index of the class with clearly the largest variance, for each feature; -1 if there is none."""
    variance = np.divide(moments.scatter, moments.count, out=np.zeros_like(moments.scatter), where=moments.count > 0)
    second, largest = np.sort(variance, axis=0)[-2:]
    return np.where(largest > MIN_VARIANCE_RATIO * second, np.argmax(variance, axis=0), NO_CLASS)


def most_different_class(moments: ClassMoments) -> Integers:
    """Find the class whose mean is farthest from the mean of all other values.

    Parameters
    ----------
    moments : ClassMoments
        Moments of the features.

    Returns
    -------
    ndarray of shape (n_features,)
        Index of the class. If several are equally far, it is the first one whose mean is above that of the others.
    """
    total = np.where(moments.total > 0, moments.total, 1.0)
    # With means from the first class on, a large offset of all means costs no digits.
    overall = (moments.count * moments.offset).sum(axis=0) / total
    others = total - moments.count
    # The mean of the other values follows from the overall mean m: mu_k - mu_r = (mu_k - m) * total / (total - n_k).
    factor = np.divide(total, others, out=np.zeros_like(others), where=(others > 0) & (moments.count > 0))
    difference = (moments.offset - overall) * factor
    size = np.abs(difference)
    floor = MEAN_ROUNDING * np.abs(np.where(moments.count > 0, moments.mean, 0.0)).max(axis=0)
    largest = size.max(axis=0)
    is_farthest = size >= largest - tolerance(largest) - floor
    is_above = is_farthest & (difference > 0)
    return np.asarray(np.where(is_above.any(axis=0), is_above.argmax(axis=0), is_farthest.argmax(axis=0)))


def compare_with_others(moments: ClassMoments, one: Integers) -> tuple[Floats, Floats, Floats]:
    """Compare one class of each feature with all other classes together.

    Parameters
    ----------
    moments : ClassMoments
        Moments of the features.
    one : ndarray of shape (n_features,)
        Index of the class, for each feature.

    Returns
    -------
    difference, of_one, of_others : ndarray of shape (n_features,)
        Mean of the class minus that of all values of the other classes, and the two means. NaN if the feature has
        values in fewer than two classes.
    """
    columns, known = np.arange(one.size), moments.n_observed >= 2
    of_one, weight = moments.mean[one, columns], moments.count.copy()
    weight[one, columns] = 0.0
    weight /= np.where(known, weight.sum(axis=0), 1.0)
    # Not the difference of the two means: a large offset of all means would cost digits.
    found = (weight * (of_one - moments.mean)).sum(axis=0), of_one, (weight * moments.mean).sum(axis=0)
    difference, of_one, of_others = (np.where(known, values, np.nan) for values in found)
    return difference, of_one, of_others


def standardised(difference: Floats, moments: ClassMoments) -> Floats:
    """Divide differences of means by the pooled standard deviation within the classes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0.0, 0.0, difference / np.sqrt(moments.pooled_variance))


def log_ratio(of_one: Floats, of_others: Floats) -> Floats:
    """Return the binary logarithm of the quotient of two non-negative means; NaN if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log2(of_one) - np.log2(of_others))
