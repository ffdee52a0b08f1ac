"""Jobs are pure functions of their description, and test rows do not influence training."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from ilfs import FisherScore
from ilfs.benchmark import BenchmarkMethod, Job, Protocol
from ilfs.benchmark.evaluation import experiments as module
from ilfs.benchmark.evaluation.experiments import compute, rows_of
from ilfs.benchmark.evaluation.job import OWN_SIZE, digest
from ilfs.benchmark.evaluation.metrics import area_under_curve
from ilfs.benchmark.methods.fitting import impute
from ilfs.datasets import Dataset, load

WINE = Job("sizes", "wine", load("wine").checksum, BenchmarkMethod("fisher"), 0, Protocol(sizes=(1, 3), Cs=(0.1, 1.0)))


@pytest.fixture
def given(monkeypatch):
    """Let jobs find a table that the test has made."""

    def give(X, y, names=None):
        names = names or tuple(f"c{k}" for k in range(int(np.max(y)) + 1))
        table = Dataset("made", X, np.asarray(y), names, known_checksum="of it")
        monkeypatch.setattr(module, "_table", lambda *_: table)
        return replace(WINE, dataset="made", checksum="of it")

    return give


def test_a_job_gives_the_same_result_twice():
    one, two = compute(WINE), compute(WINE)
    assert one.measurements == two.measurements
    assert one.order == two.order


def test_keys_depend_on_everything_that_matters():
    others = [
        replace(WINE, split=1),
        replace(WINE, checksum="other"),
        replace(WINE, experiment="classes"),
        replace(WINE, method=BenchmarkMethod("fisher2", "fisher")),
        replace(WINE, method=BenchmarkMethod("fisher", "mi")),
        replace(WINE, protocol=Protocol(sizes=(1, 3), Cs=(0.1, 2.0))),
        replace(WINE, protocol=Protocol(sizes=(1, 3), Cs=(0.1, 1.0), seed=1)),
    ]
    assert len({job.key for job in [WINE, *others]}) == 8
    assert replace(WINE).key == WINE.key


def test_code_and_versions_are_in_the_key_but_not_in_the_identity():
    other = replace(WINE, provenance={"packages": {"numpy": "99"}})
    assert other.identity == WINE.identity
    assert other.key != WINE.key


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1}) != digest({"a": 1, "b": [2, 1]})


def test_splits_are_stratified_shared_by_methods_and_differ():
    table = load("wine")
    train, test = rows_of(WINE, table)
    assert sorted([*train, *test]) == list(range(178))
    assert len(test) == 60
    np.testing.assert_allclose(np.bincount(table.y[test]) / 60, np.bincount(table.y) / 178, atol=0.01)
    other = rows_of(replace(WINE, method=BenchmarkMethod("mi")), table)
    np.testing.assert_array_equal(other[0], train)
    assert not np.array_equal(rows_of(replace(WINE, split=1), table)[1], test)


def test_the_order_does_not_depend_on_the_test_rows(given):
    # a column that tells the classes apart in the test rows only must not be chosen
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 8))
    job = given(X, y)
    train, test = rows_of(job, Dataset("made", X, y, ("a", "b"), known_checksum="of it"))
    X[test, 5] += 100 * y[test]
    X[train, 2] += 3 * y[train]
    assert compute(given(X, y)).order[0] == 2


def test_metrics_of_a_perfect_feature_are_1(given):
    y = np.arange(60) % 2
    X = np.column_stack([np.random.default_rng(0).normal(size=60), y])
    values = {(size, metric, k): value for size, metric, k, value, _ in compute(given(X, y)).measurements}
    for metric in ("ap_macro", "ap_majority", "accuracy", "balanced_accuracy", "auc"):
        assert values[1, metric, -1] == 1.0
    assert values[1, "ap", 0] == values[1, "ap", 1] == 1.0


def test_the_majority_is_the_class_with_most_samples(given):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [20, 70])
    measured = compute(given(rng.normal(size=(90, 4)), y)).measurements
    by = {(size, metric, k): value for size, metric, k, value, _ in measured}
    assert by[3, "ap_majority", -1] == by[3, "ap", 1]
    assert by[3, "ap_macro", -1] == pytest.approx((by[3, "ap", 0] + by[3, "ap", 1]) / 2)


def test_missing_values_are_imputed_from_the_training_rows():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    T = np.array([[np.nan, 7.0], [100.0, np.nan]])
    there, test = impute(X, T)
    np.testing.assert_array_equal(there, [[1, 0], [3, 0], [2, 0]])
    np.testing.assert_array_equal(test, [[2, 7], [100, 0]])


def test_sparse_tables_give_the_metrics_of_dense_ones(given):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.poisson(0.3, size=(80, 12)).astype(float)
    X[:, 3] += y
    dense = compute(given(X, y))
    thin = compute(given(sparse.csr_array(X), y))
    assert thin.order == dense.order
    assert thin.measurements == dense.measurements


def test_sizes_above_the_number_of_features_use_all_of_them(given):
    y = np.arange(40) % 2
    job = given(np.random.default_rng(0).normal(size=(40, 3)), y)
    outcome = compute(replace(job, protocol=Protocol(sizes=(2, 50), Cs=(0.1,))))
    assert sorted(outcome.order) == [0, 1, 2]
    assert {size for size, *_ in outcome.measurements} == {2, 50}


def test_a_changed_data_set_is_an_error():
    with pytest.raises(ValueError, match="data set wine has changed since the job was described: its checksum is"):
        compute(replace(WINE, checksum="0" * 64))


def test_a_selector_that_orders_too_few_features_is_refused(monkeypatch):
    monkeypatch.setattr(module, "order_of", lambda _: np.array([2, 1]))
    with pytest.raises(ValueError, match="method fisher orders 2 features, fewer than the 3 evaluated"):
        compute(WINE)


def test_only_the_experiment_classes_accepts_several_labels_per_sample(given, monkeypatch):
    rng = np.random.default_rng(0)
    Y = (rng.uniform(size=(90, 2)) < 0.5).astype(int)
    X = rng.normal(size=(90, 6))
    X[:, :2] += 3 * Y
    Y[:3] = -1
    job = given(X, Y, names=("a", "b"))
    with pytest.raises(ValueError, match="has several labels per sample: use the experiment 'classes'"):
        compute(job)
    measured = compute(replace(job, experiment="classes")).measurements
    assert min(value for _, metric, _, value, _ in measured if metric == "ap") > 0.9


def test_fractions_are_sizes_rounded_down_and_each_once():
    assert Protocol(fractions=(0.01, 0.02, 0.05, 0.1, 0.25, 0.5)).fraction_sizes(5120) == (
        51,
        102,
        256,
        512,
        1280,
        2560,
    )
    assert Protocol(fractions=(0.29, 1.0)).fraction_sizes(100) == (29, 100)
    assert Protocol(fractions=(0.01, 0.02, 0.5)).fraction_sizes(5) == (1, 2)


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ((), "fractions must be numbers > 0 and <= 1, got none"),
        ((0.0, 0.5), "fractions must be .* > 0, got 0"),
        ((0.5, 1.5), "fractions must be numbers > 0 and <= 1, got 1.5"),
        ((0.5, 0.1), r"fractions must be ascending, got \[0.5, 0.1\]"),
        ((0.5, 0.5), r"fractions must be ascending, got \[0.5, 0.5\]"),
    ],
)
def test_invalid_fractions_are_refused(fractions, message):
    with pytest.raises(ValueError, match=message):
        Protocol(fractions=fractions)


def test_only_the_experiment_on_classes_depends_on_fractions():
    other = replace(WINE.protocol, fractions=(0.1, 0.5))
    assert replace(WINE, protocol=other).identity == WINE.identity
    of_classes = replace(WINE, experiment="classes")
    assert replace(of_classes, protocol=other).identity != of_classes.identity
    assert "fractions" not in of_classes.describe()["protocol"]  # as in results stored before there were any


@pytest.mark.parametrize(("method", "n_fits"), [("fisher", 3), ("ls", 1)])
def test_each_class_is_ranked_once_and_evaluated_at_every_fraction(method, n_fits, monkeypatch):
    fits = []
    rank = module.rank
    monkeypatch.setattr(module, "rank", lambda *given: fits.append(1) or rank(*given))
    job = replace(WINE, experiment="classes", method=BenchmarkMethod(method))
    several = compute(replace(job, protocol=replace(WINE.protocol, fractions=(0.1, 0.25, 0.5)))).measurements
    assert len(fits) == n_fits
    by_class = {(one.size, one.of_class): one.value for one in several if one.metric == "ap_2012"}
    assert set(by_class) == {(size, k) for size in (1, 3, 6) for k in range(3)}
    alone = compute(replace(job, protocol=replace(WINE.protocol, fractions=(0.25,)))).measurements
    assert [one for one in several if one.size == 3] == alone
    means = {one.size: one.value for one in several if one.metric == "ap_2012_macro"}
    assert means == {size: pytest.approx(np.mean([by_class[size, k] for k in range(3)])) for size in (1, 3, 6)}


def test_a_random_order_differs_between_classes():
    job = replace(WINE, experiment="classes", method=BenchmarkMethod("random"))
    X, y = np.zeros((4, 50)), np.arange(4) % 2
    orders = [module.rank(job, X, y, k).order.tolist() for k in (0, 1, 1)]
    assert orders[0] != orders[1] == orders[2]


@pytest.mark.parametrize("seed", range(5))
def test_area_under_curve_matches_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    relevant, scores = rng.uniform(size=40) < 0.3, rng.integers(0, 8, size=40).astype(float)
    assert area_under_curve(relevant, scores) == pytest.approx(roc_auc_score(relevant, scores))
    assert np.isnan(area_under_curve(np.zeros(3, dtype=bool), np.zeros(3)))


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0.0, 1.0, 2.0], "method m must order columns by a list of integers, got float64"),
        ([[0, 1, 2]], r"must order columns by a list of integers, got int64 \(1, 3\)"),
        ([True, False], "must order columns by a list of integers, got bool"),
        ([0, 1, 3], "method m must order columns 0 to 2, got 3"),
        ([0, -1, 1], "method m must order columns 0 to 2, got -1"),
        ([0, 1, 1], "method m must order every column once, got one twice"),
    ],
)
def test_an_invalid_order_is_refused(order, message):
    with pytest.raises(ValueError, match=message):
        module.checked_order(np.array(order), 3, "m")


@pytest.fixture
def own_size():
    """Two features of wine, chosen by a selector that has a mask but no order."""
    selector = SequentialFeatureSelector(KNeighborsClassifier(), n_features_to_select=2, cv=2)
    return replace(WINE, method=BenchmarkMethod("sfs", selector))


def test_a_selector_with_a_mask_only_is_evaluated_at_its_own_size(own_size):
    outcome = compute(own_size)
    assert len(outcome.order) == 2
    assert {one.size for one in outcome.measurements} == {OWN_SIZE}
    by = {one.metric: one.value for one in outcome.measurements if one.of_class == -1}
    assert by["n_features"] == 2
    assert by["ap_macro"] > 0.8


def test_the_experiment_classes_evaluates_the_mask_where_there_is_no_order(own_size):
    outcome = compute(replace(own_size, experiment="classes"))
    assert {one.size for one in outcome.measurements} == {OWN_SIZE}
    assert len(outcome.order) == 2


def test_a_selector_that_keeps_no_feature_is_refused(own_size, monkeypatch):
    monkeypatch.setattr(SequentialFeatureSelector, "get_support", lambda self: np.zeros(13, dtype=bool))
    with pytest.raises(ValueError, match="method sfs must keep a feature of data set wine, got none"):
        compute(own_size)


def test_a_ranking_is_computed_once_for_all_classifiers(monkeypatch):
    fits = []
    fit = FisherScore.fit
    monkeypatch.setattr(FisherScore, "fit", lambda self, X, y: fits.append(1) or fit(self, X, y))
    names = ("linear_svm", "knn", "rbf", "extra_trees", "sklearn.naive_bayes.GaussianNB")
    outcome = compute(replace(WINE, protocol=replace(WINE.protocol, classifiers=names)))
    assert len(fits) == 1
    found = {(one.classifier, one.size): one.value for one in outcome.measurements if one.metric == "ap_macro"}
    assert set(found) == {(name, size) for name in names for size in WINE.protocol.sizes}
    assert len(set(found.values())) > len(names)
    alone = {(one.classifier, one.size): one.value for one in compute(WINE).measurements if one.metric == "ap_macro"}
    assert alone == {place: found[place] for place in alone}


def test_classifiers_are_in_the_key():
    others = ["knn", "rbf", {"name": "knn", "parameters": {"n_neighbors": 3}}, {"name": "knn", "standardise": False}]
    jobs = [replace(WINE, protocol=replace(WINE.protocol, classifiers=(one,))) for one in others]
    assert len({job.key for job in [WINE, *jobs]}) == 5


def test_every_classifier_evaluates_each_class_against_the_rest():
    protocol = replace(WINE.protocol, classifiers=("linear_svm", "knn"))
    measured = compute(replace(WINE, experiment="classes", protocol=protocol)).measurements
    for name in ("linear_svm", "knn"):
        by_class = [one.value for one in measured if (one.metric, one.classifier) == ("ap", name)]
        (mean,) = (one.value for one in measured if (one.metric, one.classifier) == ("ap_macro", name))
        assert len(by_class) == 3
        assert mean == pytest.approx(np.mean(by_class))


def test_the_chosen_c_and_whether_it_is_an_end_of_the_grid_are_kept():
    protocol = replace(WINE.protocol, Cs=(1e-9, 0.1, 1e9))
    by = {(one.size, one.metric): one.value for one in compute(replace(WINE, protocol=protocol)).measurements}
    assert by[3, "C"] == 0.1
    assert by[3, "C_on_edge"] == 0.0
    assert not any(one.metric == "C_on_edge" for one in compute(WINE).measurements)  # of two C each is an end


def test_a_class_with_one_sample_is_named(given):
    y = np.append(np.arange(30) % 2, 2)
    job = given(np.random.default_rng(0).normal(size=(31, 4)), y, names=("a", "b", "rare"))
    message = "class 'rare' of data set made must have at least 2 samples, one for training and one for testing, got 1"
    for experiment in ("sizes", "classes"):
        with pytest.raises(ValueError, match=message):
            compute(replace(job, experiment=experiment))


def test_the_experiment_classes_refuses_an_order_of_too_few_features(given, monkeypatch):
    job = given(np.random.default_rng(0).normal(size=(60, 9)), np.arange(60) % 2)
    monkeypatch.setattr(module, "order_of", lambda _: np.arange(2))
    with pytest.raises(ValueError, match="method fisher orders 2 features, fewer than the 4 evaluated"):
        compute(replace(job, experiment="classes"))
