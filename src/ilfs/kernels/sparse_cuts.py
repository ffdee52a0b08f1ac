"""Token counts of sparse columns under many labellings at once.

The cuts are those of `ilfs.kernels.cuts`. The sorted cuts of a column divide the numbers into intervals. Each stored
value is put into its interval, and its row is added to the *sums* of this interval: one sum counts the rows that take
part, and one the rows of each class but the first, under each labelling. So a value is read once for all labellings.
All values that are not stored are zeros: their interval gets the rows that are in no other one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.contrast import Contrast
from ilfs.kernels.cuts import TILE_COLUMNS, copy_coefficients, find_cuts, sort_cuts


@kernel
def count_sparse(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    member: NDArray[Any],
    rows: Integers,
    n_classes: int,
    contrast: Contrast,
    place: int,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Count the tokens of sparse columns under many labellings.

    member[i] has what row i adds to each sum: 1 if it takes part, and then, for each labelling, 1 for its class or only
    zeros for the first class. `rows` are the sums over all rows. The arrays of contrast are labellings x classes x
    columns, and place is the position of the first column there. Adds the weights of the samples that reach each
    threshold to at_least (labellings x thresholds x columns).
    """
    n_groups, n_thresholds = at_least.shape[0] * n_classes, thresholds.size
    coefficients = np.empty((TILE_COLUMNS, n_groups, 6))
    n_counts = n_groups * n_thresholds
    cuts, owners, counts = np.empty(2 * n_counts), np.empty(2 * n_counts, np.int64), np.empty(n_counts, np.int64)
    sums, present = np.empty((2 * n_counts + 1, rows.size), np.int32), np.empty(rows.size, np.int64)
    for f in range(indptr.size - 1):
        if f % TILE_COLUMNS == 0:
            copy_coefficients(contrast, place + f, min(TILE_COLUMNS, indptr.size - 1 - f), coefficients)
        column = coefficients[f % TILE_COLUMNS]
        values, at = data[indptr[f] : indptr[f + 1]], indices[indptr[f] : indptr[f + 1]]
        smallest, largest = present_values(values, at, member, rows, present)
        if smallest > largest:  # all values are missing
            continue
        n_cuts = 0
        for g in range(n_groups):
            total = rows_of_group(present, g, n_classes)
            n_cuts = find_cuts(
                column[g], smallest, largest, total, thresholds, g * n_thresholds, n_cuts, cuts, owners, counts
            )
        if n_cuts > 0:
            sort_cuts(cuts[:n_cuts], owners[:n_cuts])
            add_to_intervals(values, at, member, cuts[:n_cuts], present, sums)
            count_above(owners[:n_cuts], sums, n_classes, n_thresholds, counts)
        for g in range(n_groups):
            for t in range(n_thresholds):
                at_least[g // n_classes, t, f] += counts[g * n_thresholds + t] * column[g, 5]


@formula
def present_values(
    values: NDArray[Any], at: NDArray[Any], member: NDArray[Any], rows: Integers, present: Integers
) -> tuple[float, float]:
    """Set `present` to the sums over the rows whose value is not missing; return their smallest and largest value."""
    smallest, largest, n_stored, n_missing = np.inf, -np.inf, 0, 0
    for a in range(values.size):
        if member[at[a], 0] > 0:
            v = float(values[a])
            smallest = v if v < smallest else smallest
            largest = v if v > largest else largest
            n_stored += 1
            n_missing += 1 if v != v else 0
    if n_stored < rows[0]:
        smallest, largest = min(smallest, 0.0), max(largest, 0.0)
    for s in range(rows.size):
        present[s] = rows[s]
    for a in range(values.size if n_missing else 0):
        if values[a] != values[a]:
            for s in range(rows.size):
                present[s] -= member[at[a], s]
    return smallest, largest


@formula
def rows_of_group(sums: NDArray[Any], g: int, n_classes: int) -> int:
    """Return the number of rows of group g, which is labelling * n_classes + class, from the sums of these rows."""
    first, k = 1 + g // n_classes * (n_classes - 1), g % n_classes
    if k > 0:
        return int(sums[first + k - 1])
    n = int(sums[0])
    for s in range(first, first + n_classes - 1):
        n -= sums[s]
    return n


@formula
def add_to_intervals(
    values: NDArray[Any], at: NDArray[Any], member: NDArray[Any], cuts: Floats, present: Integers, sums: NDArray[Any]
) -> None:
    """Sum the rows of the values in each interval; interval i + 1 is above cut i."""
    n_sums = present.size
    sums[: cuts.size + 1] = 0
    for a in range(values.size):
        v = float(values[a])
        if v == v:
            here, row = sums[cuts_reached(cuts, v)], member[at[a]]
            for s in range(n_sums):
                here[s] += row[s]
    of_zeros = cuts_reached(cuts, 0.0)
    for s in range(n_sums):
        unstored = present[s]
        for i in range(cuts.size + 1):
            unstored -= sums[i, s]
        sums[of_zeros, s] += unstored


@formula
def cuts_reached(cuts: Floats, value: float) -> int:
    """Return the number of sorted cuts that a value reaches."""
    # Binary search without branches, which would often be predicted wrongly.
    low, n = 0, cuts.size
    while n > 1:
        half = n // 2
        low += half if cuts[low + half - 1] <= value else 0
        n -= half
    return low + (1 if cuts[low] <= value else 0)


@formula
def count_above(owners: Integers, sums: NDArray[Any], n_classes: int, n_thresholds: int, counts: Integers) -> None:
    """Count the values above each cut, in the group of the cut; changes the sums of an interval to those above it."""
    for i in range(owners.size - 1, -1, -1):
        above, c = sums[i + 1], owners[i] // 2
        if i + 2 <= owners.size:
            for s in range(above.size):
                above[s] += sums[i + 2, s]
        n = rows_of_group(above, c // n_thresholds, n_classes)
        counts[c] += n if owners[i] % 2 else -n
