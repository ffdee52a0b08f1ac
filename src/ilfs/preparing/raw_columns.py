"""Columns as they are in a file: text that may hold numbers, or values with a type."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.cached import cached_property
from ilfs.datasets.readers.assemble import MISSING
from ilfs.datasets.readers.text import parse_number

HEAD_ROWS = 1000  # rows from which most columns with many different values are recognised
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}(?: \d{1,2}:\d{2}.*)?")
TRUTH = {"true": 1.0, "false": 0.0}  # texts of booleans, in any case
MAX_TRUTH_TEXTS = 6  # true, True, TRUE and the same of false


class RawColumn(ABC):
    """Base class of columns, whose values may be read as numbers or as text.

    Attributes
    ----------
    kind : str
        ``"number"``, ``"text"``, ``"date"`` or another type, which no method can use.
    has_comma : bool
        True if numbers have a decimal comma.
    """

    kind: str
    has_comma: bool = False

    @property
    @abstractmethod
    def numbers(self) -> NDArray[Any] | None:
        """The values in float32 or float64, NaN if missing; None unless all of them are numbers or missing."""

    @property
    @abstractmethod
    def texts(self) -> Sequence[str | None]:
        """The values as text; None if missing."""

    @property
    def is_boolean(self) -> bool:
        """True if all values are true, false or missing."""
        distinct = self.distinct(MAX_TRUTH_TEXTS) if self.kind == "text" else None
        return bool(distinct) and {text.lower() for text in distinct or ()} <= set(TRUTH)

    def distinct(self, most: int) -> set[str] | None:
        """Return the different values, without missing ones; None if there are more than so many."""
        return few_texts(self.texts, most)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: Integers) -> "RawColumn":
        """Return the column with only these rows."""


class ValueColumn(RawColumn):
    """A column of numbers.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers or booleans.
    """

    kind = "number"

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    @property
    def numbers(self) -> NDArray[Any]:
        """The values in float32 or float64."""
        return self._values if self._values.dtype == np.float32 else self._values.astype(np.float64, copy=False)

    @property
    def is_boolean(self) -> bool:
        """True if the values are booleans."""
        return self._values.dtype.kind == "b"

    def distinct(self, most: int) -> set[str] | None:
        """Return the different values, without missing ones; None if there are more than so many."""
        few = np.unique(self._values[:HEAD_ROWS])
        if few[few == few].size <= most and self._values.size > HEAD_ROWS:
            few = np.unique(self._values)
        few = few[few == few]
        return {number_text(value) or "" for value in few.tolist()} if few.size <= most else None

    @cached_property
    def texts(self) -> Sequence[str | None]:
        """The values as text; whole numbers have no decimal point."""
        return [number_text(value) for value in self._values.tolist()]

    def __len__(self) -> int:
        return len(self._values)

    def take(self, rows: Integers) -> "ValueColumn":
        """Return the column with only these rows."""
        return ValueColumn(self._values[rows])


class OtherColumn(RawColumn):
    """A column of dates, lists or anything else that is neither a number nor text.

    Parameters
    ----------
    kind : str
        What the values are.
    values : sequence
        The values.
    """

    numbers = None

    def __init__(self, kind: str, values: Sequence[Any]) -> None:
        self.kind, self._values = kind, values

    @cached_property
    def texts(self) -> Sequence[str | None]:
        """The values as text."""
        return [None if value is None else str(value) for value in self._values]

    def __len__(self) -> int:
        return len(self._values)

    def take(self, rows: Integers) -> "OtherColumn":
        """Return the column with only these rows."""
        return OtherColumn(self.kind, [self._values[i] for i in rows.tolist()])


class TextColumn(RawColumn):
    """A column of text, which may hold numbers.

    Parameters
    ----------
    values : sequence of str or None
        The values as they are in the file.
    has_comma : bool, default=False
        True if numbers have a decimal comma.
    """

    kind = "text"

    def __init__(self, values: Sequence[str | None], has_comma: bool = False) -> None:
        self._values, self.has_comma = values, has_comma

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """The values as numbers: all at once if they are plain, otherwise each distinct text."""
        try:
            numbers = np.array(self._values, dtype=np.float64)
        except (TypeError, ValueError):
            return self._parsed()
        return (
            self._parsed() if "_" in "".join(filter(None, self._values)) else numbers
        )  # Python reads 1_000, we do not

    def number(self, text: str | None) -> float | None:
        """Convert a text, NaN if it is a missing value; None for other text, such as a truth value among numbers."""
        return truth_number(text) if self.is_boolean else text_number(text, self.has_comma)

    @cached_property
    def is_boolean(self) -> bool:
        """True if all values are true, false or missing."""
        return super().is_boolean

    def _parsed(self) -> NDArray[Any] | None:
        known: dict[str | None, float] = {}
        for text in dict.fromkeys(self._values):
            number = self.number(text)
            if number is None:
                return None
            known[text] = number
        return np.array([known[text] for text in self._values])

    @cached_property
    def texts(self) -> Sequence[str | None]:
        """The values without spaces around them; None if missing."""
        return [present_text(value) for value in self._values]

    def distinct(self, most: int) -> set[str] | None:
        """Return the different values, without missing ones; None if there are more than so many."""
        return few_texts(self._values, most)

    def odd_values(self) -> list[tuple[int, str]]:
        """Return the texts that are no numbers, with their rows from 1 on."""
        rows = enumerate(self.texts, start=1)
        return [(row, text) for row, text in rows if text is not None and self.number(text) is None]

    def __len__(self) -> int:
        return len(self._values)

    def take(self, rows: Integers) -> "TextColumn":
        """Return the column with only these rows."""
        return TextColumn([self._values[i] for i in rows.tolist()], self.has_comma)


class ArrowTextColumn(TextColumn):
    """A column of text that pyarrow has parsed.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Strings; missing values are null.
    has_comma : bool
        True if numbers have a decimal comma.
    """

    def __init__(self, column: Any, has_comma: bool) -> None:
        self._column, self.has_comma = column, has_comma

    @cached_property
    def _values(self) -> Sequence[str | None]:
        return list(self._column.to_pylist())

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """The values as numbers: converted by pyarrow if they are plain, otherwise each distinct text."""
        import pyarrow
        from pyarrow import compute

        column = (
            compute.replace_substring(self._column, ",", ".", max_replacements=1) if self.has_comma else self._column
        )
        try:
            return np.asarray(column.cast(pyarrow.float64()).to_numpy())
        except pyarrow.ArrowInvalid:
            return self._parsed_distinct()

    def distinct(self, most: int) -> set[str] | None:
        """Return the different values, without missing ones; None if there are more than so many."""
        if few_texts(self._column[:HEAD_ROWS].to_pylist(), most) is None:
            return None
        return few_texts(self._column.unique().to_pylist(), most)

    def _parsed_distinct(self) -> NDArray[Any] | None:
        """Convert each distinct text; give up at the first that is no number."""
        encoded = self._column.combine_chunks().dictionary_encode()
        numbers = []
        for text in encoded.dictionary.to_pylist():
            number = self.number(text)
            if number is None:
                return None
            numbers.append(number)
        codes = encoded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*numbers, np.nan])[codes])

    def __len__(self) -> int:
        return len(self._column)

    def take(self, rows: Integers) -> "ArrowTextColumn":
        """Return the column with only these rows."""
        return ArrowTextColumn(self._column.take(rows), self.has_comma)


def text_number(text: str | None, has_comma: bool) -> float | None:
    """Convert a text to a number, NaN if it is a missing value; return None for other text."""
    if text is None:
        return float("nan")
    return parse_number(text.replace(",", ".") if has_comma and text.count(",") == 1 else text)


def truth_number(text: str | None) -> float:
    """Convert a truth value to 1 or 0; any other text, which is a missing value, to NaN."""
    return float("nan") if text is None else TRUTH.get(text.strip().lower(), float("nan"))


def are_dates(texts: Iterable[str]) -> bool:
    """Check if all texts are dates, such as 2024-05-31, 31.5.2024 or 5/31/2024, perhaps with a time."""
    return all(DATE.fullmatch(text) for text in texts)


def few_texts(values: Sequence[str | None], most: int) -> set[str] | None:
    """Return the different texts, without missing ones; None if there are more than so many."""
    found, known = set[str](), set[str | None]()
    for value in values:
        if value not in known:
            known.add(value)
            text = present_text(value)
            if text is not None:
                found.add(text)
            if len(found) > most:
                return None
    return found


def present_text(value: str | None) -> str | None:
    """Strip a text; return None if it stands for a missing value."""
    text = "" if value is None else value.strip()
    return None if text.lower() in MISSING else text


def number_text(value: Any) -> str | None:
    """Format a number as a label: whole numbers have no decimal point, missing ones are None."""
    if value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def column_of_objects(values: Sequence[Any]) -> RawColumn:
    """Make a column of Python objects, such as those of a spreadsheet."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, bool | int | float) for value in present):
        return ValueColumn(np.array([np.nan if value is None else float(value) for value in values]))
    if all(isinstance(value, date | datetime | time) for value in present):
        return OtherColumn("date", values)
    return TextColumn([None if value is None else object_text(value) for value in values])


def object_text(value: Any) -> str:
    """Format a Python object; whole numbers have no decimal point."""
    return (number_text(value) or "") if isinstance(value, int | float) else str(value)
