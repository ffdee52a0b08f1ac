"""Compare the methods of a suite by its results: ranks, tests, stability and the features that are chosen.

All functions return plain data. `ilfs.report.benchmark` makes tables and sentences of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.class_table import class_table
from ilfs.benchmark.significance.classes import ClassComparison, compare_over_classes
from ilfs.benchmark.significance.diagram import Diagram, critical_difference_diagram
from ilfs.benchmark.significance.pairs import MethodComparison, compare_with
from ilfs.benchmark.significance.paper import PaperVerdict, paper_procedure
from ilfs.benchmark.significance.ranks import Friedman, critical_difference, friedman_test
from ilfs.benchmark.significance.splits import DatasetComparison, compare_on_datasets
from ilfs.benchmark.significance.values import nan_mean
from ilfs.benchmark.store.results import Results
from ilfs.stability_indices import nogueira_stability

SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class RankSummary:
    """Mean ranks of methods over data sets.

    Attributes
    ----------
    methods : tuple of str
        Methods that are ranked, in the order of the arrays of the tests.
    by_size : tuple of Friedman
        Friedman's test at each number of features.
    overall : Friedman
        Friedman's test of the means over all numbers of features.
    critical_difference : float
        Nemenyi's critical difference of two mean ranks.
    of_own_size : tuple of str
        Methods that are left out because they choose the number of features themselves.
    incomplete : tuple of str
        Methods that are left out because they have no value on some data set.
    """

    methods: tuple[str, ...]
    by_size: tuple[Friedman, ...]
    overall: Friedman
    critical_difference: float
    of_own_size: tuple[str, ...]
    incomplete: tuple[str, ...]


def rank_summary(results: Results, metric: str = "ap_macro") -> RankSummary:
    """Rank the methods over the data sets, for each number of features and for all.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    metric : str
        Name of the metric.

    Returns
    -------
    RankSummary
        Mean ranks and tests.
    """
    values = 100 * results.values(metric)
    ranked = complete_methods(values)
    values = values[:, ranked]
    by_size = [friedman_test(by_dataset(values[:, :, :, [s]]), missing="drop") for s in range(values.shape[3])]
    overall = friedman_test(by_dataset(values), missing="drop")
    own = results.methods_of_own_size
    return RankSummary(
        methods=tuple(results.methods[m] for m in ranked),
        by_size=tuple(by_size),
        overall=overall,
        critical_difference=critical_difference(ranked.size, overall.n_datasets, SIGNIFICANCE_LEVEL),
        of_own_size=own,
        incomplete=tuple(name for m, name in enumerate(results.methods) if m not in ranked and name not in own),
    )


def complete_methods(values: Floats) -> Integers:
    """Indices of the methods that have a value on every data set that has any: only those can be ranked."""
    means = by_dataset(values)
    some = ~np.isnan(means).all(axis=1)
    return np.flatnonzero(~np.isnan(means[some]).any(axis=0))


def by_dataset(values: Floats) -> Floats:
    """Means of shape (n_datasets, n_methods) over the splits that all methods have, and over the sizes.

    A method without any split of a data set is NaN there, and does not restrict the splits of the others.
    """
    is_complete: NDArray[np.bool_] = np.asarray(~np.isnan(values).any(axis=3))
    takes_part = is_complete.any(axis=2, keepdims=True)
    common = (is_complete | ~takes_part).all(axis=1, keepdims=True) & takes_part
    return nan_mean(np.where(common, values.mean(axis=3), np.nan))


def rank_diagram(results: Results, metric: str = "ap_macro") -> Diagram:
    """Critical-difference diagram of the means over all numbers of features.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    metric : str
        Name of the metric.

    Returns
    -------
    Diagram
        For `ilfs.report.benchmark.diagram_svg`.
    """
    check_is_sizes_suite(results, "diagram of ranks")
    if len(results.datasets) < 2:
        raise ValueError(
            f"a diagram of ranks needs at least two data sets, got 1 ({results.datasets[0]}): name more of them"
        )
    values = results.values(metric)
    ranked = complete_methods(values)
    found = friedman_test(by_dataset(values[:, ranked]), missing="drop")
    names = [results.methods[m] for m in ranked]
    return critical_difference_diagram(names, found.mean_ranks, found.n_datasets, alpha=SIGNIFICANCE_LEVEL)


def compare_over_datasets(results: Results, reference: str, metric: str = "ap_macro") -> tuple[MethodComparison, ...]:
    """Compare a reference with each method over the data sets, in per cent of the metric.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    reference : str
        Name of the method that is compared with all others.
    metric : str
        Name of the metric.

    Returns
    -------
    tuple of MethodComparison
        One for each method that shares at least three data sets with the reference.
    """
    found = compare_with(by_dataset(100 * results.values(metric)), results.methods.index(reference))
    if not found:
        raise ValueError("Wilcoxon's test needs at least three data sets that the reference shares with another method")
    return found


def compare_on_each_dataset(results: Results, reference: str, metric: str = "ap_macro") -> DatasetComparison:
    """Compare a reference with each method on each data set, in per cent of the metric.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    reference : str
        Name of the method that is compared with all others.
    metric : str
        Name of the metric.

    Returns
    -------
    DatasetComparison
        Differences and p-values of the corrected resampled t-test.
    """
    facts = [results.facts[name] for name in results.datasets]
    n_test = np.array([one.n_test for one in facts])
    n_train = np.array([one.n_samples for one in facts]) - n_test
    values = 100 * results.values(metric)
    return compare_on_datasets(values, results.methods.index(reference), n_train=n_train, n_test=n_test)


def paper_verdict(results: Results, reference: str, metric: str = "ap_macro") -> PaperVerdict:
    """Apply the paper's own statistical procedure.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``, whose values on a data set are those of all splits and
        sizes; or ``"classes"``, where they are those of the classes.
    reference : str
        Name of the method whose successes are counted.
    metric : str
        Name of the metric, for the experiment ``"sizes"``.

    Returns
    -------
    PaperVerdict
        p-values and the number of successes.
    """
    values = values_of_classes(results) if results.suite.experiment == "classes" else 100 * results.values(metric)
    return paper_procedure(values, results.methods.index(reference))


def values_of_classes(results: Results) -> Floats:
    """Average precision in per cent, of shape (n_datasets, n_methods, n_classes); NaN where there is none."""
    tables = [class_table(results, name).values for name in results.datasets]
    values = np.full((len(tables), len(results.methods), max(1, *map(len, tables))), np.nan)
    for d, table in enumerate(tables):
        values[d, :, : len(table)] = table.T
    return values


def compare_on_classes(
    results: Results, dataset: str, reference: str, size: int | None = None
) -> tuple[ClassComparison, ...]:
    """Compare a reference with each method over the classes of a data set, in per cent of average precision.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"classes"``.
    dataset : str
        Name of the data set.
    reference : str
        Name of the method that is compared with all others.
    size : int, optional
        Number of features; the largest that was evaluated by default.

    Returns
    -------
    tuple of ClassComparison
        One for each method that shares at least three classes with the reference.
    """
    found = compare_over_classes(class_table(results, dataset, size).values, results.methods.index(reference))
    if not found:
        raise ValueError("tests over classes need three classes that two methods share")
    return found


@dataclass(frozen=True)
class ChoiceStability:
    """Stability of the chosen features over the splits: 1 for always the same features, 0 for a random choice.

    Attributes
    ----------
    by_size : ndarray of shape (n_datasets, n_methods, n_sizes)
        Stability at each number of features; NaN where there are fewer than two splits or no choice.
    over_sizes : ndarray of shape (n_datasets, n_methods)
        Mean over the sizes; for a method that chooses the number of features itself, the stability of its subsets.
    """

    by_size: Floats
    over_sizes: Floats


def choice_stability(results: Results) -> ChoiceStability:
    """Measure how much the features that are chosen on different splits agree.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.

    Returns
    -------
    ChoiceStability
        Nogueira's measure, by data set, method and size.
    """
    sizes = results.suite.protocol.sizes
    by_size = np.full((len(results.datasets), len(results.methods), len(sizes)), np.nan)
    own = np.full(by_size.shape[:2], np.nan)  # methods that choose the number of features themselves
    own_size = set(results.methods_of_own_size)
    for d, dataset in enumerate(results.datasets):
        n_features = results.facts[dataset].n_features
        for m, method in enumerate(results.methods):
            orders = results.orders(dataset, method)
            if len(orders) < 2:
                continue
            if method in own_size:
                own[d, m] = nogueira_stability(orders, n_features).value
            else:
                by_size[d, m] = [stability_of_first(orders, size, n_features) for size in sizes]
    return ChoiceStability(by_size, np.where(np.isnan(own), nan_mean(by_size), own))


def stability_of_first(orders: list[list[int]], size: int, n_features: int) -> float:
    """Stability of the best ``size`` features; NaN if these are all features, as there is no choice then."""
    if size >= n_features:
        return float("nan")
    return nogueira_stability([order[:size] for order in orders], n_features).value


@dataclass(frozen=True)
class ChosenFeatures:
    """Features of a data set that methods choose most often.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    names : tuple of str
        Names of the features, most often chosen first.
    columns : tuple of int
        Their column indices.
    fractions : ndarray of shape (n_listed, n_methods)
        Fraction of the splits in which the feature is among the best ones of the method.
    """

    dataset: str
    names: tuple[str, ...]
    columns: tuple[int, ...]
    fractions: Floats


def chosen_features(results: Results, size: int, top: int = 20, by: str | None = None) -> list[ChosenFeatures]:
    """Count for each data set how often each feature is among the best ones.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    size : int
        A feature counts as chosen if it is among the best ``size`` features.
    top : int
        Number of features to list.
    by : str, optional
        Method whose choice orders the list; by default the mean of all.

    Returns
    -------
    list of ChosenFeatures
        One for each data set.
    """
    check_is_sizes_suite(results, "features")
    largest = max(results.suite.protocol.sizes)
    if size > largest:
        raise ValueError(f"size must be at most {largest}, as orders are stored up to there, got {size}")
    if by is not None and by not in results.methods:
        raise ValueError(f"the method to order by must be one of {', '.join(results.methods)}, got {by!r}")
    return [_chosen_on(results, dataset, size, top, by) for dataset in results.datasets]


def _chosen_on(results: Results, dataset: str, size: int, top: int, by: str | None) -> ChosenFeatures:
    facts = results.facts[dataset]
    fractions = np.zeros((facts.n_features, len(results.methods)))
    for m, method in enumerate(results.methods):
        orders = results.orders(dataset, method)
        for order in orders:
            fractions[order[:size], m] += 1 / len(orders)
    leading = fractions.mean(axis=1) if by is None else fractions[:, results.methods.index(by)]
    best = [int(j) for j in np.argsort(-leading, kind="stable")[:top] if leading[j] > 0]
    return ChosenFeatures(dataset, tuple(facts.feature_names[j] for j in best), tuple(best), fractions[best])


def check_is_sizes_suite(results: Results, what: str) -> None:
    """Raise an error if the suite does not evaluate numbers of features."""
    if results.suite.experiment != "sizes":
        raise ValueError(
            f"suite {results.suite.name} has no {what}: only suites with the experiment 'sizes' have them, "
            f"got {results.suite.experiment!r}"
        )
