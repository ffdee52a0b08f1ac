"""The page of a ranking: the answer, the table of all features, charts, and how to repeat it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ilfs.files import write_text_atomically
from ilfs.ranking_table import MEAN_PREFIX
from ilfs.report.interactions.page import interactions_section
from ilfs.report.markup import escape, escape_lines, html_table, shortened
from ilfs.report.page.answer import answer_html
from ilfs.report.page.document import Document, Section, package_text, paragraphs, warning_box
from ilfs.report.page.methods_text import data_words, methods_paragraph, python_call, references
from ilfs.report.page.ranking_data import ranking_data
from ilfs.report.page.ranking_figures import ranking_figures
from ilfs.report.summary import RankingSummary, summarise_ranking
from ilfs.selection.stability_result import Stability
from ilfs.selector import RankingSelector
from ilfs.words import counted

SCRIPTS = ("data.js", "drawing.js", "export.js", "table.js", "network.js", "ranking.js")
N_STATIC_ROWS = 50  # in the table without scripts and on paper
MAX_STATIC_LETTERS = 80
PAGE_ENDINGS = (".html", ".htm")
STATIC_COLUMNS = ("rank", "feature", "score", "q_value", "verdict", "direction", "effect")


def write_page(
    selector: RankingSelector,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    input_features: Sequence[str] | None = None,
    title: str | None = None,
    command: str | None = None,
    input_name: str | None = None,
    set_aside: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
    stability: Stability | None = None,
    preparation: str | None = None,
) -> Path:
    """Write the result of a fitted selector as one HTML file that needs no network.

    The file appears complete or not at all. It holds the names, scores and class means of all features. If X is given,
    it also holds values of the best 200 features, so do not give X if these may not be shared.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    path : path-like
        The file to write, such as ``"genes.html"``; its folder must exist.
    X : table, Source or path-like, optional
        The table of the fit, for values by class and correlations; one pass over about 200 columns is made.
    y : array or str, optional
        Labels of X, or the name of their column; not if X is a source.
    input_features : sequence of str, optional
        Names of the columns, if ``fit`` did not see them.
    title : str, optional
        Title of the page.
    command : str, optional
        Command that repeats the ranking; Python code by default.
    input_name : str, optional
        Name of the table, such as that of its file.
    set_aside : sequence of (str, str), default=()
        Columns that are no features, and why.
    warnings : sequence of str, default=()
        Sentences on what makes the result doubtful, such as a feature that repeats the classes; shown at the top.
    notes : sequence of str, default=()
        Sentences that are shown below the methods.
    stability : Stability, optional
        Result of `ilfs.selection.stability` for the same features.
    preparation : str, optional
        Python expression that gives the table by `ilfs.preparing.prepare`, for the code that repeats the ranking.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import FisherScore
    >>> from ilfs.report import write_page
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> path = write_page(FisherScore(3).fit(X, y), tempfile.mkdtemp() + "/wine.html", X, y, title="Wine")
    >>> path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    path = Path(path)
    check_is_page(path)
    summary = summarise_ranking(
        selector,
        X,
        y,
        input_features=input_features,
        title=title,
        command=command,
        input_name=input_name,
        set_aside=set_aside,
        warnings=warnings,
        notes=notes,
        stability=stability,
        preparation=preparation,
    )
    write_text_atomically(path, ranking_page(summary))
    return path


def check_is_page(path: Path) -> None:
    """Raise if the name of a file is not that of a page; a device such as standard output may have any name."""
    if path.suffix.lower() not in PAGE_ENDINGS and (path.is_file() or not path.exists()):
        raise ValueError(f"path must end in {' or '.join(PAGE_ENDINGS)}, got {os.fspath(path)!r}")


def ranking_page(summary: RankingSummary) -> str:
    """Format the page of a ranking.

    Parameters
    ----------
    summary : RankingSummary
        The result.

    Returns
    -------
    str
        HTML.
    """
    sections = [
        Section("", answer_html(summary), "answer"),
        Section("All features", table_html(summary), "features"),
        *interactions_part(summary),
        Section("The whole ranking", ranking_figures(summary), "charts"),
        Section("Methods", methods_html(summary), "methods"),
        *set_aside_section(summary),
        *notes_section(summary),
    ]
    return Document(
        title=summary.title,
        sections=sections,
        lead=lead_html(summary),
        scripts=[package_text(name) for name in SCRIPTS],
        styles=[package_text("ranking.css")],
        data=ranking_data(summary),
    ).html()


def interactions_part(summary: RankingSummary) -> list[Section]:
    """Make the section of interactions, if the selector has searched for them."""
    if summary.interactions is None:
        return []
    columns = summary.table["column"].tolist()
    return [interactions_section(summary.interactions, {column: place for place, column in enumerate(columns)})]


def lead_html(summary: RankingSummary) -> str:
    """Format the line below the title: table, classes and method."""
    values, method = summary.values, summary.method
    samples = "" if values is None else f"{counted(values.n_rows, 'sample')}, "
    words = [f"{samples}{counted(summary.n_features, 'feature')}"]
    if summary.class_labels:
        some = ", ".join(shortened(label, 24) for label in summary.class_labels[:6])
        more = ", …" if len(summary.class_labels) > 6 else ""
        target = f"{shortened(summary.target, 40)}: " if summary.target else ""
        words.append(f"{target}{some}{more}")
    words.append(f"ranked by {method.title or method.name}")
    return f"<p>{' · '.join(escape(word) for word in words)}</p>\n{warning_box(summary.warnings)}"


def table_html(summary: RankingSummary) -> str:
    """Format the controls, the places that scripts fill, and a static table for paper and for no scripts."""
    parts = package_text("features.html")
    has_classes = "direction" in summary.table
    optional = {
        "direction": has_classes,
        "q-value": "q_value" in summary.table,
        "family": summary.nearest is not None,
    }
    for name, is_there in optional.items():
        parts = with_part(parts, name, is_there)
    parts = parts.replace("{n_features}", str(summary.n_features)).replace("{count}", f"{summary.n_features:,}")
    static = static_table(summary)
    return f'<noscript>{static}</noscript>\n<div class="static-table print-only">{static}</div>\n{parts}'


def with_part(text: str, name: str, is_there: bool) -> str:
    """Keep or remove an optional part of a template, which stands between two comments."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = text.partition(start)
    part, _, after = rest.partition(end)
    return before + (part if is_there else "") + after


def static_table(summary: RankingSummary) -> str:
    """Format the best features as a plain table."""
    table, n_rows = summary.table, min(N_STATIC_ROWS, summary.n_features)
    titles = [title for title in table if title in STATIC_COLUMNS or is_small_mean(summary, title)]
    shown = {title: table[title][:n_rows].tolist() for title in titles}
    columns = [[static_value(title, value) for value in values] for title, values in shown.items()]
    header = [title.replace("_", " ") for title in titles]
    caption = f"The best {n_rows:,} of {counted(summary.n_features, 'feature')}"
    return html_table(header, list(zip(*columns, strict=True)), caption=caption, digits=None)


def is_small_mean(summary: RankingSummary, title: str) -> bool:
    """Return True for class means, if there are at most three classes."""
    return title.startswith(MEAN_PREFIX) and len(summary.class_labels) <= 3


def static_value(title: str, value: Any) -> Any:
    """Format a value of the static table."""
    if title == "q_value":
        return float(f"{value:.2g}")
    is_word = title == "feature" or isinstance(value, str)  # names of columns may be integers
    return shortened(str(value), MAX_STATIC_LETTERS) if is_word else value


def methods_html(summary: RankingSummary) -> str:
    """Format the paragraph to paste, the works to cite, and how to repeat the ranking."""
    cited = "".join(f"<li>{escape(work)}</li>" for work in references(summary))
    command = f"<p>On the command line:</p>\n<pre>{escape_lines(summary.command)}</pre>" if summary.command else ""
    python = f"<p>In Python{escape(data_words(summary))}:</p>\n<pre>{escape_lines(python_call(summary))}</pre>"
    every = html_table(["parameter", "value"], list(summary.method.parameters.items()))
    return (
        f'<p id="methods-text">{escape(methods_paragraph(summary))}</p>\n<h3>Cite</h3>\n<ul>{cited}</ul>\n'
        f"<h3>Repeat it</h3>\n{command}\n{python}\n"
        f"<details><summary>All parameters</summary>{every}</details>"
    )


def set_aside_section(summary: RankingSummary) -> list[Section]:
    """List the columns that are no features."""
    if not summary.set_aside:
        return []
    rows = [[shortened(name, MAX_STATIC_LETTERS), reason] for name, reason in summary.set_aside]
    return [Section("Set aside", html_table(["column", "why it is no feature"], rows), "set-aside")]


def notes_section(summary: RankingSummary) -> list[Section]:
    """Show further sentences."""
    return [Section("Notes", paragraphs(summary.notes), "notes")] if summary.notes else []
