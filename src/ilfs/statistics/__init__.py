"""Mergeable summaries of rows: what a method needs to know of the data, and no more."""

from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, DenseBlock, SparseBlock
from ilfs.statistics.moments import ClassMoments
from ilfs.statistics.products import CrossProducts
from ilfs.statistics.tokens import TokenCounts

__all__ = ["Association", "Block", "ClassMoments", "CrossProducts", "DenseBlock", "SparseBlock", "TokenCounts"]
