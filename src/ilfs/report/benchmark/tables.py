"""Tables of the results of a suite, beside the tables that the paper prints."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.class_table import VOC_METRICS, class_means
from ilfs.benchmark.evaluation.job import NO_CLASSIFIER
from ilfs.benchmark.evaluation.recovery import RECOVERY_METRICS
from ilfs.benchmark.significance.values import nan_mean
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.store.stored_job import StoredJob
from ilfs.benchmark.suites.suite import WITHOUT_CLASSIFIERS
from ilfs.choices import METRIC_TITLES
from ilfs.datasets.naming import paper_name
from ilfs.text_table import Grid

GROUP_TITLES = {"dna": "microarrays", "other": "others"}
LONG_METRICS = (*METRIC_TITLES, "C_on_edge")


def tables_of(results: Results) -> list[Grid]:
    """Tables of a suite beside those of the paper: its Table 4, Table 3 or Table 2.

    Parameters
    ----------
    results : Results
        Results of the suite.

    Returns
    -------
    list of Grid
        The notes of the first table say which results are missing.
    """
    make = {
        "sizes": sizes_tables,
        "classes": classes_tables,
        "timing": timing_table,
        "recovery": recovery_tables,
    }[results.suite.experiment]
    grids = make(results)
    return [with_state(grids[0], results), *grids[1:]]


def splits_of(results: Results) -> str:
    """Format the number of splits that means are taken over."""
    done = np.vectorize(lambda row: row is not None and row.is_done, otypes=[bool])(results.rows).sum(axis=2)
    least, most, wanted = int(done.min()), int(done.max()), results.suite.n_splits
    if least < wanted and not results.n_missing + results.n_failed:  # a data set has fewer folds than splits
        return f"{least} splits" if least == most else f"{least} to {most} splits"
    if least == wanted:
        return f"{wanted} splits" if wanted > 1 else "1 split"
    return f"{most} of {wanted} splits" if least == most else f"{least} to {most} of {wanted} splits"


def with_state(grid: Grid, results: Results) -> Grid:
    """Copy of a table that names its classifier, if there are several, and has notes on the jobs behind it."""
    named = f"{grid.title}, classifier {results.classifier}" if len(results.classifiers) > 1 else grid.title
    return with_notes(Grid(named, grid.header, grid.rows, grid.digits, grid.notes), state_of(results))


def with_notes(grid: Grid, notes: Sequence[str]) -> Grid:
    """Copy of a table with more notes."""
    return Grid(grid.title, grid.header, grid.rows, grid.digits, [*grid.notes, *notes])


def state_of(results: Results) -> list[str]:
    """Notes on the jobs behind a table: what is missing, failed, or was computed with other code."""
    notes = []
    if len(results.classifiers) > 1:
        notes.append(f"Evaluated by the classifier {results.classifier}; this suite also has {others_of(results)}.")
    if results.n_missing:
        notes.append(f"{results.n_missing} of {results.n_jobs} jobs have not been computed.")
    if results.n_other_code:
        notes.append(other_code(results))
    if results.n_failed:
        notes.append(f"{results.n_failed} of {results.n_jobs} jobs failed, the first: {results.reasons[0]}.")
    if results.suite.experiment == "sizes" and max(results.suite.protocol.sizes) > results.least_features:
        notes.append(f"A data set has only {results.least_features} features; larger sizes use all of them.")
    if results.n_versions > 1:
        notes.append(f"The jobs were computed with {results.n_versions} different sets of versions.")
    if results.suite.experiment not in WITHOUT_CLASSIFIERS:
        notes += [*own_size_notes(results), *edge_notes(results)]
    return notes


def others_of(results: Results) -> str:
    """Names of the classifiers that a table does not show."""
    return ", ".join(name for name in results.classifiers if name != results.classifier)


def own_size_notes(results: Results) -> list[str]:
    """Notes on methods that choose the number of features themselves: how many they keep."""
    counts = results.own_counts
    return [
        f"{method} chooses its own number of features, {mean(counts[:, results.methods.index(method)]):.1f} on average."
        for method in results.methods_of_own_size
    ]


def edge_notes(results: Results) -> list[str]:
    """Note on how often C is at an end of its grid: if it is often, the grid may be too narrow."""
    on_edge = edge_values(results)
    if np.isnan(on_edge).all():
        return []
    return [f"The chosen C is at an end of its grid in {100 * np.nanmean(on_edge):.0f} % of the fits."]


def edge_values(results: Results) -> Floats:
    """Mark the fits whose C is at an end of its grid, by size (by class in the experiment ``"classes"``)."""
    if results.suite.experiment == "sizes":
        return results.values_or_own("C_on_edge")
    found = results.metric_values[results.classifier]["C_on_edge"]
    keys = {row.key for row in results.rows.ravel() if row is not None}
    return np.array([value for (key, _, _), value in found.items() if key in keys])


def other_code(results: Results) -> str:
    """Note on rows that were computed with other code, data or versions than the present."""
    rows = "1 row" if results.n_other_code == 1 else f"{results.n_other_code} rows"
    if results.any_code:
        return f"{rows} computed with other code or versions: ilfs bench run computes them again."
    return (
        f"Left out {rows} computed with other code or versions: --any-code shows them, "
        "ilfs bench run computes them again."
    )


def sizes_tables(results: Results) -> list[Grid]:
    """Tables of mean average precision (all classes; class with most samples), the paper's values, and differences."""
    macro, majority = (100 * results.values_or_own(metric) for metric in ("ap_macro", "ap_majority"))
    printed = printed_precision(results)
    what = f"first {', '.join(map(str, results.suite.protocol.sizes))} features, mean of {splits_of(results)}"
    grids = [
        means_table(f"Average precision, mean of the classes, per cent; {what}", results, macro),
        means_table(f"Average precision of the class with most samples, per cent; {what}", results, majority),
    ]
    if not np.isnan(printed).all():
        grids.append(means_table("The paper's Table 4, per cent", results, printed[:, :, None, None]))
        for title, ours in (("mean of the classes", macro), ("class with most samples", majority)):
            difference = nan_mean(ours.reshape(*ours.shape[:2], -1)) - printed
            grids.append(means_table(f"Ours ({title}) minus the paper's", results, difference[:, :, None, None]))
    return [*grids, seconds_table(results)]


def quality_grid(results: Results, classifiers: Sequence[str] | None = None) -> Grid:
    """All metrics in long form, for CSV files: without times, so that it is the same for every run.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    classifiers : sequence of str, optional
        Names of the classifiers; all by default.

    Returns
    -------
    Grid
        A row for each classifier, data set, method and size.
    """
    rows = [row for name in classifiers or results.classifiers for row in quality_rows(results.by_classifier(name))]
    header = ["dataset", "title", "method", "classifier", "size", "n_features", *LONG_METRICS]
    return Grid(f"Quality of suite {results.suite.name}", [*header, "deviation_of_ap_macro", "paper"], rows, digits=2)


def quality_rows(results: Results) -> list[list[Any]]:
    """Rows of one classifier; a method that chooses the number of features itself has one row, of size ``own``."""
    measures = [100 * results.values_or_own(metric) for metric in LONG_METRICS]
    printed, counts, rows = printed_precision(results), results.own_counts, []
    n_features = [results.facts[name].n_features for name in results.datasets]
    for d, dataset in enumerate(results.datasets):
        for m, method in enumerate(results.methods):
            start = [dataset, results.titles[d], method, results.classifier]
            over_sizes = [values[d, m].mean(axis=1) for values in measures]
            own = mean(counts[d, m])
            last = [*map(mean, over_sizes), deviation(over_sizes[0]), number(printed[d, m])]
            if own is not None:
                rows.append([*start, "own", own, *last])
                continue
            for s, size in enumerate(results.suite.protocol.sizes):
                of_size = [values[d, m, :, s] for values in measures]
                rows.append([*start, size, min(size, n_features[d]), *map(mean, of_size), deviation(of_size[0]), None])
            rows.append([*start, "all", None, *last])
    return rows


def means_table(title: str, results: Results, values: Floats) -> Grid:
    """Table of methods by data sets, with the means of the paper's groups and of all, and the minimum.

    A method without values on a data set that others have gets no mean: it would be one of other data sets.
    """
    means = nan_mean(values.reshape(*values.shape[:2], -1))
    known: NDArray[np.bool_] = np.asarray(~np.isnan(means).all(axis=1))
    groups = [
        (GROUP_TITLES[group], [results.datasets.index(name) for name in members])
        for group, members in paper.GROUPS.items()
        if set(members) <= set(results.datasets)
    ]
    several = len(results.datasets) > 1
    summaries = ["mean", "least"] if several else []
    header = ["method", *results.titles, *(name for name, _ in groups), *summaries]
    rows = []
    for m, method in enumerate(results.methods):
        of_groups = [mean_of_all(means[members, m], known[members]) for _, members in groups]
        column = means[:, m]
        overall = mean_of_all(column, known)
        least = None if overall is None else float(np.nanmin(column))
        called = f"{method} (own)" if method in results.methods_of_own_size else method
        rows.append([called, *map(number, column), *of_groups, *([overall, least] if several else [])])
    return Grid(title, header, rows)


def mean_of_all(values: Floats, known: NDArray[np.bool_]) -> float | None:
    """Mean over the known data sets; None if there is none or if a value is missing."""
    return number(float(values[known].mean())) if known.any() else None


def seconds_table(results: Results) -> Grid:
    """Table of the seconds that each method took to rank the features of a split."""
    seconds = np.vectorize(seconds_of, otypes=[float])(results.rows)
    rows: list[list[Any]] = []
    for m, method in enumerate(results.methods):
        usual = [median(of_set[m]) for of_set in seconds]  # not the mean: the first fit may compile kernels
        rows.append([method, *usual, total(usual)])
    notes = ["Each method ran on one thread, several methods perhaps at the same time; classifiers are not counted."]
    header = ["method", *results.titles, "all"]
    return Grid("Seconds to order the features, median of the splits", header, rows, 2, notes)


def seconds_of(row: StoredJob | None) -> float:
    """Seconds that the method of a job took, NaN if there is no result."""
    return row.seconds if row is not None and row.is_done and row.seconds is not None else np.nan


def classes_tables(results: Results) -> list[Grid]:
    """Tables of each class against the rest: for each data set by class, and by number of features; the paper's."""
    grids = []
    for d, dataset in enumerate(results.datasets):
        metric = VOC_METRICS.get(dataset, "ap")
        largest = results.class_sizes(dataset)[-1]
        by_method = [class_means(results, d, m, metric, largest) for m in range(len(results.methods))]
        classes = sorted(set().union(*by_method))
        ours = [[100 * one[k] if k in one else None for one in by_method] for k in classes]
        ours.append([100 * float(np.mean(list(one.values()))) if one else None for one in by_method])
        called = results.facts[dataset].class_names
        names = [*(called[k] for k in classes), "mean"]
        title = (
            f"{results.titles[d]}: average precision of each class against the rest, per cent, "
            f"{largest} of {results.facts[dataset].n_features} features"
        )
        grids.append(Grid(title, ["class", *results.methods], [[n, *row] for n, row in zip(names, ours, strict=True)]))
        if len(results.class_sizes(dataset)) > 1:
            grids.append(fractions_table(results, d, metric))
        if dataset in VOC_METRICS and results.suite.voc.or_environment().is_given:
            # Not for the features of EfficientNet-Lite0: the paper's are of another network.
            grids.append(voc_difference(results, d, names, ours))
    printed = [
        [f"{name} (the paper)", *(paper.class_precision().get((name, "mean", m)) for m in results.methods)]
        for name in VOC_METRICS
    ]
    return [*grids, Grid("The paper's Table 3, means", ["", *results.methods], printed, digits=2)]


def fractions_table(results: Results, d: int, metric: str) -> Grid:
    """Table of the mean of the classes by number of features."""
    rows: list[list[Any]] = []
    for size in results.class_sizes(results.datasets[d]):
        of_methods = [class_means(results, d, m, metric, size) for m in range(len(results.methods))]
        rows.append([size, *(100 * float(np.mean(list(one.values()))) if one else None for one in of_methods)])
    title = f"{results.titles[d]}: mean of the classes by number of features, per cent"
    return Grid(title, ["features", *results.methods], rows)


def voc_difference(results: Results, d: int, names: Sequence[str], ours: Sequence[Sequence[float | None]]) -> Grid:
    """Table of our average precision minus the paper's, by class."""
    printed, dataset, methods = paper.class_precision(), results.datasets[d], results.methods
    rows: list[list[Any]] = []
    for name, values in zip(names, ours, strict=True):
        papers = [printed.get((dataset, name, method)) for method in methods]
        rows.append([name, *(None if a is None or b is None else a - b for a, b in zip(values, papers, strict=True))])
    return Grid(f"{results.titles[d]}: ours minus the paper's Table 3", ["class", *methods], rows)


def timing_table(results: Results) -> list[Grid]:
    """Table of our seconds, the paper's, their ratio, and memory."""
    protocol = results.suite.protocol
    seconds = nan_mean(results.values("seconds", [protocol.columns])[0, :, :, 0])
    memory = nan_mean(results.values("peak_megabytes", [protocol.columns])[0, :, :, 0])
    is_papers = (protocol.rows, protocol.columns) == (10_000, 5_000)
    rows = []
    for m, method in enumerate(results.methods):
        printed = paper.seconds().get(method) if is_papers else None
        ratio = None if printed is None or np.isnan(seconds[m]) else printed / seconds[m]
        rows.append([method, number(seconds[m]), whole(printed), rounded(ratio), whole(number(memory[m]))])
    header = ["method", "seconds", "the paper", "times as fast", "peak MB over the data"]
    return [Grid(f"One fit on {protocol.rows:,} x {protocol.columns:,} uniform numbers", header, rows, digits=2)]


def whole(value: float | None) -> int | None:
    """Round to a whole number."""
    return None if value is None else round(value)


def rounded(ratio: float | None) -> float | int | None:
    """Round a ratio of 10 and more to a whole number."""
    return whole(ratio) if ratio is not None and ratio >= 10 else ratio


def recovery_tables(results: Results) -> list[Grid]:
    """Tables of the true features that are found, with data sets in rows, and of the seconds."""
    rows: list[list[Any]] = []
    for d, title in enumerate(results.titles):
        sizes = {metric: recovery_size(results, d, metric) for metric in RECOVERY_METRICS}
        rows.append([title, sizes["recovery"], *recovery_means(results, d, "recovery")])
        if sizes["directions"] != sizes["recovery"]:
            rows.append([f"{title}, directions", sizes["directions"], *recovery_means(results, d, "directions")])
    title = f"True features among the first k, per cent; k is their number, mean of {splits_of(results)}"
    notes = [
        "Directions: variance of the true features that the true ones among the first k explain; k is the number of "
        "directions that all of them span."
    ]
    is_repetitive = any(str(row[0]).endswith(", directions") for row in rows)
    found = Grid(title, ["data set", "k", *results.methods], rows, 0, notes if is_repetitive else [])
    return [found, seconds_table(results)]


def recovery_size(results: Results, d: int, metric: str) -> int | None:
    """Number of features behind a metric of the experiment ``"recovery"``, None if nothing is computed."""
    keys = {row.key for row in results.rows[d].ravel() if row is not None}
    return next((size for key, size, _ in results.metric_values[NO_CLASSIFIER][metric] if key in keys), None)


def recovery_means(results: Results, d: int, metric: str) -> list[float | None]:
    """Mean over the draws of a metric of the experiment ``"recovery"``, for each method, in per cent."""
    found = {key: value for (key, _, _), value in results.metric_values[NO_CLASSIFIER][metric].items()}
    return [
        mean(np.array([100 * found.get(row.key, np.nan) for row in of_method if row is not None], dtype=float))
        for of_method in results.rows[d]
    ]


def printed_precision(results: Results) -> Floats:
    """Average precision that the paper prints, of shape (n_datasets, n_methods); NaN where it prints none."""
    printed = paper.precision()
    names = ["ilfs" if method == "ilfs_paper" else method for method in results.methods]
    rows = map(paper_name, results.datasets)
    return np.array([[printed.get((name, row), np.nan) for name in names] for row in rows])


def mean(values: Floats) -> float | None:
    """Mean of the values that are not NaN, None if there is none."""
    return number(float(nan_mean(np.ravel(values))))


def median(values: Floats) -> float | None:
    """Median of the values that are not NaN, None if there is none."""
    there = values[~np.isnan(values)]
    return float(np.median(there)) if there.size else None


def total(values: Sequence[float | None]) -> float | None:
    """Sum of all values, None if one is missing."""
    return None if None in values else float(sum(filter(None, values)))


def deviation(values: Floats) -> float | None:
    """Standard deviation of the values that are not NaN, None if there are fewer than two."""
    there = values[~np.isnan(values)]
    return float(there.std(ddof=1)) if there.size > 1 else None


def number(value: float) -> float | None:
    """Convert NaN to None."""
    return None if np.isnan(value) else float(value)
