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


@pytest.mark.parametrize("kind", ["continuous", "ties", "sparse", "missing"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_statistics_and_effects_of_all_pairs_are_those_of_least_squares(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    X, y, least = table(rng, kind), rng.integers(0, n_classes, 90), 0.05
    expected, bits = all_sets(X, y, 2), packed(X, y)
    found = screen_all_pairs(bits, least)
    assert count_pairs(bits) == len(expected)
    keys = [set_key(bits, pair) for pair in found.sets]
    assert set(keys) == {key for key, (value, _) in expected.items() if value >= least}
    assert len(keys) == len(set(keys)) > 20
    for key, (value, *effect) in zip(keys, found.values, strict=True):
        np.testing.assert_allclose(value, expected[key][0], rtol=1e-9)
        np.testing.assert_allclose(effect, expected[key][1], atol=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "ties", "sparse", "missing"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_statistics_and_effects_of_all_triples_are_those_of_least_squares(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    X, y, least = table(rng, kind), rng.integers(0, n_classes, 90), 0.2
    bits = level_bits(packed(X, y))
    expected = all_sets(X, y, 3, kinds=(0,))
    found = screen_all_triples(bits, least)
    keys = [set_key(bits, triple) for triple in found.sets]
    alone = product_statistics(X, y)
    assert set(keys) == {key for key, (value, _) in expected.items() if min(value, alone[key[0]]) >= least}
    assert len(keys) == len(set(keys)) > 5
    for key, (value, *effect) in zip(keys, found.values, strict=True):
        np.testing.assert_allclose(value, expected[key][0], rtol=1e-9)
        np.testing.assert_allclose(effect, expected[key][1], atol=1e-12)


def product_statistics(X, y):
    """Statistic of the product of each three level bits alone."""
    bits = all_bits(X, kinds=(0,))
    return {
        tuple(bit[0] for bit in some): statistic_of(np.prod([bit[2] for bit in some], axis=0), [], y)[0]
        for some in combinations(bits, 3)
    }


def set_key(bits, some):
    """Columns and kinds of a set of bits, by column."""
    places = sorted(some, key=lambda bit: bits.columns[bit])
    return tuple(bits.columns[places].tolist()), tuple(bits.kinds[places].tolist())
