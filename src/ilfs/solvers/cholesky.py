"""Cholesky factorisation of a large matrix in several threads, with a result that does not depend on their number."""

from collections.abc import Iterator

from scipy import linalg

from ilfs.blas import AnyFloats, add_product, add_squares, solve_transposed
from ilfs.execution import blocks, thread_map

PANEL_ROWS = 512  # rows of the factor that are computed before the rest of the matrix is updated


def factorise(S: AnyFloats, n_jobs: int | None = None) -> None:
    """Replace the upper triangle of a positive definite matrix S by U with U'U = S.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Matrix in C order, in float32 or float64, changed in place. Values
        below the diagonal are not used, and some of them are changed.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Raises
    ------
    numpy.linalg.LinAlgError
        If S is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.cholesky import factorise
    >>> S = np.array([[4.0, 2.0], [2.0, 10.0]])
    >>> factorise(S)
    >>> np.triu(S)
    array([[2., 1.],
           [0., 3.]])
    """
    for rows in blocks(len(S), PANEL_ROWS):
        _factorise_panel(S, rows, n_jobs)


def _factorise_panel(S: AnyFloats, rows: slice, n_jobs: int | None) -> None:
    """Compute some rows of the factor, and subtract their product from all later rows."""
    S[rows, rows] = linalg.cholesky(S[rows, rows], check_finite=False)

    def solve(columns: slice) -> None:
        solve_transposed(S[rows, rows], S[rows, columns])

    def update(later: slice) -> None:
        add_squares(S[later, later], S[rows, later], times=-1.0)
        add_product(S[later, later.stop :], S[rows, later], S[rows, later.stop :], times=-1.0)

    for task in (solve, update):
        for _ in thread_map(task, _blocks_after(rows, len(S)), n_jobs):
            pass


def _blocks_after(rows: slice, n: int) -> Iterator[slice]:
    return (slice(rows.stop + b.start, rows.stop + b.stop) for b in blocks(n - rows.stop, PANEL_ROWS))
