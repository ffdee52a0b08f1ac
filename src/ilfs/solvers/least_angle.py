r"""Least angle regression of several targets on many features, to a given number of features.

Least angle regression moves the fit along the direction in which the correlations of all features that have entered
fall equally fast, until another feature is as correlated with the residual; that feature enters, and so on.

The span of the features that have entered is represented by an orthonormal basis :math:`q_1, q_2, \dots`. The direction
is :math:`u = \sum_k z_k q_k`. Its coefficients :math:`z_k` do not change when further features enter, because
:math:`q_k` is orthogonal to all features that entered before the k-th. So :math:`X^\top u = \sum_k z_k r_k` is updated
by one term per step, and all that a step needs of a new feature is :math:`r_k = X^\top q_k`. The :math:`r_k` are the
rows of a Cholesky factorization of :math:`X^\top X` whose pivots the path chooses.

With no more features than samples the factorization works on :math:`X^\top X`, in panels, so that nearly all of the
work is matrix products. With more features it works on X, for several targets at the same time.

Reference: B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, *Least Angle Regression*, Annals of Statistics 32, 2004.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular

from ilfs.arrays import Floats, Integers
from ilfs.blas import add_product, add_squares
from ilfs.execution import blocks, one_blas_thread, thread_map
from ilfs.ties import RELATIVE_TOLERANCE, first_of_largest

PANEL_FEATURES = 96  # features that enter before the matrix of remaining products is updated
MIN_LIVE_FRACTION = 0.95  # fraction of the matrix that features not yet entered must fill; below it, it is compacted
PRODUCT_COLUMNS = 512  # columns per block of products
PRODUCT_SAMPLES = 1024  # samples whose products are added by one matrix product
BASIS_BYTES = 2**28  # memory for the bases of the targets that are treated at the same time
NEGLIGIBLE_CORRELATION = 1e-12  # fraction of the first correlation; below it, the residual is only rounding errors
MIN_REMAINING_SQUARE = 1e-10  # fraction of a feature's square; with less left it depends linearly on those that entered


def least_angle_coefficients(X: Any, Y: Floats, n_nonzero: int, n_jobs: int | None = None) -> tuple[Floats, Floats]:
    """Compute the coefficients of several targets at the point where ``n_nonzero`` features have entered each path.

    Features and targets are centred but not scaled. A feature that depends linearly on those that have entered does not
    enter. So a path may end earlier, at the solution of least squares.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Finite numbers.
    Y : ndarray of shape (n_targets, n_samples)
        The targets.
    n_nonzero : int
        Number of features that enter.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    coefficients : ndarray of shape (n_targets, n_features)
        0 for features that did not enter.
    nearness : ndarray of shape (n_targets, n_features)
        Between 0 and 1, how close each feature came to entering: the largest ratio, along the path, of its correlation
        to that of the features that had entered.
    """
    # Centred features span at most n_samples - 1 dimensions.
    n_nonzero = min(n_nonzero, X.shape[1], X.shape[0] - 1)
    Y = Y - Y.mean(axis=1, keepdims=True)
    few_features = X.shape[1] <= X.shape[0] and not sparse.issparse(X)
    with one_blas_thread():
        paths = (_by_products if few_features else _by_samples)(X, Y, n_nonzero, n_jobs)
    return np.array([path.coefficients for path in paths]), np.array([path.nearness for path in paths])


@dataclass
class LeastAnglePath:
    """State of the path of one target.

    Parameters
    ----------
    c : ndarray of shape (n_features,)
        Correlations (scalar products) of the features with the residual.
    squares : ndarray of shape (n_features,)
        Squared norms of the features.
    top : float
        Absolute correlation of the features that have entered.
    entering : int
        The feature that enters next, -1 at the end of the path.
    entered : list of int
        The features that have entered, in order.
    z : list of float
        Coefficients of the direction in the orthonormal basis.
    steps : list of float
        Distance moved after each entry.

    Attributes
    ----------
    a : ndarray of shape (n_features,)
        X'u: fall of each correlation per unit of distance.
    """

    c: Floats
    squares: Floats
    top: float = 0.0
    entering: int = -1
    entered: list[int] = field(default_factory=list)
    z: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.a, self.coefficients = np.zeros((2, self.c.size))
        self.usable = self.squares > 0
        self.entering = first_of_largest(np.abs(self.c))  # rounding must not choose between copies
        self.top = float(abs(self.c[self.entering]))
        self.nearness = np.abs(self.c) / (self.top or 1.0)
        self.negligible = NEGLIGIBLE_CORRELATION * self.top
        if not self.top:
            self.entering = -1

    def goes_on(self, n_nonzero: int) -> bool:
        """Return True if another feature enters."""
        return self.entering >= 0 and len(self.entered) < n_nonzero

    def enter(self, r: Floats, rest: float) -> bool:
        """Let the next feature enter, unless it depends on those before, and move until another one is due.

        Parameters
        ----------
        r : ndarray of shape (n_features,)
            Products of all features with the part of the new one that is orthogonal to those before. Overwritten.
        rest : float
            Squared norm of that part.

        Returns
        -------
        bool
            True if the feature has entered.
        """
        from ilfs.kernels.least_angle import advance, next_entry

        p = self.entering
        # A dependent feature is skipped, and the path goes on in the same direction.
        enters = rest > MIN_REMAINING_SQUARE * self.squares[p]
        self.usable[p] = False
        if enters:
            r /= np.sqrt(rest)
            # Choose z so that the correlation of p falls by its sign per unit of distance, as those before do.
            z = (np.copysign(1.0, self.c[p]) - self.a[p]) / r[p]
            self.a += z * r
            self.entered.append(p)
            self.z.append(z)
            self.steps.append(0.0)
        # If the feature was skipped, this prolongs the last step: the direction has not changed.
        step, self.entering = next_entry(self.c, self.a, self.top, self.usable, RELATIVE_TOLERANCE, self.negligible)
        self.steps[-1] += step
        self.top -= step
        if self.top <= self.negligible:
            self.entering = -1
        advance(self.c, self.a, step, max(self.top, self.negligible), self.nearness)
        return bool(enters)

    def fitted(self) -> Floats:
        """Return the coordinates of the fit in the orthonormal basis."""
        # Basis vector k has been part of the direction since the k-th entry.
        to_the_end = np.cumsum(self.steps[::-1])[::-1]
        return np.asarray(self.z * to_the_end)


def _by_products(X: NDArray[Any], Y: Floats, n_nonzero: int, n_jobs: int | None) -> list[LeastAnglePath]:
    """Compute paths from the products of the features; each thread computes one path on its own copy of them.

    If few paths are left at the end, for example one path for two threads, the threads share the work of each path.
    """
    G, start = _products(X, Y, n_jobs)
    spare: list[Workspace] = []  # workspaces of finished paths, because touching new memory is slow

    def path(c: Floats) -> LeastAnglePath:
        space = spare.pop() if spare else Workspace.for_paths(G, n_nonzero)
        found = _path_by_products(G, c, space, n_jobs)
        spare.append(space)
        return found

    n_threads = effective_n_jobs(n_jobs)
    left = len(start) % n_threads
    apart = len(start) - (left if 2 * left <= n_threads else 0)
    return [*thread_map(path, start[:apart], n_jobs), *map(path, start[apart:])]


@dataclass(frozen=True)
class Workspace:
    """Memory of a path: one matrix for the remaining products, and one for the rows of the features that entered."""

    S: Floats
    triangle: Floats

    @classmethod
    def for_paths(cls, G: Floats, n_nonzero: int) -> Self:
        """Allocate memory for paths on the products G with ``n_nonzero`` features."""
        # If all rows fit into one panel, none is ever subtracted from S, and no copy of G is needed.
        return cls(G if n_nonzero <= PANEL_FEATURES else np.empty_like(G), np.empty((n_nonzero, len(G))))


def _path_by_products(G: Floats, start: Floats, space: Workspace, n_jobs: int | None) -> LeastAnglePath:
    """Compute one path from the products of the features and their correlations with the target."""
    n_nonzero = len(space.triangle)
    path, rest = LeastAnglePath(start.copy(), G.diagonal().copy()), RemainingProducts.from_products(G, space.S, n_jobs)
    while path.goes_on(n_nonzero):
        p = path.entering
        r = rest.row(p)
        if path.enter(r, float(r[p])):
            space.triangle[len(path.entered) - 1] = r
            rest.subtract(p, r)
    if path.entered:
        # The columns of the features that entered form a triangular matrix R with X = Q R, and the fit is Q fitted().
        square = space.triangle[: len(path.entered)].take(np.array(path.entered), axis=1)
        path.coefficients[path.entered] = solve_triangular(square, path.fitted())
    return path


@dataclass
class RemainingProducts:
    """Products of the parts of the features that are orthogonal to those that have entered.

    This is the Schur complement in a Cholesky factorization, updated one panel at a time: subtracting many rows by one
    matrix product is several times faster than one by one.

    Parameters
    ----------
    S : ndarray of shape (n_features, n_features)
        The leading ``live.size`` rows and columns hold, above the diagonal, the products of the live features.
    panel : ndarray of shape (PANEL_FEATURES, n_features)
        Rows r whose products r r' are still to be subtracted from S.
    live : ndarray of int
        Features that are stored in S. Those that have entered leave it when the panel is emptied.
    position : ndarray of int of shape (n_features,)
        Position of each feature in S, -1 if it has entered.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    filled : int
        Number of rows in the panel.
    """

    S: Floats
    panel: Floats
    live: Integers
    position: Integers
    n_jobs: int | None = None
    filled: int = 0

    @classmethod
    def from_products(cls, G: Floats, S: Floats, n_jobs: int | None) -> Self:
        """Start with the products G of all features, copied to S; S may be G if it will never be changed."""
        n = len(G)
        if S is not G:
            for rows in blocks(n, PRODUCT_COLUMNS):
                S[rows, rows.start :] = G[rows, rows.start :]
        return cls(S, np.empty((PANEL_FEATURES, n)), np.arange(n), np.arange(n), n_jobs)

    def row(self, p: int) -> Floats:
        """Return the remaining products of one feature with all features."""
        if self.filled == PANEL_FEATURES:
            self._empty_panel()
        here, k = self.position[p], self.live.size
        # Only the upper triangle is stored: column `here` above the diagonal, then row `here` to the right of it.
        row = np.concatenate([self.S[:here, here], self.S[here, here:k]])
        row -= self.panel[: self.filled, here] @ self.panel[: self.filled, :k]
        every = np.zeros(self.position.size)
        every[self.live] = row
        return every

    def subtract(self, p: int, r: Floats) -> None:
        """Subtract r r', where r is the row of feature p divided by the root of its product with itself.

        The row is only stored in the panel; `_empty_panel` subtracts all rows of the panel from S.
        """
        self.panel[self.filled, : self.live.size] = r[self.live]
        self.filled += 1
        self.position[p] = -1

    def _empty_panel(self) -> None:
        """Subtract the products r r' of all rows of the panel from S."""
        from ilfs.kernels.least_angle import close_up

        left = self.position[self.live] >= 0
        # Features that have entered would only be updated to 0: drop them once they are a noticeable part.
        if left.mean() < MIN_LIVE_FRACTION:
            close_up(self.S, self.panel, np.flatnonzero(~left), left.size)
            self.live = self.live[left]
            self.position[self.live] = np.arange(self.live.size)
        _add_gram(self.S, self.panel[:, : self.live.size], self.n_jobs, times=-1.0)
        self.filled = 0


def _products(X: NDArray[Any], Y: Floats, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Compute the products of the centred features, in blocks above the diagonal, and those with the targets."""
    n = X.shape[1]
    G, with_targets = np.zeros((n, n)), np.zeros((len(Y), n))
    mean = X.mean(axis=0, dtype=np.float64)
    # Centre before multiplying: subtracting the product of means afterwards would lose digits if means are large.
    for rows in blocks(X.shape[0], PRODUCT_SAMPLES):
        Z = np.subtract(X[rows], mean, order="C")
        with_targets += Y[:, rows] @ Z

        _add_gram(G, Z, n_jobs)
    return G, with_targets


def _add_gram(G: Floats, Z: Floats, n_jobs: int | None, times: float = 1.0) -> None:
    """Add ``times`` Z'Z to the leading block of G, on and above the diagonal, in blocks of rows of G."""
    n = Z.shape[1]

    def add(side: slice) -> None:
        add_squares(G[side, side], Z[:, side], times)
        if side.stop < n:
            add_product(G[side, side.stop : n], Z[:, side], Z[:, side.stop :], times)

    list(thread_map(add, blocks(n, PRODUCT_COLUMNS), n_jobs))


def _by_samples(X: Any, Y: Floats, n_nonzero: int, n_jobs: int | None) -> list[LeastAnglePath]:
    """Compute paths from the samples, as many at the same time as `BASIS_BYTES` allow."""
    features = SparseFeatures.from_matrix(X) if sparse.issparse(X) else DenseFeatures.from_matrix(X, n_jobs)
    together = max(1, BASIS_BYTES // (8 * n_nonzero * X.shape[0]))
    return [path for some in blocks(len(Y), together) for path in _side_by_side(features, Y[some], n_nonzero)]


def _side_by_side(features: Any, Y: Floats, n_nonzero: int) -> list[LeastAnglePath]:
    """Let one feature enter every path at each step, so that a step reads the samples once for all paths."""
    paths = [LeastAnglePath(c, features.squares) for c in features.products(Y)]
    bases = np.empty((len(paths), n_nonzero, Y.shape[1]))
    while going := [k for k, path in enumerate(paths) if path.goes_on(n_nonzero)]:
        left = np.array(
            [
                _orthogonal_part(features.columns([paths[k].entering])[:, 0], bases[k, : len(paths[k].entered)])
                for k in going
            ]
        )
        for k, q, r in zip(going, left, features.products(left), strict=True):
            rest = float(q @ q)
            if paths[k].enter(r, rest):
                bases[k, len(paths[k].entered) - 1] = q / np.sqrt(rest)
    for path, basis in zip(paths, bases, strict=True):
        # The fit is known in the orthonormal basis; solve for coefficients of the features themselves.
        chosen = path.entered
        if chosen:
            triangle = basis[: len(chosen)] @ features.columns(chosen)
            path.coefficients[chosen] = solve_triangular(triangle, path.fitted())
    return paths


def _orthogonal_part(x: Floats, basis: Floats) -> Floats:
    """Subtract the projection of a vector onto an orthonormal basis.

    Rounding can leave a part along the basis after one pass, but not after two ("twice is enough", Kahan and Parlett).
    """
    for _ in range(2):
        x = x - (basis @ x) @ basis
    return x


@dataclass(frozen=True)
class DenseFeatures:
    """A centred copy of dense features."""

    Z: Floats
    squares: Floats
    n_jobs: int | None

    @classmethod
    def from_matrix(cls, X: NDArray[Any], n_jobs: int | None) -> Self:
        """Subtract the column means."""
        Z = np.ascontiguousarray(X - X.mean(axis=0, dtype=np.float64))
        return cls(Z, np.square(Z).sum(axis=0), n_jobs)

    def products(self, vectors: Floats) -> Floats:
        """Multiply vectors by every feature."""
        sides = blocks(self.Z.shape[1], PRODUCT_COLUMNS)
        return np.concatenate(list(thread_map(lambda side: vectors @ self.Z[:, side], sides, self.n_jobs)), axis=1)

    def columns(self, chosen: list[int]) -> Floats:
        """Return some features."""
        return np.asarray(self.Z[:, chosen])


@dataclass(frozen=True)
class SparseFeatures:
    """Sparse features, which are not centred: the means are subtracted from products and columns instead."""

    X: Any
    mean: Floats
    squares: Floats

    @classmethod
    def from_matrix(cls, X: Any) -> Self:
        """Compress by column, and compute means and centred squared norms."""
        X = X.tocsc().astype(np.float64)
        mean = np.asarray(X.mean(axis=0)).ravel()
        stored = np.diff(X.indptr)
        deviations = sparse.csc_array((X.data - np.repeat(mean, stored), X.indices, X.indptr), shape=X.shape)
        squares = np.asarray(deviations.multiply(deviations).sum(axis=0)).ravel()
        return cls(X, mean, squares + (X.shape[0] - stored) * mean * mean)  # each zero deviates by the mean

    def products(self, vectors: Floats) -> Floats:
        """Multiply vectors by every feature."""
        return np.asarray((self.X.T @ vectors.T).T - vectors.sum(axis=1, keepdims=True) * self.mean)

    def columns(self, chosen: list[int]) -> Floats:
        """Return some features as a dense array."""
        return np.asarray(self.X[:, chosen].toarray() - self.mean[chosen])
