r"""Direction and size of the difference between classes, feature by feature.

With class means :math:`\mu_k`, and :math:`s` the pooled standard deviation within the classes (:math:`n - K` degrees of
freedom for :math:`n` values in :math:`K` classes):

- The **direction** of two classes names the class with the larger mean. With more classes, the class means are sorted
  and divided at the largest gap between neighbours, and the direction names the classes on the smaller side: those in
  which the feature is higher, or lower, than in all others. At most `MAX_NAMED_CLASSES` classes are named; gaps with
  more classes on both sides are not considered. Of equal gaps, the one with the smallest side counts, and of two sides
  of equal size, the higher one is named.
- The **effect** of two classes is Cohen's :math:`d = (\mu_2 - \mu_1) / s`, with the sign of the second class minus the
  first. With more classes it is :math:`(\mu_h - \mu_r) / s`, where :math:`\mu_h` is the mean of all values of the
  named classes, and :math:`\mu_r` that of all others; it is negative if the feature is lower in the named classes.
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
MAX_NAMED_CLASSES = 3  # classes that a direction names; more would be hard to read
MEAN_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # relative error of a mean; equal means may differ by this much
MIN_VARIANCE_RATIO = 1.2  # of the largest to the second largest class variance, if a class is called the widest
NO_CLASS = -1  # in place of the widest class, if there is none


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
    named : ndarray of bool of shape (n_classes, n_features), optional
        Classes that the direction names: the one with the larger mean, or those that stand out of more than two. None
        of them if all class means are equal up to rounding, or if the feature has values in fewer than two classes.
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
    named: NDArray[np.bool_] | None = None
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
        >>> found.named.tolist(), found.effect.round(4).tolist(), found.fold_change.round(4).tolist()
        ([[False], [True]], [2.8284], [1.585])
        """
        moments = profile.moments
        described = cls(missing_fraction(moments, classes), nonzero_fraction(profile))
        if classes.n_classes < 2:
            return described
        is_pair = classes.n_classes == 2
        named = is_highest(moments) if is_pair else outstanding_classes(moments)
        second = np.repeat([[False], [True]], named.shape[1], axis=1)
        difference, of_one, of_others = compare_with_others(moments, second if is_pair else named)
        effect = standardised(difference, moments)
        is_difference = np.abs(difference) > MEAN_ROUNDING * np.maximum(np.abs(of_one), np.abs(of_others))
        return replace(
            described,
            labels=classes.labels,
            named=named & is_difference,
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


def is_highest(moments: ClassMoments) -> NDArray[np.bool_]:
    """Return a mask of the class with the largest mean, of shape (n_classes, n_features)."""
    highest = np.argmax(np.where(moments.count > 0, moments.mean, -np.inf), axis=0)
    return np.asarray(np.arange(len(moments.count))[:, None] == highest)


def widest_class(moments: ClassMoments) -> Integers:
    """Return the index of the class with clearly the largest variance, for each feature; -1 if there is none."""
    variance = np.divide(moments.scatter, moments.count, out=np.zeros_like(moments.scatter), where=moments.count > 0)
    second, largest = np.sort(variance, axis=0)[-2:]
    return np.where(largest > MIN_VARIANCE_RATIO * second, np.argmax(variance, axis=0), NO_CLASS)


def outstanding_classes(moments: ClassMoments) -> NDArray[np.bool_]:
    """Divide the classes at the largest gap between their sorted means, and find those on the smaller side.

    Parameters
    ----------
    moments : ClassMoments
        Moments of the features.

    Returns
    -------
    ndarray of bool of shape (n_classes, n_features)
        Classes that stand out; none if the feature has values in fewer than two classes.
    """
    # With means from the first class on, a large offset of all means costs no digits.
    mean = np.where(moments.count > 0, moments.offset, np.nan)
    rising = np.argsort(mean, axis=0, kind="stable")  # classes without values come last
    gap, n_below = np.diff(np.take_along_axis(mean, rising, axis=0), axis=0), np.arange(1, len(mean))[:, None]
    n_above = moments.n_observed - n_below
    n_named = np.minimum(n_below, n_above)
    is_possible = (n_named >= 1) & (n_named <= MAX_NAMED_CLASSES)
    gap = np.where(is_possible, gap, -np.inf)
    floor = MEAN_ROUNDING * np.abs(np.where(moments.count > 0, moments.mean, 0.0)).max(axis=0)
    is_largest = is_possible & (gap >= gap.max(axis=0) - tolerance(gap.max(axis=0)) - floor)
    # If several gaps are equally large, take the one that names the fewest classes; then the one of the highest means.
    cost = np.where(is_largest, 2 * n_named + (n_above > n_below), 2 * len(mean) + 2)
    split = np.argmin(cost, axis=0)
    names_high = np.take_along_axis(n_above <= n_below, split[None], axis=0)[0]
    is_above = np.argsort(rising, axis=0) > split
    return np.asarray((is_above == names_high) & (moments.count > 0) & is_largest.any(axis=0))


def compare_with_others(moments: ClassMoments, named: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Compare some classes of each feature together with all other classes together.

    Parameters
    ----------
    moments : ClassMoments
        Moments of the features.
    named : ndarray of bool of shape (n_classes, n_features)
        The classes to compare with the others.

    Returns
    -------
    difference, of_named, of_others : ndarray of shape (n_features,)
        Mean of all values of the named classes minus that of all other values, and the two means. NaN if one of the two
        has no values.
    """
    parts = [weights_within(moments.count, mask) for mask in (named, ~named)]
    of_named, of_others = ((weight * moments.mean).sum(axis=0) for weight in parts)
    # Not the difference of the two means: a large offset of all means would cost digits.
    difference = ((parts[0] - parts[1]) * moments.offset).sum(axis=0)
    known = np.all([weight.any(axis=0) for weight in parts], axis=0)
    difference, of_named, of_others = (np.where(known, values, np.nan) for values in (difference, of_named, of_others))
    return difference, of_named, of_others


def weights_within(count: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Return counts as fractions of those of the masked classes; 0 for all other classes."""
    chosen = np.where(mask, count, 0.0)
    total = chosen.sum(axis=0)
    return np.asarray(np.divide(chosen, total, out=np.zeros_like(chosen), where=total > 0))


def standardised(difference: Floats, moments: ClassMoments) -> Floats:
    """Divide differences of means by the pooled standard deviation within the classes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0.0, 0.0, difference / np.sqrt(moments.pooled_variance))


def log_ratio(of_one: Floats, of_others: Floats) -> Floats:
    """Return the binary logarithm of the quotient of two non-negative means; NaN if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log2(of_one) - np.log2(of_others))
