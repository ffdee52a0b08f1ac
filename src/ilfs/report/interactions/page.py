"""Interactions on a page of their own, and as a section of the page of a ranking."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ilfs import __version__
from ilfs.files import write_text_atomically
from ilfs.report.charts.networks import MAX_TOOLTIP_LETTERS
from ilfs.report.interactions.network import InteractionNetwork
from ilfs.report.interactions.pairs import pairs_html
from ilfs.report.interactions.sentences import found_sentence, power_sentence, reading_sentence
from ilfs.report.interactions.summary import InteractionSummary
from ilfs.report.markup import escape, escape_lines, html_table, shortened
from ilfs.report.page.document import (
    Document,
    Section,
    capitalised,
    figure,
    package_text,
    paragraphs,
    warning_box,
)
from ilfs.words import counted

MAX_ROWS = 1000  # sets in the table of a page
MAX_SECTION_ROWS = 50  # sets in the section of a ranking
SCRIPTS = ("network.js", "interactions.js")


def write_interactions_page(
    summary: InteractionSummary,
    path: str | os.PathLike[str],
    *,
    input_name: str | None = None,
    command: str | None = None,
    set_aside: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Path:
    """Write interactions as one HTML file that needs no network.

    Parameters
    ----------
    summary : InteractionSummary
        The result.
    path : path-like
        The file to write; its folder must exist. It appears complete or not at all.
    input_name : str, optional
        Name of the table, such as that of its file.
    command : str, optional
        Command that repeats the search.
    set_aside : sequence of (str, str), default=()
        Columns that are no features, and why.
    warnings : sequence of str, default=()
        Sentences on what makes the result doubtful.
    notes : sequence of str, default=()
        Further sentences.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ilfs.interactions import find_interactions
    >>> from ilfs.report.interactions import summarise_interactions, write_interactions_page
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> summary = summarise_interactions(find_interactions(X, X[:, 3] * X[:, 7] > 0))
    >>> path = write_interactions_page(summary, tempfile.mkdtemp() + "/pairs.html")
    >>> "x3 &amp; x7" in path.read_text(encoding="utf-8")
    True
    """
    sections = [
        Section("", answer_html(summary), "answer"),
        *([Section("Network", network_html(summary), "network")] if summary.sets else []),
        *([Section("All sets", filter_html() + sets_table(summary, MAX_ROWS), "sets")] if summary.sets else []),
        Section("Methods", methods_html(summary, command), "methods"),
        *set_aside_section(set_aside),
        *([Section("Notes", paragraphs(notes), "notes")] if notes else []),
    ]
    title = "Interactions of features" if input_name is None else f"Interactions of features of {input_name}"
    page = Document(
        title,
        sections,
        lead=lead_html(summary) + warning_box(warnings),
        scripts=[package_text(name) for name in SCRIPTS],
        styles=[package_text("ranking.css")],
    ).html()
    path = Path(path)
    write_text_atomically(path, page)
    return path


def lead_html(summary: InteractionSummary) -> str:
    """Format the line below the title: size of the table and classes."""
    samples = "" if summary.power is None else f"{counted(summary.power.n_samples, 'sample')}, "
    some = ", ".join(shortened(label, 24) for label in summary.labels[:6])
    more = ", …" if len(summary.labels) > 6 else ""
    return f"<p>{samples}{counted(summary.n_features, 'feature')} · classes {escape(some + more)}</p>\n"


def answer_html(summary: InteractionSummary) -> str:
    """Format the number of significant sets in large letters, and the sentences."""
    kind = "pairs" if summary.order == 2 else "pairs and triples"
    n_alike = len({column for one in summary.sets for column in one.columns})
    facts = [
        (f"{summary.n_significant:,}", f"of {counted(summary.n_tests, 'test')} of {kind} significant"),
        (f"{n_alike:,}", f"of {counted(summary.n_features, 'feature')} in them"),
    ]
    shown = "\n".join(f'<div class="fact"><dt>{about}</dt><dd>{value}</dd></div>' for value, about in facts)
    return (
        '<h2 class="visually-hidden">The answer</h2>\n'
        f'<dl class="facts">\n{shown}\n</dl>\n{paragraphs(sentences_of(summary))}'
    )


def sentences_of(summary: InteractionSummary) -> list[str]:
    """Return whole sentences on the result."""
    found = [found_sentence(summary), reading_sentence(summary), power_sentence(summary)]
    return [capitalised(sentence) for sentence in found if sentence]


def network_html(summary: InteractionSummary, places: Mapping[int, int] | None = None) -> str:
    """Draw the network with its caption."""
    network = InteractionNetwork.of_summary(summary)
    drawn = figure(network.svg(places), network.caption(), kind="network-figure")
    return f'<div class="network-and-pairs">\n{drawn}\n{pairs_html(summary)}\n</div>'


def filter_html() -> str:
    """Return the field that filters the table."""
    return (
        '<div class="filters no-print" data-interactive hidden><label class="grow"><span>Feature</span>'
        '<input id="search" type="search" placeholder="name of a feature, or click one in the network" '
        'autocomplete="off" spellcheck="false"></label>'
        '<span id="shown-count" class="soft" role="status" aria-live="polite"></span></div>\n'
    )


def sets_table(summary: InteractionSummary, n_rows: int) -> str:
    """Format the strongest sets as a table."""
    has_ranks = bool(summary.sets and summary.sets[0].alone)
    header = ["", "features", "together", "more often in", "statistic", "adjusted p-value"]
    header += ["ranks alone"] if has_ranks else []
    rows = [table_row(summary, rank, has_ranks) for rank in range(1, 1 + len(summary.sets[:n_rows]))]
    left = summary.n_significant - len(rows)
    more = f", of {summary.n_significant:,}: a file (-o sets.csv) has all that are kept" if left else ""
    caption = f"The strongest {counted(len(rows), 'set')}{more}" if left else "All significant sets, strongest first"
    return html_table(header, rows, caption=caption, digits=None, kind="plain sets")


def table_row(summary: InteractionSummary, rank: int, has_ranks: bool) -> list[object]:
    """Format a set as a row of the table."""
    one = summary.sets[rank - 1]
    names = " & ".join(shortened(name, MAX_TOOLTIP_LETTERS) for name in one.names)
    label = shortened(summary.labels[one.group], MAX_TOOLTIP_LETTERS)
    p_value = float(f"{one.adjusted_p_value:.2g}") or one.p_text
    row: list[object] = [rank, names, one.pattern, label, one.statistic, p_value]
    return [*row, " & ".join(f"{place:,}" for place in one.alone)] if has_ranks else row


def interactions_section(summary: InteractionSummary, places: Mapping[int, int]) -> Section:
    """Make the section of the page of a ranking.

    Parameters
    ----------
    summary : InteractionSummary
        The result.
    places : mapping of int to int
        Place of each column in the ranking.

    Returns
    -------
    Section
        Sentences, the network and the strongest sets.
    """
    body = paragraphs(sentences_of(summary))
    if summary.sets:
        body = f"{body}\n{network_html(summary, places)}\n{sets_table(summary, MAX_SECTION_ROWS)}"
    return Section("Interactions", body, "interactions")


def methods_html(summary: InteractionSummary, command: str | None) -> str:
    """Describe the search, to paste into a paper, and how to repeat it."""
    kind = "pairs" if summary.order == 2 else "pairs, and all triples where there were few enough,"
    text = (
        f"All {kind} of {summary.n_features:,} features were tested for what they tell about the class together, "
        f"beyond what each tells alone (ilfs {__version__}). Values were reduced to two bits: above the median, and "
        "outside of the quartiles. The product of two bits was compared between the classes, after the regression on "
        "the bits themselves, by a chi-squared statistic; p-values were multiplied by the number of tests "
        f"(Bonferroni; {summary.n_tests:,} tests), at a level of {summary.alpha:g}."
    )
    repeat = f"\n<h3>Repeat it</h3>\n<pre>{escape_lines(command)}</pre>" if command else ""
    return f'<p id="methods-text">{escape(text)}</p>{repeat}'


def set_aside_section(set_aside: Sequence[tuple[str, str]]) -> list[Section]:
    """List the columns that are no features."""
    if not set_aside:
        return []
    rows = [[shortened(name, 80), reason] for name, reason in set_aside]
    return [Section("Set aside", html_table(["column", "why it is no feature"], rows), "set-aside")]
