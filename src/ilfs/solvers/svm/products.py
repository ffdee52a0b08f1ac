"""Matrix products in blocks, so that their rounding does not depend on the number of threads."""

from collections.abc import Callable

import numpy as np

from ilfs.arrays import Floats
from ilfs.execution import blocks, thread_map

SERIAL = 20_000_000  # multiplications that threads are not worth starting for
BLOCK, PRODUCT_BLOCK = 256, 1024  # rows or columns


def each(function: Callable[[slice], None], n: int, *, work: int, n_jobs: int | None, size: int = BLOCK) -> None:
    """Call the function with every block of 0:n, in threads if there is enough work."""
    if work < SERIAL:
        for block in blocks(n, size):
            function(block)
    else:
        for _ in thread_map(function, blocks(n, size), n_jobs):
            pass


def product(A: Floats, B: Floats, n_jobs: int | None) -> Floats:
    """A @ B, by blocks of the larger side of what comes out."""
    out = np.empty((*A.shape[:-1], *B.shape[1:]))
    tall = B.ndim == 1 or A.shape[0] >= B.shape[1]

    def multiply(block: slice) -> None:
        if tall:
            np.matmul(A[block], B, out=out[block])
        else:
            np.matmul(A, B[:, block], out=out[:, block])

    n = out.shape[0] if tall else out.shape[1]
    each(multiply, n, work=out.size * A.shape[-1], n_jobs=n_jobs, size=PRODUCT_BLOCK)
    return out


def add_symmetric(matrix: Floats, A: Floats, B: Floats, n_jobs: int | None) -> None:
    """Add A'B to the matrix where that is symmetric: half of it is computed and copied, so it is exactly so."""

    def add(rows: slice) -> None:
        matrix[rows, : rows.stop] += A[:, rows].T @ B[:, : rows.stop]
        mirror(matrix, rows)

    each(add, matrix.shape[0], work=A.size * A.shape[1] // 2, n_jobs=n_jobs)


def mirror(matrix: Floats, rows: slice) -> None:
    """Copy some rows, up to the diagonal, to the columns above it."""
    corner = np.tril(matrix[rows, rows])
    matrix[rows, rows] = corner + np.tril(corner, -1).T
    matrix[: rows.start, rows] = matrix[rows, : rows.start].T


def positive_inverse(matrix: Floats) -> Floats:
    """Inverse of a large symmetric positive definite matrix, exactly symmetric, in its place if the layout allows.

    Raise `numpy.linalg.LinAlgError` if it is not positive definite.
    """
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, failed = dpotrf(matrix.T, lower=0, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    inverse = dpotri(factor, lower=0, overwrite_c=1)[0].T
    for rows in blocks(inverse.shape[0], BLOCK):
        mirror(inverse, rows)
    return np.asarray(inverse)


def inverse(matrix: Floats) -> Floats:
    """Inverse of a small symmetric matrix; NaN if it has none, which those who check what comes of it notice."""
    try:
        return np.asarray(1 / matrix if len(matrix) == 1 else np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)
