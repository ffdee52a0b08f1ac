r"""The nearest other samples, by Euclidean distance.

Neighbours are found in two steps. Matrix products of the centred samples, in float32 where there is much to multiply,
give every squared distance up to a proven error,

.. math:: \big|\hat d_{ij}^2 - d_{ij}^2\big| \le (w + 4)\,u\,(|x_i|^2 + |x_j|^2),

where u is the rounding unit and w the number of terms that are summed in that precision; 4u are for rounding the
samples. Whoever may be among the nearest by this bound is a candidate, and the distances of the candidates are computed
by differences, in float64. So the answer is exact, and the same bits for dense and sparse samples, however the products
round. Samples that are equally far, by the tolerance of `ilfs.ties`, share the last places: the order of the rows must
not decide. Rows with more candidates than there is room for (ties, tight clusters far apart) are done again in float64.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import blocks, thread_map
from ilfs.execution.columns import column_parts, side_by_side
from ilfs.ties import RELATIVE_TOLERANCE

SMALL_BLOCK, LARGE_BLOCK = 64, 1024  # rows of a block of products: a sixth of all within these limits
SUMMED = 4096  # terms of a product that one call sums, so that the error bound stays small for many features
SINGLE_WORK = 2 * 10**8  # multiplications from which float32 pays
SPARSE_SHARE = 0.1  # of cells stored, up to which sparse products are faster
REST_ROWS, MANY_ROWS = 128, 2048  # rows that are done again at once by a thread, by all
PAIRS = 4096  # whose distances a thread computes at once
MAX_TIED = 64  # distinct samples that may share the last places; more would make neighbourhoods and graphs large
TIE_FLOOR = 1e-24  # share of the variance of the samples: squares of differences that rounding of the table explains


@dataclass(frozen=True)
class Neighbours:
    """The nearest others of every sample, as lists of different lengths.

    List i is ``indptr[i]:indptr[i + 1]`` of the other arrays, nearest first. ``places`` says how many of the
    ``n_neighbors`` places an entry holds: 1, less if it shares the last places with others at the same distance, more
    if it stands for copies. The places of a list sum to ``n_neighbors``.

    Parameters
    ----------
    indptr : ndarray of shape (n_samples + 1,)
        Where each list begins, and the last one ends.
    indices : ndarray of shape (n_entries,)
        The neighbours.
    squared : ndarray of shape (n_entries,)
        Their squared distances.
    places : ndarray of shape (n_entries,)
        How many places each holds.
    """

    indptr: Integers
    indices: Integers
    squared: Floats
    places: Floats

    @property
    def first(self) -> Integers:
        """The sample that each entry belongs to."""
        return np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))

    def by_length(self) -> list[tuple[Integers, Integers]]:
        """Samples whose lists have one length, and the entries of their lists, a row for each sample."""
        lengths = np.diff(self.indptr)
        found = []
        for length in np.unique(lengths).tolist():
            samples = np.flatnonzero(lengths == length)
            found.append((samples, self.indptr[samples][:, None] + np.arange(length)))
        return found


def nearest_neighbours(
    X: Any, n_neighbors: int, n_jobs: int | None = None, *, counts: Floats | None = None, rank: Integers | None = None
) -> Neighbours:
    """Find the nearest other samples of every sample, by Euclidean distance.

    A sample is not its own neighbour, but a copy of it may be. Samples that are equally far for the last places share
    them, so that the order of the samples does not matter; if more than `MAX_TIED` do, those of lowest rank are taken.
    Equal means: squared distances differ by no more than 1e-9 of the larger one, or of 1e-24 of the variance.
    m samples of n features cost m^2 n / 2 multiplications. The peak of memory is a float32 copy of X (float64 if there
    are many ties), 32 MB a thread, and O(m n_neighbors); X with less than a tenth of its values stored is not copied.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Finite numbers.
    n_neighbors : int
        How many; less than the number of samples, copies counted.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    counts : ndarray of shape (n_samples,), optional
        How many copies each row stands for; 1 by default. The other copies of a row are neighbours at distance 0.
    rank : ndarray of shape (n_samples,), optional
        Who comes first if too many tie; the order of the rows by default.

    Returns
    -------
    Neighbours
        Their squared distances are exact to rounding, also for samples that nearly coincide.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.neighbours import nearest_neighbours
    >>> found = nearest_neighbours(np.array([[0.0], [1.0], [-1.0], [5.0]]), 1)
    >>> found.indices[found.first == 0], found.places[found.first == 0]  # both are at distance 1
    (array([1, 2]), array([0.5, 0.5]))
    """
    return search(X, n_neighbors, n_jobs, counts=counts, rank=rank)[0]


def search(
    X: Any,
    k: int,
    n_jobs: int | None,
    *,
    mean: bool = False,
    counts: Floats | None = None,
    rank: Integers | None = None,
) -> tuple[Neighbours, float]:
    """Neighbours and, if asked for, the mean distance of all pairs."""
    m, n = X.shape
    X = X.tocsc() if sparse.issparse(X) else X
    counts, rank = np.ones(m) if counts is None else counts, np.arange(m) if rank is None else rank
    samples = _samples(X, single=m * m * n > SINGLE_WORK, n_jobs=n_jobs)
    last = min(k, m - 1)  # the nearest k distinct samples have at least k copies
    lower, kept, distance = _keep_nearest(samples, counts, min(k + 8, m - 1), n_jobs, mean=mean)
    upper = lower + 2 * (samples.slack[:, None] + samples.slack[kept])
    near = lower <= _with_ties(np.partition(upper, last - 1, axis=1)[:, last - 1, None], samples.floor)
    rest = np.flatnonzero(near[:, -1]) if kept.shape[1] < m - 1 else np.arange(0)
    near[rest] = False
    rule = Sharing(k, counts, rank, 2 * samples.unit**2 * samples.floor)
    done = np.setdiff1d(np.arange(m), rest, assume_unique=True)
    lists = [_shared(X, done, np.nonzero(near)[0], kept[near], rule, n_jobs)]
    if rest.size and samples.is_single:
        del samples  # before the copy in float64 is made
        samples = _samples(X, single=False, n_jobs=n_jobs)
    for some in blocks(rest.size, MANY_ROWS):
        candidates = _candidates(samples, rest[some], last, n_jobs)
        lists.append(_shared(X, rest[some], *candidates, rule, n_jobs))
    return _joined(lists, m), distance


@dataclass(frozen=True)
class Sharing:
    """How candidates get places: how many there are, copies of the samples, their rank, and the floor of ties."""

    n_places: int
    counts: Floats
    rank: Integers
    floor: float


def _shared(
    X: Any, rows: Integers, first: Integers, second: Integers, rule: Sharing, n_jobs: int | None
) -> tuple[Integers, Integers, Floats, Floats]:
    """Of pairs of candidates for these rows those that get places, with their squared distances and places.

    Distances are computed by differences: rounding of products must not decide.
    """
    from ilfs.kernels.neighbours import share_places

    own = rows[rule.counts[rows] > 1]
    squared = np.append(_squared_distances(X, first, second, n_jobs), np.zeros(own.size))
    first, second = np.append(first, own), np.append(second, own)
    order = np.lexsort((rule.rank[second], squared, first))
    first, second, squared = first[order], second[order], squared[order]
    copies = rule.counts[second] - (first == second)
    places = np.empty(first.size)
    indptr = np.append(np.searchsorted(first, rows), first.size)
    share_places(indptr, squared, copies, rule.n_places, RELATIVE_TOLERANCE, rule.floor, places)
    places = _with_few_tied(first, rule.rank[second], places, copies, max(rule.n_places, MAX_TIED))
    taken = places > 0
    return first[taken], second[taken], squared[taken], places[taken]


def _with_few_tied(first: Integers, rank: Integers, places: Floats, copies: Floats, most: int) -> Floats:
    """Leave places that too many share to those of lowest rank: values decide, not the order of the rows."""
    tied = np.flatnonzero((places > 0) & (places < copies))
    crowded = np.bincount(first[tied], minlength=1)[first[tied]] > most
    if not crowded.any():
        return places
    tied = tied[crowded]
    tied = tied[np.lexsort((rank[tied], first[tied]))]
    place = np.arange(tied.size) - np.searchsorted(first[tied], first[tied])
    before = np.bincount(first[tied], places[tied])
    places = places.copy()
    places[tied[place >= most]] = 0.0
    places[tied] *= (before / np.maximum(np.bincount(first[tied], places[tied]), 1e-300))[first[tied]]
    return places


def _joined(lists: list[tuple[Integers, Integers, Floats, Floats]], m: int) -> Neighbours:
    """Lists of all samples, sample after sample."""
    first, second, squared, places = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    if len(lists) > 1:
        order = np.argsort(first, kind="stable")
        first, second, squared, places = first[order], second[order], squared[order], places[order]
    return Neighbours(np.append(0, np.cumsum(np.bincount(first, minlength=m))), second, squared, places)


@dataclass(frozen=True)
class DenseSamples:
    """Centred samples in some unit, for products.

    Half the squared distance of i and j is ``halves[i] + halves[j]`` minus their product, give or take ``slack[i] +
    slack[j]``.
    """

    Z: NDArray[Any]
    halves: Floats
    slack: Floats
    unit: float

    @classmethod
    def of(cls, X: Any, *, single: bool, n_jobs: int | None) -> Self:
        """Subtract the column means and divide by the largest deviation: its square might not fit into float32."""
        parts = column_parts(X)
        centres, deviations = zip(*thread_map(lambda columns: _centre(X, columns), parts, n_jobs), strict=True)
        unit = max(deviations) or 1.0
        Z = np.empty(X.shape, np.float32 if single else np.float64)

        heights = blocks(X.shape[0], SMALL_BLOCK)

        def fill(part: int) -> None:
            columns = _some_columns(X, parts[part])
            for rows in heights:
                Z[rows, parts[part]] = (columns[rows] - centres[part]) * (1 / unit)

        def half_squares(rows: slice) -> Floats:
            return np.asarray(np.square(Z[rows], dtype=np.float64).sum(axis=1) / 2)

        list(thread_map(fill, range(len(parts)), n_jobs))
        halves = np.concatenate(list(thread_map(half_squares, heights, n_jobs)))
        terms = min(X.shape[1], SUMMED) + X.shape[1] // SUMMED
        return cls(Z, halves, _slack(halves, terms, X.shape[1], single=single), unit)

    @property
    def is_single(self) -> bool:
        """Whether the products are in float32."""
        return self.Z.dtype == np.float32

    @property
    def floor(self) -> float:
        """Halves of squared distances that differ by no more than this are equal."""
        return TIE_FLOOR * float(self.halves.mean())

    def tasks(self) -> list[tuple[slice, slice]]:
        """Blocks that have every pair once, in an order where threads seldom need the same rows."""
        m = len(self.Z)
        pieces = blocks(m, min(max(-(-m // 6), SMALL_BLOCK), LARGE_BLOCK))
        return [pair for apart in range(len(pieces)) for pair in zip(pieces, pieces[apart:], strict=False)]

    def products(self, rows: Any, others: slice) -> NDArray[Any]:
        """Of some rows with others."""
        Z = self.Z
        total: NDArray[Any] = Z[rows, :SUMMED] @ Z[others, :SUMMED].T
        for first in range(SUMMED, Z.shape[1], SUMMED):
            total += Z[rows, first : first + SUMMED] @ Z[others, first : first + SUMMED].T
        return total


@dataclass(frozen=True)
class SparseSamples:
    """The same of sparse samples, which are not centred, in float64."""

    by_row: Any
    by_column: Any
    halves: Floats
    slack: Floats
    unit: float = 1.0
    is_single = False

    @classmethod
    def of(cls, X: Any) -> Self:
        """Keep X, compressed both ways."""
        X = X.astype(np.float64)
        halves = np.asarray(X.multiply(X).sum(axis=1)).ravel() / 2
        return cls(X.tocsr(), X, halves, _slack(halves, X.shape[1], X.shape[1], single=False))

    @property
    def floor(self) -> float:
        """Halves of squared distances that differ by no more than this are equal."""
        mean = np.asarray(self.by_column.mean(axis=0)).ravel()
        return TIE_FLOOR * max(float(self.halves.mean() - mean @ mean / 2), 0.0)

    def tasks(self) -> list[tuple[slice, slice]]:
        """Blocks of rows with all."""
        m = self.halves.size
        return [(rows, slice(0, m)) for rows in blocks(m, min(max(-(-m // 6), 1), LARGE_BLOCK**2 // m + 1))]

    def products(self, rows: Any, others: slice) -> Floats:
        """Of some rows with all."""
        from ilfs.kernels.neighbours import sparse_products

        rows = np.arange(others.stop)[rows]
        products = np.empty((rows.size, others.stop))
        a, b = self.by_row, self.by_column
        sparse_products(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, rows, products)
        return products


def _samples(X: Any, *, single: bool, n_jobs: int | None) -> DenseSamples | SparseSamples:
    if sparse.issparse(X) and X.nnz < SPARSE_SHARE * X.shape[0] * X.shape[1]:
        return SparseSamples.of(X)
    return DenseSamples.of(X, single=single, n_jobs=n_jobs)


def _slack(halves: Floats, terms: int, n: int, *, single: bool) -> Floats:
    """The error bound, and that of the norms and of the exact distances, which are sums of n in float64."""
    unit, double = 2.0 ** (-24 if single else -53), 2.0**-53
    underflow = 1e-35 * n if single else 0.0
    return 1.01 * halves * ((terms + 8) * unit + 4 * (n + 8) * double) + underflow


def _with_ties(kth: Floats, floor: float) -> Floats:
    """How far a sample may be and still tie with one at this distance."""
    return np.asarray(kth + np.maximum(RELATIVE_TOLERANCE * kth, floor))


def _keep_nearest(
    samples: DenseSamples | SparseSamples, counts: Floats, n_kept: int, n_jobs: int | None, *, mean: bool
) -> tuple[Floats, Integers, float]:
    """Lower bounds of half the squared distances of those that are nearest by it, and the mean distance of all."""
    from ilfs.kernels.neighbours import keep_nearest, total_distance

    m = samples.halves.size
    lower, kept = np.full((m, n_kept), np.inf), np.full((m, n_kept), m)
    least = samples.halves - samples.slack
    tasks = samples.tasks()
    locks = {rows.start: Lock() for rows, _ in tasks}

    def visit(task: tuple[slice, slice]) -> float:
        rows, others = task
        mirrored = others.start > rows.start
        products = samples.products(rows, others)
        with locks[rows.start], locks[others.start] if mirrored else nullcontext():
            keep_nearest(products, least, rows.start, others.start, mirrored, lower, kept)
        distances = total_distance(products, samples.halves, counts, rows.start, others.start) if mean else 0.0
        return (2.0 if mirrored else 1.0) * distances

    total = sum(thread_map(visit, tasks, n_jobs))
    return lower, kept, samples.unit * total / counts.sum() ** 2


def _candidates(
    samples: DenseSamples | SparseSamples, rows: Integers, k: int, n_jobs: int | None
) -> tuple[Integers, Integers]:
    """Pairs of these rows and whoever may be among their nearest."""
    m = samples.halves.size

    def find(some: slice) -> tuple[Integers, Integers]:
        here = rows[some]
        half = samples.halves[here, None] + samples.halves - samples.products(here, slice(0, m))
        half[np.arange(here.size), here] = np.inf
        slack = samples.slack[here, None] + samples.slack
        kth = np.partition(half + slack, k - 1, axis=1)[:, k - 1, None]
        first, second = np.nonzero(half - slack <= _with_ties(kth, samples.floor))
        return here[first], second

    found = list(thread_map(find, blocks(rows.size, REST_ROWS), n_jobs))
    return np.concatenate([first for first, _ in found]), np.concatenate([second for _, second in found])


def _squared_distances(X: Any, first: Integers, second: Integers, n_jobs: int | None) -> Floats:
    """Of pairs of samples."""
    from ilfs.kernels.neighbours import add_squared_distances

    squared = np.zeros(first.size)
    for columns in column_parts(X):
        table, column = side_by_side(X, columns)

        def add(pairs: slice, table: Any = table, columns: slice = columns, column: int = column) -> None:
            width = columns.stop - columns.start
            add_squared_distances(table, column, width, first[pairs], second[pairs], squared[pairs])

        list(thread_map(add, blocks(first.size, PAIRS), n_jobs))
    return squared


def _centre(X: Any, columns: slice) -> tuple[Floats, float]:
    """The means of some columns and the largest deviation from them."""
    part = _some_columns(X, columns)
    centre = part.mean(axis=0, dtype=np.float64)
    return centre, float(max((part.max(axis=0) - centre).max(), (centre - part.min(axis=0)).max()))


def _some_columns(X: Any, columns: slice) -> NDArray[Any]:
    """Dense, in any order."""
    part: NDArray[Any] = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
    return part
