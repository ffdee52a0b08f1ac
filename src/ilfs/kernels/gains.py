"""Inner loop of forward selection by gain.

The picks are the pivots of a Cholesky factorisation of the covariance matrix plus ridge. Each pick subtracts a matrix
of rank one from the covariances. The kernel makes several picks without updating the whole matrix: it updates only the
rows that it needs. `ilfs.solvers.picking` then subtracts the changes of all these picks by one matrix product, which is
much faster.
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
    relative: float,
    floor: float,
    least_gain: float,
    waiting: NDArray[Any],
    novelty: Floats,
    nearest: Integers,
    forced: NDArray[Any],
    n_forced: int,
    steps: Floats,
    order: Integers,
    value: Floats,
    gain: Floats,
) -> int:
    """Pick as many candidates as steps and order have room for; return the number of picks.

    classes (classes x candidates) holds the covariances of the candidates with the residuals of the classes, and
    variance the variances that earlier picks do not explain. covariance holds the covariances as they were before these
    picks; only the diagonal and the values above it are valid. The kernel writes row s of the Cholesky factor to
    steps[s], pick s to order[s], its total gain to value[s], and its gain for each class to a column of gain.

    Gains tie if they differ by at most ``relative`` times the largest gain, or by at most ``least_gain``. Of tied
    candidates the first is picked. Novelties tie if they differ by at most ``floor``. A candidate with a novelty of at
    most ``floor`` is a copy of a pick.

    The first ``n_forced`` picks are chosen among the candidates of the mask ``forced``, even if they gain nothing.
    """
    n_classes, n = classes.shape
    gains, row, is_eligible = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
    for s in range(order.size):
        is_forced = s < n_forced
        for i in range(n):
            is_eligible[i] = waiting[i] and (forced[i] if is_forced else novelty[i] > 0.0)
        j = best_candidate(classes, variance, ridge, relative, least_gain, is_eligible, is_forced, gains)
        if j < 0:
            return s
        order[s], value[s] = j, gains[j]
        remaining_row(covariance, steps, s, j, row)
        row[j] = variance[j]  # summed in another order: use the number from which the gain was computed
        root = np.sqrt(variance[j] + ridge)
        # Row s of the Cholesky factor. Its squares are the variances that the pick explains.
        for i in range(n):
            steps[s, i] = row[i] / root
            variance[i] = max(variance[i] - steps[s, i] * steps[s, i], 0.0)
        # The pick lowers the loss of class k by c_jk^2 / (v_j + ridge). The residuals lose their part along the pick.
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
    relative: float,
    least_gain: float,
    is_eligible: NDArray[Any],
    is_forced: bool,
    gains: Floats,
) -> int:
    """Compute the gains of the eligible candidates; return the first one with the largest gain up to rounding.

    Return -1 if none of them has a gain, unless one must be picked.
    """
    n_classes, n = classes.shape
    largest = -1.0
    for i in range(n):
        total = 0.0
        for k in range(n_classes):
            total += classes[k, i] * classes[k, i]
        gains[i] = total / (variance[i] + ridge) if is_eligible[i] else -1.0
        largest = max(largest, gains[i])
    if largest <= least_gain and not is_forced:
        return -1
    least = largest - max(relative * largest, least_gain)
    j = 0
    while gains[j] < least:
        j += 1
    return j


@formula
def remaining_row(covariance: Floats, steps: Floats, s: int, j: int, row: Floats) -> None:
    """Compute row j of the covariances after s picks of this call."""
    n = row.size
    # Values below the diagonal are not valid: take those of column j above the diagonal instead.
    # Loops instead of slices: Numba needs three seconds to compile the shape check of a slice assignment.
    for i in range(j):
        row[i] = covariance[i, j]
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
    """Update novelty and nearest pick of the waiting candidates to which pick j is nearer than all picks before."""
    for i in range(novelty.size):
        new = 1.0 - correlation[j, i] * correlation[j, i]
        if waiting[i] and new < novelty[i] - floor:
            novelty[i] = new if new > floor else 0.0
            nearest[i] = j
