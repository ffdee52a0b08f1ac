"""The results of a benchmark as plain data: everything that the benchmark page shows, and nothing of how it looks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ilfs.arrays import Floats
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.class_table import VOC_METRICS
from ilfs.benchmark.comparison import choice_stability, rank_diagram
from ilfs.benchmark.significance.diagram import Diagram
from ilfs.benchmark.store.results import Results
from ilfs.report.benchmark.paper_layout import paper_layout
from ilfs.report.benchmark.points import (
    DatasetCurves,
    StabilityPoint,
    TimePoint,
    curves_of,
    stability_points,
    time_points,
)
from ilfs.report.benchmark.provenance import Provenance, provenance_of
from ilfs.report.benchmark.sentences import Sentences, sentences_of
from ilfs.report.benchmark.statistics import joint_grid, statistics_of
from ilfs.report.benchmark.tables import number, tables_of
from ilfs.text_table import Grid
from ilfs.words import counted

Better = Literal["high", "low", "ratio", "zero", ""]
BAD_POINTS, BAD_STABILITY, BAD_RATIO = 10.0, 0.5, 1000.0  # distances from the best value at which a value counts as bad


@dataclass(frozen=True)
class ShownTable:
    """A table, and how its values compare.

    Attributes
    ----------
    grid : Grid
        The table.
    better : {"high", "low", "ratio", "zero", ""}
        Large values are good; small ones are; small ones are, compared by their ratio; values are differences; or they
        are not to be compared.
    reach : float
        Distance (ratio) from the best value at which a value counts as bad.
    by_row : bool
        Compare the values of a row rather than those of a column.
    """

    grid: Grid
    better: Better = ""
    reach: float = BAD_POINTS
    by_row: bool = False


@dataclass(frozen=True)
class BesidePaper:
    """Our values beside those that the paper prints, for the rows and columns that both have.

    Attributes
    ----------
    title : str
        What the values are.
    corner : str
        Name of the column of row names.
    columns, rows : tuple of str
        Names.
    ours, printed : tuple of tuples of float or None
        A value for each row and column; None where there is none.
    notes : tuple of str
        Sentences below the table.
    """

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    ours: tuple[tuple[float | None, ...], ...]
    printed: tuple[tuple[float | None, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DatasetSummary:
    """Name, title and sizes of a data set."""

    name: str
    title: str
    n_samples: int
    n_features: int
    n_classes: int


@dataclass(frozen=True)
class JobCounts:
    """Numbers of jobs: all, finished, failed, not computed, and computed by other code only."""

    total: int
    done: int
    failed: int
    missing: int
    other_code: int


@dataclass(frozen=True)
class Failure:
    """A method that failed on a data set for one reason, on one or more splits."""

    dataset: str
    method: str
    splits: tuple[int, ...]
    reason: str


@dataclass(frozen=True)
class ClassifierSummary:
    """Results of the methods with one classifier.

    Attributes
    ----------
    name : str
        Name of the classifier; empty for timings, which have none.
    tables : tuple of ShownTable
        The tables of ``ilfs bench table``.
    layout : tuple of Grid
        The tables in the layout of the paper.
    beside : tuple of BesidePaper
        Our values beside the paper's, as far as it has them.
    curves : tuple of DatasetCurves
        Performance against the number of features, for each data set.
    stability : tuple of StabilityPoint
        Stability and performance of each method on each data set.
    diagram : Diagram or None
        Critical-difference diagram.
    no_diagram : str
        Why there is none.
    tests : tuple of ShownTable
        The tables of ``ilfs bench statistics``.
    sentences : Sentences
        The results in words.
    """

    name: str
    tables: tuple[ShownTable, ...]
    layout: tuple[Grid, ...]
    beside: tuple[BesidePaper, ...]
    curves: tuple[DatasetCurves, ...]
    stability: tuple[StabilityPoint, ...]
    diagram: Diagram | None
    no_diagram: str
    tests: tuple[ShownTable, ...]
    sentences: Sentences


@dataclass(frozen=True)
class ExperimentSummary:
    """The results of one suite.

    Attributes
    ----------
    suite, experiment : str
        Name of the suite, and which experiment of the paper it is.
    reference, metric : str
        Method that is compared with all others, and the metric of curves and tests.
    methods : tuple of str
        Names of the methods.
    datasets : tuple of DatasetSummary
        The data sets.
    n_splits : int
        Number of splits.
    jobs : JobCounts
        Numbers of jobs.
    classifiers : tuple of ClassifierSummary
        One for each classifier, the one to show first at the beginning.
    times : tuple of TimePoint
        Seconds of the jobs against the size of the training data.
    failures : tuple of Failure
        Jobs that failed.
    provenance : Provenance
        Protocol, versions, computers and commands.
    """

    suite: str
    experiment: str
    reference: str
    metric: str
    methods: tuple[str, ...]
    datasets: tuple[DatasetSummary, ...]
    n_splits: int
    jobs: JobCounts
    classifiers: tuple[ClassifierSummary, ...]
    times: tuple[TimePoint, ...]
    failures: tuple[Failure, ...]
    provenance: Provenance


@dataclass(frozen=True)
class BenchmarkSummary:
    """The results of one or more suites, and the paper's procedure over all of them."""

    experiments: tuple[ExperimentSummary, ...]
    joint: Grid | None = None


def summarise_benchmark(
    several: Sequence[Results],
    *,
    reference: str | None = None,
    metric: str = "ap_macro",
    commands: Sequence[Sequence[str]] = (),
) -> BenchmarkSummary:
    """Summarise the results of one or more suites as plain data.

    Parameters
    ----------
    several : sequence of Results
        Results of each suite. All classifiers of a suite are summarised, the one of its results first.
    reference : str, optional
        Method that is compared with all others; by default ``ilfs`` if a suite has it, else its first method.
    metric : {"ap_macro", "ap_majority", "accuracy", "balanced_accuracy", "f1", "auc"}
        Metric of curves and tests; the experiment ``"classes"`` has average precision only.
    commands : sequence of sequences of str, optional
        Commands that repeat each suite.

    Returns
    -------
    BenchmarkSummary
        Plain data. A suite without any finished job is an error.
    """
    chosen = [reference_of(results, reference) for results in several]
    repeated = [commands[i] if i < len(commands) else () for i in range(len(several))]
    experiments = tuple(
        summarise_experiment(results, name, metric, lines)
        for results, name, lines in zip(several, chosen, repeated, strict=True)
    )
    with_tests = [results for results in several if results.suite.experiment != "timing"]
    joint = joint_grid(with_tests, chosen[0], metric) if len(with_tests) > 1 else None
    return BenchmarkSummary(experiments, joint)


def reference_of(results: Results, asked: str | None) -> str:
    """Choose the method that is compared with all others."""
    if asked is None:
        return "ilfs" if "ilfs" in results.methods else results.methods[0]
    if asked not in results.methods:
        raise ValueError(f"the reference must be one of {', '.join(results.methods)}, got {asked!r}")
    return asked


def summarise_experiment(results: Results, reference: str, metric: str, commands: Sequence[str]) -> ExperimentSummary:
    """Summarise the results of one suite."""
    if results.suite.experiment == "recovery":
        raise ValueError(f"suite {results.suite.name} has no page: ilfs bench table {results.suite.name} shows it all")
    check_has_results(results)
    names = sorted(results.classifiers, key=lambda name: name != results.classifier)
    is_sizes = results.suite.experiment == "sizes"
    stability = choice_stability(results).over_sizes if is_sizes else np.empty((0, 0))
    return ExperimentSummary(
        suite=results.suite.name,
        experiment=results.suite.experiment,
        reference=reference,
        metric=metric,
        methods=results.methods,
        datasets=datasets_of(results),
        n_splits=results.suite.n_splits,
        jobs=job_counts(results),
        classifiers=tuple(
            summarise_classifier(results.by_classifier(name), reference, metric, stability) for name in names
        ),
        times=time_points(results),
        failures=failures_of(results),
        provenance=provenance_of(results, commands),
    )


def check_has_results(results: Results) -> None:
    """Raise an error if no job of a suite has been finished."""
    counts = job_counts(results)
    if counts.done:
        return
    if counts.other_code:
        jobs = counted(counts.other_code, "job")
        state = f"has {jobs} computed with other code or versions only: --any-code shows them"
    elif counts.failed:
        state = f"has {counted(counts.failed, 'failed job')} and no finished one, the first: {results.reasons[0]}"
    else:
        state = f"has no finished jobs: compute them by ilfs bench run {results.suite.name}"
    raise ValueError(f"the store of suite {results.suite.name} {state}")


def job_counts(results: Results) -> JobCounts:
    """Count the jobs of a suite by their state."""
    done = results.n_jobs - results.n_failed - results.n_missing
    return JobCounts(results.n_jobs, done, results.n_failed, results.n_missing, results.n_other_code)


def datasets_of(results: Results) -> tuple[DatasetSummary, ...]:
    """Summarise the data sets; the timing experiment has one of random numbers."""
    if results.suite.experiment == "timing":
        protocol = results.suite.protocol
        return (DatasetSummary(results.datasets[0], "uniform numbers", protocol.rows, protocol.columns, 2),)
    found = zip(results.datasets, results.titles, strict=True)
    facts = results.facts
    return tuple(
        DatasetSummary(name, title, facts[name].n_samples, facts[name].n_features, len(facts[name].class_names))
        for name, title in found
    )


def failures_of(results: Results) -> tuple[Failure, ...]:
    """Group failed jobs by data set, method and reason."""
    splits: dict[tuple[str, str, str], list[int]] = {}
    for row in results.rows.ravel():
        if row is not None and not row.is_done:
            splits.setdefault((row.dataset, row.method, row.reason), []).append(row.split)
    return tuple(Failure(dataset, method, tuple(found), reason) for (dataset, method, reason), found in splits.items())


def summarise_classifier(results: Results, reference: str, metric: str, stability: Floats) -> ClassifierSummary:
    """Summarise the results of one classifier."""
    is_timing, is_sizes = (results.suite.experiment == name for name in ("timing", "sizes"))
    diagram, reason = diagram_or_reason(results, metric) if is_sizes else (None, "")
    grids = tables_of(results)
    return ClassifierSummary(
        name="" if is_timing else results.classifier,
        tables=tuple(shown_table(grid, results) for grid in grids),
        layout=tuple(paper_layout(results, metric)),
        beside=beside_paper(results, grids),
        curves=() if is_timing else curves_of(results, metric),
        stability=stability_points(results, metric, stability) if is_sizes else (),
        diagram=diagram,
        no_diagram=reason,
        tests=() if is_timing else tuple(shown_test(one, results) for one in statistics_of(results, reference, metric)),
        sentences=sentences_of(results, reference, metric, stability),
    )


def diagram_or_reason(results: Results, metric: str) -> tuple[Diagram | None, str]:
    """Compute the critical-difference diagram, or the reason why it is not possible."""
    try:
        return rank_diagram(results, metric), ""
    except ValueError as error:
        return None, str(error)


def shown_table(grid: Grid, results: Results) -> ShownTable:
    """Say how the values of a table of results compare."""
    if results.suite.experiment == "timing":
        return ShownTable(grid)
    if grid.title.startswith("Seconds"):
        return ShownTable(grid, "ratio", BAD_RATIO)
    is_by_row = results.suite.experiment == "classes"
    return ShownTable(grid, "zero" if "minus the paper's" in grid.title else "high", BAD_POINTS, is_by_row)


def shown_test(grid: Grid, results: Results) -> ShownTable:
    """Say how the values of a table of tests compare."""
    if grid.title.startswith("Mean rank"):
        return ShownTable(grid, "low", len(results.methods) / 2)
    return ShownTable(grid, "high", BAD_STABILITY) if grid.title.startswith("Stability") else ShownTable(grid)


def beside_paper(results: Results, grids: Sequence[Grid]) -> tuple[BesidePaper, ...]:
    """Collect our values and the paper's, for the rows and columns of its Tables 3 and 4."""
    if results.suite.experiment == "sizes":
        printed = [grid for grid in grids if grid.title.startswith("The paper's Table 4")]
        found = [beside_grid(grids[0], printed[0])] if printed else []
    elif results.suite.experiment == "classes":
        found = [beside_classes(results, grids, name) for name in results.datasets if name in VOC_METRICS]
    else:
        found = []
    return tuple(table for table in found if table.rows and table.columns)


def beside_grid(ours: Grid, printed: Grid) -> BesidePaper:
    """Join two tables of the same shape, without rows and columns for which nothing is printed."""
    values = np.array([row[1:] for row in printed.rows], dtype=float)
    rows, columns = (np.flatnonzero(~np.isnan(values).all(axis=axis)).tolist() for axis in (1, 0))
    return BesidePaper(
        title=ours.title,
        corner=ours.header[0],
        columns=tuple(ours.header[1 + j] for j in columns),
        rows=tuple(str(ours.rows[i][0]) for i in rows),
        ours=tuple(tuple(ours.rows[i][1 + j] for j in columns) for i in rows),
        printed=tuple(tuple(number(values[i, j]) for j in columns) for i in rows),
        notes=("The paper's means of groups and of all are computed from its values for these data sets.",),
    )


def beside_classes(results: Results, grids: Sequence[Grid], dataset: str) -> BesidePaper:
    """Join our table of the classes of a VOC data set with the paper's."""
    title = results.titles[results.datasets.index(dataset)]
    ours = next(grid for grid in grids if grid.title.startswith(f"{title}: average precision of each class"))
    printed = paper.class_precision()
    rows = [[row[0], *(printed.get((dataset, row[0], method)) for method in results.methods)] for row in ours.rows]
    joined = beside_grid(ours, Grid("", ours.header, rows))
    note = "The paper used another network: compare the order of the methods, not the values."
    own_network = results.suite.voc.or_environment().is_given
    return replace(joined, notes=() if own_network else (note,))
