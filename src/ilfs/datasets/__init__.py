"""Data sets: those of the paper and more by name, a user's own files, and synthetic tables with a known answer."""

from ilfs.datasets.folders import cache_folder
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.loading import load
from ilfs.datasets.naming import title_of
from ilfs.datasets.readers import read_table
from ilfs.datasets.registry import REGISTRY
from ilfs.datasets.spec import Paper, Spec
from ilfs.datasets.synthetic import Truth, load_truth, make_truth, recovery, recovery_curve
from ilfs.datasets.table import Table
from ilfs.datasets.voc_options import VocOptions

__all__ = [
    "REGISTRY",
    "Paper",
    "ReadLimits",
    "Spec",
    "Table",
    "Truth",
    "VocOptions",
    "cache_folder",
    "load",
    "load_truth",
    "make_truth",
    "read_table",
    "recovery",
    "recovery_curve",
    "title_of",
]
