r"""Multi-cluster feature selection (MCFS).

The smoothest functions on the graph of nearest neighbours indicate the clusters of the samples, without labels. A
feature is good if a sparse linear regression needs it to approximate one of these functions.

.. math::

    L\,y_k = \lambda_k D\,y_k, \qquad
    a_k = \arg\min_a \|y_k - X a\|^2 \text{ with } |a|_0 = d \text{ (least angle regression)}, \qquad
    \mathrm{score}_f = \max_k |a_{kf}|

W is the graph of nearest neighbours, D the diagonal matrix of its degrees, and L = D - W. The :math:`y_k` are the
eigenvectors of the smallest eigenvalues, without the constant vector, with :math:`y_k^\top D\,y_k = 1`. d is the number
of features to select.

Reference: D. Cai, C. Zhang, X. He, *Unsupervised Feature Selection for Multi-Cluster Data*, KDD 2010.

Where we depart from the paper, or where it does not specify the method:

- ``n_clusters`` eigenvectors are used besides the constant one. (The toolbox of the ILFS paper's authors counts the
  constant one and uses one less.)
- If the graph is disconnected, every function that is constant on its components has eigenvalue 0, and the eigenvectors
  are not unique. We use those along which the means of the components differ most: the principal components of the
  means, weighted by the sum of the degrees in each component.
- Features and eigenvectors are centred; features are not scaled, as in the paper. Scale them first if their units
  differ.
- The toolbox always requests all features. Its path then ends at ridge regression on all features, which selects
  nothing. Ours stops at the requested number.
- A feature that entered no path scores 0. Such features are ordered by how close they came to entering: the largest
  ratio of their correlation to that of the features that entered.
- Samples that tie for the last places of a neighbourhood share them, as in `LaplacianScore`. Copies of a sample are one
  node of the graph, with a count.
- If eigenvalues are equal, the eigenvectors depend on the order of the samples, so samples are processed in an order
  that depends on their values only. If several features would enter a path at the same point up to rounding, the first
  column enters, and copies of it never do. So neither the order of the rows nor dense or sparse storage matters.
- Edges with less than 1e-8 of the largest weight are raised to that, so that underflow does not isolate a sample.
"""

from typing import Any, Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import AllRows, one_blas_thread
from ilfs.execution.columns import dense_column_blocks, dense_columns
from ilfs.methods.laplacian_score import check_graph
from ilfs.must_keep import MustKeep
from ilfs.neighbours import DistinctSamples, Weights, heat_graph
from ilfs.parameters import check_integer
from ilfs.selector import Scores, UnsupervisedRowsSelector
from ilfs.warn import warn

MIN_EDGE_FRACTION = 1e-8  # smallest weight of an edge, relative to the largest
MAX_LAPACK_SAMPLES = 400  # with more samples the eigenvectors are computed by a sparse iterative solver
COEFFICIENT_ROUNDING = 1e-12  # rounding error of coefficients, relative to the largest
MIN_SPREAD_FRACTION = 1e-10  # of the component means along an eigenvector, relative to the largest spread


class MCFS(UnsupervisedRowsSelector):
    """Multi-cluster feature selection: features that predict the clusters of the samples.

    It needs no labels. For m samples, n features, d of them to select and K clusters, the neighbour search costs
    m^2 n / 2 multiplications. The paths cost m n^2 / 2 + K d n^2 if n <= m, otherwise K d m n. Peak memory is the
    larger of the memory of `LaplacianScore` and that of the paths: if n <= m, an n x n matrix and, for every thread,
    another one and two of d x n; otherwise a float64 copy of X (none if X is sparse). No m x m matrix is formed for
    more than 400 samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. The paths stop at
        this number, so it changes the scores.
    n_clusters : int, default=5
        Number of eigenvectors to approximate: about the number of clusters that you expect.
    n_neighbors : int, default=5
        Number of nearest neighbours that a sample is joined with.
    weights : {"heat", "binary"}, default="heat"
        Weights of the edges: exp(-d^2 / (2 t^2)) for a distance d, or 1.
    width : float, optional
        The t of the heat weights. By default the mean of all n_samples x n_samples distances.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest absolute coefficient over the paths; 0 for a feature that entered none.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Eigenvectors, smallest eigenvalue first, with signs such that the entry of largest absolute value is positive.
        Fewer columns if there are too few distinct samples.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Eigenvalues of the columns of ``embedding_``; the first are 0 if the graph is disconnected.
    coefficients_ : ndarray of shape (n_clusters, n_features)
        Regression coefficients at the end of each path.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    Notes
    -----
    The order of the rows and dense or sparse storage change the scores by rounding only, even if many distances tie.
    The exception is the default ``width`` for large tables, n_samples^2 x n_features > 2e8: the mean distance is then
    computed from float32 products, so that scores may differ by about 1e-10, or more if eigenvalues are nearly equal.

    References
    ----------
    .. [1] D. Cai, C. Zhang, X. He, "Unsupervised Feature Selection for Multi-Cluster Data", KDD 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ilfs import MCFS
    >>> wine = load_wine()
    >>> X = StandardScaler().fit_transform(wine.data)
    >>> selector = MCFS(n_features_to_select=3, n_clusters=2).fit(X)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['alcohol', 'flavanoids', 'color_intensity']
    """

    _takes_missing = False

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        weights: Weights = "heat",
        width: float | None = None,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by how much they contribute to predicting its clusters.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers. Distances are Euclidean and coefficients have units: features should have comparable scales.
        y : ignored
            Present for pipelines. If it is the name of a column of X, that column is left out.

        Returns
        -------
        MCFS
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        from ilfs.solvers.least_angle import least_angle_coefficients

        n_clusters = usable_clusters(self.n_clusters, rows.X.shape[0])
        samples = DistinctSamples.from_samples(rows.X)
        graph = heat_graph(samples, self.n_neighbors, weights=self.weights, width=self.width, n_jobs=rows.n_jobs)
        self.eigenvalues_, vectors = spectral_embedding(samples, graph, n_clusters)
        self.embedding_ = vectors[samples.inverse]
        a, nearness = least_angle_coefficients(rows.X, self.embedding_.T, self._n_selected(), rows.n_jobs)
        self.coefficients_ = rows.expand(a)
        scores = np.abs(a).max(axis=0)
        return Scores(
            scores,
            nearness.max(axis=0),
            floor=COEFFICIENT_ROUNDING * scores.max(),
            tie_break_floor=COEFFICIENT_ROUNDING,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_clusters", self.n_clusters, 1)
        check_graph(self.n_neighbors, self.weights, self.width)


def usable_clusters(n_clusters: int, n_samples: int) -> int:
    """Limit n_clusters to the number of eigenvectors besides the constant one, with a warning."""
    if n_clusters < n_samples:
        return n_clusters
    warn(f"n_clusters={n_clusters} exceeds the {n_samples - 1} eigenvectors of {n_samples} samples: using all of them")
    return n_samples - 1


def spectral_embedding(samples: DistinctSamples, graph: sparse.csr_array, n_vectors: int) -> tuple[Floats, Floats]:
    """Return the smallest eigenvalues of L y = lambda D y without the constant vector, and the vectors as columns.

    Samples are processed in the order of their rank, which depends on their values only: if eigenvalues are equal, the
    eigenvectors that a solver returns depend on the order of the samples.
    """
    from scipy.sparse.csgraph import connected_components

    by_rank = np.argsort(samples.rank)
    W = graph[by_rank][:, by_rank]
    W.sort_indices()
    W.data = np.maximum(W.data, MIN_EDGE_FRACTION * W.data.max())
    degree = np.asarray(W.sum(axis=1)).ravel()
    n_components, component = connected_components(W, directed=False)
    with one_blas_thread():
        flat = component_vectors(samples.X, by_rank, degree, component, n_components, n_vectors)
        values, smooth = smooth_vectors(W, degree, component, n_vectors - flat.shape[1])
    vectors = np.hstack([flat, smooth])
    # An eigenvector and its negative are equivalent; fix the sign.
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.append(np.zeros(flat.shape[1]), values), vectors[samples.rank]


def component_vectors(
    X: Any, by_rank: Integers, degree: Floats, component: Integers, n_components: int, n_vectors: int
) -> Floats:
    """Return eigenvectors of eigenvalue 0, which are constant on the components of the graph.

    They are the principal components of the means of the graph's components, weighted by volume (the sum of the
    degrees), in descending order of variance. There is none if the graph is connected.
    """
    from scipy.linalg import eigh

    if n_components == 1:
        return np.zeros((degree.size, 0))
    X = X.tocsc() if sparse.issparse(X) else X
    volume = np.bincount(component, degree)
    sums = sparse.csr_array((degree, (component, np.arange(component.size))))
    # Scalar products of the weighted, centred means of the components. Centring makes the constant vector, scaled by
    # the roots of the volumes, a null vector of this matrix, so that it is never returned.
    gram = np.zeros((n_components, n_components))
    for columns in dense_column_blocks(X):
        f = dense_columns(X, columns)[by_rank]
        f -= degree @ f / degree.sum()
        means = (sums @ f) / np.sqrt(volume)[:, None]
        gram += means @ means.T
    first = max(n_components - n_vectors, 1)
    values, u = eigh(gram, subset_by_index=(first, n_components - 1))
    u = u[:, values > MIN_SPREAD_FRACTION * values[-1]][:, ::-1]
    return np.asarray((u / np.sqrt(volume)[:, None])[component])


def smooth_vectors(W: sparse.csr_array, degree: Floats, component: Integers, n_vectors: int) -> tuple[Floats, Floats]:
    """Return the smallest positive eigenvalues of L y = lambda D y and their eigenvectors.

    With v = D^1/2 y they are 1 minus the largest eigenvalues below 1 of the symmetric matrix D^-1/2 W D^-1/2.
    """
    from scipy.linalg import eigh
    from scipy.sparse.linalg import LinearOperator, eigsh

    m, root = degree.size, np.sqrt(degree)
    volume = np.bincount(component, degree)
    n_vectors = min(n_vectors, m - volume.size)
    if n_vectors <= 0:
        return np.zeros(0), np.zeros((m, 0))
    A = sparse.diags_array(1 / root) @ W @ sparse.diags_array(1 / root)

    def deflated(v: Floats) -> Floats:
        # Eigenvalue 1 has one eigenvector for each component. Subtracting twice the projection to them moves it from
        # the upper end of the spectrum to -1, so that the largest eigenvalues are the wanted ones.
        v = v.ravel()
        return np.asarray(A @ v - 2 * root * (np.bincount(component, root * v) / volume)[component])

    if m <= MAX_LAPACK_SAMPLES:
        matrix = np.column_stack([deflated(unit) for unit in np.eye(m)])
        values, v = eigh(matrix, subset_by_index=(m - n_vectors, m - 1))
    else:
        start = np.random.default_rng(0).standard_normal(m)
        values, v = eigsh(LinearOperator((m, m), deflated, dtype=np.float64), n_vectors, which="LA", v0=start)
    order = np.argsort(-values)
    return 1 - values[order], (v / root[:, None])[:, order]
