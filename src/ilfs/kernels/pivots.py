"""Pivots of the parametric simplex method for a hinge loss and weighted absolute weights; see `solvers.hinge_program`.

Arrays are changed in place.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

SLACK = 1e-12  # by which a loss or a weight may pass zero for the sake of a larger pivot
NEGLIGIBLE_RATE = 1e-12  # rates below this fraction of the largest one are rounding
ARRIVED, LIMIT, STUCK = 0, 1, 2  # how `follow` ended


class Basis(NamedTuple):
    """The square matrix of the active columns at the samples of the elbow; its size k is kept apart.

    ``columns`` are all columns times the labels, one a row. ``active`` and ``elbow`` say which columns and which
    samples are in the basis, ``active_columns`` and ``elbow_rows`` are copies of them, and ``inverse`` is the inverse
    (active x elbow). All but the first have room for more than k.
    """

    columns: Floats
    active_columns: Floats
    elbow_rows: Floats
    inverse: Floats
    active: Integers
    elbow: Integers


class Vertex(NamedTuple):
    """The vertex: weights of the columns and duals and losses of the samples; see `solvers.hinge_program`."""

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
    basis: Basis, k: int, vertex: Vertex, fall: Floats, righting: Floats, left: float, max_pivots: int
) -> tuple[int, int, float, int]:
    """Let costs and tilts fall, as far as ``left`` of the given amounts, and keep the vertex optimal.

    Returns
    -------
    status : int
        `ARRIVED`, `LIMIT` (of the pivots) or `STUCK`.
    k : int
        Size of the basis.
    left : float
        What remains of the way.
    n_pivots : int
        How many were made.
    """
    slope, cost, tilt, dual = vertex.slope, vertex.cost, vertex.tilt, vertex.dual
    is_active = np.zeros(cost.size, dtype=np.bool_)
    is_active[basis.active[:k]] = True
    for n_pivots in range(max_pivots):
        dual_rate = rate_of_duals(basis, k, vertex.sign, fall, righting)
        slope_rate = np.dot(dual_rate, basis.elbow_rows[:k]) - righting if k else -righting
        feature_step, feature, feature_sign = first_feature(slope_rate, fall, righting, slope, cost, is_active)
        sample_step, place = first_sample(dual_rate, basis.elbow, dual, vertex.bound)
        step = min(feature_step, sample_step, left)
        for e in range(k):
            dual[basis.elbow[e]] += step * dual_rate[e]
        slope += step * slope_rate
        cost -= step * fall
        tilt -= step * righting
        left -= step
        if left <= 0:
            return ARRIVED, k, left, n_pivots
        if feature_step < sample_step:
            new_k = give_weight(feature, feature_sign, basis, k, vertex, is_active)
        else:
            new_k = leave_margin(place, dual_rate[place] > 0, basis, k, vertex, is_active)
        if new_k < 0:
            return STUCK, k, left, n_pivots
        k = new_k
    return LIMIT, k, left, max_pivots


@formula
def rate_of_duals(basis: Basis, k: int, sign: Floats, fall: Floats, righting: Floats) -> Floats:
    """How fast the duals of the elbow change."""
    inverse, active = basis.inverse, basis.active
    rate = np.zeros(k)
    for a in range(k):
        change = righting[active[a]] - fall[active[a]] * sign[active[a]]
        for e in range(k):
            rate[e] += change * inverse[a, e]
    return rate


@formula
def first_feature(
    slope_rate: Floats, fall: Floats, righting: Floats, slope: Floats, cost: Floats, is_active: NDArray[np.bool_]
) -> tuple[float, int, float]:
    """How far until a feature without weight meets its cost, which, and with what sign."""
    scale = 0.0
    for j in range(slope.size):
        scale = max(scale, abs(fall[j] + slope_rate[j]), abs(fall[j] - slope_rate[j]), abs(righting[j]))
    first, feature, feature_sign = np.inf, 0, 1.0
    for s in (1.0, -1.0):
        for j in range(slope.size):
            rate = fall[j] + s * slope_rate[j]
            if not is_active[j] and rate > NEGLIGIBLE_RATE * scale:
                step = max(cost[j] - s * slope[j], 0.0) / rate
                if step < first:
                    first, feature, feature_sign = step, j, s
    return first, feature, feature_sign


@formula
def first_sample(dual_rate: Floats, elbow: Integers, dual: Floats, bound: Floats) -> tuple[float, int]:
    """How far until the dual of a sample of the elbow meets an end of its interval, and its place there."""
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
    """How far to go along an edge, and to what: the place of a weight of 0, or that plus k: a sample on the margin."""
    weight, sign, loss, side = vertex.weight, vertex.sign, vertex.loss, vertex.side
    k = d.size
    # If two columns swap their weight, all of rise is rounding: its own largest would be no scale.
    scale = 1.0
    for a in range(k):
        scale = max(scale, abs(d[a]))
    for i in range(rise.size):
        scale = max(scale, abs(rise[i]))
    furthest = np.inf
    for a in range(k):
        rate = -sign[active[a]] * d[a]
        if rate > NEGLIGIBLE_RATE * scale:
            furthest = min(furthest, (max(sign[active[a]] * weight[active[a]], 0.0) + SLACK) / rate)
    for i in range(rise.size):
        rate = side[i] * rise[i]
        if rate > NEGLIGIBLE_RATE * scale:
            furthest = min(furthest, (max(side[i] * loss[i], 0.0) + SLACK) / rate)
    # Of those nearly first the one with the largest rate, by which the next inverse is divided.
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
    """Go along an edge."""
    for a in range(d.size):
        vertex.weight[active[a]] += stride * d[a]
    for i in range(rise.size):
        vertex.loss[i] -= stride * rise[i]


@formula
def give_weight(
    feature: int, feature_sign: float, basis: Basis, k: int, vertex: Vertex, is_active: NDArray[np.bool_]
) -> int:
    """Let a feature have weight until something else is at its kink instead; the new size of the basis, or -1."""
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
    """Put a feature into the place of another one, whose weight has become 0."""
    inverse = basis.inverse
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
    """Let a sample leave the margin until something else is at its kink instead; the new size of the basis, or -1."""
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
    """Take a feature and a sample out of the basis; the last ones move to their places."""
    inverse, active, elbow = basis.inverse, basis.active, basis.elbow
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
    """Put a sample into the place of another one."""
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
    # Not slices: the message for arrays of different shapes takes Numba three seconds to compile.
    for i in range(source.size):
        target[i] = source[i]


@formula
def copy_column(source: Floats, column: int, target: Floats) -> None:
    """Copy a column of a matrix."""
    for i in range(target.size):
        target[i] = source[i, column]
