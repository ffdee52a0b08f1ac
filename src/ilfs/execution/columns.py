"""Blocks of columns of a table, dense, in the memory layout that a method needs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution.threads import blocks

GATHERED_BLOCK_VALUES = 2**20  # per block of `column_blocks`
MIN_GATHERED_COLUMNS = 16  # per block: reading fewer neighbouring values of every row wastes memory bandwidth
MAX_GATHERED_COLUMNS = 64  # per block: keeps the memory of a thread small for tables of few rows
DENSE_BLOCK_VALUES = 2**20  # in the dense copy that a thread holds (8 MB of float64)


def column_blocks(X: Any) -> list[slice]:
    """Divide the columns into blocks of about a million values, for `gather_columns`."""
    width = int(np.clip(GATHERED_BLOCK_VALUES // X.shape[0], MIN_GATHERED_COLUMNS, MAX_GATHERED_COLUMNS))
    return blocks(X.shape[1], width)


def gather_columns(X: Any, columns: slice, rows: Integers) -> NDArray[Any]:
    """Copy a block of columns, each contiguous in memory, with the rows in a given order.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Table in any layout. A CSC matrix is much faster than a CSR matrix.
    columns : slice
        Columns to copy.
    rows : ndarray of int
        Row indices, in the order wanted.

    Returns
    -------
    ndarray of shape (n_columns, n_rows)
        One column of X in each row, with the dtype of X.
    """
    from ilfs.kernels import columns as kernels

    if not sparse.issparse(X) and X.flags.f_contiguous:
        return np.take(X.T[columns], rows, axis=1)
    gathered = np.empty((columns.stop - columns.start, rows.size), X.dtype)
    first = columns.start
    if sparse.issparse(X) or not X.flags.c_contiguous:
        # The kernel reads C order only, so sparse and strided tables are copied block by block.
        X, first = X[:, columns], 0
        X = X.toarray() if sparse.issparse(X) else np.ascontiguousarray(X)
    kernels.gather_columns(read_only(X), rows, first, gathered)
    return gathered


def dense_column_blocks(X: Any) -> list[slice]:
    """Divide the columns into blocks whose dense float64 copy takes at most 8 MB (or one column)."""
    return blocks(X.shape[1], max(DENSE_BLOCK_VALUES // X.shape[0], 1))


def dense_columns(X: Any, columns: slice) -> Floats:
    """Return a block of columns as a dense float64 array in C order.

    The result may be a view of X: do not write to it.
    """
    block = X[:, columns]
    return np.ascontiguousarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)


def row_major_columns(X: Any, columns: slice) -> tuple[NDArray[Any], int]:
    """Return a read-only array in C order that contains a block of columns, and the index of the first of them.

    The array is X itself if X is in C order, otherwise a dense copy of the block. The dtype is float32 or float64.
    """
    if not sparse.issparse(X) and X.flags.c_contiguous:
        return read_only(X), columns.start
    return read_only(dense_columns(X, columns)), 0
