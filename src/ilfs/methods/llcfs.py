r"""Feature selection for local learning-based clustering.

A clustering is good if every sample's cluster can be told from its neighbours; features are weighed by their part in
telling it, neighbours are chosen anew with these weights, and so on.

.. math:: \min_Y \lVert Y - AY \rVert^2, \quad Y^\top Y = I, \qquad
          \tau_f \propto \Big(\sum_i \lVert w_{if} \rVert^2\Big)^{1/2}, \qquad
          w_i = \operatorname{diag}(\tau)\, X_i^\top \alpha_i, \qquad
          \alpha_i = \big(H K_i H + \tfrac1\beta I\big)^{-1} H Y_i

Row i of A predicts sample i by ridge regression on its neighbours :math:`X_i` with scalar products :math:`K_i` in the
space weighted by :math:`\tau`; Y holds the eigenvectors of the smallest eigenvalues of :math:`(I - A)^\top (I - A)`.

Reference: H. Zeng, Y.-M. Cheung, *Feature Selection and Kernel Learning for Local Learning-Based Clustering*, IEEE
Transactions on Pattern Analysis and Machine Intelligence 33, 2011.

Where we depart from the paper and from the authors' toolbox:

- A sample is left out of its own neighbours by its number. The toolbox drops whoever comes first, which is another
  sample if there are copies.
- Steps end when the weights settle, if they do; the toolbox makes 20 always. Ten neighbours are the default, with which
  planted groups were found more surely than with the toolbox's five.
- If neighbourhoods fall apart into as many pieces as there are clusters, Y is constant on each, the local weights are
  zero, and steps end; the toolbox goes on with what rounding leaves.
- Neighbourhoods that do not touch give more zero eigenvalues than there are clusters, and which vectors are taken is
  open. We take the mean over all choices: eigenvectors of one eigenvalue share what is left of ``n_clusters``. Without
  such a tie nothing changes.
- Samples that tie for the last of the k places share them; one with a fraction s of a place counts s in the regression
  of the neighbourhood. If more than 64 distinct samples tie, 64 of them share, chosen by a number that depends on their
  values only. Rows that are equal in all columns that have weight are one sample with a count: when few columns of few
  values are left, nearly all rows are.
- Samples are taken in an order that depends on their values only. So the order of the rows changes nothing, not even
  rounding, which the steps would amplify.
- ``beta`` is in units of 1 / the mean variance of the columns, so that the unit of the table does not matter.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import AllRows, blocks, one_blas_thread, thread_map
from ilfs.neighbours import DistinctSamples, Neighbours, difference_grams, nearest_neighbours, usable_neighbours
from ilfs.parameters import check_between, check_integer, check_positive
from ilfs.selector import Scores, UnsupervisedRowsSelector
from ilfs.warn import warn

BLOCK_FEATURES = 64  # columns whose local weights are computed at a time
FELT = 1e-17  # columns with less than this share of the weighted variance move no distance
SAME = 1e-8  # eigenvalues closer than this are one; the largest are about 1
FEW = 1000  # samples, for which the eigenproblem is solved without iterating
SPARE = 8  # eigenvectors beyond those wanted
DEGREE = 24  # of the polynomial that separates small eigenvalues from others
MOST_FILTERS = 60
EIGEN_TOL = 1e-11
CONSTANT = 1e-6  # share of Y that may vary among neighbours where it should not

Product = Callable[[Floats], Floats]


class LLCFS(UnsupervisedRowsSelector):
    """Feature selection for local learning-based clustering.

    Weights go to few features, more so with every step. They need not settle, since neighbours are chosen anew in each.
    Steps also end when neighbourhoods fall apart into ``n_clusters`` pieces: what separates them has been found.

    A step costs a search for neighbours, n_samples^2 x n_features / 2. Memory: two and a half copies of the table, and
    for up to 1,000 samples an n_samples x n_samples matrix.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    n_clusters : int, default=2
        Number of columns of Y. One of them is constant and says nothing, so take at least 2.
    n_neighbors : int, default=10
        Neighbours that predict a sample.
    beta : float, default=0.1
        How much errors of the local predictions count against the size of their weights, in units of 1 / the mean
        variance of the columns.
    max_iter : int, default=20
        Most steps.
    tol : float, default=1e-3
        Steps end when the weights, which sum to one, change by no more than this in total.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights. They sum to one.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first; features of weight zero by their weight after the first step.
    weights_ : ndarray of shape (n_features,)
        The same as ``scores_``.
    changes_ : ndarray of shape (n_iter,)
        How much the weights changed in every step, in total.
    n_iter_ : int
        Steps made.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

    References
    ----------
    .. [1] H. Zeng, Y.-M. Cheung, "Feature Selection and Kernel Learning for Local Learning-Based Clustering", IEEE
       Transactions on Pattern Analysis and Machine Intelligence 33, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ilfs import LLCFS
    >>> wine = load_wine()
    >>> selector = LLCFS(n_features_to_select=3, n_clusters=3).fit(scale(wine.data))
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['alcohol', 'magnesium', 'proline']
    """

    _takes_sparse = False
    _takes_missing = False
    _takes_long = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 2,
        n_neighbors: int = 10,
        beta: float = 0.1,
        max_iter: int = 20,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.beta = beta
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
        LLCFS
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        n_neighbors, n_clusters = usable_neighbours(self.n_neighbors, len(rows.X)), self._usable_clusters(len(rows.X))
        steps = weights_by_step(
            *unit_table(rows), n_neighbors, n_clusters, float(self.beta), self.tol, self.max_iter, rows.n_jobs
        )
        weights, changes = zip(*self._steps(steps, "step", self.max_iter), strict=True)
        self.changes_ = np.array(changes)
        if self.changes_[0] == 0.0:
            warn(
                f"with n_neighbors={n_neighbors} and n_clusters={n_clusters} no neighbours are in different clusters, "
                "so that nothing is learned and all weights are equal: raise one of them"
            )
        self.n_iter_, self.weights_ = self.changes_.size, rows.expand(weights[-1])
        return Scores(weights[-1], tie_break=weights[0])

    def _usable_clusters(self, n_samples: int) -> int:
        if self.n_clusters >= n_samples:
            warn(
                f"n_clusters={self.n_clusters} is not less than the {n_samples} samples: {n_samples - 1} is used",
            )
        return min(self.n_clusters, n_samples - 1)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_clusters", self.n_clusters, 1)
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_between("beta", self.beta, 1e-12, 1e12)
        check_integer("max_iter", self.max_iter, 1)
        check_positive("tol", self.tol)


def unit_table(rows: AllRows) -> tuple[Floats, Floats]:
    """A centred copy of the distinct rows in units of the root of the mean variance, and how many copies each has.

    Its rows are in an order that depends on their values only, so that not even rounding, which steps may amplify,
    depends on the caller's order.
    """
    distinct = DistinctSamples.from_samples(rows.X, ordered=True)
    X = np.ascontiguousarray(distinct.X, dtype=np.float64)  # a copy already, since it is in another order
    X -= rows.low  # first, lest the mean of values far from zero rounds
    X /= (rows.high - rows.low).max()  # lest squares leave the range of numbers
    X -= distinct.counts @ X / distinct.n_samples
    X *= np.sqrt(distinct.n_samples * X.shape[1] / summed_squares(X, distinct.counts).sum())
    return X, distinct.counts


def weights_by_step(
    X: Floats,
    counts: Floats,
    n_neighbors: int,
    n_clusters: int,
    beta: float,
    tol: float,
    max_iter: int,
    n_jobs: int | None,
) -> Iterator[tuple[Floats, float]]:
    """Weights after one step and the next, and how much they changed in total, until they settle."""
    tau = np.full(X.shape[1], 1.0 / X.shape[1])
    for _ in range(max_iter):
        before, tau = tau, reweighted(X, counts, tau, n_neighbors, n_clusters, beta, n_jobs)
        change = float(np.abs(tau - before).sum())
        yield tau, change
        if change <= tol:
            return


def reweighted(
    X: Floats, counts: Floats, tau: Floats, n_neighbors: int, n_clusters: int, beta: float, n_jobs: int | None
) -> Floats:
    """The weights of the features after a step from weights tau; tau itself if no neighbours are in different clusters.

    Then the neighbourhoods have fallen apart into at least as many pieces as there are clusters, and all predictions
    are constants, which need no feature.
    """
    weighted, X, counts = merged(weighted_columns(X, counts, tau), X, counts)
    found = nearest_neighbours(weighted, n_neighbors, n_jobs, counts=counts)
    hoods = [hood(weighted, found, *lists, beta, n_jobs) for lists in found.by_length()]
    del weighted
    with one_blas_thread():
        Y = smooth_clusters(prediction_matrix(hoods, len(X)), counts, n_clusters)
        local = [Y[h.neighbours] - np.einsum("ij,ijc->ic", h.shares, Y[h.neighbours])[:, None] for h in hoods]
        if np.linalg.norm([np.linalg.norm(part) for part in local]) <= CONSTANT * np.linalg.norm(Y):
            return tau
        alphas = [h.duals @ part for h, part in zip(hoods, local, strict=True)]
    tau = tau * local_weight_lengths(X, counts, hoods, alphas, n_jobs)
    return np.asarray(tau / tau.sum())


def merged(weighted: Floats, X: Floats, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows that have become equal in the weighted columns as one: their mean in all columns, and their summed counts.

    If the weights leave few columns of few values, nearly all rows are copies of others.
    """
    distinct = DistinctSamples.from_samples(weighted)
    if len(distinct.X) == len(X):
        return weighted, X, counts
    together = sparse.csr_array((counts, (distinct.inverse, np.arange(len(X)))))
    total = np.asarray(together.sum(axis=1))
    return distinct.X, np.asarray(together @ X) / total[:, None], total


def summed_squares(X: Floats, counts: Floats) -> Floats:
    """Of every column, each row as often as it has copies."""
    return np.concatenate([counts @ np.square(X[:, columns]) for columns in blocks(X.shape[1], BLOCK_FEATURES)])


def weighted_columns(X: Floats, counts: Floats, tau: Floats) -> Floats:
    """Columns times the roots of their weights, without those that no distance feels."""
    variance = tau * summed_squares(X, counts)
    felt = np.flatnonzero(variance > FELT * variance.sum())
    return np.multiply(X[:, felt] if felt.size < tau.size else X, np.sqrt(tau[felt]))


@dataclass(frozen=True)
class Hoods:
    """Neighbourhoods of one size: samples, their neighbours and what each of these counts.

    ``predictors`` predict a sample from values of its neighbours, ``duals`` give the dual coefficients alpha of these.
    """

    samples: Integers
    neighbours: Integers
    shares: Floats
    predictors: Floats
    duals: Floats


def hood(
    weighted: Floats, found: Neighbours, samples: Integers, entries: Integers, beta: float, n_jobs: int | None
) -> Hoods:
    """Ridge regression in the neighbourhoods of these samples."""
    neighbours, places = found.indices[entries], found.places[entries]
    grams = difference_grams(weighted, samples, neighbours, n_jobs)
    with one_blas_thread():
        predictors, duals = local_ridge(grams, places, beta)
    return Hoods(samples, neighbours, places / places.sum(axis=1, keepdims=True), predictors, duals)


def local_ridge(grams: Floats, places: Floats, beta: float) -> tuple[Floats, Floats]:
    """What predicts a sample from values of its neighbours, and what gives the dual coefficients alpha of these values.

    Neighbour j counts s_j, its places, and q = s / sum(s). With P = I - 1 q', which subtracts the weighted mean, G the
    scalar products of the differences of neighbours and sample, and C = P G P' + diag(1 / s) / beta, they are
    q - C^-1 P P G q and C^-1 P.
    """
    k = grams.shape[1]
    q = places / places.sum(axis=1, keepdims=True)
    P = np.eye(k) - q[:, None, :]
    centred = P @ grams
    C = centred @ P.transpose(0, 2, 1)
    C[:, np.arange(k), np.arange(k)] += 1.0 / (beta * places)
    duals = np.linalg.solve(C, P)
    predictors = q - np.einsum("ijl,ij->il", duals, np.einsum("ijl,il->ij", centred, q))
    return predictors, np.asarray(duals)


def prediction_matrix(hoods: list[Hoods], m: int) -> sparse.csr_array:
    """A: row i has the predictors of sample i in the columns of its neighbours."""
    values = np.concatenate([h.predictors.ravel() for h in hoods])
    first = np.concatenate([np.repeat(h.samples, h.neighbours.shape[1]) for h in hoods])
    second = np.concatenate([h.neighbours.ravel() for h in hoods])
    return sparse.csr_array((values, (first, second)), shape=(m, m))


def smooth_clusters(A: sparse.csr_array, counts: Floats, n_clusters: int) -> Floats:
    """Y of least error under A, where eigenvectors of equal eigenvalues share the last places.

    A sample counts as often as it has copies: with C = diag(counts), the eigenvectors are those of R'R for
    R = C^1/2 (I - A) C^-1/2, and Y is C^-1/2 times them.
    """
    root = np.sqrt(counts)
    residual = (sparse.eye_array(A.shape[0]) - A).tocsr()
    residual = (sparse.diags_array(root) @ residual @ sparse.diags_array(1 / root)).tocsr()
    n_clusters = min(n_clusters, A.shape[0])
    n_vectors = min(n_clusters + SPARE, A.shape[0])
    while True:
        values, vectors = smallest_eigenvectors(residual, n_vectors)
        if values[-1] > values[n_clusters - 1] + SAME or n_vectors == A.shape[0]:
            return vectors * np.sqrt(places(values, n_clusters)) / root[:, None]
        n_vectors = min(4 * n_vectors, A.shape[0])


def places(values: Floats, n_places: int) -> Floats:
    """Which share of each eigenvector is taken: the smallest first, equal ones alike, n_places in all."""
    last = values[n_places - 1]
    below, same = values < last - SAME, np.abs(values - last) <= SAME
    return np.where(below, 1.0, np.where(same, (n_places - below.sum()) / same.sum(), 0.0))


def smallest_eigenvectors(residual: sparse.csr_array, n_vectors: int) -> tuple[Floats, Floats]:
    """Smallest eigenvalues of R'R and their vectors, all but the last few exact."""
    m = residual.shape[0]
    transposed = residual.T.tocsr()
    if m <= max(FEW, 4 * n_vectors):
        dense = (transposed @ residual).toarray()
        values, vectors = linalg.eigh(dense, subset_by_index=(0, n_vectors - 1), check_finite=False)
        return values, vectors
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((m, n_vectors)))[0]  # any start leads to the same
    return filtered_subspace(lambda V: transposed @ (residual @ V), V, n_vectors - SPARE // 2)


def filtered_subspace(times: Product, V: Floats, n_exact: int) -> tuple[Floats, Floats]:
    """Smallest eigenvalues of a matrix without negative ones: polynomials that damp all others, until it settles."""
    top = 1.1 * largest_eigenvalue(times, V[:, 0])
    for _ in range(MOST_FILTERS):
        image = times(V)
        T = V.T @ image
        values, vectors = np.linalg.eigh((T + T.T) / 2)
        V, image = V @ vectors, image @ vectors
        errors = np.linalg.norm(image - V * values, axis=0)
        if errors[:n_exact].max() <= EIGEN_TOL * top:
            break
        V = np.linalg.qr(damped_above(times, V, min(values[-1], 0.9 * top), top))[0]
    return values, V


def damped_above(times: Product, V: Floats, cut: float, top: float) -> Floats:
    """A Chebyshev polynomial of the matrix, small between cut and top and large below, times V."""
    half, middle = (top - cut) / 2, (top + cut) / 2
    first = sigma = -half / middle  # scales the polynomial to 1 at 0
    before, V = V, (times(V) - middle * V) * (sigma / half)
    for _ in range(DEGREE - 1):
        following = 1.0 / (2.0 / first - sigma)
        before, V = V, (times(V) - middle * V) * (2.0 * following / half) - (sigma * following) * before
        sigma = following
    return V


def largest_eigenvalue(times: Product, v: Floats) -> float:
    """By the power method: within a few per cent."""
    for _ in range(40):
        v = v / np.linalg.norm(v)
        v = times(v)
    return float(np.linalg.norm(v))


def local_weight_lengths(
    X: Floats, counts: Floats, hoods: list[Hoods], alphas: list[Floats], n_jobs: int | None
) -> Floats:
    """Root of the summed squares of X_i' alpha_i over all samples i and clusters, for every feature."""
    parts = [local_coefficients(h, a, counts) for h, a in zip(hoods, alphas, strict=True)]
    B = sparse.vstack([sparse.csr_array(part, shape=(part[2].size - 1, len(X))) for part in parts], format="csr")

    def lengths(columns: slice) -> Floats:
        W = B @ np.ascontiguousarray(X[:, columns])
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", W, W)))

    return np.concatenate(list(thread_map(lengths, blocks(X.shape[1], BLOCK_FEATURES), n_jobs)))


def local_coefficients(hoods: Hoods, alphas: Floats, counts: Floats) -> tuple[Floats, Integers, Integers]:
    """Values, columns and starts of a matrix with a row alpha_i for each sample and cluster, once for all copies."""
    m, k, n_clusters = alphas.shape
    values = np.sqrt(counts[hoods.samples])[:, None, None] * alphas.transpose(0, 2, 1)
    columns = np.repeat(hoods.neighbours, n_clusters, axis=0).ravel()
    return values.ravel(), columns, np.arange(0, m * n_clusters * k + 1, k)
