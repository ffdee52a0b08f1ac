r"""Smallest eigenvalues of R'R and their eigenvectors, for a sparse matrix R.

Subspace iteration with a Chebyshev filter: a polynomial of R'R that is small on the unwanted part of the spectrum is
applied to a few vectors, and the eigenvectors of R'R restricted to their span (Ritz vectors) are the next vectors. A
filter of degree d amplifies eigenvalue 0 relative to the *cut*, where the unwanted part starts, by about
:math:`\tfrac12 \exp(2 d \sqrt{\text{cut} / \text{top}})`. So eigenvalues that are small relative to the largest one,
top, need a high degree: one filter of degree 500 does far more than twenty filters of degree 25.

Reference: Y. Zhou, Y. Saad, M. Tiago, J. Chelikowsky, *Self-consistent-field calculations using Chebyshev-filtered
subspace iteration*, Journal of Computational Physics 219, 2006.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats
from ilfs.execution import blocks, thread_map

FILTER_EXPONENT = 8.0  # a filter amplifies eigenvalue 0 by about exp of this
MIN_DEGREE, MAX_DEGREE = 16, 2000  # of a filter
POWER_STEPS = 40  # of the power method for the largest eigenvalue
MAX_PRODUCTS = 20_000  # products with R'R after which the iteration ends without convergence
RELATIVE_RESIDUAL = 1e-8  # of the wanted vectors, relative to the distance to the next eigenvalue: the error of angles
MIN_RESIDUAL = 1e-14  # relative to the largest eigenvalue; smaller residuals are rounding errors


@dataclass(frozen=True)
class Gram:
    """The matrix R'R, applied to vectors without being computed.

    Parameters
    ----------
    R, R_t : tuple of ndarray
        Values, columns and row starts of R and of its transpose, in CSR form.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    """

    R: Any
    R_t: Any
    n_jobs: int | None

    @classmethod
    def from_matrix(cls, R: sparse.csr_array, n_jobs: int | None) -> Self:
        """Store R by rows and by columns."""
        by_row, by_column = R.tocsr(), R.T.tocsr()
        return cls(
            (by_row.data, by_row.indices, by_row.indptr),
            (by_column.data, by_column.indices, by_column.indptr),
            n_jobs,
        )

    def times(self, V: Floats) -> Floats:
        """Multiply the columns of V."""
        from ilfs.kernels.chebyshev import gram_times

        return self._in_threads(lambda some: gram_times(self.R, self.R_t, some), V)

    def filtered(self, V: Floats, cut: float, top: float, degree: int) -> Floats:
        """Apply a Chebyshev filter to the columns of V."""
        from ilfs.kernels.chebyshev import chebyshev_filter

        return self._in_threads(lambda some: chebyshev_filter(self.R, self.R_t, some, cut, top, degree), V)

    def _in_threads(self, function: Callable[[Floats], Floats], V: Floats) -> Floats:
        """Apply a kernel to the columns of V, `FILTERED_VECTORS` at a time."""
        from ilfs.kernels.chebyshev import FILTERED_VECTORS

        whole = np.zeros((len(V), -(-V.shape[1] // FILTERED_VECTORS) * FILTERED_VECTORS))
        whole[:, : V.shape[1]] = V
        some = [np.ascontiguousarray(whole[:, columns]) for columns in blocks(whole.shape[1], FILTERED_VECTORS)]
        return np.hstack(list(thread_map(function, some, self.n_jobs)))[:, : V.shape[1]]

    def largest_eigenvalue(self, v: Floats) -> float:
        """Estimate the largest eigenvalue by the power method, to a few per cent."""
        for _ in range(POWER_STEPS):
            v = self.times(v / np.linalg.norm(v))
        return float(np.linalg.norm(v))


def filtered_subspace(
    R: sparse.csr_array, V: Floats, n_wanted: int, tie: float, n_jobs: int | None = None
) -> tuple[Floats, Floats]:
    """Compute the smallest eigenvalues of R'R and their eigenvectors.

    Wanted are the first ``n_wanted`` eigenvectors and those whose eigenvalues are equal to the last of them. They are
    computed as one subspace: eigenvectors of eigenvalues that differ by no more than ``tie`` may be mixed.

    Parameters
    ----------
    R : scipy.sparse.csr_array of shape (m, n)
        The matrix.
    V : ndarray of shape (n, n_vectors)
        Start, for example the eigenvectors of a similar matrix, with more columns than are wanted.
    n_wanted : int
        Number of eigenvectors that must converge, with those that tie with the last.
    tie : float
        Eigenvalues that differ by no more than this are equal.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    values : ndarray of shape (n_vectors,)
        Eigenvalues in ascending order; those after the wanted ones are upper bounds.
    vectors : ndarray of shape (n, n_vectors)
        Orthonormal vectors. If all eigenvalues are within ``tie`` of 0, none of them may have converged.
    """
    gram, products = Gram.from_matrix(R, n_jobs), 0
    V = np.linalg.qr(V)[0]
    # The power method underestimates the largest eigenvalue; the filter needs an upper bound.
    top = 1.1 * gram.largest_eigenvalue(V[:, :1])
    while True:
        values, V, residuals = _ritz_vectors(gram, V)
        if products >= MAX_PRODUCTS or _is_precise(values, residuals, n_wanted, tie, top):
            return values, V
        # All eigenvalues above the largest Ritz value are unwanted.
        cut = min(values[-1], 0.9 * top)
        degree = int(np.clip(FILTER_EXPONENT / 2 / np.sqrt(cut / top), MIN_DEGREE, MAX_DEGREE))
        V = np.linalg.qr(gram.filtered(V, cut, top, degree))[0]
        products += degree


def _ritz_vectors(gram: Gram, V: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the eigenvalues and eigenvectors of R'R restricted to the span of V, and the norms of their residuals."""
    image = gram.times(V)
    T = V.T @ image
    values, vectors = np.linalg.eigh((T + T.T) / 2)
    V, image = V @ vectors, image @ vectors
    return values, V, np.linalg.norm(image - V * values, axis=0)


def _is_precise(values: Floats, residuals: Floats, n_wanted: int, tie: float, top: float) -> bool:
    """Return True if the wanted eigenvectors have converged, or if there are too few vectors to tell.

    The angle between the computed and the exact subspace is about the residual divided by the distance to the other
    eigenvalues.
    """
    if values[-1] <= tie:  # Ritz values are upper bounds, so there are more eigenvalues near 0 than vectors
        return True
    wanted = values <= values[n_wanted - 1] + tie
    others = values[~wanted]
    distance = float(others[0] - values[wanted][-1]) if others.size else tie
    return float(residuals[wanted].max()) <= max(RELATIVE_RESIDUAL * distance, MIN_RESIDUAL * top)
