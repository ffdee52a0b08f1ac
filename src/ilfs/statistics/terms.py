"""Sums of products of the columns of a regression: features, shapes of features, and products of bits of features."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import reduce
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.blas import add_squares
from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description
from ilfs.statistics.products import (
    SCATTER_ROUNDING,
    CrossProducts,
    dense_blocks,
    dense_rows,
    has_many_stored,
    sparse_rows,
    symmetric,
)

MAX_FEATURES = 3  # in a set
MAX_SQUARE = 3.0  # as in `ilfs.kernels.terms`, which is not imported before it is needed


@dataclass(frozen=True)
class ShapeColumns:
    """Columns that are shapes of features: U-shaped functions of their values, see `ilfs.statistics.shapes`.

    Parameters
    ----------
    features : ndarray of shape (n_columns,)
        Positions of the features among the columns of the block.
    centre, scale : ndarray of shape (n_columns,)
        Mean and standard deviation of these features, from which the shapes are computed.
    mean, deviation : ndarray of shape (n_columns,)
        Mean and standard deviation of the shapes.
    """

    features: Integers
    centre: Floats
    scale: Floats
    mean: Floats
    deviation: Floats

    @classmethod
    def none(cls) -> Self:
        """Return no columns."""
        return cls(np.empty(0, dtype=np.int64), *np.empty((4, 0)))


@dataclass(frozen=True)
class ProductTerms:
    """Sets of two or three features; the column of a set is the product of their bits.

    A bit is 1 or -1. The level bit of a value is 1 above the median. The size bit is 1 below the lower quartile and
    above the upper quartile. The product is 0 if one of the values is missing.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n_sets, 3)
        Column indices of the features, ascending; -1 in the third place of a pair.
    bits : ndarray of int8 of shape (n_sets, 3)
        0 for the level bit, 1 for the size bit, -1 where there is no feature.
    cuts : ndarray of shape (n_features, 3)
        Lower quartile, median and upper quartile of every feature of the table.
    """

    columns: Integers
    bits: NDArray[np.int8]
    cuts: Floats

    @classmethod
    def none(cls) -> Self:
        """Return no sets."""
        empty = np.empty((0, MAX_FEATURES), dtype=np.int64)
        return cls(empty, empty.astype(np.int8), np.empty((0, MAX_FEATURES)))

    def among(self, candidates: Integers) -> Self:
        """Return the sets whose features are all candidates, with positions among the candidates as columns."""
        if not len(self.columns):
            return type(self)(self.columns, self.bits, np.zeros((candidates.size, MAX_FEATURES)))
        place = np.full(len(self.cuts) + 1, -1)
        place[candidates] = np.arange(candidates.size)
        columns = place[self.columns]  # -1 is the last place
        complete = ((columns >= 0) | (self.columns < 0)).all(axis=1)
        return type(self)(columns[complete], self.bits[complete], self.cuts[candidates])


@dataclass(frozen=True)
class TermProducts(CrossProducts):
    """Cross products of features, and their products with further columns, such as shapes of features.

    In products with further columns, a missing value counts as the mean of its column.

    Parameters
    ----------
    further : ndarray of shape (n + n_further, n_further)
        Sums of the products of all columns with the further ones. Among these, only the diagonal and the values above
        it are valid.
    total : ndarray of shape (n + n_further,)
        Sums of all columns.
    of_class : ndarray of shape (n_classes, n_further)
        Sums of the further columns in each class.
    class_sum : ndarray of shape (n_classes,)
        Sum of the weights of each class.
    """

    further: Floats
    total: Floats
    of_class: Floats
    class_sum: Floats

    @classmethod
    def _from_columns(cls, E: Floats, n: int, count: Floats, weight: Floats, codes: Integers, n_classes: int) -> Self:
        """Compute the sums of dense rows of n features and further columns; the rows are overwritten."""
        root = np.sqrt(weight)
        if (weight != 1.0).any():
            E *= root[:, None]  # products of such rows are weighted products
        total = root @ E
        if not np.isnan(total).any():
            product = np.zeros((E.shape[1], E.shape[1]))
            if len(E):  # all rows of a block may have weight 0
                add_squares(product, E)
            # Views: copies of such large arrays would take a quarter of the time of their computation.
            base, further = CrossProducts._from_complete(count, weight, total[:n], product[:n, :n]), product[:, n:]
        else:
            values = np.divide(E[:, :n], root[:, None])
            base = CrossProducts._from_dense(values, count, weight)
            np.nan_to_num(E, copy=False)
            further, total = E.T @ E[:, n:], root @ E
        indicator = (codes == np.arange(n_classes)[:, None]) * root
        class_sum = np.bincount(codes, weight, minlength=n_classes).astype(np.float64)
        of_features = {field.name: getattr(base, field.name) for field in fields(base)}
        return cls(**of_features, further=further, total=total, of_class=indicator @ E[:, n:], class_sum=class_sum)

    @classmethod
    def _from_all(cls, every: CrossProducts, n: int, of_class: Floats, class_sum: Floats) -> Self:
        """Take n features and further columns from the sums of all columns, in which no value is missing."""
        of_features = every.take(np.arange(n))
        return cls(
            **{field.name: getattr(of_features, field.name) for field in fields(of_features)},
            further=every.product[:, n:].copy(),
            total=every.sum[:, 0],
            of_class=of_class,
            class_sum=class_sum,
        )

    def merge(self, other: Self) -> Self:
        """Add the sums of two sets of rows."""
        return self._merged(other, self.product + other.product, self.further + other.further)

    def merge_in_place(self, other: Self) -> Self:
        """Add the sums of two sets of rows; the products of this one are overwritten, which saves large arrays."""
        product, further = np.add(self.product, other.product, out=self.product), self.further
        return self._merged(other, product, np.add(further, other.further, out=further))

    def _merged(self, other: Self, product: Floats, further: Floats) -> Self:
        names = [field.name for field in fields(self) if field.name not in ("product", "further")]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return type(self)(product=product, further=further, **sums)

    def take(self, features: Integers) -> CrossProducts:  # type: ignore[override]
        """Return the sums of some features without further columns."""
        names = [field.name for field in fields(CrossProducts)]
        return CrossProducts(**{name: getattr(self, name) for name in names}).take(features)

    def take_terms(self, features: Integers, further: Integers) -> Self:
        """Return the sums of some features, in ascending order, and of some further columns."""
        n = len(self.product)
        every = np.concatenate([features, n + further])
        whole = np.vstack([self.further[:n], symmetric(self.further[n:])])
        base = self.take(features)
        return type(self)(
            **{field.name: getattr(base, field.name) for field in fields(base)},
            further=whole[np.ix_(every, further)],
            total=self.total[every],
            of_class=self.of_class[:, further],
            class_sum=self.class_sum,
        )

    def standardised(self) -> tuple[Floats, Floats]:
        """Compute the covariances of the further columns, all columns being scaled to variance 1.

        Returns
        -------
        covariance : ndarray of shape (n + n_further, n_further)
            With all columns.
        of_classes : ndarray of shape (n_further, n_classes)
            With the indicators of the classes, which are scaled to variance 1, too. 0 for a constant column.
        """
        n, weight = len(self.product), self.class_sum.sum()
        mean, square = self.total / weight, np.append(self.product.diagonal(), self.further[n:].diagonal()) / weight
        variance = np.maximum(square - mean**2, 0.0)
        variance[variance <= SCATTER_ROUNDING * square] = 0.0
        unit = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
        further = np.vstack([self.further[:n], symmetric(self.further[n:])])
        covariance = (further / weight - np.outer(mean, mean[n:])) * unit[:, None] * unit[n:]
        fraction = self.class_sum / weight
        size = np.sqrt(fraction * (1.0 - fraction))
        of_classes = (self.of_class.T / weight - np.outer(mean[n:], fraction)) * unit[n:, None]
        return covariance, np.divide(of_classes, size, out=np.zeros_like(of_classes), where=size > 0)


@dataclass(frozen=True)
class Terms(Description[TermProducts]):
    """Description of the products of features, shapes and product columns; a block must hold all requested columns.

    Parameters
    ----------
    association : Association
        Mean, deviation and class weights of these columns, as for `ilfs.statistics.Products`.
    shapes : ShapeColumns
        Shapes of some of the columns.
    products : ProductTerms
        Sets of columns, given by their positions among the columns of the block.
    """

    association: Association
    shapes: ShapeColumns
    products: ProductTerms

    def __call__(self, block: Block) -> TermProducts:
        """Compute the products of one block."""
        if isinstance(block, SparseBlock) and self._is_sparse(block):
            return self._of_sparse(block)
        parts = (self._of_rows(*rows) for rows in self._dense_rows(block))
        return reduce(TermProducts.merge, parts)

    def _is_sparse(self, block: SparseBlock) -> bool:
        """Return whether the products are computed from sparse rows, which may neither be missing nor have products."""
        if len(self.products.columns) or np.isnan(block.data).any():
            return False
        # The shapes of columns are as sparse as the columns, so they do not change the fraction of stored values.
        return not has_many_stored(np.bincount(block.indices, minlength=block.n_rows), block.n_columns)

    def _dense_rows(self, block: Block) -> Iterator[tuple[Floats, Floats, Integers, int]]:
        """Yield values, weights and classes of the rows that take part, those of sparse tables in blocks."""
        labels = block.labels
        codes = labels.codes[labels.takes_part]
        if isinstance(block, SparseBlock):
            weight = labels.weight[labels.takes_part]
            for rows, values in dense_blocks(sparse_rows(block, np.ones(block.n_columns))):
                yield values, weight[rows], codes[rows], labels.n_classes
            if not weight.size:  # all rows of a block may have weight 0
                yield np.empty((0, block.n_columns)), weight, codes, labels.n_classes
        else:
            values, weight, _ = dense_rows(block, self.association.class_weight)
            yield values, weight, codes, labels.n_classes

    def _of_sparse(self, block: SparseBlock) -> TermProducts:
        """Compute the products of a sparse block without missing values and without sets of features."""
        labels, association, shapes = block.labels, self.association, self.shapes
        codes, count = labels.codes[labels.takes_part], labels.weight[labels.takes_part]
        weight = count * association.class_weight[codes]
        X = sparse_rows(block, np.ones(block.n_columns))
        n, unit = block.n_columns, 1.0 / shapes.deviation
        # The shape of a zero is subtracted, so that shapes are as sparse as the features.
        of_zero = shapes_of(-shapes.centre / shapes.scale)
        U = X[:, shapes.features].tocsr()
        a = U.indices
        U.data = (shapes_of((U.data - shapes.centre[a]) / shapes.scale[a]) - of_zero[a]) * unit[a]
        X.data *= (1.0 / association.deviation)[X.indices]
        mean = np.append(association.mean / association.deviation, (shapes.mean - of_zero) * unit)
        E = sparse.csr_array(sparse.hstack([X, U], format="csr"))
        indicator = (codes == np.arange(labels.n_classes)[:, None]) * weight
        of_class = np.asarray((E[:, n:].T @ indicator.T).T) - np.outer(indicator.sum(axis=1), mean[n:])
        every = CrossProducts._from_sparse(E, count, weight, mean)  # overwrites E
        return TermProducts._from_all(every, n, of_class, indicator.sum(axis=1))

    def _of_rows(self, X: Floats, count: Floats, codes: Integers, n_classes: int) -> TermProducts:
        from ilfs.kernels.terms import write_products, write_shapes

        n, n_shapes = X.shape[1], self.shapes.features.size
        E = np.empty((len(X), n + n_shapes + len(self.products.columns)))
        np.subtract(X, self.association.mean, out=E[:, :n])
        E[:, :n] *= 1.0 / self.association.deviation
        of_shapes = (self.shapes.centre, 1.0 / self.shapes.scale, self.shapes.mean, 1.0 / self.shapes.deviation)
        write_shapes(X, self.shapes.features, *of_shapes, E[:, n : n + n_shapes])
        write_products(X, self.products.columns, self.products.bits, self.products.cuts, E[:, n + n_shapes :])
        weight = count * self.association.class_weight[codes]
        return TermProducts._from_columns(E, n, count, weight, codes, n_classes)


def shapes_of(Z: Floats) -> Floats:
    """Return the shapes of standardised values, see `ilfs.kernels.terms.shape_of`."""
    return np.minimum(Z * Z, MAX_SQUARE)
