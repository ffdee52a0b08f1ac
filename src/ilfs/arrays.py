"""Names of array types, and what arrays of numbers need everywhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to: one type for the compiler, whatever the caller's array is."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def sparse_defect(indptr: NDArray[Any], indices: NDArray[Any], n_outer: int, n_inner: int) -> str | None:
    """Why the index arrays of a compressed sparse matrix are not valid, None if they are.

    SciPy and compiled loops trust these arrays: an index out of bounds is read from foreign memory. SciPy's own check
    leaves out a matrix whose last pointer is 0.

    Parameters
    ----------
    indptr, indices : ndarray
        The index arrays.
    n_outer, n_inner : int
        Rows and columns of compressed rows, columns and rows of compressed columns.

    Returns
    -------
    str or None
        The rule that is broken, and by what.

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
    used = indices[: int(indptr[-1])]  # there may be room for more
    if used.size and not 0 <= used.min() <= used.max() < n_inner:
        return f"indices must be from 0 to {n_inner - 1}, got {used.min()} to {used.max()}"
    return None
