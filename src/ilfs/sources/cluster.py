"""Connections to Dask, and computations on its workers.

A computation runs on the active client of `distributed`, if there is one, and otherwise in Dask's threads. Only
``delayed``, ``submit``, ``map`` and ``compute`` are used, and for progress ``as_completed`` and ``Callback``. All
inputs are results of tasks, so Dask computes them again if a worker that held them dies.
"""

import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import Any

import numpy as np

CONNECT_SECONDS = 5  # time for a scheduler to answer
RECONNECT_SECONDS = 30  # time for the client to connect again after its connection has broken
MESSAGE_BYTES = 2**22  # of inputs that are sent to the scheduler at a time; Dask warns of graphs above 10 MB


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler; fits in this context run on its workers.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Yields
    ------
    distributed.Client
        The connection, which is closed at the end.

    Raises
    ------
    ValueError
        If no scheduler answers within `CONNECT_SECONDS`.
    """
    try:
        from distributed import Client
        from distributed import TimeoutError as TooLate
    except ImportError:
        raise ImportError('a Dask cluster needs the package distributed: pip install "ilfs[dask]"') from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TooLate) as error:
        raise ValueError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield client


class ConnectionLostError(ConnectionError):
    """The connection to the scheduler has broken, and with it all inputs and results on the cluster are lost."""


# Reasons that Dask gives for a cancelled task if nobody has cancelled it: the client noticed that its connection broke,
# or the scheduler no longer has the inputs that the client sent before.
BROKEN_CONNECTION = ("scheduler-connection-lost", "lost dependencies")


def has_reconnected() -> bool:
    """Wait while the active client connects again; return whether it succeeded."""
    client, deadline = active_client(), time.monotonic() + RECONNECT_SECONDS
    while client is not None and client.status == "connecting" and time.monotonic() < deadline:
        time.sleep(0.05)
    return client is not None and client.status == "running"


def connection_errors() -> tuple[type[BaseException], ...]:
    """Errors that are raised when the scheduler is gone."""
    from distributed import CancelledError
    from distributed.comm.core import CommClosedError

    return (CancelledError, CommClosedError)


def active_client() -> Any:
    """Return the active client of `distributed`, None if there is none."""
    if "distributed" not in sys.modules:  # then nobody has made a client
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def local_options(n_threads: int | None) -> dict[str, Any]:
    """Return the options with which Dask computes without a client: the scheduler of its configuration, or threads.

    A client that was closed may leave its own scheduler in the configuration.
    """
    import dask

    options: dict[str, Any] = {} if n_threads is None else {"num_workers": n_threads}
    if dask.config.get("scheduler", None) in ("distributed", "dask.distributed"):
        options["scheduler"] = "threads"
    return options


def delayed(function: Callable[..., Any]) -> Any:
    """Make a function lazy, with a new key for every call."""
    try:
        from dask.delayed import delayed as lazy
    except ImportError:
        raise ImportError('Dask tables need the package dask: pip install "ilfs[dask]"') from None
    return lazy(function, pure=False)


def compute(
    value: Any,
    n_threads: int | None = None,
    *,
    steps: Sequence[Any] = (),
    report: Callable[[float], None] | None = None,
) -> Any:
    """Compute a delayed value on the active client, otherwise in threads.

    Parameters
    ----------
    value : dask.delayed.Delayed
        What to compute. The result is sent to this process.
    n_threads : int, optional
        Number of threads if there is no client; Dask's default if it is None.
    steps : sequence of Delayed, default=()
        Values that it is computed from, and whose progress is reported.
    report : callable, optional
        Called in this thread with the fraction of the steps that are finished, whenever one of them is.

    Returns
    -------
    object
        The result.
    """
    client = active_client()
    count = None if report is None or not steps else StepCount([step.key for step in steps], report)
    if client is None:
        with nullcontext() if count is None else count.watched_threads():
            return value.compute(**local_options(n_threads))
    futures = client.compute([value] if count is None else [value, *steps])
    result, waiting = futures[0], {future.key: future for future in futures}
    del futures  # the statistic of a step stays on its worker as long as there is a future of it
    try:
        with explained():
            if count is not None:
                count.watch(client, waiting, result)
            return result.result()
    except BaseException:  # also Ctrl-C: workers must not go on
        client.cancel(list(waiting.values()))
        raise


class StepCount:
    """Count of the finished steps of a computation.

    Parameters
    ----------
    keys : sequence of str
        Keys of the tasks that are steps.
    report : callable
        Called with the fraction of the steps that are finished, whenever one of them is.
    """

    def __init__(self, keys: Sequence[Any], report: Callable[[float], None]) -> None:
        self._keys, self._n_steps, self._report = set(keys), len(keys), report

    def add(self, key: Any) -> None:
        """Count a task that is finished, if it is a step."""
        if key in self._keys:
            self._keys.remove(key)
            self._report(1.0 - len(self._keys) / self._n_steps)

    def watched_threads(self) -> AbstractContextManager[Any]:
        """Count the tasks of Dask's threads in a context."""
        from dask.callbacks import Callback

        return Callback(posttask=lambda key, *_: self.add(key))

    def watch(self, client: Any, waiting: dict[Any, Any], result: Any) -> None:
        """Count the tasks of a cluster until the result is there; remove those that are finished from ``waiting``."""
        from distributed import as_completed

        for future in as_completed(list(waiting.values()), loop=client.loop):
            if future.key == result.key:
                break
            del waiting[future.key]
            self.add(future.key)
        if self._keys and result.status == "finished":  # the result may be announced before its last steps
            self._report(1.0)


@contextmanager
def explained() -> Iterator[None]:
    """Explain the loss of workers or of the scheduler in one sentence."""
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        n_workers = error.allowed_failures + 1
        died = "a worker of the Dask cluster has" if n_workers == 1 else f"{n_workers} workers of the Dask cluster have"
        raise RuntimeError(
            f"{died} died while computing the same partition, most likely for lack of memory: make the partitions "
            "smaller (X.rechunk or X.repartition), or give the workers more memory"
        ) from None
    except connection_errors() as error:
        broken = getattr(error, "reason", None) in BROKEN_CONNECTION
        kind = ConnectionLostError if broken else ConnectionError
        raise kind("the Dask scheduler is gone, or the computation was cancelled") from None


def placed(value: Any) -> Any:
    """Send a value to the cluster once, to be used by many tasks.

    It is sent in parts through the scheduler, which keeps them. A worker that needs the value gets it from another
    worker. If all workers that held it have died, it is made from its parts again, which scattered data are not.

    Parameters
    ----------
    value : object
        Anything that can be pickled.

    Returns
    -------
    Delayed or Future
        Argument of a lazy function.
    """
    client = active_client()
    if client is None:
        from dask.delayed import delayed as lazy

        return lazy(value, pure=False, traverse=False)
    import cloudpickle

    pickled = cloudpickle.dumps(value)
    starts = range(0, len(pickled), MESSAGE_BYTES)
    parts = [client.submit(same, pickled[start : start + MESSAGE_BYTES], pure=False) for start in starts]
    return client.submit(from_parts, parts, pure=False)


def placed_each(values: Sequence[Any]) -> list[Any]:
    """Send arrays to the cluster, each to be used by the tasks of one partition.

    Parameters
    ----------
    values : sequence
        Arrays; anything else is returned as it is.

    Returns
    -------
    list
        A Future for each array, or the array itself if there is no client.
    """
    client = active_client()
    if client is None or not values or not isinstance(values[0], np.ndarray):
        return list(values)
    group_size = max(1, MESSAGE_BYTES // max(1, *(value.nbytes for value in values)))
    remaining, futures = iter(values), list[Any]()
    while group := list(islice(remaining, group_size)):
        futures += client.map(same, group, pure=False)
    return futures


def same(value: Any) -> Any:
    """Return the value; a task that holds an input."""
    return value


def from_parts(parts: Sequence[bytes]) -> Any:
    """Unpickle a value that was sent in parts."""
    return pickle.loads(b"".join(parts))


def reduced(nodes: Sequence[Any], merge: Callable[[list[Any]], Any], fan_in: int) -> Any:
    """Merge delayed values in a tree, neighbours first.

    Parameters
    ----------
    nodes : sequence of Delayed
        At least one value, in the order of the rows.
    merge : callable
        Function of a list of at most ``fan_in`` values.
    fan_in : int
        Children of a node of the tree.

    Returns
    -------
    Delayed
        The root of the tree, which is merged from the list of its children even if there is only one.
    """
    lazy = delayed(merge)
    while True:
        nodes = [lazy(list(nodes[start : start + fan_in])) for start in range(0, len(nodes), fan_in)]
        if len(nodes) == 1:
            return nodes[0]
