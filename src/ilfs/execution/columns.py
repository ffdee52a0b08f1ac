"""Some columns of a table at a time, dense, in the order that a method wants their cells."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution.threads import blocks

BLOCK_CELLS = 2**20
PART_CELLS = 2**20  # of dense columns that a thread holds at once (8 MB)
NARROW, WIDE = 16, 64  # columns: reading fewer of every row is slow


def column_blocks(X: Any) -> list[slice]:
    """Columns in blocks of some million cells, which no thread needs much memory for."""
    return blocks(X.shape[1], int(np.clip(BLOCK_CELLS // X.shape[0], NARROW, WIDE)))


def gather_columns(X: Any, columns: slice, rows: Integers) -> NDArray[Any]:
    """Cells of some columns, the rows in a given order.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        In any layout; compressed columns are much faster than compressed rows.
    columns : slice
        Which columns.
    rows : ndarray of int
        Which rows.

    Returns
    -------
    ndarray of shape (n_columns, n_rows)
        A column of X in every row, of the type of X.
    """
    from ilfs.kernels import columns as kernels

    if not sparse.issparse(X) and X.flags.f_contiguous:
        return np.take(X.T[columns], rows, axis=1)
    gathered = np.empty((columns.stop - columns.start, rows.size), X.dtype)
    first = columns.start
    if sparse.issparse(X) or not X.flags.c_contiguous:
        X, first = X[:, columns], 0
        X = X.toarray() if sparse.issparse(X) else np.ascontiguousarray(X)
    kernels.gather_columns(read_only(X), rows, first, gathered)
    return gathered


def column_parts(X: Any) -> list[slice]:
    """Columns of which a thread has a dense copy at once."""
    return blocks(X.shape[1], max(PART_CELLS // X.shape[0], 1))


def dense_columns(X: Any, columns: slice) -> Floats:
    """Some columns, dense, row after row; it may be X itself, so it is not to be written to."""
    part = X[:, columns]
    return np.ascontiguousarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def side_by_side(X: Any, columns: slice) -> tuple[NDArray[Any], int]:
    """A read-only table, row after row, that has some columns side by side, and where the first of them is.

    X itself if its rows are contiguous, a dense copy of those columns otherwise; float32 or float64.
    """
    if not sparse.issparse(X) and X.flags.c_contiguous:
        return read_only(X), columns.start
    return read_only(dense_columns(X, columns)), 0
