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
from scipy.linalg import solve_triangular

from ilfs.arrays import Floats, Integers
from ilfs.blas import add_squares
from ilfs.execution import blocks, one_blas_thread, thread_map
from ilfs.ties import RELATIVE_TOLERANCE, first_of_largest

PANEL = 96  # features that enter before the rest of the matrix is updated
CROWDED = 0.95  # share of the matrix that belongs to features that have not entered, below which it closes up
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
        self.entering = first_of_largest(np.abs(self.c))  # rounding must not choose between copies
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
        step, self.entering = next_entry(self.c, self.a, self.top, self.usable, RELATIVE_TOLERANCE, self.negligible)
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
    path, rest = Path(start.copy(), G.diagonal().copy()), Rest.of(G, n_nonzero)
    triangle = np.empty((n_nonzero, start.size))
    while path.goes_on(n_nonzero):
        p = path.entering
        r = rest.row(p)
        if path.enter(r, float(r[p])):
            triangle[len(path.entered) - 1] = r
            rest.take_away(p, r)
    if path.entered:
        square = triangle[: len(path.entered)].take(path.entered, axis=1)
        path.coefficients[path.entered] = solve_triangular(square, path.fitted())
    return path


@dataclass
class Rest:
    """What the features that entered leave of the products of all.

    The leading part of ``S`` has, above the diagonal, the products of the ``live`` features, from which those of the
    first ``filled`` rows of the panel are still to be subtracted; ``place`` is where a feature is in S. Nothing is left
    of the row of a feature that entered: when the panel is emptied, S closes up over it.
    """

    S: Floats
    panel: Floats
    live: Integers
    place: Integers
    filled: int = 0

    @classmethod
    def of(cls, G: Floats, n_rows: int) -> Self:
        """All of it, from which so many rows will be taken away; G itself is not changed."""
        n = len(G)
        return cls(G if n_rows <= PANEL else G.copy(), np.empty((PANEL, n)), np.arange(n), np.arange(n))

    def row(self, p: int) -> Floats:
        """Of one feature, with all features."""
        if self.filled == PANEL:
            self._empty_panel()
        here, k = self.place[p], self.live.size
        row = np.concatenate([self.S[:here, here], self.S[here, here:k]])
        row -= self.panel[: self.filled, here] @ self.panel[: self.filled, :k]
        every = np.zeros(self.place.size)
        every[self.live] = row
        return every

    def take_away(self, p: int, r: Floats) -> None:
        """Subtract r r' from the products, where r is the row of feature p over the root of its own product."""
        self.panel[self.filled, : self.live.size] = r[self.live]
        self.filled += 1
        self.place[p] = -1

    def _empty_panel(self) -> None:
        from ilfs.kernels.least_angle import close_up

        left = self.place[self.live] >= 0
        if left.mean() < CROWDED:
            close_up(self.S, self.panel, np.flatnonzero(~left), left.size)
            self.live = self.live[left]
            self.place[self.live] = np.arange(self.live.size)
        add_squares(self.S, self.panel[:, : self.live.size], times=-1.0)
        self.filled = 0


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
