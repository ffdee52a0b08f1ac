"""Power of the search: closed forms, and how often a planted pair is found."""

import numpy as np
import pytest
from scipy import stats

from ilfs.interactions import find_interactions
from ilfs.interactions.power import Power, noncentrality_for


@pytest.mark.parametrize("degrees", [1, 3])
@pytest.mark.parametrize("power", [0.5, 0.8])
def test_the_noncentral_variable_exceeds_the_threshold_as_often_as_asked(degrees, power):
    found = noncentrality_for(30.0, degrees, power)
    assert stats.ncx2.sf(30.0, degrees, found) == pytest.approx(power, rel=1e-6)


def test_balanced_classes_by_hand():
    # f = 1/2, so r^2 = 4 e^2, and m = lambda / (4 e^2).
    found = Power.of_search(np.array(["a", "b"]), np.array([50, 50]), n_tests=10**6)
    assert found.smallest_excess == pytest.approx(np.sqrt(found.noncentrality / 400))
    assert found.samples_needed(0.5) == np.ceil(found.noncentrality)
    assert found.samples_needed(found.smallest_excess) in (100, 101)


def test_the_class_is_the_largest_with_at_most_half_of_the_samples():
    assert Power.of_search(np.array(["a", "b"]), np.array([70, 30]), 100).label == "b"
    assert Power.of_search(np.array(["a", "b", "c"]), np.array([20, 50, 30]), 100).label == "b"
    assert Power.of_search(np.array(["a", "b", "c"]), np.array([10, 60, 30]), 100).label == "c"


def test_more_tests_and_rarer_classes_need_more_samples():
    def needed(sizes, n_tests):
        return Power.of_search(np.array(["a", "b"]), np.array(sizes), n_tests).samples_needed(0.3)

    assert needed([50, 50], 10**4) < needed([50, 50], 10**8) < needed([90, 10], 10**8)


def test_the_condition_says_how_much_the_other_samples_avoid_the_pattern():
    # 30 of 120 samples: 1/2 - 0.3 * 0.25 / 0.75 = 0.4.
    quarter = Power.of_search(np.array(["a", "b"]), np.array([30, 90]), 100)
    assert quarter.condition(0.3) == (
        "at least 80 % of the samples of class a show its pattern, and at most 40 % of the others"
    )
    half = Power.of_search(np.array(["a", "b"]), np.array([30, 30]), 100)
    assert half.condition(0.5) == "all samples of class a show its pattern, and none of the others"


def planted_pair(rng, y, power):
    """Two features whose product of signs is +1 more often in one class, by the smallest excess that is found."""
    in_class = y == power.label
    excess = power.smallest_excess
    frequency = np.where(in_class, 0.5 + excess, 0.5 - excess * power.fraction / (1 - power.fraction))
    is_plus, first = rng.random(y.size) < frequency, np.empty(y.size)
    for value in (True, False):  # as many high as low values in both groups, so that the medians are 0
        rows = rng.permutation(np.flatnonzero(is_plus == value))
        first[rows] = np.where(np.arange(rows.size) % 2, 1.0, -1.0)
    second = np.where(is_plus, first, -first)
    return np.column_stack([first, second]) * (0.1 + rng.random((y.size, 2)))


@pytest.mark.parametrize("sizes", [(100, 100), (140, 60), (50, 50, 50)])
def test_a_planted_pair_is_found_about_as_often_as_said(sizes):
    rng, y = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes)
    power = Power.of_search(np.arange(len(sizes)), np.array(sizes), n_tests=4, alpha=1e-6)
    tables = [planted_pair(rng, y, power) for _ in range(100)]
    found = [find_interactions(X, y, alpha=1e-6).bits.tolist() for X in tables]
    assert 65 <= sum([0, 0, -1] in bits for bits in found) <= 95
