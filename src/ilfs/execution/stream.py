"""Engine for rows that are read in blocks, one after the other: files and other tables larger than memory.

While the statistics of a block are computed in threads, the next block is read. At most two blocks are in memory.
Blocks are as high as those of a table in memory, are cut into the same leaves and merged along the same tree, so the
result is the same to the last bit.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from ilfs.arrays import Integers
from ilfs.execution.blockwise import all_columns, dense_block, gathered_block, places_of, sparse_block
from ilfs.execution.fold import Read, SourceFold
from ilfs.execution.merging import MergeTree, merged_in_place
from ilfs.execution.partition import block_strips, leaves
from ilfs.execution.threads import blocks, in_order, one_blas_thread
from ilfs.sources.source import ReadProgress, RowBlock, Source
from ilfs.statistics.description import S
from ilfs.statistics.labels import RowLabels

T = TypeVar("T")
Task = Callable[[], Any]


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

        If the source can read some of its columns quickly, all columns are read strip by strip, each from the first row
        to the last: a strip takes little memory, however wide the table is.
        """
        self._n_reads += 1
        parts: dict[int, list[Any]] = {number: [] for number in range(len(reads))}
        passes = list(self._passes(reads))
        for place, (numbers, columns, first_column) in enumerate(passes):
            report = Report(self._source, self._n_reads, place, len(passes))
            found = self._read_columns([reads[number] for number in numbers], columns, first_column, report)
            for number, statistic in zip(numbers, found, strict=True):
                parts[number].append(statistic)
        return [type(strips[0]).join(strips) for strips in parts.values()]

    def _passes(self, reads: Sequence[Read[Any]]) -> Iterator[tuple[list[int], Integers | None, int]]:
        """Iterate over the passes of a read: numbers of the requests, columns, and the first of them."""
        width = getattr(self._source, "strip_columns", None)
        if width is None:
            yield list(range(len(reads))), all_columns(reads), 0
            return
        whole = [number for number, read in enumerate(reads) if read.columns is None]
        chosen = [number for number, read in enumerate(reads) if read.columns is not None]
        for strip in blocks(self.n_features, width) if whole else ():
            yield whole, np.arange(strip.start, strip.stop), strip.start
        if chosen:
            yield chosen, all_columns([reads[number] for number in chosen]), 0

    def _read_columns(
        self, reads: Sequence[Read[Any]], columns: Integers | None, first_column: int, report: "Report"
    ) -> list[Any]:
        """Read some columns from the first row to the last."""
        trees: list[dict[int, MergeTree[Any]]] = [{} for _ in reads]
        with (
            one_blas_thread(),
            ThreadPoolExecutor(self._n_threads) as pool,
            one_ahead(self._source.blocks(columns)) as row_blocks,
        ):
            for block in row_blocks:
                self._read_block(reads, block, columns, first_column, trees, pool)
                report.add(block)
                del block  # before the next one is taken: two blocks are in memory, not three
        return [joined(strips) for strips in trees]

    def _read_block(
        self,
        reads: Sequence[Read[Any]],
        block: RowBlock,
        present: Integers | None,
        first_column: int,
        trees: list[dict[int, MergeTree[Any]]],
        pool: ThreadPoolExecutor,
    ) -> None:
        """Compute the statistics of one block in threads, and merge them in the order of rows and columns."""
        tasks = [
            (number, *task)
            for number, read in enumerate(reads)
            for task in block_tasks(read, block, present, first_column, self._n_threads)
        ]
        results = in_order(pool, lambda task: task[2](), tasks, 2 * self._n_threads)
        merged: dict[tuple[int, int], Any] = {}
        for (number, part, _), statistic in zip(tasks, results, strict=True):
            before = merged.get((number, part))
            merged[number, part] = statistic if before is None else merged_in_place(before, statistic)
        for (number, part), statistic in merged.items():
            if part not in trees[number]:
                trees[number][part] = MergeTree(in_place=True)
            trees[number][part].add(statistic)


def block_tasks(
    read: Read[Any], block: RowBlock, present: Integers | None, first_column: int, n_threads: int
) -> Iterator[tuple[int, Task]]:
    """Cut the work of a request on one block into tasks, each with the first column of its strip.

    All columns are cut into strips, chosen columns into leaves: groups of rows, whose statistics are merged first to
    last.
    """
    labels = block.row_labels(read.labelling)
    labels.by_class  # noqa: B018  computed here once, not by every thread
    if block.is_sparse:
        whole = sparse_block(block, labels, first_column)
        if read.columns is not None:
            whole = whole.take(places_of(read, present))
        yield 0, lambda: read.description(whole)
    elif read.columns is None:
        for columns in block_strips(block.X, n_threads):
            yield columns.start, partial(one_strip, read, block, labels, columns, first_column)
    else:
        places = places_of(read, present)
        for rows in leaves(slice(0, len(block.X)), places.size):
            yield 0, partial(one_leaf, read, block, labels, rows, places)


def one_strip(read: Read[S], block: RowBlock, labels: RowLabels, columns: slice, first_column: int) -> S:
    """Compute the statistic of neighbouring columns of a block."""
    return read.description(dense_block(block, labels, columns, first_column))


def one_leaf(read: Read[S], block: RowBlock, labels: RowLabels, rows: slice, places: Integers) -> S:
    """Compute the statistic of chosen columns of some rows of a block."""
    return read.description(gathered_block(block, labels, rows, places))


def joined(strips: dict[int, MergeTree[Any]]) -> Any:
    """Merge the rows of every strip, and put the strips side by side."""
    if not strips:
        raise ValueError("a statistic needs at least one block of rows, got none")
    merged = [strips.pop(part).result() for part in sorted(strips)]
    return type(merged[0]).join(merged)


class Report:
    """Progress of a read, passed on to the function that the source has for it.

    Parameters
    ----------
    source : Source
        Its attribute ``progress``, if there is one, is called.
    number : int
        Number of the read.
    place, n_passes : int
        Number of this pass over the rows, from 0 on, and number of passes of this read.
    """

    def __init__(self, source: Source, number: int, place: int, n_passes: int) -> None:
        self._call: Callable[[ReadProgress], None] | None = getattr(source, "progress", None)
        self._number, self._place, self._n_passes = number, place, n_passes
        self._n_rows = float(source.all_rows.rows.sum()) if self._call is not None else 0.0
        self._done = 0

    def add(self, block: RowBlock) -> None:
        """Report that a block was read."""
        if self._call is not None:
            self._done += block.X.shape[0]
            fraction = (self._place + min(self._done / self._n_rows, 1.0)) / self._n_passes
            self._call(ReadProgress(self._number, fraction))


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
