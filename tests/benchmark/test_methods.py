import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from ilfs import METHODS, FisherScore, LaplacianScore
from ilfs.benchmark import BenchmarkMethod
from ilfs.benchmark.methods.fitting import columns_kept, prepared, reads_labels
from ilfs.datasets import load
from ilfs.fitted import order_of


def table(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6))
    X[:, 4] += 3 * y
    return X, y


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_made_by_its_name(name):
    assert type(BenchmarkMethod(name).make(n_jobs=1)) is METHODS[name]


def test_a_scikit_learn_class_is_made_from_its_path_and_imported_parameters():
    anova = BenchmarkMethod(
        "anova",
        "sklearn.feature_selection.SelectKBest",
        {"score_func": "import:sklearn.feature_selection.f_classif", "k": 3},
    )
    selector = anova.make(n_jobs=1, n_features_to_select=200)
    assert isinstance(selector, SelectKBest)
    assert selector.score_func is f_classif
    assert selector.k == 3


def test_a_table_of_parameters_becomes_an_estimator_inside_a_selector():
    trees = BenchmarkMethod(
        "trees",
        "sklearn.feature_selection.SelectFromModel",
        {"estimator": {"selector": "sklearn.ensemble.ExtraTreesClassifier", "parameters": {"random_state": 0}}},
    )
    selector = trees.make()
    assert isinstance(selector.estimator, ExtraTreesClassifier)
    assert selector.estimator.random_state == 0


def test_a_description_is_plain_data_and_has_the_defaults_but_not_the_threads():
    described = BenchmarkMethod("ilfs", parameters={"n_tokens": 8}).describe(n_features_to_select=200)
    assert json.loads(json.dumps(described)) == described
    assert described["parameters"]["n_tokens"] == 8
    assert described["parameters"]["n_features_to_select"] == 200
    assert "evidence" in described["parameters"]
    assert "n_jobs" not in described["parameters"]
    anova = BenchmarkMethod("anova", "sklearn.feature_selection.SelectKBest").describe()
    assert anova["parameters"]["score_func"].endswith("f_classif")


@pytest.mark.parametrize(
    ("selector", "parameters", "message"),
    [
        ("nothing", {}, "method 'nothing' is none of ilfs, .*, and cannot be imported"),
        (
            "sklearn.feature_selection.f_classif",
            {},
            "must be a subclass of sklearn.base.BaseEstimator with fit, got sklearn.feat",
        ),
        ("ilfs", {"tokens": 3}, "ilfs has no parameter 'tokens'; it has n_features_to_select,"),
        ("sklearn.feature_selection.SelectKBest", {"score_func": "import:a.b"}, "parameter 'a.b' is none of"),
    ],
)
def test_an_invalid_method_is_refused_in_one_sentence(selector, parameters, message):
    with pytest.raises(ValueError, match=message):
        BenchmarkMethod("mine", selector, parameters).make()


@pytest.mark.parametrize(
    "selector",
    [
        FisherScore(),
        SelectKBest(f_classif, k=1),
        RFE(LogisticRegression(), n_features_to_select=1),
        SelectFromModel(LogisticRegression()),
        SelectFromModel(ExtraTreesClassifier(random_state=0)),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_the_order_of_any_selector_has_the_planted_column_first(selector):
    order = order_of(selector.fit(*table()))
    assert order[0] == 4
    assert sorted(order.tolist()) == list(range(6))


def test_a_selector_without_ranking_and_mask_is_an_error():
    # the order of the columns in the file is not an order of merit
    with pytest.raises(ValueError, match="VarianceThreshold has no ranking of the features"):
        order_of(VarianceThreshold().fit(table()[0]))


def test_a_selector_itself_may_be_given():
    selector = SelectKBest(f_classif, k=2)
    method = BenchmarkMethod("anova", selector)
    assert method.make(n_jobs=1, n_features_to_select=200) is not selector
    assert method.describe() == BenchmarkMethod("anova", "sklearn.feature_selection.SelectKBest", {"k": 2}).describe()
    assert BenchmarkMethod("fisher", FisherScore()).make(n_jobs=2).n_jobs == 2
    with pytest.raises(ValueError, match="must be a string or a selector, got 3"):
        BenchmarkMethod("three", 3)
    with pytest.raises(ValueError, match="parameters of method 'anova' must be none, as its selector has its own"):
        BenchmarkMethod("anova", selector, {"k": 3})


def test_an_error_about_a_misspelt_name_suggests_the_right_one():
    with pytest.raises(ValueError, match=r"did you mean 'relieff'\?"):
        BenchmarkMethod("relief").make()


def test_rows_are_imputed_and_made_dense_only_if_the_selector_needs_it():
    X = table()[0]
    X[0, 0] = np.nan
    assert prepared(FisherScore(), X) is X
    filled = prepared(LaplacianScore(), X)
    assert filled[0, 0] == pytest.approx(np.nanmean(X[:, 0]))
    rows = sparse.csr_array(np.eye(4))
    assert prepared(FisherScore(), rows) is rows
    assert isinstance(prepared(METHODS["udfs"](), rows), np.ndarray)


def test_methods_that_read_no_labels_are_known():
    assert not reads_labels(LaplacianScore())
    assert reads_labels(FisherScore())
    assert reads_labels(SelectKBest())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "'broken_one.It' cannot be imported: module broken_one failed: ZeroDivisionError: division by zero"),
        ("import nothing_of_this_name", "failed: ModuleNotFoundError: No module named 'nothing_of_this_name'"),
    ],
)
def test_an_import_error_of_the_users_module_has_the_reason(tmp_path, monkeypatch, text, message):
    (tmp_path / "broken_one.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=message):
        BenchmarkMethod("mine", "broken_one.It").make()


def test_functions_that_cannot_be_told_apart_are_refused():
    nameless = BenchmarkMethod("a", "sklearn.feature_selection.SelectKBest", {"score_func": lambda X, y: X[0]})
    with pytest.raises(ValueError, match="a parameter that is a function must be importable, got <function"):
        nameless.describe()


def test_a_mask_counts_only_where_there_is_no_order():
    X, y = load("wine").X, load("wine").y
    only_mask = VarianceThreshold(1.0).fit(X)
    assert columns_kept(only_mask).tolist() == np.flatnonzero(X.var(axis=0) > 1).tolist()
    by_importance = SelectFromModel(ExtraTreesClassifier(n_estimators=3, random_state=0))
    unordered = SelectFromModel(KNeighborsClassifier(), importance_getter=lambda _: np.arange(13))
    assert columns_kept(by_importance.fit(X, y)) is None
    assert columns_kept(unordered.fit(X, y)).tolist() == [6, 7, 8, 9, 10, 11, 12]
    assert columns_kept(FisherScore().fit(X, y)) is None


def described(value):
    return BenchmarkMethod("a", SelectFromModel(LogisticRegression(class_weight=value))).describe()


def test_parameters_of_any_size_are_told_apart():
    zeros, other = np.zeros(5000), np.zeros(5000)
    other[2500] = 1.0  # which repr leaves out
    assert repr(zeros) == repr(other)
    assert described(zeros) == described(zeros.copy()) != described(other)
    assert described({0: 1.0, 1: 2.0}) == described({1: 2.0, 0: 1.0}) != described({"0": 1.0, 1: 2.0})
    assert described({1, 2}) == described({2, 1}) != described({1, 3})
    json.dumps([described(zeros), described({0: 1.0}), described({1})])


@pytest.mark.parametrize("value", [np.random.default_rng(0), np.random.RandomState(0), object()])
def test_parameters_that_differ_between_processes_are_errors(value):
    with pytest.raises(ValueError, match=r"^a parameter must be the same in every process, got "):
        described(value)


class Scorer(BaseEstimator):
    """A selector with scores of its own, which may be nonsense."""

    def __init__(self, scores=()):
        self.scores = scores

    def fit(self, X, y):
        self.scores_, self.n_features_in_ = np.asarray(self.scores, dtype=float), X.shape[1]
        return self

    def get_support(self):
        return np.ones(self.n_features_in_, dtype=bool)


@pytest.mark.parametrize(
    ("scores", "message"),
    [([np.nan] * 3, "Scorer must score features by numbers, got NaN for all of them"), ([1.0], "has no ranking")],
)
def test_missing_scores_are_errors(scores, message):
    fitted = Scorer(scores).fit(np.zeros((4, 3)), [0, 1, 0, 1])
    assert columns_kept(fitted) is None
    with pytest.raises(ValueError, match=message):
        order_of(fitted)


def test_a_nested_name_is_equal_to_nested_parameters():
    by_name = BenchmarkMethod("novel", "novelty(fisher)")
    by_parameters = BenchmarkMethod("novel", "ilfs.Novelty", {"selector": {"selector": "fisher"}})
    assert by_name.describe(n_features_to_select=5) == by_parameters.describe(n_features_to_select=5)
    assert by_name.provenance() == by_parameters.provenance()
