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


def rounded(values: Floats) -> Floats:
    """To ten digits, at most as many behind the point: sums of the same numbers in another order are then the same.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.arrays import rounded
    >>> a, b = rounded(np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1]))
    >>> bool(a == b)
    True
    """
    size = np.where(np.isfinite(values), np.maximum(np.abs(values), 1.0), 1.0)
    unit = 10.0 ** (np.floor(np.log10(size)) - 10)
    return np.asarray(np.round(values / unit) * unit)
