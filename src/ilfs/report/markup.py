"""Text in HTML and SVG: escaping and shortening of names that may contain anything."""

from collections.abc import Sequence
from html import escape as html_escape
from typing import Any
from unicodedata import category

from ilfs.text_table import format_value

JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
MAX_TABLE_LETTERS = 60  # of a name in a table; the whole name is then a tooltip
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: Any) -> str:
    r"""Replace control characters by spaces, and halves of surrogate pairs, which UTF-8 cannot encode.

    Marks that change the direction of writing would reorder the text after them, so they are replaced, too.

    Examples
    --------
    >>> from ilfs.report.markup import printable
    >>> printable("two\nlines")
    'two lines'
    """
    words = str(text)
    if words.isprintable():
        return words
    return "".join(mark if is_shown(mark) else replacement(mark) for mark in words)


def is_shown(mark: str) -> bool:
    """Return True for printable characters, wide and narrow spaces, and joiners, which emoji and some scripts need."""
    return mark.isprintable() or category(mark) == "Zs" or mark in JOINERS


def replacement(mark: str) -> str:
    """Return the mark to show instead of one that is not printable."""
    return REPLACEMENT if "\ud800" <= mark <= "\udfff" else " "


def escape(text: Any) -> str:
    """Escape text for HTML and SVG, as content or as value of an attribute.

    Examples
    --------
    >>> from ilfs.report.markup import escape
    >>> escape('<b> & "quotes"')
    '&lt;b&gt; &amp; &quot;quotes&quot;'
    """
    return html_escape(printable(text), quote=True)


def escape_lines(text: str) -> str:
    """Escape a text of several lines; line breaks stay."""
    return "\n".join(escape(line) for line in text.split("\n"))


def shortened(text: str, max_letters: int) -> str:
    """Shorten a text, with an ellipsis in its middle: names often differ at their ends.

    Examples
    --------
    >>> from ilfs.report.markup import shortened
    >>> shortened("ENSG00000139618_BRCA2", 12)
    'ENSG00…BRCA2'
    """
    if len(text) <= max_letters:
        return text
    kept = max_letters - 1
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str = "",
    digits: int | None = 2,
    kind: str = "plain",
) -> str:
    """Format a table as HTML, with numbers on the right and without style attributes.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences
        Words, numbers, or None for a missing value.
    caption : str, default=""
        Title of the table.
    digits : int or None, default=2
        Decimals of floats; None for four significant digits.
    kind : str, default="plain"
        CSS class.

    Returns
    -------
    str
        A table element inside an element that scrolls sideways.

    Examples
    --------
    >>> from ilfs.report.markup import html_table
    >>> html_table(["method", "seconds"], [["ilfs", 0.046]]).count("<td")
    2
    """
    is_number = [
        bool(rows) and all(row[j] is None or isinstance(row[j], int | float) for row in rows)
        for j in range(len(header))
    ]

    def line(words: Sequence[str], tag: str) -> str:
        marks = [' class="number"' if number else "" for number in is_number]
        return f"<tr>{''.join(f'<{tag}{mark}>{word}</{tag}>' for word, mark in zip(words, marks, strict=True))}</tr>"

    def word(value: Any) -> str:
        return f"{value:.4g}" if digits is None and isinstance(value, float) else format_value(value, digits or 0)

    body = "\n".join(line([escape(word(value)) for value in row], "td") for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = line([escape(word) for word in header], 'th scope="col"').replace('</th scope="col">', "</th>")
    return (
        f'<div class="wide"><table class="{kind}">{title}<thead>{head}</thead><tbody>\n{body}\n</tbody></table></div>'
    )
