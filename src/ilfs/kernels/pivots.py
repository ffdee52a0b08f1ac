"""Pivots of the parametric simplex method for a hinge loss with an L1 penalty; see `solvers.hinge_program`.

The objective is piecewise linear. A *kink* is a point where it changes slope: a weight of 0, or a sample exactly on the
margin. A pivot has two parts. First the duals and slopes move until one of them meets its bound. Then the weights move
along an edge to the next kink, and the basis changes by one column, one sample or both.

All functions update the arrays in place. S has one row per sample and one column per feature, u are the duals.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

RATIO_TEST_SLACK = 1e-12  # a loss or a weight may pass zero by this much if that allows a larger pivot
NEGLIGIBLE_RATE = 1e-12  # rates below this fraction of the largest one are rounding
ARRIVED, LIMIT, STUCK = 0, 1, 2  # status returned by `follow`


class Basis(NamedTuple):
    """The basis: a square matrix with one row per elbow sample and one column per active column.

    ``columns`` holds all columns of the program times the labels, one per row. ``active`` and ``elbow`` are the indices
    of the columns and samples in the basis, and ``active_columns`` and ``elbow_rows`` are copies of their values.
    ``inverse`` is the inverse of the basis (active x elbow). The size k of the basis is passed separately: only the
    first k entries of these five arrays are valid, and the others are room for growth.
    """

    columns: Floats
    active_columns: Floats
    elbow_rows: Floats
    inverse: Floats
    active: Integers
    elbow: Integers


class Vertex(NamedTuple):
    """A vertex of the program; `solvers.hinge_program` describes the arrays.

    ``weight``, ``sign``, ``slope``, ``cost`` and ``tilt`` have one value per column, ``dual``, ``bound``, ``loss`` and
    ``side`` one per sample.
    """

    weight: Floats
    sign: Floats
    slope: Floats
    cost: Floats
    tilt: Floats
    dual: Floats
    bound: Floats
    loss: Floats
    side: Floats


@kernel
def follow(
    basis: Basis, k: int, vertex: Vertex, cost_fall: Floats, tilt_fall: Floats, left: float, max_pivots: int
) -> tuple[int, int, float, int]:
    """Lower the costs and tilts along a straight line, and pivot so that the vertex stays optimal.

    The costs fall by ``left * cost_fall`` and the tilts by ``left * tilt_fall``.

    Returns
    -------
    status : int
        `ARRIVED`, `LIMIT` (``max_pivots`` were made) or `STUCK` (no kink on an edge, because of rounding errors).
    k : int
        Size of the basis.
    left : float
        Fraction of the way that remains.
    n_pivots : int
        Number of pivots that were made.
    """
    slope, cost, tilt, dual = vertex.slope, vertex.cost, vertex.tilt, vertex.dual
    is_active = np.zeros(cost.size, dtype=np.bool_)
    is_active[basis.active[:k]] = True
    for n_pivots in range(max_pivots):
        dual_rate = rate_of_duals(basis, k, vertex.sign, cost_fall, tilt_fall)
        slope_rate = np.dot(dual_rate, basis.elbow_rows[:k]) - tilt_fall if k else -tilt_fall
        feature_step, feature, feature_sign = first_feature(slope_rate, cost_fall, tilt_fall, slope, cost, is_active)
        sample_step, place = first_sample(dual_rate, basis.elbow, dual, vertex.bound)
        # Up to this step the basis stays optimal: duals, slopes, costs and tilts all move along straight lines.
        step = min(feature_step, sample_step, left)
        for e in range(k):
            dual[basis.elbow[e]] += step * dual_rate[e]
        slope += step * slope_rate
        cost -= step * cost_fall
        tilt -= step * tilt_fall
        left -= step
        if left <= 0:
            return ARRIVED, k, left, n_pivots
        # An event limits the step: a slope has reached its cost, or the dual of an elbow sample an end of its interval.
        if feature_step < sample_step:
            new_k = give_weight(feature, feature_sign, basis, k, vertex, is_active)
        else:
            new_k = leave_margin(place, dual_rate[place] > 0, basis, k, vertex, is_active)
        if new_k < 0:
            return STUCK, k, left, n_pivots
        k = new_k
    return LIMIT, k, left, max_pivots


@formula
def rate_of_duals(basis: Basis, k: int, sign: Floats, cost_fall: Floats, tilt_fall: Floats) -> Floats:
    """Compute the rates at which the duals of the elbow change."""
    inverse, active = basis.inverse, basis.active
    rate = np.zeros(k)
    # Optimality: an active column has slope = S'u + tilt = sign * cost. The derivative of both sides gives the system
    # (basis)' rate = tilt_fall - sign * cost_fall.
    for a in range(k):
        change = tilt_fall[active[a]] - cost_fall[active[a]] * sign[active[a]]
        for e in range(k):
            rate[e] += change * inverse[a, e]
    return rate


@formula
def first_feature(
    slope_rate: Floats, cost_fall: Floats, tilt_fall: Floats, slope: Floats, cost: Floats, is_active: NDArray[np.bool_]
) -> tuple[float, int, float]:
    """Find the inactive feature whose slope reaches its cost first; return the step, the feature and its sign."""
    scale = 0.0
    for j in range(slope.size):
        scale = max(scale, abs(cost_fall[j] + slope_rate[j]), abs(cost_fall[j] - slope_rate[j]), abs(tilt_fall[j]))
    first, feature, feature_sign = np.inf, 0, 1.0
    for s in (1.0, -1.0):
        for j in range(slope.size):
            # The gap cost - s * slope must not become negative. It closes at this rate.
            rate = cost_fall[j] + s * slope_rate[j]
            if not is_active[j] and rate > NEGLIGIBLE_RATE * scale:
                step = max(cost[j] - s * slope[j], 0.0) / rate
                if step < first:
                    first, feature, feature_sign = step, j, s
    return first, feature, feature_sign


@formula
def first_sample(dual_rate: Floats, elbow: Integers, dual: Floats, bound: Floats) -> tuple[float, int]:
    """Find the elbow sample whose dual is the first to reach 0 or its bound; return the step and its place."""
    first, place, scale = np.inf, 0, 0.0
    for e in range(dual_rate.size):
        scale = max(scale, abs(dual_rate[e]))
    for e in range(dual_rate.size):
        rate, i = dual_rate[e], elbow[e]
        if abs(rate) > NEGLIGIBLE_RATE * scale:
            step = max(bound[i] - dual[i] if rate > 0 else dual[i], 0.0) / abs(rate)
            if step < first:
                first, place = step, e
    return first, place


@formula
def first_kink(d: Floats, rise: Floats, active: Integers, vertex: Vertex) -> tuple[float, int]:
    """Find the first kink along an edge, where active weights change by d and margins by rise per unit of length.

    Returns
    -------
    stride : float
        Distance to the kink, infinite if there is none.
    which : int
        Below k: place of the active column whose weight becomes 0. Else k plus the sample that reaches the margin.
    """
    weight, sign, loss, side = vertex.weight, vertex.sign, vertex.loss, vertex.side
    k = d.size
    # The scale is at least 1: if two equal columns exchange weight, rise is nothing but rounding errors, and its own
    # maximum would make them look significant.
    scale = 1.0
    for a in range(k):
        scale = max(scale, abs(d[a]))
    for i in range(rise.size):
        scale = max(scale, abs(rise[i]))
    # Harris' ratio test, in two passes. The first finds the longest stride by which no weight and no loss passes zero
    # by more than the slack.
    furthest = np.inf
    for a in range(k):
        rate = -sign[active[a]] * d[a]
        if rate > NEGLIGIBLE_RATE * scale:
            furthest = min(furthest, (max(sign[active[a]] * weight[active[a]], 0.0) + RATIO_TEST_SLACK) / rate)
    for i in range(rise.size):
        rate = side[i] * rise[i]
        if rate > NEGLIGIBLE_RATE * scale:
            furthest = min(furthest, (max(side[i] * loss[i], 0.0) + RATIO_TEST_SLACK) / rate)
    # The second takes the kink within that stride with the largest rate: the update of the inverse divides by it, so a
    # small one would magnify rounding errors.
    stride, which, largest = np.inf, 0, 0.0
    for a in range(k):
        rate = -sign[active[a]] * d[a]
        if rate > NEGLIGIBLE_RATE * scale and rate > largest:
            length = max(sign[active[a]] * weight[active[a]], 0.0) / rate
            if length <= furthest:
                stride, which, largest = length, a, rate
    for i in range(rise.size):
        rate = side[i] * rise[i]
        if rate > NEGLIGIBLE_RATE * scale and rate > largest:
            length = max(side[i] * loss[i], 0.0) / rate
            if length <= furthest:
                stride, which, largest = length, k + i, rate
    return stride, which


@formula
def advance(stride: float, d: Floats, rise: Floats, active: Integers, vertex: Vertex) -> None:
    """Move the weights and the losses along an edge."""
    for a in range(d.size):
        vertex.weight[active[a]] += stride * d[a]
    for i in range(rise.size):
        vertex.loss[i] -= stride * rise[i]


@formula
def give_weight(
    feature: int, feature_sign: float, basis: Basis, k: int, vertex: Vertex, is_active: NDArray[np.bool_]
) -> int:
    """Let a feature get a weight, and move along its edge to the next kink.

    Returns the new size of the basis, or -1 if rounding errors hide the kink (an optimal program is bounded).
    """
    # The active weights make up for the new one: elbow samples stay on the margin if basis @ d = -sign * new column.
    z = np.zeros(k)
    for a in range(k):
        for e in range(k):
            z[a] += basis.inverse[a, e] * basis.elbow_rows[e, feature]
    d = -feature_sign * z
    rise = feature_sign * basis.columns[feature]
    if k:
        rise += np.dot(d, basis.active_columns[:k])
    rise[basis.elbow[:k]] = 0.0
    stride, which = first_kink(d, rise, basis.active, vertex)
    if stride == np.inf:
        return -1
    advance(stride, d, rise, basis.active, vertex)
    vertex.weight[feature] = feature_sign * stride
    vertex.sign[feature] = 0.0 if feature == 0 else feature_sign  # column 0 is the intercept, of any sign
    is_active[feature] = True
    if which < k:
        swap_weights(which, feature, z, basis, k, vertex, is_active)
        return k
    grow(feature, which - k, z, basis, k)
    vertex.side[which - k] = vertex.loss[which - k] = 0.0
    return k + 1


@formula
def swap_weights(
    place: int, feature: int, z: Floats, basis: Basis, k: int, vertex: Vertex, is_active: NDArray[np.bool_]
) -> None:
    """Replace an active feature whose weight has become 0 by another feature."""
    inverse = basis.inverse
    # One column of the basis changes. z is the new column in coordinates of the old basis, and z[place] is the pivot.
    row = inverse[place, :k] / z[place]
    for a in range(k):
        for e in range(k):
            inverse[a, e] -= z[a] * row[e]
    copy(row, inverse[place])
    gone = basis.active[place]
    vertex.weight[gone] = vertex.sign[gone] = 0.0
    is_active[gone] = False
    basis.active[place] = feature
    copy(basis.columns[feature], basis.active_columns[place])


@formula
def grow(feature: int, sample: int, z: Floats, basis: Basis, k: int) -> None:
    """Add a feature and a sample to the basis."""
    inverse = basis.inverse
    # Inverse of a bordered matrix: the pivot is the Schur complement of the old basis.
    y, pivot = np.zeros(k), basis.columns[feature, sample]
    for a in range(k):
        value = basis.active_columns[a, sample]
        pivot -= value * z[a]
        for e in range(k):
            y[e] += value * inverse[a, e]
    for a in range(k):
        for e in range(k):
            inverse[a, e] += z[a] * y[e] / pivot
        inverse[a, k] = -z[a] / pivot
        inverse[k, a] = -y[a] / pivot
    inverse[k, k] = 1.0 / pivot
    basis.active[k], basis.elbow[k] = feature, sample
    copy(basis.columns[feature], basis.active_columns[k])
    copy_column(basis.columns, sample, basis.elbow_rows[k])


@formula
def leave_margin(gone: int, above: bool, basis: Basis, k: int, vertex: Vertex, is_active: NDArray[np.bool_]) -> int:
    """Let a sample leave the elbow and move along its edge to the next kink.

    ``above`` is True if its dual has reached its bound, so that its loss becomes positive. Returns the new size of the
    basis, or -1 if rounding errors hide the kink.
    """
    # Column ``gone`` of the inverse is the change of weights that moves this sample alone off the margin.
    old, column = basis.elbow[gone], basis.inverse[:k, gone].copy()
    d = -column if above else column.copy()
    rise = np.dot(d, basis.active_columns[:k])
    rise[basis.elbow[:k]] = 0.0
    rise[old] = -1.0 if above else 1.0
    stride, which = first_kink(d, rise, basis.active, vertex)
    if stride == np.inf:
        return -1
    advance(stride, d, rise, basis.active, vertex)
    vertex.dual[old], vertex.side[old] = (vertex.bound[old], 1.0) if above else (0.0, -1.0)
    if which < k:
        shrink(which, gone, column, basis, k, vertex, is_active)
        return k - 1
    swap_samples(gone, which - k, column, basis, k)
    vertex.side[which - k] = vertex.loss[which - k] = 0.0
    return k


@formula
def shrink(
    place: int, gone: int, column: Floats, basis: Basis, k: int, vertex: Vertex, is_active: NDArray[np.bool_]
) -> None:
    """Remove a feature and a sample from the basis, and move the last ones to their places."""
    inverse, active, elbow = basis.inverse, basis.active, basis.elbow
    # The reverse of `grow`: subtracting this matrix of rank one leaves the inverse of the smaller basis.
    row = inverse[place, :k] / column[place]
    for a in range(k):
        for e in range(k):
            inverse[a, e] -= column[a] * row[e]
    feature = active[place]
    vertex.weight[feature] = vertex.sign[feature] = 0.0
    is_active[feature] = False
    for e in range(k):
        inverse[place, e] = inverse[k - 1, e]
    for a in range(k):
        inverse[a, gone] = inverse[a, k - 1]
    active[place], elbow[gone] = active[k - 1], elbow[k - 1]
    copy(basis.active_columns[k - 1], basis.active_columns[place])
    copy(basis.elbow_rows[k - 1], basis.elbow_rows[gone])


@formula
def swap_samples(gone: int, sample: int, column: Floats, basis: Basis, k: int) -> None:
    """Replace an elbow sample by another sample."""
    # One row of the basis changes: the formula of Sherman and Morrison, with y the new row times the old inverse.
    inverse, y = basis.inverse, np.zeros(k)
    for a in range(k):
        for e in range(k):
            y[e] += basis.active_columns[a, sample] * inverse[a, e]
    pivot = y[gone]
    y[gone] -= 1.0
    for a in range(k):
        for e in range(k):
            inverse[a, e] -= column[a] / pivot * y[e]
    basis.elbow[gone] = sample
    copy_column(basis.columns, sample, basis.elbow_rows[gone])


@formula
def copy(source: Floats, target: Floats) -> None:
    """Copy all of an array to the beginning of another one."""
    # A loop instead of slices: Numba needs three seconds to compile the shape check of a slice assignment.
    for i in range(source.size):
        target[i] = source[i]


@formula
def copy_column(source: Floats, column: int, target: Floats) -> None:
    """Copy a column of a matrix to the beginning of an array."""
    for i in range(target.size):
        target[i] = source[i, column]
