"""Supervised worker processes: one that exceeds a limit or dies loses only the item it was computing.

A pool of joblib loses all its work if one of its processes dies, and cannot stop one that takes too long. So this
module starts its own processes. They end when the process that started them ends.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from ilfs.benchmark.evaluation.memory import Peak
from ilfs.one_line import in_one_line

POLL_SECONDS = 0.2  # longest time between two checks of the limits
MAX_FAILED_STARTS = 3  # consecutive processes that failed to start
START_LOCK = threading.Lock()


@dataclass(frozen=True)
class Limits:
    """Limits on one item.

    Parameters
    ----------
    seconds : float, optional
        Time after which the process of the item is ended.
    megabytes : float, optional
        Memory that the item may take, in addition to what its process already uses.
    """

    seconds: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True)
class Answer:
    """The result of an item, or the reason why it has none."""

    item: Any
    result: Any = None
    reason: str = ""
    peak_megabytes: float | None = None


@dataclass
class Worker:
    """A worker process with its pipe, its state, its current item and the start time of that item."""

    process: Any
    pipe: Connection
    is_ready: bool = False
    is_stopped: bool = False
    item: Any = None
    since: float = 0.0


def compute_all(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    n_processes: int,
    *,
    limits: Limits = Limits(),  # noqa: B008  frozen
    on_wait: Callable[[], None] | None = None,
) -> Iterator[Answer]:
    """Compute function(item) of every item in worker processes; answers come in the order in which they are ready.

    Parameters
    ----------
    function : callable
        A function of a module, so that another process can import it.
    items : iterable
        Items to compute; the next one is taken when a process is free.
    n_processes : int
        Number of processes at the same time.
    limits : Limits
        Limits on the time and memory of an item.
    on_wait : callable, optional
        Called at least once every `POLL_SECONDS`.

    Yields
    ------
    Answer
        With a reason in place of a result if an item failed.
    """
    pool = Pool(function, iter(items), n_processes, limits)
    try:
        while pool.has_work:
            pool.keep_busy()
            ready = wait([worker.pipe for worker in pool.workers], POLL_SECONDS) if pool.workers else []
            if on_wait is not None:
                on_wait()
            pool.record_starts(ready)
            yield from pool.answers()
    finally:
        for worker in pool.workers:
            _stop(worker)


@dataclass
class Pool:
    """The processes of one call of `compute_all`, and the items that are still waiting."""

    function: Callable[[Any], Any]
    remaining: Iterator[Any]
    n_processes: int
    limits: Limits
    workers: list[Worker] = field(default_factory=list)
    has_more: bool = True
    n_failed_starts: int = 0

    @property
    def has_work(self) -> bool:
        """True as long as an item is waiting or being computed."""
        return self.has_more or bool(self.workers)

    def keep_busy(self) -> None:
        """Replace processes that have died, give free ones an item, and end those that have nothing left to do."""
        self.workers = _without_dead(self.workers)
        while self.has_more and len(self.workers) < self.n_processes:
            self.workers.append(_start(self.function, self.limits.megabytes))
        for worker in self.workers:
            if self.has_more and worker.is_ready and worker.item is None:
                self._give_next_item(worker)
        if not self.has_more:
            self.workers = _without_idle(self.workers)

    def _give_next_item(self, worker: Worker) -> None:
        worker.item, worker.since = next(self.remaining, None), time.monotonic()
        if worker.item is None:
            self.has_more = False
            return
        with suppress(OSError):  # the process has just died: its answer will say so
            worker.pipe.send(worker.item)

    def record_starts(self, ready: Iterable[Any]) -> None:
        """Record which processes have started; raise an error if several in a row failed to start."""
        for worker in self.workers:
            if not worker.is_ready and worker.pipe in ready:
                self.n_failed_starts = 0 if _has_started(worker) else self.n_failed_starts + 1
                _give_up_after(self.n_failed_starts, worker)

    def answers(self) -> Iterator[Answer]:
        """Answers of all processes that have one."""
        for worker in list(self.workers):
            answer = _answer(worker, self.limits.seconds) if worker.item is not None else None
            if answer is not None:
                worker.item = None
                yield answer


def _without_dead(workers: list[Worker]) -> list[Worker]:
    """Stop and drop workers that have ended while they had no item; others take their place."""
    dead = [
        worker for worker in workers if worker.is_stopped or (worker.item is None and not worker.process.is_alive())
    ]
    for worker in dead:
        _stop(worker)
    return [worker for worker in workers if worker not in dead]


def _without_idle(workers: list[Worker]) -> list[Worker]:
    """Stop and drop workers that have no item."""
    for worker in workers:
        if worker.item is None:
            _stop(worker)
    return [worker for worker in workers if worker.item is not None]


def _has_started(worker: Worker) -> bool:
    """Receive the first message of a process. It gets no item before: its start must not count as time of an item."""
    try:
        worker.pipe.recv()
    except (EOFError, OSError):
        _stop(worker)
    worker.is_ready = not worker.is_stopped
    return worker.is_ready


def _give_up_after(n_failed_starts: int, worker: Worker) -> None:
    if n_failed_starts == MAX_FAILED_STARTS:
        how = _how_it_died(worker.process.exitcode)
        raise ChildProcessError(f"a process could not be started, {MAX_FAILED_STARTS} times in a row: {how}")


def _answer(worker: Worker, time_limit: float | None) -> Answer | None:
    """Answer of a worker about its item, None if it is still computing; a failed worker is stopped."""
    is_dead = not worker.process.is_alive()  # checked before the pipe is read: a process may answer and then end
    if worker.pipe.poll():
        try:
            result, reason, peak = worker.pipe.recv()
        except (EOFError, OSError):
            is_dead = True
        else:
            return Answer(worker.item, result, reason, peak)
    if is_dead:
        worker.process.join(POLL_SECONDS)
        _stop(worker)
        return Answer(worker.item, reason=_how_it_died(worker.process.exitcode))
    if time_limit is not None and time.monotonic() - worker.since > time_limit:
        _stop(worker)
        return Answer(worker.item, reason=f"took longer than the limit of {time_limit:g} s")
    return None


def _how_it_died(code: int | None) -> str:
    if code is not None and code < 0:
        return f"its process was ended by signal {-code}" + (" (perhaps for lack of memory)" if code == -9 else "")
    return f"its process ended with code {code}"


def _start(function: Callable[[Any], Any], memory_limit: float | None) -> Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, function, memory_limit), daemon=True)
    with START_LOCK, _without_main(), _as_no_daemon(), _interrupts_blocked():
        process.start()
    there.close()
    return Worker(process, here)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C: a process that is started meanwhile does not get it, this one gets it afterwards.

    The terminal sends Ctrl-C to all processes. A worker that is still importing would end with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep spawned processes from running the user's script, which may have no ``if __name__ == "__main__"`` guard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _as_no_daemon() -> Iterator[None]:
    """Let a Dask worker start a process: Dask workers are daemons, which Python does not allow to start any."""
    me = multiprocessing.current_process()
    before, me.daemon = me.daemon, False
    try:
        yield
    finally:
        me.daemon = before


def _stop(worker: Worker) -> None:
    """End a process and all that it has started, only once: its process id may be reused afterwards."""
    if worker.is_stopped:
        return
    worker.is_stopped = True
    worker.pipe.close()
    worker.process.kill()
    _kill_group(worker.process.pid)
    worker.process.join()


def _kill_group(leader: int) -> None:
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(leader, signal.SIGKILL)


def _serve(pipe: Connection, function: Callable[[Any], Any], memory_limit: float | None) -> None:
    """Answer one item after the other until the pipe is closed. This runs in the worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process that started this one
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    me = os.getpid()
    # joblib runs only one thread in a daemon process, but an item may be allowed more. Processes that an item starts
    # still end with this one: `_stop` and `_end_with_parent` kill the whole group.
    multiprocessing.current_process().daemon = False
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    with suppress(EOFError, OSError):  # the process that asked has ended
        pipe.send("ready")
        while True:
            answer = _attempt(function, pipe.recv(), memory_limit)
            if os.getpid() != me:  # a method has forked, and this is the child
                os._exit(0)
            pipe.send(answer)


def _end_with_parent(number: int) -> None:
    """End this process, and all that it has started, when its parent process ends."""
    parent = multiprocessing.parent_process()  # on Windows getppid does not change when the parent ends
    while os.getppid() == number and (parent is None or parent.is_alive()):
        time.sleep(POLL_SECONDS)
    _kill_group(os.getpid())
    os._exit(1)


def _attempt(function: Callable[[Any], Any], item: Any, memory_limit: float | None) -> tuple[Any, str, float | None]:
    """Compute an item; return its result, the reason if it failed, and the memory that it took."""
    with Peak(memory_limit) as peak:
        try:
            return function(item), "", peak.megabytes
        except MemoryError:
            limit = "" if memory_limit is None else f" of {memory_limit:g} MB"
            return None, f"needs more memory than the limit{limit}" if limit else "out of memory", peak.megabytes
        except BaseException as error:  # sys.exit too
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{os.path.basename(where.filename)}:{where.lineno}"
            return None, f"{in_one_line(error)} ({place})", peak.megabytes
