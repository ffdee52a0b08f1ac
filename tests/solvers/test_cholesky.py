import numpy as np
import pytest

from ilfs.blas import solve_transposed
from ilfs.solvers import cholesky
from ilfs.solvers.cholesky import factorise

ROUNDING = {np.float32: 1e-4, np.float64: 1e-12}


def positive_definite(n, seed=0):
    Z = np.random.default_rng(seed).normal(size=(n, n + 5))
    return Z @ Z.T / n


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 70])
def test_the_factor_equals_that_of_lapack(n, dtype, monkeypatch):
    monkeypatch.setattr(cholesky, "PANEL_ROWS", 16)
    S = positive_definite(n).astype(dtype)
    expected = np.linalg.cholesky(S.astype(float)).T
    factorise(S)
    np.testing.assert_allclose(np.triu(S), expected, atol=ROUNDING[dtype])


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_factor_does_not_depend_on_the_number_of_threads(n_jobs, monkeypatch):
    monkeypatch.setattr(cholesky, "PANEL_ROWS", 16)
    one, more = positive_definite(130), positive_definite(130)
    factorise(one, n_jobs=1)
    factorise(more, n_jobs=n_jobs)
    np.testing.assert_array_equal(np.triu(one), np.triu(more))


def test_an_indefinite_matrix_is_refused(monkeypatch):
    monkeypatch.setattr(cholesky, "PANEL_ROWS", 2)
    with pytest.raises(np.linalg.LinAlgError):
        factorise(np.diag([1.0, 1.0, 1.0, -1.0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_solve_transposed_changes_one_block(dtype):
    rng = np.random.default_rng(0)
    U, B = np.eye(9, dtype=dtype) + np.triu(rng.random((9, 9)).astype(dtype)), rng.random((9, 12)).astype(dtype)
    expected = B.copy()
    expected[2:6, 3:8] = np.linalg.solve(np.triu(U[1:5, 1:5]).T, B[2:6, 3:8])
    solve_transposed(U[1:5, 1:5], B[2:6, 3:8])
    np.testing.assert_allclose(B, expected, atol=ROUNDING[dtype])
