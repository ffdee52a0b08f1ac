"""Tables that are read in blocks, or on Dask: columns get their roles from their types and from the first rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import VALUE_BYTES
from ilfs.datasets.readers.compressed import PACKED_ENDINGS
from ilfs.importing import check_installed
from ilfs.memory import bytes_of
from ilfs.preparing.choice import possible_features
from ilfs.preparing.features import ENCODE_ADVICE, judged
from ilfs.preparing.inputs import Input, find_input
from ilfs.preparing.options import Account, Options
from ilfs.preparing.outlines import Outline, arrow_outline, outline_of
from ilfs.preparing.patterns import columns_among
from ilfs.preparing.prepared import PreparedTable
from ilfs.preparing.raw_columns import RawColumn
from ilfs.preparing.raw_files import read_raw_table
from ilfs.preparing.samples import best_match, check_match, is_enough
from ilfs.preparing.targets import guessed_target, labels_in, no_target
from ilfs.reading.dask_files import open_on_dask
from ilfs.reading.entry import open_table
from ilfs.reading.paths import parquet_parts
from ilfs.reading.text import COMPRESSION
from ilfs.sources import Source
from ilfs.sources.roles import find_column

COPIES = 4  # of a table in memory: as read, split into columns, as a matrix, and one for the method
STREAMED_ENDINGS = (".feather", ".arrow", ".npy")


def should_stream(found: Input, options: Options) -> bool:
    """Check if a table is to be read in blocks: on request, or because it is too large for the memory."""
    can_stream = found.is_text or found.is_parquet or found.ending in STREAMED_ENDINGS
    if options.engine == "stream" and not can_stream:
        raise ValueError(
            f"engine must be 'auto' or 'memory' for {found.name}, as this format is not read in blocks, got 'stream'"
        )
    if options.engine != "auto" or not can_stream:
        return options.engine == "stream"
    return (found.is_text and len(found.files) > 1) or bytes_needed(found) > bytes_of(options.memory_limit)


def bytes_needed(found: Input) -> int:
    """Estimate the memory that loading a table takes."""
    if found.is_parquet:
        check_installed("pyarrow", "parquet", f"reading {found.name}")
        parts = parquet_parts(found.files)
        for part in parts:
            part.inspect(part.opened())
        return sum(part.n_rows for part in parts) * len(parts[0].schema) * VALUE_BYTES * COPIES
    sizes = [
        file.stat().st_size * (COMPRESSION if file.suffix.lower() in PACKED_ENDINGS else 1) for file in found.files
    ]
    return sum(sizes) * COPIES


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
    check_roles(outline, options)
    target: str | None
    if options.samples is None:
        target, labels, ids = stream_target(outline, options, account), None, None
    else:
        target, labels, ids = sheet_target(outline, options, account)
    drop = stream_drop(outline, None if labels is not None else target, options, account)
    source = opened(found, outline, target if labels is None else labels, drop, options)
    source.target_name = target
    return prepared(source, outline, target, options, account, ids)


def opened(found: Input, outline: Outline, target: Any, drop: Sequence[str], options: Options) -> Source:
    """Open the table; columns of a file without names are given by their positions."""
    names = outline.head.names

    def column(name: Any) -> Any:
        return name if outline.head.has_header or not isinstance(name, str) else names.index(name)

    engine: Any = options.engine
    weight = column(options.weight)
    return open_table(
        found.path, column(target), [column(one) for one in drop], options.memory_limit, weight=weight, engine=engine
    )


def prepared(
    source: Source,
    outline: Outline,
    target: str | None,
    options: Options,
    account: Account,
    ids: NDArray[Any] | None = None,
) -> PreparedTable:
    """Put the result together; names and groups of the rows are read."""
    if options.id is not None and ids is None:
        ids = all_texts(outline, options.id)
    groups = None if options.groups is None else all_texts(outline, options.groups)
    notes = tuple(account.guesses), tuple(account.set_aside), tuple(account.warnings)
    return PreparedTable(source, outline.head.name, target, *notes, groups, ids)


def all_texts(outline: Outline, name: str) -> NDArray[Any]:
    """Read a whole column as text."""
    return np.array([text or "" for text in outline.read(name).texts])


def refuse_for_streams(found: Input, options: Options) -> None:
    """Raise for what needs a table in memory."""
    for role, given in (("transpose", options.transpose), ("encode", options.encode)):
        if given:
            raise ValueError(
                f"{role} must be left out for {found.name}, which is read in blocks: it needs a table in memory, "
                "engine='memory'"
            )


def check_roles(outline: Outline, options: Options) -> None:
    """Raise if a column that was named does not exist."""
    names = outline.head.names
    for role, name in options.roles.items():
        if not (role == "id" and options.samples is not None):  # it may be a column of the sample sheet
            find_column(role, name, names, len(names), outline.head.name)


def stream_target(outline: Outline, options: Options, account: Account) -> str | None:
    """Return the target: the one that was named, or a guess by the first rows."""
    head, wanted = outline.head, options.target
    if wanted is not None:
        if not head.has_header and isinstance(wanted, str) and wanted.lstrip("-").isdecimal():
            wanted = int(wanted)
        return head.names[find_column("target", wanted, head.names, len(head.names), head.name)]
    taken = {*options.roles.values(), *columns_among(options.drop, head.names)}
    free = {name: one for name, one in zip(head.names, head.columns, strict=True) if name not in taken}
    return guess_among(free, head.name, options, account)


def guess_among(free: dict[str, RawColumn], table: str, options: Options, account: Account) -> str | None:
    """Guess the target among columns; raise if there must be one."""
    target = guessed_target(free, table, account)
    if target is None and options.needs_target:
        raise no_target(free, table, "")
    return target


def sheet_target(outline: Outline, options: Options, account: Account) -> tuple[str, NDArray[Any], NDArray[Any]]:
    """Look up the classes of all rows in a sample sheet; return the target, the classes and the names of the rows."""
    sheet = read_raw_table(find_input(str(options.samples)), options, is_sheet=True)
    assert sheet is not None
    head = outline.head
    column = str(options.id) if options.id in head.names else head.names[0]
    ids = all_texts(outline, column)
    match = best_match(sheet, ids.tolist(), options.id if options.id in sheet.names else None)
    if not is_enough(match, sheet) and is_enough(best_match(sheet, head.names, None), sheet):
        raise ValueError(
            f"{head.name} has its samples in columns, so it must be read into memory: raise the limit, "
            "memory_limit='SIZE', or engine='memory'"
        )
    check_match(match, sheet, head, account)
    if match.in_table.size != ids.size:
        raise ValueError(f"samples must have all rows of {head.name}, which is read in blocks, got only some of them")
    free = {name: values for name, values in zip(sheet.names, sheet.columns, strict=True) if name != match.column}
    target = options.target if options.target is not None else guess_among(free, sheet.name, options, account)
    place = find_column("target", target, sheet.names, len(sheet.names), sheet.name)
    labels = labels_in(sheet.columns[place])[match.in_sheet]
    account.put_aside([column], f"names the samples, as in {sheet.name}")
    return sheet.names[place], np.array(labels.tolist()), ids


def stream_drop(outline: Outline, target: str | None, options: Options, account: Account) -> list[str]:
    """Return the columns that are no features, by their types and first rows."""
    aside = {one.name for one in account.set_aside}
    names = [name for name in outline.head.names if name not in aside]
    possible = possible_features(names, target, options, account)
    reasons = {name: why_no_feature(name, outline) for name in possible}
    for name, reason in reasons.items():
        account.put_aside([name] if reason else [], reason)
    with_role = {target, options.weight}
    return [name for name in outline.head.names if name not in with_role and reasons.get(name, "dropped")]


def why_no_feature(name: str, outline: Outline) -> str:
    """Return why a column is no feature; an empty text if it holds numbers. Constants are left to the methods."""
    column, kind = outline.head.column(name), outline.kinds[name]
    if kind == "number":
        return judged_name(name, column, outline.head.name)
    if kind != "text":
        return f"holds {'dates' if kind == 'date' else f'values of type {kind}'}"
    reason = judged(name, column, outline.head.name).reason if len(column) and column.numbers is None else ""
    return reason.removesuffix(ENCODE_ADVICE) or "holds text"


def judged_name(name: str, column: RawColumn, table: str) -> str:
    """Return that a column of numbers identifies the rows, if its first rows do."""
    numbers = column.numbers
    if numbers is None or not numbers.size or np.isinf(numbers).any():
        return ""
    result = judged(name, column, table)
    return result.reason if result.is_name else ""


def prepare_on_dask(found: Input, options: Options) -> PreparedTable:
    """Open Parquet files as a Dask data frame; columns are set aside by their types and first rows."""
    for role, given in (("samples", options.samples), ("transpose", options.transpose), ("encode", options.encode)):
        if given:
            raise ValueError(f"{role} must be left out with engine='dask', got {given!r}")
    if not found.is_parquet:
        raise ValueError(f"engine must be 'auto', 'memory' or 'stream' for {found.name}, as Dask reads Parquet files")
    outline, account = arrow_outline(found), Account()
    check_roles(outline, options)
    target = stream_target(outline, options, account)
    drop = stream_drop(outline, target, options, account)
    source: Source = open_on_dask(found.path, target, drop, options.weight)
    source.target_name = target
    return prepared(source, outline, target, options, account)
