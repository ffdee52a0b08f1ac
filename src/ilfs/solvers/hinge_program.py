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
REFRESH = 64  # pivots after which all is computed anew, against rounding
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
        cls,
        few: "HingeProgram",
        rows: Integers,
        label: Floats,
        bound: Floats,
        columns: Floats,
        jitter: Floats | None = None,
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
        from ilfs.kernels import pivots

        fall, righting, left = self.cost - cost, self.tilt.copy(), 1.0
        last, status = self.n_pivots + max_pivots, pivots.LIMIT
        while status == pivots.LIMIT and self.n_pivots < last:
            status, left = self._follow(fall, righting, left, min(REFRESH, last - self.n_pivots))
            if status == pivots.ARRIVED:
                self.cost, self.tilt = cost.copy(), np.zeros_like(cost)
            if status == pivots.STUCK or not self._refresh():
                return False
        return status == pivots.ARRIVED

    def _follow(self, fall: Floats, righting: Floats, left: float, max_pivots: int) -> tuple[int, float]:
        """Make some pivots: how it ended, and what is left of the way."""
        from ilfs.kernels import pivots

        k = self.active.size
        room = k + max_pivots
        inverse, active, elbow = np.empty((room, room)), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        inverse[:k, :k], active[:k], elbow[:k] = self.inverse, self.active, self.elbow
        basis = pivots.Basis(self.columns, self.active_columns, self.elbow_rows, inverse, active, elbow)
        vertex = pivots.Vertex(
            self.weight, self.sign, self.slope, self.cost, self.tilt, self.dual, self.bound, self.loss, self.side
        )
        status, k, left, n_pivots = pivots.follow(basis, k, vertex, fall, righting, left, max_pivots)
        self.inverse, self.active, self.elbow = inverse[:k, :k], active[:k], elbow[:k]
        self.n_pivots += n_pivots
        return status, left

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


def spaced_at_random(n: int) -> Floats:
    """Numbers in [0, 1), always the same, in no order and no two too close."""
    rng = np.random.default_rng(0)
    return np.asarray((rng.permutation(n) + 0.5 * rng.random(n)) / n)
