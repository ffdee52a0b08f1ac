"""Screen of all pairs of bits."""

from collections.abc import Iterator

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import thread_map
from ilfs.execution.threads import blocks
from ilfs.interactions.bits import PackedBits
from ilfs.interactions.odds import keep_unequal_odds
from ilfs.interactions.sets import FoundSets

TASK_BITS = 128  # first bits of a task: fewer would make more tasks than threads need


def count_pairs(bits: PackedBits) -> int:
    """Count the pairs of bits of different features."""
    _, bits_per_feature = np.unique(bits.columns, return_counts=True)
    return (bits.n_bits**2 - int(np.sum(bits_per_feature**2))) // 2


def screen_all_pairs(bits: PackedBits, threshold: float, n_jobs: int | None = None) -> FoundSets:
    """Find the pairs of bits of different features whose statistics are at least the threshold in both tests.

    Parameters
    ----------
    bits : PackedBits
        The bits.
    threshold : float
        Least statistic.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    FoundSets
        The pairs, strongest first.
    """
    found = FoundSets.none(2, bits.total.size)
    for pairs, values in screened(bits, threshold, n_jobs):
        found = found.merge(pairs, values)
    return found


def screened(bits: PackedBits, threshold: float, n_jobs: int | None) -> Iterator[tuple[Integers, Floats]]:
    """Test blocks of pairs in threads; pairs with missing values have a kernel of their own."""
    from ilfs.kernels.bit_pairs import screen_incomplete_pairs, screen_pairs

    n = bits.n_complete
    words, ones = np.ascontiguousarray(bits.words[:, :n]), np.ascontiguousarray(bits.ones[:, :n])

    def complete(block: slice) -> tuple[Integers, Floats]:
        return confirmed(*screen_pairs(words, bits.starts, ones, bits.total, block.start, block.stop, threshold))

    def incomplete(block: slice) -> tuple[Integers, Floats]:
        first, last = block.start, block.stop
        return confirmed(*screen_incomplete_pairs(bits.words, bits.present, bits.starts, first, last, n, threshold))

    def confirmed(pairs: Integers, statistic: Floats) -> tuple[Integers, Floats]:
        differs = bits.columns[pairs[:, 0]] != bits.columns[pairs[:, 1]]
        return keep_unequal_odds(bits, pairs[differs], statistic[differs], threshold)

    yield from thread_map(complete, blocks(n, TASK_BITS), n_jobs)
    if n < bits.n_bits:
        yield from thread_map(incomplete, blocks(bits.n_bits, TASK_BITS), n_jobs)
