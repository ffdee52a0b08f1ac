"""Tables in memory: roles of their columns, features, and the source made of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.preparing.arranging import Arranged, arranged, looks_like_genes
from ilfs.preparing.choice import possible_features
from ilfs.preparing.features import encoded, encoded_reason, judged, spreadsheet_warnings
from ilfs.preparing.leaks import leak_warnings, same_partition
from ilfs.preparing.options import Account, Options, some_names
from ilfs.preparing.patterns import columns_among
from ilfs.preparing.prepared import PreparedTable
from ilfs.preparing.raw_columns import RawColumn
from ilfs.preparing.raw_table import RawTable
from ilfs.preparing.targets import check_classes, guessed_target, kept_rows, labels_in, no_target, text_labels
from ilfs.sources import table_source
from ilfs.sources.roles import find_column

MIN_ROWS = 2
GENES_ADVICE = "; its features seem to be in rows, so name a table of the samples and their classes: samples='FILE'"


def prepare_loaded(raw: RawTable, sheet: RawTable | None, options: Options) -> PreparedTable:
    """Make a table in memory ready for ``fit``.

    Parameters
    ----------
    raw : RawTable
        The table as it is in the file.
    sheet : RawTable or None
        The sample sheet.
    options : Options
        What was asked for.

    Returns
    -------
    PreparedTable
        The table.
    """
    account = Account(guesses=list(raw.notes))
    if raw.n_rows < MIN_ROWS:
        raise ValueError(f"{raw.name} must have at least {MIN_ROWS} rows, got {raw.n_rows}")
    both = arranged(raw, sheet, options, account)
    roles = find_roles(both, options)
    columns = role_columns(both, roles)
    target = chosen_target(both, roles, options, account, raw)
    labels = None if target is None else labels_in(column_in(both, target))
    raw_labels = () if labels is None else labels
    rows = None if labels is None or target is None else kept_rows(labels, target, raw.name, account)
    if rows is not None and labels is not None:
        labels, both = labels[rows], taken(both, rows)
        columns = role_columns(both, roles)
    if labels is not None and target is not None:
        n_given, labels = len(raw_labels), text_labels(labels)
        check_classes(labels, target, raw.name, account, n_given - labels.size)
    return assembled(both, columns, labels, target, options, account)


def find_roles(both: Arranged, options: Options) -> dict[str, str]:
    """Find the columns of id, weight and groups, in the sheet or in the table."""
    roles = {}
    for role, name in options.roles.items():
        if role == "id" and name not in both.table.names and (both.sheet is None or both.table.row_names is not None):
            if both.table.row_names is None:
                find_column(role, name, both.table.names, len(both.table.names), both.table.name)
            continue  # it has given the names of the rows, or of the features
        find_in_both(role, name, both)
        roles[role] = name
    if repeated := [name for name in roles.values() if list(roles.values()).count(name) > 1]:
        raise ValueError(f"id, weight and groups must be different columns, got {repeated[0]!r} twice")
    return roles


def find_in_both(role: str, name: Any, both: Arranged) -> str:
    """Find a column in the sheet or the table; raise an error that suggests similar names if it is in neither."""
    if both.sheet is not None and name in both.sheet.names:
        return str(name)
    table = both.table
    if both.sheet is not None and name not in table.names:
        find_column(role, name, both.sheet.names, len(both.sheet.names), both.sheet.name)
    if not table.has_header and isinstance(name, str) and name.lstrip("-").isdecimal():
        name = int(name)
    return table.names[find_column(role, name, table.names, len(table.names), table.name)]


def column_in(both: Arranged, name: str) -> RawColumn:
    """Return a column of the sheet, or of the table."""
    return both.sheet.column(name) if both.sheet is not None and name in both.sheet.names else both.table.column(name)


def role_columns(both: Arranged, roles: Mapping[str, str]) -> dict[str, RawColumn]:
    """Return the columns of the roles."""
    return {role: column_in(both, name) for role, name in roles.items()}


def chosen_target(
    both: Arranged, roles: Mapping[str, str], options: Options, account: Account, raw: RawTable
) -> str | None:
    """Return the name of the target: the one that was named, or a guess."""
    if options.target is not None:
        advise_sheet(both, options, raw)
        name = find_in_both("target", options.target, both)
        if name in roles.values():
            raise ValueError(f"target must be a column without another role, got {name!r} for both")
        return name
    where = both.table if both.sheet is None else both.sheet
    taken_names = {*roles.values(), *columns_among(options.drop, where.names)}
    free = {name: column for name, column in zip(where.names, where.columns, strict=True) if name not in taken_names}
    target = guessed_target(free, where.name, account)
    if target is None and options.needs_target:
        advice = GENES_ADVICE if both.sheet is None and looks_like_genes(raw, options) else one_value_note(free)
        raise no_target(free, where.name, advice)
    return target


def advise_sheet(both: Arranged, options: Options, raw: RawTable) -> None:
    """Raise an error that asks for a sample sheet if the target is no column of a table with features in rows."""
    is_known = options.target in both.table.names or not isinstance(options.target, str)
    if both.sheet is None and not is_known and looks_like_genes(raw, options):
        raise ValueError(f"target must be a column of {raw.name}, got {options.target!r}{GENES_ADVICE}")


def one_value_note(columns: Mapping[str, RawColumn]) -> str:
    """Write which columns have only one value, so that they cannot hold the classes; empty if there are none."""
    constant = [name for name, column in columns.items() if len(column.distinct(1) or ()) == 1]
    return f"; {some_names(constant)} {'has' if len(constant) == 1 else 'have'} only one value" if constant else ""


def taken(both: Arranged, rows: NDArray[np.int64]) -> Arranged:
    """Return only some rows."""
    return Arranged(both.table.take(rows), None if both.sheet is None else both.sheet.take(rows))


def assembled(
    both: Arranged,
    columns: Mapping[str, RawColumn],
    labels: NDArray[Any] | None,
    target: str | None,
    options: Options,
    account: Account,
) -> PreparedTable:
    """Choose the features and make the source."""
    names = feature_columns(both, target, options, account)
    features, ids = collected(both.table, names, options, account)
    if not features:
        raise ValueError(
            f"{both.table.name} must have at least one column of numbers that vary, got none{why(account)}"
        )
    X, called = np.stack(list(features.values())).T, list(features)
    weight = None if "weight" not in columns else weights_in(columns["weight"], str(options.weight), both.table.name)
    if labels is not None:
        account.warnings += leak_warnings(X, called, labels, target)
        account.warnings += same_partition(left_out(both, features, {target, options.weight}), labels, target)
    account.warnings += spreadsheet_warnings(called)
    source = table_source(X, labels, weight, called)
    source.target_name = target
    given = columns.get("id")
    return PreparedTable(
        source,
        both.table.name,
        target,
        tuple(account.guesses),
        tuple(account.set_aside),
        tuple(account.warnings),
        None if "groups" not in columns else group_values(columns["groups"], str(options.groups), both.table.name),
        ids_of(both.table.row_names if given is None else given.texts, ids),
    )


def feature_columns(both: Arranged, target: str | None, options: Options, account: Account) -> list[str]:
    """Return the columns of the table that may be features; those of the sheet are none."""
    others = [] if both.sheet is None else both.sheet.names
    with_role = {target, *options.roles.values()}
    account.put_aside([name for name in others if name not in with_role], "is a column of the sample sheet")
    return possible_features(both.table.names, target, options, account, others)


def collected(
    table: RawTable, names: Sequence[str], options: Options, account: Account
) -> tuple[dict[str, NDArray[Any]], RawColumn | None]:
    """Return the values of the features, and the first column that identifies the rows."""
    features: dict[str, NDArray[Any]] = {}
    ids: RawColumn | None = None
    wanted = set(names)
    for name, column in zip(table.names, table.columns, strict=True):
        if name not in wanted:
            continue
        result = judged(name, column, table.name, table.row_names)
        if result.values is not None:
            features[name] = result.values
            continue
        values = encoded(name, column) if options.encode and result.is_category else {}
        features |= values
        account.put_aside([name], encoded_reason(list(values)) if values else result.reason)
        if result.is_name:
            ids = column if ids is None else ids
    return features, ids


def why(account: Account) -> str:
    """Write why some columns are set aside, for the message that no feature is left."""
    if not account.set_aside:
        return ""
    return ": " + "; ".join(f"{one.name!r} {one.reason}" for one in account.set_aside[:3])


def left_out(both: Arranged, features: Collection[str], others: Collection[Any]) -> dict[str, RawColumn]:
    """Return the columns of table and sheet that are neither features nor others: dropped ones, text and groups."""
    tables = [both.table] if both.sheet is None else [both.table, both.sheet]
    pairs = [pair for table in tables for pair in zip(table.names, table.columns, strict=True)]
    return {name: column for name, column in pairs if name not in features and name not in others}


def weights_in(column: RawColumn, name: str, table: str) -> NDArray[np.float64]:
    """Return the weights of the rows."""
    values = column.numbers
    if values is None or not np.isfinite(values).all() or (values < 0).any():
        wrong = next((text for text in column.texts if text is None or not is_weight(text)), None)
        raise ValueError(f"weight must hold numbers >= 0, got {wrong!r} in {name!r} of {table}")
    if not values.any():
        raise ValueError(f"weight must be positive in some rows, got only 0 in {name!r} of {table}")
    return values.astype(np.float64)


def is_weight(text: str) -> bool:
    """Check if a text is a finite number >= 0."""
    try:
        return 0 <= float(text) < float("inf")
    except ValueError:
        return False


def group_values(column: RawColumn, name: str, table: str) -> NDArray[Any]:
    """Return the group of each row as text."""
    missing = [i for i, text in enumerate(column.texts, start=1) if text is None]
    if missing:
        rows = some_names([str(i) for i in missing])
        raise ValueError(f"groups must have a value in every row, got none in {name!r} of {table} in row {rows}")
    return np.array(column.texts)


def ids_of(texts: Sequence[str | None] | None, column: RawColumn | None) -> NDArray[Any] | None:
    """Return the names of the rows, from a role or from a column that identifies them."""
    found = texts if texts is not None else None if column is None else column.texts
    return None if found is None else np.array(["" if text is None else text for text in found])
