"""Interfaces of mergeable statistics and of the descriptions that compute them from blocks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, Self, TypeVar

from ilfs.cached import PicklesFieldsOnly
from ilfs.statistics.block import Block


class Statistic(Protocol):
    """A summary of rows that can be computed from blocks of them."""

    def merge(self, other: Self, /) -> Self:
        """Combine the statistics of two sets of rows."""

    @classmethod
    def join(cls, parts: Sequence[Self], /) -> Self:
        """Put the statistics of neighbouring columns over the same rows side by side."""


S = TypeVar("S", bound=Statistic)
S_co = TypeVar("S_co", bound=Statistic, covariant=True)


class Description(ABC, PicklesFieldsOnly, Generic[S_co]):
    """A recipe that computes a statistic from one block.

    A subclass is a frozen dataclass: an engine may pickle it, send it to another process once, and call it there on
    many blocks. Values derived from the fields are cached properties, which a pickle leaves out.
    """

    @abstractmethod
    def __call__(self, block: Block, /) -> S_co:
        """Compute the statistic of one block."""
