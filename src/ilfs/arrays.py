"""Names of array types, and helpers for arrays that all modules may use."""

import math
import mmap
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

VALUE_BYTES = 8  # of a number in a table, at most
CACHE_LINE_BYTES = 64

MIN_PAGED_BYTES = 2**22  # of an array in pages of its own; for smaller ones, the system call takes longer than the work
# By default Python maps pages that child processes share, which Windows does not have.
PRIVATE_PAGES = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that kernels are compiled once for writable and read-only arrays."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def sparse_defect(indptr: NDArray[Any], indices: NDArray[Any], n_outer: int, n_inner: int) -> str | None:
    """Check the index arrays of a compressed sparse matrix.

    SciPy and compiled loops trust these arrays: an index out of bounds would read memory outside of the matrix. SciPy's
    own check skips a matrix whose last pointer is 0.

    Parameters
    ----------
    indptr, indices : ndarray
        The index arrays.
    n_outer, n_inner : int
        Numbers of rows and columns of a CSR matrix, of columns and rows of a CSC matrix.

    Returns
    -------
    str or None
        The rule that is broken and the values found, or None if the arrays are valid.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.arrays import sparse_defect
    >>> sparse_defect(np.array([0, 1, 2]), np.array([0, 7]), n_outer=2, n_inner=5)
    'indices must be from 0 to 4, got 0 to 7'
    """
    n_values = len(indices)
    if len(indptr) != n_outer + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any() or indptr[-1] > n_values:
        return f"indptr must rise from 0 to at most {n_values} in {n_outer + 1} values"
    used = indices[: int(indptr[-1])]  # indices may be longer than the matrix needs
    if used.size and not 0 <= used.min() <= used.max() < n_inner:
        return f"indices must be from 0 to {n_inner - 1}, got {used.min()} to {used.max()}"
    return None


def aligned_zeros(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Allocate an array of zeros that starts at the beginning of a cache line.

    Loading a vector register from two cache lines takes twice as long. Large arrays of numpy start 16 bytes after the
    beginning of a line, so that half of the loads of 32 bytes and all loads of 64 bytes would do so.

    Parameters
    ----------
    shape : tuple of int
        Length of each axis.
    dtype : dtype, default=float64
        Type of the values.

    Returns
    -------
    ndarray
        Zeros in C order.
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + CACHE_LINE_BYTES, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE_BYTES
    return np.frombuffer(memory, dtype, math.prod(shape), start).reshape(shape)


def zeros_in_pages(shape: tuple[int, int], dtype: Any = np.float64, order: Literal["C", "F"] = "C") -> NDArray[Any]:
    """Allocate a large array of zeros whose memory goes back to the system as soon as it is freed.

    An array of some megabytes from `numpy.zeros` usually comes from the heap, and the C library keeps it there for
    later. If such arrays are allocated in one thread and freed in another, this memory adds up.

    Parameters
    ----------
    shape : tuple of two int
        Number of rows and columns.
    dtype : dtype, default=float64
        Type of the values.
    order : {"C", "F"}, default="C"
        Layout in memory.

    Returns
    -------
    ndarray
        Zeros.
    """
    n_values = shape[0] * shape[1]
    n_bytes = n_values * np.dtype(dtype).itemsize
    if n_bytes < MIN_PAGED_BYTES:
        return np.zeros(shape, dtype, order=order)
    return np.frombuffer(mmap.mmap(-1, n_bytes, **PRIVATE_PAGES), dtype, n_values).reshape(shape, order=order)
