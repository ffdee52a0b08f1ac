"""Helpers of the tests: planted tables, real data sets, recorded results, folds, statistics, and peak memory."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from ilfs import FisherScore
from ilfs.execution import fold_of as fold_of_source
from ilfs.sources import table_source
from ilfs.statistics import Moments

DATA = os.environ.get("ILFS_DATA")
NO_DATA = "the environment variable ILFS_DATA names no folder of data sets"
ORACLE = os.environ.get("ILFS_ORACLE")
needs_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None, reason="scikit-learn before 1.9 has no callbacks"
)


class TaskCounter:
    """Callback that counts the tasks that end, all or those of one name, and may end the fit after some of them."""

    max_propagation_depth = None

    def __init__(self, stop_after=None, task_name=None):
        self.count, self.stop_after, self.task_name = 0, stop_after, task_name

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        is_counted = self.task_name in (None, context.task_name)
        self.count += is_counted
        return is_counted and self.stop_after is not None and self.count >= self.stop_after


def load(name):
    """Return X and y of a real data set from the folder ILFS_DATA; skip the test if it is not there."""
    path = Path(DATA or "") / f"{name}.npz"
    if not DATA or not path.is_file():
        pytest.skip(f"no {path.name} in the folder that ILFS_DATA names")
    with np.load(path, allow_pickle=False) as parts:
        if "indptr" in parts:
            stored = (parts["data"], parts["indices"], parts["indptr"])
            return sparse.csr_array(stored, shape=tuple(parts["shape"])), parts["y"]
        return parts["X"], parts["y"]


def oracle(name, configuration):
    """Return X, y (-1 or 1), weights and ranking as recorded from the authors' toolbox, from the folder ILFS_ORACLE."""
    if not ORACLE:
        pytest.skip("the environment variable ILFS_ORACLE names no folder of records")
    table, records = Path(ORACLE) / f"{name}.npz", Path(ORACLE) / f"{name}.json"
    if not (table.is_file() and records.is_file()):
        pytest.skip(f"no {name} in the folder that ILFS_ORACLE names")
    record = json.loads(records.read_text())[configuration]
    with np.load(table, allow_pickle=False) as parts:
        return parts["X"], parts["y_binary"], np.array(record["weights"]), np.array(record["ranking"])


def read_csv_exactly(path, **options):
    """Read a text table with each number as Python reads it; older pandas may be off by the last bit."""
    if int(pd.__version__.split(".")[0]) < 3:
        options["float_precision"] = "round_trip"
    return pd.read_csv(path, **options)


def planted(n_samples=120, n_features=40, n_informative=5, n_classes=2, shift=2.0, seed=0):
    """Return normal noise and classes; in the first columns, class means are `shift` apart, in random order."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    X = rng.normal(size=(n_samples, n_features))
    for j in range(min(n_informative, n_features)):
        X[:, j] += shift * rng.permutation(n_classes)[y]
    return X, y


def fold_of(X, y, weight=None, n_jobs=None):
    return fold_of_source(table_source(X, np.asarray(y), weight), n_jobs)


def moments_of(X, y, weight=None, n_jobs=None):
    return fold_of(X, y, weight, n_jobs)(Moments())


def part_of(X, y, rows, weight=None):
    """Return a fold over some of the rows that knows the classes of all rows."""
    whole = table_source(X, np.asarray(y), weight)
    part = table_source(X[rows], np.asarray(y)[rows], None if weight is None else weight[rows])
    part.labellings, part.labels = whole.labellings, tuple(labels.take(rows) for labels in whole.labels)
    return fold_of_source(part)


PEAK = """
import warnings, numpy as np
from ilfs import *
warnings.simplefilter("ignore")
def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
rng = np.random.default_rng(0)
X, y = rng.uniform(0, 1000, ({n_samples}, {n_features})), np.arange({n_samples}) % 2
{selector}.fit(X[:50, :40].copy(), y[:50])  # load kernels, threads and libraries before the measurement
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
{selector}.fit(X, y)
print((status("VmHWM") - before) / 1024)
"""


def peak_megabytes(selector, n_samples, n_features):
    """Return the peak memory of a fit beyond the data, in a new process; `selector` is a Python expression."""
    if not os.path.exists("/proc/self/clear_refs"):
        pytest.skip("peak memory is measured on Linux only")
    code = PEAK.format(selector=selector, n_samples=n_samples, n_features=n_features)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


class WorstFirst(BaseEstimator):
    """A selector that puts the features with the smallest Fisher scores first."""

    def fit(self, X, y):
        self.scores_ = -FisherScore().fit(X, y).scores_
        return self
