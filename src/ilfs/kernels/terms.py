"""Columns of the regression of ``redundancy="gain"`` that are functions of the features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

MAX_SQUARE = 3.0  # a value further from the mean than sqrt(3) standard deviations counts as so far
LEVEL, SIZE = 0, 1  # kinds of bits


@formula
def shape_of(z: float) -> float:
    """Return a U-shaped function of a standardised value: its square, with a limit."""
    return min(z * z, MAX_SQUARE)


@kernel
def write_shapes(
    X: NDArray[Any], features: Integers, centre: Floats, scale: Floats, mean: Floats, unit: Floats, columns: Floats
) -> None:
    """Write the shapes of some columns of X minus their means, times their units; NaN stays NaN.

    Values are standardised by subtracting ``centre`` and multiplying by ``scale``.
    """
    for i in range(len(X)):
        for a in range(features.size):
            z = (X[i, features[a]] - centre[a]) * scale[a]
            columns[i, a] = (shape_of(z) - mean[a]) * unit[a] if z == z else z


@kernel
def write_products(X: NDArray[Any], features: Integers, bits: NDArray[np.int8], cuts: Floats, columns: Floats) -> None:
    """Write the product of the bits of each set of features, 1 or -1 each; 0 where a value is missing."""
    for i in range(len(X)):
        for h in range(len(features)):
            product = 1.0
            for place in range(features.shape[1]):
                j = features[h, place]
                if j >= 0:
                    product *= bit_of(X[i, j], bits[h, place], cuts[j])
            columns[i, h] = product


@formula
def bit_of(x: float, kind: int, cuts: Floats) -> float:
    """Return 1 if the bit of a value is set, -1 if not, 0 for NaN; cuts are lower quartile, median, upper quartile."""
    if x != x:
        return 0.0
    is_set = x > cuts[1] if kind == LEVEL else (x < cuts[0] or x > cuts[2])
    return 1.0 if is_set else -1.0
