"""Partitioning: how a table is cut into blocks.

Statistics of blocks are merged along rows in a fixed order, and floating-point sums depend on it. So the height of a
block depends on nothing but the number of columns asked for: not on layout, engine, or number of threads. The width of
a block may depend on these, because no sum runs over columns.

If a method asks for some columns only, they are copied. A block is then cut into *leaves*, groups of rows whose copies
take a few megabytes.
"""

import math
from typing import Any

import numpy as np

from ilfs.execution.threads import blocks
from ilfs.sources import tables
from ilfs.sources.tables import DenseSource
from ilfs.statistics.block import ColumnArrays

MIN_STRIP_COLUMNS, MAX_STRIP_COLUMNS = 512, 4096  # kernels are fastest with some thousand bytes of each row
MIN_STRIP_COLUMNS_BY_COLUMN, MAX_STRIP_COLUMNS_BY_COLUMN = 64, 1024  # the same if columns are contiguous
STRIPS_PER_THREAD = 4  # of contiguous columns: some, so that no thread waits long for the last strip
COPIED_STRIP_COLUMNS = 128  # of a strip that must be copied before it is read: 8 MB
COPIED_STRIP_COLUMNS_BY_COLUMN = 32  # the same if the values of a column are contiguous
MIN_COPIED_VALUES = 2**18  # of a strip; with fewer values, scheduling takes longer than the work
GATHERED_VALUES = 2**19  # values of a leaf of chosen columns
MIN_LEAF_ROWS = 256
SPARSE_STRIP_VALUES = 2**18  # stored values of a strip of sparse columns


def row_blocks(n_rows: int) -> list[slice]:
    """Cut all rows into blocks of the fixed height."""
    return blocks(n_rows, tables.BLOCK_ROWS)


def leaf_rows(n_columns: int) -> int:
    """Return the number of rows per leaf of chosen columns.

    It is a power of two, so that leaves divide a block, and a leaf takes a few megabytes.
    """
    fitting = max(GATHERED_VALUES // max(n_columns, 1), 1)
    power_of_two = 1 << (fitting.bit_length() - 1)
    return min(max(power_of_two, MIN_LEAF_ROWS), tables.BLOCK_ROWS)


def leaves(block: slice, n_columns: int) -> list[slice]:
    """Cut a block of chosen columns into leaves."""
    height = leaf_rows(n_columns)
    return [slice(top, min(top + height, block.stop)) for top in range(block.start, block.stop, height)]


def leaves_per_block(n_columns: int) -> int:
    """Return the number of leaves of a block of full height."""
    return math.ceil(tables.BLOCK_ROWS / leaf_rows(n_columns))


def dense_strips(source: DenseSource, n_threads: int) -> list[slice]:
    """Cut the columns of a dense table into strips."""
    if source.in_place and source.by_column:
        width = math.ceil(source.n_features / (STRIPS_PER_THREAD * n_threads))
        width = min(max(width, MIN_STRIP_COLUMNS_BY_COLUMN), MAX_STRIP_COLUMNS_BY_COLUMN)
        return blocks(source.n_features, max(width, MIN_COPIED_VALUES // max(source.n_rows, 1)))
    if source.in_place:
        return blocks(source.n_features, even_width(source.n_features, n_threads))
    width = COPIED_STRIP_COLUMNS_BY_COLUMN if source.by_column else COPIED_STRIP_COLUMNS
    return blocks(source.n_features, max(width, MIN_COPIED_VALUES // max(source.n_rows, 1)))


def block_strips(X: Any, n_threads: int) -> list[slice]:
    """Cut the columns of one block of dense rows into strips, at least one for each thread if it is wide enough."""
    n_columns = X.shape[1]
    if not isinstance(X, ColumnArrays) and X.flags.c_contiguous:
        return blocks(n_columns, even_width(n_columns, n_threads))
    width = math.ceil(n_columns / n_threads)
    return blocks(n_columns, min(max(width, MIN_STRIP_COLUMNS_BY_COLUMN), MAX_STRIP_COLUMNS_BY_COLUMN))


def sparse_strips(n_features: int, n_stored: int) -> list[slice]:
    """Cut sparse columns into strips with about the same number of stored values."""
    return blocks(n_features, max(1, n_features * SPARSE_STRIP_VALUES // max(1, n_stored, n_features)))


def even_width(n_features: int, n_threads: int) -> int:
    """Return the strip width that divides the columns evenly among threads, within the limits of the kernels."""
    n_strips = n_threads * math.ceil(n_features / (MAX_STRIP_COLUMNS * n_threads))
    return int(np.maximum(math.ceil(n_features / n_strips), MIN_STRIP_COLUMNS))
