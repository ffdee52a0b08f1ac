"""Token counts under many labellings at once, for log odds and weights of 1.

The log odds of a value are a concave parabola in the value, see `ilfs.kernels.evidence`. So the values that reach a
threshold are those of an interval, and a count of them is a difference of two counts of values above a *cut*, an end of
the interval. Most thresholds have no cut between the smallest and the largest value of a column: then all values reach
them, or none. Under labels that mean nothing, this holds for nearly all thresholds but the one at 1/2.

A column is copied once for all labellings. The values above a cut are a set of bits, one for each row, and so is a
*group*, the rows of one class under one labelling. The rows in both sets are counted 64 at a time. Neighbouring cuts
share one set of bits, to which the few rows between them are added one by one.

Cuts have rounding errors. `ilfs.statistics.tokens.rounding_bound` moves a cut away from values that are half way
between two classes, by more than these errors, so the counts are those of `ilfs.kernels.evidence`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._memory import column_at, count_ones, transpose_eight
from ilfs.kernels.contrast import Contrast
from ilfs.kernels.evidence import log_odds

TILE_COLUMNS = 32  # columns that are copied together: long runs of row-major memory, 2 MB for 8192 rows
WORD = 64  # rows in a word of a set of bits
ROWS_PER_EXTREME = 8 * WORD  # rows that share one load and one store of the smallest and largest values
GAP = 8  # values between two columns of a tile; a power of two apart, columns would compete for one set of the cache
SHARED_ROWS = 32  # cuts share a set of bits if about so many rows, or fewer, are between neighbours


class Workspace(NamedTuple):
    """Memory for the counts of one column.

    An owner 2 c + 1 of a cut adds the values above the cut to count c, an owner 2 c subtracts them.
    """

    cuts: Floats
    owners: Integers
    counts: Integers
    words: NDArray[Any]
    heads: Integers
    next_row: Integers
    extremes: Floats


@kernel
def count_row_major(
    X: NDArray[Any],
    first: int,
    last: int,
    groups: NDArray[Any],
    group_rows: Integers,
    contrast: Contrast,
    place: int,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Count the tokens of columns first:last of a row-major array under many labellings.

    The arrays of contrast are labellings x classes x columns, and place is the position of column first there. Group
    b * n_classes + k, a row of groups, has the rows of class k under labelling b; group_rows are their numbers. Adds
    the weights of the samples that reach each threshold to at_least (labellings x thresholds x columns).
    """
    n_rows, n_padded = X.shape[0], padded(X.shape[0])
    columns = np.full((TILE_COLUMNS, n_padded + GAP), np.nan)
    coefficients = np.empty((TILE_COLUMNS, group_rows.size, 6))
    work = new_workspace(groups, thresholds.size, n_rows)
    for low in range(first, last, TILE_COLUMNS):
        high = min(low + TILE_COLUMNS, last)
        copy_tile(X, low, high, columns)
        copy_coefficients(contrast, place + low - first, high - low, coefficients)
        for j in range(high - low):
            counts_to = at_least[:, :, low - first + j]
            count_column(
                columns[j][:n_padded], n_rows, groups, group_rows, coefficients[j], thresholds, work, counts_to
            )


@kernel
def count_by_column(
    addresses: Integers,
    like: Any,
    n_rows: int,
    groups: NDArray[Any],
    group_rows: Integers,
    contrast: Contrast,
    place: int,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Count the tokens of contiguous columns under many labellings, see `count_row_major`."""
    column = np.full(padded(n_rows), np.nan)
    coefficients = np.empty((TILE_COLUMNS, group_rows.size, 6))
    work = new_workspace(groups, thresholds.size, n_rows)
    for low in range(0, addresses.size, TILE_COLUMNS):
        n_columns = min(TILE_COLUMNS, addresses.size - low)
        copy_coefficients(contrast, place + low, n_columns, coefficients)
        for j in range(n_columns):
            x = column_at(addresses, low + j, like, n_rows)
            for i in range(n_rows):
                column[i] = x[i]
            counts_to = at_least[:, :, low + j]
            count_column(column, n_rows, groups, group_rows, coefficients[j], thresholds, work, counts_to)


@formula
def copy_tile(X: NDArray[Any], low: int, high: int, columns: Floats) -> None:
    """Copy columns low:high of X to the first rows of `columns`."""
    n_rows, n_columns = X.shape[0] - X.shape[0] % 8, (high - low) - (high - low) % 8
    a, b = X.strides[0], columns.strides[0]
    for i in range(0, n_rows, 8):
        for j in range(0, n_columns, 8):
            x, y = X[i:, low + j :].ctypes.data, columns[j:, i:].ctypes.data
            sources = (x, x + a, x + 2 * a, x + 3 * a, x + 4 * a, x + 5 * a, x + 6 * a, x + 7 * a)
            targets = (y, y + b, y + 2 * b, y + 3 * b, y + 4 * b, y + 5 * b, y + 6 * b, y + 7 * b)
            transpose_eight(sources, targets, X[i, low + j])
        for j in range(n_columns, high - low):
            for r in range(i, i + 8):
                columns[j, r] = X[r, low + j]
    for i in range(n_rows, X.shape[0]):
        for j in range(high - low):
            columns[j, i] = X[i, low + j]


@formula
def copy_coefficients(contrast: Contrast, place: int, n_columns: int, coefficients: Floats) -> None:
    """Copy the coefficients of some columns, so that those of a column are neighbours."""
    n_classes = contrast.mean.shape[1]
    for g in range(coefficients.shape[1]):
        b, k = g // n_classes, g % n_classes
        for j in range(n_columns):
            f, c = place + j, coefficients[j, g]
            c[0], c[1], c[2] = contrast.mean[b, k, f], contrast.square[b, k, f], contrast.linear[b, k, f]
            c[3], c[4], c[5] = contrast.constant[b, k, f], contrast.sharpness[b, f], contrast.class_weight[b, k, f]


@formula
def padded(n_rows: int) -> int:
    """Round a number of rows up to a multiple of `ROWS_PER_EXTREME`."""
    return (n_rows + ROWS_PER_EXTREME - 1) // ROWS_PER_EXTREME * ROWS_PER_EXTREME


@formula
def new_workspace(groups: NDArray[Any], n_thresholds: int, n_rows: int) -> Workspace:
    """Allocate memory for the counts of one column."""
    n_counts = groups.shape[0] * n_thresholds
    return Workspace(
        np.empty(2 * n_counts),
        np.empty(2 * n_counts, np.int64),
        np.empty(n_counts, np.int64),
        np.empty((2, groups.shape[1]), np.uint64),
        np.empty(2 * n_counts, np.int64),
        np.empty(n_rows, np.int64),
        np.empty((2, WORD)),
    )


@formula
def count_column(
    x: Floats,
    n_rows: int,
    groups: NDArray[Any],
    group_rows: Integers,
    coefficients: Floats,
    thresholds: Floats,
    work: Workspace,
    at_least: Floats,
) -> None:
    """Count the tokens of one column, which is padded with NaN."""
    smallest, largest, n_present = extreme_values(x, work.extremes)
    if n_present == 0:
        return
    if n_present < n_rows:
        mark_above(x, -np.inf, work.words[0])
    # The standard deviation of the first labelling tells about how many values are between two cuts.
    middle, per_deviation = coefficients[0, 0], np.sqrt(2.0 * coefficients[0, 4])
    n_cuts, c = 0, 0
    for g in range(group_rows.size):
        total = group_rows[g] if n_present == n_rows else rows_in_both(work.words[0], groups[g])
        n_cuts = find_cuts(
            coefficients[g], smallest, largest, total, thresholds, c, n_cuts, work.cuts, work.owners, work.counts
        )
        c += thresholds.size
    sort_cuts(work.cuts[:n_cuts], work.owners[:n_cuts])
    begin = 0
    while begin < n_cuts:
        end = begin + 1
        here = rank_of(work.cuts[begin], middle, per_deviation, n_rows)
        while end < n_cuts:
            there = rank_of(work.cuts[end], middle, per_deviation, n_rows)
            if there - here > SHARED_ROWS:
                break
            here = there
            end += 1
        count_above(x, begin, end, groups, thresholds.size, work)
        begin = end
    n_classes = group_rows.size // at_least.shape[0]
    for g in range(group_rows.size):
        for t in range(thresholds.size):
            at_least[g // n_classes, t] += work.counts[g * thresholds.size + t] * coefficients[g, 5]


@formula
def extreme_values(x: Floats, extremes: Floats) -> tuple[float, float, int]:
    """Return the smallest value, the largest value and the number of values that are not missing."""
    low, high = extremes[0], extremes[1]
    low[:], high[:] = np.inf, -np.inf
    n_present = 0
    for a in range(0, x.size, ROWS_PER_EXTREME):
        eight = x[a : a + ROWS_PER_EXTREME].reshape(8, WORD)
        for i in range(WORD):  # one pair of extremes for each position, so that the loop is vectorised
            smallest, largest = low[i], high[i]
            for r in range(8):
                v = eight[r, i]
                smallest = v if v < smallest else smallest
                largest = v if v > largest else largest
                n_present += 1 if v == v else 0
            low[i], high[i] = smallest, largest
    return low.min(), high.max(), n_present


@formula
def rank_of(x: float, middle: float, per_deviation: float, n_rows: int) -> float:
    """Return about how many values are between the middle and x, for a distribution with heavy tails."""
    z = (x - middle) * per_deviation
    return 0.5 * n_rows * z / (1.0 + abs(z))


@formula
def find_cuts(
    coefficients: Floats,
    smallest: float,
    largest: float,
    total: int,
    thresholds: Floats,
    c: int,
    n_cuts: int,
    cuts: Floats,
    owners: Integers,
    counts: Integers,
) -> int:
    """Find the cuts of a group between the smallest and the largest value; return the number of all cuts so far.

    Begins the counts, from number c on: all values of the group if the smallest one reaches the threshold, or none.
    """
    mean, square, linear, constant = coefficients[0], coefficients[1], coefficients[2], coefficients[3]
    sharpness = coefficients[4]
    left = log_odds(smallest, mean, square, linear, constant, sharpness)
    right = log_odds(largest, mean, square, linear, constant, sharpness)
    for t in range(thresholds.size):
        threshold = thresholds[t]
        begins, ends = left >= threshold, right >= threshold
        counts[c + t] = total if begins else 0
        if begins and ends:  # a concave function that reaches the threshold at both ends reaches it between them
            continue
        if begins == ends and not reaches_inside(
            smallest - mean, largest - mean, square, linear, constant, sharpness, threshold
        ):
            continue
        low, high = roots(square, linear, constant - threshold / sharpness)
        if not begins:
            cuts[n_cuts], owners[n_cuts] = mean + low, 2 * (c + t) + 1
            n_cuts += 1
        if not ends:
            cuts[n_cuts], owners[n_cuts] = mean + high, 2 * (c + t)
            n_cuts += 1
    return n_cuts


@formula
def reaches_inside(
    left: float, right: float, square: float, linear: float, constant: float, sharpness: float, threshold: float
) -> bool:
    """Return whether a concave parabola has its top between two ends, and reaches a threshold there."""
    if square >= 0.0:
        return False
    top = -0.5 * linear / square
    return left < top < right and (constant + 0.5 * linear * top) * sharpness >= threshold


@formula
def roots(square: float, linear: float, constant: float) -> tuple[float, float]:
    """Return the ends of the interval in which square z^2 + linear z + constant >= 0, for square <= 0.

    One of them is infinite if square is 0. The larger root in size is computed first, so that no digits cancel.
    """
    if square == 0.0:
        root = -constant / linear
        return (root, np.inf) if linear > 0.0 else (-np.inf, root)
    apart = np.sqrt(max(linear * linear - 4.0 * square * constant, 0.0))
    half = -0.5 * (linear + apart if linear > 0.0 else linear - apart)
    one = half / square
    other = constant / half if half != 0.0 else 0.0
    return min(one, other), max(one, other)


@formula
def sort_cuts(cuts: Floats, owners: Integers) -> None:
    """Sort cuts with their owners by Shell's method; as a rule there are a few dozen."""
    gap = 1
    while gap < cuts.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, cuts.size):
            cut, owner, a = cuts[i], owners[i], i
            while a >= gap and cuts[a - gap] > cut:
                cuts[a], owners[a] = cuts[a - gap], owners[a - gap]
                a -= gap
            cuts[a], owners[a] = cut, owner
        gap //= 3


@formula
def count_above(x: Floats, begin: int, end: int, groups: NDArray[Any], n_thresholds: int, work: Workspace) -> None:
    """Count the values above each of the sorted cuts begin:end, in the group of the cut."""
    above, is_shared = work.words[0], work.cuts[begin] < work.cuts[end - 1]
    if is_shared:
        mark_above_both(x, work.cuts[end - 1], work.cuts[begin], above, work.words[1])
        list_between(x, work.words[1], above, begin, end, work)
    else:
        mark_above(x, work.cuts[begin], above)
    for i in range(end - 1, begin - 1, -1):
        row = work.heads[i] if is_shared else -1
        while row >= 0:
            above[row // WORD] |= np.uint64(1) << np.uint64(row % WORD)
            row = work.next_row[row]
        c = work.owners[i] // 2
        n = rows_in_both(above, groups[c // n_thresholds])
        work.counts[c] += n if work.owners[i] % 2 else -n


@formula
def list_between(x: Floats, one: NDArray[Any], other: NDArray[Any], begin: int, end: int, work: Workspace) -> None:
    """Make a list of rows for each of the cuts begin:end: those between this cut and the next one.

    The rows are those in set `one` but not in set `other`. A list begins at heads[cut] and ends at -1.
    """
    for i in range(begin, end):
        work.heads[i] = -1
    for w in range(one.size):
        rest = one[w] & ~other[w]
        while rest != np.uint64(0):
            lowest = rest & (~rest + np.uint64(1))
            row = WORD * w + np.int64(count_ones(lowest - np.uint64(1)))
            rest ^= lowest
            below, above = begin, end  # the last cut that the value reaches is in below:above
            while above - below > 1:
                middle = (below + above) // 2
                if x[row] >= work.cuts[middle]:
                    below = middle
                else:
                    above = middle
            work.next_row[row] = work.heads[below]
            work.heads[below] = row


@formula
def mark_above(x: Floats, cut: float, words: NDArray[Any]) -> None:
    """Set the bits of the rows whose value is at least the cut; a missing value is not."""
    for w in range(words.size):
        values = x[WORD * w : WORD * w + WORD]
        word = np.uint64(0)
        for i in range(WORD):
            word |= np.uint64(1) << np.uint64(i) if values[i] >= cut else np.uint64(0)
        words[w] = word


@formula
def mark_above_both(x: Floats, cut: float, other_cut: float, words: NDArray[Any], other_words: NDArray[Any]) -> None:
    """Do the same as `mark_above` for two cuts."""
    for w in range(words.size):
        values = x[WORD * w : WORD * w + WORD]
        word, other = np.uint64(0), np.uint64(0)
        for i in range(WORD):
            word |= np.uint64(1) << np.uint64(i) if values[i] >= cut else np.uint64(0)
            other |= np.uint64(1) << np.uint64(i) if values[i] >= other_cut else np.uint64(0)
        words[w], other_words[w] = word, other


@formula
def rows_in_both(one: NDArray[Any], other: NDArray[Any]) -> int:
    """Return the number of rows in both of two sets of bits."""
    n = np.uint64(0)
    for w in range(one.size):
        n += count_ones(one[w] & other[w])
    return int(n)
