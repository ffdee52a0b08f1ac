r"""Terms of the regression of ``redundancy="gain"``, and the pass over the rows that gives their covariances.

Each candidate has a linear term. Further terms are shapes, U-shaped functions of one feature, and products of the bits
of two or three features. They are functions of the values in one row, so their covariances are sums over the rows that
are computed in the same pass as those of the features. Each further term is the residual from the terms of its features
(see `ilfs.solvers.residuals`), and has a ridge of its own.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import Plan, ask
from ilfs.solvers.picking import FurtherTerms
from ilfs.solvers.residuals import residual_terms
from ilfs.statistics import Association, Products, ProductTerms, ShapeColumns, Terms

# The ridge of "gain" is MIN_RIDGE + RIDGE_PER_CHANCE * 2 log(n) / m for n features and m samples. By chance alone, the
# largest of n squared correlations is about 2 log(n) / m. So with more features per sample, the apparent gain of a pick
# is trusted less. The results hardly change for MIN_RIDGE from 0.3 to 1 and RIDGE_PER_CHANCE from 3 to 15.
MIN_RIDGE, RIDGE_PER_CHANCE = 1.0, 7.5
SHAPE_PRICE = 3.0  # ridge of a shape term, as a multiple of that of a linear term

Further = tuple[Floats, Floats]  # covariances of the further columns with all columns, and with the classes


@dataclass(frozen=True)
class FurtherColumns:
    """Columns of the regression beside the linear ones.

    Parameters
    ----------
    shapes : ShapeColumns
        Shapes of some candidates, given by their positions among the candidates.
    products : ProductTerms
        Sets of candidates, given in the same way.
    """

    shapes: ShapeColumns
    products: ProductTerms

    @classmethod
    def among(cls, candidates: Integers, shapes: ShapeColumns | None, products: ProductTerms | None) -> Self:
        """Return the columns of some candidates; sets with other features are left out."""
        return cls(shapes or ShapeColumns.none(), (products or ProductTerms.none()).among(candidates))

    @property
    def features(self) -> Integers:
        """Candidates that each column needs; -1 in unused places."""
        none = np.full((self.shapes.features.size, 2), -1)
        return np.vstack([np.column_stack([self.shapes.features, none]), self.products.columns])

    def read(
        self, candidates: Integers, association: Association, labelling: int | None = 0
    ) -> Plan[tuple[Floats, Floats, Further | None]]:
        """Compute the covariances of all columns in one pass over the rows.

        Returns
        -------
        plan of two ndarrays of shape (n_candidates, n_candidates), and of the covariances of the further columns
            The first two are those of `correlations`.
        """
        if not len(self.features):
            return *(yield from correlations(candidates, association, labelling)), None
        by_column = np.argsort(candidates)
        place = inverse(by_column)
        shapes = ShapeColumns(place[self.shapes.features], self.shapes.mean, self.shapes.deviation)
        sets = np.where(self.products.columns >= 0, place[self.products.columns], -1)
        products = ProductTerms(sets, self.products.bits, self.products.cuts[by_column])
        found = yield from ask(Terms(association.take(by_column), shapes, products), candidates[by_column], labelling)
        covariance, of_classes = found.standardised()
        covariance[: place.size] = covariance[place]
        return *in_order(found, place), (covariance, of_classes)

    def terms(
        self, of_linear: Floats, linear: Floats, further: Further | None, n_features: int, n_samples: float
    ) -> FurtherTerms:
        """Return the terms: residuals of the columns, each with its ridge."""
        if further is None:
            return FurtherTerms.none(*of_linear.shape)
        covariance, of_classes = further
        ridge = self.ridge(n_features, n_samples)
        return residual_terms(linear, of_linear, covariance, of_classes, self.features, ridge)

    def ridge(self, n_features: int, n_samples: float) -> Floats:
        """Return the penalty of the squared coefficient of each column."""
        of_shapes = np.full(self.shapes.features.size, SHAPE_PRICE * ridge_of(n_features, n_samples))
        sizes = (self.products.columns >= 0).sum(axis=1)
        return np.append(of_shapes, [ridge_of(n_features, n_samples, int(size)) for size in sizes])


def correlations(
    candidates: Integers, association: Association, labelling: int | None = 0
) -> Plan[tuple[Floats, Floats]]:
    """Compute the correlations of all pairs of candidates in one pass over the rows.

    Returns
    -------
    plan of two ndarrays of shape (n_candidates, n_candidates)
        Correlations over the rows in which both features are present, and over all rows with missing values replaced
        by the mean of the feature.
    """
    if not candidates.size:
        return np.empty((0, 0)), np.empty((0, 0))
    by_column = np.argsort(candidates)  # reading columns in the order of the table is faster
    products = yield from ask(Products(association.take(by_column)), candidates[by_column], labelling)
    return in_order(products, inverse(by_column))


def inverse(permutation: Integers) -> Integers:
    """Return the inverse of a permutation."""
    place = np.empty_like(permutation)
    place[permutation] = np.arange(permutation.size)
    return place


def in_order(products: Any, place: Integers) -> tuple[Floats, Floats]:
    """Return the correlations and those with missing values replaced by means, in the order of the candidates."""
    rho = products.correlation()[np.ix_(place, place)]
    np.fill_diagonal(rho, 1.0)
    return rho, rho if products.is_complete else products.filled()[np.ix_(place, place)]


def ridge_of(n_features: Any, n_samples: float, size: int = 1) -> float:
    """Compute the penalty of a squared coefficient in the ridge regression of ``redundancy="gain"``.

    Parameters
    ----------
    n_features : int
        Number of features that vary.
    n_samples : float
        Effective number of samples.
    size : int, default=1
        Number of features of the term. There are about n_features^size terms of this size, and the largest squared
        correlation that they have by chance grows with the logarithm of their number.

    Returns
    -------
    float
        At least `MIN_RIDGE`.
    """
    return MIN_RIDGE + RIDGE_PER_CHANCE * 2 * size * float(np.log(max(n_features, 1))) / n_samples
