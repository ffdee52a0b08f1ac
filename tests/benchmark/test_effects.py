"""Effect sizes: hand-worked numbers, scipy's bootstrap, coverage, limits."""

from math import gamma

import numpy as np
import pytest
from scipy import stats

from ilfs.benchmark.significance import paired_effects
from ilfs.benchmark.significance.effects import hedges_correction


def test_effect_sizes_match_values_computed_by_hand():
    # differences 0.1, 0, 0.2, 0.1, 0.1: deviation sqrt(0.02 / 4), correction 1 - 3/15
    effects = paired_effects([0.9, 0.8, 0.9, 0.7, 0.8], [0.8, 0.8, 0.7, 0.6, 0.7])
    assert effects.mean.value == pytest.approx(0.1)
    assert effects.standardised.value == pytest.approx(0.8 * np.sqrt(2))
    assert effects.superiority.value == pytest.approx(0.9)
    assert effects.n_pairs == 5


def test_hedges_correction_is_within_one_per_cent_of_the_exact_one():
    for n in (4, 8, 20):
        degrees = n - 1
        exact = gamma(degrees / 2) / gamma((degrees - 1) / 2) / np.sqrt(degrees / 2)
        assert hedges_correction(n) == pytest.approx(exact, rel=0.01)


def test_mean_interval_is_scipys():
    d = np.random.default_rng(0).gamma(2, size=25)
    effects = paired_effects(d, np.zeros(25), n_resamples=20_000)
    expected = stats.bootstrap((d,), np.mean, n_resamples=20_000, method="BCa", random_state=1).confidence_interval
    assert (effects.mean.low, effects.mean.high) == pytest.approx((expected.low, expected.high), rel=0.02)


def test_standardised_interval_is_scipys():
    d = np.random.default_rng(1).gamma(2, size=25)

    def g(x, axis):
        return x.mean(axis=axis) / x.std(axis=axis, ddof=1) * hedges_correction(25)

    effects = paired_effects(d, np.zeros(25), n_resamples=20_000)
    expected = stats.bootstrap((d,), g, n_resamples=20_000, method="BCa", random_state=1).confidence_interval
    found = effects.standardised
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=0.03)


def test_intervals_have_their_nominal_coverage():
    rng = np.random.default_rng(2)
    covered, n = np.zeros(3), 300
    truth = 0.5, 0.5, stats.norm.cdf(0.5)
    for _ in range(n):
        effects = paired_effects(rng.normal(0.5, size=30), np.zeros(30), n_resamples=500)
        estimates = effects.mean, effects.standardised, effects.superiority
        covered += [one.low <= true <= one.high for one, true in zip(estimates, truth, strict=True)]
    assert np.all((covered / n > 0.89) & (covered / n <= 0.98))


def test_swapping_the_methods_mirrors_the_effects():
    a, b = np.random.default_rng(3).normal(size=(2, 12))
    there, back = paired_effects(a, b), paired_effects(b, a)
    assert there.mean.value == -back.mean.value
    assert there.mean.low == pytest.approx(-back.mean.high, rel=0.05)
    assert there.superiority.value == pytest.approx(1 - back.superiority.value)


def test_the_seed_determines_the_intervals():
    a, b = np.random.default_rng(4).normal(size=(2, 12))
    assert paired_effects(a, b, seed=3) == paired_effects(a, b, seed=3)
    assert paired_effects(a, b, seed=3) != paired_effects(a, b, seed=4)


def test_without_a_difference_all_intervals_are_points():
    effects = paired_effects([0.5] * 8, [0.5] * 8)
    for one, value in ((effects.mean, 0), (effects.standardised, 0), (effects.superiority, 0.5)):
        assert (one.value, one.low, one.high) == (value, value, value)


def test_a_difference_that_never_varies_has_intervals_that_are_points():
    effects = paired_effects([0.25] * 8, [0.5] * 8)
    for one, value in ((effects.mean, -0.25), (effects.standardised, -np.inf), (effects.superiority, 0)):
        assert (one.value, one.low, one.high) == (value, value, value)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_intervals_of_few_pairs_contain_the_estimate(n):
    # some resamples draw one pair only and have no spread
    effects = paired_effects(np.arange(n) + 1.0, np.zeros(n))
    for one in (effects.mean, effects.standardised, effects.superiority):
        assert one.low <= one.value <= one.high


def test_missing_pairs_are_left_out():
    a, b = np.random.default_rng(5).normal(size=(2, 9))
    assert paired_effects(np.r_[a, np.nan, 1], np.r_[b, 1, np.nan]) == paired_effects(a, b)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"first": [1, 2]}, "first and second must be paired, got 2 and 4 values"),
        ({"first": [1, np.nan, np.nan, 2]}, "must have 3 pairs or more without NaN, got 2"),
        ({"confidence": 95}, "confidence must be a number strictly between 0 and 1, got 95"),
        ({"n_resamples": 0}, "n_resamples must be an integer >= 1, got 0"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        paired_effects(**{"first": [1, 2, 3, 4], "second": [1, 2, 3, 5], **arguments})
