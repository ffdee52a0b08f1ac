"""Expectation and maximisation of two topics over counts of tokens; see `ilfs.solvers.plsa` for the model.

Counts are tokens x features, so that neighbours in memory are features and the loops over them use whole vectors.
"""

import numpy as np

from ilfs.arrays import Floats
from ilfs.kernels._jit import formula, kernel

TINY = np.finfo(np.float64).tiny
TILE = 256  # features whose sums stay in the first-level cache
NEWTON_STEPS = 60  # bisection alone would be at rounding by then
PRECISION = 1e-12


@kernel
def expect(counts: Floats, topics: Floats, p: Floats, mixture: Floats, relevant: Floats, expected: Floats) -> None:
    """E step: P(t|f) (mixture), and the counts of each feature (relevant) and token (expected) that topics give.

    A count Q(f, t) is divided in the proportion P(t|z1) p : P(t|z2) (1 - p).
    """
    n_tokens = topics.shape[1]
    ones, twos = np.empty((n_tokens, TILE)), np.empty((n_tokens, TILE))
    ones[:], twos[:] = 0.0, 0.0
    for first in range(0, p.size, TILE):
        last = min(first + TILE, p.size)
        pf, rf = p[first:last], relevant[first:last]
        rf[:] = 0.0
        for t in range(topics.shape[1]):
            a, b, q, mix = topics[0, t], topics[1, t], counts[t, first:last], mixture[t, first:last]
            from_one, from_two = ones[t], twos[t]
            for j in range(last - first):
                one = a * pf[j]
                both = one + b * (1.0 - pf[j])
                both = both if both > TINY else TINY  # 0 only for a token that no feature has
                mix[j] = both
                part = q[j] * (one / both)
                rf[j] += part
                # one sum for each place in a tile: a single sum would have to wait for itself
                from_one[j] += part
                from_two[j] += q[j] - part
    for t in range(n_tokens):
        expected[0, t], expected[1, t] = 0.0, 0.0
        for j in range(TILE):
            expected[0, t] += ones[t, j]
            expected[1, t] += twos[t, j]


@formula
def slope(counts: Floats, f: int, topics: Floats, p: float) -> tuple[float, float]:
    """First and second derivative in p of the log-likelihood of feature f."""
    first, second = 0.0, 0.0
    for t in range(topics.shape[1]):
        ratio = (topics[0, t] - topics[1, t]) / (topics[1, t] + p * (topics[0, t] - topics[1, t]))
        first += counts[t, f] * ratio
        second -= counts[t, f] * ratio * ratio
    return first, second


@kernel
def maximise_relevance(counts: Floats, topics: Floats) -> Floats:
    """The best p of every feature, given the topics: Newton's method inside a shrinking bracket, or 0 or 1."""
    best = np.full(counts.shape[1], 0.5)
    for f in range(best.size):
        low, high, p = 0.0, 1.0, 0.5
        if slope(counts, f, topics, 0.0)[0] < 0.0:
            high = p = 0.0
        elif slope(counts, f, topics, 1.0)[0] > 0.0:
            low = p = 1.0
        for _ in range(NEWTON_STEPS if low < high else 0):
            first, second = slope(counts, f, topics, p)
            if first == 0.0:
                break
            if first > 0.0:
                low = p
            else:
                high = p
            step = p - first / second
            step = step if low < step < high else 0.5 * (low + high)
            settled = abs(step - p) < PRECISION
            p = step
            if settled:
                break
        best[f] = p
    return best
