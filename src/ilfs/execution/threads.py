"""Work in threads whose number the results do not depend on."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


_this_thread = threading.local()


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001  a forked process has no threads
    """Threads that stay: to start them takes longer than many a piece of work."""
    return ThreadPoolExecutor(n_threads, initializer=lambda: setattr(_this_thread, "is_ours", True))


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let matrix products use one thread.

    Two threads of BLAS may round differently from one; and where we have threads of our own, more get in their way.
    """
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


def thread_map(function: Callable[[T], R], items: Iterable[T], n_jobs: int | None = None) -> Iterator[R]:
    """function(item) of every item, in order, as many at once as n_jobs says.

    Matrix products inside use one thread. The items, and what is done with each, must not depend on n_jobs. What comes
    back is kept until it is asked for: let the function return little.

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
        pool = _pool(n_threads, os.getpid())
        futures = deque(pool.submit(function, item) for item in items)
        try:
            while futures:
                yield futures.popleft().result()
        finally:
            for future in futures:
                future.cancel()
            wait(futures)


def blocks(n: int, size: int) -> list[slice]:
    """0:n in pieces of this size, the last one perhaps smaller."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
