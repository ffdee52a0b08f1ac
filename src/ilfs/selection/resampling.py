r"""Stability of a selection over half-samples of the rows.

The selector is fitted on random halves of the rows. For a method that needs only statistics, such as `ILFS` and
`FisherScore`, the half-samples are further labellings of the source, in which the other rows take no part. The plans of
all of them run together, so the rows are read as often as for one fit, and nothing is approximated. Other methods are
fitted anew on the rows of each half-sample.

Picking without repetition changes between half-samples by nature: of two features with the same information, either may
be picked. So stability is also measured for families: a chosen feature counts as chosen again if another half-sample
chose it or a feature that is correlated with it over all rows (`ilfs.stability_indices.family_stability`). How often
this happens by chance follows from the number of features that are correlated with it. They are counted among all
features, or among `MAX_SAMPLED_COLUMNS` features drawn at random.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from ilfs.arrays import Floats, Integers
from ilfs.execution import Fold, Plan, ask, both, fold_of, run_plan, together
from ilfs.execution.fold import Read
from ilfs.execution.limits import PAIR_BYTES, PAIR_COPIES
from ilfs.execution.plan import with_changed_requests
from ilfs.memory import FREE_FRACTION, GIGABYTE, free_bytes
from ilfs.parameters import check_choice, check_integer, check_within, is_integer
from ilfs.permutations import without_warnings
from ilfs.registry import classes_with
from ilfs.selection.ensemble import order_on_rows
from ilfs.selection.half_samples import half_samples
from ilfs.selection.parallel import results_in_order
from ilfs.selection.progress import FractionDone
from ilfs.selection.stability_result import Stability
from ilfs.selection.wrapping import WrapsSelectors, as_selector, ranking_clone, ranking_of
from ilfs.selector import PlannedSelector, RankingSelector, Scores
from ilfs.sources import Source, TableSource
from ilfs.sources.subsets import RowSubsets
from ilfs.stability_indices import family_stability, nogueira_stability, replaced_columns
from ilfs.statistics import Association, Classes, ClassMoments, Moments, Products
from ilfs.summaries import Summary
from ilfs.ties import UNIT_FLOOR
from ilfs.validation import check_n_jobs, refuse_one_class

MAX_SAMPLED_COLUMNS = 1000  # features whose correlations tell how many relatives a feature has
MAX_STATISTICS_BYTES = 2**30  # of the statistics of all half-samples that are computed in the same reads
MAX_PAIRED_COLUMNS = 1000  # columns whose cross products a plan is assumed to need, to estimate its memory
DEFAULT_COMPARED = 20  # best features, if the selector has no number of its own
RANK_QUANTILES = (0.05, 0.5, 0.95)

# Order on all rows, orders on each half, moments of all rows as one class, and the engine.
Fits = tuple[Integers, list[Integers], ClassMoments, Fold]


def stability(
    selector: Any,
    X: Any,
    y: Any = None,
    n_resamples: int = 50,
    k: int | None = None,
    groups: Any = None,
    random_state: int | np.random.Generator | None = 0,
    *,
    sample_weight: Any = None,
    complementary_pairs: bool = True,
    family_correlation: float = 0.7,
    n_jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Stability:
    """Measure how much the best features change between random halves of the rows.

    Methods that read rows in blocks are fitted on all half-samples in the reads of one fit, and take streams and tables
    of Dask, too. All others need the rows in memory and are fitted once for each half-sample.

    Parameters
    ----------
    selector : estimator or str
        Selector that has ``order_``, ``ranking_`` or ``scores_`` after fitting, or the name of a method such as
        ``"fisher"``. It is not changed.
    X : array, data frame, sparse matrix, file, stream or Dask table
        Data in any form that the selector takes.
    y : array of shape (n_samples,) or (n_samples, n_labels), or str, optional
        Class of every sample, an indicator matrix, or the name of a column. Not needed if the selector reads no labels.
    n_resamples : int, default=50
        Number of half-samples; even with ``complementary_pairs``.
    k : int, optional
        Number of best features to compare; fewer than all features. By default the selector's own number of features
        if it is an integer, such as 10 for ``ILFS(10)``, and otherwise 20, or one fewer than all features if there are
        at most 20.
    groups : array of shape (n_samples,), optional
        Group of each row, such as its donor. The rows of a group are in the same half.
    random_state : int, numpy.random.Generator or None, default=0
        Random numbers of the half-samples.
    sample_weight : array of shape (n_samples,), optional
        Weight of each row, if the selector takes weights. Rows are drawn irrespective of their weights; rows of weight
        0 take no part.
    complementary_pairs : bool, default=True
        Every second half-sample has no row in common with the one before. The smaller bounds on false positives need
        this.
    family_correlation : float, default=0.7
        Least absolute correlation of two features of a family, for ``family_frequency``.
    n_jobs : int, optional
        Number of threads, or of processes for methods that are fitted anew. The result does not depend on it.
    progress : callable, optional
        It is called often with the fraction of the work that is done, from 0 to 1. An exception that it raises ends the
        computation.

    Returns
    -------
    Stability
        Indices with confidence intervals, selection frequencies and rank intervals.

    See Also
    --------
    ilfs.selection.RankEnsemble : One ranking from several.

    Notes
    -----
    Half of the rows of each class are drawn without replacement, as stability selection needs. The intervals of the
    indices are about other half-samples of the same rows, not about other data.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import ILFS
    >>> from ilfs.selection import stability
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> result = stability(ILFS(), X, y, k=3)
    >>> round(result.nogueira.value, 2), round(result.families.value, 2)
    (0.74, 1.0)
    >>> [(X.columns[j], float(result.selection_frequency[j])) for j in result.selected(0.6)]
    [('worst concave points', 1.0), ('mean concave points', 0.72), ('worst radius', 0.7)]
    """
    check_integer("n_resamples", n_resamples, 2)
    if k is not None:
        check_integer("k", k, 1)
    check_choice("complementary_pairs", complementary_pairs, (True, False))
    check_within("family_correlation", family_correlation, 0, 1)
    check_n_jobs(n_jobs)
    if complementary_pairs and n_resamples % 2:
        raise ValueError(f"n_resamples must be even with complementary_pairs=True, got {n_resamples}")
    if isinstance(X, Summary):
        raise TypeError("stability needs rows to draw halves of them, got a summary of rows")
    resampled = ResampledSelector(selector, n_jobs, is_labelled=y is not None, progress=progress)
    source = resampled._source_of(X, y, sample_weight)
    try:
        k = resampled.check(source, k)
        observed = source.encoded_labels()
        halves = half_samples(observed, n_resamples, random_state, groups, complementary_pairs=complementary_pairs)
        subsets = RowSubsets.of_rows(halves, observed, source.labellings)
        with resampled._named_columns():
            return resampled.run(source, subsets, k, family_correlation, complementary_pairs)
    finally:
        if not isinstance(X, Source):  # a source that the caller made may be read again
            source.close()


class ResampledSelector(WrapsSelectors):
    """A selector that is fitted on all rows and on subsets of them.

    Parameters
    ----------
    selector : estimator or str
        The selector.
    n_jobs : int, optional
        Number of threads or processes.
    is_labelled : bool, default=True
        True if labels are given. Selectors of other packages get them even if they do not declare that they need them.
    progress : callable, optional
        Function of the fraction of the work that is done.
    """

    def __init__(
        self,
        selector: Any,
        n_jobs: int | None = None,
        *,
        is_labelled: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.selector, self.n_jobs, self.is_labelled, self.progress = selector, n_jobs, is_labelled, progress

    def _wrapped(self) -> list[Any]:
        return [as_selector(self.selector, "selector")]

    @property
    def _reads_labels(self) -> bool:  # type: ignore[override]
        is_own = isinstance(self._wrapped()[0], RankingSelector)
        return super()._reads_labels or (self.is_labelled and not is_own)

    @property
    def _prefers_statistics(self) -> bool:  # type: ignore[override]
        return bool(getattr(self._wrapped()[0], "_prefers_statistics", False))

    @property
    def _title(self) -> str:
        return f"stability of {type(self._wrapped()[0]).__name__}"

    def _score_stream(self, source: Source) -> Scores:  # noqa: ARG002
        raise TypeError(
            f"{self._title} needs all rows in memory, since the selector is fitted on several sets of rows: load the "
            f"table if it fits, or use a method that reads rows in blocks ({classes_with('streams')})"
        )

    def check(self, source: Source, k: int | None) -> int:
        """Raise if the selector does not take the source, or k is not less than the number of features; return k."""
        if self._reads_labels and len(source.labellings) == 1:
            refuse_one_class(source.labellings[0])
        own = number_to_compare(self._wrapped()[0], source.n_features)
        if (own if k is None else k) >= source.n_features:
            got = f"{own} from the selector: give a smaller k" if k is None else k
            raise ValueError(f"k must be less than the number of features, {source.n_features}, got {got}")
        if source.has_weights:
            self._check_weight(np.ones(1))
        return own if k is None else k

    def run(
        self, source: Source, subsets: RowSubsets, k: int, family_correlation: float, complementary_pairs: bool
    ) -> Stability:
        """Fit the selector on all rows and on each subset of the rows, and compare the best features."""
        if self._reads_labels and len(source.labellings) == 1:
            check_classes(subsets)
        done = FractionDone(self.progress)
        fit = self._read_together if self._shares_reads(source) else self._fit_anew
        order, orders, moments, fold = fit(source, subsets, done)
        check_varying(moments, k)
        best = np.array([one[:k] for one in orders])
        columns = np.unique(best)
        check_pairs(columns.size + MAX_SAMPLED_COLUMNS, k)
        related, n_related = run_plan(plan_families(moments, columns, family_correlation), fold)
        done.end()
        low, median, high = np.quantile([ranking_of(one) for one in orders], RANK_QUANTILES, axis=0)
        units = {"jackknife_size": 2 if complementary_pairs else 1}
        return Stability(
            k=k,
            complementary_pairs=complementary_pairs,
            feature_names=self._names(None),
            order=order,
            subsets=best,
            selection_frequency=np.bincount(best.ravel(), minlength=order.size) / len(best),
            family_frequency=family_frequencies(best, columns, related, order.size),
            rank_low=low,
            rank_median=median,
            rank_high=high,
            nogueira=nogueira_stability(list(best), order.size),
            kuncheva=family_stability(list(best), order.size, **units),
            families=family_stability(list(best), order.size, columns, related, n_related, **units),
        )

    def _shares_reads(self, source: Source) -> bool:
        """Return True if the selector needs only statistics of the rows."""
        selector = self._wrapped()[0]
        streams = isinstance(selector, PlannedSelector) and selector._streams
        return streams and (selector._prefers_statistics or not isinstance(source, TableSource))

    def _clone(self) -> Any:
        """Return an unfitted selector that ranks all features and makes no permutations."""
        return ranking_clone(self._to_fit()[0])

    # Fits on rows in memory, one after the other

    def _fit_anew(self, source: Source, subsets: RowSubsets, done: FractionDone) -> Fits:
        table = self._in_memory(source)
        samples = self._samples(table)
        X, y, weight = samples.X, table.y, samples.weight
        fold = fold_of(table, self.n_jobs)
        moments = fold(Moments(), labelling=None).checked()  # before the fits, which do not know the names of columns
        done.begin(2 + len(subsets.taken))  # the fits, and the correlations of the chosen features
        order = order_on_rows(self._clone(), X, y, weight, None)
        done.step()
        tasks = (delayed(order_on_half)(self._clone(), X, y, weight, np.flatnonzero(one)) for one in subsets.taken)
        with results_in_order(tasks, self.n_jobs) as fits:
            return order, list(done.counted(fits)), moments, fold

    # Fits by statistics, in the same reads

    def _read_together(self, source: Source, subsets: RowSubsets, done: FractionDone) -> Fits:
        one = self._clone()
        one._check_parameters()
        resampled = done.listening(source.with_subsets(subsets))
        fold = fold_of(resampled, self.n_jobs)
        classes, all_rows = list(source.labellings), source.all_rows
        plans: list[Plan[Any]] = [
            both(self._plan_all(classes, all_rows), ask(Moments(), labelling=None)),
            *(self._plan_half(fold.labellings, len(classes), number) for number in range(len(subsets.taken))),
        ]
        size = plans_at_a_time(source.n_features, max((one.n_classes for one in classes), default=1))
        done.begin(one.n_reads * ceil(len(plans) / size) + 1)  # one more read for the correlations
        results = [one for batch in in_batches(plans, size) for one in run_plan(together(batch), fold)]
        (order, moments), *orders = results
        return order, orders, moments.checked(), fold

    def _plan_all(self, classes: list[Classes], all_rows: Classes) -> Plan[Integers]:
        """Order the features by all rows."""

        def change(read: Read[Any]) -> Read[Any]:
            return read if classes else replace(read, labelling=None)  # the labellings are those of subsets

        return with_changed_requests(self._plan_order(classes, all_rows), change)

    def _plan_half(self, labellings: Sequence[Classes], n_labels: int, number: int) -> Plan[Integers]:
        """Order the features by the rows of a subset; its last labelling puts all these rows into one class."""
        first = n_labels + number * (n_labels + 1)
        *classes, all_rows = labellings[first : first + n_labels + 1]

        def change(read: Read[Any]) -> Read[Any]:
            assert not isinstance(read.labelling, tuple)  # only permutations ask for several labellings at once
            return replace(read, labelling=first + (n_labels if read.labelling is None else read.labelling))

        return with_changed_requests(self._plan_order(classes, all_rows), change, without_warnings)

    def _plan_order(self, classes: list[Classes], all_rows: Classes) -> Plan[Integers]:
        one = self._clone()
        one._copy_columns(self)
        if len(classes) > 1:
            scores = yield from one._plan_labels(classes, all_rows)
        else:
            scores = yield from one._plan(classes[0] if classes else all_rows)
        order: Integers = scores.order()
        return order


def number_to_compare(selector: Any, n_features: int) -> int:
    """Return the default of ``k``: the selector's own number of features, if it is an integer.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from ilfs import ILFS
    >>> from ilfs.selection.resampling import number_to_compare
    >>> [number_to_compare(one, n_features=100) for one in (ILFS(7), SelectKBest(k=8), ILFS(), ILFS(0.5), ILFS("fdr"))]
    [7, 8, 20, 20, 20]
    >>> number_to_compare(ILFS(), n_features=4)
    3
    """
    for name in ("n_features_to_select", "k"):  # as selectors of this package, and those of scikit-learn, call it
        number: Any = getattr(selector, name, None)
        if is_integer(number):
            return int(number)
    return max(1, min(DEFAULT_COMPARED, n_features - 1))


def check_classes(subsets: RowSubsets) -> None:
    """Raise if a subset has rows of one class only."""
    for classes in subsets.labellings[:: subsets.per_subset]:
        if classes.n_classes < 2:
            raise ValueError(
                "groups must give two classes to each half of the rows, got a half with only "
                f"{classes.labels.tolist()[0]!r}: use more groups"
            )


def order_on_half(selector: Any, X: Any, y: Any, weight: Floats | None, rows: Integers) -> Integers:
    """Order the columns by a selector that is fitted on some rows; its warnings do not concern the user."""
    with without_warnings():
        return order_on_rows(selector, X, y, weight, rows)


def plans_at_a_time(n_features: int, n_classes: int) -> int:
    """Return the number of plans whose statistics fit in memory together; more of them take further reads."""
    of_columns = n_features * (4 * n_classes + 16)  # moments and tokens
    of_pairs = 2 * min(n_features, MAX_PAIRED_COLUMNS) ** 2
    return max(1, MAX_STATISTICS_BYTES // (8 * (of_columns + of_pairs)))


def in_batches(plans: list[Plan[Any]], size: int) -> Iterator[list[Plan[Any]]]:
    """Cut a list of plans into lists of at most ``size``."""
    for start in range(0, len(plans), size):
        yield plans[start : start + size]


# Families


def check_varying(moments: ClassMoments, k: int) -> None:
    """Raise if constant features would be among the best k: they tie, so the same ones would be chosen every time."""
    n_varying = int(np.count_nonzero(moments.scatter.sum(axis=0) > 0))
    if k > n_varying:
        raise ValueError(f"k must be at most the number of features with two different values, {n_varying}, got {k}")


def check_pairs(n_columns: int, k: int) -> None:
    """Raise if the correlations of the chosen features do not fit in memory."""
    needed, limit = PAIR_COPIES * PAIR_BYTES * n_columns**2, FREE_FRACTION * free_bytes()
    if needed > limit:
        raise ValueError(
            f"k={k} is too large: the correlations of {n_columns:,} features, most of them chosen at least once, need "
            f"{needed / GIGABYTE:.1f} GB, and the limit is {limit / GIGABYTE:.1f} GB"
        )


def plan_families(
    moments: ClassMoments, columns: Integers, family_correlation: float
) -> Plan[tuple[NDArray[np.bool_], Floats]]:
    """Find the columns that are correlated with each other.

    Parameters
    ----------
    moments : ClassMoments
        Moments of all columns, all rows as one class.
    columns : ndarray of int
        Columns that were chosen at least once, ascending.
    family_correlation : float
        Least absolute correlation of two columns of a family.

    Returns
    -------
    plan of ndarray of bool of shape (n_columns, n_columns) and ndarray of shape (n_columns,)
        Pairs of these columns that are correlated; and the number of other columns of the table that are correlated
        with each, estimated from at most `MAX_SAMPLED_COLUMNS` of them.
    """
    n_features = moments.mean.shape[1]
    sample = np.arange(n_features)
    if n_features > MAX_SAMPLED_COLUMNS:
        sample = np.sort(np.random.default_rng(0).choice(n_features, MAX_SAMPLED_COLUMNS, replace=False))
    every = np.union1d(columns, sample)
    related = yield from plan_related(moments, every, family_correlation)
    chosen, sampled = np.searchsorted(every, columns), np.searchsorted(every, sample)
    is_sampled = np.isin(columns, sample)
    fraction = (related[np.ix_(chosen, sampled)].sum(axis=1) - is_sampled) / (sample.size - is_sampled)
    return related[np.ix_(chosen, chosen)], fraction * (n_features - 1)


def plan_related(moments: ClassMoments, columns: Integers, family_correlation: float) -> Plan[NDArray[np.bool_]]:
    """Find the pairs of columns that are correlated over all rows; a constant column is related only to itself."""
    association = Association.from_moments(moments.of_columns(columns))
    rho = (yield from ask(Products(association), columns, labelling=None)).correlation()
    np.fill_diagonal(rho, 1.0)
    return np.asarray(np.abs(rho) >= family_correlation - UNIT_FLOOR)


def family_frequencies(subsets: Integers, columns: Integers, related: NDArray[np.bool_], n_features: int) -> Floats:
    """Return the fraction of subsets that hold a feature or one that is related to it.

    Parameters
    ----------
    subsets : ndarray of shape (n_subsets, k)
        Columns of each subset.
    columns : ndarray of int
        All of these columns, ascending.
    related : ndarray of bool of shape (n_columns, n_columns)
        Pairs of them that are related.
    n_features : int
        Number of all features.

    Returns
    -------
    ndarray of shape (n_features,)
        NaN for columns that are in no subset.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection.resampling import family_frequencies
    >>> family_frequencies(np.array([[1], [3], [1], [1]]), np.array([1, 3]), np.ones((2, 2), dtype=bool), 4)
    array([nan,  1., nan,  1.])
    """
    inside = np.zeros((len(subsets), columns.size), dtype=bool)
    np.put_along_axis(inside, np.searchsorted(columns, subsets), True, axis=1)
    frequency = np.full(n_features, np.nan)
    frequency[columns] = replaced_columns(inside, related).mean(axis=0)
    return frequency
