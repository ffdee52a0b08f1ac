"""Selection by the false discovery rate: against brute force, against the methods' own tests, and by simulation."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import needs_callbacks, planted
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif
from sklearn.utils.estimator_checks import parametrize_with_checks

from ilfs import ILFS, SVMRFE, FisherScore, MutualInformation, Novelty, ReliefF, list_methods, read
from ilfs.null import q_values, standardised_by_feature
from ilfs.registry import BY_NAME, classes_with, make_selector, method_of
from ilfs.selection import FDRSelector, RankEnsemble
from ilfs.selector import Scores, SupervisedRowsSelector, UnsupervisedRowsSelector
from ilfs.sources import table_source


class ClassMeans(SupervisedRowsSelector):
    """A selector of the user: the difference of the means of two classes, in standard deviations of all rows."""

    def __init__(self, n_features_to_select=None, n_jobs=None):
        self.n_features_to_select, self.n_jobs = n_features_to_select, n_jobs

    _takes_missing = False

    def fit(self, X, y=None):
        return self._fit(X, y)

    def _score_rows(self, rows):
        X, y = rows.X.toarray() if sparse.issparse(rows.X) else rows.X, rows.labels.codes
        return Scores(mean_difference(X / X.std(axis=0), y), floor=1e-11)


def mean_difference(X, y):
    return np.abs(X[y == y.max()].mean(axis=0) - X[y < y.max()].mean(axis=0))


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(
    [
        FDRSelector("fisher"),
        FDRSelector(ClassMeans(), 0.3, n_permutations=4),
        FDRSelector(Novelty(ClassMeans()), 0.5, procedure="storey"),
    ]
)
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


class ByClassMean(BaseEstimator):
    """A selector of another package that has only scores."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.scores_ = mean_difference(X, y)
        return self


def table(n_samples=80, n_features=20, shift=1.5, seed=0):
    return planted(n_samples, n_features, 4, 2, shift, seed)


def permutations_of(X, y, n_permutations=20, **parameters):
    """Return the permuted labels that a fit uses."""
    return list(table_source(X, y).with_permutations(n_permutations, **parameters).permuted.codes[:, 0])


def same_test(one, other):
    for name in ("p_values_", "q_values_", "order_", "scores_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12)
    assert one.chance_p_value_ == other.chance_p_value_
    assert one.false_discovery_bound_ == other.false_discovery_bound_


class TestResults:
    def test_p_values_are_those_of_brute_force(self):
        X, y = table()
        found = FDRSelector(ByClassMean()).fit(X, y)
        differences = [mean_difference(X, labels) for labels in permutations_of(X, y)]
        expected = [(1 + (np.array(differences) >= score).sum()) / 401 for score in found.scores_]
        np.testing.assert_allclose(found.p_values_, expected)
        np.testing.assert_allclose(found.q_values_, stats.false_discovery_control(expected))
        best = [np.sort(one)[-10:].mean() for one in (found.scores_, *differences)]
        assert found.chance_p_value_ == (1 + sum(one >= best[0] for one in best[1:])) / 21
        np.testing.assert_array_equal(found.get_support(), found.q_values_ <= 0.05)
        assert set(range(4)) <= set(np.flatnonzero(found.get_support()))

    def test_the_bound_counts_null_scores_above_the_threshold(self):
        X, y = table(shift=0.7)
        found = FDRSelector(ByClassMean(), 0.3).fit(X, y)
        threshold = found.scores_[found.get_support()].min()
        nulls = [ByClassMean().fit(X, labels).scores_ for labels in permutations_of(X, y)]
        most = max((one >= threshold).sum() for one in nulls)  # with 20 permutations the largest number
        assert found.false_discovery_bound_ == min(1, most / found.get_support().sum()) > 0

    @pytest.mark.parametrize(
        "selector",
        [ILFS(n_candidates=8), ILFS(redundancy=None), FisherScore(), MutualInformation(), Novelty(FisherScore())],
        ids=repr,
    )
    def test_refits_give_the_result_of_the_methods_own_test(self, selector, monkeypatch):
        X, y = table()
        own = FDRSelector(selector).fit(X, y)
        monkeypatch.setattr(FDRSelector, "_tests_itself", False)
        same_test(FDRSelector(selector).fit(X, y), own)

    @pytest.mark.parametrize("name", [one.name for one in list_methods() if one.null])
    def test_the_rule_fdr_of_a_method_gives_the_same(self, name):
        X, y = table()
        groups = np.arange(80) // 10
        own = make_selector(name, n_features_to_select="fdr", fdr=0.1, random_state=3).fit(X, y, groups=groups)
        found = FDRSelector(name, 0.1, random_state=3).fit(X, y, groups=groups)
        same_test(found, own)
        np.testing.assert_array_equal(found.get_support(), own.get_support())
        assert not hasattr(found.selector_, "_test")

    def test_weights_and_missing_values_reach_the_method(self):
        X, y = table()
        X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
        weight = np.random.default_rng(2).uniform(0.5, 2, 80)
        same_test(FDRSelector("ilfs").fit(X, y, sample_weight=weight), ILFS("fdr").fit(X, y, sample_weight=weight))

    def test_the_relevance_of_novelty_is_tested(self):
        X, y = table()
        found, plain = (FDRSelector(one).fit(X, y) for one in (Novelty(ClassMeans()), ClassMeans()))
        np.testing.assert_array_equal(found.p_values_, plain.p_values_)
        np.testing.assert_array_equal(found.order_, Novelty(ClassMeans()).fit(X, y).order_)
        by_function = FDRSelector(Novelty(f_classif)).fit(X, y)
        np.testing.assert_allclose(by_function.p_values_, FDRSelector(SelectKBest(f_classif)).fit(X, y).p_values_)

    def test_constant_features_have_p_1_and_do_not_count(self):
        X, y = table()
        found, expected = (FDRSelector(ClassMeans()).fit(Z, y) for Z in (np.hstack([X, np.ones((80, 50))]), X))
        assert (found.p_values_[20:] == 1).all()
        np.testing.assert_allclose(found.q_values_[:20], expected.q_values_)

    def test_storey_multiplies_q_values_by_the_fraction_of_features_without_effect(self):
        X, y = planted(80, 30, 20, 2, 1.0)
        X = np.column_stack([X, np.zeros(80)])  # a constant feature is not counted
        for selector in ("fisher", ClassMeans()):
            bh, storey = (FDRSelector(selector, procedure=one).fit(X, y) for one in ("bh", "storey"))
            np.testing.assert_array_equal(storey.p_values_, bh.p_values_)
            np.testing.assert_allclose(storey.q_values_[:30], q_values(bh.p_values_[:30], "storey"))
            assert (storey.q_values_[:30] < bh.q_values_[:30]).all()
            assert storey.q_values_[30] == 1

    def test_several_labels_are_permuted_together(self):
        X, y = table()
        Y = np.column_stack([y, X[:, 12] > 0, np.ones(80)]).astype(int)
        with pytest.warns(UserWarning, match=r"labels \[2\] of y are the same"):
            found = FDRSelector(ClassMeans()).fit(X, Y)
        codes = table_source(X, Y).with_permutations(20).permuted.codes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            null = np.array([ClassMeans().fit(X, np.column_stack([*one[:2], Y[:, 2]])).scores_ for one in codes])
        expected = [(1 + (null >= score - 1e-11).sum()) / 401 for score in found.scores_]
        np.testing.assert_allclose(found.p_values_, expected)
        assert {0, 12} <= set(np.flatnonzero(found.get_support()))

    def test_groups_limit_the_permutations(self):
        X, y = table()
        groups = np.arange(80) // 10
        found = FDRSelector(ByClassMean()).fit(X, y, groups=groups)
        null = np.array([ByClassMean().fit(X, one).scores_ for one in permutations_of(X, y, groups=groups)])
        observed, null = standardised_by_feature(found.scores_, null)
        np.testing.assert_allclose(found.p_values_, [(1 + (null >= one).sum()) / 401 for one in observed])
        with pytest.raises(ValueError, match="groups must contain a group with samples of two classes"):
            FDRSelector(ClassMeans()).fit(X, y, groups=y)

    def test_the_number_of_processes_does_not_matter_and_the_seed_does(self):
        X, y = table(shift=0.5)
        one, two = (FDRSelector(ClassMeans(), n_jobs=n).fit(X, y) for n in (1, 2))
        same_test(one, two)
        assert (FDRSelector(ClassMeans(), random_state=1).fit(X, y).p_values_ != one.p_values_).any()

    def test_names_of_labels_do_not_matter(self):
        X, y = table()
        named = FDRSelector(ClassMeans()).fit(X, np.array(["ill", "well"])[y])
        np.testing.assert_array_equal(named.p_values_, FDRSelector(ClassMeans()).fit(X, y).p_values_)

    def test_nothing_is_selected_with_the_warning_of_scikit_learn(self):
        X, y = np.random.default_rng(1).normal(size=(40, 30)), np.arange(40) % 2
        found = FDRSelector(ClassMeans()).fit(X, y)
        assert not found.get_support().any()
        assert found.false_discovery_bound_ == 0.0
        assert not found.is_better_than_chance_
        with pytest.warns(UserWarning, match="No features were selected"):
            assert found.transform(X).shape == (40, 0)

    def test_too_few_permutations_are_raised_with_a_warning(self):
        X, y = table()
        for selector in ("fisher", ClassMeans()):
            with pytest.warns(UserWarning, match=r"^n_permutations=5 is too small for fdr=0.05, .*: 20 permutations"):
                assert FDRSelector(selector, n_permutations=5).fit(X, y).n_permutations_ == 20
            assert FDRSelector(selector, 0.02).fit(X, y).n_permutations_ == 50
            assert FDRSelector(selector, 0.3).fit(X, y).n_permutations_ == 20
            assert FDRSelector(selector, n_permutations=23).fit(X, y).n_permutations_ == 23


class TestTables:
    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    @pytest.mark.parametrize("selector", [ClassMeans(), "fisher"], ids=str)
    def test_names_are_kept(self, frame, selector):
        data = load_wine()
        X = frame(dict(zip(data.feature_names, data.data.T, strict=True)))
        found = FDRSelector(selector).fit(X, data.target)
        expected = [data.feature_names[j] for j in np.flatnonzero(found.q_values_ <= 0.05)]
        assert list(found.get_feature_names_out()) == expected
        assert list(found.selector_.feature_names_in_) == data.feature_names
        ranked = found.table(2)
        np.testing.assert_array_equal(ranked["q_value"], found.q_values_[found.order_[:2]])
        assert list(found.transform(X).shape) == [178, len(expected)]

    def test_the_columns_of_the_methods_own_table_are_kept(self):
        found = FDRSelector("ilfs", procedure="storey").fit(*table()).table(3)
        assert {"relevance", "novelty", "p_value", "q_value"} <= set(found)

    @pytest.mark.parametrize("selector", [ClassMeans(), "fisher"], ids=str)
    def test_sparse_and_dense_tables_give_the_same(self, selector):
        X, y = table()
        X = np.where(np.abs(X) > 0.5, X, 0.0)
        dense, scattered = (FDRSelector(selector).fit(Z, y) for Z in (X, sparse.csr_array(X)))
        np.testing.assert_allclose(scattered.p_values_, dense.p_values_)

    def test_a_file_is_read_in_blocks_by_a_method_with_its_own_test(self, tmp_path):
        X, y = table()
        pd.DataFrame(X).rename(columns=str).assign(y=y).to_parquet(tmp_path / "table.parquet")
        lazy = pl.scan_parquet(tmp_path / "table.parquet")
        same_test(FDRSelector("fisher").fit(lazy, "y"), FDRSelector("fisher").fit(X, y))
        with pytest.raises(
            TypeError, match=r"^FDRSelector needs all rows in memory for ClassMeans, .*\(ILFS, FisherSc"
        ):
            FDRSelector(ClassMeans()).fit(lazy, "y")
        from_file = FDRSelector(ClassMeans()).fit(read(tmp_path / "table.parquet", target="y"))
        same_test(from_file, FDRSelector(ClassMeans()).fit(X, y))

    def test_errors_name_the_column(self):
        X, y = table()
        frame = pd.DataFrame(X).add_prefix("gene ")
        frame.iloc[3, 2] = np.inf
        for selector in (ClassMeans(), "fisher"):
            with pytest.raises(ValueError, match="column 'gene 2' of X"):
                FDRSelector(selector).fit(frame, y)


class TestWhichMethods:
    @pytest.mark.parametrize(
        "method", [one for one in list_methods() if not one.wraps_another], ids=lambda one: one.name
    )
    def test_methods_are_taken_or_refused_as_the_registry_says(self, method):
        X, y = table()
        if method.comparable_scores:
            assert FDRSelector(method.name).fit(X, y).get_support()[:4].any()
            return
        reason = method.incomparable_because if method.supervised else "it reads no labels"
        message = (
            "selector must have scores that are comparable between permutations of the labels, those of "
            f"{method.class_name} are not, because {reason}: use one of {classes_with('comparable_scores')}"
        )
        for name in (method.name, f"novelty({method.name})"):
            with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
                FDRSelector(name).fit(X, y)

    def test_the_registry_gives_a_reason_for_each_refusal(self):
        assert classes_with("comparable_scores") == "ILFS, FisherScore, MutualInformation"
        for method in list_methods():
            needs_reason = method.supervised is True and not method.comparable_scores
            assert bool(method.incomparable_because) is needs_reason
            assert method.comparable_scores or not method.null

    def test_a_selector_of_the_user_that_reads_no_labels_is_refused(self):
        class Spread(UnsupervisedRowsSelector):
            def fit(self, X, y=None):
                return self._fit(X, y)

        with pytest.raises(ValueError, match="those of Spread are not, because it reads no labels: use one of ILFS"):
            FDRSelector(Spread()).fit(*table())

    def test_a_subclass_is_found_in_the_registry(self):
        class Own(SVMRFE):
            pass

        assert method_of(Own) is BY_NAME["rfe"]
        with pytest.raises(ValueError, match="those of Own are not, because a score is the step"):
            FDRSelector(Own()).fit(*table())

    @pytest.mark.parametrize("selector", [RankEnsemble(["fisher", "mi"]), FDRSelector("fisher")], ids=repr)
    def test_meta_selectors_are_refused(self, selector):
        with pytest.raises(ValueError, match="because it combines or repeats the fits of other selectors: use one"):
            FDRSelector(selector).fit(*table())

    def test_selectors_of_other_packages_need_scores(self):
        X, y = table()
        found = FDRSelector(SelectKBest(f_classif)).fit(X, y)
        null = np.array([f_classif(X, one)[0] for one in permutations_of(X, y)])
        np.testing.assert_allclose(found.p_values_, [(1 + (null >= one).sum()) / 401 for one in f_classif(X, y)[0]])
        trees = SelectFromModel(ExtraTreesClassifier(5, random_state=0))
        with pytest.raises(
            ValueError, match=r"selector must have scores_, a number for each .* SelectFromModel has not"
        ):
            FDRSelector(trees).fit(X, y)

    def test_weights_of_relieff_are_larger_if_other_features_have_an_effect(self):
        rng, y = np.random.default_rng(0), np.arange(200) % 2
        X = rng.normal(size=(200, 100))
        X[:, :20] += (3 * y + rng.normal(size=200))[:, None]
        mean = [ReliefF().fit(X, labels).scores_[20:].mean() for labels in (y, *permutations_of(X, y, 5))]
        assert mean[0] > 5 * max(mean[1:])  # features without effect

    def test_the_scores_of_elimination_say_why_they_are_refused(self):
        # Strong effects or none: the features removed last always have the same scores, 18, 19, 20.
        X, y = table(shift=5.0)
        scores = [np.sort(SVMRFE().fit(X, labels).scores_) for labels in (y, *permutations_of(X, y, 3))]
        assert all((one == scores[0]).all() for one in scores)

    @pytest.mark.parametrize("selector", [FisherScore, f_classif, None, 3])
    def test_what_is_no_selector_is_refused(self, selector):
        with pytest.raises(ValueError, match="selector must be a selector or the name of a method such as 'fisher'"):
            FDRSelector(selector).fit(*table())

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"fdr": 0}, "fdr must be a number strictly between 0 and 1, got 0"),
            ({"n_permutations": 0}, "n_permutations must be an integer >= 1, got 0"),
            ({"procedure": "by"}, "procedure must be 'bh' or 'storey', got 'by'"),
            ({"random_state": -1}, "random_state must be an integer >= 0, .*, got -1"),
            ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, got 0"),
        ],
    )
    def test_wrong_parameters_are_refused(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            FDRSelector("fisher", **parameters).fit(*table())

    def test_weights_need_a_selector_that_takes_them(self):
        X, y = table()
        with pytest.raises(TypeError, match="sample_weight needs a selector that supports it, ClassMeans does not"):
            FDRSelector(ClassMeans()).fit(X, y, sample_weight=np.ones(80))

    @pytest.mark.parametrize("selector", ["fisher", ClassMeans()], ids=str)
    def test_unknown_arguments_of_fit_are_refused(self, selector):
        with pytest.raises(TypeError, match="unexpected keyword argument 'wieght'"):
            FDRSelector(selector).fit(*table(), wieght=np.ones(80))

    def test_parameters_are_not_changed_and_clones_are_equal(self):
        selector = FisherScore(7)
        found = FDRSelector(selector).fit(*table())
        assert found.selector is selector
        assert not hasattr(selector, "scores_")
        assert selector.n_permutations == 0
        same_test(clone(found).fit(*table()), found)


@needs_callbacks
class TestProgress:
    class Counter:
        """A callback that counts the permutations and stops, or is interrupted, after some of them."""

        def __init__(self, stop_after=None, interrupt_after=None):
            self.count, self.stop_after, self.interrupt_after = 0, stop_after, interrupt_after

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            self.count += context.task_name == "permutation"
            if self.count == self.interrupt_after:
                raise KeyboardInterrupt
            return context.task_name == "permutation" and self.count == self.stop_after

    @pytest.mark.parametrize("stop_after", [1, 7, None])
    def test_a_callback_sees_each_permutation_and_may_stop_the_loop(self, stop_after):
        counter = self.Counter(stop_after)
        found = FDRSelector(ClassMeans()).set_callbacks(counter).fit(*table())
        assert found.n_permutations_ == counter.count == (stop_after or 20)
        assert found.p_values_.min() >= 1 / (1 + 20 * counter.count)

    def test_an_interrupt_leaves_the_selector_unfitted(self):
        selector = FDRSelector(ClassMeans()).set_callbacks(self.Counter(interrupt_after=3))
        with pytest.raises(KeyboardInterrupt):
            selector.fit(*table())
        assert not selector.__sklearn_is_fitted__()


def normal(rng, y, true):
    return rng.normal(size=(y.size, true.size)) + 1.4 * np.outer(y, true)


def correlated(rng, y, true):
    common = np.repeat(rng.normal(size=(y.size, true.size // 10)), 10, axis=1)
    return np.sqrt(0.7) * common + np.sqrt(0.3) * normal(rng, y, true)


def sparse_counts(rng, y, true):
    mean = np.exp(rng.uniform(np.log(0.05), 0, true.size)) * (1 + 5 * np.outer(y, true))
    return rng.poisson(rng.gamma(2, mean / 2)).astype(float)


N_REPEATS = 400
LEVEL = 0.1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("design", [normal, correlated, sparse_counts], ids=lambda one: one.__name__)
@pytest.mark.parametrize("selector", ["ilfs", "fisher", "mi", ClassMeans()], ids=str)
class TestControl:
    """Guarantees by simulation, at the level 0.1: 400 tables of 60 x 200 values, with a tolerance of 3 standard errors.

    A false alarm of one test then has a probability of about 0.001.
    """

    def found(self, selector, design, n_true):
        """Yield fitted selectors and the features that depend on the labels."""
        for repeat in range(N_REPEATS):
            rng = np.random.default_rng([repeat, n_true])
            true = rng.permutation(200) < n_true
            y = rng.permutation(60) % 2
            yield FDRSelector(selector, LEVEL, random_state=repeat).fit(design(rng, y, true), y), true

    def test_the_false_discovery_rate_is_at_most_the_level(self, selector, design):
        proportions, power = [], []
        for one, true in self.found(selector, design, 20):
            selected = one.get_support()
            proportions.append((selected & ~true).sum() / max(selected.sum(), 1))
            power.append(selected[true].mean())
        error = np.std(proportions, ddof=1) / np.sqrt(N_REPEATS)
        assert np.mean(proportions) <= LEVEL + 3 * error
        assert np.mean(power) > 0.1  # selecting nothing would keep any level

    def test_nothing_is_found_more_often_than_the_level_if_no_feature_has_an_effect(self, selector, design):
        fits = [one for one, _ in self.found(selector, design, 0)]
        allowed = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / N_REPEATS)
        assert np.mean([one.get_support().any() for one in fits]) <= allowed
        assert 0 < np.mean([one.is_better_than_chance_ for one in fits]) <= allowed
