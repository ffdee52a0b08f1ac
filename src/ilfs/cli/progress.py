"""What is shown while a suite is computed: bars where they can be drawn, lines where they cannot."""

import sys
import time
from typing import Any, Protocol, Self

from ilfs.benchmark.jobs.runner import Step
from ilfs.benchmark.suites.suite import Suite

BETWEEN_LINES = 15.0  # seconds


class Shown(Protocol):
    """Something that shows steps."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        """End."""

    def begin(self, found: dict[str, int], n_found: int) -> None:
        """So many cells are there already, of each data set and of all."""

    def show(self, step: Step) -> None:
        """A cell is finished."""


def progress_of(suite: Suite) -> Shown:
    """Bars on a terminal if rich is installed, else lines."""
    if sys.stderr.isatty():
        try:
            return Bars(suite)
        except ImportError:
            pass
    return Lines()


def words(seconds: float | None) -> str:
    """A time that is left, roughly.

    Examples
    --------
    >>> from ilfs.cli.progress import words
    >>> words(5), words(100), words(8000), words(None)
    ('5 s left', '2 min left', '2.2 h left', '')
    """
    if not seconds:
        return ""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"


class Silence:
    """Nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self, found: dict[str, int], n_found: int) -> None:
        """Do nothing."""

    def show(self, step: Step) -> None:
        """Do nothing."""


class Lines(Silence):
    """A line now and then, and one for each method that fails on a data set."""

    def __init__(self) -> None:
        self._last = 0.0
        self._failed: set[str] = set()

    def show(self, step: Step) -> None:
        """Print it if it is time."""
        what = f"{step.cell.dataset} {step.cell.contender.name}"
        if step.reason and what not in self._failed:
            self._failed.add(what)
            print(f"failed: {what}, split {step.cell.split}: {step.reason}", file=sys.stderr)
        if time.monotonic() - self._last >= BETWEEN_LINES or step.n_done == step.n_cells:
            self._last = time.monotonic()
            left = words(step.seconds_left)
            print(f"{step.n_done} of {step.n_cells} cells{', ' if left else ''}{left}: {what}", file=sys.stderr)


class Bars:
    """A bar for all cells and one for each data set, with the method that was finished last."""

    def __init__(self, suite: Suite) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._bars: Any = Progress(
            TextColumn("{task.description:24}", markup=False),  # names and reasons may have brackets
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(stderr=True),
        )
        per_dataset = suite.n_splits * len(suite.contenders)
        self._all = self._bars.add_task("all", total=per_dataset * len(suite.datasets), note="")
        self._tasks = {name: self._bars.add_task(name[-24:], total=per_dataset, note="") for name in suite.datasets}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, found: dict[str, int], n_found: int) -> None:
        """Move the bars to where the last run left them."""
        self._bars.update(self._all, completed=n_found)
        for name, number in found.items():
            self._bars.update(self._tasks[name], completed=number)

    def show(self, step: Step) -> None:
        """Move the bars."""
        cell = step.cell
        if step.reason:
            failure = f"failed: {cell.dataset} {cell.contender.name}, split {cell.split}: {step.reason}"
            self._bars.console.print(failure, markup=False, highlight=False)
        self._bars.update(self._all, completed=step.n_done, note=words(step.seconds_left))
        self._bars.update(self._tasks[cell.dataset], completed=step.n_done_of_dataset, note=cell.contender.name)
