"""The paper's evaluation as a benchmark that can be stopped, continued and extended.

A suite (`suites`) names data sets, methods (`methods`, `baselines`), splits and a protocol. It is a list of jobs, one
for each data set, method and split. Jobs are computed in worker processes (`jobs`): a job splits the data, ranks the
features, fits classifiers and computes metrics (`evaluation`). Results go into a file (`store`), under a key that
covers the code they were computed with (`provenance`). They are read back as arrays, and methods are compared by
statistical tests (`comparison`, `significance`), beside the numbers that the paper prints (`paper_tables`).
`ilfs.report.benchmark` makes tables and diagrams of them.
"""

from ilfs.benchmark.comparison import rank_diagram
from ilfs.benchmark.evaluation.classifiers import Classifier
from ilfs.benchmark.evaluation.job import Job, Measurement, Outcome
from ilfs.benchmark.evaluation.protocol import Protocol, TimingJob
from ilfs.benchmark.jobs.runner import RunSummary, run
from ilfs.benchmark.methods.method import BenchmarkMethod
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.store.store import Store
from ilfs.benchmark.suites.built_in import SUITES
from ilfs.benchmark.suites.suite import Suite
from ilfs.benchmark.suites.suite_file import read_suite
from ilfs.text_table import Grid

__all__ = [
    "SUITES",
    "BenchmarkMethod",
    "Classifier",
    "Grid",
    "Job",
    "Measurement",
    "Outcome",
    "Protocol",
    "Results",
    "RunSummary",
    "Store",
    "Suite",
    "TimingJob",
    "rank_diagram",
    "read_suite",
    "run",
]
