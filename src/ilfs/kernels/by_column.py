"""Moments and token counts of columns that are each contiguous in memory, and copies of them.

Rows are summed in the order of the row-major kernels, and with their formulas, so the results have the same bits. For
this, eight columns at a time are copied into *groups*: eight rows of a class side by side. With r the rank of a row in
its class, its values are in line r % 8 of the group r // 8, and the same lines of all groups are neighbours::

    groups[0]:  row 0 of group 0 (8 columns), row 0 of group 1 (8 columns), ...
    groups[1]:  row 1 of group 0 (8 columns), row 1 of group 1 (8 columns), ...

This array has the form of a row-major table of eight rows, with one column (a *lane*) for each group and column. So
the formulas for eight rows of a table sum all groups in one long loop, which the compiler vectorises. The copy of eight
columns takes half a megabyte per 8192 rows and stays in the second-level cache.

All weights are 1 here. The gap after the last row of a class is filled with NaN, which adds nothing to any sum. The
moments of a class are first computed as if nothing was missing, in half the time. If a sum is then NaN, they are
computed again by the formulas that leave out missing values.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._group_sums import add_deviations
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._memory import CACHE_LINE_BYTES, column_at, prefetch, transpose_eight
from ilfs.kernels._sizes import GROUP_ROWS
from ilfs.kernels.contrast import Contrast
from ilfs.kernels.evidence import THRESHOLDS_PER_SWEEP, count_fractions, count_odds
from ilfs.kernels.moments import add_rows, centre

GROUP_COLUMNS = 8  # columns copied together: one row of them fills a cache line; the loops are written out for eight
LANES = 256  # lanes summed at a time: a long loop for each check of overlaps, but few copies of the coefficients
# Bytes of a column that are requested ahead: the processor itself does not read ahead beyond the end of a page.
PREFETCHED_BYTES = 1024
COPIED_ROWS = 64  # rows of a tile that is copied to a row-major array
LINES = (0, 1, 2, 3, 4, 5, 6, 7)
UNIT_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


@formula
def prefetch_columns(addresses: Integers, low: int) -> None:
    """Start to load the first rows of eight columns from number `low` on, while the columns before are summed."""
    for j in range(low, min(low + GROUP_COLUMNS, addresses.size)):
        for offset in range(0, PREFETCHED_BYTES, CACHE_LINE_BYTES):
            prefetch(addresses[j] + offset)


@formula
def eight_addresses(addresses: Integers, low: int) -> tuple[int, ...]:
    """Return the addresses of eight columns from number `low` on; the last column fills the gap."""
    last = addresses.size - 1
    return (
        addresses[low], addresses[min(low + 1, last)], addresses[min(low + 2, last)], addresses[min(low + 3, last)],
        addresses[min(low + 4, last)], addresses[min(low + 5, last)], addresses[min(low + 6, last)],
        addresses[min(low + 7, last)],
    )  # fmt: skip


@formula
def plus(base: tuple[int, ...], offset: int) -> tuple[int, ...]:
    """Add an offset to eight addresses."""
    a, b, c, d, e, f, g, h = base
    return a + offset, b + offset, c + offset, d + offset, e + offset, f + offset, g + offset, h + offset


@formula
def eight_lines(groups: int, line: Integers) -> tuple[int, ...]:
    """Return the addresses of the lines of eight rows in the groups at an address."""
    b = CACHE_LINE_BYTES
    return (
        groups + b * line[0], groups + b * line[1], groups + b * line[2], groups + b * line[3],
        groups + b * line[4], groups + b * line[5], groups + b * line[6], groups + b * line[7],
    )  # fmt: skip


@formula
def fill_groups(addresses: Integers, like: Any, low: int, place: Integers, groups: Floats) -> None:
    """Copy eight columns from number `low` on into groups; place[i] is the place of row i."""
    n, start, columns = place.size, groups.ctypes.data, eight_addresses(addresses, low)
    itemsize = column_at(addresses, low, like, n).itemsize
    # Rows of eight places: their indices are constant, so that none is checked for being negative.
    eights = place[: n - n % 8].reshape(n // 8, 8)
    for i in range(n // 8):
        offset = itemsize * 8 * i
        if offset % CACHE_LINE_BYTES == 0:
            for address in plus(columns, offset + PREFETCHED_BYTES):
                prefetch(address)
        transpose_eight(plus(columns, offset), eight_lines(start, eights[i]), like)
    for j in range(GROUP_COLUMNS):
        x = column_at(addresses, low + j, like, n)
        for i in range(n - n % 8, n):
            groups[GROUP_COLUMNS * place[i] + j] = x[i]


@formula
def empty_groups(n_places: int) -> Floats:
    """Allocate groups; lines that no row fills stay NaN."""
    n_values = GROUP_ROWS * n_places * GROUP_COLUMNS
    groups = np.full(n_values + GROUP_COLUMNS, np.nan)
    skipped = -groups.ctypes.data % CACHE_LINE_BYTES // groups.itemsize  # a line of a group is one line of the cache
    return groups[skipped : skipped + n_values]


@kernel
def column_moments(
    addresses: Integers,
    like: Any,
    place: Integers,
    starts: Integers,
    n_places: int,
    count: Floats,
    mean: Floats,
    scatter: Floats,
    zeros: Any = None,
    negative: Any = None,
) -> None:
    """Compute count, mean and scatter (each classes x columns) of the columns at some addresses.

    `like` is any number of the type of the values. Groups starts[k]:starts[k + 1] of the n_places groups belong to
    class k, and place[i] is the place of row i, see `RowLabels.groups`. If arrays are given for them, also count the
    zeros (classes x columns), and set `negative` (columns) to 1 where a value is negative.
    """
    groups = empty_groups(n_places)
    lines = groups.reshape(GROUP_ROWS, n_places * GROUP_COLUMNS)
    pivot, parts, sums = np.empty(LANES), np.empty((3, LANES)), np.empty((3, GROUP_COLUMNS))
    for low in range(0, addresses.size, GROUP_COLUMNS):
        fill_groups(addresses, like, low, place, groups)
        prefetch_columns(addresses, low + GROUP_COLUMNS)
        for k in range(starts.size - 1):
            begin, end = GROUP_COLUMNS * starts[k], GROUP_COLUMNS * starts[k + 1]
            if begin == end:
                continue
            repeat_pivots(lines, begin, end, pivot)
            sums[:] = 0.0
            add_complete(lines, begin, starts[k + 1] - starts[k] - 1, pivot, sums)
            add_incomplete(lines, end - GROUP_COLUMNS, end, pivot, parts, sums)  # the last group may have a gap
            if np.isnan(sums[1].sum()):
                sums[:] = 0.0
                for left in range(begin, end, LANES):
                    add_incomplete(lines, left, min(left + LANES, end), pivot, parts, sums)
            n_columns = min(GROUP_COLUMNS, addresses.size - low)
            for j in range(n_columns):
                centre(k, low + j, sums[0, j], pivot[j], sums[1, j], sums[2, j], count, mean, scatter)
            if zeros is not None:
                add_signs(lines, begin, end, parts, zeros[k, low : low + n_columns], negative[low : low + n_columns])


@formula
def add_signs(lines: Floats, begin: int, end: int, parts: Floats, zeros: Floats, negative: Floats) -> None:
    """Add the zeros in lanes begin:end to those of their columns, and set `negative` to 1 where a value is negative."""
    n_small = 0
    for r in range(GROUP_ROWS):
        x = lines[r, begin:end]
        for lane in range(end - begin):  # a sum of integers, which the compiler vectorises; NaN is not counted
            n_small += x[lane] <= 0.0
    if n_small == 0:  # as in most tables of positive values
        return
    parts[:2] = 0.0
    for left in range(begin, end, LANES):
        n_lanes = min(LANES, end - left)
        for r in range(GROUP_ROWS):
            x, n_zero, n_negative = lines[r, left : left + n_lanes], parts[0], parts[1]
            for lane in range(n_lanes):
                n_zero[lane] += x[lane] == 0.0
                n_negative[lane] += x[lane] < 0.0
    for lane in range(LANES):
        j = lane % GROUP_COLUMNS
        if j < zeros.size:
            zeros[j] += parts[0, lane]
            negative[j] = 1.0 if parts[1, lane] > 0.0 else negative[j]


@formula
def add_complete(lines: Floats, begin: int, n_groups: int, pivot: Floats, sums: Floats) -> None:
    """Add groups without a gap, from lane `begin` on; a missing value makes its sums NaN."""
    if n_groups > 0:
        start = lines.ctypes.data + begin * lines.itemsize
        add_deviations(start, lines.strides[0], n_groups, pivot.ctypes.data, sums[1:].ctypes.data)
        sums[0] += GROUP_ROWS * n_groups


@formula
def add_incomplete(lines: Floats, left: int, right: int, pivot: Floats, parts: Floats, sums: Floats) -> None:
    """Add at most `LANES` lanes of groups in which values may be missing."""
    parts[:, : right - left] = 0.0
    add_rows(lines, LINES, UNIT_WEIGHTS, left, right, pivot, parts)
    add_groups(parts, right - left, sums)


@formula
def repeat_pivots(lines: Floats, begin: int, end: int, pivot: Floats) -> None:
    """Repeat the pivot of each column for all lanes: its first value in lanes begin:end that is not missing, or NaN."""
    n_lanes = min(LANES, end - begin)
    for j in range(GROUP_COLUMNS):
        x = np.nan
        for lane in range(begin + j, end, GROUP_COLUMNS):
            for r in range(GROUP_ROWS):
                if x != x:  # NaN differs from itself
                    x = lines[r, lane]
            if x == x:
                break
        for lane in range(j, n_lanes, GROUP_COLUMNS):
            pivot[lane] = x


@formula
def add_groups(parts: Floats, n_lanes: int, sums: Floats) -> None:
    """Add the sums of groups to those of their columns, one group after the other."""
    groups = parts.reshape(parts.shape[0], LANES // GROUP_COLUMNS, GROUP_COLUMNS)
    for i in range(groups.shape[0]):
        s = sums[i]
        # Eight scalars stay in registers. Indices are constant, so that none is checked for being negative.
        s0, s1, s2, s3, s4, s5, s6, s7 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
        for g in range(n_lanes // GROUP_COLUMNS):
            x = groups[i, g]
            s0, s1, s2, s3 = s0 + x[0], s1 + x[1], s2 + x[2], s3 + x[3]
            s4, s5, s6, s7 = s4 + x[4], s5 + x[5], s6 + x[6], s7 + x[7]
        s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] = s0, s1, s2, s3, s4, s5, s6, s7


def column_tokens(
    addresses: Integers,
    like: Any,
    place: Integers,
    starts: Integers,
    n_places: int,
    contrast: Contrast,
    is_fraction: bool,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Add the weight of the samples that reach each threshold to at_least (thresholds x columns).

    See `column_moments` for the first five arguments and `ilfs.kernels.evidence.dense_tokens` for the others.
    """
    # None has a type of its own, for which Numba does not compile the loop over fractions.
    count_columns(addresses, like, place, starts, n_places, contrast, is_fraction or None, thresholds, at_least)


@kernel
def count_columns(
    addresses: Integers,
    like: Any,
    place: Integers,
    starts: Integers,
    n_places: int,
    contrast: Contrast,
    is_fraction: bool | None,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Count the tokens of columns, see `column_tokens`; is_fraction is True or None."""
    groups = empty_groups(n_places)
    lines = groups.reshape(GROUP_ROWS, n_places * GROUP_COLUMNS)
    # Counts are whole numbers, so their sums are exact in any order: lanes are added up at the end.
    reached, coefficients = np.empty((THRESHOLDS_PER_SWEEP, LANES)), np.empty((5, LANES))
    for low in range(0, addresses.size, GROUP_COLUMNS):
        n_columns = min(GROUP_COLUMNS, addresses.size - low)
        fill_groups(addresses, like, low, place, groups)
        prefetch_columns(addresses, low + GROUP_COLUMNS)
        for k in range(starts.size - 1):
            begin, end = GROUP_COLUMNS * starts[k], GROUP_COLUMNS * starts[k + 1]
            n_lanes = min(LANES, end - begin)
            repeat_coefficients(contrast, k, low, n_lanes, coefficients)
            for g in range(0, thresholds.size, THRESHOLDS_PER_SWEEP):
                t = (thresholds[g], thresholds[g + 1], thresholds[g + 2], thresholds[g + 3], thresholds[g + 4])
                reached[:, :n_lanes] = 0.0
                for left in range(begin, end, LANES):
                    right = min(left + LANES, end)
                    x = (
                        lines[0, left:right], lines[1, left:right], lines[2, left:right], lines[3, left:right],
                        lines[4, left:right], lines[5, left:right], lines[6, left:right], lines[7, left:right],
                    )  # fmt: skip
                    n = right - left
                    mean, square = coefficients[0, :n], coefficients[1, :n]
                    linear, constant = coefficients[2, :n], coefficients[3, :n]
                    if is_fraction is None:
                        sharpness = coefficients[4, :n]
                        count_odds(x, mean, square, linear, constant, sharpness, t, UNIT_WEIGHTS, reached)
                    else:
                        count_fractions(x, mean, square, linear, constant, t, UNIT_WEIGHTS, reached)
                for i in range(THRESHOLDS_PER_SWEEP):
                    for j in range(n_columns):
                        total = 0.0
                        for lane in range(j, n_lanes, GROUP_COLUMNS):
                            total += reached[i, lane]
                        at_least[g + i, low + j] += total * contrast.class_weight[k, low + j]


@formula
def repeat_coefficients(contrast: Contrast, k: int, low: int, n_lanes: int, coefficients: Floats) -> None:
    """Repeat the coefficients of class k and of eight columns for the first lanes."""
    for j in range(GROUP_COLUMNS):
        f = min(low + j, contrast.sharpness.size - 1)
        mean, square, linear = contrast.mean[k, f], contrast.square[k, f], contrast.linear[k, f]
        constant, sharpness = contrast.constant[k, f], contrast.sharpness[f]
        for lane in range(j, n_lanes, GROUP_COLUMNS):
            coefficients[0, lane], coefficients[1, lane], coefficients[2, lane] = mean, square, linear
            coefficients[3, lane], coefficients[4, lane] = constant, sharpness


@kernel
def copy_columns(addresses: Integers, like: Any, copy: NDArray[Any]) -> None:
    """Copy the columns at some addresses to a row-major array."""
    n_rows, n_columns = copy.shape
    # Tile by tile: whole columns would write one value to every cache line and fetch each line many times.
    for top in range(0, n_rows, COPIED_ROWS):
        bottom = min(top + COPIED_ROWS, n_rows)
        for low in range(0, n_columns, GROUP_COLUMNS):
            if low + GROUP_COLUMNS <= n_columns:
                copy_eight(addresses, like, low, top, bottom, copy)
            else:
                for j in range(low, n_columns):
                    x = column_at(addresses, j, like, n_rows)
                    for i in range(top, bottom):
                        copy[i, j] = x[i]


@formula
def copy_eight(addresses: Integers, like: Any, low: int, top: int, bottom: int, copy: NDArray[Any]) -> None:
    """Copy rows top:bottom of eight columns from number `low` on."""
    n = bottom
    x0, x1 = column_at(addresses, low, like, n), column_at(addresses, low + 1, like, n)
    x2, x3 = column_at(addresses, low + 2, like, n), column_at(addresses, low + 3, like, n)
    x4, x5 = column_at(addresses, low + 4, like, n), column_at(addresses, low + 5, like, n)
    x6, x7 = column_at(addresses, low + 6, like, n), column_at(addresses, low + 7, like, n)
    for i in range(top, bottom):
        row = copy[i, low : low + GROUP_COLUMNS]
        row[0], row[1], row[2], row[3] = x0[i], x1[i], x2[i], x3[i]
        row[4], row[5], row[6], row[7] = x4[i], x5[i], x6[i], x7[i]
