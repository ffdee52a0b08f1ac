"""A table of words and numbers, as text, Markdown, LaTeX or CSV."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ilfs.spreadsheet import CsvLines, neutralised

Format = Literal["text", "markdown", "latex", "csv"]
FORMATS: tuple[Format, ...] = ("text", "markdown", "latex", "csv")
LATEX = str.maketrans(
    {mark: rf"\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


@dataclass(frozen=True)
class Grid:
    """A table.

    Parameters
    ----------
    title : str
        What it shows.
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Words, numbers, or None for nothing.
    digits : int
        Of numbers that are not integers; files of comma-separated values have six.
    notes : sequence of str
        Sentences below.

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
        """The table as a string without a newline at its end.

        Parameters
        ----------
        form : {"text", "markdown", "latex", "csv"}
            How.
        spreadsheet_safe : bool, default=False
            Put an apostrophe before words in CSV that a spreadsheet would run as a formula.

        Returns
        -------
        str
            Several lines.
        """
        if form == "csv":
            return self._csv(neutralised if spreadsheet_safe else str)
        cells = [[self._word(value) for value in row] for row in [self.header, *self.rows]]
        return {"text": self._text, "markdown": self._markdown, "latex": self._latex}[form](cells)

    def _word(self, value: Any, digits: int | None = None) -> str:
        if value is None or value != value:
            return "-"
        if isinstance(value, float):
            return f"{value:.{self.digits if digits is None else digits}f}"
        return f"{value:,}" if isinstance(value, int) else _printable(str(value))

    def _is_number(self, column: int) -> bool:
        return all(row[column] is None or isinstance(row[column], int | float) for row in self.rows)

    def _text(self, cells: list[list[str]]) -> str:
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.header))]

        def line(words: Sequence[str]) -> str:
            placed = [
                word.rjust(width) if self._is_number(j) else word.ljust(width)
                for j, (word, width) in enumerate(zip(words, widths, strict=True))
            ]
            return "  ".join(placed).rstrip()

        return "\n".join([self.title, "", *map(line, cells), *self._below("")])

    def _markdown(self, cells: list[list[str]]) -> str:
        rule = ["---:" if self._is_number(j) else "---" for j in range(len(self.header))]
        lines = ["| " + " | ".join(word.replace("|", r"\|") for word in words) + " |" for words in cells]
        return "\n".join([self.title, "", lines[0], "|" + "|".join(rule) + "|", *lines[1:], *self._below("\n")])

    def _latex(self, cells: list[list[str]]) -> str:
        places = "".join("r" if self._is_number(j) else "l" for j in range(len(self.header)))
        lines = [" & ".join(word.translate(LATEX) for word in words) + r" \\" for words in cells]
        body = [
            rf"\begin{{tabular}}{{{places}}}",
            r"\hline",
            lines[0],
            r"\hline",
            *lines[1:],
            r"\hline",
            r"\end{tabular}",
        ]
        return "\n".join([f"% {self.title}", *body, *(f"% {note}" for note in self.notes)])

    def _below(self, between: str) -> list[str]:
        return ["", *[note + between for note in self.notes]] if self.notes else []

    def _csv(self, word: Callable[[str], str]) -> str:
        text = io.StringIO()
        writer = CsvLines(text)
        writer.writerow(map(word, self.header))
        for row in self.rows:
            writer.writerow(["" if value is None or value != value else self._exact(value, word) for value in row])
        return text.getvalue().removesuffix("\n")

    def _exact(self, value: Any, word: Callable[[str], str]) -> str:
        if isinstance(value, str):
            return word(value)
        return f"{value:.6f}" if isinstance(value, float) else str(value)


def _printable(word: str) -> str:
    """A word that keeps to its line."""
    return word if word.isprintable() else "".join(mark if mark.isprintable() else " " for mark in word)
