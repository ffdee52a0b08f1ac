r"""Shapes of features: how far values are from the mean, and how this depends on the class.

The shape of a value x is :math:`u = \min(z^2, 3)` with :math:`z = (x - \text{mean}) / \text{deviation}`: a U-shaped
function that outliers cannot dominate. Its part that no straight line explains, :math:`u - b z` with :math:`b` the
slope of the regression of u on z, tells classes apart that have the same mean but not the same spread. Whether its
class means differ is a test of equal spreads in the manner of Levene (1960).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from ilfs.arrays import Floats, Integers, read_only
from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description
from ilfs.statistics.moments import ClassMoments

MIN_SPREAD = 1e-12  # a variance of a shape below this fraction of its mean square is rounding
STRONG_LEVEL = 0.05  # of the test of all shapes together
ROUNDING = 1e-10  # of means and deviations of the same values in other orders
MIN_VARIANCE = 1e-6  # a smaller fraction of the variance of a shape that a line does not explain is rounding


@dataclass(frozen=True)
class ClassShapes:
    """Sums of the shapes of every feature in every class.

    Parameters
    ----------
    sum, square : ndarray of shape (n_classes, n_features)
        Weighted sums of the shapes and of their squares.
    product : ndarray of shape (n_classes, n_features)
        Weighted sum of the products of shape and standardised value.
    """

    sum: Floats
    square: Floats
    product: Floats

    def merge(self, other: Self) -> Self:
        """Add the sums of two sets of rows."""
        return type(self)(self.sum + other.sum, self.square + other.square, self.product + other.product)

    def moments(self, count: Floats) -> ClassMoments:
        """Return the moments of the shapes; ``count`` is the weight of the values of each feature in each class."""
        here = count > 0
        mean = np.divide(self.sum, count, out=np.zeros_like(count), where=here)
        return ClassMoments(count, mean, np.where(here, np.maximum(self.square - self.sum * mean, 0.0), 0.0))

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the sums of neighbouring columns side by side."""
        return cls(*(np.hstack([getattr(part, name) for part in parts]) for name in ("sum", "square", "product")))


@dataclass(frozen=True)
class Shapes(Description[ClassShapes]):
    """Description of the sums of the shapes of every feature in every class.

    Parameters
    ----------
    mean, deviation : ndarray of shape (n_features,)
        Mean and standard deviation of every feature over all rows, whatever their class.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Moments, Shapes
    >>> X, y = np.array([[-3.0], [3.0], [-1.0], [1.0]]), np.array([0, 0, 1, 1])  # variance 5
    >>> fold = fold_of(table_source(X, y))
    >>> fold(Shapes.from_moments(fold(Moments()))).sum.round(3).tolist()
    [[3.6], [0.4]]
    """

    mean: Floats
    deviation: Floats

    @classmethod
    def from_moments(cls, moments: ClassMoments) -> Self:
        """Return the description for features with these moments."""
        association = Association.from_moments(moments)
        return cls(association.mean, association.deviation)

    def take(self, features: Integers) -> Self:
        """Return the description for some features."""
        return type(self)(self.mean[features], self.deviation[features])

    def is_close(self, other: Self) -> bool:
        """Return whether the shapes are those of another description, up to rounding."""
        off = ROUNDING * (self.deviation + np.abs(self.mean))
        return bool(
            (np.abs(self.mean - other.mean) <= off).all() and (abs(self.deviation - other.deviation) <= off).all()
        )

    def __call__(self, block: Block) -> ClassShapes:
        """Compute the sums of one block."""
        from ilfs.kernels.shapes import dense_shapes, sparse_shapes

        if not (isinstance(block, SparseBlock) or block.is_row_major):
            return ClassShapes.join([self(strip) for strip in block.row_major_strips()])
        labels, sums = block.labels, np.zeros((3, block.labels.n_classes, block.n_columns))
        mean, unit = self.mean[block.columns], 1.0 / self.deviation[block.columns]
        if isinstance(block, SparseBlock):
            stored = (block.data, block.indices, block.indptr)
            sparse_shapes(*stored, labels.codes, labels.weight, labels.class_total, mean, unit, sums)
        else:
            dense_shapes(read_only(block.X), *labels.by_class, block.first, block.last, mean, unit, sums)
        return ClassShapes(*sums)


@dataclass(frozen=True)
class ShapeAssociation:
    """Association of the shapes of features with the classes.

    Parameters
    ----------
    shapes : Shapes
        How the shapes are computed.
    association : Association
        Mean and deviation of the shapes, and their correlations with the classes.
    explained : ndarray of shape (n_features,)
        Fraction of the variance of the shape that the classes explain, after the part that a straight line explains
        is taken off; 0 if a straight line determines the shape, as for a feature with two values. With several labels,
        the largest fraction that one of them explains.
    n_samples : float
        Effective number of samples.
    n_labels : int, default=1
        Number of labels.
    """

    shapes: Shapes
    association: Association
    explained: Floats
    n_samples: float
    n_labels: int = 1

    @classmethod
    def from_sums(
        cls, shapes: Shapes, sums: ClassShapes, moments: ClassMoments, class_weight: Floats, class_total: Floats
    ) -> Self:
        """Compute the association over all samples, with missing values replaced by the means.

        Parameters
        ----------
        shapes : Shapes
            Description of the sums.
        sums : ClassShapes
            Sums of the shapes.
        moments : ClassMoments
            Moments of the features.
        class_weight : ndarray of shape (n_classes,)
            Weight of a sample of each class.
        class_total : ndarray of shape (n_classes,)
            Weight of all samples of each class.

        Returns
        -------
        ShapeAssociation
            Of every feature.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.execution import fold_of
        >>> from ilfs.sources import table_source
        >>> from ilfs.statistics import Moments, ShapeAssociation, Shapes
        >>> X, y = np.array([[-3.0, 0.0], [3.0, 1.0], [-1.0, 0.0], [1.0, 1.0]]), np.array([0, 0, 1, 1])
        >>> fold = fold_of(table_source(X, y))
        >>> moments = fold(Moments())
        >>> shapes = Shapes.from_moments(moments)
        >>> ShapeAssociation.from_sums(shapes, fold(shapes), moments, np.ones(2), np.array([2.0, 2.0])).explained
        array([1., 0.])
        """
        of_values = Association.from_moments(moments, class_weight, class_total)
        of_shapes = Association.from_moments(sums.moments(moments.count), class_weight, class_total)
        weight = class_weight[:, None]
        count = (weight * moments.count).sum(axis=0)
        product = np.divide((weight * sums.product).sum(axis=0), count, out=np.zeros_like(count), where=count > 0)
        covariance = product - of_shapes.mean * (of_values.mean - shapes.mean) / shapes.deviation
        slope = covariance * shapes.deviation / (of_values.deviation * of_shapes.deviation)  # a correlation
        residual = of_shapes.correlation - slope[:, None] * of_values.correlation
        left = 1.0 - slope**2
        fraction = class_weight * class_total / np.sum(class_weight * class_total)
        between = residual**2 @ (1.0 - fraction)
        # The shape of a feature with two values of equal weight is constant up to rounding.
        square = (weight * sums.square).sum(axis=0)
        varies = square - count * of_shapes.mean**2 > MIN_SPREAD * square
        explained = np.divide(between, left, out=np.zeros_like(left), where=varies & (left > MIN_VARIANCE))
        n_samples = float(1.0 / np.sum(fraction**2 / class_total))
        return cls(shapes, of_shapes, np.minimum(explained, 1.0), n_samples)

    @classmethod
    def over_labels(cls, each: Sequence[Self]) -> Self:
        """Combine the associations with the labels of an indicator matrix, whose second class has the label."""
        first = each[0]
        correlation = np.column_stack([one.association.correlation[:, 1] for one in each])
        association = replace(first.association, correlation=correlation)
        explained = np.max([one.explained for one in each], axis=0)
        return cls(first.shapes, association, explained, first.n_samples, len(each))

    def take(self, features: Integers) -> Self:
        """Return the association of some features."""
        association = self.association.take(features)
        return replace(
            self, shapes=self.shapes.take(features), association=association, explained=self.explained[features]
        )

    def is_strong(self, n_features: int) -> NDArray[np.bool_]:
        """Return which shapes differ between the classes significantly among those of ``n_features`` features."""
        return np.asarray(self.explained > self.critical(STRONG_LEVEL / max(n_features, 1)))

    def critical(self, level: float) -> float:
        """Return the fraction that is explained by chance with a probability of at most ``level``.

        The number of samples times the fraction has about a chi2 distribution, with one degree of freedom less than
        there are classes. With several labels, it has two classes for each, and the level is divided by their number.
        """
        n_classes = self.association.correlation.shape[1] if self.n_labels == 1 else 2
        return float(chdtri(max(n_classes - 1, 1), level / self.n_labels)) / self.n_samples
