"""Progress of a run: bars on a terminal, lines elsewhere."""

import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:  # importing the benchmark takes longer than most rankings
    from ilfs.benchmark.jobs.runner import FinishedJob
    from ilfs.benchmark.suites.suite import Suite
    from ilfs.sources import ReadProgress

SECONDS_BETWEEN_LINES = 15.0
SECONDS_BETWEEN_UPDATES = 0.2  # of a line on a terminal
SECONDS_BEFORE_BARS = 1.0  # shorter work shows no bar
BAR_CHARACTERS = 30
LINE_CHARACTERS = 78


class Display(Protocol):
    """A display of finished jobs."""

    def __enter__(self) -> Self:
        """Start the display."""

    def __exit__(self, *_: object) -> None:
        """Stop the display."""

    def begin(self, found: dict[str, int], n_found: int) -> None:
        """Show the number of jobs that are already stored, for each data set and in total."""

    def show(self, finished: "FinishedJob") -> None:
        """Show a finished job."""


def display_of(suite: "Suite") -> Display:
    """Choose bars on a terminal if rich is installed, and lines otherwise."""
    if sys.stderr.isatty():
        try:
            return Bars(suite)
        except ImportError:
            pass
    return Lines()


def time_left(seconds: float | None) -> str:
    """Format the time until the end of a run.

    Examples
    --------
    >>> from ilfs.cli.progress import time_left
    >>> time_left(5), time_left(100), time_left(8000), time_left(None)
    ('5 s left', '2 min left', '2.2 h left', '')
    """
    if not seconds:
        return ""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"


class ProgressLine:
    """A bar with the time left: a line that is rewritten on a terminal, a line every few seconds elsewhere.

    Nothing is shown in the first second.

    Parameters
    ----------
    quiet : bool, default=False
        Show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet, self._is_terminal, self._is_shown = quiet, sys.stderr.isatty(), False
        self._begun = self._last = time.monotonic()
        self._last -= SECONDS_BETWEEN_UPDATES if self._is_terminal else 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._write("")

    def show(self, name: str, fraction: float | None, seconds: float) -> None:
        """Show the progress of work that began some seconds ago, unless the last update is too recent."""
        now = time.monotonic()
        between = SECONDS_BETWEEN_UPDATES if self._is_terminal else SECONDS_BETWEEN_LINES
        is_early = self._is_terminal and now - self._begun < SECONDS_BEFORE_BARS
        if not self._quiet and not is_early and now - self._last >= between:
            self._last = now
            self._write(bar_text(name, fraction, seconds))

    def _write(self, text: str) -> None:
        self._is_shown = bool(text) and self._is_terminal
        line = f"\r{text[:LINE_CHARACTERS]:{LINE_CHARACTERS}}\r" if self._is_terminal else text
        print(line, end="" if self._is_terminal else "\n", file=sys.stderr, flush=True)


def bar_text(name: str, fraction: float | None, seconds: float) -> str:
    """Format a bar.

    Examples
    --------
    >>> from ilfs.cli.progress import bar_text
    >>> bar_text("read 2 of 3", 0.5, 10.0)
    'read 2 of 3  ###############...............  50 %  10 s left'
    """
    if not fraction:
        return name
    left = time_left(seconds * (1 / fraction - 1)) if seconds > 1 else ""
    n_done = round(BAR_CHARACTERS * fraction)
    bar = "#" * n_done + "." * (BAR_CHARACTERS - n_done)
    return f"{name}  {bar} {100 * fraction:3.0f} %  {left}".rstrip()


class WaitLine(ProgressLine):
    """A line that counts the seconds of work whose progress is not known.

    Parameters
    ----------
    name : str
        Name of the work.
    quiet : bool, default=False
        Show nothing.
    """

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._name, self._is_done = name, threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)

    def __enter__(self) -> Self:
        if self._is_terminal and not self._quiet:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_done.set()
        if self._thread.is_alive():
            self._thread.join()
        super().__exit__()

    def _count(self) -> None:
        while not self._is_done.wait(SECONDS_BETWEEN_UPDATES):
            seconds = time.monotonic() - self._begun
            self.show(f"{self._name}, {seconds:.0f} s", None, seconds)


class ReadLine(ProgressLine):
    """Progress of the reads of a table.

    Parameters
    ----------
    n_reads : int, optional
        Number of reads, if known.
    name : str, default=""
        What the reads are for.
    """

    def __init__(self, n_reads: int | None = None, name: str = "") -> None:
        super().__init__()
        self._n_reads, self._number, self._name = n_reads, -1, f"{name}: " if name else ""
        self._read_begun = self._begun

    def __call__(self, progress: "ReadProgress") -> None:
        """Show how far a read has come."""
        if progress.number != self._number:
            self._number, self._read_begun = progress.number, time.monotonic()
        self.show(self.title(progress.number), progress.fraction, time.monotonic() - self._read_begun)

    def title(self, number: int) -> str:
        """Name a read; the first one, of the labels, has the number 0."""
        of_all = "" if self._n_reads is None or number > self._n_reads else f" of {self._n_reads}"
        return self._name + (f"read {number}{of_all}" if number else "labels")


class FitLine(ReadLine):
    """Progress of a fit: the reads of its table, and as a callback of scikit-learn its steps, such as folds.

    Parameters
    ----------
    n_reads : int, optional
        Number of reads, if known.
    name : str, default=""
        Name of the method.
    """

    def __init__(self, n_reads: int | None = None, name: str = "") -> None:
        super().__init__(n_reads, name)
        self._n_steps: int | None = None
        self._n_done = 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: the line begins with the first step."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: the line ends with the context of this object."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:  # noqa: ARG002
        """Note the number of steps when the whole fit begins."""
        if context.parent is None:
            self._n_steps, self._n_done = context.max_subtasks, 0

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> bool:  # noqa: ARG002
        """Show how many steps are done; never ask to stop."""
        if context.parent is not None and context.parent.parent is None and self._n_steps:
            self._n_done += 1
            title = f"{self._name}{context.task_name} {self._n_done:,} of {self._n_steps:,}"
            self.show(title, self._n_done / self._n_steps, time.monotonic() - self._begun)
        return False


class FractionLine(ProgressLine):
    """Progress of work that reports the fraction that is done.

    Parameters
    ----------
    name : str
        Name of the work.
    quiet : bool, default=False
        Show nothing.
    """

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._name = name

    def __call__(self, fraction: float) -> None:
        """Show the fraction that is done."""
        self.show(self._name, fraction, time.monotonic() - self._begun)


class NoDisplay:
    """A display that shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self, found: dict[str, int], n_found: int) -> None:
        """Do nothing."""

    def show(self, finished: "FinishedJob") -> None:
        """Do nothing."""


class Lines(NoDisplay):
    """A line every few seconds, and one for each method that fails on a data set."""

    def __init__(self) -> None:
        self._last = 0.0
        self._failed: set[str] = set()

    def show(self, finished: "FinishedJob") -> None:
        """Print a line if `SECONDS_BETWEEN_LINES` have passed since the last one, and at the end."""
        what = f"{finished.job.dataset} {finished.job.method.name}"
        if finished.reason and what not in self._failed:
            self._failed.add(what)
            print(f"failed: {what}, split {finished.job.split}: {finished.reason}", file=sys.stderr)
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES or finished.n_done == finished.n_jobs:
            self._last = time.monotonic()
            left = time_left(finished.seconds_left)
            print(f"{finished.n_done} of {finished.n_jobs} jobs{', ' if left else ''}{left}: {what}", file=sys.stderr)


class Bars:
    """A bar for all jobs and one for each data set, which names the method of the last finished job."""

    def __init__(self, suite: "Suite") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._bars: Any = Progress(
            # No markup: names and reasons may contain brackets.
            TextColumn("{task.description:24}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(stderr=True),
        )
        per_dataset = suite.n_splits * len(suite.methods)
        self._all = self._bars.add_task("all", total=per_dataset * len(suite.datasets), note="")
        self._tasks = {name: self._bars.add_task(name[-24:], total=per_dataset, note="") for name in suite.datasets}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, found: dict[str, int], n_found: int) -> None:
        """Move the bars to the number of stored jobs."""
        self._bars.update(self._all, completed=n_found)
        for name, number in found.items():
            self._bars.update(self._tasks[name], completed=number)

    def show(self, finished: "FinishedJob") -> None:
        """Move the bars, and print the reason if the job failed."""
        job = finished.job
        if finished.reason:
            failure = f"failed: {job.dataset} {job.method.name}, split {job.split}: {finished.reason}"
            self._bars.console.print(failure, markup=False, highlight=False)
        self._bars.update(self._all, completed=finished.n_done, note=time_left(finished.seconds_left))
        self._bars.update(self._tasks[job.dataset], completed=finished.n_done_of_dataset, note=job.method.name)
