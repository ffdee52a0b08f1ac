from itertools import combinations

import numpy as np
import pytest
from brute_pairs import all_bits, all_sets, statistic_of

from ilfs.execution import LabelledRows
from ilfs.interactions.bits import PackedBits
from ilfs.interactions.pairs import count_pairs, screen_all_pairs
from ilfs.interactions.triples import level_bits, screen_all_triples
from ilfs.sources import table_source


def table(rng, kind, shape=(90, 9)):
    X = rng.normal(size=shape)
    if kind == "ties":
        X = np.round(X)
    if kind == "sparse":
        X = np.where(rng.random(shape) < 0.8, 0.0, np.abs(np.round(2 * X)))
    if kind == "missing":
        X[rng.random(shape) < np.linspace(0, 0.4, shape[1])] = np.nan
    return X


def packed(X, y):
    return PackedBits.from_rows(LabelledRows.from_source(table_source(X, y), missing=True))


def assert_expected(bits, found, expected, least, also=None):
    """Found are all sets whose statistic by definition is at least the threshold, with this statistic and its effects.

    Iterative proportional fitting approaches zeros of the fitted counts slowly, hence the tolerance.
    """
    found_sets = dict(zip((set_key(bits, some) for some in found.sets), found.values, strict=True))
    assert len(found_sets) == len(found.sets) > 5
    for key, (value, effect) in expected.items():
        least_of_all = value if also is None else min(value, also[key[0]])
        if abs(least_of_all - least) > 2e-3:
            assert (key in found_sets) == (least_of_all >= least), key
        if key in found_sets:
            np.testing.assert_allclose(found_sets[key][0], value, rtol=1e-4, atol=2e-3)
            np.testing.assert_allclose(found_sets[key][1:], effect, atol=1e-3)


@pytest.mark.parametrize("kind", ["continuous", "ties", "sparse", "missing"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_all_pairs_have_the_statistics_of_least_squares_and_proportional_fitting(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    X, y, least = table(rng, kind), rng.integers(0, n_classes, 90), 0.05
    expected, bits = all_sets(X, y, 2), packed(X, y)
    assert count_pairs(bits) == len(expected)
    assert_expected(bits, screen_all_pairs(bits, least), expected, least)


@pytest.mark.parametrize("kind", ["continuous", "ties", "sparse", "missing"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_all_triples_have_the_statistics_of_least_squares_and_proportional_fitting(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    X, y, least = table(rng, kind), rng.integers(0, n_classes, 90), 0.2
    bits = level_bits(packed(X, y))
    found = screen_all_triples(bits, least)
    assert_expected(bits, found, all_sets(X, y, 3, kinds=(0,)), least, product_statistics(X, y))


def product_statistics(X, y):
    """Statistic of the product of each three level bits alone."""
    bits = all_bits(X, kinds=(0,))
    return {
        tuple(bit[0] for bit in some): statistic_of(np.prod([bit[2] for bit in some], axis=0), [], y)
        for some in combinations(bits, 3)
    }


def set_key(bits, some):
    """Columns and kinds of a set of bits, by column."""
    places = sorted(some, key=lambda bit: bits.columns[bit])
    return tuple(bits.columns[places].tolist()), tuple(bits.kinds[places].tolist())
