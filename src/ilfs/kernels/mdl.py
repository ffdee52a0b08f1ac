"""Discretization of columns by the minimum description length principle of Fayyad and Irani (1993).

A cut is made if it saves more bits in the description of the classes than its own description takes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

MAX_EXACT_CLASSES = 30  # with k > 30 classes, log2(3^k - 2) and log2(3^k) are equal in floating point


@kernel
def mdl_bins(
    ordered: NDArray[Any],
    order: Integers,
    classes: Integers,
    n_classes: int,
    n_log_n: Floats,
    relative: float,
    floor: float,
    bins: NDArray[Any],
    n_bins: Integers,
    gain: Floats,
) -> None:
    """Write the bin of every value of every column, the number of bins, and the net gain of the first cut.

    The net gain of a cut is the number of bits per value that it saves, less its cost. ordered[j] is column j sorted,
    order[j] the samples in that order, and n_log_n[n] = n log2 n. Of cuts whose entropies differ by at most
    relative * n log2 n, the first is made. A gain of at most ``floor`` bits per value counts as rounding error.
    """
    height = ordered.shape[1]
    begins, labels = np.empty(height, np.bool_), np.empty(height, np.int64)
    todo = np.empty((height + 1, 2), np.int64)
    left, right = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    for j in range(ordered.shape[0]):
        for a in range(height):
            begins[a] = False
            labels[a] = classes[order[j, a]]
        # A stack instead of recursion: every cut replaces an interval by its two halves.
        todo[0, 0], todo[0, 1], n_todo = 0, height, 1
        while n_todo > 0:
            n_todo -= 1
            start, stop = todo[n_todo, 0], todo[n_todo, 1]
            cut, gained = best_cut(ordered[j], labels, start, stop, n_log_n, relative, left, right)
            if start == 0 and stop == height:
                gain[j] = gained
            if gained > floor:
                begins[cut] = True
                todo[n_todo, 0], todo[n_todo, 1] = start, cut
                todo[n_todo + 1, 0], todo[n_todo + 1, 1] = cut, stop
                n_todo += 2
        b = 0  # number of cuts at or before this position
        for a in range(height):
            b += begins[a]
            bins[j, order[j, a]] = b
        n_bins[j] = b + 1


@formula
def best_cut(
    x: NDArray[Any],
    labels: Integers,
    start: int,
    stop: int,
    n_log_n: Floats,
    relative: float,
    left: Integers,
    right: Integers,
) -> tuple[int, float]:
    """Find the best cut of the sorted values start:stop; return its position and its net gain in bits per value.

    Returns -1 and minus infinity if all values are equal. ``left`` and ``right`` are buffers for class counts.
    """
    n = stop - start
    left[:], right[:] = 0, 0
    for a in range(start, stop):
        right[labels[a]] += 1
    whole = bits(n, right, n_log_n)
    classes = n_filled(right)
    # n times the entropy of one side is n log n - sum over classes of n_k log n_k. From one position to the next, only
    # one term of each sum changes.
    on_left, on_right = 0.0, n_log_n[n] - whole
    cut, at_cut, least = -1, np.inf, np.inf
    for a in range(start, stop - 1):
        k = labels[a]
        on_left += n_log_n[left[k] + 1] - n_log_n[left[k]]
        on_right += n_log_n[right[k] - 1] - n_log_n[right[k]]
        left[k] += 1
        right[k] -= 1
        if x[a + 1] > x[a]:  # equal values cannot be separated
            here = n_log_n[a + 1 - start] - on_left + n_log_n[stop - a - 1] - on_right
            least = min(least, here)
            # Move the cut only if the new one is better by more than rounding: the first of equal ones stays.
            if at_cut > least + relative * n_log_n[n]:
                cut, at_cut = a + 1, here
    if cut < 0:
        return -1, -np.inf
    # Count again at the cut: the running counts have gone on to the last position.
    left[:], right[:] = 0, 0
    for a in range(start, cut):
        left[labels[a]] += 1
    for a in range(cut, stop):
        right[labels[a]] += 1
    bits_left, bits_right = bits(cut - start, left, n_log_n), bits(stop - cut, right, n_log_n)
    # The criterion of Fayyad and Irani: n x gain > log2(n - 1) + log2(3^k - 2) - (k E - k_1 E_1 - k_2 E_2). Here k, k_1
    # and k_2 are the numbers of classes in the whole and on each side, and E, E_1 and E_2 their entropies.
    choices = classes * np.log2(3.0) if classes > MAX_EXACT_CLASSES else np.log2(3.0**classes - 2.0)
    change = (
        classes * whole / n - n_filled(left) * bits_left / (cut - start) - n_filled(right) * bits_right / (stop - cut)
    )
    return cut, (whole - bits_left - bits_right - np.log2(n - 1.0) - choices + change) / n


@formula
def bits(n: int, counts: Integers, n_log_n: Floats) -> float:
    """Compute n times the entropy, in bits, of the classes of n values."""
    total = float(n_log_n[n])
    for count in counts:
        total -= n_log_n[count]
    return total


@formula
def n_filled(counts: Integers) -> int:
    """Count the classes that occur."""
    n = 0
    for count in counts:
        n += count > 0
    return n
