r"""Number of features by cross-validation.

In each fold the selector is fitted once, on the training rows, and orders the features. For every size :math:`k`, the
estimator is fitted on the first :math:`k` of them and scored on the test rows. The one-standard-error rule (Breiman,
Friedman, Olshen and Stone, Classification and Regression Trees, 1984, section 3.4.3) then takes the smallest size with

.. math:: \bar s_k \ge \bar s_{k^*} - \frac{\sigma_{k^*}}{\sqrt{F}}, \qquad k^* = \arg\max_k \bar s_k

where :math:`\bar s_k` and :math:`\sigma_k` are the mean and the standard deviation (with :math:`F - 1` degrees of
freedom) of the :math:`F` scores of size :math:`k`. Scores of folds are not independent, so the standard error is a
convention and not a confidence interval.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from ilfs.arrays import Floats, Integers
from ilfs.callbacks import reports_progress
from ilfs.fitted import scores_of
from ilfs.parameters import check_choice, check_integer, is_integer
from ilfs.selection.wrapping import WrapsSelectors, as_selector, fitted_order, ranking_of
from ilfs.sources import Source, TableSource
from ilfs.ties import UNIT_FLOOR, first_of_largest, tolerance
from ilfs.validation import check_labels, check_n_jobs

DEFAULT_FOLDS = 5
N_DEFAULT_SIZES = 12
MAX_DEFAULT_SIZE = 500  # features; larger subsets are seldom better and take most of the time
MAX_SVM_ITERATIONS = 10_000

Rule = Literal["one_se", "best"]
Splits = list[tuple[Integers, Integers]]


class SizeCV(WrapsSelectors):
    """Meta-selector that finds the number of features by cross-validation.

    The selector is fitted once in each fold, for all sizes, and once more on all rows. It never sees the test rows of
    a fold. So the cross-validated scores are those of selection and estimator together. The score of the chosen size is
    still slightly optimistic, because it was chosen among several: to report it, evaluate `SizeCV` on other rows.

    All rows must be in memory.

    Parameters
    ----------
    selector : estimator or str
        Selector that has ``order_``, ``ranking_`` or ``scores_`` after fitting, or the name of a method such as
        ``"fisher"``. Its own ``n_features_to_select`` is not used.
    estimator : estimator, optional
        Model whose performance is measured. By default a linear SVM on standardised features; missing values, if there
        are any, are replaced by the mean of their feature.
    sizes : sequence of int, optional
        Numbers of features to compare. By default about twelve sizes, from 1 to the number of features but at most 500,
        each a constant factor larger than the one before, up to rounding.
    scoring : str or callable, optional
        Metric, as in `sklearn.model_selection.cross_val_score`. By default the ``score`` method of the estimator:
        accuracy, for a classifier.
    cv : int, splitter or iterable of splits, optional
        Folds. An integer is a number of stratified, shuffled folds; the default is 5. If ``groups`` are given, the rows
        of a group are in the same fold. For an indicator matrix of labels, folds are not stratified.
    rule : {"one_se", "best"}, default="one_se"
        ``"one_se"``: the smallest size whose mean score is within one standard error of the best mean score.
        ``"best"``: the size with the best mean score, the smallest one if there are several.
    random_state : int, RandomState instance or None, default=0
        Seed of the default folds and of the default estimator.
    n_jobs : int, default=None
        Number of folds that are computed at the same time, in processes; the result does not depend on it. None means 1
        unless in a `joblib.parallel_config` context, -1 means all processors.

    Attributes
    ----------
    n_features_ : int
        The number of features found.
    cv_results_ : dict of str to ndarray
        A table with a row for each size, for example for `pandas.DataFrame`: ``n_features``, ``mean_test_score``,
        ``std_error`` (standard error of the mean over the folds; NaN for one fold) and ``split0_test_score``,
        ``split1_test_score``, ...
    selector_ : estimator
        The selector, fitted on all rows.
    order_ : ndarray of shape (n_features,)
        Column indices by this selector, best first. The first ``n_features_`` of them are selected.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    scores_ : ndarray of shape (n_features,)
        Scores of the features by this selector; minus their ranks if it has none.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import ILFS
    >>> from ilfs.selection import SizeCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> search = SizeCV(ILFS(), sizes=[1, 2, 4, 8, 16, 30]).fit(X, y)
    >>> search.cv_results_["mean_test_score"].round(3)
    array([0.91 , 0.94 , 0.944, 0.972, 0.974, 0.968])
    >>> search.n_features_
    8
    >>> list(search.get_feature_names_out()[:3])
    ['mean radius', 'mean concave points', 'worst radius']
    """

    _takes_long = True

    def __init__(
        self,
        selector: Any,
        estimator: Any = None,
        *,
        sizes: Sequence[int] | None = None,
        scoring: Any = None,
        cv: Any = None,
        rule: Rule = "one_se",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.estimator = estimator
        self.sizes = sizes
        self.scoring = scoring
        self.cv = cv
        self.rule = rule
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, groups: Any = None, **fit_params: Any) -> Self:
        """Find the number of features, and rank the features on all rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Data in any form that the selector accepts, in memory.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, or an indicator matrix.
        groups : array of shape (n_samples,), optional
            Group of every sample, such as the donor of a cell, for the splitter.
        **fit_params : dict
            Arguments of ``fit`` of the selector, such as ``sample_weight``. Of arrays with a value for each sample, a
            fold gets the values of its samples. The estimator and the metric do not get them.

        Returns
        -------
        SizeCV
            The fitted selector.
        """
        return self._fit_sizes(X, y, groups, fit_params)

    @reports_progress
    def _fit_sizes(self, X: Any, y: Any, groups: Any, fit_params: dict[str, Any]) -> Self:
        self._check_parameters()
        self._forget()
        source = self._source_of(X, y, fit_params.get("sample_weight"))
        try:
            with self._named_columns():
                self._fit_table(self._in_memory(source), groups, fit_params)
        finally:
            if not isinstance(X, Source):  # a source that the caller made may be read again
                source.close()
        return self

    def _fit_table(self, table: TableSource, groups: Any, fit_params: dict[str, Any]) -> None:
        X, y, weight = self._matrix(table), np.asarray(table.y), table.sample_weight
        self._check_weight(weight)
        if weight is not None:
            fit_params = fit_params | {"sample_weight": weight}
        sizes = check_sizes(self.sizes, X.shape[1])
        results = self._cross_validate(X, y, groups, sizes, fit_params)
        selector, order = fitted_order(self._wrapped()[0], X, y, fit_params)
        self._end_progress()  # before the ranking: an interrupt in a callback leaves the selector unfitted
        self._copy_names_to(selector)
        scores = scores_of(selector)
        self.cv_results_, self.selector_, self.order_, self.ranking_ = results, selector, order, ranking_of(order)
        self.scores_ = -self.ranking_.astype(np.float64) if scores is None else scores
        self.n_features_ = chosen_size(sizes, results["mean_test_score"], results["std_error"], self.rule)

    def _cross_validate(
        self, X: Any, y: NDArray[Any], groups: Any, sizes: Integers, fit_params: dict[str, Any]
    ) -> dict[str, NDArray[Any]]:
        """Score all sizes in all folds."""
        splits = splits_of(self.cv, X, y, groups, self.random_state)
        if self.rule == "one_se" and len(splits) < 2:
            raise ValueError("rule='one_se' needs at least two folds, got one from cv: use rule='best' or more folds")
        estimator = default_estimator(X, y, self.random_state) if self.estimator is None else self.estimator
        scorer = check_scoring(estimator, scoring=self.scoring)
        selector = self._wrapped()[0]
        folds = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(fold_scores)(selector, estimator, scorer, X, y, sizes, split, fit_params) for split in splits
        )
        scores = np.array(list(self._steps(folds, "fold", len(splits))))
        check_scores(scores, sizes)
        return results_table(sizes, scores)

    def _wrapped(self) -> list[Any]:
        return [as_selector(self.selector, "selector")]

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        # A selector of this package warns by itself if labels look like a quantity.
        return check_labels(y, n_samples, quantities=not getattr(self._wrapped()[0], "_reads_labels", False))

    def _check_parameters(self) -> None:
        self._wrapped()
        check_choice("rule", self.rule, ("one_se", "best"))
        check_n_jobs(self.n_jobs)
        if self.scoring is not None and not isinstance(self.scoring, str) and not callable(self.scoring):
            raise ValueError(f"scoring must be None, the name of one metric or a callable, got {self.scoring!r}")
        if is_integer(self.cv):
            check_integer("cv", self.cv, 2)

    def _n_selected(self) -> int:
        return self.n_features_

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return super()._takes_sparse and (self.estimator is None or bool(get_tags(self.estimator).input_tags.sparse))

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return super()._takes_missing and (
            self.estimator is None or bool(get_tags(self.estimator).input_tags.allow_nan)
        )

    _reads_labels: ClassVar[bool] = True  # the estimator needs labels, even if the selector does not


def check_sizes(sizes: Any, n_features: int) -> Integers:
    """Validate the sizes and sort them; None gives the default sizes.

    Examples
    --------
    >>> from ilfs.selection.size_cv import check_sizes
    >>> check_sizes([10, 5], n_features=30)
    array([ 5, 10])
    >>> check_sizes(None, n_features=2000)
    array([  1,   2,   3,   5,  10,  17,  30,  52,  92, 162, 284, 500])
    """
    if sizes is None:
        largest = min(n_features, MAX_DEFAULT_SIZE)
        return np.unique(np.geomspace(1, largest, N_DEFAULT_SIZES).round().astype(np.int64))
    given = list(np.atleast_1d(np.asarray(sizes, dtype=object)))
    if not given or not all(is_integer(size) and 1 <= size <= n_features for size in given):
        raise ValueError(f"sizes must be integers from 1 to {n_features}, the number of features of X, got {sizes!r}")
    return np.unique(np.array(given, dtype=np.int64))


def splits_of(cv: Any, X: Any, y: NDArray[Any], groups: Any, random_state: Any) -> Splits:
    """Make the folds: training rows and test rows of each."""
    splitter = cv
    if cv is None or is_integer(cv):
        # The largest class limits the number of folds; scikit-learn warns if a class has fewer rows than folds.
        n_folds = fold_count(y) if cv is None else int(cv)
        kinds = (KFold, GroupKFold) if y.ndim == 2 else (StratifiedKFold, StratifiedGroupKFold)
        splitter = kinds[groups is not None](n_folds, shuffle=True, random_state=random_state)
    return [(np.asarray(train), np.asarray(test)) for train, test in check_cv(splitter).split(X, y, groups)]


def fold_count(y: NDArray[Any]) -> int:
    """Return the default number of folds: 5, or fewer if there are fewer rows, in all or in the largest class."""
    largest = len(y) if y.ndim == 2 else int(np.unique(y, return_counts=True)[1].max())
    return max(2, min(DEFAULT_FOLDS, largest))


def default_estimator(X: Any, y: NDArray[Any], random_state: Any) -> Any:
    """Make a linear SVM on standardised features, one for each label of an indicator matrix.

    A sparse table is scaled but not centred, so that it stays sparse.
    """
    is_sparse = sparse.issparse(X)
    svm = LinearSVC(max_iter=MAX_SVM_ITERATIONS, random_state=random_state)
    steps = [StandardScaler(with_mean=not is_sparse), svm if y.ndim == 1 else OneVsRestClassifier(svm)]
    missing = bool(np.isnan(X.data if is_sparse else X).any())
    return make_pipeline(*([SimpleImputer(keep_empty_features=True)] if missing else []), *steps)


def fold_scores(
    selector: Any,
    estimator: Any,
    scorer: Any,
    X: Any,
    y: NDArray[Any],
    sizes: Integers,
    split: tuple[Integers, Integers],
    fit_params: dict[str, Any],
) -> Floats:
    """Fit the selector on the training rows of a fold, and score the estimator at every size on the test rows."""
    train, test = split
    X_train, X_test = X[train], X[test]
    params = {name: rows_of_value(value, train, len(y)) for name, value in fit_params.items()}
    _, order = fitted_order(selector, X_train, y[train], params)
    scores = np.empty(sizes.size)
    for i, size in enumerate(sizes.tolist()):
        columns = np.sort(order[:size])  # in their order in X, as `transform` gives them
        model = clone(estimator).fit(X_train[:, columns], y[train])
        scores[i] = scorer(model, X_test[:, columns], y[test])
    return scores


def rows_of_value(value: Any, rows: Integers, n_rows: int) -> Any:
    """Take some rows of a value that has one entry for each row; return any other value as it is."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != n_rows:
        return value
    return np.asarray(value)[rows]


def check_scores(scores: Floats, sizes: Integers) -> None:
    """Raise if a score is not a number, as for the area under the curve of test rows of one class."""
    for fold, i in np.argwhere(np.isnan(scores))[:1].tolist():
        raise ValueError(
            f"scoring must give a number, got NaN for {sizes[i]} features in fold {fold}: use another metric, or folds "
            "whose test rows have all classes"
        )


def results_table(sizes: Integers, scores: Floats) -> dict[str, NDArray[Any]]:
    """Make the table ``cv_results_`` of the scores of shape (n_folds, n_sizes)."""
    n_folds = len(scores)
    spread = scores.std(axis=0, ddof=1) if n_folds > 1 else np.full(sizes.size, np.nan)
    return {
        "n_features": sizes,
        "mean_test_score": scores.mean(axis=0),
        "std_error": spread / np.sqrt(n_folds),
    } | {f"split{fold}_test_score": of_fold for fold, of_fold in enumerate(scores)}


def chosen_size(sizes: Integers, mean: Floats, error: Floats, rule: Rule) -> int:
    """Choose a size by the mean scores and their standard errors.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of features, ascending.
    mean, error : ndarray of shape (n_sizes,)
        Mean score of each size over the folds, and its standard error.
    rule : {"one_se", "best"}
        As in `SizeCV`.

    Returns
    -------
    int
        A number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection.size_cv import chosen_size
    >>> sizes, mean, error = np.array([1, 5, 20]), np.array([0.7, 0.88, 0.9]), np.array([0.1, 0.01, 0.03])
    >>> chosen_size(sizes, mean, error, "one_se"), chosen_size(sizes, mean, error, "best")
    (5, 20)
    """
    best = first_of_largest(mean, UNIT_FLOOR)
    if rule == "best" or np.isnan(error[best]):  # one fold, if a callback has stopped the loop
        return int(sizes[best])
    least = mean[best] - error[best]
    return int(sizes[np.argmax(mean >= least - tolerance(mean[best], UNIT_FLOOR))])
