"""The Laplacian score against its matrix definition, scikit-learn's graph and the authors' toolbox."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load, oracle, peak_megabytes, planted
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import kneighbors_graph

from ilfs import LaplacianScore, scorer
from ilfs.neighbours import DistinctSamples, heat_graph


def laplacian_score(X, **parameters):
    return scorer("ls", **parameters)(X)


def by_matrices(X, W):
    """Matrix formula of the paper."""
    ones, D = np.ones(len(X)), np.diag(W.sum(axis=1))
    L = D - W
    scores = []
    for f in X.T:
        tilde = f - (f @ D @ ones) / (ones @ D @ ones) * ones
        scores.append(tilde @ L @ tilde / (tilde @ D @ tilde))
    return np.array(scores)


def heat(X, k, t):
    near = kneighbors_graph(X, k).toarray()
    return np.maximum(near, near.T) * np.exp(-np.square(squareform(pdist(X))) / (2 * t * t))


@pytest.mark.parametrize("k", [1, 5, 12])
def test_scores_equal_the_formula_on_the_graph_of_scikit_learn(k):
    X, _ = planted(n_samples=80, n_features=15)
    t = squareform(pdist(X)).mean()
    np.testing.assert_allclose(laplacian_score(X, n_neighbors=k), -by_matrices(X, heat(X, k, t)), rtol=1e-10)
    np.testing.assert_allclose(
        laplacian_score(X, n_neighbors=k, width=3.0), -by_matrices(X, heat(X, k, 3.0)), rtol=1e-10
    )
    near = kneighbors_graph(X, k).toarray()
    binary = laplacian_score(X, n_neighbors=k, weights="binary")
    np.testing.assert_allclose(binary, -by_matrices(X, np.maximum(near, near.T)), rtol=1e-10)


def test_scores_match_hand_computed_values():
    # edges 0-1 and 2-3; the first feature is constant along them, the second changes along them only
    X = np.array([[0.0, 0], [0, 1], [9, 0], [9, 1]])
    np.testing.assert_allclose(laplacian_score(X, n_neighbors=1), [0, -2])


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30", "allaml_72x400"])
def test_scores_equal_those_of_the_toolbox_on_its_graph(name):
    X, _, weights, ranking = oracle(name, "ls_knn5heat")
    done = LaplacianScore().fit(X)
    np.testing.assert_allclose(done.scores_ + 1, weights, atol=1e-9)
    np.testing.assert_array_equal(done.order_, ranking)


def test_scores_equal_those_of_the_toolbox_with_width_one():
    X, _, weights, _ = oracle("syn3c_90x30", "ls_knn5heat_t1")
    np.testing.assert_allclose(laplacian_score(X, width=1.0) + 1, weights, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_the_scale_of_the_data_does_not_matter(scale):
    X, _ = planted()
    np.testing.assert_allclose(laplacian_score(scale * X), laplacian_score(X), rtol=1e-9)


def test_a_large_offset_loses_no_precision():
    X = np.random.default_rng(0).integers(0, 1000, size=(60, 8)) / 1024.0
    np.testing.assert_allclose(laplacian_score(X + 2.0**30), laplacian_score(X), rtol=1e-9)


def test_a_very_smooth_feature_loses_no_precision():
    # on a line, the score is the sum of squared steps over the spread
    x = np.linspace(0, 1, 2001)
    X = np.column_stack([x, x**2])
    W = heat_graph(DistinctSamples.from_samples(X), 2).toarray()
    i, j = np.nonzero(np.triu(W))
    d = W.sum(axis=1)
    deviation = x - d @ x / d.sum()
    expected = np.sum(W[i, j] * (x[i] - x[j]) ** 2) / np.sum(d * deviation**2)
    assert expected < 2e-5
    np.testing.assert_allclose(laplacian_score(X, n_neighbors=2)[0], -expected, rtol=1e-9)


def test_a_width_so_small_that_weights_underflow_equals_binary_weights():
    X, _ = planted()
    scores = laplacian_score(X, width=1e-9)
    np.testing.assert_allclose(scores, laplacian_score(X, weights="binary"), rtol=1e-9)


def test_a_distant_outlier_leaves_the_scores_finite():
    X, _ = planted(n_samples=200, n_features=10)
    X[0] = 1e9
    scores = laplacian_score(X)
    assert np.isfinite(scores).all()
    assert (scores >= -2).all()


def test_repeated_samples_are_neighbours_of_weight_one():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 5)), 3, axis=0)
    np.testing.assert_allclose(laplacian_score(X, n_neighbors=2), 0, atol=1e-12)


def test_features_that_separate_clusters_rank_before_noise():
    X, _ = planted(n_samples=200, n_features=30, n_informative=4, shift=6.0)
    assert set(LaplacianScore(4).fit(X).order_[:4].tolist()) == {0, 1, 2, 3}


def test_permuting_the_rows_does_not_change_the_scores():
    X, _ = planted()
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(laplacian_score(X[order]), laplacian_score(X), rtol=1e-9)


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_sparse_text_gives_the_scores_of_dense_text():
    X, _ = load("dexter")
    X = sparse.csr_array(X)[:, :3000]
    np.testing.assert_allclose(laplacian_score(X, n_jobs=2), laplacian_score(X.toarray()), rtol=1e-6)


def test_too_few_samples_give_a_warning_and_all_are_neighbours():
    with pytest.warns(UserWarning, match="n_neighbors=5 is more than the 3 other samples: all of them are taken"):
        scores = laplacian_score(np.random.default_rng(0).normal(size=(4, 3)))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
        ({"weights": "cosine"}, "weights must be 'heat' or 'binary', got 'cosine'"),
        ({"width": 0}, "width must be a number strictly between 0 and inf, got 0"),
        ({"width": "mean"}, "width must be a number strictly between 0 and inf, got 'mean'"),
    ],
)
def test_invalid_parameters_raise(parameters, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        LaplacianScore(**parameters).fit(np.eye(5))


def test_peak_memory_is_a_float32_copy_and_blocks():
    # 3000 x 2000: the data take 48 MB, a matrix of all distances would take 72 MB
    assert peak_megabytes("LaplacianScore(n_jobs=2)", 3000, 2000) < 24 + 80
