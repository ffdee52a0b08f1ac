r"""CFS as in the ILFS paper: the least correlated features first.

An unsupervised filter. A feature is good if its correlation with at least one other feature is small. With
:math:`r_{ij}` the Pearson correlation, the score is

.. math:: \text{score}_i = -\min_{j \ne i} |r_{ij}|

Reference: the comparison in G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, *Infinite Latent Feature Selection: A
Probabilistic Latent Graph-Based Ranking Approach*, ICCV 2017, which calls it CFS. The formula is taken from the
authors' toolbox. It is **not** the correlation-based feature selection of M. A. Hall, which is `ilfs.HallCFS`.

Where we depart from the toolbox:

- The score has a minus sign, so that larger is better as everywhere in this package.
- If the data are in memory, no n_features x n_features matrix is formed.
- A feature scores 0 if there is no other feature to compare it with.
"""

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats
from ilfs.execution import AllRows, Plan, blocks, thread_map
from ilfs.execution.columns import gather_columns
from ilfs.execution.pairs import complete_moments, pair_correlations
from ilfs.must_keep import MustKeep
from ilfs.selector import PlannedSelector, Scores, UnsupervisedRowsSelector, refuse_constant
from ilfs.statistics import Classes
from ilfs.ties import UNIT_FLOOR

# The correlations are computed as products of a strip of columns with a tile of columns.
PANEL_VALUES = 2**25  # standardised values kept at a time, 256 MB
STRIP_COLUMNS, TILE_COLUMNS = 256, 1024  # the products of a strip and a tile, 2 MB, stay in the cache
SUMMED_ROWS = 64  # rows per task of the sums of all columns
MAX_RELATIVE_MEAN = 4.0  # |mean| / std up to which the products of the values lose less than two digits by centring
MIN_VARIANCE, MAX_VARIANCE = 1e-250, 1e250  # so that products of values neither underflow nor overflow
MAX_CORRELATION = 1.0  # start of a running minimum, and value of the pairs that do not count


class CFS(UnsupervisedRowsSelector, PlannedSelector):
    """CFS as in the ILFS paper: features with the smallest correlation to another feature.

    It needs no labels. The correlations of all pairs of features take n_samples n_features^2 operations and are not
    stored. Peak memory beyond the data is 10 MB per thread. If a mean is more than four standard deviations from 0, or
    if X is sparse or not float64, it is 256 MB of standardised columns (or 256 columns, if they are larger) and 256
    columns per thread.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Negative of the smallest absolute correlation with another feature, between -1 and 0. -1 for a constant feature;
        0 if all other features are constant.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    See Also
    --------
    HallCFS : Correlation-based feature selection by M. A. Hall.

    References
    ----------
    .. [1] G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, "Infinite Latent Feature Selection: A Probabilistic Latent
       Graph-Based Ranking Approach", ICCV 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import CFS
    >>> wine = load_wine()
    >>> selector = CFS(n_features_to_select=3).fit(wine.data)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['ash', 'proanthocyanins', 'od280/od315_of_diluted_wines']
    """

    _takes_missing = False
    _takes_long = True
    _lowest = -1.0

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by their smallest correlation with another feature.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers.
        y : object, optional
            Ignored, except that the name of a column of X excludes this column from the features.

        Returns
        -------
        CFS
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        n_features = rows.columns.size
        if n_features == 1:
            return Scores(np.zeros(1))
        least = np.full(n_features, MAX_CORRELATION)
        strips, n_strips = least_by_strip(rows)
        for strip, others, by_strip, by_others in self._steps(strips, "strip", n_strips):
            np.minimum(least[strip], by_strip, out=least[strip])
            np.minimum(least[others], by_others, out=least[others])
        return Scores(0.0 - least, floor=UNIT_FLOOR)

    @property
    def n_reads(self) -> int:
        """Number of reads of all rows that ``fit`` makes if they are not in memory: moments, products."""
        return 2

    def _plan(self, classes: Classes) -> Plan[Scores]:  # noqa: ARG002  unsupervised
        """Read the rows twice in blocks; the correlations of all pairs are stored."""
        moments = yield from complete_moments()
        columns = np.flatnonzero(~moments.constant)
        refuse_constant(columns)
        correlation = np.abs((yield from pair_correlations(moments, columns, "CFS")))
        np.fill_diagonal(correlation, MAX_CORRELATION)
        least = correlation.min(axis=1) if columns.size > 1 else np.zeros(1)
        scores = Scores(0.0 - least, floor=UNIT_FLOOR)
        return scores.with_constants(columns, moments.total.size, self._lowest)


# Two ranges of columns and, for each column of one, its smallest absolute correlation with a column of the other.
StripMinima = tuple[slice, slice, Floats, Floats]


def least_by_strip(rows: AllRows) -> tuple[Iterator[StripMinima], int]:
    """Return the smallest absolute correlations strip by strip, so that every pair of columns occurs, and their number.

    The columns are multiplied where they are if they are float64 values and not far from 0. Otherwise they are
    standardised first.
    """
    centres = None if sparse.issparse(rows.X) or rows.X.dtype != np.float64 else column_centres(rows)
    if centres is None:
        every = panels(rows)
        n_strips = sum(len(range(panel.start, rows.columns.size, STRIP_COLUMNS)) for panel in every)
        return strips_of_panels(rows, every), n_strips
    strips = blocks(rows.columns.size, STRIP_COLUMNS)
    return thread_map(lambda strip: least_of_values(rows.X, *centres, strip), strips, rows.n_jobs), len(strips)


def column_centres(rows: AllRows) -> tuple[Floats, Floats] | None:
    """Return the means of the columns and the norms of the centred columns.

    Return None if products of the values would lose digits, because a mean is far from 0 or values are extreme.
    """

    def sums(some: slice) -> Floats:
        values = rows.X[some]
        return np.stack([values.sum(axis=0), np.einsum("sf,sf->f", values, values)])

    n_samples, total = len(rows.X), np.zeros((2, rows.columns.size))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in thread_map(sums, blocks(n_samples, SUMMED_ROWS), rows.n_jobs):
            total += part
        mean, square = total / n_samples
        variance = square - mean**2
    if not ((mean**2 <= MAX_RELATIVE_MEAN**2 * variance) & (variance > MIN_VARIANCE) & (variance < MAX_VARIANCE)).all():
        return None
    return mean, np.sqrt(n_samples * variance)


def least_of_values(X: Floats, mean: Floats, norm: Floats, strip: slice) -> StripMinima:
    """Return the smallest absolute correlations of a strip with the strips from it on, by products of the values."""
    others = slice(strip.start, X.shape[1])
    total = len(X) * mean

    def correlations(tile: slice) -> Floats:
        columns = slice(others.start + tile.start, others.start + tile.stop)
        R: Floats = X[:, strip].T @ X[:, columns]
        R -= total[strip, None] * mean[columns]
        R /= norm[strip, None]
        R /= norm[columns]
        return R

    shape = strip.stop - strip.start, others.stop - others.start
    return strip, others, *least_correlations(correlations, shape, starts_with_a=True)


def panels(rows: AllRows) -> list[slice]:
    """Split the columns into panels of whole strips, small enough to be kept in standardised form."""
    n_samples, n_features = rows.X.shape
    return blocks(n_features, max(1, PANEL_VALUES // (n_samples * STRIP_COLUMNS)) * STRIP_COLUMNS)


def strips_of_panels(rows: AllRows, every: list[slice]) -> Iterator[StripMinima]:
    """Yield the smallest absolute correlations between strips and panels of standardised columns.

    A strip is combined with the panels that contain it or come before it, because correlation is symmetric.
    """
    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    for panel in every:
        yield from strips_of_panel(X, rows, panel)


def strips_of_panel(X: Any, rows: AllRows, panel: slice) -> Iterator[StripMinima]:
    """Yield the smallest absolute correlations of one panel with the strips in it and after it.

    The columns of the panel are standardised once, those of later strips when they are needed.
    """
    Z = np.empty((panel.stop - panel.start, X.shape[0]))

    def of_strip(strip: slice) -> StripMinima:
        if strip.start >= panel.stop:  # after the panel
            return strip, panel, *least_products(unit_columns(X, rows, strip), Z)
        here = slice(strip.start - panel.start, strip.stop - panel.start)
        others = slice(strip.start, panel.stop)
        return strip, others, *least_products(Z[here], Z[here.start :], starts_with_a=True)

    def fill(strip: slice) -> None:
        Z[strip.start - panel.start : strip.stop - panel.start] = unit_columns(X, rows, strip)

    every = [strip for strip in blocks(X.shape[1], STRIP_COLUMNS) if strip.start >= panel.start]
    for _ in thread_map(fill, [strip for strip in every if strip.start < panel.stop], rows.n_jobs):
        pass
    yield from thread_map(of_strip, every, rows.n_jobs)


def unit_columns(X: Any, rows: AllRows, columns: slice) -> Floats:
    """Return columns as rows with mean 0 and norm 1, so that their dot products are correlations."""
    Z = gather_columns(X, columns, np.arange(X.shape[0])).astype(np.float64, copy=False)
    low, high = rows.low[columns, None], rows.high[columns, None]
    Z -= low
    Z /= high - low  # in [0, 1], so that squares neither overflow nor underflow
    Z -= Z.mean(axis=1, keepdims=True)
    Z /= np.sqrt(np.einsum("fs,fs->f", Z, Z))[:, None]
    return Z


def least_products(A: Floats, B: Floats, starts_with_a: bool = False) -> tuple[Floats, Floats]:
    """Find the smallest absolute products of the rows of A and B, which are standardised columns."""
    return least_correlations(lambda tile: A @ B[tile].T, (len(A), len(B)), starts_with_a)


def least_correlations(
    correlations: Callable[[slice], Floats], shape: tuple[int, int], starts_with_a: bool = False
) -> tuple[Floats, Floats]:
    """Find the smallest absolute correlation of every column of A with one of B, and the reverse.

    Parameters
    ----------
    correlations : callable
        Returns the correlations of all columns of A with some of B.
    shape : tuple of int
        Number of columns of A, at most `TILE_COLUMNS`, and of B.
    starts_with_a : bool, default=False
        True if the first columns of B are those of A. The correlation of a column with itself then does not count.

    Returns
    -------
    by_a, by_b : ndarray of shape (n,), (p,)
        Smallest absolute correlations, at most 1.
    """
    by_a, by_b = np.full(shape[0], MAX_CORRELATION), np.empty(shape[1])
    for tile in blocks(shape[1], TILE_COLUMNS):
        R = correlations(tile)
        np.abs(R, out=R)
        if starts_with_a and tile.start == 0:
            np.fill_diagonal(R, MAX_CORRELATION)
        np.minimum(by_a, R.min(axis=1), out=by_a)
        by_b[tile] = R.min(axis=0)
    return by_a, by_b
