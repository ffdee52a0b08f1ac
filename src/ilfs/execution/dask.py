"""Engine for tables of Dask: partitions are read by the workers that hold them, and only statistics are sent.

A task opens its partition as a table in memory and reads it with the engine for such tables, in one thread. So it is
cut into blocks of the fixed height, which are merged in order. Then partitions are merged along the fixed tree
(`ilfs.execution.merging`). Partitions of 8192 rows, or of 8, 64, ... times as many, give the bits of the whole table in
memory; others may change the last digits of a score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from joblib import effective_n_jobs

from ilfs.arrays import Integers
from ilfs.cached import cached_property
from ilfs.execution.blockwise import all_columns, places_of
from ilfs.execution.fold import Read, SourceFold
from ilfs.execution.memory import InMemory
from ilfs.execution.merging import FAN_IN, merged_in_place
from ilfs.sources.cluster import (
    ConnectionLostError,
    compute,
    connected,
    delayed,
    has_reconnected,
    placed,
    placed_each,
    reduced,
)
from ilfs.sources.dask import DaskSource
from ilfs.sources.partitions import PartitionReader

__all__ = ["OnDask", "connected"]


class OnDask(SourceFold):
    """Engine that reads partitions on the workers of a Dask cluster, or in threads if there is no client.

    Requests may hold large arrays, such as the class means of all features. They are sent to the cluster once for each
    read, labels and weights in memory once for each engine.

    Parameters
    ----------
    source : DaskSource
        The partitions.
    n_jobs : int, optional
        Number of threads if there is no client; Dask's default if it is None.
    """

    _source: DaskSource

    def __init__(self, source: DaskSource, n_jobs: int | None = None) -> None:
        super().__init__(source)
        self._n_threads, self._n_reads = None if n_jobs is None else effective_n_jobs(n_jobs), 0

    @cached_property
    def _labels_and_weights(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Labels, weights and permuted labels of each partition, on the cluster."""
        labels, weights = self._source.labels_and_weights()
        return placed_each(labels), placed_each(weights), placed_each(self._source.permuted_codes())

    def read(self, reads: Sequence[Read[Any]]) -> list[Any]:
        """Read the rows once and return the statistic of each request.

        If the connection to the scheduler breaks and is made again, the read starts again, once.
        """
        self._n_reads += 1
        try:
            return self._submit(reads)
        except ConnectionLostError:
            if not has_reconnected():
                raise
        vars(self).pop("_labels_and_weights", None)  # they were lost with the connection
        return self._submit(reads)

    def _submit(self, reads: Sequence[Read[Any]]) -> list[Any]:
        """Submit the tasks of one read and wait for the merged statistics."""
        columns = self._projection(reads)
        job = placed(PartitionJob(self._source.reader(columns), [renumbered(read, columns) for read in reads]))
        read_partition, inputs = delayed(read_one_partition), self._source.inputs(columns, with_labels=False)
        parts = [
            read_partition(job, one.part, y, weight, permuted, one.first_row, one.number)
            for one, y, weight, permuted in zip(inputs, *self._labels_and_weights, strict=True)
        ]
        merged = reduced(parts, merge_partitions, FAN_IN)
        statistics = compute(merged, self._n_threads, steps=parts, report=self._source.reporter(self._n_reads))
        return [type(statistic).join([statistic]) for statistic in statistics]

    def _projection(self, reads: Sequence[Read[Any]]) -> Integers | None:
        """Return the columns that tasks take from their partitions; None for all of them."""
        columns = all_columns(reads)
        return None if columns is None or columns.size == self.n_features else columns


@dataclass(frozen=True)
class PartitionJob:
    """Requests, and the reader of the partitions that answers them."""

    reader: PartitionReader
    reads: list[Read[Any]]


def renumbered(read: Read[Any], present: Integers | None) -> Read[Any]:
    """Replace the columns of a request by their places among those that are present."""
    return read if read.columns is None else replace(read, columns=places_of(read, present))


def read_one_partition(job: PartitionJob, *inputs: Any) -> list[Any] | None:
    """Compute the statistic of each request over a computed partition; None if it has no rows."""
    table = job.reader.open(*inputs)
    return None if table is None else list(InMemory(table, n_jobs=1).read(job.reads))


def merge_partitions(parts: list[list[Any] | None]) -> list[Any] | None:
    """Merge the statistics of neighbouring partitions, first to last."""
    present = [part for part in parts if part is not None]
    return [merged(list(one)) for one in zip(*present, strict=True)] if present else None


def merged(statistics: list[Any]) -> Any:
    """Merge statistics, none of which is overwritten: Dask may need them again if a worker dies."""
    if len(statistics) == 1:
        return statistics[0]
    first, second, *others = statistics
    result = first.merge(second)
    for other in others:
        result = merged_in_place(result, other)
    return result
