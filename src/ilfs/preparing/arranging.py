"""Rows as samples: tables with genes in rows are transposed, and sample sheets are put beside the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ilfs.preparing.options import Account, Options, some_names
from ilfs.preparing.raw_columns import RawColumn, TextColumn
from ilfs.preparing.raw_table import RawTable, repeated_names
from ilfs.preparing.samples import Match, best_match, check_match, is_enough, r_name, row_labels
from ilfs.preparing.targets import TARGET_NAMES, holds_classes
from ilfs.selected_columns.choice import distinct_names

MIN_NUMBERS = 0.5  # fraction of a column's values that are numbers if it is a sample, not a description of genes
MIN_DIFFERENT = 0.5  # fraction of different texts of a column that names the rows; genes may be repeated
MIN_GENES = 100  # rows from which a table may have genes in rows
MAX_ODD_CELLS = 0.05  # fraction of texts such as "<0.1" among the numbers of a sample
GENES_PER_SAMPLE = 4  # rows for each column from which a table may have genes in rows


@dataclass(frozen=True)
class Arranged:
    """A table whose rows are samples.

    Parameters
    ----------
    table : RawTable
        Its columns are features, or have roles.
    sheet : RawTable, optional
        More columns of the same rows, none of which is a feature.
    """

    table: RawTable
    sheet: RawTable | None = None


def arranged(raw: RawTable, sheet: RawTable | None, options: Options, account: Account) -> Arranged:
    """Arrange a table so that its rows are samples, with those of a sample sheet.

    Parameters
    ----------
    raw : RawTable
        The table as it is in the file.
    sheet : RawTable or None
        The sample sheet.
    options : Options
        What was asked for.
    account : Account
        Gets sentences on what was guessed and left out.

    Returns
    -------
    Arranged
        Table and sheet with the same rows.
    """
    if sheet is not None:
        return with_sheet(raw, sheet, options, account)
    check_columns(raw)
    why = "" if options.transpose is None else "as asked for"
    is_transposed = options.transpose
    if is_transposed is None:
        why = names_in_rows(raw, options)
        is_transposed = bool(why)
    if not is_transposed:
        return Arranged(raw)
    if options.transpose is None:
        account.guesses.append(
            f"{raw.name} has its features in rows ({why}), so it was transposed: transpose=False if not"
        )
    return Arranged(genes_as_columns(raw, options, account))


def check_columns(table: RawTable) -> None:
    """Raise if two columns have the same name."""
    if repeated := repeated_names(table.names):
        raise ValueError(
            f"names of columns of {table.name} must differ, got {some_names(repeated)} more than once: rename them"
        )


def names_in_rows(raw: RawTable, options: Options) -> str:
    """Return why the rows of a table look like features, or an empty text."""
    labels = labels_of(raw, options) if raw.has_header else None
    if labels is None or options.target in raw.names or raw.n_rows < 2:
        return ""
    if isinstance(options.target, str):
        return f"a row is called {options.target!r}" if options.target in labels else ""
    if any(name.lower() in TARGET_NAMES for name in raw.names):
        return ""
    usual = [i for i, name in enumerate(labels) if name.lower() in TARGET_NAMES]
    others = raw.columns if raw.row_names is not None else raw.columns[1:]
    fitting = [i for i in usual if holds_classes(TextColumn([column.texts[i] for column in others]))]
    return f"a row is called {labels[fitting[0]]!r}" if fitting else ""


def looks_like_genes(raw: RawTable, options: Options) -> bool:
    """Check if a table has many more rows than columns, names of rows, and numbers in all other columns."""
    labels = labels_of(raw, options)
    if labels is None or raw.n_rows < max(MIN_GENES, GENES_PER_SAMPLE * len(raw.names)):
        return False
    others = raw.columns if raw.row_names is not None else raw.columns[1:]
    return all(map(holds_numbers, others))


def holds_numbers(column: RawColumn) -> bool:
    """Check if a column holds numbers, with few texts such as *<0.1* among them."""
    if column.numbers is not None or not isinstance(column, TextColumn):
        return column.numbers is not None
    return len(column.odd_values()) <= MAX_ODD_CELLS * len(column)


def labels_of(raw: RawTable, options: Options, is_transposed: bool = False) -> list[str] | None:
    """Return the names of the rows: the id, the column without a name, or a first column of different texts.

    If it is known that features are in rows, the first column names them, whatever it holds.
    """
    if options.id in raw.names:
        return [text or "" for text in raw.column(str(options.id)).texts]
    if raw.row_names is not None:
        return raw.row_names
    texts = [text or "" for text in raw.columns[0].texts]
    if is_transposed:
        return texts
    is_text = raw.columns[0].kind == "text" and raw.columns[0].numbers is None
    return texts if is_text and len(set(texts)) > MIN_DIFFERENT * raw.n_rows else None


def genes_as_columns(raw: RawTable, options: Options, account: Account) -> RawTable:
    """Transpose a table without a sample sheet."""
    labels = labels_of(raw, options, is_transposed=True)
    assert labels is not None
    aside = [] if raw.row_names is not None else [options.id if options.id in raw.names else raw.names[0]]
    body = raw.without([str(one) for one in aside])
    described = [name for name, column in zip(body.names, body.columns, strict=True) if not is_sample(column)]
    account.put_aside(described, "describes the features, which are in rows")
    return renamed(body.without(described), labels, account)


def is_sample(column: RawColumn) -> bool:
    """Check if a column holds numbers, perhaps besides the class of a sample."""
    if column.numbers is not None:
        return True
    if not isinstance(column, TextColumn):
        return False
    return len(column.odd_values()) <= (1 - MIN_NUMBERS) * sum(text is not None for text in column.texts)


def renamed(body: RawTable, labels: Sequence[str], account: Account) -> RawTable:
    """Transpose a table; features with the same name are numbered."""
    if not body.names:
        raise ValueError(f"{body.name} must have columns of numbers besides the names of its rows, got none")
    labels = [label if label else f"row {i}" for i, label in enumerate(labels, start=1)]
    if repeated := repeated_names(labels):
        account.warnings.append(
            f"some features in {body.name} share a name, so they were numbered (a, a.1, a.2): {some_names(repeated)}"
        )
    return body.transposed(distinct_names(labels))


def with_sheet(raw: RawTable, sheet: RawTable, options: Options, account: Account) -> Arranged:
    """Match a table with a sample sheet, whichever of the two ways the table has its samples."""
    check_columns(sheet)
    label, match = best_of(raw, sheet, options, str.strip)
    if not is_enough(match, sheet):
        as_in_r = best_of(raw, sheet, options, r_name)
        label, match = as_in_r if is_enough(as_in_r[1], sheet) else (label, match)
    if not is_enough(match, sheet):
        raise ValueError(no_common_names(raw, sheet, match, options))
    if label is None:
        return samples_in_columns(raw, sheet, match, options, account)
    return samples_in_rows(raw, sheet, label, match, account)


def no_common_names(raw: RawTable, sheet: RawTable, match: Match, options: Options) -> str:
    """Write that too few samples match, with names from the sheet, from the columns and from the rows of the table."""
    listed = sheet.row_names if match.column == "" else sheet.column(match.column).texts
    in_sheet, known = [text for text in listed or () if text is not None], set(match.names)
    column = f" in {match.column!r}" if match.column else ""
    wrong = [name for name in in_sheet if name not in known] or in_sheet
    rows = labels_of(raw, options, is_transposed=True) or []
    names = raw.names if raw.row_names is not None else raw.names[1:]
    names = [name for name in names if name not in set(in_sheet)] or names
    return (
        f"samples must have the names that {raw.name} has, got {match.in_table.size} in common: {sheet.name} has "
        f"{some_names(wrong)}{column}, {raw.name} has {some_names(names)} as columns and {some_names(rows)} as rows"
    )


def best_of(
    raw: RawTable, sheet: RawTable, options: Options, spelling: Callable[[str], str]
) -> tuple[str | None, Match]:
    """Find the names of samples in a table: those of its columns (None), or a column that names its rows."""
    column = options.id if options.id in sheet.names else None
    found: list[tuple[str | None, Match]] = []
    if options.transpose is not True:
        labels = row_labels(raw, options).items()
        found += [(one, best_match(sheet, [text or "" for text in texts], column, spelling)) for one, texts in labels]
    if options.transpose is not False:
        found.append((None, best_match(sheet, raw.names, column, spelling)))
    return max(found, key=lambda one: one[1].in_table.size)


def samples_in_columns(raw: RawTable, sheet: RawTable, match: Match, options: Options, account: Account) -> Arranged:
    """Transpose a table whose columns are the samples of a sheet; the other columns describe the features."""
    labels = labels_of(raw, options, is_transposed=True)
    matched = {raw.names[j] for j in match.in_table.tolist()}
    label = options.id if options.id in raw.names else raw.names[0] if raw.row_names is None else ""
    n_before = raw.names.index(label) + 1 if label in raw.names else 0  # other identifiers of genes may be numbers
    described = [
        name
        for j, (name, column) in enumerate(zip(raw.names, raw.columns, strict=True))
        if name not in matched and (j < n_before or not is_sample(column))
    ]
    samples = [name for name in raw.names if name not in described]
    check_match(replace(match, names=samples), sheet, raw, account)
    if labels is None or label in matched:
        raise ValueError(f"{raw.name} must have a column with the names of its rows beside the samples, got none")
    account.put_aside([name for name in described if name != label], "describes the features, which are in rows")
    if options.transpose is None:
        account.guesses.append(f"{raw.name} has its samples in columns, so it was transposed: transpose=False if not")
    body = raw.without([name for name in raw.names if name not in matched])
    return Arranged(renamed(body, labels, account), sheet_rows(sheet, match))


def samples_in_rows(raw: RawTable, sheet: RawTable, label: str, match: Match, account: Account) -> Arranged:
    """Put a sheet beside a table whose rows are the samples."""
    check_columns(raw)
    check_match(match, sheet, raw, account)
    names = [match.names[i] for i in match.in_table.tolist()]
    table = raw if match.in_table.size == raw.n_rows else raw.take(match.in_table)
    if label:
        account.put_aside([label], f"names the samples, as in {sheet.name}")
        table = table.without([label])
    return Arranged(replace(table, row_names=names), sheet_rows(sheet, match))


def sheet_rows(sheet: RawTable, match: Match) -> RawTable:
    """Return the rows of a sheet in the order of the table, without the names of the samples."""
    rows = sheet.take(np.asarray(match.in_sheet))
    return rows.without([match.column]) if match.column else rows
