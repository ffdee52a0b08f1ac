"""Interface between methods and engines: requests for statistics, and folds that answer them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from ilfs.arrays import Integers
from ilfs.sources.source import Labelling, Source
from ilfs.statistics.description import Description, S
from ilfs.statistics.labels import Classes


@dataclass(frozen=True)
class Read(Generic[S]):
    """A request for one statistic of all rows.

    Parameters
    ----------
    description : Description
        How to compute the statistic from a block.
    columns : ndarray of int, optional
        Compute it for these columns only. Every block then holds all of them.
    labelling : int, tuple of int or None, default=0
        Labelling that gives the rows their classes; None puts all rows into one class. Several labellings are for
        descriptions that read them at once.
    """

    description: Description[S]
    columns: Integers | None = None
    labelling: Labelling = 0


class Fold(ABC):
    """An engine that computes statistics over a source.

    Attributes
    ----------
    n_features : int
        Number of columns.
    labellings : tuple of Classes
        Classes of each labelling of the source.
    all_rows : Classes
        All rows as one class.
    """

    n_features: int
    labellings: tuple[Classes, ...]
    all_rows: Classes

    @property
    def classes(self) -> Classes:
        """Classes of the first labelling, or all rows as one class if there are no labels."""
        return self.labellings[0] if self.labellings else self.all_rows

    @abstractmethod
    def read(self, reads: Sequence[Read[Any]]) -> Iterable[Any]:
        """Read the rows once and return the statistic of each request.

        Parameters
        ----------
        reads : sequence of Read
            The requests.

        Returns
        -------
        iterable of statistics
            One for each request, in the same order, merged over all blocks. An engine over a table in memory may
            compute each of them when it is asked for, so that not all have to be kept.
        """

    def __call__(self, description: Description[S], /, columns: Integers | None = None, labelling: int | None = 0) -> S:
        """Read the rows once and return one statistic."""
        (statistic,) = self.read([Read(description, columns, labelling)])
        return statistic  # type: ignore[no-any-return]


class SourceFold(Fold):
    """Base class of engines that ask their source for its classes when these are first needed.

    Parameters
    ----------
    source : Source
        Rows with their classes.
    """

    def __init__(self, source: Source) -> None:
        self._source, self.n_features = source, source.n_features

    @property
    def labellings(self) -> tuple[Classes, ...]:  # type: ignore[override]
        """Classes of each labelling of the source."""
        return self._source.labellings

    @property
    def all_rows(self) -> Classes:  # type: ignore[override]
        """All rows as one class."""
        return self._source.all_rows
