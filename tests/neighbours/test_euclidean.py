import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.neighbors import kneighbors_graph

from ilfs.execution import columns
from ilfs.neighbours import DistinctSamples, euclidean, graph, nearest_neighbours


def by_differences(X, k):
    squared = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(squared, order, axis=1)


def listed(X, k, n_jobs=None):
    """Neighbours of samples without ties: indices and squared distances, one row per sample."""
    found = nearest_neighbours(X, k, n_jobs)
    assert (found.places == 1).all()
    return found.indices.reshape(-1, k), found.squared.reshape(-1, k)


def heat_graph(X, *arguments, **options):
    return graph.heat_graph(DistinctSamples.from_samples(X), *arguments, **options)


def places_by_definition(X, k):
    """Matrix of places: samples at the k-th distance share the places that nearer ones leave."""
    squared = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    last = np.sort(squared, axis=1)[:, k - 1, None]
    nearer, tied = squared < last - 1e-9 * last, np.abs(squared - last) <= 1e-9 * last
    return nearer + tied * (k - nearer.sum(axis=1, keepdims=True)) / tied.sum(axis=1, keepdims=True)


def as_matrix(found, m):
    return sparse.csr_array((found.places, found.indices, found.indptr), shape=(m, m)).toarray()


@pytest.fixture(params=["double", "single"])
def precision(request, monkeypatch):
    """Run the test with products in float32 and in float64, and with blocks so small that there are many."""
    monkeypatch.setattr(euclidean, "MIN_PRODUCT_ROWS", 16)
    monkeypatch.setattr(euclidean, "SUMMED_FEATURES", 5)
    monkeypatch.setattr(columns, "DENSE_BLOCK_VALUES", 1000)
    monkeypatch.setattr(euclidean, "MIN_FLOAT32_MULTIPLICATIONS", 0 if request.param == "single" else np.inf)
    return request.param


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_neighbours_match_the_definition(form, precision):
    X = np.random.default_rng(0).normal(size=(300, 7))
    indices, squared = listed(form(X), 6, n_jobs=2)
    expected, distances = by_differences(X, 6)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squared, distances, rtol=1e-12)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_and_dense_samples_have_the_same_neighbours(form):
    X = np.random.default_rng(0).poisson(0.05, size=(150, 40)) * np.random.default_rng(1).uniform(1, 2, size=40)
    of_sparse, of_dense = nearest_neighbours(form(X), 4, n_jobs=2), nearest_neighbours(X, 4)
    for name in ("indptr", "indices", "squared", "places"):
        np.testing.assert_array_equal(getattr(of_sparse, name), getattr(of_dense, name))
    np.testing.assert_allclose(as_matrix(of_sparse, 150), places_by_definition(X, 4), rtol=1e-12)


@pytest.mark.parametrize("n_values", [1, 2, 4])
def test_ties_share_the_last_places(n_values, precision, monkeypatch):
    monkeypatch.setattr(euclidean, "MAX_TIED", 200)
    X = np.random.default_rng(0).integers(0, n_values, size=(200, 4)) / 3
    found = nearest_neighbours(X, 5)
    np.testing.assert_allclose(as_matrix(found, 200), places_by_definition(X, 5), rtol=1e-12)
    np.testing.assert_allclose(np.add.reduceat(found.places, found.indptr[:-1]), 5, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_distances_that_differ_by_rounding_tie(form):
    X = np.array([[0.3], [0.1], [0.1 + 0.2 + 0.2], [2.0], [3.0]])  # 0.3 - 0.1 < 0.5 - 0.3 by rounding
    assert X[0, 0] - X[1, 0] != X[2, 0] - X[0, 0]
    found = nearest_neighbours(form(X), 1)
    assert found.indices[:2].tolist() == [1, 2]
    assert found.places[:2].tolist() == [0.5, 0.5]


def test_counted_copies_give_the_same_neighbours_as_repeated_rows(precision):
    X = np.random.default_rng(0).integers(0, 3, size=(30, 3)).astype(float)
    X = X[np.random.default_rng(1).integers(0, 30, size=120)]
    samples = DistinctSamples.from_samples(X)
    found = nearest_neighbours(samples.X, 6, counts=samples.counts, rank=samples.rank)
    every = places_by_definition(X, 6)  # places of a distinct sample are those of its copies together
    together = sparse.csr_array((np.ones(120), (np.arange(120), samples.inverse))).toarray()
    np.testing.assert_allclose(as_matrix(found, samples.counts.size)[samples.inverse], every @ together, rtol=1e-12)


def test_places_that_too_many_tie_for_go_to_the_lowest_ranks(monkeypatch):
    monkeypatch.setattr(euclidean, "MAX_TIED", 4)
    rank = np.random.default_rng(0).permutation(20)
    found = nearest_neighbours(np.eye(20), 3, rank=rank)  # all are equally far from each other
    assert (np.diff(found.indptr) == 4).all()
    np.testing.assert_allclose(found.places, 3 / 4)
    for i in range(20):
        lowest = sorted(set(range(20)) - {i}, key=lambda j: rank[j])[:4]
        assert set(found.indices[found.first == i]) == set(lowest)


@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_a_large_mean_costs_no_precision(offset, precision):
    X = np.random.default_rng(0).integers(-100, 100, size=(60, 3)).astype(float)
    np.testing.assert_array_equal(listed(X + offset, 5)[0], by_differences(X, 5)[0])


def test_neighbours_in_tight_clusters_far_apart_match_the_definition(precision):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(4, 6)), 50, axis=0) + 1e-7 * rng.normal(size=(200, 6))
    indices, squared = listed(X, 5, n_jobs=2)
    expected, distances = by_differences(X, 5)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squared, distances, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-140, 1e-25, 1e25, 1e140])
def test_neighbours_do_not_depend_on_the_scale(scale, precision):
    X = np.random.default_rng(0).normal(size=(80, 5))
    np.testing.assert_array_equal(listed(scale * X, 5)[0], by_differences(X, 5)[0])


def test_most_rows_need_no_second_search(monkeypatch):
    X = np.random.default_rng(0).uniform(0, 1000, size=(1000, 1500))
    monkeypatch.setattr(euclidean, "_candidates", None)  # calling it would fail
    indices, _ = listed(X, 5)
    np.testing.assert_array_equal(indices, kneighbors_graph(X, 5).indices.reshape(-1, 5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_heat_graph_matches_the_definition(form, precision):
    X = np.random.default_rng(0).normal(size=(90, 6)) * (np.random.default_rng(1).random((90, 6)) < 0.08)
    W = heat_graph(form(X), 4, n_jobs=2).toarray()
    squared = np.square(X[:, None] - X[None]).sum(axis=2)
    t = 2 * pdist(X).sum() / 90**2
    one_way = places_by_definition(X, 4) * np.exp(-squared / (2 * t * t))
    inverse = DistinctSamples.from_samples(X).inverse  # many rows are zeros; the graph has one node for all of them
    together = sparse.csr_array((np.ones(90), (np.arange(90), inverse))).toarray()
    expected = together.T @ np.maximum(one_way, one_way.T) @ together
    # The mean distance is rounded to 36 bits, which changes the weights of distant samples most.
    np.testing.assert_allclose(W, expected, rtol=1e-10 if precision == "double" else 1e-3, atol=1e-12)


def test_binary_graph_equals_that_of_scikit_learn():
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


def test_width_scales_the_heat_weights():
    X = np.array([[0.0], [1.0], [3.0]])
    np.testing.assert_allclose(heat_graph(X, 1, width=2.0).toarray()[[0, 1], [1, 2]], np.exp([-1 / 8, -4 / 8]))


def test_all_samples_are_neighbours_if_more_are_asked_for():
    with pytest.warns(UserWarning, match="n_neighbors=5 is more than the 2 other samples: all of them are taken"):
        assert heat_graph(np.array([[0.0], [1.0], [3.0]]), 5).nnz == 6


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_graph_does_not_depend_on_the_number_of_threads(form, precision):
    X = np.random.default_rng(0).poisson(0.1, size=(200, 30)).astype(float)
    one, three = heat_graph(form(X), 5, n_jobs=1), heat_graph(form(X), 5, n_jobs=3)
    assert (one != three).nnz == 0
