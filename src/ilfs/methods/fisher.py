r"""Fisher score.

A feature is good if the means of the classes lie far apart, measured by the spread within the classes. With
:math:`n_k`, :math:`\mu_k` and :math:`s_k^2` the size, mean and variance of the feature in class k, and :math:`\mu` its
mean,

.. math:: \frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k n_k s_k^2}

Reference: R. A. Fisher, *The Use of Multiple Measurements in Taxonomic Problems*, Annals of Eugenics 7, 1936; in this
form R. O. Duda, P. E. Hart, D. G. Stork, *Pattern Classification*, 2001.

Where we depart from the toolbox of the paper's authors, which computes
:math:`(\mu_1 - \mu_2)^2 / (s_1^2 + s_2^2)` for two classes only:

- Any number of classes; each counts by its size, so that the order is that of the F test. ``weighting="equal"`` is the
  toolbox's formula for two classes and, for more, the mean over pairs of classes above and below the fraction line.
- A feature that is constant in every class and not the same in all scores infinity and comes first. (The toolbox gives
  10,000 there, and 0 to any score above that, so that a nearly perfect feature comes last.) Several such features are
  ordered by the share of pairs of samples that they tell apart.
- A constant feature scores 0 and comes last, behind features whose class means are equal.
"""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.execution import Plan, ask
from ilfs.parameters import check_choice
from ilfs.selector import Scores, StatisticsSelector
from ilfs.statistics import Classes, ClassMoments, Moments
from ilfs.ties import UNIT_FLOOR
from ilfs.warn import warn


class FisherScore(StatisticsSelector):
    """Fisher score: distance of the class means over spread within the classes.

    Reads the data once and needs memory for three numbers a class and feature, whatever the number of samples. Missing
    cells (NaN) are left out one by one: a feature is described by the samples it has.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    weighting : {"size", "equal"}, default="size"
        How much a class counts. ``"size"``: by its number of samples; the order is that of the F test.
        ``"equal"``: all the same, with variances of n - 1 degrees of freedom; for two classes the squared difference
        of their means over the sum of their variances. A class of one sample then has a mean and no variance.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Fisher scores. Infinite for a feature that is constant in every class but not the same in all; 0 for one that
        says nothing: constant, or present in fewer than two classes.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    classes_ : ndarray of shape (n_classes,)
        The labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: the scores of each label against the rest, of which ``scores_`` is the mean;
        NaN for a label that all samples have, or none.
    per_label_ : dict of int to FisherScore
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

    References
    ----------
    .. [1] R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", 2nd edition, Wiley 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import FisherScore
    >>> wine = load_wine()
    >>> selector = FisherScore(n_features_to_select=3).fit(wine.data, wine.target)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['flavanoids', 'od280/od315_of_diluted_wines', 'proline']
    """

    _scores_columns_alone = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        weighting: Literal["size", "equal"] = "size",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.weighting = weighting
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Rank the features of X by how far apart the classes in y are.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels; or the
            name of the column of X that holds the classes.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts: weight 2 is the same as the row twice, weight 0 as no row. Relative weights
            should be scaled to a mean of 1.

        Returns
        -------
        FisherScore
            Itself, fitted.
        """
        return self._fit(X, y, sample_weight)

    def _plan(self, classes: Classes) -> Plan[Scores]:
        moments = (yield from ask(Moments())).checked()
        self.classes_ = classes.labels
        if not moments.informative.any():
            warn("no feature differs between samples of two classes: all scores are the same")
        between, within = (by_size if self.weighting == "size" else by_class)(moments)
        with np.errstate(over="ignore"):  # what is too large for a number is infinite
            scores = np.divide(between, within, out=np.where(between > 0, np.inf, 0.0), where=within > 0)
        return Scores(np.where(moments.informative, scores, 0.0), tie_break(moments, scores), floor=UNIT_FLOOR)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("weighting", self.weighting, ("size", "equal"))


def by_size(moments: ClassMoments) -> tuple[Floats, Floats]:
    """Scatter of the class means around the mean of all cells, and of the cells around their class mean."""
    count, offset = moments.count, moments.offset
    total = np.maximum(moments.total, np.finfo(np.float64).tiny)  # a column without cells
    mean = (count * offset).sum(axis=0) / total
    return (count * (offset - mean) ** 2).sum(axis=0), moments.scatter.sum(axis=0)


def by_class(moments: ClassMoments) -> tuple[Floats, Floats]:
    """Mean over pairs of classes of the squared difference of their means, and of the sum of their variances."""
    count, offset, scatter = moments.count, moments.offset, moments.scatter
    observed, spread = count > 0, (count > 1) | (scatter > 0)
    freedom = np.where(count > 1, count - 1, count)  # several samples may weigh less than one
    variance = np.divide(scatter, freedom, out=np.zeros_like(scatter), where=spread)
    n_means, n_variances = np.maximum(observed.sum(axis=0), 2), np.maximum(spread.sum(axis=0), 1)
    mean = offset.sum(axis=0) / n_means
    squares = np.where(observed, (offset - mean) ** 2, 0.0).sum(axis=0)
    return 2 * squares / (n_means - 1), 2 * variance.sum(axis=0) / n_variances


def tie_break(moments: ClassMoments, scores: Floats) -> Floats:
    """Share of pairs of samples that differ, for infinite scores; minus infinity for features that say nothing."""
    perfect = np.flatnonzero(np.isinf(scores))
    count, offset = moments.count[:, perfect], moments.offset[:, perfect]
    unequal = np.zeros(perfect.size)
    for one, here in zip(count, offset, strict=True):
        unequal += one * (count * (offset != here)).sum(axis=0)
    ties = np.where(moments.informative, 0.0, -np.inf)
    ties[perfect] = unequal / moments.total[perfect] ** 2
    return ties
