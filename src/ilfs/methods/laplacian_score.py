r"""Laplacian score.

A graph joins every sample with its nearest neighbours. A feature is good if its variation along the edges is small
compared with its total variance: it takes similar values for similar samples. No labels are needed.

.. math::

    L_f = \frac{\tilde f^\top L \tilde f}{\tilde f^\top D \tilde f}
        = \frac{\sum_{i<j} W_{ij}\,(f_i - f_j)^2}{\sum_i D_{ii}\,(f_i - \bar f)^2},
    \qquad \bar f = \frac{\sum_i D_{ii} f_i}{\sum_i D_{ii}}, \quad L = D - W, \quad D_{ii} = \sum_j W_{ij}

W is the symmetric graph of nearest neighbours with heat kernel weights :math:`\exp(-d^2 / 2t^2)`, where d is the
distance. The score is :math:`-L_f`, so that larger is better.

Reference: X. He, D. Cai, P. Niyogi, *Laplacian Score for Feature Selection*, NIPS 2005.

Where we depart:

- The paper does not specify t. With t = 1, a usual choice, all weights underflow on data with large values. We use the
  mean distance, as the graph function of the authors' toolbox does, so that the scale of the data does not matter.
  Weights below 1e-200 are raised to 1e-200.
- The demo of the toolbox uses a graph with negative weights, -d / max d. The denominator is then negative, and the
  toolbox replaces it by a constant. We follow the paper. On the toolbox's own nearest neighbour graph our scores are
  its scores minus 1.
- No sample is joined with itself. (Such an edge would not change L, but it would change D.)
- The paper does not say which of several equally distant samples are neighbours. Samples that tie for the last places
  share them, and the weight of an edge is multiplied by the larger of the two fractions that its ends assign to each
  other. So the order of the rows does not matter on counts and categories, where many distances are equal. If more than
  64 distinct samples tie, 64 of them share, chosen by a hash of their values.
- Both sums are sums of squared differences, not differences of sums, so a feature far from zero loses no precision.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats
from ilfs.execution import AllRows, thread_map
from ilfs.execution.columns import dense_column_blocks, row_major_columns
from ilfs.must_keep import MustKeep
from ilfs.neighbours import DistinctSamples, Weights, heat_graph
from ilfs.parameters import check_between, check_choice, check_integer
from ilfs.selector import Scores, UnsupervisedRowsSelector

SCORE_ROUNDING = 1e-12  # differences of scores, which are between -2 and 0, that rounding may cause


class LaplacianScore(UnsupervisedRowsSelector):
    """Laplacian score: features that vary little between neighbouring samples.

    It needs no labels. For m samples and n features, the neighbour search costs m^2 n / 2 multiplications and the
    scores about 5 m n ``n_neighbors``. Peak memory is a float32 copy of X (float64 if many distances are equal), about
    40 MB per thread and O(m n_neighbors). A sparse X with less than a tenth of its values stored is not copied. If rows
    are repeated, there is also a copy of the distinct rows. No m x m matrix is formed.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them.
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
        Negative Laplacian scores, between -2 and 0; -2 for a constant feature.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    Notes
    -----
    The order of the rows and dense or sparse storage change the scores by rounding only, even if many distances tie.
    The exception is the default ``width`` for large tables, n_samples^2 x n_features > 2e8: the mean distance is then
    computed from float32 products, so that scores may differ by about 1e-10.

    References
    ----------
    .. [1] X. He, D. Cai, P. Niyogi, "Laplacian Score for Feature Selection", NIPS 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import LaplacianScore
    >>> iris = load_iris()
    >>> selector = LaplacianScore(n_features_to_select=2).fit(iris.data)
    >>> list(selector.get_feature_names_out(iris.feature_names))
    ['petal length (cm)', 'petal width (cm)']
    """

    _takes_missing = False
    _lowest = -2.0  # the eigenvalues of D^-1 L are at most 2

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
        weights: Weights = "heat",
        width: float | None = None,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by how little they vary between neighbouring samples.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers. Distances are Euclidean: features should have comparable scales.
        y : ignored
            Present for pipelines. If it is the name of a column of X, that column is left out.

        Returns
        -------
        LaplacianScore
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        # Copies of a sample are one node of the graph, whose edges are the sums of their edges.
        samples = DistinctSamples.from_samples(rows.X)
        graph = heat_graph(samples, self.n_neighbors, weights=self.weights, width=self.width, n_jobs=rows.n_jobs)
        quotients = laplacian_quotients(replace(rows, X=samples.X), graph)
        return Scores(0.0 - quotients, floor=SCORE_ROUNDING)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_graph(self.n_neighbors, self.weights, self.width)


def check_graph(n_neighbors: Any, weights: Any, width: Any) -> None:
    """Validate the parameters of a nearest neighbour graph."""
    check_integer("n_neighbors", n_neighbors, 1)
    check_choice("weights", weights, ("heat", "binary"))
    if width is not None:
        check_between("width", width, 0, np.inf)


def laplacian_quotients(rows: AllRows, graph: sparse.csr_array) -> Floats:
    """Return the variation along the edges divided by the total variation, in [0, 2], for every feature."""
    from ilfs.kernels.laplacian import edge_differences, weighted_squares

    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = 1.0 / (rows.high - rows.low)  # so that no weighted square overflows or underflows

    def quotients(columns: slice) -> Floats:
        table, column = row_major_columns(X, columns)
        along_edges, mean, total = np.empty((3, columns.stop - columns.start))
        edge_differences(table, column, scale[columns], graph.indptr, graph.indices, graph.data, along_edges)
        weighted_squares(table, column, rows.low[columns], scale[columns], degree, mean, total)
        # By theory the quotient is in [0, 2]; rounding may exceed that.
        return np.asarray(np.clip(along_edges / total, 0.0, 2.0))

    return np.concatenate(list(thread_map(quotients, dense_column_blocks(X), rows.n_jobs)))
