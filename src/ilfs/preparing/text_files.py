"""Delimited text as a raw table: every column is text first, and a number if all its values are.

pyarrow parses large texts where it is installed. Text that it refuses is parsed by Python, whose errors name the row.
"""

import codecs
import csv
import io
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.compressed import open_bytes
from ilfs.datasets.readers.text import Layout, bounded_lines, delimiter_of, sample_lines, split_rows, wrong_length
from ilfs.preparing.raw_columns import ArrowTextColumn, RawColumn, TextColumn
from ilfs.preparing.raw_table import RawTable
from ilfs.preparing.targets import TARGET_NAMES
from ilfs.reading.text import missing_texts

ANY_HEADER = "*"  # among columns that were named: the file has a header
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text has
MIN_REPEATING_ROWS = 4  # rows from which classes are recognised below a name
HEAD_BYTES = 2**16  # of a file, from which binary files are recognised
MIN_ARROW_BYTES = 2**23  # of a text that pyarrow parses: for less, importing pyarrow takes longer than Python does
GEO_TABLE = re.compile(rb"^!\w*table_begin[^\n]*\n(.*?)^!\w*table_end", re.DOTALL | re.MULTILINE | re.IGNORECASE)
UNNAMED = re.compile(r"Unnamed: \d+(_level_\d+)?|\.\.\.\d+|")  # what pandas and R call a column without a name


def read_text_table(path: Path, name: str, chosen: Sequence[str | int | None], n_before: int = 0) -> RawTable:
    """Read delimited text, perhaps compressed.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Its name in messages.
    chosen : sequence of str, int or None
        Columns that were named: one that is in the first row implies a header, as does `ANY_HEADER`.
    n_before : int, default=0
        Number of lines before the header.

    Returns
    -------
    RawTable
        The table.
    """
    content, notes = decoded(whole_content(path), name)
    content = without_comments(content.split(b"\n", n_before)[-1])
    try:
        layout = layout_of(content, chosen, path, name)
        return parsed(content, layout, name, notes)
    except csv.Error as error:
        raise ValueError(f"{name} must be delimited text: {error}") from None


def whole_content(path: Path) -> bytes:
    """Read a file that may be compressed, within the limits on its size."""
    allowed = DEFAULT_LIMITS.allowed_bytes(path)
    with open_bytes(path) as file:
        content = file.read(allowed + 1)
    if len(content) > allowed:
        raise DEFAULT_LIMITS.too_many_bytes(len(content), path)
    return content


def decoded(content: bytes, name: str) -> tuple[bytes, tuple[str, ...]]:
    """Convert a text to UTF-8 without a mark at its beginning; return it with a note if its encoding was guessed."""
    if content.startswith(UTF_16_MARKS):
        try:
            return content.decode("utf-16").encode(), ()
        except UnicodeDecodeError as error:
            raise ValueError(f"{name} must be text, got UTF-16 that is not complete: {error.reason}") from None
    if not content.strip():
        raise ValueError(f"{name} is empty")
    if CONTROL.search(content[:HEAD_BYTES]) or b"\x00" in content:
        raise ValueError(f"{name} must be delimited text, got a binary file")
    content = content.removeprefix(codecs.BOM_UTF8)
    table = GEO_TABLE.search(content) if content.startswith(b"!") else None
    content = content if table is None else table[1]
    return of_windows(content, name)


def without_comments(content: bytes) -> bytes:
    """Leave out lines at the beginning that start with # and have other delimiters than the next line."""
    while content.startswith(b"#"):
        first, _, rest = content.partition(b"\n")
        following = rest.partition(b"\n")[0]
        if not rest or all(first.count(mark) == following.count(mark) for mark in (b"\t", b";", b",")):
            break
        content = rest
    return content


def of_windows(content: bytes, name: str) -> tuple[bytes, tuple[str, ...]]:
    """Convert text that is not UTF-8 from the encoding that spreadsheets use under Windows."""
    try:
        content.decode()
    except UnicodeDecodeError:
        try:
            note = f"{name} is not UTF-8, so it was read as Windows-1252: check names with accents"
            return content.decode("cp1252").encode(), (note,)
        except UnicodeDecodeError as error:
            raise ValueError(f"{name} must be text in UTF-8, got {error.reason}") from None
    return content, ()


def lines_of(content: bytes) -> io.TextIOWrapper:
    """Return the lines of a text; the csv module needs their ends as they are."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")


def layout_of(content: bytes, chosen: Sequence[str | int | None], path: Path, name: str) -> Layout:
    """Detect delimiter, header, and a column of names of rows."""
    lines = sample_lines(bounded_lines(lines_of(content), path, DEFAULT_LIMITS))
    layout = Layout(delimiter_of(lines, Path(name)))
    start = list(split_rows(lines, layout.delimiter))
    names = [one.strip() for one in start[0]]
    if not any(one in (ANY_HEADER, *names) for one in chosen) and not has_header(start, layout):
        return layout
    is_one_short = len(start) > 1 and len(start[1]) == len(names) + 1  # R's write.table leaves one name out
    if not is_one_short and len(names) > 1 and UNNAMED.fullmatch(names[0]):
        return Layout(layout.delimiter, names[1:], 1)
    return Layout(layout.delimiter, names, int(is_one_short))


def has_header(start: Sequence[list[str]], layout: Layout) -> bool:
    """Check if the first row names the columns: a usual target, an empty corner, text above numbers or classes."""
    first, others = [text.strip() for text in start[0]], start[1:]
    if any(text.lower() in TARGET_NAMES for text in first) or (not first[0] and len(first) > 1):
        return True
    if others and len(others[0]) == len(first) + 1:
        return True
    names = [(j, text) for j, text in enumerate(first) if layout.number(text) is None]
    if any(is_above_numbers(j, others, layout) for j, _ in names):
        return True
    codes = [text for text in first if layout.number(text) is not None]
    are_codes = all(text.isdecimal() for text in codes) and len(set(codes)) == len(codes)  # such as those of Entrez
    return are_codes and any(is_above_classes(j, text, others) for j, text in names)


def is_above_classes(j: int, name: str, others: Sequence[list[str]]) -> bool:
    """Check if the next values of a column repeat, and its first one is not among them."""
    values = [row[j].strip() for row in others if j < len(row)]
    return len(values) >= MIN_REPEATING_ROWS and len(set(values)) <= len(values) / 2 and name not in values


def is_above_numbers(j: int, others: Sequence[list[str]], layout: Layout) -> bool:
    """Check if at least half of the next values of a column are numbers; without any rows they might be."""
    values = [layout.number(row[j]) is not None for row in others if j < len(row)]
    return 2 * sum(values) >= len(values)


def parsed(content: bytes, layout: Layout, name: str, notes: tuple[str, ...]) -> RawTable:
    """Split a text into columns."""
    names = layout.names
    columns = arrow_columns(content, layout)
    if columns is None:
        columns = python_columns(content, layout, name)
    if not columns or not len(columns[0]):
        raise ValueError(f"{name} must have rows below its header, got none")
    row_names = [text or "" for text in columns[0].texts] if layout.n_skipped else None
    columns = columns[layout.n_skipped :]
    called = [f"x{j}" for j in range(len(columns))] if names is None else names
    called = [one if one else f"column {j}" for j, one in enumerate(called, start=1 + layout.n_skipped)]
    return RawTable(name, called, columns, len(columns[0]), row_names, names is not None, notes)


def arrow_columns(content: bytes, layout: Layout) -> list[RawColumn] | None:
    """Split a text with pyarrow; return None if it is small, pyarrow is not installed, or refuses the text."""
    if len(content) < MIN_ARROW_BYTES or layout.delimiter == " ":
        return None
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    try:
        table = arrow_csv.read_csv(pyarrow.BufferReader(content), *arrow_options(content, layout))
    except pyarrow.ArrowInvalid:
        return None
    has_comma = layout.delimiter == ";"
    return [ArrowTextColumn(column, has_comma) for column in table.columns]


def arrow_options(content: bytes, layout: Layout) -> tuple[Any, Any, Any]:
    """Return the options with which pyarrow reads every column as text."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    n_columns = layout.n_skipped + len(layout.names or next(split_rows(lines_of(content), layout.delimiter)))
    names = [str(j) for j in range(n_columns)]
    is_quoted = b'"' in content
    return (
        arrow_csv.ReadOptions(column_names=names, skip_rows_after_names=int(layout.names is not None)),
        arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=is_quoted),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.string()), null_values=missing_texts(), strings_can_be_null=True
        ),
    )


def python_columns(content: bytes, layout: Layout, name: str) -> list[RawColumn]:
    """Split a text with Python; rows must have the same number of values."""
    rows = list(islice(split_rows(lines_of(content), layout.delimiter), int(layout.names is not None), None))
    if not rows:
        return []
    n_columns = layout.n_skipped + len(layout.names or rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != n_columns:
            raise wrong_length(row, number, name, n_columns, len(row))
    has_comma = layout.delimiter == ";"
    return [TextColumn(column, has_comma) for column in zip(*rows, strict=True)]
