"""Write arrays in MNIST's IDX format."""

import struct

import numpy as np


def idx(array):
    """Bytes of an array of small integers."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + np.uint8(array).tobytes()
