import numpy as np
import pytest
from helpers import DATA, NO_DATA, load, oracle, peak_megabytes
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from ilfs import InfFS, scorer
from ilfs.execution import AllRows
from ilfs.methods import inf_fs as method
from ilfs.methods.inf_fs import Graph, path_sums, standardised


def table(n_samples=80, n_features=25, seed=0):
    """Create columns of different spread, some of them correlated, some with ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.1, 3, n_features)
    X[:, :5] += rng.normal(size=(n_samples, 1))
    X[:, 5:10] = X[:, 5:10].round()
    return X


def graph_by_definition(X, alpha):
    spread = np.maximum.outer(X.std(axis=0, ddof=1), X.std(axis=0, ddof=1))
    spread = (spread - spread.min()) / (spread.max() - spread.min())
    return alpha * spread + (1 - alpha) * (1 - np.abs(spearmanr(X).statistic))


def scores_by_definition(X, alpha=0.2, damping=0.9):
    A = graph_by_definition(X, alpha)
    r = damping / np.linalg.eigvalsh(A)[-1]
    return (np.linalg.inv(np.eye(len(A)) - r * A) - np.eye(len(A))).sum(axis=1)


def graph_of(X, alpha, n_jobs=None):
    Z, deviations = standardised(AllRows.from_matrix(X), "spearman")
    spread = deviations * np.ptp(X, axis=0)
    return Graph(lambda strip: Z[strip] @ Z[strip.start :].T, (spread - spread.min()) / np.ptp(spread), alpha, n_jobs)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("damping", [0.1, 0.9, 0.999])
def test_scores_are_row_sums_of_the_inverse_matrix(alpha, damping):
    X = table()
    done = InfFS(alpha=alpha, damping=damping).fit(X)
    np.testing.assert_allclose(done.scores_, scores_by_definition(X, alpha, damping), rtol=1e-8)
    assert done.spectral_radius_ == pytest.approx(np.linalg.eigvalsh(graph_by_definition(X, alpha))[-1], rel=1e-10)


def test_pearson_and_range_match_the_definition():
    X = table()
    spread = X.std(axis=0) / np.ptp(X, axis=0)
    A = np.maximum.outer(spread, spread)
    A = 0.5 * (A - A.min()) / np.ptp(A) + 0.5 * (1 - np.abs(np.corrcoef(X.T)))
    expected = np.linalg.inv(np.eye(25) - 0.9 / np.linalg.eigvalsh(A)[-1] * A).sum(axis=1) - 1
    done = InfFS(alpha=0.5, correlation="pearson", scale="range").fit(X)
    np.testing.assert_allclose(done.scores_, expected, rtol=1e-8)


def test_products_with_the_graph_match_the_definition():
    X = table()
    graph, A = graph_of(X, 0.3), graph_by_definition(X, 0.3)
    np.testing.assert_allclose([graph.times(unit) for unit in np.eye(25)], A, atol=1e-12)


def test_lanczos_matches_a_cholesky_solve_and_the_largest_eigenvalue():
    rng = np.random.default_rng(0)
    A = rng.random((300, 300)) ** 4
    A += A.T
    *_, paths = path_sums(lambda v: A @ v, 300, damping=0.95, tol=1e-12, max_iter=300)
    rho = np.linalg.eigvalsh(A)[-1]
    half = np.linalg.cholesky(np.eye(300) - 0.95 / rho * A)
    x = np.linalg.solve(half.T, np.linalg.solve(half, np.ones(300)))
    assert paths.converged
    assert paths.spectral_radius == pytest.approx(rho, rel=1e-12)
    np.testing.assert_allclose(paths.sums, x - 1, rtol=1e-9)
    np.testing.assert_allclose(paths.degrees, A.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scores_do_not_depend_on_blocks_and_stored_strips(monkeypatch, n_jobs):
    X = table()
    whole = InfFS().fit(X).scores_
    monkeypatch.setattr(method, "BLOCK_FEATURES", 3)
    monkeypatch.setattr(method, "STRIP_FEATURES", 4)
    for kept in (0, 2000, 1 << 30):
        monkeypatch.setattr(method, "KEPT_BYTES", kept)
        np.testing.assert_allclose(InfFS(n_jobs=n_jobs).fit(X).scores_, whole, rtol=1e-12)


def test_the_stored_part_of_the_graph_is_limited(monkeypatch):
    monkeypatch.setattr(method, "STRIP_FEATURES", 4)
    monkeypatch.setattr(method, "KEPT_BYTES", 1500)
    graph = graph_of(table(), 0.2)
    graph.times(np.ones(25))
    assert 0 < sum(strip.nbytes for strip in graph.kept.values()) <= 1500


def test_float32_scores_agree_to_six_digits():
    X = np.random.default_rng(0).uniform(0, 1000, (500, 300)).astype(np.float32)
    np.testing.assert_allclose(InfFS().fit(X).scores_, InfFS().fit(X.astype(float)).scores_, rtol=2e-6)


def test_huge_float32_values_do_not_overflow():
    X = (table() * 1e30).astype(np.float32)
    np.testing.assert_allclose(InfFS().fit(X).scores_, scores_by_definition(X.astype(float) / 1e30), rtol=1e-5)


def test_scores_do_not_depend_on_a_common_factor_and_offsets():
    X = table()
    shifts = np.random.default_rng(1).normal(size=25)
    np.testing.assert_allclose(InfFS().fit(-7 * X + shifts).scores_, InfFS().fit(X).scores_, rtol=1e-9)


def test_scores_do_not_depend_on_units_with_scale_range():
    X = table()
    units = np.logspace(-6, 6, 25)
    one, two = InfFS(scale="range").fit(X), InfFS(scale="range").fit(X * units)
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-9)


def test_scores_depend_only_on_ranks_if_alpha_is_zero():
    X = table()
    np.testing.assert_allclose(InfFS(alpha=0.0).fit(np.exp(X)).scores_, InfFS(alpha=0.0).fit(X).scores_, rtol=1e-9)


def test_an_uncorrelated_feature_comes_before_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1)) + 0.1 * rng.normal(size=(200, 10))
    X[:, 4] = rng.normal(size=200)
    assert InfFS(scale="range").fit(X).order_[0] == 4


def test_scores_are_zero_if_the_graph_has_no_edges():
    X = np.arange(10.0)[:, None] * np.ones(3)
    done = InfFS().fit(X)
    np.testing.assert_array_equal(done.scores_, 0.0)
    assert done.spectral_radius_ == 0.0


def test_too_few_steps_give_a_warning():
    with pytest.warns(ConvergenceWarning, match="did not converge to tol=1e-10 in max_iter=2 steps"):
        InfFS(max_iter=2).fit(table())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 1.1}, "alpha must be a number from 0 to 1, got 1.1"),
        ({"alpha": True}, "alpha must be a number from 0 to 1, got True"),
        ({"damping": 1}, "damping must be a number strictly between 0 and 1, got 1"),
        ({"correlation": "kendall"}, "correlation must be 'spearman' or 'pearson', got 'kendall'"),
        ({"scale": "std"}, "scale must be 'range' or None, got 'std'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"tol": 0}, "tol must be a number strictly between 0 and 1, got 0"),
    ],
)
def test_invalid_parameters_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        InfFS(**parameters).fit(table())


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30", "allaml_72x400", "colon_62x300"])
def test_scores_match_the_toolbox(name):
    X, _, weights, _ = oracle(name, "inffs_v62_unsup")
    np.testing.assert_allclose(InfFS(alpha=0.5, damping=0.99).fit(X).scores_, weights, rtol=1e-8)


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_scores_match_the_definition_on_real_data():
    X = load("colon")[0][:, :600].astype(float)
    np.testing.assert_allclose(InfFS().fit(X).scores_, scores_by_definition(X), rtol=1e-8)


def test_peak_memory_is_the_table_and_half_the_graph():
    # A copy of the table (16 MB), half of the graph (16 MB and its diagonal blocks), and temporary arrays.
    assert peak_megabytes("InfFS(n_jobs=2)", 1000, 2000) < 16 + 16 + 25


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_does_not_rank_standardised_columns(dtype):
    X, order = table(), np.random.default_rng(1).permutation(80)
    one, two = (StandardScaler().fit_transform(Z.astype(dtype)) for Z in (X, X[order]))
    np.testing.assert_allclose(scorer("inf_fs")(one), scorer("inf_fs")(two), rtol=1e-5)
    np.testing.assert_allclose(scorer("inf_fs", alpha=0.5)(one), scores_without_spread(one, alpha=0.5), rtol=1e-4)


def scores_without_spread(X, alpha):
    A = (1 - alpha) * (1 - np.abs(spearmanr(X).statistic))
    r = 0.9 / np.linalg.eigvalsh(A)[-1]
    return (np.linalg.inv(np.eye(len(A)) - r * A) - np.eye(len(A))).sum(axis=1)
