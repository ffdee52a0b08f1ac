"""Least angle regression against its theorem, scikit-learn and least squares."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import lars_path

from ilfs.blas import add_product, add_squares
from ilfs.kernels.least_angle import close_up
from ilfs.solvers import least_angle
from ilfs.solvers.least_angle import least_angle_coefficients


def problem(m, n, n_targets=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * rng.uniform(0.5, 2, size=n) + rng.normal(size=n)
    weights = np.zeros((n_targets, n))
    weights[:, : n // 2] = rng.normal(size=(n_targets, n // 2))
    return X, weights @ X.T + rng.normal(size=(n_targets, m))


SHAPES = [(100, 40, 10), (100, 40, 40), (300, 250, 200), (50, 200, 20), (50, 200, 45), (60, 60, 50)]


@pytest.mark.parametrize(("m", "n", "d"), SHAPES)
@pytest.mark.parametrize("panel", [7, 128])
def test_features_that_entered_have_the_same_largest_correlation(m, n, d, panel, monkeypatch):
    monkeypatch.setattr(least_angle, "PANEL_FEATURES", panel)
    monkeypatch.setattr(least_angle, "PRODUCT_COLUMNS", 16)
    X, Y = problem(m, n)
    coefficients, _ = least_angle_coefficients(X, Y, d, n_jobs=2)
    centred = X - X.mean(axis=0)
    for a, y in zip(coefficients, Y, strict=True):
        correlation = np.abs(centred.T @ (y - y.mean() - centred @ a))
        entered = a != 0
        assert entered.sum() == d
        if d < n:
            np.testing.assert_allclose(correlation[entered], correlation.max(), rtol=1e-8)
        else:
            np.testing.assert_allclose(correlation, 0, atol=1e-9)  # least squares


@pytest.mark.parametrize(("m", "n"), [(100, 40), (50, 200)])
def test_path_equals_that_of_scikit_learn(m, n):
    # Only up to where a coefficient passes 0: there scikit-learn's method "lar" flips its sign, and the paths differ.
    X, Y = problem(m, n, n_targets=1)
    _, _, path = lars_path(X - X.mean(axis=0), Y[0] - Y[0].mean(), method="lar", max_iter=30)
    same_signs = [d for d in range(1, path.shape[1]) if not np.any(path[:, :d] * path[:, [d]] < 0)]
    assert len(same_signs) >= 10
    for d in same_signs:
        np.testing.assert_allclose(least_angle_coefficients(X, Y, d)[0][0], path[:, d], rtol=1e-9, atol=1e-12)


def test_paths_from_products_and_from_samples_agree(monkeypatch):
    X, Y = problem(90, 60)
    tall = least_angle_coefficients(X, Y, 35)
    wide = least_angle_coefficients(sparse.csr_array(X), Y, 35)
    monkeypatch.setattr(least_angle, "BASIS_BYTES", 0)  # targets one after the other
    alone = least_angle_coefficients(sparse.csc_array(X), Y, 35)
    for other in (wide, alone):
        np.testing.assert_allclose(other[0], tall[0], rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(other[1], tall[1], rtol=1e-9)


def test_with_more_features_than_samples_the_path_ends_at_a_perfect_fit():
    X, Y = problem(30, 100)
    coefficients, _ = least_angle_coefficients(X, Y, 100)
    assert ((coefficients != 0).sum(axis=1) == 29).all()
    fit = coefficients @ (X - X.mean(axis=0)).T
    np.testing.assert_allclose(fit, Y - Y.mean(axis=1, keepdims=True), atol=1e-8)


@pytest.mark.parametrize("n", [8, 60])
def test_a_linearly_dependent_feature_does_not_enter(n):
    X, Y = problem(40, n)
    X = np.column_stack([X, X[:, 0], X[:, 1] - 2 * X[:, 2], 3 * X[:, 3] + 1])
    coefficients, nearness = least_angle_coefficients(X, Y, 20)
    assert np.isfinite(coefficients).all()
    assert not ((coefficients[:, 0] != 0) & (coefficients[:, n] != 0)).any()
    np.testing.assert_allclose(nearness[:, n], nearness[:, 0])  # a copy came as near as the feature itself


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("m", [80, 12])
@pytest.mark.parametrize("seed", range(5))
def test_only_the_first_of_equal_features_enters(seed, m, form):
    X, Y = problem(m, 9, seed=seed)
    without, nearness = least_angle_coefficients(X, Y, 5)
    columns = np.concatenate([np.arange(9), np.random.default_rng(seed).integers(0, 9, size=8)])
    found, near = least_angle_coefficients(form(X[:, columns]), Y, 5)
    np.testing.assert_allclose(found[:, :9], without, rtol=1e-8, atol=1e-12)
    assert not found[:, 9:].any()
    np.testing.assert_allclose(near, nearness[:, columns], rtol=1e-9)


def test_nearness_is_the_largest_ratio_to_the_correlation_of_entered_features():
    X, Y = problem(80, 12, n_targets=1)
    centred = X - X.mean(axis=0)
    ratio = []
    for d in range(6):
        a = least_angle_coefficients(X, Y, d)[0][0] if d else np.zeros(12)
        correlation = np.abs(centred.T @ (Y[0] - Y[0].mean() - centred @ a))
        ratio.append(correlation / correlation.max())
    np.testing.assert_allclose(least_angle_coefficients(X, Y, 5)[1][0], np.max(ratio, axis=0), rtol=1e-9)


def test_a_large_mean_costs_no_precision():
    X, Y = problem(50, 20)
    X = np.round(X * 1024) / 1024
    moved = least_angle_coefficients(X + 2.0**30, Y, 9)[0]
    np.testing.assert_allclose(moved, least_angle_coefficients(X, Y, 9)[0], rtol=1e-7, atol=1e-12)
    wide = least_angle_coefficients((X + 2.0**30)[:15], Y[:, :15], 9)[0]
    np.testing.assert_allclose(wide, least_angle_coefficients(X[:15], Y[:, :15], 9)[0], rtol=1e-7, atol=1e-12)


def test_an_uncorrelated_target_has_an_empty_path():
    X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    coefficients, nearness = least_angle_coefficients(X, np.array([[1.0, 1, -1, -1]]), 2)
    assert not coefficients.any()
    assert np.isfinite(nearness).all()


@pytest.mark.parametrize("n_jobs", [2, 3])  # with two, the threads share the work of the last of three paths
@pytest.mark.parametrize(("m", "n"), [(200, 150), (50, 300)])
def test_result_does_not_depend_on_the_number_of_threads(m, n, n_jobs, monkeypatch):
    monkeypatch.setattr(least_angle, "PRODUCT_COLUMNS", 16)
    monkeypatch.setattr(least_angle, "PANEL_FEATURES", 16)
    X, Y = problem(m, n)
    one, more = least_angle_coefficients(X, Y, 45, n_jobs=1), least_angle_coefficients(X, Y, 45, n_jobs=n_jobs)
    np.testing.assert_array_equal(one[0], more[0])
    np.testing.assert_array_equal(one[1], more[1])


@pytest.mark.parametrize("k", [1, 40, 64])
def test_add_squares_changes_only_the_leading_upper_triangle(k):
    rng = np.random.default_rng(0)
    S, R = rng.normal(size=(64, 64)), rng.normal(size=(7, 64))
    expected = S.copy()
    upper = np.triu_indices(k)
    expected[upper] -= (R[:, :k].T @ R[:, :k])[upper]
    add_squares(S, R[:, :k], times=-1.0)
    np.testing.assert_allclose(S, expected, rtol=1e-12)


@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 20), (30, 1), (30, 20)])
def test_add_product_changes_one_block(k, n):
    rng = np.random.default_rng(0)
    S, A, B = rng.normal(size=(64, 64)), rng.normal(size=(7, 40)), rng.normal(size=(7, 30))
    expected = S.copy()
    expected[3 : 3 + k, 5 : 5 + n] += 2.0 * A[:, 4 : 4 + k].T @ B[:, 2 : 2 + n]
    add_product(S[3 : 3 + k, 5 : 5 + n], A[:, 4 : 4 + k], B[:, 2 : 2 + n], times=2.0)
    np.testing.assert_allclose(S, expected, rtol=1e-12)


def test_close_up_removes_rows_and_columns_in_place():
    S, panel = np.random.default_rng(0).normal(size=(9, 9)), np.random.default_rng(1).normal(size=(2, 9))
    gone, left = np.array([0, 3, 4, 7]), np.array([1, 2, 5, 6])
    expected, columns = S[np.ix_(left, left)], panel[:, left]
    close_up(S, panel, gone, 8)
    np.testing.assert_array_equal(np.triu(S[:4, :4]), np.triu(expected))
    np.testing.assert_array_equal(panel[:, :4], columns)
