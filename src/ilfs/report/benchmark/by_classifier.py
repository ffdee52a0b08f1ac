"""Tables of a suite with several classifiers, side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ilfs.benchmark.comparison import SIGNIFICANCE_LEVEL, by_dataset, compare_over_datasets, rank_summary
from ilfs.benchmark.significance.pairs import MethodComparison
from ilfs.benchmark.store.results import Results
from ilfs.choices import METRIC_TITLES
from ilfs.report.benchmark.statistics import in_a_word, possible
from ilfs.text_table import Grid


def classifier_grids(results: Results, reference: str, metric: str = "ap_macro") -> list[Grid]:
    """Tables of all classifiers side by side: means, worst data sets and ranks; the reference against each method.

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
    list of Grid
        Two tables, with a column for each classifier.
    """
    by_classifier = [results.by_classifier(name) for name in results.classifiers]
    return [
        possible("Means, worst data sets and ranks, by classifier", standings_grid, by_classifier, metric),
        possible(f"{reference} against each method, by classifier", verdicts_grid, by_classifier, reference, metric),
    ]


def standings_grid(by_classifier: Sequence[Results], metric: str) -> Grid:
    """Table of the mean over the data sets, the worst data set and the mean rank of each method."""
    columns = [standings(results, metric) for results in by_classifier]
    methods = by_classifier[0].methods
    title = f"Mean over the data sets / worst data set / mean rank, by classifier: {METRIC_TITLES[metric]}, per cent"
    best = ["best", *(best_of(column) for column in columns)]
    rows = [[method, *(format_standing(column.get(method)) for column in columns)] for method in methods]
    return Grid(title, ["method", *(one.classifier for one in by_classifier)], [*rows, best])


def standings(results: Results, metric: str) -> dict[str, tuple[float, float, float]]:
    """Mean, minimum and mean rank over the data sets of each method that has values on all of them."""
    found, means = rank_summary(results, metric), by_dataset(100 * results.values(metric))
    ranks = dict(zip(found.methods, found.overall.mean_ranks, strict=True))
    return {
        method: (float(np.mean(column)), float(np.min(column)), float(ranks[method]))
        for method, column in zip(results.methods, means.T, strict=True)
        if method in ranks
    }


def best_of(column: dict[str, tuple[float, float, float]]) -> str:
    """Names of the methods with the best mean, the best worst data set and the best mean rank."""
    by_mean = max(column, key=lambda name: column[name][0])
    by_worst = max(column, key=lambda name: column[name][1])
    by_rank = min(column, key=lambda name: column[name][2])
    return f"{by_mean} / {by_worst} / {by_rank}"


def format_standing(found: tuple[float, float, float] | None) -> str | None:
    """Format mean, minimum and mean rank."""
    return None if found is None else " / ".join(f"{value:.1f}" for value in found)


def verdicts_grid(by_classifier: Sequence[Results], reference: str, metric: str) -> Grid:
    """Table of the mean difference of the reference to each method and its significance, for each classifier."""
    columns = [
        {results.methods[one.method]: one for one in compare_over_datasets(results, reference, metric)}
        for results in by_classifier
    ]
    methods = [name for name in by_classifier[0].methods if any(name in column for column in columns)]
    rows: list[list[Any]] = [[name, *(format_comparison(column.get(name)) for column in columns)] for name in methods]
    words = [[in_a_word(one.adjusted, one.effects.mean.value) for one in column.values()] for column in columns]
    rows.append(["better than", *(f"{found.count('better')} of {len(found)}" for found in words)])
    notes = [
        f"Mean difference over the data sets in percentage points, {reference} minus the method; better, worse: "
        f"significant at the level {SIGNIFICANCE_LEVEL} by Wilcoxon's test over the data sets, with Holm's correction "
        "for the methods of a column. n.s.: cannot be told apart."
    ]
    header = ["method", *(one.classifier for one in by_classifier)]
    return Grid(f"{reference} against each method, by classifier: {METRIC_TITLES[metric]}", header, rows, notes=notes)


def format_comparison(found: MethodComparison | None) -> str | None:
    """Format a comparison over data sets: the mean difference and "better", "worse" or "n.s."."""
    if found is None:
        return None
    difference = found.effects.mean.value
    return f"{difference:+.1f} {in_a_word(found.adjusted, difference)}"
