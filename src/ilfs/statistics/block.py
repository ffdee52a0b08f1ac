"""A block: some rows and some columns of a table, with the classes of the rows, in the form the kernels read."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Integers, read_only
from ilfs.statistics.labels import RowLabels


@dataclass(frozen=True)
class DenseBlock:
    """Columns ``first:last`` of a row-major array.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n)
        Values, float32 or float64.
    labels : RowLabels
        Classes and weights of the rows.
    first, last : int
        Columns of X that belong to the block.
    columns : slice
        Position of these columns in the whole table, or among the requested columns.
    is_own : bool
        True if X was made for this block alone, so that a statistic may write to it.
    first_row : int
        Number of the first row in the whole data.
    """

    X: NDArray[Any]
    labels: RowLabels
    first: int
    last: int
    columns: slice
    is_own: bool = False
    first_row: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows, including rows that take no part."""
        return len(self.X)

    @property
    def n_columns(self) -> int:
        """Number of columns of the block."""
        return self.last - self.first

    def column(self, j: int) -> NDArray[Any]:
        """Return the values of column j of the block in the rows that take part."""
        return np.asarray(self.X[self.labels.by_class.rows, self.first + j])

    def with_labels(self, labels: RowLabels) -> Self:
        """Return a block with other labels that shares these values, so that it must not be written to."""
        return replace(self, labels=labels, is_own=False)


@dataclass(frozen=True)
class SparseBlock:
    """Compressed columns of a table.

    Parameters
    ----------
    data, indices, indptr : ndarray
        As in `scipy.sparse.csc_array`, but ``indptr[0]`` may be any position in ``data``.
    labels : RowLabels
        Classes and weights of the rows.
    columns : slice
        Position of these columns in the whole table, or among the requested columns.
    first_row : int
        Number of the first row in the whole data.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    labels: RowLabels
    columns: slice
    first_row: int = 0

    @classmethod
    def from_matrix(cls, X: Any, labels: RowLabels, first_row: int = 0) -> Self:
        """Make a block of a sparse matrix of any format; duplicate entries are summed."""
        X = X.tocsc()
        if not X.has_canonical_format:
            X = X.copy()  # the caller's matrix keeps its duplicates
            X.sum_duplicates()
        data = X.data if X.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
        columns = slice(0, X.shape[1])
        return cls(read_only(data), read_only(X.indices), read_only(X.indptr), labels, columns, first_row)

    @property
    def n_rows(self) -> int:
        """Number of rows, including rows that take no part."""
        return len(self.labels)

    @property
    def n_columns(self) -> int:
        """Number of columns of the block."""
        return self.indptr.size - 1

    def column(self, j: int) -> NDArray[Any]:
        """Return the stored values of column j of the block in the rows that take part."""
        stored = slice(self.indptr[j], self.indptr[j + 1])
        return np.asarray(self.data[stored][self.labels.takes_part[self.indices[stored]]])

    def with_labels(self, labels: RowLabels) -> Self:
        """Return a block with other labels that shares these values."""
        return replace(self, labels=labels)

    def strip(self, columns: slice) -> Self:
        """Return some neighbouring columns without copying them."""
        return replace(self, indptr=self.indptr[columns.start : columns.stop + 1], columns=columns)

    def take(self, columns: Integers) -> Self:
        """Return a copy of some columns."""
        shape = (self.n_rows, self.n_columns)
        matrix = sparse.csc_array((self.data, self.indices, self.indptr), shape=shape)[:, columns]
        return type(self).from_matrix(matrix, self.labels, self.first_row)


Block = DenseBlock | SparseBlock
