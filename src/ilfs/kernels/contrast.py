"""Coefficients of the evidence. This module does not import Numba, so they can be computed without it."""

from typing import NamedTuple

from ilfs.arrays import Floats


class Contrast(NamedTuple):
    """Coefficients of the evidence of a value, see `ilfs.kernels.evidence`: arrays of classes x columns.

    `square` is 1 - a for log odds and a for fractions, `linear` is b and `constant` is c. `sharpness` has one number
    for each column, 1 / (2 variance) for log odds.
    """

    mean: Floats
    square: Floats
    linear: Floats
    constant: Floats
    sharpness: Floats
    class_weight: Floats
