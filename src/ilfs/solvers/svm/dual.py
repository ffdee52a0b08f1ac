"""Machines with more features than samples: systems of equations as large as there are samples."""

from typing import NamedTuple

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import blocks
from ilfs.solvers.svm.corrected import Corrected
from ilfs.solvers.svm.newton import Mask, minimum
from ilfs.solvers.svm.primal import LEAST_RIDGE, Primal
from ilfs.solvers.svm.products import BLOCK, add_symmetric, inverse, positive_inverse, product
from ilfs.solvers.svm.weakest import TIE, weakest
from ilfs.ties import tolerance

CHUNK_ROWS = 1024  # features whose outer products are added at once
CANDIDATES = 256  # features with small weights, which are looked at before every removal
DEAD_SHARE = 0.1  # of the stored features may have been removed before the others move together
REFINEMENTS = 3  # if more are needed the inverse is made anew
PRECISION = 1e-9  # to which the equations must hold, in units of the slacks,
ROUNDING = 1e-14  # or in units of the kernel times the multipliers if these are so large


class Candidates(NamedTuple):
    """Features whose weights were small, and how small those of the others were."""

    places: Integers
    X: Floats
    others: Floats
    alphas: Floats
    tie: float


class Dual:
    """One machine a class, or one for two classes, all with the same features.

    Parameters
    ----------
    X : ndarray of shape (n_features, n_samples)
        A feature in each row, with mean 0, in the units in which weights are penalised and compared. Written to.
    signs : ndarray of shape (n_machines, n_samples)
        What each machine is to say of each sample, -1 or 1.
    ridge : float
        1 / (2 C).
    tol, max_iter
        Of Newton's method.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """

    def __init__(
        self, X: Floats, signs: Floats, ridge: float, *, tol: float, max_iter: int, n_jobs: int | None = None
    ) -> None:
        self.X, self.n_jobs = X, n_jobs
        self.columns = np.arange(len(X))
        self._alive = np.ones(len(X), dtype=bool)
        self._norms = np.sqrt(np.einsum("ji,ji->j", X, X))
        self._candidates: Candidates | None = None
        self.kernel = Corrected(np.zeros((X.shape[1], X.shape[1])), n_jobs)
        self._sum_kernel()
        ridge = max(ridge, LEAST_RIDGE * self._trace / X.shape[1])
        self.machines = [DualMachine(self.kernel, y, ridge, tol=tol, max_iter=max_iter) for y in signs]

    @property
    def n_samples(self) -> int:
        """How many there are."""
        return int(self.X.shape[1])

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
        return product(self.X[self._alive], self._alphas().T, self.n_jobs).T

    def weakest(self, n: int) -> tuple[Integers, Floats]:
        """Places of the n features with the smallest weights, smallest first, and the sums of squares of these.

        Weights move little between removals: by the inequality of Cauchy and Schwarz no more than the norm of the
        feature times that of the change of the multipliers. So only features that were small are looked at, until
        another might have become as small.
        """
        alphas = self._alphas()
        if self._candidates is not None:
            size = np.linalg.norm(self._candidates.X @ alphas.T, axis=1)
            size[~self._alive[self._candidates.places]] = np.inf
            moved = float(np.linalg.norm(alphas - self._candidates.alphas))
            least = float((self._candidates.others - moved * self._norms).min())
            if np.count_nonzero(size < least - tolerance(least, self._candidates.tie)) >= n:
                found = weakest(size, n, self._candidates.tie)
                return self._candidates.places[found], size[found] ** 2
        size = np.linalg.norm(product(self.X, alphas.T, self.n_jobs), axis=1)
        tie = TIE * float(size[self._alive].max())
        size[~self._alive] = np.inf
        found = weakest(size, n, tie)
        self._look_around(size, alphas, CANDIDATES + 2 * n, tie)
        return found, size[found] ** 2

    def _look_around(self, size: Floats, alphas: Floats, n: int, tie: float) -> None:
        self._candidates = None
        if n < self.n_features // 2:
            places = np.sort(np.argpartition(size, n)[:n])
            others = size.copy()
            others[places] = np.inf
            self._candidates = Candidates(places, self.X[places], others, alphas, tie)

    def remove(self, places: Integers) -> None:
        """Go on without these features."""
        self._alive[places] = False
        self._left -= float((self._norms[places] ** 2).sum())
        many = places.size > self.n_samples // 4
        X = self.X[places[:0] if many else places]
        if many or self._left < self._trace / 2:  # rounding would begin to show
            self._sum_kernel()
        else:
            self.kernel.correct(X, -np.eye(len(X)))
        for machine in self.machines:
            machine.rebuild() if many else machine.remove(X)
        if self.n_features < (1 - DEAD_SHARE) * self._alive.size:
            self._move_together()

    def in_primal(self) -> Primal:
        """The same machines, from here on with systems as large as there are features."""
        left = np.flatnonzero(self._alive)
        scale = self._norms[left] / np.sqrt(self.X.shape[1])
        Z = with_intercept((self.X[left] / scale[:, None]).T, 1.0)
        first = self.machines[0]
        primal = Primal(
            Z,
            np.array([machine.y for machine in self.machines]),
            scale,
            first.ridge,
            self.columns[left],
            np.array([machine.slack for machine in self.machines]),
            tol=first.tol,
            max_iter=first.max_iter,
            n_jobs=self.n_jobs,
        )
        for machine, before in zip(primal.machines, self.machines, strict=True):
            machine.converged &= before.converged
            machine.n_iter = max(machine.n_iter, before.n_iter)
        return primal

    def _sum_kernel(self) -> None:
        self.kernel.clear()
        for chunk in blocks(self._alive.size, CHUNK_ROWS):
            X = self.X[chunk][self._alive[chunk]]
            add_symmetric(self.kernel.matrix, X, X, self.n_jobs)
        self._trace = self._left = float(np.trace(self.kernel.matrix))

    def _move_together(self) -> None:
        left = np.flatnonzero(self._alive)
        for block in blocks(left.size, BLOCK):  # in place: a row moves to an earlier one
            self.X[block] = self.X[left[block]]
        self.X, self.columns, self._norms = self.X[: left.size], self.columns[left], self._norms[left]
        self._alive = self._alive[left]
        self._candidates = None

    def _alphas(self) -> Floats:
        return np.array([machine.solution[1:] for machine in self.machines])


class DualMachine:
    """(K_AA + ridge I) alpha + b = y_A, sum of alpha = 0, for the active samples A; the weights are X alpha.

    Parameters
    ----------
    kernel : Corrected
        K, inner products of the samples; features are removed from it elsewhere.
    y : ndarray of shape (n_samples,)
        -1 or 1.
    ridge : float
        1 / (2 C).
    tol, max_iter
        Of Newton's method.
    """

    def __init__(self, kernel: Corrected, y: Floats, ridge: float, *, tol: float, max_iter: int) -> None:
        self.kernel, self.y, self.ridge = kernel, y, ridge
        self.tol, self.max_iter = tol, max_iter
        self.size = float(np.trace(kernel.matrix)) / y.size
        self.converged, self.n_iter = True, 0
        self.slack = np.zeros(y.size)
        self._build(np.ones(y.size, dtype=bool))
        self._mend()

    def remove(self, X: Floats) -> None:
        """Find the solution without these features, which have left the kernel already."""
        U = self.inverse.times(with_intercept(X, 0.0))
        B = inverse(np.eye(len(X)) - X @ U[:, 1:].T)
        self.solution += X @ self.solution[1:] @ B @ U
        self.inverse.correct(U, B)
        self._mend()

    def rebuild(self) -> None:
        """Find the solution for a kernel that has changed much."""
        self._build(self.active)
        self._mend()

    def residual(self) -> float:
        """Largest error of the equations."""
        return float(np.abs(self._values()[1]).max())

    def _mend(self) -> None:
        """Exchange samples until none is on the wrong side of the margin."""
        optimum = minimum(
            self.y, self.active, self.slack, self._solve, self._inner, tol=self.tol, max_iter=self.max_iter
        )
        self.slack = optimum.slack
        self.converged &= optimum.converged
        self.n_iter = max(self.n_iter, optimum.n_iter)

    def _inner(self, a: Floats, b: Floats) -> float:
        return self.ridge * float(a[1:] @ self.kernel.times(b[None, 1:])[0])

    def _solve(self, active: Mask) -> tuple[Floats, Floats]:
        """Solution for a set of active samples, and its values."""
        entering, leaving = np.flatnonzero(active & ~self.active), np.flatnonzero(self.active & ~active)
        if entering.size + leaving.size > self.y.size // 4:
            self._build(active)
        else:
            if entering.size:
                self._enter(entering)
            if leaving.size:
                self._leave(leaving)
        f, precise = self._refined()
        if not precise:
            self._build(active)
            f, _ = self._refined()
        return self.solution.copy(), f

    def _refined(self) -> tuple[Floats, bool]:
        """Values f after taking off what rounding has added up to, and whether the equations hold then."""
        for _ in range(REFINEMENTS):
            f, rest = self._values()
            limit = max(PRECISION * self.ridge, ROUNDING * self.size) * float(np.abs(self.solution).max())
            if np.abs(rest).max() <= limit:
                return f, True
            self.solution += self.inverse.times(rest[None])[0]
        return self._values()[0], False

    def _values(self) -> tuple[Floats, Floats]:
        """Values f, and what the equations lack."""
        alpha = self.solution[1:]
        f = self.kernel.times(alpha[None])[0] + self.solution[0]
        rest = np.where(self.active, self.y - f - self.ridge * alpha, 0.0)
        return f, np.append(-alpha.sum(), rest)

    def _enter(self, samples: Integers) -> None:
        K = self.kernel.rows(samples)
        border = with_intercept(np.where(self.active, K, 0.0), 1.0)
        V = self.inverse.times(border)
        B = inverse(K[:, samples] + self.ridge * np.eye(samples.size) - border @ V.T)
        V[np.arange(samples.size), samples + 1] = -1.0
        self.solution -= (self.y[samples] - border @ self.solution) @ B @ V
        self.inverse.correct(V, B)
        self.active[samples] = True

    def _leave(self, samples: Integers) -> None:
        V = self.inverse.rows(samples + 1)
        B = -inverse(V[:, samples + 1])
        self.solution += self.solution[samples + 1] @ B @ V
        self.inverse.correct(V, B)
        self.active[samples] = False
        self.solution[samples + 1] = 0.0

    def _build(self, active: Mask) -> None:
        """Inverse and solution from nothing."""
        vars(self).pop("inverse", None)  # make room
        self.kernel.settle()
        here = np.flatnonzero(active)
        N = positive_inverse(self.kernel.matrix[np.ix_(here, here)] + self.ridge * np.eye(here.size))
        ones = N.sum(axis=1)
        total = float(ones.sum())
        inverse = np.zeros((active.size + 1, active.size + 1))
        inverse[0, 0] = -1 / total
        inverse[0, here + 1] = inverse[here + 1, 0] = ones / total
        inverse[np.ix_(here + 1, here + 1)] = N - np.outer(ones, ones / total)
        self.inverse = Corrected(inverse, self.kernel.n_jobs)
        self.active = active.copy()
        self.solution = inverse @ np.append(0.0, np.where(active, self.y, 0.0))


def with_intercept(rows: Floats, value: float) -> Floats:
    """The rows with one more number in front of each."""
    out = np.empty((rows.shape[0], rows.shape[1] + 1))
    out[:, 0], out[:, 1:] = value, rows
    return out
