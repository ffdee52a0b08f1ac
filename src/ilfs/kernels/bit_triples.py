"""Screen of triples of bits; see `ilfs.kernels.bit_pairs` for the layout of the words.

The first stage computes the statistic of the product of three bits alone, which needs one count for each class. The
second stage computes, for the few triples that reach the threshold, the statistic beyond the bits and their pairs, from
the counts of all eight combinations of bits. A triple must reach the threshold in both.
"""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.bit_pairs import (
    CAPACITY,
    MIN_RESIDUE,
    SLACK,
    SPREAD_PRIOR,
    TILE_BITS,
    Words,
    count_unequal,
    with_room,
)
from ilfs.kernels.popcount import ones_in

N_COMBINATIONS = 8  # of three bits
N_TERMS = 7  # three bits, three products of two of them, and the product of all
VARIANCE_ROUNDING = 1e-12  # of variances of numbers +1 and -1


@kernel
def screen_triples(
    words: Words, present: Words, starts: Integers, total: Floats, i: int, n_complete: int, threshold: float
) -> tuple[Integers, Floats]:
    """Find the triples of bits i < j < k below n_complete whose statistic is at least the threshold.

    words and present are words x bits. Returns the triples (found x 3) and their statistics.
    """
    n_words, n_classes, m = words.shape[0], total.size, float(total.sum())
    product, counts = np.empty(n_words, np.uint64), np.empty((n_classes, TILE_BITS), np.int64)
    unequal, loss, marks = np.empty(TILE_BITS), np.empty(TILE_BITS), np.empty(TILE_BITS, np.int64)
    cells = np.empty((N_COMBINATIONS, n_classes))
    triples, values, n_found = np.empty((CAPACITY, 3), np.int64), np.empty(CAPACITY), 0
    limit = threshold * (1.0 - SLACK) / (m * (1.0 + SPREAD_PRIOR))
    for j in range(i + 1, n_complete):
        for w in range(n_words):
            product[w] = words[w, i] ^ words[w, j]
        for low in range(j + 1, n_complete, TILE_BITS):
            size = min(TILE_BITS, n_complete - low)
            count_unequal(product, words, starts, low, size, counts)
            if mark_products(size, counts, total, m, limit, unequal, loss, marks) == 0:
                continue
            for k in range(size):
                if marks[k] > 0:
                    count_combinations(words, present, starts, i, j, low + k, cells)
                    value = triple_statistic(cells)
                    if value >= threshold:
                        triples, values = with_room(triples, values, n_found)
                        put_triple(triples, values, n_found, i, j, low + k, value)
                        n_found += 1
    return triples[:n_found].copy(), values[:n_found].copy()


@kernel
def screen_incomplete_triples(
    words: Words, present: Words, starts: Integers, i: int, n_complete: int, threshold: float
) -> tuple[Integers, Floats]:
    """Find the triples i < j < k, n_complete <= k, over the samples in which all three values are present."""
    n_words, n_bits = words.shape
    n_classes = starts.size - 1
    product, there = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    unequal, total = np.empty(n_classes), np.empty(n_classes)
    cells = np.empty((N_COMBINATIONS, n_classes))
    triples, values, n_found = np.empty((CAPACITY, 3), np.int64), np.empty(CAPACITY), 0
    for j in range(i + 1, n_bits):
        for w in range(n_words):
            product[w], there[w] = words[w, i] ^ words[w, j], present[w, i] & present[w, j]
        for k in range(max(j + 1, n_complete), n_bits):
            count_present_products(product, there, words, present, starts, k, unequal, total)
            if product_statistic(unequal, total) >= threshold * (1.0 - SLACK):
                count_combinations(words, present, starts, i, j, k, cells)
                value = triple_statistic(cells)
                if value >= threshold:
                    triples, values = with_room(triples, values, n_found)
                    put_triple(triples, values, n_found, i, j, k, value)
                    n_found += 1
    return triples[:n_found].copy(), values[:n_found].copy()


@formula
def put_triple(triples: Integers, values: Floats, place: int, i: int, j: int, k: int, value: float) -> None:
    """Store a triple and its statistic."""
    triples[place, 0], triples[place, 1], triples[place, 2], values[place] = i, j, k, value


@formula
def mark_products(
    size: int,
    counts: Integers,
    total: Floats,
    m: float,
    limit: float,
    unequal: Floats,
    loss: Floats,
    marks: Integers,
) -> int:
    """Mark the products whose own statistic may reach the threshold; count them."""
    n_classes = total.size
    for j in range(size):
        unequal[j], loss[j] = counts[0, j], 0.0
    for k in range(1, n_classes):
        count = counts[k]
        for j in range(size):
            unequal[j] += count[j]
    for k in range(n_classes):
        count, fraction = counts[k], total[k] / m
        for j in range(size):
            residue = 2.0 * (count[j] - fraction * unequal[j]) / m
            loss[j] += residue * residue / fraction
    n_marked = 0
    for j in range(size):
        mean = 1.0 - 2.0 * unequal[j] / m
        marks[j] = loss[j] >= limit * (1.0 - mean * mean + SPREAD_PRIOR)
        n_marked += marks[j]
    return n_marked


@formula
def product_statistic(unequal: Floats, total: Floats) -> float:
    """Compute the statistic of one product alone, from its ones and the samples of each class."""
    m, loss = float(total.sum()), 0.0
    if m == 0.0:
        return 0.0
    mean = 1.0 - 2.0 * float(unequal.sum()) / m
    for k in range(total.size):
        if total[k] > 0.0:
            residue = 1.0 - 2.0 * unequal[k] / total[k] - mean
            loss += total[k] * residue * residue
    return float((1.0 + SPREAD_PRIOR) * loss / (1.0 - mean * mean + SPREAD_PRIOR))


@formula
def count_present_products(
    product: Words,
    there: Words,
    words: Words,
    present: Words,
    starts: Integers,
    k: int,
    unequal: Floats,
    total: Floats,
) -> None:
    """Count the ones of a product with bit k, and the samples, where all values are present."""
    for c in range(starts.size - 1):
        unequal[c], total[c] = 0.0, 0.0
        for w in range(starts[c], starts[c + 1]):
            here = there[w] & present[w, k]
            unequal[c] += ones_in((product[w] ^ words[w, k]) & here)
            total[c] += ones_in(here)


@formula
def count_combinations(words: Words, present: Words, starts: Integers, i: int, j: int, k: int, cells: Floats) -> None:
    """Count the samples of each class with each combination of three bits, where all three values are present."""
    for c in range(starts.size - 1):
        for u in range(N_COMBINATIONS):
            cells[u, c] = 0.0
        for w in range(starts[c], starts[c + 1]):
            here = present[w, i] & present[w, j] & present[w, k]
            for u in range(N_COMBINATIONS):
                a = words[w, i] if u & 1 else ~words[w, i]
                b = words[w, j] if u & 2 else ~words[w, j]
                d = words[w, k] if u & 4 else ~words[w, k]
                cells[u, c] += ones_in(a & b & d & here)


@formula
def triple_statistic(cells: Floats) -> float:
    """Compute the statistic of a triple beyond its bits and their pairs.

    cells is combinations x classes. The product of the three bits is regressed on the bits and on the products of two,
    by elimination of one term after the other. If one of them is nearly explained by those before it, the statistic
    is 0.
    """
    n_classes, m = cells.shape[1], float(cells.sum())
    if m == 0.0:
        return 0.0
    moments, classes, own = np.zeros((N_TERMS, N_TERMS)), np.zeros((n_classes, N_TERMS)), np.empty(N_TERMS)
    term_moments(cells, m, moments, classes)
    for t in range(N_TERMS):
        own[t] = moments[t, t]
    for t in range(N_TERMS - 1):
        if moments[t, t] <= MIN_RESIDUE * own[t] + VARIANCE_ROUNDING:
            return 0.0
        for s in range(t + 1, N_TERMS):
            factor = moments[t, s] / moments[t, t]
            for r in range(s, N_TERMS):
                moments[s, r] -= factor * moments[t, r]
            for k in range(n_classes):
                classes[k, s] -= factor * classes[k, t]
    loss = 0.0
    for k in range(n_classes):
        total = float(cells[:, k].sum())
        if total > 0.0:
            loss += (m * classes[k, N_TERMS - 1]) ** 2 / total
    return float((1.0 + SPREAD_PRIOR) * loss / (moments[N_TERMS - 1, N_TERMS - 1] + SPREAD_PRIOR))


@formula
def term_moments(cells: Floats, m: float, moments: Floats, classes: Floats) -> None:
    """Compute the covariances of the terms, on and above the diagonal, and of the terms with each class."""
    n_classes, mean, sign = cells.shape[1], np.zeros(N_TERMS), np.empty(N_TERMS)
    for u in range(N_COMBINATIONS):
        write_signs(u, sign)
        count = float(cells[u].sum())
        for t in range(N_TERMS):
            mean[t] += count * sign[t] / m
            for s in range(t, N_TERMS):
                moments[t, s] += count * sign[t] * sign[s] / m
            for k in range(n_classes):
                classes[k, t] += cells[u, k] * sign[t] / m
    for t in range(N_TERMS):
        for s in range(t, N_TERMS):
            moments[t, s] -= mean[t] * mean[s]
        for k in range(n_classes):
            classes[k, t] -= float(cells[:, k].sum()) / m * mean[t]


@formula
def write_signs(u: int, sign: Floats) -> None:
    """Write the terms of combination u: +1 and -1 for three bits, their products of two, and the product of all."""
    sign[0], sign[1], sign[2] = 1.0 if u & 1 else -1.0, 1.0 if u & 2 else -1.0, 1.0 if u & 4 else -1.0
    sign[3], sign[4], sign[5] = sign[0] * sign[1], sign[0] * sign[2], sign[1] * sign[2]
    sign[6] = sign[0] * sign[1] * sign[2]
