"""Checks of the pandas index of labels and weights, which must not be in another order than the rows of X."""

from bisect import bisect_left
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np


def check_same_index(X: Any, other: Any, name: str, table: str = "X", where: str = "") -> None:
    """Raise if labels or weights have a pandas index that differs from that of X: their rows would be misaligned.

    Parameters
    ----------
    X, other : object
        The table, and the labels or weights; only pandas objects have an index.
    name, table : str
        Names of the labels or weights, and of the table, for the message.
    where : str, default=""
        Beginning of the message, such as the number of a block.
    """
    index, expected = row_index(other), row_index(X)
    if index is None or expected is None or len(index) != len(expected):  # other checks compare the numbers of rows
        return
    row = first_difference(index, expected)
    if row is not None:
        raise ValueError(
            f"{where}{name} must have the index of {table}, but row {row} is {python_scalar(index[row])!r} in {name} "
            f"and {python_scalar(expected[row])!r} in {table}: align them, {name}.loc[{table}.index], or pass "
            f"{name}.to_numpy() if the rows have the same order"
        )


def check_position_index(other: Any, name: str) -> None:
    """Raise if labels or weights of a table without an index have a pandas index other than 0, 1, 2, ...

    Such an index comes from a split, a sort or a join, so the rows may be in another order than those of the table.

    Parameters
    ----------
    other : object
        Labels or weights; only pandas objects have an index.
    name : str
        Their name, for the message.

    Examples
    --------
    >>> import pandas as pd
    >>> from ilfs.sources.row_index import check_position_index
    >>> check_position_index(pd.Series(["ill", "well"]), "y")
    >>> check_position_index(pd.Series(["ill", "well"], index=[7, 3]), "y")
    Traceback (most recent call last):
    ...
    ValueError: y must have the index 0, 1, 2, ..., because its rows are matched to those of X by position, but row 0 is
    7: pass y.to_numpy() if its rows have the order of those of X
    """
    index = row_index(other)
    if index is None:
        return
    from pandas import RangeIndex

    row = first_difference(index, RangeIndex(len(index)))
    if row is not None:
        raise ValueError(
            f"{name} must have the index 0, 1, 2, ..., because its rows are matched to those of X by position, but row "
            f"{row} is {python_scalar(index[row])!r}: pass {name}.to_numpy() if its rows have the order of those of X"
        )


def check_row_index(X: Any, other: Any, name: str) -> None:
    """Raise if a pandas index shows that labels or weights of a table that is read in blocks may be misaligned.

    Parameters
    ----------
    X : object
        The table. The names of the observations of an AnnData are its index; other tables have none.
    other : object
        Labels or weights; only pandas objects have an index.
    name : str
        Their name, for the message.
    """
    index, obs = row_index(other), getattr(X, "obs", None)
    if index is None or obs is None or is_default(index):
        check_position_index(other, name)
    else:
        check_same_index(obs, other, name, "X.obs")


def row_index(table: Any) -> Any:
    """Return the index of a pandas object, None for anything else."""
    has_index = nw.dependencies.is_pandas_series(table) or nw.dependencies.is_pandas_dataframe(table)
    return table.index if has_index else None


def is_default(index: Any) -> bool:
    """Check if a pandas index numbers the rows 0, 1, 2, ..."""
    from pandas import RangeIndex

    return bool(index.equals(RangeIndex(len(index))))


def first_difference(one: Any, other: Any) -> int | None:
    """Return the first row in which two pandas indices of the same length differ, None if they are equal."""
    if one.equals(other):
        return None
    row = bisect_left(range(len(one) - 1), True, key=lambda i: not one[: i + 1].equals(other[: i + 1]))
    return None if one[row : row + 1].equals(other[row : row + 1]) else row


def python_scalar(value: Any) -> Any:
    """Convert a NumPy scalar to a Python scalar, whose repr does not show the type."""
    return value.item() if isinstance(value, np.generic) else value
