"""The seam between methods and the places where rows live."""

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar

from ilfs.arrays import Integers
from ilfs.execution.target import Target
from ilfs.statistics.block import Block


class Statistic(Protocol):
    """A summary of rows that can be made from parts."""

    def merge(self, other: Self, /) -> Self:
        """The statistic of both sets of rows together."""

    @classmethod
    def join(cls, parts: Sequence[Self], /) -> Self:
        """The statistic of the same rows, columns side by side."""


S = TypeVar("S", bound=Statistic)


class Fold(Protocol):
    """Rows with their classes, wherever they are."""

    target: Target

    def __call__(self, from_block: Callable[[Block], S], /, columns: Integers | None = None) -> S:
        """The statistic of all rows; of some columns, if given, which then are all in every block, side by side."""
