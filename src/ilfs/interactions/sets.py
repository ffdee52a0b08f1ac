"""Sets of bits that a screen has found."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.ties import stable_order

MAX_SETS = 100_000  # sets that are kept, the strongest ones; more are a sign of something else than interactions


@dataclass(frozen=True)
class FoundSets:
    """The strongest sets that a screen has found.

    Parameters
    ----------
    sets : ndarray of shape (n_sets, set_size)
        Numbers of the bits of each set, ascending.
    values : ndarray of shape (n_sets, 1 + n_classes)
        Statistic and effects of each set.
    n_significant : int
        Number of sets found, more than n_sets if not all of them were kept.
    """

    sets: Integers
    values: Floats
    n_significant: int = 0

    @classmethod
    def none(cls, set_size: int, n_classes: int) -> Self:
        """Return no sets."""
        return cls(np.empty((0, set_size), np.int64), np.empty((0, 1 + n_classes)))

    def merge(self, sets: Integers, values: Floats) -> Self:
        """Add sets; once there are twice as many as are kept, keep the strongest."""
        if not sets.size:
            return self
        merged = type(self)(
            np.concatenate([self.sets, sets]),
            np.concatenate([self.values, values]),
            self.n_significant + len(sets),
        )
        return merged.strongest() if len(merged.sets) > 2 * MAX_SETS else merged

    def strongest(self) -> Self:
        """Return the strongest sets in descending order; equal ones by the numbers of their bits."""
        by_bits = np.lexsort(self.sets.T[::-1])
        order = by_bits[stable_order(self.values[by_bits, 0])[:MAX_SETS]]
        return type(self)(self.sets[order], self.values[order], self.n_significant)
