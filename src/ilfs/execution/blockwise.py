"""Statistics of one block of rows of a source: the work that an engine sends to its workers.

An engine over any source needs three lines::

    def read(self, reads):
        blocks = self.source.blocks(all_columns(reads))
        return merge_blocks(read_block(reads, block) for block in blocks)

where the middle may run in other processes: requests and blocks can be pickled.
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
        return read.description(whole_block(block.X, labels))
    places = read.columns if present is None else np.searchsorted(present, read.columns)
    # Leaves of a block are merged first to last, as `MergeTree` does.
    return reduce(lambda merged, leaf: merged.merge(leaf), _read_leaves(read, block.X, labels, places))


def _read_leaves(read: Read[Any], X: Any, labels: RowLabels, places: Integers) -> Iterable[Any]:
    if sparse.issparse(X):
        yield read.description(whole_block(X[:, places], labels))
        return
    for rows in leaves(slice(0, len(X)), places.size):
        values = np.ascontiguousarray(X[rows].take(places, axis=1), dtype=np.float64)
        yield read.description(
            DenseBlock(values, labels.take(rows), 0, places.size, slice(0, places.size), is_own=True)
        )


def whole_block(X: Any, labels: RowLabels) -> Block:
    """Make a block of all columns of some rows."""
    if sparse.issparse(X):
        return SparseBlock.from_matrix(X, labels)
    kept = np.float32 if X.dtype == np.float32 else np.float64
    values = read_only(np.ascontiguousarray(X, dtype=kept))
    return DenseBlock(values, labels, 0, X.shape[1], slice(0, X.shape[1]))


def merge_blocks(statistics: Iterable[Sequence[Any]]) -> list[Any]:
    """Merge what `read_block` returned for each block, in the order of the rows."""
    merged = merge_parts((part, statistic) for block in statistics for part, statistic in enumerate(block))
    return [type(merged[part]).join([merged[part]]) for part in sorted(merged)]
