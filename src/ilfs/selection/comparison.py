"""The result of `ilfs.selection.compare`: rankings, agreement, performance, stability and time of several methods."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.cross_validation import chosen_size
from ilfs.paired_tests import corrected_error
from ilfs.parameters import check_integer
from ilfs.stability_indices import PairwiseIndex, StabilityIndex

RANDOM_BASELINE = "random"  # name of the baseline
LEVEL = 0.05  # of the tests


@dataclass(frozen=True)
class LeftOut:
    """A method that is not compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class MethodStability:
    """How much the best features of a method change between half-samples of the rows.

    Parameters
    ----------
    features : StabilityIndex
        Nogueira's index: 1 if the same features are best on all half-samples, about 0 if they change as at random.
    families : PairwiseIndex
        The same, but a feature that is replaced by a correlated one counts as chosen again.
    """

    features: StabilityIndex
    families: PairwiseIndex


@dataclass(frozen=True)
class PairTest:
    """Test of the difference of two methods, over the same folds.

    Parameters
    ----------
    classifier : str
        Name of the classifier.
    first, second : str
        Names of the methods, or of the baseline.
    difference, low, high : float
        Mean metric over all sizes, first minus second, and its 95 % interval, which is not corrected for the number of
        tests.
    p_value : float
        p-value of the corrected resampled t-test.
    adjusted : float
        The p-value with Holm's correction, over all pairs of methods and classifiers, or over all methods and
        classifiers for tests against the baseline.
    """

    classifier: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float

    @property
    def is_significant(self) -> bool:
        """True if the adjusted p-value is at most 5 %."""
        return self.adjusted <= LEVEL


@dataclass(frozen=True)
class Verdict:
    """Which methods are best with a classifier, by the mean metric over all sizes.

    A method is called worse if its p-value against the best one, times the number of other methods and of classifiers,
    is at most 5 %. This many tests have to be corrected for, and not all pairs: an error needs the truly best method to
    be worse than another one in the sample (J. Hsu, Simultaneous Confidence Intervals for All Distances from the
    "Best", Annals of Statistics 9, 1981).

    Parameters
    ----------
    classifier : str
        Name of the classifier.
    best : str
        The method with the largest mean.
    equal : tuple of str
        Other methods whose difference from the best one is not significant.
    worse : tuple of str
        Methods that are significantly worse than the best one.
    above_random : tuple of str
        Methods that are significantly better than random features.
    """

    classifier: str
    best: str
    equal: tuple[str, ...]
    worse: tuple[str, ...]
    above_random: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """Several methods on one table.

    Made by `ilfs.selection.compare`. `ilfs.report.comparison_text` formats it, and `ilfs.report.write_comparison_page`
    writes it as a page.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    selectors : tuple of str
        Each of them as Python code, with its parameters.
    classifiers : tuple of str
        Names of the classifiers.
    metric : str
        Name of the metric; larger is better.
    feature_names : ndarray of shape (n_features,)
        Names of the features; x0, x1, ... if they have none.
    classes : tuple of (str, int)
        Classes and their numbers of rows.
    rankings : ndarray of shape (n_methods, n_features)
        Rank of each feature by each method on all rows; 1 is the best.
    sizes : ndarray of shape (n_sizes,)
        Numbers of features.
    scores : ndarray of shape (n_methods + 1, n_classifiers, n_folds, n_sizes)
        Metric on the test rows of each fold. The last entry of the first axis is the baseline: features drawn at
        random.
    all_features : ndarray of shape (n_classifiers, n_folds)
        The same with all features; NaN if the table is large.
    n_train, n_test : float
        Mean number of rows for training and for testing.
    n_folds, n_repeats : int
        Number of folds, and of divisions of the rows into folds.
    k : int
        Number of best features for overlap and stability.
    spearman, kendall : ndarray of shape (n_methods, n_methods)
        Rank correlations of the rankings.
    overlap : ndarray of shape (n_methods, n_methods)
        Fraction of the ``k`` best features that two methods have in common.
    stability : tuple of MethodStability or None
        Of each method; None if it was not measured.
    n_resamples : int
        Number of half-samples; 0 if stability was not measured.
    seconds : ndarray of shape (n_methods,)
        Time of a fit on all rows.
    tests : tuple of PairTest
        All pairs of methods and the baseline, for each classifier.
    left_out : tuple of LeftOut
        Methods that cannot take the table.
    notes : tuple of str
        Sentences on what could not be measured.
    random_state : int
        Seed of the folds, classifiers, half-samples and random features.
    is_grouped : bool
        True if rows of a group were kept together.
    """

    methods: tuple[str, ...]
    selectors: tuple[str, ...]
    classifiers: tuple[str, ...]
    metric: str
    feature_names: NDArray[Any]
    classes: tuple[tuple[str, int], ...]
    rankings: Integers
    sizes: Integers
    scores: Floats
    all_features: Floats
    n_train: float
    n_test: float
    n_folds: int
    n_repeats: int
    k: int
    spearman: Floats
    kendall: Floats
    overlap: Floats
    stability: tuple[MethodStability | None, ...]
    n_resamples: int
    seconds: Floats
    tests: tuple[PairTest, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    random_state: int
    is_grouped: bool

    def __repr__(self) -> str:
        return (
            f"Comparison of {', '.join(self.methods)} on {self.n_samples:,} rows x {self.n_features:,} features, "
            f"{self.scores.shape[2]} folds"
        )

    @property
    def n_features(self) -> int:
        """Number of features of the table."""
        return int(self.rankings.shape[1])

    @property
    def n_samples(self) -> int:
        """Number of rows of the table."""
        return sum(count for _, count in self.classes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the methods and, last, of the baseline."""
        return (*self.methods, RANDOM_BASELINE)

    @property
    def mean(self) -> Floats:
        """Mean metric over the folds, of shape (n_methods + 1, n_classifiers, n_sizes)."""
        return np.asarray(self.scores.mean(axis=2))

    @property
    def error(self) -> Floats:
        """Standard error of `mean`, by the variance of Nadeau and Bengio for folds that share rows; NaN for one fold.

        It is larger than the usual one, which falls with every repetition of the same rows.
        """
        return self._error_over(np.moveaxis(self.scores, 2, 0))

    @property
    def mean_over_sizes(self) -> Floats:
        """Mean metric over folds and sizes, of shape (n_methods + 1, n_classifiers), which the tests compare."""
        return np.asarray(self.scores.mean(axis=(2, 3)))

    @property
    def error_over_sizes(self) -> Floats:
        """Standard error of `mean_over_sizes`."""
        return self._error_over(np.moveaxis(self.scores.mean(axis=3), 2, 0))

    @property
    def sufficient_sizes(self) -> Integers:
        """Smallest size within one standard error of the best mean, of shape (n_methods + 1, n_classifiers)."""
        return np.array(
            [
                [chosen_size(self.sizes, mean, error, "one_se") for mean, error in zip(means, errors, strict=True)]
                for means, errors in zip(self.mean, self.error, strict=True)
            ]
        )

    @property
    def all_features_error(self) -> Floats:
        """Standard error of the mean metric with all features, of shape (n_classifiers,)."""
        return self._error_over(self.all_features.T)

    def _error_over(self, values: Floats) -> Floats:
        if len(values) < 2:
            return np.full(values.shape[1:], np.nan)
        return corrected_error(values, n_train=self.n_train, n_test=self.n_test)

    @property
    def order(self) -> Integers:
        """Columns by their mean rank over the methods, best first; equal ones are in column order."""
        return np.asarray(np.argsort(self.rankings.mean(axis=0), kind="stable"), dtype=np.int64)

    def verdict(self, classifier: str) -> Verdict:
        """Tell which methods are best with a classifier, and which cannot be told apart from the best one.

        Parameters
        ----------
        classifier : str
            Name of the classifier.

        Returns
        -------
        Verdict
            Names of methods, the better ones first.
        """
        if classifier not in self.classifiers:
            raise ValueError(f"classifier must be one of {', '.join(self.classifiers)}, got {classifier!r}")
        means = self.mean_over_sizes[:-1, self.classifiers.index(classifier)]
        best, *others = [self.methods[i] for i in np.argsort(-means, kind="stable")]
        found = {frozenset((one.first, one.second)): one for one in self.tests if one.classifier == classifier}
        n_tests = len(others) * len(self.classifiers)
        worse = tuple(name for name in others if differs(found, best, name, n_tests))
        above = [
            one for one in found.values() if one.second == RANDOM_BASELINE and one.is_significant and one.difference > 0
        ]
        return Verdict(
            classifier,
            best,
            equal=tuple(name for name in others if name not in worse),
            worse=worse,
            above_random=tuple(name for name in (best, *others) if name in {one.first for one in above}),
        )

    # Tidy tables, for `pandas.DataFrame` or polars

    def performance(self) -> dict[str, NDArray[Any]]:
        """Return the performance against the number of features as columns of a table.

        Returns
        -------
        dict of str to ndarray
            ``method``, ``classifier``, ``n_features``, ``mean``, ``std_error``, and ``fold0``, ``fold1``, ...: one row
            for each method (or ``random``), classifier and size.
        """
        cells = [(a, b, c) for a in self.names for b in self.classifiers for c in self.sizes.tolist()]
        of_folds = np.moveaxis(self.scores, 2, 0).reshape(self.scores.shape[2], -1)
        table = columns(("method", "classifier", "n_features"), cells)
        table |= {"mean": self.mean.ravel(), "std_error": self.error.ravel()}
        return table | {f"fold{i}": values for i, values in enumerate(of_folds)}

    def ranks(self, top: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the rankings side by side as columns of a table, the best mean rank first.

        Parameters
        ----------
        top : int, optional
            Maximum number of rows; all by default.

        Returns
        -------
        dict of str to ndarray
            ``feature``, ``column`` (its index), ``mean_rank``, and one column for each method with the rank of each
            feature.
        """
        if top is not None:
            check_integer("top", top, 1)
        chosen = self.order[:top]
        table = {
            "feature": self.feature_names[chosen],
            "column": chosen,
            "mean_rank": self.rankings.mean(axis=0)[chosen],
        }
        # A method may have any name; those of the columns above are taken.
        taken = {name: f"rank_{name}" if name in table else name for name in self.methods}
        return table | {taken[name]: ranks[chosen] for name, ranks in zip(self.methods, self.rankings, strict=True)}

    def agreement(self) -> dict[str, NDArray[Any]]:
        """Return the agreement of each pair of methods as columns of a table.

        Returns
        -------
        dict of str to ndarray
            ``first``, ``second``, ``spearman``, ``kendall`` and ``overlap``.
        """
        pairs = [(i, j) for i in range(len(self.methods)) for j in range(i + 1, len(self.methods))]
        rows = [
            (self.methods[i], self.methods[j], *(one[i, j] for one in (self.spearman, self.kendall, self.overlap)))
            for i, j in pairs
        ]
        return columns(("first", "second", "spearman", "kendall", "overlap"), rows)

    def differences(self) -> dict[str, NDArray[Any]]:
        """Return the tests as columns of a table.

        Returns
        -------
        dict of str to ndarray
            The fields of `PairTest`.
        """
        titles = ("classifier", "first", "second", "difference", "low", "high", "p_value", "adjusted")
        return columns(titles, [tuple(getattr(one, title) for title in titles) for one in self.tests])


def differs(tests: dict[frozenset[str], PairTest], first: str, second: str, n_tests: int) -> bool:
    """Return True if the difference of two methods was tested and is significant among so many tests."""
    found = tests.get(frozenset((first, second)))
    return found is not None and found.p_value * n_tests <= LEVEL


def columns(titles: Iterable[str], rows: list[tuple[Any, ...]]) -> dict[str, NDArray[Any]]:
    """Turn the rows of a table into columns."""
    names = list(titles)
    values = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return {name: np.array(column) for name, column in zip(names, values, strict=True)}
