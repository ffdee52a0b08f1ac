import numpy as np
import pytest
from scipy import sparse

from ilfs.graphs import nearest_neighbours


def by_differences(X, k):
    squared = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(squared, order, axis=1)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_neighbours_by_definition(form):
    X = np.random.default_rng(0).normal(size=(300, 7))
    indices, squared = nearest_neighbours(form(X), 6, n_jobs=2)
    expected, distances = by_differences(X, 6)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squared, distances, rtol=1e-12)


def test_ties_go_to_those_that_come_first():
    X = np.random.default_rng(0).integers(0, 2, size=(80, 4)).astype(float)
    np.testing.assert_array_equal(nearest_neighbours(X, 5)[0], by_differences(X, 5)[0])


def test_a_copy_may_be_a_neighbour_but_not_the_sample_itself():
    indices, squared = nearest_neighbours(np.zeros((4, 2)), 3)
    assert indices.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert not squared.any()


def test_an_offset_costs_no_precision():
    X = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_array_equal(nearest_neighbours(X + 1e6, 5)[0], by_differences(X, 5)[0])
