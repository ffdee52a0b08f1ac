r"""The nearest other samples, by Euclidean distance.

The search has the two steps of `ilfs.neighbours.two_step`. Matrix products of the centred samples, in float32 if there
is much to multiply, give every squared distance up to a proven error,

.. math:: \big|\hat d_{ij}^2 - d_{ij}^2\big| \le (w + 4)\,u\,(|x_i|^2 + |x_j|^2),

where u is the rounding unit and w the number of terms that are summed in that precision; 4u are for rounding the
samples. The distances of the candidates are then computed in float64, as sums of squared differences. So the result is
exact, and the same bits for dense and sparse samples, however the products round.

Samples that are equally far, by the tolerance of `ilfs.ties`, share the last places, so the result does not depend on
the order of the rows. Rows with more candidates than were kept (ties, or tight clusters far apart) are searched again,
in float64 if their candidates are many.
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
from ilfs.execution.columns import dense_column_blocks, row_major_columns
from ilfs.neighbours.two_step import (
    FLOAT32_ROUNDING,
    FLOAT64_ROUNDING,
    PAIRS_PER_TASK,
    SPARE_CANDIDATES,
    SUMMED_FEATURES,
    is_very_sparse,
    join_pairs,
)
from ilfs.ties import RELATIVE_TOLERANCE

MIN_PRODUCT_ROWS, MAX_PRODUCT_ROWS = 64, 1024  # a block of products has a sixth of all rows within these limits
MIN_FLOAT32_MULTIPLICATIONS = 2 * 10**8  # below this, converting to float32 takes longer than it saves
RETRIED_ROWS_PER_THREAD, RETRIED_ROWS = 128, 2048  # rows per block of the second search, for one and for all threads
MAX_CANDIDATES_PER_ROW = 64  # of the second search in float32, on average; if there are more it is done in float64
MAX_TIED = 64  # distinct samples that may share the last places; more would make neighbourhoods and graphs large
TIE_FLOOR = 1e-24  # fraction of the variance; smaller squared distances can come from the rounding of the input


@dataclass(frozen=True)
class Neighbours:
    """Nearest neighbours of every sample, as lists of different lengths in CSR form.

    The list of sample i is ``indptr[i]:indptr[i + 1]`` of the other arrays, nearest first. An entry holds 1 of the
    ``n_neighbors`` places, less than 1 if it shares the last places with others at the same distance, and more if its
    row stands for several copies. The places of a list sum to ``n_neighbors``.

    Parameters
    ----------
    indptr : ndarray of shape (n_samples + 1,)
        Start of each list, and the end of the last one.
    indices : ndarray of shape (n_entries,)
        The neighbours.
    squared : ndarray of shape (n_entries,)
        Their squared distances.
    places : ndarray of shape (n_entries,)
        Number of places that each entry holds.
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
        """Return, for each length of list, the samples and a matrix of their entries, one row per sample."""
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

    A sample is not its own neighbour, but a copy of it may be. Samples that tie for the last places share them, so that
    the order of the samples does not matter. If more than `MAX_TIED` tie, those of lowest rank are taken. Squared
    distances tie if they differ by no more than 1e-9 of the larger one, or than 1e-24 of the variance.

    m samples of n features cost m^2 n / 2 multiplications. Peak memory is a float32 copy of X (float64 if there are
    many ties), 32 MB per thread, and O(m n_neighbors). A sparse X with less than a tenth of its values stored is not
    copied.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Finite numbers.
    n_neighbors : int
        Number of neighbours; less than the number of samples, copies counted.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    counts : ndarray of shape (n_samples,), optional
        Number of copies that each row stands for; 1 by default. The other copies of a row are neighbours at distance 0.
    rank : ndarray of shape (n_samples,), optional
        Order in which samples are taken if too many tie, smallest first; the order of the rows by default.

    Returns
    -------
    Neighbours
        Squared distances are exact to rounding, also for samples that nearly coincide.

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
    """Find the neighbours and, if ``mean``, the mean distance of all pairs (0 otherwise)."""
    m, n = X.shape
    X = X.tocsc() if sparse.issparse(X) else X
    counts, rank = np.ones(m) if counts is None else counts, np.arange(m) if rank is None else rank
    samples = _samples(X, float32=m * m * n > MIN_FLOAT32_MULTIPLICATIONS, n_jobs=n_jobs)
    last = min(k, m - 1)  # the nearest k distinct samples have at least k copies
    lower, kept, distance = _keep_nearest(samples, counts, min(k + SPARE_CANDIDATES, m - 1), n_jobs, mean=mean)
    # The upper bound is the lower bound plus twice the slack of both samples.
    upper = lower + 2 * (samples.slack[:, None] + samples.slack[kept])
    near = lower <= _with_ties(np.partition(upper, last - 1, axis=1)[:, last - 1, None], samples.floor)
    # If even the last sample kept is a candidate, further candidates may have been dropped: search again.
    rest = np.flatnonzero(near[:, -1]) if kept.shape[1] < m - 1 else np.arange(0)
    near[rest] = False
    # The floor is for half squared distances in units of the scaled samples; convert it to squared distances of X.
    rule = Sharing(k, counts, rank, 2 * samples.unit**2 * samples.floor)
    done = np.setdiff1d(np.arange(m), rest, assume_unique=True)
    lists = [_shared(X, done, np.nonzero(near)[0], kept[near], rule, n_jobs)]
    for some in blocks(rest.size, RETRIED_ROWS):
        candidates = _candidates(samples, rest[some], last, n_jobs)
        if samples.is_float32 and candidates[0].size > MAX_CANDIDATES_PER_ROW * rest[some].size:
            del samples  # before the copy in float64 is made
            samples = _samples(X, float32=False, n_jobs=n_jobs)
            candidates = _candidates(samples, rest[some], last, n_jobs)
        lists.append(_shared(X, rest[some], *candidates, rule, n_jobs))
    return _joined(lists, m), distance


@dataclass(frozen=True)
class Sharing:
    """Rule by which candidates share the places of a list.

    Parameters
    ----------
    n_places : int
        Places per list.
    counts : ndarray of shape (n_samples,)
        Number of copies that each row stands for.
    rank : ndarray of shape (n_samples,)
        Order in which samples are taken if too many tie.
    floor : float
        Squared distances that differ by no more than this tie.
    """

    n_places: int
    counts: Floats
    rank: Integers
    floor: float


def _shared(
    X: Any, rows: Integers, first: Integers, second: Integers, rule: Sharing, n_jobs: int | None
) -> tuple[Integers, Integers, Floats, Floats]:
    """Give places to the candidate pairs (first, second) of these rows; return the pairs that got any.

    Distances are sums of squared differences: the rounding of the products must not decide.
    """
    from ilfs.kernels.neighbours import share_places

    own = rows[rule.counts[rows] > 1]  # a row that stands for copies is a neighbour of itself, at distance 0
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
    """Limit each list to ``most`` tied entries, those of lowest rank, which get the places of the others.

    The rank depends on the values of a sample, so the result does not depend on the order of the rows.
    """
    tied = np.flatnonzero((places > 0) & (places < copies))  # an entry that shares places holds fewer than its copies
    crowded = np.bincount(first[tied], minlength=1)[first[tied]] > most
    if not crowded.any():
        return places
    tied = tied[crowded]
    tied = tied[np.lexsort((rank[tied], first[tied]))]
    place = np.arange(tied.size) - np.searchsorted(first[tied], first[tied])
    # Scale the places of the remaining entries so that their sum per list stays the same. 1e-300 avoids 0 / 0 for
    # samples whose lists are not crowded.
    before = np.bincount(first[tied], places[tied])
    places = places.copy()
    places[tied[place >= most]] = 0.0
    places[tied] *= (before / np.maximum(np.bincount(first[tied], places[tied]), 1e-300))[first[tied]]
    return places


def _joined(lists: list[tuple[Integers, Integers, Floats, Floats]], m: int) -> Neighbours:
    """Join the lists of all samples in the order of the samples."""
    first, second, squared, places = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    if len(lists) > 1:
        order = np.argsort(first, kind="stable")
        first, second, squared, places = first[order], second[order], squared[order], places[order]
    return Neighbours(np.append(0, np.cumsum(np.bincount(first, minlength=m))), second, squared, places)


@dataclass(frozen=True)
class DenseProducts:
    """Centred and scaled dense samples, with approximate scalar products.

    Half the squared distance of samples i and j is ``halves[i] + halves[j] - product``, up to an error of
    ``slack[i] + slack[j]``. Centring keeps that error small: it grows with the norms of the samples.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        The samples, in float32 or float64.
    halves : ndarray of shape (n_samples,)
        Half the squared norm of each sample.
    slack : ndarray of shape (n_samples,)
        Error bound of each sample.
    unit : float
        Divisor of the samples: the largest deviation.
    """

    Z: NDArray[Any]
    halves: Floats
    slack: Floats
    unit: float

    @classmethod
    def from_matrix(cls, X: Any, *, float32: bool, n_jobs: int | None) -> Self:
        """Subtract the column means and divide by the largest deviation, whose square might overflow float32."""
        column_blocks = dense_column_blocks(X)
        centres, deviations = zip(*thread_map(lambda columns: _centre(X, columns), column_blocks, n_jobs), strict=True)
        unit = max(deviations) or 1.0
        Z = np.empty(X.shape, np.float32 if float32 else np.float64)

        row_blocks = blocks(X.shape[0], MIN_PRODUCT_ROWS)

        def fill(number: int) -> None:
            columns, centre = column_blocks[number], centres[number]
            block = _some_columns(X, columns)
            for rows in row_blocks:
                Z[rows, columns] = (block[rows] - centre) * (1 / unit)

        def half_squares(rows: slice) -> Floats:
            return np.asarray(np.square(Z[rows], dtype=np.float64).sum(axis=1) / 2)

        list(thread_map(fill, range(len(column_blocks)), n_jobs))
        halves = np.concatenate(list(thread_map(half_squares, row_blocks, n_jobs)))
        terms = min(X.shape[1], SUMMED_FEATURES) + X.shape[1] // SUMMED_FEATURES
        return cls(Z, halves, _slack(halves, terms, X.shape[1], float32=float32), unit)

    @property
    def is_float32(self) -> bool:
        """True if the products are in float32."""
        return self.Z.dtype == np.float32

    @property
    def floor(self) -> float:
        """Largest difference of half squared distances that tie; the mean of ``halves`` is half the variance."""
        return TIE_FLOOR * float(self.halves.mean())

    def tasks(self) -> list[tuple[slice, slice]]:
        """Pairs of row blocks that cover every pair of samples once.

        They go diagonal by diagonal, so that threads that work at the same time seldom wait for the same rows.
        """
        m = len(self.Z)
        row_blocks = blocks(m, min(max(-(-m // 6), MIN_PRODUCT_ROWS), MAX_PRODUCT_ROWS))
        return [pair for apart in range(len(row_blocks)) for pair in zip(row_blocks, row_blocks[apart:], strict=False)]

    def products(self, rows: Any, others: slice) -> NDArray[Any]:
        """Compute the scalar products of some rows with others."""
        Z = self.Z
        total: NDArray[Any] = Z[rows, :SUMMED_FEATURES] @ Z[others, :SUMMED_FEATURES].T
        for first in range(SUMMED_FEATURES, Z.shape[1], SUMMED_FEATURES):
            total += Z[rows, first : first + SUMMED_FEATURES] @ Z[others, first : first + SUMMED_FEATURES].T
        return total


@dataclass(frozen=True)
class SparseProducts:
    """Sparse samples, with scalar products in float64; like `DenseProducts` but not centred, so that zeros stay zeros.

    Parameters
    ----------
    by_row, by_column : scipy.sparse.csr_array, scipy.sparse.csc_array
        The samples in both kinds of compression.
    halves, slack, unit
        As in `DenseProducts`; the unit is 1.
    """

    by_row: Any
    by_column: Any
    halves: Floats
    slack: Floats
    unit: float = 1.0
    is_float32 = False

    @classmethod
    def from_matrix(cls, X: Any) -> Self:
        """Compress X by row and by column."""
        X = X.astype(np.float64)
        halves = np.asarray(X.multiply(X).sum(axis=1)).ravel() / 2
        return cls(X.tocsr(), X, halves, _slack(halves, X.shape[1], X.shape[1], float32=False))

    @property
    def floor(self) -> float:
        """Largest difference of half squared distances that tie: a fraction of the variance, mean square - mean^2."""
        mean = np.asarray(self.by_column.mean(axis=0)).ravel()
        return TIE_FLOOR * max(float(self.halves.mean() - mean @ mean / 2), 0.0)

    def tasks(self) -> list[tuple[slice, slice]]:
        """Pairs of a row block and all rows."""
        m = self.halves.size
        return [(rows, slice(0, m)) for rows in blocks(m, min(max(-(-m // 6), 1), MAX_PRODUCT_ROWS**2 // m + 1))]

    def products(self, rows: Any, others: slice) -> Floats:
        """Compute the scalar products of some rows with all rows."""
        from ilfs.kernels.neighbours import sparse_products

        rows = np.arange(others.stop)[rows]
        products = np.empty((rows.size, others.stop))
        a, b = self.by_row, self.by_column
        sparse_products(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, rows, products)
        return products


def _samples(X: Any, *, float32: bool, n_jobs: int | None) -> DenseProducts | SparseProducts:
    """Prepare the samples for products, as sparse ones if that makes products faster."""
    if is_very_sparse(X):
        return SparseProducts.from_matrix(X)
    return DenseProducts.from_matrix(X, float32=float32, n_jobs=n_jobs)


def _slack(halves: Floats, terms: int, n: int, *, float32: bool) -> Floats:
    """Return the error bound of each sample, for products of ``terms`` terms and float64 sums of n terms.

    The float64 sums are the norms and the exact distances. The factor 1.01 covers terms of second order.
    """
    rounding = FLOAT32_ROUNDING if float32 else FLOAT64_ROUNDING
    underflow = 1e-35 * n if float32 else 0.0  # float32 products below 1e-38 lose digits or vanish
    return 1.01 * halves * ((terms + 8) * rounding + 4 * (n + 8) * FLOAT64_ROUNDING) + underflow


def _with_ties(kth: Floats, floor: float) -> Floats:
    """Return the largest half squared distance that may tie with the k-th one."""
    return np.asarray(kth + np.maximum(RELATIVE_TOLERANCE * kth, floor))


def _keep_nearest(
    samples: DenseProducts | SparseProducts, counts: Floats, n_kept: int, n_jobs: int | None, *, mean: bool
) -> tuple[Floats, Integers, float]:
    """Keep the samples with the smallest lower bounds of half the squared distance.

    Returns the lower bounds and the samples, both of shape (n_samples, n_kept), and the mean distance of all pairs.
    """
    from ilfs.kernels.neighbours import keep_nearest, total_distance

    m = samples.halves.size
    lower, kept = np.full((m, n_kept), np.inf), np.full((m, n_kept), m)
    least = samples.halves - samples.slack
    tasks = samples.tasks()
    locks = {rows.start: Lock() for rows, _ in tasks}

    def visit(task: tuple[slice, slice]) -> float:
        rows, others = task
        mirrored = others.start > rows.start  # the block serves its rows and, transposed, its columns
        products = samples.products(rows, others)
        with locks[rows.start], locks[others.start] if mirrored else nullcontext():
            keep_nearest(products, least, rows.start, others.start, mirrored, lower, kept)
        distances = total_distance(products, samples.halves, counts, rows.start, others.start) if mean else 0.0
        return (2.0 if mirrored else 1.0) * distances

    total = sum(thread_map(visit, tasks, n_jobs))
    return lower, kept, samples.unit * total / counts.sum() ** 2


def _candidates(
    samples: DenseProducts | SparseProducts, rows: Integers, k: int, n_jobs: int | None
) -> tuple[Integers, Integers]:
    """List pairs of these rows and all others that may be among their nearest."""
    m = samples.halves.size

    def find(some: slice) -> tuple[Integers, Integers]:
        here = rows[some]
        half = samples.halves[here, None] + samples.halves - samples.products(here, slice(0, m))
        half[np.arange(here.size), here] = np.inf
        slack = samples.slack[here, None] + samples.slack
        kth = np.partition(half + slack, k - 1, axis=1)[:, k - 1, None]
        first, second = np.nonzero(half - slack <= _with_ties(kth, samples.floor))
        return here[first], second

    found = list(thread_map(find, blocks(rows.size, RETRIED_ROWS_PER_THREAD), n_jobs))
    return join_pairs(found)


def _squared_distances(X: Any, first: Integers, second: Integers, n_jobs: int | None) -> Floats:
    """Compute the squared distances of pairs of samples."""
    from ilfs.kernels.neighbours import add_squared_distances

    squared = np.zeros(first.size)
    for columns in dense_column_blocks(X):
        table, column = row_major_columns(X, columns)

        def add(pairs: slice, table: Any = table, columns: slice = columns, column: int = column) -> None:
            width = columns.stop - columns.start
            add_squared_distances(table, column, width, first[pairs], second[pairs], squared[pairs])

        list(thread_map(add, blocks(first.size, PAIRS_PER_TASK), n_jobs))
    return squared


def _centre(X: Any, columns: slice) -> tuple[Floats, float]:
    """Return the means of some columns and the largest deviation from them."""
    block = _some_columns(X, columns)
    centre = block.mean(axis=0, dtype=np.float64)
    return centre, float(max((block.max(axis=0) - centre).max(), (centre - block.min(axis=0)).max()))


def _some_columns(X: Any, columns: slice) -> NDArray[Any]:
    """Return some columns as a dense array of any memory layout."""
    block: NDArray[Any] = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
    return block
