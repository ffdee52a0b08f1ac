"""Sums of products of pairs of features over the rows, and their correlations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.blas import add_squares
from ilfs.cached import cached_property
from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, DenseBlock, SparseBlock
from ilfs.statistics.description import Description

DENSE_BLOCK_ROWS = 1024  # rows of a sparse table that are made dense at a time
SPARSE_PRODUCT_COST = 100  # cost of a sparse product relative to a dense one
MIRROR_COLUMNS = 64  # columns mirrored at a time: one row of them fills a few cache lines
MAX_MEAN_TO_DEVIATION = 100.0  # if |mean| / deviation exceeds this, uncentred sums lose precision
SCATTER_ROUNDING = 64 * np.finfo(np.float64).eps  # a scatter below this fraction of the squares is rounding
MAX_TRIVIAL_ROWS = 2.0  # two points always lie on a line, so their correlation is always 1 or -1


@dataclass(frozen=True)
class CrossProducts:
    """Sums, for every pair of features, over the rows in which both have a value.

    Without missing values, many of these sums do not depend on the second feature, or on either. Then they are stored
    once: the field has length 1 along that axis.

    Parameters
    ----------
    count : ndarray of shape (n, n) or (1, 1)
        Sum of the sample weights of the rows.
    weight : ndarray of shape (n, n) or (1, 1)
        Sum of the products of sample weight and class weight of the rows.
    sum : ndarray of shape (n, n) or (n, 1)
        Sum of the values of the first feature.
    square : ndarray of shape (n, n) or (n, 1)
        Sum of their squares.
    product : ndarray of shape (n, n)
        Sum of the products. Only the diagonal and the entries above it are valid.
    """

    count: Floats
    weight: Floats
    sum: Floats
    square: Floats
    product: Floats

    @classmethod
    def _from_dense(cls, Z: Floats, count: Floats, weight: Floats) -> Self:
        """Compute the sums of dense rows, which are overwritten."""
        # Rows times the roots of their weights: products of such rows are weighted products.
        root = np.sqrt(weight)
        if (weight != 1.0).any():
            Z *= root[:, None]
        sums = root @ Z
        if not np.isnan(sums).any():
            product = np.zeros((Z.shape[1], Z.shape[1]))
            if len(Z):  # all rows of a block may have weight 0
                add_squares(product, Z)
            return cls._from_complete(count, weight, sums, product)
        present = ~np.isnan(Z)
        Z[~present] = 0.0
        # Products of indicators of presence count the rows in which both features have a value.
        here = present * root[:, None]
        together = here.T @ here
        counted = together if np.array_equal(count, weight) else (present * count[:, None]).T @ present
        return cls(counted, together, Z.T @ here, (Z * Z).T @ present, Z.T @ Z)

    @classmethod
    def _from_complete(cls, count: Floats, weight: Floats, sums: Floats, product: Floats) -> Self:
        """Store the sums of rows without missing values."""
        square = product.diagonal().copy()
        return cls(count.sum().reshape(1, 1), weight.sum().reshape(1, 1), sums[:, None], square[:, None], product)

    @classmethod
    def _from_sparse(cls, X: sparse.csr_array, count: Floats, weight: Floats, mean: Floats) -> Self:
        """Compute the sums of sparse rows, made dense in blocks if that is faster or more precise."""
        is_imprecise = np.isnan(X.data).any() or np.abs(mean).max(initial=0.0) > MAX_MEAN_TO_DEVIATION
        if X.shape[0] and (
            has_many_stored(np.diff(X.indptr), X.shape[1]) or is_imprecise
        ):  # all rows of a block may have weight 0
            blocks = (cls._from_dense(values - mean, count[rows], weight[rows]) for rows, values in dense_blocks(X))
            return reduce(cls.merge, blocks)
        X.data *= np.repeat(np.sqrt(weight), np.diff(X.indptr))
        sums = np.asarray(X.T @ np.sqrt(weight))
        # Centre afterwards: sum w (x - m)(y - n) = sum w x y - n sum w x - m (sum w y - n sum w).
        from_mean = sums - weight.sum() * mean
        product = np.asarray((X.T @ X).toarray())
        product -= np.outer(sums, mean)
        product -= np.outer(mean, from_mean)
        return cls._from_complete(count, weight, from_mean, product)

    def merge(self, other: Self) -> Self:
        """Add the sums of two sets of rows."""
        return self._merge(other, self.product + other.product)

    def merge_in_place(self, other: Self) -> Self:
        """Add the sums of two sets of rows; the products of this one are overwritten, which saves a large array."""
        return self._merge(other, np.add(self.product, other.product, out=self.product))

    def _merge(self, other: Self, product: Floats) -> Self:
        return type(self)(
            self.count + other.count,
            self.weight + other.weight,
            self.sum + other.sum,
            self.square + other.square,
            product,
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return the only part: pairs of features need all columns in one block."""
        (part,) = parts
        return part

    def take(self, features: Integers) -> Self:
        """Return the sums of some features, in ascending order: only entries above the diagonal are valid."""

        def part(sums: Floats) -> Floats:
            rows, columns = (features if size > 1 else np.zeros(1, np.int64) for size in sums.shape)
            return np.asarray(sums[np.ix_(rows, columns)])

        return type(self)(*map(part, (self.count, self.weight, self.sum, self.square, self.product)))

    @property
    def is_complete(self) -> bool:
        """True if no value was missing."""
        return self.weight.size == 1

    def filled(self) -> Floats:
        """Correlate every pair of features over all rows, with missing values replaced by the mean of their feature.

        Returns
        -------
        ndarray of shape (n, n)
            Positive semi-definite, as for a table without missing values; 0 for a constant feature.
        """
        # Values are centred: a missing value that is replaced by the mean would add 0 to every product.
        product = symmetric(self.product)
        size = np.sqrt(product.diagonal())
        unit = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        return np.asarray(product * unit * unit[:, None])

    def correlation(self) -> Floats:
        """Correlate every pair of features over the rows that have both values (Pearson).

        Returns
        -------
        ndarray of shape (n, n)
            Symmetric, between -1 and 1. It is 0 where one of the two features is constant in those rows, or where
            there are at most two of them.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.sum / self.weight
            scatter = np.maximum(self.square - self.sum * mean, 0.0)  # of the first feature, in rows with the second
            scatter[scatter <= SCATTER_ROUNDING * self.square] = 0.0
            # cov(x, y) = sum w x y - (sum w x) (mean of y), with both sums over the rows that have x and y.
            rho = symmetric(self.product)
            rho -= self.sum * mean.T
            rho /= np.sqrt(scatter)
            rho /= np.sqrt(scatter.T)
        rho[~np.isfinite(rho)] = 0.0
        np.multiply(rho, self.count > MAX_TRIVIAL_ROWS, out=rho)
        return np.asarray(np.clip(rho, -1.0, 1.0, out=rho))


@dataclass(frozen=True)
class Products(Description[CrossProducts]):
    """Description of the cross products of all pairs of columns; a block must hold all requested columns.

    Parameters
    ----------
    association : Association
        Mean, deviation and class weights of these columns. Values are standardised by their mean and deviation, so that
        sums lose no precision and squares do not overflow. Each sample is weighted by its class weight.
    """

    association: Association

    @cached_property
    def unit(self) -> Floats:
        """One over the deviation of each column."""
        return 1.0 / self.association.deviation

    def __call__(self, block: Block) -> CrossProducts:
        """Compute the cross products of one block."""
        mean, class_weight = self.association.mean, self.association.class_weight
        labels = block.labels
        if isinstance(block, SparseBlock):
            here = labels.takes_part
            count = labels.weight[here]
            weight = count * class_weight[labels.codes[here]]
            return CrossProducts._from_sparse(sparse_rows(block, self.unit), count, weight, mean * self.unit)
        Z, count, weight = dense_rows(block, class_weight)
        Z -= mean
        Z *= self.unit
        return CrossProducts._from_dense(Z, count, weight)


def symmetric(product: Floats) -> Floats:
    """Copy the entries above the diagonal below it."""
    whole = product.copy()
    for start in range(0, len(whole), MIRROR_COLUMNS):
        end = start + MIRROR_COLUMNS
        corner = whole[start:end, start:end]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
        whole[end:, start:end] = whole[start:end, end:].T
    return whole


def has_many_stored(stored: Integers, n_columns: int) -> bool:
    """Return whether products of dense rows are faster; ``stored`` are the numbers of stored values of the rows."""
    return bool(SPARSE_PRODUCT_COST * np.sum(stored.astype(np.float64) ** 2) > stored.size * n_columns**2)


def sparse_rows(block: SparseBlock, unit: Floats) -> sparse.csr_array:
    """Return the rows that take part, each column times its unit."""
    shape = (block.n_rows, block.n_columns)
    X = sparse.csc_array((block.data, block.indices, block.indptr), shape=shape, dtype=np.float64).tocsr()
    here = block.labels.takes_part
    X = X if here.all() else X[here]
    X.data *= unit[X.indices]
    return X


def dense_blocks(X: sparse.csr_array) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of rows, each as a slice and a dense array."""
    for start in range(0, X.shape[0], DENSE_BLOCK_ROWS):
        rows = slice(start, start + DENSE_BLOCK_ROWS)
        yield rows, X[rows].toarray()


def dense_rows(block: DenseBlock, class_weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rows that take part as a writable array, and their weights without and with class weights."""
    block = block.row_major()
    X, labels = block.X[:, block.first : block.last], block.labels
    here = labels.takes_part
    if here.all():
        values = X if block.is_own and X.dtype == np.float64 else X.astype(np.float64)
    else:
        values, labels = X[here].astype(np.float64, copy=False), labels.take(here)
    return values, labels.weight.copy(), labels.weight * class_weight[labels.codes]
