r"""SVMs with no more features than samples: systems of equations as large as there are features.

With :math:`\theta = (b, w)` and a column of ones in Z, the solution for the active samples A satisfies
:math:`H \theta = Z_A^\top y_A`, where :math:`H = P + Z_A^\top Z_A` and P is the diagonal of penalties. The inverse of H
is kept and corrected by the Woodbury identity when samples become active or inactive, and by a projection when features
are removed.
"""

from typing import NamedTuple

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import blocks
from ilfs.solvers.svm.active_set import MIN_RELATIVE_RIDGE, ActiveSetSVM, SharedFeatures
from ilfs.solvers.svm.corrected import Corrected
from ilfs.solvers.svm.newton import Mask, crossed, slack_of
from ilfs.solvers.svm.products import (
    SUMMED_VECTORS,
    TRIANGLE_ROWS,
    add_symmetric,
    inverse,
    positive_inverse,
    product,
)
from ilfs.solvers.svm.weakest import TIE_FRACTION, weakest
from ilfs.solvers.svm.window import NearSamples, Window
from ilfs.ties import tolerance

NEAR_FRACTION = 0.1  # fraction of the samples that counts as near the margin, divided among all SVMs
WINDOW_FRACTION = 0.15  # the same for windows of several removals
MAX_NEAR_STEPS = 6  # Newton steps with the near samples alone
MAX_NEAR_REMOVALS = 16  # removals after which the near samples are chosen again
N_PROBES = 3  # random combinations of the gradient that are checked
MAX_PROBED_GRADIENT = 1e-9  # relative to the penalty's part of the gradient; beyond it the solution is refined
N_CANDIDATES = 96  # features with small weights that a window may remove
MIN_WINDOW, MAX_WINDOW = 8, 32  # removals in a window
MIN_WINDOW_VALUES = 8_000_000  # values of a table that fits into the cache; then windows do not help
MAX_ATTEMPTS = 5  # of a window; before each, samples that were on the wrong side are included
PAUSE_AFTER_SHORT_WINDOW = 8  # removals without windows after one of which hardly anything could be kept
MAX_REFINEMENT = 1e-8  # relative change of the weights by a refinement; beyond it the inverse is computed again


class Ahead(NamedTuple):
    """A removal that the SVMs have already made, and their state before it."""

    position: int
    size: float
    thetas: tuple[Floats, ...]
    active: tuple[Mask, ...]


class WindowLength:
    """Number of removals to try in a row: more if all of the last ones were right, fewer otherwise."""

    def __init__(self) -> None:
        self.length, self._pause = MIN_WINDOW, 0

    def is_worthwhile(self, n_values: int) -> bool:
        """Return True if a window is likely to save time for a table with so many values."""
        self._pause -= 1
        return n_values >= MIN_WINDOW_VALUES and self._pause < 0

    def report(self, done: int) -> None:
        """Adapt to the number of removals that were right."""
        if done < MIN_WINDOW // 2:
            self._pause = PAUSE_AFTER_SHORT_WINDOW
        self.length = min(2 * self.length, MAX_WINDOW) if done >= self.length else max(MIN_WINDOW, done + 1)


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
        self._ahead: list[Ahead] = []
        self._windows = WindowLength()
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
        return self._thetas()[:, 1:][:, self._alive] / self._scale[self._alive]

    def _thetas(self) -> Floats:
        """Return the solution of each SVM: that of the window if it is ahead."""
        return np.array(self._ahead[0].thetas if self._ahead else [svm.theta for svm in self.svms])

    def weakest(self, n: int) -> tuple[Integers, Floats]:
        """Find the n features with the smallest weights, smallest first.

        Returns their positions among the stored features, and their squared weights summed over the SVMs.
        """
        if n == 1 and self._ahead:
            return np.array([self._ahead[0].position]), np.array([self._ahead[0].size ** 2])
        size, tie = self._sizes(self._thetas())
        positions = weakest(size, n, tie)
        return positions, size[positions] ** 2

    def _sizes(self, thetas: Floats) -> tuple[Floats, float]:
        """Return the norms of the weights over the SVMs, infinite for removed features, and the size that is a tie."""
        size = np.linalg.norm(thetas[:, 1:], axis=0) / self._scale
        tie = TIE_FRACTION * float(size[self._alive].max())
        size[~self._alive] = np.inf
        return size, tie

    def remove(self, positions: Integers) -> None:
        """Remove features and solve all SVMs without them."""
        if self._ahead and positions.tolist() == [self._ahead[0].position]:
            self._ahead.pop(0)  # the SVMs are there already
            self._alive[positions] = False
        else:
            self._go_back()
            alone = positions.size == 1 and self.n_features > 2
            if not (alone and self._windows.is_worthwhile(self._samples.Z.size) and self._run(int(positions[0]))):
                self._remove_now(positions)
        if not self._ahead and self._should_compact():
            self._compact()

    def _remove_now(self, positions: Integers) -> None:
        self._alive[positions] = False
        self._samples.remove(positions + 1)  # position 0 is the intercept
        self._each_svm(lambda svm: svm.remove(positions + 1))

    def _run(self, position: int) -> bool:
        """Remove a feature and, if possible, those that are the weakest after it; return False if nothing was removed.

        The removals after the first are kept in ``_ahead`` until they are asked for.
        """
        size, tie = self._sizes(self._thetas())
        n = min(N_CANDIDATES, self.n_features // 2)
        candidates = np.union1d(np.argpartition(size, n)[:n], position)
        self._each_svm(lambda svm: svm.open_window(candidates + 1))
        chosen, sizes, n_right = self._eliminate_and_check(candidates, position, tie)
        n_right = min(n_right, self._first_rival(candidates, sizes, tie))
        self._windows.report(n_right)
        if n_right == 0:
            return False
        removed = candidates[chosen[:n_right]]
        self._ahead = [
            Ahead(int(removed[k]), sizes[k], *zip(*[svm.state(k) for svm in self.svms], strict=True))
            for k in range(1, n_right)
        ]
        self._alive[position] = False
        self._removed_columns = self._samples.Z[:, removed + 1]
        self._samples.remove(removed + 1)
        self._each_svm(lambda svm: svm.close_window(n_right, removed + 1))
        return True

    def _eliminate_and_check(
        self, candidates: Integers, position: int, tie: float
    ) -> tuple[list[int], list[float], int]:
        """Remove the weakest candidates from the windows, and check the solutions with all samples.

        Samples that are on the wrong side are included in the windows, and the removals from there on are repeated.

        Returns the candidates, their sizes, and the number of removals that are right. The last of them may leave a
        solution that is not yet right.
        """
        chosen: list[int] = []
        sizes: list[float] = []
        for attempt in range(1, MAX_ATTEMPTS + 1):
            self._eliminate(candidates, position, tie, chosen, sizes)
            self._each_svm(lambda svm: svm.check_window())
            n_right = min(svm.first_wrong for svm in self.svms)
            if attempt == MAX_ATTEMPTS or not any(svm.is_wrong for svm in self.svms):
                break
            n_right -= 1
            included = [svm.include_wrong(n_right) for svm in self.svms]
            del chosen[n_right:], sizes[n_right:]
            if not all(included):
                break
        return chosen, sizes, n_right

    def _eliminate(
        self, candidates: Integers, position: int, tie: float, chosen: list[int], sizes: list[float]
    ) -> None:
        """Remove the weakest candidates from the windows, beginning with ``position``; append them and their sizes."""
        following = int(np.searchsorted(candidates, position))
        while len(chosen) < self._windows.length:
            size = np.linalg.norm([svm.window.weights() for svm in self.svms], axis=0) / self._scale[candidates]
            size[chosen] = np.inf
            if chosen:
                following = int(weakest(size, 1, tie)[0])
            gone = np.array([*chosen, following])
            solved = [svm.window.remove(gone) for svm in self.svms]
            if not all(solved):
                for svm in self.svms:
                    del svm.window.changes[len(chosen) :]
                return
            chosen.append(following)
            sizes.append(float(size[following]))

    def _first_rival(self, candidates: Integers, sizes: list[float], tie: float) -> int:
        """Return the number of removals before the first at which another feature was as small as the candidate."""
        others = self._alive.copy()
        others[candidates] = False
        for k in range(1, len(sizes)):
            thetas = np.array([svm.state(k)[0][1:][others] for svm in self.svms])
            size = np.linalg.norm(thetas, axis=0) / self._scale[others]
            if size.size and size.min() <= sizes[k] + tolerance(sizes[k], tie):
                return k
        return len(sizes)

    def _go_back(self) -> None:
        """If the SVMs are ahead, solve them again for the features that are left."""
        if not self._ahead:
            return
        ahead, self._ahead = self._ahead, []
        positions = np.array([step.position for step in ahead])
        self._samples.restore(positions + 1, self._removed_columns[:, -positions.size :])
        for svm, active in zip(self.svms, ahead[0].active, strict=True):
            svm.restart(active)

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
        self.window: Window
        self._neighbours: NearSamples | None = None
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
            self._correct(rows, B)
        self.theta[positions] = 0.0
        if self._neighbours:
            self._neighbours.remove(positions)
        self._exchange_near()
        if self._find_active() > 1 or self._age == MAX_NEAR_REMOVALS:
            self._choose_near()

    def keep(self, positions: Integers) -> None:
        """Drop all other components of theta."""
        self.penalty, self.theta = self.penalty[positions], self.theta[positions]
        self.inverse.keep(positions)
        if self._neighbours:
            self._neighbours.keep(positions)
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

    def open_window(self, candidates: Integers) -> None:
        """Start a window of removals of some components of theta."""
        distance, n_jobs = np.abs(1 - self.y * self._f), self.samples.n_jobs
        if self._neighbours is None:
            n = max(1, int(WINDOW_FRACTION * self.y.size / self.samples.n_svms))
            nearest = np.argpartition(distance, n - 1)[:n]
            self._neighbours = NearSamples(nearest, self.samples.Z[nearest], self.inverse, n_jobs)
        else:
            self._neighbours.refresh(distance, self.samples.Z, self.inverse)
        near = self._neighbours.samples
        self._thetas, self._decisions = np.empty((0, self.theta.size)), np.empty((0, self.y.size))
        self.window = Window(
            self._neighbours,
            self.y[near],
            self._f[near],
            self.active[near],
            self.theta,
            candidates,
            self.inverse,
            self.tol,
        )

    def check_window(self) -> None:
        """Compute the decision values of all samples after each removal, and find the first wrong solution.

        ``first_wrong`` is the number of removals up to it, or of all if there is none. Solutions that were right before
        are not checked again.
        """
        right = len(self._decisions)
        thetas = self.window.solutions(right)
        decisions = product(self.samples.Z, np.ascontiguousarray(thetas.T), self.samples.n_jobs).T
        self._thetas, self._decisions = np.vstack([self._thetas, thetas]), np.vstack([self._decisions, decisions])
        wrong = np.zeros(decisions.shape, dtype=bool)
        for k, f in enumerate(decisions):
            wrong[k] = crossed(self.y, f, self._window_active(right + k), self.tol)
        self.is_wrong, self._wrong = bool(wrong.any()), np.flatnonzero(wrong.any(axis=0))
        self.first_wrong = right + int(wrong.any(axis=1).argmax()) + 1 if self.is_wrong else len(self._decisions)

    def include_wrong(self, n_changes: int) -> bool:
        """Add the samples that were on the wrong side to the window, and go back to the state after some removals."""
        samples = np.setdiff1d(self._wrong, self.window.near.samples)
        self._thetas, self._decisions = self._thetas[:n_changes], self._decisions[:n_changes]
        Z, y, f = self.samples.Z[samples], self.y[samples], self._f[samples]
        return self.window.include(samples, Z, y, f, self.active[samples], n_changes, self.inverse)

    def state(self, n_removals: int) -> tuple[Floats, Mask]:
        """Return the solution and the active samples after some removals of the window, at least one."""
        return self._thetas[n_removals - 1], self._window_active(n_removals - 1)

    def _window_active(self, k: int) -> Mask:
        active = self.active.copy()
        active[self.window.near.samples] = self.window.changes[k].active
        return active

    def close_window(self, n_removals: int, positions: Integers) -> None:
        """Move to the solution after some removals of the window, whose columns are already 0 in the samples."""
        V, B, VZ = self.window.correction(self.window.changes[n_removals - 1])
        theta, active = self.state(n_removals)
        f = self._decisions[n_removals - 1]
        self._correct(V, B, VZ)
        self.window.near.remove(positions)
        self.theta, self.active, self._f = theta.copy(), active, f.copy()
        self.slack = slack_of(self.y, f, active)
        self.n_iter = max(self.n_iter, self.window.n_iter)
        del self.window, self._thetas, self._decisions
        doubtful = self._is_doubtful(f)
        if doubtful:
            self._neighbours = None
        if doubtful or crossed(self.y, f, active, self.tol).any():
            self._find_active()

    def restart(self, active: Mask) -> None:
        """Solve again after features have come back, starting from a set of active samples."""
        self._build(active)
        self._find_active()
        self._choose_near()

    def _correct(self, V: Floats, B: Floats, VZ: Floats | None = None) -> None:
        """Correct the inverse by V'BV, and what depends on it."""
        self.inverse.correct(V, B)
        if self._neighbours:
            self._neighbours.correct(V, B, VZ)

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
        self._correct(V, -B)
        self.active[samples] ^= True

    def _build(self, active: Mask) -> None:
        """Compute the inverse and the solution without using previous ones."""
        vars(self).pop("inverse", None)  # free its memory before the new matrix is allocated
        self._neighbours = None
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
        self.Z, self.n_svms, self.n_jobs = Z, n_svms, n_jobs
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

    def restore(self, positions: Integers, columns: Floats) -> None:
        """Bring removed columns back."""
        self.Z[:, positions] = columns
        self.projected += columns @ self.probe[positions]

    def keep(self, positions: Integers) -> None:
        """Drop all other columns, within the memory of the matrix."""
        memory, width = self.Z.reshape(-1), positions.size
        for rows in blocks(len(self.Z), TRIANGLE_ROWS):  # rows become shorter, so they only move towards the front
            memory[rows.start * width : rows.stop * width] = self.Z[rows].take(positions, axis=1).reshape(-1)
        self.Z = memory[: len(self.Z) * width].reshape(len(self.Z), width)
        self.probe = self.probe[positions]
        self.projected = product(self.Z, self.probe, self.n_jobs)
