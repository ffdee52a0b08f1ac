"""MCFS: the embedding against a dense eigensolver and the authors' toolbox, scores against their definition."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load, oracle, peak_megabytes, planted
from scipy import sparse
from scipy.linalg import eigh
from sklearn.linear_model import lars_path

from ilfs import MCFS
from ilfs.methods import mcfs as module
from ilfs.neighbours import DistinctSamples, heat_graph


def dense_solution(X, n_neighbors=5):
    """Eigenvalues and eigenvectors of L y = lambda D y by a dense solver, and D."""
    W = heat_graph(DistinctSamples.from_samples(X), n_neighbors).toarray()
    D = np.diag(W.sum(axis=1))
    return eigh(D - W, D), D


@pytest.mark.parametrize("dense_samples", [0, 1000])
def test_the_embedding_equals_that_of_a_dense_solver(dense_samples, monkeypatch):
    monkeypatch.setattr(module, "MAX_LAPACK_SAMPLES", dense_samples)
    X, _ = planted(n_samples=150, n_features=12)
    done = MCFS(n_clusters=6).fit(X)
    (values, vectors), D = dense_solution(X)
    np.testing.assert_allclose(done.eigenvalues_, values[1:7], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.diag(done.embedding_.T @ D @ vectors[:, 1:7])), 1, rtol=1e-9)
    np.testing.assert_allclose(done.embedding_.T @ D @ done.embedding_, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(D.sum(axis=1) @ done.embedding_, 0, atol=1e-9)


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30", "allaml_72x400"])
def test_the_embedding_equals_that_of_the_toolbox(name):
    # the toolbox counts the constant vector, and with all features its path is a ridge regression scaled to norm 1
    X, _, weights, _ = oracle(name, "mcfs_full_scores")
    Y = MCFS(n_clusters=4).fit(X).embedding_
    a = X.T @ np.linalg.solve(X @ X.T + 0.001 * np.eye(len(X)), Y)
    a /= np.linalg.norm(a, axis=0)
    np.testing.assert_allclose(np.abs(a).max(axis=1), weights, atol=1e-4)


@pytest.mark.parametrize("n_features", [8, 200])
def test_scores_are_the_largest_coefficients_of_the_paths(n_features):
    X, _ = planted(n_samples=100, n_features=n_features)
    done = MCFS(4, n_clusters=3).fit(X)
    paths = [lars_path(X - X.mean(axis=0), y - y.mean(), method="lar", max_iter=4)[2][:, -1] for y in done.embedding_.T]
    np.testing.assert_allclose(done.coefficients_, paths, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(done.scores_, np.abs(paths).max(axis=0), rtol=1e-8, atol=1e-12)
    assert (np.min(paths, axis=0) < 0).any()  # without the absolute value some features would be lost


def test_features_that_entered_no_path_are_ordered_by_how_close_they_came():
    X, _ = planted(n_samples=100, n_features=30)
    done = MCFS(2, n_clusters=1).fit(X)
    X = X - X.mean(axis=0)
    correlation = np.abs(X.T @ (done.embedding_[:, 0] - done.embedding_[:, 0].mean()))
    assert (done.scores_ > 0).sum() == 2
    assert done.order_[0] in np.argsort(-correlation)[:2]
    third = done.order_[2]
    _, _, path = lars_path(X, done.embedding_[:, 0] - done.embedding_[:, 0].mean(), method="lar", max_iter=3)
    assert path[third, -1] != 0  # it is the next to enter


def test_the_embedding_of_a_disconnected_graph_is_constant_on_its_components():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    X[:, 0] += 100 * (np.arange(120) % 4)
    X[:, 1] += 60 * (np.arange(120) % 4 == 1)
    done = MCFS(2, n_clusters=5, n_neighbors=4).fit(X)
    np.testing.assert_allclose(done.eigenvalues_[:3], 0, atol=1e-12)
    assert (done.eigenvalues_[3:] > 1e-3).all()
    for component in range(4):
        assert np.ptp(done.embedding_[np.arange(120) % 4 == component, :3], axis=0).max() < 1e-12
    W = heat_graph(DistinctSamples.from_samples(X), 4).toarray()
    np.testing.assert_allclose(done.embedding_.T @ np.diag(W.sum(axis=1)) @ done.embedding_, np.eye(5), atol=1e-9)
    assert set(MCFS(2, n_clusters=2, n_neighbors=4).fit(X).order_[:2].tolist()) == {0, 1}


def test_scores_do_not_depend_on_the_row_order_if_there_are_more_components_than_clusters():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 8)), 10, axis=0) * 50 + rng.normal(size=(200, 8))
    order = rng.permutation(200)
    done, moved = MCFS(4, n_clusters=3).fit(X), MCFS(4, n_clusters=3).fit(X[order])
    np.testing.assert_allclose(done.eigenvalues_, 0, atol=1e-12)
    np.testing.assert_allclose(moved.scores_, done.scores_, rtol=1e-6, atol=1e-9)
    # the components have about equal volumes, so these are nearly the principal components of the data
    Z = X - X.mean(axis=0)
    components = np.linalg.svd(Z, full_matrices=False)[0][:, :3]
    units = done.embedding_ / np.linalg.norm(done.embedding_, axis=0)
    assert (np.linalg.svd(components.T @ units)[1] > 0.98).all()


def test_an_outlier_leaves_embedding_and_scores_finite():
    X, _ = planted(n_samples=150, n_features=10, n_informative=3, shift=5.0)
    X[0] = 1e8
    done = MCFS(3).fit(X)
    assert np.isfinite(done.embedding_).all()
    assert np.isfinite(done.scores_).all()


def test_features_that_separate_the_clusters_are_found():
    X, _ = planted(n_samples=200, n_features=40, n_informative=4, n_classes=4, shift=5.0)
    assert set(MCFS(4, n_clusters=3).fit(X).order_[:4].tolist()) == {0, 1, 2, 3}


def test_features_are_found_with_the_sparse_eigensolver():
    X, _ = planted(n_samples=900, n_features=20, n_informative=3, n_classes=3, shift=6.0)
    assert set(MCFS(3, n_clusters=2, n_jobs=2).fit(X).order_[:3].tolist()) == {0, 1, 2}


def test_a_copy_of_a_feature_does_not_enter():
    X, _ = planted(n_samples=100, n_features=10)
    X = np.column_stack([X, X[:, 0]])
    done = MCFS(11).fit(X)
    assert ((done.coefficients_[:, 0] == 0) | (done.coefficients_[:, 10] == 0)).all()


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_paths_end_at_the_requested_number_of_features_or_at_a_perfect_fit():
    X, _ = load("colon")
    done = MCFS(50, n_jobs=2).fit(X)
    assert 50 <= (done.scores_ > 0).sum() <= 250
    every = MCFS(n_jobs=2).fit(X)  # half of 2000: the paths end where 61 features have entered
    assert ((every.coefficients_ != 0).sum(axis=1) == 61).all()


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_sparse_text_gives_the_scores_of_dense_text():
    X, _ = load("dexter")
    X = sparse.csr_array(X)[:, :2000]
    one, two = MCFS(30, n_jobs=2).fit(X), MCFS(30).fit(X.toarray())
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-5, atol=1e-8 * two.scores_.max())


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer >= 1, got 0"),
        ({"n_neighbors": 1.5}, "n_neighbors must be an integer >= 1, got 1.5"),
        ({"weights": None}, "weights must be 'heat' or 'binary', got None"),
        ({"width": -1}, "width must be a number strictly between 0 and inf, got -1"),
    ],
)
def test_invalid_parameters_raise(parameters, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        MCFS(**parameters).fit(np.eye(5))


def test_more_clusters_than_samples_give_a_warning():
    X = np.random.default_rng(0).normal(size=(7, 5))
    with pytest.warns(UserWarning, match="n_clusters=9 exceeds the 6 eigenvectors of 7 samples: using all of them"):
        assert MCFS(n_clusters=9).fit(X).embedding_.shape == (7, 6)


@pytest.mark.parametrize(("m", "n"), [(3000, 1500), (800, 4000)])
def test_peak_memory_is_that_of_the_neighbours_or_of_the_paths(m, n):
    paths = 2 * n * n + 4 * (n // 2) ** 2 if n <= m else m * n + 5 * (m - 1) * m
    assert peak_megabytes("MCFS(n_jobs=2)", m, n) < 8 * paths / 2**20 + 100


def test_sparse_columns_far_from_zero_lose_no_precision():
    X, _ = planted(n_samples=60, n_features=8)
    far = sparse.csr_array(X + 1e8)
    np.testing.assert_array_equal(MCFS().fit(far).order_, MCFS().fit(far.toarray()).order_)
