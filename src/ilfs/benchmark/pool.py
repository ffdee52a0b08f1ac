"""Processes that compute cells, each watched: one that takes too long, grows too large or dies costs its cell alone.

A pool of joblib is torn down with all its work if one of its processes dies, and cannot stop one that takes too long.
So the processes are our own. They end when the one that started them does.
"""

import multiprocessing
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from ilfs.benchmark.memory import Peak

BREATH = 0.2  # seconds between looks at the clock


@dataclass(frozen=True)
class Answer:
    """What a process said about an item, or why it said nothing."""

    item: Any
    result: Any = None
    reason: str = ""
    peak_megabytes: float | None = None


@dataclass
class Worker:
    """A process, the pipe to it, whether it has begun to listen, and what it is at since when."""

    process: Any
    pipe: Connection
    listens: bool = False
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
    more = True
    try:
        while more or workers:
            while more and len(workers) < n_processes:
                workers.append(_start(function, memory_limit))
            for worker in [worker for worker in workers if worker.listens and worker.item is None]:
                worker.item, worker.since = next(remaining, None), time.monotonic()
                if worker.item is None:
                    more = False
                    break
                worker.pipe.send(worker.item)
            if not more:
                workers = _without_idle(workers)
            ready = wait([worker.pipe for worker in workers], BREATH) if workers else []
            if on_wait is not None:
                on_wait()
            for worker in list(workers):
                if worker.pipe in ready and not worker.listens:
                    _hear(worker)
                    continue
                answer = _answer(worker, worker.pipe in ready, time_limit)
                if answer is None:
                    continue
                if worker.item is None:
                    workers.remove(worker)
                else:
                    worker.item = None
                yield answer
    finally:
        for worker in workers:
            _stop(worker)


def _without_idle(workers: list[Worker]) -> list[Worker]:
    """Those that are at something; the others are ended."""
    for worker in workers:
        if worker.item is None:
            _stop(worker)
    return [worker for worker in workers if worker.item is not None]


def _hear(worker: Worker) -> None:
    """The first word of a process, before which it takes no item: to start may take long."""
    try:
        worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        raise RuntimeError(f"a process could not be started: {_how_it_died(worker.process.exitcode)}") from None
    worker.listens = True


def _answer(worker: Worker, is_ready: bool, time_limit: float | None) -> Answer | None:
    """What a worker has to say, if anything; a worker without an item is gone afterwards."""
    item = worker.item
    if is_ready:
        try:
            result, reason, peak = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            worker.item = None
            return Answer(item, reason=_how_it_died(worker.process.exitcode))
        return Answer(item, result, reason, peak)
    if worker.listens and time_limit is not None and time.monotonic() - worker.since > time_limit:
        _stop(worker)
        worker.item = None
        return Answer(item, reason=f"took longer than the limit of {time_limit:g} s")
    return None


def _how_it_died(code: int | None) -> str:
    if code is not None and code < 0:
        return f"its process was ended by signal {-code}" + (" (perhaps for lack of memory)" if code == -9 else "")
    return f"its process ended with code {code}"


def _start(function: Callable[[Any], Any], memory_limit: float | None) -> Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, function, memory_limit), daemon=True)
    with _without_main():
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


def _stop(worker: Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()


def _serve(pipe: Connection, function: Callable[[Any], Any], memory_limit: float | None) -> None:
    """Answer one item after the other, until the pipe is closed."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started this
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    pipe.send("listening")
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        pipe.send(_attempt(function, item, memory_limit))


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(BREATH)
    os._exit(1)


def _attempt(function: Callable[[Any], Any], item: Any, memory_limit: float | None) -> tuple[Any, str, float | None]:
    """The result, the reason if there is none, and how much memory it took."""
    with Peak(memory_limit) as peak:
        try:
            return function(item), "", peak.megabytes
        except MemoryError:
            limit = "" if memory_limit is None else f" of {memory_limit:g} MB"
            return None, f"needs more memory than the limit{limit}" if limit else "out of memory", peak.megabytes
        except Exception as error:
            where = traceback.extract_tb(sys.exc_info()[2])[-1]
            place = f"{os.path.basename(where.filename)}:{where.lineno}"
            return None, f"{type(error).__name__}: {error} ({place})", peak.megabytes
