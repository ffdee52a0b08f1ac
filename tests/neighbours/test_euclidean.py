import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.neighbors import kneighbors_graph

from ilfs.execution import columns
from ilfs.neighbours import euclidean, heat_graph, nearest_neighbours


def by_differences(X, k):
    squared = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(squared, order, axis=1)


@pytest.fixture(params=["double", "single"])
def precision(request, monkeypatch):
    """Products in float32 as well, and blocks so small that there are many."""
    monkeypatch.setattr(euclidean, "SMALL_BLOCK", 16)
    monkeypatch.setattr(euclidean, "SUMMED", 5)
    monkeypatch.setattr(columns, "PART_CELLS", 1000)
    monkeypatch.setattr(euclidean, "SINGLE_WORK", 0 if request.param == "single" else np.inf)
    return request.param


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_neighbours_by_definition(form, precision):
    X = np.random.default_rng(0).normal(size=(300, 7))
    indices, squared = nearest_neighbours(form(X), 6, n_jobs=2)
    expected, distances = by_differences(X, 6)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squared, distances, rtol=1e-12)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_neighbours_of_sparse_samples(form):
    X = np.random.default_rng(0).poisson(0.05, size=(150, 40)) * np.random.default_rng(1).uniform(1, 2, size=40)
    indices, squared = nearest_neighbours(form(X), 4, n_jobs=2)
    dense_indices, dense_squared = nearest_neighbours(X, 4)
    np.testing.assert_array_equal(indices, dense_indices)
    np.testing.assert_array_equal(squared, dense_squared)
    np.testing.assert_array_equal(indices, by_differences(X, 4)[0])


@pytest.mark.parametrize("n_values", [1, 2, 4])
def test_ties_go_to_those_that_come_first(n_values, precision):
    X = np.random.default_rng(0).integers(0, n_values, size=(200, 4)).astype(float)
    np.testing.assert_array_equal(nearest_neighbours(X, 5)[0], by_differences(X, 5)[0])


def test_a_copy_may_be_a_neighbour_but_not_the_sample_itself(precision):
    indices, squared = nearest_neighbours(np.zeros((4, 2)), 3)
    assert indices.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert not squared.any()


@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_an_offset_costs_no_precision(offset, precision):
    X = np.random.default_rng(0).integers(-100, 100, size=(60, 3)).astype(float)
    np.testing.assert_array_equal(nearest_neighbours(X + offset, 5)[0], by_differences(X, 5)[0])


def test_tight_clusters_far_apart(precision):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(4, 6)), 50, axis=0) + 1e-7 * rng.normal(size=(200, 6))
    indices, squared = nearest_neighbours(X, 5, n_jobs=2)
    expected, distances = by_differences(X, 5)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squared, distances, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-140, 1e-25, 1e25, 1e140])
def test_any_scale(scale, precision):
    X = np.random.default_rng(0).normal(size=(80, 5))
    np.testing.assert_array_equal(nearest_neighbours(scale * X, 5)[0], by_differences(X, 5)[0])


def test_most_rows_need_no_second_look(monkeypatch):
    X = np.random.default_rng(0).uniform(0, 1000, size=(1000, 1500))
    monkeypatch.setattr(euclidean, "_candidates", None)  # calling it would fail
    indices, _ = nearest_neighbours(X, 5)
    np.testing.assert_array_equal(indices, kneighbors_graph(X, 5).indices.reshape(-1, 5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_heat_graph_by_definition(form, precision):
    X = np.random.default_rng(0).normal(size=(90, 6)) * (np.random.default_rng(1).random((90, 6)) < 0.08)
    W = heat_graph(form(X), 4, n_jobs=2).toarray()
    order, squared = by_differences(X, 4)
    t = 2 * pdist(X).sum() / 90**2
    expected = np.zeros((90, 90))
    np.put_along_axis(expected, order, np.exp(-squared / (2 * t * t)), axis=1)
    np.testing.assert_allclose(W, np.maximum(expected, expected.T), rtol=1e-10 if precision == "double" else 1e-3)


def test_binary_graph_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(70, 4))
    theirs = kneighbors_graph(X, 3).toarray()
    np.testing.assert_array_equal(heat_graph(X, 3, weights="binary").toarray(), np.maximum(theirs, theirs.T))


def test_graph_is_symmetric_positive_and_without_loops():
    X = np.random.default_rng(0).normal(size=(100, 3))
    X[0] = 1e6  # so far away that its weights would underflow
    W = heat_graph(X, 5)
    assert (W != W.T).nnz == 0
    assert W.data.min() > 0
    assert not W.diagonal().any()


def test_width_of_the_heat():
    X = np.array([[0.0], [1.0], [3.0]])
    np.testing.assert_allclose(heat_graph(X, 1, width=2.0).toarray()[[0, 1], [1, 2]], np.exp([-1 / 8, -4 / 8]))


def test_more_neighbours_than_samples_are_all_of_them():
    with pytest.warns(UserWarning, match="n_neighbors=5 is more than the 2 other samples: all of them are taken"):
        assert heat_graph(np.array([[0.0], [1.0], [3.0]]), 5).nnz == 6


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_graph_does_not_depend_on_the_number_of_threads(form, precision):
    X = np.random.default_rng(0).poisson(0.1, size=(200, 30)).astype(float)
    one, three = heat_graph(form(X), 5, n_jobs=1), heat_graph(form(X), 5, n_jobs=3)
    assert (one != three).nnz == 0
