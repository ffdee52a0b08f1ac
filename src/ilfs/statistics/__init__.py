"""Mergeable summaries of rows: what a method needs to know of the data, and no more."""

from ilfs.statistics.block import Block, DenseBlock, SparseBlock
from ilfs.statistics.moments import ClassMoments
from ilfs.statistics.tokens import TokenCounts

__all__ = ["Block", "ClassMoments", "DenseBlock", "SparseBlock", "TokenCounts"]
