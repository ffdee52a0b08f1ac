"""Mergeable summaries of rows: all that a method needs to know about the data, and no more.

A *statistic* (`ClassMoments`, `TokenCounts`, `CrossProducts`) is a frozen dataclass that merges with that of
other rows. Its *description* (`Moments`, `Tokens`, `Products`) computes it from one block of rows.
"""

from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, DenseBlock, SparseBlock
from ilfs.statistics.description import Description, Statistic
from ilfs.statistics.histograms import ClassHistograms, Histograms
from ilfs.statistics.labels import Classes, RowLabels, encode_labels
from ilfs.statistics.logs import LogMoments, LogProducts
from ilfs.statistics.moments import ClassMoments, Moments
from ilfs.statistics.products import CrossProducts, Products
from ilfs.statistics.profile import ClassProfile, Profile
from ilfs.statistics.samples import RowSample, SampledRows
from ilfs.statistics.shapes import ClassShapes, ShapeAssociation, Shapes
from ilfs.statistics.terms import ProductTerms, ShapeColumns, TermProducts, Terms
from ilfs.statistics.tokens import TokenCounts, Tokens
from ilfs.statistics.values import ColumnValues, DistinctValues

__all__ = [
    "Association",
    "Block",
    "ClassHistograms",
    "ClassMoments",
    "ClassProfile",
    "ClassShapes",
    "Classes",
    "ColumnValues",
    "CrossProducts",
    "DenseBlock",
    "Description",
    "DistinctValues",
    "Histograms",
    "LogMoments",
    "LogProducts",
    "Moments",
    "ProductTerms",
    "Products",
    "Profile",
    "RowLabels",
    "RowSample",
    "SampledRows",
    "ShapeAssociation",
    "ShapeColumns",
    "Shapes",
    "SparseBlock",
    "Statistic",
    "TermProducts",
    "Terms",
    "TokenCounts",
    "Tokens",
    "encode_labels",
]
