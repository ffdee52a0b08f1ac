"""Statistics of one block of rows of a source: the work that an engine sends to its workers.

An engine over any source needs one method::

    def read(self, reads):
        blocks = self.source.blocks(all_columns(reads))
        return merge_blocks(read_block(reads, block) for block in blocks)

The calls of `read_block` may run in other processes, because requests and blocks can be pickled.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.arrays import Integers, read_only
from ilfs.execution.fold import Read
from ilfs.execution.merging import merge_parts
from ilfs.execution.partition import leaves
from ilfs.sources.source import RowBlock
from ilfs.statistics.block import Block, DenseBlock, SparseBlock
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
    if read.columns is None:
        return read.description(_whole_block(block.X, labels, block.first_row))
    places = read.columns if present is None else np.searchsorted(present, read.columns)
    # Leaves of a block are merged first to last, as `MergeTree` does.
    return reduce(lambda merged, leaf: merged.merge(leaf), _read_leaves(read, block, labels, places))


def _read_leaves(read: Read[Any], block: RowBlock, labels: RowLabels, places: Integers) -> Iterable[Any]:
    if sparse.issparse(block.X):
        yield read.description(_whole_block(block.X[:, places], labels, block.first_row))
        return
    for rows in leaves(slice(0, len(block.X)), places.size):
        values = np.ascontiguousarray(block.X[rows].take(places, axis=1), dtype=np.float64)
        first_row, whole = block.first_row + rows.start, slice(0, places.size)
        yield read.description(DenseBlock(values, labels.take(rows), 0, places.size, whole, True, first_row))


def _whole_block(X: Any, labels: RowLabels, first_row: int) -> Block:
    """Make a block of all columns of some rows."""
    if sparse.issparse(X):
        return SparseBlock.from_matrix(X, labels, first_row)
    kept = np.float32 if X.dtype == np.float32 else np.float64
    # Fortran order is kept, other layouts are copied to C order.
    values = np.asfortranarray(X, dtype=kept) if X.flags.fnc else np.ascontiguousarray(X, dtype=kept)
    values, n_columns = read_only(values), X.shape[1]
    return DenseBlock(values, labels, 0, n_columns, slice(0, n_columns), first_row=first_row)


def merge_blocks(statistics: Iterable[Sequence[Any]]) -> list[Any]:
    """Merge the results of `read_block` for all blocks, in the order of the rows."""
    merged = merge_parts((part, statistic) for block in statistics for part, statistic in enumerate(block))
    return [type(merged[part]).join([merged[part]]) for part in sorted(merged)]
