"""Columns that determine how rows are split: groups of rows that stay together, and given folds.

The readers read such a column like a target, so that every format with columns supports them.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.dataset import Dataset
from ilfs.datasets.naming import Column, Query
from ilfs.datasets.readers import ENDINGS

ARRAY_ENDINGS = (".npz", ".mat")  # formats in which groups and folds are separate arrays, not columns of the features
Read = Callable[[Column | None, tuple[Column, ...]], Dataset]


def with_roles(query: Query, read: Read) -> Dataset:
    """Read a data set with the groups and folds that its name states.

    Parameters
    ----------
    query : Query
        The path and its columns.
    read : callable
        Reads the file, given the target column and the columns to drop.

    Returns
    -------
    Dataset
        The data set; groups and folds are not among its features.
    """
    given = tuple(column for column in (query.groups, query.folds) if column is not None)
    if not given:
        return read(query.target, query.drop)
    taken = () if _is_of_arrays(query.path) else _taken(query, given)
    table = read(query.target, (*query.drop, *taken[1:]))  # taken[0] is the target
    # file=None: the checksum must cover groups and folds, so it is that of the content, not of the file.
    if query.groups is not None:
        table = replace(table, file=None, groups=_codes(_role("groups", query.groups, query, taken, read)))
    if query.folds is not None:
        folds = _role("folds", query.folds, query, taken, read)
        _check_numbers(folds.class_names, query.path)
        table = replace(table, file=None, folds=_codes(folds))
    return table


def _taken(query: Query, given: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the target and the columns of groups and folds, which are not features."""
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
    """Read the file with this column as its target, so that its classes are the groups or folds."""
    try:
        return read(column, (*query.drop, *(other for other in taken if other != column)))
    except ValueError as error:  # the reader's message is about a target and its classes
        called = f"{role} column {column!r} of"
        raise ValueError(str(error).replace("the target of", called).replace("classes", role)) from None


def _codes(table: Dataset) -> NDArray[np.int64]:
    return np.asarray(table.y, dtype=np.int64)


def _check_numbers(names: tuple[str, ...], path: str) -> None:
    """Raise an error for fold numbers with gaps: the test set of split i is fold i."""
    if list(names) not in ([str(i + first) for i in range(len(names))] for first in (0, 1)):
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise ValueError(f"folds of {path} must be numbered 0, 1, 2, ... or 1, 2, 3, ... without gaps, got {shown}")
