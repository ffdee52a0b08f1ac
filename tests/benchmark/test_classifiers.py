"""Classifiers by name, by import path and as estimators, against what scikit-learn gives."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ilfs.benchmark import Classifier, Protocol
from ilfs.benchmark.evaluation.classifiers import Tuning, as_classifier, predict
from ilfs.benchmark.evaluation.metrics import Predictions, balanced_accuracy, macro_f1, metrics_of
from ilfs.datasets import load

WINE = load("wine")
TRAIN, TEST = np.flatnonzero(np.arange(178) % 3), np.flatnonzero(np.arange(178) % 3 == 0)
X, Y, T = WINE.X[TRAIN], WINE.y[TRAIN], WINE.X[TEST]
SCALER = StandardScaler().fit(X)


def predicted(classifier, y=Y, rows=X, seed=3):
    return predict(as_classifier(classifier), rows, y, T, 3, Tuning((0.1, 1.0), 3, seed))


@pytest.mark.parametrize(
    ("name", "model", "method"),
    [
        ("knn", KNeighborsClassifier(5, weights="distance"), "predict_proba"),
        ("rbf", SVC(class_weight="balanced"), "decision_function"),
        ("extra_trees", ExtraTreesClassifier(200, class_weight="balanced", random_state=3), "predict_proba"),
        ("sklearn.naive_bayes.GaussianNB", GaussianNB(), "predict_proba"),
    ],
)
def test_decision_values_are_scikit_learns_on_standardised_features(name, model, method):
    model.fit(SCALER.transform(X), Y)
    found = predicted(name)
    np.testing.assert_allclose(found.decision, getattr(model, method)(SCALER.transform(T)))
    np.testing.assert_array_equal(found.labels, model.predict(SCALER.transform(T)))
    assert np.isnan(found.C)


def test_features_are_left_as_they_are_on_request():
    model = KNeighborsClassifier(3).fit(X, Y)
    found = predicted({"name": "knn", "parameters": {"n_neighbors": 3, "weights": "uniform"}, "standardise": False})
    np.testing.assert_array_equal(found.labels, model.predict(T))
    assert (found.labels != predicted("knn").labels).any()


def test_randomness_depends_on_the_seed():
    one, again, other = (predicted("extra_trees", seed=seed).decision for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    given = {"name": "t", "classifier": "extra_trees", "parameters": {"random_state": 5, "n_estimators": 5}}
    np.testing.assert_array_equal(predicted(given, seed=0).decision, predicted(given, seed=1).decision)


def test_two_classes_have_two_columns_and_a_class_that_was_not_seen_is_least_likely():
    few = Y < 2
    for name in ("linear_svm", "rbf", "knn"):
        decision = predicted(name, Y[few], X[few]).decision
        assert decision.shape == (len(T), 3)
        assert (decision[:, 2] == -np.inf).all()
        assert np.isfinite(decision[:, :2]).all()
    found = predicted("rbf", Y[few], X[few])
    np.testing.assert_array_equal(found.labels, found.decision[:, 1] > 0)
    np.testing.assert_array_equal(found.decision[:, 0], -found.decision[:, 1])


def test_all_rows_are_neighbours_if_there_are_too_few():
    rows = np.array([0, 1, 100])
    assert predicted("knn", Y[rows], X[rows]).decision.shape == (len(T), 3)


def test_an_estimator_itself_is_not_changed():
    own = SVC(C=3.0)
    assert predicted(Classifier("mine", own)).labels.shape == (len(T),)
    assert not hasattr(own, "classes_")
    assert own.random_state is None


def test_descriptions_are_plain_and_differ():
    names = ["linear_svm", "knn", "rbf", "extra_trees", "sklearn.naive_bayes.GaussianNB"]
    described = [as_classifier(name).describe() for name in names]
    assert len({str(one) for one in described}) == 5
    assert described[1]["parameters"]["n_neighbors"] == 5
    assert described[4]["classifier"] == "sklearn.naive_bayes.GaussianNB"
    assert Classifier("mine", SVC(C=3.0)).describe()["parameters"]["C"] == 3.0


class NoValues(ClassifierMixin, BaseEstimator):
    pass


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nobody", "classifier 'nobody' is none of linear_svm, knn, rbf, extra_trees, and cannot be imported"),
        ("kn", "did you mean 'knn'"),
        ("sklearn.svm.NoSVC", "classifier 'sklearn.svm.NoSVC' is none of"),
        ("sklearn.svm.SVR", "classifier 'sklearn.svm.SVR' must classify, got a SVR"),
        ("sklearn.svm.l1_min_c", "must be a scikit-learn class, got sklearn.svm.l1_min_c"),
        (Classifier("n", NoValues()), "must have decision_function or predict_proba, .* NoValues has neither"),
        ({"name": "knn", "parameters": {"k": 3}}, "KNeighborsClassifier has no parameter 'k'; it has n_neighbors"),
        ({"classifier": "knn"}, "a classifier must be a name or a table with name and perhaps classifier"),
        ({"name": "knn", "selector": "knn"}, "a classifier must be a name or a table with name"),
        ({"name": 3}, "the name of a classifier must be a non-empty string, got 3"),
        ({"name": "a", "classifier": 3}, "classifier 'a' must be a string or an estimator, got 3"),
        ({"name": "knn", "parameters": 3}, "the parameters of classifier 'knn' must be a table, got 3"),
        ({"name": "knn", "standardise": "no"}, "standardise of classifier 'knn' must be true or false, got 'no'"),
        ({"name": "linear_svm", "parameters": {"C": 1}}, "must be none, as the protocol has Cs and n_folds"),
        (3, "a classifier must be a name or a table .*, got 3"),
    ],
)
def test_invalid_classifiers_are_refused_in_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        Protocol(classifiers=(given,))


def test_classifiers_of_a_protocol_must_have_different_names():
    assert Protocol(classifiers=["knn", Classifier("rbf")]).classifier_names == ("knn", "rbf")
    with pytest.raises(ValueError, match="classifiers must have different names, got 'knn' again"):
        Protocol(classifiers=("knn", "knn"))
    for wrong in ((), "knn"):
        with pytest.raises(ValueError, match="classifiers must be a list of at least one, got"):
            Protocol(classifiers=wrong)


def test_one_versus_one_decision_values_are_refused():
    one_to_one = {"name": "svc", "classifier": "sklearn.svm.SVC", "parameters": {"decision_function_shape": "ovo"}}
    four = np.arange(len(Y)) % 4
    with pytest.raises(ValueError, match="decision_function of classifier 'svc' must have a column for each class"):
        predict(as_classifier(one_to_one), X, four, T, 4, Tuning((1.0,), 2, 0))


def test_metrics_worked_by_hand():
    true, labels = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 0, 0])
    assert balanced_accuracy(true, labels) == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert macro_f1(true, labels) == pytest.approx((4 / 7 + 2 / 4 + 0) / 3)


def test_a_class_without_test_rows_is_left_out_of_the_means():
    y = np.array([0, 1, 2, 0, 1, 0, 1])
    decision = np.zeros((4, 3))
    decision[[0, 2], 0] = decision[[1, 3], 1] = 1.0
    found = metrics_of(y, np.arange(3, 7), Predictions(decision, decision.argmax(axis=1)))
    values = {(metric, k): value for metric, k, value in found}
    assert np.isnan(values["ap", 2])
    assert values["ap_macro", -1] == values["auc", -1] == values["f1", -1] == 1.0
