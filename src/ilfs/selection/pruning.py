"""Removal of redundant features from any ranking.

The ranking is read best first. A feature is left out if its absolute Pearson correlation with a feature that was kept
before exceeds a threshold. The features are compared in blocks of columns, so that only the correlations of two blocks
are in memory at a time, never those of all pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from ilfs.arrays import Floats, Integers
from ilfs.execution import fold_of, one_blas_thread
from ilfs.parameters import check_integer, check_within
from ilfs.sources import TableSource, table_source
from ilfs.sources.frames import frame_source, is_large_frame
from ilfs.sources.tables import BLOCK_ROWS, DenseSource
from ilfs.statistics import Moments
from ilfs.statistics.moments import UnusableColumnError
from ilfs.ties import UNIT_FLOOR
from ilfs.validation import check_columns, column_names, is_sparse_frame

BLOCK_COLUMNS = 256  # columns compared at a time; two blocks of them and of BLOCK_ROWS rows take 32 MB
NO_HEAD = -1
MAX_COLUMNS_SHOWN = 5


@overload
def prune_redundant(
    order: ArrayLike,
    X: Any,
    threshold: float = 0.9,
    *,
    n_keep: int | None = None,
    return_heads: Literal[False] = False,
) -> Integers: ...
@overload
def prune_redundant(
    order: ArrayLike, X: Any, threshold: float = 0.9, *, n_keep: int | None = None, return_heads: Literal[True]
) -> tuple[Integers, Integers]: ...
def prune_redundant(
    order: ArrayLike, X: Any, threshold: float = 0.9, *, n_keep: int | None = None, return_heads: bool = False
) -> Integers | tuple[Integers, Integers]:
    """Leave out the features of a ranking that are correlated with a better one that is kept.

    The time is that of n_samples * len(order) * n_kept multiplications; the memory does not depend on the number of
    pairs of features.

    Parameters
    ----------
    order : array of shape (n,)
        Column indices, best first: all columns, such as ``order_`` of a fitted selector, or some of them.
    X : array, data frame or sparse matrix of shape (n_samples, n_features)
        The table, in memory and without missing values in these columns.
    threshold : float, default=0.9
        A feature is left out if the absolute value of its Pearson correlation with a kept one is larger than this. The
        correlation with a constant feature counts as 0. With 1, nothing is left out.
    n_keep : int, optional
        Stop when this many features are kept.
    return_heads : bool, default=False
        Also return the head of every feature.

    Returns
    -------
    kept : ndarray of shape (n_kept,)
        Column indices, best first.
    heads : ndarray of shape (n_features,)
        Only with ``return_heads``: for a feature that was left out, the best kept feature whose correlation with it
        exceeds the threshold; for a kept feature, itself; -1 for features that are not in the order, or that were not
        reached before ``n_keep`` features were kept.

    See Also
    --------
    ilfs.Novelty : Picks features by relevance and redundancy together, without a threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import FisherScore
    >>> from ilfs.selection import prune_redundant
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> order = FisherScore().fit(X, y).order_
    >>> kept, heads = prune_redundant(order, X, n_keep=3, return_heads=True)
    >>> list(X.columns[kept])
    ['worst concave points', 'worst perimeter', 'mean concavity']
    >>> list(X.columns[heads == kept[1]])
    ['mean radius', 'mean perimeter', 'mean area', 'worst radius', 'worst perimeter', 'worst area']
    """
    check_within("threshold", threshold, 0, 1)
    if n_keep is not None:
        check_integer("n_keep", n_keep, 1)
    source, names = source_of(X), column_names(X)
    columns = check_order(order, source.n_features)
    pruned = Pruning(CentredColumns.from_source(source, columns, names), float(threshold), n_keep)
    with one_blas_thread():  # the products are too small for several threads, which would wait for each other
        kept = pruned.run(columns)
    return (kept, pruned.heads) if return_heads else kept


def source_of(X: Any) -> TableSource:
    """Validate a table and make a source of it; a large data frame is not copied."""
    table = check_columns(X)
    if is_large_frame(table) and not is_sparse_frame(table):
        return frame_source(table)
    checked = check_array(
        table,
        accept_sparse="csc",
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=2,
        input_name="X",
    )
    return table_source(checked)


def check_order(order: ArrayLike, n_features: int) -> Integers:
    """Validate an order of some or all columns."""
    columns: NDArray[Any] = np.asarray(order)
    if columns.size == 0:
        return np.empty(0, dtype=np.int64)
    if columns.ndim != 1 or columns.dtype.kind not in "iu":
        raise ValueError(
            f"order must be a list of column indices, best first, got {columns.dtype} of shape {columns.shape}"
        )
    if not 0 <= columns.min() <= columns.max() < n_features:
        raise ValueError(f"order must have indices from 0 to {n_features - 1}, got {columns.min()} to {columns.max()}")
    if np.unique(columns).size < columns.size:
        raise ValueError("order must have each column once, got one twice")
    return columns.astype(np.int64)


@dataclass(frozen=True)
class CentredColumns:
    """Columns of a table from which correlations are computed, block by block.

    Parameters
    ----------
    source : TableSource
        The table.
    mean, norm : ndarray of shape (n_features,)
        Mean of each column, and the norm of the column minus its mean; infinite for a constant column, so that its
        correlations are 0.
    """

    source: TableSource
    mean: Floats
    norm: Floats

    @classmethod
    def from_source(cls, source: TableSource, columns: Integers, names: list[Any] | None) -> Self:
        """Compute means and norms; raise if one of the given columns has missing values."""
        try:
            moments = fold_of(source)(Moments()).checked()
        except UnusableColumnError as error:
            raise ValueError(f"column {shown(error.column, names)} of X {error.reason}") from None
        incomplete = np.sort(columns[moments.total[columns] < source.n_rows])
        if incomplete.size:
            some = ", ".join(shown(column, names) for column in incomplete[:MAX_COLUMNS_SHOWN].tolist())
            more = ", ..." if incomplete.size > MAX_COLUMNS_SHOWN else ""
            raise ValueError(
                f"X must have no missing values in the columns of order, got NaN in {some}{more}: fill them "
                "(sklearn.impute.SimpleImputer), or leave these columns out of order"
            )
        norm = np.where(moments.constant, np.inf, np.sqrt(moments.scatter[0]))
        return cls(source, moments.mean[0], norm)

    def correlations(self, left: Integers, right: Integers) -> Floats:
        """Compute the correlations of two sets of columns, as an array of shape (n_left, n_right)."""
        products = np.zeros((left.size, right.size))
        for one, other in zip(self._blocks(left), self._blocks(right), strict=True):
            products += one.T @ other
        return products

    def _blocks(self, columns: Integers) -> Iterator[Floats]:
        """Iterate over blocks of rows, centred and divided by the norms of the columns."""
        source, n_rows = self.source, self.source.n_rows
        taken = None if isinstance(source, DenseSource) else source.to_matrix()[:, columns].tocsr()
        for start in range(0, n_rows, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, n_rows))
            block = source.block_values(rows, columns) if taken is None else taken[rows].toarray().astype(np.float64)
            block -= self.mean[columns]
            block /= self.norm[columns]
            yield block


class Pruning:
    """The loop of `prune_redundant` over blocks of columns.

    Parameters
    ----------
    table : CentredColumns
        The table.
    threshold : float
        Largest absolute correlation of two kept columns.
    n_keep : int or None
        Number of columns to keep; None for all that the threshold allows.
    """

    def __init__(self, table: CentredColumns, threshold: float, n_keep: int | None) -> None:
        self.table, self.threshold, self.n_keep = table, threshold, n_keep
        self.heads = np.full(table.source.n_features, NO_HEAD, dtype=np.int64)

    def run(self, columns: Integers) -> Integers:
        """Go through the columns, best first; return those that are kept and set ``heads``."""
        kept = np.empty(0, dtype=np.int64)
        for block in in_blocks(columns):
            self._compare_with(kept, block)
            kept = np.append(kept, self._compare_within(block))
            if self.n_keep is not None and kept.size >= self.n_keep:
                return self._stop(columns, kept[: self.n_keep])
        return kept

    def _compare_with(self, kept: Integers, block: Integers) -> None:
        """Find the heads of a block of columns among the columns kept before, best first."""
        for better in in_blocks(kept):
            block = block[self.heads[block] == NO_HEAD]
            redundant = self._are_redundant(better, block)
            found = redundant.any(axis=0)
            self.heads[block[found]] = better[redundant.argmax(axis=0)[found]]

    def _compare_within(self, block: Integers) -> Integers:
        """Find the heads of the remaining columns of a block among themselves; return the kept ones."""
        block = block[self.heads[block] == NO_HEAD]
        redundant = self._are_redundant(block, block)
        for i, column in enumerate(block.tolist()):
            if self.heads[column] == NO_HEAD:
                self.heads[column] = column
                later = block[i + 1 :][redundant[i, i + 1 :]]
                self.heads[later[self.heads[later] == NO_HEAD]] = column
        return np.asarray(block[self.heads[block] == block])

    def _are_redundant(self, left: Integers, right: Integers) -> NDArray[np.bool_]:
        # The floor keeps rounding from deciding about a correlation that equals the threshold.
        return np.asarray(np.abs(self.table.correlations(left, right)) > self.threshold + UNIT_FLOOR)

    def _stop(self, columns: Integers, kept: Integers) -> Integers:
        """Forget the heads of the columns behind the last kept one."""
        last = int(np.flatnonzero(columns == kept[-1])[0])
        self.heads[columns[last + 1 :]] = NO_HEAD
        return kept


def in_blocks(columns: Integers) -> Iterator[Integers]:
    """Cut columns into blocks of `BLOCK_COLUMNS`."""
    for start in range(0, columns.size, BLOCK_COLUMNS):
        yield columns[start : start + BLOCK_COLUMNS]


def shown(column: int, names: list[Any] | None) -> str:
    """Format a column by its name, or by its index if it has none."""
    return str(column) if names is None else repr(names[column])
