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
