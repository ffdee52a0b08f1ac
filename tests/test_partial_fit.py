"""`partial_fit` gives the result of `fit` on all rows so far."""

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers import DATA, NO_DATA, load, planted
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ilfs import FisherScore, MutualInformation, Novelty, summarise

EDGES = [-1.0, 0.0, 0.5, 1.5]
SELECTORS = {
    "fisher": FisherScore(),
    "fisher, equal": FisherScore(weighting="equal"),
    "mi": MutualInformation(edges=EDGES),
    "mi, mean": MutualInformation(edges=EDGES, estimate="posterior_mean"),
}
selectors = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)


def table():
    rng = np.random.default_rng(0)
    X, y = planted(120, 10, n_classes=3)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, -1] = 2.0
    return X, np.array(["a", "b", "c"])[y], rng.integers(0, 4, size=120) / 2


def assert_same(found, expected):
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(found.classes_, expected.classes_)


@selectors
def test_after_every_call_the_result_is_that_of_all_rows_so_far(selector):
    X, y, weight = table()
    selector = clone(selector)
    for start, stop in ((0, 40), (40, 41), (41, 90), (90, 120)):
        rows = slice(start, stop)
        selector.partial_fit(X[rows], y[rows], sample_weight=np.maximum(weight[rows], 0.5))
        expected = clone(selector).fit(X[:stop], y[:stop], sample_weight=np.maximum(weight[:stop], 0.5))
        assert_same(selector, expected)


@selectors
def test_classes_may_come_later(selector):
    X, y, _ = table()
    rows = np.argsort(y, kind="stable")  # one class after the other
    selector = clone(selector).partial_fit(X[rows[:20]], y[rows[:20]])
    with pytest.raises(NotFittedError):
        selector.transform(X)
    for start in range(20, 120, 20):
        part = rows[start : start + 20]
        selector.partial_fit(X[part], y[part])
    assert_same(selector, clone(selector).fit(X, y))


@selectors
def test_single_rows(selector):
    X, y, _ = table()
    selector = clone(selector)
    for row in range(30):
        selector.partial_fit(X[row : row + 1], y[row : row + 1])
    assert_same(selector, clone(selector).fit(X[:30], y[:30]))


@selectors
def test_several_labels(selector):
    X, _, _ = table()
    Y = np.random.default_rng(1).integers(0, 2, size=(120, 3))
    Y[:30, 1] = 1
    selector = clone(selector)
    with pytest.warns(UserWarning, match=r"labels \[1\] of y are the same for all samples"):
        selector.partial_fit(X[:30], Y[:30])
    selector.partial_fit(X[30:], Y[30:])
    expected = clone(selector).fit(X, Y)
    np.testing.assert_array_equal(selector.order_, expected.order_)
    np.testing.assert_allclose(selector.scores_per_label_, expected.scores_per_label_, rtol=1e-10, atol=1e-10)


@selectors
def test_fit_forgets_earlier_rows(selector):
    X, y, _ = table()
    selector = clone(selector).partial_fit(X[:60], y[:60])
    selector.fit(X[60:], y[60:])
    assert_same(selector, clone(selector).fit(X[60:], y[60:]))


@selectors
def test_rows_of_a_fit_are_kept(selector):
    X, y, _ = table()
    selector = clone(selector).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    assert_same(selector, clone(selector).fit(X, y))
    merged = summarise(X[:60], y[:60], selector=selector)
    assert_same(clone(selector).fit(merged).partial_fit(X[60:], y[60:]), selector)


def test_a_selector_that_was_fitted_by_another_one_is_not_continued():
    X, y, _ = table()
    inner = Novelty(FisherScore()).fit(X, y).selector_
    with pytest.raises(ValueError, match="partial_fit needs the statistics of the rows before"):
        inner.partial_fit(X, y)


def test_a_subclass_inherits_partial_fit():
    class MyScore(FisherScore):
        pass

    X, y, _ = table()
    assert_same(MyScore().fit(X[:60], y[:60]).partial_fit(X[60:], y[60:]), FisherScore().fit(X, y))


@selectors
def test_clones_begin_anew_and_pickles_continue(selector):
    X, y, _ = table()
    selector = clone(selector).partial_fit(X[:60], y[:60])
    assert not hasattr(clone(selector), "summary_")
    loaded = pickle.loads(pickle.dumps(selector)).partial_fit(X[60:], y[60:])
    assert_same(loaded, clone(selector).fit(X, y))


@selectors
def test_an_error_changes_nothing(selector):
    X, y, _ = table()
    selector = clone(selector).partial_fit(X[:60], y[:60])
    before = pickle.dumps(selector)
    bad = X[60:].copy()
    bad[3, 4] = np.inf
    with pytest.raises(ValueError, match="column 4 of X holds infinity"):
        selector.partial_fit(bad, y[60:])
    with pytest.raises(ValueError, match="X has 9 features, but"):
        selector.partial_fit(X[60:, 1:], y[60:])
    assert pickle.dumps(selector) == before


def test_labels_must_be_among_the_classes_if_these_are_given():
    X, y, _ = table()
    selector = FisherScore().partial_fit(X, y, classes=["a", "b", "c", "d"])
    assert selector.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"labels in y must be among classes, got 'c', which is none of \['a', 'b'\]"):
        selector.partial_fit(X, y, classes=["a", "b"])


def test_column_names_must_stay_the_same():
    X, y, _ = table()
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    selector = FisherScore().partial_fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        selector.partial_fit(frame.rename(columns={"a": "z"}), y)
    assert selector.partial_fit(frame, y).feature_names_in_.tolist() == list("abcdefghij")


def test_parameters_may_not_change_between_calls():
    X, y, _ = table()
    selector = FisherScore().partial_fit(X, y).set_params(weighting="equal")
    with pytest.raises(ValueError, match="weighting must be the same in all summaries, got 'size' and 'equal'"):
        selector.partial_fit(X, y)


def test_mutual_information_without_edges_has_no_partial_fit():
    assert not hasattr(MutualInformation(), "partial_fit")
    with pytest.raises(AttributeError) as raised:
        MutualInformation().partial_fit(*table()[:2])
    assert "partial_fit needs given edges, because bins depend on all rows" in str(raised.value.__cause__)


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_on_real_data():
    X, y = load("lung")
    selector = FisherScore()
    for rows in np.array_split(np.arange(len(y)), 7):
        selector.partial_fit(X[rows], y[rows])
    assert_same(selector, FisherScore().fit(X, y))
