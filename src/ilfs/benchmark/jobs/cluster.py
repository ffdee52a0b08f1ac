"""Compute jobs on the workers of a Dask cluster."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from ilfs.benchmark.jobs.pool import Answer, Limits, compute_all
from ilfs.sources.cluster import connected, connection_errors

JOBS_AHEAD_PER_THREAD = 2  # jobs sent to each thread in advance, so that none waits for work
CLUSTER_POLL_SECONDS = 1.0  # longest time between two calls of on_wait


def compute_on_cluster(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    address: str,
    *,
    limits: Limits = Limits(),  # noqa: B008  frozen
    on_wait: Callable[[], None] | None = None,
) -> Iterator[Answer]:
    """Compute function(item) of every item on a Dask cluster, where each worker starts a process for each item.

    Parameters
    ----------
    function : callable
        A function of a module, so that workers can import it.
    items : iterable
        Items to compute; the next one is taken when a thread of the cluster is free.
    address : str
        Address of the scheduler.
    limits : Limits
        Limits on the time and memory of an item.
    on_wait : callable, optional
        Called at least once every `CLUSTER_POLL_SECONDS`.

    Yields
    ------
    Answer
        With a reason in place of a result if an item failed.
    """
    attempt, remaining, sent = partial(attempt_alone, function, limits=limits), iter(items), dict[Any, Any]()
    with connected(address) as client, explained(address):
        try:
            while True:
                send_more(client, attempt, remaining, sent)
                if not sent:
                    return
                ready = wait_for_any(sent)
                if on_wait is not None:
                    on_wait()
                yield from (answer_of(future, sent.pop(future)) for future in ready)
        finally:
            with suppress(*connection_errors()):
                client.cancel(list(sent))


@contextmanager
def explained(address: str) -> Iterator[None]:
    """Explain the loss of the scheduler in one sentence."""
    try:
        yield
    except connection_errors():
        gone = f"the Dask scheduler at {address} is gone"
        raise ConnectionError(f"{gone}; finished jobs are stored, run the same command again to continue") from None


def send_more(client: Any, attempt: Callable[[Any], Answer], remaining: Iterator[Any], sent: dict[Any, Any]) -> None:
    """Send items until every thread of the cluster has enough; ``sent`` maps futures to items."""
    n_wanted = max(1, JOBS_AHEAD_PER_THREAD * sum(client.nthreads().values()))
    while len(sent) < n_wanted and (item := next(remaining, None)) is not None:
        sent[client.submit(attempt, item, pure=False, retries=0)] = item


def wait_for_any(sent: Iterable[Any]) -> set[Any]:
    """Wait for a finished future, for a limited time."""
    from distributed import TimeoutError as TooLate
    from distributed import wait

    try:
        ready: set[Any] = wait(list(sent), timeout=CLUSTER_POLL_SECONDS, return_when="FIRST_COMPLETED").done
    except TooLate:
        return set()
    return ready


def answer_of(future: Any, item: Any) -> Answer:
    """Answer of a finished future; a reason if the cluster could not compute the item."""
    trouble = future.exception()
    if trouble is not None:
        return Answer(item, reason=f"the cluster gave up: {trouble}")
    answer: Answer = future.result()
    return answer


def attempt_alone(function: Callable[[Any], Any], item: Any, *, limits: Limits) -> Answer:
    """Compute one item in a process of its own, which can be ended when it exceeds a limit."""
    (answer,) = compute_all(function, [item], 1, limits=limits)
    return answer
