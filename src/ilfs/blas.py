"""Direct call of a BLAS routine that updates part of a matrix in place and releases the global interpreter lock.

The wrappers of numpy and scipy copy such arrays or hold the lock.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from ilfs.arrays import Floats


@cache
def _routine(name: str) -> Callable[..., Any]:
    """Load a routine of the BLAS that scipy uses, from the function pointers that scipy exports for Cython."""
    from scipy.linalg import cython_blas

    capsule = cython_blas.__pyx_capi__[name]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The name of a capsule is the C signature of its function; all arguments of BLAS are pointers.
    signature: str = name_of(capsule).decode()
    arguments = signature.count(",") + 1
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(pointer(capsule, name_of(capsule)))


def add_squares(S: Floats, R: Floats, times: float = 1.0) -> None:
    """Add ``times`` R'R to the leading k x k block of S; values below the diagonal are not changed.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Matrix in C order, changed in place.
    R : ndarray of shape (m, k)
        Matrix in C order, or the first columns of one; k <= n.
    times : float, default=1.0
        Factor of the product.
    """
    m, k = R.shape
    assert S.flags.c_contiguous
    assert S.strides[1] == 8
    assert k <= len(S)
    # The stride along an axis of length 1 is arbitrary in numpy, so it is not used.
    assert k <= 1 or R.strides[1] == 8
    row_stride = R.strides[0] // 8 if m > 1 else k
    assert row_stride >= k
    # BLAS is column-major, so it sees the transposes: the lower triangle ("L") of S, and R' without transposing ("N").
    # A leading dimension (ld) is the number of values from the start of a row to the start of the next one.
    integers = [ctypes.c_int(value) for value in (k, m, max(row_stride, 1), S.strides[0] // 8)]
    size, rank, ld_of_R, ld_of_S = (ctypes.byref(value) for value in integers)
    factor, one = ctypes.c_double(times), ctypes.c_double(1.0)
    _routine("dsyrk")(
        ctypes.c_char_p(b"L"),
        ctypes.c_char_p(b"N"),
        size,
        rank,
        ctypes.byref(factor),
        R.ctypes.data,
        ld_of_R,
        ctypes.byref(one),
        S.ctypes.data,
        ld_of_S,
    )
