"""Sources of rows: arrays, sparse matrices, data frames, and tables that are read in batches.

A *source* knows its columns and classes and gives its rows in blocks, in a fixed order, as often as it is asked to. A
*fold* (`ilfs.execution`) computes statistics over a source.
"""

from ilfs.sources.batches import BatchSource
from ilfs.sources.dask import DaskSource
from ilfs.sources.frames import FrameSource
from ilfs.sources.reader import Batch, BatchReader
from ilfs.sources.recognise import stream_source
from ilfs.sources.source import ReadProgress, RowBlock, Source
from ilfs.sources.tables import ArraySource, SparseSource, TableSource, table_source

__all__ = [
    "ArraySource",
    "Batch",
    "BatchReader",
    "BatchSource",
    "DaskSource",
    "FrameSource",
    "ReadProgress",
    "RowBlock",
    "Source",
    "SparseSource",
    "TableSource",
    "stream_source",
    "table_source",
]
