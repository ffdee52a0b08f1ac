"""Tables that are read in blocks: columns get their roles from their types and from the first rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.compressed import PACKED_ENDINGS
from ilfs.datasets.readers.text import body_rows, detect_layout, open_text
from ilfs.importing import check_installed
from ilfs.memory import bytes_of
from ilfs.preparing.features import JOINED_ID, judged
from ilfs.preparing.inputs import Input, find_input
from ilfs.preparing.options import Account, Options, some_names
from ilfs.preparing.patterns import match_columns
from ilfs.preparing.prepared import PreparedTable
from ilfs.preparing.raw_columns import RawColumn, TextColumn, ValueColumn
from ilfs.preparing.raw_files import read_raw_table
from ilfs.preparing.raw_table import RawTable
from ilfs.preparing.samples import best_match, check_match
from ilfs.preparing.targets import guessed_target, labels_in, no_target
from ilfs.preparing.typed_files import arrow_table, kind_of_type
from ilfs.reading.dask_files import open_on_dask, parquet_frame
from ilfs.reading.entry import open_table
from ilfs.reading.loading import LOADED_COPIES
from ilfs.reading.paths import parquet_parts
from ilfs.reading.text import COMPRESSION
from ilfs.sources import Source
from ilfs.sources.arrow import index_columns, one_line_errors
from ilfs.sources.parquet import unify_types
from ilfs.sources.roles import find_column

FIRST_ROWS = 1000  # rows from which types of columns and the target are guessed
TEXT_COPIES = 3  # of a text in memory: as read, split into values, and as numbers
VALUE_BYTES = 8
STREAMED_ENDINGS = (".feather", ".arrow", ".npy")


@dataclass(frozen=True)
class Outline:
    """What is known of a table before it is read.

    Parameters
    ----------
    head : RawTable
        Its first rows, with all columns.
    read : callable
        Reads one column as text, by its name.
    kinds : dict of str
        What columns of known types hold: number, text, date or another type.
    """

    head: RawTable
    read: Callable[[str], RawColumn]
    kinds: dict[str, str]


def should_stream(found: Input, options: Options) -> bool:
    """Check if a table is to be read in blocks: on request, or because it is too large for the memory."""
    if options.engine == "memory":
        return False
    can_stream = found.is_text or found.is_parquet or found.ending in STREAMED_ENDINGS
    if options.engine == "stream":
        if not can_stream:
            raise ValueError(
                f"engine must be 'auto' or 'memory' for {found.name}, as this format is not read in blocks, "
                "got 'stream'"
            )
        return True
    return can_stream and (bytes_needed(found) > bytes_of(options.memory_limit) or (found.is_text and len(found.files) > 1))


def bytes_needed(found: Input) -> int:
    """Estimate the memory that loading a table takes."""
    if found.is_parquet:
        check_installed("pyarrow", "parquet", f"reading {found.name}")
        parts = [part for part in parquet_parts(found.files)]
        for part in parts:
            part.inspect(part.opened())
        return sum(part.n_rows for part in parts) * len(parts[0].schema) * VALUE_BYTES * LOADED_COPIES
    packed = [COMPRESSION if file.suffix.lower() in PACKED_ENDINGS else 1 for file in found.files]
    size = sum(file.stat().st_size * times for file, times in zip(found.files, packed, strict=True))
    return size * (TEXT_COPIES if found.is_text else LOADED_COPIES)


def prepare_stream(found: Input, options: Options) -> PreparedTable:
    """Make a table ready that is read in blocks.

    Parameters
    ----------
    found : Input
        The files.
    options : Options
        What was asked for.

    Returns
    -------
    PreparedTable
        The table; its columns are set aside by their types and first rows.
    """
    refuse_for_streams(found, options)
    outline, account = outline_of(found, options), Account()
    names = outline.head.names
    for role, name in options.roles.items():
        find_column(role, name, names, len(names), found.name)
    target, labels, ids = stream_target(outline, found, options, account)
    drop = stream_drop(outline, target, options, account)
    given: Any = target if labels is None else labels
    source = open_table(
        found.path, given, drop, options.memory_limit, weight=options.weight, engine=stream_engine(options)
    )
    source.target_name = target
    if options.id is not None:
        ids = np.array([text or "" for text in outline.read(options.id).texts])
    groups = None if options.groups is None else np.array([text or "" for text in outline.read(options.groups).texts])
    notes = tuple(account.guesses), tuple(account.set_aside), tuple(account.warnings)
    return PreparedTable(source, found.name, target, *notes, groups, ids)


def stream_engine(options: Options) -> Any:
    """Return the engine with which the table is opened."""
    return "stream" if options.engine == "stream" else "auto"


def refuse_for_streams(found: Input, options: Options) -> None:
    """Raise for what needs a table in memory."""
    reason = f"for {found.name}, which is read in blocks: it needs a table in memory (engine='memory')"
    if options.transpose:
        raise ValueError(f"transpose must be left out {reason}")
    if options.encode:
        raise ValueError(f"encode must be left out {reason}")


def outline_of(found: Input, options: Options) -> Outline:
    """Read what is known of a table from its schema and its first rows."""
    if found.is_text:
        return text_outline(found, options)
    if found.ending == ".npy":
        return npy_outline(found)
    return arrow_outline(found)


def arrow_outline(found: Input) -> Outline:
    """Read schema and first rows of Parquet or Feather files."""
    check_installed("pyarrow", "parquet", f"reading {found.name}")
    schema, batches = arrow_batches(found)
    index = index_columns(schema, ())
    names = [name for name in schema.names if name not in index]
    head = arrow_head(batches(names), schema, names, found.name)

    def read(name: str) -> RawColumn:
        import pyarrow

        whole = pyarrow.Table.from_batches(list(batches([name])))
        return arrow_table(whole.replace_schema_metadata(), found.name).columns[0]

    return Outline(head, read, {name: kind_of_type(schema.field(name).type) for name in names})


def arrow_batches(found: Input) -> tuple[Any, Callable[[Sequence[str]], Iterable[Any]]]:
    """Return the schema of Arrow files, and a function that reads some columns in batches."""
    import pyarrow

    if found.is_parquet:
        parts = parquet_parts(found.files)
        for part in parts:
            part.inspect(part.opened())
        unify_types(parts)
        return parts[0].schema, lambda names: (
            batch for part in parts for batch in part.batches(part.opened(), names, FIRST_ROWS)
        )
    file = found.files[0]
    what = f"{found.name} must be a complete Arrow or Feather (version 2) file"
    with one_line_errors(what), pyarrow.memory_map(str(file)) as mapped, pyarrow.ipc.open_file(mapped) as opened:
        schema, n_batches = opened.schema, opened.num_record_batches

    def batches(names: Sequence[str]) -> Iterable[Any]:
        with one_line_errors(what), pyarrow.OSFile(str(file)) as source, pyarrow.ipc.open_file(source) as opened:
            for number in range(n_batches):
                yield opened.get_batch(number).select(list(names))

    return schema, batches


def arrow_head(batches: Iterable[Any], schema: Any, names: Sequence[str], name: str) -> RawTable:
    """Make a raw table of the first rows."""
    import pyarrow

    first = next(iter(batches), None)
    fields = pyarrow.schema([schema.field(one) for one in names])
    if first is None or not first.num_rows:
        raise ValueError(f"{name} must have rows, got none")
    table = pyarrow.Table.from_batches([first.slice(0, FIRST_ROWS)])
    return arrow_table(table.cast(fields).replace_schema_metadata(), name)


def text_outline(found: Input, options: Options) -> Outline:
    """Read layout and first rows of delimited text."""
    file = found.files[0]
    if file.stat().st_size == 0:
        raise ValueError(f"{found.name} is empty")
    layout = detect_layout(file, options.named, DEFAULT_LIMITS)

    def columns(most: int | None) -> list[list[str]]:
        rows = list[list[str]]()
        for one in found.files if most is None else found.files[:1]:
            with open_text(one, DEFAULT_LIMITS) as lines:
                rows += [row[layout.n_skipped :] for row in islice(body_rows(lines, layout), most)]
        return rows

    first = columns(FIRST_ROWS)
    if not first:
        raise ValueError(f"{found.name} must have rows below its header, got none")
    names = layout.names or [f"x{j}" for j in range(len(first[0]))]
    has_comma = layout.delimiter == ";"
    for number, row in enumerate(first, start=1):
        if len(row) != len(names):
            n_expected = len(names) + layout.n_skipped
            raise ValueError(f"row {number} of {found.name} must have {n_expected} values, got {len(row)}")
    values: list[RawColumn] = [TextColumn(column, has_comma) for column in zip(*first, strict=True)]
    head = RawTable(found.name, names, values, len(first), has_header=layout.names is not None)

    def read(name: str) -> RawColumn:
        j = names.index(name)
        return TextColumn([row[j] for row in columns(None)], has_comma)

    return Outline(head, read, {})


def npy_outline(found: Input) -> Outline:
    """Read the first rows of a matrix."""
    matrix = np.load(found.files[0], mmap_mode="r", allow_pickle=False)
    columns: list[RawColumn] = [ValueColumn(np.array(column)) for column in matrix[:FIRST_ROWS].T]
    names = [f"x{j}" for j in range(len(columns))]
    head = RawTable(found.name, names, columns, len(columns[0]), has_header=False)
    return Outline(head, lambda name: ValueColumn(np.array(matrix[:, names.index(name)])), {})


def stream_target(
    outline: Outline, found: Input, options: Options, account: Account
) -> tuple[str | None, NDArray[Any] | None, NDArray[Any] | None]:
    """Return the name of the target, and labels and names of the rows if they come from a sample sheet."""
    head = outline.head
    if options.samples is not None:
        return sheet_target(outline, found, options, account)
    if options.target is not None:
        wanted = options.target
        if not head.has_header and isinstance(wanted, str) and wanted.lstrip("-").isdecimal():
            wanted = int(wanted)
        return head.names[find_column("target", wanted, head.names, len(head.names), found.name)], None, None
    free = {
        name: column
        for name, column in zip(head.names, head.columns, strict=True)
        if name not in options.roles.values()
    }
    target = guessed_target(free, found.name, account)
    if target is None and options.needs_target:
        raise no_target(free, found.name, "")
    return target, None, None


def sheet_target(
    outline: Outline, found: Input, options: Options, account: Account
) -> tuple[str | None, NDArray[Any], NDArray[Any]]:
    """Look up the classes of all rows in a sample sheet, by the names of the rows."""
    sheet = read_raw_table(find_input(str(options.samples)), options, is_sheet=True)
    assert sheet is not None
    column = options.id if options.id in outline.head.names else outline.head.names[0]
    ids = [text or "" for text in outline.read(str(column)).texts]
    match = best_match(sheet, ids, options.id if options.id in sheet.names else None)
    check_match(match, sheet, outline.head, account)
    if match.in_table.size != len(ids):
        raise ValueError(f"samples must have all rows of {found.name}, which is read in blocks, got some of them only")
    free = {name: values for name, values in zip(sheet.names, sheet.columns, strict=True) if name != match.column}
    target = options.target if options.target is not None else guessed_target(free, sheet.name, account)
    if target is None:
        raise no_target(free, sheet.name, "")
    place = find_column("target", target, sheet.names, len(sheet.names), sheet.name)
    account.put_aside([str(column)], f"names the samples, as in {sheet.name}")
    return sheet.names[place], labels_in(sheet.columns[place])[match.in_sheet], np.array(ids)


def stream_drop(outline: Outline, target: str | None, options: Options, account: Account) -> list[str]:
    """Return the columns that are no features, by their types and first rows."""
    head = outline.head
    aside = {one.name for one in account.set_aside}
    roles = {target, options.weight}
    left = [name for name in head.names if name not in roles and name not in aside]
    wanted = match_columns(options.drop, head.names, "drop")
    dropped = {*wanted, *aside} - roles
    account.put_aside([name for name in wanted if name not in aside], "dropped on request")
    for role, reason in ((options.id, "names the rows"), (options.groups, "")):
        if role in left and role not in dropped:
            dropped.add(str(role))
            account.put_aside([str(role)] if reason else [], reason)
    left = [name for name in left if name not in dropped]
    if options.only:
        chosen = set(match_columns(options.only, left, "only"))
        others = [name for name in left if name not in chosen]
        account.put_aside(others, "not among the columns that were chosen")
        dropped.update(others)
        left = [name for name in left if name in chosen]
    for name in left:
        reason = why_no_feature(name, outline)
        if reason:
            account.put_aside([name], reason)
            dropped.add(name)
    return [name for name in head.names if name in dropped]


def why_no_feature(name: str, outline: Outline) -> str:
    """Return why a column is no feature; an empty text if it holds numbers. Constants are left to the methods."""
    column, kind = outline.head.column(name), outline.kinds.get(name)
    if kind is None:
        kind = "number" if column.numbers is not None else "text"
    if kind == "number":
        numbers = column.numbers
        is_number = numbers is not None and judged_as_name(name, column, outline.head.name)
        return "identifies the rows by different integers" if is_number else ""
    if kind == "text":
        return judged(name, column, outline.head.name).reason.replace(": encode=True makes features of it", "") or "holds text"
    return f"holds {'dates' if kind == 'date' else f'values of type {kind}'}"


def judged_as_name(name: str, column: RawColumn, table: str) -> bool:
    """Check if the first values of a column of numbers identify the rows."""
    numbers = column.numbers
    if numbers is None or np.isinf(numbers).any():
        return False
    return judged(name, column, table).is_name


def prepare_on_dask(found: Input, options: Options) -> PreparedTable:
    """Open Parquet files as a Dask data frame; columns are set aside by their types."""
    for role, given in (
        ("samples", options.samples),
        ("transpose", options.transpose or None),
        ("encode", options.encode or None),
    ):
        if given is not None:
            raise ValueError(f"{role} must be left out with engine='dask', got {given!r}")
    if not found.is_parquet:
        raise ValueError(f"engine must be 'auto', 'memory' or 'stream' for {found.name}: Dask reads Parquet files only")
    frame = parquet_frame(found.path)
    account = Account()
    names = [str(name) for name in frame.columns]
    kinds = {str(name): dask_kind(kind) for name, kind in frame.dtypes.items()}
    target = dask_target(kinds, found, options, account)
    columns: list[RawColumn] = [TextColumn(()) for _ in names]
    outline = Outline(RawTable(found.name, names, columns, 0), lambda name: values_on_dask(frame, name), kinds)
    for role, name in options.roles.items():
        find_column(role, name, names, len(names), found.name)
    drop = dask_drop(outline, target, options, account)
    source: Source = open_on_dask(found.path, target, drop, options.weight)
    source.target_name = target
    read = {role: outline.read(name).texts for role, name in options.roles.items() if role != "weight"}
    ids, groups = (np.array([text or "" for text in read[role]]) if role in read else None for role in ("id", "groups"))
    notes = tuple(account.guesses), tuple(account.set_aside), tuple(account.warnings)
    return PreparedTable(source, found.name, target, *notes, groups, ids)


def dask_kind(kind: Any) -> str:
    """Return what columns of a pandas type hold."""
    text = str(kind)
    if text.startswith(("float", "int", "uint", "bool", "Float", "Int", "UInt", "double")):
        return "number"
    if "date" in text or "time" in text:
        return "date"
    return "text" if text.startswith(("object", "str", "category", "large_string")) else text


def dask_target(kinds: dict[str, str], found: Input, options: Options, account: Account) -> str | None:
    """Return the target: the one that was named, or a guess by name or type."""
    names = list(kinds)
    if options.target is not None:
        return names[find_column("target", options.target, names, len(names), found.name)]
    marks = {name: (["a", "b"] * 2 if kind == "text" else ["0", "1"] * 2) for name, kind in kinds.items()}
    free: dict[str, RawColumn] = {
        name: TextColumn(mark) for name, mark in marks.items() if name not in options.roles.values()
    }
    possible = {name: column for name, column in free.items() if kinds[name] in ("text", "number")}
    target = guessed_target(dict(list(possible.items())[:-1]) if kinds[names[-1]] == "number" else possible, found.name, account)
    if target is None and options.needs_target:
        texts = {name: column for name, column in free.items() if kinds[name] == "text"}
        raise no_target(texts, found.name, "")
    return target


def dask_drop(outline: Outline, target: str | None, options: Options, account: Account) -> list[str]:
    """Return the columns that are no features, by their types alone."""
    plain = replace(outline, kinds={name: kind if kind != "text" else "text" for name, kind in outline.kinds.items()})
    return stream_drop(plain, target, options, account)


def values_on_dask(frame: Any, name: str) -> RawColumn:
    """Read one column."""
    values = frame[name].compute()
    return TextColumn([None if value is None or value != value else str(value) for value in values.tolist()])


__all__ = ["JOINED_ID", "prepare_on_dask", "prepare_stream", "should_stream", "some_names"]
