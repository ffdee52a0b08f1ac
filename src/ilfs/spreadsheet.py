"""CSV output that all programs read the same way and that contains no formulas for spreadsheets to run."""

import csv
from typing import Any, Protocol, TypeVar

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

Value = TypeVar("Value")


def neutralised(value: Value) -> Value | str:
    """Put an apostrophe before text that a spreadsheet would run as a formula; return anything else unchanged.

    Examples
    --------
    >>> from ilfs.spreadsheet import neutralised
    >>> neutralised("=HYPERLINK(A1)"), neutralised("TP53"), neutralised(-1.5)
    ("'=HYPERLINK(A1)", 'TP53', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


class Writable(Protocol):
    """An object that text can be written to."""

    def write(self, text: str, /) -> Any:
        """Write text."""


class CsvLines:
    r"""A CSV writer whose lines end in ``\n`` and which quotes values that contain ``\r`` or ``\n``.

    Python's writer only quotes the characters of its own line end. With the line end ``\n`` it would not quote a
    carriage return in a name, which many readers take for the start of a new row.

    Parameters
    ----------
    file : text file
        The file to write to.
    delimiter : str, default=","
        Character between values.
    """

    def __init__(self, file: Writable, delimiter: str = ",") -> None:
        self.file = file
        self.writerow = csv.writer(self, lineterminator="\r\n", delimiter=delimiter).writerow

    def write(self, line: str) -> None:
        r"""Write a line with ``\n`` instead of ``\r\n`` at its end."""
        self.file.write(line.removesuffix("\r\n") + "\n")
