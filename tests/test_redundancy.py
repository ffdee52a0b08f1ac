import warnings

import numpy as np
import pandas as pd
import pytest
from brute_force import correlations, picked_by_gain, picked_by_novelty, unit_columns
from helpers import fold_of
from scipy import sparse
from sklearn.exceptions import NotFittedError

from ilfs import ILFS
from ilfs.execution import Read, run_plan
from ilfs.redundancy import (
    above_median,
    association_with_labels,
    below_zero,
    effective_samples,
    most_relevant,
    pick,
    ridge_of,
)
from ilfs.statistics import Association, Moments, ProductTerms, encode_labels

either = pytest.mark.parametrize("how", ["novelty", "gain"])


def families_of_three(n_classes=3, n_samples=90, seed=0):
    """Return twelve columns, three noisy copies of each of four informative ones, and classes of different sizes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    y[rng.random(n_samples) < 0.3] = 0
    own = rng.normal(size=(n_samples, 4)) + np.array([rng.permutation(n_classes) for _ in range(4)]).T[y]
    return np.repeat(own, 3, axis=1) + 0.4 * rng.normal(size=(n_samples, 12)), y


def among_noise():
    X, y = families_of_three(n_samples=300)
    return np.column_stack([X, np.random.default_rng(1).normal(size=(300, 30))]), y


def labelled(n_samples=90, seed=0):
    X, _ = families_of_three(n_samples=n_samples, seed=seed)
    Y = (np.random.default_rng(1).random((n_samples, 3)) < [0.2, 0.4, 0.6]).astype(int)
    X[:, :9:3] += 1.5 * Y
    return X, Y


def balanced(y):
    """Return sample weights that give every class the same total."""
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    return sizes.mean() / sizes[codes]


def clipped(relevance):
    middle = np.median(relevance)
    return np.maximum((relevance - middle) / (relevance.max() - middle), 0)


def ridge(n_features, weight):
    return 1 + 7.5 * 2 * np.log(n_features) / (weight.sum() ** 2 / (weight**2).sum())


def with_the_rest(picks, candidates, by_relevance):
    """Return the picked columns, followed by all others by relevance."""
    order = [int(candidates[j]) for j in picks]
    return order + [j for j in by_relevance.tolist() if j not in order]


class TestBruteForce:
    @pytest.mark.parametrize("class_weight", ["balanced", None])
    @pytest.mark.parametrize("n_classes", [2, 3, 5])
    @pytest.mark.parametrize("n_candidates", [4, 1000])
    def test_novelty_picks_the_same_features_as_brute_force(self, n_classes, class_weight, n_candidates):
        X, y = families_of_three(n_classes)
        plain = ILFS(redundancy=None, class_weight=class_weight).fit(X, y)
        found = ILFS(redundancy="novelty", class_weight=class_weight, n_candidates=n_candidates).fit(X, y)
        candidates = plain.order_[:n_candidates]
        rho = correlations(X[:, candidates], balanced(y) if class_weight else None)
        picks, values = picked_by_novelty(clipped(plain.relevance_)[candidates], rho)
        np.testing.assert_array_equal(found.candidates_, candidates)
        np.testing.assert_array_equal(found.order_, with_the_rest(picks, candidates, plain.order_))
        np.testing.assert_allclose(found.scores_[found.order_[: len(picks)]], np.array(values) / values[0], rtol=1e-9)
        assert not hasattr(found, "gain_")

    @pytest.mark.parametrize("class_weight", ["balanced", None])
    @pytest.mark.parametrize("n_classes", [2, 3, 5])
    @pytest.mark.parametrize("n_candidates", [4, 1000])
    def test_gain_picks_the_same_features_as_brute_force(self, n_classes, class_weight, n_candidates):
        X, y = families_of_three(n_classes)
        plain = ILFS(redundancy=None, class_weight=class_weight).fit(X, y)
        found = ILFS(class_weight=class_weight, n_candidates=n_candidates, shapes=False).fit(X, y)
        candidates, weight = plain.order_[:n_candidates], balanced(y) if class_weight else np.ones(len(y))
        Z, T = (unit_columns(A, weight) for A in (X[:, candidates], y[:, None] == np.arange(n_classes)))
        picks, gains = picked_by_gain(Z, T, ridge(12, weight), len(candidates))
        np.testing.assert_array_equal(found.order_, with_the_rest(picks, candidates, plain.order_))
        np.testing.assert_allclose(found.gain_[candidates[picks]], gains, rtol=1e-7, atol=1e-11)
        np.testing.assert_array_equal(found.gain_[plain.order_[n_candidates:]], 0)
        value = np.minimum.accumulate(gains.sum(axis=1) / gains[0].sum())
        np.testing.assert_allclose(found.scores_[candidates[picks]], value, rtol=1e-7)

    @either
    @pytest.mark.parametrize("n_candidates", [5, None])
    def test_several_labels_give_the_same_picks_as_brute_force(self, how, n_candidates):
        X, Y = labelled()
        found = ILFS(redundancy=how, n_candidates=n_candidates, shapes=False).fit(X, Y)
        plain = ILFS(redundancy=None).fit(X, Y)
        alone = [ILFS(redundancy=None).fit(X, label) for label in Y.T]
        relevance = np.mean([one.relevance_ for one in alone], axis=0)
        np.testing.assert_array_equal(found.relevance_, relevance)
        by_relevance = np.argsort(-relevance)
        np.testing.assert_array_equal(plain.order_, by_relevance)
        candidates = by_relevance[:n_candidates]
        if how == "novelty":
            picks, _ = picked_by_novelty(clipped(relevance)[candidates], correlations(X[:, candidates]))
        else:
            Z, T = unit_columns(X[:, candidates]), unit_columns(Y)
            picks, gains = picked_by_gain(Z, T, ridge(12, np.ones(len(Y))), candidates.size)
            np.testing.assert_allclose(found.gain_[candidates[picks]], gains, rtol=1e-7, atol=1e-11)
        np.testing.assert_array_equal(found.order_, with_the_rest(picks, candidates, by_relevance))

    @pytest.mark.parametrize("how", ["novelty", "gain"])
    def test_novelty_and_nearest_refer_to_the_features_picked_before(self, how):
        X, y = families_of_three()
        found = ILFS(redundancy=how, n_candidates=9).fit(X, y)
        rho = correlations(X, balanced(y))
        picked = [j for j in found.order_ if found.scores_[j] > 0]
        for j in found.candidates_:
            before = np.array(picked[: picked.index(j)] if j in picked else picked)
            if before.size:
                nearest = before[np.argmax(rho[before, j] ** 2)]
                assert found.nearest_[j] == nearest
                assert found.nearest_correlation_[j] == pytest.approx(rho[nearest, j], rel=1e-10)
                assert found.novelty_[j] == pytest.approx(1 - rho[nearest, j] ** 2, rel=1e-9)
            else:
                assert (found.novelty_[j], found.nearest_[j]) == (1, -1)
                assert np.isnan(found.nearest_correlation_[j])
        others = np.setdiff1d(np.arange(12), found.candidates_)
        assert others.size == 3
        assert np.isnan(found.novelty_[others]).all()
        assert np.isnan(found.nearest_correlation_[others]).all()
        assert (found.nearest_[others] == -1).all()

    def test_novelty_with_missing_values_matches_brute_force(self):
        X, y = families_of_three()
        X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
        plain, found = ILFS(redundancy=None).fit(X, y), ILFS(redundancy="novelty").fit(X, y)
        order = plain.order_
        picks, _ = picked_by_novelty(clipped(plain.relevance_)[order], correlations(X[:, order], balanced(y)))
        np.testing.assert_array_equal(found.order_, with_the_rest(picks, order, order))

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_gain_replaces_missing_values_by_the_mean_of_their_feature(self, n_classes):
        X, y = families_of_three(n_classes)
        X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
        weight = balanced(y)
        filled = X.copy()
        for column in filled.T:
            here = ~np.isnan(column)
            column[~here] = np.average(column[here], weights=weight[here])
        found, order = ILFS(shapes=False).fit(X, y), ILFS(redundancy=None).fit(X, y).order_
        Z, T = unit_columns(filled[:, order], weight), unit_columns(y[:, None] == np.unique(y), weight)
        picks, gains = picked_by_gain(Z, T, ridge(X.shape[1], weight), order.size)
        np.testing.assert_array_equal(found.order_, order[picks])
        np.testing.assert_allclose(found.gain_[order[picks]], gains, rtol=1e-7, atol=1e-11)
        assert found.gain_.sum(axis=0).max() < 1


class TestScores:
    @either
    def test_one_feature_of_each_family_comes_first(self, how):
        X, y = among_noise()
        assert set(ILFS(redundancy=how).fit(X, y).order_[:4] // 3) == {0, 1, 2, 3}
        assert set(ILFS(redundancy=None).fit(X, y).order_[:4] // 3) != {0, 1, 2, 3}

    @either
    @pytest.mark.parametrize("n_candidates", [1, 3, 20, None])
    def test_order_scores_and_ranking_agree(self, how, n_candidates):
        X, y = families_of_three()
        X = np.column_stack([X, X[:, 0], np.ones(len(y))])  # a copy and a constant
        plain, found = ILFS(redundancy=None).fit(X, y), ILFS(redundancy=how, n_candidates=n_candidates).fit(X, y)
        scores = found.scores_[found.order_]
        assert scores[0] == 1
        assert (np.diff(scores) <= 0).all()
        np.testing.assert_array_equal(found.ranking_[found.order_], np.arange(1, 15))
        rest = found.order_[scores <= 0]
        np.testing.assert_array_equal(rest, [j for j in plain.order_ if j in rest])
        assert (scores[-1], found.order_[-1]) == (-1, 13)
        assert len(found.candidates_) == min(13, n_candidates or 13)

    def test_features_with_the_same_score_keep_the_order_of_picking(self):
        # Two similar features differ only by the class, so the second pick gains more than the first.
        rng = np.random.default_rng(0)
        u, y = np.repeat(rng.normal(size=100), 2), np.arange(200) % 2
        found = ILFS().fit(np.column_stack([u - 0.25 * y, u + 0.3 * y]), y)
        assert found.gain_[0].sum() > found.gain_[1].sum()
        assert found.scores_.tolist() == [1, 1]
        assert found.order_.tolist() == [1, 0]

    def test_the_first_gain_with_two_rows_is_that_of_a_perfect_correlation(self):
        found = ILFS(leave_one_out=False).fit(np.array([[0.0, 1.0], [5.0, 0.5]]), [0, 1])
        np.testing.assert_allclose(found.gain_[found.order_[0]], 1 / (1 + ridge(2, np.ones(2))))

    @either
    def test_one_candidate_does_not_change_the_order(self, how):
        X, y = families_of_three()
        plain, found = ILFS(redundancy=None).fit(X, y), ILFS(redundancy=how, n_candidates=1).fit(X, y)
        np.testing.assert_array_equal(found.order_, plain.order_)

    @either
    def test_more_candidates_than_features_means_all_features(self, how):
        X, y = families_of_three()
        scores = [ILFS(redundancy=how, n_candidates=n).fit(X, y).scores_ for n in (None, 12, 13, 10**9)]
        for other in scores[1:]:
            np.testing.assert_array_equal(other, scores[0])

    @either
    def test_a_fit_without_redundancy_removes_its_attributes(self, how):
        X, y = families_of_three()
        selector = ILFS(redundancy=how).fit(X, y).set_params(redundancy=None).fit(X, y)
        assert not [name for name in ("candidates_", "novelty_", "nearest_", "gain_") if hasattr(selector, name)]
        assert not {"novelty", "nearest", "correlation"} & set(selector.table())


class TestRows:
    @either
    @pytest.mark.parametrize("missing", [0.0, 0.15])
    def test_integer_weights_equal_repeated_rows(self, how, missing):
        X, y = families_of_three()
        X[np.random.default_rng(2).random(X.shape) < missing] = np.nan
        times = np.random.default_rng(1).integers(0, 4, size=len(y))
        weighted = ILFS(redundancy=how).fit(X, y, sample_weight=times)
        repeated = ILFS(redundancy=how).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        np.testing.assert_array_equal(weighted.order_, repeated.order_)
        np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-8, atol=1e-8)

    @either
    def test_integer_weights_equal_repeated_rows_with_several_labels(self, how):
        X, Y = labelled()
        times = np.random.default_rng(1).integers(0, 4, size=len(Y))
        weighted = ILFS(redundancy=how).fit(X, Y, sample_weight=times)
        repeated = ILFS(redundancy=how).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
        np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-8, atol=1e-8)

    @either
    @pytest.mark.parametrize("kind", ["classes", "labels"])
    @pytest.mark.parametrize("missing", [0.0, 0.15])
    def test_sparse_and_dense_input_give_the_same_result(self, how, kind, missing):
        X, y = families_of_three() if kind == "classes" else labelled()
        X[np.abs(X) < 0.6] = 0.0
        X[np.random.default_rng(2).random(X.shape) < missing] = np.nan
        for convert in (sparse.csr_array, sparse.csc_matrix):
            one, two = (ILFS(redundancy=how).fit(table, y) for table in (X, convert(X)))
            np.testing.assert_array_equal(one.order_, two.order_)
            np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(one.nearest_correlation_, two.nearest_correlation_, rtol=1e-8, atol=1e-8)

    @either
    def test_large_offsets_lose_no_precision_in_dense_or_sparse_columns(self, how):
        X, y = families_of_three()
        X, offset = np.round(1e4 * X), 1e9 * np.arange(12)
        near, far, stored = (ILFS(redundancy=how).fit(Z, y) for Z in (X, X + offset, sparse.csr_array(X + offset)))
        np.testing.assert_allclose(far.scores_, near.scores_, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(stored.scores_, near.scores_, rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    @either
    def test_a_row_with_weight_zero_may_contain_infinity(self, how, convert):
        X, y = families_of_three()
        weight = np.ones(len(y))
        weight[5] = 0.0
        expected = ILFS(redundancy=how).fit(np.delete(X, 5, axis=0), np.delete(y, 5))
        X[5, 3] = np.inf
        found = ILFS(redundancy=how).fit(convert(X), y, weight)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9, atol=1e-9)

    @either
    def test_balancing_does_not_change_classes_of_equal_size(self, how):
        X, y = families_of_three()
        y = np.random.default_rng(0).permutation(np.arange(len(y)) % 3)
        one, two = (ILFS(redundancy=how, class_weight=weight).fit(X, y) for weight in ("balanced", None))
        np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("shape", [(60, 300), (40, 500)])
    def test_gain_stays_small_where_most_values_are_missing(self, shape):
        rng = np.random.default_rng(0)
        y = np.arange(shape[0]) % 2
        X = rng.normal(size=shape)
        X[:, :5] += 2.5 * y[:, None]
        X[rng.random(shape) < 0.6] = np.nan
        found = ILFS().fit(X, y)
        assert found.gain_.max() < 0.5
        assert found.scores_[found.order_[0]] == 1
        assert len(set(found.order_[:10]) & set(range(5))) >= 3

    @either
    def test_the_largest_and_smallest_allowed_weights_give_finite_scores(self, how):
        X, y = families_of_three(2)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="leave_one_out")
            found = ILFS(redundancy=how).fit(X, y, np.where(y == 1, 1e100, 1e-100))
        assert np.isfinite(found.scores_).all()


class TestExtremes:
    @either
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    @pytest.mark.parametrize("kind", ["classes", "labels"])
    def test_constant_features_all_score_minus_one_with_a_warning(self, how, convert, kind):
        y = np.arange(10) % 2
        y = y if kind == "classes" else np.column_stack([y, 1 - y])
        with pytest.warns(UserWarning, match="no feature differs"):
            found = ILFS(redundancy=how).fit(convert(np.ones((10, 3))), y)
        np.testing.assert_array_equal(found.scores_, np.full(3, -1.0))
        assert found.candidates_.size == 0
        assert found.families(2) == {0: {}, 1: {}}

    @either
    def test_only_one_of_several_copies_is_picked(self, how):
        X, y = families_of_three()
        found = ILFS(redundancy=how).fit(X[:, [0]] * [1.0, -2.0, 0.1, 1e9], y)
        assert found.order_.tolist()[0] == 0
        assert (found.scores_ > 0).sum() == 1
        np.testing.assert_allclose(found.nearest_correlation_[1:], [-1, 1, 1], rtol=1e-12)
        assert sorted(found.families(1)[0]) == [1, 2, 3]

    @either
    def test_only_one_feature_that_equals_the_class_is_picked(self, how):
        X, y = families_of_three(2)
        found = ILFS(redundancy=how).fit(np.column_stack([X, y, 1 - y, 7 * y]), y)
        assert found.order_[0] == 12
        assert (found.scores_[[13, 14]] <= 0).all()

    @either
    @pytest.mark.parametrize("scale", [1e-140, 1e140])
    def test_scores_do_not_depend_on_units(self, how, scale):
        X, y = families_of_three()
        one, two = (ILFS(redundancy=how).fit(Z, y) for Z in (X, X * scale))
        np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-6, atol=1e-6)

    @either
    def test_two_rows_are_ranked(self, how):
        found = ILFS(redundancy=how, leave_one_out=False).fit([[0.0, 1.0, 5.0], [1.0, 3.0, 5.0]], ["a", "b"])
        assert found.order_.tolist() == [0, 1, 2]

    @either
    @pytest.mark.parametrize("bad", [0, -3, 2.5, "all", True])
    def test_invalid_n_candidates_is_rejected(self, how, bad):
        with pytest.raises(ValueError, match=r"n_candidates must be None \(all features\) or an integer >= 1, got"):
            ILFS(redundancy=how, n_candidates=bad).fit(*families_of_three())

    @pytest.mark.parametrize("bad", ["novel", True, 1, "None"])
    def test_invalid_redundancy_is_rejected(self, bad):
        with pytest.raises(ValueError, match="redundancy must be 'gain', 'novelty' or None, got"):
            ILFS(redundancy=bad).fit(*families_of_three())


class TestFamilies:
    @staticmethod
    def by_definition(selector, heads, at_least):
        """Follow the nearest features of every column up to the first one, and note all heads on the way."""
        members = {int(head): {} for head in heads}
        for column in selector.order_:
            at, alike = column, 1.0
            while selector.nearest_[at] >= 0:
                alike *= selector.nearest_correlation_[at]
                at = selector.nearest_[at]
                if at in members and abs(alike) >= at_least:
                    members[int(at)][int(column)] = pytest.approx(alike, rel=1e-12)
        return members

    @either
    @pytest.mark.parametrize("top", [1, 3, 12, 100])
    @pytest.mark.parametrize("at_least", [0.1, 0.7, 0.99])
    def test_a_feature_belongs_to_the_families_of_its_nearest_features(self, how, top, at_least):
        X, y = families_of_three()
        selector = ILFS(redundancy=how).fit(np.column_stack([X, -X[:, 2]]), y)
        found = selector.families(top, at_least=at_least)
        assert list(found) == selector.order_[:top].tolist()
        expected = self.by_definition(selector, selector.order_[:top], at_least)
        assert found == expected
        assert [list(members) for members in found.values()] == [list(members) for members in expected.values()]

    @either
    def test_planted_families_are_found(self, how):
        for head, members in ILFS(4, redundancy=how).fit(*among_noise()).families().items():
            assert sorted([head, *members]) == [3 * (head // 3), 3 * (head // 3) + 1, 3 * (head // 3) + 2]

    def test_families_are_those_of_the_selected_features(self):
        selector = ILFS(5).fit(*families_of_three())
        assert list(selector.families()) == selector.order_[:5].tolist()
        assert list(selector.set_params(n_features_to_select=2).families()) == selector.order_[:2].tolist()

    def test_members_are_listed_even_if_they_are_selected(self):
        selector = ILFS(12).fit(*families_of_three())
        every = selector.families()
        assert every[int(selector.order_[0])] == selector.families(1)[int(selector.order_[0])] != {}

    @either
    def test_families_with_several_labels_belong_to_the_best_features(self, how):
        X, Y = labelled()
        selector = ILFS(redundancy=how).fit(X, Y)
        assert list(selector.families(3)) == selector.order_[:3].tolist()

    def test_families_have_names_if_features_have_them(self):
        X, y = families_of_three()
        names = [f"gene {j}" for j in range(12)]
        by_index = ILFS().fit(X, y).families(3)
        expected = {names[head]: {names[j]: r for j, r in some.items()} for head, some in by_index.items()}
        assert ILFS().fit(pd.DataFrame(X, columns=names), y).families(3) == expected
        assert ILFS().fit(X, y).families(3, input_features=names) == expected
        assert list(ILFS().fit(X, y).families(3, input_features=["same"] * 12)) == list(by_index)

    def test_a_member_whose_nearest_feature_is_the_head_has_its_correlation(self):
        X, y = families_of_three()
        selector = ILFS(class_weight=None).fit(X, y)
        for head, members in selector.families(1, at_least=0.0).items():
            direct = [j for j in members if selector.nearest_[j] == head]
            assert direct
            for j in direct:
                assert members[j] == pytest.approx(np.corrcoef(X[:, head], X[:, j])[0, 1], rel=1e-9)

    def test_features_that_are_not_candidates_have_no_family(self):
        selector = ILFS(n_candidates=2).fit(*families_of_three())
        found = selector.families(12, at_least=0.0)
        first, second = selector.order_[:2].tolist()
        assert {head: list(members) for head, members in found.items() if members} == {first: [second]}

    def test_families_rejects_unfitted_selectors_and_invalid_parameters(self):
        X, y = families_of_three()
        with pytest.raises(NotFittedError):
            ILFS().families()
        with pytest.raises(ValueError, match="families needs the correlations of features, which redundancy=None"):
            ILFS(redundancy=None).fit(X, y).families()
        with pytest.raises(ValueError, match="top must be an integer >= 1, got 0"):
            ILFS().fit(X, y).families(0)
        with pytest.raises(ValueError, match=r"at_least must be a number from 0 to 1, got 1\.5"):
            ILFS().fit(X, y).families(at_least=1.5)


class TestTable:
    def test_the_table_names_the_nearest_feature(self):
        X, y = families_of_three()
        names = [f"gene {j}" for j in range(12)]
        selector = ILFS(n_candidates=8).fit(pd.DataFrame(X, columns=names), y)
        table = pd.DataFrame(selector.table()).set_index("column")
        for j in range(12):
            nearest = selector.nearest_[j]
            assert table["nearest"][j] == (names[nearest] if nearest >= 0 else "")
            np.testing.assert_array_equal(table["novelty"][j], selector.novelty_[j])
            np.testing.assert_array_equal(table["correlation"][j], selector.nearest_correlation_[j])
        assert (table["nearest"] == "").sum() == 5  # the first pick, and four features that are not candidates

    def test_names_may_be_passed_to_the_table(self):
        selector = ILFS().fit(*families_of_three())
        assert selector.table(2)["nearest"][1] == f"x{selector.order_[0]}"
        assert selector.table(2, [*"abcdefghijkl"])["nearest"][1] == "abcdefghijkl"[selector.order_[0]]


class TestSmallFunctions:
    def test_above_median_is_0_at_the_median_and_1_at_the_maximum(self):
        usable = np.array([True, True, True, True, True, False])
        values = np.array([0.1, 0.5, 0.3, 0.2, 0.4, 9.0])
        np.testing.assert_allclose(above_median(values, usable), [0, 1, 0, 0, 0.5, 0])

    def test_above_median_is_1_for_the_best_even_if_they_are_the_majority(self):
        np.testing.assert_array_equal(above_median(np.array([0.5, 0.2, 0.5, 0.5]), np.ones(4, bool)), [1, 0, 1, 1])

    def test_below_zero_maps_relevance_to_minus_1_to_0(self):
        usable = np.array([True, True, False, True])
        np.testing.assert_allclose(below_zero(np.array([3.0, 5.0, 9.0, 4.0]), usable), [-1, 0, -1, -0.5])
        np.testing.assert_array_equal(below_zero(np.array([3.0, 3.0, 1.0, 3.0]), usable), [0, 0, -1, 0])

    @pytest.mark.parametrize("function", [above_median, below_zero])
    def test_without_usable_features_all_values_are_equal(self, function):
        assert np.unique(function(np.arange(3.0), np.zeros(3, bool))).size == 1

    def test_most_relevant_breaks_ties_and_leaves_out_unusable_features(self):
        relevance, ties = np.array([0.2, 0.7, 0.7, 0.9, 0.1]), np.array([0.0, 1.0, 2.0, 0.0, 0.0])
        usable = np.array([True, True, True, False, True])
        assert most_relevant(relevance, usable, None, ties).tolist() == [2, 1, 0, 4]
        assert most_relevant(relevance, usable, 3).tolist() == [1, 2, 0]

    def test_effective_samples_is_kish_effective_sample_size(self):
        classes, _ = encode_labels(np.array([0] * 90 + [1] * 10))
        assert effective_samples(classes, np.ones(2)) == pytest.approx(100)
        weight = np.repeat(classes.balance, [90, 10])
        assert effective_samples(classes, classes.balance) == pytest.approx(weight.sum() ** 2 / (weight**2).sum())

    def test_ridge_grows_with_log_features_per_sample(self):
        assert ridge_of(1, 100) == 1
        assert ridge_of(1000, 100) == pytest.approx(1 + 0.15 * np.log(1000))


class TestProducts:
    """Interacting features that are given as sets."""

    def xor(self, n_samples=200, n_features=60, seed=0):
        """Return noise; whether the signs of columns 7 and 41 differ is the class, with some errors."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_samples, n_features))
        y = ((X[:, 7] > 0) ^ (X[:, 41] > 0) ^ (rng.random(n_samples) < 0.1)).astype(int)
        return X, y, np.quantile(X, [0.25, 0.5, 0.75], axis=0).T

    def picked(self, X, y, products, **options):
        fold = fold_of(X, y)
        moments, classes = fold(Moments()), fold.classes
        candidates = np.arange(X.shape[1])
        association = Association.from_moments(moments, classes.balance, classes.total)
        usable = np.ones(X.shape[1], dtype=bool)
        plan = pick("gain", classes, np.ones(X.shape[1]), usable, candidates, association, products=products, **options)
        return run_plan(plan, fold)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_the_features_of_an_xor_are_picked_first(self, convert):
        X, y, cuts = self.xor()
        sets = ProductTerms(np.array([[7, 41, -1]]), np.array([[0, 0, -1]], dtype=np.int8), cuts)
        subset = self.picked(convert(X), y, sets)
        assert set(subset.scores.order()[:2]) == {7, 41}
        assert not set(self.picked(X, y, None).scores.order()[:2]) & {7, 41}

    def test_without_sets_nothing_changes(self):
        X, y, _ = self.xor()
        one, other = self.picked(X, y, None), self.picked(X, y, ProductTerms.none())
        np.testing.assert_array_equal(one.scores.values, other.scores.values)

    def test_a_set_with_a_feature_that_is_no_candidate_is_ignored(self):
        X, y, cuts = self.xor()
        sets = ProductTerms(np.array([[7, 41, -1]]), np.array([[0, 0, -1]], dtype=np.int8), cuts)
        fold = fold_of(X, y)
        moments, classes, candidates = fold(Moments()), fold.classes, np.arange(41)
        association = Association.from_moments(moments.of_columns(candidates), classes.balance, classes.total)
        found = [
            run_plan(
                pick("gain", classes, np.ones(60), np.ones(60, bool), candidates, association, products=products), fold
            )
            for products in (sets, None)
        ]
        np.testing.assert_array_equal(found[0].scores.values, found[1].scores.values)

    def test_products_are_picked_for_several_labels(self):
        X, y, cuts = self.xor()
        Y = np.column_stack([X[:, 0] > 0.5, y])
        fold = fold_of(X, Y.astype(int))
        moments = list(fold.read([Read(Moments(), labelling=label) for label in (0, 1)]))
        association = association_with_labels(moments, fold.labellings)
        sets = ProductTerms(np.array([[7, 41, -1], [3, 5, 9]]), np.array([[0, 0, -1], [0, 1, 0]], dtype=np.int8), cuts)
        candidates = np.random.default_rng(0).permutation(60)
        plan = pick(
            "gain", fold.all_rows, np.ones(60), np.ones(60, bool), candidates, association.take(candidates),
            labelling=(0, 1), products=sets,
        )  # fmt: skip
        subset = run_plan(plan, fold)
        assert set(subset.scores.order()[:3]) == {0, 7, 41}
        assert subset.gain[[7, 41], 1].min() > 10 * subset.gain[[7, 41], 0].max()  # picked for the second label
