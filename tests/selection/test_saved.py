"""Selections that are saved and loaded."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from configurations import CONFIGURATIONS
from helpers import planted
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import ilfs
from ilfs import ILFS, FisherScore
from ilfs.report import ranking_text
from ilfs.selection import RankEnsemble, Selection, SizeCV
from ilfs.selection.saved import load

NAMES = np.array([f"gène {j}" for j in range(12)])


def table():
    return planted(n_samples=60, n_features=12, n_informative=4)


def frame():
    X, y = table()
    return pd.DataFrame(X, columns=NAMES), y


def reloaded(selector, tmp_path):
    selector.save(tmp_path / "selection.json")
    return load(tmp_path / "selection.json")


def assert_same(found, expected):
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    assert found.scores_.tobytes() == expected.scores_.tobytes()
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    for name in ("p_values_", "q_values_", "classes_", "target_name_", "feature_names_in_"):
        assert hasattr(found, name) == hasattr(expected, name), name
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("selector", CONFIGURATIONS, ids=lambda one: repr(one).replace("\n", ""))
def test_every_method_is_read_back(selector, tmp_path):
    X, y = frame()
    selector = clone(selector).fit(X, y if selector._reads_labels else None)
    found = reloaded(selector, tmp_path)
    assert_same(found, selector)
    assert found.method_ == type(selector).__name__
    assert set(found.parameters_) == set(selector.get_params(deep=False))
    np.testing.assert_array_equal(found.transform(X), selector.transform(X))
    for title, values in selector.table().items():
        np.testing.assert_array_equal(found.table()[title], values)
    assert ranking_text(found, 3) == ranking_text(selector, 3)


class TestContent:
    def test_names_classes_and_target(self, tmp_path):
        X, y = frame()
        selector = FisherScore(3).fit(X.assign(kind=np.array(["no", "yes"])[y]), "kind")
        found = reloaded(selector, tmp_path)
        assert_same(found, selector)
        assert found.target_name_ == "kind"
        assert found.classes_.tolist() == ["no", "yes"]
        assert found.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
        np.testing.assert_array_equal(found.transform(X.assign(kind=y)), selector.transform(X))

    def test_p_values_and_the_rule_fdr(self, tmp_path):
        X, y = frame()
        found, selector = None, ILFS("fdr").fit(X, y)
        found = reloaded(selector, tmp_path)
        assert_same(found, selector)
        assert found.parameters_["n_features_to_select"] == "fdr"
        assert found.get_support().sum() == (found.q_values_ <= 0.05).sum()

    def test_meta_selectors(self, tmp_path):
        X, y = frame()
        for selector in (
            RankEnsemble(["fisher", "mi"], aggregate="robust").fit(X, y),
            SizeCV(FisherScore(), SVC(), sizes=[2, 4]).fit(X, y),
        ):
            assert_same(reloaded(selector, tmp_path), selector)

    def test_nothing_is_selected(self, tmp_path):
        X = np.random.default_rng(3).normal(size=(40, 12))
        found = reloaded(FisherScore("fdr").fit(X, np.arange(40) % 2), tmp_path)
        assert not found.get_support().any()
        with pytest.warns(UserWarning, match="No features were selected"):
            assert found.transform(X).shape == (40, 0)

    def test_a_selection_can_be_saved_again(self, tmp_path):
        first = reloaded(ILFS(3, n_permutations=20).fit(*frame()), tmp_path)
        text = (tmp_path / "selection.json").read_bytes()
        second = reloaded(first, tmp_path)
        assert_same(second, first)
        assert (tmp_path / "selection.json").read_bytes() == text
        assert second.method_ == "ILFS"

    def test_a_selector_that_is_not_fitted_is_not_saved(self, tmp_path):
        with pytest.raises(ValueError, match="not fitted"):
            ILFS().save(tmp_path / "selection.json")
        assert not list(tmp_path.iterdir())

    def test_columns_without_names(self, tmp_path):
        X, y = table()
        selector = FisherScore(3).fit(X, y)
        found = reloaded(selector, tmp_path)
        assert_same(found, selector)
        np.testing.assert_array_equal(found.transform(pd.DataFrame(X)), selector.transform(X))
        with pytest.raises(ValueError, match="X has 11 features, but Selection is expecting 12"):
            found.transform(X[:, 1:])


class TestColumnsByName:
    """Only the selected columns need to be there, in any order."""

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda data: pl.DataFrame(data).to_arrow()])
    def test_other_columns_and_another_order(self, make, tmp_path):
        X, y = frame()
        selector = ILFS(3).fit(X, y)
        found = reloaded(selector, tmp_path)
        kept = list(found.get_feature_names_out())[::-1]
        other = make({"id": np.arange(60)} | {name: X[name].to_numpy() for name in kept})
        np.testing.assert_array_equal(found.transform(other), selector.transform(X))

    def test_missing_columns_are_named(self, tmp_path):
        X, y = frame()
        found = reloaded(ILFS(3).fit(X, y), tmp_path)
        gone = found.get_feature_names_out()[1]
        with pytest.raises(ValueError, match=f"X must have all 3 selected columns, but lacks '{gone}'"):
            found.transform(X.drop(columns=gone))

    def test_the_output_is_a_frame_if_set_output_says_so(self, tmp_path):
        X, y = frame()
        found = reloaded(ILFS(3).fit(X, y), tmp_path).set_output(transform="pandas")
        kept = found.transform(X.iloc[:, ::-1])
        pd.testing.assert_frame_equal(kept, X[list(found.get_feature_names_out())])

    def test_arrays_and_sparse_matrices_are_taken_by_position(self, tmp_path):
        X, y = frame()
        found = reloaded(ILFS(3).fit(X, y), tmp_path)
        expected = X.to_numpy()[:, found.get_support()]
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            np.testing.assert_array_equal(found.transform(sparse.csr_array(X)).toarray(), expected)
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            np.testing.assert_array_equal(found.transform(X.to_numpy()), expected)


class TestFrozen:
    def test_it_is_a_step_of_a_pipeline(self, tmp_path):
        X, y = frame()
        found = reloaded(ILFS(3).fit(X, y), tmp_path)
        model = clone(make_pipeline(found, StandardScaler(), SVC())).fit(X[:40], y[:40])
        assert model.score(X[40:], y[40:]) > 0.8
        assert model[0] is found
        assert isinstance(found, SelectorMixin)

    def test_pickles_and_representation(self, tmp_path):
        found = reloaded(ILFS(3).fit(*frame()), tmp_path)
        assert_same(pickle.loads(pickle.dumps(found)), found)
        assert repr(found) == "<Selection: 3 of 12 features by ILFS>"
        assert repr(Selection()) == "Selection()"

    def test_an_empty_one_is_not_fitted(self):
        with pytest.raises(ValueError, match="not fitted"):
            Selection().fit()

    def test_inverse_transform(self, tmp_path):
        X, y = table()
        selector = FisherScore(3).fit(X, y)
        found = reloaded(selector, tmp_path)
        kept = selector.transform(X)
        np.testing.assert_array_equal(found.inverse_transform(kept), selector.inverse_transform(kept))


def test_loading_does_not_need_the_kernels(tmp_path):
    """A computer that only applies a selection need not compile anything."""
    FisherScore(3).fit(*table()).save(tmp_path / "selection.json")
    code = (
        "import sys, numpy, ilfs\n"
        f"selection = ilfs.load({str(tmp_path / 'selection.json')!r})\n"
        "assert selection.transform(numpy.zeros((2, 12))).shape == (2, 3)\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_load_is_public():
    assert ilfs.load is load
