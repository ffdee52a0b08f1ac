"""Computing what is missing of a suite, on this machine or on a Dask cluster."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import fmean

from joblib import effective_n_jobs

from ilfs.benchmark.evaluation.protocol import Cell
from ilfs.benchmark.jobs.compute import compute_cell
from ilfs.benchmark.jobs.pool import Answer, compute_all
from ilfs.benchmark.store.store import SILENCE, Store
from ilfs.benchmark.suites.last_run import describe_run
from ilfs.benchmark.suites.suite import Suite


@dataclass(frozen=True)
class Step:
    """A cell that has just been finished, how many are, of its data set and of all, and what the rest will take."""

    cell: Cell
    reason: str
    n_done_of_dataset: int
    n_done: int
    n_cells: int
    seconds_left: float | None


@dataclass(frozen=True)
class Summary:
    """What a run has done.

    Parameters
    ----------
    computed, failed : int
        Cells that it computed, and how many of these failed.
    found : int
        Jobs that were there already, or are another process's.
    failed_before : int
        Jobs among those found that have failed; ``retry_failed`` computes them again.
    """

    computed: int
    failed: int
    found: int
    failed_before: int


def run(
    suite: Suite,
    store: Store | str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    retry_failed: bool = False,
    recompute: bool = False,
    scheduler: str | None = None,
    asked: Suite | None = None,
    on_step: Callable[[Step], None] | None = None,
    on_start: Callable[[dict[str, int], int], None] | None = None,
) -> Summary:
    r"""Compute every job of a suite that the store does not have with the present code and versions.

    May be stopped at any moment, by whatever means, and called again: it goes on where it was. Several processes may
    run the same suite on the same store; they share the work.

    Parameters
    ----------
    suite : Suite
        What is to be there in the end.
    store : Store or path-like
        Where it is kept. The file is made when the first job is begun.
    n_jobs : int, optional
        Number of processes, as `joblib` counts them; of threads in the experiment ``"timing"``.
    time_limit : float, optional
        Seconds for a cell. One that takes longer is a row with that reason.
    memory_limit : float, optional
        Megabytes for a cell.
    retry_failed : bool
        Compute jobs again that failed before.
    recompute : bool
        Compute all jobs of the suite again. Each row is replaced when the new one is there; if the run is stopped, a
        run without this option goes on.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://...``, whose workers compute the cells. They need the data sets.
    asked : Suite, optional
        The suite as it was named, before options changed it, by default the suite itself. The store remembers both.
    on_step : callable, optional
        Called after every job.
    on_start : callable, optional
        Called before the first with the number of cells that are there already, of each data set and of all.

    Returns
    -------
    Summary
        What was done.

    Examples
    --------
    >>> import tempfile
    >>> from ilfs.benchmark import SUITES, run
    >>> suite = SUITES["quick"].only(datasets=["wine"], methods=["fisher"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/results.sqlite"
    ...     print(run(suite, path), run(suite, path), sep="\n")
    Summary(computed=5, failed=0, found=0, failed_before=0)
    Summary(computed=0, failed=0, found=5, failed_before=0)
    """
    n_processes = effective_n_jobs(n_jobs)
    suite = suite.with_threads(n_processes)
    if suite.experiment == "timing":  # one after the other, each with all threads
        n_processes = 1
    cells = suite.cells()
    with nullcontext(store) if isinstance(store, Store) else Store(store) as store:
        if recompute:
            store.mark_for_recompute(cell.key for cell in cells)
        last_run = describe_run(suite, asked or suite)
        progress = Progress(cells, store, retry_failed=retry_failed, on_begin=lambda: store.remember(last_run))
        progress.n_at_once = n_processes = min(n_processes, len(progress.todo))
        if not n_processes:
            store.remember(last_run)
            return progress.summary()
        claimed = progress.claimed()
        if scheduler is None:
            answers = compute_all(
                compute_cell,
                claimed,
                n_processes,
                time_limit=time_limit,
                memory_limit=memory_limit,
                on_wait=progress.sign_of_life,
            )
        else:
            from ilfs.benchmark.jobs.cluster import compute_on_cluster

            answers = compute_on_cluster(
                compute_cell,
                claimed,
                scheduler,
                time_limit=time_limit,
                memory_limit=memory_limit,
                on_wait=progress.sign_of_life,
            )
        if on_start is not None:
            on_start(dict(progress.done), progress.n_found)
        try:
            for answer in answers:
                progress.finish(answer)
                if on_step is not None:
                    on_step(progress.step(answer))
        finally:
            progress.give_back()
        return progress.summary()


class Progress:
    """Which cells are done, being computed and to be computed, and how long they took."""

    def __init__(
        self, cells: list[Cell], store: Store, *, retry_failed: bool, on_begin: Callable[[], None] | None = None
    ) -> None:
        self.store, self.retry_failed, self.on_begin = store, retry_failed, on_begin
        self.n_at_once = 1
        self.keys = {cell.key: cell for cell in cells}
        statuses = store.statuses()
        self.todo = [key for key in self.keys if key not in statuses or (retry_failed and statuses[key] == "failed")]
        self.n_found = len(self.keys) - len(self.todo)
        self.n_failed_before = 0 if retry_failed else sum(statuses.get(key) == "failed" for key in self.keys)
        self.done = Counter(cell.dataset for cell in cells)
        self.done.subtract(self.keys[key].dataset for key in self.todo)
        self.n_computed = self.n_failed = 0
        self.open: dict[str, float] = {}
        self.waiting = list(self.todo)
        self.taken: dict[tuple[str, str], list[float]] = {}
        self.last_sign = time.monotonic()

    def claimed(self) -> Iterator[Cell]:
        """One cell after the other that this process has a right to."""
        while self.waiting:
            key = self.waiting.pop(0)
            self._begin()
            if self.store.claim(key, again=self.retry_failed):
                self.open[key] = time.monotonic()
                yield self.keys[key]
            else:
                self.n_found += 1
                self.done[self.keys[key].dataset] += 1

    def _begin(self) -> None:
        """Call what is to be called before the first job, once."""
        if self.on_begin is not None:
            self.on_begin()
            self.on_begin = None

    def give_back(self) -> None:
        """Take back the claims; a run that has begun no job has none, and may have no file."""
        if self.on_begin is None:
            self.store.give_back()

    def finish(self, answer: Answer) -> None:
        """Write down what came of a cell."""
        cell: Cell = answer.item
        key = cell.key
        self.store.write(
            key,
            cell.identity,
            cell.describe(),
            answer.result,
            reason=answer.reason,
            peak_megabytes=answer.peak_megabytes,
            provenance=cell.provenance,
        )
        seconds = time.monotonic() - self.open.pop(key)
        self.taken.setdefault((cell.dataset, cell.contender.name), []).append(seconds)
        self.n_computed += 1
        self.done[cell.dataset] += 1
        self.n_failed += answer.result is None

    def step(self, answer: Answer) -> Step:
        """What to show after it."""
        n_done = self.n_found + self.n_computed
        of_dataset = self.done[answer.item.dataset]
        return Step(answer.item, answer.reason, of_dataset, n_done, len(self.keys), self.seconds_left())

    def seconds_left(self) -> float | None:
        """From the mean of the same method on the same data set, else of the method, of the data set, of all."""
        if not self.taken:
            return None
        by_method, by_dataset = self._means(1), self._means(0)
        overall = fmean(second for seconds in self.taken.values() for second in seconds)
        pairs = {pair: fmean(seconds) for pair, seconds in self.taken.items()}
        left = 0.0
        for key in [*self.waiting, *self.open]:
            pair = self.keys[key].dataset, self.keys[key].contender.name
            guess = by_method.get(pair[1], overall) * by_dataset.get(pair[0], overall) / max(overall, 1e-9)
            left += pairs.get(pair, guess)
        return left / self.n_at_once

    def _means(self, which: int) -> dict[str, float]:
        grouped: dict[str, list[float]] = {}
        for pair, seconds in self.taken.items():
            grouped.setdefault(pair[which], []).extend(seconds)
        return {name: fmean(seconds) for name, seconds in grouped.items()}

    def sign_of_life(self) -> None:
        """Now and then, so that claims stay."""
        if time.monotonic() - self.last_sign > SILENCE / 5:
            self.store.sign_of_life()
            self.last_sign = time.monotonic()

    def summary(self) -> Summary:
        """All of it."""
        return Summary(self.n_computed, self.n_failed, self.n_found, self.n_failed_before)
