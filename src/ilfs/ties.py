"""The package's one rule for ties: when two numbers count as equal, and how equal numbers are ordered.

The last bits of a sum depend on the order of its terms, and so on the order of the rows, on their division into blocks,
and on sparse or dense storage. An order of features must not depend on any of these. So two values are *equal* if they
differ by no more than `RELATIVE_TOLERANCE` of the larger one, or by no more than an absolute floor, which a method
states for values that would be zero without rounding. Equal values form a group:

- sort the values in descending order; the first one opens a group;
- all following values that equal the *first* one of the group belong to it; the next value opens a new group.

A group is therefore never wider than the tolerance: thousands of close values do not become one group because each
equals its neighbour. Infinite values equal only themselves. Within a group a second number, the tie-break, decides by
the same rule, and then the column.

Values are never changed: ``scores_`` keep their last bits, and ``order_`` and ``ranking_`` follow this rule.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers

# Far above the rounding of sums (1e-13 for a million rows), far below any difference that matters.
RELATIVE_TOLERANCE = 1e-9

# The floor for quantities whose natural size is 1: correlations, fractions of variance, probabilities, bits.
UNIT_FLOOR = 1e-11


def tolerance(values: Floats | float, floor: float = 0.0) -> Floats:
    """Return the tolerance of each value: values that are at most this far below it are equal to it.

    The tolerance of an infinite value is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.ties import tolerance
    >>> tolerance(np.array([2.0, 0.0, np.inf]), floor=1e-12)
    array([2.e-09, 1.e-12, 0.e+00])
    """
    size = np.abs(values, dtype=np.float64)
    return np.where(np.isfinite(size), np.maximum(RELATIVE_TOLERANCE * size, floor), 0.0)


def tied_groups(values: Floats, floor: float = 0.0) -> Integers:
    """Number the groups of equal values, 0 for the largest values.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Any numbers but NaN.
    floor : float, default=0.0
        Values that differ by no more than this are equal however small they are.

    Returns
    -------
    ndarray of shape (n,)
        The group of each value.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.ties import tied_groups
    >>> tied_groups(np.array([0.1 + 0.2, 0.5, 0.3, np.inf]))
    array([2, 1, 2, 0])
    """
    order = np.argsort(-values)
    groups = np.empty(values.size, dtype=np.int64)
    groups[order] = np.cumsum(group_starts(values[order], floor)) - 1
    return groups


def group_starts(falling: Floats, floor: float = 0.0) -> NDArray[np.bool_]:
    """Mark the values that open a group, among values in descending order.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.ties import group_starts
    >>> group_starts(np.array([0.5, 0.1 + 0.2, 0.3, 0.0]))
    array([ True,  True, False,  True])
    """
    allowed = tolerance(falling, floor)
    opens = np.ones(falling.size, dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is NaN, and a difference may overflow
        opens[1:] = (falling[1:] != falling[:-1]) & ~(falling[:-1] - falling[1:] <= allowed[:-1])
    starts = np.flatnonzero(opens)
    ends = np.append(starts, falling.size)[1:] - 1
    # Neighbours in a run are equal; a run that is wider than the tolerance is cut into several groups.
    with np.errstate(invalid="ignore"):
        wide = falling[starts] - falling[ends] > allowed[starts]
    rising = -falling  # searchsorted needs ascending values
    for start, end in zip(starts[wide].tolist(), ends[wide].tolist(), strict=True):
        while falling[start] - falling[end] > allowed[start]:
            start += int(np.searchsorted(rising[start : end + 1], rising[start] + allowed[start], side="right"))
            opens[start] = True
    return opens


def stable_order(
    values: Floats, tie_break: Floats | None = None, floor: float = 0.0, tie_break_floor: float = 0.0
) -> NDArray[np.intp]:
    """Sort indices by descending value, equal values by the tie-break and then by index.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Any numbers but NaN; larger comes first.
    tie_break : ndarray of shape (n,), optional
        Orders equal values; larger comes first.
    floor, tie_break_floor : float, default=0.0
        Values, and tie-breaks, that differ by no more than this are equal however small they are.

    Returns
    -------
    ndarray of shape (n,)
        A permutation of 0, 1, ..., n - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.ties import stable_order
    >>> stable_order(np.array([0.3, 0.1 + 0.2, 0.5]))  # 0.1 + 0.2 is a bit more than 0.3
    array([2, 0, 1])
    """
    order = np.argsort(-values)
    opens = group_starts(values[order], floor)
    if opens.all():
        return order
    closes = np.append(opens, True)[1:]
    places = np.flatnonzero(~(opens & closes))  # positions of values that are not alone in their group
    tied = order[places]
    second = np.zeros(tied.size, np.int64) if tie_break is None else tied_groups(tie_break[tied], tie_break_floor)
    order[places] = tied[np.lexsort([tied, second, np.cumsum(opens)[places]])]
    return order


def first_of_largest(values: Floats, floor: float = 0.0) -> int:
    """Return the index of the first value that equals the largest one.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.ties import first_of_largest
    >>> first_of_largest(np.array([0.1, 0.3, 0.1 + 0.2]))
    1
    """
    largest = float(values.max())
    allowed = max(RELATIVE_TOLERANCE * abs(largest), floor) if math.isfinite(largest) else 0.0
    return int(np.argmax(values >= largest - allowed))
