"""Pivots of the parametric simplex method for a hinge loss and weighted absolute weights; see `solvers.hinge_program`.

Arrays are changed in place. S are the columns times the labels, one a row; the basis is the square matrix of the
``active`` columns and of the samples of the ``elbow``, ``inverse`` its inverse (active x elbow), and ``k`` its size.
"""

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

SLACK = 1e-12  # by which a loss or a weight may pass zero for the sake of a larger pivot
TINY = 1e-12  # a rate this small, of the largest, is rounding
ARRIVED, LIMIT, STUCK = 0, 1, 2


@kernel
def follow(
    columns: Floats,
    active_columns: Floats,
    elbow_rows: Floats,
    inverse: Floats,
    active: Integers,
    elbow: Integers,
    k: int,
    weight: Floats,
    sign: Floats,
    slope: Floats,
    cost: Floats,
    tilt: Floats,
    dual: Floats,
    bound: Floats,
    loss: Floats,
    side: Floats,
    fall: Floats,
    righting: Floats,
    left: float,
    max_pivots: int,
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
    is_active = np.zeros(weight.size, dtype=np.bool_)
    is_active[active[:k]] = True
    for n_pivots in range(max_pivots):
        dual_rate = rate_of_duals(inverse, active, k, sign, fall, righting)
        slope_rate = np.dot(dual_rate, elbow_rows[:k]) - righting if k else -righting
        feature_step, feature, feature_sign = first_feature(slope_rate, fall, righting, slope, cost, is_active)
        sample_step, place = first_sample(dual_rate, elbow, dual, bound)
        step = min(feature_step, sample_step, left)
        for e in range(k):
            dual[elbow[e]] += step * dual_rate[e]
        slope += step * slope_rate
        cost -= step * fall
        tilt -= step * righting
        left -= step
        if left <= 0:
            return ARRIVED, k, left, n_pivots
        if feature_step < sample_step:
            new_k = give_weight(
                feature, feature_sign, columns, active_columns, elbow_rows, inverse, active, elbow, k, weight, sign,
                loss, side, is_active,
            )  # fmt: skip
        else:
            new_k = leave_margin(
                place, dual_rate[place] > 0, columns, active_columns, elbow_rows, inverse, active, elbow, k, weight,
                sign, dual, bound, loss, side, is_active,
            )  # fmt: skip
        if new_k < 0:
            return STUCK, k, left, n_pivots
        k = new_k
    return LIMIT, k, left, max_pivots


@formula
def rate_of_duals(inverse: Floats, active: Integers, k: int, sign: Floats, fall: Floats, righting: Floats) -> Floats:
    """How fast the duals of the elbow change."""
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
            if not is_active[j] and rate > TINY * scale:
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
        if abs(rate) > TINY * scale:
            step = max(bound[i] - dual[i] if rate > 0 else dual[i], 0.0) / abs(rate)
            if step < first:
                first, place = step, e
    return first, place


@formula
def first_kink(
    d: Floats, rise: Floats, active: Integers, weight: Floats, sign: Floats, loss: Floats, side: Floats
) -> tuple[float, int]:
    """How far to go along an edge, and to what: the place of a weight of 0, or that plus k: a sample on the margin."""
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
        if rate > TINY * scale:
            furthest = min(furthest, (max(sign[active[a]] * weight[active[a]], 0.0) + SLACK) / rate)
    for i in range(rise.size):
        rate = side[i] * rise[i]
        if rate > TINY * scale:
            furthest = min(furthest, (max(side[i] * loss[i], 0.0) + SLACK) / rate)
    # Of those nearly first the one with the largest rate, by which the next inverse is divided.
    stride, which, largest = np.inf, 0, 0.0
    for a in range(k):
        rate = -sign[active[a]] * d[a]
        if rate > TINY * scale and rate > largest:
            length = max(sign[active[a]] * weight[active[a]], 0.0) / rate
            if length <= furthest:
                stride, which, largest = length, a, rate
    for i in range(rise.size):
        rate = side[i] * rise[i]
        if rate > TINY * scale and rate > largest:
            length = max(side[i] * loss[i], 0.0) / rate
            if length <= furthest:
                stride, which, largest = length, k + i, rate
    return stride, which


@formula
def advance(stride: float, d: Floats, rise: Floats, active: Integers, weight: Floats, loss: Floats) -> None:
    """Go along an edge."""
    for a in range(d.size):
        weight[active[a]] += stride * d[a]
    for i in range(rise.size):
        loss[i] -= stride * rise[i]


@formula
def give_weight(
    feature: int,
    feature_sign: float,
    columns: Floats,
    active_columns: Floats,
    elbow_rows: Floats,
    inverse: Floats,
    active: Integers,
    elbow: Integers,
    k: int,
    weight: Floats,
    sign: Floats,
    loss: Floats,
    side: Floats,
    is_active: NDArray[np.bool_],
) -> int:
    """Let a feature have weight until something else is at its kink instead; the new size of the basis, or -1."""
    z = np.zeros(k)
    for a in range(k):
        for e in range(k):
            z[a] += inverse[a, e] * elbow_rows[e, feature]
    d = -feature_sign * z
    rise = feature_sign * columns[feature]
    if k:
        rise += np.dot(d, active_columns[:k])
    rise[elbow[:k]] = 0.0
    stride, which = first_kink(d, rise, active, weight, sign, loss, side)
    if stride == np.inf:
        return -1
    advance(stride, d, rise, active, weight, loss)
    weight[feature] = feature_sign * stride
    sign[feature] = 0.0 if feature == 0 else feature_sign  # column 0 is the intercept, which may have any sign
    is_active[feature] = True
    if which < k:
        swap_weights(which, feature, z, columns, active_columns, inverse, active, k, weight, sign, is_active)
        return k
    grow(feature, which - k, z, columns, active_columns, elbow_rows, inverse, active, elbow, k)
    side[which - k] = loss[which - k] = 0.0
    return k + 1


@formula
def swap_weights(
    place: int,
    feature: int,
    z: Floats,
    columns: Floats,
    active_columns: Floats,
    inverse: Floats,
    active: Integers,
    k: int,
    weight: Floats,
    sign: Floats,
    is_active: NDArray[np.bool_],
) -> None:
    """Put a feature into the place of another one, whose weight has become 0."""
    row = inverse[place, :k] / z[place]
    for a in range(k):
        for e in range(k):
            inverse[a, e] -= z[a] * row[e]
    inverse[place, :k] = row
    gone = active[place]
    weight[gone] = sign[gone] = 0.0
    is_active[gone] = False
    active[place] = feature
    active_columns[place] = columns[feature]


@formula
def grow(
    feature: int,
    sample: int,
    z: Floats,
    columns: Floats,
    active_columns: Floats,
    elbow_rows: Floats,
    inverse: Floats,
    active: Integers,
    elbow: Integers,
    k: int,
) -> None:
    """Add a feature and a sample to the basis."""
    y, pivot = np.zeros(k), columns[feature, sample]
    for a in range(k):
        value = active_columns[a, sample]
        pivot -= value * z[a]
        for e in range(k):
            y[e] += value * inverse[a, e]
    for a in range(k):
        for e in range(k):
            inverse[a, e] += z[a] * y[e] / pivot
        inverse[a, k] = -z[a] / pivot
        inverse[k, a] = -y[a] / pivot
    inverse[k, k] = 1.0 / pivot
    active[k], elbow[k] = feature, sample
    active_columns[k] = columns[feature]
    elbow_rows[k] = columns[:, sample]


@formula
def leave_margin(
    gone: int,
    above: bool,
    columns: Floats,
    active_columns: Floats,
    elbow_rows: Floats,
    inverse: Floats,
    active: Integers,
    elbow: Integers,
    k: int,
    weight: Floats,
    sign: Floats,
    dual: Floats,
    bound: Floats,
    loss: Floats,
    side: Floats,
    is_active: NDArray[np.bool_],
) -> int:
    """Let a sample leave the margin until something else is at its kink instead; the new size of the basis, or -1."""
    old, column = elbow[gone], inverse[:k, gone].copy()
    d = -column if above else column.copy()
    rise = np.dot(d, active_columns[:k])
    rise[elbow[:k]] = 0.0
    rise[old] = -1.0 if above else 1.0
    stride, which = first_kink(d, rise, active, weight, sign, loss, side)
    if stride == np.inf:
        return -1
    advance(stride, d, rise, active, weight, loss)
    dual[old], side[old] = (bound[old], 1.0) if above else (0.0, -1.0)
    if which < k:
        shrink(which, gone, column, active_columns, elbow_rows, inverse, active, elbow, k, weight, sign, is_active)
        return k - 1
    swap_samples(gone, which - k, column, columns, active_columns, elbow_rows, inverse, elbow, k)
    side[which - k] = loss[which - k] = 0.0
    return k


@formula
def shrink(
    place: int,
    gone: int,
    column: Floats,
    active_columns: Floats,
    elbow_rows: Floats,
    inverse: Floats,
    active: Integers,
    elbow: Integers,
    k: int,
    weight: Floats,
    sign: Floats,
    is_active: NDArray[np.bool_],
) -> None:
    """Take a feature and a sample out of the basis; the last ones move to their places."""
    row = inverse[place, :k] / column[place]
    for a in range(k):
        for e in range(k):
            inverse[a, e] -= column[a] * row[e]
    feature = active[place]
    weight[feature] = sign[feature] = 0.0
    is_active[feature] = False
    inverse[place, :k] = inverse[k - 1, :k]
    inverse[:k, gone] = inverse[:k, k - 1]
    active[place], elbow[gone] = active[k - 1], elbow[k - 1]
    active_columns[place] = active_columns[k - 1]
    elbow_rows[gone] = elbow_rows[k - 1]


@formula
def swap_samples(
    gone: int,
    sample: int,
    column: Floats,
    columns: Floats,
    active_columns: Floats,
    elbow_rows: Floats,
    inverse: Floats,
    elbow: Integers,
    k: int,
) -> None:
    """Put a sample into the place of another one."""
    y = np.zeros(k)
    for a in range(k):
        for e in range(k):
            y[e] += active_columns[a, sample] * inverse[a, e]
    pivot = y[gone]
    y[gone] -= 1.0
    for a in range(k):
        for e in range(k):
            inverse[a, e] -= column[a] / pivot * y[e]
    elbow[gone] = sample
    elbow_rows[gone] = columns[:, sample]
