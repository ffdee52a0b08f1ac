r"""Multi-cluster feature selection (MCFS).

The smoothest functions on the graph of nearest neighbours show the clusters of the samples, without labels. A feature
is good if it is needed to rebuild one of them from few features.

.. math::

    L\,y_k = \lambda_k D\,y_k, \qquad
    a_k = \arg\min_a \|y_k - X a\|^2 \text{ with } |a|_0 = d \text{ (least angle regression)}, \qquad
    \mathrm{score}_f = \max_k |a_{kf}|

W is the graph of nearest neighbours, D its degrees, L = D - W; the :math:`y_k` belong to the smallest eigenvalues,
without the constant vector, and :math:`y_k^\top D\,y_k = 1`; d is the number of features to select.

Reference: D. Cai, C. Zhang, X. He, *Unsupervised Feature Selection for Multi-Cluster Data*, KDD 2010.

Where we depart from the paper, or where it is silent:

- ``n_clusters`` vectors are used besides the constant one. (The toolbox of the ILFS paper's authors counts the constant
  one in and uses one less.)
- If the graph falls into parts, every function that is constant on the parts has eigenvalue 0, and which of them a
  solver returns is a matter of chance. We take those along which the means of the parts lie furthest apart: the
  principal components of the means, each weighing as much as its degrees.
- Features and vectors are centred; features are not scaled, as in the paper, so scale them first if their units differ.
- The toolbox asks for as many features as there are; its path then ends at ridge regression on all features, which
  selects nothing. Ours stops at the number asked for.
- A feature that entered no path scores 0. Such features are ordered by how near they came to entering: their largest
  share of the correlation of those that entered.
- Samples that tie for the last places of a neighbourhood share them, as in `LaplacianScore`; copies of a sample are one
  node of the graph, with a count.
- Where eigenvalues are equal, the vectors depend on the order of the samples; they are taken in one that depends on
  their values only. Of features that would enter a path at the same point, but for rounding, the first column enters,
  and a copy of a feature that entered never does. So neither the order of the rows nor dense or sparse storage matter.
- Edges weaker than 1e-8 of the strongest count as that, so that no sample is cut off by underflow.
"""

from typing import Any, Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import AllRows, one_blas_thread
from ilfs.execution.columns import dense_column_blocks, dense_columns
from ilfs.methods.laplacian_score import check_graph
from ilfs.neighbours import DistinctSamples, Weights, heat_graph
from ilfs.parameters import check_integer
from ilfs.selector import Scores, UnsupervisedRowsSelector
from ilfs.warn import warn

WEAKEST = 1e-8  # edge, as share of the strongest
DENSE_SAMPLES = 400  # up to which all eigenvalues are found at once
ROUNDING = 1e-12  # of coefficients that would be 0, as fraction of the largest
SAME = 1e-10  # share of the largest spread of the means of parts that counts as none


class MCFS(UnsupervisedRowsSelector):
    """Multi-cluster feature selection: features that rebuild the clusters of the samples.

    Reads no labels. For m samples, n features, d of them to select and K clusters, finding the neighbours costs m^2 n /
    2 multiplications, and the paths m n^2 / 2 + K d n^2 if n <= m, K d m n otherwise. The peak of memory is what
    `LaplacianScore` needs, or an n x n matrix and for every thread another and two of d x n if n <= m, a float64 copy
    of X otherwise (none if X is sparse); whichever is more. Never an m x m matrix for more than 400 samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half. It also says where the paths stop, so it changes
        the scores.
    n_clusters : int, default=5
        How many eigenvectors to rebuild; about the number of clusters that are expected.
    n_neighbors : int, default=5
        With how many of the nearest others a sample is joined.
    weights : {"heat", "binary"}, default="heat"
        Of the edges: exp(-d^2 / (2 t^2)) of the distance d, or 1.
    width : float, optional
        The t of the heat weights. By default the mean of all n_samples x n_samples distances.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest absolute coefficient in the paths; 0 for a feature that entered none.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The eigenvectors, smallest eigenvalue first; the entry of largest size is positive. Fewer columns if there are
        not as many distinct samples.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Theirs; 0 if the graph falls into parts.
    coefficients_ : ndarray of shape (n_clusters, n_features)
        Where the paths stopped.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

    Notes
    -----
    The order of the rows, and dense or sparse storage, change the scores by rounding only, also if many distances tie.
    The exception is the default ``width`` for large tables, n_samples^2 x n_features > 2e8: the mean distance comes
    from products in float32, so that scores may differ by about 1e-10, or more where eigenvalues are nearly equal.

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
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by how much they are needed to rebuild its clusters.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers. Distances are Euclidean and coefficients have units: features should have comparable scales.
        y : ignored
            Here so that the selector fits into a pipeline; the name of a column of X leaves that column out.

        Returns
        -------
        MCFS
            Itself, fitted.
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
        return Scores(scores, nearness.max(axis=0), floor=ROUNDING * scores.max(), tie_break_floor=ROUNDING)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_clusters", self.n_clusters, 1)
        check_graph(self.n_neighbors, self.weights, self.width)


def usable_clusters(n_clusters: int, n_samples: int) -> int:
    """As many as asked for, or as there are vectors besides the constant one, with a warning."""
    if n_clusters < n_samples:
        return n_clusters
    warn(f"n_clusters={n_clusters} is more than the {n_samples - 1} eigenvectors of {n_samples} samples: all are taken")
    return n_samples - 1


def spectral_embedding(samples: DistinctSamples, graph: sparse.csr_array, n_vectors: int) -> tuple[Floats, Floats]:
    """Smallest eigenvalues of L y = lambda D y without the constant vector, and the vectors as columns.

    Samples are taken in the order of their rank: where eigenvalues are equal, the vectors that a solver finds depend on
    the order, which must not be that of the caller's rows.
    """
    from scipy.sparse.csgraph import connected_components

    by_rank = np.argsort(samples.rank)
    W = graph[by_rank][:, by_rank]
    W.sort_indices()
    W.data = np.maximum(W.data, WEAKEST * W.data.max())
    degree = np.asarray(W.sum(axis=1)).ravel()
    n_parts, part = connected_components(W, directed=False)
    with one_blas_thread():
        flat = part_vectors(samples.X, by_rank, degree, part, n_parts, n_vectors)
        values, smooth = smooth_vectors(W, degree, part, n_vectors - flat.shape[1])
    vectors = np.hstack([flat, smooth])
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.append(np.zeros(flat.shape[1]), values), vectors[samples.rank]


def part_vectors(X: Any, by_rank: Integers, degree: Floats, part: Integers, n_parts: int, n_vectors: int) -> Floats:
    """Vectors that are constant on the parts of the graph, those first along which the parts lie furthest apart."""
    from scipy.linalg import eigh

    if n_parts == 1:
        return np.zeros((degree.size, 0))
    X = X.tocsc() if sparse.issparse(X) else X
    volume = np.bincount(part, degree)
    sums = sparse.csr_array((degree, (part, np.arange(part.size))))
    apart = np.zeros((n_parts, n_parts))
    for columns in dense_column_blocks(X):
        f = dense_columns(X, columns)[by_rank]
        f -= degree @ f / degree.sum()
        spread = (sums @ f) / np.sqrt(volume)[:, None]
        apart += spread @ spread.T
    first = max(n_parts - n_vectors, 1)
    values, u = eigh(apart, subset_by_index=(first, n_parts - 1))
    u = u[:, values > SAME * values[-1]][:, ::-1]
    return np.asarray((u / np.sqrt(volume)[:, None])[part])


def smooth_vectors(W: sparse.csr_array, degree: Floats, part: Integers, n_vectors: int) -> tuple[Floats, Floats]:
    """Smallest positive eigenvalues and their vectors: the largest of D^-1/2 W D^-1/2 below 1."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import LinearOperator, eigsh

    m, root = degree.size, np.sqrt(degree)
    volume = np.bincount(part, degree)
    n_vectors = min(n_vectors, m - volume.size)
    if n_vectors <= 0:
        return np.zeros(0), np.zeros((m, 0))
    A = sparse.diags_array(1 / root) @ W @ sparse.diags_array(1 / root)

    def below_one(v: Floats) -> Floats:
        # the eigenvectors of 1, one for each part, are moved from the upper end to -1
        v = v.ravel()
        return np.asarray(A @ v - 2 * root * (np.bincount(part, root * v) / volume)[part])

    if m <= DENSE_SAMPLES:
        matrix = np.column_stack([below_one(unit) for unit in np.eye(m)])
        values, v = eigh(matrix, subset_by_index=(m - n_vectors, m - 1))
    else:
        start = np.random.default_rng(0).standard_normal(m)
        values, v = eigsh(LinearOperator((m, m), below_one, dtype=np.float64), n_vectors, which="LA", v0=start)
    order = np.argsort(-values)
    return 1 - values[order], (v / root[:, None])[:, order]
