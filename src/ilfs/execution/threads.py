"""Threads for parallel work, with results that do not depend on the number of threads."""

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

QUEUED_PER_THREAD = 4  # tasks that are submitted before their results are consumed

_this_thread = threading.local()


@dataclass(frozen=True)
class _Limit:
    """A limit of one BLAS thread, and the thread that set it: None for `_limiting_thread`, or a caller's thread."""

    limiter: Any
    thread: int | None = None

    def end(self) -> None:
        """Restore the number of BLAS threads; only the thread that set a limit can lift it."""
        if self.thread is None:
            _limiting_thread(os.getpid()).submit(self.limiter.__exit__, None, None, None).result()
        elif self.thread == threading.get_ident():
            self.limiter.__exit__(None, None, None)


class _Blas:
    """Reference count of the users of `one_blas_thread`, and the limit that the last of them lifts."""

    def __init__(self) -> None:
        self.lock, self.users = threading.RLock(), 0
        self.limit: _Limit | None = None

    def enter(self) -> None:
        """Add a user; the first one sets the limit."""
        with self.lock:
            if self.users == 0:
                self.limit = _limit_blas()
            self.users += 1

    def leave(self) -> None:
        """Remove a user; the last one lifts the limit."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.end_limit()

    def end_limit(self) -> None:
        """Restore the number of BLAS threads from before the first user."""
        limit, self.limit = self.limit, None
        if limit is not None:
            limit.end()

    def reset_after_fork(self) -> None:
        """Reset the state in a forked process, where only the thread that forked exists.

        The inherited lock may be held by a thread that no longer exists, so there is a new one. Of all users only the
        forking thread is left. A limit set by a thread that no longer exists is lifted by `_limiting_thread` instead.
        """
        self.lock, self.users = threading.RLock(), getattr(_this_thread, "uses_of_blas", 0)
        if self.limit is not None and self.limit.thread != threading.get_ident():
            self.limit = _Limit(self.limit.limiter)
        if self.users == 0:
            self.end_limit()


_blas = _Blas()

if hasattr(os, "register_at_fork"):
    # Holding the lock delays a fork while the limit changes: the child would not know how many threads to restore.
    os.register_at_fork(
        before=lambda: _blas.lock.acquire(),
        after_in_parent=lambda: _blas.lock.release(),
        after_in_child=_blas.reset_after_fork,
    )


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001  a forked process needs its own
    """Return a thread pool that is reused, because starting threads takes longer than many tasks."""
    return ThreadPoolExecutor(n_threads, initializer=lambda: setattr(_this_thread, "is_pool_thread", True))


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _limiting_thread(process: int) -> ThreadPoolExecutor:  # noqa: ARG001
    """Return the one thread that sets and lifts our limits: threadpoolctl needs the same thread for both."""
    return ThreadPoolExecutor(1)


def _limited() -> Any:
    return _controller().limit(limits=1, user_api="blas").__enter__()


def _limit_blas() -> _Limit:
    """Limit BLAS to one thread.

    If the caller is inside a ``threadpool_limits`` of their own, only their thread can change the number of threads. If
    another thread is the last user in that case, the limit stays until the caller's context ends.
    """
    limit = _Limit(_limiting_thread(os.getpid()).submit(_limited).result())
    if all(library["num_threads"] == 1 for library in _controller().info() if library["user_api"] == "blas"):
        return limit
    limit.end()
    return _Limit(_limited(), threading.get_ident())


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside a ``with`` block.

    Two BLAS threads may round differently from one, and they compete with the threads of `thread_map`. The limit holds
    for the whole process: if several fits run at once, the first one sets it and the last one lifts it. If another
    thread forks meanwhile, the child process has the number of threads from before the fits.
    """
    _blas.enter()
    _this_thread.uses_of_blas = getattr(_this_thread, "uses_of_blas", 0) + 1
    try:
        yield
    finally:
        _this_thread.uses_of_blas = max(0, getattr(_this_thread, "uses_of_blas", 0) - 1)
        _blas.leave()


def thread_map(function: Callable[[T], R], items: Iterable[T], n_jobs: int | None = None) -> Iterator[R]:
    """Apply a function to every item in threads, and yield the results in order.

    Matrix products inside use one BLAS thread. The items and the function must not depend on n_jobs. Up to
    `QUEUED_PER_THREAD` results for each thread wait to be consumed, so the function should return little data.

    Parameters
    ----------
    function : callable
        Function of one item. Threads help only if it releases the GIL, as the kernels and numpy do.
    items : iterable
        Arguments of the function. After an error or Ctrl-C no further item is started.
    n_jobs : int, optional
        Number of threads, with the meaning it has in `joblib`.

    Yields
    ------
    object
        Result for each item.
    """
    n_threads = effective_n_jobs(n_jobs)
    with one_blas_thread():
        # A pool thread that waits for its own pool would deadlock.
        if n_threads == 1 or getattr(_this_thread, "is_pool_thread", False):
            yield from map(function, items)
            return
        yield from in_order(_pool(n_threads, os.getpid()), function, items, QUEUED_PER_THREAD * n_threads)


def in_order(pool: ThreadPoolExecutor, function: Callable[[T], R], items: Iterable[T], at_once: int) -> Iterator[R]:
    """Apply a function in a pool and yield results in order, with at most `at_once` items submitted ahead."""
    futures: deque[Future[R]] = deque()
    try:
        for item in items:
            if len(futures) == at_once:
                yield futures.popleft().result()
            futures.append(pool.submit(function, item))
        while futures:
            yield futures.popleft().result()
    finally:  # also if the consumer stops early: leave no task running
        for future in futures:
            future.cancel()
        wait(futures)


def blocks(n: int, size: int) -> list[slice]:
    """Divide ``range(n)`` into slices of a given size; the last one may be smaller."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
