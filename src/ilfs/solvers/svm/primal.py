"""Machines with no more features than samples: systems of equations as large as there are features."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import blocks
from ilfs.solvers.svm.corrected import Corrected
from ilfs.solvers.svm.newton import Mask, crossed, minimum
from ilfs.solvers.svm.products import BLOCK, add_symmetric, inverse, positive_inverse, product
from ilfs.solvers.svm.weakest import TIE, weakest

CHUNK_ROWS = 1024  # samples whose outer products are added at once
DEAD_SHARE = 0.1  # of the stored columns may have been removed before the others move together
LEAST_RIDGE = 1e-10  # of the diagonal of the equations; with less they cannot be solved in double precision
NEAR_SHARE = 0.1  # of the samples are near the margin, for all machines together
NEAR_STEPS, NEAR_AGE = 6, 16  # Newton steps with these alone, and removals after which they are chosen anew
PROBES = 3
DOUBT = 1e-9  # of the gradient's parts, whose sum should be 0, or the solution is refined
PRECISION = 1e-8  # what that may change in the weights, or the inverse is made anew


class Primal:
    """One machine a class, or one for two classes, all with the same features.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, 1 + n_features)
        Ones, then the features with mean 0 and variance 1. Written to: removed features become 0.
    signs : ndarray of shape (n_machines, n_samples)
        What each machine is to say of each sample, -1 or 1.
    scale : ndarray of shape (n_features,)
        The weights of features are ``theta / scale``, and these are penalised and compared.
    ridge : float
        1 / (2 C).
    columns : ndarray of shape (n_features,)
        Which these are.
    slack : ndarray of shape (n_machines, n_samples), optional
        How far inside the margin samples are in the solution of a similar problem.
    tol, max_iter
        Of Newton's method.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """

    def __init__(
        self,
        Z: Floats,
        signs: Floats,
        scale: Floats,
        ridge: float,
        columns: Integers,
        slack: Floats | None = None,
        *,
        tol: float,
        max_iter: int,
        n_jobs: int | None = None,
    ) -> None:
        self.columns, self._scale = columns, scale
        self._alive = np.ones(columns.size, dtype=bool)
        penalty = np.append(0.0, np.maximum(ridge / scale**2, LEAST_RIDGE * len(Z)))
        self._table = Table(Z, len(signs), n_jobs)
        self.machines = [
            PrimalMachine(self._table, y, penalty, start, tol=tol, max_iter=max_iter)
            for y, start in zip(signs, np.zeros(signs.shape) if slack is None else slack, strict=True)
        ]

    @property
    def n_features(self) -> int:
        """How many are left."""
        return int(np.count_nonzero(self._alive))

    @property
    def converged(self) -> bool:
        """Whether all solutions were found so far."""
        return all(machine.converged for machine in self.machines)

    @property
    def n_iter(self) -> int:
        """Most Newton steps that a machine has needed for a solution."""
        return max(machine.n_iter for machine in self.machines)

    def weights(self) -> Floats:
        """Of each machine (rows) and feature that is left (columns)."""
        return np.array([machine.theta[1:] for machine in self.machines])[:, self._alive] / self._scale[self._alive]

    def weakest(self, n: int) -> tuple[Integers, Floats]:
        """Places of the n features with the smallest weights, smallest first, and the sums of squares of these."""
        size = np.linalg.norm([machine.theta[1:] for machine in self.machines], axis=0) / self._scale
        tie = TIE * float(size[self._alive].max())
        size[~self._alive] = np.inf
        places = weakest(size, n, tie)
        return places, size[places] ** 2

    def remove(self, places: Integers) -> None:
        """Go on without these features."""
        self._alive[places] = False
        self._table.remove(places + 1)
        for machine in self.machines:
            machine.remove(places + 1)
        if self.n_features < (1 - DEAD_SHARE) * self._alive.size:
            self._move_together()

    def _move_together(self) -> None:
        left = np.flatnonzero(self._alive)
        self.columns, self._scale, self._alive = self.columns[left], self._scale[left], self._alive[left]
        kept = np.append(0, left + 1)
        self._table.keep(kept)
        for machine in self.machines:
            machine.keep(kept)


class PrimalMachine:
    """min theta' P theta / 2 + sum of (y - z'theta)^2 / 2 over the samples with y z'theta < 1.

    P is diagonal, ``penalty``; theta are the intercept, which is not penalised, and the weights.
    """

    def __init__(
        self,
        table: "Table",
        y: Floats,
        penalty: Floats,
        slack: Floats,
        *,
        tol: float,
        max_iter: int,
    ) -> None:
        self.table, self.y, self.penalty, self.slack = table, y, penalty, slack
        self.tol, self.max_iter = tol, max_iter
        self.converged, self.n_iter = True, 0
        self.theta: Floats
        self._f: Floats
        self._build(slack > 0 if slack.any() else np.ones(y.size, dtype=bool))
        self._mend()
        self._look_around()

    def remove(self, places: Integers) -> None:
        """Find the solution without these places of theta, which have left the table already."""
        if places.size > self.theta.size // 4:
            self._build(self.active)
        else:
            rows = self.inverse.rows(places)
            B = -inverse(rows[:, places])
            self.theta += self.theta[places] @ B @ rows
            self.inverse.correct(rows, B)
        self.theta[places] = 0.0
        self._exchange_near()
        if self._mend() > 1 or self._age == NEAR_AGE:
            self._look_around()

    def keep(self, places: Integers) -> None:
        """Forget all other places of theta."""
        self.penalty, self.theta = self.penalty[places], self.theta[places]
        self.inverse.keep(places)
        self._look_around()

    def residual(self) -> float:
        """Largest component of the gradient."""
        return float(np.abs(self._gradient()).max())

    def _look_around(self) -> None:
        """Note the samples near the margin."""
        n = self.table.n_near
        self._near = np.argpartition(np.abs(1 - self.y * self._f), n - 1)[:n]
        self._Z_near = self.table.Z[self._near]
        self._age = 0

    def _exchange_near(self) -> None:
        """Full Newton steps among samples that were near the margin: mostly that is all there is to do, and cheap."""
        self._age += 1
        y, most = self.y[self._near], self.theta.size // 4
        for _ in range(NEAR_STEPS):
            wrong = crossed(y, self._Z_near @ self.theta, self.active[self._near], self.tol)
            n_wrong = int(np.count_nonzero(wrong))
            if not 0 < n_wrong <= most:
                return
            self._flip(self._near[wrong])
            most = n_wrong

    def _mend(self) -> int:
        """Exchange samples until none is on the wrong side of the margin; in how many steps."""
        optimum = minimum(
            self.y, self.active, self.slack, self._solve, self._inner, tol=self.tol, max_iter=self.max_iter
        )
        self.slack = optimum.slack
        self.converged &= optimum.converged
        self.n_iter = max(self.n_iter, optimum.n_iter)
        return optimum.n_iter

    def _inner(self, a: Floats, b: Floats) -> float:
        return float(a * self.penalty @ b)

    def _solve(self, active: Mask) -> tuple[Floats, Floats]:
        """Solution for a set of active samples, and its values."""
        samples = np.flatnonzero(active != self.active)
        if samples.size > self.theta.size // 4:
            self._build(active)
        elif samples.size:
            self._flip(samples)
        f = self.table.times(self.theta)
        if self._doubtful(f):
            self._refine()
            f = self.table.times(self.theta)
        self._f = f
        return self.theta.copy(), f

    def _flip(self, samples: Integers) -> None:
        """Let samples enter the sums, or leave them."""
        Z = self.table.Z[samples]
        V = self.inverse.times(Z)
        B = inverse(np.diag(np.where(self.active[samples], -1.0, 1.0)) + Z @ V.T)
        self.theta += (self.y[samples] - Z @ self.theta) @ B @ V
        self.inverse.correct(V, -B)
        self.active[samples] ^= True

    def _build(self, active: Mask) -> None:
        """Inverse and solution from nothing."""
        vars(self).pop("inverse", None)  # make room
        H = np.diag(self.penalty)
        samples = np.flatnonzero(active)
        for chunk in blocks(samples.size, CHUNK_ROWS):
            Z = self.table.Z[samples[chunk]]
            add_symmetric(H, Z, Z, self.table.n_jobs)
        self.inverse = Corrected(positive_inverse(H), self.table.n_jobs)
        self.active = active.copy()
        self.theta = np.zeros(self.penalty.size)
        for _ in range(2):  # the second takes off the rounding of the first
            self.theta -= self.inverse.matrix @ self._gradient()

    def _gradient(self) -> Floats:
        rest = np.where(self.active, self.table.times(self.theta) - self.y, 0.0)
        return np.asarray(self.table.transposed_times(rest) + self.penalty * self.theta)

    def _doubtful(self, f: Floats) -> bool:
        """Whether a few random combinations of the gradient's components are not 0; cheaper than the gradient."""
        rest = np.where(self.active, f - self.y, 0.0)
        pull = self.penalty * self.theta
        gradient = rest @ self.table.projected + pull @ self.table.probe
        return not np.abs(gradient).max() <= DOUBT * np.linalg.norm(pull)

    def _refine(self) -> None:
        """Take off what rounding has added up to; if that is much, make the inverse anew."""
        self.inverse.settle()
        error = self.inverse.matrix @ self._gradient()
        self.theta -= error
        if not np.abs(error).max() <= PRECISION * np.abs(self.theta).max():
            self._build(self.active)


class Table:
    """The samples that machines share, and their products with a few random vectors, ``probe``."""

    def __init__(self, Z: Floats, n_machines: int, n_jobs: int | None) -> None:
        self.Z, self.n_jobs = Z, n_jobs
        self.n_near = max(1, int(NEAR_SHARE * len(Z) / n_machines))
        self.probe = np.random.default_rng(0).normal(size=(Z.shape[1], PROBES))
        self.projected = product(Z, self.probe, n_jobs)

    def times(self, theta: Floats) -> Floats:
        """Z theta."""
        return product(self.Z, theta, self.n_jobs)

    def transposed_times(self, rest: Floats) -> Floats:
        """Z' rest."""
        return product(self.Z.T, rest, self.n_jobs)

    def remove(self, places: Integers) -> None:
        """Make columns 0."""
        self.projected -= self.Z[:, places] @ self.probe[places]
        self.Z[:, places] = 0.0

    def keep(self, places: Integers) -> None:
        """Forget all other columns, in the memory of the matrix."""
        memory, width = self.Z.reshape(-1), places.size
        for rows in blocks(len(self.Z), BLOCK):
            memory[rows.start * width : rows.stop * width] = self.Z[rows].take(places, axis=1).reshape(-1)
        self.Z = memory[: len(self.Z) * width].reshape(len(self.Z), width)
        self.probe = self.probe[places]
        self.projected = product(self.Z, self.probe, self.n_jobs)
