"""UDFS against its definition sample by sample, exact eigenproblems and the authors' toolbox."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load, oracle, peak_megabytes
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from ilfs import UDFS
from ilfs.methods import udfs as method
from ilfs.methods.udfs import (
    DenseScatter,
    DenseShiftedScatter,
    LowRankScatter,
    RefinedShiftedScatter,
    neighbourhood_laplacian,
    pseudo_random_columns,
    sparse_projections,
)
from ilfs.neighbours import DistinctSamples, nearest_neighbours


def table(n_samples=70, n_features=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 2, n_features)
    X[: n_samples // 2, :3] += 4.0
    return X - X.mean(axis=0)


def laplacian_by_definition(X, n_neighbors, ridge_value):
    """Sum of S_i H (lambda I + Z Z')^-1 H S_i' over all neighbourhoods, sample by sample."""
    L = np.zeros((len(X), len(X)))
    for i, neighbours in enumerate(nearest_neighbours(X, n_neighbors).indices.reshape(-1, n_neighbors)):
        members = [i, *neighbours]
        H = np.eye(n_neighbors + 1) - 1 / (n_neighbors + 1)
        Z = H @ X[members]
        L[np.ix_(members, members)] += H @ np.linalg.inv(ridge_value * np.eye(n_neighbors + 1) + Z @ Z.T) @ H
    return L


def ridge(X, n_neighbors, regularization):
    return regularization * nearest_neighbours(X, n_neighbors).squared.mean()


def scatter_by_definition(X, n_neighbors, regularization):
    return X.T @ laplacian_by_definition(X, n_neighbors, ridge(X, n_neighbors, regularization)) @ X


def make_scatter(X, kind, n_neighbors=4, regularization=1e-3):
    return kind(X, neighbourhood_laplacian(X, np.ones(len(X)), n_neighbors, regularization, None), None)


def subspace(V):
    return V @ V.T


@pytest.mark.parametrize(("n_neighbors", "regularization"), [(1, 1e-5), (4, 1e-3), (8, 2.0)])
def test_laplacian_equals_the_definition(n_neighbors, regularization):
    X = table()
    L = neighbourhood_laplacian(X, np.ones(len(X)), n_neighbors, regularization, None)
    expected = laplacian_by_definition(X, n_neighbors, ridge(X, n_neighbors, regularization))
    np.testing.assert_allclose(L.toarray(), expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-9 * np.abs(expected).max())


def test_counted_and_repeated_copies_give_the_same_scatter():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(25, 4)).astype(float)[rng.integers(0, 25, size=60)]
    samples = DistinctSamples.from_samples(X)
    counted = neighbourhood_laplacian(samples.X, samples.counts, 3, 1e-2, None)
    repeated = neighbourhood_laplacian(X, np.ones(60), 3, 1e-2, None)
    expected = X.T @ repeated @ X
    np.testing.assert_allclose(samples.X.T @ counted @ samples.X, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [DenseScatter, LowRankScatter])
@pytest.mark.parametrize("shape", [(70, 30), (40, 90)])
def test_scatter_and_its_inverse_equal_the_definition(kind, shape):
    X = table(*shape)
    scatter, A = make_scatter(X, kind), scatter_by_definition(X, 4, 1e-3)
    shift = np.random.default_rng(0).uniform(0.1, 5, shape[1])
    np.testing.assert_allclose(scatter.times(np.eye(shape[1])), A, atol=1e-10)
    np.testing.assert_allclose(scatter.diagonal(), A.diagonal(), atol=1e-10)
    inverse = np.linalg.inv(A + np.diag(shift))
    shifted, V = scatter.shifted(shift, 1), np.eye(shape[1])
    np.testing.assert_allclose(shifted.solve(V), inverse, atol=1e-8)
    x, product = shifted.solve_and_multiply(V)
    np.testing.assert_allclose(x, inverse, atol=1e-8)
    np.testing.assert_allclose(product, A @ inverse, atol=1e-8)


def test_solutions_with_a_float32_factor_are_as_exact_as_in_float64(monkeypatch):
    monkeypatch.setattr(method, "MIN_FLOAT32_FEATURES", 10)
    scatter, A = make_scatter(table(), DenseScatter), scatter_by_definition(table(), 4, 1e-3)
    # shifts of very different size, as those of features with and without weight
    shift, V = np.geomspace(0.1, 1e6, 30), np.random.default_rng(0).normal(size=(30, 4))
    shifted = scatter.shifted(shift, 1)
    assert isinstance(shifted, RefinedShiftedScatter)
    x, product = shifted.solve_and_multiply(V)
    np.testing.assert_allclose(x, np.linalg.solve(A + np.diag(shift), V), rtol=1e-7)
    np.testing.assert_allclose(product, A @ x, rtol=1e-9, atol=1e-9)
    assert shifted.exact is None
    assert np.isfinite(shifted.solve(np.zeros((30, 1)))).all()


@pytest.mark.parametrize("shift", [1e-9, 1e-12])
def test_ill_conditioned_matrices_are_factorised_in_float64(shift, monkeypatch):
    monkeypatch.setattr(method, "MIN_FLOAT32_FEATURES", 10)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 3)) @ rng.normal(size=(3, 30)) + 1e-3 * rng.normal(size=(70, 30))
    scatter, V = make_scatter(X, DenseScatter), rng.normal(size=(30, 4))
    shifts = np.full(30, shift * scatter.diagonal().max())
    x = scatter.shifted(shifts, 1).solve(V)
    np.testing.assert_allclose(scatter.A @ x + shifts[:, None] * x, V, atol=1e-4)
    assert not scatter.float32_suffices  # for all later shifts, too
    assert isinstance(scatter.shifted(shifts, 1), DenseShiftedScatter)


@pytest.mark.parametrize("gamma", [1e-3, 0.1])
def test_float32_factors_do_not_change_the_order(gamma, monkeypatch):
    X = table(400, 300)
    expected = UDFS(gamma=gamma).fit(X)
    monkeypatch.setattr(method, "MIN_FLOAT32_FEATURES", 250)
    found = [UDFS(gamma=gamma, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(found[0].order_, expected.order_)
    np.testing.assert_allclose(found[0].scores_, expected.scores_, rtol=1e-7)
    np.testing.assert_array_equal(found[0].scores_, found[1].scores_)


@pytest.mark.parametrize("shape", [(70, 30), (40, 90), (120, 260), (300, 260)])
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 3.0])
def test_dense_and_low_rank_scatter_give_the_same_map(shape, gamma):
    X = table(*shape)
    start = pseudo_random_columns(X, 6)
    dense, low_rank = (
        list(sparse_projections(make_scatter(X, kind), start, 3, gamma, 1e-6, 60))
        for kind in (DenseScatter, LowRankScatter)
    )
    assert len(dense) == len(low_rank)
    np.testing.assert_allclose(subspace(dense[-1].W), subspace(low_rank[-1].W), atol=1e-5)


@pytest.mark.filterwarnings("ignore:the objective did not converge")
@pytest.mark.parametrize("shape", [(70, 30), (40, 90), (120, 260), (300, 260)])
@pytest.mark.parametrize("gamma", [1e-5, 0.1, 10.0])
def test_the_objective_never_rises(shape, gamma):
    objective = UDFS(gamma=gamma, tol=1e-9, max_iter=100, n_clusters=3).fit(table(*shape)).objective_
    assert objective.size > 1
    assert np.all(np.diff(objective) <= 1e-12 * objective[1:])


def test_the_objective_equals_that_of_the_paper():
    X = table()
    done = UDFS(n_clusters=3, gamma=0.5).fit(X)
    A, W = scatter_by_definition(X, 5, 1e-5), done.projection_
    np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-10)
    expected = np.trace(W.T @ A @ W) + 0.5 * np.linalg.norm(W, axis=1).sum()
    assert done.objective_[-1] == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(done.scores_, np.linalg.norm(W, axis=1), rtol=1e-12)


@pytest.mark.parametrize("shape", [(70, 30), (90, 300)])
def test_the_converged_map_solves_its_own_eigenproblem(shape):
    X = table(*shape)
    done = UDFS(n_clusters=3, gamma=0.5, tol=1e-13, max_iter=2000).fit(X)
    A, lengths = scatter_by_definition(X, 5, 1e-5), done.scores_
    D = np.diag(0.5 / np.sqrt(lengths**2 + method.SMOOTHING_FRACTION * 3 / lengths.size))
    vectors = np.linalg.eigh(np.linalg.inv(A + 0.5 * D))[1][:, -3:]
    np.testing.assert_allclose(subspace(done.projection_), subspace(vectors), atol=1e-5)


def test_subspace_steps_converge_to_the_result_of_exact_steps(monkeypatch):
    X = table(300, 100)
    exact = UDFS(gamma=0.5, tol=1e-10, max_iter=1000).fit(X)
    monkeypatch.setattr(method, "MAX_EXACT_FEATURES", 0)
    inexact = UDFS(gamma=0.5, tol=1e-10, max_iter=1000).fit(X)
    assert inexact.objective_[-1] == pytest.approx(exact.objective_[-1], rel=1e-7)
    np.testing.assert_allclose(inexact.scores_, exact.scores_, atol=1e-3)


def test_a_loose_tolerance_gives_the_final_order_of_features_without_weight():
    X = table(120, 300)
    early, late = (UDFS(gamma=1.0, tol=tol, max_iter=2000).fit(X) for tol in (1e-3, 1e-12))
    without = late.scores_ < 1e-5
    assert 100 < without.sum() < 300
    assert early.n_iter_ < late.n_iter_ / 2
    assert spearmanr(early.scores_[without], late.scores_[without]).statistic > 0.999


@pytest.mark.parametrize("shape", [(300, 260), (40, 260), (40, 90)])
def test_permuting_the_columns_permutes_the_scores(shape):
    X = table(*shape)
    order = np.random.default_rng(1).permutation(shape[1])
    one, two = UDFS().fit(X), UDFS().fit(X[:, order])
    np.testing.assert_allclose(two.scores_, one.scores_[order], rtol=1e-4, atol=1e-7)


def test_permuting_the_rows_does_not_change_the_scores():
    X = table()
    one, two = UDFS().fit(X), UDFS().fit(X[np.random.default_rng(1).permutation(70)])
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-6)


@pytest.mark.parametrize("shape", [(70, 30), (40, 300)])
def test_unit_and_offset_of_the_table_do_not_matter(shape):
    X = table(*shape)
    shifted = 1e4 * X - np.arange(shape[1])
    np.testing.assert_allclose(UDFS().fit(shifted).scores_, UDFS().fit(X).scores_, rtol=1e-4, atol=1e-8)


def test_a_large_gamma_leaves_as_many_features_as_clusters():
    scores = np.sort(UDFS(n_clusters=4, gamma=1e3).fit(table(60, 120)).scores_)[::-1]
    np.testing.assert_allclose(scores[:4], 1.0, atol=1e-6)
    assert scores[4] < 1e-3


def test_features_constant_within_neighbourhoods_rank_before_noise():
    # two tight groups in the first columns, noise in the others: the map must avoid features that vary among neighbours
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20))
    X[:, :3] = 0.05 * X[:, :3] + 3.0 * (np.arange(100) % 2)[:, None]
    assert set(UDFS(n_clusters=2).fit(X).order_[:3].tolist()) == {0, 1, 2}


def test_repeated_samples_give_finite_scores():
    X = np.repeat(table(20, 12), 2, axis=0)
    assert np.isfinite(UDFS(n_neighbors=1).fit(X).scores_).all()


def test_too_few_features_or_samples_give_a_warning():
    with pytest.warns(
        UserWarning, match="n_clusters=5 must be less than the 3 features that are not constant: using 2"
    ):
        UDFS().fit(table()[:, :3])
    with pytest.warns(UserWarning, match="n_neighbors=9 is more than the 5 other samples: all of them are taken"):
        UDFS(n_neighbors=9).fit(table(6, 10))


def test_too_few_steps_give_a_convergence_warning():
    with pytest.warns(ConvergenceWarning, match=r"did not converge to tol=1e-12 in max_iter=2 steps"):
        UDFS(max_iter=2, tol=1e-12).fit(table())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer >= 1, got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be an integer >= 1, got 2.0"),
        ({"gamma": 0}, "gamma must be a number > 0, got 0"),
        ({"regularization": -1}, "regularization must be a number > 0, got -1"),
        ({"regularization": np.inf}, "regularization must be a number > 0, got inf"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"tol": "small"}, "tol must be a number > 0, got 'small'"),
    ],
)
def test_invalid_parameters_raise(parameters, message):
    with pytest.raises(ValueError, match=message):
        UDFS(**parameters).fit(table())


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30"])
def test_squared_scores_equal_the_weights_of_the_authors_toolbox(name):
    X, _, weights, _ = oracle(name, "udfs")
    fraction = 1e-5 / nearest_neighbours(X, 1).squared.mean()  # the toolbox has lambda in squared units of X
    done = UDFS(n_clusters=2, n_neighbors=1, gamma=1e-5, regularization=fraction, tol=1e-14).fit(X)
    np.testing.assert_allclose(done.scores_**2, weights, rtol=1e-7, atol=1e-9)


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_permuting_columns_of_gene_expression_data_permutes_the_scores():
    X, _ = load("colon")
    order = np.random.default_rng(0).permutation(X.shape[1])
    one, two = UDFS().fit(X), UDFS().fit(X[:, order])
    assert np.all(np.diff(one.objective_) <= 0)
    np.testing.assert_allclose(two.scores_, one.scores_[order], rtol=1e-4, atol=1e-8)


def test_peak_memory_with_many_samples_is_a_copy_and_two_square_matrices():
    # a copy of the table (24 MB), A and its factor (8 MB each), and blocks
    assert peak_megabytes("UDFS(n_jobs=2, max_iter=5)", 3000, 1000) < 24 + 16 + 80


def test_peak_memory_with_many_features_is_three_copies_of_the_table():
    # three copies of the table (16 MB each), samples x samples matrices, and blocks
    assert peak_megabytes("UDFS(n_jobs=2, max_iter=5)", 200, 10000) < 48 + 80


@pytest.mark.parametrize(
    "parameters", [{"gamma": 1e-10}, {"gamma": 1e-5, "regularization": 1e-10}, {"regularization": 1e-15}]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scores_are_finite_if_rounding_makes_the_scatter_indefinite(parameters):
    one_hot = [np.eye(k)[np.random.default_rng(k).integers(0, k, 100)] for k in (4, 3)]
    assert np.isfinite(UDFS(**parameters).fit(np.hstack(one_hot)).scores_).all()
