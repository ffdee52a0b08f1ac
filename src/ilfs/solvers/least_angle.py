r"""Least angle regression of several targets on many features, to a given number of features.

The features that have entered are kept as an orthonormal basis :math:`q_1, q_2, \dots` of what they span. All that a
step needs of a new one is :math:`r_k = X^\top q_k`: the direction in which all their correlations with the residual
fall alike is :math:`u = \sum_k z_k q_k`, where the numbers :math:`z_k` never change once they are known, so that
:math:`X^\top u = \sum_k z_k r_k` is updated, not computed anew. That makes a path a Cholesky factorization of
:math:`X^\top X` whose pivots it chooses.

With no more features than samples the factorization works on :math:`X^\top X` itself, in panels, so that nearly all of
the work is matrix products. With more features it works on X, for several targets side by side.

Reference: B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, *Least Angle Regression*, Annals of Statistics 32, 2004.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from ilfs.arrays import Floats
from ilfs.execution import blocks, one_blas_thread, thread_map

PANEL = 256  # features that enter before the rest of the matrix is updated
SIDE = 512  # columns of a block of products
HEIGHT = 1024  # rows whose products are added at once
BASIS_BYTES = 2**28  # of the bases of the targets that are treated side by side
DEPENDENT = 1e-10  # share of a feature's square that is left of it, below which the others say all that it does


def least_angle_coefficients(X: Any, Y: Floats, n_nonzero: int, n_jobs: int | None = None) -> tuple[Floats, Floats]:
    """Coefficients of the paths of several targets where so many features have entered.

    Features and targets are centred and not scaled. A feature that depends linearly on those that entered does not
    enter. So the path may end earlier, with the coefficients of least squares.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Finite numbers.
    Y : ndarray of shape (n_targets, n_samples)
        The targets.
    n_nonzero : int
        How many features are to enter.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    coefficients : ndarray of shape (n_targets, n_features)
        0 for features that did not enter.
    nearness : ndarray of shape (n_targets, n_features)
        How near a feature came to entering: its largest share of the correlation of those that entered.
    """
    n_nonzero = min(n_nonzero, X.shape[1], X.shape[0] - 1)
    Y = Y - Y.mean(axis=1, keepdims=True)
    few = X.shape[1] <= X.shape[0] and not sparse.issparse(X)
    with one_blas_thread():
        paths = (_by_products if few else _by_samples)(X, Y, n_nonzero, n_jobs)
    return np.array([path.coefficients for path in paths]), np.array([path.nearness for path in paths])


@dataclass
class Path:
    """Where one target's path is.

    ``c`` are the correlations of the features with the residual, ``top`` that of those that entered, ``a`` is how fast
    the correlations fall; ``squares`` are those of the features.
    """

    c: Floats
    squares: Floats
    top: float = 0.0
    entering: int = -1
    entered: list[int] = field(default_factory=list)
    z: list[float] = field(default_factory=list)
    gone: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.a, self.coefficients = np.zeros((2, self.c.size))
        self.usable = self.squares > 0
        self.entering = int(np.abs(self.c).argmax())
        self.top = float(abs(self.c[self.entering]))
        self.nearness = np.abs(self.c) / (self.top or 1.0)
        self.negligible = 1e-12 * self.top
        if not self.top:
            self.entering = -1

    def goes_on(self, n_nonzero: int) -> bool:
        """Whether another feature is to enter."""
        return self.entering >= 0 and len(self.entered) < n_nonzero

    def enter(self, r: Floats, rest: float) -> bool:
        """Let the feature enter of which this square is left; r are the products of all features with what is left.

        Returns whether it did.
        """
        from ilfs.kernels.least_angle import advance, next_entry

        p = self.entering
        enters = rest > DEPENDENT * self.squares[p]
        self.usable[p] = False
        if enters:
            r /= np.sqrt(rest)
            z = (np.copysign(1.0, self.c[p]) - self.a[p]) / r[p]
            self.a += z * r
            self.entered.append(p)
            self.z.append(z)
            self.gone.append(0.0)
        step, self.entering = next_entry(self.c, self.a, self.top, self.usable)
        self.gone[-1] += step
        self.top -= step
        if self.top <= self.negligible:
            self.entering = -1
        advance(self.c, self.a, step, max(self.top, self.negligible), self.nearness)
        return bool(enters)

    def fitted(self) -> Floats:
        """Coordinates of the fit in the orthonormal basis."""
        to_the_end = np.cumsum(self.gone[::-1])[::-1]
        return np.asarray(self.z * to_the_end)


def _by_products(X: NDArray[Any], Y: Floats, n_nonzero: int, n_jobs: int | None) -> list[Path]:
    """Paths on the products of the features, each on a copy of them; threads have one path each."""
    G, start = _products(X, Y, n_jobs)
    return list(thread_map(lambda c: _path_by_products(G, c, n_nonzero), start, n_jobs))


def _path_by_products(G: Floats, start: Floats, n_nonzero: int) -> Path:
    """One path from these correlations."""
    path = Path(start.copy(), G.diagonal().copy())
    S = G if n_nonzero <= PANEL else G.copy()  # what the features that entered leave of the products
    panel, filled = np.empty((PANEL, start.size)), 0
    while path.goes_on(n_nonzero):
        p = path.entering
        r = _row(S, p) - panel[:filled, p] @ panel[:filled]
        if path.enter(r, float(r[p])):
            panel[filled] = r
            filled += 1
        if filled == PANEL:
            _downdate(S, panel)
            filled = 0
    chosen = np.array(path.entered, dtype=np.intp)
    square = G[np.minimum.outer(chosen, chosen), np.maximum.outer(chosen, chosen)]
    if chosen.size:
        path.coefficients[chosen] = cho_solve(cho_factor(square), (start - path.c)[chosen])
    return path


def _products(X: NDArray[Any], Y: Floats, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Products of the centred features, in blocks above the diagonal, and with the targets."""
    n = X.shape[1]
    G, with_targets = np.zeros((n, n)), np.zeros((len(Y), n))
    mean = X.mean(axis=0, dtype=np.float64)
    for rows in blocks(X.shape[0], HEIGHT):
        Z = X[rows] - mean
        with_targets += Y[:, rows] @ Z

        def add(side: slice, Z: Floats = Z) -> None:
            G[side, side.start :] += Z[:, side].T @ Z[:, side.start :]

        list(thread_map(add, blocks(n, SIDE), n_jobs))
    return G, with_targets


def _row(S: Floats, p: int) -> Floats:
    """A row of a symmetric matrix that is stored in blocks above the diagonal."""
    start = p - p % SIDE
    return np.concatenate([S[:start, p], S[p, start:]])


def _downdate(S: Floats, panel: Floats) -> None:
    """Subtract the products of a panel."""
    for side in blocks(S.shape[0], SIDE):
        S[side, side.start :] -= panel[:, side].T @ panel[:, side.start :]


def _by_samples(X: Any, Y: Floats, n_nonzero: int, n_jobs: int | None) -> list[Path]:
    """Paths side by side, on the samples."""
    features = SparseFeatures.of(X) if sparse.issparse(X) else DenseFeatures.of(X, n_jobs)
    together = max(1, BASIS_BYTES // (8 * n_nonzero * X.shape[0]))
    return [path for some in blocks(len(Y), together) for path in _side_by_side(features, Y[some], n_nonzero)]


def _side_by_side(features: Any, Y: Floats, n_nonzero: int) -> list[Path]:
    """A feature enters every path at each step, so that the samples are read once for all of them."""
    paths = [Path(c, features.squares) for c in features.products(Y)]
    bases = np.empty((len(paths), n_nonzero, Y.shape[1]))
    while going := [k for k, path in enumerate(paths) if path.goes_on(n_nonzero)]:
        left = np.array(
            [_left(features.columns([paths[k].entering])[:, 0], bases[k, : len(paths[k].entered)]) for k in going]
        )
        for k, q, r in zip(going, left, features.products(left), strict=True):
            rest = float(q @ q)
            if paths[k].enter(r, rest):
                bases[k, len(paths[k].entered) - 1] = q / np.sqrt(rest)
    for path, basis in zip(paths, bases, strict=True):
        chosen = path.entered
        if chosen:
            triangle = basis[: len(chosen)] @ features.columns(chosen)
            path.coefficients[chosen] = solve_triangular(triangle, path.fitted())
    return paths


def _left(x: Floats, basis: Floats) -> Floats:
    """What an orthonormal basis leaves of a vector; twice is enough."""
    for _ in range(2):
        x = x - (basis @ x) @ basis
    return x


@dataclass(frozen=True)
class DenseFeatures:
    """Centred features, a copy."""

    Z: Floats
    squares: Floats
    n_jobs: int | None

    @classmethod
    def of(cls, X: NDArray[Any], n_jobs: int | None) -> Self:
        """Subtract the means."""
        Z = np.ascontiguousarray(X - X.mean(axis=0, dtype=np.float64))
        return cls(Z, np.square(Z).sum(axis=0), n_jobs)

    def products(self, vectors: Floats) -> Floats:
        """With every feature."""
        parts = blocks(self.Z.shape[1], SIDE)
        return np.concatenate(list(thread_map(lambda side: vectors @ self.Z[:, side], parts, self.n_jobs)), axis=1)

    def columns(self, chosen: list[int]) -> Floats:
        """Some features."""
        return np.asarray(self.Z[:, chosen])


@dataclass(frozen=True)
class SparseFeatures:
    """The same without a copy; the mean is subtracted from what is made of them."""

    X: Any
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, X: Any) -> Self:
        """Compressed columns and their means."""
        X = X.tocsc().astype(np.float64)
        mean = np.asarray(X.mean(axis=0)).ravel()
        stored = np.diff(X.indptr)
        deviations = sparse.csc_array((X.data - np.repeat(mean, stored), X.indices, X.indptr), shape=X.shape)
        squares = np.asarray(deviations.multiply(deviations).sum(axis=0)).ravel()
        return cls(X, mean, squares + (X.shape[0] - stored) * mean * mean)

    def products(self, vectors: Floats) -> Floats:
        """With every feature."""
        return np.asarray((self.X.T @ vectors.T).T - vectors.sum(axis=1, keepdims=True) * self.mean)

    def columns(self, chosen: list[int]) -> Floats:
        """Some features, dense."""
        return np.asarray(self.X[:, chosen].toarray() - self.mean[chosen])
