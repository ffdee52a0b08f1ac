"""Reader of delimited text (csv, tsv and similar formats), compressed or not.

The delimiter is the one that splits the first lines into equal numbers of values, most of which are numbers. The first
row is a header if it has text in some column where the second row has a number. R and pandas write names or numbers of
rows to a first column without a name. It is left out: if the rows are sorted by class, row numbers predict the class.
"""

import csv
import io
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from ilfs.arrays import Floats
from ilfs.datasets.checks import MAX_EXACT_INTEGER, column_called, inexact_integer, quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.readers.assemble import (
    MISSING,
    USUAL_TARGETS,
    Drop,
    Target,
    assemble,
    check_names,
    find_columns,
    what_to_do,
)
from ilfs.datasets.readers.blocks import RowBlocks
from ilfs.datasets.readers.compressed import open_bytes
from ilfs.parameters import is_integer
from ilfs.warn import warn
from ilfs.words import counted

Line = TypeVar("Line", str, bytes, covariant=True)
DELIMITERS = ("\t", ";", ",", "|", " ")
SIXTEEN_DIGITS = re.compile(r"\d{16}")  # the number of digits of 2**53
SAMPLE_SIZE = 20  # rows, and values per row, from which the delimiter is detected
MAX_SAMPLE_LENGTH = 2**22  # characters of these rows; beyond it two rows are enough


@dataclass(frozen=True)
class Layout:
    """Delimiter and columns of a text file."""

    delimiter: str
    names: list[str] | None = None  # names of the columns, without a column of row names
    n_skipped: int = 0  # number of leading columns with row names

    def number(self, text: str) -> float | None:
        """Parse a number; return NaN for a missing value and None for other text."""
        # Files with semicolons come from countries that use a decimal comma.
        return parse_number(text.replace(",", ".") if self.delimiter == ";" and text.count(",") == 1 else text)


def read_text(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read delimited text."""
    layout = detect_layout(path, [*drop, target], limits)
    with open_text(path, limits) as lines:
        return _read_body(body_rows(lines, layout), layout, target, drop, path, name, limits)


def detect_layout(
    path: Path, chosen: Sequence[Target], limits: ReadLimits, rename: Callable[[list[str]], list[str]] = list
) -> Layout:
    """Detect delimiter and header from the first lines; ``chosen`` are the columns to drop and, last, the target."""
    with open_text(path, limits) as lines:
        return _layout(sample_lines(lines), chosen, path, rename)


def body_rows(lines: Iterable[str], layout: Layout) -> Iterator[list[str]]:
    """Split lines into rows of values, without the header."""
    return islice(split_rows(lines, layout.delimiter), int(layout.names is not None), None)


@contextmanager
def open_text(path: Path, limits: ReadLimits) -> Generator[Iterator[str], None, None]:
    """Open a text file, perhaps a compressed one; errors of decoding become a one-line ValueError."""
    try:
        with open_bytes(path) as packed, io.TextIOWrapper(packed, encoding="utf-8-sig", newline="") as file:
            yield bounded_lines(file, path, limits)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text in UTF-8, got {error.reason}") from error
    except csv.Error as error:
        raise ValueError(f"{path} must be delimited text: {error}") from error


class LineReader(Protocol[Line]):
    """An open file, of text or of bytes."""

    def readline(self, size: int, /) -> Line:
        """Read the next line, at most ``size`` characters of it."""


def bounded_lines(file: LineReader[Line], path: Path, limits: ReadLimits) -> Iterator[Line]:
    """Yield the lines of an open file, and raise an error beyond the limits."""
    allowed, n_read = limits.allowed_bytes(path), 0
    while line := file.readline(limits.max_line_length + 1):
        n_read += len(line)
        if len(line) > limits.max_line_length:
            raise limits.too_long_line(path)
        if n_read > allowed:
            raise limits.too_many_bytes(n_read, path)
        yield line


def sample_lines(lines: Iterable[str]) -> list[str]:
    """Return the first lines, from which the layout is detected; fewer if they are long."""
    sample, length = list[str](), 0
    for line in islice(lines, SAMPLE_SIZE):
        sample.append(line)
        length += len(line)
        if length > MAX_SAMPLE_LENGTH and sum(bool(line.strip()) for line in sample) > 1:
            break
    return sample


def parse_number(text: str) -> float | None:
    """Parse a number; return NaN for a missing value and None for other text, also for 1_000."""
    text = text.strip()
    if text.lower() in MISSING:
        return float("nan")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _layout(
    lines: Sequence[str], chosen: Sequence[Target], path: Path, rename: Callable[[list[str]], list[str]]
) -> Layout:
    layout = Layout(delimiter_of(lines, path))
    start = list(islice(split_rows(lines, layout.delimiter), 2))
    if not _is_header(start, layout, chosen):
        return layout
    names = [name.strip() for name in start[0]]
    n_skipped = int(len(start) > 1 and len(start[1]) == len(names) + 1)  # R's write.table leaves one name out
    if names[0] == "":
        names, n_skipped = names[1:], 1
    if n_skipped:
        warn(f"the first column of {path} has no name: it is treated as names of rows, not as a feature")
    names = rename(names)
    check_names(names, path)
    return Layout(layout.delimiter, names, n_skipped)


def delimiter_of(lines: Sequence[str], path: Path) -> str:
    """Detect the delimiter that gives rows of equal length and the most numbers."""
    best, most = "", (-1, 1)
    for delimiter in DELIMITERS:
        width, numbers = _fit(lines, Layout(delimiter))
        if width > 1 and (numbers, width) > most:
            best, most = delimiter, (numbers, width)
    if not best:
        first = next((line for line in lines if line.strip()), "")
        best = max(DELIMITERS, key=lambda delimiter: (_n_regular(lines, delimiter), first.count(delimiter)))
        if best not in first.strip():
            raise ValueError(f"{path} must have at least two columns, separated by comma, semicolon, tab, | or space")
    return best


def _fit(lines: Sequence[str], layout: Layout) -> tuple[int, int]:
    """Count the values per row under a delimiter (0 if rows differ), and the numbers among the first values."""
    try:
        rows = [(len(row), row[:SAMPLE_SIZE]) for row in split_rows(lines, layout.delimiter)]
    except csv.Error:  # without the right delimiter a wide row is a single value, too long for the csv module
        return 0, 0
    widths = {width for width, _ in rows[1:] or rows}  # a header may be one name short
    numbers = sum(layout.number(value) is not None for _, values in rows for value in values)
    return (widths.pop(), numbers) if len(widths) == 1 else (0, 0)


def _n_regular(lines: Sequence[str], delimiter: str) -> int:
    """Count the rows with as many values as the first; one row may be damaged, such as the last one of a cut file."""
    try:
        widths = [len(row) for row in split_rows(lines, delimiter)]
    except csv.Error:
        return 0
    return sum(width == widths[0] for width in widths) if widths and widths[0] > 1 else 0


def wrong_length(row: list[str], number: int, name: Any, wanted: int, got: int) -> ValueError:
    """Make the error for a row with too many or too few values, with the likely reason."""
    reason = ""
    if any("\n" in value for value in row):
        reason = ": a quote that opens in this row is not closed"
    elif wanted == 1:
        reason = ": if the first line is a title, remove it"
    return ValueError(f"row {number} of {name} must have {counted(wanted, 'value')}, got {got}{reason}")


def split_rows(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Split lines into rows of values; empty lines are skipped."""
    if delimiter == " ":
        lines = (line.strip() for line in lines)
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t")
    return (row for row in rows if row and row != [""])


def _is_header(start: Sequence[list[str]], layout: Layout, chosen: Sequence[Target]) -> bool:
    """Return True if the first row names the columns; ``chosen`` are the columns to drop and, last, the target."""
    first, second = start[0], start[-1]
    named = any(isinstance(column, str) for column in chosen)
    if named or first[-1].strip().lower() in USUAL_TARGETS or len(second) == len(first) + 1:
        return True
    # Classes and names of rows may be text or numbers, so only features show where the numbers begin.
    others = {int(column) % len(first) for column in chosen if is_integer(column) and column is not None}
    if chosen[-1] is None:
        others.add(max(set(range(len(first))) - others, default=0))
    features = [j for j in range(min(len(first), len(second))) if j not in others]
    return any(
        layout.number(first[j]) is None and (len(start) == 1 or layout.number(second[j]) is not None) for j in features
    )


def _read_body(
    rows: Iterator[list[str]],
    layout: Layout,
    target: Target,
    drop: Drop,
    path: Path,
    name: str,
    limits: ReadLimits,
) -> Dataset:
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{path} must have rows below its header, got none")
    n_columns = len(first) - layout.n_skipped if layout.names is None else len(layout.names)
    at, features = find_columns(layout.names, n_columns, target, drop, path)
    labels, values, known = list[str](), RowBlocks(path, limits), dict[str, str]()
    for number, row in enumerate(chain([first], rows), start=1):
        if len(row) != n_columns + layout.n_skipped:
            raise wrong_length(row, number, path, n_columns + layout.n_skipped, len(row))
        texts = row[layout.n_skipped :]
        label = texts[at].strip()
        labels.append(known.setdefault(label, label))  # store one string per class, not one per row
        values.append(read_numbers([texts[j] for j in features], features, layout, number, path))
    feature_names = None if layout.names is None else [layout.names[j] for j in features]
    return assemble(path, name, values.matrix(), labels, limits, feature_names)


def read_numbers(texts: list[str], columns: Sequence[int], layout: Layout, row: int, path: Path) -> Floats:
    """Parse the values of a row in these columns: all at once if they are plain numbers, otherwise one by one."""
    text = ",".join(texts)
    values = None if "_" in text else _plain_numbers(texts)
    if values is None:
        values = _each_number(texts, columns, layout, row, path)
    if SIXTEEN_DIGITS.search(text):  # faster than comparing the values of a short row
        _check_exact(values, texts, columns, layout, row, path)
    return values


def _plain_numbers(texts: list[str]) -> Floats | None:
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        return None


def _check_exact(
    values: Floats, texts: list[str], columns: Sequence[int], layout: Layout, row: int, path: Path
) -> None:
    """Raise an error for integers that float64 may have to round."""
    for i in np.flatnonzero(np.abs(values) >= MAX_EXACT_INTEGER).tolist():
        digits = texts[i].strip().lstrip("+-").lstrip("0")
        if digits.isdecimal() and (len(digits) > 16 or int(digits) > MAX_EXACT_INTEGER):
            raise inexact_integer(column_called(layout.names, columns[i]), texts[i], row, path)


def _each_number(texts: list[str], columns: Sequence[int], layout: Layout, row: int, path: Path) -> Floats:
    values = [layout.number(text) for text in texts]
    if None in values:
        text, j = next((texts[i], columns[i]) for i, value in enumerate(values) if value is None)
        raise ValueError(
            f"{column_called(layout.names, j)} of {path} must hold numbers, or NA, NaN, ? or nothing for a missing "
            f"value, got {quoted(text)} in row {row}; {what_to_do(layout.names, j, path)}"
        )
    return np.array(values, dtype=np.float64)
