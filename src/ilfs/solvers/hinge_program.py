r"""The linear program of an SVM with an L1 penalty, solved by following its optimum while the costs change.

.. math:: \min_w \; \sum_i p_i \,(1 - s_i^\top w)_+ + \sum_j c_j |w_j|

Row :math:`s_i` is a sample times its label. The intercept is the weight of a column of labels, whose cost is 0. The
dual variables :math:`0 \le u_i \le p_i` satisfy :math:`|S_j^\top u| \le c_j`, with equality and the sign of the weight
where a weight is not zero. At a vertex of the program, as many samples lie exactly on the margin as there are nonzero
weights; they are called the *elbow*. The basis is the square matrix of elbow samples x nonzero weights. It is as small
as the solution, not as large as the program.

While the costs move along a straight line, the duals of the elbow do too, until one of them reaches an end of its
interval, or :math:`|S_j^\top u|` of a feature without weight reaches its cost. Then that sample leaves the margin, or
that feature gets a weight. The solution moves along the edge on which the objective does not change, until another
sample reaches the margin or another weight reaches zero. This is a pivot of the parametric simplex method. It costs
O(samples x weights), and the vertex is optimal at every moment.

Any vertex becomes optimal if the objective is tilted by a suitable term :math:`-h^\top w`. So one can also start at the
solution for some of the samples, and let h fall to 0 while the costs move.
"""

from typing import Self

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.ties import RELATIVE_TOLERANCE

MARGIN_JITTER = 1e-7  # margins are 1 to 1 + this, all different: no two samples reach theirs at once (degeneracy)
PIVOTS_PER_REFRESH = 64  # pivots after which everything they update is computed again, to remove rounding errors
INTERCEPT = -1  # number of the intercept among the features


class HingeProgram:
    """An optimal vertex of the program, which moves when the costs do.

    Parameters
    ----------
    label : ndarray of shape (n_samples,)
        The two classes, 1 and -1.
    bound : ndarray of shape (n_samples,)
        p, the cost of a unit of loss. Its sum must be the same for both labels, so that w = 0 is optimal if costs are
        high.
    jitter : ndarray of shape (n_samples,), optional
        Numbers in [0, 1) that decide which of several optimal duals is found. By default they are random.

    Attributes
    ----------
    feature : ndarray of shape (n_columns,)
        Number of the feature in each column, or `INTERCEPT`.
    cost : ndarray of shape (n_columns,)
        c, the present costs.
    dual : ndarray of shape (n_samples,)
        u, the dual variables.
    n_pivots : int
        Number of pivots so far.
    """

    def __init__(self, label: Floats, bound: Floats, jitter: Floats | None = None) -> None:
        self.bound, self.dual = bound, bound.copy()
        self.feature = np.array([INTERCEPT])
        self.columns = label[None, :].copy()  # S', one column of the program per row
        self.cost, self.weight, self.sign, self.slope, self.tilt = np.zeros((5, 1))  # slope: S'u + h, tilt: h
        # Columns with a nonzero weight and samples on the margin, equally many.
        self.active, self.elbow = np.empty((2, 0), dtype=np.int64)
        self.inverse = np.empty((0, 0))  # of the basis, the matrix of elbow x active
        self.n_pivots = 0
        self.margin = 1.0 + MARGIN_JITTER * (spaced_at_random(label.size) if jitter is None else jitter)
        self.loss = self.margin.copy()  # margin - s_i'w; only positive values cost
        self.side = np.ones(label.size)  # 1: positive loss, so u = p; -1: no loss, so u = 0; 0: elbow, u in between
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
        """Build the program of all samples, tilted so that the vertex of a program of some samples is optimal.

        Parameters
        ----------
        few : HingeProgram
            The program of some samples.
        rows : ndarray of int
            Rows of these samples among all.
        label, bound, jitter
            As for the class, for all samples.
        columns : ndarray of shape (n_features, n_samples)
            The features of the smaller program times the labels, one per row.

        Returns
        -------
        HingeProgram
            The program of all samples. `move` removes the tilt.
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
        # Elbow duals keep their fraction of the bound. At an optimum, a column with weight has the slope sign * cost.
        # A column without weight has a slope in [-cost, cost]. The tilt shifts the actual slopes to these.
        program.dual[program.elbow] = bound[program.elbow] * (few.dual / few.bound)[few.elbow]
        slope = program.columns @ program.dual
        program.slope = np.where(
            program.sign == 0, np.clip(slope, -program.cost, program.cost), program.sign * program.cost
        )
        program.tilt = program.slope - slope
        return program

    def add(self, features: Integers, columns: Floats) -> None:
        """Add columns (features times labels, one per row) at the smallest cost at which their weight is 0."""
        slope = columns @ self.dual
        self.feature = np.concatenate([self.feature, features])
        self.columns = np.concatenate([self.columns, columns])
        self.cost = np.concatenate([self.cost, np.abs(slope)])
        self.slope = np.concatenate([self.slope, slope])
        none = np.zeros(features.size)
        self.weight, self.sign, self.tilt = (np.append(a, none) for a in (self.weight, self.sign, self.tilt))
        self._copy_basis()

    def move(self, cost: Floats, max_pivots: int) -> bool:
        """Change the costs to ``cost`` and the tilt to 0 along a line, with pivots that keep the vertex optimal.

        Returns False if that takes more than ``max_pivots`` pivots, or if rounding errors make a pivot impossible.
        """
        from ilfs.kernels import pivots

        cost_fall, tilt_fall, left = self.cost - cost, self.tilt.copy(), 1.0
        last, status = self.n_pivots + max_pivots, pivots.LIMIT
        while status == pivots.LIMIT and self.n_pivots < last:
            status, left = self._follow(cost_fall, tilt_fall, left, min(PIVOTS_PER_REFRESH, last - self.n_pivots))
            if status == pivots.ARRIVED:
                self.cost, self.tilt = cost.copy(), np.zeros_like(cost)
            if status == pivots.STUCK or not self._refresh():
                return False
        return status == pivots.ARRIVED

    def _follow(self, cost_fall: Floats, tilt_fall: Floats, left: float, max_pivots: int) -> tuple[int, float]:
        """Make up to ``max_pivots`` pivots; return the status and the fraction of the way that is left."""
        from ilfs.kernels import pivots

        k = self.active.size
        room = k + max_pivots  # a pivot enlarges the basis by at most one
        inverse, active, elbow = np.empty((room, room)), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        inverse[:k, :k], active[:k], elbow[:k] = self.inverse, self.active, self.elbow
        basis = pivots.Basis(self.columns, self.active_columns, self.elbow_rows, inverse, active, elbow)
        vertex = pivots.Vertex(
            self.weight, self.sign, self.slope, self.cost, self.tilt, self.dual, self.bound, self.loss, self.side
        )
        status, k, left, n_pivots = pivots.follow(basis, k, vertex, cost_fall, tilt_fall, left, max_pivots)
        self.inverse, self.active, self.elbow = inverse[:k, :k], active[:k], elbow[:k]
        self.n_pivots += n_pivots
        return status, left

    def weights(self) -> Floats:
        """Return the weights of the program without jitter; weights that only the jitter makes nonzero are 0."""
        weight = np.zeros(self.feature.size)
        weight[self.active] = self.inverse.sum(axis=1)  # basis @ weight = 1: elbow samples lie on the margin
        only_jitter = (weight * self.sign < 0) | (np.abs(weight) <= RELATIVE_TOLERANCE * np.abs(weight).max())
        weight[only_jitter] = 0.0
        return weight

    def duals(self, cost: Floats) -> Floats:
        """Return the dual variables of this vertex at costs that differ a little from the present ones."""
        dual = self.dual.copy()
        # Slopes of active columns must follow their costs; only the duals of the elbow can change.
        dual[self.elbow] += ((cost - self.cost) * self.sign)[self.active] @ self.inverse
        return dual

    def hinge(self, weight: Floats) -> float:
        """Return the total hinge loss times bound at these weights, which must be 0 outside the active columns."""
        loss = 1.0 - weight[self.active] @ self.active_columns[: self.active.size]
        return float(self.bound @ np.maximum(loss, 0.0))

    def _copy_basis(self) -> None:
        """Copy the columns and rows of the basis to contiguous arrays, with room for the largest possible basis."""
        (f, m), k = self.columns.shape, self.active.size
        self.active_columns, self.elbow_rows = np.empty((min(m, f), m)), np.empty((min(m, f), f))
        self.active_columns[:k], self.elbow_rows[:k] = self.columns[self.active], self.columns[:, self.elbow].T

    def _refresh(self) -> bool:
        """Remove rounding errors: compute inverse, weights, losses, duals and slopes from the elbow and active columns.

        Returns False if rounding errors have made the basis singular.
        """
        k = self.active.size
        try:
            self.inverse = np.linalg.inv(self.active_columns[:k, self.elbow].T)
        except np.linalg.LinAlgError:
            return False
        self._place()
        # Slopes of active columns are sign * cost. The samples off the margin contribute ``rest``, and the elbow must
        # contribute the remainder.
        self.dual[self.elbow] = 0.0
        rest = self.active_columns[:k] @ self.dual
        self.dual[self.elbow] = ((self.cost * self.sign - self.tilt)[self.active] - rest) @ self.inverse
        self.slope = self.columns @ self.dual + self.tilt
        return True

    def _place(self) -> None:
        """Compute the weights and losses at the vertex: the elbow samples lie on their margins."""
        self.weight[self.active] = self.inverse @ self.margin[self.elbow]
        self.loss = self.margin - self.weight[self.active] @ self.active_columns[: self.active.size]
        self.loss[self.elbow] = 0.0


def spaced_at_random(n: int) -> Floats:
    """Return n numbers in [0, 1), the same in every call, in random order and with a distance of at least 0.5 / n."""
    rng = np.random.default_rng(0)
    return np.asarray((rng.permutation(n) + 0.5 * rng.random(n)) / n)
