"""Work in threads whose number the results do not depend on."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


AHEAD = 4  # pieces of work for each thread that may wait, or be done and not yet asked for

_this_thread = threading.local()


@dataclass(frozen=True)
class _Limit:
    """A limit of BLAS to one thread, and the thread that set it: our governor (None) or that of a caller."""

    limiter: Any
    thread: int | None = None

    def end(self) -> None:
        """Put back the number of threads; one that a caller's thread has set, only that thread can."""
        if self.thread is None:
            _governor(os.getpid()).submit(self.limiter.__exit__, None, None, None).result()
        elif self.thread == threading.get_ident():
            self.limiter.__exit__(None, None, None)


class _Blas:
    """How many users want matrix products to use one thread, and the limit to end after the last of them."""

    def __init__(self) -> None:
        self.lock, self.users = threading.RLock(), 0
        self.limit: _Limit | None = None

    def enter(self) -> None:
        """Count one user more."""
        with self.lock:
            if self.users == 0:
                self.limit = _limit_blas()
            self.users += 1

    def leave(self) -> None:
        """Count one user less; the last one ends the limit."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.end_limit()

    def end_limit(self) -> None:
        """Put back the number of threads that there was before the first user."""
        limit, self.limit = self.limit, None
        if limit is not None:
            limit.end()

    def begin_anew(self) -> None:
        """Start over in a forked process, which has only the thread that forked.

        The lock may have been inherited locked; of all users only the forking thread is still there; and a limit that a
        thread which is gone has set can be ended by any other.
        """
        self.lock, self.users = threading.RLock(), getattr(_this_thread, "uses_of_blas", 0)
        if self.limit is not None and self.limit.thread != threading.get_ident():
            self.limit = _Limit(self.limit.limiter)
        if self.users == 0:
            self.end_limit()


_blas = _Blas()

if hasattr(os, "register_at_fork"):
    # No fork while the limit is being changed: the child could not tell how many threads to put back.
    os.register_at_fork(
        before=lambda: _blas.lock.acquire(),
        after_in_parent=lambda: _blas.lock.release(),
        after_in_child=_blas.begin_anew,
    )


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001  a forked process has no threads
    """Threads that stay: to start them takes longer than many a piece of work."""
    return ThreadPoolExecutor(n_threads, initializer=lambda: setattr(_this_thread, "is_ours", True))


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _governor(process: int) -> ThreadPoolExecutor:  # noqa: ARG001
    """A thread of its own, since only the one that has limited others may end it."""
    return ThreadPoolExecutor(1)


def _limited() -> Any:
    return _controller().limit(limits=1, user_api="blas").__enter__()


def _limit_blas() -> _Limit:
    """Let BLAS use one thread.

    Where the caller is inside a ``threadpool_limits`` of their own, only their thread can change the number; if another
    thread happens to be the last user, the number stays until they leave it.
    """
    limit = _Limit(_governor(os.getpid()).submit(_limited).result())
    if all(library["num_threads"] == 1 for library in _controller().info() if library["user_api"] == "blas"):
        return limit
    limit.end()
    return _Limit(_limited(), threading.get_ident())


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let matrix products use one thread.

    Two threads of BLAS may round differently from one; and where we have threads of our own, more get in their way. The
    setting is one for the whole process: of several fits at once, the first sets it and the last puts it back. In a
    process that is forked meanwhile by another thread, the number is the one from before the fits.
    """
    _blas.enter()
    _this_thread.uses_of_blas = getattr(_this_thread, "uses_of_blas", 0) + 1
    try:
        yield
    finally:
        _this_thread.uses_of_blas = max(0, getattr(_this_thread, "uses_of_blas", 0) - 1)
        _blas.leave()


def thread_map(function: Callable[[T], R], items: Iterable[T], n_jobs: int | None = None) -> Iterator[R]:
    """function(item) of every item, in order, as many at once as n_jobs says.

    Matrix products inside use one thread. The items, and what is done with each, must not depend on n_jobs. Some
    results for each thread wait until they are asked for: let the function return little.

    Parameters
    ----------
    function : callable
        Must release the interpreter's lock to gain anything: kernels and numpy do.
    items : iterable
        What to call it with. After an error or Ctrl-C, those not begun are not begun.
    n_jobs : int, optional
        Number of threads, as `joblib` counts them.

    Yields
    ------
    object
        What the function returned.
    """
    n_threads = effective_n_jobs(n_jobs)
    with one_blas_thread():
        if n_threads == 1 or getattr(_this_thread, "is_ours", False):  # ours must not wait for each other
            yield from map(function, items)
            return
        yield from in_order(_pool(n_threads, os.getpid()), function, items, AHEAD * n_threads)


def in_order(pool: ThreadPoolExecutor, function: Callable[[T], R], items: Iterable[T], at_once: int) -> Iterator[R]:
    """function(item) of every item, in order; at most so many are begun or done, and not yet asked for."""
    futures: deque[Future[R]] = deque()
    try:
        for item in items:
            if len(futures) == at_once:
                yield futures.popleft().result()
            futures.append(pool.submit(function, item))
        while futures:
            yield futures.popleft().result()
    finally:
        for future in futures:
            future.cancel()
        wait(futures)


def blocks(n: int, size: int) -> list[slice]:
    """0:n in pieces of this size, the last one perhaps smaller."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
