"""LLCFS against its definition sample by sample, ridge regression, LAPACK and the authors' toolbox."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load, oracle, peak_megabytes
from scipy import sparse

from ilfs import LLCFS
from ilfs.methods import llcfs as method
from ilfs.methods.llcfs import (
    coefficient_norms,
    eigenvector_fractions,
    local_regressions,
    local_ridge,
    merge_equal_rows,
    prediction_matrix,
    reweighted,
    smallest_eigenvectors,
    smooth_clusters,
)
from ilfs.neighbours import nearest_neighbours


def groups(n_samples=90, n_features=25, n_informative=4, seed=0):
    """Two groups that differ in the first columns, with noise in the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X[:, :n_informative] = 0.5 * X[:, :n_informative] + 2.0 * (np.arange(n_samples) % 2)[:, None]
    return X - X.mean(axis=0)


def noise(n_samples=90, n_features=25, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_samples, n_features))
    return X - X.mean(axis=0)


def step_by_definition(X, tau, n_neighbors, n_clusters, beta):
    """A, M, Y and the new weights, computed sample by sample as in the paper."""
    m, k = len(X), n_neighbors
    weighted = X * np.sqrt(tau)
    neighbours = nearest_neighbours(weighted, k).indices.reshape(m, k)
    H, A, G = np.eye(k) - 1 / k, np.zeros((m, m)), []
    for i in range(m):
        K = weighted[neighbours[i]] @ weighted[neighbours[i]].T
        G.append(beta * (H - H @ np.linalg.inv(H @ K @ H + np.eye(k) / beta) @ H @ K @ H))
        A[i, neighbours[i]] = (weighted[i] @ weighted[neighbours[i]].T - K.mean(axis=0)) @ G[i] + 1 / k
    M = (np.eye(m) - A).T @ (np.eye(m) - A)
    Y = np.linalg.eigh(M)[1][:, :n_clusters]
    squares = sum((((X[near] * tau).T @ G[i] @ Y[near]) ** 2).sum(axis=1) for i, near in enumerate(neighbours))
    return A, M, Y, np.sqrt(squares) / np.sqrt(squares).sum()


def neighbourhoods(X, n_neighbors, beta):
    found = nearest_neighbours(X, n_neighbors)
    return [local_regressions(X, found, *lists, beta, None) for lists in found.by_length()]


@pytest.mark.parametrize(("n_neighbors", "n_clusters", "beta"), [(5, 2, 0.1), (6, 3, 1.0), (12, 4, 30.0)])
def test_one_step_equals_the_definition(n_neighbors, n_clusters, beta):
    X = groups()
    tau = np.random.default_rng(1).dirichlet(np.ones(25))
    A, M, Y, expected = step_by_definition(X, tau, n_neighbors, n_clusters, beta)
    weighted = X * np.sqrt(tau)
    hoods = neighbourhoods(weighted, n_neighbors, beta)
    ours = prediction_matrix(hoods, 90)
    np.testing.assert_allclose(ours.toarray(), A, atol=1e-12)
    values, _ = smallest_eigenvectors((sparse.eye_array(90) - ours).tocsr(), 5, 2, None, None)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(M)[:5], atol=1e-12)
    found, _ = smooth_clusters(ours, np.ones(90), n_clusters)
    np.testing.assert_allclose(found @ found.T, Y @ Y.T, atol=1e-8)
    alphas = [hood.duals @ found[hood.neighbours] for hood in hoods]
    norms = coefficient_norms(X, np.ones(90), hoods, alphas, None)
    np.testing.assert_allclose(tau * norms / (tau @ norms), expected, rtol=1e-8)
    np.testing.assert_allclose(
        reweighted(X, np.ones(90), tau, n_neighbors, n_clusters, beta, None)[0], expected, rtol=1e-8
    )


def test_all_steps_equal_the_definition():
    X = noise()
    tau = np.full(25, 1 / 25)
    for _ in range(6):
        tau = step_by_definition(X, tau, 8, 2, 0.1 / X.var(axis=0).mean())[-1]
    done = LLCFS(n_neighbors=8, max_iter=6, tol=1e-12).fit(X)
    assert done.n_iter_ == 6
    np.testing.assert_allclose(done.scores_, tau, rtol=1e-6)


def test_predictors_equal_ridge_regression_on_the_neighbours():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 4)), rng.normal(size=8)
    differences = X[1:] - X[0]
    predictors, _ = local_ridge((differences @ differences.T)[None], np.ones((1, 8)), beta=3.0)
    mean = X[1:].mean(axis=0)
    Z = X[1:] - mean
    w = np.linalg.solve(Z.T @ Z + np.eye(4) / 3.0, Z.T @ (y - y.mean()))
    assert predictors[0] @ y == pytest.approx(w @ (X[0] - mean) + y.mean(), rel=1e-10)


def test_a_neighbour_with_two_places_equals_two_neighbours():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 4)), rng.normal(size=6)
    differences = X[1:] - X[0]
    copied = np.vstack([differences, differences[-1:]])
    once, _ = local_ridge((differences @ differences.T)[None], np.array([[1.0, 1.0, 1.0, 1.0, 2.0]]), beta=3.0)
    twice, _ = local_ridge((copied @ copied.T)[None], np.ones((1, 6)), beta=3.0)
    assert once[0] @ y[1:] == pytest.approx(twice[0] @ np.append(y[1:], y[-1]), rel=1e-10)


def test_predictors_of_weighted_neighbours_equal_weighted_ridge_regression():
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(6, 4)), rng.normal(size=5), np.array([1.0, 1.0, 0.5, 0.25, 0.25])
    differences = X[1:] - X[0]
    predictors, duals = local_ridge((differences @ differences.T)[None], s[None], beta=3.0)
    Z, ones = np.column_stack([X[1:], np.ones(5)]), np.diag([1.0] * 4 + [0.0])
    w = np.linalg.solve(Z.T @ (s[:, None] * Z) + ones / 3.0, Z.T @ (s * y))
    assert predictors[0] @ y == pytest.approx(w[:4] @ X[0] + w[4], rel=1e-10)
    np.testing.assert_allclose(X[1:].T @ duals[0] @ y, w[:4], rtol=1e-10)


def test_rows_equal_in_the_weighted_columns_are_merged_with_their_counts():
    X = np.column_stack([np.repeat([0.0, 1.0, 3.0], 4), np.arange(12.0)])
    weighted, means, counts = merge_equal_rows(X[:, :1], X, np.ones(12))
    order = np.argsort(weighted[:, 0])
    assert weighted[order, 0].tolist() == [0.0, 1.0, 3.0]
    assert means[order].tolist() == [[0.0, 1.5], [1.0, 5.5], [3.0, 9.5]]
    assert counts.tolist() == [4.0, 4.0, 4.0]


def test_a_constant_is_predicted_exactly():
    X = groups()
    for hood in neighbourhoods(np.vstack([X, X[:5]]), 6, 0.5):  # with ties and without
        np.testing.assert_allclose(hood.predictors.sum(axis=1), 1.0, rtol=1e-12)


def test_weights_sum_to_one_even_with_constant_columns():
    done = LLCFS().fit(np.insert(groups(), 3, 7.0, axis=1))
    assert done.weights_.sum() == pytest.approx(1.0, rel=1e-12)
    assert done.weights_[3] == 0.0
    np.testing.assert_array_equal(done.weights_, done.scores_)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_neighbors", [10, 20])
def test_planted_groups_are_found(seed, n_neighbors):
    done = LLCFS(n_neighbors=n_neighbors).fit(groups(seed=seed))
    assert set(done.order_[:4].tolist()) == {0, 1, 2, 3}
    assert done.weights_[:4].sum() > 0.4  # 4 of 25 features


def test_iteration_stops_when_the_groups_are_separate_components():
    done = LLCFS().fit(groups())
    assert 1 < done.n_iter_ < 20
    assert done.changes_[-1] == 0.0


def random_walk(n_samples, n_neighbors, seed=0):
    """I - A for random points in the plane, where A predicts a point by the mean of its neighbours."""
    X = np.random.default_rng(seed).normal(size=(n_samples, 2))
    found = nearest_neighbours(X, n_neighbors)
    A = sparse.csr_array((found.places / n_neighbors, found.indices, found.indptr), shape=(n_samples, n_samples))
    return (sparse.eye_array(n_samples) - A).tocsr()


def test_filtered_eigenvectors_equal_those_of_lapack(monkeypatch):
    residual = random_walk(400, 8)
    values, vectors = smallest_eigenvectors(residual, 10, 6, None, 2)
    monkeypatch.setattr(method, "MAX_DENSE_SAMPLES", 0)
    found, directions = smallest_eigenvectors(residual, 10, 6, None, 2)
    np.testing.assert_allclose(found[:6], values[:6], atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(directions[:, :3] * vectors[:, :3], axis=0)), 1.0, atol=1e-6)


def test_filtered_eigenvectors_of_a_disconnected_graph_are_constant_on_its_components(monkeypatch):
    residual = sparse.block_diag([random_walk(150, 8, seed) for seed in range(3)], format="csr")
    monkeypatch.setattr(method, "MAX_DENSE_SAMPLES", 0)
    values, vectors = smallest_eigenvectors(residual, 10, 6, None, 2)
    np.testing.assert_allclose(values[:3], 0.0, atol=1e-9)
    constants = np.kron(np.eye(3), np.ones((150, 1)) / np.sqrt(150))
    np.testing.assert_allclose(vectors[:, :3] @ vectors[:, :3].T, constants @ constants.T, atol=1e-6)


def test_equal_eigenvalues_get_equal_fractions_of_the_last_places():
    np.testing.assert_allclose(eigenvector_fractions(np.array([0.0, 0.0, 0.0, 0.5]), 2), [2 / 3, 2 / 3, 2 / 3, 0.0])
    np.testing.assert_allclose(eigenvector_fractions(np.array([0.0, 0.1, 0.1, 0.5]), 2), [1.0, 0.5, 0.5, 0.0])
    np.testing.assert_allclose(eigenvector_fractions(np.array([0.0, 0.1, 0.2, 0.5]), 2), [1.0, 1.0, 0.0, 0.0])


def test_neighbourhoods_within_one_cluster_give_a_warning():
    # twenty tight groups far apart: every prediction is a constant
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8)) + 100 * rng.normal(size=(20, 8))[np.arange(120) % 20]
    with pytest.warns(UserWarning, match="n_clusters=2 all neighbours are in the same cluster, so no feature"):
        done = LLCFS(n_neighbors=4).fit(X)
    np.testing.assert_array_equal(done.scores_, 1 / 8)


def test_permuting_rows_and_columns_permutes_the_scores():
    X = noise()
    rng = np.random.default_rng(1)
    columns, samples = rng.permutation(25), rng.permutation(90)
    one, two = LLCFS().fit(X), LLCFS().fit(X[samples][:, columns])
    np.testing.assert_allclose(two.scores_, one.scores_[columns], rtol=1e-6, atol=1e-12)


def test_unit_and_offset_of_the_table_do_not_matter():
    X = noise()
    np.testing.assert_allclose(
        LLCFS().fit(1e5 * X - np.arange(25)).scores_, LLCFS().fit(X).scores_, rtol=1e-5, atol=1e-9
    )


def test_repeated_samples_give_finite_scores():
    X = np.repeat(noise(30), 3, axis=0)
    done = LLCFS(n_neighbors=8).fit(X)
    assert np.isfinite(done.scores_).all()
    assert done.scores_.sum() == pytest.approx(1.0)


def test_iteration_stops_when_the_weights_converge():
    every = LLCFS(tol=1e-12).fit(noise()).changes_
    tol = float(np.sort(every)[3])
    done = LLCFS(tol=tol).fit(noise())
    assert done.n_iter_ == 1 + int(np.argmax(every <= tol)) < 20


def test_dropping_columns_without_weight_does_not_change_the_scores(monkeypatch):
    X = noise()
    before = LLCFS().fit(X).scores_
    monkeypatch.setattr(method, "MIN_VARIANCE_FRACTION", 0.0)
    np.testing.assert_allclose(LLCFS().fit(X).scores_, before, rtol=1e-6, atol=1e-14)


def test_too_few_samples_give_a_warning():
    with pytest.warns(UserWarning, match="n_neighbors=9 is more than the 5 other samples: all of them are taken"):
        LLCFS(n_neighbors=9).fit(groups(6))
    with pytest.warns(UserWarning, match="n_clusters=6 must be less than the 6 samples: using 5"):
        LLCFS(n_clusters=6, n_neighbors=3).fit(groups(6))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer >= 1, got 0"),
        ({"n_neighbors": "5"}, "n_neighbors must be an integer >= 1, got '5'"),
        ({"beta": 0.0}, "beta must be a number strictly between 1e-12 and 1e\\+12, got 0.0"),
        ({"max_iter": True}, "max_iter must be an integer >= 1, got True"),
        ({"tol": -1}, "tol must be a number > 0, got -1"),
    ],
)
def test_invalid_parameters_raise(parameters, message):
    with pytest.raises(ValueError, match=message):
        LLCFS(**parameters).fit(groups())


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30", "allaml_72x400"])
def test_weights_equal_those_of_the_authors_toolbox(name):
    X, _, weights, _ = oracle(name, "llcfs")
    beta = 0.1 * X.var(axis=0).mean()  # the toolbox has beta in units of X
    np.testing.assert_allclose(
        LLCFS(n_neighbors=5, beta=beta, tol=1e-12).fit(X).scores_, weights, rtol=1e-6, atol=1e-12
    )


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_permuting_columns_of_gene_expression_data_permutes_the_scores():
    X, _ = load("colon")
    order = np.random.default_rng(0).permutation(X.shape[1])
    one, two = LLCFS(max_iter=8).fit(X), LLCFS(max_iter=8).fit(X[:, order])
    np.testing.assert_allclose(two.scores_, one.scores_[order], rtol=1e-6, atol=1e-14)


def test_peak_memory_is_two_and_a_half_copies_of_the_table():
    # two copies of the table (24 MB each), half a copy for the neighbour search, and blocks
    assert peak_megabytes("LLCFS(n_jobs=2, max_iter=2)", 1500, 2000) < 60 + 90
