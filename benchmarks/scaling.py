"""Predict the time of ILFS() on a cluster from measured rates, and simulate the reduction over its workers.

    python benchmarks/scaling.py --parquet FOLDER   # rates measured here, reading a folder of benchmarks/stream.py
    python benchmarks/scaling.py --read-mb 300      # another rate of reading, in megabytes per second and core

A read of all rows has three parts. Every worker reads and counts its own blocks. Meanwhile the scheduler hands out the
tasks, one after the other. At the end the statistics of the workers are merged along a tree whose nodes have eight
children: a node receives the statistics of its children over its network connection, first to last, and merges them.
The simulation follows this for every worker, with workers that take unequal time.

What it leaves out: failures, other users of disks and network, and the time to start the workers.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measure import seconds

import ilfs
from ilfs.execution.merging import FAN_IN
from ilfs.statistics import Moments

TERABYTE, MEGABYTE = 1e12, 1e6
N_TASKS = 20_000


@dataclass(frozen=True)
class Rates:
    """Rates of one worker with one core.

    Attributes
    ----------
    read_mb : float
        Megabytes of values that are read and counted in a second.
    network_mb, latency : float
        Megabytes per second of a connection, and seconds until a message arrives.
    merge_mb : float
        Megabytes of statistics that are merged in a second.
    task_seconds : float
        Time of the scheduler for a task.
    partition_mb : float
        Size of a partition, which is one task.
    spread : float
        Standard deviation of the logarithm of the time of a worker.
    """

    read_mb: float
    network_mb: float
    latency: float
    merge_mb: float
    task_seconds: float
    partition_mb: float
    spread: float


def measured_read_mb(folder):
    """Return the megabytes of values that one core reads and counts in a second, over the two passes of plain ILFS."""
    small = np.random.default_rng(0).standard_normal((200, 20)).astype(np.float32)
    selector = ilfs.ILFS(redundancy=None, n_jobs=1).fit(small, np.arange(200) % 2)  # loads the kernels
    source = ilfs.read(Path(folder), target="y", memory_limit="500MB")
    start = time.process_time()
    selector.fit(source)
    return 2 * source.reader.n_bytes / MEGABYTE / (time.process_time() - start)


def measured_merge_mb():
    """Return the megabytes of moments that are merged in a second: 100,000 features, 2 classes."""
    X, y = np.random.default_rng(0).standard_normal((20, 100_000)), np.arange(20) % 2
    moments = ilfs.execution.fold_of(ilfs.sources.table_source(X, y))(Moments())
    n_bytes = moments.count.nbytes + moments.mean.nbytes + moments.scatter.nbytes
    return n_bytes / MEGABYTE / np.median([seconds(lambda: moments.merge(moments)) for _ in range(9)])


def measured_task_seconds():
    """Return the seconds of Dask's scheduler for a task that does nothing, on workers of this computer."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.gather(client.map(abs, range(100)))
        return seconds(lambda: client.gather(client.map(abs, range(N_TASKS)))) / N_TASKS


def statistics_mb(n_features, n_classes, n_candidates):
    """Return the megabytes of the statistics of the three reads: moments, token counts, products."""
    return [8 * n / 1e6 for n in (3 * n_classes * n_features, 5 * n_features, n_candidates**2)]


def reduction(ready, megabytes, rates):
    """Return the time at which the root of the tree has merged all workers.

    Parameters
    ----------
    ready : ndarray of shape (n_workers,)
        Time at which each worker has its own statistic.
    megabytes : float
        Size of a statistic.
    """
    step = rates.latency + megabytes / rates.network_mb + megabytes / rates.merge_mb
    while ready.size > 1:
        padding = -ready.size % FAN_IN
        children = np.append(ready, np.full(padding, -np.inf)).reshape(-1, FAN_IN)
        done = children[:, 0]  # the first child is at its own worker: nothing is sent
        for j in range(1, FAN_IN):
            later = np.maximum(done, children[:, j]) + step
            done = np.where(np.isneginf(children[:, j]), done, later)
        ready = done
    return float(ready[0])


def one_read(data_mb, megabytes, n_workers, rates, rng):
    """Return the seconds of one read: work, waiting for the scheduler, and the reduction after the last worker."""
    usual = data_mb / n_workers / rates.read_mb
    ready = usual * np.exp(rng.normal(-(rates.spread**2) / 2, rates.spread, n_workers))
    handed_out = data_mb / rates.partition_mb * rates.task_seconds
    ready = np.maximum(ready, handed_out)
    end = reduction(ready, megabytes, rates)
    return usual, handed_out, end - ready.max(), end


def show(data_bytes, n_features, rates, n_candidates=1000, n_classes=2):
    print(f"\n{data_bytes / TERABYTE:g} TB, {n_features:,} columns of float32, {n_classes} classes\n")
    print("| workers | hours in all | read and count | hand out tasks | merge after the last worker, worst read |")
    print("|---|---|---|---|---|")
    for n_workers in (1, 10, 100, 1000, 10_000):
        rng = np.random.default_rng(0)
        candidates = min(n_candidates, n_features)
        sizes = statistics_mb(n_features, n_classes, candidates)
        fractions = (1.0, 1.0, candidates / n_features)  # the last read is of the candidates only
        reads = [
            one_read(data_bytes / 1e6 * fraction, megabytes, n_workers, rates, rng)
            for megabytes, fraction in zip(sizes, fractions, strict=True)
        ]
        work, scheduler, _, total = np.sum(reads, axis=0)
        print(
            f"| {n_workers:,} | {total / 3600:.2f} | {work / 3600:.2f} h | {scheduler / 60:.1f} min "
            f"| {max(read[2] for read in reads):.2f} s |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--read-mb", type=float, default=300.0, help="MB per second and core, read and counted")
    parser.add_argument("--network-mb", type=float, default=1000.0, help="MB per second of a connection (10 Gbit/s)")
    parser.add_argument("--latency", type=float, default=0.005, help="seconds until a message arrives")
    parser.add_argument("--merge-mb", type=float, default=1500.0, help="MB of statistics merged per second")
    parser.add_argument("--task-seconds", type=float, default=0.0005, help="seconds of the scheduler for a task")
    parser.add_argument("--partition-mb", type=float, default=256.0, help="MB of a partition")
    parser.add_argument("--spread", type=float, default=0.1, help="spread of the workers' times (of the logarithm)")
    parser.add_argument("--parquet", help="measure the rates of reading, merging and scheduling, with these files")
    options = vars(parser.parse_args())
    folder = options.pop("parquet")
    if folder is not None:
        measured = {
            "read_mb": measured_read_mb(folder),
            "merge_mb": measured_merge_mb(),
            "task_seconds": measured_task_seconds(),
        }
        print("measured:", ", ".join(f"{name} {value:.3g}" for name, value in measured.items()))
        options |= measured
    rates = Rates(**options)
    for data_bytes in (TERABYTE, 100 * TERABYTE):
        for n_features in (2000, 100_000):
            show(data_bytes, n_features, rates)


if __name__ == "__main__":
    main()
