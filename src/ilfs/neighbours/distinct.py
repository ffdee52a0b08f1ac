"""Distinct samples: copies counted instead of repeated, in an order that depends on values only."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution import blocks
from ilfs.execution.columns import dense_column_blocks, row_major_columns

COMPARED_ROWS = 256  # rows of equal keys that are compared per block


@dataclass(frozen=True)
class DistinctSamples:
    """Samples without copies.

    Methods based on neighbours treat copies equally, so one row and a count represent all of them. That keeps graphs of
    data with few distinct rows small.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_distinct, n_features)
        One row for each distinct sample; the input itself if there are no copies.
    counts : ndarray of shape (n_distinct,)
        Number of samples that equal each row.
    inverse : ndarray of shape (n_samples,)
        The distinct row of each input sample.
    rank : ndarray of shape (n_distinct,)
        Position of each distinct row in an order that depends on the values of the rows, not on the order of the input.
    """

    X: Any
    counts: Floats
    inverse: Integers
    rank: Integers

    @classmethod
    def from_samples(cls, X: Any, *, ordered: bool = False) -> Self:
        """Find equal rows and count them.

        Parameters
        ----------
        X : ndarray or scipy.sparse array of shape (n_samples, n_features)
            The rows.
        ordered : bool, default=False
            Sort distinct rows by their rank. They are always sorted if there are copies.

        Returns
        -------
        DistinctSamples
            The distinct rows and their numbers of copies.
        """
        order, opens = _equal_rows(X)
        first, inverse = order[opens], np.empty(order.size, dtype=np.int64)
        inverse[order] = np.cumsum(opens) - 1
        counts = np.bincount(inverse).astype(np.float64)
        rank = np.arange(first.size)
        if not ordered and first.size == order.size:  # no copies: keep the input, and `inverse` is the rank
            return cls(X, counts, np.arange(order.size), inverse)
        rows = X.tocsr() if sparse.issparse(X) else X
        return cls(rows[first], counts, inverse, rank)

    @property
    def n_samples(self) -> int:
        """Number of samples, copies included."""
        return self.inverse.size


def _equal_rows(X: Any) -> tuple[Integers, NDArray[np.bool_]]:
    """Return an order of the rows in which equal ones are adjacent, and a mask of the first of each distinct row."""
    keys = row_keys(X)
    order = np.argsort(keys, kind="stable")  # sorting one number per row is much faster than sorting rows
    opens = np.append(True, keys[order][1:] != keys[order][:-1])
    rows = X.tocsr() if sparse.issparse(X) else X
    same = np.flatnonzero(~opens)  # equal keys nearly always mean equal rows; compare them to be certain
    for some in blocks(same.size, COMPARED_ROWS):
        at = same[some]
        opens[at] = _differ(rows[order[at - 1]], rows[order[at]])
    return order, opens


def _differ(one: Any, two: Any) -> NDArray[np.bool_]:
    """Compare two matrices row by row; True where the rows differ."""
    if sparse.issparse(one):
        return np.asarray(abs(one - two).sum(axis=1)).ravel() > 0
    return np.asarray((one != two).any(axis=1))


def row_keys(X: Any) -> NDArray[np.uint64]:
    """Compute a hash for each row: equal for equal rows, and very likely different for others.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Numbers, not NaN.

    Returns
    -------
    ndarray of shape (n_samples,)
        The same for dense and sparse storage, for any layout, and for the same values in float32 and float64.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.neighbours.distinct import row_keys
    >>> keys = row_keys(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    from ilfs.kernels.row_keys import add_row_keys, add_sparse_row_keys

    keys = np.zeros(X.shape[0], dtype=np.uint64)
    multipliers = _multipliers(X.shape[1])
    if sparse.issparse(X):
        rows = X.tocsr().astype(np.float64, copy=False)
        add_sparse_row_keys(rows.data.view(np.uint64), rows.indices, rows.indptr, multipliers, keys)
        return keys
    for columns in dense_column_blocks(X):
        table, column = row_major_columns(X, columns)
        if table.dtype != np.float64:
            table, column = table[:, column : column + columns.stop - columns.start].astype(np.float64), 0
        add_row_keys(read_only(table.view(np.uint64)), column, multipliers[columns], keys)
    return keys


def _multipliers(n: int) -> NDArray[np.uint64]:
    """Return a pseudo-random odd number for each column, with the constants of the generator splitmix64.

    Multiplication by an odd number is a bijection modulo 2^64, so no bit of a value gets lost.
    """
    words = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((words ^ (words >> np.uint64(31))) | np.uint64(1))
