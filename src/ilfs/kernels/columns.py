"""Transposed copies of columns of a row-major array."""

from typing import Any

from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.kernels._jit import kernel

COPIED_ROWS, COPIED_COLUMNS = 16, 8  # size of a tile; the tile and its copy fit together into the first-level cache


@kernel
def gather_columns(X: NDArray[Any], rows: Integers, first: int, columns: NDArray[Any]) -> None:
    """Copy a block of columns at some rows: columns[j, a] = X[rows[a], first + j]."""
    width, height = columns.shape
    # Tile by tile: a plain transposed copy reads one value of every cache line and fetches each line many times.
    for top in range(0, height, COPIED_ROWS):
        for left in range(0, width, COPIED_COLUMNS):
            for j in range(left, min(left + COPIED_COLUMNS, width)):
                for a in range(top, min(top + COPIED_ROWS, height)):
                    columns[j, a] = X[rows[a], first + j]
