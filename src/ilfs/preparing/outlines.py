"""Outline of a table that is not read yet: names and types of its columns, and the first rows of some."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.text import Layout, body_rows, detect_layout, open_text, sample_lines, wrong_length
from ilfs.importing import check_installed
from ilfs.preparing.features import is_id_name
from ilfs.preparing.inputs import Input
from ilfs.preparing.options import Options
from ilfs.preparing.raw_columns import RawColumn, TextColumn, ValueColumn
from ilfs.preparing.raw_table import RawTable
from ilfs.preparing.targets import is_usual_name
from ilfs.preparing.text_files import layout_of
from ilfs.preparing.typed_files import arrow_table, kind_of_type
from ilfs.reading.paths import parquet_parts
from ilfs.sources.arrow import index_columns, one_line_errors
from ilfs.sources.parquet import unify_types

FIRST_ROWS = 1000  # rows from which types of columns and the target are guessed
MAX_HEAD_COLUMNS = 256  # columns of text whose first rows are read


@dataclass(frozen=True)
class Outline:
    """Columns, types and first rows of a table, found before it is read.

    Parameters
    ----------
    head : RawTable
        All columns; those of numbers that play no part in guesses may be empty, the others have the first rows.
    kinds : dict of str
        What each column holds: number, text, date or another type.
    read : callable
        Reads one whole column by its name.
    """

    head: RawTable
    kinds: dict[str, str]
    read: Callable[[str], RawColumn]


def outline_of(found: Input, options: Options) -> Outline:
    """Find out what is known of a table from its schema and its first rows."""
    if found.is_text:
        return text_outline(found, options)
    return npy_outline(found) if found.ending == ".npy" else arrow_outline(found)


def arrow_outline(found: Input) -> Outline:
    """Read the schema of Parquet or Feather files, and the first rows of columns from which roles are guessed."""
    check_installed("pyarrow", "parquet", f"reading {found.name}")
    schema, batches = arrow_batches(found)
    index = index_columns(schema, ())
    names = [name for name in schema.names if name not in index]
    kinds = {name: kind_of_type(schema.field(name).type) for name in names}
    head = first_values(batches, head_columns(kinds), found.name)
    unread = ValueColumn(np.empty(0))
    columns = [head.get(name, unread) for name in names]

    def read(name: str) -> RawColumn:
        import pyarrow

        return arrow_table(pyarrow.Table.from_batches(list(batches([name]))).replace_schema_metadata(), "").columns[0]

    return Outline(RawTable(found.name, names, columns, FIRST_ROWS), kinds, read)


def head_columns(kinds: dict[str, str]) -> list[str]:
    """Return the columns whose first rows are read: text, usual targets, names of rows, and the last column.

    Not all columns: reading thousands of them at a time would take gigabytes.
    """
    last = list(kinds)[-1]
    texts = [name for name, kind in kinds.items() if kind != "number"][:MAX_HEAD_COLUMNS]
    named = [name for name in kinds if is_usual_name(name) or is_id_name(name)][:MAX_HEAD_COLUMNS]
    return list(dict.fromkeys([*texts, *named, last]))


def first_values(
    batches: Callable[[Sequence[str]], Iterable[Any]], names: list[str], table: str
) -> dict[str, RawColumn]:
    """Read the first rows of some columns."""
    import pyarrow

    first = next(iter(batches(names)), None)
    if first is None or not first.num_rows:
        raise ValueError(f"{table} must have rows, got none")
    head = arrow_table(pyarrow.Table.from_batches([first.slice(0, FIRST_ROWS)]).replace_schema_metadata(), table)
    return dict(zip(head.names, head.columns, strict=True))


def arrow_batches(found: Input) -> tuple[Any, Callable[[Sequence[str]], Iterable[Any]]]:
    """Return the schema of Arrow files, and a function that reads some columns in batches."""
    if not found.is_parquet:
        return feather_batches(found)
    parts = parquet_parts(found.files)
    for part in parts:
        part.inspect(part.opened())
    unify_types(parts)

    def batches(names: Sequence[str]) -> Iterable[Any]:
        return (batch for part in parts for batch in part.batches(part.opened(), names, FIRST_ROWS))

    return parts[0].schema, batches


def feather_batches(found: Input) -> tuple[Any, Callable[[Sequence[str]], Iterable[Any]]]:
    """Return the schema of a Feather file, and a function that reads some columns in batches."""
    import pyarrow

    what = f"{found.name} must be a complete Arrow or Feather (version 2) file"
    file = str(found.files[0])
    with one_line_errors(what), pyarrow.memory_map(file) as mapped, pyarrow.ipc.open_file(mapped) as opened:
        schema, n_batches = opened.schema, opened.num_record_batches

    def batches(names: Sequence[str]) -> Iterable[Any]:
        places = pyarrow.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in names])
        with one_line_errors(what), pyarrow.OSFile(file) as source:
            opened = pyarrow.ipc.open_file(source, options=places)
            for number in range(n_batches):
                yield opened.get_batch(number).select(list(names))

    return schema, batches


def text_outline(found: Input, options: Options) -> Outline:
    """Read the layout and the first rows of delimited text."""
    layout = text_layout(found.files[0], found.name, options)
    first = text_rows(found.files[:1], layout, FIRST_ROWS)
    if not first:
        raise ValueError(f"{found.name} must have rows below its header, got none")
    names = layout.names or [f"x{j}" for j in range(len(first[0]))]
    for number, row in enumerate(first, start=1):
        if len(row) != len(names):
            more = layout.n_skipped
            raise wrong_length(row, number, found.name, len(names) + more, len(row) + more)
    has_comma = layout.delimiter == ";"
    columns: list[RawColumn] = [TextColumn(column, has_comma) for column in zip(*first, strict=True)]
    kinds = {name: "text" if column.numbers is None else "number" for name, column in zip(names, columns, strict=True)}

    def read(name: str) -> RawColumn:
        j = names.index(name)
        return TextColumn(text_column(found.files, layout, j), has_comma)

    head = RawTable(found.name, names, columns, len(first), has_header=layout.names is not None)
    return Outline(head, kinds, read)


def text_layout(file: Path, name: str, options: Options) -> Layout:
    """Detect the layout of delimited text, as the reader of blocks does if it knows about the header."""
    if file.stat().st_size == 0:
        raise ValueError(f"{name} is empty")
    with open_text(file, DEFAULT_LIMITS) as lines:
        sample = "".join(sample_lines(lines)).encode()
    if not sample.strip():
        raise ValueError(f"{name} is empty")
    layout = layout_of(sample, options.named, file, name)
    return layout if layout.names is None else detect_layout(file, [layout.names[0]], DEFAULT_LIMITS)


def text_rows(files: Sequence[Path], layout: Layout, most: int | None) -> list[list[str]]:
    """Read the first rows of some files."""
    rows = list[list[str]]()
    for file in files:
        with open_text(file, DEFAULT_LIMITS) as lines:
            rows += [row[layout.n_skipped :] for row in islice(body_rows(lines, layout), most)]
    return rows


def text_column(files: Sequence[Path], layout: Layout, j: int) -> list[str]:
    """Read one column of all files; a row that is too short has an empty value, which the reader of blocks refuses."""
    column, place = list[str](), j + layout.n_skipped
    for file in files:
        with open_text(file, DEFAULT_LIMITS) as lines:
            column += [row[place] if place < len(row) else "" for row in body_rows(lines, layout)]
    return column


def npy_outline(found: Input) -> Outline:
    """Read the first rows of a matrix."""
    try:
        matrix = np.load(found.files[0], mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{found.name} must be a complete .npy file without pickled objects: {error}") from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "buif" or not matrix.size:
        raise ValueError(f"{found.name} must be a matrix of numbers, got shape {matrix.shape} of {matrix.dtype}")
    columns: list[RawColumn] = [ValueColumn(np.array(column)) for column in matrix[:FIRST_ROWS].T]
    names = [f"x{j}" for j in range(len(columns))]
    head = RawTable(found.name, names, columns, len(columns[0]), has_header=False)
    kinds = dict.fromkeys(names, "number")
    return Outline(head, kinds, lambda name: ValueColumn(np.array(matrix[:, names.index(name)])))
