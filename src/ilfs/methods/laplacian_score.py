r"""Laplacian score.

Samples that lie close to each other are joined in a graph. A feature is good if it changes little along the edges,
measured by how much it changes at all: it keeps together what belongs together, without looking at any labels.

.. math::

    L_f = \frac{\tilde f^\top L \tilde f}{\tilde f^\top D \tilde f}
        = \frac{\sum_{i<j} W_{ij}\,(f_i - f_j)^2}{\sum_i D_{ii}\,(f_i - \bar f)^2},
    \qquad \bar f = \frac{\sum_i D_{ii} f_i}{\sum_i D_{ii}}, \quad L = D - W, \quad D_{ii} = \sum_j W_{ij}

W joins each sample with its nearest others, symmetric, with heat weights :math:`\exp(-d^2 / 2t^2)`. The score is
:math:`-L_f`, so that larger is better.

Reference: X. He, D. Cai, P. Niyogi, *Laplacian Score for Feature Selection*, NIPS 2005.

Where we depart:

- The paper leaves t open; t = 1, a usual choice, lets all weights underflow on data with large values. Ours is the mean
  distance, as in the toolbox's own graph function, so that the scale of the data does not matter. A weight below 1e-200
  is 1e-200.
- The demo of the authors' toolbox gives the score a graph of negative weights, -d / max d, where the denominator is
  negative and replaced by a constant. We follow the paper. On the toolbox's own graph of neighbours our scores are its
  scores minus 1.
- No sample is joined with itself (that would not change L, but D).
- The paper does not say which of equally near samples are taken. Samples that tie for the last places share them, and
  the weight of an edge is multiplied by the larger of the two fractions that its ends give each other. So the order of
  the rows does not matter on counts and categories, where many distances are equal. If more than 64 distinct samples
  tie, 64 of them share, chosen by a number that depends on their values only.
- Both sums are over differences, never differences of sums, so a feature far from zero loses no precision.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats
from ilfs.execution import AllRows, thread_map
from ilfs.execution.columns import dense_column_blocks, row_major_columns
from ilfs.neighbours import DistinctSamples, Weights, heat_graph
from ilfs.parameters import check_between, check_choice, check_integer
from ilfs.selector import Scores, UnsupervisedRowsSelector

ROUNDING = 1e-12  # of a score that would be 0 exactly, or of the difference of two that would be equal


class LaplacianScore(UnsupervisedRowsSelector):
    """Laplacian score: features that change little between samples that are close.

    Reads no labels. For m samples and n features, finding the neighbours costs m^2 n / 2 multiplications and the scores
    about 5 m n ``n_neighbors``. The peak of memory is a float32 copy of X (float64 if many distances are equal), about
    40 MB a thread and O(m n_neighbors); sparse X with less than a tenth of its cells stored is not copied. If rows
    occur more than once, there is also a copy of the distinct ones. Never an m x m matrix.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
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
        Minus the Laplacian score, between -2 and 0; -2 for a constant feature.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

    Notes
    -----
    The order of the rows, and dense or sparse storage, change the scores by rounding only, also if many distances tie.
    The exception is the default ``width`` for large tables, n_samples^2 x n_features > 2e8: the mean distance comes
    from products in float32, so that scores may differ by about 1e-10.

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
    _lowest = -2.0  # no quotient of L and D is larger than 2

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
        weights: Weights = "heat",
        width: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by how well they keep close samples together.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers. Distances are Euclidean: features should have comparable scales.
        y : ignored
            Here so that the selector fits into a pipeline; the name of a column of X leaves that column out.

        Returns
        -------
        LaplacianScore
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        samples = DistinctSamples.from_samples(rows.X)
        graph = heat_graph(samples, self.n_neighbors, weights=self.weights, width=self.width, n_jobs=rows.n_jobs)
        quotients = laplacian_quotients(replace(rows, X=samples.X), graph)
        return Scores(0.0 - quotients, floor=ROUNDING)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_graph(self.n_neighbors, self.weights, self.width)


def check_graph(n_neighbors: Any, weights: Any, width: Any) -> None:
    """Refuse parameters that make no graph."""
    check_integer("n_neighbors", n_neighbors, 1)
    check_choice("weights", weights, ("heat", "binary"))
    if width is not None:
        check_between("width", width, 0, np.inf)


def laplacian_quotients(rows: AllRows, graph: sparse.csr_array) -> Floats:
    """Change along the edges over change at all, between 0 and 2, of every feature."""
    from ilfs.kernels.laplacian import edge_differences, weighed_squares

    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = 1.0 / (rows.high - rows.low)  # so that no weighed square overflows or underflows

    def quotients(columns: slice) -> Floats:
        table, column = row_major_columns(X, columns)
        along, mean, at_all = np.empty((3, columns.stop - columns.start))
        edge_differences(table, column, scale[columns], graph.indptr, graph.indices, graph.data, along)
        weighed_squares(table, column, rows.low[columns], scale[columns], degree, mean, at_all)
        return np.asarray(np.clip(along / at_all, 0.0, 2.0))

    return np.concatenate(list(thread_map(quotients, dense_column_blocks(X), rows.n_jobs)))
