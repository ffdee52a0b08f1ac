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
- With more than 200 features the steps are shorter and many more are made in the time: W and D take turns in a small
  space (`improved`). Rows that go to zero are given their last length at once, which orders the features without
  weight.
- With more features than samples no features x features matrix is formed.
- Columns with one value cost nothing and would come first; they are left out and come last.
- Samples that tie for the last of the k places share them. A member of a neighbourhood that has a fraction s of a place
  counts s in the regression that the neighbourhood stands for: :math:`\lambda I` becomes :math:`\lambda S^{-1}`. If
  more than 64 distinct samples tie, 64 of them share, chosen by a number that depends on their values only.
- Samples are taken in an order that depends on their values only. So the order of the rows changes nothing, not even
  rounding, also where an eigenproblem has no unique answer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats, Integers
from ilfs.execution import AllRows, blocks, one_blas_thread, thread_map
from ilfs.neighbours import DistinctSamples, Neighbours, difference_grams, nearest_neighbours, usable_neighbours
from ilfs.parameters import check_integer, check_positive
from ilfs.selector import Scores, UnsupervisedRowsSelector
from ilfs.warn import warn

NARROW, WIDE = 32, 256  # columns of a symmetric product computed at a time: an eighth of all within these limits
SMOOTHING = 1e-12  # epsilon, as share of the mean squared length of a row of W
FEW = 200  # features, of which all eigenvectors are computed
EIGEN_TOL = 1e-2  # of the first eigenvectors; the steps go on to the same W from there as from exact ones
DEPTH = 4  # products with the inverse before the space is cut back
MOST_RESTARTS = 10
ROUNDING = 1e-15  # of the largest cost
FACTORED_EVERY = 4  # steps; less often, and rounding errors grow from step to step
TURNS = 4  # of D and W in one small space
SHORT = 1e-2  # of the mean square of a row: shorter rows are those that the end is computed of
SAME_DIRECTION = 1e-12  # share of the longest square, of what a basis leaves of directions, that counts as nothing


class UDFS(UnsupervisedRowsSelector):
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
    tol : float, default=1e-4
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
            Not looked at; the name of a column of X leaves this column out.

        Returns
        -------
        UDFS
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        n_neighbors, n_clusters = (
            usable_neighbours(self.n_neighbors, len(rows.X)),
            self._usable_clusters(rows.X.shape[1]),
        )
        X, counts = unit_table(rows)
        L = neighbourhood_laplacian(X, counts, n_neighbors, float(self.regularization), rows.n_jobs)
        scatter = (Dense if X.shape[1] <= X.shape[0] else LowRank)(X, L, rows.n_jobs)
        self.objective_ = np.empty(0)
        start = column_marks(X, 2 * n_clusters)
        steps = sparse_projections(scatter, start, n_clusters, float(self.gamma), self.tol, self.max_iter)
        for step in self._steps(steps, "step", self.max_iter):
            self.objective_ = np.append(self.objective_, step.objective)
        self.n_iter_, self.projection_ = self.objective_.size, rows.expand(step.W, axis=0)
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


def unit_table(rows: AllRows) -> tuple[Floats, Floats]:
    """A centred copy of the distinct rows in units of the widest column, and how many copies each has.

    Its rows are in an order that depends on their values only, so that not even rounding depends on the caller's order.
    The method does not depend on the unit.
    """
    distinct = DistinctSamples.from_samples(rows.X, ordered=True)
    X = np.ascontiguousarray(distinct.X, dtype=np.float64)  # a copy already, since it is in another order
    X -= rows.low  # first, lest the mean of values far from zero rounds
    X /= (rows.high - rows.low).max()
    X -= distinct.counts @ X / distinct.n_samples
    return X, distinct.counts


def neighbourhood_laplacian(
    X: Floats, counts: Floats, n_neighbors: int, regularization: float, n_jobs: int | None
) -> sparse.csr_array:
    """L, a sparse matrix over the distinct samples with rows that sum to zero.

    A neighbourhood adds what ridge regression on X leaves of a function, each member counting s_j, its places. With E
    the differences e_j - e_i of a sample i to its neighbours j, G the scalar products of the differences x_j - x_i and
    S = diag(s), that is E (lambda E' S^-1 E + G)^-1 E'. If all s_j are 1, it is H (lambda I + H K H)^-1 H in a basis of
    what H leaves. The copies of a sample are one member, whose places are theirs together: they have the same values.
    """
    found = nearest_neighbours(X, n_neighbors, n_jobs, counts=counts)
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
    """What the neighbourhoods of one size add to L: values, rows and columns."""
    neighbours, places = found.indices[entries], found.places[entries]
    k = entries.shape[1]
    grams = difference_grams(X, samples, neighbours, n_jobs) + ridge
    grams[:, np.arange(k), np.arange(k)] += ridge / places
    E = np.vstack([-np.ones(k), np.eye(k)])
    members = np.column_stack([samples, neighbours])
    added = counts[samples, None, None] * (E @ positive_inverses(grams) @ E.T)
    return added.ravel(), np.repeat(members, k + 1, axis=1).ravel(), np.tile(members, k + 1).ravel()


def positive_inverses(matrices: Floats) -> Floats:
    """Inverses of symmetric matrices, those of eigenvalues lost in rounding left out."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(matrices)
        lost = values <= 1e-15 * values[:, -1:]
        inverted = np.where(lost, 0.0, 1.0 / np.where(lost, 1.0, values))
        return np.asarray((vectors * inverted[:, None]) @ vectors.transpose(0, 2, 1))


class Shifted(Protocol):
    """The matrix A + diag(shift), factorised."""

    def solve(self, V: Floats) -> Floats:
        """Its inverse times some vectors."""

    def scattered(self, x: Floats, V: Floats) -> Floats:
        """A x, where x is the solution for V."""


class Scatter(Protocol):
    """The matrix A, however it is held."""

    def diagonal(self) -> Floats:
        """Its diagonal."""

    def times(self, V: Floats) -> Floats:
        """A times some vectors."""

    def shifted(self, shift: Floats) -> Shifted:
        """A + diag(shift), factorised."""


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

    def shifted(self, shift: Floats) -> "DenseShifted":
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
            return DenseShifted(factor, shift + raised)


@dataclass(frozen=True)
class DenseShifted:
    """The Cholesky factor of A + diag(shift)."""

    factor: tuple[Floats, bool]
    shift: Floats

    def solve(self, V: Floats) -> Floats:
        """Its inverse times some vectors."""
        return np.asarray(linalg.cho_solve(self.factor, V, check_finite=False))

    def scattered(self, x: Floats, V: Floats) -> Floats:
        """A x, where (A + diag(shift)) x = V."""
        return V - self.shift[:, None] * x


class LowRank:
    """A = F F', for more features than samples."""

    def __init__(self, X: Floats, L: sparse.csr_array, n_jobs: int | None) -> None:
        with one_blas_thread():
            root = positive_root(L.toarray())
        self.F = np.empty((X.shape[1], root.shape[1]))

        def write(some: slice) -> None:
            self.F[some] = X[:, some].T @ root

        for _ in thread_map(write, blocks(X.shape[1], WIDE), n_jobs):
            pass
        self.n_jobs = n_jobs

    def diagonal(self) -> Floats:
        """Its diagonal."""
        return squared_lengths(self.F)

    def times(self, V: Floats) -> Floats:
        """A times some vectors."""
        return self.F @ (self.F.T @ V)

    def shifted(self, shift: Floats) -> "LowRankShifted":
        """By Woodbury: (S + F F')^-1 = S^-1 - S^-1 F (I + F' S^-1 F)^-1 F' S^-1."""
        roots = np.sqrt(shift)[:, None]
        scaled = self.F / roots
        rank = scaled.shape[1]
        inner = symmetric(lambda columns: scaled[:, columns.start :].T @ scaled[:, columns], rank, self.n_jobs)
        inner.flat[:: rank + 1] += 1.0
        factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        return LowRankShifted(self, roots, scaled, factor)


@dataclass(frozen=True)
class LowRankShifted:
    """S + F F' by S^1/2, S^-1/2 F and the Cholesky factor of I + F' S^-1 F."""

    scatter: LowRank
    roots: Floats
    scaled: Floats
    factor: tuple[Floats, bool]

    def solve(self, V: Floats) -> Floats:
        """Its inverse times some vectors."""
        V = V / self.roots
        inner = linalg.cho_solve(self.factor, self.scaled.T @ V, check_finite=False)
        return np.asarray((V - self.scaled @ inner) / self.roots)

    def scattered(self, x: Floats, V: Floats) -> Floats:  # noqa: ARG002  V minus S x would lose digits if S is small
        """A x."""
        return self.scatter.times(x)


def symmetric(strip: Callable[[slice], Floats], n: int, n_jobs: int | None) -> Floats:
    """A symmetric n x n matrix from strips: of some columns, the rows from the first of them on."""
    matrix = np.empty((n, n), order="F")

    def write(columns: slice) -> None:
        part = strip(columns)
        matrix[columns.start :, columns] = part
        matrix[columns, columns.stop :] = part[columns.stop - columns.start :].T

    for _ in thread_map(write, blocks(n, int(np.clip(n // 8, NARROW, WIDE))), n_jobs):
        pass
    return matrix


def positive_root(L: Floats) -> Floats:
    """R of shape (n, rank) with R R' = L, by Cholesky with pivots; L has no negative eigenvalues."""
    factor, pivots, rank, _ = linalg.lapack.dpstrf(L, lower=1)
    root = np.empty((len(L), rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    return root


def column_marks(X: Floats, n_marks: int) -> Floats:
    """Numbers for every feature that depend on its values, not on its place, and are otherwise like random ones.

    Samples are taken from the shortest to the longest: an order that columns and units do not change.
    """
    mixes = np.empty((2 * n_marks, len(X)))
    mixes[:, np.argsort(squared_lengths(X), kind="stable")] = np.random.default_rng(0).standard_normal(mixes.shape)
    with one_blas_thread():
        mixed = mixes @ X
    return np.asarray(mixed[:n_marks] * mixed[n_marks:]).T


@dataclass(frozen=True)
class Projection:
    """W after a step, the objective there, and whether it has settled."""

    W: Floats
    objective: float
    settled: bool


@dataclass(frozen=True)
class Norms:
    """gamma times the sum of the smoothed lengths of the rows of W."""

    gamma: float
    smoothing: float

    def shift(self, squares: Floats) -> Floats:
        """gamma D."""
        return np.asarray(self.gamma / (2.0 * np.sqrt(squares + self.smoothing)))

    def total(self, squares: Floats) -> float:
        """The sum itself."""
        return self.gamma * float(np.sqrt(squares + self.smoothing).sum())


@dataclass(frozen=True)
class Place:
    """W, the directions in which it was last changed (orthonormal, and to W), and A times both."""

    W: Floats
    AW: Floats
    last: Floats
    A_last: Floats

    @classmethod
    def at(cls, W: Floats, scatter: Scatter) -> Self:
        """Where nothing has been changed yet."""
        return cls(W, scatter.times(W), W[:, :0], W[:, :0])

    def objective(self, norms: Norms) -> float:
        """What is to be small."""
        return float(np.sum(self.W * self.AW)) + norms.total(squared_lengths(self.W))


def sparse_projections(
    scatter: Scatter, start: Floats, n_clusters: int, gamma: float, tol: float, max_iter: int
) -> Iterator[Projection]:
    """W of one step after the other, each with a smaller objective than the one before.

    If features are few, W and D take turns exactly. Otherwise only the first W is (nearly) the minimum for its D; from
    there on they take turns in small spaces, for which A + gamma D is factorised in the first steps, then in some, and
    before the end is believed.
    """
    cost = scatter.diagonal()
    squares = 1.0 / np.maximum(cost / (cost.max() or 1.0), 1e-12)
    squares *= n_clusters / squares.sum()
    norms = Norms(gamma, SMOOTHING * n_clusters / squares.size)
    few = squares.size <= max(FEW, DEPTH * start.shape[1])
    before, settled = np.inf, False
    for step in range(max_iter):
        with one_blas_thread():
            anew = few or settled or step < FACTORED_EVERY or step % FACTORED_EVERY == 0
            if anew and not few:
                shifted = scatter.shifted(norms.shift(squares))
            if few:
                place = exact_turns(scatter, norms, squares, n_clusters)
            elif step == 0:
                place = Place.at(leading_vectors(shifted.solve, start)[:, :n_clusters], scatter)
            else:
                place = improved(place, norms, shifted)
                if anew:  # A times W again, from which updates drift away
                    place = replace(place, AW=scatter.times(place.W))
            squares = squared_lengths(place.W)
            objective = place.objective(norms)
        settled = before - objective <= tol * objective
        settled_surely = settled and anew
        if settled_surely:
            with one_blas_thread():
                place = with_short_rows_settled(place, norms, scatter)
            objective = place.objective(norms)
        yield Projection(place.W, objective, settled_surely)
        if settled_surely:
            return
        before = objective


def exact_turns(scatter: Scatter, norms: Norms, squares: Floats, n_clusters: int) -> Place:
    """As many turns as in a small space: W is the minimum of tr(W'(A + gamma D)W), with the D of the one before."""
    for _ in range(TURNS):
        W = leading_vectors(scatter.shifted(norms.shift(squares)).solve, np.eye(squares.size))[:, :n_clusters]
        squares = squared_lengths(W)
    return Place.at(W, scatter)


def with_short_rows_settled(place: Place, norms: Norms, scatter: Scatter) -> Place:
    """Give short rows at once the length to which the steps would bring them one after the other.

    Where the objective is least, A W + gamma D W = W N with a small matrix N. Let b be what the other features have in
    the row of f of W N - A W: then gamma w_f / (2 (|w_f|^2 + epsilon)^1/2) = b but for a product with the short w_f. So
    w_f has the direction of b, and the length that belongs to 2 |b| / gamma if that is less than 1: the order of the
    features without weight is how near they are to getting some.
    """
    squares = squared_lengths(place.W)
    N = place.W.T @ (place.AW + norms.shift(squares)[:, None] * place.W)
    b = place.W @ N - place.AW + scatter.diagonal()[:, None] * place.W
    share = 2.0 / norms.gamma * np.sqrt(squared_lengths(b))
    settling = (share < 1.0) & (squares < SHORT * squares.mean())
    W = place.W.copy()
    lengthening = np.sqrt(norms.smoothing / (1.0 - share[settling] ** 2))
    W[settling] = (2.0 / norms.gamma) * lengthening[:, None] * b[settling]
    left, _, right = np.linalg.svd(W, full_matrices=False)
    W = left @ right  # the nearest W with W'W = I
    settled = replace(place, W=W, AW=scatter.times(W))
    return settled if settled.objective(norms) <= place.objective(norms) else place


def leading_vectors(times: Callable[[Floats], Floats], start: Floats) -> Floats:
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
        values, vectors = (part[..., : -width - 1 : -1] for part in eigenvectors(space.T @ images))
        best = space @ vectors
        residual = np.linalg.norm(images @ vectors - best * values, axis=0)[: (width + 1) // 2].max()
        if residual <= EIGEN_TOL * values[0]:
            break
    return best


def improved(place: Place, norms: Norms, shifted: Shifted) -> Place:
    """A smaller objective in the span of W, of its last change and of a descent from it.

    With M = A + gamma D, the descent is M^-1 times the gradient, M of this place or of one before. In the span, W and D
    take turns at no cost that matters: D belongs to W, then W to the least tr(W'MW). W is in the span, so that no turn
    raises the objective; and the last change makes of these descents what it makes of steepest descent in the method of
    conjugate gradients.
    """
    W, c = place.W, place.W.shape[1]
    shift = norms.shift(squared_lengths(W))
    MW = place.AW + shift[:, None] * W
    gradient = MW - W @ (W.T @ MW)
    descent = shifted.solve(gradient)
    known, A_known = np.hstack([W, place.last]), np.hstack([place.AW, place.A_last])
    new, A_new = outside(known, A_known, descent, shifted.scattered(descent, gradient))
    space, images = np.hstack([known, new]), np.hstack([A_known, A_new])
    scatter_there = space.T @ images
    for _ in range(TURNS):
        vectors = eigenvectors(scatter_there + space.T @ (shift[:, None] * space))[1][:, :c]
        W = space @ vectors
        shift = norms.shift(squared_lengths(W))
    change = vectors.copy()
    change[:c] = 0.0
    last = np.linalg.qr(np.hstack([vectors, change]))[0][:, c:]
    return Place(W, images @ vectors, space @ last, images @ last)


def eigenvectors(T: Floats) -> tuple[Floats, Floats]:
    """Of a matrix that is symmetric but for rounding, smallest eigenvalue first."""
    values, vectors = np.linalg.eigh((T + T.T) / 2)
    return values, vectors


def outside(space: Floats, images: Floats, V: Floats, AV: Floats) -> tuple[Floats, Floats]:
    """An orthonormal basis of what directions V have outside a space, and A times it, without a product with A."""
    length = np.linalg.norm(V, axis=0)
    V, AV = V[:, length > 0] / length[length > 0], AV[:, length > 0] / length[length > 0]
    for _ in range(2):  # once leaves what rounding left
        inside = space.T @ V
        V, AV = V - space @ inside, AV - images @ inside
        squares, turn = eigenvectors(V.T @ V)
        there = squares > SAME_DIRECTION * squares.max(initial=0.0)
        turn = turn[:, there] / np.sqrt(squares[there])
        V, AV = V @ turn, AV @ turn
    return V, AV


def orthogonal_to(space: Floats, V: Floats) -> Floats:
    """An orthonormal basis of what V has outside the space."""
    for _ in range(2):  # once leaves what rounding left
        V = np.linalg.qr(V - space @ (space.T @ V))[0]
    return V


def squared_lengths(V: Floats) -> Floats:
    """Of the rows."""
    return np.asarray(np.einsum("ij,ij->i", V, V))
