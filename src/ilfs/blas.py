"""What neither numpy nor scipy lets BLAS do: work on part of a matrix, in place, without the interpreter's lock."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from ilfs.arrays import Floats


@cache
def _routine(name: str) -> Callable[..., Any]:
    """A routine of the BLAS that scipy uses, from the table of addresses that it has for compiled code."""
    from scipy.linalg import cython_blas

    capsule = cython_blas.__pyx_capi__[name]
    of_capsule = ctypes.pythonapi.PyCapsule_GetName
    of_capsule.restype, of_capsule.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature: str = of_capsule(capsule).decode()
    arguments = signature.count(",") + 1
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(pointer(capsule, of_capsule(capsule)))


def add_squares(S: Floats, R: Floats, times: float = 1.0) -> None:
    """Add R'R times a number to the leading part of S, of which only what is on and above the diagonal is changed.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        In C order.
    R : ndarray of shape (m, k)
        Rows in C order, perhaps the first columns of longer ones; k <= n.
    times : float, default=1.0
        The number.
    """
    m, k = R.shape
    assert S.flags.c_contiguous
    assert S.strides[1] == 8
    assert k <= len(S)
    # numpy lets the step to the next row or column be anything if there is none
    assert k <= 1 or R.strides[1] == 8
    between = R.strides[0] // 8 if m > 1 else k
    assert between >= k
    # BLAS reads columns where C has rows: there, S is below the diagonal and R is R'
    integers = [ctypes.c_int(value) for value in (k, m, max(between, 1), S.strides[0] // 8)]
    size, rank, between_rows, between_columns = (ctypes.byref(value) for value in integers)
    factor, one = ctypes.c_double(times), ctypes.c_double(1.0)
    _routine("dsyrk")(
        ctypes.c_char_p(b"L"),
        ctypes.c_char_p(b"N"),
        size,
        rank,
        ctypes.byref(factor),
        R.ctypes.data,
        between_rows,
        ctypes.byref(one),
        S.ctypes.data,
        between_columns,
    )
