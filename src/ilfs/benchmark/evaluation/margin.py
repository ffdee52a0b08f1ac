"""The linear systems of Newton's method for the linear SVM of the benchmark.

For a set of active samples, those within the margin, the best intercept and weights solve

    (Z'WZ + P) theta = Z'Wy,    sums over the active samples,

where Z has a first column of ones, W the sample weights and P the penalty. Newton's method asks for one set after the
other. The sums of a set start from those of the set before. A large system is solved in one of three ways: if few
samples are active, with one equation for each of them; if few have changed since the last Cholesky factor, with that
factor; else with a new one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.solvers.svm.newton import Mask

MIN_CHOLESKY_SIZE = 300  # samples or features; for smaller systems a general solver is faster
MAX_ACTIVE_FRACTION = 0.5  # of the features; with fewer active samples, the system of the samples is the cheaper one
MAX_MOVED_FRACTION = 1 / 16  # of the features; with more changes, a new Cholesky factor is the cheaper way
MAX_SYSTEM_RESIDUAL = 1e-10  # of a system that was solved with an older factor, relative to its right side


@dataclass(frozen=True)
class Factor:
    """Cholesky factor of the system of one set of active samples."""

    active: Mask
    penalty: Floats
    lower: Any

    @classmethod
    def from_system(cls, H: Floats, active: Mask, penalty: Floats) -> "Factor":
        """Factorise a system, which is overwritten."""
        from scipy.linalg import cho_factor

        return cls(active, penalty, cho_factor(H, lower=True, overwrite_a=True, check_finite=False))

    def solution(self, right: Floats) -> Floats:
        """Solve the system."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self.lower, right, check_finite=False))

    def changed_solution(self, right: Floats, Z: Floats, change: Floats) -> Floats:
        """Solve the system after rows Z with the weights ``change`` have been added (Woodbury's identity).

        (H + Z'DZ)^-1 = H^-1 - V (D^-1 + Z V)^-1 V' with V = H^-1 Z'.
        """
        V, x = self.solution(Z.T), self.solution(right)
        return np.asarray(x - V @ np.linalg.solve(np.diag(1 / change) + Z @ V, Z @ x))


@dataclass
class Margin:
    """Samples with weights, the sums over the active ones, and the last solutions of their systems.

    ``Z`` has a first column of ones for the intercept. ``G`` is Z'WZ over the samples that are marked in ``active``.
    """

    Z: Floats
    weights: Floats
    active: Mask
    G: Floats
    factor: Factor | None = None
    last: tuple[Mask, Floats, Floats] | None = None  # active samples, penalty and solution

    @classmethod
    def from_all_samples(cls, Z: Floats, weights: Floats) -> "Margin":
        """Sums over all samples: at the start all are within the margin."""
        Z = np.column_stack([np.ones(len(Z)), Z])
        return cls(Z, weights, np.ones(len(Z), dtype=bool), products(Z, weights))

    def copy(self) -> "Margin":
        """Shallow copy: methods replace the arrays and never change them in place."""
        return replace(self, factor=None, last=None)

    def solution(self, active: Mask, y: Floats, penalty: Floats) -> Floats:
        """Intercept and weights for a set of active samples with classes y of -1 and 1."""
        if self.last is None or self.last[1] is not penalty or not np.array_equal(self.last[0], active):
            self.last = (active.copy(), penalty, self._solved(active, y, penalty))
        return self.last[2]

    def _solved(self, active: Mask, y: Floats, penalty: Floats) -> Floats:
        n_unknowns, n_active = self.Z.shape[1], np.count_nonzero(active)
        if n_unknowns > MIN_CHOLESKY_SIZE and n_active < MAX_ACTIVE_FRACTION * n_unknowns:
            return sample_solution(self.Z[active, 1:], y[active], self.weights[active], penalty)
        right = (active * self.weights * y) @ self.Z
        found = self._solved_by_last_factor(active, right, penalty)
        return self._solved_anew(active, right, penalty) if found is None else found

    def _solved_by_last_factor(self, active: Mask, right: Floats, penalty: Floats) -> Floats | None:
        """Solution by the last factor, None if there is none or the set has changed too much."""
        if self.factor is None or self.factor.penalty is not penalty:
            return None
        moved = np.flatnonzero(active != self.factor.active)
        if moved.size > MAX_MOVED_FRACTION * len(right):
            return None
        Z, change = self.Z[moved], self._signed_weights(moved, active)
        theta = self.factor.changed_solution(right, Z, change) if moved.size else self.factor.solution(right)
        residual = self.G @ theta + penalty * theta + Z.T @ (change * (Z @ theta)) - right
        return theta if np.abs(residual).max() <= MAX_SYSTEM_RESIDUAL * np.abs(right).max() else None

    def _solved_anew(self, active: Mask, right: Floats, penalty: Floats) -> Floats:
        self._move(active)
        H = self.G.copy()
        H.flat[:: len(H) + 1] += penalty
        if len(H) <= MIN_CHOLESKY_SIZE:
            return np.asarray(np.linalg.solve(H, right), dtype=np.float64)
        self.factor = Factor.from_system(H, self.active, penalty)
        return self.factor.solution(right)

    def _move(self, active: Mask) -> None:
        """Change the set of active samples: add those that entered, subtract those that left."""
        moved = np.flatnonzero(active != self.active)
        if moved.size > np.count_nonzero(active):  # fewer products if the sums are computed anew
            self.G = products(self.Z[active], self.weights[active])
        elif moved.size:
            Z = self.Z[moved]
            self.G = self.G + (Z * self._signed_weights(moved, active)[:, None]).T @ Z
        self.active = active.copy()

    def _signed_weights(self, moved: Integers, active: Mask) -> Floats:
        """Weights of samples that have become active, minus the weights of those that no longer are."""
        return np.where(active[moved], self.weights[moved], -self.weights[moved])


def products(Z: Floats, weights: Floats) -> Floats:
    """Compute Z'WZ as the product of a matrix with itself, of which NumPy computes one triangle only."""
    rooted = Z * np.sqrt(weights)[:, None]
    return np.asarray(rooted.T @ rooted)


def sample_solution(Z: Floats, y: Floats, weights: Floats, penalty: Floats) -> Floats:
    """Intercept and weights from a system with one equation for each sample; Z has no column of ones.

    The residuals y - b - Zw, times the sample weights, are the multipliers alpha. The weights are w = Z'alpha / ridge,
    so that (ZZ' / ridge + 1 / W) alpha = y - b, and the sum of alpha is the small ridge of the intercept times b.
    """
    from scipy.linalg import cho_factor, cho_solve

    if not len(y):
        return np.zeros(len(penalty))
    ridge_of_intercept, ridge = penalty[:2]
    K = Z @ Z.T
    K /= ridge
    K.flat[:: len(K) + 1] += 1 / weights
    factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    of_y, of_ones = cho_solve(factor, np.column_stack([y, np.ones(len(y))]), check_finite=False).T
    b = of_y.sum() / (of_ones.sum() + ridge_of_intercept)
    return np.append(b, Z.T @ (of_y - b * of_ones) / ridge)
