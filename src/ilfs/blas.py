"""Direct calls of BLAS routines that update part of a matrix in place and release the global interpreter lock.

The wrappers of numpy and scipy copy such arrays or hold the lock.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyFloats = NDArray[Any]  # float32 or float64


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


def add_squares(S: AnyFloats, R: AnyFloats, times: float = 1.0) -> None:
    """Add ``times`` R'R to the leading k x k block of S; values below the diagonal are not changed.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Matrix in C order, or a block of one, in float32 or float64, changed in place.
    R : ndarray of shape (m, k)
        Matrix in C order, or some columns of one, of the same type; k <= n.
    times : float, default=1.0
        Factor of the product.
    """
    m, k = R.shape
    assert k <= len(S)
    # BLAS is column-major, so it sees the transposes: the lower triangle ("L") of S, and R' without transposing ("N").
    _call("syrk", S.dtype, b"L", b"N", k, m, float(times), R, _row_stride(R), 1.0, S, _row_stride(S))


def add_product(S: AnyFloats, A: AnyFloats, B: AnyFloats, times: float = 1.0) -> None:
    """Add ``times`` A'B to S.

    Parameters
    ----------
    S : ndarray of shape (k, n)
        Matrix in C order, or a block of one, in float32 or float64, changed in place.
    A, B : ndarray of shape (m, k) and (m, n)
        Matrices in C order, or some columns of such, of the same type.
    times : float, default=1.0
        Factor of the product.
    """
    (m, k), n = A.shape, B.shape[1]
    assert S.shape == (k, n)
    # BLAS is column-major, so it sees the transposes, and computes S' from B' A.
    _call(
        "gemm", S.dtype, b"N", b"T", n, k, m, float(times), B, _row_stride(B), A, _row_stride(A), 1.0, S, _row_stride(S)
    )


def solve_transposed(U: AnyFloats, B: AnyFloats) -> None:
    """Replace B by the solution Y of U'Y = B.

    Parameters
    ----------
    U : ndarray of shape (k, k)
        Upper triangle of a matrix in C order, or of a block of one; values below the diagonal are not read.
    B : ndarray of shape (k, n)
        Matrix in C order, or a block of one, of the same type, changed in place.
    """
    k, n = B.shape
    assert U.shape == (k, k)
    # BLAS is column-major, so it sees the transposes, and solves Y'U = B', in which U is on the right ("R").
    _call("trsm", B.dtype, b"R", b"L", b"T", b"N", n, k, 1.0, U, _row_stride(U), B, _row_stride(B))


def _row_stride(matrix: AnyFloats) -> int:
    """Return the number of values from the start of a row to the start of the next one (the leading dimension)."""
    assert matrix.shape[1] <= 1 or matrix.strides[1] == matrix.itemsize
    # The stride along an axis of length 1 is arbitrary in numpy, so it is not used.
    stride = matrix.strides[0] // matrix.itemsize if matrix.shape[0] > 1 else matrix.shape[1]
    assert stride >= matrix.shape[1]
    return max(stride, 1)


def _call(name: str, dtype: Any, *arguments: Any) -> None:
    """Call a routine of BLAS, which takes pointers to letters, integers, numbers and matrices of one type."""
    letter, number = {"f": ("s", ctypes.c_float), "d": ("d", ctypes.c_double)}[dtype.char]
    kinds: dict[Any, Any] = {bytes: ctypes.c_char_p, int: ctypes.c_int, float: number}
    assert all(a.dtype == dtype for a in arguments if isinstance(a, np.ndarray))
    # Keep the values alive until the call returns.
    values = [a if isinstance(a, np.ndarray) else kinds[type(a)](a) for a in arguments]
    _routine(letter + name)(*[_pointer(value) for value in values])


def _pointer(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    return value if isinstance(value, ctypes.c_char_p) else ctypes.byref(value)
