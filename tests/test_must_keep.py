"""Features that must be kept: by every method, wherever the rows are."""

import numpy as np
import pandas as pd
import pytest
from brute_force import correlations, picked_by_gain, picked_by_novelty, unit_columns
from configurations import CONFIGURATIONS
from helpers import planted
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import ilfs
from ilfs import ILFS, FisherScore, HallCFS, MutualInformation, Novelty, ReliefF
from ilfs.must_keep import forced_columns
from ilfs.selection import RankEnsemble, SizeCV

NAMES = np.array([f"gene {j}" for j in range(20)])
WORST = ["gene 19", "gene 7"]  # columns of noise
PICKING = [ILFS(), ILFS(redundancy="novelty"), Novelty(FisherScore()), Novelty(FisherScore(), redundancy="gain")]


def table(n_classes=2, seed=0):
    return planted(n_samples=60, n_features=20, n_informative=4, n_classes=n_classes, seed=seed)


def frame(seed=0):
    X, y = table(seed=seed)
    return pd.DataFrame(X, columns=NAMES), y


def forcing(selector, must_keep=WORST, **parameters):
    return clone(selector).set_params(must_keep=must_keep, **parameters)


def balanced(y):
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    return sizes.mean() / sizes[codes]


class TestEveryMethod:
    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize("selector", CONFIGURATIONS, ids=lambda one: repr(one).replace("\n", ""))
    def test_forced_features_come_first_and_are_selected(self, selector):
        X, y = frame()
        y = y if selector._reads_labels else None
        free, forced = (forcing(selector, kept, n_features_to_select=5).fit(X, y) for kept in (None, WORST))
        assert set(NAMES[forced.order_[:2]]) == set(WORST)
        assert set(WORST) <= set(forced.get_feature_names_out())
        assert forced.get_support().sum() == 5
        assert sorted(forced.order_) == list(range(20))
        np.testing.assert_array_equal(forced.ranking_[forced.order_], np.arange(1, 21))
        if getattr(selector, "redundancy", None) is None:  # every feature is scored without the forced ones
            np.testing.assert_array_equal(forced.scores_, free.scores_)
            rest = free.order_[~np.isin(free.order_, [19, 7])]
            np.testing.assert_array_equal(forced.order_[2:], rest)
            best_first = free.order_[np.isin(free.order_, [19, 7])]
            np.testing.assert_array_equal(forced.order_[:2], best_first)

    def test_a_subset_of_the_size_that_the_method_finds_has_room_for_them(self):
        X, y = frame()
        found = HallCFS(must_keep=NAMES[10:].tolist()).fit(X, y)
        assert found.subset_.size < 10
        assert found.get_support(indices=True).tolist() == list(range(10, 20))

    @pytest.mark.parametrize("selector", PICKING, ids=repr)
    def test_without_forced_features_nothing_changes(self, selector):
        X, y = table()
        free, empty = clone(selector).fit(X, y), forcing(selector, []).fit(X, y)
        np.testing.assert_array_equal(free.order_, empty.order_)
        np.testing.assert_array_equal(free.scores_, empty.scores_)

    def test_forcing_the_best_features_gives_the_same_picks(self):
        X, y = table()
        free = ILFS().fit(X, y)
        forced = ILFS(must_keep=free.order_[:3].tolist()).fit(X, y)
        np.testing.assert_array_equal(forced.order_, free.order_)
        np.testing.assert_allclose(forced.scores_, free.scores_, rtol=1e-12)
        np.testing.assert_allclose(forced.gain_, free.gain_, rtol=1e-9, atol=1e-15)


class TestPickingContinues:
    """After the forced features, the next pick is the best one given all of them."""

    @pytest.mark.parametrize("must_keep", [[19], [7, 19], [0, 1, 12]])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_gain_equals_brute_force(self, must_keep, n_classes):
        X, y = table(n_classes)
        weight = balanced(y)
        found = ILFS(must_keep=must_keep, shapes=False).fit(X, y)
        Z, T = unit_columns(X, weight), unit_columns((y[:, None] == np.unique(y)).astype(float), weight)
        ridge = 1 + 7.5 * 2 * np.log(20) / (weight.sum() ** 2 / (weight**2).sum())
        order, gains = picked_by_gain(Z, T, ridge, 10, must_keep)
        np.testing.assert_array_equal(found.order_[:10], order)
        np.testing.assert_allclose(found.gain_[order], gains, rtol=1e-6)

    @pytest.mark.parametrize("must_keep", [[19], [7, 19], [0, 1, 12]])
    def test_novelty_equals_brute_force(self, must_keep):
        X, y = table()
        plain = ILFS(redundancy=None).fit(X, y)
        found = ILFS(redundancy="novelty", must_keep=must_keep).fit(X, y)
        middle = np.median(plain.relevance_)
        relevance = np.maximum((plain.relevance_ - middle) / (plain.relevance_.max() - middle), 0)
        # Columns by relevance: of equal ones the first is picked.
        by = plain.order_
        picks, _ = picked_by_novelty(
            relevance[by], correlations(X, balanced(y))[np.ix_(by, by)], [by.tolist().index(j) for j in must_keep]
        )
        np.testing.assert_array_equal(found.order_[: len(picks)], by[picks])

    def test_wrapped_methods_continue_from_them_too(self):
        X, y = table()
        found = Novelty(FisherScore(), redundancy="gain", must_keep=[19, 7]).fit(X, y)
        expected = ILFS(must_keep=[19, 7], shapes=False).fit(X, y)
        np.testing.assert_array_equal(found.order_[:8], expected.order_[:8])

    def test_forced_features_are_added_to_the_candidates(self):
        X, y = table()
        free, forced = ILFS(n_candidates=3).fit(X, y), ILFS(n_candidates=3, must_keep=[19, 7]).fit(X, y)
        assert set(forced.candidates_) == {*free.candidates_.tolist(), 19, 7}
        np.testing.assert_array_equal(forced.candidates_[:3], free.candidates_)
        assert (np.diff(forced.relevance_[forced.candidates_]) <= 0).all()
        np.testing.assert_array_equal(forced.order_[2:5][:1], ILFS(must_keep=[19, 7]).fit(X, y).order_[2:3])

    def test_families_are_headed_by_forced_features(self):
        X, y = table()
        X = np.column_stack([X, X[:, 0] + 1e-3 * X[:, 19]])
        assert ILFS(4, must_keep=[20]).fit(X, y).families()[20].keys() == {0}

    def test_labels_of_an_indicator_matrix(self):
        X, _ = table()
        rng = np.random.default_rng(0)
        Y = (X[:, :3] + 0.3 * rng.normal(size=(60, 3)) > 0.5).astype(int)
        found = ILFS(5, must_keep=[19, 7], shapes=False).fit(X, Y)
        assert set(found.order_[:2]) == {19, 7}
        assert all(set(one.order_[:2]) == {19, 7} for one in found.per_label_.values())
        T = unit_columns(Y.astype(float))
        ridge = 1 + 7.5 * 2 * np.log(20) / 60
        np.testing.assert_array_equal(found.order_[:6], picked_by_gain(unit_columns(X), T, ridge, 6, [19, 7])[0])


class TestColumns:
    def test_names_positions_and_single_columns(self):
        for given in (WORST, tuple(WORST), np.array(WORST), pd.Index(WORST), [19, "gene 7"], [-1, 7]):
            assert forced_columns(given, 20, NAMES).tolist() == [7, 19]
        assert forced_columns("gene 3", 20, NAMES).tolist() == forced_columns(3, 20, NAMES).tolist() == [3]
        assert forced_columns(None, 20, NAMES).size == forced_columns([], 20, NAMES).size == 0

    def test_a_constant_column_is_kept_behind_the_other_forced_ones(self):
        X, y = table()
        X[:, 4] = 1.0
        for selector in (ILFS(5), FisherScore(5), ReliefF(5), ILFS(5, redundancy="novelty")):
            found = forcing(selector, [4, 19]).fit(X, y)
            assert found.order_[:2].tolist() == [19, 4]
            assert found.get_support()[[4, 19]].all()
            assert found.scores_[4] == found.scores_.min()

    def test_a_column_without_values_is_kept(self):
        X, y = table()
        X[:, 4] = np.nan
        assert ILFS(5, must_keep=[4]).fit(X, y).get_support()[4]

    def test_sparse_and_missing_values(self):
        X, y = table()
        X[np.abs(X) < 0.5] = 0.0
        dense, thin = ILFS(5, must_keep=[19, 7]).fit(X, y), ILFS(5, must_keep=[19, 7]).fit(sparse.csr_array(X), y)
        np.testing.assert_array_equal(dense.order_, thin.order_)
        X[::7, 19] = np.nan
        assert set(ILFS(5, must_keep=[19, 7]).fit(X, y).order_[:2]) == {19, 7}


class TestErrors:
    @pytest.mark.parametrize(
        ("must_keep", "kind", "message"),
        [
            (["gene 77"], ValueError, r"must_keep must be a column of X \(such as gene 7, .*\), got 'gene 77'"),
            (["gene 7", 7], ValueError, "must_keep must hold different columns, got 'gene 7' twice"),
            ([20], ValueError, "must_keep must be a position from 0 to 19 in X, got 20"),
            ([1.5], TypeError, "must_keep must be the name of a column or its position, got 1.5"),
            ([True], TypeError, "must_keep must be the name of a column or its position, got True"),
            ({"gene 7"}, TypeError, "must_keep must be a list of names or positions of columns, got {'gene 7'}"),
            (3.5, TypeError, "must_keep must be a list of names or positions of columns, got 3.5"),
        ],
    )
    @pytest.mark.parametrize("selector", [ILFS(), FisherScore(), Novelty(ReliefF()), RankEnsemble(["fisher", "mi"])])
    def test_unknown_columns(self, selector, must_keep, kind, message):
        X, y = frame()
        with pytest.raises(kind, match=message):
            forcing(selector, must_keep).fit(X, y)

    def test_names_need_columns_with_names(self):
        with pytest.raises(ValueError, match="must_keep must be the position of a column, as X has no names"):
            ILFS(must_keep=["gene 7"]).fit(*table())

    @pytest.mark.parametrize(("wanted", "kept"), [(1, 1), (0.05, 1), (None, 10)])
    def test_more_features_than_are_selected(self, wanted, kept):
        n_forced = kept + 1
        with pytest.raises(ValueError, match=f"more features than are selected, got {n_forced} and .* {kept} of 20"):
            FisherScore(wanted, must_keep=list(range(n_forced))).fit(*table())

    def test_the_numbers_are_compared_again_when_the_size_is_changed(self):
        selector = FisherScore(5, must_keep=[1, 2]).fit(*table())
        with pytest.raises(ValueError, match="more features than are selected"):
            selector.set_params(n_features_to_select=1).get_support()

    def test_errors_are_raised_before_the_rows_are_read(self):
        def blocks():
            nonlocal n_passes
            n_passes += 1
            yield table()

        n_passes = 0
        with pytest.raises(ValueError, match="must_keep must be a position from 0 to 19"):
            FisherScore(must_keep=[99]).fit(blocks)
        assert n_passes == 1  # for the number of columns


class TestPermutations:
    @pytest.mark.parametrize("selector", [ILFS(), FisherScore(), MutualInformation()], ids=repr)
    def test_p_values_do_not_depend_on_forced_features(self, selector):
        X, y = table()
        free = clone(selector).set_params(n_permutations=20).fit(X, y)
        forced = forcing(selector, [19, 7], n_permutations=20).fit(X, y)
        np.testing.assert_array_equal(forced.p_values_, free.p_values_)
        np.testing.assert_array_equal(forced.q_values_, free.q_values_)
        assert forced.chance_p_value_ == free.chance_p_value_

    @pytest.mark.parametrize("selector", [ILFS("fdr"), FisherScore("fdr"), MutualInformation("fdr")], ids=repr)
    def test_forced_features_are_selected_by_the_rule_fdr(self, selector):
        X, y = table()
        free, forced = clone(selector).fit(X, y), forcing(selector, [19, 7]).fit(X, y)
        assert not free.get_support()[[19, 7]].any()
        np.testing.assert_array_equal(np.flatnonzero(forced.get_support() & ~free.get_support()), [7, 19])

    def test_the_rule_selects_the_forced_features_if_it_finds_none(self):
        X = np.random.default_rng(3).normal(size=(40, 12))
        found = ILFS("fdr", must_keep=[5]).fit(X, np.arange(40) % 2)
        assert found.get_support(indices=True).tolist() == [5]


class TestAnywhere:
    """The result is that of a table in memory."""

    @pytest.mark.parametrize("selector", PICKING, ids=repr)
    def test_streams(self, selector):
        X, y = table()
        expected = forcing(selector, [19, 7]).fit(X, y)
        found = forcing(selector, [19, 7]).fit(lambda: ((X[s : s + 25], y[s : s + 25]) for s in range(0, 60, 25)))
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10, atol=1e-12)

    @pytest.mark.parametrize("selector", PICKING, ids=repr)
    def test_dask(self, selector):
        dask_array = pytest.importorskip("dask.array")
        X, y = table()
        expected = forcing(selector, [19, 7]).fit(X, y)
        found = forcing(selector, [19, 7]).fit(dask_array.from_array(X, chunks=(20, 7)), y)
        np.testing.assert_array_equal(found.order_, expected.order_)

    @pytest.mark.parametrize("must_keep", [WORST, pd.Index(WORST)])
    def test_summaries(self, must_keep):
        X, y = frame()
        selector = ILFS(5, n_candidates=4, must_keep=must_keep)
        merged = None
        while merged is None or not merged.is_complete:
            one, two = (ilfs.summarise(X[s::2], y[s::2], after=merged, selector=selector) for s in (0, 1))
            merged = one.merge(two)
        np.testing.assert_array_equal(selector.fit(merged).order_, clone(selector).fit(X, y).order_)

    def test_partial_fit(self):
        X, y = table()
        selector = FisherScore(5, must_keep=[19])
        for rows in (slice(0, 30), slice(30, 60)):
            selector.partial_fit(X[rows], y[rows])
        np.testing.assert_array_equal(selector.order_, FisherScore(5, must_keep=[19]).fit(X, y).order_)

    def test_polars_and_a_column_of_labels(self):
        polars = pytest.importorskip("polars")
        X, y = frame()
        everything = polars.DataFrame({"kind": y} | {name: X[name].to_numpy() for name in NAMES})
        found = ILFS(5, must_keep=WORST).fit(everything, "kind")
        np.testing.assert_array_equal(found.order_, ILFS(5, must_keep=WORST).fit(X, y).order_)


class TestMetaSelectors:
    """Selectors inside others are fitted without the names of the columns."""

    def test_size_by_cross_validation(self):
        X, y = frame()
        search = SizeCV(FisherScore(must_keep=WORST), SVC(), sizes=[1, 2, 4]).fit(X, y)
        assert search.cv_results_["n_features"].tolist() == [2, 4]
        assert set(WORST) <= set(search.get_feature_names_out())

    def test_ensembles(self):
        X, y = frame()
        found = RankEnsemble(["fisher", ReliefF(must_keep=WORST)], must_keep=["gene 11"], n_features_to_select=3).fit(
            X, y
        )
        assert found.order_[0] == 11
        assert set(found.rankings_[1, [19, 7]]) == {1, 2}

    def test_novelty_of_a_method_that_needs_rows(self):
        X, y = frame()
        assert set(Novelty(ReliefF(must_keep=WORST)).fit(X, y).selector_.order_[:2]) == {7, 19}

    def test_pipelines(self):
        X, y = frame()
        assert cross_val_score(make_pipeline(ILFS(4, must_keep=WORST), SVC()), X, y, cv=2).mean() > 0.7
