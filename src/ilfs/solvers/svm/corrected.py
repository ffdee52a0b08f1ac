"""A symmetric matrix that is corrected a little, very often."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.solvers.svm.products import add_symmetric, product

PENDING = 128  # corrections kept apart before they are added in one product


class Corrected:
    """A symmetric matrix plus corrections of low rank, V'BV, that are not yet added.

    To write a large matrix anew for each of them would take longer than everything else. The matrix stays exactly
    symmetric: in an inverse that is updated from itself, what is not symmetric grows with every correction.

    Parameters
    ----------
    matrix : ndarray of shape (size, size)
        Becomes the object's own.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """

    def __init__(self, matrix: Floats, n_jobs: int | None = None) -> None:
        self.matrix, self.n_jobs = matrix, n_jobs
        self.pending = 0
        self._V = np.empty((PENDING, matrix.shape[0]))
        self._B = np.zeros((PENDING, PENDING))

    def correct(self, V: Floats, B: Floats) -> None:
        """Add V'BV; the rows of V are as long as those of the matrix, B is small and symmetric but for rounding."""
        B = (B + B.T) / 2
        if self.pending + len(V) > PENDING:
            self.settle()
        if len(V) > PENDING:
            add_symmetric(self.matrix, V, B @ V, self.n_jobs)
            return
        new = slice(self.pending, self.pending + len(V))
        self._V[new], self._B[new, new] = V, B
        self.pending = new.stop

    def rows(self, indices: Integers) -> Floats:
        """Some rows, or columns."""
        V, B = self._corrections()
        return np.asarray(self.matrix[indices] + V[:, indices].T @ B @ V)

    def times(self, vectors: Floats) -> Floats:
        """Products with vectors, one in each row."""
        V, B = self._corrections()
        return np.asarray(product(vectors, self.matrix, self.n_jobs) + vectors @ V.T @ B @ V)

    def settle(self) -> None:
        """Add what is pending."""
        if self.pending:
            V, B = self._corrections()
            add_symmetric(self.matrix, V, B @ V, self.n_jobs)
            self._B[:] = 0.0
        self.pending = 0

    def clear(self) -> None:
        """Make it 0."""
        self.matrix[:], self._B[:], self.pending = 0.0, 0.0, 0

    def keep(self, indices: Integers) -> None:
        """Forget all other rows and columns."""
        self.settle()
        self.matrix = self.matrix[np.ix_(indices, indices)]
        self._V = np.empty((PENDING, indices.size))

    def _corrections(self) -> tuple[Floats, Floats]:
        return self._V[: self.pending], self._B[: self.pending, : self.pending]
