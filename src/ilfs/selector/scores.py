"""Scores of all features, and the order that follows from them."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.ties import stable_order


@dataclass(frozen=True)
class Scores:
    """Scores of all features, with tie-breaks and tolerances to order them.

    Parameters
    ----------
    values : ndarray of shape (n_features,)
        Larger is better.
    tie_break : ndarray of shape (n_features,), optional
        Orders features whose values are equal; larger is better.
    floor, tie_break_floor : float, default=0.0
        Absolute tolerance: values, or tie-breaks, that differ by at most this are ties. It is the size of the rounding
        error of a value that would be zero in exact arithmetic.
    """

    values: Floats
    tie_break: Floats | None = None
    floor: float = 0.0
    tie_break_floor: float = 0.0

    @classmethod
    def along(cls, order: Integers, values: Floats, n_forced: int = 0) -> Self:
        """Make scores of features whose order is known, for methods that pick one feature at a time.

        Parameters
        ----------
        order : ndarray of shape (n_features,)
            All columns, best first.
        values : ndarray of shape (n_features,)
            The score of each column. A score that rounding has put above that of a better column is lowered to it.
        n_forced : int, default=0
            Number of columns at the beginning of the order that must be kept. Their scores may be lower than those of
            the columns after them.
        """
        falling, position = np.empty(order.size), np.empty(order.size)
        for part in (order[:n_forced], order[n_forced:]):
            falling[part] = np.minimum.accumulate(values[part])
        position[order] = np.arange(order.size)
        return cls(falling, -position)

    def with_constants(self, columns: Integers, n_features: int, lowest: float) -> Self:
        """Expand scores of the columns that vary to all columns; constant columns come last, even if scores tie.

        Parameters
        ----------
        columns : ndarray of int
            Columns that vary, whose scores these are.
        n_features : int
            Number of all columns.
        lowest : float
            Score of the constant columns.
        """
        values, tie_break = np.full(n_features, lowest), np.full(n_features, -np.inf)
        values[columns] = self.values
        tie_break[columns] = 0.0 if self.tie_break is None else self.tie_break
        return replace(self, values=values, tie_break=tie_break)

    def order(self) -> NDArray[np.intp]:
        """Return column indices, best first, by the rule of `ilfs.ties`; remaining ties stay in column order."""
        return stable_order(self.values, self.tie_break, self.floor, self.tie_break_floor)
