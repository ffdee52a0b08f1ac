"""The paper's evaluation, as a benchmark that anyone can run."""

from ilfs.benchmark.contenders import Contender
from ilfs.benchmark.protocol import Cell, Outcome, Protocol
from ilfs.benchmark.run import Summary, run
from ilfs.benchmark.store import Store
from ilfs.benchmark.suites import SUITES, Suite, read_suite

__all__ = ["SUITES", "Cell", "Contender", "Outcome", "Protocol", "Store", "Suite", "Summary", "read_suite", "run"]
