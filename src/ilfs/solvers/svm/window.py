r"""Several removals in a row, computed from the samples near the margin and the features with small weights.

Removing a feature moves few samples across the margin, and nearly always samples that were near it. With the inverse
:math:`G = H^{-1}` of the primal equations and the near samples :math:`Z_N`, the matrices :math:`F = Z_N G` and
:math:`K = Z_N G Z_N^\top` are kept. From a state with solution :math:`\theta_0` and decision values
:math:`f_0`, flipping samples J and removing features p leads to

.. math::

    \theta = \theta_0 + F_J^\top u_J + G_p u_p, \qquad
    \begin{pmatrix} K_{JJ} + D & F_{Jp} \\ F_{Jp}^\top & G_{pp} \end{pmatrix}
    \begin{pmatrix} u_J \\ u_p \end{pmatrix} = \begin{pmatrix} y_J - f_{0J} \\ -\theta_{0p} \end{pmatrix},

where D has 1 for samples that become active and -1 for those that become inactive. So a removal costs the solution of a
system as large as the number of changes, without reading the samples or the inverse. After several removals, one matrix
product computes the decision values of all samples and the weights of all features for all of these solutions. The
removals up to the first that this contradicts are kept; the others are repeated from there.
"""

from typing import NamedTuple

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.solvers.svm.corrected import Corrected
from ilfs.solvers.svm.newton import Mask, crossed
from ilfs.solvers.svm.products import inverse, product

RENEWED_FRACTION = 0.85  # of the near samples: those nearest to the margin when a window starts
MAX_ROUNDS = 10  # Newton steps for one removal; then the window ends and all samples are used
MAX_CHANGES = 320  # removed features and flipped samples of a window


class NearSamples:
    """The samples near the margin, with their products with the inverse G.

    Parameters
    ----------
    samples : ndarray of shape (n_near,)
        Their row numbers.
    Z : ndarray of shape (n_near, 1 + n_features)
        Their values.
    G : Corrected
        Inverse of the equations.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    """

    def __init__(self, samples: Integers, Z: Floats, G: Corrected, n_jobs: int | None) -> None:
        self.samples, self.Z, self.n_jobs = samples, Z, n_jobs
        self.F = G.times(Z)
        self.K = product(self.F, Z.T, n_jobs)
        self._pending: list[tuple[Floats, Floats, Floats]] = []

    def correct(self, V: Floats, B: Floats, VZ: Floats | None = None) -> None:
        """Follow a correction of G by V'BV, later; VZ is V Z' if known."""
        self._pending.append((V.copy(), B, product(V, self.Z.T, self.n_jobs) if VZ is None else VZ))

    def _settle(self) -> None:
        """Add the pending corrections."""
        if not self._pending:
            return
        V, VZ = (np.concatenate([change[k] for change in self._pending]) for k in (0, 2))
        BVZ = np.concatenate([B @ VZ for _, B, VZ in self._pending]).T
        self.F += product(BVZ, V, self.n_jobs)
        self.K += product(BVZ, VZ, self.n_jobs)
        self._pending.clear()

    def refresh(self, distance: Floats, Z: Floats, G: Corrected) -> None:
        """Exchange samples that have moved away from the margin for nearer ones.

        Most of the places are for the nearest samples; those that enter replace the farthest ones.
        """
        self._settle()
        n = self.samples.size
        first = max(1, int(RENEWED_FRACTION * n))
        near = np.argpartition(distance, first - 1)[:first]
        new = np.setdiff1d(near, self.samples)
        if not new.size:
            return
        self.replace(np.argsort(-distance[self.samples], kind="stable")[: new.size], new, Z[new], G)

    def replace(self, places: Integers, samples: Integers, Z: Floats, G: Corrected) -> None:
        """Put other samples into some places."""
        self.samples[places], self.Z[places] = samples, Z
        self.F[places] = G.times(Z)
        rows = product(self.F[places], self.Z.T, self.n_jobs)
        self.K[places], self.K[:, places] = rows, rows.T

    def remove(self, positions: Integers) -> None:
        """Set features to 0."""
        self._settle()
        self.Z[:, positions] = self.F[:, positions] = 0.0

    def keep(self, positions: Integers) -> None:
        """Drop all other features."""
        self._settle()
        self.Z, self.F = self.Z[:, positions], self.F[:, positions]


class Change(NamedTuple):
    """State after some removals, relative to the start of a window."""

    flipped: Integers  # numbers of near samples that have become active or inactive
    gone: Integers  # numbers of candidates that have been removed
    u: Floats  # multipliers of both
    active: Mask  # of the near samples


class Window:
    """A sequence of removals from one SVM.

    Parameters
    ----------
    near : NearSamples
        Samples near the margin.
    y, f, active : ndarray of shape (n_near,)
        Their classes, decision values, and True for active ones.
    theta : ndarray of shape (1 + n_features,)
        Solution at the start.
    candidates : ndarray
        Positions in theta of the features that may be removed.
    G : Corrected
        Inverse of the equations.
    tol : float
        Largest distance of a sample from the margin on the wrong side.
    """

    def __init__(
        self,
        near: NearSamples,
        y: Floats,
        f: Floats,
        active: Mask,
        theta: Floats,
        candidates: Integers,
        G: Corrected,
        tol: float,
    ) -> None:
        self.near, self.y, self.f, self.theta, self.tol = near, y, f, theta, tol
        self.candidates, self.G = candidates, G.rows(candidates)
        self._F, self._G, self._start = near.F[:, candidates], self.G[:, candidates], theta[candidates]
        self._first, self._active = active, active.copy()
        self.changes: list[Change] = []
        self.n_iter = 1

    def remove(self, gone: Integers) -> bool:
        """Solve without these candidates, starting from the state before; return False if that takes too long."""
        for n_iter in range(1, MAX_ROUNDS + 1):
            flipped = np.flatnonzero(self._active != self._first)
            if flipped.size + gone.size > MAX_CHANGES:
                return False
            change = self._solved(flipped, gone)
            if not np.isfinite(change.u).all():
                return False
            wrong = crossed(self.y, self._decision_values(change), self._active, self.tol)
            if not wrong.any():
                self.changes.append(change)
                self.n_iter = max(self.n_iter, n_iter)
                return True
            self._active[wrong] ^= True
        return False

    def include(
        self, samples: Integers, Z: Floats, y: Floats, f: Floats, active: Mask, n_changes: int, G: Corrected
    ) -> bool:
        """Include samples that were not near enough, and go back to the state after some removals.

        They replace samples far from the margin that have not been flipped. Returns False if these are too few.
        """
        del self.changes[n_changes:]
        flipped = np.unique(np.concatenate([change.flipped for change in self.changes] + [np.arange(0)]))
        distance = np.abs(1 - self.y * self.f)
        distance[flipped] = -1.0
        places = np.argsort(-distance, kind="stable")[: samples.size]
        if samples.size > distance.size - flipped.size:
            return False
        self.near.replace(places, samples, Z, G)
        self.y[places], self.f[places], self._first[places] = y, f, active
        self._F[places] = self.near.F[np.ix_(places, self.candidates)]
        for change in self.changes:
            change.active[places] = active
        self._active = (self.changes[-1].active if self.changes else self._first).copy()
        return True

    def weights(self) -> Floats:
        """Return the components of theta of the candidates in the last state."""
        if not self.changes:
            return self._start
        flipped, gone, u, _ = self.changes[-1]
        theta = self._start + u[: flipped.size] @ self._F[flipped] + u[flipped.size :] @ self._G[gone]
        theta[gone] = 0.0
        return np.asarray(theta)

    def solutions(self, first: int) -> Floats:
        """Return theta in all states from a given one on, one in each row."""
        changes = self.changes[first:]
        used = np.unique(np.concatenate([change.flipped for change in changes] + [np.arange(0)]))
        u = np.zeros((len(changes), used.size + self.candidates.size))
        for row, (flipped, gone, multipliers, _) in zip(u, changes, strict=True):
            row[np.append(np.searchsorted(used, flipped), used.size + gone)] = multipliers
        theta = self.theta + product(u, np.concatenate([self.near.F[used], self.G]), self.near.n_jobs)
        for row, change in zip(theta, changes, strict=True):
            row[self.candidates[change.gone]] = 0.0
        return np.asarray(theta)

    def correction(self, change: Change) -> tuple[Floats, Floats, Floats]:
        """Return V, B and V Z' of the change V'BV of the inverse that belongs to a state."""
        V = np.concatenate([self.near.F[change.flipped], self.G[change.gone]])
        return V, -inverse(self._system(change.flipped, change.gone)), self._products(change)

    def _solved(self, flipped: Integers, gone: Integers) -> Change:
        right = np.concatenate([self.y[flipped] - self.f[flipped], -self._start[gone]])
        try:
            u = np.linalg.solve(self._system(flipped, gone), right)
        except np.linalg.LinAlgError:
            u = np.full(right.size, np.nan)
        return Change(flipped, gone, u, self._active.copy())

    def _system(self, flipped: Integers, gone: Integers) -> Floats:
        system = np.empty((flipped.size + gone.size,) * 2)
        n = flipped.size
        system[:n, :n] = self.near.K[flipped][:, flipped]
        system[np.arange(n), np.arange(n)] += np.where(self._first[flipped], -1.0, 1.0)
        system[:n, n:] = self._F[flipped][:, gone]
        system[n:, :n] = system[:n, n:].T
        system[n:, n:] = self._G[gone][:, gone]
        return system

    def _decision_values(self, change: Change) -> Floats:
        return np.asarray(self.f + change.u @ self._products(change))

    def _products(self, change: Change) -> Floats:
        """Return the products of the near samples with the rows of the inverse that belong to the changes."""
        return np.concatenate([self.near.K[change.flipped], self._F[:, change.gone].T])
