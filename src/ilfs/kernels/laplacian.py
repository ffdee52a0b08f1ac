"""Numerator and denominator of the Laplacian score: differences along the edges of a graph, and weighted variances."""

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
    """Write to ``along`` the sum over all edges of weight x (scaled difference)^2, for a block of columns.

    The block begins at ``column`` and has ``scale.size`` columns. The graph is symmetric and in compressed sparse rows;
    every edge is counted once.
    """
    along[:] = 0.0
    n = scale.size
    for i in range(indptr.size - 1):
        x = X[i, column : column + n]
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] < i:  # the lower triangle, so that every edge counts once
                y = X[indices[e], column : column + n]
                for f in range(n):
                    # Scale before squaring: squares of unscaled differences may overflow or underflow.
                    d = (np.float64(x[f]) - np.float64(y[f])) * scale[f]
                    along[f] += weights[e] * (d * d)


@kernel
def weighted_squares(
    X: NDArray[Any], column: int, low: Floats, scale: Floats, degree: Floats, mean: Floats, squares: Floats
) -> None:
    """Write the weighted means and weighted centred sums of squares of (x - low) * scale, for a block of columns.

    Row i has the weight degree[i]. The block begins at ``column`` and has ``scale.size`` columns.
    """
    mean[:] = 0.0
    squares[:] = 0.0
    n = scale.size
    for i in range(degree.size):
        x = X[i, column : column + n]
        for f in range(n):
            mean[f] += degree[i] * ((x[f] - low[f]) * scale[f])
    mean /= degree.sum()
    # A second pass about the mean: the difference of the mean square and the squared mean would lose digits.
    for i in range(degree.size):
        x = X[i, column : column + n]
        for f in range(n):
            d = (x[f] - low[f]) * scale[f] - mean[f]
            squares[f] += degree[i] * (d * d)
