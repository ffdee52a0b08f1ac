"""The generalised Fisher score against ridge regressions, all subsets, the authors' cutting planes and its limits."""

from itertools import combinations

import numpy as np
import pytest
from helpers import peak_megabytes, planted
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from ilfs import FisherScore, GeneralizedFisherScore
from ilfs.execution import LabelledRows
from ilfs.methods.generalized_fisher import RidgeProblem
from ilfs.sources import table_source


def problem_of(X, y, gamma=1.0):
    return RidgeProblem(LabelledRows.from_source(table_source(np.asarray(X, dtype=float), np.asarray(y))), gamma)


def mixed(seed, n_samples=30, n_features=8, n_classes=2):
    """Columns that are informative, noise, or mixtures of other columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    X = rng.normal(size=(n_samples, n_features)) + np.outer(y, rng.uniform(0, 1.5, n_features))
    X[:, n_features // 2 :] += rng.uniform(0, 2) * X[:, : n_features - n_features // 2]
    return X, y


def unit_columns(X):
    X = X - X.mean(axis=0)
    return X / np.sqrt((X**2).sum(axis=0))


def targets(y):
    """Return the matrix H of the paper, divided by its norm."""
    n_k = np.bincount(y)
    H = np.where(y[:, None] == np.arange(n_k.size), np.sqrt(len(y) / n_k), 0.0) - np.sqrt(n_k / len(y))
    return H / np.sqrt((H**2).sum())


def ridge_objective(X, y, subset, gamma):
    """Fit the ridge regression on some columns; return its loss plus its penalty."""
    Z, H = unit_columns(X)[:, list(subset)], targets(y)
    W = np.linalg.solve(Z.T @ Z + gamma * np.eye(Z.shape[1]), Z.T @ H)
    return ((Z @ W - H) ** 2).sum() + gamma * (W**2).sum()


def best_of_all(X, y, size, gamma):
    return min(ridge_objective(X, y, subset, gamma) for subset in combinations(range(X.shape[1]), size))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("subset", [(0,), (1, 4, 6), tuple(range(8))])
def test_the_objective_of_a_subset_is_that_of_its_ridge_regression(n_classes, subset):
    X, y = mixed(0, n_classes=n_classes)
    for rows in (slice(None), slice(0, 6 if n_classes == 2 else 7)):  # more samples than features, and fewer
        p = np.zeros(8)
        p[list(subset)] = 1.0
        value, _ = problem_of(X[rows], y[rows], 0.3)(p)
        assert value == pytest.approx(ridge_objective(X[rows], y[rows], subset, 0.3), rel=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_matches_finite_differences(n_classes):
    problem = problem_of(*mixed(1, n_classes=n_classes), 0.5)
    p = np.random.default_rng(0).uniform(0.1, 0.9, 8)
    for j in range(8):
        step = 1e-5 * (np.arange(8) == j)
        slope = (problem(p + step)[0] - problem(p - step)[0]) / 2e-5
        assert problem(p)[1][j] == pytest.approx(-slope, rel=1e-6)


@pytest.mark.parametrize("gamma", [0.03, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_holds_for_all_subsets_and_the_objective_is_that_of_the_selected_one(seed, gamma):
    X, y = mixed(seed, n_classes=2 + seed % 3)
    done = GeneralizedFisherScore(3, gamma=gamma / 3, tol=1e-8).fit(X, y)
    best = best_of_all(X, y, 3, gamma)
    assert done.objective_ == pytest.approx(ridge_objective(X, y, done.order_[:3], gamma), rel=1e-9)
    assert done.lower_bound_ <= best + 1e-9
    assert best <= done.objective_ + 1e-9
    assert done.objective_ <= 1.1 * best


def cutting_planes(problem, n, size, n_steps=40):
    """Solve the relaxed problem as the paper does: add the most violated set, find the best mixture of all sets."""
    descent = problem.descent_without_features
    sets, mixture = [], np.empty(0)
    for _ in range(n_steps):
        new = np.zeros(n)
        new[np.argsort(descent)[-size:]] = 1.0
        sets.append(new)
        S = np.array(sets)
        mixture = minimize(
            lambda a, S=S: problem(np.clip(a @ S, 0, 1))[0], np.append(mixture, 0.0) if mixture.size else [1.0],
            jac=lambda a, S=S: -(S @ problem(np.clip(a @ S, 0, 1))[1]), bounds=[(0, 1)] * len(S), method="SLSQP",
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": np.ones_like}, options={"ftol": 1e-13},
        ).x  # fmt: skip
        p = np.clip(mixture @ S, 0, 1)
        value, descent = problem(p)
        if np.sort(descent)[-size:].sum() - descent @ p < 1e-7:
            break
    return value


@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_that_of_the_cutting_planes_of_the_paper(seed):
    X, y = mixed(seed, n_features=12, n_classes=2 + seed % 2)
    done = GeneralizedFisherScore(4, gamma=0.05, tol=1e-9).fit(X, y)
    problem = problem_of(X, y, 0.2)
    ours, _ = problem(done.memberships_)
    assert ours == pytest.approx(cutting_planes(problem, 12, 4), abs=2e-7)
    assert done.memberships_.sum() == pytest.approx(4)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_large_gamma_gives_the_order_of_the_fisher_score(n_classes):
    X, y = planted(n_classes=n_classes)
    order = FisherScore().fit(X, y).order_
    np.testing.assert_array_equal(GeneralizedFisherScore(10, gamma=1e9).fit(X, y).order_, order)


def test_a_weaker_feature_that_adds_something_comes_before_a_copy():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    noise = rng.normal(size=200)
    strong = y + 0.5 * noise
    X = np.column_stack([strong + 0.05 * rng.normal(size=200) for _ in range(4)] + [noise, rng.normal(size=200)])
    assert 4 not in FisherScore(2).fit(X, y).order_[:4]
    assert 4 in GeneralizedFisherScore(2, gamma=0.01).fit(X, y).order_[:2]


def test_equal_columns_have_equal_memberships_and_keep_column_order():
    X, y = mixed(3)
    X = np.column_stack([X, X[:, :4], -3.0 * X[:, 2:3] + 1])
    done = GeneralizedFisherScore(4, gamma=0.1).fit(X, y)
    np.testing.assert_allclose(done.memberships_[8:12], done.memberships_[:4], atol=1e-9)
    assert done.memberships_[12] == pytest.approx(done.memberships_[2], abs=1e-9)
    assert done.ranking_[8] == done.ranking_[0] + 1


def test_units_and_offsets_do_not_matter():
    X, y = planted(n_features=15)
    done, other = (GeneralizedFisherScore(5).fit(Z, y) for Z in (X, X * np.logspace(-3, 3, 15) + 7.0))
    np.testing.assert_allclose(other.scores_, done.scores_, rtol=1e-6)
    np.testing.assert_array_equal(other.order_, done.order_)


def test_memberships_and_scores_agree_with_the_order():
    X, y = planted(n_features=30)
    done = GeneralizedFisherScore(8, gamma=0.05).fit(X, y)
    falling = done.memberships_[done.order_]
    assert np.all(np.diff(falling) <= 1e-4)
    threshold = np.sort(done.scores_)[-8]
    assert done.scores_[done.memberships_ > 0.999].min() >= threshold
    assert done.scores_[done.memberships_ < 0.001].max() <= threshold
    np.testing.assert_array_equal(done.table(top=3)["membership"], done.memberships_[done.order_[:3]])


def test_constant_columns_do_not_take_places():
    X, y = planted(n_features=6)
    X[:, [1, 4]] = 3.0
    done = GeneralizedFisherScore(5).fit(X, y)
    assert done.memberships_.tolist() == [1, 0, 1, 1, 0, 1]


def test_too_few_steps_warn():
    X, y = planted(n_features=30)
    with pytest.warns(ConvergenceWarning, match="did not converge to tol=1e-06 in max_iter=1 steps, relative gap"):
        GeneralizedFisherScore(8, gamma=0.01, max_iter=1).fit(X, y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gamma": 0}, "gamma must be a number strictly between 1e-12 and 1e\\+12, got 0"),
        ({"tol": 1.0}, "tol must be a number strictly between 0 and 1, got 1.0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
    ],
)
def test_invalid_parameters_are_rejected(wrong, message):
    with pytest.raises(ValueError, match=message):
        GeneralizedFisherScore(**wrong).fit(*planted())


def test_peak_memory_is_two_copies_of_the_data():
    assert peak_megabytes("GeneralizedFisherScore(50)", 300, 10_000) < 2.5 * 300 * 10_000 * 8 / 1e6 + 10
