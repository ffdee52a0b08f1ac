"""The nearest samples of every class, by Manhattan distance of features scaled to a range of 1.

The search has the two steps of `ilfs.neighbours.two_step`: distances with a proven error (`ilfs.neighbours.manhattan`)
find the candidates, and float64 distances decide among those that the error does not tell apart.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows, blocks, thread_map
from ilfs.execution.columns import dense_column_blocks, row_major_columns
from ilfs.neighbours.manhattan import DenseManhattan, LevelManhattan, sparse_or_levels, tie_floor, times_features
from ilfs.neighbours.two_step import PAIRS_PER_TASK, SPARE_CANDIDATES, join_pairs
from ilfs.ties import RELATIVE_TOLERANCE

RETRIED_SAMPLES = 512  # samples per block of the second search, which holds their distances to all others
PROBED_SAMPLES = 32  # samples whose candidates are counted to see whether levels are fine enough
INFINITE = 2**62  # larger than any distance in units, and than its sum with a slack
UNFILLED = np.iinfo(np.int64).max  # key of a place of a list that is not filled
NEARER = -1.0  # distance of a neighbour that is certainly nearer than the last place


@dataclass(frozen=True)
class Pairs:
    """Samples and their nearest neighbours in every class.

    Neighbours that tie for the last place of a class share it, so weights may be less than 1.

    Parameters
    ----------
    first : ndarray of shape (n_pairs,)
        The samples.
    second : ndarray of shape (n_pairs,)
        A neighbour of each.
    weight : ndarray of shape (n_pairs,)
        Weight of the neighbour. The weights of a sample's neighbours in one class sum to 1.
    """

    first: Integers
    second: Integers
    weight: Floats


def class_neighbours(
    rows: LabelledRows, n_neighbors: int, drawn: Integers, steps: Callable[[list[slice]], Iterator[slice]]
) -> tuple[Pairs, int]:
    """Find the nearest other samples in every class.

    Parameters
    ----------
    rows : LabelledRows
        Samples and their classes. If values are missing, the distance of two samples is the mean difference of the
        features that both have, times the number of features.
    n_neighbors : int
        Number of neighbours per class. All samples of a smaller class are neighbours.
    drawn : ndarray of int
        Samples whose neighbours are searched for, in ascending order.
    steps : callable
        Takes the blocks of drawn samples and yields them one by one. It may stop early; the search is then limited to
        the blocks that it has yielded.

    Returns
    -------
    pairs : Pairs
        All neighbours.
    n_used : int
        Number of drawn samples that were searched for: ``drawn[:n_used]``.
    """
    codes, sizes = rows.labels.codes, rows.labels.class_rows
    n_kept = int(min(n_neighbors + SPARE_CANDIDATES, sizes.max()))
    samples = _searchable(rows, n_neighbors, n_kept)
    targets = samples if drawn.size == codes.size else samples.some(drawn)
    bounds, kept, n_used = _keep_nearest(rows, samples, targets, drawn, n_kept, steps)
    drawn = drawn[:n_used]
    places = _places(rows, n_neighbors, drawn)
    near, sure = _near(bounds, kept, places, targets.slack, samples.slack)
    # If even the last sample kept is a candidate, further candidates may have been dropped: search again.
    rest = (near[:, :, -1] & (n_kept < sizes)).any(axis=1)
    near[rest] = False
    found = [_nearest(rows, drawn[np.nonzero(near)[0]], kept[near], sure[near], n_neighbors)]
    for some in blocks(int(rest.sum()), RETRIED_SAMPLES):
        first, second = _candidates(rows, samples, drawn[rest][some], places[rest][some])
        found.append(_nearest(rows, first, second, np.zeros(first.size, bool), n_neighbors))
    return Pairs(*(np.concatenate(values) for values in zip(*found, strict=True))), n_used


def _places(rows: LabelledRows, n_neighbors: int, drawn: Integers) -> Integers:
    """Return the number of neighbours of each drawn sample in each class."""
    codes, sizes = rows.labels.codes, rows.labels.class_rows
    # A sample is not its own neighbour, so its own class offers one place less.
    return np.asarray(np.minimum(n_neighbors, sizes - (codes[drawn, None] == np.arange(sizes.size))))


def _searchable(rows: LabelledRows, n_neighbors: int, n_kept: int) -> Any:
    """Scale the samples, in a form that separates the nearest of them from the others.

    If most values are much smaller than the range of their feature, many samples have the same levels. Then lists of
    candidates would overflow, and float32 values are better. Some samples are searched to find that out. If lists hold
    whole classes, or if float32 distances are not more precise, this is not necessary.
    """
    samples = sparse_or_levels(rows)
    m = rows.labels.codes.size
    if (
        not isinstance(samples, LevelManhattan)
        or n_kept >= rows.labels.class_rows.max()
        or samples.is_finer_than_float32
    ):
        return samples
    probed = np.unique(np.linspace(0, m - 1, PROBED_SAMPLES).astype(np.int64))
    places = _places(rows, n_neighbors, probed)
    n_candidates = _candidates(rows, samples, probed, places)[0].size
    if n_candidates <= places.sum() + SPARE_CANDIDATES / 2 * places.size:
        return samples
    del samples  # before the copy in float32 is made
    return DenseManhattan.from_rows(rows)


def _keep_nearest(
    rows: LabelledRows,
    samples: Any,
    targets: Any,
    drawn: Integers,
    n_kept: int,
    steps: Callable[[list[slice]], Iterator[slice]],
) -> tuple[Integers, Integers, int]:
    """Keep the samples of each class with the smallest lower bounds of the distance.

    Returns the lower bounds in ascending order and the samples, both of shape (n_used, n_classes, n_kept), and
    ``n_used``.
    """
    from ilfs.kernels.manhattan import INDEX_BITS, keep_nearest_in_columns, keep_nearest_in_rows

    keys = np.full((drawn.size, rows.classes.n_classes, n_kept), UNFILLED)
    row_slack, slack, codes = targets.slack, samples.slack, rows.labels.codes
    symmetric, lock = targets is samples, Lock()

    def visit(block: slice, others: slice) -> None:
        distances = samples.distances(targets, block, others)
        with lock:  # all tasks write to the lists of the rows, but each to the lists of other columns
            keep_nearest_in_rows(distances, row_slack, slack, drawn, codes, block.start, others.start, keys)
        if symmetric and others.start > block.start:
            keep_nearest_in_columns(distances, row_slack, slack, codes, block.start, others.start, keys)

    n_used = 0
    # If all samples are drawn, a block of distances serves its rows and, mirrored, its columns.
    for block in steps(targets.row_blocks):
        facing = [others for others in samples.row_blocks if not symmetric or others.start >= block.start]
        list(thread_map(partial(visit, block), facing, rows.n_jobs))
        n_used = block.stop
    keys = keys[:n_used]
    return keys >> INDEX_BITS, keys & (2**INDEX_BITS - 1), n_used


def _near(
    bounds: Integers, kept: Integers, places: Integers, row_slack: Integers, slack: Integers
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the kept samples that may be among the nearest, and those that certainly are.

    The upper bound of a distance is its lower bound plus twice the slack of both samples. The lists are sorted by lower
    bound. A sample whose upper bound is below the lower bound of the first sample beyond the places is certainly among
    the nearest, and ties with no sample beyond the places.
    """
    filled = (kept < slack.size) & (places > 0)[:, :, None]
    # Places of a list that are not filled have an invalid index, which np.minimum makes a valid one.
    upper = bounds + 2 * (row_slack[: len(bounds), None, None] + slack[np.minimum(kept, slack.size - 1)])
    upper[~filled] = INFINITE
    kth = np.take_along_axis(np.sort(upper, axis=2), np.maximum(places - 1, 0)[:, :, None], axis=2)
    beyond = np.take_along_axis(bounds, np.minimum(places, bounds.shape[2] - 1)[:, :, None], axis=2)
    whole_list = (places == bounds.shape[2])[:, :, None]  # of a class that has no more samples
    return filled & (bounds <= _with_ties(kth)), filled & (whole_list | (_with_ties(upper) < beyond))


def _with_ties(bounds: Integers) -> Integers:
    """Return the largest distances that may tie with these ones, apart from the slack of both samples."""
    return bounds + (4.0 * RELATIVE_TOLERANCE * np.abs(bounds)).astype(np.int64) + 1


def _candidates(rows: LabelledRows, samples: Any, here: Integers, places: Integers) -> tuple[Integers, Integers]:
    """List pairs of these samples and all others that may be among the nearest of a class."""
    targets = samples.some(here)
    facing = [(block, others) for block in targets.row_blocks for others in samples.row_blocks]
    found = thread_map(lambda pair: samples.distances(targets, *pair), facing, rows.n_jobs)
    distances = np.empty((here.size, len(samples.sums)), np.int64)
    for pair, block in zip(facing, found, strict=True):
        distances[pair] = block
    distances[np.arange(here.size), here] = INFINITE  # a sample is not its own neighbour
    pairs = []
    for k in range(places.shape[1]):
        members = np.flatnonzero(rows.labels.codes == k)
        lower = distances[:, members]
        slack = targets.slack[:, None] + samples.slack[members]
        kth = _smallest(lower + slack, np.maximum(places[:, k] - 1, 0))
        lower -= slack
        first, second = np.nonzero((lower <= _with_ties(kth)) & (places[:, k, None] > 0))
        pairs.append((here[first], members[second]))
    return join_pairs(pairs)


def _smallest(values: Integers, which: Integers) -> Integers:
    """Return the value of each row that has this index in ascending order, as a column."""
    ordered = np.partition(values, np.unique(which), axis=1)
    return np.take_along_axis(ordered, which[:, None], axis=1)


def _nearest(
    rows: LabelledRows, first: Integers, second: Integers, sure: NDArray[np.bool_], n_neighbors: int
) -> tuple[Integers, Integers, Floats]:
    """Select the nearest of the candidates by float64 distances, compared with a tolerance, and weight them.

    Candidates that are certainly among the nearest, and not tied with others that may not be, need no distance.
    """
    from ilfs.kernels.manhattan import weight_neighbours

    distances, unsure = np.full(first.size, NEARER), np.flatnonzero(~sure)
    distances[unsure] = _distances(rows, first[unsure], second[unsure])
    lists = first * rows.classes.n_classes + rows.labels.codes[second]
    weight = np.empty(first.size)
    weight_neighbours(distances, lists, n_neighbors, RELATIVE_TOLERANCE, tie_floor(rows.X.shape[1]), weight)
    near = weight > 0
    return first[near], second[near], weight[near]


def _distances(rows: LabelledRows, first: Integers, second: Integers) -> Floats:
    """Compute the distances of pairs of samples in float64."""
    from ilfs.kernels.manhattan import add_distances, add_present_distances

    total = np.zeros(first.size)
    _add_columns(rows, add_distances, first, second, total)
    # Pairs without missing values keep their plain sum, so that missing values elsewhere do not change its last bits.
    missing = np.flatnonzero(np.isnan(total))
    if missing.size:
        sums, count = np.zeros((2, missing.size))
        _add_columns(rows, add_present_distances, first[missing], second[missing], sums, count)
        total[missing] = times_features(sums, count, rows.X.shape[1])
    return total


def _add_columns(
    rows: LabelledRows, kernel: Callable[..., None], first: Integers, second: Integers, *totals: Floats
) -> None:
    """Add the contributions of all columns to the totals of pairs of samples, by a kernel."""
    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    # Rows in C order are read in place, from the first column to the last.
    in_place = not sparse.issparse(X) and X.flags.c_contiguous
    for columns in [slice(0, X.shape[1])] if in_place else dense_column_blocks(X):
        table, column = row_major_columns(X, columns)
        scale = 1 / (rows.high - rows.low)[columns]

        def add(pairs: slice, table: Any = table, column: int = column, scale: Floats = scale) -> None:
            kernel(table, column, scale, first[pairs], second[pairs], *(total[pairs] for total in totals))

        list(thread_map(add, blocks(first.size, PAIRS_PER_TASK), rows.n_jobs))
