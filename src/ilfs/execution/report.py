"""Progress of a read of the rows, for the function that the source has for it."""

from collections.abc import Callable

from ilfs.sources.source import ReadProgress, Source


class Report:
    """Progress of one read, passed on to the attribute ``progress`` of the source, if it has one.

    Parameters
    ----------
    source : Source
        The rows that are read.
    number : int
        Number of the read, from 1 on.
    total : callable
        Returns the amount of work of the whole read, in any unit. It is called only if somebody listens, since a source
        may have to read its labels to count its rows.
    """

    def __init__(self, source: Source, number: int, total: Callable[[], float]) -> None:
        self._call: Callable[[ReadProgress], None] | None = getattr(source, "progress", None)
        self._number, self._done = number, 0.0
        self._total = float(total()) if self._call is not None else 0.0

    def add(self, amount: float) -> None:
        """Report that some of the work was done."""
        if self._call is not None:
            self._done += amount
            self._call(ReadProgress(self._number, min(self._done / self._total, 1.0)))
