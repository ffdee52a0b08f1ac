"""Addresses of all columns of a polars or pyarrow table at once, by the Arrow C data interface.

The libraries make a Python object for each column, which takes longer than the statistics of a thousand rows. The
interface (https://arrow.apache.org/docs/format/CDataInterface.html) is a fixed layout in memory. The table is asked
for a stream of batches; if the first batch holds all rows, its columns are contiguous.
"""

import ctypes
import weakref
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from ilfs.arrays import Integers

# Columns of polars whose chunks are counted, chosen at random: asking all of them takes longer than the export. If 5 %
# of the columns have several chunks, all of those chosen have one chunk with a probability of 4 % only.
CHECKED_COLUMNS = 64
STREAM = b"arrow_array_stream"  # name of a capsule that holds a stream


class CArray(ctypes.Structure):
    """The structure ``ArrowArray``."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
        *((name, ctypes.c_void_p) for name in ("buffers", "children", "dictionary", "release", "private_data")),
    ]


class CStream(ctypes.Structure):
    """The structure ``ArrowArrayStream``."""

    _fields_ = [
        (name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    ]


get_next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(CStream), ctypes.POINTER(CArray))
release = ctypes.CFUNCTYPE(None, ctypes.POINTER(CArray))


class Batch:
    """A batch of rows of an Arrow table. The memory of its columns is released when the object is deleted."""

    def __init__(self, array: CArray) -> None:
        self._array = array
        # The producer clears the field when it has released the memory, so the function is taken from it here.
        weakref.finalize(self, release(array.release), array)

    def find_values(self, n_rows: int, dtype: "np.dtype[Any]", addresses: Integers) -> None:
        """Find the values of each column, unless the table has other rows or columns than the batch.

        Parameters
        ----------
        n_rows : int
            Number of rows of the table.
        dtype : numpy.dtype
            Type of all columns.
        addresses : ndarray of shape (n_columns,)
            Set to the address of each column; left as it is for a column with missing values.
        """
        from ilfs.kernels.arrow import find_values

        array = self._array
        if (array.length, array.n_children) == (n_rows, addresses.size):
            find_values(array.children, array.offset, n_rows, dtype.itemsize, addresses)


def first_batch(table: Any) -> Batch | None:
    """Return the first batch of an object with the method ``__arrow_c_stream__``; None if there is none."""
    capsule = table.__arrow_c_stream__()  # releases the stream when it is deleted
    stream, array = CStream.from_address(pointer_in(capsule, STREAM)), CArray()
    status = get_next(stream.get_next)(ctypes.byref(stream), ctypes.byref(array))
    return None if status or array.release is None else Batch(array)


def pointer_in(capsule: Any, name: bytes) -> int:
    """Return the pointer in a capsule."""
    function = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return int(function(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, name))


def has_one_chunk(table: Any) -> bool:
    """Check if a table of polars or pyarrow may be in one chunk, so that it is exported without a copy.

    Polars would copy columns whose chunks differ from those of others. Some columns tell if these are many: a copy of
    few columns does no harm. Before version 1.3 polars has no export.
    """
    if not nw.dependencies.is_polars_dataframe(table):
        return bool(nw.dependencies.is_pyarrow_table(table))
    some = np.random.default_rng(0).integers(table.width, size=CHECKED_COLUMNS).tolist()
    return hasattr(table, "__arrow_c_stream__") and all(table.to_series(j).n_chunks() == 1 for j in some)
