"""Screen of all triples of level bits."""

from collections.abc import Iterator
from math import comb

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import thread_map
from ilfs.interactions.bits import LEVEL, PackedBits
from ilfs.interactions.odds import keep_unequal_odds
from ilfs.interactions.sets import FoundSets
from ilfs.warn import warn

MAX_TRIPLE_STEPS = 4 * 10**9  # of a screen; seconds on one core


def level_bits(bits: PackedBits) -> PackedBits:
    """Return the level bits only: triples with size bits would be eight times as many."""
    return bits.take(np.flatnonzero(bits.kinds == LEVEL))


def are_triples_affordable(bits: PackedBits) -> bool:
    """Return whether all triples of level bits can be tested in seconds; warn if not."""
    steps = int(bits.starts[-1]) + 2 * bits.total.size  # of one triple: its words, and the statistic of each class
    n, most = int(np.count_nonzero(bits.kinds == LEVEL)), largest_affordable(steps)
    if n > most:
        warn(
            f"triples are tested for at most {most:,} features of {int(bits.total.sum()):,} samples in "
            f"{bits.total.size} classes, got {n:,}: only pairs were tested. Select {most:,} features first to test "
            "their triples"
        )
    return n <= most


def largest_affordable(steps: int) -> int:
    """Return the largest number of bits whose triples take less than `MAX_TRIPLE_STEPS`."""
    n = int((6 * MAX_TRIPLE_STEPS / steps) ** (1 / 3)) + 2
    while comb(n, 3) * steps >= MAX_TRIPLE_STEPS:
        n -= 1
    return n


def screen_all_triples(bits: PackedBits, threshold: float, n_jobs: int | None = None) -> FoundSets:
    """Find the triples of bits whose statistics are at least the threshold in all tests.

    Parameters
    ----------
    bits : PackedBits
        Level bits, one of each feature.
    threshold : float
        Least statistic of a product, alone, beyond the products of fewer of its bits, and of equal odds ratios.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    FoundSets
        The triples.
    """
    found = FoundSets.none(3, bits.total.size)
    for triples, values in screened(bits, threshold, n_jobs):
        found = found.merge(triples, values)
    return found


def screened(bits: PackedBits, threshold: float, n_jobs: int | None) -> Iterator[tuple[Integers, Floats]]:
    """Test the triples of each first bit in threads; triples with missing values have a kernel of their own."""
    from ilfs.kernels.bit_triples import screen_incomplete_triples, screen_triples

    n = bits.n_complete

    def complete(i: int) -> tuple[Integers, Floats]:
        return confirmed(*screen_triples(bits.words, bits.present, bits.starts, bits.total, i, n, threshold))

    def incomplete(i: int) -> tuple[Integers, Floats]:
        return confirmed(*screen_incomplete_triples(bits.words, bits.present, bits.starts, i, n, threshold))

    def confirmed(triples: Integers, statistic: Floats) -> tuple[Integers, Floats]:
        return keep_unequal_odds(bits, triples, statistic, threshold)

    yield from thread_map(complete, range(n), n_jobs)
    if n < bits.n_bits:
        yield from thread_map(incomplete, range(bits.n_bits), n_jobs)
