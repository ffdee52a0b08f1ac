r"""ReliefF.

Look at every sample and its nearest others of each class. A feature is good if it differs from the near samples of
other classes (misses) and not from the near ones of its own (hits); since nearness is measured in all features
together, it sees features that matter only jointly.

.. math::

    w_f = \frac1m \sum_i \Big[ \sum_{c \ne c_i} \frac{P(c)}{1 - P(c_i)}\; \overline{\mathrm{diff}}_f(i, M_c(i))
        - \overline{\mathrm{diff}}_f(i, H(i)) \Big],
    \qquad \mathrm{diff}_f(i, j) = \frac{|x_{if} - x_{jf}|}{\max_f - \min_f}

H(i) are the k nearest samples of the same class, M_c(i) those of class c, the bar is their mean, and nearness is the
sum of diff over all features.

Reference: I. Kononenko, *Estimating Attributes: Analysis and Extensions of RELIEF*, ECML 1994; M. Robnik-Sikonja,
I. Kononenko, *Theoretical and Empirical Analysis of ReliefF and RReliefF*, Machine Learning 53, 2003.

Where we depart:

- Samples that tie for the last of the k places share them, each counting as a fraction of a neighbour. So neither the
  order of the rows nor the names of the classes matter, and the weights published for iris (k = 10) come out to all
  four digits. Distances that differ by no more than 1e-9 of the larger one, or 1e-12 of the largest possible one, are
  equal.
- A class with fewer than k other samples gives what it has, and the mean is over those. A sample that is alone in its
  class has no hits.
- Missing cells are left out: the distance of two samples is the mean over the features that both have, times the number
  of features, and the means over hits and misses of a feature are over the pairs that have it. (Kononenko puts
  probabilities of values in their place, which needs discrete features.)
- All samples are used unless ``n_samples`` says otherwise, and then they are drawn without replacement. Rows are drawn
  by their position, so that only then the order of the rows matters.
- The authors' toolbox calls MATLAB's function with numbers for labels, which is RReliefF, for regression; this is
  ReliefF, for classes.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows, thread_map
from ilfs.execution.columns import dense_column_blocks
from ilfs.neighbours import Pairs, class_neighbours, scaled_columns
from ilfs.parameters import check_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.warn import warn

SERIAL_WORK = 10**8  # comparisons up to which threads cost more than they save
ROUNDING = 1e-12  # of weights, which are differences of sums that are at most 1


class ReliefF(SupervisedRowsSelector):
    """ReliefF: features that tell near samples of different classes apart.

    For m samples, n features and k neighbours in each of K classes it takes m^2 n / 2 comparisons for the distances, in
    float32 with an error bound, and O(m n k K) for the rest. The peak of memory is a float32 copy of X, about 40 (k +
    8) K m bytes for the neighbours and 50 MB a thread; sparse X with less than a tenth of its cells stored is not made
    dense. Never an m x m matrix.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    n_neighbors : int, default=10
        Nearest samples looked at in each class. Few: sharp and noisy; many: smooth, and blind to what only neighbours
        show.
    n_samples : int, optional
        How many samples to look at, drawn without replacement; all by default. Neighbours are looked for among all.
        Rows are drawn by their position: if the rows are given in another order, other samples are drawn.
    random_state : int, RandomState instance or None, default=None
        Which samples are drawn; used only with ``n_samples``.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights between -1 and 1; about 0 for a feature that says nothing, -1 for a constant one.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    classes_ : ndarray of shape (n_classes,)
        The labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: the scores of each label against the rest, of which ``scores_`` is the mean;
        NaN for a label that all samples have, or none.
    per_label_ : dict of int to ReliefF
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

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
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 10,
        n_samples: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by how they tell near samples of different classes in y apart.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN is a missing cell. Scales do not matter: every feature is divided by its range.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        ReliefF
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        if rows.X.shape[0] ** 2 * rows.X.shape[1] < SERIAL_WORK:
            rows = replace(rows, n_jobs=1)
        drawn = self._draw(rows.X.shape[0])
        pairs, n_used = class_neighbours(
            rows,
            min(int(self.n_neighbors), rows.X.shape[0]),
            drawn,
            lambda pieces: self._steps(pieces, "block of samples"),
        )
        return Scores(feature_weights(rows, pairs, n_used), floor=ROUNDING)

    def _average_labels(self, fitted: list[Self]) -> Scores:
        return replace(super()._average_labels(fitted), floor=ROUNDING)

    def _draw(self, n: int) -> Integers:
        """The samples to look at."""
        if self.n_samples is None or self.n_samples == n:
            return np.arange(n)
        if self.n_samples > n:
            warn(f"n_samples={self.n_samples} is more than the {n} samples of X: all are used")
            return np.arange(n)
        drawn = check_random_state(self.random_state).choice(n, int(self.n_samples), replace=False)
        return np.sort(drawn).astype(np.int64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_neighbors", self.n_neighbors, 1)
        if self.n_samples is not None:
            check_integer("n_samples", self.n_samples, 1)


def weights_of_pairs(rows: LabelledRows, pairs: Pairs, n_used: int) -> tuple[Floats, Floats]:
    """How much each pair counts as a hit and as a miss; one of the two is 0."""
    prior = rows.labels.class_rows / rows.labels.codes.size
    own, other = rows.labels.codes[pairs.first], rows.labels.codes[pairs.second]
    share = pairs.weight / n_used
    return np.where(own == other, share, 0.0), np.where(own == other, 0.0, share * prior[other] / (1 - prior[own]))


def feature_weights(rows: LabelledRows, pairs: Pairs, n_used: int) -> Floats:
    """Mean difference of the misses minus that of the hits, for every feature."""
    hits, misses = (only(pairs, weights) for weights in weights_of_pairs(rows, pairs, n_used))
    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X

    def of_part(columns: slice) -> Floats:
        part = scaled_columns(X, rows, columns)
        return mean_difference(part, *misses) - mean_difference(part, *hits)

    return np.concatenate(list(thread_map(of_part, dense_column_blocks(X), rows.n_jobs)))


def only(pairs: Pairs, weights: Floats) -> tuple[Integers, Integers, Floats]:
    """The pairs that have weight, filled up to fours with the first pair at weight 0."""
    some = np.flatnonzero(weights)
    fill = np.zeros(-some.size % 4, some.dtype)
    index = np.append(some, fill)
    return pairs.first[index], pairs.second[index], np.append(weights[some], 0.0 * fill)


def mean_difference(part: Floats, first: Integers, second: Integers, weights: Floats) -> Floats:
    """Weighted sum over the pairs of the scaled difference, for every column.

    Of a column that some pairs lack, the other pairs count so much more; with no pair at all it is 0.
    """
    from ilfs.kernels.manhattan import sum_differences, sum_present_differences

    total, weighed = np.zeros((2, part.shape[1]))
    if not np.isnan(part.sum()):
        sum_differences(part, first, second, weights, total)
    else:
        sum_present_differences(part, first, second, weights, total, weighed)
        np.divide(total, weighed / weights.sum(), out=total, where=weighed > 0)
    return total
