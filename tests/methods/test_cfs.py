"""CFS of the ILFS paper against the explicit correlation matrix and the authors' toolbox."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, TaskCounter, load, needs_callbacks, oracle, peak_megabytes, planted
from scipy import sparse

from ilfs import CFS, scorer
from ilfs.methods import cfs


def cfs_score(X, **parameters):
    return scorer("cfs", **parameters)(X)


def smallest_correlations(X):
    R = np.abs(np.corrcoef(X, rowvar=False))
    np.fill_diagonal(R, np.inf)
    return R.min(axis=0)


@pytest.fixture
def small_panels(monkeypatch):
    """Reduce the block sizes so that a small table has many panels and strips."""
    for name, size in {"PANEL_VALUES": 1000, "STRIP_COLUMNS": 4, "TILE_COLUMNS": 6}.items():
        monkeypatch.setattr(cfs, name, size)


def test_scores_match_hand_computed_values():
    # centred: (-3, -1, 1, 3) / 2, (-1, 1, -1, 1) / 2, (1, -1, -1, 1) / 2
    X = np.array([[0.0, 0, 1], [1, 1, 0], [2, 0, 0], [3, 1, 1]])
    r = (3 - 1 - 1 + 3) / np.sqrt(20 * 4)
    np.testing.assert_allclose(cfs_score(X[:, :2]), [-r, -r])
    np.testing.assert_allclose(cfs_score(X), [0.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("offset", [0.0, 10.0])
@pytest.mark.parametrize("n_features", [2, 4, 5, 8, 37])
def test_scores_match_the_explicit_correlation_matrix(small_panels, n_features, offset, n_jobs):
    X, _ = planted(n_samples=100, n_features=n_features)
    X[:, 1] += 2 * X[:, 0]
    X[:, -1] += offset  # from 10 standard deviations on, columns are standardised first
    done = CFS(n_jobs=n_jobs).fit(X)
    np.testing.assert_allclose(-done.scores_, smallest_correlations(X), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    ("change", "in_place"),
    [
        (lambda X: X, True),
        (lambda X: np.asfortranarray(X), True),
        (lambda X: X + 3.5, True),
        (lambda X: X + 4.5, False),
        (lambda X: X.astype(np.float32), False),
        (lambda X: X * 1e-130, False),
        (lambda X: X * 1e130, False),
    ],
)
def test_columns_are_standardised_first_if_products_of_their_values_would_lose_digits(change, in_place, monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 20))
    X = change((X - X.mean(axis=0)) / X.std(axis=0))
    standardised = []
    monkeypatch.setattr(cfs, "panels", lambda rows, panels=cfs.panels: standardised.append(1) or panels(rows))
    expected = smallest_correlations(X.astype(np.float64) / np.abs(X).max())
    np.testing.assert_allclose(cfs_score(X), -expected, rtol=1e-7, atol=1e-13)
    assert bool(standardised) != in_place


def test_products_of_values_keep_the_digits_of_standardised_columns(monkeypatch):
    X = np.random.default_rng(0).uniform(0, 1000, size=(2000, 300))
    found = CFS(n_jobs=2).fit(X)
    np.testing.assert_array_equal(CFS(n_jobs=1).fit(X).scores_, found.scores_)
    monkeypatch.setattr(cfs, "MAX_RELATIVE_MEAN", 0.0)
    expected = CFS().fit(X)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(found.order_, expected.order_)


@pytest.mark.parametrize("n_samples", [7, 300])
def test_scores_match_the_explicit_matrix_with_the_default_block_sizes(n_samples):
    X = np.random.default_rng(0).normal(size=(n_samples, 700)) + 100
    np.testing.assert_allclose(cfs_score(X, n_jobs=2), -smallest_correlations(X), rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30", "allaml_72x400", "colon_62x300"])
def test_scores_match_the_toolbox(name):
    X, _, weights, ranking = oracle(name, "cfs")
    done = CFS().fit(X)
    np.testing.assert_allclose(-done.scores_, np.abs(weights), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(done.scores_[ranking], np.sort(done.scores_)[::-1], rtol=1e-9, atol=1e-14)


@pytest.mark.skipif(not DATA, reason=NO_DATA)
@pytest.mark.parametrize("name", ["colon", "polarity"])
def test_scores_match_the_explicit_correlation_matrix_on_real_data(name):
    X, _ = load(name)
    dense = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
    np.testing.assert_allclose(-cfs_score(X, n_jobs=2), smallest_correlations(dense), rtol=1e-6, atol=1e-13)


def test_scores_do_not_depend_on_scale_offset_and_sign():
    X, _ = planted()
    scale, offset = np.logspace(-100, 100, 40) * np.where(np.arange(40) % 2, 1, -1), np.linspace(-50, 50, 40)
    np.testing.assert_allclose(cfs_score((X + offset) * scale), cfs_score(X), rtol=1e-8, atol=1e-13)


def test_large_offsets_lose_no_precision():
    # The spacing of floats is 2 here: the values are exact, but their mean is not a float.
    a, b = np.array([0.0, 2, 0, 2, 2]), np.array([2.0, 0, 2, 2, 0])
    X = 2.0**53 + np.column_stack([a, b])
    assert cfs_score(X)[0] == pytest.approx(-abs(np.corrcoef(a, b)[0, 1]), rel=1e-12)


def test_copies_come_last_but_before_constant_columns():
    x = np.arange(6.0)
    done = CFS().fit(np.column_stack([np.ones(6), x, -2 * x]))
    np.testing.assert_allclose(done.scores_, -1.0)
    assert done.scores_.min() == -1.0
    assert done.order_[-1] == 0


def test_a_single_varying_column_scores_zero():
    assert CFS().fit(np.arange(5.0)[:, None]).scores_.tolist() == [0.0]
    assert CFS().fit(np.column_stack([np.arange(5.0), np.ones(5)])).scores_.tolist() == [0.0, -1.0]


@needs_callbacks
def test_scores_are_lower_bounds_if_a_callback_ends_the_fit(small_panels):
    X, _ = planted(n_features=30)
    ended, full = CFS().set_callbacks(TaskCounter(stop_after=2)).fit(X), CFS().fit(X)
    assert (ended.scores_ <= full.scores_ + 1e-15).all()
    assert (ended.scores_ > -1).any()


def test_peak_memory_does_not_grow_with_n_features_squared():
    # 15,000 x 15,000 correlations would be 1.8 GB
    assert peak_megabytes("CFS(n_jobs=2)", 100, 15_000) < 60
