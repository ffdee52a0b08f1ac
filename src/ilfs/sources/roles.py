"""Roles of the columns of a table: features, target, weight, and columns to leave out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from os.path import commonprefix
from typing import Any

from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.parameters import is_integer

MAX_NAMES_SHOWN = 5  # columns that a message names; it counts the others
MAX_NAME_LENGTH = 80  # characters of a column's name in a message
MAX_COMPARED = 2000  # names that a wrong name is compared with; each takes some ten microseconds
Column = str | int
Target = Column | Sequence[Column] | None


@dataclass(frozen=True)
class Request:
    """How a table is to be read.

    Parameters
    ----------
    target : str, int or sequence of them, optional
        Column that holds the classes, or several columns of 0 and 1, one for each label.
    drop : sequence of str or int, default=()
        Columns that are not features.
    weight : str or int, optional
        Column that holds the weights of the rows.
    y : ndarray, optional
        Labels of all rows, if the table has none.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of all rows, if the table has none.
    memory_limit : int, optional
        Bytes that the blocks of the table may take.
    name : str, default="X"
        Name of the table in messages.
    """

    target: Target = None
    drop: Sequence[Column] = ()
    weight: Column | None = None
    y: NDArray[Any] | None = field(default=None, repr=False)
    sample_weight: Floats | None = field(default=None, repr=False)
    memory_limit: int | None = None
    name: str = "X"


@dataclass(frozen=True)
class Roles:
    """Positions of the columns of each role.

    Parameters
    ----------
    features, targets : list of int
        Positions of the features and of the columns of labels.
    weight : int or None
        Position of the column of weights.
    is_indicator : bool
        True if the labels are an indicator matrix, even of one column.
    """

    features: list[int]
    targets: list[int]
    weight: int | None
    is_indicator: bool

    @property
    def aside(self) -> list[int]:
        """Positions of the columns that are read besides the features."""
        return [*self.targets, *([] if self.weight is None else [self.weight])]


def find_roles(
    names: Sequence[str] | None,
    n_columns: int,
    target: Target,
    drop: Sequence[Column],
    weight: Column | None,
    table: str,
) -> Roles:
    """Find the columns of each role.

    Parameters
    ----------
    names : sequence of str or None
        Names of the columns, if they have any.
    n_columns : int
        Number of columns.
    target, drop, weight :
        As in `Request`.
    table : str
        Name of the table in messages.

    Returns
    -------
    Roles
        The positions.

    Examples
    --------
    >>> from ilfs.sources.roles import find_roles
    >>> find_roles(["cell", "kind", "size"], 3, "kind", ["cell"], None, "cells.csv")
    Roles(features=[2], targets=[1], weight=None, is_indicator=False)
    """
    if names is not None:
        check_column_names(names, table)
    is_indicator = target is not None and not isinstance(target, str | int)
    wanted: list[Any] = [] if target is None else [target] if isinstance(target, str | int) else list(target)
    targets = [find_column("target", one, names, n_columns, table) for one in wanted]
    dropped = [find_column("drop", one, names, n_columns, table) for one in drop]
    weights = [] if weight is None else [find_column("weight", weight, names, n_columns, table)]
    check_different({"target": targets, "drop": sorted(set(dropped)), "weight": weights}, names, table)
    aside = {*targets, *dropped, *weights}
    features = [j for j in range(n_columns) if j not in aside]
    if not features:
        raise ValueError(f"{table} must have at least one column besides target, weight and dropped columns, got none")
    return Roles(features, targets, weights[0] if weights else None, is_indicator)


def check_column_names(names: Sequence[str], table: str) -> None:
    """Raise if two columns have the same name."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"columns of {table} must have different names, {repeated[0]!r} occurs more than once")


def check_different(columns: dict[str, list[int]], names: Sequence[str] | None, table: str) -> None:
    """Raise if a column has two roles."""
    role_of: dict[int, str] = {}
    for role, positions in columns.items():
        for j in positions:
            if j in role_of:
                both = role if role_of[j] == role else f"{role_of[j]} and {role}"
                called = repr(names[j]) if names is not None else f"column {j}"
                raise ValueError(f"{both} must be different columns of {table}, got {called} twice")
            role_of[j] = role


def find_column(role: str, column: Any, names: Sequence[str] | None, n_columns: int, table: str) -> int:
    """Find the position of a column.

    Parameters
    ----------
    role : str
        Name of the parameter, for messages.
    column : str or int
        Name of the column, or its position from 0 on; -1 is the last.
    names : sequence of str or None
        Names of the columns, if they have any.
    n_columns : int
        Number of columns.
    table : str
        Name of the table in messages.

    Returns
    -------
    int
        Position of the column, from 0 on.
    """
    if isinstance(column, str):
        return named_column(role, column, names, table)
    if not is_integer(column):
        or_none = ", its position or None" if role == "target" else " or its position"
        raise TypeError(f"{role} must be the name of a column{or_none}, got {column!r}")
    if not -n_columns <= column < n_columns:
        raise ValueError(f"{role} must be a position from 0 to {n_columns - 1} in {table}, got {column}")
    position = int(column) % n_columns
    # Names of columns may be numbers, such as Entrez identifiers of genes; a wrong choice would go unnoticed.
    if names is not None and str(column) in names and names[position] != str(column):
        raise ValueError(
            f"{role} must be the name of a column of {table}, as one is called {str(column)!r} "
            f"and another has this position ({names[position]!r}), got {column}"
        )
    return position


def named_column(role: str, column: str, names: Sequence[str] | None, table: str) -> int:
    """Find the position of a column by its name; if there is none, the error suggests similar names."""
    if names is None:
        raise ValueError(f"{role} must be the position of a column, as {table} has no names of columns, got {column!r}")
    if column not in names:
        near = near_names(column, names) or list(names[:3])
        such_as = ", ".join(one[:MAX_NAME_LENGTH] for one in near)
        raise ValueError(f"{role} must be a column of {table} (such as {such_as}), got {column!r}")
    return names.index(column)


def near_names(wrong: str, names: Sequence[str]) -> list[str]:
    """Find at most three names that are similar to a wrong one, whatever their case.

    Examples
    --------
    >>> from ilfs.sources.roles import near_names
    >>> near_names("tp35", ["BRCA1", "TP53"])
    ['TP53']
    """
    given, by_upper = wrong.upper(), {name.upper(): name for name in reversed(names)}
    if given in by_upper:
        return [by_upper[given]]
    likely = sorted(by_upper, key=lambda name: len(commonprefix([name, given])), reverse=True)[:MAX_COMPARED]  # noqa: RUF071
    return [by_upper[match] for match in get_close_matches(given, likely, n=3)]


def refuse_columns(wrong: Sequence[tuple[str, Any]], table: str) -> None:
    """Raise if there are columns, given by name and type, that do not hold numbers."""
    if wrong:
        some = ", ".join(f"{name!r} holds {kind}" for name, kind in wrong[:MAX_NAMES_SHOWN])
        n_more = len(wrong) - MAX_NAMES_SHOWN
        more = f" and {n_more} more columns are not numeric" if n_more > 0 else ""
        raise ValueError(
            f"columns of {table} must hold numbers, {some}{more}: drop them, or convert them to numbers; if one "
            "of them holds the classes, name it as the target"
        )
