"""Mergeable summaries of rows: all that a method needs to know about the data, and no more.

A *statistic* (`ClassMoments`, `TokenCounts`, `CrossProducts`) is a frozen dataclass that merges with that of
other rows. Its *description* (`Moments`, `Tokens`, `Products`) computes it from one block of rows.
"""

from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, DenseBlock, SparseBlock
from ilfs.statistics.description import Description, Statistic
from ilfs.statistics.labels import Classes, RowLabels, encode_labels
from ilfs.statistics.moments import ClassMoments, Moments
from ilfs.statistics.products import CrossProducts, Products
from ilfs.statistics.tokens import TokenCounts, Tokens

__all__ = [
    "Association",
    "Block",
    "ClassMoments",
    "Classes",
    "CrossProducts",
    "DenseBlock",
    "Description",
    "Moments",
    "Products",
    "RowLabels",
    "SparseBlock",
    "Statistic",
    "TokenCounts",
    "Tokens",
    "encode_labels",
]
