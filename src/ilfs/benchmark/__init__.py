"""The paper's evaluation, as a benchmark that anyone can run."""

from ilfs.benchmark.classifiers import Classifier
from ilfs.benchmark.comparison import features_grids, rank_diagram, statistics_of
from ilfs.benchmark.contenders import Contender
from ilfs.benchmark.grid import Grid
from ilfs.benchmark.protocol import Cell, Measurement, Outcome, Protocol, TimingJob
from ilfs.benchmark.results import Results
from ilfs.benchmark.run import Summary, run
from ilfs.benchmark.store import Store
from ilfs.benchmark.suites import SUITES, Suite, read_suite
from ilfs.benchmark.tables import tables_of

__all__ = [
    "SUITES",
    "Cell",
    "Classifier",
    "Contender",
    "Grid",
    "Measurement",
    "Outcome",
    "Protocol",
    "Results",
    "Store",
    "Suite",
    "Summary",
    "TimingJob",
    "features_grids",
    "rank_diagram",
    "read_suite",
    "run",
    "statistics_of",
    "tables_of",
]
