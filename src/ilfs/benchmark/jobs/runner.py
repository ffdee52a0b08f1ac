"""Compute the jobs of a suite that a store does not have yet, on this computer or on a Dask cluster."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from joblib import effective_n_jobs

from ilfs.benchmark.evaluation.job import Job
from ilfs.benchmark.jobs.compute import compute_job
from ilfs.benchmark.jobs.pool import Answer, Limits, compute_all
from ilfs.benchmark.store.store import HEARTBEAT_TIMEOUT_SECONDS, Store
from ilfs.benchmark.suites.last_run import describe_run
from ilfs.benchmark.suites.suite import Suite

HEARTBEAT_SECONDS = HEARTBEAT_TIMEOUT_SECONDS / 5  # a few heartbeats may be late before claims become void


@dataclass(frozen=True)
class FinishedJob:
    """A job that has just been finished, and the progress of the run.

    Parameters
    ----------
    job : Job
        The job.
    reason : str
        Why it failed; empty if it did not.
    n_done_of_dataset, n_done : int
        Finished jobs of its data set, and of all.
    n_jobs : int
        Number of all jobs.
    seconds_left : float or None
        Estimated time until the end of the run.
    """

    job: Job
    reason: str
    n_done_of_dataset: int
    n_done: int
    n_jobs: int
    seconds_left: float | None


@dataclass(frozen=True)
class RunSummary:
    """Numbers of jobs of a run.

    Parameters
    ----------
    computed, failed : int
        Jobs that the run computed, and how many of these failed.
    found : int
        Jobs that were stored already, or that another process computes.
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
    on_step: Callable[[FinishedJob], None] | None = None,
    on_start: Callable[[dict[str, int], int], None] | None = None,
) -> RunSummary:
    r"""Compute every job of a suite that the store does not have with the present code and versions.

    A run may be stopped at any moment, by any means: the next one continues where it stopped. Several processes may run
    the same suite on the same store; they share the work.

    Parameters
    ----------
    suite : Suite
        The suite.
    store : Store or path-like
        Where results are kept. The file is created when the first job is begun.
    n_jobs : int, optional
        Number of processes (of threads in the experiment ``"timing"``), with the meaning of joblib's ``n_jobs``.
    time_limit : float, optional
        Seconds for a job. One that takes longer is stored as failed, with that reason.
    memory_limit : float, optional
        Megabytes for a job.
    retry_failed : bool
        Compute jobs again that failed before.
    recompute : bool
        Compute all jobs of the suite again. Each row stays until the new one is there. If the run is stopped, a run
        without this option continues it.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://...``, whose workers compute the jobs. They need the data sets.
    asked : Suite, optional
        The suite before options changed it, by default the suite itself. The store remembers both.
    on_step : callable, optional
        Called after every job.
    on_start : callable, optional
        Called before the first job with the number of jobs that are stored already, by data set and in total.

    Returns
    -------
    RunSummary
        Numbers of jobs that were computed and found.

    Examples
    --------
    >>> import tempfile
    >>> from ilfs.benchmark import SUITES, run
    >>> suite = SUITES["quick"].only(datasets=["wine"], methods=["fisher"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/results.sqlite"
    ...     print(run(suite, path), run(suite, path), sep="\n")
    RunSummary(computed=5, failed=0, found=0, failed_before=0)
    RunSummary(computed=0, failed=0, found=5, failed_before=0)
    """
    n_processes = effective_n_jobs(n_jobs)
    suite = suite.with_threads(n_processes)
    if suite.experiment == "timing":  # one job after the other, each with all threads
        n_processes = 1
    limits = Limits(time_limit, memory_limit)
    with nullcontext(store) if isinstance(store, Store) else Store(store) as store:
        jobs = suite.jobs()
        if recompute:
            store.mark_for_recompute(job.key for job in jobs)
        last_run = describe_run(suite, asked or suite)
        state = RunState(jobs, store, retry_failed=retry_failed, on_begin=lambda: store.remember(last_run))
        state.n_processes = min(n_processes, len(state.todo))
        if not state.todo:
            store.remember(last_run)
            return state.summary()
        answers = start_computing(state, scheduler, limits)
        if on_start is not None:
            on_start(dict(state.done), state.n_found)
        store_answers(answers, state, on_step)
        return state.summary()


def start_computing(state: "RunState", scheduler: str | None, limits: Limits) -> Iterator[Answer]:
    """Iterator over the answers of all jobs that are to be computed, from processes here or from a cluster."""
    if scheduler is None:
        compute = partial(compute_all, compute_job, state.claimed(), state.n_processes)
    else:
        from ilfs.benchmark.jobs.cluster import compute_on_cluster

        compute = partial(compute_on_cluster, compute_job, state.claimed(), scheduler)
    return compute(limits=limits, on_wait=state.send_heartbeat)


def store_answers(
    answers: Iterator[Answer], state: "RunState", on_step: Callable[[FinishedJob], None] | None = None
) -> None:
    """Store every answer; claims of jobs that have not been computed are withdrawn in the end."""
    try:
        for answer in answers:
            state.finish(answer)
            if on_step is not None:
                on_step(state.finished_job(answer))
    finally:
        state.give_back()


class RunState:
    """State of a run: jobs that are done, being computed and to be computed, and how long they took."""

    def __init__(
        self, jobs: list[Job], store: Store, *, retry_failed: bool, on_begin: Callable[[], None] | None = None
    ) -> None:
        self.store, self.retry_failed, self.on_begin = store, retry_failed, on_begin
        self.n_processes = 1
        self.keys = {job.key: job for job in jobs}
        statuses = store.statuses()
        self.todo = [key for key in self.keys if key not in statuses or (retry_failed and statuses[key] == "failed")]
        self.n_found = len(self.keys) - len(self.todo)
        self.n_failed_before = 0 if retry_failed else sum(statuses.get(key) == "failed" for key in self.keys)
        self.done = Counter(job.dataset for job in jobs)
        self.done.subtract(self.keys[key].dataset for key in self.todo)
        self.n_computed = self.n_failed = 0
        self.open: dict[str, float] = {}  # start times of the claimed jobs, by key
        self.waiting = list(self.todo)  # keys of jobs that have not been claimed yet
        self.taken: dict[tuple[str, str], list[float]] = {}  # seconds of finished jobs, by data set and method
        self.last_heartbeat = time.monotonic()

    def claimed(self) -> Iterator[Job]:
        """Claim and yield one job after the other, without those that another process has claimed."""
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
        """Call ``on_begin`` before the first job."""
        if self.on_begin is not None:
            self.on_begin()
            self.on_begin = None

    def give_back(self) -> None:
        """Withdraw the claims; a run that has begun no job has none, and perhaps no file."""
        if self.on_begin is None:
            self.store.give_back()

    def finish(self, answer: Answer) -> None:
        """Store the answer of a job."""
        job: Job = answer.item
        key = job.key
        self.store.write(
            key,
            job.identity,
            job.describe(),
            answer.result,
            reason=answer.reason,
            peak_megabytes=answer.peak_megabytes,
            provenance=job.provenance,
        )
        seconds = time.monotonic() - self.open.pop(key)
        # The first job of a process also starts it, reads the data and compiles: far more than a job takes later.
        if self.n_computed >= self.n_processes:
            self.taken.setdefault((job.dataset, job.method.name), []).append(seconds)
        self.n_computed += 1
        self.done[job.dataset] += 1
        self.n_failed += answer.result is None

    def finished_job(self, answer: Answer) -> FinishedJob:
        """Describe the job of an answer and the progress of the run."""
        n_done = self.n_found + self.n_computed
        of_dataset = self.done[answer.item.dataset]
        return FinishedJob(answer.item, answer.reason, of_dataset, n_done, len(self.keys), self.seconds_left())

    def seconds_left(self) -> float | None:
        """Estimate the time until the end, from the mean time of the same method on the same data set.

        For a pair without a finished job, the mean of the method is scaled by that of the data set. There is no
        estimate before a process has finished a second job.
        """
        if not self.taken:
            return None
        by_method, by_dataset = self._means(1), self._means(0)
        overall = fmean(second for seconds in self.taken.values() for second in seconds)
        pairs = {pair: fmean(seconds) for pair, seconds in self.taken.items()}
        left = 0.0
        for key in [*self.waiting, *self.open]:
            pair = self.keys[key].dataset, self.keys[key].method.name
            guess = by_method.get(pair[1], overall) * by_dataset.get(pair[0], overall) / max(overall, 1e-9)
            left += pairs.get(pair, guess)
        return left / self.n_processes

    def _means(self, which: int) -> dict[str, float]:
        grouped: dict[str, list[float]] = {}
        for pair, seconds in self.taken.items():
            grouped.setdefault(pair[which], []).extend(seconds)
        return {name: fmean(seconds) for name, seconds in grouped.items()}

    def send_heartbeat(self) -> None:
        """Renew the claims if the last heartbeat is older than `HEARTBEAT_SECONDS`."""
        if time.monotonic() - self.last_heartbeat > HEARTBEAT_SECONDS:
            self.store.heartbeat()
            self.last_heartbeat = time.monotonic()

    def summary(self) -> RunSummary:
        """Numbers of jobs so far."""
        return RunSummary(self.n_computed, self.n_failed, self.n_found, self.n_failed_before)
