"""The benchmark page: one self-contained HTML file with the results of one or more suites."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ilfs.benchmark.store.results import Results
from ilfs.choices import METRIC_TITLES
from ilfs.files import write_text_atomically
from ilfs.report.benchmark.diagram_svg import diagram_chart
from ilfs.report.benchmark.methods_text import CITATION, methods_text
from ilfs.report.benchmark.page_charts import (
    MethodStyle,
    chips_html,
    curves_chart,
    method_styles,
    seconds_chart,
    stability_chart,
    time_chart,
    timing_chart,
)
from ilfs.report.benchmark.page_tables import beside_html, short_words, shown_name, table_html
from ilfs.report.benchmark.summary import (
    BenchmarkSummary,
    ClassifierSummary,
    ExperimentSummary,
    ShownTable,
    summarise_benchmark,
)
from ilfs.report.markup import MAX_TABLE_LETTERS, escape, escape_lines
from ilfs.report.page import Document, Section, figure, package_text, paragraphs
from ilfs.text_table import Grid
from ilfs.words import counted, listed

Styles = dict[str, MethodStyle]
EXPERIMENT_TITLES = {  # what is measured, and the paper's name of it
    "sizes": ("performance with the first features of each ranking", "second experiment"),
    "classes": ("each class against the rest, with a fraction of the features", "first experiment"),
    "timing": ("one fit on random numbers", "timing experiment"),
}
PAPER_SUITES = ("paper", "deep", "timing")  # suites with the paper's data sets and methods


def write_benchmark_page(
    results: Results | Sequence[Results],
    path: str | os.PathLike[str],
    *,
    reference: str | None = None,
    metric: str = "ap_macro",
    commands: Sequence[Sequence[str]] = (),
    title: str | None = None,
) -> Path:
    """Write the results of one or more suites as one self-contained HTML page.

    Parameters
    ----------
    results : Results or sequence of Results
        Results of the suites, the main one first.
    path : path-like
        The file to write; it appears whole or not at all.
    reference : str, optional
        Method that is compared with all others; by default ``ilfs`` if a suite has it, else its first method.
    metric : {"ap_macro", "ap_majority", "accuracy", "balanced_accuracy", "f1", "auc"}
        Metric of curves and tests; the experiment ``"classes"`` has average precision only.
    commands : sequence of sequences of str, optional
        Commands that repeat each suite; by default those of the built-in suites.
    title : str, optional
        Title of the page.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import replace
    >>> from ilfs.benchmark import SUITES, Results, Store, run
    >>> from ilfs.report.benchmark import write_benchmark_page
    >>> suite = replace(SUITES["quick"].only(datasets=["iris"], methods=["fisher", "random"]), n_splits=1)
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     _ = run(suite, store, n_jobs=1)
    ...     page = write_benchmark_page(Results.from_store(suite, store), f"{folder}/page.html").read_text()
    >>> "fisher" in page
    True
    """
    several = [results] if isinstance(results, Results) else list(results)
    summary = summarise_benchmark(several, reference=reference, metric=metric, commands=commands)
    write_text_atomically(path, benchmark_page(summary, title=title))
    return Path(path)


def benchmark_page(summary: BenchmarkSummary, *, title: str | None = None) -> str:
    """Make the page from a summary.

    Parameters
    ----------
    summary : BenchmarkSummary
        The results as plain data.
    title : str, optional
        Title of the page.

    Returns
    -------
    str
        The text of the HTML file.
    """
    suites = [one.suite for one in summary.experiments]
    several = len(suites) > 1
    sections = []
    for number, one in enumerate(summary.experiments):
        if several:
            sections.append(Section(f"Suite {one.suite}", introduction(one, number), f"suite{number}", "experiment"))
        sections += experiment_sections(one, number)
    if summary.joint is not None:
        sections.append(
            Section("The paper's procedure over all suites", table_html(ShownTable(summary.joint)), "joint")
        )
    return Document(
        title or f"Benchmark of feature selection: {'suites' if several else 'suite'} {listed(suites)}",
        [*sections, methods_section(summary)],
        lead=contents([one for one in sections if "-" not in one.anchor])
        if several
        else introduction(summary.experiments[0], 0) + contents(sections),
        scripts=[package_text("benchmark.js")],
        styles=[package_text("benchmark.css")],
    ).html()


def contents(sections: Sequence[Section]) -> str:
    """Format links to the sections; those of a classifier are shown and hidden with them."""
    links = [f'<a href="#{escape(one.anchor)}" class="{one.kind}">{escape(one.title)}</a>' for one in sections]
    return f'<nav aria-label="sections">{" ".join(links)}</nav>'


def experiment_sections(experiment: ExperimentSummary, number: int) -> Iterable[Section]:
    """Make the sections of one suite; those of a further classifier follow those of the first."""
    styles = method_styles(experiment, number)
    for k, view in enumerate(experiment.classifiers):
        yield from classifier_sections(experiment, view, styles, number, k)
    if experiment.experiment != "timing":
        yield Section("Time against size", times(experiment, styles), anchor=f"e{number}-time")
    yield Section("Failed jobs", failures(experiment), anchor=f"e{number}-failed")
    yield Section("How it was computed", provenance(experiment), anchor=f"e{number}-provenance")


def introduction(experiment: ExperimentSummary, number: int) -> str:
    """Say what the suite is and how many jobs it has, with key facts and buttons for the classifiers."""
    jobs = experiment.jobs
    parts = [f"{jobs.done:,} of {jobs.total:,} jobs finished"]
    parts += [f"{jobs.failed:,} failed"] if jobs.failed else []
    parts += [f"{jobs.missing:,} not computed"] if jobs.missing else []
    sets, n_splits = experiment.datasets, experiment.n_splits
    facts = (
        f"{counted(len(experiment.methods), 'method')}, {counted(len(sets), 'data set')}, "
        f"{counted(n_splits, 'split')}; {', '.join(parts)}."
    )
    about = experiment_title(experiment)
    return f'<p class="lead">{escape(about[:1].upper() + about[1:])}. {escape(facts)}</p>{tabs(experiment, number)}'


def experiment_title(experiment: ExperimentSummary) -> str:
    """Say what a suite measures; suites with other data sets or methods only share the protocol of the paper."""
    measured, name = EXPERIMENT_TITLES[experiment.experiment]
    if experiment.suite in PAPER_SUITES:
        return f"the paper's {name}: {measured}"
    return f"{measured}, by the protocol of the paper's {name}"


def tabs(experiment: ExperimentSummary, number: int) -> str:
    """Format buttons that choose the classifier, if there are several."""
    if len(experiment.classifiers) < 2:
        return ""
    buttons = "".join(
        f'<button type="button" data-show="e{number}c{k}" aria-pressed="{"true" if k == 0 else "false"}">'
        f"{escape(view.name)}</button>"
        for k, view in enumerate(experiment.classifiers)
    )
    return f'<div class="tabs no-print" role="group" aria-label="classifier">Evaluated by {buttons}</div>'


def classifier_sections(
    experiment: ExperimentSummary, view: ClassifierSummary, styles: Styles, number: int, k: int
) -> Iterable[Section]:
    """Make the sections of one classifier."""
    several = len(experiment.classifiers) > 1
    made = {
        "In short": in_short(view),
        "Results": results_body(experiment, view),
        "Beside the paper": beside_body(view),
        "Performance against the number of features": curves_body(experiment, view, styles),
        "Which differences are significant": tests_body(experiment, view),
        "Stability against performance": stability_body(experiment, view, styles),
    }
    for i, (title, body) in enumerate(made.items()):
        if body:
            anchor = f"e{number}c{k}-{i}"
            name = f"{title} ({view.name})" if several else title
            yield Section(name, body, anchor, f"by-classifier e{number}c{k}" if several else "")


def in_short(view: ClassifierSummary) -> str:
    """Show key facts and the main sentences."""
    facts = "".join(
        f'<div class="fact"><dt>{escape(one.label)}</dt><dd><b>{escape(one.method)}</b> {escape(one.value)}</dd></div>'
        for one in view.sentences.key_facts
    )
    said = view.sentences
    sentences = [*said.best, *(one for one in said.significance if one.startswith("Over the"))]
    return (f'<dl class="facts">{facts}</dl>' if facts else "") + bullets(sentences)


def bullets(sentences: Sequence[str]) -> str:
    """Format sentences as a list; a per cent sign stays with its number."""
    kept = [escape(short_words(one, MAX_TABLE_LETTERS)).replace(" %", "&nbsp;%") for one in sentences]
    return f"<ul>{''.join(f'<li>{one}</li>' for one in kept)}</ul>" if kept else ""


def results_body(experiment: ExperimentSummary, view: ClassifierSummary) -> str:
    """Show the tables of results, the first one open."""
    tables = [one for one in view.tables if not one.grid.title.startswith("Seconds")]
    if experiment.experiment == "timing":
        drawn = figure(timing_chart(view, experiment.reference), "Seconds of one fit.")
        return drawn + table_html(tables[0]) + in_layout_of_paper(view)
    where = "row" if tables[0].by_row else "column"
    note = f"Bold: the best of a {where}. The colour fades with the distance from it, and is gone 10 points below."
    first = f'{table_html(tables[0], order=best_first(tables[0].grid))}<p class="note">{note}</p>'
    more = details(f"{counted(len(tables) - 1, 'more table')}", map(table_html, tables[1:]))
    return first + more + in_layout_of_paper(view)


def best_first(grid: Grid) -> list[int]:
    """Order the rows by the column of means, if there is one."""
    rows = list(range(len(grid.rows)))
    if "mean" not in grid.header:
        return rows
    j = list(grid.header).index("mean")
    return sorted(rows, key=lambda i: -(grid.rows[i][j] if grid.rows[i][j] is not None else -1.0))


def details(title: str, bodies: Iterable[str]) -> str:
    """Put HTML into an element that opens on demand; nothing if there is none."""
    inside = "\n".join(bodies)
    return f"<details><summary>{escape(title)}</summary>{inside}</details>" if inside else ""


def beside_body(view: ClassifierSummary) -> str:
    """Show our values and the paper's, if it has any."""
    note = (
        '<p class="note">In each place: our value; below it the paper\'s and the difference. Blue: ours is higher; '
        "orange: the paper's is.</p>"
    )
    return "".join(map(beside_html, view.beside)) + note if view.beside else ""


def in_layout_of_paper(view: ClassifierSummary) -> str:
    """Show our tables and the paper's in its layout."""
    return details("In the layout of the paper", (table_html(ShownTable(grid)) for grid in view.layout))


def curves_body(experiment: ExperimentSummary, view: ClassifierSummary, styles: Styles) -> str:
    """Show a chart for each data set."""
    if not view.curves:
        return ""
    y_title = y_title_of(experiment)
    charts = "".join(
        figure(curves_chart(one, styles, y_title), caption=shown_name(one.title), kind="titled") for one in view.curves
    )
    spread = "Error bars: the standard deviation over the splits." if experiment.n_splits > 1 else ""
    return f'{chips_html(styles)}<div class="figures curves">{charts}</div><p class="note">{spread}</p>'


def y_title_of(experiment: ExperimentSummary) -> str:
    """Title of the axis of performance."""
    title = METRIC_TITLES[experiment.metric if experiment.experiment == "sizes" else "ap_macro"]
    return f"{title.split(',')[0]}, per cent"


def tests_body(experiment: ExperimentSummary, view: ClassifierSummary) -> str:
    """Show the critical-difference diagram and the tables of tests."""
    if not view.tests:
        return ""
    if view.diagram is not None:
        caption = (
            "Mean ranks over the data sets, the best on the left. Methods joined by a bar cannot be told apart by "
            "Nemenyi's test at the level 0.05."
        )
        # It scrolls sideways on a phone, so that its texts stay readable.
        diagram = diagram_chart(view.diagram, experiment.reference)
        drawn = figure(f'<div class="wide" tabindex="0">{diagram}</div>', caption, kind="wide-figure diagram")
    else:
        drawn = paragraphs([f"No critical-difference diagram: {view.no_diagram}."] if view.no_diagram else [])
    tests = [one for one in view.tests if not one.grid.title.startswith("Stability")]
    tables = "".join(map(table_html, tests[:1]))
    beside = f'<div class="beside"><div>{drawn}</div><div>{tables}</div></div>' if view.diagram else drawn + tables
    return bullets(view.sentences.significance) + beside + details("All tests", map(table_html, tests[1:]))


def stability_body(experiment: ExperimentSummary, view: ClassifierSummary, styles: Styles) -> str:
    """Show performance against stability for the means and for each data set, with the tables."""
    if not view.stability:
        return ""
    y_title, sets = y_title_of(experiment), dict.fromkeys(one.dataset for one in view.stability)
    complete = [name for name in styles if sum(one.method == name for one in view.stability) == len(sets)]
    chosen = [one for one in view.stability if one.method in complete]
    title = "Stability against performance"
    caption = f"Mean over {counted(len(sets), 'data set')}. The best methods are at the top right."
    drawn = stability_chart(chosen, styles, y_title, title=title, is_large=True)
    large = figure(drawn, caption, kind="wide-figure")
    small = "".join(
        figure(
            stability_chart(
                [one for one in view.stability if one.dataset == name],
                styles,
                y_title,
                title=f"{title} on {name}",
                is_large=False,
            ),
            caption=shown_name(name),
            kind="titled",
        )
        for name in sets
    )
    tables = [one for one in view.tests if one.grid.title.startswith("Stability")]
    by_set = details("By data set", [f'<div class="figures">{small}</div>']) if len(sets) > 1 else ""
    above = f"{bullets(view.sentences.stability)}{chips_html(styles)}"
    return f"{above}{large}{by_set}" + details("Tables of stability", map(table_html, tables))


def times(experiment: ExperimentSummary, styles: Styles) -> str:
    """Show the seconds of the jobs against the size of their data."""
    grids = [one for one in experiment.classifiers[0].tables if one.grid.title.startswith("Seconds")]
    sentences = bullets(experiment.classifiers[0].sentences.time)
    drawn = time_figure(experiment, styles) if experiment.times else ""
    return sentences + drawn + details("Table of seconds", map(table_html, grids))


def time_figure(experiment: ExperimentSummary, styles: Styles) -> str:
    """Draw time against size, or bars if all data have the same size."""
    points = experiment.times
    if len({one.n_values for one in points}) == 1:
        caption = "Median seconds to order the features once, on one thread; mean of the data sets."
        return figure(seconds_chart(points, experiment.reference), caption)
    caption = (
        "Median seconds to order the features once, on one thread, against the number of values in the training rows. "
        "Both scales are logarithmic; each point is a data set."
    )
    return chips_html(styles) + figure(time_chart(points, styles), caption, kind="wide-figure")


def failures(experiment: ExperimentSummary) -> str:
    """List the failed jobs with their reasons."""
    if not experiment.failures:
        return paragraphs(["No job failed."])
    rows = [
        [one.dataset, one.method, len(one.splits), ", ".join(map(str, one.splits)), one.reason]
        for one in experiment.failures
    ]
    grid = Grid(
        f"{counted(experiment.jobs.failed, 'failed job')}",
        ["data set", "method", "jobs", "splits", "reason"],
        rows,
        notes=["ilfs bench run --retry-failed computes failed jobs again."],
    )
    return table_html(ShownTable(grid))


def provenance(experiment: ExperimentSummary) -> str:
    """Show data sets, protocol, versions, computers and commands."""
    found = experiment.provenance
    facts = [*found.protocol, ("Versions", "; ".join(found.versions)), ("Computer", "; ".join(found.computers))]
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    sets = [[one.title, one.name, one.n_samples, one.n_features, one.n_classes] for one in experiment.datasets]
    table = Grid("Data sets", ["data set", "name", "samples", "features", "classes"], sets)
    lines = "\n".join(found.commands)
    repeat = f"<h3>Repeat it</h3><pre>{escape_lines(lines)}</pre>" if lines else ""
    return f'<dl class="protocol">{rows}</dl>{repeat}' + details("Data sets", [table_html(ShownTable(table))])


def methods_section(summary: BenchmarkSummary) -> Section:
    """Make the paragraph for a paper, and what to cite."""
    texts = [methods_text(one) for one in summary.experiments]
    return Section("To cite", paragraphs([*texts, CITATION]), "cite", "cite")
