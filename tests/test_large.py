"""Tests that need minutes, much memory or all data sets: run by ``make test-slow``."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from brute_force import representativeness, token_counts
from helpers import DATA, NO_DATA, load, planted

from ilfs import ILFS, list_methods
from ilfs.registry import make_selector

pytestmark = pytest.mark.slow
needs_data = pytest.mark.skipif(not DATA, reason=NO_DATA)
SETS = (
    "arcene coil20 colon dexter dorothea gina glioma leukemia lung lymphoma madelon office_caltech10 pascal_sentence "
    "polarity prostate srbct tox_171 usps"
).split()


@pytest.mark.parametrize("shape", [(1_000_000, 100), (100, 1_000_000)])
def test_the_informative_feature_of_a_long_or_wide_table_is_found(shape):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), np.arange(shape[0]) % 2
    X[y == 1, 7] += 3
    selector = ILFS(n_jobs=2).fit(X, y)
    assert selector.order_[0] == 7
    np.testing.assert_allclose(selector.token_counts_.sum(axis=1), shape[0])


@pytest.mark.parametrize("n_classes", [100, 300])
def test_informative_features_are_found_for_hundreds_of_classes(n_classes):
    X, y = planted(n_samples=20 * n_classes, n_features=300, n_informative=5, n_classes=n_classes, shift=0.5)
    assert sorted(ILFS(n_jobs=2).fit(X, y).order_[:5]) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory can only be read on Linux")
def test_memory_beyond_the_data_stays_small():
    speed = Path(__file__).parent.parent / "benchmarks" / "speed.py"
    printed = subprocess.run([sys.executable, speed, "memory"], capture_output=True, text=True, check=True).stdout
    peaks = [float(megabytes) for megabytes in re.findall(r"data: ([0-9.]+) MB", printed)]
    plain, by_lines, by_shapes = peaks
    assert max(plain, by_lines) < 60
    assert by_shapes - by_lines < 30  # 24, see docs/speed.md


@needs_data
@pytest.mark.parametrize("name", ["colon", "lymphoma", "srbct"])
def test_tokens_of_real_data_match_the_definition(name):
    X, y = load(name)
    columns = np.random.default_rng(0).choice(X.shape[1], 300, replace=False)
    X = X[:, columns].astype(float)
    for options in ({"evidence": "posterior", "leave_one_out": True}, {"evidence": "distance", "leave_one_out": False}):
        selector = ILFS(**options).fit(X, y)
        expected = token_counts(representativeness(X, y, **options), y, edges=selector.token_edges_)
        # a value on the edge of an interval may fall to either side
        assert (np.abs(selector.token_counts_ - expected) > 1e-6).any(axis=1).mean() < 0.01


@needs_data
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("selector", [ILFS(n_jobs=2), ILFS.paper(max_iter=200), ILFS(intervals="pooled")], ids=str)
def test_every_data_set_gets_a_complete_finite_ranking(name, selector):
    X, y = load(name)
    selector.fit(X, y)
    assert np.isfinite(selector.scores_).all()
    np.testing.assert_array_equal(np.sort(selector.order_), np.arange(X.shape[1]))
    assert (np.diff(selector.loglik_) >= -1e-9 * np.abs(selector.loglik_[0])).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("shape", [(1500, 800), (150, 3000)], ids=["tall", "wide"])
@pytest.mark.parametrize("method", [one for one in list_methods() if not one.wraps_another], ids=lambda one: one.name)
def test_every_method_gives_bitwise_equal_scores_on_two_threads(method, shape):
    X, y = planted(*shape, n_informative=20, n_classes=3, shift=1.0)
    one, two = (make_selector(method.name, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.order_, two.order_)
