r"""Selection of features by their false discovery rate, for any method with comparable scores.

The scores of all features are compared with the scores under permuted labels. `ILFS`, `FisherScore` and
`MutualInformation` compute these in the same reads of the rows (`ilfs.permutations`). Any other selector is fitted
again for each permutation. The null values of all features are pooled, and `ilfs.null` makes p-values and q-values of
them.

Scores are *comparable between permutations* if the score of a feature without effect has the same distribution under
the observed labels as under permuted ones, whatever the other features do. A score of single features is comparable.
The step at which recursive elimination removes a feature is not: some feature is always the last. Neither are the
weights of ReliefF. Features with strong effects decide which samples are neighbours, and the weights of all other
features are then larger than under permuted labels. The registry states it for each method, with the reason.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from ilfs.arrays import Floats
from ilfs.callbacks import reports_progress
from ilfs.cross_validation import fitted_order
from ilfs.execution.rows import column_ranges
from ilfs.fitted import order_of
from ilfs.methods.novelty import Novelty, name_of, scores_by
from ilfs.null import PermutationTest, Procedure
from ilfs.parameters import check_choice, check_integer
from ilfs.permutations import MIN_PERMUTATIONS, HasNull, HasPValues, permutations_to_make, without_warnings
from ilfs.redundancy import PicksSubsets
from ilfs.registry import classes_with, method_of
from ilfs.selection.parallel import results_in_order
from ilfs.selection.wrapping import WrapsSelectors, as_selector
from ilfs.selector import RankingSelector, Scores
from ilfs.sources import Source, TableSource
from ilfs.sources.row_index import check_same_index
from ilfs.ties import UNIT_FLOOR
from ilfs.validation import check_labels, check_n_jobs


class FDRSelector(HasPValues, WrapsSelectors):
    """Meta-selector that keeps the features whose false discovery rate is at most a given level.

    The scores of the wrapped selector are compared with those under permuted labels. The hypothesis for each feature is
    that of its score: for a score of single features, that the feature alone is independent of the labels.

    The null values of all features are pooled, so that a few permutations suffice. This assumes that the scores of all
    features without effect have the same distribution. It holds less well if features differ much in their numbers of
    present or distinct values.

    `ILFS`, `FisherScore` and `MutualInformation` test their features in the same reads of the rows, on any table that
    they take. Another selector is fitted once for each permutation, and all rows must be in memory.

    Parameters
    ----------
    selector : estimator or str
        Selector whose scores are comparable between permutations of the labels, or the name of such a method:
        ``"ilfs"``, ``"fisher"``, ``"mi"``, or ``"novelty(...)"`` around one of them. For `ILFS` and `Novelty`, the
        relevance is tested instead of the score, which is relative to the first pick. Your own selector, or one of
        another package, must have ``scores_`` after fitting, and it is up to you that they are comparable. The
        selector's own ``n_features_to_select`` is not used.
    fdr : float, default=0.05
        Level of the false discovery rate, and of the verdict ``is_better_than_chance_``.
    n_permutations : int, optional
        Number of permutations. By default 20, or more if ``fdr`` needs more: 1 / ``fdr``. A smaller number is raised to
        1 / ``fdr`` with a warning, as no p-value could be small enough.
    random_state : int, numpy.random.Generator or None, default=0
        Source of the random numbers; an integer gives the same permutations in every fit.
    procedure : {"bh", "storey"}, default="bh"
        How p-values become q-values. ``"bh"``: Benjamini and Hochberg. ``"storey"``: the same, times an estimate of the
        fraction of features without effect. It finds more if many features have an effect.
    n_jobs : int, default=None
        Number of fits that are computed at the same time, in processes; the result does not depend on it. None means 1
        unless in a `joblib.parallel_config` context, -1 means all processors. Not used for the methods that test their
        features themselves.

    Attributes
    ----------
    p_values_, q_values_ : ndarray of shape (n_features,)
        p-value of each feature, and the smallest false discovery rate at which it is selected. 1 for a constant
        feature.
    chance_p_value_ : float
        p-value of the mean of the ten best features.
    is_better_than_chance_ : bool
        True if ``chance_p_value_`` is at most ``fdr``.
    false_discovery_bound_ : float
        Upper bound on the proportion of false discoveries among the selected features, with a confidence of 95 %.
    n_permutations_ : int
        Number of permutations that were made.
    selector_ : estimator
        The selector, fitted on the observed labels.
    scores_, ranking_, order_ : ndarray of shape (n_features,)
        Scores of this selector, rank of each feature (1 is the best), and columns, best first. The selected features
        need not be the first of the order.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    Examples
    --------
    scikit-learn's estimate of mutual information has no p-values. The wine data, and each column once more with its
    rows shuffled:

    >>> from functools import partial
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.feature_selection import SelectKBest, mutual_info_classif
    >>> from ilfs.selection import FDRSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> both = np.hstack([X, np.random.default_rng(0).permuted(X, axis=0)])
    >>> selector = FDRSelector(SelectKBest(partial(mutual_info_classif, random_state=0))).fit(both, y)
    >>> np.flatnonzero(selector.get_support())
    array([ 0,  1,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12])
    >>> selector.is_better_than_chance_, round(selector.false_discovery_bound_, 3)
    (True, 0.167)
    """

    _takes_long = True

    def __init__(
        self,
        selector: Any,
        fdr: float = 0.05,
        *,
        n_permutations: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        procedure: Procedure = "bh",
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.fdr = fdr
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.procedure = procedure
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, groups: Any = None, **fit_params: Any) -> Self:
        """Rank the features, and test them by permutations of the labels.

        Parameters
        ----------
        X : array, data frame, sparse matrix, file or other table of shape (n_samples, n_features)
            Data in any form that the selector accepts; in memory if it is fitted once for each permutation.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, or an indicator matrix, whose rows are permuted as a whole.
        groups : array of shape (n_samples,), optional
            Group of every sample, such as the donor of a cell. Labels are permuted within groups only.
        **fit_params : dict
            Arguments of ``fit`` of the selector, such as ``sample_weight``. They stay with their rows.

        Returns
        -------
        FDRSelector
            The fitted selector.
        """
        return self._fit_and_test(X, y, groups, fit_params)

    @reports_progress
    def _fit_and_test(self, X: Any, y: Any, groups: Any, fit_params: dict[str, Any]) -> Self:
        self._check_parameters()
        self._forget()
        check_same_index(X, groups, "groups")
        groups = None if groups is None else np.asarray(groups)
        with self._opened(X, y, fit_params.get("sample_weight")) as source:
            fitted, test = self._test_source(source, groups, fit_params)
        self._end_progress()  # before the ranking: an interrupt in a callback leaves the selector unfitted
        self._keep_ranking(fitted, np.asarray(order_of(fitted)))
        self._keep_test(test, self.procedure)
        return self

    def _test_source(
        self, source: Source, groups: NDArray[Any] | None, fit_params: dict[str, Any]
    ) -> tuple[Any, PermutationTest]:
        """Return the selector fitted on the observed labels, and the test of its statistics."""
        n_permutations = permutations_to_make(self.n_permutations or 0, self.fdr, MIN_PERMUTATIONS)
        if self._tests_itself:
            return self._test_in_same_reads(source, n_permutations, fit_params | {"groups": groups})
        table = self._in_memory(source).with_permutations(n_permutations, self.random_state, groups)
        return self._test_by_refits(table, fit_params, groups is not None)

    # Methods that test their features in the same reads of the rows

    def _test_in_same_reads(
        self, source: Source, n_permutations: int, fit_params: dict[str, Any]
    ) -> tuple[Any, PermutationTest]:
        if source.feature_names is None and hasattr(self, "feature_names_in_"):
            source.feature_names = list(self.feature_names_in_)
        selector = self._wrapped()[0]
        inner = scoring_part(selector)
        tested = clone(inner).set_params(n_permutations=n_permutations, random_state=self.random_state, fdr=self.fdr)
        tested._keeps_test = True
        tested.fit(source, **{name: value for name, value in fit_params.items() if name != "sample_weight"})
        test: PermutationTest = tested.__dict__.pop("_test")
        return (tested if inner is selector else clone(selector).fit(source)), test

    @property
    def _tests_itself(self) -> bool:
        return isinstance(scoring_part(self._wrapped()[0]), HasNull)

    # Methods that are fitted again for each permutation

    def _test_by_refits(
        self, table: TableSource, fit_params: dict[str, Any], is_within_groups: bool
    ) -> tuple[Any, PermutationTest]:
        samples = self._samples(table)
        X, y, fit_params = samples.X, samples.y, self._with_weight(fit_params, samples.weight)
        low, high = column_ranges(X, missing=True)  # raises for infinite values and names their column
        selector = self._to_fit()[0]
        fitted, _ = fitted_order(selector, X, y, fit_params)
        labels = permuted_labels(table)
        observed = np.where(high > low, fitted_statistic(fitted), np.nan)
        tasks = (delayed(null_statistic)(scoring_part(selector), X, one, fit_params) for one in labels)
        with results_in_order(tasks, self.n_jobs) as refits:
            null = np.array(list(self._steps(refits, "permutation", len(labels))))
        return fitted, PermutationTest.from_statistics(observed, null, UNIT_FLOOR, within_groups=is_within_groups)

    def _score_stream(self, source: Source) -> Scores:  # noqa: ARG002
        name = name_of(scoring_part(self._wrapped()[0]))
        raise TypeError(
            f"FDRSelector needs all rows in memory for {name}, which it fits for each permutation: load the table if "
            "it fits, e.g. with ilfs.read and a higher memory_limit, or use a method that reads rows in blocks "
            f"({classes_with('null')})"
        )

    # Results

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        self._check_parameters()
        return np.asarray(self.q_values_ <= self.fdr)

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        inner = self.selector_._more_columns(names) if isinstance(self.selector_, RankingSelector) else {}
        return inner | super()._more_columns(names)

    # Parameters

    def _check_parameters(self) -> None:
        check_comparable(self._wrapped()[0])
        if self.n_permutations is not None:
            check_integer("n_permutations", self.n_permutations, 1)
        check_choice("procedure", self.procedure, ("bh", "storey"))
        check_n_jobs(self.n_jobs)
        self._check_test()

    def _is_fdr_rule(self) -> bool:
        return True

    def _wrapped(self) -> list[Any]:
        return [as_selector(self.selector, "selector")]

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        # A selector of this package that is fitted on the table warns by itself if labels look like a quantity.
        warns_itself = getattr(self._wrapped()[0], "_reads_labels", False) and not self._tests_itself
        return check_labels(y, n_samples, quantities=not warns_itself)

    @property
    def _prefers_statistics(self) -> bool:  # type: ignore[override]
        return self._tests_itself and bool(scoring_part(self._wrapped()[0])._prefers_statistics)


def scoring_part(selector: Any) -> Any:
    """Return the selector whose scores are tested: that inside of `Novelty`, or the selector itself."""
    return scoring_part(selector.selector) if isinstance(selector, Novelty) else selector


def check_comparable(selector: Any) -> None:
    """Raise if the scores of a selector are not comparable between permutations of the labels.

    Parameters
    ----------
    selector : estimator or callable
        Selector, or a function of X and y that returns scores.
    """
    inner = scoring_part(selector)
    method = method_of(type(inner))
    if isinstance(inner, WrapsSelectors):
        reason = "it combines or repeats the fits of other selectors"
    elif not getattr(inner, "_reads_labels", True):
        reason = "it reads no labels"
    elif method is None or method.comparable_scores:
        return
    else:
        reason = method.incomparable_because
    raise ValueError(
        f"selector must have scores that are comparable between permutations of the labels, those of {name_of(inner)} "
        f"are not, because {reason}: use one of {classes_with('comparable_scores')}"
    )


def permuted_labels(table: TableSource) -> list[NDArray[Any]]:
    """Return the labels of all rows under each permutation of a table, in the form of its ``y``."""
    assert table.permuted is not None
    names = [classes.labels for classes in table.labellings[: len(table.labels)]]
    decoded = ([one[codes] for one, codes in zip(names, of_one, strict=True)] for of_one in table.permuted.codes)
    return [columns[0] if np.asarray(table.y).ndim == 1 else np.column_stack(columns) for columns in decoded]


def null_statistic(selector: Any, X: Any, y: NDArray[Any], fit_params: dict[str, Any]) -> Floats:
    """Compute the statistic of every feature under permuted labels."""
    with without_warnings():
        if not hasattr(selector, "fit"):  # a function inside `Novelty`
            return scores_by(selector, X, y)
        return fitted_statistic(clone(selector).fit(X, y, **fit_params))


def fitted_statistic(fitted: Any) -> Floats:
    """Return the relevance of a selector that picks a subset, and the scores of any other selector."""
    if isinstance(fitted, PicksSubsets):
        return fitted.relevance_
    scores = np.asarray(getattr(fitted, "scores_", None), dtype=np.float64)
    if scores.shape != (fitted.n_features_in_,):
        raise ValueError(
            f"selector must have scores_, a number for each feature, after fitting, {name_of(fitted)} has not: "
            "importances, coefficients and ranks are not comparable between permutations of the labels"
        )
    return scores
