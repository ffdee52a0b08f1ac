"""Columns of a row-major table laid out one after the other."""

from typing import Any

from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.kernels._jit import kernel

TALL, BROAD = 16, 8  # a tile of rows and columns that the nearest cache holds, both sides of the copy


@kernel
def gather_columns(X: NDArray[Any], rows: Integers, first: int, columns: NDArray[Any]) -> None:
    """Fill columns[j, a] = X[rows[a], first + j]."""
    width, height = columns.shape
    for top in range(0, height, TALL):
        for left in range(0, width, BROAD):
            for j in range(left, min(left + BROAD, width)):
                for a in range(top, min(top + TALL, height)):
                    columns[j, a] = X[rows[a], first + j]
