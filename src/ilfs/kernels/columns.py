"""Copy columns of a row-major table, one after the other."""

from typing import Any

from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.kernels._jit import kernel

TILE_ROWS, TILE_COLUMNS = 16, 8  # source and copy of a tile together fit into the first-level cache


@kernel
def gather_columns(X: NDArray[Any], rows: Integers, first: int, columns: NDArray[Any]) -> None:
    """Fill columns[j, a] = X[rows[a], first + j]."""
    width, height = columns.shape
    for top in range(0, height, TILE_ROWS):
        for left in range(0, width, TILE_COLUMNS):
            for j in range(left, min(left + TILE_COLUMNS, width)):
                for a in range(top, min(top + TILE_ROWS, height)):
                    columns[j, a] = X[rows[a], first + j]
