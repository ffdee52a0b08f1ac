"""Engine for tables in memory (or memory-mapped), with threads over blocks of rows and columns."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs

from ilfs.arrays import Integers
from ilfs.execution.combining import combine, to_each
from ilfs.execution.fold import Fold, Read
from ilfs.execution.merging import MergeTree, merge_parts
from ilfs.execution.partition import dense_strips, leaves, leaves_per_block, row_blocks, sparse_strips
from ilfs.execution.report import Report
from ilfs.execution.threads import QUEUED_PER_THREAD, in_order, one_blas_thread
from ilfs.sources.source import Labelling
from ilfs.sources.tables import DenseSource, SparseSource, TableSource
from ilfs.statistics.block import DenseBlock, SparseBlock
from ilfs.statistics.description import S
from ilfs.statistics.labels import Classes, ManyLabels, RowLabels

MAX_SERIAL_VALUES = 2**18  # values of a table for which starting a second thread does not pay off
MAX_CACHED_LABELS = 2**22  # rows times labellings whose grouping by class is kept in memory (about 100 MB)

Part = tuple[int, int]  # number of the request, first column of the strip


class InMemory(Fold):
    """Engine that reads the blocks of a table in memory in several threads.

    Parameters
    ----------
    source : TableSource
        The table.
    n_jobs : int, optional
        Number of threads, as `joblib` counts them. The result does not depend on it.
    """

    def __init__(self, source: TableSource, n_jobs: int | None = None) -> None:
        self._source, self._n_reads = source, 0
        self.n_features, self.labellings = source.n_features, source.labellings
        n_values = source.to_matrix().nnz if isinstance(source, SparseSource) else source.n_rows * source.n_features
        self._n_threads = effective_n_jobs(n_jobs) if n_values > MAX_SERIAL_VALUES else 1
        # The threads of the pool end when the fold is deleted.
        self._pool = ThreadPoolExecutor(self._n_threads) if self._n_threads > 1 else None
        self._partition: DensePartition | SparsePartition = (
            SparsePartition(source) if isinstance(source, SparseSource) else DensePartition(source, self._n_threads)
        )

    @property
    def all_rows(self) -> Classes:  # type: ignore[override]
        """All rows as one class; few methods ask for it."""
        return self._source.all_rows

    def read(self, reads: Sequence[Read[Any]]) -> Iterator[Any]:
        """Read the rows once and return the statistic of each request.

        Parameters
        ----------
        reads : sequence of Read
            The requests.

        Returns
        -------
        iterator of statistics
            One for each request. Those of chosen columns are computed one at a time: statistics of pairs are large.
        """
        if not isinstance(self._source, SparseSource):
            return self._read(reads)
        requests, parts = combine(reads)
        return to_each(self._read(requests), parts)

    def _read(self, reads: Sequence[Read[Any]]) -> Iterator[Any]:
        """Answer requests in turn."""
        self._n_reads += 1
        report = Report(self._source, self._n_reads, lambda: len(reads))
        whole = [read for read in reads if read.columns is None]
        of_whole = iter(self._read_whole(whole, report) if whole else ())
        # Chosen columns are copied for each request anyway, so nothing is lost by one pass for each.
        for read in reads:
            yield next(of_whole) if read.columns is None else self._read_chosen(read, read.columns, report)

    def _read_whole(self, reads: list[Read[Any]], report: Report) -> list[Any]:
        """Read all columns. A task is one strip of columns of one block of rows."""
        tasks = list(self._partition.strips())

        def work(task: tuple[slice, slice]) -> list[tuple[Part, Any]]:
            block = self._partition.strip(*task)
            return [((i, task[1].start), read.description(block(read.labelling))) for i, read in enumerate(reads)]

        def done() -> Iterator[tuple[Part, Any]]:
            for pairs in self._schedule(work, tasks, QUEUED_PER_THREAD):
                yield from pairs
                report.add(len(reads) / len(tasks))

        parts = merge_parts(done())
        return [_joined(parts, number) for number in range(len(reads))]

    def _read_chosen(self, read: Read[S], columns: Integers, report: Report) -> S:
        """Read chosen columns. A task is one leaf with all of these columns.

        Few tasks are submitted ahead, so that few large statistics wait to be merged.
        """

        def work(rows: slice) -> S:
            return read.description(self._partition.gathered(rows, columns, read.labelling))

        tree: MergeTree[S] = MergeTree(leaves_per_block(columns.size), in_place=True)
        with one_blas_thread():
            for statistic in self._schedule(work, self._partition.leaves(columns.size), ahead=1):
                tree.add(statistic)
                del statistic  # large: do not keep it while waiting for the next one
        result = tree.result()
        report.add(1)
        return type(result).join([result])

    def _schedule(self, work: Any, tasks: Iterable[Any], ahead: int) -> Iterator[Any]:
        """Run tasks in threads; results come in the order of the tasks."""
        if self._pool is None:
            return map(work, tasks)
        return in_order(self._pool, work, tasks, ahead * self._n_threads)


def _joined(parts: dict[Part, Any], number: int) -> Any:
    """Put the strips of one request side by side."""
    strips = [statistic for (of, _), statistic in parts.items() if of == number]
    return type(strips[0]).join(strips)


class DensePartition:
    """Partition of a dense table into blocks of rows, each of them cut into strips of columns.

    All strips of a block are read before the next block, so a memory-mapped file is read front to back.
    """

    def __init__(self, source: DenseSource | TableSource, n_threads: int) -> None:
        assert isinstance(source, DenseSource)
        self._source, self._n_threads = source, n_threads
        self._labels: dict[tuple[int, Labelling], RowLabels] = {}

    def strips(self) -> Iterator[tuple[slice, slice]]:
        """Iterate over the tasks of a pass over all columns: the rows and the columns of each strip."""
        strips = dense_strips(self._source, self._n_threads)
        return ((rows, columns) for rows in row_blocks(self._source.n_rows) for columns in strips)

    def strip(self, rows: slice, columns: slice) -> Any:
        """Return a function that gives the block under a labelling."""
        arrays = self._source.column_arrays(rows, columns)
        X, first = self._source.values(rows, columns) if arrays is None else (arrays, 0)
        last = first + columns.stop - columns.start

        def block(labelling: Labelling) -> DenseBlock:
            labels = self._row_labels(rows, labelling)
            return DenseBlock(X, labels, first, last, columns, first_row=self._source.first_row + rows.start)

        return block

    def leaves(self, n_columns: int) -> Iterator[slice]:
        """Iterate over the tasks of a pass over chosen columns: the rows of each leaf."""
        return (rows for block in row_blocks(self._source.n_rows) for rows in leaves(block, n_columns))

    def gathered(self, rows: slice, columns: Integers, labelling: Labelling) -> DenseBlock:
        """Return a block of chosen columns, always a copy."""
        values = self._source.gather(rows, columns)
        labels = self._source.block_labels(labelling, rows)
        whole, first_row = slice(0, columns.size), self._source.first_row + rows.start
        return DenseBlock(values, labels, 0, columns.size, whole, is_own=True, first_row=first_row)

    def _row_labels(self, rows: slice, labelling: Labelling) -> RowLabels:
        """Return the labels of a block, cached for its other strips and for the next pass if memory allows.

        Two threads may compute the same labels at once: both results are equal.
        """
        key = (rows.start, labelling)
        labels = self._labels.get(key)
        if labels is None:
            while self._n_cached() * (rows.stop - rows.start) > MAX_CACHED_LABELS:
                self._labels.pop(next(iter(self._labels)), None)
            labels = self._labels[key] = self._source.block_labels(labelling, rows)
        return labels

    def _n_cached(self) -> int:
        """Return the number of labellings of blocks that are cached."""
        return sum(len(key[1]) if isinstance(key[1], tuple) else 1 for key in list(self._labels))


class SparsePartition:
    """Partition of a sparse table into strips of compressed columns, with all rows in one block."""

    def __init__(self, source: SparseSource) -> None:
        self._source = source
        self._rows = slice(0, source.n_rows)
        self._block = SparseBlock.from_matrix(source.to_matrix(), source.row_labels(None), source.first_row)
        self._labels: dict[Labelling, RowLabels] = {}

    def strips(self) -> Iterator[tuple[slice, slice]]:
        """Iterate over the tasks of a pass over all columns."""
        return ((self._rows, columns) for columns in sparse_strips(self._block.n_columns, self._block.data.size))

    def strip(self, rows: slice, columns: slice) -> Any:  # noqa: ARG002
        """Return a function that gives the block under a labelling; nothing is copied."""
        block = self._block.strip(columns)
        return lambda labelling: block.with_labels(self._row_labels(labelling))

    def leaves(self, n_columns: int) -> Iterator[slice]:  # noqa: ARG002
        """Iterate over the tasks of a pass over chosen columns."""
        return iter([self._rows])

    def gathered(self, rows: slice, columns: Integers, labelling: Labelling) -> SparseBlock:  # noqa: ARG002
        """Return a block of chosen columns."""
        return self._block.take(columns).with_labels(self._row_labels(labelling))

    def _row_labels(self, labelling: Labelling) -> RowLabels:
        if labelling not in self._labels:
            labels = self._source.row_labels(labelling)
            self._labels[labelling] = labels.narrowed() if isinstance(labels, ManyLabels) else labels
        return self._labels[labelling]
