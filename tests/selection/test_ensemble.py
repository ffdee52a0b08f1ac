import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import TaskCounter, needs_callbacks
from scipy import sparse
from scipy.stats import beta, spearmanr
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.utils.estimator_checks import parametrize_with_checks

from ilfs import CFS, FisherScore, LaplacianScore, MutualInformation, ReliefF
from ilfs.selection import RankEnsemble
from ilfs.selection.ensemble import bootstraps, borda_counts, robust_p_values


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(
    [
        RankEnsemble(["fisher", "mi"]),
        RankEnsemble(FisherScore(), n_bootstraps=2, aggregate="robust", n_features_to_select=0.3),
        RankEnsemble([CFS(), LaplacianScore()], aggregate="borda"),
    ]
)
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


class Fixed(BaseEstimator):
    """A selector with a given ranking."""

    def __init__(self, ranking=()):
        self.ranking = ranking

    def fit(self, X, y=None):
        self.ranking_ = np.array(self.ranking)
        return self


def combined(rankings, **parameters):
    X = np.random.default_rng(0).normal(size=(6, len(rankings[0])))
    return RankEnsemble([Fixed(one) for one in rankings], **parameters).fit(X, [0, 1] * 3)


class TestAggregation:
    RANKINGS = ((1, 2, 3, 4), (1, 3, 2, 4), (3, 1, 2, 4))

    def test_mean_ranks_are_those_worked_by_hand(self):
        found = combined(self.RANKINGS)
        np.testing.assert_allclose(found.scores_, [-5 / 3, -2, -7 / 3, -4])
        assert found.order_.tolist() == [0, 1, 2, 3]
        assert found.rankings_.tolist() == [list(one) for one in self.RANKINGS]
        assert not hasattr(found, "p_values_")

    def test_borda_counts_are_those_worked_by_hand(self):
        # A list gives a feature one point for each feature ranked below it. The first gets 3 + 3 + 1 = 7 points.
        assert combined(self.RANKINGS, aggregate="borda").scores_.tolist() == [7, 6, 5, 0]

    def test_mean_rank_and_borda_count_give_the_same_order(self):
        rng = np.random.default_rng(0)
        rankings = [1 + rng.permutation(30) for _ in range(4)]
        by_mean, by_borda = (combined(rankings, aggregate=how).order_ for how in ("mean_rank", "borda"))
        np.testing.assert_array_equal(by_mean, by_borda)

    def test_ties_are_broken_by_column(self):
        for how in ("mean_rank", "borda", "robust"):
            assert combined([(1, 2, 3), (2, 1, 3)], aggregate=how).order_.tolist() == [0, 1, 2]

    def test_robust_p_values_are_those_worked_by_hand(self):
        # Three rankings of ten features. Ranks 1, 1, 2: u = 0.1, 0.1, 0.2.
        # P(smallest of 3 <= 0.1) = 1 - 0.9^3 = 0.271; P(second <= 0.1) = 3 * 0.01 * 0.9 + 0.001 = 0.028;
        # P(largest <= 0.2) = 0.008. The smallest is 0.008, times three rankings 0.024.
        ranks = np.array([[1, 9, 10], [1, 1, 10], [2, 9, 10]])
        rankings = np.column_stack([ranks, np.full((3, 7), 5)])
        p = robust_p_values(rankings)
        assert p[0] == pytest.approx(0.024)
        # Ranks 1, 9, 9: 0.271, P(second <= 0.9) = 3 * 0.81 * 0.1 + 0.729 = 0.972, 0.9^3 = 0.729; 3 * 0.271 = 0.813.
        assert p[1] == pytest.approx(0.813)
        assert p[2] == 1  # last in all rankings

    def test_robust_p_values_match_the_beta_distribution_of_order_statistics(self):
        rng = np.random.default_rng(0)
        for n_rankings, n_features in [(1, 5), (2, 8), (7, 40)]:
            rankings = np.array([1 + rng.permutation(n_features) for _ in range(n_rankings)])
            for j, p in enumerate(robust_p_values(rankings)):
                u = sorted(rankings[:, j] / n_features)
                rho = min(beta(k, n_rankings - k + 1).cdf(u[k - 1]) for k in range(1, n_rankings + 1))
                assert p == pytest.approx(min(1, n_rankings * rho), rel=1e-12)

    def test_robust_p_values_are_bounds_for_random_rankings(self):
        # All equally likely ranks of one of six features in three independent rankings: P(p <= level) <= level.
        ranks = np.array(list(itertools.product(range(1, 7), repeat=3)))
        others = np.zeros((3, 5), dtype=int)
        p = np.array([robust_p_values(np.column_stack([one, others]))[0] for one in ranks])
        for level in np.unique(p):
            assert np.mean(p <= level + 1e-12) <= level + 1e-12

    def test_a_feature_at_the_top_of_some_rankings_is_best_by_robust_aggregation(self):
        # Feature 0 is first in three of five rankings and last in the others; feature 1 is in the middle of all.
        rng = np.random.default_rng(0)
        rankings = []
        for first in (1, 1, 1, 20, 20):
            rest = rng.permutation([rank for rank in range(1, 21) if rank not in (first, 7)])
            rankings.append([first, 7, *rest])
        robust, mean = combined(rankings, aggregate="robust"), combined(rankings)
        assert robust.order_[0] == 0
        assert mean.ranking_[0] > mean.ranking_[1]
        np.testing.assert_allclose(robust.scores_, -np.log10(robust.p_values_))

    def test_features_with_equal_p_values_are_ordered_by_mean_rank(self):
        found = combined([(1, 2, 3, 4, 6, 5), (1, 2, 4, 3, 6, 5)], aggregate="robust")
        assert (found.p_values_[4:] == 1).all()
        assert found.order_[-2:].tolist() == [5, 4]

    def test_counts_of_equal_rankings(self):
        assert borda_counts(np.tile([1, 2, 3], (5, 1))).tolist() == [10, 5, 0]


class TestMethods:
    def test_rankings_are_those_of_the_methods(self):
        X, y = load_wine(return_X_y=True)
        found = RankEnsemble(["fisher", MutualInformation(), ReliefF(n_neighbors=3)]).fit(X, y)
        for ranking, one in zip(
            found.rankings_, (FisherScore(), MutualInformation(), ReliefF(n_neighbors=3)), strict=True
        ):
            np.testing.assert_array_equal(ranking, one.fit(X, y).ranking_)
        np.testing.assert_array_equal(found.scores_, -found.rankings_.mean(axis=0))
        assert found.get_support().sum() == 6

    def test_supervised_and_unsupervised_methods_can_be_mixed(self):
        X, y = load_wine(return_X_y=True)
        found = RankEnsemble(["fisher", "cfs"]).fit(X, y)
        np.testing.assert_array_equal(found.rankings_[1], CFS().fit(X).ranking_)
        with pytest.raises(ValueError, match="fit requires y to be passed"):
            RankEnsemble(["fisher", "cfs"]).fit(X)
        assert RankEnsemble(["ls", "cfs"]).fit(X).rankings_.shape == (2, 13)

    def test_a_selector_of_scikit_learn_is_taken(self):
        X, y = load_wine(return_X_y=True)
        found = RankEnsemble([SelectKBest(f_classif), FisherScore()]).fit(X, y)
        assert spearmanr(*found.rankings_).statistic > 0.9

    def test_several_labels_are_taken(self):
        X, y = load_wine(return_X_y=True)
        Y = np.column_stack([y == 0, y == 2]).astype(int)
        found = RankEnsemble(["fisher", "mi"]).fit(X, Y)
        np.testing.assert_array_equal(found.rankings_[0], FisherScore().fit(X, Y).ranking_)

    def test_weights_are_passed_on(self):
        X, y = load_wine(return_X_y=True)
        weight = 1 + np.arange(len(y)) % 4
        found = RankEnsemble(["fisher", "mi"]).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(found.rankings_[1], MutualInformation().fit(X, y, sample_weight=weight).ranking_)
        with pytest.raises(TypeError, match="sample_weight needs a selector that supports it, ReliefF does not"):
            RankEnsemble(["fisher", "relieff"]).fit(X, y, sample_weight=weight)
        with pytest.raises(TypeError, match="fit takes X, y and sample_weight, got 'groups'"):
            RankEnsemble(["fisher", "mi"]).fit(X, y, groups=y)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_names_are_kept(self, frame):
        data = load_wine()
        X = frame(dict(zip(data.feature_names, data.data.T, strict=True)))
        found = RankEnsemble(["fisher", "mi"], n_features_to_select=2).fit(X, data.target)
        assert list(found.get_feature_names_out()) == [data.feature_names[j] for j in np.sort(found.order_[:2])]

    def test_sparse_tables_are_taken_where_all_methods_take_them(self):
        X, y = load_wine(return_X_y=True)
        dense = RankEnsemble(["fisher", "mi"]).fit(X, y)
        np.testing.assert_array_equal(RankEnsemble(["fisher", "mi"]).fit(sparse.csc_array(X), y).order_, dense.order_)
        with pytest.raises(TypeError, match="Sparse data was passed for X, but RankEnsemble needs all values"):
            RankEnsemble(["fisher", "rfe"]).fit(sparse.csc_array(X), y)


class TestBootstraps:
    def test_samples_have_as_many_rows_of_each_class_as_the_table(self):
        y = np.repeat(["a", "b", "c"], [1, 5, 14])
        for rows in bootstraps(y, 20, 10, 0):
            np.testing.assert_array_equal(y[rows], y)
            assert np.unique(rows).size < 20

    def test_samples_without_labels_are_drawn_from_all_rows(self):
        one, two = bootstraps(None, 50, 2, 0)
        assert one.shape == two.shape == (50,)
        assert (one != two).any()

    def test_every_selector_ranks_every_sample(self):
        X, y = load_wine(return_X_y=True)
        found = RankEnsemble(["fisher", "mi"], n_bootstraps=4).fit(X, y)
        samples = bootstraps(y, len(y), 4, 0)
        assert found.rankings_.shape == (8, 13)
        np.testing.assert_array_equal(found.rankings_[1], FisherScore().fit(X[samples[1]], y[samples[1]]).ranking_)
        np.testing.assert_array_equal(
            found.rankings_[4], MutualInformation().fit(X[samples[0]], y[samples[0]]).ranking_
        )

    def test_the_seed_decides_and_the_number_of_processes_does_not(self):
        X, y = load_wine(return_X_y=True)

        def rankings(**parameters):
            return RankEnsemble("fisher", n_bootstraps=3, **parameters).fit(X, y).rankings_.tolist()

        assert rankings() == rankings(random_state=0) == rankings(n_jobs=2) != rankings(random_state=1)
        one, two, other = (rankings(random_state=np.random.default_rng(seed)) for seed in (3, 3, 4))
        assert one == two != other

    def test_a_clone_gives_the_same_result(self):
        X, y = load_wine(return_X_y=True)
        found = RankEnsemble([FisherScore(), "mi"], n_bootstraps=2).fit(X, y)
        np.testing.assert_array_equal(clone(found).fit(X, y).scores_, found.scores_)


@pytest.mark.parametrize(
    ("selectors", "parameters", "message"),
    [
        ("fisher", {}, "selectors must be at least two, or one with n_bootstraps, got 1 and n_bootstraps=None"),
        ([], {"n_bootstraps": 5}, "selectors must be at least two, or one with n_bootstraps, got 0 and n_bootstraps=5"),
        (["fisher", 3], {}, "each of the selectors must be a selector or the name of a method such as 'fisher', got 3"),
        (["fisher", "fischer"], {}, "did you mean 'fisher'"),
        (["fisher", "mi"], {"aggregate": "median"}, "aggregate must be 'mean_rank', 'borda' or 'robust', got 'median'"),
        (["fisher", "mi"], {"n_bootstraps": 1}, "n_bootstraps must be an integer >= 2, got 1"),
        (["fisher", "mi"], {"n_features_to_select": 0}, "n_features_to_select must be an integer >= 1"),
    ],
)
def test_wrong_parameters_are_refused(selectors, parameters, message):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        RankEnsemble(selectors, **parameters).fit(X, y)


def test_a_table_that_is_not_in_memory_is_refused():
    frame = pl.from_pandas(load_wine(as_frame=True).frame).lazy()
    with pytest.raises(TypeError, match="RankEnsemble needs all rows in memory, since it fits selectors on several"):
        RankEnsemble(["fisher", "mi"]).fit(frame, "target")


@needs_callbacks
class TestProgress:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("stop_after", [3, None])
    def test_a_callback_sees_each_ranking_and_may_stop_the_loop(self, stop_after, n_jobs):
        X, y = load_wine(return_X_y=True)
        counter = TaskCounter(stop_after, "ranking")
        found = RankEnsemble(["fisher", "mi"], n_bootstraps=4, n_jobs=n_jobs).set_callbacks(counter).fit(X, y)
        assert len(found.rankings_) == counter.count == (stop_after or 8)
