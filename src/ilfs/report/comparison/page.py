"""The page of a comparison: one self-contained HTML file, without scripts."""

import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from ilfs.files import write_text_atomically
from ilfs.report.comparison import charts
from ilfs.report.comparison.sentences import (
    REFERENCES,
    best_sentence,
    error_sentence,
    methods_paragraph,
    metric_title,
    random_sentence,
    table_sentence,
    test_row,
    test_sentence,
)
from ilfs.report.comparison.text import plus_minus, two_decimals
from ilfs.report.markup import MAX_TABLE_LETTERS, escape, html_table, shortened
from ilfs.report.page import Document, Section, figure, paragraphs, warning_box
from ilfs.selection import Comparison
from ilfs.selection.comparison import MethodStability
from ilfs.text_table import MISSING_TEXT
from ilfs.words import counted, seconds_text

COMPARISON_STYLE = "page.css"
FEATURES_SHOWN = 30  # of the rankings side by side
BADGES = {"best": '<span class="badge first">best</span>', "equal": '<span class="badge">not told apart</span>'}


def write_comparison_page(
    comparison: Comparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: str | None = None,
    input_name: str | None = None,
    set_aside: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Path:
    """Write a comparison as one self-contained HTML file, which appears complete or not at all.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    path : path-like
        The file; its folder must exist.
    title : str, optional
        Title of the page; by default the number of methods and the name of the input.
    command : str, optional
        The command that repeats the comparison.
    input_name : str, optional
        Name of the input.
    set_aside : sequence of (str, str), default=()
        Columns that are no features, and why.
    warnings : sequence of str, default=()
        Sentences on what makes the result doubtful, such as a feature that repeats the classes; shown at the top.
    notes : sequence of str, default=()
        Further sentences, such as what was guessed.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.report import write_comparison_page
    >>> from ilfs.selection import compare
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = compare(["fisher", "mi"], X, y, sizes=[1, 3, 9], stability=False)
    >>> page = write_comparison_page(found, tempfile.mkdtemp() + "/wine.html", input_name="wine")
    >>> "<h1>Comparison of 2 methods on wine</h1>" in page.read_text()
    True
    """
    about = f"Comparison of {counted(len(comparison.methods), 'method')}" + (f" on {input_name}" if input_name else "")
    sections = [
        answer_section(comparison),
        performance_section(comparison),
        difference_section(comparison),
        agreement_section(comparison),
        ranks_section(comparison),
        stability_section(comparison),
        left_out_section(comparison, set_aside, notes),
        methods_section(comparison, command),
    ]
    page = Document(
        about if title is None else title,
        [section for section in sections if section is not None],
        lead=f"<p>{escape(table_sentence(comparison))}</p>\n{warning_box(warnings)}",
        styles=[files("ilfs.report.comparison").joinpath(COMPARISON_STYLE).read_text(encoding="utf-8")],
    )
    write_text_atomically(path, page.html())
    return Path(path)


def answer_section(comparison: Comparison) -> Section:
    """Say which methods are best, and show the summary of all of them."""
    sentences = [best_sentence(comparison, name) for name in comparison.classifiers]
    against = [random_sentence(comparison, name) for name in comparison.classifiers]
    answer = paragraphs(filter(None, sentences)) + quiet(filter(None, against))
    return Section("Which method", f'<div class="answer">{answer}</div>\n{summary_table(comparison)}', "answer")


def quiet(sentences: Iterable[str]) -> str:
    """Format sentences as paragraphs of less weight."""
    return "\n".join(f'<p class="soft">{escape(sentence)}</p>' for sentence in sentences)


def summary_table(comparison: Comparison) -> str:
    """Format the table of the methods: mean metrics with marks, stability, time and overlap with the first."""
    metric = metric_title(comparison)
    k = comparison.k
    header = [
        "method",
        *(f"{metric}, {name}" for name in comparison.classifiers),
        "features that are enough",
        f"stability at {k}",
        "stability of families",
        "seconds",
        f"in common with {comparison.methods[0]}",
    ]
    rows = [summary_row(comparison, place) for place in range(len(comparison.methods))]
    rows.append(baseline_row(comparison))
    rows += all_features_row(comparison)
    legend = (
        f"{metric}: mean over all sizes ± standard error. Not told apart: the difference from the best one is not "
        "significant. Enough: the fewest features within one standard error of the best number "
        f"({' / '.join(comparison.classifiers)})."
    )
    return table(header, rows, "plain") + quiet([legend])


def summary_row(comparison: Comparison, place: int) -> str:
    """Format the row of a method."""
    name = comparison.methods[place]
    cells = [f'<td class="one-line"><span class="swatch c{charts.colour_of(place)}"></span>{escape(name)}</td>']
    for c, classifier in enumerate(comparison.classifiers):
        kind = standing(comparison, classifier, name)
        words = plus_minus(comparison.mean_over_sizes[place, c], comparison.error_over_sizes[place, c])
        cells.append(f'<td class="one-line {kind}">{words}{BADGES.get(kind, "")}</td>')
    shared = MISSING_TEXT if place == 0 else f"{round(comparison.k * comparison.overlap[0, place])} of {comparison.k}"
    enough = " / ".join(f"{size:,}" for size in comparison.sufficient_sizes[place])
    others = [
        enough,
        *stability_words(comparison.stability[place]),
        seconds_text(float(comparison.seconds[place])),
        shared,
    ]
    return f"<tr>{''.join(cells)}{numbers(others)}</tr>"


def standing(comparison: Comparison, classifier: str, name: str) -> str:
    """Return "best", "equal" if a method cannot be told apart from the best one, or an empty text."""
    if len(comparison.methods) < 2 or not comparison.tests:
        return ""
    verdict = comparison.verdict(classifier)
    return "best" if name == verdict.best else "equal" if name in verdict.equal else ""


def stability_words(found: MethodStability | None) -> list[str]:
    """Format the stability of features and of families with their intervals."""
    if found is None:
        return [MISSING_TEXT] * 2
    intervals = [(one.value, *one.interval()) for one in (found.features, found.families)]
    return [MISSING_TEXT if np.isnan(one[0]) else "{} ({} to {})".format(*map(two_decimals, one)) for one in intervals]


def baseline_row(comparison: Comparison) -> str:
    """Format the row of random features."""
    means = zip(comparison.mean_over_sizes[-1], comparison.error_over_sizes[-1], strict=True)
    words = "".join(f'<td class="one-line">{plus_minus(float(mean), float(error))}</td>' for mean, error in means)
    swatch = f'<span class="swatch c{charts.RANDOM_COLOUR}"></span>'
    return f'<tr class="baseline"><td class="one-line">{swatch}random features</td>{words}{numbers([""] * 5)}</tr>'


def all_features_row(comparison: Comparison) -> list[str]:
    """Format the row of all features; none if they were not evaluated."""
    if np.isnan(comparison.all_features).any():
        return []
    means = zip(comparison.all_features.mean(axis=1), comparison.all_features_error, strict=True)
    words = "".join(f'<td class="one-line">{plus_minus(float(mean), float(error))}</td>' for mean, error in means)
    name = f'<td class="one-line">all {counted(comparison.n_features, "feature")}</td>'
    return [f'<tr class="baseline">{name}{words}{numbers([""] * 5)}</tr>']


def numbers(words: Sequence[str]) -> str:
    """Format words as cells of numbers."""
    return "".join(f'<td class="number">{escape(word)}</td>' for word in words)


def table(header: Sequence[str], rows: Sequence[str], kind: str, n_words: int = 3) -> str:
    """Put rows of a table into an element that scrolls sideways; the first columns hold words, the others numbers."""
    marks = ["" if j < n_words else ' class="number"' for j in range(len(header))]
    titles = "".join(f'<th scope="col"{mark}>{escape(word)}</th>' for word, mark in zip(header, marks, strict=True))
    body = "\n".join(rows)
    inside = f"<thead><tr>{titles}</tr></thead><tbody>\n{body}\n</tbody>"
    return f'<div class="wide"><table class="{kind}">{inside}</table></div>'


def performance_section(comparison: Comparison) -> Section:
    """Show the performance against the number of features, a chart for each classifier."""
    drawn = [
        figure(charts.performance_chart(comparison, place), f"{metric_title(comparison)} of {name} on the test rows.")
        for place, name in enumerate(comparison.classifiers)
    ]
    what = (
        "In each fold, every method ranks the features by the training rows alone. The classifiers are trained on its "
        "first features and evaluated on the test rows; all methods see the same folds."
    )
    shown = figures(drawn, "curves")
    return Section("Performance against number of features", f"{paragraphs([what])}{shown}{quiet([error_sentence()])}")


def figures(drawn: Sequence[str], kind: str = "") -> str:
    """Put figures side by side if there is room."""
    return f'<div class="figures {kind}">\n' + "\n".join(drawn) + "\n</div>"


def room(comparison: Comparison) -> str:
    """Return the CSS class of figures with a row and a column for each method: wider ones if methods are many."""
    return "curves" if len(comparison.methods) > charts.MANY_METHODS else ""


def difference_section(comparison: Comparison) -> Section | None:
    """Show the differences of all pairs, with those that are significant marked."""
    if not comparison.tests:
        return None
    matrices = [difference_matrix(comparison, name) for name in comparison.classifiers]
    header = ["classifier", "first", "second", "difference", "95 % interval", "p", "p (Holm)", "verdict"]
    rows = [[one.classifier, *test_row(one)] for one in comparison.tests]
    every = f"<details><summary>All tests</summary>{html_table(header, rows, digits=3)}</details>"
    body = paragraphs([test_sentence(comparison)]) + figures(matrices, room(comparison) and "stacked") + every
    return Section("Which differences are real", body, "differences")


def difference_matrix(comparison: Comparison, classifier: str) -> str:
    """Format the differences of all pairs with a classifier, row minus column."""
    found = {}
    for one in comparison.tests:
        if one.classifier == classifier:
            found[one.first, one.second] = (one.difference, one)
            found[one.second, one.first] = (-one.difference, one)
    rows = []
    for first in comparison.names:
        cells = [f'<th scope="row">{escape(first)}</th>']
        for second in comparison.names:
            difference, test = found.get((first, second), (0.0, None))
            kind = "number real" if test is not None and test.is_significant else "number"
            word = "" if test is None else f"{difference:+.3f}".replace("-", "\N{MINUS SIGN}")
            cells.append(f'<td class="{kind}">{word}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    caption = (
        f"{metric_title(comparison)} of {classifier}, row minus column. Marked: significant after Holm's correction "
        "(all pairs of methods; random features apart), which is stricter than that for comparisons with the best "
        "method alone."
    )
    return figure(table(["", *comparison.names], rows, "plain matrix", 1), caption)


def agreement_section(comparison: Comparison) -> Section | None:
    """Show how much the rankings agree."""
    if len(comparison.methods) < 2:
        return None
    by_chance = comparison.k / comparison.n_features
    drawn = [
        figure(
            charts.overlap_chart(comparison),
            f"Fraction of the {comparison.k} best features in common; two random choices share {by_chance:.2g}.",
        ),
        figure(
            charts.correlation_chart(comparison),
            "Spearman's rank correlation over all features. Most features carry little information, and their order "
            "weighs as much as that of the best ones.",
        ),
    ]
    found = comparison.agreement()
    rows = [list(row) for row in zip(*(values.tolist() for values in found.values()), strict=True)]
    header = ["first", "second", "Spearman", "Kendall", f"overlap at {comparison.k}"]
    every = f"<details><summary>All pairs</summary>{html_table(header, rows)}</details>"
    return Section("Agreement of the rankings", figures(drawn, room(comparison)) + every, "agreement")


def ranks_section(comparison: Comparison) -> Section:
    """Show the rankings side by side."""
    chosen = comparison.order[:FEATURES_SHOWN]
    rows = []
    for j in chosen.tolist():
        name = str(comparison.feature_names[j])
        cells = "".join(rank_cell(int(rank), comparison.k) for rank in comparison.rankings[:, j])
        rows.append(f'<tr><td title="{escape(name)}">{escape(shortened(name, MAX_TABLE_LETTERS))}</td>{cells}</tr>')
    what = (
        f"Rank of the {counted(len(chosen), 'feature')} with the best mean rank, by each method on all rows. Ranks "
        f"among the {comparison.k} best of a method are shaded."
    )
    shown = table(["feature", *comparison.methods], rows, "plain ranks", 1)
    return Section("Rankings side by side", paragraphs([what]) + shown, "ranks")


def rank_cell(rank: int, k: int) -> str:
    """Format a rank; those among the best are shaded."""
    return f'<td class="number{" top" if rank <= k else ""}">{rank:,}</td>'


def stability_section(comparison: Comparison) -> Section:
    """Show performance against stability, the stability of features and families, and the time."""
    drawn = []
    if any(one is not None for one in comparison.stability):
        drawn += [
            figure(charts.stability_chart(comparison, place), f"{metric_title(comparison)} of {name}, and stability.")
            for place, name in enumerate(comparison.classifiers)
        ]
        caption = (
            f"Nogueira's index over {comparison.n_resamples} half-samples, with 95 % intervals. In families, a feature "
            "that is replaced by a correlated one counts as chosen again."
        )
        drawn.append(figure(charts.index_chart(comparison), caption))
    drawn.append(figure(charts.time_chart(comparison), "Time of a fit on all rows, on a logarithmic axis."))
    return Section("Stability and time" if len(drawn) > 1 else "Time", figures(drawn), "stability")


def left_out_section(
    comparison: Comparison, set_aside: Sequence[tuple[str, str]], notes: Sequence[str]
) -> Section | None:
    """List the methods that were left out, the columns that were set aside, and further notes."""
    parts = []
    if comparison.left_out:
        rows = [[one.name, one.reason] for one in comparison.left_out]
        parts.append(html_table(["method left out", "reason"], rows))
    if set_aside:
        parts.append(html_table(["column set aside", "reason"], [list(one) for one in set_aside]))
    if sentences := [*notes, *comparison.notes]:
        parts.append(f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in sentences)}</ul>")
    return Section("Left out, and notes", "\n".join(parts), "notes") if parts else None


def methods_section(comparison: Comparison, command: str | None) -> Section:
    """Show the paragraph for a paper, the selectors, the command and the references."""
    pairs = zip(comparison.methods, comparison.selectors, strict=True)
    selectors = "".join(f"<dt>{escape(name)}</dt><dd><code>{escape(code)}</code></dd>" for name, code in pairs)
    parts = [
        paragraphs([methods_paragraph(comparison)]),
        f'<dl class="sources">{selectors}</dl>',
        f"<h3>Command</h3><pre>{escape(command)}</pre>" if command else "",
        "<h3>References</h3><ul>" + "".join(f"<li>{escape(one)}</li>" for one in REFERENCES) + "</ul>",
    ]
    return Section("How this was computed", "\n".join(filter(None, parts)), "methods")
