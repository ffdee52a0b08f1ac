r"""Performance against number of features, by cross-validation.

In each fold a selector is fitted once, on the training rows, and orders the features. For every size :math:`k`, an
estimator is fitted on the first :math:`k` of them and scored on the test rows. The one-standard-error rule (Breiman,
Friedman, Olshen and Stone, Classification and Regression Trees, 1984, section 3.4.3) then takes the smallest size with

.. math:: \bar s_k \ge \bar s_{k^*} - \frac{\sigma_{k^*}}{\sqrt{F}}, \qquad k^* = \arg\max_k \bar s_k

where :math:`\bar s_k` and :math:`\sigma_k` are the mean and the standard deviation (with :math:`F - 1` degrees of
freedom) of the :math:`F` scores of size :math:`k`. Scores of folds are not independent, so the standard error is a
convention and not a confidence interval.

The rule ``n_features_to_select="auto"`` of the selectors and the searches of `ilfs.selection` share these functions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ilfs.arrays import Floats, Integers
from ilfs.choices import DEFAULT_FOLDS
from ilfs.fitted import order_of
from ilfs.parameters import is_integer
from ilfs.sources import TableSource
from ilfs.sources.permutations import check_groups
from ilfs.ties import UNIT_FLOOR, first_of_largest, tolerance

N_DEFAULT_SIZES = 12
MAX_DEFAULT_SIZE = 500  # features; larger subsets are seldom better and take most of the time
MAX_SVM_ITERATIONS = 10_000
SEED_BITS = 31  # of the integer seeds that scikit-learn takes

Rule = Literal["one_se", "best"]
Split = tuple[Integers, Integers]  # training rows and test rows


@dataclass(frozen=True)
class Samples:
    """Rows of a table with their labels and weights.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The table.
    y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        Class of every sample, or an indicator matrix.
    weight : ndarray of shape (n_samples,), optional
        Weight of every sample.
    """

    X: Any
    y: NDArray[Any]
    weight: Floats | None = None

    @classmethod
    def from_source(cls, source: TableSource) -> Self:
        """Take all rows of a table, in a form in which rows can be taken by their indices."""
        X = source.to_matrix()
        return cls(short_indices(X.tocsr()) if source.is_sparse else X, np.asarray(source.y), source.sample_weight)

    def take(self, rows: Integers) -> Self:
        """Take some of the rows."""
        return type(self)(self.X[rows], self.y[rows], None if self.weight is None else self.weight[rows])


@dataclass(frozen=True)
class SizeEvaluator:
    """Scores an estimator on the first features of an order, for several sizes.

    Parameters
    ----------
    estimator : estimator
        Model whose performance is measured.
    scorer : callable
        Function of (model, X, y), as `sklearn.metrics.check_scoring` gives it.
    sizes : ndarray of shape (n_sizes,)
        Numbers of features, ascending.
    weighs_scores : bool, default=False
        The scorer takes ``sample_weight``.
    """

    estimator: Any
    scorer: Any
    sizes: Integers
    weighs_scores: bool = False

    @classmethod
    def for_samples(
        cls,
        samples: Samples,
        estimator: Any = None,
        scoring: Any = None,
        sizes: Any = None,
        seed: Any = 0,
        least: int = 1,
    ) -> Self:
        """Fill in the defaults: a standardised linear SVM, its own score, and about twelve sizes.

        Sizes below ``least``, the number of features that must be kept, are raised to it.
        """
        model = default_estimator(samples.X, samples.y, seed) if estimator is None else estimator
        scorer = check_scoring(model, scoring=scoring)
        weighs_scores = takes_sample_weight(model.score if scoring is None else scorer)
        checked = np.unique(np.maximum(check_sizes(sizes, samples.X.shape[1]), least))
        return cls(model, scorer, checked, weighs_scores)

    def scores(self, orders: Sequence[Integers], train: Samples, test: Samples) -> Floats:
        """Fit and score the estimator on the first features of several orders, at every size.

        Parameters
        ----------
        orders : sequence of ndarrays of shape (n_features,)
            Columns, best first. A subset that several orders have in common is scored once.
        train, test : Samples
            Rows to fit on, and rows to score.

        Returns
        -------
        ndarray of shape (n_orders, n_sizes)
            One score for each order and size.
        """
        # Columns in their order in X, as `transform` gives them.
        subsets = [[np.sort(order[:size]) for size in self.sizes.tolist()] for order in orders]
        known = {columns.tobytes(): columns for of_order in subsets for columns in of_order}
        scores = {key: self.score(columns, train, test) for key, columns in known.items()}
        return np.array([[scores[columns.tobytes()] for columns in of_order] for of_order in subsets])

    def score(self, columns: Integers, train: Samples, test: Samples) -> float:
        """Fit the estimator on some columns of the training rows, and score it on the test rows."""
        model = clone(self.estimator)
        model.fit(train.X[:, columns], train.y, **fit_weights(model, train.weight))
        weights = {"sample_weight": test.weight} if self.weighs_scores and test.weight is not None else {}
        return float(self.scorer(model, test.X[:, columns], test.y, **weights))


def size_by_cross_validation(
    selector: Any, samples: Samples, groups: Any = None, steps: Callable[[Iterable[Any]], Iterable[Any]] = iter
) -> tuple[int, dict[str, Any]]:
    """Find the number of features by the one-standard-error rule, with the defaults of `ilfs.selection.SizeCV`.

    Parameters
    ----------
    selector : estimator
        It is cloned and fitted once in each fold.
    samples : Samples
        All rows.
    groups : array of shape (n_samples,), optional
        Rows of a group are in the same fold.
    steps : callable, optional
        Function of the scores of the folds that yields them, and may report each or stop early.

    Returns
    -------
    size : int
        The number of features.
    results : dict of str to ndarray
        The table of `results_table`.
    """
    n_forced = len(getattr(selector, "must_keep", None) or [])
    evaluator = SizeEvaluator.for_samples(samples, least=n_forced)
    weight = {} if samples.weight is None else {"sample_weight": samples.weight}
    splits = splits_of(None, samples, groups, 0)
    scores = np.array(list(steps(fold_scores(selector, evaluator, samples, split, weight) for split in splits)))
    check_scores(scores, evaluator.sizes)
    results = results_table({"n_features": evaluator.sizes}, scores)
    return chosen_size(evaluator.sizes, results["mean_test_score"], results["std_error"], "one_se"), results


def fold_scores(
    selector: Any, evaluator: SizeEvaluator, samples: Samples, split: Split, fit_params: dict[str, Any]
) -> Floats:
    """Fit the selector on the training rows of a fold, and score the estimator at every size on the test rows."""
    train, test = (samples.take(rows) for rows in split)
    params = {name: rows_of_value(value, split[0], len(samples.y)) for name, value in fit_params.items()}
    _, order = fitted_order(selector, train.X, train.y, params)
    return np.asarray(evaluator.scores([order], train, test)[0])


def fitted_order(selector: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> tuple[Any, Integers]:
    """Fit a clone of a selector.

    Parameters
    ----------
    selector : estimator
        Has ``order_``, ``ranking_`` or scores after fitting. The rule "auto" for its number of features is not used,
        because it would cross-validate inside each fold.
    X : array or sparse matrix of shape (n_samples, n_features)
        The table.
    y : array of shape (n_samples,) or (n_samples, n_labels)
        Class of every sample, or an indicator matrix.
    fit_params : dict
        Further arguments of ``fit``.

    Returns
    -------
    selector : estimator
        The fitted clone.
    order : ndarray of shape (n_features,)
        All columns, best first.
    """
    fitted = clone(selector)
    if isinstance(size := getattr(fitted, "n_features_to_select", None), str) and size == "auto":
        fitted.set_params(n_features_to_select=None)
    fitted.fit(X, y, **fit_params)
    order = np.asarray(order_of(fitted), dtype=np.int64)
    if not np.array_equal(np.sort(order), np.arange(X.shape[1])):
        raise ValueError(
            f"the order of {type(selector).__name__} must contain each of the {X.shape[1]} columns once, got "
            f"{order.size} columns, {np.unique(order).size} of them different"
        )
    return fitted, order


def rows_of_value(value: Any, rows: Integers, n_rows: int) -> Any:
    """Take some rows of a value that has one entry for each row; return any other value as it is."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != n_rows:
        return value
    return np.asarray(value)[rows]


def takes_sample_weight(function: Any) -> bool:
    """Return True if a function has a parameter ``sample_weight``."""
    return "sample_weight" in signature(function).parameters


def fit_weights(model: Any, weight: Floats | None) -> dict[str, Floats]:
    """Return the arguments of ``fit`` that give the weights to a model, or to the steps of a pipeline that take them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from ilfs.cross_validation import fit_weights
    >>> fit_weights(GaussianNB(), np.ones(2)), fit_weights(KNeighborsClassifier(), np.ones(2))
    ({'sample_weight': array([1., 1.])}, {})
    """
    if weight is None:
        return {}
    if isinstance(model, Pipeline):
        inside = [(name, step) for name, step in model.steps if hasattr(step, "fit")]
        return {f"{name}__{key}": value for name, step in inside for key, value in fit_weights(step, weight).items()}
    return {"sample_weight": weight} if takes_sample_weight(model.fit) else {}


def seed_of(random_state: Any) -> Any:
    """Return a seed for scikit-learn, which takes no generators of NumPy; a generator gives its next integer.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.cross_validation import seed_of
    >>> seed_of(3), seed_of(None)
    (3, None)
    >>> seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    True
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**SEED_BITS))
    return random_state


def splits_of(cv: Any, samples: Samples, groups: Any, seed: Any) -> list[Split]:
    """Make the folds: training rows and test rows of each."""
    is_default = cv is None or is_integer(cv)
    splits = (
        default_splits(cv, samples, groups, seed)
        if is_default
        else list(check_cv(cv).split(samples.X, samples.y, groups))
    )
    if samples.y.ndim == 1 and any(np.unique(samples.y[train]).size < 2 for train, _ in splits):
        raise ValueError(
            "the training rows of each fold must have two classes, got a fold with one: cross-validation needs more "
            "samples (or groups) of each class, or fewer folds"
        )
    return splits


def default_splits(n_folds: int | None, samples: Samples, groups: Any, seed: Any) -> list[Split]:
    """Make shuffled folds, stratified unless labels are an indicator matrix; rows of weight 0 are in none of them."""
    used = np.arange(len(samples.y)) if samples.weight is None else np.flatnonzero(samples.weight)
    y = samples.y[used]
    kinds = (KFold, GroupKFold) if y.ndim == 2 else (StratifiedKFold, StratifiedGroupKFold)
    # The largest class limits the number of folds; scikit-learn warns if a class has fewer rows than folds.
    splitter = kinds[groups is not None](n_folds or fold_count(y), shuffle=True, random_state=seed)
    splits = splitter.split(used, y, None if groups is None else check_groups(groups, len(samples.y))[used])
    return [(used[train], used[test]) for train, test in splits]


def fold_count(y: NDArray[Any]) -> int:
    """Return the default number of folds: 5, or fewer if there are fewer rows, in all or in the largest class."""
    largest = len(y) if y.ndim == 2 else int(np.unique(y, return_counts=True)[1].max())
    if largest < 2:
        raise ValueError(f"cross-validation needs a class with two samples or more, got {len(y)} classes of one sample")
    return min(DEFAULT_FOLDS, largest)


def default_estimator(X: Any, y: NDArray[Any], seed: Any) -> Any:
    """Make a linear SVM on standardised features, one for each label of an indicator matrix.

    A sparse table is scaled but not centred, so that it stays sparse.
    """
    is_sparse = sparse.issparse(X)
    svm = LinearSVC(max_iter=MAX_SVM_ITERATIONS, random_state=seed)
    steps = [StandardScaler(with_mean=not is_sparse), svm if y.ndim == 1 else OneVsRestClassifier(svm)]
    missing = bool(np.isnan(X.data if is_sparse else X).any())
    return make_pipeline(*([SimpleImputer(keep_empty_features=True)] if missing else []), *steps)


def check_sizes(sizes: Any, n_features: int) -> Integers:
    """Validate the sizes and sort them; None gives the default sizes.

    Examples
    --------
    >>> from ilfs.cross_validation import check_sizes
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


def check_scores(scores: Floats, sizes: Integers) -> None:
    """Raise if a score is not a number, as for the area under the curve of test rows of one class.

    Parameters
    ----------
    scores : ndarray of shape (n_folds, ..., n_sizes)
        Scores of all folds.
    sizes : ndarray of shape (n_sizes,)
        Numbers of features.
    """
    for fold, *_, i in np.argwhere(np.isnan(scores))[:1].tolist():
        raise ValueError(
            f"scoring must give a number, got NaN for {sizes[i]} features in fold {fold}: use another metric, or folds "
            "whose test rows have all classes"
        )


def results_table(columns: dict[str, NDArray[Any]], scores: Floats) -> dict[str, NDArray[Any]]:
    """Make the table ``cv_results_``.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
        First columns of the table: what was scored in each row.
    scores : ndarray of shape (n_folds, n_rows)
        Scores of all folds.

    Returns
    -------
    dict of str to ndarray
        These columns, mean score, standard error, and the scores of each fold.
    """
    n_folds, n_rows = scores.shape
    spread = scores.std(axis=0, ddof=1) if n_folds > 1 else np.full(n_rows, np.nan)
    means = {"mean_test_score": scores.mean(axis=0), "std_error": spread / np.sqrt(n_folds)}
    return columns | means | {f"split{fold}_test_score": of_fold for fold, of_fold in enumerate(scores)}


def good_enough(mean: Floats, error: Floats, rule: Rule) -> NDArray[np.bool_]:
    """Return which mean scores are within one standard error of the best one, or equal to it for the rule "best".

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.cross_validation import good_enough
    >>> good_enough(np.array([0.7, 0.88, 0.9]), np.array([0.1, 0.01, 0.03]), "one_se")
    array([False,  True,  True])
    """
    best = first_of_largest(mean, UNIT_FLOOR)
    # With one fold, as after a callback has stopped the loop, there is no standard error.
    allowed = 0.0 if rule == "best" or np.isnan(error[best]) else error[best]
    return np.asarray(mean >= mean[best] - allowed - tolerance(mean[best], UNIT_FLOOR))


def chosen_size(sizes: Integers, mean: Floats, error: Floats, rule: Rule) -> int:
    """Choose a size by the mean scores and their standard errors.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of features, ascending.
    mean, error : ndarray of shape (n_sizes,)
        Mean score of each size over the folds, and its standard error.
    rule : {"one_se", "best"}
        As in `ilfs.selection.SizeCV`.

    Returns
    -------
    int
        The smallest size whose mean score is good enough.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.cross_validation import chosen_size
    >>> sizes, mean, error = np.array([1, 5, 20]), np.array([0.7, 0.88, 0.9]), np.array([0.1, 0.01, 0.03])
    >>> chosen_size(sizes, mean, error, "one_se"), chosen_size(sizes, mean, error, "best")
    (5, 20)
    """
    return int(sizes[np.argmax(good_enough(mean, error, rule))])


def short_indices(X: Any) -> Any:
    """Return a CSR matrix with 32-bit indices if they suffice; some estimators of scikit-learn take no others."""
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
