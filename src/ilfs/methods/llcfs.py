r"""Feature selection for local learning-based clustering.

A clustering is good if the cluster of every sample can be predicted from its neighbours. LLCFS alternates between two
steps: find such a clustering, and weight the features by their coefficients in the local predictions. The neighbours
are searched again with the new weights.

.. math:: \min_Y \lVert Y - AY \rVert^2, \quad Y^\top Y = I, \qquad
          \tau_f \propto \Big(\sum_i \lVert w_{if} \rVert^2\Big)^{1/2}, \qquad
          w_i = \operatorname{diag}(\tau)\, X_i^\top \alpha_i, \qquad
          \alpha_i = \big(H K_i H + \tfrac1\beta I\big)^{-1} H Y_i

Row i of A predicts the value of sample i from those of its neighbours :math:`X_i` by ridge regression, where
:math:`K_i = X_i \operatorname{diag}(\tau) X_i^\top` and H is the centring matrix. Y holds the eigenvectors of the
smallest eigenvalues of :math:`(I - A)^\top (I - A)`.

Reference: H. Zeng, Y.-M. Cheung, *Feature Selection and Kernel Learning for Local Learning-Based Clustering*, IEEE
Transactions on Pattern Analysis and Machine Intelligence 33, 2011.

Where we depart from the paper and from the authors' toolbox:

- A sample is removed from its own neighbours by its index. The toolbox removes the nearest sample, which may be a copy.
- Iteration stops when the weights converge; the toolbox always makes 20 steps. The default is ten neighbours, which
  found planted groups more reliably than the toolbox's five.
- If the neighbourhood graph has at least as many components as there are clusters, Y is constant on each component, the
  local coefficients are zero, and iteration stops. The toolbox continues with rounding errors.
- If there are more zero eigenvalues than clusters, the eigenvectors are not unique. We average over all choices:
  eigenvectors of equal eigenvalues get equal fractions of the remaining places of ``n_clusters``. Without such a tie
  this changes nothing.
- Samples at equal distance that compete for the last of the k places share them. A sample with a fraction s of a place
  has weight s in the local regression. If more than 64 distinct samples tie, 64 of them share, chosen by a hash of
  their values. Rows that are equal in all columns with nonzero weight are merged into one sample with a count: when few
  discrete columns are left, nearly all rows are copies of others.
- Samples are processed in an order that depends on their values only. So the order of the rows does not even change
  rounding errors, which the iteration would amplify.
- The eigenvectors are computed to the precision that the distance to the next eigenvalue requires. Real data have
  eigenvalues of 1e-8 of the largest one, and an iteration that stops early returns mixtures of eigenvectors.
- ``beta`` is in units of 1 / (mean variance of the columns), so that the unit of the table does not matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import AllRows, blocks, one_blas_thread, thread_map
from ilfs.must_keep import MustKeep
from ilfs.neighbours import DistinctSamples, Neighbours, difference_grams, nearest_neighbours, usable_neighbours
from ilfs.parameters import check_between, check_integer, check_positive
from ilfs.selector import Scores, UnsupervisedRowsSelector
from ilfs.solvers.smallest_eigenvectors import filtered_subspace
from ilfs.warn import warn

WEIGHT_BLOCK_COLUMNS = 64  # columns whose local coefficients are computed at a time
WEIGHTED_BLOCK_ROWS = 64  # rows that are weighted at a time
MIN_VARIANCE_FRACTION = 1e-17  # columns with less of the weighted variance change no distance in float64
EIGENVALUE_TIE = 1e-8  # eigenvalues closer than this are equal; the largest are about 1
MAX_DENSE_SAMPLES = 1000  # with more samples the eigenvectors are found iteratively
EXTRA_EIGENVECTORS = 8  # computed at least beyond the wanted ones, to see ties and to speed up convergence
EIGENVECTORS_MULTIPLE = 8  # the iteration filters so many vectors together
MAX_LOCAL_VARIATION = 1e-6  # of Y within neighbourhoods, relative to Y, that counts as none


class LLCFS(UnsupervisedRowsSelector):
    """Feature selection for local learning-based clustering.

    The weights concentrate on fewer features with every step. They may not converge, because every step searches new
    neighbours. Iteration also stops when the neighbourhood graph splits into ``n_clusters`` components: the features
    that separate them have been found.

    A step costs a neighbour search, n_samples^2 x n_features / 2 operations. Memory: two and a half copies of the
    table, and an n_samples x n_samples matrix for up to 1,000 samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them.
    n_clusters : int, default=2
        Number of columns of Y. One of them is constant and carries no information, so use at least 2.
    n_neighbors : int, default=10
        Number of neighbours that predict a sample.
    beta : float, default=0.1
        Weight of the local prediction errors relative to the size of the coefficients, in units of 1 / (mean variance
        of the columns).
    max_iter : int, default=20
        Maximum number of steps.
    tol : float, default=1e-3
        Iteration stops when the sum of the absolute changes of the weights, which sum to one, is at most this.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights of the features. They sum to one.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first. Features with equal weights, such as 0, are ordered by their weight after the first
        step.
    weights_ : ndarray of shape (n_features,)
        Same as ``scores_``.
    changes_ : ndarray of shape (n_iter,)
        Sum of the absolute changes of the weights in every step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

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
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by their weights in the local predictions of a clustering.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Finite numbers.
        y : ignored
            Present for pipelines. If it is the name of a column of X, that column is left out.

        Returns
        -------
        LLCFS
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        n_neighbors, n_clusters = usable_neighbours(self.n_neighbors, len(rows.X)), self._usable_clusters(len(rows.X))
        steps = weights_by_step(
            *standardised_samples(rows), n_neighbors, n_clusters, float(self.beta), self.tol, self.max_iter, rows.n_jobs
        )
        weights, changes = zip(*self._steps(steps, "step", self.max_iter), strict=True)
        self.changes_ = np.array(changes)
        if self.changes_[0] == 0.0:
            warn(
                f"with n_neighbors={n_neighbors} and n_clusters={n_clusters} all neighbours are in the same cluster, "
                "so no feature gets more weight than another: increase n_neighbors or n_clusters"
            )
        self.n_iter_, self.weights_ = self.changes_.size, rows.expand(weights[-1])
        return Scores(weights[-1], tie_break=weights[0])

    def _usable_clusters(self, n_samples: int) -> int:
        if self.n_clusters >= n_samples:
            warn(
                f"n_clusters={self.n_clusters} must be less than the {n_samples} samples: using {n_samples - 1}",
            )
        return min(self.n_clusters, n_samples - 1)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_clusters", self.n_clusters, 1)
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_between("beta", self.beta, 1e-12, 1e12)
        check_integer("max_iter", self.max_iter, 1)
        check_positive("tol", self.tol)


def standardised_samples(rows: AllRows) -> tuple[Floats, Floats]:
    """Return the distinct rows, centred and divided by the root of the mean variance, and the count of each.

    The order of the rows depends on their values only. So rounding errors, which the iteration may amplify, do not
    depend on the caller's order.
    """
    distinct = DistinctSamples.from_samples(rows.X, ordered=True)
    X = np.ascontiguousarray(distinct.X, dtype=np.float64)  # reordered, hence a copy
    X -= rows.low  # first, because the mean of values far from zero would lose digits
    X /= (rows.high - rows.low).max()  # so that squares neither overflow nor underflow
    X -= distinct.counts @ X / distinct.n_samples
    X *= np.sqrt(distinct.n_samples * X.shape[1] / sums_of_squares(X, distinct.counts).sum())
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
    """Yield the weights after every step and the sum of their absolute changes, until they converge."""
    tau, vectors = np.full(X.shape[1], 1.0 / X.shape[1]), None
    for _ in range(max_iter):
        before = tau
        tau, vectors = reweighted(X, counts, tau, n_neighbors, n_clusters, beta, n_jobs, vectors)
        change = float(np.abs(tau - before).sum())
        yield tau, change
        if change <= tol:
            return


def reweighted(
    X: Floats,
    counts: Floats,
    tau: Floats,
    n_neighbors: int,
    n_clusters: int,
    beta: float,
    n_jobs: int | None,
    vectors: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the weights of the features after a step from weights tau, and the eigenvectors of the step.

    ``vectors`` are those of the step before, from which the search for the new ones starts.

    If Y is constant in every neighbourhood, tau itself is returned. The neighbourhood graph then has at least as many
    components as there are clusters, and predicting a constant needs no feature.
    """
    weighted, X, counts = merge_equal_rows(weighted_columns(X, counts, tau, n_jobs), X, counts)
    found = nearest_neighbours(weighted, n_neighbors, n_jobs, counts=counts)
    hoods = [local_regressions(weighted, found, *lists, beta, n_jobs) for lists in found.by_length()]
    del weighted
    with one_blas_thread():
        Y, vectors = smooth_clusters(prediction_matrix(hoods, len(X)), counts, n_clusters, vectors, n_jobs)
        # H Y_i: the values of the neighbours minus their weighted mean
        local = [Y[h.neighbours] - np.einsum("ij,ijc->ic", h.fractions, Y[h.neighbours])[:, None] for h in hoods]
        if np.linalg.norm([np.linalg.norm(values) for values in local]) <= MAX_LOCAL_VARIATION * np.linalg.norm(Y):
            return tau, vectors
        alphas = [h.duals @ values for h, values in zip(hoods, local, strict=True)]
    # w_i = diag(tau) X_i' alpha_i, so tau is multiplied by the lengths of the rows of X_i' alpha_i.
    tau = tau * coefficient_norms(X, counts, hoods, alphas, n_jobs)
    return np.asarray(tau / tau.sum()), vectors


def merge_equal_rows(weighted: Floats, X: Floats, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Merge rows that are equal in the weighted columns: average them in all columns and add their counts.

    When only few discrete columns have weight left, nearly all rows are copies of others.
    """
    distinct = DistinctSamples.from_samples(weighted)
    if len(distinct.X) == len(X):
        return weighted, X, counts
    membership = sparse.csr_array((counts, (distinct.inverse, np.arange(len(X)))))
    total = np.asarray(membership.sum(axis=1))
    return distinct.X, np.asarray(membership @ X) / total[:, None], total


def sums_of_squares(X: Floats, counts: Floats, n_jobs: int | None = None) -> Floats:
    """Return the sum of squares of every column, with each row counted as often as it occurs."""
    columns = blocks(X.shape[1], WEIGHT_BLOCK_COLUMNS)
    return np.concatenate(list(thread_map(lambda some: counts @ np.square(X[:, some]), columns, n_jobs)))


def weighted_columns(X: Floats, counts: Floats, tau: Floats, n_jobs: int | None) -> Floats:
    """Multiply columns by the roots of their weights, and drop those too small to change a distance."""
    variance = tau * sums_of_squares(X, counts, n_jobs)
    kept = np.flatnonzero(variance > MIN_VARIANCE_FRACTION * variance.sum())
    weighted, roots = np.empty((len(X), kept.size)), np.sqrt(tau[kept])

    def fill(rows: slice) -> None:
        np.multiply(X[rows].take(kept, axis=1) if kept.size < tau.size else X[rows], roots, out=weighted[rows])

    list(thread_map(fill, blocks(len(X), WEIGHTED_BLOCK_ROWS), n_jobs))
    return weighted


@dataclass(frozen=True)
class Neighbourhoods:
    """Local ridge regressions of the neighbourhoods of one size.

    Row i belongs to sample ``samples[i]`` with neighbours ``neighbours[i]``, whose weights ``fractions[i]`` sum to one.
    ``predictors[i]`` times the values of the neighbours is the prediction for the sample; ``duals[i]`` times these
    values are the dual coefficients alpha.
    """

    samples: Integers
    neighbours: Integers
    fractions: Floats
    predictors: Floats
    duals: Floats


def local_regressions(
    weighted: Floats, found: Neighbours, samples: Integers, entries: Integers, beta: float, n_jobs: int | None
) -> Neighbourhoods:
    """Fit ridge regression in the neighbourhoods of the given samples, all of one size."""
    neighbours, places = found.indices[entries], found.places[entries]
    grams = difference_grams(weighted, samples, neighbours, n_jobs)
    with one_blas_thread():
        predictors, duals = local_ridge(grams, places, beta)
    return Neighbourhoods(samples, neighbours, places / places.sum(axis=1, keepdims=True), predictors, duals)


def local_ridge(grams: Floats, places: Floats, beta: float) -> tuple[Floats, Floats]:
    """Return the predictors and the dual coefficients of weighted ridge regressions.

    Neighbour j has weight s_j, its places, and q = s / sum(s). P = I - 1 q' subtracts the weighted mean, G holds the
    scalar products of the differences x_j - x_i, and C = P G P' + diag(1 / s) / beta. For values y of the neighbours
    the dual coefficients are alpha = C^-1 P y. The sample is at the origin of the differences, where the regression
    predicts the weighted mean q'y minus the scalar products (P G q)'alpha.
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


def prediction_matrix(hoods: list[Neighbourhoods], m: int) -> sparse.csr_array:
    """Assemble the sparse matrix A, whose row i holds the predictors of sample i in the columns of its neighbours."""
    values = np.concatenate([h.predictors.ravel() for h in hoods])
    first = np.concatenate([np.repeat(h.samples, h.neighbours.shape[1]) for h in hoods])
    second = np.concatenate([h.neighbours.ravel() for h in hoods])
    return sparse.csr_array((values, (first, second)), shape=(m, m))


def smooth_clusters(
    A: sparse.csr_array,
    counts: Floats,
    n_clusters: int,
    start: Floats | None = None,
    n_jobs: int | None = None,
) -> tuple[Floats, Floats]:
    """Return the Y with the smallest prediction error under A, and all eigenvectors that were computed.

    Eigenvectors of equal eigenvalues share the last places. A sample has the weight of its count: with C =
    diag(counts), Y is C^-1/2 times the eigenvectors of R'R for R = C^1/2 (I - A) C^-1/2. The eigenvectors of a similar
    problem are a good ``start``.
    """
    root, m = np.sqrt(counts), A.shape[0]
    residual = (sparse.eye_array(m) - A).tocsr()
    residual = (sparse.diags_array(root) @ residual @ sparse.diags_array(1 / root)).tocsr()
    n_clusters = min(n_clusters, m)
    n_vectors = EIGENVECTORS_MULTIPLE * -(-(n_clusters + EXTRA_EIGENVECTORS) // EIGENVECTORS_MULTIPLE)
    while True:
        n_vectors = min(n_vectors, m)
        values, vectors = smallest_eigenvectors(residual, n_vectors, n_clusters, start, n_jobs)
        # All eigenvectors that tie with the last wanted one are known once the largest value found exceeds the tie.
        if values[-1] > values[n_clusters - 1] + EIGENVALUE_TIE or n_vectors == m:
            fractions = eigenvector_fractions(values, n_clusters)
            used = fractions > 0
            return vectors[:, used] * np.sqrt(fractions[used]) / root[:, None], vectors
        n_vectors = 4 * n_vectors


def eigenvector_fractions(values: Floats, n_vectors: int) -> Floats:
    """Distribute n_vectors places over sorted eigenvalues: smallest first, equal ones with equal fractions."""
    last = values[n_vectors - 1]
    below, tied = values < last - EIGENVALUE_TIE, np.abs(values - last) <= EIGENVALUE_TIE
    return np.where(below, 1.0, np.where(tied, (n_vectors - below.sum()) / tied.sum(), 0.0))


def smallest_eigenvectors(
    residual: sparse.csr_array, n_vectors: int, n_wanted: int, start: Floats | None, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """Return the smallest eigenvalues of R'R and their vectors; only the wanted ones need to have converged."""
    m = residual.shape[0]
    if m <= max(MAX_DENSE_SAMPLES, 4 * n_vectors):
        dense = (residual.T @ residual).toarray()
        values, vectors = linalg.eigh(dense, subset_by_index=(0, n_vectors - 1), check_finite=False)
        return values, vectors
    if start is None or start.shape != (m, n_vectors):
        start = np.random.default_rng(0).standard_normal((m, n_vectors))  # any start will do
    return filtered_subspace(residual, start, n_wanted, EIGENVALUE_TIE, n_jobs)


def coefficient_norms(
    X: Floats, counts: Floats, hoods: list[Neighbourhoods], alphas: list[Floats], n_jobs: int | None
) -> Floats:
    """Return the norm of X_i' alpha_i over all samples i and clusters, for every feature.

    All alpha_i are rows of one sparse matrix B, so that a product B X gives the coefficients of all local predictions.
    """
    rows = [dual_rows(h, a, counts) for h, a in zip(hoods, alphas, strict=True)]
    B = sparse.vstack([sparse.csr_array(csr, shape=(csr[2].size - 1, len(X))) for csr in rows], format="csr")

    def norms(columns: slice) -> Floats:
        W = B @ np.ascontiguousarray(X[:, columns])
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", W, W)))

    return np.concatenate(list(thread_map(norms, blocks(X.shape[1], WEIGHT_BLOCK_COLUMNS), n_jobs)))


def dual_rows(hoods: Neighbourhoods, alphas: Floats, counts: Floats) -> tuple[Floats, Integers, Integers]:
    """Return the CSR arrays (values, columns, row starts) of a matrix with a row alpha_i for each sample and cluster.

    A row is scaled by the root of the sample's count, so that its square counts for all copies.
    """
    m, k, n_clusters = alphas.shape
    values = np.sqrt(counts[hoods.samples])[:, None, None] * alphas.transpose(0, 2, 1)
    columns = np.repeat(hoods.neighbours, n_clusters, axis=0).ravel()
    return values.ravel(), columns, np.arange(0, m * n_clusters * k + 1, k)
