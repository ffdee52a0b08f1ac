"""Features: columns of numbers, and columns that are set aside because they are none."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.checks import MAX_EXACT_INTEGER, quoted
from ilfs.preparing.options import some_names
from ilfs.preparing.raw_columns import RawColumn, TextColumn, are_dates
from ilfs.words import counted

ENCODE_ADVICE = ": encode=True makes features of it"
MAX_ENCODED = 20  # different texts of a column that is encoded
MIN_IDENTIFIER_ROWS = 3  # rows from which a column can be recognised as row numbers
MOSTLY_DIFFERENT = 0.9  # fraction of different texts from which a column identifies the rows
MAX_ODD = 0.5  # fraction of odd texts up to which a column is said to hold numbers
ID_NAME = re.compile(r"(?:.*[\W_])?(?:id|ids|index|rownames?|row|no|nr|number|accession|barcode)", re.IGNORECASE)
# What spreadsheets make of the genes MARCH1 and SEPT2, and of RIKEN identifiers such as 2310009E13.
MADE_BY_SPREADSHEET = re.compile(
    r"\d{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:mar|sep|oct|nov|dec)-\d{1,2}"
    r"|\d{4}-\d{2}-\d{2}(?: 00:00:00)?|\d\.\d+E\+\d+",
    re.IGNORECASE,
)
JOINED_ID = re.compile(r".*[a-z](?:Id|ID)")  # sampleID


@dataclass(frozen=True)
class Judged:
    """The decision on a column: a feature, or the reason why it is none.

    Parameters
    ----------
    values : ndarray of shape (n_rows,) or None
        Its numbers, if it is a feature.
    reason : str, default=""
        Why it is none.
    is_name : bool, default=False
        True if it identifies the rows.
    is_category : bool, default=False
        True if it holds text that can be encoded.
    """

    values: NDArray[Any] | None
    reason: str = ""
    is_name: bool = False
    is_category: bool = False


def judged(name: str, column: RawColumn, table: str, row_names: Sequence[str | None] | None = None) -> Judged:
    """Decide if a column is a feature.

    Parameters
    ----------
    name : str
        Name of the column.
    column : RawColumn
        The column.
    table : str
        Name of the table in messages.
    row_names : sequence of str, optional
        Names of the rows, which messages name instead of numbers.

    Returns
    -------
    Judged
        Its numbers, or the reason why it is set aside.
    """
    if column.kind == "date":
        return Judged(None, f"holds dates{example(column)}")
    if column.kind not in ("number", "text"):
        return Judged(None, f"holds values of type {column.kind[:60]}")
    values = column.numbers
    if values is None:
        return judged_text(column, row_names)
    return judged_numbers(name, column, values, table, row_names)


def place_of(row: int, row_names: Sequence[str | None] | None) -> str:
    """Name a row, counted from 0, in a message: by its sample if it is known, otherwise by its number from 1 on."""
    name = None if row_names is None else row_names[row]
    return f"row {row + 1}" if name is None else f"sample {name}"


def judged_numbers(
    name: str, column: RawColumn, values: NDArray[Any], table: str, row_names: Sequence[str | None] | None
) -> Judged:
    """Decide if a column of numbers is a feature: not if it is constant or numbers the rows."""
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if np.isinf(low) or np.isinf(high):
        row = int(np.flatnonzero(np.isinf(values))[0])
        place = place_of(row, row_names)
        raise ValueError(f"column {quoted(name)} of {table} must be finite, got {values[row]} in {place}")
    if np.isnan(low):
        return Judged(None, "has no values")
    if low == high:
        return Judged(
            None, f"has the same value, {low:g}, in all rows{' that have one' * bool(np.isnan(values).any())}"
        )
    if max(-low, high) >= MAX_EXACT_INTEGER and has_long_integers(column):
        return Judged(
            None, "holds integers beyond 2**53, which would be rounded, so it seems to identify the rows", True
        )
    if is_row_number(values):
        return Judged(None, "numbers the rows", True)
    if is_id_name(name) and are_different_integers(values):
        return Judged(None, "identifies the rows by different integers", True)
    return Judged(values)


def is_id_name(name: str) -> bool:
    """Check if a column is called like an identifier: id, patient_id, sampleID."""
    return bool(ID_NAME.fullmatch(name) or JOINED_ID.fullmatch(name))


def has_long_integers(column: RawColumn) -> bool:
    """Check if a column has integers that float64 may have to round."""
    return any(text is not None and text.lstrip("+-").isdecimal() and len(text) > 15 for text in column.texts)


def is_row_number(values: NDArray[Any]) -> bool:
    """Check if values count the rows from 0 or 1 on."""
    if values.size < MIN_IDENTIFIER_ROWS or values[0] not in (0, 1):
        return False
    return bool((np.diff(values) == 1).all())


def are_different_integers(values: NDArray[Any]) -> bool:
    """Check if values are integers without a repetition."""
    return bool((values == np.floor(values)).all()) and np.unique(values).size == values.size


def judged_text(column: RawColumn, row_names: Sequence[str | None] | None) -> Judged:
    """Say why a column of text is no feature."""
    present = [text for text in column.texts if text is not None]
    n_distinct = len(set(present))
    odd = column.odd_values() if isinstance(column, TextColumn) else []
    if odd and len(odd) <= MAX_ODD * len(present):
        row, text = odd[0]
        more = f" and {len(odd) - 1} more values" if len(odd) > 1 else ""
        return Judged(None, f"holds text, {quoted(text)} in {place_of(row - 1, row_names)}{more}, among numbers")
    if are_dates(present):
        return Judged(None, f"holds dates ({present[0]})")
    if n_distinct == 1:
        return Judged(None, f"has the same value, {quoted(present[0])}, in all rows")
    if n_distinct > MOSTLY_DIFFERENT * len(present) and n_distinct > 2:
        if n_distinct < len(present):
            twice = next(text for text, times in Counter(present).items() if times > 1)
            return Judged(None, f"identifies most rows by different texts, and has {quoted(twice)} more than once")
        return Judged(
            None, f"identifies the rows by different texts ({some_texts(present)})", n_distinct == len(column)
        )
    is_category = n_distinct <= MAX_ENCODED
    shown = f"{n_distinct:,} different values ({some_texts(sorted(set(present)))})"
    return Judged(None, f"holds text with {shown}{ENCODE_ADVICE * is_category}", is_category=is_category)


def some_texts(texts: Sequence[str]) -> str:
    """Write two texts as an example."""
    words = [" ".join(text.split()) for text in texts[:2]]
    shown = [text if len(text) <= 30 else f"{text[:27]}..." for text in words]
    return ", ".join(shown) + (", ..." if len(texts) > 2 else "")


def example(column: RawColumn) -> str:
    """Write the first value of a column in brackets."""
    first = next((text for text in column.texts if text is not None), None)
    return "" if first is None else f" ({first[:30]})"


def encoded(name: str, column: RawColumn) -> dict[str, NDArray[Any]]:
    """Make a feature of 0 and 1 for each text of a column, by the name ``column=value``.

    Two texts without missing values give one feature, as the other would be its complement.
    """
    texts = np.array(["" if text is None else text for text in column.texts])
    values = sorted({text for text in column.texts if text is not None})
    if len(values) == 2 and None not in column.texts:
        values = values[1:]
    return {f"{name}={value}": (texts == value).astype(np.float64) for value in values}


def encoded_reason(names: Sequence[str]) -> str:
    """Say which features replace a column of text.

    Examples
    --------
    >>> from ilfs.preparing.features import encoded_reason
    >>> encoded_reason(["sex=m"]), encoded_reason(["stage=a", "stage=b", "stage=c"])
    ('in its place is sex=m (1 if so, else 0)', 'in its place are stage=a, stage=b and stage=c (1 if so, else 0)')
    """
    return f"in its place {'is' if len(names) == 1 else 'are'} {some_names(names)} (1 if so, else 0)"


def spreadsheet_warnings(names: Sequence[str]) -> list[str]:
    """Return a sentence on names that a spreadsheet has turned into dates or numbers; none if most names are such.

    Examples
    --------
    >>> from ilfs.preparing.features import spreadsheet_warnings
    >>> spreadsheet_warnings(["TP53", "1-Mar", "MYC", "2-Sep", "GAPDH"])
    ['2 names look like genes that a spreadsheet has turned into dates or numbers: 1-Mar and 2-Sep']
    """
    changed = [name for name in names if MADE_BY_SPREADSHEET.fullmatch(name)]
    if not changed or 2 * len(changed) > len(names):
        return []
    look = f"{counted(len(changed), 'name')} look{'s' if len(changed) == 1 else ''}"
    return [f"{look} like genes that a spreadsheet has turned into dates or numbers: {some_names(changed)}"]
