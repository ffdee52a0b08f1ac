"""Joint entropies of pairs of discrete columns, for symmetrical uncertainty."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import kernel


@kernel
def joint_entropies(
    columns: NDArray[Any], n_values: Integers, other: NDArray[Any], n_other: int, n_log_n: Floats, entropies: Floats
) -> None:
    """Write the joint entropy of each column with one other column, in the unit of the logarithm.

    columns[j] has integers in 0:n_values[j], ``other`` has integers in 0:n_other, and n_log_n[n] = n log n.
    """
    height = other.size
    table = np.empty(n_values.max() * n_other, np.int64)
    for j in range(columns.shape[0]):
        table[: n_values[j] * n_other] = 0
        for a in range(height):
            table[columns[j, a] * n_other + other[a]] += 1
        # H = log n - (1/n) sum of n_ab log n_ab, from a table of logarithms: counts are integers up to n.
        total = n_log_n[height]
        for entry in range(n_values[j] * n_other):
            total -= n_log_n[table[entry]]
        entropies[j] = total / height
