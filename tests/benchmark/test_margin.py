"""The systems of the linear SVM: every way to solve them gives the solution of the system itself."""

import numpy as np
import pytest

from ilfs.benchmark.evaluation import linear_svm, margin
from ilfs.benchmark.evaluation.margin import Factor, Margin

N_SAMPLES, N_FEATURES = 500, 320
PENALTY = np.append(1e-10, np.full(N_FEATURES, 2.0))


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=N_SAMPLES) < 0.2, 1.0, -1.0)
    return rng.normal(size=(N_SAMPLES, N_FEATURES)), y, rng.uniform(0.5, 3, N_SAMPLES)


def brute_force(Z, y, weights, active, penalty):
    Z = np.column_stack([np.ones(len(Z)), Z])[active]
    H = Z.T @ np.diag(weights[active]) @ Z + np.diag(penalty)
    return np.linalg.solve(H, Z.T @ (weights[active] * y[active]))


@pytest.mark.parametrize("n_active", [1, 40, 159, 200, 400, N_SAMPLES])
def test_few_and_many_active_samples_solve_the_system(samples, n_active):
    Z, y, weights = samples
    active = np.zeros(N_SAMPLES, dtype=bool)
    active[:n_active] = True
    found = Margin.from_all_samples(Z, weights).solution(active, y, PENALTY)
    np.testing.assert_allclose(found, brute_force(Z, y, weights, active, PENALTY), rtol=1e-6, atol=1e-9)


def test_no_active_sample_gives_zero(samples):
    Z, y, weights = samples
    assert not Margin.from_all_samples(Z, weights).solution(np.zeros(N_SAMPLES, dtype=bool), y, PENALTY).any()


def test_a_changed_set_is_solved_with_the_last_factor(samples, monkeypatch):
    Z, y, weights = samples
    system = Margin.from_all_samples(Z, weights)
    active = np.ones(N_SAMPLES, dtype=bool)
    active[:30] = False
    system.solution(active, y, PENALTY)
    monkeypatch.setattr(Factor, "from_system", None)  # a new factor would fail
    active[[5, 7, 100, 200, 300]] ^= True  # two enter, three leave
    found = system.solution(active, y, PENALTY)
    np.testing.assert_allclose(found, brute_force(Z, y, weights, active, PENALTY), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("change", ["set", "penalty", "accuracy"])
def test_a_new_factor_is_made_where_the_last_is_of_no_use(samples, monkeypatch, change):
    Z, y, weights = samples
    system = Margin.from_all_samples(Z, weights)
    active, penalty = np.ones(N_SAMPLES, dtype=bool), PENALTY
    system.solution(active, y, penalty)
    active = active.copy()
    active[: 50 if change == "set" else 1] = False
    if change == "penalty":
        penalty = 2 * PENALTY
    if change == "accuracy":
        monkeypatch.setattr(margin, "MAX_SYSTEM_RESIDUAL", 0.0)
    factor = system.factor
    found = system.solution(active, y, penalty)
    assert system.factor is not factor
    np.testing.assert_allclose(found, brute_force(Z, y, weights, active, penalty), rtol=1e-9, atol=1e-12)


def test_the_same_set_is_not_solved_twice(samples, monkeypatch):
    Z, y, weights = samples
    system = Margin.from_all_samples(Z, weights)
    active = np.ones(N_SAMPLES, dtype=bool)
    first = system.solution(active, y, PENALTY)
    monkeypatch.setattr(Margin, "_solved", None)
    assert system.solution(active.copy(), y, PENALTY) is first


def test_all_ways_together_give_the_decision_values_of_a_new_factor_each_time(samples, monkeypatch):
    Z, y, _ = samples
    labels, Cs = (y > 0).astype(int), [1e-4, 1e-3, 0.01, 0.1, 1.0]
    labels[:60] = Z[:60, 0] > 0
    fast = linear_svm.decisions(Z, labels, Z, 2, Cs)
    monkeypatch.setattr(margin, "MAX_ACTIVE_FRACTION", 0.0)
    monkeypatch.setattr(margin, "MAX_MOVED_FRACTION", -1.0)
    np.testing.assert_allclose(fast, linear_svm.decisions(Z, labels, Z, 2, Cs), atol=1e-7)
