"""Time fits on Dask workers: the speed-up from one worker to two, and the engines side by side.

    python benchmarks/dask_speedup.py                               # 262,144 x 500, median of 5
    python benchmarks/dask_speedup.py --rows 65536 --repeats 1      # a short run

Workers are processes with one thread each. The partitions are made by the workers and persisted there, so only
statistics are sent. All fits take turns, so that other load slows all of them alike. Every engine must give the same
order of features.
"""

import argparse
from contextlib import ExitStack

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from measure import take_turns

from ilfs import ILFS, FisherScore
from ilfs.sources import Batch, BatchReader, BatchSource
from ilfs.sources.tables import BLOCK_ROWS

N_WORKERS = (1, 2)
SELECTORS = {"FisherScore()": FisherScore(), "ILFS(redundancy=None)": ILFS(redundancy=None), "ILFS()": ILFS()}


class ArrayReader(BatchReader):
    """Reader of an array in memory, for the streaming engine."""

    has_labels = True

    def __init__(self, X, y):
        self.X, self.y, self.n_features, self.n_rows, self.dtype = X, y, X.shape[1], len(X), X.dtype

    def batches(self, columns, max_rows):
        for start in range(0, len(self.X), max_rows):
            rows = slice(start, start + max_rows)
            X = self.X[rows] if columns is None else self.X[rows][:, columns]
            yield Batch(X, self.y[rows], None, len(X))


def made_chunk(block_info=None):
    """Make the rows of one chunk on a worker; some columns differ between the classes."""
    (start, stop), (_, width) = block_info[None]["array-location"]
    X = np.random.default_rng(start).normal(size=(stop - start, width))
    X[:, : width // 10] += 0.1 * (np.arange(start, stop) % 2)[:, None]
    return X


def chunks(rows, columns):
    """Return the table as a Dask array with chunks of one block."""
    heights = tuple(min(BLOCK_ROWS, rows - start) for start in range(0, rows, BLOCK_ROWS))
    return da.map_blocks(made_chunk, chunks=(heights, (columns,)), dtype=float, meta=np.empty((0, 0)))


def workers(n_workers, options, stack):
    """Start a cluster and persist the table on its workers."""
    cluster = stack.enter_context(
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    )
    client = stack.enter_context(Client(cluster, set_as_default=False))
    with client.as_current():
        table = chunks(options.rows, options.columns).persist()
        wait(table)
    return client, table


def fits(selector, clusters, X, y, orders):
    """Return functions that fit on each engine and store the order of the features."""

    def on_workers(n_workers):
        client, table = clusters[n_workers]
        with client.as_current():
            orders[n_workers] = selector.fit(table, y).order_

    def here(name, *table):
        orders[name] = selector.fit(*table).order_

    functions = {f"Dask, {n} worker{'s' * (n > 1)}": lambda n=n: on_workers(n) for n in clusters}
    functions["in memory"] = lambda: here("in memory", X, y)
    functions["streamed"] = lambda: here("streamed", BatchSource(ArrayReader(X, y)))
    return functions


def show(options):
    """Print the seconds of every engine and the speed-up of two workers."""
    y = np.arange(options.rows) % 2
    with ExitStack() as stack:
        clusters = {n: workers(n, options, stack) for n in N_WORKERS}
        X = chunks(options.rows, options.columns).compute()
        names = list(fits(None, clusters, X, y, {}))
        print(f"\n| {options.rows:,} x {options.columns:,}, seconds | {' | '.join(names)} | speed-up |")
        print("|---" * (len(names) + 2) + "|")
        for title, selector in SELECTORS.items():
            orders = {}
            times, _ = take_turns(fits(selector, clusters, X, y, orders), options.repeats)
            assert len({tuple(order) for order in orders.values()}) == 1, f"orders of {title} differ"
            speed_up = times[names[0]] / times[names[1]]
            print(f"| {title} | {' | '.join(f'{times[name]:.2f}' for name in names)} | {speed_up:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=32 * BLOCK_ROWS)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    show(parser.parse_args())
