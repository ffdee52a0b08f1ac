"""Sample sheets: a table of samples and their classes, matched to an expression table by the names of the samples."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ilfs.arrays import Integers
from ilfs.preparing.options import Account, Options, some_names
from ilfs.preparing.raw_table import RawTable, repeated_names
from ilfs.words import counted

MAX_ID_COLUMNS = 10  # first columns of a table among which names of samples are looked for
MIN_MATCHED = 0.5  # fraction of the names that must match, of the file that has fewer


@dataclass(frozen=True)
class Match:
    """Names of samples in a sheet and in a table that belong together.

    Parameters
    ----------
    column : str
        Column of the sheet that holds the names.
    in_sheet, in_table : ndarray of int
        Positions of the samples in both, in the order of the table.
    names : list of str
        Names of all samples of the table.
    spelling : callable
        Function that makes both spellings of a name equal.
    """

    column: str
    in_sheet: Integers
    in_table: Integers
    names: list[str]
    spelling: Callable[[str], str]


def r_name(name: str) -> str:
    """Format a name as R's ``make.names`` does: ``1-A`` becomes ``X1.A``."""
    name = re.sub(r"[^A-Za-z0-9.]", ".", name.strip())
    return name if re.match(r"[A-Za-z.]", name) else f"X{name}"


def best_match(
    sheet: RawTable, names: Sequence[str], column: str | None, spelling: Callable[[str], str] = str.strip
) -> Match:
    """Find the column of a sheet that holds names of samples.

    Parameters
    ----------
    sheet : RawTable
        The sheet.
    names : sequence of str
        Names of samples in the table.
    column : str, optional
        Column of the sheet, if it is known.
    spelling : callable, default=str.strip
        Function that makes both spellings of a name equal.

    Returns
    -------
    Match
        The one with the most samples; it may be none at all.
    """
    columns = list(sheet.names) if column is None else [column]
    texts = {one: sheet.column(one).texts for one in columns}
    if sheet.row_names is not None and column is None:
        texts = {"": sheet.row_names, **texts}
    spelled = [spelling(name) for name in names]
    found = [_match(one, texts[one], names, spelled, spelling) for one in texts]
    return max(found, key=lambda match: match.in_table.size)  # the first of equal ones


def _match(
    column: str,
    texts: Sequence[str | None],
    names: Sequence[str],
    spelled: Sequence[str],
    spelling: Callable[[str], str],
) -> Match:
    place = {spelling(text): i for i, text in reversed(list(enumerate(texts))) if text is not None}
    in_sheet = np.array([place.get(name, -1) for name in spelled], dtype=np.int64)
    in_table = np.flatnonzero(in_sheet >= 0)
    return Match(column, in_sheet[in_table], in_table, list(names), spelling)


def is_enough(match: Match, sheet: RawTable) -> bool:
    """Check if enough samples of the smaller file are in the other one."""
    return match.in_table.size >= max(1, MIN_MATCHED * min(len(match.names), sheet.n_rows))


def check_match(match: Match, sheet: RawTable, table: RawTable, account: Account) -> None:
    """Raise if too few samples match, or if names occur twice; warn of samples that are in one file only."""
    listed = sheet.row_names if match.column == "" else sheet.column(match.column).texts
    in_sheet = [text for text in listed or () if text is not None]
    only_sheet = _missing(in_sheet, match.names, match.spelling)
    only_table = _missing(match.names, in_sheet, match.spelling)
    n_matched = match.in_table.size
    if n_matched < MIN_MATCHED * min(len(match.names), len(in_sheet)) or not n_matched:
        raise ValueError(
            f"samples must have the names that {table.name} has, got {n_matched} in common between {sheet.name} "
            f"({some_names(only_sheet or in_sheet)}) and {table.name} ({some_names(only_table or match.names)})"
        )
    for names, where in ((in_sheet, sheet), (match.names, table)):
        if repeated := repeated_names(names):
            raise ValueError(f"names of samples in {where.name} must differ, got {some_names(repeated)} more than once")
    for names, here, there in ((only_sheet, sheet, table), (only_table, table, sheet)):
        if names:
            account.warnings.append(
                f"{counted(len(names), 'sample')} of {here.name} left out, as {there.name} has no such names: "
                f"{some_names(names)}"
            )
    if match.spelling is r_name and n_matched:
        account.guesses.append(f"names of samples in {sheet.name} and {table.name} were matched as R spells them")


def _missing(names: Sequence[str], others: Sequence[str], spelling: Callable[[str], str]) -> list[str]:
    known = {spelling(name) for name in others}
    return [name for name in names if spelling(name) not in known]


def row_labels(table: RawTable, options: Options) -> dict[str, Sequence[str | None]]:
    """Return the columns that may name the rows of a table; the names of rows that have no column are first."""
    if options.id in table.names:
        return {str(options.id): table.column(str(options.id)).texts}
    named: dict[str, Sequence[str | None]] = {} if table.row_names is None else {"": table.row_names}
    first = table.columns[:MAX_ID_COLUMNS]
    columns = [column for j, column in enumerate(first) if j == 0 or column.numbers is None]
    return named | {table.names[first.index(column)]: column.texts for column in columns}
