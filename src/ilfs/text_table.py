"""Tables of words and numbers as aligned text, Markdown, LaTeX or CSV, with one policy for rounding.

Numbers in tables for readers have a fixed number of decimals. Numbers in CSV files have `CSV_DECIMALS`.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ilfs.spreadsheet import CsvLines, neutralised

Format = Literal["text", "markdown", "latex", "csv"]
MISSING_TEXT = "-"  # in place of a value that is missing
CSV_DECIMALS = 6
LATEX_ESCAPES = str.maketrans(
    {mark: rf"\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def format_value(value: Any, decimals: int, *, exponent: bool = False) -> str:
    """Format a value of a table.

    Parameters
    ----------
    value : object
        A word, a number, or None or NaN for a missing value.
    decimals : int
        Number of decimals of a float.
    exponent : bool, default=False
        Write floats with an exponent.

    Returns
    -------
    str
        One line; integers have commas between thousands.

    Examples
    --------
    >>> from ilfs.text_table import format_value
    >>> format_value(0.046, 2), format_value(12345, 2), format_value(None, 2), format_value(1e-9, 2, exponent=True)
    ('0.05', '12,345', '-', '1.00e-09')
    """
    if value is None or value != value:
        return MISSING_TEXT
    if isinstance(value, float):
        return f"{value:.{decimals}{'e' if exponent else 'f'}}"
    return f"{value:,}" if isinstance(value, int) else _printable(str(value))


def aligned(rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> list[str]:
    """Align the columns of a table, numbers on the right and words on the left.

    Parameters
    ----------
    rows : sequence of sequences of str
        Words of each row, all rows of the same length.
    is_number : sequence of bool
        Columns that hold numbers.

    Returns
    -------
    list of str
        One line for each row, with two spaces between columns.

    Examples
    --------
    >>> from ilfs.text_table import aligned
    >>> aligned([["method", "s"], ["mi", "0.05"]], [False, True])
    ['method     s', 'mi      0.05']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            word.rjust(width) if right else word.ljust(width)
            for word, width, right in zip(row, widths, is_number, strict=True)
        ).rstrip()
        for row in rows
    ]


def markdown_lines(rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> list[str]:
    """Format a Markdown table whose first row is the header, with numbers on the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        Words of each row, all rows of the same length.
    is_number : sequence of bool
        Columns that hold numbers.

    Returns
    -------
    list of str
        The lines of the table.

    Examples
    --------
    >>> from ilfs.text_table import markdown_lines
    >>> markdown_lines([["method", "s"], ["mi", "0.05"]], [False, True])
    ['| method | s |', '|---|---:|', '| mi | 0.05 |']
    """
    lines = ["| " + " | ".join(word.replace("|", r"\|") for word in row) + " |" for row in rows]
    rule = "|" + "|".join("---:" if number else "---" for number in is_number) + "|"
    return [lines[0], rule, *lines[1:]]


@dataclass(frozen=True)
class Grid:
    """A table with a title and notes.

    Parameters
    ----------
    title : str
        What the table shows.
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Words, numbers, or None for a missing value.
    digits : int
        Decimals of numbers that are not integers, except in CSV.
    notes : sequence of str
        Sentences below the table.

    Examples
    --------
    >>> from ilfs.text_table import Grid
    >>> print(Grid("Seconds", ["method", "s"], [["ilfs", 0.046], ["mcfs", None]], digits=2).render("text"))
    Seconds
    <BLANKLINE>
    method     s
    ilfs    0.05
    mcfs       -
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    digits: int = 1
    notes: Sequence[str] = ()

    def render(self, form: Format, *, spreadsheet_safe: bool = False) -> str:
        """Format the table as a string without a newline at its end.

        Parameters
        ----------
        form : {"text", "markdown", "latex", "csv"}
            The format.
        spreadsheet_safe : bool, default=False
            Put an apostrophe before words in CSV that a spreadsheet would run as a formula.

        Returns
        -------
        str
            Several lines.
        """
        if form == "csv":
            return self._csv(neutralised if spreadsheet_safe else str)
        words = [[format_value(value, self.digits) for value in row] for row in [self.header, *self.rows]]
        return {"text": self._text, "markdown": self._markdown, "latex": self._latex}[form](words)

    def _is_number(self, column: int) -> bool:
        return all(row[column] is None or isinstance(row[column], int | float) for row in self.rows)

    def _text(self, words: list[list[str]]) -> str:
        lines = aligned(words, [self._is_number(j) for j in range(len(self.header))])
        return "\n".join([self.title, "", *lines, *self._below("")])

    def _markdown(self, words: list[list[str]]) -> str:
        lines = markdown_lines(words, [self._is_number(j) for j in range(len(self.header))])
        return "\n".join([self.title, "", *lines, *self._below("\n")])

    def _latex(self, words: list[list[str]]) -> str:
        alignment = "".join("r" if self._is_number(j) else "l" for j in range(len(self.header)))
        lines = [" & ".join(word.translate(LATEX_ESCAPES) for word in row) + r" \\" for row in words]
        body = [
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\hline",
            lines[0],
            r"\hline",
            *lines[1:],
            r"\hline",
            r"\end{tabular}",
        ]
        return "\n".join([f"% {self.title}", *body, *(f"% {note}" for note in self.notes)])

    def _below(self, between: str) -> list[str]:
        """Return the lines below the table: an empty line and the notes, if there are any."""
        return ["", *[note + between for note in self.notes]] if self.notes else []

    def _csv(self, word: Callable[[str], str]) -> str:
        text = io.StringIO()
        writer = CsvLines(text)
        writer.writerow(map(word, self.header))
        for row in self.rows:
            writer.writerow(["" if value is None or value != value else self._csv_value(value, word) for value in row])
        return text.getvalue().removesuffix("\n")

    def _csv_value(self, value: Any, word: Callable[[str], str]) -> str:
        if isinstance(value, str):
            return word(value)
        return f"{value:.{CSV_DECIMALS}f}" if isinstance(value, float) else str(value)


def _printable(word: str) -> str:
    """Replace line breaks and other control characters by spaces."""
    return word if word.isprintable() else "".join(mark if mark.isprintable() else " " for mark in word)
