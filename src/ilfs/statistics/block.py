"""A block: some rows and some columns of a table, in the form the kernels read."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers


@dataclass(frozen=True)
class DenseBlock:
    """Columns ``first:last`` of a row-major array, its rows sorted by class.

    ``rows[starts[k]:starts[k + 1]]`` are the rows of class k, ``weight`` goes with ``rows``. ``columns`` says
    which columns of the whole table these are. ``is_own``: X was made for this block, and may be written to.
    """

    X: NDArray[Any]
    rows: Integers
    starts: Integers
    weight: Floats
    first: int
    last: int
    columns: slice
    is_own: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes of the whole table."""
        return self.starts.size - 1

    @property
    def n_columns(self) -> int:
        """Number of columns of the block."""
        return self.last - self.first

    def column(self, j: int) -> NDArray[Any]:
        """The cells of column j of the block that take part."""
        return np.asarray(self.X[self.rows, self.first + j])


@dataclass(frozen=True)
class SparseBlock:
    """Compressed columns; ``codes`` is the class of every row, -1 for a row that takes no part."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    codes: Integers
    weight: Floats
    class_rows: Integers
    class_total: Floats
    columns: slice

    @property
    def n_classes(self) -> int:
        """Number of classes of the whole table."""
        return self.class_rows.size

    @property
    def n_columns(self) -> int:
        """Number of columns of the block."""
        return self.indptr.size - 1

    def column(self, j: int) -> NDArray[Any]:
        """The stored cells of column j of the block that take part."""
        stored = slice(self.indptr[j], self.indptr[j + 1])
        return np.asarray(self.data[stored][self.codes[self.indices[stored]] >= 0])


Block = DenseBlock | SparseBlock
