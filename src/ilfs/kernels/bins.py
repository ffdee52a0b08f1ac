"""Columns cut into bins, and the mutual information of the bins and the classes.

A column is cut at some of its values. A value is in bin b if exactly b cuts are less than or equal to it, so equal
values are always in the same bin. Bins of equal frequency divide the sorted values into intervals of equal weight. A
group of equal values may extend over several intervals; it belongs to the one that contains its middle.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

WEIGHT_ROUNDING = 1e-12  # relative error of a sum of fractional weights; integers up to 10^11 are still told apart
LINE_COLUMNS = 8  # columns whose bins are found together: float64 values of a row in one cache line
MAX_COMPARED_CUTS = 24  # up to this many cuts, comparing every value with every cut is faster than a binary search


@kernel
def dense_information(
    columns: NDArray[Any],
    ordered: NDArray[Any],
    below: Floats,
    starts: Integers,
    weight: Floats,
    equal_weights: bool,
    n_bins: int,
    equal_width: bool,
    information: Floats,
    bias: Floats,
) -> None:
    """Compute the mutual information of every column with the classes, and its bias in small samples (Miller, Madow).

    columns[j, starts[k]:starts[k + 1]] are the values of class k, and weight[a] is the weight of columns[:, a].
    ordered[j] is columns[j] sorted, missing values last, and below[j, a] is the weight of the values before
    ordered[j, a]. If all weights are equal, below has one row, which serves all columns.
    """
    cuts, table = np.empty(n_bins, columns.dtype), np.empty((starts.size - 1, n_bins))
    for j in range(columns.shape[0]):
        n_cuts = find_cuts(ordered[j], below[0 if equal_weights else j], n_bins, equal_width, cuts)
        if equal_weights and n_cuts <= MAX_COMPARED_CUTS:
            count_by_comparing(columns[j], starts, weight[0], cuts, n_cuts, table)
        else:
            count_by_searching(columns[j], starts, weight, cuts, n_cuts, table)
        information[j], bias[j] = information_and_bias(table, n_cuts + 1)


@kernel
def sparse_information(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    zeros: Floats,
    ordered: NDArray[Any],
    ordered_weight: Floats,
    codes: Integers,
    weight: Floats,
    n_bins: int,
    equal_width: bool,
    information: Floats,
    bias: Floats,
) -> None:
    """Compute what `dense_information` does, from the stored values of sparse columns.

    zeros[j, k] is the weight of the values of class k that column j does not store. ordered holds the sorted values of
    column 0, then those of column 1, and so on. Each column has one entry for each stored value and one for all its
    zeros (NaN if it has none). ordered_weight holds the weights of these entries.
    """
    cuts, table = np.empty(n_bins, data.dtype), np.empty((zeros.shape[1], n_bins))
    below = np.zeros(ordered.size + 1)
    for j in range(indptr.size - 1):
        # Column j starts after the stored values of the columns before it and their j entries for zeros.
        begin, size = indptr[j] - indptr[0] + j, indptr[j + 1] - indptr[j] + 1
        for a in range(size):
            below[a + 1] = below[a] + ordered_weight[begin + a]
        n_cuts = find_cuts(ordered[begin : begin + size], below, n_bins, equal_width, cuts)
        table[:, : n_cuts + 1] = 0.0
        for a in range(indptr[j], indptr[j + 1]):
            if data[a] == data[a]:  # not NaN
                table[codes[indices[a]], bin_of(data[a], cuts, n_cuts)] += weight[indices[a]]
        for k in range(zeros.shape[1]):
            table[k, bin_of(0.0, cuts, n_cuts)] += zeros[j, k]
        information[j], bias[j] = information_and_bias(table, n_cuts + 1)


@kernel
def frequency_bins(
    columns: NDArray[Any], ordered: NDArray[Any], below: Floats, wanted: int, bins: NDArray[Any], n_bins: Integers
) -> None:
    """Compute bins of equal frequency: the bin of every value, and the number of bins of each column.

    A column has at most ``wanted`` bins. below[a] is the weight of the first a values of a sorted column.
    """
    cuts = np.empty(wanted, columns.dtype)
    for j in range(columns.shape[0]):
        n_cuts = find_cuts(ordered[j], below, wanted, False, cuts)
        n_bins[j] = n_cuts + 1
        for a in range(columns.shape[1]):
            bins[j, a] = bin_of(columns[j, a], cuts, n_cuts)


@formula
def find_cuts(ordered: NDArray[Any], below: Floats, n_bins: int, equal_width: bool, cuts: NDArray[Any]) -> int:
    """Find the values at which a sorted column is cut; return their number, at most n_bins - 1.

    below[a] is the weight of the values before ordered[a]. A column with at most n_bins distinct values is cut at each
    of them except the smallest.
    """
    n = ordered.size
    while n > 0 and np.isnan(ordered[n - 1]):
        n -= 1
    # Try a cut at every distinct value first; if they are too many, the other rules overwrite these cuts.
    found, start = 0, first_above(ordered[0], ordered, 0, n)
    while start < n and found < n_bins - 1:
        cuts[found] = ordered[start]
        found += 1
        start = first_above(ordered[start], ordered, start, n)
    if start >= n:
        return found
    if equal_width:
        return width_cuts(np.float64(ordered[0]), np.float64(ordered[n - 1]), n_bins, cuts)
    return frequency_cuts(ordered, below, n, n_bins, cuts)


@formula
def first_above(x: float, ordered: NDArray[Any], low: int, high: int) -> int:
    """Find the first position in low:high with a value above x; return high if there is none."""
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@formula
def bin_of(x: float, cuts: NDArray[Any], n_cuts: int) -> int:
    """Return the bin of x: the number of cuts that are less than or equal to x."""
    return first_above(x, cuts, 0, n_cuts)


@formula
def width_cuts(low: float, high: float, n_bins: int, cuts: NDArray[Any]) -> int:
    """Cut the range from low to high into n_bins bins of equal width; return the number of cuts."""
    for b in range(1, n_bins):
        end = low + (high - low) * (b / n_bins)
        # Rounding to float32 may lower the cut. Values between the cut and ``end`` would then be in the wrong bin.
        cuts[b - 1] = end
        if float(cuts[b - 1]) < end:
            cuts[b - 1] = np.nextafter(cuts[b - 1], cuts.dtype.type(np.inf))
    return n_bins - 1


@formula
def frequency_cuts(ordered: NDArray[Any], below: Floats, n: int, n_bins: int, cuts: NDArray[Any]) -> int:
    """Cut a sorted column into bins of equal weight.

    Cut b is the first group of equal values whose middle is at the fraction b / n_bins of the total weight or later.
    """
    found = 0
    for b in range(1, n_bins):
        # Compare n_bins * weight with b * total instead of dividing: products of integers are exact.
        wanted = b * below[n]
        # ``here`` is the position at the wanted weight, and start:stop are the positions with the same value.
        here = last_at_most(wanted * (1.0 + WEIGHT_ROUNDING), n_bins, below, n)
        start, stop = first_equal(ordered, here), first_above(ordered[here], ordered, here, n)
        # The middle of the group is at weight (below[start] + below[stop]) / 2. If that is before the wanted weight,
        # the whole group belongs to the bin on the left, and the cut is at the next group.
        if n_bins * (below[start] + below[stop]) < 2 * wanted * (1.0 - WEIGHT_ROUNDING):
            start = stop
        if 0 < start < n and (found == 0 or ordered[start] > cuts[found - 1]):
            cuts[found] = ordered[start]
            found += 1
    return found


@formula
def first_equal(ordered: NDArray[Any], here: int) -> int:
    """Find the first position with the same value as position ``here``."""
    low, high = 0, here
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < ordered[here]:
            low = middle + 1
        else:
            high = middle
    return low


@formula
def last_at_most(wanted: float, n_bins: int, below: Floats, n: int) -> int:
    """Find the last a < n with n_bins * below[a] <= wanted."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if n_bins * below[middle] <= wanted:
            low = middle
        else:
            high = middle
    return low


@formula
def count_by_comparing(
    x: NDArray[Any], starts: Integers, unit: float, cuts: NDArray[Any], n_cuts: int, table: Floats
) -> None:
    """Compute the weight of every class in every bin if all values have the weight ``unit``.

    Every cut takes one pass over the values. A bin has the values that reach its lower cut but not the next one.
    """
    for k in range(starts.size - 1):
        mine = x[starts[k] : starts[k + 1]]  # a slice, because the compiler vectorises only loops that start at 0
        above = 0
        for a in range(mine.size):
            above += mine[a] == mine[a]  # not NaN
        for b in range(n_cuts):
            higher, cut = 0, cuts[b]
            for a in range(mine.size):
                higher += mine[a] >= cut
            table[k, b] = unit * (above - higher)
            above = higher
        table[k, n_cuts] = unit * above


@formula
def count_by_searching(
    x: NDArray[Any], starts: Integers, weight: Floats, cuts: NDArray[Any], n_cuts: int, table: Floats
) -> None:
    """Compute the weight of every class in every bin for any weights, by a binary search for every value."""
    table[:, : n_cuts + 1] = 0.0
    for k in range(starts.size - 1):
        for a in range(starts[k], starts[k + 1]):
            if x[a] == x[a]:
                table[k, bin_of(x[a], cuts, n_cuts)] += weight[a]


@formula
def information_and_bias(table: Floats, n_bins: int) -> tuple[float, float]:
    """Compute the mutual information of classes (rows) and bins (columns) in nats, and its bias.

    The bias of Miller and Madow is (nonzero entries - nonzero rows - nonzero columns + 1) / 2n.
    """
    by_class, by_bin = np.zeros(table.shape[0]), np.zeros(n_bins)
    total, information, filled = 0.0, 0.0, 1
    for k in range(table.shape[0]):
        for b in range(n_bins):
            by_class[k] += table[k, b]
            by_bin[b] += table[k, b]
        total += by_class[k]
        filled -= by_class[k] > 0.0
    for b in range(n_bins):
        filled -= by_bin[b] > 0.0
        for k in range(table.shape[0]):
            if table[k, b] > 0.0:
                filled += 1
                # One quotient of two products: products of integers are exact, so independence gives exactly log 1 = 0.
                information += table[k, b] * np.log((table[k, b] * total) / (by_class[k] * by_bin[b]))
    return information / total, filled / (2 * total)


@kernel
def column_cuts(
    ordered: NDArray[Any], below: Floats, wanted: int, equal_width: bool, cuts: Floats, n_cuts: Integers
) -> None:
    """Find the cuts of every column into at most ``wanted`` bins; see `dense_information` for ordered and below."""
    for j in range(ordered.shape[0]):
        n_cuts[j] = find_cuts(ordered[j], below[j], wanted, equal_width, cuts[j])


@kernel
def dense_histogram(
    X: NDArray[Any],
    rows: Integers,
    starts: Integers,
    weight: Floats,
    first: int,
    cuts: Floats,
    n_cuts: Integers,
    counts: Floats,
) -> None:
    """Add the weight of every value to counts[class, column, bin]; missing values are left out."""
    for k in range(starts.size - 1):
        for a in range(starts[k], starts[k + 1]):
            for j in range(n_cuts.size):
                x = X[rows[a], first + j]
                if x == x:
                    counts[k, j, bin_of(x, cuts[j], n_cuts[j])] += weight[a]


@kernel
def permuted_histograms(
    X: NDArray[Any],
    first: int,
    codes: NDArray[Any],
    weight: Floats,
    cuts: Floats,
    n_cuts: Integers,
    counts: Floats,
) -> None:
    """Add the weight of every value to counts[labelling, class, column, bin]; missing values are left out.

    codes[labelling, row] is the class of a row. The bin of a value is found once for all labellings.
    """
    n_labellings, n_rows = codes.shape
    n_classes, n_columns, n_bins = counts.shape[1], counts.shape[2], counts.shape[3]
    bins = np.empty((LINE_COLUMNS, n_rows), np.int64)
    table = np.empty((n_classes, n_bins + 1))  # the last bin takes missing values
    for low in range(0, n_columns, LINE_COLUMNS):
        high = min(low + LINE_COLUMNS, n_columns)
        for i in range(n_rows):
            for j in range(low, high):
                x = X[i, first + j]
                bins[j - low, i] = bin_of(x, cuts[j], n_cuts[j]) if x == x else n_bins
        for labelling in range(n_labellings):
            for j in range(low, high):
                table[:] = 0.0
                for i in range(n_rows):
                    table[codes[labelling, i], bins[j - low, i]] += weight[i]
                for k in range(n_classes):
                    for b in range(n_bins):
                        counts[labelling, k, j, b] += table[k, b]


@kernel
def sparse_histogram(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: Integers,
    weight: Floats,
    class_rows: Integers,
    class_total: Floats,
    cuts: Floats,
    n_cuts: Integers,
    counts: Floats,
) -> None:
    """Add the weight of every value of sparse columns to counts[class, column, bin]; values not stored are zeros."""
    stored_rows, stored_weight = np.empty(class_rows.size, np.int64), np.empty(class_rows.size)
    for j in range(n_cuts.size):
        stored_rows[:] = 0
        stored_weight[:] = 0.0
        for a in range(indptr[j], indptr[j + 1]):
            k = codes[indices[a]]
            if k < 0:
                continue
            stored_rows[k] += 1
            stored_weight[k] += weight[indices[a]]
            if data[a] == data[a]:
                counts[k, j, bin_of(data[a], cuts[j], n_cuts[j])] += weight[indices[a]]
        zero_bin = bin_of(0.0, cuts[j], n_cuts[j])
        for k in range(class_rows.size):
            # Compare numbers of rows, not weights: rounding would leave a small weight in a column without zeros.
            if stored_rows[k] < class_rows[k]:
                counts[k, j, zero_bin] += class_total[k] - stored_weight[k]


@kernel
def histogram_information(counts: Floats, n_cuts: Integers, information: Floats, bias: Floats) -> None:
    """Compute the mutual information of every column of a histogram with the classes, and its bias in small samples."""
    for j in range(n_cuts.size):
        information[j], bias[j] = information_and_bias(counts[:, j], n_cuts[j] + 1)


@kernel
def distinct_dense(
    X: NDArray[Any], rows: Integers, first: int, values: Floats, n_values: Integers, low: Floats, high: Floats
) -> None:
    """Collect the distinct values of every column, in ascending order, and its smallest and largest value.

    If a column has more distinct values than values[j] has room for, n_values[j] is that room plus 1.
    """
    for a in range(rows.size):
        for j in range(n_values.size):
            insert_value(np.float64(X[rows[a], first + j]), j, values, n_values, low, high)


@kernel
def distinct_sparse(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: Integers,
    n_rows: int,
    values: Floats,
    n_values: Integers,
    low: Floats,
    high: Floats,
) -> None:
    """Collect the distinct values of sparse columns as `distinct_dense` does; values that are not stored are zeros.

    codes[i] is negative for rows that are left out; n_rows is the number of the others.
    """
    for j in range(n_values.size):
        stored = 0
        for a in range(indptr[j], indptr[j + 1]):
            if codes[indices[a]] >= 0:
                stored += 1
                insert_value(np.float64(data[a]), j, values, n_values, low, high)
        if stored < n_rows:
            insert_value(0.0, j, values, n_values, low, high)


@formula
def insert_value(x: float, j: int, values: Floats, n_values: Integers, low: Floats, high: Floats) -> None:
    """Insert one value of column j into its sorted list of distinct values."""
    if x != x:  # NaN
        return
    low[j], high[j] = min(low[j], x), max(high[j], x)
    room, n = values.shape[1], n_values[j]
    if n > room:
        return
    place = first_above(x, values[j], 0, n)
    if place > 0 and values[j, place - 1] == x:
        return
    if n < room:
        for b in range(n, place, -1):
            values[j, b] = values[j, b - 1]
        values[j, place] = x
    n_values[j] = n + 1  # also if there is no room: that marks the column as having too many values
