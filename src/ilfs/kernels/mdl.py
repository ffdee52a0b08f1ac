"""Columns cut by the minimum description length principle of Fayyad and Irani (1993).

A cut is made if the bits that it saves in describing the classes exceed the bits that it takes to describe the cut.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

MAX_EXACT_CLASSES = 30  # for more classes 3^k - 2 and 3^k are the same number in floating point


@kernel
def mdl_bins(
    ordered: NDArray[Any],
    order: Integers,
    classes: Integers,
    n_classes: int,
    n_log_n: Floats,
    equal: float,
    floor: float,
    bins: NDArray[Any],
    n_bins: Integers,
    gain: Floats,
) -> None:
    """Fill the bin of every value of every column, the number of bins, and what the first cut gained over its cost.

    ordered[j] is column j sorted, order[j] the samples in that order, n_log_n[n] = n log2 n. Cuts whose entropies
    differ by no more than the fraction equal of n log2 n are equally good, and the first of them is made; a gain of at
    most floor bits a value is rounding.
    """
    height = ordered.shape[1]
    begins, labels = np.empty(height, np.bool_), np.empty(height, np.int64)
    todo = np.empty((height + 1, 2), np.int64)
    left, right = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    for j in range(ordered.shape[0]):
        for a in range(height):
            begins[a] = False
            labels[a] = classes[order[j, a]]
        todo[0, 0], todo[0, 1], n_todo = 0, height, 1
        while n_todo > 0:
            n_todo -= 1
            start, stop = todo[n_todo, 0], todo[n_todo, 1]
            cut, gained = best_cut(ordered[j], labels, start, stop, n_log_n, equal, left, right)
            if start == 0 and stop == height:
                gain[j] = gained
            if gained > floor:
                begins[cut] = True
                todo[n_todo, 0], todo[n_todo, 1] = start, cut
                todo[n_todo + 1, 0], todo[n_todo + 1, 1] = cut, stop
                n_todo += 2
        b = 0
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
    equal: float,
    left: Integers,
    right: Integers,
) -> tuple[int, float]:
    """Position of the best cut of the sorted values start:stop, and the bits a value that it gains over its cost.

    left and right are buffers for the number of values of each class.
    """
    n = stop - start
    left[:], right[:] = 0, 0
    for a in range(start, stop):
        right[labels[a]] += 1
    whole = bits(n, right, n_log_n)
    classes = n_filled(right)
    # Sums of n_k log n_k on both sides: only one term of each changes from one position to the next.
    on_left, on_right = 0.0, n_log_n[n] - whole
    cut, at_cut, least = -1, np.inf, np.inf
    for a in range(start, stop - 1):
        k = labels[a]
        on_left += n_log_n[left[k] + 1] - n_log_n[left[k]]
        on_right += n_log_n[right[k] - 1] - n_log_n[right[k]]
        left[k] += 1
        right[k] -= 1
        if x[a + 1] > x[a]:
            here = n_log_n[a + 1 - start] - on_left + n_log_n[stop - a - 1] - on_right
            least = min(least, here)
            if at_cut > least + equal * n_log_n[n]:
                cut, at_cut = a + 1, here
    if cut < 0:
        return -1, -np.inf
    left[:], right[:] = 0, 0
    for a in range(start, cut):
        left[labels[a]] += 1
    for a in range(cut, stop):
        right[labels[a]] += 1
    bits_left, bits_right = bits(cut - start, left, n_log_n), bits(stop - cut, right, n_log_n)
    choices = classes * np.log2(3.0) if classes > MAX_EXACT_CLASSES else np.log2(3.0**classes - 2.0)
    change = (
        classes * whole / n - n_filled(left) * bits_left / (cut - start) - n_filled(right) * bits_right / (stop - cut)
    )
    return cut, (whole - bits_left - bits_right - np.log2(n - 1.0) - choices + change) / n


@formula
def bits(n: int, counts: Integers, n_log_n: Floats) -> float:
    """Entropy of the classes of n values in bits, times n."""
    total = float(n_log_n[n])
    for count in counts:
        total -= n_log_n[count]
    return total


@formula
def n_filled(counts: Integers) -> int:
    """Number of counts that are not 0."""
    n = 0
    for count in counts:
        n += count > 0
    return n
