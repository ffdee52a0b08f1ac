"""Columns that are no features but say how rows are split: groups that stay together, and given folds.

A column is read by the readers as they read a target, so that every format that has columns has these too.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.dataset import Dataset, with_checksum
from ilfs.datasets.naming import Column, Query
from ilfs.datasets.readers import ENDINGS

ARRAY_ENDINGS = (".npz", ".mat")  # where a role is an array of its own, not a column of the features
Read = Callable[[Column | None, tuple[Column, ...]], Dataset]


def with_roles(query: Query, read: Read) -> Dataset:
    """Read a data set with the groups and folds that its name asks for.

    Parameters
    ----------
    query : Query
        The path and its columns.
    read : callable
        Reads the table with a column as target and without the columns to drop.

    Returns
    -------
    Dataset
        Without these columns among its features.
    """
    given = tuple(column for column in (query.groups, query.folds) if column is not None)
    if not given:
        return read(query.target, query.drop)
    taken = () if _is_of_arrays(query.path) else _taken(query, given)
    table = read(query.target, (*query.drop, *taken[1:]))
    if query.groups is not None:
        table = replace(table, groups=_codes(_role("groups", query.groups, query, taken, read)))
    if query.folds is not None:
        folds = _role("folds", query.folds, query, taken, read)
        _check_numbers(folds.class_names, query.path)
        table = replace(table, folds=_codes(folds))
    return with_checksum(table)


def _taken(query: Query, given: tuple[Column, ...]) -> tuple[Column, ...]:
    """The target and the other columns that are no features."""
    if query.target is None:
        raise ValueError(f"target of {query.path} must be given where groups or folds are, got none")
    taken = (query.target, *given)
    if repeated := [column for i, column in enumerate(taken) if column in taken[:i]]:
        raise ValueError(
            f"target, groups and folds of {query.path} must be different columns, got {repeated[0]!r} again"
        )
    return taken


def _is_of_arrays(path: str) -> bool:
    return path.lower().endswith(ARRAY_ENDINGS) or not path.lower().endswith(ENDINGS)


def _role(role: str, column: Column, query: Query, taken: tuple[Column, ...], read: Read) -> Dataset:
    """The table whose classes are the values of the column."""
    try:
        return read(column, (*query.drop, *(other for other in taken if other != column)))
    except ValueError as error:  # the reader speaks of a target and its classes, since it takes the column for one
        called = f"{role} column {column!r} of"
        raise ValueError(str(error).replace("the target of", called).replace("classes", role)) from None


def _codes(table: Dataset) -> NDArray[np.int64]:
    return np.asarray(table.y, dtype=np.int64)


def _check_numbers(names: tuple[str, ...], path: str) -> None:
    """Refuse fold numbers with gaps: split i has fold i as its test set."""
    if list(names) not in ([str(i + first) for i in range(len(names))] for first in (0, 1)):
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise ValueError(f"folds of {path} must be numbered 0, 1, 2, ... or 1, 2, 3, ... without gaps, got {shown}")
