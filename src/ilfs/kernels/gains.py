"""The inner loop of picking by gain: some picks, until what they explain is taken off all covariances at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import kernel


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
    """Pick as many candidates as steps and order have room for; return how many there were to pick.

    classes (classes x candidates) is what is left of the correlations, variance of the variances. covariance is what
    was left of the covariances before these picks, above its diagonal; row s of steps becomes the row of the triangle
    of Cholesky that belongs to pick s. order, value (of the pick) and gain (classes x candidates) are filled.

    Gains that differ by no more than the fraction equal of the largest, or by least_gain, are equal: the first such
    candidate is picked. Novelties that differ by no more than floor are equal, and one below it is that of a copy.
    """
    n_classes, n = classes.shape
    gains, row = np.empty(n), np.empty(n)
    for s in range(order.size):
        largest = 0.0
        for i in range(n):
            total = 0.0
            for k in range(n_classes):
                total += classes[k, i] * classes[k, i]
            gains[i] = total / (variance[i] + ridge) if waiting[i] and novelty[i] > 0.0 else 0.0
            largest = max(largest, gains[i])
        if largest <= least_gain:
            return s
        least = largest - max(equal * largest, least_gain)
        j = 0
        while gains[j] <= 0.0 or gains[j] < least:
            j += 1
        order[s], value[s] = j, gains[j]
        # Only the part above the diagonal is up to date: left of it, take the column.
        for i in range(j):
            row[i] = covariance[i, j]
        for i in range(j, n):  # not slices: checking their shapes takes Numba three seconds to compile
            row[i] = covariance[j, i]
        for t in range(s):
            factor = steps[t, j]
            for i in range(n):
                row[i] -= factor * steps[t, i]
        row[j] = variance[j]  # the same number, by another sum
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
        for i in range(n):
            new = 1.0 - correlation[j, i] * correlation[j, i]
            if waiting[i] and new < novelty[i] - floor:
                novelty[i] = new if new > floor else 0.0
                nearest[i] = j
    return order.size
