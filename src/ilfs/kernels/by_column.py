"""Moments and token counts of columns that are each contiguous in memory, and copies of them.

Rows are summed in the order of the row-major kernels, and with their formulas, so the results have the same bits. For
this, eight columns at a time are copied into *groups*: eight rows of a class side by side. With r the rank of a row in
its class, its values are in line r % 8 of the group r // 8, and the same lines of all groups are neighbours::

    groups[0]:  row 0 of group 0 (8 columns), row 0 of group 1 (8 columns), ...
    groups[1]:  row 1 of group 0 (8 columns), row 1 of group 1 (8 columns), ...

This array has the form of a row-major table of eight rows, with one column (a *lane*) for each group and column. So
the formulas for eight rows of a table sum all groups in one long loop, which the compiler vectorises. The copy of eight
columns takes half a megabyte per 8192 rows and stays in the second-level cache.

All weights are 1 here. The gap after the last row of a class is filled with NaN, which adds nothing to any sum.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._sizes import GROUP_ROWS
from ilfs.kernels.contrast import Contrast
from ilfs.kernels.evidence import THRESHOLDS_PER_SWEEP, count_fractions, count_odds
from ilfs.kernels.moments import add_rows, centre

GROUP_COLUMNS = 8  # columns copied together: one row of them fills a cache line; the loops are written out for eight
LANES = 128  # lanes summed at a time: long loops, but few copies of the coefficients of a class
COPIED_ROWS = 64  # rows of a tile that is copied to a row-major array
CACHE_LINE_BYTES = 64
PREFETCHED_BYTES = 2048
LINES = (0, 1, 2, 3, 4, 5, 6, 7)
UNIT_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


@intrinsic
def pointer_to(typing_context: Any, address: Any, like: Any) -> Any:  # noqa: ARG001
    """Convert an address to a pointer to values of the type of `like`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(like)(address, like), generate


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:  # noqa: ARG001
    """Start to load the cache line at an address into the second-level cache."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], function_type)
        options = [number(0), number(2), number(1)]  # for reading, locality of the second level, data
        builder.call(function, [builder.inttoptr(arguments[0], pointer), *options])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def transpose_eight(typing_context: Any, sources: Any, targets: Any, like: Any) -> Any:  # noqa: ARG001
    """Copy eight values at each of eight addresses so that value r of source c becomes value c of target r.

    The compiler does not find this form of a transposition itself. It takes half the time of copying single values.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, double = context.get_value_type(like), ir.DoubleType()
        size = context.get_abi_sizeof(kind)
        vector, doubles = ir.VectorType(kind, 8), ir.VectorType(double, 8)
        addresses = cgutils.unpack_tuple(builder, arguments[0])
        rows = [builder.load(builder.inttoptr(one, vector.as_pointer()), align=size) for one in addresses]
        # Swap blocks of 1, 2 and 4 values between the rows that are 1, 2 and 4 apart.
        for step in (1, 2, 4):
            kept = [i if not i & step else i - step + 8 for i in range(8)]
            moved = [i + step if not i & step else i + 8 for i in range(8)]
            for i in (i for i in range(8) if not i & step):
                pair = rows[i], rows[i + step]
                rows[i], rows[i + step] = (
                    builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(ir.IntType(32), 8), which))
                    for which in (kept, moved)
                )
        for row, target in zip(rows, cgutils.unpack_tuple(builder, arguments[1]), strict=True):
            values = row if kind == double else builder.fpext(row, doubles)
            builder.store(values, builder.inttoptr(target, doubles.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(sources, targets, like), generate


@formula
def prefetch_columns(addresses: Integers, low: int) -> None:
    """Start to load the first rows of eight columns from number `low` on, while the columns before are summed."""
    for j in range(low, min(low + GROUP_COLUMNS, addresses.size)):
        for offset in range(0, PREFETCHED_BYTES, CACHE_LINE_BYTES):
            prefetch(addresses[j] + offset)


@formula
def column_at(addresses: Integers, j: int, like: Any, n_rows: int) -> NDArray[Any]:
    """Return column j, or the last column if j is beyond it."""
    return carray(pointer_to(addresses[min(j, addresses.size - 1)], like), n_rows)


@formula
def eight_addresses(addresses: Integers, low: int, offset: int) -> tuple[int, ...]:
    """Return the addresses of eight columns from number `low` on, plus an offset; the last column fills the gap."""
    last = addresses.size - 1
    return (
        addresses[low] + offset, addresses[min(low + 1, last)] + offset,
        addresses[min(low + 2, last)] + offset, addresses[min(low + 3, last)] + offset,
        addresses[min(low + 4, last)] + offset, addresses[min(low + 5, last)] + offset,
        addresses[min(low + 6, last)] + offset, addresses[min(low + 7, last)] + offset,
    )  # fmt: skip


@formula
def fill_groups(addresses: Integers, like: Any, itemsize: int, low: int, place: Integers, groups: Floats) -> None:
    """Copy eight columns from number `low` on into groups; place[i] is the place of row i."""
    n, base = place.size, groups.ctypes.data
    x0, x1, x2, x3, x4, x5, x6, x7 = eight_addresses(addresses, low, 0)
    for i in range(0, n - 7, 8):
        o = itemsize * i
        if o % CACHE_LINE_BYTES == 0:
            ahead = o + PREFETCHED_BYTES
            prefetch(x0 + ahead)
            prefetch(x1 + ahead)
            prefetch(x2 + ahead)
            prefetch(x3 + ahead)
            prefetch(x4 + ahead)
            prefetch(x5 + ahead)
            prefetch(x6 + ahead)
            prefetch(x7 + ahead)
        t0, t1, t2, t3 = place[i], place[i + 1], place[i + 2], place[i + 3]
        t4, t5, t6, t7 = place[i + 4], place[i + 5], place[i + 6], place[i + 7]
        transpose_eight(
            (x0 + o, x1 + o, x2 + o, x3 + o, x4 + o, x5 + o, x6 + o, x7 + o),
            (base + 64 * t0, base + 64 * t1, base + 64 * t2, base + 64 * t3,
             base + 64 * t4, base + 64 * t5, base + 64 * t6, base + 64 * t7),
            like,
        )  # fmt: skip
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
) -> None:
    """Compute count, mean and scatter (each classes x columns) of the columns at some addresses.

    `like` is any number of the type of the values. Groups starts[k]:starts[k + 1] of the n_places groups belong to
    class k, and place[i] is the place of row i, see `RowLabels.groups`.
    """
    groups = empty_groups(n_places)
    itemsize = carray(pointer_to(addresses[0], like), 1).itemsize
    lines = groups.reshape(GROUP_ROWS, n_places * GROUP_COLUMNS)
    pivot, parts, sums = np.empty(LANES), np.empty((3, LANES)), np.empty((3, GROUP_COLUMNS))
    for low in range(0, addresses.size, GROUP_COLUMNS):
        fill_groups(addresses, like, itemsize, low, place, groups)
        prefetch_columns(addresses, low + GROUP_COLUMNS)
        for k in range(starts.size - 1):
            begin, end = GROUP_COLUMNS * starts[k], GROUP_COLUMNS * starts[k + 1]
            if begin == end:
                continue
            repeat_pivots(lines, begin, end, pivot)
            sums[:] = 0.0
            for left in range(begin, end, LANES):
                right = min(left + LANES, end)
                parts[:, : right - left] = 0.0
                add_rows(lines, LINES, UNIT_WEIGHTS, left, right, pivot, parts)
                add_groups(parts, right - left, sums)
            for j in range(min(GROUP_COLUMNS, addresses.size - low)):
                centre(k, low + j, sums[0, j], pivot[j], sums[1, j], sums[2, j], count, mean, scatter)


@formula
def repeat_pivots(lines: Floats, begin: int, end: int, pivot: Floats) -> None:
    """Find the first value of each column in lanes begin:end that is not missing, or NaN, and repeat it for all lanes."""
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
    for i in range(3):
        part, s = parts[i], sums[i]
        # Eight scalars: the compiler keeps them in one vector register.
        s0, s1, s2, s3, s4, s5, s6, s7 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
        for a in range(0, n_lanes, GROUP_COLUMNS):
            s0, s1, s2, s3 = s0 + part[a], s1 + part[a + 1], s2 + part[a + 2], s3 + part[a + 3]
            s4, s5, s6, s7 = s4 + part[a + 4], s5 + part[a + 5], s6 + part[a + 6], s7 + part[a + 7]
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
    itemsize = carray(pointer_to(addresses[0], like), 1).itemsize
    lines = groups.reshape(GROUP_ROWS, n_places * GROUP_COLUMNS)
    # Counts are whole numbers, so their sums are exact in any order: lanes are added up at the end.
    reached, coefficients = np.empty((THRESHOLDS_PER_SWEEP, LANES)), np.empty((5, LANES))
    for low in range(0, addresses.size, GROUP_COLUMNS):
        n_columns = min(GROUP_COLUMNS, addresses.size - low)
        fill_groups(addresses, like, itemsize, low, place, groups)
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
