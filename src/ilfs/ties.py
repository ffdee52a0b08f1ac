"""The package's one rule for ties: when two numbers count as equal, and how equal numbers are ordered.

The last bits of a sum depend on the order of its terms, and so on the order of the rows, on how they are cut into
blocks, on sparse or dense storage. An order of features must not depend on them. So two values are *equal* if they
differ by no more than `RELATIVE_TOLERANCE` of the larger one, or by no more than an absolute floor which a method
states for values that would be zero without rounding. Equal values form a group:

- sort the values from the largest on; the first one opens a group;
- all following values that equal the *first* one of the group belong to it; the next value opens a new group.

A group is therefore never wider than the tolerance: thousands of close values do not become one group because each
equals its neighbour. Infinite values equal only themselves. Within a group a second number decides (the tie-break,
compared by the same rule), then the column.

Values are never changed: ``scores_`` keep their last bits, and ``order_`` and ``ranking_`` follow this rule.
"""

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers

# Far above the rounding of sums (1e-13 for a million rows), far below any difference that means something.
RELATIVE_TOLERANCE = 1e-9

# The floor for quantities whose natural size is 1: correlations, fractions of variance, probabilities, bits.
UNIT_FLOOR = 1e-11


def tolerance(values: Floats | float, floor: float = 0.0) -> Floats:
    """How far below each value another one may be and still equal it; 0 for infinite values.

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
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    allowed = tolerance(ordered, floor)
    opens = np.ones(values.size, dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf are equal; a difference may be infinite
        opens[1:] = (ordered[1:] != ordered[:-1]) & ~(ordered[:-1] - ordered[1:] <= allowed[:-1])
    starts = np.flatnonzero(opens)
    stops = np.append(starts[1:], values.size)
    several = stops - starts > 1
    for start, stop in zip(starts[several].tolist(), stops[several].tolist(), strict=True):
        # Neighbours are equal here; a run that is wider than the tolerance is cut into several groups.
        while ordered[start] != ordered[stop - 1] and ordered[start] - ordered[stop - 1] > allowed[start]:
            start += int(np.searchsorted(-ordered[start:stop], allowed[start] - ordered[start], side="right"))
            opens[start] = True
    groups = np.empty(values.size, dtype=np.int64)
    groups[order] = np.cumsum(opens) - 1
    return groups


def stable_order(
    values: Floats, tie_break: Floats | None = None, floor: float = 0.0, tie_break_floor: float = 0.0
) -> NDArray[np.intp]:
    """Indices from the largest value on; equal values by the tie-break, then by index.

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
    groups = tied_groups(values, floor)
    if tie_break is None:
        return np.argsort(groups, kind="stable")
    tied = np.flatnonzero(np.bincount(groups, minlength=1)[groups] > 1)
    second = np.zeros(values.size, dtype=np.int64)
    second[tied] = tied_groups(tie_break[tied], tie_break_floor)
    return np.lexsort([second, groups])


def first_of_largest(values: Floats, floor: float = 0.0) -> int:
    """Index of the first value that equals the largest one.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.ties import first_of_largest
    >>> first_of_largest(np.array([0.1, 0.3, 0.1 + 0.2]))
    1
    """
    largest = values.max()
    return int(np.argmax(values >= largest - tolerance(largest, floor)))
