"""Engine for rows that are read in blocks, one after the other: files and other tables larger than memory.

While the statistics of a block are computed in threads, the next block is read. At most two blocks are in memory.
Blocks are as high as those of a table in memory, are cut into the same leaves and merged along the same tree, so the
result is the same to the last bit.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import effective_n_jobs

from ilfs.arrays import Integers
from ilfs.execution.blockwise import all_columns, dense_block, gathered_block, places_of, sparse_block
from ilfs.execution.combining import combine, to_each
from ilfs.execution.fold import Read, SourceFold
from ilfs.execution.merging import MergeTree, merged_in_place
from ilfs.execution.partition import block_strips, leaves
from ilfs.execution.report import Report
from ilfs.execution.threads import blocks, in_order, one_blas_thread
from ilfs.memory import return_free_memory
from ilfs.sources.source import RowBlock, Source
from ilfs.statistics.description import S
from ilfs.statistics.labels import RowLabels

T = TypeVar("T")
Task = Callable[[], Any]
Trees = defaultdict[int, MergeTree[Any]]  # of one request, by the number of the first column


class Strip(NamedTuple):
    """Columns that are read together: their indices (None for all), position of the first one, and number."""

    columns: Integers | None
    first_column: int
    n_columns: int


class Streamed(SourceFold):
    """Engine that reads the blocks of a source one after the other, the next one in advance.

    Parameters
    ----------
    source : Source
        Rows with their classes.
    n_jobs : int, optional
        Number of threads that compute, as `joblib` counts them; reading takes one more. The result does not depend on
        it.
    """

    def __init__(self, source: Source, n_jobs: int | None = None) -> None:
        super().__init__(source)
        self._n_threads, self._n_reads = effective_n_jobs(n_jobs), 0

    def read(self, reads: Sequence[Read[Any]]) -> list[Any]:
        """Read the rows once and return the statistic of each request.

        If the source can read some of its columns quickly, all columns are read in strips: a strip takes little memory,
        however wide the table is.
        """
        if not self._source.is_sparse:
            return self._read(reads)
        requests, parts = combine(reads)
        return list(to_each(self._read(requests), parts))

    def _read(self, reads: Sequence[Read[Any]]) -> list[Any]:
        """Answer requests in turn."""
        self._n_reads += 1
        return_free_memory()  # of the blocks of the read before, which had other sizes
        found: dict[int, Any] = {}
        passes = list(self._passes(reads))
        n_columns = sum(strip.n_columns for _, strips in passes for strip in strips)
        report = Report(self._source, self._n_reads, lambda: float(self._source.all_rows.rows.sum()) * n_columns)
        for numbers, strips in passes:
            statistics = self._read_strips([reads[number] for number in numbers], strips, report)
            found |= zip(numbers, statistics, strict=True)
        return [found[number] for number in range(len(reads))]

    def _passes(self, reads: Sequence[Read[Any]]) -> Iterator[tuple[list[int], list[Strip]]]:
        """Iterate over the passes of a read: numbers of the requests, and the strips that they need."""
        width = getattr(self._source, "strip_columns", None)
        if width is None:
            yield list(range(len(reads))), [Strip(all_columns(reads), 0, self.n_features)]
            return
        whole = [number for number, read in enumerate(reads) if read.columns is None]
        chosen = [number for number, read in enumerate(reads) if read.columns is not None]
        if whole:
            strips = blocks(self.n_features, width)
            yield whole, [Strip(np.arange(one.start, one.stop), one.start, one.stop - one.start) for one in strips]
        if chosen:
            columns = all_columns([reads[number] for number in chosen])
            yield chosen, [Strip(columns, 0, self.n_features if columns is None else columns.size)]

    def _read_strips(self, reads: Sequence[Read[Any]], strips: Sequence[Strip], report: Report) -> list[Any]:
        """Read strips of columns from the first row to the last, and return the statistic of each request."""
        trees: list[Trees] = [defaultdict(partial(MergeTree, in_place=True)) for _ in reads]
        with (
            one_blas_thread(),
            ThreadPoolExecutor(self._n_threads) as pool,
            one_ahead(self._source.strip_blocks([strip.columns for strip in strips])) as row_blocks,
        ):
            for number, block in row_blocks:
                self._read_block(reads, block, strips[number], trees, pool)
                report.add(block.X.shape[0] * strips[number].n_columns)
                del block  # before the next one is taken: two blocks are in memory, not three
        return [joined(of_request) for of_request in trees]

    def _read_block(
        self,
        reads: Sequence[Read[Any]],
        block: RowBlock,
        strip: Strip,
        trees: list[Trees],
        pool: ThreadPoolExecutor,
    ) -> None:
        """Compute the statistics of one block in threads, and merge them in the order of rows and columns."""
        tasks = [
            (number, *task)
            for number, read in enumerate(reads)
            for task in block_tasks(read, block, strip, self._n_threads)
        ]
        results = in_order(pool, lambda task: task[2](), tasks, self._n_threads)
        merged: dict[tuple[int, int], Any] = {}
        for (number, part, _), statistic in zip(tasks, results, strict=True):
            before = merged.get((number, part))
            merged[number, part] = statistic if before is None else merged_in_place(before, statistic)
        for (number, part), statistic in merged.items():
            trees[number][part].add(statistic)


def block_tasks(read: Read[Any], block: RowBlock, strip: Strip, n_threads: int) -> Iterator[tuple[int, Task]]:
    """Cut the work of a request on one block into tasks, each with the number of its first column.

    All columns are cut into strips, chosen columns into leaves: groups of rows, whose statistics are merged first to
    last.
    """
    labels = block.row_labels(read.labelling)
    labels.by_class  # noqa: B018  computed here once, not by every thread
    if block.is_sparse:
        whole = sparse_block(block, labels, strip.first_column)
        if read.columns is not None:
            whole = whole.take(places_of(read, strip.columns))
        yield strip.first_column, lambda: read.description(whole)
    elif read.columns is None:
        for columns in block_strips(block.X, n_threads):
            first_column = strip.first_column
            yield first_column + columns.start, partial(one_strip, read, block, labels, columns, first_column)
    else:
        places = places_of(read, strip.columns)
        for rows in leaves(slice(0, len(block.X)), places.size):
            yield 0, partial(one_leaf, read, block, labels, rows, places)


def one_strip(read: Read[S], block: RowBlock, labels: RowLabels, columns: slice, first_column: int) -> S:
    """Compute the statistic of neighbouring columns of a block."""
    return read.description(dense_block(block, labels, columns, first_column))


def one_leaf(read: Read[S], block: RowBlock, labels: RowLabels, rows: slice, places: Integers) -> S:
    """Compute the statistic of chosen columns of some rows of a block."""
    return read.description(gathered_block(block, labels, rows, places))


def joined(trees: Trees) -> Any:
    """Merge the rows of all columns, and put the columns side by side."""
    if not trees:
        raise ValueError("a statistic needs at least one block of rows, got none")
    merged = [trees.pop(first_column).result() for first_column in sorted(trees)]
    return type(merged[0]).join(merged)


class one_ahead(Iterator[T]):  # noqa: N801  used as a context manager
    """Iterate over items; while the caller works on one of them, a thread gets the next.

    Leaving the context waits until that thread has finished its item, and closes the iterator.

    Parameters
    ----------
    items : iterator
        May take long for each item.

    Examples
    --------
    >>> from ilfs.execution.stream import one_ahead
    >>> with one_ahead(iter("abc")) as letters:
    ...     "".join(letters)
    'abc'
    """

    def __init__(self, items: Iterator[T]) -> None:
        self._items, self._reader = items, ThreadPoolExecutor(1, thread_name_prefix="ilfs-reader")
        self._next = self._reader.submit(self._take)

    def _take(self) -> tuple[bool, Any]:
        for item in self._items:
            return True, item
        return False, None

    def __iter__(self) -> "one_ahead[T]":
        return self

    def __next__(self) -> T:
        there, item = self._next.result()
        if not there:
            raise StopIteration
        self._next = self._reader.submit(self._take)
        return item  # type: ignore[no-any-return]

    def __enter__(self) -> "one_ahead[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self._next.cancel()
        self._reader.shutdown(wait=True, cancel_futures=True)
        close = getattr(self._items, "close", None)
        if close is not None:
            close()
