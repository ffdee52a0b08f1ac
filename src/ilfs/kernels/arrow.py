"""Addresses of columns in the structures of the Arrow C data interface."""

from typing import Any

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from ilfs.arrays import Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._memory import pointer_to

# Positions of the fields that are read, in units of eight bytes, and the number of all fields of the structure.
LENGTH, NULL_COUNT, OFFSET, N_BUFFERS, BUFFERS, N_FIELDS = 0, 1, 2, 3, 5, 10


@kernel
def find_values(children: int, first: int, n_rows: int, itemsize: int, addresses: Integers) -> None:
    """Set addresses[j] to the address of row `first` of column j, if n_rows contiguous numbers follow it.

    `children` is the address of an array of pointers to the structures of the columns, whose type is known to be
    numeric. The address of a column with missing values, or at an odd place in memory, is left as it is.
    """
    pointers = integers_at(children, addresses.size)
    for j in range(addresses.size):
        column = integers_at(pointers[j], N_FIELDS)
        if column[N_BUFFERS] != 2 or column[LENGTH] < first + n_rows:
            continue
        buffers = integers_at(column[BUFFERS], 2)  # the bits that tell which values are valid, the values
        address = buffers[1] + itemsize * (column[OFFSET] + first)
        # The number of missing values is -1 if it is not known.
        if (column[NULL_COUNT] == 0 or buffers[0] == 0) and buffers[1] != 0 and address % itemsize == 0:
            addresses[j] = address


@formula
def integers_at(address: int, n: int) -> Any:
    """Return n integers of eight bytes, or pointers, at an address."""
    return carray(pointer_to(address, np.int64(0)), n)
