"""Entropies of pairs of discrete columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import kernel


@kernel
def joint_entropies(
    columns: NDArray[Any], n_values: Integers, other: NDArray[Any], n_other: int, n_log_n: Floats, entropies: Floats
) -> None:
    """Fill the entropy, in the unit of the logarithm, of every column together with one other.

    columns[j] has values in 0:n_values[j], other in 0:n_other; n_log_n[n] = n log n.
    """
    height = other.size
    table = np.empty(n_values.max() * n_other, np.int64)
    for j in range(columns.shape[0]):
        table[: n_values[j] * n_other] = 0
        for a in range(height):
            table[columns[j, a] * n_other + other[a]] += 1
        total = n_log_n[height]
        for entry in range(n_values[j] * n_other):
            total -= n_log_n[table[entry]]
        entropies[j] = total / height
