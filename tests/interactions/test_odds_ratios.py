"""Test of equal odds ratios: tables worked by hand, theorems on the fitted counts, and markers that do not interact."""

import numpy as np
import pytest
from brute_pairs import equal_odds

from ilfs.interactions import find_interactions, pairs
from ilfs.kernels import odds_ratios


def fitted(cells):
    """Statistic and fitted counts of a table, combinations of bits x classes."""
    cells = np.array(cells, dtype=float)
    sign = odds_ratios.cell_signs(len(cells).bit_length() - 1)
    shift, slope = np.empty((2, cells.shape[1]))
    with np.errstate(divide="ignore"):
        statistic = odds_ratios.equal_odds_statistic(cells, sign, shift, slope)
    return statistic, cells + sign[:, None] * shift


def test_perfect_xor_of_unequal_classes_by_hand():
    # Fitted counts of the first class are 18 - x, x, x, 18 - x, of the second x, 12 - x, 12 - x, x. Equal odds ratios:
    # (18 - x) / x = x / (12 - x), so 30 x = 216.
    statistic, counts = fitted([[18, 0], [0, 12], [0, 12], [18, 0]])
    np.testing.assert_allclose(counts, [[10.8, 7.2], [7.2, 4.8], [7.2, 4.8], [10.8, 7.2]])
    # Pearson: 7.2^2 (2 / 10.8 + 4 / 7.2 + 2 / 4.8) = 60, the number of samples. The likelihood ratio is 80.8.
    assert statistic == pytest.approx(60)


def test_parity_of_three_bits_by_hand():
    # Two samples for each combination of bits; the class is the number of ones, odd or even. All counts of 2 and 0
    # are fitted by 1, so Pearson's statistic is 16.
    parity = np.array([bin(u).count("1") % 2 for u in range(8)])
    statistic, counts = fitted(np.column_stack([2 * parity, 2 - 2 * parity]))
    np.testing.assert_allclose(counts, np.ones((8, 2)))
    assert statistic == pytest.approx(16)


@pytest.mark.parametrize(
    "cells",
    [
        [[8, 2], [4, 1], [4, 1], [8, 2]],  # both odds ratios are 4
        [[9, 30, 1], [3, 90, 5], [6, 10, 20], [2, 30, 100]],  # independent within each of three classes
        [[0, 0], [7, 2], [3, 9], [5, 5]],  # both odds ratios are 0
        [[5, 2], [0, 4], [7, 0], [1, 3]],  # both are infinite
        [[0, 7], [0, 3], [4, 6], [9, 1]],  # the first class has no odds ratio
        [[0, 7], [0, 3], [0, 6], [0, 1]],
    ],
)
def test_equal_odds_ratios_fit_exactly(cells):
    statistic, counts = fitted(cells)
    assert statistic == pytest.approx(0, abs=1e-20)
    np.testing.assert_allclose(counts, cells, atol=1e-9)


def test_one_sample_in_a_nearly_impossible_cell_is_no_proof():
    # Both bits are +1 in one sample of a class in which 0.001 samples are expected.
    statistic, counts = fitted([[10_000, 998], [10, 1], [10, 0], [0, 1]])
    pearson = np.sum((np.array([[10_000, 998], [10, 1], [10, 0], [0, 1]]) - counts) ** 2 / counts)
    assert counts[3, 1] < 0.5
    assert statistic < pearson


@pytest.mark.parametrize("n_bits", [2, 3])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_fitted_counts_have_the_margins_of_the_counts_and_one_odds_ratio(n_bits, n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(5):
        cells = 1 + rng.poisson(np.exp(3 * rng.random((2**n_bits, n_classes))))
        statistic, counts = fitted(cells)
        shape = (*(2 for _ in range(n_bits)), n_classes)
        for axis in range(n_bits + 1):
            np.testing.assert_allclose(counts.reshape(shape).sum(axis), cells.reshape(shape).sum(axis), rtol=1e-9)
        log_odds = odds_ratios.cell_signs(n_bits) @ np.log(counts)
        np.testing.assert_allclose(log_odds, log_odds[0], atol=1e-9)
        table = np.moveaxis(cells.reshape(shape), -1, 0)[None].astype(float)
        np.testing.assert_allclose(statistic, equal_odds(table)[0], rtol=1e-6)


def test_quadratic_equation_and_newton_give_the_same_shift():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 6, size=(4, 200)).astype(float)
    sign, shift = odds_ratios.cell_signs(2), np.empty(200)
    for log_odds in (-9.0, -1.0, 0.0, 0.5, 12.0):
        odds_ratios.shift_pairs(cells, np.exp(log_odds), shift)
        by_newton = [odds_ratios.shift_of_class(cells, sign, k, log_odds) for k in range(200)]
        np.testing.assert_allclose(shift, by_newton, atol=1e-9)


def markers(sizes, seed, n_markers=30):
    """Independent features; some of them are shifted by two standard deviations in one class each."""
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(y.size, 300))
    for j in range(n_markers):
        X[y == j % (len(sizes) if len(sizes) > 2 else 1), j] += 2
    return X, y


@pytest.mark.parametrize("sizes", [(31, 150), (100, 100, 100, 100), (40, 60, 100, 200)])
def test_strong_markers_that_are_independent_within_the_classes_are_no_pairs(sizes, monkeypatch):
    tables = [markers(sizes, seed) for seed in range(10, 15)]
    assert [find_interactions(X, y).n_significant for X, y in tables] == [0] * 5

    def all_of_them(bits, sets, statistic, threshold):
        return sets, np.column_stack([statistic, np.zeros((len(sets), len(sizes)))])

    monkeypatch.setattr(pairs, "keep_unequal_odds", all_of_them)  # without the second test, every table has pairs
    assert all(find_interactions(X, y).n_significant > 0 for X, y in tables)


def test_features_that_are_correlated_alike_in_both_classes_are_no_pairs():
    rng, y = np.random.default_rng(0), np.repeat([0, 1], [80, 320])
    X = np.round(rng.random((400, 40)))
    copied = rng.random((400, 20)) < 0.6
    X[:, 20:] = np.where(copied, X[:, :20], X[:, 20:])
    assert find_interactions(X, y).n_significant == 0
    X[y == 1, 20] = 1 - X[y == 1, 20]  # now the first pair has opposite odds ratios
    assert find_interactions(X, y).columns.tolist() == [[0, 20, -1]]


@pytest.mark.parametrize("sizes", [(31, 150), (60, 60, 61)])
def test_pairs_among_strong_markers_are_still_found(sizes):
    X, y = markers(sizes, seed=1)
    size = np.abs(X[:, 100])
    X[:, 200] = np.where((X[:, 100] > 0) == (y == 0), size, -size)  # equal signs in one class, opposite ones in others
    assert find_interactions(X, y).columns.tolist() == [[100, 200, -1]]
