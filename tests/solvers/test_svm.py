"""SVM solvers against the conditions of optimality and each other, and their parts against brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ilfs.execution import one_blas_thread
from ilfs.solvers.svm import Dual, Primal
from ilfs.solvers.svm.corrected import MAX_PENDING, Corrected
from ilfs.solvers.svm.newton import line_search
from ilfs.solvers.svm.products import add_symmetric, positive_inverse, product
from ilfs.solvers.svm.weakest import weakest


@pytest.fixture(autouse=True)
def one_thread():
    with one_blas_thread():
        yield


SETTINGS = {"tol": 1e-9, "max_iter": 10_000, "n_jobs": None}


def standard(X):
    X = X - X.mean(axis=0)
    return X / X.std(axis=0)


def primal(X, signs, ridge=0.5, scale=None):
    Z = np.column_stack([np.ones(len(X)), X])
    scale = np.ones(X.shape[1]) if scale is None else scale
    return Primal(Z, signs, scale, ridge, np.arange(X.shape[1]), **SETTINGS)


def dual(X, signs, ridge=0.5):
    return Dual(np.ascontiguousarray(X.T), signs, ridge, **SETTINGS)


def random_task(n_samples, n_features, n_svms=1, seed=0):
    """Random labels, so that the classes overlap."""
    rng = np.random.default_rng(seed)
    X = standard(rng.normal(size=(n_samples, n_features)))
    return X, rng.choice([-1.0, 1.0], (n_svms, n_samples))


def conditions(X, y, weights, intercept, ridge):
    """Largest component of the gradient of ridge |w|^2 / 2 + sum of max(0, 1 - y f)^2 / 2; 0 at the optimum."""
    gap = np.maximum(0, 1 - y * (X @ weights + intercept))
    return max(np.abs(ridge * weights - X.T @ (gap * y)).max(), abs((gap * y).sum()))


def intercepts(svms):
    return [m.theta[0] if isinstance(svms, Primal) else m.solution[0] for m in svms.svms]


@pytest.mark.parametrize(
    ("path", "n_samples", "n_features"),
    [(dual, 25, 40), (dual, 40, 70), (primal, 25, 40), (primal, 40, 25), (primal, 70, 35)],
)
@pytest.mark.parametrize("ridge", [0.5, 50.0, 1e-4])
def test_every_solution_is_optimal(path, n_samples, n_features, ridge):
    X, signs = random_task(n_samples, n_features, n_svms=2)
    svms, left = path(X, signs, ridge), np.arange(n_features)
    while svms.n_features > 1:
        for y, w, b in zip(signs, svms.weights(), intercepts(svms), strict=True):
            assert conditions(X[:, left], y, w, b, ridge) < 1e-8 * ridge * np.abs(w).max() + 1e-11
        places, _ = svms.weakest(1)
        left = np.setdiff1d(left, svms.columns[places])
        svms.remove(places)
        if isinstance(svms, Dual) and svms.n_features == n_samples:
            svms = svms.in_primal()
    assert svms.converged


@pytest.mark.parametrize("n_svms", [1, 3])
@pytest.mark.parametrize(("n_samples", "n_features"), [(30, 55), (55, 30), (40, 40)])
@pytest.mark.parametrize("step", [1, 4])
def test_primal_and_dual_remove_the_same_features(n_svms, n_samples, n_features, step):
    X, signs = random_task(n_samples, n_features, n_svms)
    one, two = primal(X, signs), dual(X, signs)
    while one.n_features > step:
        (first, size), (second, same_size) = one.weakest(step), two.weakest(step)
        np.testing.assert_array_equal(one.columns[first], two.columns[second])
        np.testing.assert_allclose(size, same_size, rtol=1e-6, atol=1e-14)
        one.remove(first)
        two.remove(second)


def test_weights_are_penalised_in_the_units_of_scale():
    X, signs = random_task(30, 40)
    scale = np.logspace(-2, 2, 40)
    one, two = primal(X, signs, scale=scale), dual(X * scale, signs)
    np.testing.assert_allclose(one.weights(), two.weights(), rtol=1e-6, atol=1e-9)


def test_removing_many_features_at_once_equals_starting_without_them():
    X, signs = random_task(60, 100)
    svms = dual(X, signs)
    svms.remove(np.arange(30))
    fresh = dual(X[:, 30:], signs)
    np.testing.assert_allclose(svms.weights(), fresh.weights(), atol=1e-11)
    svms = svms.in_primal()
    svms.remove(np.arange(10))
    svms.remove(np.arange(30))
    np.testing.assert_array_equal(svms.columns, np.arange(70, 100))
    np.testing.assert_allclose(svms.weights(), primal(X[:, 70:], signs).weights(), atol=1e-11)


@pytest.mark.parametrize("ridge", [1e-2, 1e-5, 1e-8])
def test_nearly_separable_random_labels_converge(ridge):
    # About as many active samples as features: Newton's method without line search would cycle.
    X, signs = random_task(80, 40)
    svms, left = primal(X, signs, ridge=ridge), np.arange(40)
    for _ in range(39):
        positions, _ = svms.weakest(1)
        left = np.setdiff1d(left, svms.columns[positions])
        svms.remove(positions)
        weights = svms.weights()[0]
        error = conditions(X[:, left], signs[0], weights, intercepts(svms)[0], ridge)
        assert error < 1e-6 * ridge * np.abs(weights).max() + 1e-12
    assert svms.converged


def test_a_damaged_inverse_is_detected_and_computed_again():
    X, signs = random_task(60, 40)
    svms, good = primal(X, signs), primal(X, signs)
    svms.svms[0].inverse.matrix += 1e-3 * np.eye(41)
    for one in (svms, good):
        one.remove(np.array([3]))
    np.testing.assert_allclose(svms.weights(), good.weights(), atol=1e-10)
    svms, good = dual(X, signs), dual(X, signs)
    svms.svms[0].inverse.matrix += 1e-3 * np.eye(61)
    for one in (svms, good):
        one.remove(np.array([3]))
    np.testing.assert_allclose(svms.weights(), good.weights(), atol=1e-10)


def test_too_few_newton_steps_are_reported_as_not_converged():
    X, signs = random_task(100, 50)
    Z = np.column_stack([np.ones(100), X])
    svms = Primal(Z, signs, np.ones(50), 1e-3, np.arange(50), tol=1e-9, max_iter=2)
    assert not svms.converged
    assert not Dual(np.ascontiguousarray(X.T), signs, 1e-3, tol=1e-9, max_iter=2).in_primal().converged


@pytest.mark.parametrize("seed", range(20))
def test_line_search_finds_the_minimum(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], 30)
    f, change = rng.normal(size=(2, 30))
    f[:3] = y[:3]  # on the margin
    slope, curvature = rng.normal(), rng.random()

    def objective(t):
        return t * slope + t**2 * curvature / 2 + 0.5 * (np.maximum(0, 1 - y * (f + t * change)) ** 2).sum()

    t = line_search(y, f, change, slope, curvature)
    best = minimize_scalar(objective, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    assert objective(t) <= best.fun + 1e-12


def test_corrections_add_up():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(300, 300))
    M = M @ M.T
    corrected, dense = Corrected(M.copy()), M.copy()
    for rank in (1, 5, MAX_PENDING - 3, 1, MAX_PENDING + 7, 2):
        V, B = rng.normal(size=(rank, 300)), rng.normal(size=(rank, rank))
        B = B + B.T
        corrected.correct(V, B)
        dense += V.T @ B @ V
        vectors = rng.normal(size=(2, 300))
        np.testing.assert_allclose(corrected.times(vectors), vectors @ dense, rtol=1e-9, atol=1e-7)
        np.testing.assert_allclose(corrected.rows(np.array([7, 299])), dense[[7, 299]], rtol=1e-9, atol=1e-7)
    corrected.settle()
    np.testing.assert_array_equal(corrected.matrix, corrected.matrix.T)
    kept = np.array([0, 5, 280])
    corrected.keep(kept)
    np.testing.assert_allclose(corrected.matrix, dense[np.ix_(kept, kept)], rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_products_in_blocks_equal_plain_products_on_any_number_of_threads(n_jobs):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(600, 300)), rng.normal(size=(300, 700))
    for one, two in ((A, B), (A, B[:, :5]), (A[:2], B), (A, B[:, 0])):
        np.testing.assert_allclose(product(one, two, n_jobs), one @ two, atol=1e-11)
        np.testing.assert_array_equal(product(one, two, n_jobs), product(one, two, 1))
    gram = np.eye(300)
    add_symmetric(gram, A, A, n_jobs)
    np.testing.assert_allclose(gram, np.eye(300) + A.T @ A, atol=1e-10)
    np.testing.assert_allclose(positive_inverse(gram.copy()) @ gram, np.eye(300), atol=1e-11)
    with pytest.raises(np.linalg.LinAlgError):
        positive_inverse(-gram)


def test_weakest_sorts_by_size_and_puts_the_later_of_equals_first():
    size = np.array([3.0, 1.0, 2.0, 1.0 + 1e-13, np.inf, 2.0])
    assert weakest(size, 1, 1e-11).tolist() == [3]
    assert weakest(size, 3, 1e-11).tolist() == [3, 1, 5]
    assert weakest(size, 5, 1e-11).tolist() == [3, 1, 5, 2, 0]
    size[3] = 1.0 + 1e-6
    assert weakest(size, 1, 1e-11).tolist() == [1]
