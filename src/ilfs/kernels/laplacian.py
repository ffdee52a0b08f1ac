"""How much values differ along the edges of a graph, and at all."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.kernels._jit import kernel


@kernel
def edge_differences(
    X: NDArray[Any],
    column: int,
    scale: Floats,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: Floats,
    along: Floats,
) -> None:
    """Fill the sum over the edges of weight times squared difference times scale, for columns from this one on.

    The graph is symmetric, in compressed rows; every edge is counted once.
    """
    along[:] = 0.0
    n = scale.size
    for i in range(indptr.size - 1):
        x = X[i, column : column + n]
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] < i:
                y = X[indices[e], column : column + n]
                for f in range(n):
                    d = (np.float64(x[f]) - np.float64(y[f])) * scale[f]
                    along[f] += weights[e] * (d * d)


@kernel
def weighed_squares(
    X: NDArray[Any], column: int, low: Floats, scale: Floats, degree: Floats, mean: Floats, squares: Floats
) -> None:
    """Fill the mean, above low and times scale, and the squares about it, both weighed, of columns from this one on."""
    mean[:] = 0.0
    squares[:] = 0.0
    n = scale.size
    for i in range(degree.size):
        x = X[i, column : column + n]
        for f in range(n):
            mean[f] += degree[i] * ((x[f] - low[f]) * scale[f])
    mean /= degree.sum()
    for i in range(degree.size):
        x = X[i, column : column + n]
        for f in range(n):
            d = (x[f] - low[f]) * scale[f] - mean[f]
            squares[f] += degree[i] * (d * d)
