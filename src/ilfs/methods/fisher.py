r"""Fisher score.

A feature is good if its class means lie far apart compared with the spread within the classes. With :math:`n_k`,
:math:`\mu_k` and :math:`s_k^2` the size, mean and variance of the feature in class k, and :math:`\mu` its overall mean,
the score is

.. math:: \frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k n_k s_k^2}

Reference: R. A. Fisher, *The Use of Multiple Measurements in Taxonomic Problems*, Annals of Eugenics 7, 1936; in this
form R. O. Duda, P. E. Hart, D. G. Stork, *Pattern Classification*, 2001. The ILFS paper cites Q. Gu, Z. Li, J. Han,
*Generalized Fisher Score for Feature Selection*, UAI 2011, but describes and runs the score above, which rates every
feature alone; their generalised score selects a subset jointly and is `ilfs.GeneralizedFisherScore`.

Where we depart from the toolbox of the paper's authors, which computes
:math:`(\mu_1 - \mu_2)^2 / (s_1^2 + s_2^2)` for two classes only:

- Any number of classes is allowed. Each class is weighted by its size, which gives the order of the F test. With
  ``weighting="equal"`` the score is the toolbox's formula for two classes. For more classes, numerator and denominator
  are means over all pairs of classes.
- A feature that is constant within every class, but not over all classes, scores infinity and comes first. (The toolbox
  gives it 10,000 and sets any larger score to 0, so that a nearly perfect feature comes last.) Several such features
  are ordered by the fraction of pairs of samples that have different values.
- A constant feature scores 0 and comes last, behind features whose class means are equal.
"""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from ilfs.arrays import Floats
from ilfs.execution import Plan
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_choice
from ilfs.permutations import HasNull, makes_no_permutations
from ilfs.selector import Scores, StatisticsSelector
from ilfs.statistics import Classes, ClassMoments
from ilfs.ties import UNIT_FLOOR
from ilfs.warn import warn


class FisherScore(HasNull, StatisticsSelector):
    """Fisher score: variance between the classes divided by variance within the classes.

    The data are read once. Memory is three numbers for each class and feature and does not depend on the number of
    samples. Missing values (NaN) are ignored: each feature uses the samples in which it is present.

    Parameters
    ----------
    n_features_to_select : int, float, "fdr", "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"fdr"``: all
        features whose q-value is at most ``fdr``, which may be none; they need not be the first of ``order_``. This
        makes at least 20 permutations of the labels. ``"auto"``: the number is found by cross-validation of a linear
        SVM, for rows in memory (see `ilfs.selection.SizeCV`).
    weighting : {"size", "equal"}, default="size"
        Weight of each class. ``"size"``: the number of its samples, which gives the order of the F test. ``"equal"``:
        the same for all classes, with variances of n - 1 degrees of freedom; for two classes the score is the squared
        difference of the means divided by the sum of the variances. The mean of a class with one sample is used, and
        the class is left out of the mean variance.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    n_permutations : int, default=0
        Number of permutations of the labels, from which ``p_values_`` and the verdict ``is_better_than_chance_`` are
        computed; 0 for none. All permutations are computed in the same reads of the rows. A number below 1 / ``fdr`` is
        raised to it, with a warning, because no p-value could be small enough. Each takes the memory of a fit without
        permutations, and one byte a row (two for more than 256 classes).
    random_state : int, numpy.random.Generator or None, default=0
        Random numbers of the permutations. An integer gives the same permutations in every fit.
    fdr : float, default=0.05
        False discovery rate of ``n_features_to_select="fdr"``, and level of the verdict ``is_better_than_chance_``.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        and p-values are those without it. With ``"fdr"`` they are selected whatever their q-values.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Fisher scores. Infinite for a feature that is constant within every class, but not over all classes; 0 for an
        uninformative feature, which is constant or present in fewer than two classes.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest; ``scores_`` is their mean. NaN for a
        label that all samples or no samples have.
    per_label_ : dict of int to FisherScore
        If ``y`` is an indicator matrix: the fitted selector of each label.
    summary_ : Summary
        Only without permutations: statistics of the rows, to which ``partial_fit`` adds those of further rows.
    p_values_ : ndarray of shape (n_features,)
        Only with permutations: probability that the score of a feature without effect is as large as this one,
        estimated from the scores of all features under permuted labels; 1 for an uninformative feature. If ``y``
        is an indicator matrix: the smallest p-value over the labels, times the number of labels.
    q_values_ : ndarray of shape (n_features,)
        Only with permutations: smallest false discovery rate at which the feature is selected (Benjamini and Hochberg).
    chance_p_value_ : float
        Only with permutations: p-value of the mean of the ten largest scores, compared with that of each
        permutation. If ``y`` is an indicator matrix, these means are averaged over the labels.
    is_better_than_chance_ : bool
        Only with permutations: True if ``chance_p_value_`` is at most ``fdr``.
    n_permutations_ : int
        Only with permutations: their number.
    false_discovery_bound_ : float
        Only with ``n_features_to_select="fdr"``: upper bound on the proportion of false discoveries among the selected
        features, with a confidence of 95 % (`ilfs.null.false_discovery_bound`).
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
    .. [1] R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", 2nd edition, Wiley 2001.
    .. [2] Q. Gu, Z. Li, J. Han, "Generalized Fisher Score for Feature Selection", Uncertainty in Artificial
       Intelligence 2011, arXiv:1202.3725. The score of a subset is `GeneralizedFisherScore`.

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
        n_features_to_select: int | float | Literal["fdr", "auto"] | None = None,
        *,
        weighting: Literal["size", "equal"] = "size",
        n_jobs: int | None = None,
        n_permutations: int = 0,
        random_state: int | np.random.Generator | None = 0,
        fdr: float = 0.05,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.weighting = weighting
        self.n_jobs = n_jobs
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.fdr = fdr
        self.must_keep = must_keep

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Rank the features of X by how well they separate the classes in y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row: 2 has the same effect as repeating the row, 0 as leaving it out. Scale relative weights
            to a mean of 1.
        groups : array of shape (n_samples,), optional
            Group of each row, such as its donor or batch. Labels are permuted within groups only, and the rows of a
            group are in the same fold of the rule ``"auto"``. Used for nothing else.

        Returns
        -------
        FisherScore
            The fitted selector.
        """
        return self._fit(X, y, sample_weight, groups)

    @property
    def n_reads(self) -> int:
        """Number of reads of all rows that ``fit`` makes if they are not in memory: moments."""
        return 1

    @available_if(makes_no_permutations)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to those of earlier calls and rank the features by all of them.

        The result is that of ``fit`` on all rows so far, those of an earlier ``fit`` included; ``fit`` itself begins
        anew. Only statistics of the rows are kept, in ``summary_``. As long as there is only one class, the selector
        is not fitted. Not available with permutations, which need the rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Some rows, at least one; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            As for ``fit``. New classes may come with any call.
        classes : array of shape (n_classes,), optional
            All labels that may occur; another label in ``y`` is an error. By default any label may occur.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, as for ``fit``.

        Returns
        -------
        FisherScore
            The selector.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from ilfs import FisherScore
        >>> X, y = load_wine(return_X_y=True)
        >>> selector = FisherScore()
        >>> for start in range(0, 178, 50):
        ...     _ = selector.partial_fit(X[start : start + 50], y[start : start + 50])
        >>> selector.n_features_in_, selector.order_[:3].tolist()
        (13, [6, 12, 11])
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _plan(self, classes: Classes) -> Plan[Scores]:
        moments = yield from self._plan_moments(classes)
        self.classes_ = classes.labels
        if not moments.informative.any():
            warn("no feature differs between samples of two classes: all scores are the same")
        between, within = (by_size if self.weighting == "size" else by_class)(moments)
        with np.errstate(over="ignore"):  # a quotient that overflows is a score of infinity
            scores = np.divide(between, within, out=np.where(between > 0, np.inf, 0.0), where=within > 0)
        return Scores(np.where(moments.informative, scores, 0.0), tie_break(moments, scores), floor=UNIT_FLOOR)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("weighting", self.weighting, ("size", "equal"))


def by_size(moments: ClassMoments) -> tuple[Floats, Floats]:
    """Return the scatter between the classes and the scatter within the classes, weighted by class size."""
    count, offset = moments.count, moments.offset
    total = np.maximum(moments.total, np.finfo(np.float64).tiny)  # avoid 0 / 0 in a column without values
    mean = (count * offset).sum(axis=0) / total
    return (count * (offset - mean) ** 2).sum(axis=0), moments.scatter.sum(axis=0)


def by_class(moments: ClassMoments) -> tuple[Floats, Floats]:
    """Return the mean squared difference of two class means and the mean sum of two class variances.

    Both are means over all pairs of classes. The sum of (a_i - a_j)^2 over pairs of K numbers is K times their scatter
    around the mean, so the mean over the K (K - 1) / 2 pairs is 2 / (K - 1) times the scatter: no loop over pairs.
    """
    count, offset, scatter = moments.count, moments.offset, moments.scatter
    observed, spread = count > 0, (count > 1) | (scatter > 0)
    freedom = np.where(count > 1, count - 1, count)  # with weights, the sum of several samples may be below 1
    variance = np.divide(scatter, freedom, out=np.zeros_like(scatter), where=spread)
    n_means, n_variances = np.maximum(observed.sum(axis=0), 2), np.maximum(spread.sum(axis=0), 1)
    mean = offset.sum(axis=0) / n_means
    squares = np.where(observed, (offset - mean) ** 2, 0.0).sum(axis=0)
    return 2 * squares / (n_means - 1), 2 * variance.sum(axis=0) / n_variances


def tie_break(moments: ClassMoments, scores: Floats) -> Floats:
    """Return the secondary criterion that orders features with the same score.

    It is the fraction of pairs of samples with different values for features with an infinite score, minus infinity for
    uninformative features and 0 for all others.
    """
    perfect = np.flatnonzero(np.isinf(scores))
    count, offset = moments.count[:, perfect], moments.offset[:, perfect]
    # These features are constant within each class, so two samples differ exactly if the means of their classes do.
    unequal = np.zeros(perfect.size)
    for one, here in zip(count, offset, strict=True):
        unequal += one * (count * (offset != here)).sum(axis=0)
    ties = np.where(moments.informative, 0.0, -np.inf)
    ties[perfect] = unequal / moments.total[perfect] ** 2
    return ties
