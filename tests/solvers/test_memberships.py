"""Minimising over mixtures of feature sets: the projection by its definition, the minimum by another solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ilfs.solvers.memberships import largest_memberships, minimise_memberships, project_memberships


@pytest.mark.parametrize("seed", range(30))
def test_the_projection_is_the_nearest_point_of_the_set(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    size = int(rng.integers(1, n + 1))
    q = np.round(rng.normal(scale=2, size=n), int(rng.integers(0, 3)))  # rounding makes ties
    p = project_memberships(q, size)
    assert p.sum() == pytest.approx(size)
    assert p.min() >= 0
    assert p.max() <= 1
    # p is nearest if the angle between q - p and the way to any vertex is not acute: the best vertex is the worst case.
    vertex = np.zeros(n)
    vertex[np.argsort(q - p)[-size:]] = 1.0
    assert (q - p) @ (vertex - p) <= 1e-12


def quadratic(seed, n):
    rng = np.random.default_rng(seed)
    Q, c = rng.normal(size=(n, n)), rng.normal(size=n)
    Q = Q @ Q.T

    def objective(p):
        return 10.0 + 0.5 * p @ Q @ p + c @ p, -(Q @ p + c)

    return objective


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_matches_a_general_solver_and_the_gap_bounds_the_error(seed):
    n, size = 7, 3
    objective = quadratic(seed, n)
    steps = list(minimise_memberships(objective, np.full(n, size / n), size, tol=1e-10, max_iter=2000))
    theirs = minimize(
        lambda p: objective(p)[0], np.full(n, size / n), jac=lambda p: -objective(p)[1], bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda p: p.sum() - size}, method="SLSQP", options={"ftol": 1e-14},
    )  # fmt: skip
    assert steps[-1].value == pytest.approx(theirs.fun, abs=1e-8)
    for step in steps:
        assert step.value - step.gap <= theirs.fun + 1e-8
        assert step.p.sum() == pytest.approx(size)


def test_tied_values_share_the_last_places():
    np.testing.assert_allclose(
        largest_memberships(np.array([1.0, 2.0, 2.0, 2.0, 3.0]), 3, 1e-9), [0, 2 / 3, 2 / 3, 2 / 3, 1]
    )
    np.testing.assert_allclose(largest_memberships(np.array([4.0, 1.0, 3.0]), 3, 1e-9), 1.0)
