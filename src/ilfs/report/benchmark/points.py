"""The points of the plots of a benchmark: curves over numbers of features, stability, and time against size."""

from dataclasses import dataclass

import numpy as np

from ilfs.arrays import Floats
from ilfs.benchmark.class_table import VOC_METRICS
from ilfs.benchmark.significance.values import nan_mean
from ilfs.benchmark.store.results import Results
from ilfs.report.benchmark.tables import deviation, mean, median, number, seconds_of


@dataclass(frozen=True)
class Curve:
    """Performance of a method against the number of features.

    Attributes
    ----------
    method : str
        Name of the method.
    sizes : tuple of float
        Numbers of features; one number, the mean, for a method that chooses it itself.
    means : tuple of float or None
        Per cent, mean of the splits; None where there is no result.
    deviations : tuple of float or None
        Standard deviation over the splits; None if there are fewer than two.
    """

    method: str
    sizes: tuple[float, ...]
    means: tuple[float | None, ...]
    deviations: tuple[float | None, ...]


@dataclass(frozen=True)
class DatasetCurves:
    """The curves of all methods on a data set, with its title and number of features."""

    title: str
    n_features: int
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class StabilityPoint:
    """Stability of the choice of a method on a data set (1: always the same features), and its performance."""

    method: str
    dataset: str
    stability: float
    performance: float


@dataclass(frozen=True)
class TimePoint:
    """Median seconds that a method took on a data set, and the number of values (rows x columns) it was fitted on."""

    method: str
    dataset: str
    n_values: int
    seconds: float


def curves_of(results: Results, metric: str) -> tuple[DatasetCurves, ...]:
    """Compute performance against the number of features, for each data set.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"`` or ``"classes"``.
    metric : str
        Name of the metric, for the experiment ``"sizes"``.

    Returns
    -------
    tuple of DatasetCurves
        One for each data set. Sizes above the number of features are shown as that number, once.
    """
    by_size = results.suite.experiment == "sizes"
    tables = []
    for d, (name, title) in enumerate(zip(results.datasets, results.titles, strict=True)):
        curves = size_curves(results, d, metric) if by_size else class_curves(results, d)
        tables.append(DatasetCurves(title, results.facts[name].n_features, curves))
    return tuple(tables)


def size_curves(results: Results, d: int, metric: str) -> tuple[Curve, ...]:
    """Curves of the experiment ``"sizes"`` on a data set."""
    n_features = results.facts[results.datasets[d]].n_features
    sizes = np.minimum(sorted(results.suite.protocol.sizes), n_features)
    _, first = np.unique(sizes, return_index=True)
    values, own = 100 * results.values(metric, sorted(results.suite.protocol.sizes))[d], results.own_counts[d]
    at_own = 100 * results.values_or_own(metric)[d, :, :, :1]
    curves = []
    for m, method in enumerate(results.methods):
        n_own = mean(own[m])
        if n_own is None:
            curves.append(curve_over_splits(method, sizes[first].tolist(), values[m][:, first]))
        else:
            curves.append(curve_over_splits(method, [n_own], at_own[m]))
    return tuple(curves)


def curve_over_splits(method: str, sizes: list[float], values: Floats) -> Curve:
    """Curve of a method from values of shape (n_splits, n_sizes)."""
    return Curve(method, tuple(sizes), tuple(map(mean, values.T)), tuple(map(deviation, values.T)))


def class_curves(results: Results, d: int) -> tuple[Curve, ...]:
    """Curves of the experiment ``"classes"`` on a data set: the mean of the classes."""
    name = results.datasets[d]
    metric, sizes = VOC_METRICS.get(name, "ap"), results.class_sizes(name)
    curves = []
    for m, method in enumerate(results.methods):
        done = [row for row in results.rows[d, m] if row is not None and row.is_done]
        of_splits = [[list(results.of_classes(row, metric, size).values()) for size in sizes] for row in done]
        values = np.array([[100 * float(np.mean(one)) if one else np.nan for one in row] for row in of_splits])
        curves.append(curve_over_splits(method, list(sizes), values.reshape(len(done), len(sizes))))
    return tuple(curves)


def stability_points(results: Results, metric: str, stability: Floats) -> tuple[StabilityPoint, ...]:
    """Combine stability and performance of each method on each data set, means over the sizes.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    metric : str
        Name of the metric.
    stability : ndarray of shape (n_datasets, n_methods)
        Stability of the choice, from `ilfs.benchmark.comparison.choice_stability`.

    Returns
    -------
    tuple of StabilityPoint
        Without those that have no stability: it needs two splits and a choice.
    """
    values = 100 * results.values_or_own(metric)
    performance = nan_mean(values.reshape(*values.shape[:2], -1))
    return tuple(
        StabilityPoint(method, title, float(stability[d, m]), float(performance[d, m]))
        for d, title in enumerate(results.titles)
        for m, method in enumerate(results.methods)
        if number(stability[d, m]) is not None and number(performance[d, m]) is not None
    )


def time_points(results: Results) -> tuple[TimePoint, ...]:
    """Compute the median seconds of each method on each data set, against the size of the training data.

    Parameters
    ----------
    results : Results
        Results of a suite.

    Returns
    -------
    tuple of TimePoint
        Without those that have no result. The timing experiment has points of one size.
    """
    seconds = np.vectorize(seconds_of, otypes=[float])(results.rows)
    found = []
    for d, name in enumerate(results.datasets):
        for m, method in enumerate(results.methods):
            usual = median(seconds[d, m])
            if usual:  # a random order may take no time that can be measured, which has no place on a log scale
                found.append(TimePoint(method, title_in(results, d), n_values(results, name), usual))
    return tuple(found)


def title_in(results: Results, d: int) -> str:
    """Title of a data set; that of the timing experiment is not registered."""
    return "uniform numbers" if results.suite.experiment == "timing" else results.titles[d]


def n_values(results: Results, dataset: str) -> int:
    """Number of values of the training rows of a data set."""
    if results.suite.experiment == "timing":
        return int(results.suite.protocol.rows * results.suite.protocol.columns)
    facts = results.facts[dataset]
    return (facts.n_samples - facts.n_test) * facts.n_features
