"""Rows in memory (or memory-mapped): threads over blocks of rows and columns."""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution.fold import S
from ilfs.execution.target import Target
from ilfs.execution.threads import AHEAD, blocks, in_order, one_blas_thread
from ilfs.statistics.block import Block, DenseBlock, SparseBlock

# Results are merged along rows in a fixed order, so the height of a block must not depend on the layout, the number
# of columns or the number of threads. The width may: columns never meet. (Where they do, in pairs of some of them, the
# height depends on how many these are, and on nothing else.)
BLOCK_ROWS = 8192
NARROW, WIDE = 512, 4096  # columns: the kernels want to read some thousand bytes of a row at a time
COPIED = 128  # columns of a block that is copied first: 8 MB
COPIED_COLUMNS = 32  # the same where cells of a column lie side by side
GATHERED_ROWS, GATHERED_CELLS = (256, BLOCK_ROWS), 2**19  # of a block of columns that are not side by side
COPIED_CELLS = 2**18  # at least so many, or handing out the work takes longer than doing it
SPARSE_CELLS = 2**18  # stored cells of a block of sparse columns
SERIAL_CELLS = 2**18  # less than this is not worth a second thread


class InMemory:
    """A fold over a numpy array or a scipy.sparse matrix.

    Arrays of float32 or float64 in C order are read where they are; any other layout or type is copied block by block.
    Compressed rows become compressed columns once. Nothing else of the size of the data is made.

    Parameters
    ----------
    X : ndarray or scipy.sparse matrix of shape (n_samples, n_features)
        The rows.
    target : Target
        Their classes and weights.
    n_jobs : int, optional
        Number of threads, as `joblib` counts them. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import InMemory, Target
    >>> from ilfs.statistics import ClassMoments
    >>> fold = InMemory(np.array([[1.0], [3.0], [7.0]]), Target.from_labels(np.array(["a", "a", "b"])))
    >>> fold(ClassMoments.from_block).mean
    array([[2.],
           [7.]])
    """

    def __init__(self, X: Any, target: Target, n_jobs: int | None = None) -> None:
        self.target = target
        is_sparse = sparse.issparse(X)
        n_cells = X.nnz if is_sparse else X.size
        n_threads = effective_n_jobs(n_jobs) if n_cells > SERIAL_CELLS else 1
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_threads = n_threads
        self._table: WholeTable = SparseTable(X, target) if is_sparse else DenseTable(X, target, n_threads)

    def __call__(self, from_block: Callable[[Block], S], /, columns: Integers | None = None) -> S:
        """The statistic of all rows; of some columns, if they are given, which then are in every block, side by side.

        Matrix products inside use one thread.
        """
        if columns is None:
            return self._merged(from_block, self._table, AHEAD)
        with one_blas_thread():  # a statistic of pairs is large: few of them wait
            return self._merged(from_block, self._table.narrow(columns), ahead=1)

    def _merged(self, from_block: Callable[[Block], S], table: "Table", ahead: int) -> S:
        merged: dict[int, S] = {}
        for (_, columns), part in self._map(from_block, table, ahead):
            done = merged.get(columns.start)
            merged[columns.start] = part if done is None else done.merge(part)
            del done, part  # may be large, and are not to be kept while waiting for the next
        parts = list(merged.values())
        return type(parts[0]).join(parts)

    def _map(self, from_block: Callable[[Block], S], table: "Table", ahead: int) -> Iterator[tuple["Place", S]]:
        """The statistic of every block, in the order of the grid."""

        def work(place: "Place") -> tuple["Place", S]:
            return place, from_block(table.block(*place))

        # the pool ends its threads when the fold is gone
        if self._pool is None:
            return map(work, table.grid)
        return in_order(self._pool, work, table.grid, ahead * self._n_threads)


Place = tuple[int, slice]  # number of the block of rows, range of columns


class Table(Protocol):
    """Rows cut into blocks."""

    grid: list[Place]

    def block(self, i: int, columns: slice, /) -> Block:
        """One of them."""


class WholeTable(Table, Protocol):
    """All columns, of which some can be asked for."""

    def narrow(self, columns: Integers, /) -> "Table":
        """Some of the columns, all of them in every block."""


class DenseTable:
    """An array cut into blocks of rows, and those into blocks of columns, so that a file is read front to back."""

    def __init__(self, X: NDArray[Any], target: Target, n_threads: int) -> None:
        self._X, self._target = read_only(X), target
        self._in_place = X.flags.c_contiguous and X.dtype in (np.float32, np.float64)
        n_samples, n_features = X.shape
        width = _even_width(n_features, n_threads)
        if not self._in_place:
            by_column = X.strides[0] < X.strides[1]
            width = max(COPIED_COLUMNS if by_column else COPIED, COPIED_CELLS // n_samples)
        tops = range(0, n_samples, BLOCK_ROWS)
        self._sorted_rows = [target.sorted_rows(top, top + BLOCK_ROWS) for top in tops]
        self.grid: list[Place] = [(i, columns) for i in range(len(tops)) for columns in blocks(n_features, width)]

    def block(self, i: int, columns: slice) -> Block:
        """One block; copied only if it cannot be read in place."""
        X = self._X[i * BLOCK_ROWS : (i + 1) * BLOCK_ROWS]
        if self._in_place:
            return DenseBlock(X, *self._sorted_rows[i], columns.start, columns.stop, columns)
        kept = np.float32 if X.dtype == np.float32 else np.float64
        copy = read_only(np.array(X[:, columns], dtype=kept, order="C"))
        return DenseBlock(copy, *self._sorted_rows[i], 0, copy.shape[1], columns)

    def narrow(self, columns: Integers) -> "Gathered":
        """Some of the columns, all of them in every block."""
        return Gathered(self._X, self._target, columns)


class Gathered:
    """Some columns of an array, copied block by block; rows of a block are as many as fit into the nearer caches."""

    def __init__(self, X: NDArray[Any], target: Target, columns: Integers) -> None:
        self._X, self._target, self._columns = X, target, columns
        self._height = int(np.clip(GATHERED_CELLS // max(columns.size, 1), *GATHERED_ROWS))
        whole = slice(0, columns.size)
        self.grid: list[Place] = [(i, whole) for i in range(math.ceil(len(X) / self._height))]

    def block(self, i: int, columns: slice) -> Block:
        """One block, always a copy."""
        top, end = i * self._height, (i + 1) * self._height
        cells = gathered(self._X[top:end], self._columns)
        rows = self._target.sorted_rows(top, end)
        return DenseBlock(cells, *rows, columns.start, columns.stop, columns, is_own=True)


def gathered(X: NDArray[Any], columns: Integers) -> Floats:
    """A copy of some columns, row by row."""
    by_column = abs(X.strides[0]) < abs(X.strides[1])
    cells = X[:, columns] if by_column else X.take(columns, axis=1)  # an index gives columns side by side
    return np.asarray(cells, dtype=np.float64, order="C")


class SparseTable:
    """Compressed columns cut into blocks of whole columns with about the same number of stored cells."""

    def __init__(self, X: Any, target: Target) -> None:
        X = X.tocsc()
        if not X.has_canonical_format:
            X = X.copy()  # the caller's matrix keeps its duplicates
            X.sum_duplicates()
        data = X.data if X.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
        self._data, self._indices, self._indptr = map(read_only, (data, X.indices, X.indptr))
        self._target = target
        self._of_rows = target.codes, target.weight, target.class_rows, target.class_total
        n_features = X.shape[1]
        width = max(1, n_features * SPARSE_CELLS // max(1, X.nnz, n_features))
        self.grid: list[Place] = [(0, columns) for columns in blocks(n_features, width)]

    def block(self, _: int, columns: slice) -> Block:
        """The columns of one block; nothing is copied."""
        indptr = self._indptr[columns.start : columns.stop + 1]
        return SparseBlock(self._data, self._indices, indptr, *self._of_rows, columns)

    def narrow(self, columns: Integers) -> "SparseTable":
        """Some of the columns, all of them in one block."""
        shape = (self._target.codes.size, self._indptr.size - 1)
        X = sparse.csc_array((self._data, self._indices, self._indptr), shape=shape)[:, columns]
        few = SparseTable(X, self._target)
        few.grid = [(0, slice(0, columns.size))]
        return few


def _even_width(n_features: int, n_threads: int) -> int:
    """Equal shares for the threads, neither much wider than WIDE nor narrower than NARROW."""
    shares = n_threads * math.ceil(n_features / (WIDE * n_threads))
    return max(math.ceil(n_features / shares), NARROW)
