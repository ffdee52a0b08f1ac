"""Matrix products in blocks, so that their rounding does not depend on the number of threads."""

from collections.abc import Callable

import numpy as np

from ilfs.arrays import Floats
from ilfs.execution import blocks, thread_map

MIN_THREADED_MULTIPLICATIONS = 20_000_000  # below this, starting threads takes longer than it saves
TRIANGLE_ROWS = 256  # rows per block of a symmetric or triangular matrix
PRODUCT_ROWS = 1024  # rows or columns per block of a product
SUMMED_VECTORS = 1024  # vectors whose outer products are added to a matrix by one product


def each_block(
    function: Callable[[slice], None], n: int, *, work: int, n_jobs: int | None, size: int = TRIANGLE_ROWS
) -> None:
    """Call the function with every block of 0:n, in threads if there is enough work."""
    if work < MIN_THREADED_MULTIPLICATIONS:
        for block in blocks(n, size):
            function(block)
    else:
        for _ in thread_map(function, blocks(n, size), n_jobs):
            pass


def product(A: Floats, B: Floats, n_jobs: int | None) -> Floats:
    """Compute A @ B in blocks of the longer side of the result."""
    out = np.empty((*A.shape[:-1], *B.shape[1:]))
    tall = B.ndim == 1 or A.shape[0] >= B.shape[1]

    def multiply(block: slice) -> None:
        if tall:
            np.matmul(A[block], B, out=out[block])
        else:
            np.matmul(A, B[:, block], out=out[:, block])

    n = out.shape[0] if tall else out.shape[1]
    each_block(multiply, n, work=out.size * A.shape[-1], n_jobs=n_jobs, size=PRODUCT_ROWS)
    return out


def add_symmetric(matrix: Floats, A: Floats, B: Floats, n_jobs: int | None) -> None:
    """Add a symmetric A'B to a symmetric matrix. One half is computed and copied, so the sum is exactly symmetric."""

    def add(rows: slice) -> None:
        matrix[rows, : rows.stop] += A[:, rows].T @ B[:, : rows.stop]
        mirror(matrix, rows)

    each_block(add, matrix.shape[0], work=A.size * A.shape[1] // 2, n_jobs=n_jobs)


def mirror(matrix: Floats, rows: slice) -> None:
    """Copy some rows below the diagonal to the columns above it."""
    corner = np.tril(matrix[rows, rows])
    matrix[rows, rows] = corner + np.tril(corner, -1).T
    matrix[: rows.start, rows] = matrix[rows, : rows.start].T


def positive_inverse(matrix: Floats) -> Floats:
    """Invert a large symmetric positive definite matrix by Cholesky, in its own memory if the layout allows.

    The result is exactly symmetric. Raises `numpy.linalg.LinAlgError` if the matrix is not positive definite.
    """
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, failed = dpotrf(matrix.T, lower=0, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    inverse = dpotri(factor, lower=0, overwrite_c=1)[0].T
    for rows in blocks(inverse.shape[0], TRIANGLE_ROWS):
        mirror(inverse, rows)
    return np.asarray(inverse)


def inverse(matrix: Floats) -> Floats:
    """Invert a small symmetric matrix; return NaN if it is singular, which the checks of the solution detect."""
    try:
        return np.asarray(1 / matrix if len(matrix) == 1 else np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)
