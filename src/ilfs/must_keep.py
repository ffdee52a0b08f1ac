"""Features that a selector must keep, whatever their scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.parameters import is_integer
from ilfs.sources.roles import Column, find_column

MustKeep = Sequence[Column] | None


def forced_columns(must_keep: Any, n_features: int, names: NDArray[Any] | None = None) -> Integers:
    """Find the columns that must be kept.

    Parameters
    ----------
    must_keep : sequence of str or int, str, int or None
        Names or positions; -1 is the last column.
    n_features : int
        Number of columns.
    names : ndarray of str, optional
        Names of the columns, if they have any.

    Returns
    -------
    ndarray of int
        The columns, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.must_keep import forced_columns
    >>> forced_columns(["sex", 0], 3, np.array(["age", "height", "sex"]))
    array([0, 2])
    """
    given = as_list(must_keep)
    known = None if names is None or not given else list(names)
    found: dict[int, Any] = {}
    for one in given:
        column = find_column("must_keep", one, known, n_features, "X")
        if column in found:
            called = str(column) if known is None else repr(str(known[column]))
            raise ValueError(f"must_keep must hold different columns, got {called} twice: leave one out")
        found[column] = one
    return np.array(sorted(found), dtype=np.int64)


def as_list(must_keep: Any) -> list[Any]:
    """Return the given columns as a list; a single name or position is one column.

    Examples
    --------
    >>> from ilfs.must_keep import as_list
    >>> as_list("age"), as_list(None)
    (['age'], [])
    """
    if must_keep is None:
        return []
    if isinstance(must_keep, str) or is_integer(must_keep):
        return [must_keep]
    listed = must_keep.tolist() if hasattr(must_keep, "tolist") else must_keep
    if not isinstance(listed, list | tuple):
        raise TypeError(f"must_keep must be a list of names or positions of columns, got {must_keep!r:.80}")
    return list(listed)


def forced_first(order: Integers, forced: Integers) -> Integers:
    """Move some columns to the beginning of an order; both parts stay in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.must_keep import forced_first
    >>> forced_first(np.array([3, 0, 2, 1]), np.array([1, 2]))
    array([2, 1, 3, 0])
    """
    if not forced.size:
        return order
    is_forced = np.isin(order, forced)
    return np.concatenate([order[is_forced], order[~is_forced]])
