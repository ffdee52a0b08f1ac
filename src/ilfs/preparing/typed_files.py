"""Files whose columns have types as raw tables: Parquet, Feather, Excel and ARFF."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.arff import read_header, split_values
from ilfs.datasets.readers.text import open_text
from ilfs.importing import check_installed
from ilfs.preparing.raw_columns import (
    ArrowTextColumn,
    OtherColumn,
    RawColumn,
    TextColumn,
    ValueColumn,
    column_of_objects,
    object_text,
)
from ilfs.preparing.raw_table import RawTable
from ilfs.preparing.text_files import UNNAMED
from ilfs.sources.arrow import column_values, index_columns, is_numeric, one_line_errors

DAMAGED_WORKBOOK = "must be a complete Excel workbook (.xlsx)"


def arrow_table(table: Any, name: str) -> RawTable:
    """Make a raw table of a pyarrow table; the index of pandas gives the names of the rows."""
    index = index_columns(table.schema, ())
    names = [one for one in table.column_names if one not in index]
    columns = [arrow_column(table.column(one)) for one in names]
    row_names = [str(one) for one in table.column(index[0]).to_pylist()] if len(index) == 1 else None
    return RawTable(name, names, columns, table.num_rows, row_names)


def arrow_column(column: Any) -> RawColumn:
    """Make a raw column of a pyarrow column."""
    kind = kind_of_type(column.type)
    if kind == "number":
        return ValueColumn(column_values(column) if str(column.type) != "bool" else boolean_values(column))
    if kind == "text":
        return ArrowTextColumn(column.cast("large_string"), False)
    return OtherColumn(kind, column.to_pylist())


def boolean_values(column: Any) -> NDArray[Any]:
    """Convert a column of booleans; with missing values it is a column of 0, 1 and NaN."""
    return column_values(column) if column.null_count else np.asarray(column.to_numpy()).astype(bool)


def kind_of_type(kind: Any) -> str:
    """Return what columns of an Arrow type hold: number, text, date, or the name of the type."""
    from pyarrow import types

    if is_numeric(kind):
        return "number"
    if types.is_dictionary(kind):
        return "text" if kind_of_type(kind.value_type) in ("text", "number") else str(kind)
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    return "date" if types.is_temporal(kind) else str(kind)


def read_feather_table(path: Path, name: str) -> RawTable:
    """Read a file in Arrow's IPC format (Feather version 2)."""
    check_installed("pyarrow", "parquet", f"reading {name}")
    import pyarrow

    with one_line_errors(f"{name} must be a complete Arrow or Feather (version 2) file"):
        with pyarrow.memory_map(str(path)) as mapped, pyarrow.ipc.open_file(mapped) as opened:
            table = opened.read_all()
        table.validate(full=True)  # otherwise Arrow trusts offsets and lengths
    return arrow_table(table, name)


def read_excel_table(path: Path, name: str) -> RawTable:
    """Read the first sheet of an Excel workbook; its first row names the columns."""
    check_installed("openpyxl", "cli", f"reading {name}")
    rows = excel_rows(path, name)
    header = next(rows, None)
    body = [row for row in rows if any(value is not None for value in row)]
    if header is None or not body:
        raise ValueError(f"{name} must have a header and rows below it in its first sheet, got none")
    width = max(len(header), *(len(row) for row in body))
    names = ["" if value is None else object_text(value).strip() for value in padded(header, width)]
    columns = [column_of_objects(column) for column in zip(*(padded(row, width) for row in body), strict=True)]
    return named_table(name, names, columns, len(body))


def padded(row: Sequence[Any], width: int) -> list[Any]:
    """Append empty values to a row."""
    return [*row, *[None] * (width - len(row))]


def named_table(name: str, names: list[str], columns: list[RawColumn], n_rows: int) -> RawTable:
    """Make a raw table in which a first column without a name holds the names of the rows, and empty ones are gone."""
    row_names = None
    if len(names) > 1 and UNNAMED.fullmatch(names[0]):
        row_names, names, columns = [text or "" for text in columns[0].texts], names[1:], columns[1:]
    first = 1 + (row_names is not None)
    kept = [j for j, one in enumerate(names) if one or any(text is not None for text in columns[j].texts)]
    called = [names[j] or f"column {j + first}" for j in kept]
    return RawTable(name, called, [columns[j] for j in kept], n_rows, row_names)


def excel_rows(path: Path, name: str) -> Iterator[tuple[Any, ...]]:
    """Read the rows of the first sheet of a workbook, from the first that is not empty."""
    import warnings

    import openpyxl

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of formats and extensions that it does not know
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            rows = list(book.worksheets[0].iter_rows(values_only=True))
            book.close()
    except Exception as error:  # openpyxl, zipfile and the XML parser raise almost anything for a damaged file
        raise ValueError(
            f"{name} {DAMAGED_WORKBOOK}: {(str(error).splitlines() or [''])[0] or type(error).__name__}"
        ) from None
    start = next((i for i, row in enumerate(rows) if any(value is not None for value in row)), len(rows))
    return iter(rows[start:])


def read_arff_table(path: Path, name: str) -> RawTable | None:
    """Read a dense ARFF file; return None for a sparse one."""
    with open_text(path, DEFAULT_LIMITS) as lines:
        stripped = (line.strip() for line in lines)
        content = (line for line in stripped if line and not line.startswith("%"))
        names = [attribute.name for attribute in read_header(content, path)]
        first = next(content, None)
        if first is None:
            raise ValueError(f"{name} must have rows below its header, got none")
        if first.startswith("{"):
            return None
        rows = [split_values(row, path) for row in chain([first], content)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ValueError(f"row {number} of {name} must have {len(names)} values, got {len(row)}")
    return RawTable(name, names, [TextColumn(column) for column in zip(*rows, strict=True)], len(rows))


READERS: dict[str, Callable[[Path, str], RawTable | None]] = {
    ".feather": read_feather_table,
    ".arrow": read_feather_table,
    ".xlsx": read_excel_table,
    ".xlsm": read_excel_table,
    ".arff": read_arff_table,
}
