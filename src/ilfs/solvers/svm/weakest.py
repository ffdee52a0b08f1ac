"""Choice of the features to remove next."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.ties import tied_groups, tolerance

TIE_FRACTION = 1e-10  # fraction of the largest weight; the solver's rounding makes equal columns differ by less


def weakest(size: Floats, n: int, tie: float) -> Integers:
    """Return the positions of the n smallest values, smallest first; of equal ones the later position comes first.

    Values are equal by the rule of `ilfs.ties`, with ``tie`` as its floor.
    """
    cut = np.partition(size, n - 1)[n - 1] if n > 1 else size.min()
    near = np.flatnonzero(size <= cut + tolerance(cut, tie))
    if near.size == 1:
        return near
    return np.asarray(near[np.lexsort([-near, tied_groups(-size[near], tie)])][:n])
