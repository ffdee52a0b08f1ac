"""Which features come next."""

import numpy as np

from ilfs.arrays import Floats, Integers

TIE = 1e-11  # of the largest size; weights of equal columns differ by rounding only


def weakest(size: Floats, n: int, tie: float) -> Integers:
    """Places of the n smallest, smallest first; of those that differ by no more than tie, the later place first."""
    cut = float(np.partition(size, n - 1)[n - 1]) if n > 1 else float(size.min())
    near = np.flatnonzero(size <= cut + tie)
    if near.size == 1:
        return near
    near = near[np.argsort(size[near], kind="stable")]
    group = np.append(0, np.cumsum(np.diff(size[near]) > tie))
    return np.asarray(near[np.lexsort([-near, group])][:n])
