"""Blocks of one height, cut from batches of any height."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, sparse_defect, zeros_in_pages
from ilfs.sources.reader import Batch, BatchReader
from ilfs.statistics.block import ColumnArrays

Piece = tuple[Any, NDArray[Any] | None, Floats]


class BlockCutter:
    """Cut batches of any height into blocks of one height; only the last block may be lower.

    Parameters
    ----------
    reader : BatchReader
        States how values are stored.
    n_columns : int
        Number of columns of the batches.
    height : int
        Rows of a block.
    in_place : bool, default=False
        Give a block that lies within one batch of separate columns as `ColumnArrays`, without a copy.
    """

    def __init__(self, reader: BatchReader, n_columns: int, height: int, *, in_place: bool = False) -> None:
        make: type[Filler] = SparseFiller if reader.is_sparse else InPlaceFiller if in_place else DenseFiller
        self._new_filler: Callable[[], Filler] = partial(make, reader, n_columns, height)
        self._height, self._filler = height, self._new_filler()

    def cut(self, batches: Iterable[Batch]) -> Iterator[Piece]:
        """Add batches, and give the blocks that are full; rows that are left begin the next block.

        Parameters
        ----------
        batches : iterable of Batch
            The next rows.

        Yields
        ------
        X, y, weight
            Values, labels and weights of a block. Dense values are in Fortran order if columns are contiguous in a
            batch.
        """
        for batch in batches:
            start = 0
            while start < batch.n_rows:
                taken = min(self._height - self._filler.n_rows, batch.n_rows - start)
                self._filler.add(batch, slice(start, start + taken))
                start += taken
                if self._filler.n_rows == self._height:
                    yield self._taken()
            del batch  # may be large: do not keep it while the next one is read

    def rest(self) -> Iterator[Piece]:
        """Give the last block, if there are rows left."""
        if self._filler.n_rows:
            yield self._taken()

    def _taken(self) -> Piece:
        block = self._filler.block()
        self._filler = self._new_filler()
        return block


class Filler(ABC):
    """A block that is being filled with rows."""

    def __init__(self, reader: BatchReader, n_columns: int, height: int) -> None:
        self.reader, self.n_columns, self.height, self.n_rows = reader, n_columns, height, 0
        self._y: list[NDArray[Any]] = []
        self._weight: list[Floats] = []

    def add(self, batch: Batch, rows: slice) -> None:
        """Add some rows of a batch."""
        self.add_values(batch.X, rows)
        n_rows = rows.stop - rows.start
        if batch.y is not None:
            self._y.append(batch.y[rows])
        self._weight.append(np.ones(n_rows) if batch.weight is None else batch.weight[rows])
        self.n_rows += n_rows

    def block(self) -> Piece:
        """Return the rows that were added."""
        y = np.concatenate(self._y) if self._y else None
        return self.values(), y, np.concatenate(self._weight)

    @abstractmethod
    def add_values(self, X: Any, rows: slice) -> None:
        """Add the values of some rows of a batch."""

    @abstractmethod
    def values(self) -> Any:
        """Return the values of all rows that were added."""


class DenseFiller(Filler):
    """A dense block, filled in place. A batch that is a whole block already is passed on without a copy."""

    _whole: NDArray[Any] | None = None
    _filled: NDArray[Any] | None = None

    def add_values(self, X: Any, rows: slice) -> None:
        """Copy the values of some rows."""
        if isinstance(X, np.ndarray) and self._is_block(X, rows):
            self._whole = X[rows]
            return
        if self._filled is None:
            order: Literal["F", "C"] = "F" if self.reader.by_column else "C"
            self._filled = zeros_in_pages((self.height, self.n_columns), self.reader.dtype, order)
        place = slice(self.n_rows, self.n_rows + rows.stop - rows.start)
        if isinstance(X, np.ndarray):
            self._filled[place] = X[rows]
        else:
            for j, column in enumerate(X):
                self._filled[place, j] = column[rows]

    def _is_block(self, X: NDArray[Any], rows: slice) -> bool:
        contiguous = X.flags.f_contiguous if self.reader.by_column else X.flags.c_contiguous
        return rows.stop - rows.start == self.height and X.dtype == self.reader.dtype and contiguous

    def values(self) -> NDArray[Any]:
        """Return the values of all rows."""
        if self._whole is not None:
            return self._whole
        assert self._filled is not None
        return self._filled[: self.n_rows]


class InPlaceFiller(DenseFiller):
    """A dense block that is passed on without a copy if it lies within one batch of separate columns.

    The last block of a large batch is copied, so that the batch can be freed before the next one is read, which happens
    while the block before is still in use.
    """

    _arrays: ColumnArrays | None = None

    def add_values(self, X: Any, rows: slice) -> None:
        """Keep the place of a whole block, or copy the values of some rows."""
        if not isinstance(X, np.ndarray) and rows.stop - rows.start == self.height and may_refer(X, rows):
            self._arrays = ColumnArrays.from_columns([column[rows] for column in X], self.reader.dtype)
        if self._arrays is None:
            super().add_values(X, rows)

    def values(self) -> Any:
        """Return the values of all rows."""
        return super().values() if self._arrays is None else self._arrays


class SparseFiller(Filler):
    """A sparse block: the rows of batches below each other."""

    def __init__(self, reader: BatchReader, n_columns: int, height: int) -> None:
        super().__init__(reader, n_columns, height)
        self._parts: list[Any] = []

    def add_values(self, X: Any, rows: slice) -> None:
        """Keep some rows of a sparse matrix."""
        if X.format == "csr" and (defect := sparse_defect(X.indptr, X.indices, *X.shape)):
            raise ValueError(f"{self.reader.name} must hold valid CSR matrices: {defect}")
        self._parts.append(X.tocsr()[rows])

    def values(self) -> Any:
        """Return all rows as one CSR matrix."""
        return self._parts[0] if len(self._parts) == 1 else sparse.vstack(self._parts, format="csr")


def may_refer(columns: Sequence[NDArray[Any]], rows: slice) -> bool:
    """Check if a block may refer to the columns of its batch: if it is all of it, or another whole block follows."""
    n_rows: int = len(columns[0])
    height: int = rows.stop - rows.start
    return n_rows == height or rows.stop + height <= n_rows
