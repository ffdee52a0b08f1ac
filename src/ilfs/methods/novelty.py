r"""Redundancy removal for any feature selection method.

A method that scores every feature on its own selects the same information several times if features repeat each other.
`Novelty` takes the scores of such a method as relevance and picks features one at a time. The next pick is the feature
with the largest value of

.. math:: \text{relevance}_j\,\big(1 - \max_{i \in S} \rho_{ij}^2\big), \qquad
          \text{relevance}_j = \max\Big(0, \frac{s_j - \operatorname{median} s}{\max s - \operatorname{median} s}\Big)

with :math:`S` the features picked so far, :math:`\rho` the correlation of two features and :math:`s` the scores of the
method. `ILFS` does the same with ``redundancy="novelty"``, so that methods can be compared on equal terms. There is one
difference: `ILFS` also balances the classes in the correlations, whereas here all samples have the same weight, as in
most methods. With ``redundancy="gain"``, both balance the classes.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, get_tags

from ilfs.arrays import Floats, Integers
from ilfs.candidates import pick_from_pool
from ilfs.execution import Plan, Read, both, fold_of, refuse_missing, run_plan
from ilfs.fitted import scores_of
from ilfs.must_keep import MustKeep
from ilfs.redundancy import (
    NO_COLUMNS,
    FeatureStatistics,
    PickedSubset,
    PicksSubsets,
    Redundancy,
    association_with_labels,
    check_redundancy,
    most_relevant,
    pick,
)
from ilfs.selector import PlannedSelector, RankingSelector, Scores
from ilfs.sources import TableSource, table_source
from ilfs.statistics import Association, Classes, ClassMoments, Moments
from ilfs.statistics.moments import UnusableColumnError
from ilfs.validation import check_columns, check_in_memory, check_labels, check_n_jobs, check_weight, column_names


class Novelty(PicksSubsets):
    """Meta-selector that removes redundancy from the features of another method.

    In addition to the cost of the other method, the rows are read once for the moments and once for the products of all
    pairs of candidates, and n_candidates^2 numbers are stored.

    Parameters
    ----------
    selector : estimator or callable
        Method that gives the relevance of the features: a selector of this package; any estimator that has ``scores_``,
        ``feature_importances_``, ``coef_`` or ``ranking_`` after fitting; or a function of ``(X, y)`` such as
        scikit-learn's ``f_classif``.
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"auto"``: the
        number is found by cross-validation of a linear SVM, for rows in memory (see `ilfs.selection.SizeCV`);
        not for an unsupervised selector.
    redundancy : {"novelty", "gain"}, default="novelty"
        Criterion of the next pick. ``"novelty"``: relevance times the fraction of the variance of the feature that the
        nearest picked feature does not explain. ``"gain"``: decrease of the loss of a ridge regression of the classes
        on the picked features, as in `ILFS`; the relevance then only determines the candidates.
    n_candidates : int or None, default=1000
        Number of features to pick from, by relevance (see `ILFS` for an exception with ``redundancy="gain"``); None
        means all features.
    n_jobs : int, default=None
        Number of threads for moments and products; the result does not depend on it. None means 1 unless in a
        `joblib.parallel_config` context, -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They are candidates, and are picked first, best
        first. The next pick is the best one given all of them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        For picked features, the criterion as a fraction of that of the first pick, never more than that of the pick
        before: from 1 down to 0. All other features have scores from 0 down to -1, by relevance. With ``must_keep``,
        fractions are those of the criterion of the best candidate alone, as in `ILFS`.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    selector_ : estimator or callable
        The fitted selector, or the function.
    relevance_ : ndarray of shape (n_features,)
        Scores of the features by this selector.
    candidates_ : ndarray of shape (n_candidates,)
        Column indices of the candidates, most relevant first.
    novelty_ : ndarray of shape (n_features,)
        Fraction of the variance that the nearest feature picked before does not explain: 1 for the first pick, 0 for a
        copy; NaN if the feature is not a candidate.
    nearest_ : ndarray of shape (n_features,)
        Column index of the nearest feature: the most correlated one among those picked before. -1 for the first pick,
        for a feature that is uncorrelated with all picks before it, and for features that are not candidates.
    nearest_correlation_ : ndarray of shape (n_features,)
        Correlation with the nearest feature; NaN if there is none.
    gain_ : ndarray of shape (n_features, n_classes)
        Only with ``redundancy="gain"``: decrease of the loss of each class when the feature was picked, as a fraction
        of the variance of the class.
    per_label_ : dict of int to Novelty
        If ``y`` is an indicator matrix: the fitted selector of each label. ``relevance_`` is then the mean over the
        labels, and features are picked by this mean, or by their gain for all labels together.
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest. NaN for a label that all samples or no
        samples have.
    n_features_ : int
        Only with ``n_features_to_select="auto"``: the number found.
    cv_results_ : dict of str to ndarray
        Only with ``n_features_to_select="auto"``: the table of `ilfs.selection.SizeCV`.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    See Also
    --------
    novel_order : Order of the features for relevances that are already known.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import FisherScore, Novelty
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(FisherScore(3).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst perimeter', 'worst concave points']
    >>> list(Novelty(FisherScore(), 3).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst radius', 'worst concave points']
    """

    def __init__(
        self,
        selector: Any,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        redundancy: Redundancy = "novelty",
        n_candidates: int | None = 1000,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.redundancy = redundancy
        self.n_candidates = n_candidates
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    # Declares sample_weight for scikit-learn's metadata routing. The signature cannot name it, because support for
    # weights depends on the wrapped selector.
    __metadata_request__fit: ClassVar = {"sample_weight": None}

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Rank the features of X by relevance and redundancy.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Data in any form that the selector accepts.
        y : array of shape (n_samples,) or (n_samples, n_labels), optional
            Class of every sample, or an indicator matrix. Not needed if the selector is unsupervised and redundancy is
            ``"novelty"``.
        **fit_params : dict
            ``sample_weight``, the weight of each row, if the selector supports it.

        Returns
        -------
        Novelty
            The fitted selector.
        """
        if unknown := sorted(set(fit_params) - {"sample_weight"}):
            raise TypeError(f"fit takes X, y and sample_weight, got {unknown[0]!r}")
        return self._fit(X, y, fit_params.get("sample_weight"))

    def _score_source(self, source: TableSource) -> Scores:
        fold = fold_of(source, self.n_jobs)
        if self._prefers_statistics:
            return self._score_fold(fold)
        # Moments come first: errors in the table are reported in our words, before the selector sees it.
        statistics = FeatureStatistics(fold(Moments()).checked())
        self._find_relevance(source)
        return run_plan(self._plan_scores(fold.classes, statistics), fold)

    def _find_relevance(self, source: TableSource) -> None:
        """Fit the selector, or call the function, on a table in memory."""
        X, weight = source.to_matrix(), source.sample_weight
        if not self._takes_missing:
            refuse_missing(X if weight is None else X[weight > 0])
        if source.labellings:
            self.classes_ = source.labellings[0].labels
        self.selector_, self.relevance_ = relevance_by(self._with_positions(self.selector), X, source.y, weight)
        if self.relevance_.shape != (X.shape[1],):
            raise ValueError(
                f"selector must give a score for each of the {X.shape[1]} features, got shape {self.relevance_.shape}"
            )

    def _score_labels(self, source: TableSource) -> Scores:
        fold = fold_of(source, self.n_jobs)
        if self._prefers_statistics:
            return self._score_fold(fold)
        super()._score_labels(source)
        self._average_relevance(list(self.per_label_.values()))
        statistics = fold.read([Read(Moments(), labelling=label) for label in self.per_label_])
        labels = {label: source.labellings[label] for label in self.per_label_}
        return run_plan(self._plan_joint_scores(labels, list(map(FeatureStatistics, statistics)), fold.all_rows), fold)

    @property
    def n_reads(self) -> int:
        """Number of reads of all rows that ``fit`` makes if they are not in memory: those of the selector, products."""
        return int(self.selector.n_reads) + 1

    def _plan_relevance(self, classes: Classes) -> Plan[FeatureStatistics]:
        inner = clone(self.selector)
        moments, self.selector_ = yield from both(self._plan_moments(classes), inner._plan_fit(classes, self))
        self.classes_ = classes.labels
        self.relevance_ = relevance_of(self.selector_)
        return FeatureStatistics(moments)

    def _plan_scores(self, classes: Classes, statistics: FeatureStatistics) -> Plan[Scores]:
        balance = classes.balance if self.redundancy == "gain" else None
        moments = statistics.moments
        return self._plan_picks(
            classes,
            moments,
            lambda columns: Association.from_moments(moments.of_columns(columns), balance, classes.total),
        )

    def _plan_joint_scores(
        self, labels: Mapping[int, Classes], statistics: Sequence[FeatureStatistics], all_rows: Classes
    ) -> Plan[Scores]:
        moments = [of_label.moments for of_label in statistics]
        return self._plan_picks(
            all_rows,
            moments[0],
            lambda columns: association_with_labels([one.of_columns(columns) for one in moments], labels.values()),
            tuple(labels),
        )

    def _plan_picks(
        self,
        classes: Classes,
        moments: ClassMoments,
        associate: Callable[[Integers], Association],
        labelling: int | tuple[int, ...] = 0,
    ) -> Plan[Scores]:
        subset = yield from picked(
            self.relevance_,
            classes,
            moments,
            associate,
            self.redundancy,
            self.n_candidates,
            labelling,
            self._forced(),
        )
        return self._keep_subset(subset)

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        """Validate the labels. Selectors of other packages get them even if their tags do not require labels."""
        if y is None or (isinstance(self.selector, RankingSelector) and not self._reads_labels):
            return super()._labels(y, n_samples)
        # A selector of this package that is fitted on the table warns by itself if labels look like a quantity.
        warns_itself = getattr(self.selector, "_reads_labels", False) and not self._prefers_statistics
        return check_labels(y, n_samples, quantities=not warns_itself)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_redundancy(self.redundancy, self.n_candidates)
        if isinstance(self.selector, type) or not (callable(self.selector) or hasattr(self.selector, "fit")):
            raise ValueError(f"selector must be an estimator or a function of (X, y), got {self.selector!r}")

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {"relevance": self.relevance_} | super()._more_columns(names)

    # Support for sparse tables, missing values and streams depends on the wrapped selector.
    @property
    def _streams(self) -> bool:  # type: ignore[override]
        return isinstance(self.selector, PlannedSelector) and self.selector._streams

    @property
    def _prefers_statistics(self) -> bool:  # type: ignore[override]
        return self._streams and self.selector._prefers_statistics

    @property
    def _title(self) -> str:
        return name_of(self.selector)

    @property
    def _tags(self) -> Any:
        return get_tags(self.selector) if isinstance(self.selector, BaseEstimator) else None

    @property
    def _reads_labels(self) -> bool:  # type: ignore[override]
        reads = self._tags is None or getattr(self.selector, "_reads_labels", self._tags.target_tags.required)
        return self.redundancy == "gain" or bool(reads)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return self._tags is None or bool(self._tags.input_tags.sparse)

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return self._tags is not None and bool(self._tags.input_tags.allow_nan)


def novel_order(
    relevance: ArrayLike,
    X: Any,
    *,
    n_candidates: int | None = 1000,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Integers:
    """Order features by relevance times novelty, best first.

    Parameters
    ----------
    relevance : array of shape (n_features,)
        Relevance of each feature; larger is better, NaN if unknown. If X is a data frame, a series indexed by the
        column names may be in any order.
    X : array, data frame or sparse matrix of shape (n_samples, n_features)
        Numbers; NaN is a missing value.
    n_candidates : int or None, default=1000
        Number of most relevant features to pick from; the others follow by relevance. None means all features.
    sample_weight : array of shape (n_samples,), optional
        Weight of each row.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_features,)
        Column indices, best first.

    Examples
    --------
    >>> from ilfs import novel_order
    >>> X = [[0, 0, 1, 3, 1, 0], [1, 1, 0, 3, 2, 0], [2, 2, 1, 9, 3, 1], [3, 3, 0, 3, 9, 1], [4, 5, 1, 3, 4, 0]]
    >>> novel_order([0.9, 0.8, 0.7, 0.1, 0.1, 0.0], X)  # the second column nearly repeats the first
    array([0, 2, 1, 3, 4, 5])
    """
    check_redundancy("novelty", n_candidates)
    check_n_jobs(n_jobs)
    check_in_memory(X)
    names = column_names(X)
    X = checked_table(X)
    values = check_relevance(relevance, X.shape[1], names)
    fold = fold_of(table_source(X, sample_weight=check_weight(sample_weight, X.shape[0])), n_jobs)
    try:
        moments = fold(Moments()).checked()
    except UnusableColumnError as error:
        name = error.column if names is None else repr(names[error.column])
        raise ValueError(f"column {name} of X {error.reason}") from None

    def associate(columns: Integers) -> Association:
        return Association.from_moments(moments.of_columns(columns))

    plan = picked(values, fold.classes, moments, associate, "novelty", n_candidates)
    return run_plan(plan, fold).scores.order()


def checked_table(X: Any) -> Any:
    """Validate type and shape of X; infinite values are found later, when the rows are read."""
    return check_array(
        check_columns(X),
        accept_sparse=("csc", "csr"),
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=2,
        input_name="X",
    )


def check_relevance(relevance: Any, n_features: int, names: list[Any] | None = None) -> Floats:
    """Validate the relevances; a series whose index has the column names is brought to the order of the columns."""
    named: Any = getattr(relevance, "index", None)
    if names is not None and hasattr(named, "get_indexer") and named.is_unique and set(named) == set(names):
        relevance = relevance.loc[names]
    try:
        values = np.asarray(relevance, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"relevance must be a number for each column of X, got {relevance!r}") from None
    if values.shape != (n_features,):
        raise ValueError(
            f"relevance must have shape ({n_features},), a number for each column of X, got {values.shape}"
        )
    return values


def picked(
    relevance: Floats,
    classes: Classes,
    moments: ClassMoments,
    associate: Callable[[Integers], Association],
    how: Redundancy,
    n_candidates: int | None,
    labelling: int | tuple[int, ...] = 0,
    forced: Integers = NO_COLUMNS,
) -> Plan[PickedSubset]:
    """Pick a subset of features by given relevances; ``associate`` computes the association of the candidates."""
    usable = ~moments.constant & ~np.isnan(relevance) & (relevance > -np.inf)
    relevance = finite(np.where(usable, relevance, 0.0))

    def pick_from(candidates: Integers) -> Plan[PickedSubset]:
        association = associate(candidates)
        return pick(how, classes, relevance, usable, candidates, association, labelling=labelling, forced=forced)

    order = most_relevant(relevance, usable, None)
    return pick_from_pool(how, pick_from, order, n_candidates, classes, associate, forced)


def finite(relevance: Floats) -> Floats:
    """Replace infinite relevances, which an F statistic may have, by max + (max - min) of the finite ones."""
    limited = np.isfinite(relevance)
    if limited.all():
        return relevance
    low, high = (relevance[limited].min(), relevance[limited].max()) if limited.any() else (0.0, 0.0)
    return np.where(limited, relevance, high + (high - low or 1.0))


def relevance_by(selector: Any, X: Any, y: NDArray[Any] | None, weight: Floats | None) -> tuple[Any, Floats]:
    """Fit the selector or call the function; return it and the relevance of every feature."""
    if weight is not None and not takes_weight(selector):
        raise TypeError(f"sample_weight needs a selector that supports it, {name_of(selector)} does not")
    if not hasattr(selector, "fit"):
        return selector, scores_by(selector, X, y)
    fitted = clone(selector)
    fitted.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
    return fitted, relevance_of(fitted)


def relevance_of(fitted: Any) -> Floats:
    """Return the relevances or scores of a fitted selector."""
    scores = fitted.relevance_ if isinstance(fitted, PicksSubsets) else scores_of(fitted)
    if scores is None:
        raise ValueError(
            f"selector must have scores_, feature_importances_, coef_ or ranking_ after fitting, got {fitted!r}"
        )
    return scores


def takes_weight(selector: Any) -> bool:
    """Return True if ``fit`` of the selector has a parameter ``sample_weight`` or ``**kwargs``."""
    if not hasattr(selector, "fit"):
        return False
    parameters = signature(selector.fit).parameters.values()
    return any(one.name == "sample_weight" or one.kind is Parameter.VAR_KEYWORD for one in parameters)


def name_of(selector: Any) -> str:
    """Return the name of a function or of the class of a selector."""
    return str(getattr(selector, "__name__", type(selector).__name__))


def scores_by(function: Callable[..., Any], X: Any, y: NDArray[Any] | None) -> Floats:
    """Call a function that returns scores, or a tuple of scores and p-values, and return the scores."""
    scores = function(X, y)
    return np.asarray(scores[0] if isinstance(scores, tuple) else scores, dtype=np.float64)
