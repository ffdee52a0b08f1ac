"""The paper's evaluation, as a benchmark that anyone can run."""

from ilfs.benchmark.evaluation.classifiers import Classifier
from ilfs.benchmark.evaluation.protocol import Cell, Measurement, Outcome, Protocol, TimingJob
from ilfs.benchmark.jobs.runner import Summary, run
from ilfs.benchmark.methods.method import Contender
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.store.store import Store
from ilfs.benchmark.suites.suite import SUITES, Suite, read_suite
from ilfs.text_table import Grid

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
    "read_suite",
    "run",
]
