"""Tables of the benchmark page as HTML: the best value in bold, colours by the distance from it.

Colours are CSS classes (``h0`` to ``h8``, ``up1`` to ``up4``, ``down1`` to ``down4``), since the policy of a page
forbids style attributes.
"""

from collections.abc import Sequence
from math import isfinite, log
from typing import Any

from ilfs.report.benchmark.summary import BAD_POINTS, BesidePaper, ShownTable
from ilfs.report.markup import MAX_TABLE_LETTERS, escape, shortened
from ilfs.text_table import Grid, Marked, format_value

N_VALUE_SHADES = 8  # of values compared with the best one
N_SIGNED_SHADES = 4  # of differences, for each sign
MAX_WORD_LETTERS = 24
MINUS = "\N{MINUS SIGN}"


def table_html(table: ShownTable, *, order: Sequence[int] | None = None) -> str:
    """Format a table with colours, notes below it.

    Parameters
    ----------
    table : ShownTable
        The table.
    order : sequence of int, optional
        Order of the rows.

    Returns
    -------
    str
        HTML. All numbers are formatted as in the text table.
    """
    grid = table.grid
    if not grid.rows:
        return title_html(grid.title) + notes_html(grid.notes)
    kinds, best = shades(table), best_values(table)
    head = "".join(cell("th", name, 'scope="col"', is_number) for name, is_number in headed(grid))
    lines = []
    for i in range(len(grid.rows)) if order is None else order:
        words = [value_html(grid.rows[i][j], grid.digits, best[i][j]) for j in range(1, len(grid.header))]
        marks = [kinds[i][j] for j in range(1, len(grid.header))]
        lines.append(row_html(format_value(grid.rows[i][0], grid.digits), words, marks))
    return scrolled(grid.title, head, lines) + notes_html(grid.notes)


def scrolled(title: str, head: str, lines: Sequence[str]) -> str:
    """Format a table that scrolls sideways below its title, which does not."""
    body = "\n".join(lines)
    name = escape(title)
    inside = f"<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody>"
    table = f'<table class="plain heat sortable" aria-label="{name}">{inside}</table>'
    return f'{title_html(title)}<div class="wide" tabindex="0">{table}</div>'


def title_html(title: str) -> str:
    """Format the title of a table."""
    return f'<p class="table-title">{escape(title)}</p>'


def notes_html(notes: Sequence[str]) -> str:
    """Format the notes of a table."""
    return "".join(f'<p class="note">{escape(note)}</p>' for note in notes)


def headed(grid: Grid) -> list[tuple[str, bool]]:
    """Names of the columns, and whether they hold numbers."""
    is_number = [
        j > 0 and all(row[j] is None or isinstance(row[j], int | float | Marked) for row in grid.rows)
        for j in range(len(grid.header))
    ]
    return list(zip(grid.header, is_number, strict=True))


def cell(tag: str, text: str, attributes: str, is_number: bool) -> str:
    """Format a cell of the header."""
    kind = ' class="number"' if is_number else ""
    return f"<{tag} {attributes}{kind}{tooltip(text)}>{escape(shown_name(text))}</{tag}>"


def shown_name(name: str) -> str:
    """Shorten a name and its words, since a column is as wide as its longest word.

    Examples
    --------
    >>> from ilfs.report.benchmark.page_tables import shown_name
    >>> shown_name("a table with " + 40 * "x")
    'a table with xxxxxxxxxxxx…xxxxxxxxxxx'
    """
    return shortened(short_words(name, MAX_WORD_LETTERS), MAX_TABLE_LETTERS)


def short_words(text: str, max_letters: int) -> str:
    """Shorten the words of a text that are longer than a number of letters."""
    return " ".join(shortened(word, max_letters) for word in text.split(" "))


def tooltip(name: str) -> str:
    """Format the attribute with the whole name, if it is too long to be shown."""
    return f' title="{escape(name)}"' if shown_name(name) != name else ""


def row_html(name: str, words: Sequence[str], kinds: Sequence[str]) -> str:
    """Format a row; the words are HTML."""
    cells = "".join(f'<td class="{kind}">{word}</td>' for word, kind in zip(words, kinds, strict=True))
    shown = escape(shown_name(name))
    return f'<tr><th scope="row"{tooltip(name)}>{shown}</th>{cells}</tr>'


def value_html(value: Any, digits: int, is_best: bool) -> str:
    """Format a value, in bold if it is the best, or in part as a `Marked` word says."""
    if isinstance(value, Marked):
        return value.formatted(escape, lambda word: f"<strong>{word}</strong>")
    word = escape(format_value(value, digits))
    if value in ("better", "worse"):
        return f'<span class="{"good" if value == "better" else "bad"}">{word}</span>'
    return f"<strong>{word}</strong>" if is_best else word


def groups_of_cells(table: ShownTable) -> list[list[tuple[int, int]]]:
    """Cells that are compared with each other: those of a column, or of a row."""
    rows, columns = range(len(table.grid.rows)), range(1, len(table.grid.header))
    if table.by_row:
        return [[(i, j) for j in columns] for i in rows]
    return [[(i, j) for i in rows] for j in columns]


def numbers_in(table: ShownTable, cells: Sequence[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Numbers of some cells, without missing ones."""
    values = {(i, j): table.grid.rows[i][j] for i, j in cells}
    return {at: value for at, value in values.items() if isinstance(value, float) and isfinite(value)}


def best_values(table: ShownTable) -> list[list[bool]]:
    """Mark the best of the values that are compared, and those that look equal to it."""
    marks = [[False] * len(table.grid.header) for _ in table.grid.rows]
    if table.better in ("", "zero"):
        return marks
    for cells in groups_of_cells(table):
        found = numbers_in(table, cells)
        if len(found) > 1:
            pick = max if table.better == "high" else min
            best = format_value(pick(found.values()), table.grid.digits)
            for i, j in found:
                marks[i][j] = format_value(found[i, j], table.grid.digits) == best
    return marks


def shades(table: ShownTable) -> list[list[str]]:
    """CSS classes of all cells."""
    kinds = [["number" if is_number else "" for _, is_number in headed(table.grid)] for _ in table.grid.rows]
    for cells in groups_of_cells(table) if table.better else ():
        found = numbers_in(table, cells)
        for (i, j), kind in zip(found, shades_of(list(found.values()), table), strict=True):
            kinds[i][j] += f" {kind}"
    return kinds


def shades_of(values: Sequence[float], table: ShownTable) -> list[str]:
    """CSS classes of values that are compared with each other."""
    if not values:
        return []
    if table.better == "zero":
        return [signed_shade(value, table.reach) for value in values]
    if table.better == "ratio":
        least = min((value for value in values if value > 0), default=1.0)
        return [shade(1 - log(max(value, least) / least) / log(table.reach)) for value in values]
    best = max(values) if table.better == "high" else min(values)
    return [shade(1 - abs(value - best) / table.reach) for value in values]


def shade(amount: float) -> str:
    """CSS class of a value: 1 is the best, 0 and less is bad.

    Examples
    --------
    >>> from ilfs.report.benchmark.page_tables import shade
    >>> shade(1.0), shade(0.5), shade(-2.0)
    ('h8', 'h4', 'h0')
    """
    return f"h{round(N_VALUE_SHADES * min(max(amount, 0.0), 1.0))}"


def signed_shade(difference: float, reach: float) -> str:
    """CSS class of a difference.

    Examples
    --------
    >>> from ilfs.report.benchmark.page_tables import signed_shade
    >>> signed_shade(5.0, 10.0), signed_shade(-50.0, 10.0), signed_shade(0.1, 10.0)
    ('up2', 'down4', '')
    """
    size = round(N_SIGNED_SHADES * min(abs(difference) / reach, 1.0))
    return f"{'up' if difference > 0 else 'down'}{size}" if size else ""


def beside_html(table: BesidePaper, digits: int = 1) -> str:
    """Format our values with the paper's below each, coloured by the difference.

    Parameters
    ----------
    table : BesidePaper
        The values.
    digits : int, default=1
        Decimals of our values; the paper's have one more, as printed.

    Returns
    -------
    str
        HTML.
    """
    head = "".join(cell("th", name, 'scope="col"', k > 0) for k, name in enumerate((table.corner, *table.columns)))
    lines = []
    for name, ours, printed in zip(table.rows, table.ours, table.printed, strict=True):
        pairs = list(zip(ours, printed, strict=True))
        kinds = [f"number {pair_shade(*pair)}".rstrip() for pair in pairs]
        lines.append(row_html(name, [pair_html(*pair, digits) for pair in pairs], kinds))
    return scrolled(table.title, head, lines) + notes_html(table.notes)


def pair_shade(ours: float | None, printed: float | None) -> str:
    """CSS class of our value, by its difference from the paper's."""
    return "" if ours is None or printed is None else signed_shade(ours - printed, BAD_POINTS)


def pair_html(ours: float | None, printed: float | None, digits: int) -> str:
    """Format our value, and below it the paper's with the difference."""
    above = escape(format_value(ours, digits))
    if printed is None:
        return above
    difference = "" if ours is None else f" <i>{signed(ours - printed, digits)}</i>"
    return f"{above}<small>{escape(format_value(printed, digits + 1))}{difference}</small>"


def signed(value: float, digits: int) -> str:
    """Format a difference with its sign.

    Examples
    --------
    >>> from ilfs.report.benchmark.page_tables import MINUS, signed
    >>> signed(1.25, 1), signed(-0.5, 1) == f"{MINUS}0.5"
    ('+1.2', True)
    """
    return f"{value:+.{digits}f}".replace("-", MINUS)
