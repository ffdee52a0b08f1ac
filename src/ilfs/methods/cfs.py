r"""CFS of the ILFS paper: the least correlated features first.

A filter without labels: a feature is good if there is another one that it is hardly correlated with. With
:math:`r_{ij}` the correlation of Pearson,

.. math:: \text{score}_i = -\min_{j \ne i} |r_{ij}|

Reference: the comparison in G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, *Infinite Latent Feature Selection: A
Probabilistic Latent Graph-Based Ranking Approach*, ICCV 2017, which calls it CFS; the formula is that of the authors'
toolbox. It is **not** the correlation-based feature selection of M. A. Hall, which is `ilfs.HallCFS`.

Where we depart from the toolbox:

- The score has a minus sign, so that larger is better as everywhere in this package.
- No matrix of features x features is made.
- A single feature, which has no other to be compared with, scores 0.
"""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats
from ilfs.execution import AllRows, Plan, blocks, thread_map
from ilfs.execution.columns import gather_columns
from ilfs.execution.pairs import complete_moments, pair_correlations
from ilfs.selector import PlannedSelector, Scores, UnsupervisedRowsSelector, refuse_constant
from ilfs.statistics import Classes
from ilfs.ties import UNIT_FLOOR

PANEL_CELLS = 2**25  # of standardised columns that are kept, 256 MB
STRIP, TILE = 256, 1024  # columns: their products are looked through while they are in the nearer caches
UNSEEN = 1.0  # the largest correlation there is


class CFS(UnsupervisedRowsSelector, PlannedSelector):
    """The CFS of the paper: least correlated features first, without labels.

    The correlation of every pair of features is computed, n_samples n_features^2 operations, and none is kept. Beyond
    the data it needs at most 256 MB (or 256 columns, if they are larger) of standardised columns, and 256 more for
    every thread.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Minus the least absolute correlation with another feature, between -1 and 0. -1 for a constant feature; 0 if
        there is no other feature that varies.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

    See Also
    --------
    HallCFS : The correlation-based feature selection of M. A. Hall.

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

    def __init__(self, n_features_to_select: int | float | None = None, *, n_jobs: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by how little they are correlated.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers.
        y : object, optional
            Not looked at; the name of a column of X leaves this column out.

        Returns
        -------
        CFS
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        n_features = rows.columns.size
        if n_features == 1:
            return Scores(np.zeros(1))
        least = np.full(n_features, UNSEEN)
        for strip, others, by_strip, by_others in self._steps(strips(rows), "strip", n_strips(rows)):
            np.minimum(least[strip], by_strip, out=least[strip])
            np.minimum(least[others], by_others, out=least[others])
        return Scores(0.0 - least, floor=UNIT_FLOOR)

    def _plan(self, classes: Classes) -> Plan[Scores]:  # noqa: ARG002  without labels
        """Read the rows in blocks: twice, keeping the correlations of all pairs."""
        moments = yield from complete_moments()
        columns = np.flatnonzero(~moments.constant)
        refuse_constant(columns)
        correlation = np.abs((yield from pair_correlations(moments, columns, "CFS")))
        np.fill_diagonal(correlation, UNSEEN)
        least = correlation.min(axis=1) if columns.size > 1 else np.zeros(1)
        scores = Scores(0.0 - least, floor=UNIT_FLOOR)
        return scores.with_constants(columns, moments.total.size, self._lowest)


Least = tuple[slice, slice, Floats, Floats]


def panels(rows: AllRows) -> list[slice]:
    """Columns in blocks that may be kept in standardised form, whole strips of them."""
    n_samples, n_features = rows.X.shape
    return blocks(n_features, max(1, PANEL_CELLS // (n_samples * STRIP)) * STRIP)


def n_strips(rows: AllRows) -> int:
    """How many products of a strip and a panel there are."""
    return sum(len(range(panel.start, rows.columns.size, STRIP)) for panel in panels(rows))


def strips(rows: AllRows) -> Iterator[Least]:
    """Every pair of columns once: those of a strip with those of a panel that do not come before it.

    Yields both, and for each of their columns the least absolute correlation with one of the others.
    """
    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    for panel in panels(rows):
        yield from strips_of_panel(X, rows, panel)


def strips_of_panel(X: Any, rows: AllRows, panel: slice) -> Iterator[Least]:
    """The same for one panel, whose columns are standardised once."""
    Z = np.empty((panel.stop - panel.start, X.shape[0]))

    def of_strip(strip: slice) -> Least:
        if strip.start >= panel.stop:
            return strip, panel, *least_correlations(unit_columns(X, rows, strip), Z)
        here = slice(strip.start - panel.start, strip.stop - panel.start)
        others = slice(strip.start, panel.stop)
        return strip, others, *least_correlations(Z[here], Z[here.start :], first_is_itself=True)

    def fill(strip: slice) -> None:
        Z[strip.start - panel.start : strip.stop - panel.start] = unit_columns(X, rows, strip)

    every = [strip for strip in blocks(X.shape[1], STRIP) if strip.start >= panel.start]
    for _ in thread_map(fill, [strip for strip in every if strip.start < panel.stop], rows.n_jobs):
        pass
    yield from thread_map(of_strip, every, rows.n_jobs)


def unit_columns(X: Any, rows: AllRows, columns: slice) -> Floats:
    """Columns as rows of mean 0 and length 1."""
    Z = gather_columns(X, columns, np.arange(X.shape[0])).astype(np.float64, copy=False)
    low, high = rows.low[columns, None], rows.high[columns, None]
    Z -= low
    Z /= high - low  # in [0, 1], so that squares stay in range
    Z -= Z.mean(axis=1, keepdims=True)
    Z /= np.sqrt(np.einsum("fs,fs->f", Z, Z))[:, None]
    return Z


def least_correlations(A: Floats, B: Floats, first_is_itself: bool = False) -> tuple[Floats, Floats]:
    """The least absolute product of every row of A with one of B, and of B with one of A.

    Parameters
    ----------
    A, B : ndarray of shape (n, n_samples), (p, n_samples)
        Standardised columns; n is at most `TILE`.
    first_is_itself : bool
        Whether B begins with A: then equal places are not looked at.

    Returns
    -------
    by_a, by_b : ndarray of shape (n,), (p,)
        At most 1.
    """
    by_a, by_b = np.full(len(A), UNSEEN), np.empty(len(B))
    for tile in blocks(len(B), TILE):
        R = A @ B[tile].T
        np.abs(R, out=R)
        if first_is_itself and tile.start == 0:
            np.fill_diagonal(R, UNSEEN)
        np.minimum(by_a, R.min(axis=1), out=by_a)
        by_b[tile] = R.min(axis=0)
    return by_a, by_b
