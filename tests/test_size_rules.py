"""The rules for the number of features, on all methods: which has which, and "auto"."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import planted
from scipy import sparse
from sklearn.datasets import load_wine

from ilfs import CFS, ILFS, FisherScore, LaplacianScore, MutualInformation, Novelty, ReliefF, list_methods
from ilfs.selection import RankEnsemble, SizeCV

SUPERVISED = [method.load()() for method in list_methods() if method.supervised]
UNSUPERVISED = [method.load()() for method in list_methods() if method.supervised is False]
WRAPPERS = [Novelty(FisherScore()), Novelty(LaplacianScore(), redundancy="gain"), RankEnsemble(["fisher", "mi"])]


@pytest.mark.parametrize("selector", SUPERVISED + WRAPPERS, ids=repr)
def test_auto_finds_the_size_of_size_cv_on_every_supervised_method(selector):
    X, y = planted(60, 12, 3)
    expected = SizeCV(selector).fit(X, y)
    found = selector.set_params(n_features_to_select="auto").fit(X, y)
    assert found.n_features_ == expected.n_features_ == found.get_support().sum()
    assert list(found.cv_results_) == list(expected.cv_results_)
    for name, values in expected.cv_results_.items():
        np.testing.assert_array_equal(found.cv_results_[name], values)
    np.testing.assert_array_equal(np.flatnonzero(found.get_support()), np.sort(found.order_[: found.n_features_]))


@pytest.mark.parametrize("selector", [*UNSUPERVISED, Novelty(LaplacianScore())], ids=repr)
def test_unsupervised_methods_say_why_they_have_no_auto(selector):
    message = f"n_features_to_select='auto' cross-validates a classifier, but {type(selector).__name__} reads no labels"
    with pytest.raises(ValueError, match=message):
        selector.set_params(n_features_to_select="auto").fit(*planted())


def test_only_ilfs_has_the_random_walk():
    for selector in SUPERVISED[1:] + UNSUPERVISED:
        with pytest.raises(ValueError, match=r"'absorption' needs the random walk of ILFS, which .* does not have"):
            selector.set_params(n_features_to_select="absorption").fit(*planted())


@pytest.mark.parametrize(
    ("selector", "rules"),
    [
        (ILFS(), ", 'fdr', 'auto', 'absorption'"),
        (FisherScore(), ", 'fdr', 'auto'"),
        (ReliefF(), ", 'auto'"),
        (CFS(), ""),
    ],
)
def test_an_unknown_rule_is_answered_by_the_rules_of_the_method(selector, rules):
    with pytest.raises(ValueError, match=rf"\(1.0: all\){rules} or None \(half\), got 'best'"):
        selector.set_params(n_features_to_select="best").fit(*planted())


class TestAuto:
    def test_rows_that_are_not_in_memory_are_refused_with_the_other_rules(self, tmp_path):
        dask = pytest.importorskip("dask.array")
        X, y = planted()
        pd.DataFrame(X).rename(columns=str).assign(y=y).to_parquet(tmp_path / "table.parquet")
        tables = [(dask.from_array(X), y), (pl.scan_parquet(tmp_path / "table.parquet"), "y")]
        for table, labels in tables:
            with pytest.raises(
                TypeError,
                match=r"^n_features_to_select='auto' needs all rows in memory, .* a number, 'fdr', 'absorption'$",
            ):
                ILFS("auto").fit(table, labels)
            with pytest.raises(TypeError, match=r"or give a number, 'fdr'$"):
                FisherScore("auto").fit(table, labels)

    def test_a_summary_is_refused(self):
        X, y = planted()
        summary = FisherScore().fit(X, y).summary_
        with pytest.raises(TypeError, match="n_features_to_select='auto' needs all rows in memory"):
            FisherScore("auto").fit(summary)
        assert FisherScore(3).fit(summary).get_support().sum() == 3

    def test_partial_fit_is_not_offered(self):
        assert hasattr(FisherScore(), "partial_fit")
        for selector in (FisherScore("auto"), MutualInformation("auto", edges=[0.0, 1.0])):
            assert not hasattr(selector, "partial_fit")
            assert not hasattr(selector.fit(*planted()), "summary_")

    @pytest.mark.parametrize("selector", [ILFS("auto"), FisherScore("auto"), MutualInformation("auto")], ids=repr)
    def test_groups_stay_together_in_the_folds(self, selector):
        X, y = planted(60, 12, 3)
        groups = np.arange(60) // 4
        expected = SizeCV(type(selector)()).fit(X, y, groups=groups)
        found = selector.fit(X, y, groups=groups)
        for name, values in expected.cv_results_.items():
            np.testing.assert_array_equal(found.cv_results_[name], values)
        alone = type(selector)("auto").fit(X, y)
        assert alone.cv_results_["split0_test_score"].tolist() != found.cv_results_["split0_test_score"].tolist()

    def test_groups_are_validated(self):
        X, y = planted()
        with pytest.raises(ValueError, match="groups must have shape"):
            ILFS("auto").fit(X, y, groups=[1, 2])

    def test_weights_reach_selector_and_classifier(self):
        X, y = planted(60, 12, 3, shift=0.8)
        weight = 1.0 + np.arange(60) % 5
        expected = SizeCV(FisherScore()).fit(X, y, sample_weight=weight)
        found = FisherScore("auto").fit(X, y, sample_weight=weight)
        for name, values in expected.cv_results_.items():
            np.testing.assert_array_equal(found.cv_results_[name], values)
        plain = FisherScore("auto").fit(X, y)
        assert plain.cv_results_["mean_test_score"].tolist() != found.cv_results_["mean_test_score"].tolist()

    def test_a_row_of_weight_0_is_left_out(self):
        X, y = planted(60, 12, 3, shift=0.8)
        weight = np.where(np.arange(60) % 6 == 0, 0.0, 1.0)
        kept = weight > 0
        weighted = FisherScore("auto").fit(X, y, sample_weight=weight).cv_results_["mean_test_score"]
        alone = FisherScore("auto").fit(X[kept], y[kept]).cv_results_["mean_test_score"]
        np.testing.assert_allclose(weighted, alone)

    def test_p_values_may_be_computed_beside_it(self):
        X, y = planted(60, 12, 3)
        found = ILFS("auto", n_permutations=20).fit(X, y)
        assert found.n_features_ == ILFS("auto").fit(X, y).n_features_
        assert found.p_values_.shape == (12,)

    def test_several_labels_share_the_size(self):
        X, y = planted(60, 12, 3)
        Y = np.column_stack([y, X[:, 8] > 0]).astype(int)
        found = FisherScore("auto").fit(X, Y)
        assert found.n_features_ == SizeCV(FisherScore()).fit(X, Y).n_features_
        assert [one.get_support().sum() for one in found.per_label_.values()] == [found.n_features_] * 2

    def test_sparse_tables_missing_values_and_frames(self):
        X, y = planted(60, 12, 3)
        X[np.abs(X) < 0.7] = 0
        for form in (sparse.csr_array, sparse.csc_array):
            assert ILFS("auto").fit(form(X), y).n_features_ == SizeCV(ILFS()).fit(form(X), y).n_features_
        X[3, 4] = np.nan
        frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
        found = ILFS("auto").fit(frame.assign(kind=y), "kind")
        assert found.n_features_ == ILFS("auto").fit(X, y).n_features_
        assert len(found.get_feature_names_out()) == found.n_features_

    def test_size_cv_does_not_search_inside_its_folds(self):
        X, y = load_wine(return_X_y=True)
        search = SizeCV(FisherScore("auto"), sizes=[1, 2]).fit(X, y)
        assert search.selector_.n_features_to_select is None
        assert search.selector.n_features_to_select == "auto"

    def test_a_rule_that_was_set_after_the_fit_is_refused(self):
        selector = FisherScore().fit(*planted()).set_params(n_features_to_select="auto")
        with pytest.raises(ValueError, match="needs the cross-validation of a fit with this rule: fit again"):
            selector.get_support()

    def test_a_later_fit_with_a_number_forgets_the_search(self):
        selector = FisherScore("auto").fit(*planted())
        assert hasattr(selector, "cv_results_")
        selector.set_params(n_features_to_select=4).fit(*planted())
        assert not hasattr(selector, "cv_results_")
        assert not hasattr(selector, "n_features_")
