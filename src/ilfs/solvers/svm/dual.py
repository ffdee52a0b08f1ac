r"""SVMs with more features than samples: systems of equations as large as there are samples.

With the multipliers :math:`\alpha` of the active samples A, the weights are :math:`w = X \alpha`, and

.. math::

    M \begin{pmatrix} b \\ \alpha \end{pmatrix} = \begin{pmatrix} 0 \\ y_A \end{pmatrix}, \qquad
    M = \begin{pmatrix} 0 & 1^\top \\ 1 & K_{AA} + \text{ridge}\, I \end{pmatrix}, \qquad K = X^\top X .

The inverse of M is stored for all samples, with zeros for those that are not active. It is corrected by the Woodbury
identity when features are removed, by bordering when samples become active, and by a projection when they leave.
"""

from typing import NamedTuple

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import blocks
from ilfs.solvers.svm.active_set import MIN_RELATIVE_RIDGE, ActiveSetSVM, SharedFeatures
from ilfs.solvers.svm.corrected import Corrected
from ilfs.solvers.svm.newton import Mask
from ilfs.solvers.svm.primal import Primal
from ilfs.solvers.svm.products import (
    SUMMED_VECTORS,
    TRIANGLE_ROWS,
    add_symmetric,
    inverse,
    positive_inverse,
    product,
)
from ilfs.solvers.svm.weakest import TIE_FRACTION, weakest
from ilfs.ties import tolerance

N_CANDIDATES = 256  # features with small weights that are compared before every removal
MAX_REFINEMENTS = 3  # if more are needed, the inverse is computed again
MAX_RESIDUAL = 1e-9  # largest error of the equations, relative to the slacks (ridge times the multipliers)
MAX_KERNEL_RESIDUAL = 1e-14  # or relative to the kernel times the multipliers, whose rounding no refinement removes


class Candidates(NamedTuple):
    """Features whose weights were small at some time, and the state of all features at that time.

    Parameters
    ----------
    positions : ndarray of shape (n_candidates,)
        Positions of the candidates among the stored features.
    X : ndarray of shape (n_candidates, n_samples)
        Their values.
    others : ndarray of shape (n_features,)
        Sizes of the weights of all other features; infinite for the candidates.
    alphas : ndarray of shape (n_svms, n_samples)
        The multipliers.
    tie : float
        Sizes that differ by no more than this are equal.
    """

    positions: Integers
    X: Floats
    others: Floats
    alphas: Floats
    tie: float


class Dual(SharedFeatures):
    """SVMs that share their features, one for each class or a single one for two classes.

    Parameters
    ----------
    X : ndarray of shape (n_features, n_samples)
        One feature per row, with mean 0, in the units in which weights are penalised and compared. Overwritten.
    signs : ndarray of shape (n_svms, n_samples)
        The classes -1 and 1 that each SVM separates.
    ridge : float
        1 / (2 C).
    tol, max_iter
        Tolerance and largest number of steps of Newton's method.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """

    svms: "list[DualSVM]"

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
        # The ridge is added to the diagonal of the kernel, whose mean is trace / n_samples.
        ridge = max(ridge, MIN_RELATIVE_RIDGE * self._trace / X.shape[1])
        self.svms = [DualSVM(self.kernel, y, ridge, tol=tol, max_iter=max_iter) for y in signs]

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.X.shape[1])

    def weights(self) -> Floats:
        """Weights of each SVM (rows) and remaining feature (columns)."""
        return product(self.X[self._alive], self._alphas().T, self.n_jobs).T

    def weakest(self, n: int) -> tuple[Integers, Floats]:
        """Find the n features with the smallest weights, smallest first.

        Weights change little between removals: by the Cauchy-Schwarz inequality, at most by the norm of the feature
        times the norm of the change of the multipliers. So only features whose weights were small are compared, until
        another feature might have become as small.

        Returns the positions among the stored features, and the squared weights summed over the SVMs.
        """
        alphas = self._alphas()
        if self._candidates is not None:
            size = np.linalg.norm(self._candidates.X @ alphas.T, axis=1)
            size[~self._alive[self._candidates.positions]] = np.inf
            moved = float(np.linalg.norm(alphas - self._candidates.alphas))
            # No other feature can have become smaller than this; a possible tie with it counts as smaller.
            least = float((self._candidates.others - moved * self._norms).min())
            if np.count_nonzero(size < least - tolerance(least, self._candidates.tie)) >= n:
                found = weakest(size, n, self._candidates.tie)
                return self._candidates.positions[found], size[found] ** 2
        size = np.linalg.norm(product(self.X, alphas.T, self.n_jobs), axis=1)
        tie = TIE_FRACTION * float(size[self._alive].max())
        size[~self._alive] = np.inf
        found = weakest(size, n, tie)
        self._choose_candidates(size, alphas, N_CANDIDATES + 2 * n, tie)
        return found, size[found] ** 2

    def _choose_candidates(self, size: Floats, alphas: Floats, n: int, tie: float) -> None:
        """Store the n features with the smallest weights, unless they are half of all features or more."""
        self._candidates = None
        if n < self.n_features // 2:
            positions = np.sort(np.argpartition(size, n)[:n])
            others = size.copy()
            others[positions] = np.inf
            self._candidates = Candidates(positions, self.X[positions], others, alphas, tie)

    def remove(self, positions: Integers) -> None:
        """Remove features and solve all SVMs without them."""
        self._alive[positions] = False
        self._left -= float((self._norms[positions] ** 2).sum())
        many = positions.size > self.n_samples // 4  # corrections of that rank cost more than a new kernel and inverses
        X = self.X[positions[:0] if many else positions]
        # When removals have halved the trace, rounding errors have doubled relative to the kernel: sum it again.
        if many or self._left < self._trace / 2:
            self._sum_kernel()
        else:
            self.kernel.correct(X, -np.eye(len(X)))
        self._each_svm(lambda svm: svm.rebuild() if many else svm.remove(X))
        if self._should_compact():
            self._compact()

    def in_primal(self) -> Primal:
        """Convert to SVMs with the same solutions and systems of equations as large as there are features."""
        left = np.flatnonzero(self._alive)
        # Columns of variance 1 make the equations well conditioned; `scale` restores the units of the penalty.
        scale = self._norms[left] / np.sqrt(self.X.shape[1])
        Z = with_intercept((self.X[left] / scale[:, None]).T, 1.0)
        first = self.svms[0]
        primal = Primal(
            Z,
            np.array([svm.y for svm in self.svms]),
            scale,
            first.ridge,
            self.columns[left],
            np.array([svm.slack for svm in self.svms]),
            tol=first.tol,
            max_iter=first.max_iter,
            n_jobs=self.n_jobs,
        )
        for svm, before in zip(primal.svms, self.svms, strict=True):
            svm.converged &= before.converged
            svm.n_iter = max(svm.n_iter, before.n_iter)
        return primal

    def _sum_kernel(self) -> None:
        """Compute the kernel and its trace from the remaining features."""
        self.kernel.clear()
        for block in blocks(self._alive.size, SUMMED_VECTORS):
            X = self.X[block][self._alive[block]]
            add_symmetric(self.kernel.matrix, X, X, self.n_jobs)
        self._trace = self._left = float(np.trace(self.kernel.matrix))

    def _compact(self) -> None:
        """Drop the removed features from storage."""
        left = np.flatnonzero(self._alive)
        for block in blocks(left.size, TRIANGLE_ROWS):  # in place: rows only move towards the front
            self.X[block] = self.X[left[block]]
        self.X, self.columns, self._norms = self.X[: left.size], self.columns[left], self._norms[left]
        self._alive = self._alive[left]
        self._candidates = None

    def _alphas(self) -> Floats:
        return np.array([svm.solution[1:] for svm in self.svms])


class DualSVM(ActiveSetSVM):
    """One SVM in dual form, with equations as large as its active samples A.

    They are (K_AA + ridge I) alpha + b = y_A with sum of alpha = 0; the weights are X alpha.

    Parameters
    ----------
    kernel : Corrected
        K, inner products of the samples; features are removed from it elsewhere.
    y : ndarray of shape (n_samples,)
        The two classes, -1 and 1.
    ridge : float
        1 / (2 C).
    tol, max_iter
        Tolerance and largest number of steps of Newton's method.
    """

    def __init__(self, kernel: Corrected, y: Floats, ridge: float, *, tol: float, max_iter: int) -> None:
        super().__init__(y, np.zeros(y.size), tol=tol, max_iter=max_iter)
        self.kernel, self.ridge = kernel, ridge
        self.size = float(np.trace(kernel.matrix)) / y.size  # mean of the diagonal: the scale of rounding errors
        self._build(np.ones(y.size, dtype=bool))
        self._find_active()

    def remove(self, X: Floats) -> None:
        """Find the solution without these features, which have left the kernel already.

        The removal subtracts (0 X)'(0 X) from M. By the Woodbury identity its inverse changes by U'(I - X U')^-1 U,
        where U = (0 X) M^-1. The solution changes by U'(I - X U')^-1 X alpha.
        """
        U = self.inverse.times(with_intercept(X, 0.0))
        B = inverse(np.eye(len(X)) - X @ U[:, 1:].T)
        self.solution += X @ self.solution[1:] @ B @ U
        self.inverse.correct(U, B)
        self._find_active()

    def rebuild(self) -> None:
        """Find the solution for a kernel that has changed much."""
        self._build(self.active)
        self._find_active()

    def _inner(self, a: Floats, b: Floats) -> float:
        # w_a'w_b = alpha_a' K alpha_b, as w = X alpha.
        return self.ridge * float(a[1:] @ self.kernel.times(b[None, 1:])[0])

    def _solve(self, active: Mask) -> tuple[Floats, Floats]:
        entering, leaving = np.flatnonzero(active & ~self.active), np.flatnonzero(self.active & ~active)
        if entering.size + leaving.size > self.y.size // 4:  # corrections of that rank cost more than a new inverse
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
        """Refine the solution until the equations hold; return its decision values and True if they do."""
        for _ in range(MAX_REFINEMENTS):
            f, rest = self._values()
            limit = max(MAX_RESIDUAL * self.ridge, MAX_KERNEL_RESIDUAL * self.size) * float(np.abs(self.solution).max())
            if np.abs(rest).max() <= limit:
                return f, True
            self.solution += self.inverse.times(rest[None])[0]
        return self._values()[0], False

    def _values(self) -> tuple[Floats, Floats]:
        """Return the decision values and the residuals of the equations."""
        alpha = self.solution[1:]
        f = self.kernel.times(alpha[None])[0] + self.solution[0]
        rest = np.where(self.active, self.y - f - self.ridge * alpha, 0.0)
        return f, np.append(-alpha.sum(), rest)

    def _enter(self, samples: Integers) -> None:
        """Border M by the rows of new active samples.

        With V = border M^-1 and the Schur complement S of the new samples, the inverse changes by (V -1)'S^-1 (V -1),
        where -1 stands at the positions of the new samples, which were 0 before.
        """
        K = self.kernel.rows(samples)
        border = with_intercept(np.where(self.active, K, 0.0), 1.0)
        V = self.inverse.times(border)
        B = inverse(K[:, samples] + self.ridge * np.eye(samples.size) - border @ V.T)
        V[np.arange(samples.size), samples + 1] = -1.0
        # The residuals of the new equations are y - f of the present solution, as the new samples have alpha 0.
        self.solution -= (self.y[samples] - border @ self.solution) @ B @ V
        self.inverse.correct(V, B)
        self.active[samples] = True

    def _leave(self, samples: Integers) -> None:
        """Project onto alpha = 0 for these samples: the inverse N becomes N - N_s' N_ss^-1 N_s."""
        V = self.inverse.rows(samples + 1)
        B = -inverse(V[:, samples + 1])
        self.solution += self.solution[samples + 1] @ B @ V
        self.inverse.correct(V, B)
        self.active[samples] = False
        self.solution[samples + 1] = 0.0

    def _build(self, active: Mask) -> None:
        """Compute the inverse and the solution without using previous ones.

        M is not positive definite, but its lower right block is: invert that by Cholesky and add the border of ones.
        """
        vars(self).pop("inverse", None)  # free its memory before the new matrix is allocated
        here = np.flatnonzero(active)
        N = positive_inverse(self.kernel.block(here) + self.ridge * np.eye(here.size))
        # alpha = N (y - b 1) with N = (K + ridge I)^-1. Row 0 of the inverse is the b for which alpha sums to 0.
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
    """Prepend one number, for the intercept, to each row."""
    out = np.empty((rows.shape[0], rows.shape[1] + 1))
    out[:, 0], out[:, 1:] = value, rows
    return out
