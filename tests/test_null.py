"""p-values, q-values and bounds from null values: numbers worked by hand, and closed forms."""

import numpy as np
import pytest
from scipy import stats

from ilfs.null import (
    PermutationTest,
    best_mean,
    chance_p_value,
    false_discovery_bound,
    permutations_needed,
    pooled_p_values,
    q_values,
    standardised_by_feature,
)


class TestPooledPValues:
    def test_values_worked_by_hand(self):
        null = np.array([[1.0, 5.0], [3.0, 3.0]])
        found = pooled_p_values(np.array([6.0, 5.0, 3.0, 2.0, 0.0]), null)
        np.testing.assert_allclose(found, [1 / 5, 2 / 5, 4 / 5, 4 / 5, 1.0])

    def test_the_null_values_are_counted_by_brute_force(self):
        rng = np.random.default_rng(0)
        observed, null = rng.normal(size=50).round(1), rng.normal(size=(7, 50)).round(1)
        expected = [(1 + (null >= one).sum()) / 351 for one in observed]
        np.testing.assert_allclose(pooled_p_values(observed, null), expected)

    def test_values_that_differ_by_rounding_count_as_equal(self):
        assert pooled_p_values(np.array([0.1 + 0.2]), np.array([0.3])) == 1.0
        assert pooled_p_values(np.array([1e-13]), np.array([0.0])) == 0.5
        assert pooled_p_values(np.array([1e-13]), np.array([0.0]), floor=1e-11) == 1.0

    def test_infinity_equals_itself(self):
        np.testing.assert_allclose(pooled_p_values(np.array([np.inf]), np.array([np.inf, 1.0, 2.0])), [0.5])

    def test_missing_statistics_have_p_1_and_missing_null_values_are_left_out(self):
        np.testing.assert_allclose(pooled_p_values(np.array([np.nan, 2.0]), np.array([1.0, np.nan])), [1.0, 0.5])


class TestQValues:
    def test_values_worked_by_hand(self):
        # sorted: 0.01 * 4 / 1, 0.02 * 4 / 2, 0.03 * 4 / 3 and 0.5 * 4 / 4
        np.testing.assert_allclose(q_values(np.array([0.5, 0.02, 0.01, 0.03])), [0.5, 0.04, 0.04, 0.04])

    def test_a_p_value_of_1_has_q_value_1(self):
        assert q_values(np.array([0.001, 1.0, 1.0]))[1:].tolist() == [1.0, 1.0]

    def test_storey_multiplies_by_the_fraction_of_features_without_effect(self):
        p = np.array([0.001, 0.002, 0.003, 0.004, 0.3, 0.9])  # (1 + 1) / (6 / 2)
        np.testing.assert_allclose(q_values(p, "storey"), q_values(p) * 2 / 3)

    def test_storey_is_never_larger_and_has_the_same_order(self):
        p = np.random.default_rng(0).uniform(size=100)
        assert (q_values(p, "storey") <= q_values(p)).all()
        assert (np.diff(q_values(p, "storey")[np.argsort(p)]) >= 0).all()

    def test_no_features_have_no_q_values(self):
        assert q_values(np.empty(0)).size == 0


class TestVerdict:
    def test_the_mean_of_the_best_is_compared(self):
        null = np.array([[0.0, 1.0, 9.0], [4.0, 4.0, 4.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
        # the two best have the mean 4.5 here, and 5, 4, 1 and 2 under the permutations
        assert chance_p_value(np.array([6.0, 3.0, 0.0]), null, n_best=2) == pytest.approx(2 / 5)

    def test_fewer_features_than_n_best_are_all_used(self):
        assert chance_p_value(np.array([3.0]), np.array([[1.0], [2.0], [4.0]])) == pytest.approx(1 / 2)

    def test_missing_statistics_are_left_out(self):
        assert best_mean(np.array([np.nan, 2.0, 4.0])) == 3.0
        assert best_mean(np.array([np.nan])) == -np.inf

    def test_no_informative_feature_is_no_better_than_chance(self):
        test = PermutationTest.from_statistics(np.full(3, np.nan), np.ones((20, 3)))
        assert test.chance_p_value == 1.0
        assert test.q_values.tolist() == [1.0] * 3


class TestNumberOfPermutations:
    @pytest.mark.parametrize(("fdr", "expected"), [(0.05, 20), (0.1, 10), (0.01, 100), (0.3, 4), (1 / 49, 49)])
    def test_it_is_1_over_fdr_rounded_up(self, fdr, expected):
        assert permutations_needed(fdr) == expected

    @pytest.mark.parametrize("n_features", [1, 2, 50, 3000])
    @pytest.mark.parametrize("fdr", [0.01, 0.05, 0.07, 0.2, 0.5])
    def test_a_feature_that_is_alone_can_pass(self, n_features, fdr):
        n_permutations = permutations_needed(fdr)
        observed, null = np.zeros(n_features), np.zeros((n_permutations, n_features))
        observed[0] = 1.0
        test = PermutationTest.from_statistics(observed, null)
        assert test.q_values[0] <= fdr
        assert (test.q_values[1:] == 1.0).all()
        assert test.chance_p_value <= fdr

    def test_uninformative_features_do_not_keep_it_from_passing(self):
        observed, null = np.array([1.0, 0.0, *[np.nan] * 98]), np.zeros((20, 100))
        test = PermutationTest.from_statistics(observed, null)
        assert test.p_values[0] == pytest.approx(1 / 41)  # two features and 20 permutations
        assert test.q_values[0] <= 0.05
        assert (test.q_values[2:] == 1.0).all()


class TestBound:
    def test_the_quantile_is_the_largest_number_for_20_permutations(self):
        assert false_discovery_bound(10, np.array([3] + [1] * 19)) == pytest.approx(0.3)
        assert false_discovery_bound(10, np.array([3] + [1] * 38)) == pytest.approx(0.1)  # the 38th of 39

    def test_it_is_between_0_and_1(self):
        assert false_discovery_bound(0, np.array([5] * 20)) == 0.0
        assert false_discovery_bound(2, np.array([5] * 20)) == 1.0
        assert false_discovery_bound(2, np.array([0] * 18)) == 1.0  # too few permutations

    def test_null_statistics_at_the_threshold_count(self):
        observed = np.array([5.0, 4.0, 1.0])
        null = np.zeros((20, 3))
        null[0, :2], null[1, 0] = 4.0, 4.5
        test = PermutationTest.from_statistics(observed, null)
        assert test.false_discovery_bound(np.array([True, True, False])) == 1.0  # 2 of 2
        assert test.false_discovery_bound(np.array([True, False, False])) == 0.0

    def test_it_covers_the_number_of_discoveries_if_no_feature_has_an_effect(self):
        rng = np.random.default_rng(0)
        n_above = rng.binomial(200, 0.05, size=(2000, 21))
        covered = np.mean([one[0] <= false_discovery_bound(1000, one[1:]) * 1000 for one in n_above])
        assert covered >= stats.binom.ppf(0.001, 2000, 20 / 21) / 2000


class TestSeveralLabels:
    def test_p_values_are_the_smallest_times_the_number_of_labels(self):
        null = np.arange(20.0).reshape(20, 1)
        tests = [PermutationTest.from_statistics(np.array([value]), null) for value in (18.5, 5.0)]
        joint = PermutationTest.over_labels(tests)
        np.testing.assert_allclose(joint.p_values, [2 * 2 / 21])
        assert joint.best == pytest.approx((18.5 + 5.0) / 2)
        assert joint.chance_p_value == pytest.approx((1 + 8) / 21)  # 11.75 against 0, ..., 19


def test_the_curve_has_the_kth_largest_statistics_of_the_observed_labels_and_of_the_permutations() -> None:
    rng = np.random.default_rng(3)
    observed, null = rng.normal(size=500), rng.normal(size=(30, 500))
    observed[:7] = np.nan  # uninformative features, which are left out of the null, too
    curve = PermutationTest.from_statistics(observed, null).curve
    assert curve is not None
    assert curve.ranks[0] == 1
    assert curve.ranks[-1] == 493
    assert 100 < curve.ranks.size <= 200
    assert np.all(np.diff(curve.ranks) > 0)
    kth = np.array([sorted(row[7:], reverse=True) for row in null])[:, curve.ranks - 1]
    np.testing.assert_array_equal(curve.observed, np.array(sorted(observed[7:], reverse=True))[curve.ranks - 1])
    np.testing.assert_allclose(curve.median, np.median(kth, axis=0))
    assert np.all(curve.low <= curve.median)
    assert np.all(curve.median <= curve.high)


def test_the_curve_of_no_informative_features_is_empty() -> None:
    curve = PermutationTest.from_statistics(np.full(3, np.nan), np.full((5, 3), np.nan)).curve
    assert curve is not None
    assert curve.ranks.size == 0


class TestWithinGroups:
    def test_each_value_is_compared_with_the_other_null_values_of_its_feature(self):
        rng = np.random.default_rng(0)
        observed, null = rng.normal(size=7), rng.normal(size=(9, 7)) * rng.random(7) + 5 * rng.random(7)
        null[2, 1] = np.nan
        typical = np.median(np.nanstd(null, axis=0, ddof=1))
        of_observed, of_null = standardised_by_feature(observed, null)
        expected = (observed - np.nanmean(null, axis=0)) / (np.nanstd(null, axis=0, ddof=1) + typical)
        np.testing.assert_allclose(of_observed, expected)
        for b in range(9):
            others = np.delete(null, b, axis=0)
            expected = (null[b] - np.nanmean(others, axis=0)) / (np.nanstd(others, axis=0, ddof=1) + typical)
            np.testing.assert_allclose(of_null[b], expected)

    def test_infinite_constant_and_missing_values(self):
        observed = np.array([np.inf, 1.0, np.nan, 0.5])
        null = np.array([[1.0, 1.0, 1.0, np.nan], [3.0, 1.0, 2.0, np.nan], [np.inf, 1.0, 4.0, np.nan]])
        of_observed, of_null = standardised_by_feature(observed, null)
        assert of_observed[0] > 0
        assert of_observed[1] == 0
        assert np.isnan(of_observed[2:]).all()
        assert np.isfinite(of_null[:, :3]).all()
        assert np.isnan(of_null[:, 3]).all()
        constant = standardised_by_feature(np.ones(2), np.ones((3, 2)))
        assert not np.any(constant[0])
        assert not np.any(constant[1])
