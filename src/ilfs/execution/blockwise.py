"""Statistics of one block of rows of a source: the work that an engine sends to its workers.

An engine over any source needs one method::

    def read(self, reads):
        blocks = self.source.blocks(all_columns(reads))
        return merge_blocks(read_block(reads, block) for block in blocks)

The calls of `read_block` may run in other processes, because requests and blocks can be pickled.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from ilfs.arrays import Integers, read_only
from ilfs.execution.fold import Read
from ilfs.execution.merging import merge_parts
from ilfs.execution.partition import leaves
from ilfs.sources.source import RowBlock
from ilfs.statistics.block import Block, ColumnArrays, DenseBlock, SparseBlock
from ilfs.statistics.labels import RowLabels


def all_columns(reads: Sequence[Read[Any]]) -> Integers | None:
    """Return the columns that any of the requests needs, sorted; None for all of them."""
    chosen = [read.columns for read in reads if read.columns is not None]
    return np.unique(np.concatenate(chosen)) if len(chosen) == len(reads) and chosen else None


def read_block(reads: Sequence[Read[Any]], block: RowBlock) -> list[Any]:
    """Compute the statistic of each request over one block.

    Parameters
    ----------
    reads : sequence of Read
        The requests.
    block : RowBlock
        Rows with all columns, or with those of `all_columns`.

    Returns
    -------
    list of statistics
        One for each request.
    """
    present = all_columns(reads)
    return [_read_one(read, block, present) for read in reads]


def _read_one(read: Read[Any], block: RowBlock, present: Integers | None) -> Any:
    labels = block.row_labels(read.labelling)
    # Leaves of a block are merged first to last, as `MergeTree` does.
    return reduce(lambda merged, leaf: merged.merge(leaf), map(read.description, _blocks(read, block, labels, present)))


def _blocks(read: Read[Any], block: RowBlock, labels: RowLabels, present: Integers | None) -> Iterator[Block]:
    """Iterate over the leaves of a request for some columns, or give the whole block."""
    if block.is_sparse:
        whole = sparse_block(block, labels)
        yield whole if read.columns is None else whole.take(places_of(read, present))
    elif read.columns is None:
        yield dense_block(block, labels, slice(0, block.X.shape[1]))
    else:
        places = places_of(read, present)
        for rows in leaves(slice(0, len(block.X)), places.size):
            yield gathered_block(block, labels, rows, places)


def places_of(read: Read[Any], present: Integers | None) -> Integers:
    """Return the positions of the requested columns among those that a block holds."""
    assert read.columns is not None
    return read.columns if present is None else np.searchsorted(present, read.columns)


def dense_block(block: RowBlock, labels: RowLabels, columns: slice, first_column: int = 0) -> DenseBlock:
    """Make a block of neighbouring columns of dense rows; it is copied only if its layout or type requires it.

    Parameters
    ----------
    block : RowBlock
        The rows.
    labels : RowLabels
        Their classes.
    columns : slice
        Columns of ``block``.
    first_column : int, default=0
        Position of the first column of ``block`` in the whole table.

    Returns
    -------
    DenseBlock
        The columns.
    """
    place, n_columns = slice(first_column + columns.start, first_column + columns.stop), columns.stop - columns.start
    if isinstance(block.X, ColumnArrays):
        return DenseBlock(block.X, labels, columns.start, columns.stop, place, first_row=block.first_row)
    kept = np.float32 if block.X.dtype == np.float32 else np.float64
    is_contiguous = block.X.flags.c_contiguous or block.X.strides[0] == block.X.itemsize  # by row, or by column
    if is_contiguous and block.X.dtype == kept:
        return DenseBlock(read_only(block.X), labels, columns.start, columns.stop, place, first_row=block.first_row)
    values = read_only(np.ascontiguousarray(block.X[:, columns], dtype=kept))
    return DenseBlock(values, labels, 0, n_columns, place, first_row=block.first_row)


def gathered_block(block: RowBlock, labels: RowLabels, rows: slice, places: Integers) -> DenseBlock:
    """Copy chosen columns of some dense rows."""
    arrays = columns_in_place(block.X)
    if arrays is None:
        values = np.ascontiguousarray(block.X[rows].take(places, axis=1), dtype=np.float64)
    else:
        values = arrays.take(places).take_rows(rows).to_rows(np.float64)
    whole = slice(0, places.size)
    return DenseBlock(values, labels.take(rows), 0, places.size, whole, True, block.first_row + rows.start)


def columns_in_place(X: Any) -> ColumnArrays | None:
    """Return the columns of dense rows if each of them is contiguous, None for rows in C order."""
    if isinstance(X, ColumnArrays):
        return X
    return None if X.flags.c_contiguous else ColumnArrays.from_array(X)


def sparse_block(block: RowBlock, labels: RowLabels, first_column: int = 0) -> SparseBlock:
    """Make a block of all columns of sparse rows; ``first_column`` is their position in the whole table."""
    place = slice(first_column, first_column + block.X.shape[1])
    return replace(SparseBlock.from_matrix(block.X, labels, block.first_row), columns=place)


def merge_blocks(statistics: Iterable[Sequence[Any]]) -> list[Any]:
    """Merge the results of `read_block` for all blocks, in the order of the rows."""
    merged = merge_parts((part, statistic) for block in statistics for part, statistic in enumerate(block))
    return [type(merged[part]).join([merged[part]]) for part in sorted(merged)]
