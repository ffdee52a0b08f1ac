"""A fitted selector in a notebook: the top of its ranking with the verdict, as a small piece of HTML."""

from dataclasses import dataclass

from ilfs.ranking_table import RankingTable, shorter_direction
from ilfs.report.certainty import certainty_sentences
from ilfs.report.markup import escape, shortened
from ilfs.report.plots.canvas import ONE_COLOUR, SEVERAL_CLASSES, SOFT, class_colours
from ilfs.report.plots.scores import BestFeatures, finite_lengths, padded
from ilfs.selector import RankingSelector
from ilfs.text_table import MISSING_TEXT
from ilfs.words import counted

N_SHOWN = 10
MAX_FEATURE_LETTERS = 48
MAX_HOVER_LETTERS = 300
MAX_CALL_LETTERS = 300
# Text and lines take the colours of the notebook, so that they suit light and dark themes, whatever sets them.
NOTEBOOK_STYLE = """
.ilfs-ranking{font-size:.92em;line-height:1.45;max-width:60em;overflow-x:auto}
.ilfs-ranking p{margin:.2em 0}
.ilfs-ranking .ilfs-soft{opacity:.68}
.ilfs-ranking table{border-collapse:collapse;margin:.5em 0 .3em;font-size:inherit;color:inherit}
.ilfs-ranking th,.ilfs-ranking td{padding:.18em .9em .18em 0;text-align:left;border:0;background:none}
.ilfs-ranking th,.ilfs-ranking td{white-space:nowrap}
.ilfs-ranking thead th{border-bottom:1px solid rgba(128,128,128,.5);font-weight:600;opacity:.75}
.ilfs-ranking .ilfs-number{text-align:right;font-variant-numeric:tabular-nums}
.ilfs-ranking tr.ilfs-other{opacity:.5}
.ilfs-ranking tr.ilfs-cut td{border-top:1px dashed rgba(128,128,128,.8)}
.ilfs-ranking .ilfs-track{width:7em}
.ilfs-ranking .ilfs-bar{height:.72em;border-radius:2px;min-width:1px}
"""


@dataclass(frozen=True)
class Column:
    """A column of the table: its title, the words in it, and whether these are numbers."""

    title: str
    words: tuple[str, ...]
    is_number: bool = True


def selector_html(selector: RankingSelector, top: int = N_SHOWN) -> str:
    """Format the best features of a fitted selector as HTML that needs nothing else.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    top : int, default=10
        Number of features.

    Returns
    -------
    str
        One element, with its style. Names are escaped.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import ILFS
    >>> from ilfs.report.notebook import selector_html
    >>> page = selector_html(ILFS(3).fit(*load_wine(return_X_y=True, as_frame=True)), top=4)
    >>> page.count("<tr"), "3 of 13 features selected" in page
    (5, True)
    """
    best = BestFeatures.from_selector(selector, top)
    sentences = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in certainty_sentences(selector)]
    call = shortened(" ".join(repr(selector).split()), MAX_CALL_LETTERS)
    n_more = best.n_features - len(best.names)
    more = f"{n_more:,} more features: selector.table(), selector.plot.scores()" if n_more else "selector.plot.scores()"
    return "\n".join(
        [
            # A notebook would typeset what stands between dollar signs in names, but for these two classes.
            f'<div class="ilfs-ranking tex2jax_ignore mathjax_ignore"><style>{NOTEBOOK_STYLE}</style>',
            f"<p><strong>{escape(best.method)}</strong>: {best.n_selected:,} of {counted(best.n_features, 'feature')} "
            f'selected <span class="ilfs-soft"><code>{escape(call)}</code></span></p>',
            *(f"<p>{escape(sentence)}</p>" for sentence in sentences),
            table_html(best, columns_of(selector.table(top))),
            f'<p class="ilfs-soft"><code>{escape(more)}</code></p></div>',
        ]
    )


def columns_of(table: RankingTable) -> list[Column]:
    """Choose and format the columns that describe a feature besides its name and its score."""
    columns = []
    if "direction" in table:
        words = (shorter_direction(phrase, lambda label: shortened(label, 24)) for phrase in table["direction"])
        columns.append(Column("direction", tuple(word or MISSING_TEXT for word in words), is_number=False))
        columns.append(Column("effect", tuple(f"{value:.2f}" for value in table["effect"])))
    if "q_value" in table:
        columns.append(Column("q-value", tuple(f"{value:.2g}" for value in table["q_value"])))
    if "verdict" in table:
        columns.append(Column("verdict", tuple(map(str, table["verdict"])), is_number=False))
    return columns


def table_html(best: BestFeatures, columns: list[Column]) -> str:
    """Format the table: rank, name, score with a bar, and further columns."""
    titles = [("", True), ("feature", False), ("score", True), ("", False)]
    titles += [(column.title, column.is_number) for column in columns]
    head = "".join(f"<th{number_class(is_number)}>{escape(title)}</th>" for title, is_number in titles)
    rows = "\n".join(row_html(best, columns, row) for row in range(len(best.names)))
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"


def row_html(best: BestFeatures, columns: list[Column], row: int) -> str:
    """Format the row of a feature; those that are not selected are pale, with a line above the first of them."""
    name = best.names[row]
    shown = escape(shortened(name, MAX_FEATURE_LETTERS))
    words = [
        f'<td class="ilfs-number">{row + 1}</td>',
        f'<td title="{escape(shortened(name, MAX_HOVER_LETTERS))}"><bdi>{shown}</bdi></td>',
        f'<td class="ilfs-number">{best.scores[row]:.4g}</td>',
        f"<td>{bar_html(best, row)}</td>",
        *(f"<td{number_class(column.is_number)}>{escape(column.words[row])}</td>" for column in columns),
    ]
    kinds = ["ilfs-other"] * (not best.is_selected[row]) + ["ilfs-cut"] * (row > 0 and row == best.n_first_selected)
    return f'<tr class="{" ".join(kinds)}">{"".join(words)}</tr>'


def bar_html(best: BestFeatures, row: int) -> str:
    """Format a bar for the score; none if scores are negative, since a longer bar would be a worse one."""
    lengths = finite_lengths(best.scores)
    if lengths.min() < 0 or lengths.max() <= 0:
        return ""
    colour = (class_colours(best.labels) | {SEVERAL_CLASSES: SOFT}).get(
        padded(best.directions, lengths.size)[row], ONE_COLOUR
    )
    percent = 100 * float(lengths[row] / lengths.max())
    bar = f'<div class="ilfs-bar" style="width:{percent:.1f}%;background:{colour}"></div>'
    return f'<div class="ilfs-track">{bar}</div>'


def number_class(is_number: bool) -> str:
    """Return the attribute of a field with a number."""
    return ' class="ilfs-number"' if is_number else ""
