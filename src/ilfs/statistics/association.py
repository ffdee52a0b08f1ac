"""Correlations of single features with the indicators of the classes."""

from dataclasses import dataclass

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.statistics.moments import ClassMoments


@dataclass(frozen=True)
class Association:
    """Mean, deviation and correlation with the classes of every feature.

    Parameters
    ----------
    mean, deviation : ndarray of shape (n_features,)
        Mean and standard deviation of each feature; the deviation of a constant feature is set to 1.
    correlation : ndarray of shape (n_features, n_classes)
        Pearson's correlation of a feature with the indicator of a class, which is 1 in the class and 0 elsewhere; 0
        where one of the two is constant.
    class_weight : ndarray of shape (n_classes,)
        Weight of a sample of each class.
    """

    mean: Floats
    deviation: Floats
    correlation: Floats
    class_weight: Floats

    @classmethod
    def from_moments(
        cls, moments: ClassMoments, class_weight: Floats | None = None, class_total: Floats | None = None
    ) -> "Association":
        """Compute the association from moments of the values that are not missing.

        Parameters
        ----------
        moments : ClassMoments
            Moments of the features.
        class_weight : ndarray of shape (n_classes,), optional
            Weight of a sample of each class; 1 by default.
        class_total : ndarray of shape (n_classes,), optional
            Weight of all samples of each class. If given, correlations are over all samples, with missing values
            replaced by the mean of their feature; otherwise over the samples that have a value.

        Returns
        -------
        Association
            Equal, up to rounding, to the association computed from the rows.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.statistics import Association, ClassMoments
        >>> moments = ClassMoments(np.array([[2.0], [2.0]]), np.array([[0.0], [2.0]]), np.array([[2.0], [2.0]]))
        >>> Association.from_moments(moments).correlation.round(4)  # -1, 1 in one class and 1, 3 in the other
        array([[-0.7071,  0.7071]])
        """
        if class_weight is None:
            class_weight = np.ones(len(moments.count))
        count = class_weight[:, None] * moments.count
        total = np.maximum(count.sum(axis=0), np.finfo(np.float64).tiny)
        # Subtract one class mean from all, then the mean of the differences, so that no digits are lost far from 0.
        offset = (count * moments.offset).sum(axis=0) / total
        apart = moments.offset - offset
        # The total scatter is the scatter within the classes plus that of the class means.
        variance = (class_weight[:, None] * moments.scatter + count * apart**2).sum(axis=0) / total
        deviation = np.where(variance > 0, np.sqrt(variance), 1.0)
        fraction = count / total
        mean = (fraction * moments.mean).sum(axis=0)
        of_class, coverage = fraction, 1.0
        if class_total is not None:
            every = class_weight * class_total
            of_class, coverage = (every / every.sum())[:, None], total / every.sum()
        # The covariance with an indicator is fraction * apart; an indicator has variance p (1 - p). Filling in the mean
        # multiplies the covariance by the coverage and the deviation by its root, so one root is left in their ratio.
        size = deviation * np.sqrt(of_class * (1.0 - of_class))
        covariance = fraction * apart * np.sqrt(coverage)
        correlation = np.divide(covariance, size, out=np.zeros_like(fraction), where=size > 0)
        return cls(mean, deviation, np.clip(correlation, -1.0, 1.0).T, class_weight)

    def take(self, features: Integers) -> "Association":
        """Return the association of some features."""
        return Association(self.mean[features], self.deviation[features], self.correlation[features], self.class_weight)
