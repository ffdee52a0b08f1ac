"""The fraction of a long computation that is done, for a function that the caller gives."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ilfs.sources.source import ReadProgress, Source

T = TypeVar("T")
S = TypeVar("S", bound=Source)


class FractionDone:
    """Report the fraction of the work that is done; it never falls, and ends with 1.

    Parameters
    ----------
    report : callable, optional
        Function of a fraction from 0 to 1.

    Examples
    --------
    >>> from ilfs.selection.progress import FractionDone
    >>> fractions = []
    >>> done = FractionDone(fractions.append)
    >>> done.begin(n_steps=4)
    >>> sum(done.counted([5, 6, 7]))
    18
    >>> done.end()
    >>> fractions
    [0.25, 0.5, 0.75, 1.0]
    """

    def __init__(self, report: Callable[[float], None] | None = None) -> None:
        self._report, self._n_steps, self._n_done, self._fraction = report, 1, 0, 0.0

    def begin(self, n_steps: int) -> None:
        """Set the number of steps, all of which are taken to be equally long."""
        self._n_steps = n_steps

    def step(self) -> None:
        """Report that one more step is done."""
        self._n_done += 1
        self._reach(self._n_done)

    def counted(self, items: Iterable[T]) -> Iterator[T]:
        """Iterate over items, each of which is a step that is done when it arrives."""
        for item in items:
            self.step()
            yield item

    def listening(self, source: S) -> S:
        """Report the reads of a source, each of which is a step; the caller must own the source.

        A function that the source already has for its progress is called, too.
        """
        if self._report is None:
            return source
        owner: Any = source
        before = getattr(source, "progress", None)

        def progress(read: ReadProgress) -> None:
            if before is not None:
                before(read)
            if read.number:  # not the labels, which are read first
                self._reach(read.number - 1 + (read.fraction or 0.0))

        owner.progress = progress
        return source

    def end(self) -> None:
        """Report that all is done."""
        self._reach(self._n_steps)

    def _reach(self, n_steps: float) -> None:
        """Report the fraction if it has grown."""
        fraction = min(n_steps / self._n_steps, 1.0)
        if self._report is not None and fraction > self._fraction:
            self._fraction = fraction
            self._report(fraction)
