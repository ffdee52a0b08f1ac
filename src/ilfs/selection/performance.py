"""Performance of several methods against the number of features, over the same folds.

A job is one method in one fold: the method is fitted on the training rows, and each classifier is trained on its first
features, for all sizes, and scored on the test rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import delayed
from threadpoolctl import threadpool_limits

from ilfs.arrays import Floats, Integers
from ilfs.cross_validation import (
    Samples,
    SizeEvaluator,
    Split,
    check_scores,
    default_estimator,
    fitted_order,
    splits_of,
)
from ilfs.execution import one_blas_thread
from ilfs.one_line import reason_of
from ilfs.parameters import is_integer
from ilfs.permutations import without_warnings
from ilfs.selection.parallel import results_in_order

N_NEIGHBOURS = 5
N_RANDOM_ORDERS = 2  # random orders of the baseline in each fold, whose scores are averaged
MAX_VALUES_FOR_ALL = 20_000_000  # rows x features up to which the classifiers are also trained on all features
RANDOM_STREAM = 1  # makes the random numbers of the baseline differ from others with the same seed


@dataclass(frozen=True)
class Folds:
    """Folds of a table, and the classifiers that are scored in them.

    Parameters
    ----------
    samples : Samples
        All rows.
    splits : list of (ndarray, ndarray)
        Training rows and test rows of each fold.
    evaluators : dict of str to SizeEvaluator
        Names of the classifiers, and what scores them at all sizes.
    seed : int
        Seed of the random features.
    """

    samples: Samples
    splits: list[Split]
    evaluators: dict[str, SizeEvaluator]
    seed: int

    @classmethod
    def for_samples(
        cls, samples: Samples, splits: list[Split], classifiers: Any, scoring: Any, sizes: Any, seed: int
    ) -> Self:
        """Fill in the default classifiers and sizes."""
        least = min(train.size for train, _ in splits)
        named = default_classifiers(samples, least, seed) if classifiers is None else named_classifiers(classifiers)
        evaluators = {
            name: SizeEvaluator.for_samples(samples, classifier, scoring, sizes, seed)
            for name, classifier in named.items()
        }
        return cls(samples, splits, evaluators, seed)

    @property
    def sizes(self) -> Integers:
        """Numbers of features."""
        return next(iter(self.evaluators.values())).sizes

    @property
    def n_trained(self) -> int:
        """Number of classifiers that a job trains."""
        return len(self.evaluators) * self.sizes.size

    @property
    def rows(self) -> tuple[float, float]:
        """Mean numbers of rows for training and for testing."""
        return tuple(float(np.mean([split[part].size for split in self.splits])) for part in (0, 1))  # type: ignore[return-value]

    def run(self, selectors: Sequence[Any], n_jobs: int | None) -> Iterator[Floats | str]:
        """Score each selector in each fold, then the baseline and all features.

        Parameters
        ----------
        selectors : sequence of estimators
            Cloned and fitted once in each fold.
        n_jobs : int, optional
            Number of processes.

        Yields
        ------
        ndarray of shape (n_classifiers, n_sizes) or str
            For each fold, the scores of each selector, or the reason why its fit failed; then the scores of random
            features; then those of all features, of which all sizes are the same.
        """
        jobs = (
            delayed(job)(self, number, *given)
            for number in range(len(self.splits))
            for job, given in (*((score_selector, (one,)) for one in selectors), (score_random, ()), (score_all, ()))
        )
        with results_in_order(jobs, n_jobs) as results:
            yield from results

    def score(self, orders: Sequence[Integers], number: int) -> Floats:
        """Score orders of features in a fold; return the mean over the orders for each classifier and size."""
        train, test = (self.samples.take(rows) for rows in self.splits[number])
        with one_thread():
            scores = np.array([one.scores(orders, train, test).mean(axis=0) for one in self.evaluators.values()])
        check_scores(scores[None], self.sizes)
        return scores


def score_selector(folds: Folds, number: int, selector: Any) -> Floats | str:
    """Fit a selector in a fold and score its order; return the reason if the fit fails."""
    train = folds.samples.take(folds.splits[number][0])
    weight = {} if train.weight is None else {"sample_weight": train.weight}
    try:
        with without_warnings():  # the fit on all rows has warned
            order = fitted_order(selector, train.X, train.y, weight)[1]
    except Exception as error:  # a method may fail in any way
        return reason_of(error)
    return folds.score([order], number)


def score_random(folds: Folds, number: int) -> Floats:
    """Score features drawn at random in a fold."""
    rng = np.random.default_rng([folds.seed, RANDOM_STREAM, number])
    n_features = folds.samples.X.shape[1]
    return folds.score([rng.permutation(n_features) for _ in range(N_RANDOM_ORDERS)], number)


def score_all(folds: Folds, number: int) -> Floats:
    """Score all features in a fold; NaN if the table is large."""
    n_samples, n_features = folds.samples.X.shape
    if n_samples * n_features > MAX_VALUES_FOR_ALL:
        return np.full((len(folds.evaluators), 1), np.nan)
    train, test = (folds.samples.take(rows) for rows in folds.splits[number])
    every = np.arange(n_features)
    with one_thread():
        return np.array([[one.score(every, train, test)] for one in folds.evaluators.values()])


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread: on tables this small, threads of scikit-learn wait longer than they work."""
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        yield


def repeated_splits(cv: Any, n_repeats: int, samples: Samples, groups: Any, seed: int) -> list[Split]:
    """Make the folds of all repetitions; folds that are given are not repeated.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
        As for `ilfs.selection.compare`.
    n_repeats : int
        Number of divisions into folds, if ``cv`` is an integer.
    samples : Samples
        All rows.
    groups : array of shape (n_samples,) or None
        Group of each row.
    seed : int
        Seed of the first repetition; each has the next one.

    Returns
    -------
    list of (ndarray, ndarray)
        Training rows and test rows of each fold.
    """
    if not is_integer(cv):
        return splits_of(cv, samples, groups, seed)
    largest = max(count for _, count in class_counts(samples.y, samples.weight))
    if largest < cv:
        raise ValueError(f"{cv} folds need a class with {cv} rows or more, got at most {largest}: use fewer folds")
    return [split for number in range(n_repeats) for split in splits_of(cv, samples, groups, seed + number)]


def default_classifiers(samples: Samples, n_train: int, seed: int) -> dict[str, Any]:
    """Make the default classifiers: a linear SVM and the nearest neighbours, both on standardised features.

    Parameters
    ----------
    samples : Samples
        All rows. Missing values are replaced by means; a sparse table is scaled but not centred.
    n_train : int
        Least number of training rows: there are at most as many neighbours.
    seed : int
        Seed of the SVM.

    Returns
    -------
    dict of str to estimator
        Names and classifiers.
    """
    svm = default_estimator(samples.X, samples.y, seed)
    neighbours = KNeighborsClassifier(min(N_NEIGHBOURS, n_train))
    return {
        "linear SVM": svm,
        "nearest neighbours": make_pipeline(*preparing_steps(samples.X), neighbours),
    }


def preparing_steps(X: Any) -> list[Any]:
    """Return the steps of a pipeline before a classifier: imputation, if values are missing, and scaling."""
    is_sparse = sparse.issparse(X)
    missing = bool(np.isnan(X.data if is_sparse else X).any())
    imputer = [SimpleImputer(keep_empty_features=True)] if missing else []
    return [*imputer, StandardScaler(with_mean=not is_sparse)]


def named_classifiers(classifiers: Any) -> dict[str, Any]:
    """Name the classifiers by their classes, unless a mapping gives their names."""
    if isinstance(classifiers, Mapping):
        named = {str(name): one for name, one in classifiers.items()}
    else:
        listed = list(classifiers) if isinstance(classifiers, Sequence) else [classifiers]
        named = dict(zip(numbered([class_name(one) for one in listed]), listed, strict=True))
    for one in named.values():
        if isinstance(one, type) or not hasattr(one, "fit") or not hasattr(one, "predict"):
            raise ValueError(f"classifiers must be estimators with fit and predict, got {one!r}")
    if not named:
        raise ValueError("classifiers must be at least one, got none")
    return named


def class_name(estimator: Any) -> str:
    """Return the name of the class of an estimator; of a pipeline, that of its last step."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def numbered(names: Sequence[str]) -> list[str]:
    """Make names different by numbers.

    Examples
    --------
    >>> from ilfs.selection.performance import numbered
    >>> numbered(["ilfs", "mi", "ilfs"])
    ['ilfs', 'mi', 'ilfs (2)']
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def class_counts(y: NDArray[Any], weight: Floats | None = None) -> tuple[tuple[str, int], ...]:
    """Count the rows of each class, without those of weight 0."""
    used = y if weight is None else y[weight > 0]
    labels, counts = np.unique(used, return_counts=True)
    return tuple((str(label), int(count)) for label, count in zip(labels.tolist(), counts, strict=True))
