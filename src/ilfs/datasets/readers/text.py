"""Delimited text: csv, tsv and their relatives, gzipped or not.

The delimiter is the one that cuts the first lines into equally many cells, most of them numbers. The first row is a
header if in some column it has text where the second row has a number. A first column without a name, as R and pandas
write it, holds names of rows: it is left out, since a number that counts the rows tells the class of sorted rows.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol, TypeVar

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
from ilfs.parameters import is_integer
from ilfs.warn import warn

Line = TypeVar("Line", str, bytes, covariant=True)
DELIMITERS = ("\t", ";", ",", "|", " ")
MANY_DIGITS = re.compile(r"\d{16}")  # as many as 2**53 has
LOOKED_AT = 20  # rows, and cells of a row, that tell the delimiter
MAX_SAMPLE_LENGTH = 2**22  # characters of these rows; of wide tables two rows must do


@dataclass(frozen=True)
class Layout:
    """How the cells of a text are to be read."""

    delimiter: str
    names: list[str] | None = None  # of the columns, without the one that names the rows
    n_skipped: int = 0  # columns at the left that name the rows

    def number(self, cell: str) -> float | None:
        """The number in a cell, NaN if it is missing, None if it is text."""
        # who parts cells by semicolons does so because the comma is taken
        return parse_number(cell.replace(",", ".") if self.delimiter == ";" and cell.count(",") == 1 else cell)


def read_text(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read delimited text."""
    with open_text(path, limits) as lines:
        layout = _layout(_sample(lines), [*drop, target], path)
    with open_text(path, limits) as lines:
        body = islice(_rows(lines, layout.delimiter), int(layout.names is not None), None)
        return _read_body(body, layout, target, drop, path, name, limits)


@contextmanager
def open_text(path: Path, limits: ReadLimits) -> Generator[Iterator[str], None, None]:
    """Lines of a text file, unpacked if its name ends in .gz; what is no text is told in one sentence."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield bounded_lines(file, path, limits)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text in UTF-8, got {error.reason}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} must be a whole gzip file: {error}") from error
    except csv.Error as error:
        raise ValueError(f"{path} must be delimited text: {error}") from error


class LineReader(Protocol[Line]):
    """An open file, of text or of bytes."""

    def readline(self, size: int, /) -> Line:
        """The next line, or so much of it."""


def bounded_lines(file: LineReader[Line], path: Path, limits: ReadLimits) -> Iterator[Line]:
    """Lines of an open file, as long as they keep to the limits."""
    allowed, n_read = limits.allowed_bytes(path), 0
    while line := file.readline(limits.max_line_length + 1):
        n_read += len(line)
        if len(line) > limits.max_line_length:
            raise limits.too_long_line(path)
        if n_read > allowed:
            raise limits.too_many_bytes(n_read, path)
        yield line


def _sample(lines: Iterable[str]) -> list[str]:
    """The first lines: as many as are looked at, or fewer if they are long."""
    sample, length = list[str](), 0
    for line in islice(lines, LOOKED_AT):
        sample.append(line)
        length += len(line)
        if length > MAX_SAMPLE_LENGTH and sum(bool(line.strip()) for line in sample) > 1:
            break
    return sample


def parse_number(cell: str) -> float | None:
    """The number in a cell, NaN if it is missing, None if it is text; 1_000 is text, though Python reads a number."""
    cell = cell.strip()
    if cell.lower() in MISSING:
        return float("nan")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _layout(lines: Sequence[str], chosen: Sequence[Target], path: Path) -> Layout:
    layout = Layout(_delimiter_of(lines, path))
    start = list(islice(_rows(lines, layout.delimiter), 2))
    if not _is_header(start, layout, chosen):
        return layout
    names = [cell.strip() for cell in start[0]]
    n_skipped = int(len(start) > 1 and len(start[1]) == len(names) + 1)  # as R's write.table leaves it
    if names[0] == "":
        names, n_skipped = names[1:], 1
    if n_skipped:
        warn(f"the first column of {path} has no name: it is taken for names of rows, not for a feature")
    check_names(names, path)
    return Layout(layout.delimiter, names, n_skipped)


def _delimiter_of(lines: Sequence[str], path: Path) -> str:
    """The delimiter under which the rows are equally long and most cells are numbers."""
    best, most = "", (-1, 1)
    for delimiter in DELIMITERS:
        width, numbers = _fit(lines, Layout(delimiter))
        if width > 1 and (numbers, width) > most:
            best, most = delimiter, (numbers, width)
    if not best:
        first = next((line for line in lines if line.strip()), "")
        best = max(DELIMITERS, key=first.count)
        if best not in first.strip():
            raise ValueError(f"{path} must have at least two columns, parted by comma, semicolon, tab, | or space")
    return best


def _fit(lines: Sequence[str], layout: Layout) -> tuple[int, int]:
    """How many cells the rows have under a delimiter, 0 if not equally many; and how many of the first are numbers."""
    try:
        rows = [(len(row), row[:LOOKED_AT]) for row in _rows(lines, layout.delimiter)]
    except csv.Error:  # a wide table is one field, too long for csv, under a delimiter that it does not have
        return 0, 0
    widths = {width for width, _ in rows[1:] or rows}  # a header may be one cell short
    numbers = sum(layout.number(cell) is not None for _, cells in rows for cell in cells)
    return (widths.pop(), numbers) if len(widths) == 1 else (0, 0)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Rows of cells; lines without any are passed over."""
    if delimiter == " ":
        lines = (line.strip() for line in lines)
    cells = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t")
    return (row for row in cells if row and row != [""])


def _is_header(start: Sequence[list[str]], layout: Layout, chosen: Sequence[Target]) -> bool:
    """Whether the first row names the columns; ``chosen`` are those to drop and, last, the target."""
    first, second = start[0], start[-1]
    named = any(isinstance(column, str) for column in chosen)
    if named or first[-1].strip().lower() in USUAL_TARGETS or len(second) == len(first) + 1:
        return True
    # classes and names of rows may be text or numbers, so that only features tell
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
        raise ValueError(f"{path} has a header but no rows")
    n_columns = len(first) - layout.n_skipped if layout.names is None else len(layout.names)
    at, features = find_columns(layout.names, n_columns, target, drop, path)
    labels, values, known = list[str](), RowBlocks(path, limits), dict[str, str]()
    for number, row in enumerate(chain([first], rows), start=1):
        if len(row) != n_columns + layout.n_skipped:
            raise ValueError(f"row {number} of {path} must have {n_columns + layout.n_skipped} cells, got {len(row)}")
        cells = row[layout.n_skipped :]
        label = cells[at].strip()
        labels.append(known.setdefault(label, label))  # one text a class, not one a row
        values.append(read_numbers([cells[j] for j in features], features, layout, number, path))
    feature_names = None if layout.names is None else [layout.names[j] for j in features]
    return assemble(path, name, values.matrix(), labels, limits, feature_names)


def read_numbers(cells: list[str], columns: Sequence[int], layout: Layout, row: int, path: Path) -> Floats:
    """Cells of a row, which stand in these columns: all at once if they are plain numbers, else cell by cell."""
    text = ",".join(cells)
    values = None if "_" in text else _plain_numbers(cells)
    if values is None:
        values = _each_number(cells, columns, layout, row, path)
    if MANY_DIGITS.search(text):  # which takes less time than to look at the values of a short row
        _check_exact(values, cells, columns, layout, row, path)
    return values


def _plain_numbers(cells: list[str]) -> Floats | None:
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return None


def _check_exact(
    values: Floats, cells: list[str], columns: Sequence[int], layout: Layout, row: int, path: Path
) -> None:
    """Refuse integers that floats may have to round."""
    for i in np.flatnonzero(np.abs(values) >= MAX_EXACT_INTEGER).tolist():
        digits = cells[i].strip().lstrip("+-").lstrip("0")
        if digits.isdecimal() and (len(digits) > 16 or int(digits) > MAX_EXACT_INTEGER):
            raise inexact_integer(column_called(layout.names, columns[i]), cells[i], row, path)


def _each_number(cells: list[str], columns: Sequence[int], layout: Layout, row: int, path: Path) -> Floats:
    values = [layout.number(cell) for cell in cells]
    if None in values:
        cell, j = next((cells[i], columns[i]) for i, value in enumerate(values) if value is None)
        raise ValueError(
            f"{column_called(layout.names, j)} of {path} must hold numbers, or NA, NaN, ? or nothing where they are "
            f"missing, got {quoted(cell)} in row {row}; {what_to_do(layout.names, j, path)}"
        )
    return np.array(values, dtype=np.float64)
