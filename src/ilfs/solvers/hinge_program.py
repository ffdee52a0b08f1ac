r"""The linear program of a linear machine with few weights, solved by following its optimum while the costs change.

.. math:: \min_w \; \sum_i p_i \,(1 - s_i^\top w)_+ + \sum_j c_j |w_j|

Row :math:`s_i` is a sample times its label; a column of labels of cost 0 carries the intercept. The dual variables
:math:`0 \le u_i \le p_i` satisfy :math:`|S_j^\top u| \le c_j`, with equality and the sign of the weight where a weight
is not zero. At a vertex as many samples lie exactly on the margin as there are weights: they are the *elbow*. Nothing
else needs a matrix, so the basis is as small as the solution, not as large as the program.

While the costs move in a straight line, the duals of the elbow do too, until one of them meets an end of its interval
or a feature without weight meets its cost. That sample leaves the margin, or that feature gets weight, along the one
edge on which the objective does not change, until another sample reaches the margin or another weight reaches zero.
This is a pivot of the parametric simplex method and costs O(samples x weights). The vertex is optimal all the way.

Any vertex is optimal once the objective is tilted, by a term :math:`-h^\top w`, until it is. So the way may also begin
at the solution for some of the samples, and h falls to 0 while the costs move.
"""

from typing import Self

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.ties import RELATIVE_TOLERANCE

JITTER = 1e-7  # range of the margins: no two samples reach theirs at once
SLACK = 1e-12  # by which a loss or a weight may pass zero for the sake of a larger pivot
REFRESH = 64  # pivots after which all is computed anew, against rounding
TINY = 1e-12  # a rate this small, of the largest, is rounding
INTERCEPT = -1


class HingeProgram:
    """An optimal vertex of the program, which moves when the costs do.

    Parameters
    ----------
    label : ndarray of shape (n_samples,)
        1 or -1.
    bound : ndarray of shape (n_samples,)
        p, what a unit of loss costs; the same in total for both labels, so that w = 0 is optimal if costs are high.
    jitter : ndarray of shape (n_samples,), optional
        Numbers in [0, 1) that decide which of several optimal duals is found; random ones by row unless given.

    Attributes
    ----------
    feature : ndarray of shape (n_columns,)
        Which feature each column is, `INTERCEPT` being one of them.
    cost : ndarray of shape (n_columns,)
        c, as they are now.
    dual : ndarray of shape (n_samples,)
        u.
    n_pivots : int
        So far.
    """

    def __init__(self, label: Floats, bound: Floats, jitter: Floats | None = None) -> None:
        self.bound, self.dual = bound, bound.copy()
        self.feature = np.array([INTERCEPT])
        self.columns = label[None, :].copy()  # one a row
        self.cost, self.weight, self.sign, self.slope, self.tilt = np.zeros((5, 1))  # slope: S'u + h, tilt: h
        self.active, self.elbow = np.empty((2, 0), dtype=np.int64)
        self.inverse = np.empty((0, 0))  # of the matrix of elbow x active
        self.n_pivots = 0
        self.margin = 1.0 + JITTER * (spaced_at_random(label.size) if jitter is None else jitter)
        self.loss = self.margin.copy()  # margin - s_i'w: what is positive of it costs
        self.side = np.ones(label.size)  # of the margin: 1 costs, -1 does not, 0 is the elbow
        self._copy_basis()

    @classmethod
    def lifted(
        cls, few: "HingeProgram", rows: Integers, label: Floats, bound: Floats, columns: Floats, jitter: Floats | None = None
    ) -> Self:
        """The vertex of a program of some samples, at these rows, in the tilted program of all samples.

        Columns are those of the features of the smaller program, times the labels, one a row.
        """
        program = cls(label, bound, jitter)
        program.feature, program.columns = few.feature, np.concatenate([program.columns, columns])
        program.cost, program.sign, program.weight = few.cost.copy(), few.sign.copy(), few.weight.copy()
        program.active, program.elbow, program.inverse = few.active.copy(), rows[few.elbow], few.inverse.copy()
        program._copy_basis()
        program._place()
        program.side = np.where(program.loss < 0, -1.0, 1.0)
        program.side[program.elbow] = 0.0
        program.dual = np.where(program.side > 0, bound, 0.0)
        program.dual[program.elbow] = bound[program.elbow] * (few.dual / few.bound)[few.elbow]
        slope = program.columns @ program.dual
        program.slope = np.where(
            program.sign == 0, np.clip(slope, -program.cost, program.cost), program.sign * program.cost
        )
        program.tilt = program.slope - slope
        return program

    def add(self, features: Integers, columns: Floats) -> None:
        """Put in columns (times the labels, one a row) without weight, at the least cost that keeps them without."""
        slope = columns @ self.dual
        self.feature = np.concatenate([self.feature, features])
        self.columns = np.concatenate([self.columns, columns])
        self.cost = np.concatenate([self.cost, np.abs(slope)])
        self.slope = np.concatenate([self.slope, slope])
        none = np.zeros(features.size)
        self.weight, self.sign, self.tilt = (np.append(a, none) for a in (self.weight, self.sign, self.tilt))
        self._copy_basis()

    def move(self, cost: Floats, max_pivots: int) -> bool:
        """Change the costs to these and the tilt to 0; False if it takes more pivots, or rounding forbids one."""
        fall, righting, left = self.cost - cost, self.tilt.copy(), 1.0
        for _ in range(max_pivots):
            k = self.active.size
            dual_rate = (righting - fall * self.sign)[self.active] @ self.inverse
            slope_rate = dual_rate @ self.elbow_rows[:k] - righting
            feature_step, feature, sign = self._first_feature(slope_rate, fall, righting)
            sample_step, place = self._first_sample(dual_rate)
            step = min(feature_step, sample_step, left)
            self.dual[self.elbow] += step * dual_rate
            self.slope += step * slope_rate
            self.cost -= step * fall
            self.tilt -= step * righting
            left -= step
            if left <= 0:
                self.cost, self.tilt = cost.copy(), np.zeros_like(cost)
                return self._refresh()
            if feature_step < sample_step:
                moved = self._give_weight(feature, sign)
            else:
                moved = self._leave_margin(place, above=dual_rate[place] > 0)
            self.n_pivots += 1
            if not moved or (self.n_pivots % REFRESH == 0 and not self._refresh()):
                break
        return False

    def weights(self) -> Floats:
        """Of the program without jitter."""
        weight = np.zeros(self.feature.size)
        weight[self.active] = self.inverse.sum(axis=1)
        only_jitter = (weight * self.sign < 0) | (np.abs(weight) <= RELATIVE_TOLERANCE * np.abs(weight).max())
        weight[only_jitter] = 0.0
        return weight

    def duals(self, cost: Floats) -> Floats:
        """The dual variables of this vertex at costs that differ a little from the present ones."""
        dual = self.dual.copy()
        dual[self.elbow] += ((cost - self.cost) * self.sign)[self.active] @ self.inverse
        return dual

    def hinge(self, weight: Floats) -> float:
        """What the samples cost at these weights, zero outside the active columns."""
        loss = 1.0 - weight[self.active] @ self.active_columns[: self.active.size]
        return float(self.bound @ np.maximum(loss, 0.0))

    def _first_feature(self, slope_rate: Floats, fall: Floats, righting: Floats) -> tuple[float, int, float]:
        """How far until a feature without weight meets its cost, which, and with what sign."""
        rates = np.stack([fall + slope_rate, fall - slope_rate])
        scale = max(np.abs(rates).max(), np.abs(righting).max())
        rates[:, self.active] = 0.0
        steps = quotients(np.stack([self.cost - self.slope, self.cost + self.slope]), rates, scale)
        side, feature = np.unravel_index(steps.argmin(), steps.shape)
        return float(steps[side, feature]), int(feature), 1.0 - 2.0 * int(side)

    def _first_sample(self, dual_rate: Floats) -> tuple[float, int]:
        """How far until the dual of a sample of the elbow meets an end of its interval, and its place there."""
        if not dual_rate.size:
            return np.inf, 0
        dual, rates = self.dual[self.elbow], np.abs(dual_rate)
        steps = quotients(np.where(dual_rate > 0, self.bound[self.elbow] - dual, dual), rates, rates.max())
        place = int(steps.argmin())
        return float(steps[place]), place

    def _give_weight(self, feature: int, sign: float) -> bool:
        """Let a feature have weight, until something else is at its kink instead."""
        k = self.active.size
        z = self.inverse @ self.elbow_rows[:k, feature]
        rise = sign * (self.columns[feature] - z @ self.active_columns[:k])
        rise[self.elbow] = 0.0
        stride, sample, place = self._first_kink(-sign * z, rise)
        if stride == np.inf:
            return False
        self._advance(stride, -sign * z, rise)
        self.weight[feature] = sign * stride
        self.sign[feature] = 0.0 if self.feature[feature] == INTERCEPT else sign
        if sample is None:
            row = self.inverse[place] / z[place]
            self.inverse -= np.outer(z, row)
            self.inverse[place] = row
            self._take_weight(place)
            self.active[place], self.active_columns[place] = feature, self.columns[feature]
        else:
            cells = self.active_columns[:k, sample]
            y, pivot = cells @ self.inverse, self.columns[feature, sample] - cells @ z
            corner = np.outer(z, y) / pivot + self.inverse
            self.inverse = np.block([[corner, -z[:, None] / pivot], [-y / pivot, np.array([1 / pivot])]])
            self.active, self.elbow = np.append(self.active, feature), np.append(self.elbow, sample)
            self.active_columns[k], self.elbow_rows[k] = self.columns[feature], self.columns[:, sample]
            self.side[sample] = self.loss[sample] = 0.0
        return True

    def _leave_margin(self, gone: int, above: bool) -> bool:
        """Let a sample of the elbow leave the margin, until something else is at its kink instead."""
        k = self.active.size
        old, column = self.elbow[gone], self.inverse[:, gone].copy()
        d = -column if above else column
        rise = d @ self.active_columns[:k]
        rise[self.elbow] = 0.0
        rise[old] = -1.0 if above else 1.0
        stride, sample, place = self._first_kink(d, rise)
        if stride == np.inf:
            return False
        self._advance(stride, d, rise)
        self.dual[old], self.side[old] = (self.bound[old], 1.0) if above else (0.0, -1.0)
        if sample is None:
            self.inverse -= np.outer(column, self.inverse[place] / column[place])
            self._take_weight(place)
            # the last take the places of those gone
            self.inverse[place], self.active[place] = self.inverse[-1], self.active[-1]
            self.inverse[:, gone], self.elbow[gone] = self.inverse[:, -1], self.elbow[-1]
            self.active_columns[place], self.elbow_rows[gone] = self.active_columns[k - 1], self.elbow_rows[k - 1]
            self.inverse, self.active, self.elbow = self.inverse[:-1, :-1], self.active[:-1], self.elbow[:-1]
        else:
            y = self.active_columns[:k, sample] @ self.inverse
            column /= y[gone]
            y[gone] -= 1.0
            self.inverse -= np.outer(column, y)
            self.elbow[gone], self.elbow_rows[gone] = sample, self.columns[:, sample]
            self.side[sample] = self.loss[sample] = 0.0
        return True

    def _first_kink(self, d: Floats, rise: Floats) -> tuple[float, int | None, int]:
        """How far to go along an edge, and to what: a sample on the margin, or else the place of a weight of 0."""
        sign = self.sign[self.active]
        room = np.concatenate([sign * self.weight[self.active], self.side * self.loss])
        rate = np.concatenate([-sign * d, self.side * rise])
        # if two columns swap their weight, all of rise is rounding: its own largest would be no scale
        used = np.flatnonzero(rate > TINY * max(np.abs(d).max(initial=1.0), np.abs(rise).max()))
        if not used.size:
            return np.inf, None, 0
        rate = rate[used]
        strides = np.maximum(room[used], 0.0) / rate
        # of those nearly first the one with the largest rate, by which the next inverse is divided
        nearly = np.flatnonzero(strides <= (strides + SLACK / rate).min())
        first = nearly[rate[nearly].argmax()]
        stride, place = float(strides[first]), int(used[first])
        return stride, (None if place < d.size else place - d.size), place

    def _advance(self, stride: float, d: Floats, rise: Floats) -> None:
        self.weight[self.active] += stride * d
        self.loss -= stride * rise

    def _take_weight(self, place: int) -> None:
        self.weight[self.active[place]] = self.sign[self.active[place]] = 0.0

    def _copy_basis(self) -> None:
        (f, m), k = self.columns.shape, self.active.size
        self.active_columns, self.elbow_rows = np.empty((min(m, f), m)), np.empty((min(m, f), f))
        self.active_columns[:k], self.elbow_rows[:k] = self.columns[self.active], self.columns[:, self.elbow].T

    def _refresh(self) -> bool:
        """All that pivots update, from the elbow and the active features; False if rounding has made them dependent."""
        k = self.active.size
        try:
            self.inverse = np.linalg.inv(self.active_columns[:k, self.elbow].T)
        except np.linalg.LinAlgError:
            return False
        self._place()
        self.dual[self.elbow] = 0.0
        rest = self.active_columns[:k] @ self.dual
        self.dual[self.elbow] = ((self.cost * self.sign - self.tilt)[self.active] - rest) @ self.inverse
        self.slope = self.columns @ self.dual + self.tilt
        return True

    def _place(self) -> None:
        """The weights and losses at the vertex."""
        self.weight[self.active] = self.inverse @ self.margin[self.elbow]
        self.loss = self.margin - self.weight[self.active] @ self.active_columns[: self.active.size]
        self.loss[self.elbow] = 0.0


def quotients(room: Floats, rate: Floats, scale: float) -> Floats:
    """How far until room is used up at a rate; infinity where it is not used, or at a rate that is but rounding."""
    used = rate > TINY * scale
    steps: Floats = np.divide(np.maximum(room, 0.0), rate, out=np.full(rate.shape, np.inf), where=used)
    return steps


def spaced_at_random(n: int) -> Floats:
    """Numbers in [0, 1), always the same, in no order and no two too close."""
    rng = np.random.default_rng(0)
    return np.asarray((rng.permutation(n) + 0.5 * rng.random(n)) / n)
