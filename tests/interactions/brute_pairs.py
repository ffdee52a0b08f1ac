"""Bits and statistics of sets by their definitions: ranks of scipy, least squares of numpy, one set at a time."""

from itertools import combinations

import numpy as np
from scipy.stats import rankdata

MIN_RESIDUE, SPREAD_PRIOR = 1e-3, 0.5


def signs_of(column, kind):
    """Bits of a column as +1 and -1, NaN for a missing value."""
    there = ~np.isnan(column)
    rank = np.full(column.size, np.nan)
    rank[there] = (rankdata(column[there]) - 0.5) / there.sum()
    is_one = rank > 0.5 if kind == 0 else np.abs(rank - 0.5) > 0.25
    return np.where(there, np.where(is_one, 1.0, -1.0), np.nan)


def varies(signs):
    return min((signs == 1).sum(), (signs == -1).sum()) >= 2


def all_bits(X, kinds=(0, 1)):
    """Columns, kinds and signs of all bits that vary, without size bits that repeat the level bit."""
    bits = []
    for kind in kinds:
        for j in range(X.shape[1]):
            signs, level = signs_of(X[:, j], kind), signs_of(X[:, j], 0)
            there = ~np.isnan(signs)
            repeats = kind == 1 and varies(level) and abs(signs[there] @ level[there]) == there.sum()
            if varies(signs) and not repeats:
                bits.append((j, kind, signs))
    return bits


def partial_statistic(signs, y):
    """Statistic and class effects of the product of some bits, beyond all products of fewer of them."""
    lower = [np.prod(some, axis=0) for size in range(1, len(signs)) for some in combinations(signs, size)]
    return statistic_of(np.prod(signs, axis=0), lower, y)


def statistic_of(product, lower, y):
    """Statistic and class effects of a product beyond some lower-order terms, where all values are present."""
    there, classes = ~np.isnan(product), np.unique(y)
    product, lower, y = product[there], [one[there] for one in lower], y[there]
    if is_near_copy(lower):
        return 0.0, np.zeros(classes.size)
    design = np.column_stack([np.ones(len(y)), *lower])
    residue = product - design @ np.linalg.lstsq(design, product, rcond=None)[0]
    sizes = np.array([(y == k).sum() for k in classes])
    means = np.array([residue[y == k].sum() for k in classes]) / np.maximum(sizes, 1)
    return (1 + SPREAD_PRIOR) * np.sum(sizes * means**2) / (np.mean(residue**2) + SPREAD_PRIOR), means / 2


def is_near_copy(variables):
    """True if a variable is explained by those before it, up to a thousandth of its variance."""
    for place, values in enumerate(variables):
        before = np.column_stack([np.ones(len(values)), *variables[:place]])
        residue = values - before @ np.linalg.lstsq(before, values, rcond=None)[0]
        if np.mean(residue**2) <= MIN_RESIDUE * np.var(values) + 1e-12:
            return True
    return False


def all_sets(X, y, size, kinds=(0, 1)):
    """Statistic and effects of all sets of bits of different columns, by (columns, kinds)."""
    found = {}
    for some in combinations(all_bits(X, kinds), size):
        some = sorted(some, key=lambda bit: bit[0])
        columns = tuple(bit[0] for bit in some)
        if len(set(columns)) == size:
            key = columns, tuple(bit[1] for bit in some)
            found[key] = partial_statistic([bit[2] for bit in some], y)
    return found
