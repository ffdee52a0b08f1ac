"""Chebyshev filter of a few vectors by a sparse matrix; see `solvers.smallest_eigenvectors`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.kernels._jit import formula, kernel

Csr = tuple[Floats, NDArray[Any], NDArray[Any]]  # values, columns and row starts of a matrix in CSR form

FILTERED_VECTORS = 8  # vectors that are filtered together: a row of them fills a cache line


@formula
def _times(R: Csr, V: Floats, out: Floats) -> None:
    """Write the product of a CSR matrix with `FILTERED_VECTORS` vectors to ``out``."""
    data, indices, indptr = R
    lanes = np.empty(FILTERED_VECTORS)  # a fixed length, so that the sums stay in a register
    for i in range(out.shape[0]):
        lanes[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            row = V[np.uint64(indices[e])]  # unsigned: Numba then makes no test for negative indices
            for c in range(FILTERED_VECTORS):
                lanes[c] += data[e] * row[c]
        for c in range(FILTERED_VECTORS):
            out[i, c] = lanes[c]


@formula
def _add_term(
    R_t: Csr,
    V: Floats,
    now: Floats,
    before: Floats,
    middle: float,
    scale: float,
    back: float,
) -> None:
    """Replace ``before`` by the next term of the recurrence, (R'V - middle now) scale - back before."""
    data, indices, indptr = R_t
    lanes = np.empty(FILTERED_VECTORS)
    for i in range(now.shape[0]):
        lanes[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            row = V[np.uint64(indices[e])]
            for c in range(FILTERED_VECTORS):
                lanes[c] += data[e] * row[c]
        for c in range(FILTERED_VECTORS):
            before[i, c] = (lanes[c] - middle * now[i, c]) * scale - back * before[i, c]


@kernel
def gram_times(
    R: Csr,
    R_t: Csr,
    V: Floats,
) -> Floats:
    """Compute R'R V for a sparse R, given by its rows and by those of R', and `FILTERED_VECTORS` columns of V."""
    between, out = np.empty_like(V), np.empty_like(V)
    _times(R, V, between)
    _times(R_t, between, out)
    return out


@kernel
def chebyshev_filter(
    R: Csr,
    R_t: Csr,
    V: Floats,
    cut: float,
    top: float,
    degree: int,
) -> Floats:
    """Apply a Chebyshev polynomial of R'R to V that is small on [cut, top] and large below.

    Chebyshev polynomials are at most 1 on [-1, 1] and grow faster outside than any other polynomial of their degree.
    The map (x - middle) / half takes [cut, top] to [-1, 1]. The three-term recurrence is scaled by sigma in every step
    so that the polynomial is 1 at 0 and nothing overflows.
    """
    half, middle = (top - cut) / 2, (top + cut) / 2
    first = sigma = -half / middle
    before, now, between = np.zeros_like(V), V.copy(), np.empty_like(V)
    scale, back = sigma / half, 0.0
    for _ in range(degree):
        _times(R, now, between)
        _add_term(R_t, between, now, before, middle, scale, back)
        before, now = now, before
        following = 1.0 / (2.0 / first - sigma)
        scale, back = 2.0 * following / half, sigma * following
        sigma = following
    return now
