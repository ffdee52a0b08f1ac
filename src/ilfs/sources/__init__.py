"""Sources of rows: arrays, sparse matrices and data frames.

A *source* knows its columns and classes and gives its rows in blocks, in a fixed order, as often as it is asked to. A
*fold* (`ilfs.execution`) computes statistics over a source.
"""

from ilfs.sources.frames import FrameSource
from ilfs.sources.source import RowBlock, Source
from ilfs.sources.tables import ArraySource, SparseSource, TableSource, table_source

__all__ = ["ArraySource", "FrameSource", "RowBlock", "Source", "SparseSource", "TableSource", "table_source"]
