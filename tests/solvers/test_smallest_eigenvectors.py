"""Chebyshev-filtered subspace iteration against LAPACK and closed forms."""

import numpy as np
import pytest
from scipy import sparse

from ilfs.kernels.chebyshev import chebyshev_filter
from ilfs.solvers.smallest_eigenvectors import Gram, filtered_subspace


def path_laplacian(n):
    """Laplacian of a path, whose eigenvalues are 2 - 2 cos(pi k / n)."""
    degree = np.full(n, 2.0)
    degree[[0, -1]] = 1.0
    return sparse.diags_array([degree, -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, 1, -1]).tocsr()


def start(n, n_vectors=16):
    return np.random.default_rng(0).standard_normal((n, n_vectors))


def test_tiny_eigenvalues_of_a_long_path_are_exact():
    # The eigenvalues of R'R are fourth powers of k / n: 7e-11, 1e-9, ... of the largest one.
    n = 1000
    values, vectors = filtered_subspace(path_laplacian(n), start(n), 4, 0.0)
    k = np.arange(4)
    np.testing.assert_allclose(values[:4], (2 - 2 * np.cos(np.pi * k / n)) ** 2, rtol=1e-3, atol=1e-16)
    waves = np.cos(np.pi * np.outer(np.arange(n) + 0.5, k) / n)
    waves /= np.linalg.norm(waves, axis=0)
    np.testing.assert_allclose(np.abs(np.sum(waves * vectors[:, :4], axis=0)), 1.0, atol=1e-6)


def test_wanted_vectors_include_those_that_tie_with_the_last():
    # three copies of a path: every eigenvalue is threefold, and two wanted ones mean all three of eigenvalue 0
    R = sparse.block_diag([path_laplacian(60)] * 3, format="csr")
    values, vectors = filtered_subspace(R, start(180), 2, 1e-8)
    constants = np.kron(np.eye(3), np.ones((60, 1)) / np.sqrt(60))
    np.testing.assert_allclose(values[:3], 0.0, atol=1e-12)
    assert values[3] > 1e-8
    np.testing.assert_allclose(vectors[:, :3] @ vectors[:, :3].T, constants @ constants.T, atol=1e-7)


@pytest.mark.parametrize("n_vectors", [3, 8, 20])
def test_result_does_not_depend_on_the_number_of_threads(n_vectors):
    R = sparse.random_array((300, 300), density=0.05, random_state=np.random.default_rng(1), format="csr")
    R += sparse.eye_array(300)
    one, two = (filtered_subspace(R, start(300, n_vectors), 2, 1e-8, n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_allclose(one[0][:2], np.linalg.eigvalsh((R.T @ R).toarray())[:2], atol=1e-12)


def test_the_filter_is_a_chebyshev_polynomial_of_the_matrix():
    # On a diagonal matrix the filter multiplies each value by T(x) / T(0), with T mapped to [cut, top].
    x = np.linspace(0, 2, 40)
    R = sparse.diags_array(np.sqrt(x)).tocsr()
    cut, top, degree = 0.3, 2.0, 7
    gram = Gram.from_matrix(R, None)
    found = chebyshev_filter(gram.R, gram.R_t, np.ones((40, 8)), cut, top, degree)
    T = np.polynomial.chebyshev.Chebyshev.basis(degree)
    mapped = (2 * np.append(0.0, x) - top - cut) / (top - cut)
    np.testing.assert_allclose(found, np.tile(T(mapped[1:]) / T(mapped[0]), (8, 1)).T, rtol=1e-10, atol=1e-12)
