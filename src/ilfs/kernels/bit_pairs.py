"""Screen of pairs of bits: counts of unequal bits by XOR and popcount, and the statistic of each pair.

The bits of a feature are words of 64 samples, class after class. Each class begins with a new word, and the bits after
its last sample are 0. As numbers +1 and -1, the product of two bits is -1 where the XOR of their words has a one. So
the statistic of a pair follows from the number of ones of the XOR in each class, and of each bit in each class.

The screen has two stages. The first computes the statistics of one bit and many others in loops that the compiler
vectorises, without divisions. The second computes those near or above the threshold again, one at a time, from the
counts. So a result does not depend on how the work is divided.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.popcount import ones_in

Words = NDArray[np.uint64]

TILE_BITS = 512  # bits that one bit is compared with at a time: their counts stay in the fastest cache
MIN_RESIDUE = 1e-3  # fraction of its variance that the other bit must leave unexplained, or a bit is a near copy
SPREAD_PRIOR = 0.5  # added to the residual variance, so that products that hardly vary have small statistics
SLACK = 1e-9  # fraction of the threshold by which the first stage may err
CAPACITY = 1024  # pairs for which a task reserves memory at first; doubled as needed


@kernel
def screen_pairs(
    words: Words, starts: Integers, ones: Floats, total: Floats, first: int, last: int, threshold: float
) -> tuple[Integers, Floats]:
    """Find the pairs of bits i < j, first <= i < last, whose statistic is at least the threshold.

    words is words x bits. The words of class k are starts[k] to starts[k + 1] - 1; it has total[k] samples, and
    ones[k] of each bit. Returns the pairs (found x 2) and their statistics.
    """
    n_words, n_bits = words.shape
    n_classes, m = total.size, float(total.sum())
    mean, covariance = np.empty(n_bits), np.empty((n_classes, n_bits))
    describe_bits(ones, total, m, mean, covariance)
    own, counts = np.empty(n_words, np.uint64), np.empty((n_classes, TILE_BITS), np.int64)
    unequal, loss, marks = np.empty(TILE_BITS), np.empty(TILE_BITS), np.empty(TILE_BITS, np.int64)
    row, weight = np.empty((3, n_classes)), m / total
    pairs, values, n_found = np.empty((CAPACITY, 2), np.int64), np.empty(CAPACITY), 0
    limit = threshold * (1.0 - SLACK) / (m * (1.0 + SPREAD_PRIOR))
    for i in range(first, last):
        for w in range(n_words):
            own[w] = words[w, i]
        for low in range(i + 1, n_bits, TILE_BITS):
            size = min(TILE_BITS, n_bits - low)
            count_unequal(own, words, starts, low, size, counts)
            if mark_pairs(i, low, size, counts, mean, covariance, weight, m, limit, unequal, loss, marks) == 0:
                continue
            for j in range(size):
                if marks[j] == 0:
                    continue
                for k in range(n_classes):
                    row[0, k], row[1, k], row[2, k] = ones[k, i], ones[k, low + j], counts[k, j]
                value = pair_statistic(row[0], row[1], row[2], total)
                if value >= threshold:
                    pairs, values = with_room(pairs, values, n_found)
                    pairs[n_found, 0], pairs[n_found, 1], values[n_found] = i, low + j, value
                    n_found += 1
    return pairs[:n_found].copy(), values[:n_found].copy()


@formula
def with_room(pairs: Integers, values: Floats, n_found: int) -> tuple[Integers, Floats]:
    """Double the arrays if they are full."""
    if n_found < values.size:
        return pairs, values
    return np.concatenate((pairs, pairs)), np.concatenate((values, values))


@formula
def describe_bits(ones: Floats, total: Floats, m: float, mean: Floats, covariance: Floats) -> None:
    """Compute the mean of each bit as a number +1 or -1, and its covariance with the indicator of each class."""
    n_classes, n_bits = ones.shape
    for j in range(n_bits):
        every = 0.0
        for k in range(n_classes):
            every += ones[k, j]
        mean[j] = 2.0 * every / m - 1.0
        for k in range(n_classes):
            covariance[k, j] = 2.0 * (ones[k, j] - total[k] * every / m) / m


@formula
def count_unequal(own: Words, words: Words, starts: Integers, low: int, size: int, counts: Integers) -> None:
    """Count the samples of each class in which one bit differs from each of the bits low to low + size - 1."""
    for k in range(starts.size - 1):
        count = counts[k]
        for j in range(size):
            count[j] = 0
        w = starts[k]
        # Four words at a time: loading and storing the counts would take longer than counting.
        while w + 4 <= starts[k + 1]:
            a, b, c, d = own[w], own[w + 1], own[w + 2], own[w + 3]
            p, q, r, s = words[w, low:], words[w + 1, low:], words[w + 2, low:], words[w + 3, low:]
            for j in range(size):
                count[j] += ones_in(a ^ p[j]) + ones_in(b ^ q[j]) + ones_in(c ^ r[j]) + ones_in(d ^ s[j])
            w += 4
        while w < starts[k + 1]:
            a, p = own[w], words[w, low:]
            for j in range(size):
                count[j] += ones_in(a ^ p[j])
            w += 1


@formula
def mark_pairs(
    i: int,
    low: int,
    size: int,
    counts: Integers,
    mean: Floats,
    covariance: Floats,
    weight: Floats,
    m: float,
    limit: float,
    unequal: Floats,
    loss: Floats,
    marks: Integers,
) -> int:
    """Mark the bits low to low + size - 1 whose statistic with bit i may reach the threshold; count them.

    These are the equations of `pair_statistic`, multiplied by the determinant of the covariances of the two bits, so
    that there is no division. Every loop writes to one array only, or the compiler would not vectorise it.
    """
    n_classes, mine, others = weight.size, mean[i], mean[low:]
    for j in range(size):
        unequal[j], loss[j] = counts[0, j], 0.0
    for k in range(1, n_classes):
        count = counts[k]
        for j in range(size):
            unequal[j] += count[j]
    for k in range(1 if n_classes == 2 else n_classes):  # the two residues of two classes differ in sign only
        fraction, scale = 1.0 / weight[k], weight[0] + weight[1] if n_classes == 2 else weight[k]
        count, own_k, others_k = counts[k], covariance[k, i], covariance[k, low:]
        for j in range(size):
            det, a, b, _ = product_moments(mine, others[j], 1.0 - 2.0 * unequal[j] / m)
            residue = det * 2.0 * (unequal[j] * fraction - count[j]) / m - a * own_k - b * others_k[j]
            loss[j] += scale * residue * residue
    n_marked = 0
    for j in range(size):
        det, _, _, spread = product_moments(mine, others[j], 1.0 - 2.0 * unequal[j] / m)
        least = MIN_RESIDUE * (1.0 - SLACK) * (1.0 - mine * mine) * (1.0 - others[j] * others[j])
        marks[j] = (loss[j] >= limit * det * spread) & (det >= least)
        n_marked += marks[j]
    return n_marked


@formula
def product_moments(mine: float, other: float, c: float) -> tuple[float, float, float, float]:
    """Regress the product of two bits on the bits, given the means of both and of the product.

    Returns the determinant of the covariances of the bits, and the determinant times each coefficient and times the
    residual variance plus `SPREAD_PRIOR`.
    """
    v, u, g = 1.0 - mine * mine, 1.0 - other * other, c - mine * other
    e, f = other - mine * c, mine - other * c  # covariances of the product with the two bits
    det = v * u - g * g
    a, b = u * e - g * f, v * f - g * e
    return det, a, b, det * (1.0 - c * c + SPREAD_PRIOR) - a * e - b * f


@formula
def pair_statistic(one: Floats, other: Floats, unequal: Floats, total: Floats) -> float:
    """Compute the statistic of one pair from its counts in each class.

    one and other count the ones of the two bits, unequal the samples in which they differ. The product of the bits is
    regressed on the two bits, and the mean residuals of the classes are compared. Near copies have statistic 0.
    """
    m = float(total.sum())
    if m == 0.0:
        return 0.0
    mu, nu = 2.0 * float(one.sum()) / m - 1.0, 2.0 * float(other.sum()) / m - 1.0
    c = 1.0 - 2.0 * float(unequal.sum()) / m
    v, u, g = 1.0 - mu * mu, 1.0 - nu * nu, c - mu * nu
    det = v * u - g * g
    if det < MIN_RESIDUE * v * u or det <= 0.0:
        return 0.0
    e, f = nu - mu * c, mu - nu * c  # covariances of the product with the two bits
    a, b = (u * e - g * f) / det, (v * f - g * e) / det  # coefficients of the regression
    spread = 1.0 - c * c - a * e - b * f + SPREAD_PRIOR
    loss = 0.0
    for k in range(total.size):
        if total[k] > 0.0:
            product = 1.0 - 2.0 * unequal[k] / total[k] - c
            bits = a * (2.0 * one[k] / total[k] - 1.0 - mu) + b * (2.0 * other[k] / total[k] - 1.0 - nu)
            loss += total[k] * (product - bits) ** 2
    return float((1.0 + SPREAD_PRIOR) * loss / spread)


@kernel
def screen_incomplete_pairs(
    words: Words, present: Words, starts: Integers, first: int, last: int, n_complete: int, threshold: float
) -> tuple[Integers, Floats]:
    """Find the pairs i < j, first <= i < last, n_complete <= j, over the samples in which both values are present.

    The first n_complete bits have no missing values: their pairs are those of `screen_pairs`.
    """
    n_words, n_bits = words.shape
    n_classes = starts.size - 1
    own, own_present = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    counts, row = np.empty((4, n_classes, TILE_BITS), np.int64), np.empty((4, n_classes))
    means, loss, marks = np.empty((4, TILE_BITS)), np.empty(TILE_BITS), np.empty(TILE_BITS, np.int64)
    limit = threshold * (1.0 - SLACK) / (1.0 + SPREAD_PRIOR)
    pairs, values, n_found = np.empty((CAPACITY, 2), np.int64), np.empty(CAPACITY), 0
    for i in range(first, last):
        for w in range(n_words):
            own[w], own_present[w] = words[w, i], present[w, i]
        for low in range(max(i + 1, n_complete), n_bits, TILE_BITS):
            size = min(TILE_BITS, n_bits - low)
            count_present(own, own_present, words, present, starts, low, size, counts)
            if mark_incomplete_pairs(size, counts, limit, means, loss, marks) == 0:
                continue
            for j in range(size):
                if marks[j] == 0:
                    continue
                for k in range(n_classes):
                    for c in range(4):
                        row[c, k] = counts[c, k, j]
                value = pair_statistic(row[0], row[1], row[2], row[3])
                if value >= threshold:
                    pairs, values = with_room(pairs, values, n_found)
                    pairs[n_found, 0], pairs[n_found, 1], values[n_found] = i, low + j, value
                    n_found += 1
    return pairs[:n_found].copy(), values[:n_found].copy()


@formula
def count_present(
    own: Words, own_present: Words, words: Words, present: Words, starts: Integers, low: int, size: int, counts: Any
) -> None:
    """Count ones of one bit, ones of each other bit, unequal bits and samples, where both values are present."""
    for k in range(starts.size - 1):
        one, other, unequal, total = counts[0, k], counts[1, k], counts[2, k], counts[3, k]
        for c in range(4):
            for j in range(size):
                counts[c, k, j] = 0
        for w in range(starts[k], starts[k + 1]):
            a, here, bits, there = own[w], own_present[w], words[w, low:], present[w, low:]
            # One loop for each count, or the compiler would not vectorise them. Bits of missing values are 0.
            for j in range(size):
                one[j] += ones_in(a & there[j])
            for j in range(size):
                other[j] += ones_in(bits[j] & here)
            for j in range(size):
                unequal[j] += ones_in((a ^ bits[j]) & here & there[j])
            for j in range(size):
                total[j] += ones_in(here & there[j])


@formula
def mark_incomplete_pairs(size: int, counts: Any, limit: float, means: Floats, loss: Floats, marks: Integers) -> int:
    """Mark the pairs whose statistic may reach the threshold, as `mark_pairs` does; count them.

    With missing values, the means of the bits and the sizes of the classes are different for every pair.
    """
    n_classes = counts.shape[1]
    for c in range(4):
        mean = means[c]
        for j in range(size):
            mean[j], loss[j] = 0.0, 0.0
        for k in range(n_classes):
            count = counts[c, k]
            for j in range(size):
                mean[j] += count[j]
    mine, other, product, total = means[0], means[1], means[2], means[3]
    for j in range(size):
        mine[j] = 2.0 * mine[j] / total[j] - 1.0
    for j in range(size):
        other[j] = 2.0 * other[j] / total[j] - 1.0
    for j in range(size):
        product[j] = 1.0 - 2.0 * product[j] / total[j]
    for k in range(n_classes):
        one_k, other_k, unequal_k, total_k = counts[0, k], counts[1, k], counts[2, k], counts[3, k]
        for j in range(size):
            det, a, b, _ = product_moments(mine[j], other[j], product[j])
            scale = 2.0 / max(total_k[j], 1)
            residue = det * (1.0 - scale * unequal_k[j] - product[j])
            residue -= a * (scale * one_k[j] - 1.0 - mine[j]) + b * (scale * other_k[j] - 1.0 - other[j])
            loss[j] += total_k[j] * residue * residue
    n_marked = 0
    for j in range(size):
        det, _, _, spread = product_moments(mine[j], other[j], product[j])
        least = MIN_RESIDUE * (1.0 - SLACK) * (1.0 - mine[j] * mine[j]) * (1.0 - other[j] * other[j])
        marks[j] = (loss[j] >= limit * det * spread) & (det >= least)
        n_marked += marks[j]
    return n_marked


@kernel
def read_pairs(words: Words, starts: Integers) -> int:
    """Count the unequal bits of all pairs without their statistics: the least time that a screen can take."""
    n_words, n_bits = words.shape
    own, counts, total = np.empty(n_words, np.uint64), np.empty((starts.size - 1, TILE_BITS), np.int64), 0
    for i in range(n_bits):
        for w in range(n_words):
            own[w] = words[w, i]
        for low in range(i + 1, n_bits, TILE_BITS):
            count_unequal(own, words, starts, low, min(TILE_BITS, n_bits - low), counts)
            total += counts[0, 0]
    return total
