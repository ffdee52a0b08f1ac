"""`ilfs.selection.compare`: the numbers of scikit-learn's own cross-validation, no leakage, and honest tests."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from helpers import WorstFirst, load, planted
from scipy import sparse
from scipy.stats import kendalltau, spearmanr
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ilfs import ILFS, FisherScore, ReliefF, read
from ilfs.paired_tests import corrected_t_test, holm
from ilfs.selection import compare, stability
from ilfs.selection.comparing import pair_tests
from ilfs.selection.performance import repeated_splits

PLAIN = {"stability": False, "n_repeats": 1, "cv": 3}


def both_repeats(model, X, y, **options):
    """Scores of scikit-learn's cross-validation, over the folds of both repetitions."""
    folds = [StratifiedKFold(5, shuffle=True, random_state=seed) for seed in (0, 1)]
    return np.concatenate([cross_val_score(model, X, y, cv=cv, **options) for cv in folds])


@pytest.fixture(scope="module")
def found():
    X, y = planted(n_samples=60, n_features=30, n_informative=3)
    return compare({"fisher": "fisher", "relieff": "relieff", "worst": WorstFirst()}, X, y, sizes=[1, 3, 10])


class TestPerformance:
    @pytest.mark.parametrize(("name", "selector"), [("ilfs", ILFS), ("fisher", FisherScore), ("relieff", ReliefF)])
    @pytest.mark.parametrize("size", [2, 7])
    def test_scores_equal_those_of_pipelines_in_scikit_learn(self, name, selector, size):
        X, y = planted(n_samples=70, n_features=25, n_classes=3, shift=1.0)
        found = compare([name], X, y, sizes=[2, 7], stability=False)
        models = [LinearSVC(max_iter=10_000, random_state=0), KNeighborsClassifier(5)]
        for place, model in enumerate(models):
            pipeline = make_pipeline(selector(n_features_to_select=size), StandardScaler(), model)
            expected = both_repeats(pipeline, X, y)
            np.testing.assert_array_equal(found.scores[0, place, :, [2, 7].index(size)], expected)

    def test_all_features_are_scored_like_a_pipeline_without_selection(self):
        X, y = planted(n_samples=50, n_features=12, shift=1.0)
        found = compare(["fisher"], X, y, sizes=[2], stability=False)
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
        np.testing.assert_array_equal(found.all_features[1], both_repeats(model, X, y))

    def test_other_classifiers_and_metrics_are_those_of_scikit_learn(self):
        X, y = planted(n_samples=60, n_features=20, shift=1.0)
        y = (np.arange(60) % 3 == 0).astype(int) * y
        found = compare(
            ["fisher"], X, y, sizes=[4], classifiers={"bayes": GaussianNB()}, scoring="f1_macro", stability=False
        )
        expected = both_repeats(make_pipeline(FisherScore(4), GaussianNB()), X, y, scoring="f1_macro")
        assert (found.classifiers, found.metric) == (("bayes",), "f1_macro")
        np.testing.assert_array_equal(found.scores[0, 0, :, 0], expected)

    def test_classifiers_in_a_list_are_named_by_their_classes(self):
        listed = [GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression()), GaussianNB(var_smoothing=0.1)]
        found = compare(["fisher"], *planted(n_samples=30, n_features=6), sizes=[2], classifiers=listed, **PLAIN)
        assert found.classifiers == ("GaussianNB", "LogisticRegression", "GaussianNB (2)")

    def test_noise_is_predicted_by_chance_although_selection_on_all_rows_seems_to_predict_it(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(60, 2000)), np.arange(60) % 2
        found = compare(["fisher", "relieff"], X, y, sizes=[5, 20, 100], stability=False)
        assert found.mean.max() < 0.6  # stratified folds of noise are often below one half
        assert found.verdict("linear SVM").above_random == found.verdict("nearest neighbours").above_random == ()
        best = FisherScore(20).fit(X, y).transform(X)  # the mistake that selection inside the folds avoids
        assert cross_val_score(make_pipeline(StandardScaler(), LinearSVC(random_state=0)), best, y).mean() > 0.85

    def test_random_features_are_worse_than_planted_ones_and_reach_all_features(self, found):
        svm = found.mean[:, 0]
        assert (svm[0] > svm[-1] + 0.1).all()
        X, y = planted(n_samples=60, n_features=10)
        whole = compare(["fisher"], X, y, sizes=[10], **PLAIN)
        np.testing.assert_array_equal(whole.scores[-1, :, :, 0], whole.all_features)

    def test_error_is_that_of_nadeau_and_bengio(self, found):
        usual = found.scores.std(axis=2, ddof=1)
        assert (found.n_train, found.n_test) == (48, 12)
        np.testing.assert_allclose(found.error, usual * np.sqrt(1 / 10 + 12 / 48))

    def test_enough_features_are_those_within_one_standard_error_of_the_best(self, found):
        for i, c in np.ndindex(found.sufficient_sizes.shape):
            best = found.mean[i, c].argmax()
            good = found.mean[i, c] >= found.mean[i, c, best] - found.error[i, c, best]
            assert found.sufficient_sizes[i, c] == found.sizes[good][0]

    def test_the_result_does_not_depend_on_the_number_of_processes(self):
        X, y = planted(n_samples=40, n_features=15)
        one, two = (compare(["ilfs", "relieff"], X, y, sizes=[1, 4], stability=8, n_jobs=n) for n in (1, 2))
        for field in dataclasses.fields(one):
            if field.name != "seconds":
                np.testing.assert_equal(getattr(two, field.name), getattr(one, field.name), err_msg=field.name)

    def test_another_seed_makes_other_folds(self):
        X, y = planted(n_samples=40, n_features=15, shift=0.7)
        first, again, other = (compare(["fisher"], X, y, sizes=[3], random_state=s, **PLAIN) for s in (0, 0, 9))
        np.testing.assert_array_equal(first.scores, again.scores)
        assert (first.scores != other.scores).any()
        generators = [np.random.default_rng(3), np.random.RandomState(3)]
        assert all(compare(["fisher"], X, y, sizes=[3], random_state=one, **PLAIN) for one in (*generators, None))

    def test_folds_may_be_given(self):
        X, y = planted(n_samples=40, n_features=15, shift=0.7)
        cv = StratifiedKFold(4)
        found = compare(["fisher"], X, y, sizes=[3], cv=cv, n_repeats=7, stability=False)
        expected = cross_val_score(make_pipeline(FisherScore(3), StandardScaler(), KNeighborsClassifier()), X, y, cv=cv)
        np.testing.assert_array_equal(found.scores[0, 1, :, 0], expected)
        assert (found.n_folds, found.n_repeats) == (4, 1)

    def test_rows_of_a_group_are_in_one_fold(self):
        X, y = planted(n_samples=60, n_features=8)
        groups = np.arange(60) // 4
        found = compare(["fisher"], X, y, sizes=[2], groups=groups, cv=3, n_repeats=1, stability=2)
        cv = StratifiedGroupKFold(3, shuffle=True, random_state=0)
        model = make_pipeline(FisherScore(2), StandardScaler(), KNeighborsClassifier())
        expected = cross_val_score(model, X, y, cv=cv, groups=groups)
        np.testing.assert_array_equal(found.scores[0, 1, :, 0], expected)
        assert found.is_grouped

    def test_weights_reach_methods_and_classifiers(self):
        X, y = planted(n_samples=60, n_features=8, shift=0.8)
        weight = np.where(np.arange(60) < 20, 0.0, 1.0)
        with_zeros = compare(["fisher", "relieff"], X, y, sizes=[2], sample_weight=weight, **PLAIN)
        without = compare(["fisher"], X[20:], y[20:], sizes=[2], **PLAIN)
        np.testing.assert_array_equal(with_zeros.rankings[0], without.rankings[0])
        np.testing.assert_array_equal(with_zeros.scores[0, 0], without.scores[0, 0])
        assert with_zeros.n_samples == 40
        assert "takes no weights" in with_zeros.left_out[0].reason


class TestRankings:
    def test_rankings_are_those_of_fits_on_all_rows(self, found):
        X, y = planted(n_samples=60, n_features=30, n_informative=3)
        np.testing.assert_array_equal(found.rankings[0], FisherScore().fit(X, y).ranking_)
        np.testing.assert_array_equal(found.rankings[1], ReliefF().fit(X, y).ranking_)
        assert (found.seconds > 0).all()

    def test_agreement_is_that_of_scipy(self, found):
        for i, first in enumerate(found.rankings):
            for j, second in enumerate(found.rankings):
                assert found.spearman[i, j] == pytest.approx(spearmanr(first, second).statistic)
                assert found.kendall[i, j] == pytest.approx(kendalltau(first, second).statistic)
                best = [set(np.argsort(one)[: found.k].tolist()) for one in (first, second)]
                assert found.overlap[i, j] == pytest.approx(len(best[0] & best[1]) / found.k)

    def test_stability_is_that_of_the_function(self, found):
        X, y = planted(n_samples=60, n_features=30, n_informative=3)
        expected = stability(ReliefF(), X, y, n_resamples=20, k=6)
        assert found.k == 6
        assert found.stability[1].features == expected.nogueira
        assert found.stability[1].families == expected.families

    def test_names_of_columns_and_classes_are_kept(self):
        X, y = planted(n_samples=30, n_features=4)
        frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(kind=np.array(["no", "yes"])[y])
        found = compare(["fisher"], frame, "kind", sizes=[2], **PLAIN)
        assert found.feature_names.tolist() == ["a", "b", "c", "d"]
        assert found.classes == (("no", 15), ("yes", 15))

    def test_selectors_get_names(self):
        X, y = planted(n_samples=30, n_features=6)
        listed = ["mi", ILFS(), ILFS(n_tokens=3), SelectKBest(f_classif, k=2)]
        found = compare(listed, X, y, sizes=[2], **PLAIN)
        assert found.methods == ("mi", "ilfs", "ilfs (2)", "SelectKBest")
        assert found.selectors[2] == "ILFS(n_tokens=3)"
        named = compare({"first": "mi", "second": ILFS()}, X, y, sizes=[2], **PLAIN)
        assert named.methods == ("first", "second")

    def test_number_of_features_and_permutations_of_a_selector_are_not_used(self):
        X, y = planted(n_samples=30, n_features=6)
        found = compare([ILFS("fdr", n_permutations=20)], X, y, sizes=[2], **PLAIN)
        assert found.selectors == ("ILFS()",)


class TestTests:
    def test_differences_are_those_of_the_corrected_t_test_with_holm(self, found):
        mean = found.scores.mean(axis=3)
        rows = found.differences()
        assert len(rows["first"]) == 2 * 6
        for c, a, b, difference, p in zip(
            *(rows[name] for name in ("classifier", "first", "second", "difference", "p_value")), strict=True
        ):
            pair = [mean[found.names.index(name), found.classifiers.index(c)] for name in (a, b)]
            expected = corrected_t_test(*pair, n_train=48, n_test=12)
            assert (difference, p) == (pytest.approx(expected.mean), pytest.approx(expected.p_value))
        for against_random in (True, False):
            chosen = (rows["second"] == "random") == against_random
            np.testing.assert_allclose(rows["adjusted"][chosen], holm(rows["p_value"][chosen]))

    def test_a_method_that_finds_nothing_is_significantly_worse(self, found):
        verdict = found.verdict("linear SVM")
        assert {verdict.best, *verdict.equal} == {"fisher", "relieff"}
        assert verdict.worse == ("worst",)
        assert set(verdict.above_random) >= {"fisher", "relieff"}

    def test_equal_scores_cannot_be_told_apart(self):
        scores = np.tile(np.array([0.5, 0.9, 0.7]).reshape(1, 1, 3, 1), (3, 1, 1, 2))
        tests = pair_tests(["a", "b", "random"], ["svm"], scores, 20, 10)
        assert [one.p_value for one in tests] == [1.0] * 3
        assert not any(one.is_significant for one in tests)

    def test_one_fold_has_no_tests_and_no_errors(self):
        X, y = planted(n_samples=40, n_features=6)
        split = [(np.arange(30), np.arange(30, 40))]
        found = compare(["fisher", "mi"], X, y, sizes=[2], cv=split, stability=False)
        assert found.tests == ()
        assert np.isnan(found.error).all()
        verdict = found.verdict("linear SVM")
        assert (verdict.worse, verdict.above_random) == ((), ())

    def test_an_unknown_classifier_is_named(self, found):
        with pytest.raises(ValueError, match="one of linear SVM, nearest neighbours, got 'forest'"):
            found.verdict("forest")


class FailsOnFewRows(BaseEstimator):
    """A selector that cannot be fitted in a fold."""

    def fit(self, X, y):
        if len(X) < 30:
            raise RuntimeError("too few rows")
        self.scores_ = np.arange(X.shape[1], dtype=float)
        return self


class TestLeftOut:
    def test_methods_that_take_no_missing_values_are_left_out_with_the_reason(self):
        X, y = planted(n_samples=40, n_features=6)
        X[3, 2] = np.nan
        frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(6)])
        found = compare(["fisher", "ls", "relieff"], frame, y, sizes=[2, 6], **PLAIN)
        assert found.methods == ("fisher", "relieff")
        assert found.scores.shape[0] == 3
        assert re.search("'gene 2'.*takes no missing values", found.left_out[0].reason)

    def test_methods_that_take_no_sparse_tables_are_left_out(self):
        X, y = planted(n_samples=40, n_features=6)
        found = compare(["udfs", "fisher"], sparse.csr_array(np.maximum(X, 0)), y, sizes=[2], **PLAIN)
        assert found.methods == ("fisher",)
        assert found.left_out[0].name == "udfs"
        dense = compare(["fisher"], np.maximum(X, 0), y, sizes=[2], **PLAIN)
        np.testing.assert_array_equal(found.rankings, dense.rankings)

    def test_a_method_that_fails_in_a_fold_is_left_out(self):
        X, y = planted(n_samples=40, n_features=6)
        found = compare([FailsOnFewRows(), "fisher"], X, y, sizes=[2], **PLAIN)
        assert found.methods == ("fisher",)
        assert found.left_out[0].reason == "fold 1: RuntimeError: too few rows"

    def test_a_table_that_no_method_takes_is_refused_with_the_first_reason(self):
        X, y = planted(n_samples=40, n_features=6)
        X[0, 0] = np.inf
        with pytest.raises(ValueError, match=r"no method takes the table; fisher: .*infinit"):
            compare(["fisher", "mi"], X, y)

    def test_stability_that_cannot_be_measured_is_noted(self):
        X, y = planted(n_samples=40, n_features=6)
        X[:, 2:] = 1.0
        found = compare(["fisher"], X, y, sizes=[1], k=5, cv=3, n_repeats=1)
        assert found.stability == (None,)
        assert "the stability of fisher was not measured: k must be at most" in found.notes[0]


class TestRefusals:
    @pytest.mark.parametrize(
        ("selectors", "options", "message"),
        [
            (["fischer"], {}, "did you mean 'fisher'"),
            (["mi", "mi"], {}, "selectors must be different, got 'mi' twice"),
            ([], {}, "at least one method"),
            ({"random": "mi"}, {}, "a name other than 'random'"),
            ([3], {}, "must be a selector or the name of a method"),
            (["mi"], {"sizes": [99]}, "sizes must be integers from 1 to 6"),
            (["mi"], {"k": 6}, "k must be less than the number of features, 6, got 6"),
            (["mi"], {"n_repeats": 0}, "n_repeats"),
            (["mi"], {"stability": 3}, "an even number of half-samples, got 3"),
            (["mi"], {"cv": 21}, "21 folds need a class with 21 rows or more, got at most 20"),
            (["mi"], {"random_state": "x"}, "random_state"),
            (["mi"], {"classifiers": ["svm"]}, "classifiers must be estimators with fit and predict"),
            (["mi"], {"classifiers": {}}, "classifiers must be at least one"),
            (["mi"], {"n_jobs": 0}, "n_jobs"),
        ],
    )
    def test_wrong_arguments_are_refused_in_a_sentence(self, selectors, options, message):
        with pytest.raises((ValueError, TypeError), match=message):
            compare(selectors, *planted(n_samples=40, n_features=6), **options)

    def test_several_labels_are_refused(self):
        X, y = planted(n_samples=40, n_features=6)
        with pytest.raises(ValueError, match="one class for each row, got an indicator matrix of 2 labels"):
            compare(["fisher"], X, np.column_stack([y, 1 - y]))

    def test_one_class_one_feature_and_no_labels_are_refused(self):
        X, y = planted(n_samples=40, n_features=6)
        with pytest.raises(ValueError, match="class"):
            compare(["fisher"], X, np.zeros(40))
        with pytest.raises(ValueError, match="two features or more"):
            compare(["fisher"], X[:, :1], y)
        with pytest.raises(ValueError, match="requires y"):
            compare(["ls"], X)

    def test_a_table_that_is_not_in_memory_is_refused(self, tmp_path):
        X, y = planted(n_samples=40, n_features=6)
        pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_parquet(tmp_path / "table.parquet")
        with pytest.raises(TypeError, match="compare needs all rows in memory"):
            compare(["fisher"], read(tmp_path / "table.parquet", target="y", memory_limit=1))


class TestProgress:
    def test_fractions_rise_and_steps_are_named(self):
        seen = []
        compare(["fisher", "mi"], *planted(n_samples=40, n_features=9), sizes=[2], stability=4, progress=seen.append)
        fractions = [one.fraction for one in seen]
        assert fractions == sorted(fractions)
        assert fractions[0] == 0
        assert fractions[-1] <= 1
        names = [one.doing for one in seen]
        assert names[:2] == ["fisher: all rows", "mi: all rows"]
        assert "fold 10 of 10: mi" in names
        assert names[-1] == "stability of mi"

    def test_an_interrupt_ends_the_comparison(self):
        def stop(progress):
            if progress.fraction > 0.2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            compare(["fisher"], *planted(n_samples=40, n_features=9), sizes=[2], progress=stop)


class TestTables:
    def test_performance_has_a_row_for_each_method_classifier_and_size(self, found):
        frame = pd.DataFrame(found.performance())
        assert len(frame) == 4 * 2 * 3
        row = frame[(frame.method == "relieff") & (frame.classifier == "nearest neighbours") & (frame.n_features == 3)]
        assert row["mean"].item() == found.mean[1, 1, 1]
        np.testing.assert_array_equal(row[[f"fold{i}" for i in range(10)]].to_numpy()[0], found.scores[1, 1, :, 1])

    def test_ranks_are_sorted_by_the_mean_rank(self, found):
        table = found.ranks(5)
        assert len(table["feature"]) == 5
        assert (np.diff(table["mean_rank"]) >= 0).all()
        np.testing.assert_array_equal(table["fisher"], found.rankings[0][table["column"]])

    def test_a_method_with_the_name_of_a_column_is_renamed(self):
        X, y = planted(n_samples=30, n_features=6)
        found = compare({"column": "fisher"}, X, y, sizes=[2], **PLAIN)
        assert list(found.ranks()) == ["feature", "column", "mean_rank", "rank_column"]

    def test_agreement_has_a_row_for_each_pair(self, found):
        assert found.agreement()["second"].tolist() == ["relieff", "worst", "worst"]


def test_repeated_folds_have_consecutive_seeds():
    from ilfs.cross_validation import Samples

    X, y = planted(n_samples=30, n_features=2)
    splits = repeated_splits(3, 2, Samples(X, y), None, 5)
    expected = [one for seed in (5, 6) for one in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y)]
    for one, other in zip(splits, expected, strict=True):
        np.testing.assert_array_equal(np.concatenate(one), np.concatenate(other))


@pytest.mark.parametrize("name", ["colon", "srbct"])
def test_real_data_are_predicted_better_than_by_random_features(name):
    X, y = load(name)
    found = compare(["fisher", "relieff"], X, y, sizes=[5, 20], stability=4, n_repeats=1)
    assert (found.mean_over_sizes[:2] > found.mean_over_sizes[2] + 0.05).all()
    assert all(0 < one.features.value < 1 for one in found.stability)
