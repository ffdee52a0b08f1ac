"""Cells on the workers of a Dask cluster."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from ilfs.benchmark.jobs.pool import Answer, compute_all

AHEAD = 2  # cells a thread of the cluster that are sent before the first is back
BREATH = 1.0  # seconds between looks at the clock


def compute_on_cluster(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    address: str,
    *,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    on_wait: Callable[[], None] | None = None,
) -> Iterator[Answer]:
    """As `compute_all`, each item in a process that a worker of the cluster starts for it."""
    try:
        from distributed import CancelledError, Client, wait
        from distributed import TimeoutError as TooLate
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise ImportError('a Dask cluster needs the package distributed: pip install "ilfs[dask]"') from None
    try:
        client = Client(address)
    except (OSError, ValueError, TooLate) as error:
        raise ValueError(f"no Dask scheduler answers at {address}: {error}") from None
    remaining = iter(items)
    sent: dict[Any, Any] = {}
    attempt = partial(attempt_alone, function, time_limit=time_limit, memory_limit=memory_limit)
    with client:
        try:
            while True:
                n_threads = sum(client.nthreads().values())
                while len(sent) < max(1, AHEAD * n_threads) and (item := next(remaining, None)) is not None:
                    sent[client.submit(attempt, item, pure=False, retries=0)] = item
                if not sent:
                    return
                try:
                    ready = wait(list(sent), timeout=BREATH, return_when="FIRST_COMPLETED").done
                except TooLate:
                    ready = set()
                if on_wait is not None:
                    on_wait()
                for future in ready:
                    item = sent.pop(future)
                    trouble = future.exception()
                    yield future.result() if trouble is None else Answer(item, reason=f"the cluster gave up: {trouble}")
        except (CancelledError, CommClosedError):
            gone = f"the Dask scheduler at {address} is gone"
            raise ConnectionError(f"{gone}; what is finished is kept, and the same command goes on") from None
        finally:
            with suppress(CancelledError, CommClosedError):
                client.cancel(list(sent))


def attempt_alone(
    function: Callable[[Any], Any], item: Any, *, time_limit: float | None, memory_limit: float | None
) -> Answer:
    """One item in a process of its own, so that limits can be kept."""
    (answer,) = compute_all(function, [item], 1, time_limit=time_limit, memory_limit=memory_limit)
    return answer
