"""Names in CSV files that a spreadsheet would run as a formula."""

from typing import TypeVar

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
