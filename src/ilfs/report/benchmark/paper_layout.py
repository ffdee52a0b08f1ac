"""Tables of a suite in the layout of the paper's Tables 2, 3 and 4, with its rules for bold numbers and asterisks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ilfs.arrays import Floats
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.class_table import class_table
from ilfs.benchmark.counts import count_tests
from ilfs.benchmark.precision_table import PrecisionTable, paper_order, precision_table, printed_table
from ilfs.benchmark.significance.values import nan_mean
from ilfs.benchmark.store.results import Results
from ilfs.choices import METRIC_TITLES
from ilfs.datasets import title_of
from ilfs.registry import BY_NAME
from ilfs.report.benchmark.tables import GROUP_TITLES, number, splits_of, with_notes, with_state
from ilfs.text_table import Grid, Marked

MORE_TITLE = "not in the paper"  # title of the group of other data sets
SECONDS_DECIMALS = 3
BOLD_NOTE = (
    f"*: the best of a column. Bold: less than {paper.BOLD_WITHIN} points below it; of averages, minima and maxima "
    "only the best."
)


def paper_layout(results: Results, metric: str = "ap_macro") -> list[Grid]:
    """Tables of a suite in the layout of the paper: its Table 4, Table 3 or Table 2, ours and the paper's.

    Parameters
    ----------
    results : Results
        Results of the suite.
    metric : str
        Name of the metric for Table 4.

    Returns
    -------
    list of Grid
        The notes of the first table say how many tests there are and which results are missing.
    """
    if results.suite.experiment == "recovery":
        raise ValueError(f"suite {results.suite.name} is not in the paper: it has no layout of the paper")
    if results.suite.experiment == "timing":
        grids = [table_2(results)]
    else:
        grids = table_4(results, metric) if results.suite.experiment == "sizes" else table_3(results)
        grids[0] = with_notes(grids[0], [counts_note(results)])
    return [with_state(grids[0], results), *grids[1:]]


def counts_note(results: Results) -> str:
    """Format the number of tests beside the paper's."""
    found = count_tests(results)
    fits = "" if found.fits == found.classifiers else f" ({found.fits:,} fits with those that choose C, at most)"
    return (
        f"{found.as_paper:,} tests as the paper counts its {paper.n_tests()}; {found.subsets:,} subsets of features; "
        f"{found.classifiers:,} classifiers{fits}."
    )


def title_of_method(name: str) -> str:
    """Acronym of the paper for its methods, except that its own is ILFS; the name of any other."""
    if name not in paper.METHODS_OF_THE_PAPER:
        return name
    return "ILFS" if name == "ilfs" else paper.method_rows()[name].title


def table_4(results: Results, metric: str) -> list[Grid]:
    """Table 4, and the rows and columns of the paper's own that it has in common."""
    ours = precision_table(results, metric)
    sizes = ", ".join(map(str, results.suite.protocol.sizes))
    title = f"{METRIC_TITLES[metric].capitalize()}, per cent; first {sizes} features, {splits_of(results)}"
    deviations = "After ±: the standard deviation over all splits and sizes, as a fraction, as the paper prints it."
    names = [title_of(name, ours.datasets) for name in ours.datasets]
    grids = [with_notes(precision_grid(title, ours, names, marks_by_rule(ours)), [BOLD_NOTE, deviations])]
    printed = printed_table(results.methods, results.datasets)
    if printed.methods and printed.datasets:
        names = [paper.dataset_rows()[name].title for name in printed.datasets]
        grids.append(precision_grid("The paper's Table 4, with its marks", printed, names, printed_marks(printed)))
    return grids


def marks_by_rule(table: PrecisionTable) -> list[list[paper.Mark]]:
    """Mark each number on a data set, by the rule of Table 4: a list for each data set."""
    return [paper.marks_on_dataset(list(map(number, column))) for column in table.mean.T]


def printed_marks(table: PrecisionTable) -> list[list[paper.Mark]]:
    """Marks that the paper prints: a list for each data set."""
    return [[paper.marks()[m, d] for m in table.methods] for d in table.datasets]


def precision_grid(
    title: str, table: PrecisionTable, names: Sequence[str], marks: Sequence[Sequence[paper.Mark]]
) -> Grid:
    """Format a table of the layout of Table 4."""
    header, columns = ["method"], [[title_of_method(name) for name in table.methods]]
    for group, members in table.groups.items():
        for dataset in members:
            d = table.datasets.index(dataset)
            header.append(names[d])
            columns.append(dataset_column(table.mean[:, d], table.deviation[:, d], marks[d]))
        total = len(paper.GROUPS.get(group, members))
        present = "" if len(members) == total else f" ({len(members)} of {total})"
        header.append(f"{GROUP_TITLES.get(group, MORE_TITLE)}{present} [min, max]")
        columns.append(group_column(table.average[group], table.of_group(group)))
    return Grid(title, header, list(zip(*columns, strict=True)), paper.PRINTED_DECIMALS)


def dataset_column(means: Floats, deviations: Floats, marks: Sequence[paper.Mark]) -> list[Any]:
    """Format the means and deviations on a data set."""
    column: list[Any] = []
    for mean, deviation, mark in zip(means, deviations, marks, strict=True):
        spread = "" if np.isnan(deviation) else f" ± {format_deviation(deviation)}"
        word = f"{mean:.{paper.PRINTED_DECIMALS}f}{'*' * (mark == 'star')}{spread}"
        column.append(None if np.isnan(mean) else Marked(((word, mark != ""),)))
    return column


def format_deviation(deviation: float) -> str:
    """Format with two decimals; with three if it is below 0.01, as the paper does."""
    return f"{deviation:.{paper.PRINTED_DECIMALS if deviation >= 0.01 else paper.PRINTED_DECIMALS + 1}f}"


def group_column(averages: Floats, means: Floats) -> list[Any]:
    """Format the average, minimum and maximum over a group of data sets, of all methods."""
    summaries = [list(map(number, values)) for values in (averages, means.min(axis=1), means.max(axis=1))]
    best = [paper.best_of(values) for values in summaries]
    column: list[Any] = []
    for m, (average, least, largest) in enumerate(zip(*summaries, strict=True)):
        if average is None or least is None or largest is None:
            column.append(None)
            continue
        parts = (
            (f"{average:.{paper.PRINTED_DECIMALS}f}{'*' * best[0][m]}", best[0][m]),
            (" [", False),
            (f"{least:.{paper.PRINTED_DECIMALS}f}", best[1][m]),
            (", ", False),
            (f"{largest:.{paper.PRINTED_DECIMALS}f}", best[2][m]),
            ("]", False),
        )
        column.append(Marked(parts))
    return column


def table_4_csv(results: Results, metric: str = "ap_macro") -> Grid:
    """Table 4 in long form, with the columns of the file in which this library keeps the paper's.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    metric : str
        Name of the metric.

    Returns
    -------
    Grid
        A row for each method and data set, and for each method and group.
    """
    table = precision_table(results, metric)
    marks, rows = marks_by_rule(table), []
    best = {group: paper.best_of(list(map(number, averages))) for group, averages in table.average.items()}
    for m, method in enumerate(table.methods):
        for group, members in table.groups.items():
            for name in members:
                d = table.datasets.index(name)
                rows.append(
                    [method, name, number(table.mean[m, d]), number(table.deviation[m, d]), None, None, marks[d][m]]
                )
            of_group = table.of_group(group)[m]
            summary = [number(table.average[group][m]), None, number(of_group.min()), number(of_group.max())]
            rows.append([method, group, *summary, "star" if best[group][m] else ""])
    header = ["method", "dataset", "mean", "deviation", "least", "largest", "mark"]
    return Grid(f"Table 4 of suite {results.suite.name}", header, rows, paper.PRINTED_DECIMALS)


def table_3(results: Results) -> list[Grid]:
    """Table 3 for each data set, with the paper's below it if it is VOC 2007 or 2012."""
    grids = []
    methods = paper_order(results.methods)
    order = [results.methods.index(name) for name in methods]
    for title, dataset in zip(results.titles, results.datasets, strict=True):
        table = class_table(results, dataset)
        rows = [list(map(number, row)) for row in table.values[:, order]]
        means = list(map(number, table.values[:, order].mean(axis=0))) if rows else [None] * len(methods)
        about = f"{title}: average precision of each class, per cent, half of the features"
        grids.append(classes_grid(about, methods, table.classes, rows, means))
        if dataset in paper.VOC_DATASETS:
            grids.append(printed_classes_grid(dataset, methods))
    notes = [f"Bold: the best of a class. *: the {paper.N_STARS} largest means."]
    return [with_notes(grids[0], notes), *grids[1:]]


def printed_classes_grid(dataset: str, methods: Sequence[str]) -> Grid:
    """The paper's Table 3 for a data set, with the marks that it prints."""
    chosen = [name for name in methods if name in paper.METHODS_OF_THE_PAPER]
    values, rows = paper.class_precision(), []
    for (name, row), bold in paper.bold_methods().items():
        if name == dataset:
            star = "*" if row == "mean" else ""
            rows.append([row, *(marked(values[dataset, row, m], m in bold, star) for m in chosen)])
    return Grid(
        f"{title_of(dataset)}: the paper's Table 3",
        ["class", *map(title_of_method, chosen)],
        rows,
        paper.PRINTED_DECIMALS,
    )


def classes_grid(
    title: str,
    methods: Sequence[str],
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    means: Sequence[float | None],
) -> Grid:
    """Format a table of the layout of Table 3: the best of a class is bold, the three largest means have asterisks."""
    rows: list[list[Any]] = []
    for name, row in zip(names, values, strict=True):
        rows.append([name, *(marked(value, best) for value, best in zip(row, paper.best_of(row), strict=True))])
    starred = paper.best_of(means, paper.N_STARS)
    rows.append(["mean", *(marked(value, best, "*") for value, best in zip(means, starred, strict=True))])
    return Grid(title, ["class", *map(title_of_method, methods)], rows, paper.PRINTED_DECIMALS)


def marked(value: float | None, is_bold: bool, star: str = "") -> Any:
    """Format a number, bold and with a star if it is one of the best."""
    return None if value is None else Marked(((f"{value:.{paper.PRINTED_DECIMALS}f}{star * is_bold}", is_bold),))


def table_2(results: Results) -> Grid:
    """Table 2: type, class, complexity and seconds of each method, ours beside the paper's."""
    protocol = results.suite.protocol
    seconds = nan_mean(results.values("seconds", [protocol.columns])[0, :, :, 0])
    rows = [method_row(name, number(seconds[results.methods.index(name)])) for name in paper_order(results.methods)]
    size = f"{protocol.rows:,} x {protocol.columns:,}"
    header = [
        "ID",
        "method",
        "type",
        "class",
        "complexity",
        "the paper's",
        f"seconds, {size}",
        "the paper's, 10,000 x 5,000",
    ]
    notes = [
        "Type: f filter, w wrapper, e embedded. Class: s supervised, u unsupervised. Complexity: m samples, n "
        "features; in the paper T samples, n features, i iterations, C classes."
    ]
    return Grid(f"Methods, and one fit on {size} uniform numbers", header, rows, SECONDS_DECIMALS, notes)


def method_row(name: str, seconds: float | None) -> list[Any]:
    """Format a method of Table 2; what is not known of it is None."""
    record, row = BY_NAME.get(name), paper.method_rows().get(name)
    return [
        row and row.number,
        title_of_method(name),
        record and record.kind[0],
        record and letter_of(record.supervised),
        record and record.complexity,
        row and row.complexity,
        seconds,
        row and int(row.seconds),
    ]


def letter_of(supervised: bool | None) -> str | None:
    """Letter of the paper for supervised and unsupervised methods; None if it depends on another selector."""
    return None if supervised is None else "s" if supervised else "u"
