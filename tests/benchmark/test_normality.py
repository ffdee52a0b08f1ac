"""Lilliefors's test against published critical values, scipy's distance, and simulation."""

import numpy as np
import pytest
from scipy import stats

from ilfs.benchmark.significance.normality import QUANTILES, lilliefors, p_value_of_distance

P_VALUE_LEVELS = (0.20, 0.15, 0.10, 0.05, 0.01)
# Molin and Abdi 1998, from 100,000 samples of each size
MOLIN_ABDI = {
    5: (0.2893, 0.3027, 0.3188, 0.3427, 0.3959),
    10: (0.2171, 0.2273, 0.2410, 0.2616, 0.3037),
    20: (0.1589, 0.1666, 0.1764, 0.1920, 0.2226),
    25: (0.1429, 0.1498, 0.1589, 0.1726, 0.2010),
    30: (0.1315, 0.1378, 0.1460, 0.1590, 0.1848),
    40: (0.1147, 0.1204, 0.1275, 0.1386, 0.1616),
}
# Lilliefors 1967, from 1000 samples of each size; 0.405 (5, 1 %) and 0.231 (20, 1 %) are known to be too large
LILLIEFORS = {
    4: (0.300, 0.319, 0.352, 0.381, 0.417),
    5: (0.285, 0.299, 0.315, 0.337, 0.405),
    10: (0.215, 0.224, 0.239, 0.258, 0.294),
    20: (0.160, 0.166, 0.174, 0.190, 0.231),
    30: (0.131, 0.136, 0.144, 0.161, 0.187),
}
# Stephens 1974: of D (sqrt(n) - 0.01 + 0.85 / sqrt(n)) for any n
STEPHENS = {0.15: 0.775, 0.10: 0.819, 0.05: 0.895, 0.025: 0.955, 0.01: 1.035}


@pytest.mark.parametrize("n", MOLIN_ABDI)
def test_critical_values_match_those_of_molin_and_abdi(n):
    for level, D in zip(P_VALUE_LEVELS, MOLIN_ABDI[n], strict=True):
        assert p_value_of_distance(D, n) == pytest.approx(level, rel=0.06)


@pytest.mark.parametrize("n", LILLIEFORS)
def test_critical_values_match_those_of_lilliefors(n):
    for level, D in zip(P_VALUE_LEVELS, LILLIEFORS[n], strict=True):
        assert p_value_of_distance(D, n) == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize("n", [10, 20, 60])
def test_critical_values_match_those_of_stephens(n):
    for level, z in STEPHENS.items():
        D = z / (np.sqrt(n) - 0.01 + 0.85 / np.sqrt(n))
        assert p_value_of_distance(D, n) == pytest.approx(level, rel=0.1)


@pytest.mark.parametrize("n", [4, 13, 100])
def test_p_values_of_normal_samples_are_uniform(n):
    rng = np.random.default_rng(n)
    p = [lilliefors(sample).p_value for sample in rng.normal(3, 7, (1000, n))]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("n", [20, 100])
def test_skewed_samples_are_found(n):
    rng = np.random.default_rng(n)
    found = np.mean([lilliefors(sample).p_value < 0.05 for sample in rng.exponential(size=(200, n))])
    assert found > {20: 0.5, 100: 0.99}[n]


def test_distance_is_scipys():
    rng = np.random.default_rng(0)
    for n in (4, 11, 100):
        x = rng.gamma(2, size=n)
        expected = stats.ks_1samp(x, stats.norm(x.mean(), x.std(ddof=1)).cdf).statistic
        assert lilliefors(x).statistic == pytest.approx(expected)


def test_distance_matches_a_value_computed_by_hand():
    # -1, 0, 0, 1 in units of their deviation sqrt(2/3): the step at 0 reaches 3/4, where the fitted is 1/2
    outcome = lilliefors([4, 3, 5, 4])
    assert outcome.statistic == pytest.approx(0.25)
    assert 0.5 < outcome.p_value < 0.7


def test_location_scale_and_order_do_not_matter():
    x = np.random.default_rng(1).gamma(3, size=20)
    expected = lilliefors(x)
    for again in (x[::-1], 100 - 7 * x, x * 1e-3 + 5):
        outcome = lilliefors(again)
        assert (outcome.statistic, outcome.p_value) == pytest.approx((expected.statistic, expected.p_value))


def test_p_value_falls_with_distance_for_any_size():
    for n in (*QUANTILES, 9, 33, 777, 5000):
        distances = np.linspace(0, 1.6 / np.sqrt(n), 200)
        p = np.array([p_value_of_distance(D, n) for D in distances])
        assert p[0] == 1
        assert np.all(np.diff(p) < 0)
        assert p[-1] > 0


def test_missing_values_are_left_out():
    assert lilliefors([1, 2, np.nan, 4, 8]) == lilliefors([1, 2, 4, 8])


@pytest.mark.parametrize("x", [np.ones(20), np.full(20, 0.1) + 1e-17, np.r_[np.full(19, 0.3), 0.1 + 0.2]])
def test_equal_values_have_no_distance(x):
    outcome = lilliefors(x)
    assert np.isnan([outcome.statistic, outcome.p_value]).all()


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1, 2, 3], "sample must hold at least 4 values that are not NaN, got 3"),
        ([1, 2, 3, np.nan], "sample must hold at least 4 values that are not NaN, got 3"),
        ([1, 2, 3, np.inf], "sample must be finite or NaN"),
        ([[1, 2], [3, 4]], r"sample must have 1 dimension, got an array of shape \(2, 2\)"),
    ],
)
def test_invalid_samples_are_refused(x, message):
    with pytest.raises(ValueError, match=message):
        lilliefors(x)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 7, 12, 50, 200])
def test_p_values_match_simulated_quantiles(n):
    rng = np.random.default_rng([9, n])
    x = np.sort(rng.normal(size=(10_000_000 // n, n)), axis=1)
    fitted = stats.norm.cdf((x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, ddof=1, keepdims=True))
    steps = np.arange(n + 1) / n
    D = np.maximum((steps[1:] - fitted).max(axis=1), (fitted - steps[:-1]).max(axis=1))
    for level in (0.7, 0.2, 0.05, 0.01):
        assert p_value_of_distance(np.quantile(D, 1 - level), n) == pytest.approx(level, rel=0.1)
