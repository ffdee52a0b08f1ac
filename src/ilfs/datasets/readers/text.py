"""Delimited text: csv, tsv and their relatives, gzipped or not.

The delimiter is the one that cuts the first lines into equally many cells, most of them numbers. The first row is a
header if in some column it has text where the second row has a number. A first column without a name, as R and pandas
write it, holds names of rows: it is left out, since a number that counts the rows tells the class of sorted rows.
"""

import csv
import gzip
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np

from ilfs.arrays import Floats
from ilfs.datasets.readers.assemble import (
    MISSING,
    USUAL_TARGETS,
    Drop,
    Target,
    assemble,
    check_names,
    column_called,
    find_columns,
    what_to_do,
)
from ilfs.datasets.table import Table
from ilfs.parameters import is_integer
from ilfs.warn import warn

DELIMITERS = ("\t", ";", ",", "|", " ")
LOOKED_AT = 20  # rows, and cells of a row, that tell the delimiter


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


def read_text(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read delimited text."""
    with open_text(path) as file:
        layout = _layout(list(islice(file, LOOKED_AT)), [*drop, target], path)
    with open_text(path) as file:
        body = islice(_rows(file, layout.delimiter), int(layout.names is not None), None)
        return _read_body(body, layout, target, drop, path, name)


@contextmanager
def open_text(path: Path) -> Generator[IO[str], None, None]:
    """A text file, unpacked if its name ends in .gz; what is no text is told in one sentence."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text in UTF-8, got {error.reason}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} must be a whole gzip file: {error}") from error
    except csv.Error as error:
        raise ValueError(f"{path} must be delimited text: {error}") from error


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
        rows, layout = list(_rows(lines, delimiter)), Layout(delimiter)
        widths = {len(row) for row in rows[1:] or rows}  # a header may be one cell short
        cells = [cell for row in rows for cell in row[:LOOKED_AT]]
        numbers = sum(layout.number(cell) is not None for cell in cells)
        if len(widths) == 1 and widths > {1} and (numbers, max(widths)) > most:
            best, most = delimiter, (numbers, max(widths))
    if not best:
        first = next((line for line in lines if line.strip()), "")
        best = max(DELIMITERS, key=first.count)
        if best not in first.strip():
            raise ValueError(f"{path} must have at least two columns, parted by comma, semicolon, tab, | or space")
    return best


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


def _read_body(rows: Iterator[list[str]], layout: Layout, target: Target, drop: Drop, path: Path, name: str) -> Table:
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{path} has a header but no rows")
    n_columns = len(first) - layout.n_skipped if layout.names is None else len(layout.names)
    at, features = find_columns(layout.names, n_columns, target, drop, path)
    labels, values = [], []
    for number, row in enumerate(chain([first], rows), start=1):
        if len(row) != n_columns + layout.n_skipped:
            raise ValueError(f"row {number} of {path} must have {n_columns + layout.n_skipped} cells, got {len(row)}")
        cells = row[layout.n_skipped :]
        labels.append(cells[at].strip())
        values.append(read_numbers([cells[j] for j in features], features, layout, number, path))
    feature_names = None if layout.names is None else [layout.names[j] for j in features]
    return assemble(path, name, np.array(values), labels, feature_names)


def read_numbers(cells: list[str], columns: Sequence[int], layout: Layout, row: int, path: Path) -> Floats:
    """Cells of a row, which stand in these columns: all at once if they are plain numbers, else cell by cell."""
    if "_" not in "".join(cells):
        try:
            return np.array(cells, dtype=np.float64)
        except ValueError:
            pass
    values = [layout.number(cell) for cell in cells]
    if None in values:
        cell, j = next((cells[i], columns[i]) for i, value in enumerate(values) if value is None)
        raise ValueError(
            f"{column_called(layout.names, j)} of {path} must hold numbers, or NA, NaN, ? or nothing where they are "
            f"missing, got {cell!r} in row {row}; {what_to_do(layout.names, j, path)}"
        )
    return np.array(values, dtype=np.float64)
