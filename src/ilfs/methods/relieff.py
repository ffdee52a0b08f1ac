r"""ReliefF.

For every sample, ReliefF finds the nearest neighbours in each class. A feature is good if it differs between a sample
and its neighbours in other classes (misses), and does not differ between a sample and its neighbours in the same class
(hits). Distances use all features together, so features that are informative only jointly are found too.

.. math::

    w_f = \frac1m \sum_i \Big[ \sum_{c \ne c_i} \frac{P(c)}{1 - P(c_i)}\; \overline{\mathrm{diff}}_f(i, M_c(i))
        - \overline{\mathrm{diff}}_f(i, H(i)) \Big],
    \qquad \mathrm{diff}_f(i, j) = \frac{|x_{if} - x_{jf}|}{\max_f - \min_f}

H(i) are the k nearest samples of the same class and M_c(i) those of class c. The bar denotes the mean over them. The
distance of two samples is the sum of diff over all features. P(c) is the fraction of samples in class c.

Reference: I. Kononenko, *Estimating Attributes: Analysis and Extensions of RELIEF*, ECML 1994; M. Robnik-Sikonja,
I. Kononenko, *Theoretical and Empirical Analysis of ReliefF and RReliefF*, Machine Learning 53, 2003.

Where we depart:

- Samples that tie for the last of the k places share them, each counting as a fraction of a neighbour. So neither the
  order of the rows nor the names of the classes matter, and the weights published for iris (k = 10) are reproduced to
  all four digits. Distances are equal if they differ by no more than 1e-9 of the larger one, or 1e-12 of the largest
  possible one.
- If a class has fewer than k other samples, the mean is over all of them. A sample that is alone in its class has no
  hits.
- Missing values are left out. The distance of two samples is the mean difference over the features present in both,
  times the number of features. For each feature, the means over hits and misses are over the pairs in which both values
  are present. (Kononenko replaces missing values by probabilities, which needs discrete features.)
- All samples are used unless ``n_samples`` is given; then samples are drawn without replacement. Rows are drawn by
  their position, so the order of the rows matters only in this case.
- The authors' toolbox calls MATLAB's function with numeric labels, which computes RReliefF, for regression. This is
  ReliefF, for classification.
"""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution import LabelledRows, one_blas_thread, thread_map
from ilfs.execution.columns import dense_column_blocks, dense_columns
from ilfs.must_keep import MustKeep
from ilfs.neighbours import Pairs, class_neighbours
from ilfs.parameters import check_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.warn import warn

MIN_PARALLEL_COMPARISONS = 10**8  # with fewer, threads cost more time than they save
FEATURE_WEIGHT_ROUNDING = 1e-12  # rounding error of weights, which are differences of sums that are at most 1


class ReliefF(SupervisedRowsSelector):
    """ReliefF: features that differ between neighbouring samples of different classes.

    For m samples, n features and k neighbours in each of K classes, the distances take m^2 n / 2 comparisons, of 16-bit
    integers with an error bound, and the weights O(m n k K). Peak memory is a copy of X with 2 bytes per value (4 bytes
    if values are missing, or if most of them are much smaller than the largest one), about 50 (k + 8) K m bytes for the
    neighbours and 50 MB per thread. A sparse X with less than a tenth of its values stored is not made dense. No m x m
    matrix is formed.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"auto"``: the
        number is found by cross-validation of a linear SVM, for rows in memory (see `ilfs.selection.SizeCV`).
    n_neighbors : int, default=10
        Number of nearest neighbours in each class. With few neighbours the weights follow local structure and are
        noisy; with many they are smooth and lose local structure.
    n_samples : int, optional
        Number of samples whose neighbours are used, drawn without replacement; by default all. Neighbours are searched
        among all samples. Rows are drawn by their position, so another order of the rows gives other samples.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing samples; used only with ``n_samples``.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights between -1 and 1; about 0 for an uninformative feature, -1 for a constant one.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest; ``scores_`` is their mean. NaN for a
        label that all samples or no samples have.
    per_label_ : dict of int to ReliefF
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_ : int
        Only with ``n_features_to_select="auto"``: the number found.
    cv_results_ : dict of str to ndarray
        Only with ``n_features_to_select="auto"``: the table of `ilfs.selection.SizeCV`.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    References
    ----------
    .. [1] I. Kononenko, "Estimating Attributes: Analysis and Extensions of RELIEF", ECML 1994.
    .. [2] M. Robnik-Sikonja, I. Kononenko, "Theoretical and Empirical Analysis of ReliefF and RReliefF", Machine
       Learning 53, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import ReliefF
    >>> iris = load_iris()
    >>> selector = ReliefF(n_features_to_select=2).fit(iris.data, iris.target)
    >>> list(selector.get_feature_names_out(iris.feature_names))
    ['petal length (cm)', 'petal width (cm)']
    >>> selector.scores_.round(4)
    array([0.1399, 0.1226, 0.359 , 0.3754])
    """

    _takes_long = True
    _lowest = -1.0

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        n_neighbors: int = 10,
        n_samples: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by how they differ between neighbouring samples of different classes in y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN is a missing value. Scales do not matter: every feature is divided by its range.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        ReliefF
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        if rows.X.shape[0] ** 2 * rows.X.shape[1] < MIN_PARALLEL_COMPARISONS:
            rows = replace(rows, n_jobs=1)
        drawn = self._draw(rows.X.shape[0])
        with one_blas_thread():  # around everything: to set and lift the limit in every loop would take longer
            pairs, n_used = class_neighbours(
                rows,
                min(int(self.n_neighbors), rows.X.shape[0]),
                drawn,
                lambda blocks: self._steps(blocks, "block of samples"),
            )
            weights = feature_weights(rows, pairs, n_used)
        return Scores(weights, floor=FEATURE_WEIGHT_ROUNDING)

    def _average_labels(self, fitted: list[Self]) -> Scores:
        return replace(super()._average_labels(fitted), floor=FEATURE_WEIGHT_ROUNDING)

    def _draw(self, n: int) -> Integers:
        """Draw the samples whose neighbours are used; all of them by default."""
        if self.n_samples is None or self.n_samples == n:
            return np.arange(n)
        if self.n_samples > n:
            warn(f"n_samples={self.n_samples} exceeds the {n} samples of X: using all of them")
            return np.arange(n)
        drawn = check_random_state(self.random_state).choice(n, int(self.n_samples), replace=False)
        return np.sort(drawn).astype(np.int64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_neighbors", self.n_neighbors, 1)
        if self.n_samples is not None:
            check_integer("n_samples", self.n_samples, 1)


def pair_weights(rows: LabelledRows, pairs: Pairs, n_used: int) -> tuple[Floats, Floats]:
    """Return the weight of each pair as a hit and as a miss; one of the two is 0."""
    prior = rows.labels.class_rows / rows.labels.codes.size
    own, other = rows.labels.codes[pairs.first], rows.labels.codes[pairs.second]
    weight = pairs.weight / n_used
    # P(c) / (1 - P(c_i)) sums to 1 over the other classes c, so hits and misses of a sample have the same total weight.
    return np.where(own == other, weight, 0.0), np.where(own == other, 0.0, weight * prior[other] / (1 - prior[own]))


def feature_weights(rows: LabelledRows, pairs: Pairs, n_used: int) -> Floats:
    """Return the mean difference of the misses minus that of the hits, for every feature."""
    hits, misses = (weighted_pairs(pairs, weights) for weights in pair_weights(rows, pairs, n_used))
    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X

    # All pairs are known, so blocks of columns are independent of each other.
    def block_weights(columns: slice) -> Floats:
        block = read_only(dense_columns(X, columns))
        return mean_difference(block, *misses) - mean_difference(block, *hits)

    weights = np.concatenate(list(thread_map(block_weights, dense_column_blocks(X), rows.n_jobs)))
    return np.asarray(weights / (rows.high - rows.low))


def weighted_pairs(pairs: Pairs, weights: Floats) -> tuple[Integers, Integers, Floats]:
    """Select the pairs with nonzero weight, padded to a multiple of four.

    The kernel sums four pairs at a time. The padding is the first pair with weight 0.
    """
    nonzero = np.flatnonzero(weights)
    padding = np.zeros(-nonzero.size % 4, nonzero.dtype)
    index = np.append(nonzero, padding)
    return pairs.first[index], pairs.second[index], np.append(weights[nonzero], 0.0 * padding)


def mean_difference(block: Floats, first: Integers, second: Integers, weights: Floats) -> Floats:
    """Return the weighted sum of the differences over all pairs, for every column.

    Pairs with a missing value are left out, and the weights of the other pairs are scaled up to the same sum. If no
    pair is left, the result is 0.
    """
    from ilfs.kernels.manhattan import sum_differences, sum_present_differences

    total = np.zeros(block.shape[1])
    sum_differences(block, first, second, weights, total)
    if np.isnan(total).any():
        total, present_weight = np.zeros((2, block.shape[1]))
        sum_present_differences(block, first, second, weights, total, present_weight)
        np.divide(total, present_weight / weights.sum(), out=total, where=present_weight > 0)
    return total
