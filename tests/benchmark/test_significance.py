"""Tests of methods against published examples, hand-worked numbers, scipy, brute force and simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.significance import (
    binomial_tail,
    compare_on_datasets,
    compare_with,
    complete_datasets,
    corrected_t_test,
    critical_difference,
    friedman_from_ranks,
    friedman_test,
    holm,
    lilliefors,
    mean_over_splits,
    nemenyi_p_values,
    paper_procedure,
    rank_methods,
    t_test,
    wilcoxon_test,
)

# Table 6 of Demšar 2006: AUC of C4.5 with nothing, m, cf, m and cf, on 14 data sets
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.975],  # printed with the ranks 4, 1, 2, 3: not a tie before rounding
        [0.957, 0.978, 0.946, 0.970],
    ]
)
DEMSAR_RANKS = [3.143, 2.000, 2.893, 1.964]

# Demšar's Table 5, of 2 to 10 methods
DEMSAR_Q = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


class TestPaper:
    def test_binomial_tail_gives_the_number_in_the_paper(self):
        assert f"{binomial_tail(10, 7, 0.35):.2e}" == "4.82e-03"

    def test_binomial_tail_is_a_sum_of_probabilities(self):
        for n, k, p in product((1, 4, 10), (-1, 0, 3, 10, 12), (0.0, 0.2, 1.0)):
            expected = sum(stats.binom.pmf(i, n, p) for i in range(k + 1, n + 1))
            assert binomial_tail(n, k, p) == pytest.approx(expected, abs=1e-15)

    def test_the_papers_tables_have_its_seven_successes(self):
        table3, table4 = paper.class_precision(), paper.precision()
        vocs, others = ("voc2007", "voc2012"), paper.MICROARRAYS + paper.OTHER_DATASETS
        means = [[table4[m, d] for m in paper.METHODS_OF_THE_PAPER] for d in others]
        means += [[table3[d, "mean", m] for m in paper.METHODS_OF_THE_PAPER] for d in vocs]
        values = np.array(means)[:, :, None] + np.array([-1.0, 1.0])
        verdict = paper_procedure(values, reference=paper.METHODS_OF_THE_PAPER.index("ilfs"))
        assert (verdict.n_successes, verdict.n_trials) == (7, 10)
        failed = [name for name, best in zip(others + vocs, verdict.best, strict=True) if not best]
        assert failed == ["gina", "polarity", "voc2012"]
        assert f"{verdict.tail:.2e}" == "4.82e-03"

    def test_t_test_is_scipys(self):
        rng = np.random.default_rng(0)
        for sizes in ((2, 2), (5, 9), (100, 100)):
            a, b = (rng.normal(size=n) for n in sizes)
            expected = stats.ttest_ind(a, b)
            outcome = t_test(a, b)
            assert (outcome.statistic, outcome.p_value) == pytest.approx((expected.statistic, expected.pvalue))

    def test_t_test_of_samples_without_spread_has_p_value_0_or_1(self):
        assert t_test([1, 1, 1], [1, 1]).p_value == 1
        assert t_test([0.3] * 20, [0.3] * 15).p_value == 1
        apart = t_test([1, 1, 1], [2, 2])
        assert (apart.statistic, apart.p_value) == (-np.inf, 0)

    def test_procedure_consists_of_t_tests_and_normality_tests(self):
        rng = np.random.default_rng(1)
        values = rng.normal(size=(3, 4, 20, 5))
        values[0, 2] += 3
        verdict = paper_procedure(values, reference=2)
        flat = values.reshape(3, 4, 100)
        for i, j in product(range(3), (0, 1, 3)):
            assert verdict.p_values[i, j] == t_test(flat[i, 2], flat[i, j]).p_value
            assert verdict.normality[i, j] == lilliefors(flat[i, j]).p_value
        assert np.isnan(verdict.p_values[:, 2]).all()
        assert verdict.significantly_best.tolist() == [True, False, False]
        assert verdict.n_successes == verdict.best.sum()

    def test_failed_jobs_are_left_out_of_the_paper_procedure(self):
        values = np.random.default_rng(2).normal(size=(4, 3, 20)) + np.array([3.0, 0, 0])[:, None]
        values[0, 1, :5] = np.nan  # some splits: left out
        values[1, 1] = np.nan  # a method: not compared there
        values[2, 0] = np.nan  # the reference: no trial
        values[3, 1:] = np.nan  # all others: no trial
        verdict = paper_procedure(values)
        assert verdict.p_values[0, 1] == t_test(values[0, 0], values[0, 1, 5:]).p_value
        assert np.isnan(verdict.p_values).tolist() == [
            [True, False, False],
            [True, True, False],
            [True] * 3,
            [True] * 3,
        ]
        assert (verdict.n_trials, verdict.n_successes) == (2, 2)
        assert verdict.best.tolist() == [True, True, False, False]

    def test_a_tie_is_no_success(self):
        assert paper_procedure(np.ones((2, 3, 20))).n_successes == 0

    def test_rounding_is_no_success(self):
        values = np.full((2, 3, 20), 0.3)
        values[:, 0] = 0.1 + 0.2
        verdict = paper_procedure(values)
        assert verdict.n_successes == 0
        assert verdict.p_values[:, 1:].tolist() == [[1, 1], [1, 1]]


class TestCorrectedT:
    def test_statistic_and_interval_match_values_computed_by_hand(self):
        # mean 0.05, variance 0.01 / 3; (1/4 + 1/2) of it is 0.05 squared
        found = corrected_t_test([0.9, 0.8, 0.9, 0.8], [0.8] * 4, n_train=40, n_test=20)
        assert found.statistic == pytest.approx(1)
        assert found.p_value == pytest.approx(2 * stats.t.sf(1, 3))
        half = 0.05 * stats.t.ppf(0.975, 3)
        assert (found.mean, found.low, found.high) == pytest.approx((0.05, 0.05 - half, 0.05 + half))

    def test_without_shared_rows_it_is_the_paired_t_test(self):
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=(2, 15))
        expected = stats.ttest_rel(a, b)
        found = corrected_t_test(a, b, n_train=10**15, n_test=1)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))

    def test_interval_holds_0_where_the_test_does_not_reject(self):
        rng = np.random.default_rng(1)
        for shift in np.linspace(0, 2, 21):
            found = corrected_t_test(rng.normal(size=20) + shift, rng.normal(size=20), n_train=2, n_test=1)
            assert (found.low <= 0 <= found.high) == (found.p_value >= 0.05)

    def test_it_keeps_its_level_where_the_plain_t_test_does_not(self):
        # two methods that differ by noise of the rows only; 20 splits of 60 rows, a third for testing
        rng = np.random.default_rng(2)
        tested = np.argsort(rng.random((1000, 20, 60)), axis=2)[:, :, :20]
        on_rows = rng.normal(size=(1000, 1, 60))
        on_splits = np.take_along_axis(np.broadcast_to(on_rows, (1000, 20, 60)), tested, axis=2).mean(axis=2)
        plain = stats.ttest_1samp(on_splits, 0, axis=1).pvalue
        corrected = [corrected_t_test(one, np.zeros(20), n_train=40, n_test=20).p_value for one in on_splits]
        assert np.mean(plain < 0.05) > 0.4
        assert 0.03 < np.mean(np.array(corrected) < 0.05) < 0.075

    def test_differences_without_spread_have_p_value_0_or_1(self):
        assert corrected_t_test([0.5] * 5, [0.5] * 5, n_train=2, n_test=1).p_value == 1
        assert corrected_t_test([0.75] * 5, [0.5] * 5, n_train=2, n_test=1).p_value == 0

    def test_rounding_is_no_difference(self):
        found = corrected_t_test([0.1 + 0.2] * 5, [0.3] * 5, n_train=2, n_test=1)
        assert (found.mean, found.p_value) == (0, 1)

    def test_failed_splits_are_left_out_by_pair(self):
        a, b = np.random.default_rng(3).normal(size=(2, 10))
        expected = corrected_t_test(a[2:], b[2:], n_train=2, n_test=1)
        a[0], b[1] = np.nan, np.nan
        assert corrected_t_test(a, b, n_train=2, n_test=1) == expected
        assert expected.n_splits == 8

    def test_table_consists_of_the_single_tests(self):
        values = np.random.default_rng(4).normal(size=(3, 4, 20, 5))
        values[1, 2, 3, 0] = np.nan
        values[2, 3] = np.nan
        n_train, n_test = np.array([40, 60, 80]), np.array([20, 30, 10])
        found = compare_on_datasets(values, 1, n_train=n_train, n_test=n_test)
        for i, j in product(range(3), (0, 2, 3)):
            if (i, j) == (2, 3):
                continue
            first, second = values[i, 1].mean(axis=1), values[i, j].mean(axis=1)
            one = corrected_t_test(first, second, n_train=int(n_train[i]), n_test=int(n_test[i]))
            assert found.p_values[i, j] == one.p_value
            assert (found.difference[i, j], found.low[i, j], found.high[i, j]) == (one.mean, one.low, one.high)
        assert np.isnan(found.p_values).sum() == 4
        np.testing.assert_array_equal(found.adjusted, holm(found.p_values))


class TestWilcoxon:
    def test_rank_sums_of_demsars_example_are_his(self):
        found = wilcoxon_test(DEMSAR[:, 1], DEMSAR[:, 0])
        assert (found.plus, found.minus, found.n_pairs) == (93, 12, 14)
        z = (found.minus - 14 * 15 / 4) / np.sqrt(14 * 15 * 29 / 24)
        assert z == pytest.approx(-2.54, abs=0.005)
        assert found.p_value < 0.02

    def test_p_value_is_that_of_scipy_without_ties(self):
        rng = np.random.default_rng(0)
        for n in (1, 5, 8, 20, 50):
            a, b = rng.normal(size=(2, n))
            expected = stats.wilcoxon(a, b, method="exact")
            assert wilcoxon_test(a, b).p_value == pytest.approx(expected.pvalue)

    @given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
    def test_p_value_is_that_of_all_signs_with_ties_and_zeros(self, differences):
        d = np.array(differences)
        r = stats.rankdata(np.abs(d))
        signs = np.array(list(product((-1, 1), repeat=d.size)))
        sums = np.abs((signs * r * (d != 0)).sum(axis=1))
        expected = np.mean(sums >= abs(np.sum(np.sign(d) * r)) - 1e-9)
        found = wilcoxon_test(d, np.zeros(d.size))
        assert found.p_value == pytest.approx(expected)
        assert found.plus + found.minus == d.size * (d.size + 1) / 2

    def test_p_value_is_near_that_of_scipy_for_many_data_sets(self):
        rng = np.random.default_rng(1)
        d = rng.normal(0.1, size=400)
        assert wilcoxon_test(d, 0 * d).p_value == pytest.approx(stats.wilcoxon(d).pvalue, rel=0.02)

    def test_differences_that_are_equal_but_for_rounding_tie(self):
        # 0.3 - 0.2 and 0.2 - 0.1 differ in their last digit
        assert wilcoxon_test([0.3, 0.1, 0.9], [0.2, 0.2, 0.5]).plus == 4.5

    def test_swapping_methods_swaps_rank_sums_and_missing_pairs_are_left_out(self):
        a, b = np.random.default_rng(2).normal(size=(2, 9))
        there, back = wilcoxon_test(a, b), wilcoxon_test(b, a)
        assert (there.plus, there.p_value) == (back.minus, back.p_value)
        assert wilcoxon_test(np.r_[a, 1.0, np.nan], np.r_[b, np.nan, 2.0]) == there

    def test_equal_values_have_p_value_1(self):
        assert wilcoxon_test([0.5] * 8, [0.5] * 8).p_value == 1


class TestHolm:
    def test_adjusted_p_values_match_those_computed_by_hand(self):
        # 0.005 x 4; 0.01 x 3; 0.03 x 2; 0.04 x 1, raised to the one before
        np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])

    def test_adjusted_p_values_reject_as_the_step_down_procedure_does(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            p = rng.random(7) ** 3
            adjusted = holm(p)
            for alpha in (0.01, 0.05, 0.2):
                rejected = np.zeros(7, dtype=bool)
                for step, i in enumerate(np.argsort(p)):
                    if p[i] > alpha / (7 - step):
                        break
                    rejected[i] = True
                assert ((adjusted <= alpha) == rejected).all()

    @given(st.lists(st.floats(0, 1), max_size=12))
    def test_adjusted_p_values_keep_their_order_and_are_at_most_1(self, p):
        adjusted = holm(p)
        assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)
        assert np.all((adjusted >= np.array(p)) & (adjusted <= 1))

    def test_nan_is_not_counted_as_a_test(self):
        np.testing.assert_allclose(holm([[0.01, np.nan], [0.04, np.nan]]), [[0.02, np.nan], [0.04, np.nan]])

    @pytest.mark.parametrize("wrong", [-0.1, 1.5])
    def test_numbers_that_are_no_p_values_are_refused(self, wrong):
        with pytest.raises(ValueError, match=f"p_values must be numbers from 0 to 1 or NaN, got {wrong}"):
            holm([0.1, wrong])


class TestCompareWith:
    def test_comparison_consists_of_wilcoxon_holm_and_effect_sizes(self):
        values = np.random.default_rng(0).normal(size=(12, 4))
        found = compare_with(values, 1)
        assert [one.method for one in found] == [0, 2, 3]
        p = [wilcoxon_test(values[:, 1], values[:, j]).p_value for j in (0, 2, 3)]
        assert [one.p_value for one in found] == p
        np.testing.assert_allclose([one.adjusted for one in found], holm(p))
        assert found[0].effects.mean.value == pytest.approx((values[:, 1] - values[:, 0]).mean())
        assert found[0].wins == np.sum(values[:, 1] > values[:, 0])

    def test_lower_values_win_if_higher_is_not_better(self):
        times = np.array([[1.0, 2.0], [1.0, 3.0], [2.0, 2.0], [1.0, 9.0]])
        (slower,) = compare_with(times, higher_is_better=True)
        (faster,) = compare_with(times, higher_is_better=False)
        assert (slower.wins, slower.ties, slower.losses) == (0, 1, 3)
        assert (faster.wins, faster.ties, faster.losses) == (3, 1, 0)
        assert faster.effects.mean.value == -slower.effects.mean.value == pytest.approx(2.75)

    def test_missing_pairs_are_left_out(self):
        values = np.random.default_rng(1).normal(size=(8, 4))
        values[2, 1] = np.nan
        values[2:, 3] = np.nan  # shares two data sets only
        found = compare_with(values)
        assert [(one.method, one.n_datasets) for one in found] == [(1, 7), (2, 8)]

    def test_effects_do_not_depend_on_the_other_methods(self):
        values = np.random.default_rng(2).normal(size=(8, 4))
        assert compare_with(values)[0].effects == compare_with(values[:, :2])[0].effects


class TestRanks:
    def test_ties_share_their_mean_rank_and_nan_has_no_rank(self):
        values = [[0.9, 0.7, 0.9, np.nan], [0.1, 0.1, 0.1, 0.1]]
        np.testing.assert_array_equal(rank_methods(values), [[1.5, 3, 1.5, np.nan], [2.5] * 4])
        np.testing.assert_array_equal(rank_methods(values, higher_is_better=False)[0], [2.5, 1, 2.5, np.nan])

    def test_values_that_differ_by_rounding_only_share_a_rank(self):
        np.testing.assert_array_equal(rank_methods([[0.1 + 0.2, 0.3, 0.29]]), [[1.5, 1.5, 3]])

    def test_mean_ranks_of_demsars_example_are_his(self):
        exact = DEMSAR.copy()
        exact[12, 2] += 1e-4
        np.testing.assert_allclose(rank_methods(exact).mean(axis=0), DEMSAR_RANKS, atol=5e-4)


class TestFriedman:
    def test_statistics_of_demsars_example_are_his(self):
        found = friedman_from_ranks(DEMSAR_RANKS, 14)
        assert found.chi2 == pytest.approx(9.28, abs=0.005)
        assert pytest.approx(3.69, abs=0.005) == found.F
        assert stats.f.isf(0.05, 3, 39) == pytest.approx(2.85, abs=0.005)  # his critical value: rejected
        assert found.F_p_value == pytest.approx(stats.f.sf(found.F, 3, 39))
        assert found.F_p_value < 0.05
        assert found.chi2_p_value == pytest.approx(stats.chi2.sf(found.chi2, 3))

    def test_chi2_is_that_of_scipy_with_ties(self):
        rng = np.random.default_rng(0)
        for values in (DEMSAR, rng.integers(0, 4, (9, 5)), rng.normal(size=(6, 3))):
            expected = stats.friedmanchisquare(*values.T)
            found = friedman_test(values)
            assert (found.chi2, found.chi2_p_value) == pytest.approx((expected.statistic, expected.pvalue))

    def test_without_ties_mean_ranks_give_the_same_test(self):
        values = np.random.default_rng(1).normal(size=(7, 5))
        found = friedman_test(values)
        again = friedman_from_ranks(found.mean_ranks, 7)
        assert (again.chi2, again.F, again.F_p_value) == pytest.approx((found.chi2, found.F, found.F_p_value))

    def test_f_is_that_of_an_analysis_of_variance_of_the_ranks(self):
        # Iman and Davenport: the two-way analysis of variance of the ranks
        r = rank_methods(np.random.default_rng(2).normal(size=(8, 4)))
        between = 8 * np.sum((r.mean(axis=0) - 2.5) ** 2) / 3
        within = np.sum((r - r.mean(axis=0)) ** 2) / (3 * 7)
        assert pytest.approx(between / within) == friedman_test(-r).F

    def test_equal_methods_have_p_value_1(self):
        found = friedman_test(np.ones((5, 3)))
        assert (found.chi2, found.chi2_p_value, found.F, found.F_p_value) == (0, 1, 0, 1)
        assert found.mean_ranks.tolist() == [2, 2, 2]

    def test_p_value_is_bounded_if_all_data_sets_agree(self):
        found = friedman_test(np.tile([3.0, 2.0, 1.0], (5, 1)))
        assert found.chi2 == pytest.approx(10)
        assert np.isinf(found.F)
        assert found.F_p_value == pytest.approx(6.0**-4)  # the other four data sets agree with the first

    def test_ranks_are_reversed_if_lower_is_better(self):
        assert friedman_test(DEMSAR, higher_is_better=False).mean_ranks == pytest.approx(
            5 - friedman_test(DEMSAR).mean_ranks
        )

    def test_missing_values_are_refused_or_their_data_sets_dropped(self):
        values = DEMSAR.copy()
        values[3, 1] = np.nan
        with pytest.raises(
            ValueError, match=r"got NaN for method 1 on data set 3 \(1 missing in all\); missing='drop'"
        ):
            friedman_test(values)
        dropped = friedman_test(values, missing="drop")
        assert dropped.n_datasets == 13
        assert dropped.chi2 == friedman_test(np.delete(DEMSAR, 3, axis=0)).chi2


class TestNemenyi:
    @pytest.mark.parametrize("alpha", DEMSAR_Q)
    def test_critical_values_are_those_of_demsars_table(self, alpha):
        for k, q in enumerate(DEMSAR_Q[alpha], start=2):
            assert critical_difference(k, 30, alpha) / np.sqrt(k * (k + 1) / 180) == pytest.approx(q, abs=1.1e-3)

    def test_differences_in_demsars_example_are_his(self):
        # at 5 % nothing differs; at 10 % C4.5 is worse than C4.5+m and C4.5+m+cf
        assert critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
        assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)
        p = nemenyi_p_values(DEMSAR_RANKS, 14)
        assert np.all(p > 0.05)
        assert np.argwhere(np.triu(p < 0.10)).tolist() == [[0, 1], [0, 3]]

    @pytest.mark.parametrize("k", [2, 4, 12, 20])
    def test_p_value_at_the_critical_difference_is_alpha(self, k):
        R = np.full(k, (k + 1) / 2)
        apart = critical_difference(k, 50, 0.05)
        R[0], R[-1] = R[0] - apart / 2, R[-1] + apart / 2
        assert nemenyi_p_values(R, 50)[0, -1] == pytest.approx(0.05, rel=1e-6)

    def test_p_value_of_two_methods_is_that_of_a_normal_test(self):
        z = 0.4 / np.sqrt(2 * 3 / (6 * 20))
        assert nemenyi_p_values([1.3, 1.7], 20)[0, 1] == pytest.approx(2 * stats.norm.sf(z))

    def test_p_values_are_symmetric_with_ones_on_the_diagonal(self):
        p = nemenyi_p_values([1.5, 1.5, 3.0], 8)
        np.testing.assert_array_equal(p, p.T)
        assert np.diag(p).tolist() == [1, 1, 1]
        assert p[0, 1] == 1

    def test_family_wise_error_rate_by_simulation_is_near_alpha(self):
        rng = np.random.default_rng(0)
        apart = critical_difference(5, 10)
        ranges = np.ptp(stats.rankdata(rng.random((3000, 10, 5)), axis=2).mean(axis=1), axis=1)
        assert np.mean(ranges >= apart) == pytest.approx(0.045, abs=0.015)  # somewhat conservative with 10 data sets


class TestValues:
    def test_mean_over_splits_is_nan_where_a_job_failed(self):
        values = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
        np.testing.assert_allclose(mean_over_splits(values), values.mean(axis=(2, 3)))
        values[1, 2, 0, 0] = np.nan
        assert np.isnan(mean_over_splits(values)).sum() == 1

    def test_inputs_are_not_modified(self):
        values = np.random.default_rng(1).normal(size=(6, 3, 20))
        values.flags.writeable = False
        paper_procedure(values)
        compare_on_datasets(values, n_train=2, n_test=1)
        compare_with(values[:, :, 0])
        friedman_test(values[:, :, 0])
        holm(values[0, 0] ** 2 / 100)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: t_test([1], [1, 2]), "first must hold at least 2 values that are not NaN, got 1"),
            (lambda: t_test([1, 2], [1, np.inf]), "second must be finite or NaN"),
            (lambda: t_test([1, 2], ["a", "b"]), "could not convert string to float"),
            (lambda: wilcoxon_test([1, 2], [1, 2, 3]), "first and second must be paired, got 2 and 3 values"),
            (lambda: wilcoxon_test([np.nan], [1]), "must have 1 pairs or more without NaN, got 0"),
            (lambda: wilcoxon_test([], []), "must have 1 pairs or more without NaN, got 0"),
            (lambda: corrected_t_test([1, 2], [1, 2], n_train=0, n_test=1), "n_train must be a number > 0, got 0"),
            (
                lambda: corrected_t_test([1, 2], [1, 3], n_train=1, n_test=1, confidence=95),
                "confidence must be a number strictly between 0 and 1, got 95",
            ),
            (
                lambda: paper_procedure(np.ones((2, 3))),
                r"shape \(data sets, methods, splits\[, sizes\]\), got \(2, 3\)",
            ),
            (lambda: paper_procedure(np.ones((2, 3, 0))), r"got \(2, 3, 0\)"),
            (lambda: compare_on_datasets(np.ones((2, 3, 4, 0)), n_train=2, n_test=1), r"got \(2, 3, 4, 0\)"),
            (
                lambda: compare_on_datasets(np.ones((2, 3, 4)), n_train=[2, 2, 2], n_test=1),
                r"n_train must be one number or one per data set \(2\), got the shape \(3,\)",
            ),
            (lambda: paper_procedure(np.ones((2, 3, 4)), 3), "reference must be the index of one of 3 methods, got 3"),
            (lambda: paper_procedure(np.ones((2, 3, 4)), -1), "reference must be an integer >= 0, got -1"),
            (lambda: paper_procedure(np.ones((2, 3, 4)), chance=2), "p must be a number from 0 to 1, got 2"),
            (lambda: binomial_tail(0, 1, 0.5), "n_trials must be an integer >= 1, got 0"),
            (lambda: compare_with(np.ones(3)), r"values must have 2 dimensions, got an array of shape \(3,\)"),
            (lambda: friedman_test(np.ones((1, 3))), r"at least 2 methods and 2 complete data sets, got 3 and 1"),
            (
                lambda: friedman_test(np.ones((3, 3)), missing="ignore"),
                "missing must be 'refuse' or 'drop', got 'ignore'",
            ),
            (lambda: friedman_from_ranks([1, 2, 4], 5), "mean_ranks of 3 methods must lie between 1 and 3"),
            (lambda: friedman_from_ranks([1, 1, 1], 5), "and have the mean 2, got 1 to 1 with the mean 1"),
            (lambda: critical_difference(1, 5), "n_methods must be an integer >= 2, got 1"),
            (lambda: critical_difference(3, 5, 0), "alpha must be a number strictly between 0 and 1, got 0"),
            (lambda: mean_over_splits(np.ones((2, 3))), r"shape \(data sets, methods, splits, ...\), got \(2, 3\)"),
            (lambda: complete_datasets(np.full((3, 2), np.nan), "drop"), "complete data sets, got 2 and 0"),
        ],
    )
    def test_invalid_arguments_are_refused(self, call, message):
        with pytest.raises(ValueError, match=message):
            call()


def test_two_data_sets_that_agree_have_p_value_one_half():
    found = friedman_test([[0.9, 0.8], [0.7, 0.6]])
    assert np.isinf(found.F)
    assert found.F_p_value == 0.5  # the second data set agrees with the first in one of two cases
