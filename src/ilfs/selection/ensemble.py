r"""Several rankings combined to one.

The rankings come from several methods, from bootstrap samples of the rows, or both. With :math:`L` rankings and
:math:`r_{ij}` the rank of feature :math:`j` among :math:`n` features in ranking :math:`i`, 1 for the best, a feature is
scored by

.. math:: -\frac1L \sum_i r_{ij} \ \text{("mean\_rank")}, \qquad \sum_i (n - r_{ij}) \ \text{("borda")}, \qquad
          -\log_{10} p_j \ \text{("robust")}.

Robust rank aggregation (Kolde, Laur, Adler and Vilo, Robust rank aggregation for gene list integration and
meta-analysis, Bioinformatics 28, 2012) compares the ranks of a feature with those of a random order. Let
:math:`u_{(1)} \le \dots \le u_{(L)}` be its sorted ranks divided by :math:`n`. For independent random rankings, the
:math:`k`-th smallest of :math:`L` uniform numbers is at most :math:`u_{(k)}` with probability

.. math:: \beta_k = P\big(\mathrm{Beta}(k, L - k + 1) \le u_{(k)}\big), \qquad
          \rho_j = \min_k \beta_k, \qquad p_j = \min(1, L\,\rho_j).

So a feature that is near the top in some of the rankings has a small p-value, wherever it is in the others.

Mean rank and Borda count always give the same order here, because every ranking has all features and no ties. They
differ in scale: a Borda count is the number of features that a feature beats.

The formulas are those of the paper. But its p-values assume independent rankings. Methods that see the same rows, and
bootstrap samples of them, are not independent, so the p-values are too small as tests: they say how much the rankings
agree, not that a feature depends on the class.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from sklearn.utils import check_random_state
from sklearn.utils.parallel import delayed

from ilfs.arrays import Floats, Integers
from ilfs.cross_validation import fitted_order, seed_of
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_choice, check_integer
from ilfs.selection.parallel import results_in_order
from ilfs.selection.wrapping import WrapsSelectors, as_selector, ranking_of
from ilfs.selector import Scores
from ilfs.sources import TableSource
from ilfs.ties import UNIT_FLOOR

Aggregate = Literal["mean_rank", "borda", "robust"]
TINY = float(np.finfo(np.float64).tiny)  # smallest p-value whose logarithm is taken


class RankEnsemble(WrapsSelectors):
    """Meta-selector that combines the rankings of several methods, or of bootstrap samples of the rows.

    All rows must be in memory.

    Parameters
    ----------
    selectors : estimator, str or list of them
        Selectors that have ``order_``, ``ranking_`` or ``scores_`` after fitting, or names of methods such as
        ``"fisher"``. A single one needs ``n_bootstraps``.
    aggregate : {"mean_rank", "borda", "robust"}, default="mean_rank"
        Score of a feature: minus its mean rank; its Borda count, the number of features that it beats, summed over the
        rankings; or ``-log10`` of its p-value by robust rank aggregation, which is large if the feature is near the top
        in some of the rankings. Mean rank and Borda count give the same order.
    n_bootstraps : int, optional
        Fit every selector on this many bootstrap samples, in which rows are drawn with replacement within each class.
        None fits every selector once, on all rows.
    random_state : int, numpy.random.Generator, RandomState instance or None, default=0
        Seed of the bootstrap samples.
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"auto"``: the
        number is found by cross-validation of a linear SVM (see `SizeCV`), if a selector reads labels.
    n_jobs : int, default=None
        Number of fits that are computed at the same time, in processes; the result does not depend on it. None means 1
        unless in a `joblib.parallel_config` context, -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better; see ``aggregate``.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best. Ties are broken by the mean rank, then by column.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    rankings_ : ndarray of shape (n_rankings, n_features)
        Rank of each feature in each ranking: all bootstrap samples of the first selector, then those of the second, and
        so on.
    p_values_ : ndarray of shape (n_features,)
        Only with ``aggregate="robust"``: p-values for the hypothesis that all rankings are random and independent,
        corrected for the number of rankings, but not for the number of features. Rankings of the same rows are not
        independent, so these are measures of agreement rather than tests.
    n_features_ : int
        Only with ``n_features_to_select="auto"``: the number found.
    cv_results_ : dict of str to ndarray
        Only with ``n_features_to_select="auto"``: the table of `ilfs.selection.SizeCV`.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs.selection import RankEnsemble
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ensemble = RankEnsemble(["fisher", "mi", "relieff"], aggregate="robust").fit(X, y)
    >>> list(X.columns[ensemble.order_[:3]])
    ['worst perimeter', 'worst radius', 'worst concave points']
    >>> ensemble.rankings_[:, ensemble.order_[0]]
    array([2, 1, 3])
    """

    _takes_long = True

    def __init__(
        self,
        selectors: Any,
        *,
        aggregate: Aggregate = "mean_rank",
        n_bootstraps: int | None = None,
        random_state: Any = 0,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.selectors = selectors
        self.aggregate = aggregate
        self.n_bootstraps = n_bootstraps
        self.random_state = random_state
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Rank the features by each selector, and combine the rankings.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Data in any form that all selectors accept, in memory.
        y : array of shape (n_samples,) or (n_samples, n_labels), optional
            Class of every sample, or an indicator matrix. Not needed if no selector reads labels.
        **fit_params : dict
            ``sample_weight``, the weight of each row, if all selectors support it.

        Returns
        -------
        RankEnsemble
            The fitted selector.
        """
        if unknown := sorted(set(fit_params) - {"sample_weight"}):
            raise TypeError(f"fit takes X, y and sample_weight, got {unknown[0]!r}")
        return self._fit(X, y, fit_params.get("sample_weight"))

    def _score_source(self, source: TableSource) -> Scores:
        table = self._samples(source)
        X, y, weight = table.X, source.y, table.weight
        samples = bootstraps(y, X.shape[0], self.n_bootstraps, self.random_state) if self.n_bootstraps else [None]
        fits = [(selector, rows) for selector in self._to_fit() for rows in samples]
        tasks = (delayed(order_on_rows)(selector, X, y, weight, rows) for selector, rows in fits)
        with results_in_order(tasks, self.n_jobs) as orders:
            self.rankings_ = np.array([ranking_of(one) for one in self._steps(orders, "ranking", len(fits))])
        return self._combine(self.rankings_)

    # Every selector handles an indicator matrix in its own way.
    _score_labels = _score_source

    def _combine(self, rankings: Integers) -> Scores:
        """Score the features by all rankings."""
        mean_rank = rankings.mean(axis=0)
        if self.aggregate == "robust":
            self.p_values_ = robust_p_values(rankings)
            values = -np.log10(np.maximum(self.p_values_, TINY))
            return Scores(values, -mean_rank, floor=UNIT_FLOOR)
        return Scores(-mean_rank if self.aggregate == "mean_rank" else borda_counts(rankings), floor=UNIT_FLOOR)

    def _wrapped(self) -> list[Any]:
        given = self.selectors if isinstance(self.selectors, Sequence | np.ndarray) else [self.selectors]
        listed = [self.selectors] if isinstance(self.selectors, str) else list(given)
        return [as_selector(one, "each of the selectors") for one in listed]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("aggregate", self.aggregate, ("mean_rank", "borda", "robust"))
        if self.n_bootstraps is not None:
            check_integer("n_bootstraps", self.n_bootstraps, 2)
        n_selectors = len(self._wrapped())
        if n_selectors < (2 if self.n_bootstraps is None else 1):
            raise ValueError(
                f"selectors must be at least two, or one with n_bootstraps, got {n_selectors} and "
                f"n_bootstraps={self.n_bootstraps}"
            )


def bootstraps(y: NDArray[Any] | None, n_rows: int, n_bootstraps: int, random_state: Any) -> list[Integers | None]:
    """Draw rows with replacement, as many as there are; with labels, as many of each class as there are."""
    random = check_random_state(seed_of(random_state))
    if y is None or y.ndim == 2:
        return [random.randint(n_rows, size=n_rows) for _ in range(n_bootstraps)]
    members = [np.flatnonzero(y == label) for label in np.unique(y)]
    return [np.sort(np.concatenate([random.choice(rows, rows.size) for rows in members])) for _ in range(n_bootstraps)]


def order_on_rows(selector: Any, X: Any, y: Any, weight: Floats | None, rows: Integers | None) -> Integers:
    """Order the columns by a selector that is fitted on some rows, or on all if they are None."""
    X, y, weight = (one if one is None or rows is None else one[rows] for one in (X, y, weight))
    return fitted_order(selector, X, y, {} if weight is None else {"sample_weight": weight})[1]


def borda_counts(rankings: Integers) -> Floats:
    """Count the features that each feature beats, summed over the rankings.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection.ensemble import borda_counts
    >>> borda_counts(np.array([[1, 2, 3], [2, 1, 3]]))
    array([3., 3., 0.])
    """
    return np.asarray((rankings.shape[1] - rankings).sum(axis=0), dtype=np.float64)


def robust_p_values(rankings: Integers) -> Floats:
    """Compute the p-values of robust rank aggregation.

    Parameters
    ----------
    rankings : ndarray of shape (n_rankings, n_features)
        Rank of each feature in each ranking, 1 for the best.

    Returns
    -------
    ndarray of shape (n_features,)
        Smallest p-value of the order statistics of the ranks, times the number of rankings, at most 1.

    Examples
    --------
    Ranks 1 and 2 of 4 are 0.25 and 0.5 as fractions. The smaller of two uniform numbers is at most 0.25 with
    probability 1 - 0.75 ** 2 = 0.4375, the larger is at most 0.5 with probability 0.5 ** 2 = 0.25.

    >>> import numpy as np
    >>> from ilfs.selection.ensemble import robust_p_values
    >>> robust_p_values(np.array([[1, 2, 3, 4], [2, 1, 3, 4]]))
    array([0.5, 0.5, 1. , 1. ])
    """
    n_rankings, n_features = rankings.shape
    fractions = np.sort(rankings, axis=0) / n_features
    k = np.arange(1, n_rankings + 1)[:, None]
    rho = betainc(k, n_rankings - k + 1, fractions).min(axis=0)
    return np.asarray(np.minimum(1.0, n_rankings * rho))
