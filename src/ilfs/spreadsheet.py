"""CSV files that every program reads alike, and that no spreadsheet runs."""

import csv
from typing import Any, Protocol, TypeVar

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

Value = TypeVar("Value")


def neutralised(value: Value) -> Value | str:
    """A text with an apostrophe before it if a spreadsheet would take it for a formula; numbers as they are.

    Examples
    --------
    >>> from ilfs.spreadsheet import neutralised
    >>> neutralised("=HYPERLINK(A1)"), neutralised("TP53"), neutralised(-1.5)
    ("'=HYPERLINK(A1)", 'TP53', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


class Writable(Protocol):
    """Something that takes text."""

    def write(self, text: str, /) -> Any:
        """Take a text."""


class CsvLines:
    r"""Lines of CSV that end in a newline alone.

    Python's writer quotes the characters of its line ends and no other: with the line end ``\n`` a carriage return in a
    name would begin a new row for those who read the file.

    Parameters
    ----------
    file : text file
        Where the lines go.
    """

    def __init__(self, file: Writable) -> None:
        self.file = file
        self.writerow = csv.writer(self, lineterminator="\r\n").writerow

    def write(self, line: str) -> None:
        """Pass on a line with the shorter end."""
        self.file.write(line.removesuffix("\r\n") + "\n")
