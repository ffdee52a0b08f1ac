r"""Unsupervised Discriminative Feature Selection.

The neighbourhood of every sample is asked which directions it is spread in; a linear map W is sought that avoids those
directions and uses few features, and a feature's score is the length of its row of W.

.. math:: \min_{W^\top W = I}\ \operatorname{tr}(W^\top A W) + \gamma \sum_f \lVert w_f \rVert, \qquad
          A = X^\top L X, \qquad L = \sum_i S_i H\,(\lambda I + H K_i H)^{-1} H S_i^\top

with :math:`S_i` the choice of sample i and its k nearest, :math:`K_i` their scalar products and H the centring. The map
is found by repeated eigenproblems: W holds the eigenvectors of the c smallest eigenvalues of :math:`A + \gamma D`,
where :math:`D = \operatorname{diag}(1 / 2\lVert w_f \rVert)` comes from the W before.

Reference: Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou, *l2,1-Norm Regularized Discriminative Feature Selection for
Unsupervised Learning*, IJCAI 2011.

Where we depart from the paper and from the authors' toolbox:

- The norm of a row is smoothed, :math:`\sqrt{\lVert w_f \rVert^2 + \epsilon}` with a tiny :math:`\epsilon`, so that
  :math:`D` exists for rows of zeros. Each step then lowers the objective with the smoothed norm, and steps end when
  it falls no more; the toolbox always makes 20.
- :math:`\lambda` is given as a share of the mean squared distance between neighbours, so that the unit of the table
  does not matter; the paper and the toolbox give it in squared units of X.
- The first D is not the identity. With more features than samples A has many eigenvalues of zero, and the identity
  leaves open which of their vectors are taken: the toolbox's answer then changes when columns change places. We start
  from rows with :math:`\lVert w_f \rVert^2 \propto 1 / a_{ff}`. With fewer features than samples and a small
  :math:`\gamma` the result is the same.
- Defaults are :math:`k = 5` and :math:`\gamma = 0.1`, as in the paper; the toolbox's demo has 1 and 1e-5.
- With more features than samples no features x features matrix is formed.
- Columns with one value cost nothing and would come first; they are left out and come last.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats
from ilfs.execution import Rows, blocks, one_blas_thread, thread_map
from ilfs.neighbours import difference_grams, nearest_neighbours, usable_neighbours
from ilfs.parameters import check_integer, check_positive
from ilfs.selector import RankingSelector, Scores
from ilfs.warn import warn

STRIP_FEATURES = 256  # columns of a symmetric product computed at a time
SMOOTHING = 1e-12  # epsilon, as share of the mean squared length of a row of W
FEW = 200  # features, of which all eigenvectors are computed
EIGEN_TOL = 1e-8  # of the first eigenvectors
DEPTH = 4  # products with the inverse before the space is cut back
MOST_RESTARTS = 10
ROUNDING = 1e-15  # of the largest cost
FACTORED_EVERY = 4  # steps; less often, and rounding errors grow from step to step

Inverse = Callable[[Floats], Floats]


class UDFS(RankingSelector):
    """Unsupervised Discriminative Feature Selection.

    With ``gamma`` large, few rows of W remain, hardly more than ``n_clusters``; the others are then ordered by how near
    they are to entering.

    With at least as many samples as features, every fourth step costs a Cholesky factorisation of an
    n_features x n_features matrix, and memory is a copy of the table and two such matrices. Otherwise such a step costs
    n_features x n_samples^2, and memory is three copies of the table and two n_samples x n_samples matrices.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    n_clusters : int, default=5
        Number of columns of W; less than the number of features.
    n_neighbors : int, default=5
        Size of a neighbourhood, the sample itself not counted.
    gamma : float, default=0.1
        Weight of the norm that makes rows of W small.
    regularization : float, default=1e-5
        The lambda of the inverse of a local scatter, as share of the mean squared distance between neighbours.
    max_iter : int, default=100
        Most steps.
    tol : float, default=1e-5
        Steps end when the objective falls by no more than this share.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Lengths of the rows of W, in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    projection_ : ndarray of shape (n_features, n_clusters)
        W; rows of columns with one value are zero.
    objective_ : ndarray of shape (n_iter,)
        After every step; it never rises.
    n_iter_ : int
        Steps made.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

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

    _reads_labels = False
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
        tol: float = 1e-5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Finite numbers.
        y : object, optional
            Not looked at.

        Returns
        -------
        UDFS
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: Rows) -> Scores:
        n_neighbors, n_clusters = (
            usable_neighbours(self.n_neighbors, len(rows.X)),
            self._usable_clusters(rows.X.shape[1]),
        )
        X = unit_table(rows)
        L = neighbourhood_laplacian(X, n_neighbors, float(self.regularization), rows.n_jobs)
        scatter = (Dense if X.shape[1] <= X.shape[0] else LowRank)(X, L, rows.n_jobs)
        self.objective_ = np.empty(0)
        start = column_marks(X, 2 * n_clusters)
        steps = sparse_projections(scatter, start, n_clusters, float(self.gamma), self.tol, self.max_iter)
        for step in self._steps(steps, "step", self.max_iter):
            self.objective_ = np.append(self.objective_, step.objective)
        self.n_iter_, self.projection_ = self.objective_.size, rows.spread(step.W, axis=0)
        if not step.settled and self.n_iter_ == self.max_iter:
            warn(
                f"the objective did not settle to tol={self.tol:g} in max_iter={self.max_iter} steps",
                ConvergenceWarning,
            )
        return Scores(np.sqrt(squared_lengths(step.W)))

    def _usable_clusters(self, n_features: int) -> int:
        n_clusters = min(self.n_clusters, max(1, n_features - 1))
        if n_clusters < self.n_clusters:
            warn(
                f"n_clusters={self.n_clusters} is not less than the {n_features} features that vary: "
                f"{n_clusters} is used"
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


def udfs(
    X: ArrayLike,
    y: Any = None,
    *,
    n_clusters: int = 5,
    n_neighbors: int = 5,
    gamma: float = 0.1,
    regularization: float = 1e-5,
    n_jobs: int | None = None,
) -> Floats:
    """Scores of Unsupervised Discriminative Feature Selection, for `sklearn.feature_selection.SelectKBest`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Finite numbers.
    y : object, optional
        Not looked at.
    n_clusters, n_neighbors, gamma, regularization, n_jobs
        As for `UDFS`.

    Returns
    -------
    ndarray of shape (n_features,)
        Larger is better.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import udfs
    >>> udfs(load_iris().data, n_clusters=2).round(2)
    array([0.03, 0.  , 1.  , 1.  ])
    """
    selector = UDFS(
        n_clusters=n_clusters, n_neighbors=n_neighbors, gamma=gamma, regularization=regularization, n_jobs=n_jobs
    )
    return selector.fit(X, y).scores_


def unit_table(rows: Rows) -> Floats:
    """A centred copy of the table in units of its widest column; the method does not depend on that unit."""
    X = np.subtract(rows.X, rows.low, order="C")  # first, lest the mean of values far from zero rounds
    X /= (rows.high - rows.low).max()
    X -= X.mean(axis=0)
    return np.asarray(X)


def neighbourhood_laplacian(X: Floats, n_neighbors: int, regularization: float, n_jobs: int | None) -> sparse.csr_array:
    """L, a sparse matrix over the samples with rows that sum to zero.

    With E the differences e_j - e_i of a sample i to its neighbours j, and G the scalar products of the differences
    x_j - x_i, a neighbourhood adds E (lambda (I + 11') + G)^-1 E': the same as H (lambda I + H K H)^-1 H, in a basis of
    what H leaves.
    """
    neighbours, squared = nearest_neighbours(X, n_neighbors, n_jobs)
    grams = difference_grams(X, neighbours, n_jobs)
    ridge = regularization * (squared.mean() or 1.0)
    inverses = positive_inverses(grams + ridge * (np.eye(n_neighbors) + 1.0))
    E = np.vstack([-np.ones(n_neighbors), np.eye(n_neighbors)])
    m = len(X)
    members = np.column_stack([np.arange(m), neighbours])
    size = members.shape[1]
    places = np.repeat(members, size, axis=1).ravel(), np.tile(members, size).ravel()
    return sparse.coo_array(((E @ inverses @ E.T).ravel(), places), shape=(m, m)).tocsr()


def positive_inverses(matrices: Floats) -> Floats:
    """Inverses of symmetric matrices, those of eigenvalues lost in rounding left out."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(matrices)
        lost = values <= 1e-15 * values[:, -1:]
        inverted = np.where(lost, 0.0, 1.0 / np.where(lost, 1.0, values))
        return np.asarray((vectors * inverted[:, None]) @ vectors.transpose(0, 2, 1))


class Scatter(Protocol):
    """The matrix A, however it is held."""

    def diagonal(self) -> Floats:
        """Its diagonal."""

    def times(self, V: Floats) -> Floats:
        """A times some vectors."""

    def inverse(self, shift: Floats) -> Inverse:
        """The function that multiplies by (A + diag(shift))^-1."""


class Dense:
    """A itself, for no more features than samples."""

    def __init__(self, X: Floats, L: sparse.csr_array, n_jobs: int | None) -> None:
        self.A = symmetric(lambda columns: X[:, columns.start :].T @ (L @ X[:, columns]), X.shape[1], n_jobs)

    def diagonal(self) -> Floats:
        """Its diagonal."""
        return self.A.diagonal().copy()

    def times(self, V: Floats) -> Floats:
        """A times some vectors."""
        return self.A @ V

    def inverse(self, shift: Floats) -> Inverse:
        """By Cholesky; all eigenvalues are raised alike if rounding has made one of them negative."""
        raised = 0.0
        while True:
            shifted = self.A.copy(order="F")
            shifted.flat[:: len(shifted) + 1] += shift + raised
            try:
                factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError:
                raised = 100 * (raised or ROUNDING * self.A.diagonal().max())
                continue
            return lambda V: linalg.cho_solve(factor, V, check_finite=False)


class LowRank:
    """A = F F', for more features than samples."""

    def __init__(self, X: Floats, L: sparse.csr_array, n_jobs: int | None) -> None:
        with one_blas_thread():
            root = positive_root(L.toarray())
        self.F = np.empty((X.shape[1], root.shape[1]))

        def write(some: slice) -> None:
            self.F[some] = X[:, some].T @ root

        for _ in thread_map(write, blocks(X.shape[1], STRIP_FEATURES), n_jobs):
            pass
        self.n_jobs = n_jobs

    def diagonal(self) -> Floats:
        """Its diagonal."""
        return squared_lengths(self.F)

    def times(self, V: Floats) -> Floats:
        """A times some vectors."""
        return self.F @ (self.F.T @ V)

    def inverse(self, shift: Floats) -> Inverse:
        """By Woodbury: (S + F F')^-1 = S^-1 - S^-1 F (I + F' S^-1 F)^-1 F' S^-1."""
        scaled = self.F / np.sqrt(shift)[:, None]
        rank = scaled.shape[1]
        inner = symmetric(lambda columns: scaled[:, columns.start :].T @ scaled[:, columns], rank, self.n_jobs)
        inner.flat[:: rank + 1] += 1.0
        factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        weights = np.sqrt(shift)[:, None]

        def times_inverse(V: Floats) -> Floats:
            V = V / weights
            return np.asarray((V - scaled @ linalg.cho_solve(factor, scaled.T @ V, check_finite=False)) / weights)

        return times_inverse


def symmetric(strip: Callable[[slice], Floats], n: int, n_jobs: int | None) -> Floats:
    """A symmetric n x n matrix from strips: of some columns, the rows from the first of them on."""
    matrix = np.empty((n, n), order="F")

    def write(columns: slice) -> None:
        part = strip(columns)
        matrix[columns.start :, columns] = part
        matrix[columns, columns.stop :] = part[columns.stop - columns.start :].T

    for _ in thread_map(write, blocks(n, STRIP_FEATURES), n_jobs):
        pass
    return matrix


def positive_root(L: Floats) -> Floats:
    """R of shape (n, rank) with R R' = L, by Cholesky with pivots; L has no negative eigenvalues."""
    factor, pivots, rank, _ = linalg.lapack.dpstrf(L, lower=1)
    root = np.empty((len(L), rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    return root


def column_marks(X: Floats, n_marks: int) -> Floats:
    """Numbers for every feature that depend on its values, not on its place, and are otherwise like random ones."""
    mixes = np.random.default_rng(0).standard_normal((2, len(X), n_marks))
    with one_blas_thread():
        return np.asarray((X.T @ mixes[0]) * (X.T @ mixes[1]))


@dataclass(frozen=True)
class Projection:
    """W after a step, the objective there, and whether it has settled."""

    W: Floats
    objective: float
    settled: bool


def sparse_projections(
    scatter: Scatter, start: Floats, n_clusters: int, gamma: float, tol: float, max_iter: int
) -> Iterator[Projection]:
    """W of one step after the other, each with a smaller tr(W'(A + gamma D)W) than the one before, whose D it has.

    If features are few, every W is the minimum. Otherwise it is the minimum in a small space, for which A + gamma D is
    factorised in the first steps, then in some, and before the end is believed.
    """
    cost = scatter.diagonal()
    squares = 1.0 / np.maximum(cost / (cost.max() or 1.0), 1e-12)
    squares *= n_clusters / squares.sum()
    smoothing = SMOOTHING * n_clusters / squares.size
    few = squares.size <= max(FEW, DEPTH * start.shape[1])
    before, settled = np.inf, False
    for step in range(max_iter):
        with one_blas_thread():
            shift = gamma / (2.0 * np.sqrt(squares + smoothing))
            anew = few or settled or step < FACTORED_EVERY or step % FACTORED_EVERY == 0
            if anew:
                inverse = scatter.inverse(shift)
            if few or step == 0:
                W = leading_vectors(inverse, np.eye(squares.size) if few else start)[:, :n_clusters]
                AW = scatter.times(W)
            else:
                W, AW = improved(scatter, shift, inverse, W, AW)
            squares = squared_lengths(W)
            scattered = float(np.sum(W * AW))
        objective = scattered + gamma * float(np.sqrt(squares + smoothing).sum())
        settled = before - objective <= tol * objective
        yield Projection(W, objective, settled and anew)
        if settled and anew:
            return
        before = objective


def leading_vectors(times: Inverse, start: Floats) -> Floats:
    """Eigenvectors of the largest eigenvalues of a symmetric matrix, as many as start has; nearly, if they are many.

    Block Lanczos with restarts: the products of the best vectors so far are collected in a space, in which the matrix
    is small.
    """
    width = start.shape[1]
    best, residual = np.linalg.qr(start)[0], np.inf
    for _ in range(MOST_RESTARTS):
        space, images = best, times(best)
        while space.shape[1] < min(DEPTH * width, len(space)):
            more = orthogonal_to(space, images[:, -width:])
            space, images = np.hstack([space, more]), np.hstack([images, times(more)])
        T = space.T @ images
        values, vectors = (part[..., : -width - 1 : -1] for part in np.linalg.eigh((T + T.T) / 2))
        best = space @ vectors
        residual = np.linalg.norm(images @ vectors - best * values, axis=0)[: (width + 1) // 2].max()
        if residual <= EIGEN_TOL * values[0]:
            break
    return best


def improved(scatter: Scatter, shift: Floats, inverse: Inverse, W: Floats, AW: Floats) -> tuple[Floats, Floats]:
    """W of the least tr(W'MW), M = A + diag(shift), in the span of W and of a descent from it, and AW.

    The inverse is that of M, or of an earlier one. W is in the space, so the trace never rises.
    """
    MW = AW + shift[:, None] * W
    descent = orthogonal_to(W, inverse(MW - W @ (W.T @ MW)))
    space, images = np.hstack([W, descent]), np.hstack([AW, scatter.times(descent)])
    T = space.T @ (images + shift[:, None] * space)
    vectors = np.linalg.eigh((T + T.T) / 2)[1][:, : W.shape[1]]
    return space @ vectors, images @ vectors


def orthogonal_to(space: Floats, V: Floats) -> Floats:
    """An orthonormal basis of what V has outside the space."""
    for _ in range(2):  # once leaves what rounding left
        V = np.linalg.qr(V - space @ (space.T @ V))[0]
    return V


def squared_lengths(V: Floats) -> Floats:
    """Of the rows."""
    return np.asarray(np.einsum("ij,ij->i", V, V))
