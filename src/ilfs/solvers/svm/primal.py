r"""SVMs with no more features than samples: systems of equations as large as there are features.

With :math:`\theta = (b, w)` and a column of ones in Z, the solution for the active samples A satisfies
:math:`H \theta = Z_A^\top y_A`, where :math:`H = P + Z_A^\top Z_A` and P is the diagonal of penalties. The inverse of H
is kept and corrected by the Woodbury identity when samples become active or inactive, and by a projection when features
are removed.
"""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import blocks
from ilfs.solvers.svm.active_set import MIN_RELATIVE_RIDGE, ActiveSetSVM, SharedFeatures
from ilfs.solvers.svm.corrected import Corrected
from ilfs.solvers.svm.newton import Mask, crossed
from ilfs.solvers.svm.products import (
    SUMMED_VECTORS,
    TRIANGLE_ROWS,
    add_symmetric,
    inverse,
    positive_inverse,
    product,
)
from ilfs.solvers.svm.weakest import TIE_FRACTION, weakest

NEAR_FRACTION = 0.1  # fraction of the samples that counts as near the margin, divided among all SVMs
MAX_NEAR_STEPS = 6  # Newton steps with the near samples alone
MAX_NEAR_REMOVALS = 16  # removals after which the near samples are chosen again
N_PROBES = 3  # random combinations of the gradient that are checked
MAX_PROBED_GRADIENT = 1e-9  # relative to the penalty's part of the gradient; beyond it the solution is refined
MAX_REFINEMENT = 1e-8  # relative change of the weights by a refinement; beyond it the inverse is computed again


class Primal(SharedFeatures):
    """SVMs that share their features, one for each class or a single one for two classes.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, 1 + n_features)
        Ones, then the features with mean 0 and variance 1. Overwritten: removed features become 0.
    signs : ndarray of shape (n_svms, n_samples)
        The classes -1 and 1 that each SVM separates.
    scale : ndarray of shape (n_features,)
        The weights of features are ``theta / scale``; these are penalised and compared.
    ridge : float
        1 / (2 C).
    columns : ndarray of shape (n_features,)
        Column numbers of the features in the user's table.
    slack : ndarray of shape (n_svms, n_samples), optional
        Distance of each active sample from the margin in the solution of a similar problem.
    tol, max_iter
        Tolerance and largest number of steps of Newton's method.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """

    svms: "list[PrimalSVM]"

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
        self.columns, self._scale, self.n_jobs = columns, scale, n_jobs
        self._alive = np.ones(columns.size, dtype=bool)
        # Weights are theta / scale, so ridge |weights|^2 penalises theta^2 by ridge / scale^2. The intercept is free.
        penalty = np.append(0.0, np.maximum(ridge / scale**2, MIN_RELATIVE_RIDGE * len(Z)))
        self._samples = SharedSamples(Z, len(signs), n_jobs)
        self.svms = [
            PrimalSVM(self._samples, y, penalty, start, tol=tol, max_iter=max_iter)
            for y, start in zip(signs, np.zeros(signs.shape) if slack is None else slack, strict=True)
        ]

    def weights(self) -> Floats:
        """Weights of each SVM (rows) and remaining feature (columns)."""
        return np.array([svm.theta[1:] for svm in self.svms])[:, self._alive] / self._scale[self._alive]

    def weakest(self, n: int) -> tuple[Integers, Floats]:
        """Find the n features with the smallest weights, smallest first.

        Returns their positions among the stored features, and their squared weights summed over the SVMs.
        """
        size = np.linalg.norm([svm.theta[1:] for svm in self.svms], axis=0) / self._scale
        tie = TIE_FRACTION * float(size[self._alive].max())
        size[~self._alive] = np.inf
        positions = weakest(size, n, tie)
        return positions, size[positions] ** 2

    def remove(self, positions: Integers) -> None:
        """Remove features and solve all SVMs without them."""
        self._alive[positions] = False
        self._samples.remove(positions + 1)  # position 0 is the intercept
        self._each_svm(lambda svm: svm.remove(positions + 1))
        if self._should_compact():
            self._compact()

    def _compact(self) -> None:
        """Drop the removed features from storage."""
        left = np.flatnonzero(self._alive)
        self.columns, self._scale, self._alive = self.columns[left], self._scale[left], self._alive[left]
        kept = np.append(0, left + 1)
        self._samples.keep(kept)
        for svm in self.svms:
            svm.keep(kept)


class PrimalSVM(ActiveSetSVM):
    """One SVM in primal form, with equations as large as its features.

    It minimises theta' P theta / 2 + sum of (y - z'theta)^2 / 2 over the active samples, those with y z'theta < 1.

    Parameters
    ----------
    samples : SharedSamples
        The samples, from which features are removed elsewhere.
    y, slack, tol, max_iter
        As in `ActiveSetSVM`.
    penalty : ndarray of shape (1 + n_features,)
        Diagonal of P; 0 for the intercept, which comes first in theta.
    """

    def __init__(
        self, samples: "SharedSamples", y: Floats, penalty: Floats, slack: Floats, *, tol: float, max_iter: int
    ) -> None:
        super().__init__(y, slack, tol=tol, max_iter=max_iter)
        self.samples, self.penalty = samples, penalty
        self.theta: Floats
        self._f: Floats
        self._build(slack > 0 if slack.any() else np.ones(y.size, dtype=bool))
        self._find_active()
        self._choose_near()

    def remove(self, positions: Integers) -> None:
        """Find the solution without these components of theta, whose columns are already 0 in the samples."""
        if positions.size > self.theta.size // 4:
            self._build(self.active)
        else:
            # Setting theta_p = 0 projects the solution to theta - G_p' G_pp^-1 theta_p, with rows G_p of the inverse G.
            rows = self.inverse.rows(positions)
            B = -inverse(rows[:, positions])
            self.theta += self.theta[positions] @ B @ rows
            self.inverse.correct(rows, B)
        self.theta[positions] = 0.0
        self._exchange_near()
        if self._find_active() > 1 or self._age == MAX_NEAR_REMOVALS:
            self._choose_near()

    def keep(self, positions: Integers) -> None:
        """Drop all other components of theta."""
        self.penalty, self.theta = self.penalty[positions], self.theta[positions]
        self.inverse.keep(positions)
        self._choose_near()

    def _choose_near(self) -> None:
        """Store the samples nearest to the margin: those that the next removals are likely to move across it."""
        n = self.samples.n_near
        self._near = np.argpartition(np.abs(1 - self.y * self._f), n - 1)[:n]
        self._Z_near = self.samples.Z[self._near]
        self._age = 0

    def _exchange_near(self) -> None:
        """Take full Newton steps with the samples near the margin alone.

        After a removal that is usually enough, and it reads only a tenth of the samples. Without a line search the
        steps may cycle. So they go on only as long as the number of samples on the wrong side does not grow.
        `_find_active` then uses all samples.
        """
        self._age += 1
        y, most = self.y[self._near], self.theta.size // 4
        for _ in range(MAX_NEAR_STEPS):
            wrong = crossed(y, self._Z_near @ self.theta, self.active[self._near], self.tol)
            n_wrong = int(np.count_nonzero(wrong))
            if not 0 < n_wrong <= most:
                return
            self._flip(self._near[wrong])
            most = n_wrong

    def _inner(self, a: Floats, b: Floats) -> float:
        return float(a * self.penalty @ b)

    def _solve(self, active: Mask) -> tuple[Floats, Floats]:
        samples = np.flatnonzero(active != self.active)
        if samples.size > self.theta.size // 4:  # a correction of that rank costs more than a new inverse
            self._build(active)
        elif samples.size:
            self._flip(samples)
        f = self.samples.times(self.theta)
        if self._is_doubtful(f):
            self._refine()
            f = self.samples.times(self.theta)
        self._f = f
        return self.theta.copy(), f

    def _flip(self, samples: Integers) -> None:
        """Let inactive samples enter the sums, and active ones leave them.

        H changes by Z'DZ, where D has 1 for samples that enter and -1 for those that leave, so D is its own inverse. By
        the Woodbury identity the inverse changes by -V'(D + Z V')^-1 V, where V = Z H^-1.
        """
        Z = self.samples.Z[samples]
        V = self.inverse.times(Z)
        B = inverse(np.diag(np.where(self.active[samples], -1.0, 1.0)) + Z @ V.T)
        # The gradient changes by -Z'D(y - Z theta), and the new H^-1 Z'D equals V'(D + Z V')^-1.
        self.theta += (self.y[samples] - Z @ self.theta) @ B @ V
        self.inverse.correct(V, -B)
        self.active[samples] ^= True

    def _build(self, active: Mask) -> None:
        """Compute the inverse and the solution without using previous ones."""
        vars(self).pop("inverse", None)  # free its memory before the new matrix is allocated
        H = np.diag(self.penalty)
        samples = np.flatnonzero(active)
        for block in blocks(samples.size, SUMMED_VECTORS):
            Z = self.samples.Z[samples[block]]
            add_symmetric(H, Z, Z, self.samples.n_jobs)
        self.inverse = Corrected(positive_inverse(H), self.samples.n_jobs)
        self.active = active.copy()
        self.theta = np.zeros(self.penalty.size)
        for _ in range(2):  # the second step removes the rounding error of the first (iterative refinement)
            self.theta -= self.inverse.matrix @ self._gradient()

    def _gradient(self) -> Floats:
        """Return the gradient of the objective, Z_A'(Z_A theta - y_A) + P theta."""
        rest = np.where(self.active, self.samples.times(self.theta) - self.y, 0.0)
        return np.asarray(self.samples.transposed_times(rest) + self.penalty * self.theta)

    def _is_doubtful(self, f: Floats) -> bool:
        """Return True if a few random combinations of the gradient's components are not 0.

        Their products with the samples are stored, so this costs O(samples + features) instead of a product with Z.
        """
        rest = np.where(self.active, f - self.y, 0.0)
        pull = self.penalty * self.theta
        gradient = rest @ self.samples.projected + pull @ self.samples.probe
        return not np.abs(gradient).max() <= MAX_PROBED_GRADIENT * np.linalg.norm(pull)  # NaN is doubtful too

    def _refine(self) -> None:
        """Remove accumulated rounding errors from the solution; if they are large, compute the inverse again."""
        self.inverse.settle()
        error = self.inverse.matrix @ self._gradient()
        self.theta -= error
        if not np.abs(error).max() <= MAX_REFINEMENT * np.abs(self.theta).max():
            self._build(self.active)


class SharedSamples:
    """The samples that all SVMs share, and their products with a few random vectors, ``probe``.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, 1 + n_features)
        Ones, then the features. Overwritten.
    n_svms : int
        Number of SVMs, which divide the samples near the margin among them.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    """

    def __init__(self, Z: Floats, n_svms: int, n_jobs: int | None) -> None:
        self.Z, self.n_jobs = Z, n_jobs
        self.n_near = max(1, int(NEAR_FRACTION * len(Z) / n_svms))
        self.probe = np.random.default_rng(0).normal(size=(Z.shape[1], N_PROBES))
        self.projected = product(Z, self.probe, n_jobs)

    def times(self, theta: Floats) -> Floats:
        """Return Z theta."""
        return product(self.Z, theta, self.n_jobs)

    def transposed_times(self, rest: Floats) -> Floats:
        """Return Z' rest."""
        return product(self.Z.T, rest, self.n_jobs)

    def remove(self, positions: Integers) -> None:
        """Set columns to 0."""
        self.projected -= self.Z[:, positions] @ self.probe[positions]
        self.Z[:, positions] = 0.0

    def keep(self, positions: Integers) -> None:
        """Drop all other columns, within the memory of the matrix."""
        memory, width = self.Z.reshape(-1), positions.size
        for rows in blocks(len(self.Z), TRIANGLE_ROWS):  # rows become shorter, so they only move towards the front
            memory[rows.start * width : rows.stop * width] = self.Z[rows].take(positions, axis=1).reshape(-1)
        self.Z = memory[: len(self.Z) * width].reshape(len(self.Z), width)
        self.probe = self.probe[positions]
        self.projected = product(self.Z, self.probe, self.n_jobs)
