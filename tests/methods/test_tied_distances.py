"""Methods that use nearest neighbours, on discrete tables in which most distances tie.

The order of the features must not depend on the order of the rows, the names of the classes, the storage, or threads.
"""

import itertools

import numpy as np
import pytest
from configurations import CONFIGURATIONS
from scipy import sparse
from sklearn.base import clone

from ilfs import LLCFS, MCFS, UDFS, LaplacianScore, ReliefF, scorer

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

KINDS = ("binary", "integers", "counts", "copied columns", "copied rows", "units", "factorial")


def table(kind, seed):
    """Create a table with few distinct values and two or three classes; the first column is informative in most."""
    rng = np.random.default_rng(seed)
    if kind == "factorial":  # every combination once: symmetric, so that some weights are exactly 0
        X = np.array(list(itertools.product(range(3 - seed % 2), repeat=3 + seed % 2)), dtype=float)
    else:
        X = {
            "binary": lambda: rng.integers(0, 2, (30, 8)),
            "integers": lambda: rng.integers(0, 4, (40, 10)),
            "counts": lambda: rng.poisson(0.7, (50, 12)),
            "copied columns": lambda: rng.integers(0, 3, (36, 5))[:, rng.integers(0, 5, 9)],
            "copied rows": lambda: rng.integers(0, 3, (12, 7))[rng.integers(0, 12, 40)],
            "units": lambda: rng.integers(0, 5, (45, 9)) * rng.choice([0.1, 1 / 3, 1.0, 7.0], 9),
        }[kind]().astype(float)
    y = rng.permutation(np.arange(len(X)) % (2 + seed // 2 % 2))
    if kind not in ("units", "factorial"):
        X[:, 0] += y == 0
    return X, y, rng


def draws_rows(selector, n_samples):
    return isinstance(selector, ReliefF) and selector.n_samples is not None and selector.n_samples < n_samples


def changed(selector, X, y, rng):
    """Yield equivalent forms of a table, each with the name of the change, the rows, the labels and the selector."""
    if not draws_rows(selector, len(X)):
        for name, rows in (("rows", rng.permutation(len(X))), ("rows reversed", np.arange(len(X))[::-1])):
            yield name, X[rows], y[rows], selector
        rows = rng.permutation(len(X))
        yield "rows and layout", np.asfortranarray(X[rows]), y[rows], selector
    if selector._reads_labels:
        yield "labels", X, np.array(["zebra", "horse", "ass"])[y], selector
        yield "labels swapped", X, rng.permutation(y.max() + 1)[y], selector
    if selector._takes_sparse:
        yield "compressed rows", sparse.csr_array(X), y, selector
        yield "compressed columns", sparse.csc_array(X), y, selector
    yield "layout", np.asfortranarray(X), y, selector
    yield "threads", X, y, clone(selector).set_params(n_jobs=3)


def fitted(selector, X, y):
    return clone(selector).fit(X, y if selector._reads_labels else None)


def check_all_forms(selector, kind, seed):
    """Assert that all forms of one table give the same order; return the number of forms."""
    X, y, rng = table(kind, seed)
    order, n_compared = fitted(selector, X, y).order_, 0
    for name, X_changed, y_changed, changed_selector in changed(selector, X, y, rng):
        np.testing.assert_array_equal(
            fitted(changed_selector, X_changed, y_changed).order_, order, err_msg=f"{name}: {kind}, seed {seed}"
        )
        n_compared += 1
    return n_compared


def configurations(*methods):
    """Configurations of some methods. The rule "auto" is left out: it takes long, and does not change the order."""
    chosen = [s for s in CONFIGURATIONS if type(s) in methods and s.n_features_to_select != "auto"]
    return pytest.mark.parametrize("selector", chosen, ids=repr)


@configurations(ReliefF, LaplacianScore, MCFS, UDFS, LLCFS)
@pytest.mark.parametrize("kind", KINDS)
def test_order_depends_on_values_only(selector, kind):
    check_all_forms(selector, kind, seed=96)


@configurations(ReliefF)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_order_of_relieff_depends_on_values_only(selector, kind, seed):
    check_all_forms(selector, kind, seed)


@pytest.mark.slow
@configurations(ReliefF, LaplacianScore, MCFS)
def test_thousands_of_orders_depend_on_values_only(selector):
    compared = sum(check_all_forms(selector, kind, seed) for seed in range(50, 110) for kind in KINDS)
    assert compared >= 2000


@pytest.mark.slow
@configurations(UDFS, LLCFS)
def test_hundreds_of_orders_depend_on_values_only(selector):
    compared = sum(check_all_forms(selector, kind, seed) for seed in range(50, 60) for kind in KINDS)
    assert compared >= 300


@configurations(UDFS, LLCFS)
def test_scores_are_bitwise_equal_for_another_order_of_rows(selector):
    X, y, rng = table("integers", 0)
    X += rng.normal(size=X.shape) * (rng.random(X.shape) < 0.3)
    one, two = fitted(selector, X, y), fitted(selector, X[rng.permutation(len(X))], y)
    np.testing.assert_array_equal(one.scores_, two.scores_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", [LaplacianScore(), LaplacianScore(weights="binary"), UDFS(), MCFS(4)], ids=repr)
def test_permuting_the_columns_permutes_the_scores(selector, kind):
    X, y, rng = table(kind, 1)
    if kind == "copied columns" or (isinstance(selector, MCFS | UDFS) and kind == "factorial"):
        pytest.skip(
            "which of the copies is chosen, and eigenvectors of equal eigenvalues, depend on the order of the columns"
        )
    columns = rng.permutation(X.shape[1])
    one, two = fitted(selector, X, y), fitted(selector, X[:, columns], y)
    np.testing.assert_allclose(two.scores_, one.scores_[columns], rtol=1e-5, atol=1e-6)


def test_an_edge_has_the_larger_of_the_two_fractions_that_its_ends_assign():
    # Rows 1 and 2 tie as the neighbour of row 0: it assigns 1/2 to each. Both assign 1 to row 0, the larger fraction.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    # So the edges (0, 1), (0, 2) and (3, 4) have weight 1, and the degrees are 2, 1, 1, 1, 1.
    first, second = X.T
    expected = []
    for f in (first, second):
        degree = np.array([2.0, 1.0, 1.0, 1.0, 1.0])
        centred = f - degree @ f / degree.sum()
        along = (f[0] - f[1]) ** 2 + (f[0] - f[2]) ** 2 + (f[3] - f[4]) ** 2
        expected.append(-along / (degree @ centred**2))
    np.testing.assert_allclose(scorer("ls", n_neighbors=1, weights="binary")(X), expected, rtol=1e-12)


def test_a_common_factor_of_all_edges_does_not_change_the_scores():
    # Two corners of a square tie as the neighbour of a third: all edges have weight 1/2, and a common factor cancels.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(scorer("ls", n_neighbors=1)(X), [-1.0, -1.0], rtol=1e-12)


@pytest.mark.parametrize("selector", [UDFS(n_neighbors=4), LLCFS(n_neighbors=4), LaplacianScore(), MCFS()], ids=repr)
def test_scores_are_finite_if_all_distances_are_equal(selector):
    done = clone(selector).fit(np.eye(100))  # more ties than the maximum number of samples that share a place
    assert np.isfinite(done.scores_).all()


@pytest.mark.parametrize("selector", [UDFS(), LLCFS(), LaplacianScore(), MCFS()], ids=repr)
def test_scores_are_finite_with_few_distinct_rows(selector):
    X = np.random.default_rng(0).integers(0, 2, size=(3000, 3)).astype(float)
    done = clone(selector).fit(X)
    assert np.isfinite(done.scores_).all()


@pytest.mark.slow
@pytest.mark.parametrize("selector", [UDFS(), LLCFS(), LaplacianScore(), MCFS()], ids=repr)
def test_large_tables_with_few_distinct_rows_are_ranked(selector):
    X = np.random.default_rng(0).integers(0, 2, size=(200_000, 3)).astype(float)
    assert np.isfinite(clone(selector).fit(X).scores_).all()
