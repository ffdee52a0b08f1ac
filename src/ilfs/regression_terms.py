r"""Terms of the regression of ``redundancy="gain"``, and the pass over the rows that gives their covariances.

Each candidate has a linear term. Further terms are shapes, U-shaped functions of one feature, and products of the bits
of two or three features. They are functions of the values in one row, so their covariances are sums over the rows that
are computed in the same pass as those of the features. Each further term is the residual from the terms of its features
(see `ilfs.solvers.residuals`), and has a ridge of its own.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import Plan, ask, both, together
from ilfs.solvers.picking import FurtherTerms
from ilfs.solvers.residuals import residual_terms
from ilfs.statistics import Association, Products, ProductTerms, ShapeAssociation, ShapeColumns, Terms

# The ridge of "gain" is MIN_RIDGE + RIDGE_PER_CHANCE * 2 log(n) / m for n features and m samples. By chance alone, the
# largest of n squared correlations is about 2 log(n) / m. So with more features per sample, the apparent gain of a pick
# is trusted less. The results hardly change for MIN_RIDGE from 0.3 to 1 and RIDGE_PER_CHANCE from 3 to 15.
MIN_RIDGE, RIDGE_PER_CHANCE = 1.0, 7.5
SHAPE_LEVEL = 0.2  # of the test by which a candidate gets a shape term; lower levels save time
# Ridge of a shape term, as a multiple of that of a linear term. Shapes are rarer than differences of means, so one that
# is not significant among all features has to prove more.
SHAPE_PRICE, STRONG_SHAPE_PRICE = 2.0, 1.0

Further = tuple[Floats, Floats]  # covariances of the further columns with all columns, and with the classes


@dataclass(frozen=True)
class FurtherColumns:
    """Columns of the regression beside the linear ones.

    Parameters
    ----------
    shapes : ShapeColumns
        Shapes of some candidates, given by their positions among the candidates.
    of_shapes : ndarray of shape (n_shapes, n_classes)
        Correlations of the shapes with the classes.
    shape_prices : ndarray of shape (n_shapes,)
        Ridges of the shapes, as multiples of those of linear terms.
    products : ProductTerms
        Sets of candidates, given in the same way as the shapes.
    """

    shapes: ShapeColumns
    of_shapes: Floats
    shape_prices: Floats
    products: ProductTerms

    @classmethod
    def among(
        cls,
        candidates: Integers,
        n_features: int,
        n_classes: int,
        shapes: ShapeAssociation | None,
        products: ProductTerms | None,
    ) -> Self:
        """Return the columns of some candidates.

        Parameters
        ----------
        candidates : ndarray of shape (n_candidates,)
            Columns of the table.
        n_features : int
            Number of all features that vary.
        n_classes : int
            Number of classes or labels.
        shapes : ShapeAssociation or None
            Association of the shapes of the candidates. Those that could be due to chance are left out.
        products : ProductTerms or None
            Sets of columns of the table. Those with other features than candidates are left out.

        Returns
        -------
        FurtherColumns
            Shapes and products.
        """
        sets = (products or ProductTerms.none()).among(candidates)
        if shapes is None:
            return cls(ShapeColumns.none(), np.empty((0, n_classes)), np.empty(0), sets)
        chosen = np.flatnonzero(shapes.explained > shapes.critical(SHAPE_LEVEL))
        some = shapes.take(chosen)
        of_values, of_shapes = some.shapes, some.association
        columns = ShapeColumns(chosen, of_values.mean, of_values.deviation, of_shapes.mean, of_shapes.deviation)
        prices = np.where(some.is_strong(n_features), STRONG_SHAPE_PRICE, SHAPE_PRICE)
        return cls(columns, of_shapes.correlation, prices, sets)

    @property
    def features(self) -> Integers:
        """Candidates that each column needs; -1 in unused places."""
        none = np.full((self.shapes.features.size, 2), -1)
        return np.vstack([np.column_stack([self.shapes.features, none]), self.products.columns])

    def without_shapes(self, further: Further | None) -> tuple[Self, Further | None]:
        """Return the products alone, and their covariances; None if there are no products."""
        n_shapes = len(self.of_shapes)
        products = replace(
            self, shapes=ShapeColumns.none(), of_shapes=self.of_shapes[:0], shape_prices=self.shape_prices[:0]
        )
        if further is None or not len(self.products.columns):
            return products, None
        covariance, of_classes = further
        n = len(covariance) - covariance.shape[1]
        rows = np.delete(np.arange(len(covariance)), np.arange(n, n + n_shapes))
        return products, (covariance[rows, n_shapes:], of_classes[n_shapes:])

    def read(
        self, candidates: Integers, association: Association, labelling: int | tuple[int, ...] = 0
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
        sorted_columns, terms = candidates[by_column], self._described(association, by_column)
        found, of_labels = yield from both(
            ask(terms, sorted_columns, one_class(labelling)), self._read_products(candidates, association, labelling)
        )
        covariance, of_classes = found.standardised()
        covariance[: place.size] = covariance[place]
        of_products = of_classes[len(self.of_shapes) :] if of_labels is None else of_labels
        return *in_order(found, place), (covariance, np.vstack([self.of_shapes, of_products]))

    def _described(self, association: Association, by_column: Integers) -> Terms:
        """Describe the products of all columns, with candidates in the given order."""
        place = inverse(by_column)
        shapes = replace(self.shapes, features=place[self.shapes.features])
        sets = np.where(self.products.columns >= 0, place[self.products.columns], -1)
        products = ProductTerms(sets, self.products.bits, self.products.cuts[by_column])
        return Terms(association.take(by_column), shapes, products)

    def _read_products(
        self, candidates: Integers, association: Association, labelling: int | tuple[int, ...]
    ) -> Plan[Floats | None]:
        """Compute the correlations of the products with each of several labels; None if rows have one label."""
        if isinstance(labelling, int):
            return None
        if not len(self.products.columns):
            return np.empty((0, len(labelling)))
        used = np.unique(self.products.columns[self.products.columns >= 0])
        used = used[np.argsort(candidates[used])]
        place = np.full(candidates.size + 1, -1)  # the last place is for -1
        place[used] = np.arange(used.size)
        sets = ProductTerms(place[self.products.columns], self.products.bits, self.products.cuts[used])
        terms = Terms(replace(association.take(used), class_weight=np.ones(2)), ShapeColumns.none(), sets)
        found = yield from together([ask(terms, candidates[used], label) for label in labelling])
        return np.column_stack([of_label.standardised()[1][:, 1] for of_label in found])

    def terms(
        self,
        of_linear: Floats,
        linear: Floats,
        further: Further | None,
        n_features: int,
        n_samples: float,
        factor: float = 1.0,
    ) -> FurtherTerms:
        """Return the terms: residuals of the columns, each with its ridge times a factor."""
        if further is None:
            return FurtherTerms.none(*of_linear.shape)
        covariance, of_classes = further
        ridge = factor * self.ridge(n_features, n_samples)
        return residual_terms(linear, of_linear, covariance, of_classes, self.features, ridge)

    def ridge(self, n_features: int, n_samples: float) -> Floats:
        """Return the penalty of the squared coefficient of each column."""
        of_shapes = self.shape_prices * ridge_of(n_features, n_samples)
        sizes = (self.products.columns >= 0).sum(axis=1)
        return np.append(of_shapes, [ridge_of(n_features, n_samples, int(size)) for size in sizes])


def correlations(
    candidates: Integers, association: Association, labelling: int | tuple[int, ...] = 0
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
    products = yield from ask(Products(association.take(by_column)), candidates[by_column], one_class(labelling))
    return in_order(products, inverse(by_column))


def one_class(labelling: int | tuple[int, ...]) -> int | None:
    """Return the labelling of one label; None, which puts all rows into one class, for several labels."""
    return labelling if isinstance(labelling, int) else None


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
