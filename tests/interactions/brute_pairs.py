"""Bits and statistics of sets by their definitions: ranks, least squares, iterative proportional fitting."""

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
    """Statistic of the product of some bits, beyond all products of fewer of them."""
    lower = [np.prod(some, axis=0) for size in range(1, len(signs)) for some in combinations(signs, size)]
    return statistic_of(np.prod(signs, axis=0), lower, y)


def statistic_of(product, lower, y):
    """Statistic of a product beyond some lower-order terms, where all values are present."""
    there, classes = ~np.isnan(product), np.unique(y)
    product, lower, y = product[there], [one[there] for one in lower], y[there]
    if is_near_copy(lower):
        return 0.0
    design = np.column_stack([np.ones(len(y)), *lower])
    residue = product - design @ np.linalg.lstsq(design, product, rcond=None)[0]
    sizes = np.array([(y == k).sum() for k in classes])
    means = np.array([residue[y == k].sum() for k in classes]) / np.maximum(sizes, 1)
    return (1 + SPREAD_PRIOR) * np.sum(sizes * means**2) / (np.mean(residue**2) + SPREAD_PRIOR)


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
    sets = [sorted(some, key=lambda bit: bit[0]) for some in combinations(all_bits(X, kinds), size)]
    sets = [some for some in sets if len({bit[0] for bit in some}) == size]
    additive = [partial_statistic([bit[2] for bit in some], y) for some in sets]
    odds, effects = equal_odds(np.array([count_table([bit[2] for bit in some], y) for some in sets]))
    keys = [(tuple(bit[0] for bit in some), tuple(bit[1] for bit in some)) for some in sets]
    return dict(zip(keys, zip(np.minimum(additive, odds), effects, strict=True), strict=True))


def count_table(signs, y):
    """Counts of the classes and of all combinations of some bits, -1 before +1, where all values are present."""
    there = ~np.isnan(np.sum(signs, axis=0))
    table = np.zeros((np.unique(y).size, *(2 for _ in signs)))
    places = [(sign[there] > 0).astype(int) for sign in signs]
    np.add.at(table, (np.unique(y, return_inverse=True)[1][there], *places), 1)
    return table


def equal_odds(tables, n_sweeps=3000):
    """Statistic and effects of many tables (sets x classes x 2 x 2 ...) under the model of equal odds ratios."""
    fitted = fit_margins(tables, n_sweeps)
    axes = tuple(range(1, tables.ndim))
    with np.errstate(divide="ignore", invalid="ignore"):
        pearson = np.where(fitted > 0, (tables - fitted) ** 2 / fitted, 0).sum(axis=axes)
        ratio = 2 * np.where(tables > 0, tables * np.log(tables / fitted), 0).sum(axis=axes)
    places = np.indices(tables.shape[2:]).sum(axis=0)
    is_plus = (tables.ndim - 2 - places) % 2 == 0
    excess = ((tables - fitted) * is_plus).sum(axis=axes[1:]) / np.maximum(tables.sum(axis=axes[1:]), 1)
    return np.minimum(pearson, ratio), excess


def fit_margins(tables, n_sweeps):
    """Iterative proportional fitting: scale ones until all sums over one of the variables are those of the tables."""
    fitted = np.ones_like(tables)
    for _ in range(n_sweeps):
        for axis in range(1, tables.ndim):
            present = fitted.sum(axis=axis, keepdims=True)
            fitted *= tables.sum(axis=axis, keepdims=True) / np.where(present > 0, present, 1.0)
    return fitted
