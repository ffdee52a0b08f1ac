"""What a cell is compared with; apart from the kernels that compare, so that it can be made without Numba."""

from typing import NamedTuple

from ilfs.arrays import Floats


class Contrast(NamedTuple):
    """What a cell is compared with: arrays classes x columns, `sharpness` one number for each column.

    `square` is 1 - a for a log odds and a for a share, `linear` is b, `constant` c, `sharpness` 1 / (2 variance)
    for a log odds.
    """

    mean: Floats
    square: Floats
    linear: Floats
    constant: Floats
    sharpness: Floats
    class_weight: Floats
