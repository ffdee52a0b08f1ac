"""Processes that compute cells, each watched: one that takes too long, grows too large or dies costs its cell alone.

A pool of joblib is torn down with all its work if one of its processes dies, and cannot stop one that takes too long.
So the processes are our own. They end when the one that started them does.
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
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from ilfs.benchmark.memory import Peak
from ilfs.benchmark.one_line import in_one_line

BREATH = 0.2  # seconds between looks at the clock
MOST_STARTS = 3  # that fail one after the other
STARTING = threading.Lock()


@dataclass(frozen=True)
class Answer:
    """What a process said about an item, or why it said nothing."""

    item: Any
    result: Any = None
    reason: str = ""
    peak_megabytes: float | None = None


@dataclass
class Worker:
    """A process, the pipe to it, whether it has begun to listen or been stopped, and what it is at since when."""

    process: Any
    pipe: Connection
    listens: bool = False
    is_stopped: bool = False
    item: Any = None
    since: float = 0.0


def compute_all(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    n_processes: int,
    *,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    on_wait: Callable[[], None] | None = None,
) -> Iterator[Answer]:
    """function(item) of every item, in processes of their own, in the order in which they are ready.

    Parameters
    ----------
    function : callable
        Of a module, so that another process can find it.
    items : iterable
        Asked for the next one when a process is free.
    n_processes : int
        How many at once.
    time_limit : float, optional
        Seconds for an item, after which its process is ended.
    memory_limit : float, optional
        Megabytes that an item may take beyond what its process has before.
    on_wait : callable, optional
        Called from time to time.

    Yields
    ------
    Answer
        With a reason in place of a result if an item failed.
    """
    remaining = iter(items)
    workers: list[Worker] = []
    more, n_failed_starts = True, 0
    try:
        while more or workers:
            workers = _without_dead(workers)
            while more and len(workers) < n_processes:
                workers.append(_start(function, memory_limit))
            for worker in [worker for worker in workers if worker.listens and worker.item is None]:
                worker.item, worker.since = next(remaining, None), time.monotonic()
                if worker.item is None:
                    more = False
                    break
                with suppress(OSError):  # it has just died, as its answer will say
                    worker.pipe.send(worker.item)
            if not more:
                workers = _without_idle(workers)
            ready = wait([worker.pipe for worker in workers], BREATH) if workers else []
            if on_wait is not None:
                on_wait()
            for worker in list(workers):
                if not worker.listens:
                    if worker.pipe in ready:
                        n_failed_starts = 0 if _hear(worker) else n_failed_starts + 1
                        _give_up_after(n_failed_starts, worker)
                    continue
                answer = _answer(worker, time_limit)
                if answer is None:
                    continue
                worker.item = None
                yield answer
    finally:
        for worker in workers:
            _stop(worker)


def _without_dead(workers: list[Worker]) -> list[Worker]:
    """Those that live; others, whoever ended them, were at no item and have others in their place."""
    dead = [
        worker for worker in workers if worker.is_stopped or (worker.item is None and not worker.process.is_alive())
    ]
    for worker in dead:
        _stop(worker)
    return [worker for worker in workers if worker not in dead]


def _without_idle(workers: list[Worker]) -> list[Worker]:
    """Those that are at something; the others are ended."""
    for worker in workers:
        if worker.item is None:
            _stop(worker)
    return [worker for worker in workers if worker.item is not None]


def _hear(worker: Worker) -> bool:
    """The first word of a process, before which it takes no item: to start may take long."""
    try:
        worker.pipe.recv()
    except (EOFError, OSError):
        _stop(worker)
    worker.listens = not worker.is_stopped
    return worker.listens


def _give_up_after(n_failed_starts: int, worker: Worker) -> None:
    if n_failed_starts == MOST_STARTS:
        how = _how_it_died(worker.process.exitcode)
        raise ChildProcessError(f"a process could not be started, {MOST_STARTS} times in a row: {how}")


def _answer(worker: Worker, time_limit: float | None) -> Answer | None:
    """What a worker has to say about its item, if anything; it may be gone afterwards."""
    is_dead = not worker.process.is_alive()  # asked first, as its last word may be in the pipe
    if worker.pipe.poll():
        try:
            result, reason, peak = worker.pipe.recv()
        except (EOFError, OSError):
            is_dead = True
        else:
            return Answer(worker.item, result, reason, peak)
    if is_dead:
        worker.process.join(BREATH)
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
    with STARTING, _without_main(), _as_no_daemon():
        process.start()
    there.close()
    return Worker(process, here)


@contextmanager
def _without_main() -> Iterator[None]:
    """Let a new process not run the script of the user, who may not have put its calls behind a guard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _as_no_daemon() -> Iterator[None]:
    """Let a process be started by a worker of Dask, which is a daemon: these may not, lest they leave some behind."""
    me = multiprocessing.current_process()
    before, me.daemon = me.daemon, False
    try:
        yield
    finally:
        me.daemon = before


def _stop(worker: Worker) -> None:
    """End a process and all that it has started, once: its number may be another's afterwards."""
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
    """Answer one item after the other, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started this
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    me = os.getpid()
    # joblib allows a daemon one thread only; this process may have what it was told, and what it starts ends with it
    multiprocessing.current_process().daemon = False
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    with suppress(EOFError, OSError):  # whoever asked is gone
        pipe.send("listening")
        while True:
            said = _attempt(function, pipe.recv(), memory_limit)
            if os.getpid() != me:  # a method has forked, and both came back
                os._exit(0)
            pipe.send(said)


def _end_with_parent(number: int) -> None:
    parent = multiprocessing.parent_process()  # on Windows its number stays when it is gone
    while os.getppid() == number and (parent is None or parent.is_alive()):
        time.sleep(BREATH)
    _kill_group(os.getpid())
    os._exit(1)


def _attempt(function: Callable[[Any], Any], item: Any, memory_limit: float | None) -> tuple[Any, str, float | None]:
    """The result, the reason if there is none, and how much memory it took."""
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
