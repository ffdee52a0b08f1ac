"""Expectation and maximisation of two topics over counts of tokens; see `ilfs.solvers.plsa` for the model.

Counts are tokens x features, so that neighbours in memory are features and the loops over features are vectorised.
"""

import numpy as np

from ilfs.arrays import Floats
from ilfs.kernels._jit import formula, kernel

SMALLEST_PROBABILITY = np.finfo(np.float64).tiny  # keeps divisors and arguments of logarithms above zero
TILE_FEATURES = 256  # features whose sums stay in the first-level cache
MAX_RELEVANCE_STEPS = 60  # of Newton's method or bisection; 60 bisections alone reach the precision of float64
RELEVANCE_TOLERANCE = 1e-12  # Newton's method stops when p changes by less than this


@kernel
def expect(counts: Floats, topics: Floats, p: Floats, mixture: Floats, relevant: Floats, expected: Floats) -> None:
    """Expectation step: divide every count Q(f, t) between the topics, in the proportion P(t|z1) p : P(t|z2) (1 - p).

    Writes P(t|f) to ``mixture``, the counts of each feature that belong to topic 1 to ``relevant``, and the counts of
    each token that belong to either topic to ``expected``.
    """
    n_tokens = topics.shape[1]
    ones, twos = np.empty((n_tokens, TILE_FEATURES)), np.empty((n_tokens, TILE_FEATURES))
    ones[:], twos[:] = 0.0, 0.0
    for first in range(0, p.size, TILE_FEATURES):
        last = min(first + TILE_FEATURES, p.size)
        pf, rf = p[first:last], relevant[first:last]
        rf[:] = 0.0
        for t in range(topics.shape[1]):
            a, b, q, mix = topics[0, t], topics[1, t], counts[t, first:last], mixture[t, first:last]
            from_one, from_two = ones[t], twos[t]
            for j in range(last - first):
                one = a * pf[j]
                both = one + b * (1.0 - pf[j])
                # The sum is 0 only for a token that no feature has.
                both = both if both > SMALLEST_PROBABILITY else SMALLEST_PROBABILITY
                mix[j] = both
                part = q[j] * (one / both)
                rf[j] += part
                # One sum for each position in a tile: with a single sum, every addition would wait for the one before.
                from_one[j] += part
                from_two[j] += q[j] - part
    for t in range(n_tokens):
        expected[0, t], expected[1, t] = 0.0, 0.0
        for j in range(TILE_FEATURES):
            expected[0, t] += ones[t, j]
            expected[1, t] += twos[t, j]


@formula
def derivatives(counts: Floats, f: int, topics: Floats, p: float) -> tuple[float, float]:
    """Compute the first and second derivative in p of the log-likelihood of feature f."""
    # The log-likelihood is the sum over tokens of count x log(P(t|z2) + p (P(t|z1) - P(t|z2))).
    first, second = 0.0, 0.0
    for t in range(topics.shape[1]):
        ratio = (topics[0, t] - topics[1, t]) / (topics[1, t] + p * (topics[0, t] - topics[1, t]))
        first += counts[t, f] * ratio
        second -= counts[t, f] * ratio * ratio
    return first, second


@kernel
def maximise_relevance(counts: Floats, topics: Floats) -> Floats:
    """Compute the most likely p of every feature for given topics, by Newton's method inside a shrinking bracket."""
    best = np.full(counts.shape[1], 0.5)
    for f in range(best.size):
        low, high, p = 0.0, 1.0, 0.5
        # The log-likelihood is concave in p: if it falls at 0 or rises at 1, its maximum is there.
        if derivatives(counts, f, topics, 0.0)[0] < 0.0:
            high = p = 0.0
        elif derivatives(counts, f, topics, 1.0)[0] > 0.0:
            low = p = 1.0
        for _ in range(MAX_RELEVANCE_STEPS if low < high else 0):
            first, second = derivatives(counts, f, topics, p)
            if first == 0.0:
                break
            if first > 0.0:
                low = p
            else:
                high = p
            # Newton's step if it stays inside the bracket, otherwise halve the bracket.
            step = p - first / second
            step = step if low < step < high else 0.5 * (low + high)
            settled = abs(step - p) < RELEVANCE_TOLERANCE
            p = step
            if settled:
                break
        best[f] = p
    return best
