"""Which features come next."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.ties import tied_groups, tolerance

TIE = 1e-10  # fraction of the largest size: weights of equal columns differ by the rounding of the solver


def weakest(size: Floats, n: int, tie: float) -> Integers:
    """Places of the n smallest, smallest first; of equal ones (`ilfs.ties`, with this floor) the later place first."""
    cut = np.partition(size, n - 1)[n - 1] if n > 1 else size.min()
    near = np.flatnonzero(size <= cut + tolerance(cut, tie))
    if near.size == 1:
        return near
    return np.asarray(near[np.lexsort([-near, tied_groups(-size[near], tie)])][:n])
