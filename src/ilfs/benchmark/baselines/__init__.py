"""Baselines: selectors of other packages that the benchmark compares the methods of this library with."""

from ilfs.benchmark.baselines.base import Baseline
from ilfs.benchmark.baselines.extra_trees import ExtraTrees
from ilfs.benchmark.baselines.fastcan import FastCan
from ilfs.benchmark.baselines.l1_path import L1Path
from ilfs.benchmark.baselines.mrmrs import MRMR

BASELINES: dict[str, type[Baseline]] = {"fastcan": FastCan, "mrmrs": MRMR, "extra_trees": ExtraTrees, "l1_path": L1Path}

__all__ = ["BASELINES", "MRMR", "Baseline", "ExtraTrees", "FastCan", "L1Path"]
