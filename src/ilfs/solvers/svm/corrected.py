"""A symmetric matrix that is often corrected by matrices of low rank."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.solvers.svm.products import add_symmetric, product

MAX_PENDING = 128  # rank of the corrections that are collected before one product adds them to the matrix


class Corrected:
    """A symmetric matrix plus corrections of low rank, V'BV, that are not yet added.

    Adding each correction at once would rewrite a large matrix every time, which takes longer than everything else. The
    matrix stays exactly symmetric: in an inverse that is updated from itself, asymmetry grows with every correction.

    Parameters
    ----------
    matrix : ndarray of shape (size, size)
        The matrix, which is overwritten.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """

    def __init__(self, matrix: Floats, n_jobs: int | None = None) -> None:
        self.matrix, self.n_jobs = matrix, n_jobs
        self.pending = 0
        self._V = np.empty((MAX_PENDING, matrix.shape[0]))
        self._B = np.zeros((MAX_PENDING, MAX_PENDING))

    def correct(self, V: Floats, B: Floats) -> None:
        """Add V'BV, where B is small and symmetric up to rounding."""
        B = (B + B.T) / 2
        if self.pending + len(V) > MAX_PENDING:
            self.settle()
        if len(V) > MAX_PENDING:  # too many to collect
            add_symmetric(self.matrix, V, B @ V, self.n_jobs)
            return
        new = slice(self.pending, self.pending + len(V))
        self._V[new], self._B[new, new] = V, B
        self.pending = new.stop

    def rows(self, indices: Integers) -> Floats:
        """Return some rows of the corrected matrix, which are also its columns."""
        V, B = self._corrections()
        return np.asarray(self.matrix[indices] + V[:, indices].T @ B @ V)

    def block(self, indices: Integers) -> Floats:
        """Return some rows and the same columns of the corrected matrix; its pending corrections stay pending."""
        V, B = self._corrections()
        V = V[:, indices]
        return np.asarray(self.matrix[np.ix_(indices, indices)] + V.T @ B @ V)

    def times(self, vectors: Floats) -> Floats:
        """Multiply vectors, one in each row, by the corrected matrix."""
        V, B = self._corrections()
        return np.asarray(product(vectors, self.matrix, self.n_jobs) + vectors @ V.T @ B @ V)

    def settle(self) -> None:
        """Add the pending corrections to the matrix."""
        if self.pending:
            V, B = self._corrections()
            add_symmetric(self.matrix, V, B @ V, self.n_jobs)
            self._B[:] = 0.0
        self.pending = 0

    def clear(self) -> None:
        """Set the matrix to 0."""
        self.matrix[:], self._B[:], self.pending = 0.0, 0.0, 0

    def keep(self, indices: Integers) -> None:
        """Drop all other rows and columns."""
        self.settle()
        self.matrix = self.matrix[np.ix_(indices, indices)]
        self._V = np.empty((MAX_PENDING, indices.size))

    def _corrections(self) -> tuple[Floats, Floats]:
        return self._V[: self.pending], self._B[: self.pending, : self.pending]
