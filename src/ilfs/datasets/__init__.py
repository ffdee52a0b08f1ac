"""Data sets: registered ones by name, files of the user, and synthetic data with known informative features."""

from ilfs.datasets.cells import make_cells
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.folders import cache_folder
from ilfs.datasets.known_answer import make_known_answer
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.loading import load
from ilfs.datasets.named_truths import load_truth
from ilfs.datasets.naming import title_of
from ilfs.datasets.obtain import Fetched, fetch_dataset
from ilfs.datasets.properties import DatasetProperties, measure_properties
from ilfs.datasets.readers import read_table
from ilfs.datasets.registry import REGISTRY
from ilfs.datasets.spec import Paper, PublicFile, PublicSource, Spec
from ilfs.datasets.synthetic import make_truth
from ilfs.datasets.truth import Truth, recovery, recovery_curve
from ilfs.datasets.voc_options import VocOptions

__all__ = [
    "REGISTRY",
    "Dataset",
    "DatasetProperties",
    "Fetched",
    "Paper",
    "PublicFile",
    "PublicSource",
    "ReadLimits",
    "Spec",
    "Truth",
    "VocOptions",
    "cache_folder",
    "fetch_dataset",
    "load",
    "load_truth",
    "make_cells",
    "make_known_answer",
    "make_truth",
    "measure_properties",
    "read_table",
    "recovery",
    "recovery_curve",
    "title_of",
]
