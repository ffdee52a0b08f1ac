"""Baselines, compared with independent implementations of their definitions."""

import builtins
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c
from sklearn.utils.estimator_checks import parametrize_with_checks

from ilfs import FisherScore
from ilfs.benchmark import SUITES, BenchmarkMethod, Job, Protocol
from ilfs.benchmark.baselines import BASELINES, MRMR, ExtraTrees, FastCan, L1Path
from ilfs.benchmark.baselines.fastcan import n_reached
from ilfs.benchmark.baselines.l1_path import l1_penalty, start_of_path
from ilfs.benchmark.evaluation.experiments import compute
from ilfs.datasets import load

needs_fastcan = pytest.mark.skipif(find_spec("fastcan") is None, reason="needs the extra [baselines]")
needs_mrmr = pytest.mark.skipif(find_spec("mrmrs") is None, reason="needs the extra [baselines]")
few_trees = partial(ExtraTrees, n_estimators=20)
ALL = [
    pytest.param(FastCan, marks=needs_fastcan),
    pytest.param(MRMR, marks=needs_mrmr),
    pytest.param(few_trees, id="ExtraTrees"),
    L1Path,
]


def table(n_samples=60, n_features=12, n_classes=3, seed=0):
    """Informative, duplicated and uninformative features, with distinct scores."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    X = rng.normal(size=(n_samples, n_features))
    X[:, 2] += 1.5 * y
    X[:, 5] += 2.0 * (y == 1)
    X[:, 7] = X[:, 2] + 0.3 * rng.normal(size=n_samples)
    return X, y


def is_permutation(order, n):
    return sorted(order.tolist()) == list(range(n))


def canonical_correlations(X, y):
    """Sum of squares, from the angles between the spaces of the centred features and indicators."""
    Y = np.eye(y.max() + 1)[y][:, 1:]
    Q, _ = np.linalg.qr(X - X.mean(axis=0))
    V, _ = np.linalg.qr(Y - Y.mean(axis=0))
    return float((np.linalg.svd(Q.T @ V, compute_uv=False) ** 2).sum())


@needs_fastcan
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_fastcan_raises_the_canonical_correlation_most_with_every_pick(n_classes):
    X, y = table(n_classes=n_classes)
    order = FastCan(4).fit(X, y).order_
    for k in range(4):
        gains = [
            -1.0 if j in order[:k] else canonical_correlations(X[:, [*order[:k], j]], y) for j in range(X.shape[1])
        ]
        assert np.argmax(gains) == order[k]


@needs_fastcan
def test_fastcan_orders_features_that_it_does_not_pick_by_fisher_score():
    X, y = table(n_samples=9, n_features=30)
    order = FastCan(20).fit(X, y).order_
    picks, rest = order[:8], order[8:]
    assert np.linalg.matrix_rank(X[:, picks] - X[:, picks].mean(axis=0)) == 8
    fisher = FisherScore().fit(X, y).scores_
    np.testing.assert_array_equal(np.diff(fisher[rest]) <= 0, True)
    np.testing.assert_array_equal(FastCan(8).fit(X, y).order_[:8], picks)


@needs_fastcan
def test_fastcan_picks_one_of_columns_that_repeat_each_other():
    X, y = table(n_features=8)
    twice = np.hstack([X, 2 * X + 1])
    order = FastCan(12).fit(twice, y).order_
    assert sorted(order[:8] % 8) == list(range(8))
    assert is_permutation(order, 16)


def test_the_number_of_picks_is_read_from_the_error_of_fastcan():
    assert n_reached("No candidate feature can be found ... with the 12 selected features.", 40) == 12
    assert n_reached("something else", 40) == 39


def mrmr_by_hand(X, y, n_picks):
    F = f_classif(X, y)[0]
    rho = np.abs(np.corrcoef(X.T)).clip(0.001)
    picks = [int(F.argmax())]
    while len(picks) < n_picks:
        score = F / rho[:, picks].mean(axis=1)
        score[picks] = -np.inf
        picks.append(int(score.argmax()))
    return picks


@needs_mrmr
@pytest.mark.parametrize("n_classes", [2, 3])
def test_mrmr_is_f_over_mean_correlation(n_classes):
    X, y = table(n_classes=n_classes)
    order = MRMR(8).fit(X, y).order_
    assert order[:8].tolist() == mrmr_by_hand(X, y, 8)
    assert is_permutation(order, 12)


@needs_mrmr
def test_mrmr_orders_features_that_it_does_not_pick_by_fisher_score():
    X, y = table()
    order = MRMR(3).fit(X, y).order_
    picks = mrmr_by_hand(X, y, 3)
    np.testing.assert_array_equal(order, picks + [j for j in FisherScore().fit(X, y).order_ if j not in picks])


@needs_mrmr
def test_mrmr_ranks_duplicated_and_perfectly_separating_columns():
    X, y = table(n_features=8, n_classes=2)
    X = np.column_stack([X, X[:, 2], -X[:, 2], y, 1 - y])
    order = MRMR(12).fit(X, y).order_
    assert order[0] in (10, 11)
    assert is_permutation(order, 12)


@needs_mrmr
def test_mrmr_reads_numbers_of_single_precision():
    X, y = table()
    np.testing.assert_array_equal(MRMR(8).fit(X.astype(np.float32), y).order_, MRMR(8).fit(X, y).order_)


def test_extra_trees_are_in_the_order_of_their_importances():
    X, y = table()
    importances = ExtraTreesClassifier(500, random_state=0).fit(X, y).feature_importances_
    selector = ExtraTrees(3).fit(X, y)
    np.testing.assert_array_equal(selector.order_, np.argsort(-importances))
    np.testing.assert_allclose(selector.scores_, importances)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_path_starts_where_scikit_learn_says(n_classes):
    X, y = table(n_classes=n_classes)
    Z = StandardScaler().fit_transform(X)
    signs = np.where(y == np.arange(n_classes)[:, None], 1.0, -1.0)
    assert start_of_path(Z, signs) == pytest.approx(l1_min_c(Z, y, loss="log", fit_intercept=False))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_features_enter_the_path_at_the_first_c_that_gives_them_a_coefficient(n_classes):
    X, y = table(n_classes=n_classes)
    Z = StandardScaler().fit_transform(X)
    Cs = l1_min_c(Z, y, loss="log", fit_intercept=False) * np.geomspace(1, 100, 6)
    entered = np.full(X.shape[1], 6)
    size = np.zeros(X.shape[1])
    for step in reversed(range(6)):
        parameters = {**l1_penalty(), "solver": "liblinear", "C": Cs[step], "intercept_scaling": 10}
        fits = [
            LogisticRegression(**parameters, random_state=0).fit(Z, y == k).coef_[0]
            for k in range(n_classes if n_classes > 2 else 1)
        ]
        here = np.linalg.norm(fits, axis=0)
        entered[here > 0], size[here > 0] = step, here[here > 0]
    expected = np.lexsort([-FisherScore().fit(X, y).scores_, -size, entered])
    np.testing.assert_array_equal(L1Path(12, n_steps=6, span=100).fit(X, y).order_, expected)
    assert np.unique(entered).size > 1


def test_the_path_ends_when_enough_have_entered():
    X, y = table()
    short, long = (L1Path(k).fit(X, y) for k in (2, 12))
    entered = int((short.scores_ > 0).sum())
    assert 2 <= entered < (long.scores_ > 0).sum()
    np.testing.assert_array_equal(short.order_[:entered], long.order_[:entered])


def test_nothing_enters_the_path_if_no_column_is_correlated_with_the_classes():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]] * 3)
    order = L1Path(1).fit(X, X[:, 0] != X[:, 1]).order_
    assert is_permutation(order, 2)


@pytest.mark.parametrize("baseline", [few_trees, L1Path])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_tables_may_have_any_index_type(baseline, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10)) * (rng.random((40, 10)) < 0.3)
    y = (X[:, 3] > 0.1).astype(int)
    S = kind(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    assert baseline(3).fit(S, y).order_[0] == 3


def test_the_path_does_not_centre_sparse_columns():
    X, y = table()
    X[X < 0.5] = 0.0
    path = L1Path(12, n_steps=100, span=100)
    by_hand, centred, stored = (
        path.fit(Z, y).order_
        for Z in (sparse.csr_array(StandardScaler(with_mean=False).fit_transform(X)), X, sparse.csr_array(X))
    )
    np.testing.assert_array_equal(stored, by_hand)
    assert stored.tolist() != centred.tolist()


def test_the_path_scales_sparse_columns():
    X, y = table()
    X[X < 0.5] = 0.0
    units = 10.0 ** np.random.default_rng(0).integers(-3, 4, size=X.shape[1])
    path = L1Path(12, n_steps=100, span=100)
    orders = [path.fit(sparse.csr_array(Z), y).order_ for Z in (X, X * units)]
    np.testing.assert_array_equal(*orders)


@pytest.mark.parametrize("baseline", ALL)
def test_columns_with_one_value_come_last(baseline):
    X, y = table()
    X[:, [0, 4]] = 7.0
    assert set(baseline(12).fit(X, y).order_[-2:].tolist()) == {0, 4}


@pytest.mark.parametrize("baseline", ALL)
def test_asking_for_more_features_than_there_are_keeps_all_with_a_warning(baseline):
    X, y = table()
    with pytest.warns(UserWarning, match="n_features_to_select=200 is more than the 12 features of X: all are kept"):
        selector = baseline(200).fit(X, y)
    assert is_permutation(selector.order_, 12)
    assert selector.transform(X).shape == (60, 12)


@pytest.mark.parametrize("baseline", ALL)
def test_two_rows_with_classes_of_any_name_are_ranked(baseline):
    order = baseline(1).fit([[1.0, 3.0], [2.0, 3.0]], ["no", "yes"]).order_
    assert order.tolist() == [0, 1]


@pytest.mark.parametrize("baseline", [*ALL[:3], pytest.param(L1Path, marks=pytest.mark.slow)])  # starts processes
def test_threads_change_nothing(baseline):
    X, y = table()
    np.testing.assert_array_equal(baseline(5, n_jobs=2).fit(X, y).order_, baseline(5, n_jobs=1).fit(X, y).order_)


@pytest.mark.parametrize("baseline", ALL)
def test_invalid_data_are_refused(baseline):
    X, y = table()
    holed = X.copy()
    holed[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"takes no missing values"):
        baseline(2).fit(holed, y)
    with pytest.raises(ValueError, match="y must have at least two classes, got one class, 0"):
        baseline(2).fit(X, np.zeros(60, dtype=int))
    with pytest.raises(ValueError, match="must have a column with two different values, got none"):
        baseline(2).fit(np.ones((60, 3)), y)
    with pytest.raises(ValueError, match="n_features_to_select must be an integer >= 1"):
        baseline(0).fit(X, y)


@pytest.mark.parametrize("baseline", [FastCan, MRMR])
def test_baselines_without_sparse_support_say_so(baseline):
    assert not baseline().__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match=f"{baseline.__name__} needs all values"):
        baseline(2).fit(sparse.eye_array(4), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (FastCan(tol=0), "tol must be a number > 0, got 0"),
        (ExtraTrees(n_estimators=0), "n_estimators must be an integer >= 1, got 0"),
        (ExtraTrees(random_state=None), "random_state must be an integer >= 0, got None"),
        (L1Path(n_steps=1.5), "n_steps must be an integer >= 1, got 1.5"),
        (L1Path(span="far"), "span must be a number > 0, got 'far'"),
        (L1Path(tol=-1), "tol must be a number > 0, got -1"),
    ],
)
def test_wrong_parameters_are_refused(selector, message):
    with pytest.raises(ValueError, match=message):
        selector.fit(*table())


@pytest.mark.parametrize(
    ("baseline", "package", "message"),
    [
        (FastCan, "fastcan", r'^FastCan needs the package fastcan: pip install "ilfs\[baselines\]"$'),
        (MRMR, "mrmrs", r'^MRMR needs the packages mrmrs and polars: pip install "ilfs\[baselines\]"$'),
    ],
)
def test_without_its_package_a_baseline_names_the_extra(monkeypatch, baseline, package, message):
    real = builtins.__import__

    def importing(name, *rest, **named):
        if name == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(ImportError, match=message):
        baseline(2).fit(*table())


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([L1Path(n_steps=3), ExtraTrees(n_estimators=5)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_baselines_have_short_names():
    for name, baseline in BASELINES.items():
        assert type(BenchmarkMethod(name).make(n_jobs=1)) is baseline
        by_path = BenchmarkMethod(name, f"ilfs.benchmark.baselines.{baseline.__name__}")
        assert BenchmarkMethod(name).describe() == by_path.describe()


def test_the_suite_has_the_twelve_methods_the_baselines_and_a_random_order():
    suite = SUITES["modern"]
    assert len(suite.datasets) == 18
    assert [one.name for one in suite.methods[12:]] == [
        "ilfs_novelty",
        "ilfs_plain",
        "ilfs_paper",
        "hall_cfs",
        "fastcan",
        "mrmrs",
        "extra_trees",
        "l1_path",
        "random",
    ]
    assert set(SUITES["paper"].datasets) < set(suite.datasets)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("fastcan", marks=needs_fastcan),
        pytest.param("mrmrs", marks=needs_mrmr),
        "extra_trees",
        "l1_path",
    ],
)
def test_a_baseline_runs_as_a_job_of_the_benchmark(name):
    job = Job("sizes", "wine", load("wine").checksum, BenchmarkMethod(name), 0, Protocol(sizes=(2, 5, 20)))
    outcome = compute(job)
    assert len(outcome.order) == 13
    assert all(value > 0.7 for _, metric, _, value, _ in outcome.measurements if metric == "ap_macro")
