"""A block: some rows and some columns of a table, with the classes of the rows, in the form the kernels read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Integers, read_only
from ilfs.statistics.labels import RowLabels

COPIED_COLUMNS = 32  # columns copied at a time for statistics that read row-major arrays: 2 MB for 8192 rows


@dataclass(frozen=True)
class ColumnArrays:
    """Columns that are each contiguous in memory: those of a Fortran-ordered array or of a data frame.

    Parameters
    ----------
    addresses : ndarray of shape (n_columns,)
        Address of the first value of each column.
    n_rows : int
        Number of rows.
    dtype : numpy.dtype
        float32 or float64.
    owner : object
        What keeps the memory allocated.
    """

    addresses: Integers
    n_rows: int
    dtype: np.dtype[Any]
    owner: Any

    @classmethod
    def from_array(cls, X: NDArray[Any]) -> Self | None:
        """Return the columns of an array; None if they are not contiguous, or neither float32 nor float64."""
        if X.dtype not in (np.float32, np.float64) or X.strides[0] != X.itemsize or not X.flags.aligned:
            return None
        return cls(column_addresses(X), X.shape[0], X.dtype, X)

    @classmethod
    def from_columns(cls, columns: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> Self | None:
        """Return separate arrays as columns, without a copy; None if one of them has another type or has gaps."""
        if not all(column.dtype == dtype and column.flags.c_contiguous and column.flags.aligned for column in columns):
            return None
        addresses = np.array([column.__array_interface__["data"][0] for column in columns], dtype=np.int64)
        return cls(addresses, len(columns[0]) if columns else 0, dtype, columns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a copy of the values: another process cannot use the addresses."""
        return ColumnArrays.from_array, (np.asfortranarray(self.to_rows()),)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return self.n_rows, self.addresses.size

    @property
    def like(self) -> Any:
        """A number of the type of the values, which tells it to the kernels."""
        return self.dtype.type(0)

    def take_rows(self, rows: slice) -> Self:
        """Return some neighbouring rows, without a copy."""
        start, stop, _ = rows.indices(self.n_rows)
        addresses = self.addresses + start * self.dtype.itemsize
        return replace(self, addresses=addresses, n_rows=max(stop - start, 0))

    def take(self, columns: slice | Integers) -> Self:
        """Return some of the columns, without a copy."""
        return replace(self, addresses=self.addresses[columns])

    def to_rows(self, dtype: Any = None) -> NDArray[Any]:
        """Return a row-major copy."""
        from ilfs.kernels.by_column import copy_columns

        rows = np.empty(self.shape, self.dtype if dtype is None else dtype)
        copy_columns(self.addresses, self.like, rows)
        return rows


def column_addresses(X: NDArray[Any]) -> Integers:
    """Return the address of the first value of each column of an array."""
    first: int = X.__array_interface__["data"][0]
    return first + X.strides[1] * np.arange(X.shape[1])


@dataclass(frozen=True)
class DenseBlock:
    """Columns ``first:last`` of an array.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n), or ColumnArrays
        Values, float32 or float64. An array may be in C order, or in Fortran order: the transpose of a C-ordered array
        of shape (n, n_rows), as Parquet and Arrow deliver it. Moments and tokens are computed from either without a
        copy. Other statistics copy a few columns at a time to C order.
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

    X: Any
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
        rows = self.labels.by_class.rows
        if isinstance(self.X, ColumnArrays):
            return np.asarray(self.X.take(slice(self.first + j, self.first + j + 1)).to_rows()[rows, 0])
        return np.asarray(self.X[rows, self.first + j])

    def with_labels(self, labels: RowLabels) -> Self:
        """Return a block with other labels that shares these values, so that it must not be written to."""
        return replace(self, labels=labels, is_own=False)

    @property
    def is_row_major(self) -> bool:
        """True if X is an array in C order."""
        return not isinstance(self.X, ColumnArrays) and bool(self.X.flags.c_contiguous)

    def column_arrays(self) -> ColumnArrays | None:
        """Return the columns of the block if each is contiguous in memory and X is not in C order."""
        if self.is_row_major:
            return None
        arrays = self.X if isinstance(self.X, ColumnArrays) else ColumnArrays.from_array(self.X)
        return None if arrays is None else arrays.take(slice(self.first, self.last))

    def unweighted_columns(self) -> ColumnArrays | None:
        """Return the columns if they are contiguous and all weights are 1, as `ilfs.kernels.by_column` needs."""
        return self.column_arrays() if self.labels.has_unit_weights else None

    def row_major(self) -> Self:
        """Return this block if it is in C order, otherwise a block with a copy of its columns."""
        if self.is_row_major:
            return self
        arrays = self.column_arrays()
        values = np.ascontiguousarray(self.X[:, self.first : self.last]) if arrays is None else arrays.to_rows()
        return replace(self, X=values, first=0, last=self.n_columns, is_own=True)

    def row_major_strips(self) -> Iterator[Self]:
        """Iterate over strips of a few columns in C order."""
        for start in range(0, self.n_columns, COPIED_COLUMNS):
            stop = min(start + COPIED_COLUMNS, self.n_columns)
            columns = slice(self.columns.start + start, self.columns.start + stop)
            yield replace(self, first=self.first + start, last=self.first + stop, columns=columns).row_major()


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
