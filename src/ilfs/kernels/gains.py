"""The inner loop of picking by gain.

The picks are the pivots of a Cholesky factorisation of the covariance matrix plus ridge. A pick changes all covariances
by a matrix of rank one. That is put off: the kernel makes a number of picks and brings only the rows up to date that it
needs, then `ilfs.solvers.picking` subtracts all their changes in one product of matrices, which is much faster.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel


@kernel
def pick_some(
    classes: Floats,
    variance: Floats,
    covariance: Floats,
    correlation: Floats,
    ridge: float,
    equal: float,
    floor: float,
    least_gain: float,
    waiting: NDArray[Any],
    novelty: Floats,
    nearest: Integers,
    steps: Floats,
    order: Integers,
    value: Floats,
    gain: Floats,
) -> int:
    """Pick as many candidates as steps and order have room for; return how many were picked.

    classes (classes x candidates) holds the remaining correlations with the classes, variance the remaining variances.
    covariance holds the covariances as they were before these picks, up to date only on and above the diagonal. Row s
    of steps becomes the row of the Cholesky factor of pick s. order, value (of the pick) and gain (classes x
    candidates) are filled.

    Gains that differ by no more than the fraction equal of the largest, or by least_gain, are equal: the first such
    candidate is picked. Novelties that differ by no more than floor are equal, and a novelty below floor is that of a
    copy.
    """
    n_classes, n = classes.shape
    gains, row = np.empty(n), np.empty(n)
    for s in range(order.size):
        j = best_candidate(classes, variance, ridge, equal, least_gain, waiting, novelty, gains)
        if j < 0:
            return s
        order[s], value[s] = j, gains[j]
        remaining_row(covariance, steps, s, j, row)
        row[j] = variance[j]  # the same number by another sum: the two must not differ in their last bits
        root = np.sqrt(variance[j] + ridge)
        for i in range(n):
            steps[s, i] = row[i] / root
            variance[i] = max(variance[i] - steps[s, i] * steps[s, i], 0.0)
        for k in range(n_classes):
            factor = classes[k, j] / root
            gain[k, j] = factor * factor
            for i in range(n):
                classes[k, i] -= factor * steps[s, i]
        waiting[j] = False
        update_nearest(correlation, j, floor, waiting, novelty, nearest)
    return order.size


@formula
def best_candidate(
    classes: Floats,
    variance: Floats,
    ridge: float,
    equal: float,
    least_gain: float,
    waiting: NDArray[Any],
    novelty: Floats,
    gains: Floats,
) -> int:
    """Fill the gains and return the first candidate whose gain is the largest but for rounding; -1 if none gains."""
    n_classes, n = classes.shape
    largest = 0.0
    for i in range(n):
        total = 0.0
        for k in range(n_classes):
            total += classes[k, i] * classes[k, i]
        gains[i] = total / (variance[i] + ridge) if waiting[i] and novelty[i] > 0.0 else 0.0
        largest = max(largest, gains[i])
    if largest <= least_gain:
        return -1
    least = largest - max(equal * largest, least_gain)
    j = 0
    while gains[j] <= 0.0 or gains[j] < least:
        j += 1
    return j


@formula
def remaining_row(covariance: Floats, steps: Floats, s: int, j: int, row: Floats) -> None:
    """Fill row j of the covariances that s picks have left."""
    n = row.size
    # Below the diagonal the matrix is not up to date: take the column instead.
    for i in range(j):
        row[i] = covariance[i, j]
    # Loops, not slices: the message for arrays of different shapes takes Numba three seconds to compile.
    for i in range(j, n):
        row[i] = covariance[j, i]
    for t in range(s):
        factor = steps[t, j]
        for i in range(n):
            row[i] -= factor * steps[t, i]


@formula
def update_nearest(
    correlation: Floats, j: int, floor: float, waiting: NDArray[Any], novelty: Floats, nearest: Integers
) -> None:
    """Note pick j wherever it is nearer to a waiting candidate than all picks before."""
    for i in range(novelty.size):
        new = 1.0 - correlation[j, i] * correlation[j, i]
        if waiting[i] and new < novelty[i] - floor:
            novelty[i] = new if new > floor else 0.0
            nearest[i] = j
