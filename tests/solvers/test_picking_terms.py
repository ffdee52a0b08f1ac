"""Picks by a regression with shape terms and product terms, compared with explicit regressions."""

import numpy as np
import pytest
from brute_force import picked_by_terms, residual_columns, scaled_losses, unit_columns
from hypothesis import given
from hypothesis import strategies as st

from ilfs.execution import one_blas_thread
from ilfs.solvers.picking import PICKS_PER_UPDATE, FurtherTerms, gaining_picks, picks_by_terms
from ilfs.solvers.residuals import residual_terms

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with one_blas_thread():
        yield


def regression(seed, n=7, n_shapes=4, n_products=3, n_samples=50, n_classes=2):
    """Return linear and further columns of mean 0 and length 1, classes, and the features of the further columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n)) + rng.normal(size=(n_samples, 2)) @ rng.normal(size=(2, n))
    shaped = rng.choice(n, n_shapes, replace=False)
    features = [[i, -1, -1] for i in shaped]
    columns = [np.abs(X[:, i]) for i in shaped]
    for size in rng.integers(2, 4, size=n_products):
        chosen = np.sort(rng.choice(n, size, replace=False))
        features.append([*chosen, *[-1] * (3 - size)])
        columns.append(np.sign(X[:, chosen]).prod(axis=1) + 0.1 * rng.normal(size=n_samples))
    T = unit_columns(rng.normal(size=(n_samples, n_classes)) + X[:, :1] + sum(columns, np.zeros(n_samples))[:, None])
    further = unit_columns(np.column_stack(columns)) if columns else np.empty((n_samples, 0))
    return unit_columns(X), further, T, np.array(features, dtype=np.int64).reshape(-1, 3)


def as_terms(Z, R, T, features, ridge):
    return FurtherTerms(features, ridge, np.vstack([Z.T @ R, R.T @ R]), R.T @ T)


@given(seeds, st.integers(0, 4), st.integers(0, 4))
def test_moves_match_explicit_regressions(seed, n_shapes, n_products):
    Z, F, T, features = regression(seed, n_shapes=n_shapes, n_products=n_products)
    R = residual_columns(Z, F, features)
    ridges = np.where(features[:, 1] < 0, 1.5, 0.7)
    expected, values, _ = picked_by_terms(Z, R, T, features, 0.5, ridges)
    picks, _ = picks_by_terms(Z.T @ T, Z.T @ Z, 0.5, as_terms(Z, R, T, features, ridges))
    assert picks.order.tolist() == expected
    np.testing.assert_allclose(picks.value, np.minimum.accumulate(values) / values[0], rtol=1e-8, atol=1e-10)


@given(seeds)
def test_gains_add_up_to_the_decrease_of_the_loss(seed):
    Z, F, T, features = regression(seed)
    R, ridges = residual_columns(Z, F, features), np.where(features[:, 1] < 0, 3.0, 2.0)
    picks, gains = picks_by_terms(Z.T @ T, Z.T @ Z, 1.0, as_terms(Z, R, T, features, ridges))
    assert picks.order.size == Z.shape[1]
    every, prices = np.column_stack([Z, R]), np.concatenate([np.ones(Z.shape[1]), ridges])
    np.testing.assert_allclose(gains.total.sum(axis=0), 1 - scaled_losses(every, T, prices), rtol=1e-9)
    assert (gains.of_shapes <= gains.total + 1e-12).all()
    without = np.setdiff1d(np.arange(Z.shape[1]), features[features[:, 1] < 0, 0])
    assert not gains.of_shapes[without].any()


@given(seeds)
def test_residuals_of_covariances_are_those_of_the_columns(seed):
    Z, F, T, features = regression(seed, n_products=4)
    R, ridge = residual_columns(Z, F, features), np.ones(len(features))
    found = residual_terms(Z.T @ Z, Z.T @ T, np.vstack([Z.T @ F, F.T @ F]), F.T @ T, features, ridge)
    expected = as_terms(Z, R, T, features, ridge)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-10)
    np.testing.assert_allclose(found.of_classes, expected.of_classes, atol=1e-10)


def test_a_column_that_its_feature_determines_vanishes():
    Z, _, T, _ = regression(0)
    features = np.array([[2, -1, -1], [2, 4, -1]])
    F = np.column_stack([-Z[:, 2], unit_columns(Z[:, [2]] + Z[:, [4]])[:, 0]])
    terms = residual_terms(Z.T @ Z, Z.T @ T, np.vstack([Z.T @ F, F.T @ F]), F.T @ T, features, np.ones(2))
    assert not terms.covariance.any()
    assert not terms.of_classes.any()
    found, gains = picks_by_terms(Z.T @ T, Z.T @ Z, 1.0, terms)
    expected, gain = gaining_picks(Z.T @ T, Z.T @ Z, 1.0)
    np.testing.assert_array_equal(found.order, expected.order)
    np.testing.assert_allclose(gains.total, gain, rtol=1e-12)


def test_blocked_updates_do_not_change_the_picks(monkeypatch):
    Z, F, T, features = regression(3, n=30, n_shapes=20, n_products=40, n_samples=120)
    terms = as_terms(Z, residual_columns(Z, F, features), T, features, np.full(60, 2.0))
    few, gains = picks_by_terms(Z.T @ T, Z.T @ Z, 1.0, terms)
    assert terms.most_at_once(30) < 90 < 10 * PICKS_PER_UPDATE
    monkeypatch.setattr("ilfs.solvers.picking.PICKS_PER_UPDATE", 1000)
    many, same = picks_by_terms(Z.T @ T, Z.T @ Z, 1.0, terms)
    np.testing.assert_array_equal(few.order, many.order)
    np.testing.assert_allclose(gains.total, same.total, rtol=1e-9, atol=1e-13)


def test_forced_candidates_come_first_and_products_wait_for_them():
    Z, F, T, features = regression(5)
    terms = as_terms(Z, residual_columns(Z, F, features), T, features, np.full(7, 2.0))
    picks, _ = picks_by_terms(Z.T @ T, Z.T @ Z, 1.0, terms, forced=np.array([6, 1]))
    assert set(picks.order[:2]) == {1, 6}
    assert sorted(picks.order) == list(range(7))


def test_a_pair_worked_by_hand():
    # Feature 0 gains 0.3^2 / 2 = 0.045 alone. The pair gains 0.9^2 / (1 + 2) = 0.27, so 0.135 for each of its features.
    terms = FurtherTerms(np.array([[1, 2, -1]]), np.array([2.0]), np.array([[0], [0], [0], [1.0]]), np.array([[0.9]]))
    picks, gains = picks_by_terms(np.array([[0.3], [0.0], [0.0]]), np.eye(3), 1.0, terms)
    assert picks.order.tolist() == [1, 2, 0]
    np.testing.assert_allclose(gains.total.ravel(), [0.045, 0.135, 0.135])
    np.testing.assert_allclose(picks.value, [1, 1, 1 / 3])
