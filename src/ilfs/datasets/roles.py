"""Columns that are no features but say how rows are split: groups that stay together, and given folds.

A column is read by the readers as they read a target, so that every format that has columns has these too.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ilfs.datasets.naming import Column, Query
from ilfs.datasets.readers import ENDINGS
from ilfs.datasets.table import Table, with_checksum

ARRAY_ENDINGS = (".npz", ".mat")  # where a role is an array of its own, not a column of the features
Read = Callable[[Column | None, tuple[Column, ...]], Table]


def with_roles(query: Query, read: Read) -> Table:
    """Read a data set with the groups and folds that its name asks for.

    Parameters
    ----------
    query : Query
        The path and its columns.
    read : callable
        Reads the table with a column as target and without the columns to drop.

    Returns
    -------
    Table
        Without these columns among its features.
    """
    roles = {"groups": query.groups, "folds": query.folds}
    roles = {role: column for role, column in roles.items() if column is not None}
    if not roles:
        return read(query.target, query.drop)
    taken = () if _is_of_arrays(query.path) else (query.target, *roles.values())
    if None in taken:
        raise ValueError(f"target of {query.path} must be given where {' and '.join(roles)} are, got none")
    others = tuple(column for column in taken if column is not None)
    if repeated := [column for i, column in enumerate(others) if column in others[:i]]:
        raise ValueError(
            f"target, groups and folds of {query.path} must be different columns, got {repeated[0]!r} again"
        )
    table = read(query.target, (*query.drop, *others[1:]))
    found = {role: _role(role, column, query, others, read) for role, column in roles.items()}
    codes = {role: coded.y for role, coded in found.items()}
    if "folds" in found:
        _check_numbers(found["folds"].class_names, query.path)
    return with_checksum(replace(table, **codes))


def _is_of_arrays(path: str) -> bool:
    return path.lower().endswith(ARRAY_ENDINGS) or not path.lower().endswith(ENDINGS)


def _role(role: str, column: Column, query: Query, taken: tuple[Column, ...], read: Read) -> Table:
    """The table whose classes are the values of the column."""
    try:
        found = read(column, (*query.drop, *(other for other in taken if other != column)))
    except ValueError as error:  # the reader speaks of a target and its classes, since it takes the column for one
        called = f"{role} column {column!r} of"
        raise ValueError(str(error).replace("the target of", called).replace("classes", role)) from None
    return replace(found, y=np.asarray(found.y, dtype=np.int64))


def _check_numbers(names: tuple[str, ...], path: str) -> None:
    """Refuse fold numbers with gaps: split i has fold i as its test set."""
    if list(names) not in ([str(i + first) for i in range(len(names))] for first in (0, 1)):
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise ValueError(f"folds of {path} must be numbered 0, 1, 2, ... or 1, 2, 3, ... without gaps, got {shown}")
