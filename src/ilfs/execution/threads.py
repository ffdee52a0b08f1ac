"""Work in threads whose number the results do not depend on."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


AHEAD = 4  # pieces of work for each thread that may wait, or be done and not yet asked for

_this_thread = threading.local()


class _Blas:
    """How many want matrix products to use one thread, and what to put back after the last."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.put_back: Callable[[], Any] = lambda: None


_blas = _Blas()


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


def _limit_blas() -> Callable[[], Any]:
    """Let BLAS use one thread; return what puts it back.

    Where the caller is inside a ``threadpool_limits`` of their own, only their thread can change the number; if another
    thread happens to be the last user, the number stays until they leave it.
    """
    governor = _governor(os.getpid())
    limit = governor.submit(_limited).result()
    if all(library["num_threads"] == 1 for library in _controller().info() if library["user_api"] == "blas"):
        return lambda: governor.submit(limit.__exit__, None, None, None).result()
    governor.submit(limit.__exit__, None, None, None).result()
    own, thread = _limited(), threading.get_ident()
    return lambda: own.__exit__(None, None, None) if threading.get_ident() == thread else None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let matrix products use one thread.

    Two threads of BLAS may round differently from one; and where we have threads of our own, more get in their way. The
    setting is one for the whole process: of several fits at once, the first sets it and the last puts it back.
    """
    with _blas.lock:
        if _blas.users == 0:
            _blas.put_back = _limit_blas()
        _blas.users += 1
    try:
        yield
    finally:
        with _blas.lock:
            _blas.users -= 1
            if _blas.users == 0:
                _blas.put_back()


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
