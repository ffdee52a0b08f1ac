r"""Unsupervised Discriminative Feature Selection.

UDFS looks for a linear map W that avoids the directions in which the neighbourhoods of the samples are spread, and that
uses few features. The score of a feature is the norm of its row of W.

.. math:: \min_{W^\top W = I}\ \operatorname{tr}(W^\top A W) + \gamma \sum_f \lVert w_f \rVert, \qquad
          A = X^\top L X, \qquad L = \sum_i S_i H\,(\lambda I + H K_i H)^{-1} H S_i^\top

where :math:`S_i` selects sample i and its k nearest neighbours, :math:`K_i` holds their scalar products and H is the
centring matrix. The map is found by iteratively reweighted eigenproblems: W holds the eigenvectors of the c smallest
eigenvalues of :math:`A + \gamma D`, where :math:`D = \operatorname{diag}(1 / 2\lVert w_f \rVert)` is computed from the
previous W.

Reference: Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou, *l2,1-Norm Regularized Discriminative Feature Selection for
Unsupervised Learning*, IJCAI 2011.

Where we depart from the paper and from the authors' toolbox:

- The norm of a row is smoothed, :math:`\sqrt{\lVert w_f \rVert^2 + \epsilon}` with a tiny :math:`\epsilon`, so that
  :math:`D` is finite for rows of zeros. Each step lowers the objective with the smoothed norm, and iteration stops when
  the decrease is small; the toolbox always makes 20 steps.
- :math:`\lambda` is a fraction of the mean squared distance between neighbours, so that the unit of the table does not
  matter; in the paper and the toolbox it is in squared units of X.
- The first D is not the identity. With more features than samples A has many zero eigenvalues, and with the identity
  their eigenvectors are not unique: the toolbox's result changes when the columns are permuted. We start from
  :math:`\lVert w_f \rVert^2 \propto 1 / a_{ff}`. With fewer features than samples and a small :math:`\gamma` the result
  is the same.
- Defaults are :math:`k = 5` and :math:`\gamma = 0.1`, as in the paper; the toolbox's demo has 1 and 1e-5.
- With more than 200 features a step does not solve the eigenproblem exactly. It updates W and D alternately in a small
  subspace (`improved`), which takes less time in total. At the end, rows that converge to zero get their final length
  in closed form, which orders the features without weight.
- With more features than samples no features x features matrix is formed.
- Constant columns have no cost and would come first; they are left out and come last.
- Samples at equal distance that compete for the last of the k places share them. A neighbour with a fraction s of a
  place has weight s in the regression behind :math:`S_i`: :math:`\lambda I` becomes
  :math:`\lambda \operatorname{diag}(1 / s)`. If more than 64 distinct samples tie, 64 of them share, chosen by a hash
  of their values.
- Samples are processed in an order that depends on their values only. So the order of the rows does not even change
  rounding errors, nor the choice among several solutions of an eigenproblem.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats, Integers
from ilfs.execution import AllRows, blocks, one_blas_thread, thread_map
from ilfs.must_keep import MustKeep
from ilfs.neighbours import DistinctSamples, Neighbours, difference_grams, nearest_neighbours, usable_neighbours
from ilfs.parameters import check_integer, check_positive
from ilfs.selector import Scores, UnsupervisedRowsSelector
from ilfs.solvers.cholesky import factorise
from ilfs.warn import warn

MIN_PRODUCT_COLUMNS, MAX_PRODUCT_COLUMNS = 32, 256  # columns per task of a symmetric product: n / 8 in these limits
SMOOTHING_FRACTION = 1e-12  # epsilon divided by the mean squared norm of a row of W
PRODUCT_ROWS = 256  # rows per task of a product of the matrix A with vectors
MIN_FLOAT32_FEATURES = 1536  # with fewer features, refining solutions takes longer than a factorisation in float64
MAX_REFINED_SOLVES = 8  # with one factor in float32; for more solutions, a factor in float64 takes less time
MAX_RESIDUALS = (1e-4, 1e-7, 1e-10)  # relative, of a solution in float32 and after each correction
MAX_EXACT_FEATURES = 200  # with more features, the eigenproblems are solved in small subspaces
FIRST_EIGENVECTORS_TOL = 1e-2  # relative residual; iteration reaches the same W as from exact eigenvectors
KRYLOV_DEPTH = 4  # block products with the inverse before a restart
MAX_RESTARTS = 10  # of the block Lanczos method
MIN_RELATIVE_SHIFT = 1e-15  # of the largest diagonal entry, added if rounding makes A + gamma D indefinite
STEPS_PER_FACTORISATION = 4  # with fewer factorisations, rounding errors grow from step to step
TURNS_PER_STEP = 4  # alternating updates of D and W in one subspace
MAX_SHORT_ROW = 1e-2  # rows with a smaller squared norm, relative to the mean, get their final length in closed form
MIN_NEW_DIRECTION = 1e-12  # squared norm, relative to the largest, below which a direction is in the span already


class UDFS(UnsupervisedRowsSelector):
    """Unsupervised Discriminative Feature Selection.

    If ``gamma`` is large, hardly more than ``n_clusters`` rows of W differ from zero; the other features are then
    ordered by how close they are to entering.

    With at least as many samples as features, every fourth step costs a Cholesky factorisation of an
    n_features x n_features matrix, and memory is a copy of the table and two such matrices (two and a half with more
    than 1,500 features: factors are then in float32, and solutions are refined in float64). Otherwise such a step costs
    n_features x n_samples^2 operations, and memory is three copies of the table and two n_samples x n_samples matrices.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them.
    n_clusters : int, default=5
        Number of columns of W. Must be less than the number of features.
    n_neighbors : int, default=5
        Number of neighbours of a sample.
    gamma : float, default=0.1
        Weight of the penalty that shrinks rows of W to zero.
    regularization : float, default=1e-5
        The ridge lambda, as a fraction of the mean squared distance between neighbours.
    max_iter : int, default=100
        Maximum number of steps.
    tol : float, default=1e-4
        Iteration stops when the objective falls by no more than this fraction.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the rows of W, in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    projection_ : ndarray of shape (n_features, n_clusters)
        The map W; rows of constant columns are zero.
    objective_ : ndarray of shape (n_iter,)
        Objective after every step; it never rises.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    References
    ----------
    .. [1] Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou, "l2,1-Norm Regularized Discriminative Feature Selection for
       Unsupervised Learning", IJCAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ilfs import UDFS
    >>> wine = load_wine()
    >>> selector = UDFS(n_features_to_select=3, n_clusters=3).fit(scale(wine.data))
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['flavanoids', 'color_intensity', 'od280/od315_of_diluted_wines']
    """

    _takes_sparse = False
    _takes_missing = False
    _takes_long = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        gamma: float = 0.1,
        regularization: float = 1e-5,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by the norms of their rows in a sparse map that keeps neighbours together.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Finite numbers.
        y : ignored
            Present for pipelines. If it is the name of a column of X, that column is left out.

        Returns
        -------
        UDFS
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        with one_blas_thread():  # around everything: to set and lift the limit for every product would take longer
            step = self._last_step(rows)
        self.n_iter_, self.projection_ = self.objective_.size, rows.expand(step.W, axis=0)
        if not step.converged and self.n_iter_ == self.max_iter:
            warn(
                f"the objective did not converge to tol={self.tol:g} in max_iter={self.max_iter} steps",
                ConvergenceWarning,
            )
        return Scores(np.sqrt(squared_norms(step.W)))

    def _last_step(self, rows: AllRows) -> "Projection":
        n_neighbors, n_clusters = (
            usable_neighbours(self.n_neighbors, len(rows.X)),
            self._usable_clusters(rows.X.shape[1]),
        )
        X, counts = scaled_samples(rows)
        L = neighbourhood_laplacian(X, counts, n_neighbors, float(self.regularization), rows.n_jobs)
        scatter = (DenseScatter if X.shape[1] <= X.shape[0] else LowRankScatter)(X, L, rows.n_jobs)
        self.objective_ = np.empty(0)
        start = pseudo_random_columns(X, 2 * n_clusters)
        steps = sparse_projections(scatter, start, n_clusters, float(self.gamma), self.tol, self.max_iter)
        for step in self._steps(steps, "step", self.max_iter):
            self.objective_ = np.append(self.objective_, step.objective)
        return step

    def _usable_clusters(self, n_features: int) -> int:
        n_clusters = min(self.n_clusters, max(1, n_features - 1))
        if n_clusters < self.n_clusters:
            warn(
                f"n_clusters={self.n_clusters} must be less than the {n_features} features that are not constant: "
                f"using {n_clusters}"
            )
        return n_clusters

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_clusters", self.n_clusters, 1)
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_positive("gamma", self.gamma)
        check_positive("regularization", self.regularization)
        check_integer("max_iter", self.max_iter, 1)
        check_positive("tol", self.tol)


def scaled_samples(rows: AllRows) -> tuple[Floats, Floats]:
    """Return the distinct rows, centred and divided by the largest range of a column, and the count of each.

    The order of the rows depends on their values only, so that rounding errors do not depend on the caller's order. The
    common unit does not change the result.
    """
    distinct = DistinctSamples.from_samples(rows.X, ordered=True)
    X = np.ascontiguousarray(distinct.X, dtype=np.float64)  # reordered, hence a copy
    X -= rows.low  # first, because the mean of values far from zero would lose digits
    X /= (rows.high - rows.low).max()
    X -= distinct.counts @ X / distinct.n_samples
    return X, distinct.counts


def neighbourhood_laplacian(
    X: Floats, counts: Floats, n_neighbors: int, regularization: float, n_jobs: int | None
) -> sparse.csr_array:
    """Return L, a sparse matrix over the distinct samples whose rows sum to zero.

    The quadratic form of a neighbourhood is the residual of a ridge regression on X, in which member j has weight s_j,
    its places. Let E have the columns e_j - e_i for a sample i and its neighbours j, let G be the scalar products of
    the differences x_j - x_i, and S = diag(s). Then the neighbourhood adds E (lambda E' S^-1 E + G)^-1 E' to L. If all
    s_j are 1, this equals H (lambda I + H K H)^-1 H: the columns of E are a basis of the range of H. Copies of a sample
    have the same values, so they are one member with the sum of their places.
    """
    found = nearest_neighbours(X, n_neighbors, n_jobs, counts=counts)
    # lambda is a fraction of the mean squared distance between neighbours; the mean is taken as 1 if all are copies.
    ridge = regularization * (
        (counts[found.first] * found.places) @ found.squared / (counts.sum() * n_neighbors) or 1.0
    )
    parts = [
        neighbourhood_parts(X, counts, found, samples, entries, ridge, n_jobs) for samples, entries in found.by_length()
    ]
    values, first, second = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sparse.coo_array((values, (first, second)), shape=(len(X), len(X))).tocsr()


def neighbourhood_parts(
    X: Floats,
    counts: Floats,
    found: Neighbours,
    samples: Integers,
    entries: Integers,
    ridge: float,
    n_jobs: int | None,
) -> tuple[Floats, Integers, Integers]:
    """Return the contributions to L of the neighbourhoods of one size: values, rows and columns."""
    neighbours, places = found.indices[entries], found.places[entries]
    k = entries.shape[1]
    # E' S^-1 E has 1 / s_i + 1 / s_j on the diagonal and 1 / s_i elsewhere; the sample itself has s_i = 1.
    grams = difference_grams(X, samples, neighbours, n_jobs) + ridge
    grams[:, np.arange(k), np.arange(k)] += ridge / places
    E = np.vstack([-np.ones(k), np.eye(k)])
    members = np.column_stack([samples, neighbours])
    added = counts[samples, None, None] * (E @ pseudo_inverses(grams) @ E.T)
    return added.ravel(), np.repeat(members, k + 1, axis=1).ravel(), np.tile(members, k + 1).ravel()


def pseudo_inverses(matrices: Floats) -> Floats:
    """Return the pseudo-inverses of positive semidefinite matrices; eigenvalues at the rounding level count as zero."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(matrices)
        zero = values <= 1e-15 * values[:, -1:]
        inverted = np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, values))
        return np.asarray((vectors * inverted[:, None]) @ vectors.transpose(0, 2, 1))


class ShiftedScatter(Protocol):
    """Factorisation of the matrix A + diag(shift)."""

    def solve(self, V: Floats) -> Floats:
        """Multiply the inverse of A + diag(shift) by vectors."""

    def solve_and_multiply(self, V: Floats) -> tuple[Floats, Floats]:
        """Return the solution x for V, and A x."""


class Scatter(Protocol):
    """The matrix A = X'LX in some representation."""

    def diagonal(self) -> Floats:
        """Return the diagonal of A."""

    def times(self, V: Floats) -> Floats:
        """Multiply A by vectors."""

    def shifted(self, shift: Floats, n_solves: int) -> ShiftedScatter:
        """Factorise A + diag(shift), to solve it ``n_solves`` times."""


class DenseScatter:
    """A as a matrix, if there are no more features than samples."""

    def __init__(self, X: Floats, L: sparse.csr_array, n_jobs: int | None) -> None:
        self.A = symmetric(lambda columns: X[:, columns.start :].T @ (L @ X[:, columns]), X.shape[1], n_jobs)
        self.n_jobs = n_jobs
        # Small matrices are factorised faster than a solution is refined.
        self.float32_suffices = len(self.A) >= MIN_FLOAT32_FEATURES
        # All float32 factors use the same memory, of which only the last one is needed.
        self.float32_factor = np.empty(self.A.shape if self.float32_suffices else (0, 0), np.float32)

    def diagonal(self) -> Floats:
        """Return the diagonal of A."""
        return self.A.diagonal().copy()

    def times(self, V: Floats) -> Floats:
        """Multiply A by vectors."""
        parts = thread_map(lambda rows: self.A[rows] @ V, blocks(len(self.A), PRODUCT_ROWS), self.n_jobs)
        return np.concatenate(list(parts))

    def shifted(self, shift: Floats, n_solves: int) -> "DenseShiftedScatter | RefinedShiftedScatter":
        """Factorise A + diag(shift), in float32 if that is faster and precise enough."""
        if self.float32_suffices and n_solves <= MAX_REFINED_SOLVES:
            try:
                return RefinedShiftedScatter(self, shift)
            except linalg.LinAlgError:
                self.float32_suffices = False
        return self.shifted_in_float64(shift)

    def shifted_in_float64(self, shift: Floats) -> "DenseShiftedScatter":
        """Factorise A + diag(shift) by Cholesky; if rounding makes it indefinite, add a small constant first."""
        raised = 0.0
        while True:
            try:
                factor = cholesky_factor(self.A, shift + raised, np.empty(self.A.shape), self.n_jobs)
            except linalg.LinAlgError:
                raised = 100 * (raised or MIN_RELATIVE_SHIFT * self.A.diagonal().max())
                continue
            return DenseShiftedScatter(factor, shift + raised)


@dataclass(frozen=True)
class DenseShiftedScatter:
    """Cholesky factor of A + diag(shift)."""

    factor: tuple[Floats, bool]
    shift: Floats

    def solve(self, V: Floats) -> Floats:
        """Multiply the inverse of A + diag(shift) by vectors."""
        return np.asarray(linalg.cho_solve(self.factor, V, check_finite=False))

    def solve_and_multiply(self, V: Floats) -> tuple[Floats, Floats]:
        """Return the solution x for V, and A x, without a product with A."""
        x = self.solve(V)
        return x, V - self.shift[:, None] * x


class RefinedShiftedScatter:
    """Cholesky factor of A + diag(shift) in float32; solutions are refined in float64.

    A correction, the solution for the residual, usually makes the residual a hundred thousand times smaller. If the
    matrix is so ill-conditioned that it does not, the factor is computed in float64, here and for all later shifts.
    """

    def __init__(self, scatter: DenseScatter, shift: Floats) -> None:
        self.scatter, self.shift = scatter, shift
        # Residuals are measured in units of the diagonal, so that features with a large shift do not hide the others.
        self.scale = 1.0 / np.sqrt(scatter.diagonal() + shift)[:, None]
        self.factor = cholesky_factor(scatter.A, shift, scatter.float32_factor, scatter.n_jobs)
        self.exact: DenseShiftedScatter | None = None

    def solve(self, V: Floats) -> Floats:
        """Multiply the inverse of A + diag(shift) by vectors."""
        return self.solve_and_multiply(V)[0]

    def solve_and_multiply(self, V: Floats) -> tuple[Floats, Floats]:
        """Return the solution x for V, and A x."""
        if self.exact is None:
            x, product, converged = self._refined(V)
            if converged:
                return x, product
            self.scatter.float32_suffices = False
            self.exact = self.scatter.shifted_in_float64(self.shift)
        return self.exact.solve_and_multiply(V)

    def _refined(self, V: Floats) -> tuple[Floats, Floats, bool]:
        """Return the solution x for V, A x, and whether the residual has become small enough."""
        size = np.linalg.norm(self.scale * V, axis=0)
        x = self._approximate(V)
        for most in MAX_RESIDUALS:
            product = self.scatter.times(x)
            residual = V - product - self.shift[:, None] * x
            relative = (np.linalg.norm(self.scale * residual, axis=0) / np.where(size > 0, size, 1.0)).max()
            if relative <= MAX_RESIDUALS[-1] or not relative <= most:
                break
            x = x + self._approximate(residual)
        return x, product, bool(relative <= MAX_RESIDUALS[-1])

    def _approximate(self, V: Floats) -> Floats:
        """Return the solution of the float32 factor."""
        return np.asarray(linalg.cho_solve(self.factor, V.astype(np.float32), check_finite=False), dtype=np.float64)


def cholesky_factor(A: Floats, shift: Floats, factor: NDArray[Any], n_jobs: int | None) -> tuple[NDArray[Any], bool]:
    """Write the Cholesky factor of A + diag(shift) to an array, and return it as `scipy.linalg.cho_solve` takes it."""
    n = len(A)

    def fill(rows: slice) -> None:
        factor[rows, rows.start :] = A.T[rows, rows.start :]  # A is symmetric, and its columns are contiguous

    for _ in thread_map(fill, blocks(n, PRODUCT_ROWS), n_jobs):
        pass
    factor.flat[:: n + 1] = A.diagonal() + shift
    if n >= MIN_FLOAT32_FEATURES:
        factorise(factor, n_jobs)
        return factor.T, True
    return np.asarray(linalg.cho_factor(factor.T, lower=True, overwrite_a=True, check_finite=False)[0]), True


class LowRankScatter:
    """A = F F' by its factor F = X'R with R R' = L, if there are more features than samples."""

    def __init__(self, X: Floats, L: sparse.csr_array, n_jobs: int | None) -> None:
        with one_blas_thread():
            root = positive_root(L.toarray())
        self.F = np.empty((X.shape[1], root.shape[1]))

        def write(columns: slice) -> None:
            self.F[columns] = X[:, columns].T @ root

        for _ in thread_map(write, blocks(X.shape[1], MAX_PRODUCT_COLUMNS), n_jobs):
            pass
        self.n_jobs = n_jobs

    def diagonal(self) -> Floats:
        """Return the diagonal of A."""
        return squared_norms(self.F)

    def times(self, V: Floats) -> Floats:
        """Multiply A by vectors."""
        return self.F @ (self.F.T @ V)

    def shifted(self, shift: Floats, n_solves: int) -> "LowRankShiftedScatter":  # noqa: ARG002
        """Factorise S + F F' by Woodbury's formula.

        (S + F F')^-1 = S^-1 - S^-1 F (I + F' S^-1 F)^-1 F' S^-1 needs only a matrix of the size of the samples.
        """
        roots = np.sqrt(shift)[:, None]
        scaled = self.F / roots
        rank = scaled.shape[1]
        inner = symmetric(lambda columns: scaled[:, columns.start :].T @ scaled[:, columns], rank, self.n_jobs)
        inner.flat[:: rank + 1] += 1.0
        factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        return LowRankShiftedScatter(self, roots, scaled, factor)


@dataclass(frozen=True)
class LowRankShiftedScatter:
    """S + F F' by ``roots`` = S^1/2, ``scaled`` = S^-1/2 F and the Cholesky factor of I + F' S^-1 F."""

    scatter: LowRankScatter
    roots: Floats
    scaled: Floats
    factor: tuple[Floats, bool]

    def solve(self, V: Floats) -> Floats:
        """Multiply the inverse of A + diag(shift) by vectors."""
        V = V / self.roots
        inner = linalg.cho_solve(self.factor, self.scaled.T @ V, check_finite=False)
        return np.asarray((V - self.scaled @ inner) / self.roots)

    def solve_and_multiply(self, V: Floats) -> tuple[Floats, Floats]:
        """Return the solution x for V, and A x by a product with F: V - S x would lose digits if S is small."""
        x = self.solve(V)
        return x, self.scatter.times(x)


def symmetric(strip: Callable[[slice], Floats], n: int, n_jobs: int | None) -> Floats:
    """Assemble a symmetric n x n matrix from strips of columns.

    ``strip`` returns a block of columns from the diagonal downwards; the upper triangle is mirrored.
    """
    matrix = np.empty((n, n), order="F")

    def write(columns: slice) -> None:
        lower = strip(columns)
        matrix[columns.start :, columns] = lower
        matrix[columns, columns.stop :] = lower[columns.stop - columns.start :].T

    for _ in thread_map(write, blocks(n, int(np.clip(n // 8, MIN_PRODUCT_COLUMNS, MAX_PRODUCT_COLUMNS))), n_jobs):
        pass
    return matrix


def positive_root(L: Floats) -> Floats:
    """Return R of shape (n, rank) with R R' = L for a positive semidefinite L, by pivoted Cholesky."""
    # LAPACK factorises L with permuted rows and columns; undo the permutation. Its pivots count from 1.
    factor, pivots, rank, _ = linalg.lapack.dpstrf(L, lower=1)
    root = np.empty((len(L), rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    return root


def pseudo_random_columns(X: Floats, n_columns: int) -> Floats:
    """Return pseudo-random numbers for every feature that depend on its values, not on its position.

    They start the eigensolver, so that permuting the features permutes its result. Random coefficients are assigned to
    the samples in the order of their norms, which neither the order of the columns nor the unit changes.
    """
    mixes = np.empty((2 * n_columns, len(X)))
    mixes[:, np.argsort(squared_norms(X), kind="stable")] = np.random.default_rng(0).standard_normal(mixes.shape)
    with one_blas_thread():
        mixed = mixes @ X
    # Unlike the combinations themselves, their products are not confined to the row space of X.
    return np.asarray(mixed[:n_columns] * mixed[n_columns:]).T


@dataclass(frozen=True)
class Projection:
    """W after a step, its objective, and whether iteration has converged."""

    W: Floats
    objective: float
    converged: bool


@dataclass(frozen=True)
class RowPenalty:
    """Penalty gamma * sum of sqrt(|w_f|^2 + smoothing) over the rows of W; arguments are the squared norms |w_f|^2."""

    gamma: float
    smoothing: float

    def shift(self, squares: Floats) -> Floats:
        """Return the diagonal of gamma D."""
        return np.asarray(self.gamma / (2.0 * np.sqrt(squares + self.smoothing)))

    def total(self, squares: Floats) -> float:
        """Return the value of the penalty."""
        return self.gamma * float(np.sqrt(squares + self.smoothing).sum())


@dataclass(frozen=True)
class Iterate:
    """W, an orthonormal basis of its last change (orthogonal to W), and the products of A with both."""

    W: Floats
    AW: Floats
    last: Floats
    A_last: Floats

    @classmethod
    def first(cls, W: Floats, scatter: Scatter) -> Self:
        """Return the iterate of a W that has no last change."""
        return cls(W, scatter.times(W), W[:, :0], W[:, :0])

    def objective(self, penalty: RowPenalty) -> float:
        """Return tr(W'AW) plus the penalty."""
        return float(np.sum(self.W * self.AW)) + penalty.total(squared_norms(self.W))


def sparse_projections(
    scatter: Scatter, start: Floats, n_clusters: int, gamma: float, tol: float, max_iter: int
) -> Iterator[Projection]:
    """Yield W after every step; the objective never rises.

    With few features every step solves the eigenproblems exactly. Otherwise only the first W minimises tr(W'(A + gamma
    D)W), approximately; later steps update W and D in small subspaces. A + gamma D is factorised in the first steps, in
    every fourth step after them, and in a last step that confirms convergence.
    """
    # Start with |w_f|^2 proportional to 1 / a_ff. The sum is n_clusters, because W'W = I.
    cost = scatter.diagonal()
    squares = 1.0 / np.maximum(cost / (cost.max() or 1.0), 1e-12)
    squares *= n_clusters / squares.sum()
    penalty = RowPenalty(gamma, SMOOTHING_FRACTION * n_clusters / squares.size)
    exact = squares.size <= max(MAX_EXACT_FEATURES, KRYLOV_DEPTH * start.shape[1])
    before, small_decrease = np.inf, False
    for step in range(max_iter):
        with one_blas_thread():
            factorise = exact or small_decrease or step < STEPS_PER_FACTORISATION or step % STEPS_PER_FACTORISATION == 0
            if factorise and not exact:
                n_solves = STEPS_PER_FACTORISATION if step else KRYLOV_DEPTH * MAX_RESTARTS
                shifted = scatter.shifted(penalty.shift(squares), n_solves)
            if exact:
                iterate = exact_step(scatter, penalty, squares, n_clusters)
            elif step == 0:
                iterate = Iterate.first(leading_vectors(shifted.solve, start)[:, :n_clusters], scatter)
            else:
                iterate = improved(iterate, penalty, shifted)
                if factorise:  # the updated AW drifts away from A times W by rounding
                    iterate = replace(iterate, AW=scatter.times(iterate.W))
            squares = squared_norms(iterate.W)
            objective = iterate.objective(penalty)
        small_decrease = before - objective <= tol * objective
        # With an old factorisation the decrease may be small because the preconditioner is poor.
        converged = small_decrease and factorise
        if converged:
            with one_blas_thread():
                iterate = with_final_short_rows(iterate, penalty, scatter)
            objective = iterate.objective(penalty)
        yield Projection(iterate.W, objective, converged)
        if converged:
            return
        before = objective


def exact_step(scatter: Scatter, penalty: RowPenalty, squares: Floats, n_clusters: int) -> Iterate:
    """Minimise tr(W'(A + gamma D)W) exactly, with D from the previous W, several times."""
    for _ in range(TURNS_PER_STEP):
        W = leading_vectors(scatter.shifted(penalty.shift(squares), 1).solve, np.eye(squares.size))[:, :n_clusters]
        squares = squared_norms(W)
    return Iterate.first(W, scatter)


def with_final_short_rows(iterate: Iterate, penalty: RowPenalty, scatter: Scatter) -> Iterate:
    """Replace short rows of W by their limits, which the steps would approach slowly.

    At a minimum, A W + gamma D W = W N with a small symmetric matrix N (the multipliers of W'W = I). Let b be row f of
    W N - A W without the term a_ff w_f. Then gamma w_f / (2 sqrt(|w_f|^2 + epsilon)) = b, up to a product with the
    short w_f. So w_f has the direction of b, and its norm follows from the ratio r = 2 |b| / gamma if r < 1: |w_f|^2 =
    epsilon r^2 / (1 - r^2). A feature without weight is therefore ranked by how close r is to 1, where it enters.
    """
    squares = squared_norms(iterate.W)
    N = iterate.W.T @ (iterate.AW + penalty.shift(squares)[:, None] * iterate.W)
    b = iterate.W @ N - iterate.AW + scatter.diagonal()[:, None] * iterate.W
    ratio = 2.0 / penalty.gamma * np.sqrt(squared_norms(b))
    short = (ratio < 1.0) & (squares < MAX_SHORT_ROW * squares.mean())
    W = iterate.W.copy()
    smoothed_norm = np.sqrt(penalty.smoothing / (1.0 - ratio[short] ** 2))
    W[short] = (2.0 / penalty.gamma) * smoothed_norm[:, None] * b[short]
    left, _, right = np.linalg.svd(W, full_matrices=False)
    W = left @ right  # the nearest W with W'W = I, by the polar decomposition
    final = replace(iterate, W=W, AW=scatter.times(W))
    return final if final.objective(penalty) <= iterate.objective(penalty) else iterate


def leading_vectors(times: Callable[[Floats], Floats], start: Floats) -> Floats:
    """Return eigenvectors of the largest eigenvalues of a symmetric matrix, as many as ``start`` has columns.

    Restarted block Lanczos: products with the best vectors so far span a subspace, in which the eigenproblem is small.
    The vectors are exact if the subspace is the whole space, otherwise approximate.
    """
    width = start.shape[1]
    best, residual = np.linalg.qr(start)[0], np.inf
    for _ in range(MAX_RESTARTS):
        space, images = best, times(best)
        while space.shape[1] < min(KRYLOV_DEPTH * width, len(space)):
            more = orthogonal_to(space, images[:, -width:])
            space, images = np.hstack([space, more]), np.hstack([images, times(more)])
        values, vectors = (found[..., : -width - 1 : -1] for found in eigenvectors(space.T @ images))
        best = space @ vectors
        # The first half of the vectors must converge; the others speed that up.
        residual = np.linalg.norm(images @ vectors - best * values, axis=0)[: (width + 1) // 2].max()
        if residual <= FIRST_EIGENVECTORS_TOL * values[0]:
            break
    return best


def improved(iterate: Iterate, penalty: RowPenalty, shifted: ShiftedScatter) -> Iterate:
    """Lower the objective in the span of W, its last change and a preconditioned gradient.

    This is the idea of LOBPCG. With M = A + gamma D, the new direction is M^-1 times the gradient, where M may be the
    factorisation of an earlier step. In the span, updating D from W and then W as the minimiser of tr(W'MW) costs next
    to nothing. W is in the span, so no update raises the objective. The last change plays the part that the previous
    direction plays in the method of conjugate gradients.
    """
    W, c = iterate.W, iterate.W.shape[1]
    shift = penalty.shift(squared_norms(W))
    MW = iterate.AW + shift[:, None] * W
    gradient = MW - W @ (W.T @ MW)  # projected to the tangent space of W'W = I
    descent, A_descent = shifted.solve_and_multiply(gradient)
    known, A_known = np.hstack([W, iterate.last]), np.hstack([iterate.AW, iterate.A_last])
    new, A_new = basis_outside(known, A_known, descent, A_descent)
    space, images = np.hstack([known, new]), np.hstack([A_known, A_new])
    small_scatter = space.T @ images
    for _ in range(TURNS_PER_STEP):
        vectors = eigenvectors(small_scatter + space.T @ (shift[:, None] * space))[1][:, :c]
        W = space @ vectors
        shift = penalty.shift(squared_norms(W))
    # The change of W is its component outside the old W, made orthogonal to the new W.
    change = vectors.copy()
    change[:c] = 0.0
    last = np.linalg.qr(np.hstack([vectors, change]))[0][:, c:]
    return Iterate(W, images @ vectors, space @ last, images @ last)


def eigenvectors(T: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues, smallest first, and eigenvectors of a matrix that is symmetric up to rounding."""
    values, vectors = np.linalg.eigh((T + T.T) / 2)
    return values, vectors


def basis_outside(space: Floats, images: Floats, V: Floats, AV: Floats) -> tuple[Floats, Floats]:
    """Return an orthonormal basis of the part of V orthogonal to a space, and A times it without a product with A.

    ``images`` and ``AV`` are the products of A with ``space`` and ``V``; all linear combinations are applied to both.
    """
    length = np.linalg.norm(V, axis=0)
    V, AV = V[:, length > 0] / length[length > 0], AV[:, length > 0] / length[length > 0]
    for _ in range(2):  # once is not enough: rounding leaves a part inside the space
        inside = space.T @ V
        V, AV = V - space @ inside, AV - images @ inside
        squares, rotation = eigenvectors(V.T @ V)
        new = squares > MIN_NEW_DIRECTION * squares.max(initial=0.0)
        rotation = rotation[:, new] / np.sqrt(squares[new])
        V, AV = V @ rotation, AV @ rotation
    return V, AV


def orthogonal_to(space: Floats, V: Floats) -> Floats:
    """Return an orthonormal basis of the part of V that is orthogonal to a space."""
    for _ in range(2):  # once is not enough: rounding leaves a part inside the space
        V = np.linalg.qr(V - space @ (space.T @ V))[0]
    return V


def squared_norms(V: Floats) -> Floats:
    """Return the squared norm of each row."""
    return np.asarray(np.einsum("ij,ij->i", V, V))
