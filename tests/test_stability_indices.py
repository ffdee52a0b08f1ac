"""Stability: hand-worked numbers, brute force over pairs and columns, theorems, simulation."""

import tracemalloc
from itertools import combinations, permutations

import numpy as np
import pytest

from ilfs.stability_indices import (
    StabilityIndex,
    chance_of_replacement,
    family_stability,
    kuncheva_index,
    nogueira_stability,
    stability_by_size,
)


def random_subsets(rng, n_subsets, n_features, sizes):
    return [rng.choice(n_features, size=rng.choice(sizes), replace=False) for _ in range(n_subsets)]


def chosen_table(subsets, n_features):
    table = np.zeros((len(subsets), n_features))
    for row, subset in zip(table, subsets, strict=True):
        row[subset] = 1
    return table


def brute_force(subsets, n_features):
    """Nogueira's value and variance from the splits x features table, symbol by symbol."""
    Z = chosen_table(subsets, n_features)
    M, d = Z.shape
    k, p = Z.sum(axis=1), Z.mean(axis=0)
    q = k.mean() / d
    value = 1 - Z.var(axis=0, ddof=1).mean() / (q * (1 - q))
    phi = [
        (np.mean(Z[i] * p) - k[i] / d * q + value / 2 * (2 * q * k[i] / d - k[i] / d - q + 1)) / (q * (1 - q))
        for i in range(M)
    ]
    return value, 4 / M**2 * np.sum((phi - np.mean(phi)) ** 2)


def test_kuncheva_index_matches_a_value_computed_by_hand():
    # intersections 2, 1, 1 of k = 3 of d = 10: (r - 0.9) / 2.1 each
    subsets = [[0, 1, 2], [1, 2, 3], [2, 4, 5]]
    assert kuncheva_index(subsets, 10) == pytest.approx((1.1 + 0.1 + 0.1) / 3 / 2.1)


def test_kuncheva_is_the_mean_over_pairs():
    rng = np.random.default_rng(0)
    subsets, d, k = random_subsets(rng, 7, 30, [8]), 30, 8
    pairs = [(np.intersect1d(a, b).size * d - k**2) / (k * (d - k)) for a, b in combinations(subsets, 2)]
    assert kuncheva_index(subsets, d) == pytest.approx(np.mean(pairs))


def test_kuncheva_is_lowest_for_disjoint_halves():
    assert kuncheva_index([[0, 1], [2, 3]], 4) == pytest.approx(-1)


@pytest.mark.parametrize("sizes", [[5], [2, 5, 9], [1, 29]])
def test_nogueira_stability_matches_its_formula_on_the_whole_table(sizes):
    rng = np.random.default_rng(1)
    for _ in range(5):
        subsets = random_subsets(rng, 6, 30, sizes)
        found = nogueira_stability(subsets, 30)
        assert (found.value, found.variance) == pytest.approx(brute_force(subsets, 30))


def test_nogueira_is_kuncheva_for_one_size():
    rng = np.random.default_rng(2)
    for size in (1, 7, 19):
        subsets = random_subsets(rng, 5, 20, [size])
        assert nogueira_stability(subsets, 20).value == pytest.approx(kuncheva_index(subsets, 20))


def test_same_choice_everywhere_is_1():
    subsets = [[4, 1, 7], [7, 4, 1], [1, 4, 7]]
    assert kuncheva_index(subsets, 9) == pytest.approx(1)
    found = nogueira_stability(subsets, 9)
    assert found.value == pytest.approx(1)
    assert found.variance == pytest.approx(0, abs=1e-30)
    assert found.interval() == pytest.approx((1, 1))


def test_random_choices_are_about_0():
    rng = np.random.default_rng(3)
    values = [nogueira_stability(random_subsets(rng, 20, 200, [10, 20]), 200).value for _ in range(50)]
    assert np.mean(values) == pytest.approx(0, abs=3 * np.std(values) / np.sqrt(50))
    indices = [kuncheva_index(random_subsets(rng, 20, 200, [20]), 200) for _ in range(50)]
    assert np.mean(indices) == pytest.approx(0, abs=3 * np.std(indices) / np.sqrt(50))


def test_interval_covers():
    # each feature is chosen by its own probability: the limit of the measure is known
    rng = np.random.default_rng(4)
    p = np.concatenate([np.full(5, 0.9), np.full(45, 0.05)])
    q = p.mean()
    truth = 1 - np.mean(p * (1 - p)) / (q * (1 - q))
    found = [nogueira_stability([np.flatnonzero(rng.random(50) < p) for _ in range(40)], 50) for _ in range(400)]
    covered = np.mean([low <= truth <= high for low, high in (one.interval() for one in found)])
    assert 0.90 <= covered <= 0.98


def test_order_and_names_of_features_do_not_matter():
    rng = np.random.default_rng(5)
    subsets = random_subsets(rng, 6, 40, [4, 12])
    renamed = rng.permutation(40)
    again = [rng.permutation(renamed[one]) for one in reversed(subsets)]
    before, after = nogueira_stability(subsets, 40), nogueira_stability(again, 40)
    assert (after.value, after.variance) == pytest.approx((before.value, before.variance))


def test_interval_is_cut_at_1_and_widens():
    wide, narrow = StabilityIndex(0.95, 0.01).interval(0.99), StabilityIndex(0.95, 0.01).interval(0.5)
    assert wide[1] == 1
    assert wide[0] < narrow[0]
    with pytest.raises(ValueError, match="confidence must be a number strictly between 0 and 1, got 1"):
        StabilityIndex(0.5, 0.1).interval(1)


def test_stability_by_size_uses_the_best_features_of_each_order():
    rng = np.random.default_rng(6)
    orders = [rng.permutation(30) for _ in range(5)]
    for size, found in zip((3, 10), stability_by_size(orders, (3, 10), 30), strict=True):
        assert found.value == pytest.approx(kuncheva_index([order[:size] for order in orders], 30))


@pytest.mark.parametrize("subset", [[], [0, 1, 2]])
def test_without_a_choice_there_is_no_stability(subset):
    assert np.isnan(kuncheva_index([subset, subset], 3))
    assert np.isnan(nogueira_stability([subset, subset], 3).value)
    assert np.isnan(nogueira_stability([subset, subset], 3).interval()).all()


def test_some_subsets_may_be_empty():
    assert nogueira_stability([[], [0, 1], [0, 1]], 5).value == pytest.approx(brute_force([[], [0, 1], [0, 1]], 5)[0])


def test_memory_does_not_grow_with_splits_times_features():
    rng = np.random.default_rng(7)
    subsets = random_subsets(rng, 20, 100_000, [200])
    tracemalloc.start()
    kuncheva_index(subsets, 100_000)
    nogueira_stability(subsets, 100_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6  # a table of bytes alone would have 2e6, of floats 16e6


@pytest.mark.parametrize(
    ("subsets", "n_features", "message"),
    [
        ([[0, 1]], 4, "stability needs the subsets of at least 2 splits, got 1"),
        ([[0, 1], [1, 4]], 4, "indices from 0 to 3, got 4 in subset 1"),
        ([[0, -1], [1, 2]], 4, "indices from 0 to 3, got -1 in subset 0"),
        ([[0, 1], [2, 2]], 4, "every feature once, got 2 again in subset 1"),
        ([[0.0, 1.0], [1.0, 2.0]], 4, "arrays of column indices, got float64"),
        ([[True, False], [True, True]], 2, "arrays of column indices, got bool"),
        ([[0], [1]], 0, "n_features must be an integer >= 1, got 0"),
    ],
)
def test_invalid_subsets_are_refused(subsets, n_features, message):
    for measure in (kuncheva_index, nogueira_stability):
        with pytest.raises(ValueError, match=message):
            measure(subsets, n_features)


def test_invalid_sizes_are_refused():
    with pytest.raises(ValueError, match="subsets of one size, got sizes 1 to 2"):
        kuncheva_index([[0, 1], [1]], 4)
    with pytest.raises(ValueError, match="sizes must be at most 2, the length of the shortest order, got 3"):
        stability_by_size([[0, 1, 2], [1, 0]], [1, 3], 4)
    with pytest.raises(ValueError, match="sizes must be an integer >= 1, got 0"):
        stability_by_size([[0, 1, 2], [1, 0]], [0], 4)


def random_relations(rng, n_features, rate):
    related = np.triu(rng.random((n_features, n_features)) < rate, 1)
    return related | related.T | np.eye(n_features, dtype=bool)


def family_brute_force(subsets, related):
    """Means over ordered pairs, pair by pair and feature by feature, and over all sets of the same size."""
    k = len(subsets[0])
    replaced = [
        np.mean([any(related[f, g] for g in subsets[b]) for f in subsets[a]])
        for a, b in permutations(range(len(subsets)), 2)
    ]
    sets = list(combinations(range(len(related)), k))
    by_chance = np.mean([[related[f, list(one)].any() for one in sets] for a in subsets for f in a])
    return (np.mean(replaced) - by_chance) / (1 - by_chance)


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_family_stability_matches_brute_force(rate):
    rng = np.random.default_rng(8)
    subsets, related = random_subsets(rng, 6, 12, [4]), random_relations(rng, 12, rate)
    used = np.unique(np.concatenate(subsets))
    n_related = related.sum(axis=1)[used] - 1
    found = family_stability(subsets, 12, used, related[np.ix_(used, used)], n_related)
    assert found.value == pytest.approx(family_brute_force(subsets, related))


def test_family_stability_matches_a_value_computed_by_hand():
    # {0, 1}, {0, 2}, {0, 3} of 4 features; 2 and 3 are related. Replaced: 1/2 in the four pairs with the first set, all
    # in the two others. Of the 6 sets, 3 hold feature 0 (or 1), and 5 hold 2 or 3.
    related = np.eye(4, dtype=bool)
    related[2, 3] = related[3, 2] = True
    replaced, by_chance = (4 * 0.5 + 2 * 1.0) / 6, (4 * 3 / 6 + 2 * 5 / 6) / 6
    found = family_stability([[0, 1], [0, 2], [0, 3]], 4, np.arange(4), related, [0, 0, 1, 1])
    assert found.value == pytest.approx((replaced - by_chance) / (1 - by_chance))
    assert (found.chosen_again, found.by_chance) == pytest.approx((replaced, by_chance))


def test_without_related_features_it_is_kunchevas_index():
    rng = np.random.default_rng(9)
    subsets = random_subsets(rng, 8, 30, [6])
    assert family_stability(subsets, 30).value == pytest.approx(kuncheva_index(subsets, 30))
    assert chance_of_replacement(np.zeros(30), 6, 30) == pytest.approx(np.full(30, 6 / 30))


def test_random_choices_of_related_features_are_about_0():
    rng = np.random.default_rng(10)
    related = random_relations(rng, 60, 0.02)
    n_related = related.sum(axis=1) - 1
    values = [
        family_stability(random_subsets(rng, 20, 60, [8]), 60, np.arange(60), related, n_related).value
        for _ in range(200)
    ]
    assert np.mean(values) == pytest.approx(0, abs=3 * np.std(values) / np.sqrt(200))
    assert np.std(values) < 0.05


def test_chance_of_a_replacement_is_the_fraction_of_all_sets():
    sets = [set(one) for one in combinations(range(6), 2)]
    expected = [np.mean([bool(one & set(range(n + 1))) for one in sets]) for n in range(6)]
    assert chance_of_replacement(np.arange(6), 2, 6) == pytest.approx(expected)
    assert np.isnan(family_stability([[0], [1], [2]], 6, [0, 1, 2], np.ones((3, 3), dtype=bool), [5, 5, 5]).value)


def test_jackknife_is_that_of_left_out_units():
    rng = np.random.default_rng(11)
    subsets = random_subsets(rng, 8, 30, [6])
    without = [kuncheva_index(subsets[: 2 * i] + subsets[2 * i + 2 :], 30) for i in range(4)]
    expected = 3 / 4 * np.sum((without - np.mean(without)) ** 2)
    assert family_stability(subsets, 30, jackknife_size=2).variance == pytest.approx(expected)
    assert np.isnan(family_stability(subsets[:2], 30).variance)


def test_jackknife_agrees_with_nogueiras_variance_for_many_splits():
    rng = np.random.default_rng(12)
    weight = np.concatenate([np.full(5, 20.0), np.ones(45)])
    subsets = [rng.choice(50, 6, replace=False, p=weight / weight.sum()) for _ in range(200)]
    found = family_stability(subsets, 50).variance
    assert found == pytest.approx(nogueira_stability(subsets, 50).variance, rel=0.05)


def test_family_stability_refuses_different_sizes():
    with pytest.raises(ValueError, match="family_stability needs subsets of one size, got sizes 1 to 2"):
        family_stability([[0, 1], [1]], 4)
