"""How much values differ along the edges of a graph."""

from typing import Any

from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.kernels._jit import kernel


@kernel
def edge_differences(
    values: Floats, indptr: NDArray[Any], indices: NDArray[Any], weights: Floats, total: Floats
) -> None:
    """Fill the sum over the edges of weight times squared difference, for every column of values.

    The graph is symmetric, in compressed rows; every edge is counted once.
    """
    total[:] = 0.0
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j < i:
                for f in range(values.shape[1]):
                    d = values[i, f] - values[j, f]
                    total[f] += weights[e] * (d * d)
