"""What features have to do with classes, one by one: correlations with the indicators of the classes."""

from dataclasses import dataclass

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.statistics.moments import ClassMoments


@dataclass(frozen=True)
class Association:
    """Features and the indicators of classes, from the moments of the features.

    Parameters
    ----------
    mean, deviation : ndarray of shape (n_features,)
        Of each feature; 1 is the deviation of one that does not vary.
    correlation : ndarray of shape (n_features, n_classes)
        Pearson's, of a feature and the variable that is 1 in a class and 0 elsewhere; 0 where one of them does not
        vary.
    class_weight : ndarray of shape (n_classes,)
        How much a sample of each class counted.
    """

    mean: Floats
    deviation: Floats
    correlation: Floats
    class_weight: Floats

    @classmethod
    def from_moments(
        cls, moments: ClassMoments, class_weight: Floats | None = None, class_total: Floats | None = None
    ) -> "Association":
        """From moments of the cells that are present.

        Parameters
        ----------
        moments : ClassMoments
            Of the features.
        class_weight : ndarray of shape (n_classes,), optional
            How much a sample of each class is to count; 1 by default.
        class_total : ndarray of shape (n_classes,), optional
            Weight of the samples of each class. If given, correlations are over all of them, missing cells being at the
            mean of their feature; otherwise over those that have a cell.

        Returns
        -------
        Association
            The same as from the rows themselves.

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
        offset = (count * moments.offset).sum(axis=0) / total  # of the mean, from that of some class
        apart = moments.offset - offset
        variance = (class_weight[:, None] * moments.scatter + count * apart**2).sum(axis=0) / total
        deviation = np.where(variance > 0, np.sqrt(variance), 1.0)
        share = count / total
        mean = (share * moments.mean).sum(axis=0)
        of_class, coverage = share, 1.0
        if class_total is not None:
            every = class_weight * class_total
            of_class, coverage = (every / every.sum())[:, None], total / every.sum()
        size = deviation * np.sqrt(of_class * (1.0 - of_class))
        correlation = np.divide(share * apart * np.sqrt(coverage), size, out=np.zeros_like(share), where=size > 0)
        return cls(mean, deviation, np.clip(correlation, -1.0, 1.0).T, class_weight)

    def take(self, features: Integers) -> "Association":
        """Return the association of some features."""
        return Association(self.mean[features], self.deviation[features], self.correlation[features], self.class_weight)
