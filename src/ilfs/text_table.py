"""Tables of words and numbers as aligned text, Markdown, LaTeX, HTML or CSV, with one policy for rounding.

Numbers in tables for readers have a fixed number of decimals. Numbers in CSV files have `CSV_DECIMALS`. A word may be
bold in part (`Marked`).
"""

import io
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ilfs.spreadsheet import CsvLines, neutralised

Format = Literal["text", "markdown", "latex", "html", "csv"]
MISSING_TEXT = "-"  # in place of a value that is missing
CSV_DECIMALS = 6
COLUMN_GAP = 2  # spaces between columns of aligned text
SMALL_GREEK = (  # from alpha to omega, by their LaTeX commands
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau"
    " upsilon phi chi psi omega"
).split()
LARGE_GREEK = {"Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma"} | {
    "Φ": "Phi",
    "Ψ": "Psi",
    "Ω": "Omega",
}
LATEX_ESCAPES = str.maketrans(
    {mark: rf"\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    # The default font of LaTeX has other characters in the places of these three.
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"±": r"$\pm$", "\N{MULTIPLICATION SIGN}": r"$\times$", "\N{MINUS SIGN}": "$-$", "\N{MICRO SIGN}": r"$\mu$"}
    | {"≤": r"$\leq$", "≥": r"$\geq$", "→": r"$\rightarrow$"}
    # Names of genes and proteins have Greek letters, which pdflatex does not know as text.
    | {chr(ord("\N{GREEK SMALL LETTER ALPHA}") + k): rf"$\{name}$" for k, name in enumerate(SMALL_GREEK)}
    | {"\N{GREEK SMALL LETTER OMICRON}": "$o$"}
    | {mark: rf"$\{name}$" for mark, name in LARGE_GREEK.items()}
)


@dataclass(frozen=True)
class Marked:
    r"""A word of a table that is bold as a whole or in part.

    Parameters
    ----------
    parts : tuple of (str, bool)
        Pieces of the word, and whether each is bold.

    Examples
    --------
    >>> from ilfs.text_table import Grid, Marked
    >>> best = Marked((("98.2*", True), (" [96.4, 99.6]", False)))
    >>> print(Grid("Means", ["method", "mean"], [["ilfs", best]]).render("markdown").splitlines()[-1])
    | ilfs | **98.2\*** [96.4, 99.6] |
    """

    parts: tuple[tuple[str, bool], ...]

    def formatted(self, plain: Callable[[str], str], bold: Callable[[str], str]) -> str:
        """Join the pieces.

        Parameters
        ----------
        plain : callable
            Escapes a word for a format.
        bold : callable
            Marks an escaped word as bold.

        Returns
        -------
        str
            The formatted word.
        """
        return "".join(
            bold(plain(_printable(text))) if is_bold else plain(_printable(text)) for text, is_bold in self.parts
        )

    def __str__(self) -> str:
        return "".join(text for text, _ in self.parts)


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
    >>> format_value(-0.001, 2)
    '0.00'
    """
    if value is None or value != value:
        return MISSING_TEXT
    if isinstance(value, float):
        return f"{value:z.{decimals}{'e' if exponent else 'f'}}"  # z: what rounds to -0.00 is written as 0.00
    return f"{value:,}" if isinstance(value, int) else _printable(str(value))


def aligned(
    rows: Sequence[Sequence[str]], is_number: Sequence[bool], paint: Callable[[int, int, str], str] | None = None
) -> list[str]:
    """Align the columns of a table, numbers on the right and words on the left.

    Parameters
    ----------
    rows : sequence of sequences of str
        Words of each row, all rows of the same length.
    is_number : sequence of bool
        Columns that hold numbers.
    paint : callable, optional
        Gets row, column and the padded word, and returns the word with codes for colours.

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
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for i, row in enumerate(rows):
        words = [padded(word, width, right) for word, width, right in zip(row, widths, is_number, strict=True)]
        words[-1] = words[-1].rstrip()
        lines.append(
            (" " * COLUMN_GAP)
            .join(words if paint is None else [paint(i, j, word) for j, word in enumerate(words)])
            .rstrip()
        )
    return lines


def padded(word: str, width: int, right: bool) -> str:
    """Fill a word with spaces up to a number of terminal columns."""
    spaces = " " * (width - display_width(word))
    return spaces + word if right else word + spaces


def display_width(text: str) -> int:
    """Count the columns that a text takes on a terminal: East Asian characters take two, combining marks none.

    Examples
    --------
    >>> from ilfs.text_table import display_width
    >>> display_width("gene"), display_width("\u907a\u4f1d"), display_width("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(character_width(mark) for mark in text)


def character_width(mark: str) -> int:
    """Count the terminal columns of one character."""
    if unicodedata.combining(mark) or unicodedata.category(mark) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1


def visible(text: str) -> str:
    r"""Write control and formatting characters, which a terminal would obey, as escape sequences.

    Examples
    --------
    >>> from ilfs.text_table import visible
    >>> print(visible("red\x1b[31m\n"))
    red\x1b[31m\n
    """
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)


def shortened(text: str, width: int, ellipsis: str = "...") -> str:
    """Leave out the middle of a text that takes more than some terminal columns.

    Parameters
    ----------
    text : str
        Any text; names that differ at their ends stay different more often if their middle is left out.
    width : int
        Largest number of columns.
    ellipsis : str, default="..."
        What stands in place of the middle.

    Returns
    -------
    str
        A text of at most that width.

    Examples
    --------
    >>> from ilfs.text_table import shortened
    >>> shortened("ENSG00000141510.18", 12)
    'ENSG0...0.18'
    """
    if display_width(text) <= width:
        return text
    room = width - len(ellipsis)
    if room < 2:
        return taken(text, width)
    end = taken(text[::-1], room // 2)[::-1]
    return taken(text, room - room // 2) + ellipsis + end


def taken(text: str, width: int) -> str:
    """Take characters from the beginning of a text, as many as have room in some terminal columns."""
    used = 0
    for place, mark in enumerate(text):
        used += character_width(mark)
        if used > width:
            return text[:place]
    return text


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
        Words, numbers, `Marked` words, or None for a missing value.
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
        form : {"text", "markdown", "latex", "html", "csv"}
            The format. LaTeX is a ``tabular`` environment that needs no package; HTML is a ``table`` element, in ASCII,
            for any page. Bold words are between underscores in text, and plain in CSV.
        spreadsheet_safe : bool, default=False
            Put an apostrophe before words in CSV that a spreadsheet would run as a formula.

        Returns
        -------
        str
            Several lines.
        """
        if form == "csv":
            return self._csv(neutralised if spreadsheet_safe else str)
        return {"text": self._text, "markdown": self._markdown, "latex": self._latex, "html": self._html}[form]()

    def _words(
        self, plain: Callable[[str], str], bold: Callable[[str], str], escape_all: bool = True
    ) -> list[list[str]]:
        """Format all values; ``escape_all`` is False if only marked words are escaped."""

        def word(value: Any) -> str:
            if isinstance(value, Marked):
                return value.formatted(plain, bold)
            text = format_value(value, self.digits)
            return plain(text) if escape_all else text

        return [[word(value) for value in row] for row in [self.header, *self.rows]]

    @property
    def _numeric_columns(self) -> list[bool]:
        return [
            all(row[j] is None or isinstance(row[j], int | float | Marked) for row in self.rows)
            for j in range(len(self.header))
        ]

    def _text(self) -> str:
        lines = aligned(self._words(str, lambda word: f"_{word}_"), self._numeric_columns)
        legend = ["", "Words between underscores are bold in other formats."] if self._has_bold else []
        return "\n".join([self.title, "", *lines, *self._below(""), *legend])

    @property
    def _has_bold(self) -> bool:
        marked = [value for row in self.rows for value in row if isinstance(value, Marked)]
        return any(is_bold for value in marked for _, is_bold in value.parts)

    def _markdown(self) -> str:
        words = self._words(lambda word: word.replace("*", r"\*"), lambda word: f"**{word}**", escape_all=False)
        return "\n".join([self.title, "", *markdown_lines(words, self._numeric_columns), *self._below("\n")])

    def _latex(self) -> str:
        alignment = "".join("r" if number else "l" for number in self._numeric_columns)
        words = self._words(lambda word: word.translate(LATEX_ESCAPES), lambda word: rf"\textbf{{{word}}}")
        lines = [_latex_row(row) for row in words]
        body = [
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\hline",
            lines[0],
            r"\hline",
            *lines[1:],
            r"\hline",
            r"\end{tabular}",
        ]
        return "\n".join([f"% {_printable(self.title)}", *body, *(f"% {_printable(note)}" for note in self.notes)])

    def _html(self) -> str:
        from html import escape

        def row(words: Sequence[str], tag: str) -> str:
            right = ' style="text-align: right"'
            cells = zip(words, self._numeric_columns, strict=True)
            return f"<tr>{''.join(f'<{tag}{right * number}>{word}</{tag}>' for word, number in cells)}</tr>"

        words = self._words(escape, lambda word: f"<strong>{word}</strong>")
        lines = [
            "<table>",
            f"<caption>{escape(_printable(self.title))}</caption>",
            f"<thead>\n{row(words[0], 'th')}\n</thead>",
            "<tbody>",
            *(row(one, "td") for one in words[1:]),
            "</tbody>",
            "</table>",
            *(f"<p>{escape(_printable(note))}</p>" for note in self.notes),
        ]
        return "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode()

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
        if isinstance(value, str | Marked):
            return word(str(value))
        return f"{value:z.{CSV_DECIMALS}f}" if isinstance(value, float) else str(value)


def _printable(word: str) -> str:
    """Replace line breaks and other control characters by spaces."""
    return word if word.isprintable() else "".join(mark if mark.isprintable() else " " for mark in word)


def _latex_row(words: Sequence[str]) -> str:
    r"""Join the words of a row; one that begins with [ or * would be read as an option of the ``\\`` above it."""
    line = " & ".join(words)
    return (f"{{{line[0]}}}{line[1:]}" if line.startswith(("[", "*")) else line) + r" \\"
