"""Number of features by cross-validation; `ilfs.cross_validation` has the rule."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ilfs.arrays import Floats, Integers
from ilfs.cross_validation import Rule, chosen_size, fold_scores, results_table
from ilfs.selection.search import CrossValidationSearch
from ilfs.selection.wrapping import as_selector


class SizeCV(CrossValidationSearch):
    """Meta-selector that finds the number of features by cross-validation.

    The selector is fitted once in each fold, for all sizes, and once more on all rows. It never sees the test rows of
    a fold. So the cross-validated scores are those of selection and estimator together. The score of the chosen size is
    still slightly optimistic, because it was chosen among several: to report it, evaluate `SizeCV` on other rows.

    All rows must be in memory.

    Parameters
    ----------
    selector : estimator or str
        Selector that has ``order_``, ``ranking_`` or ``scores_`` after fitting, or the name of a method such as
        ``"fisher"``. Its own ``n_features_to_select`` does not change the search. Sizes below the number of features in
        its ``must_keep`` are raised to it.
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
    random_state : int, numpy.random.Generator, RandomState instance or None, default=0
        Seed of the default folds and of the default estimator. A generator gives one integer, which seeds both.
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
    array([0.91 , 0.939, 0.944, 0.974, 0.974, 0.968])
    >>> search.n_features_
    8
    >>> list(search.get_feature_names_out()[:3])
    ['mean concave points', 'worst radius', 'worst texture']
    """

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

    def _fold_function(self) -> Callable[..., Floats]:
        return partial(fold_scores, self._to_fit()[0])

    def _choose(self, sizes: Integers, scores: Floats) -> Any:
        self.cv_results_ = results_table({"n_features": sizes}, scores)
        mean, error = self.cv_results_["mean_test_score"], self.cv_results_["std_error"]
        self.n_features_ = chosen_size(sizes, mean, error, self.rule)
        return self._to_fit()[0]

    def _wrapped(self) -> list[Any]:
        return [as_selector(self.selector, "selector")]
