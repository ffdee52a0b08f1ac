"""All rows at once, for the methods that no small statistic is enough for."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution.target import Target
from ilfs.statistics.moments import INFINITE, LARGEST, SMALLEST, TOO_LARGE, TOO_SMALL, UnusableColumnError


class MissingCellsError(ValueError):
    """Columns that hold NaN, for a method that cannot leave cells out; ``columns`` are their indices."""

    def __init__(self, columns: Integers) -> None:
        super().__init__(f"columns {columns.tolist()} hold NaN")
        self.columns = columns


@dataclass(frozen=True)
class Rows:
    """The columns of a table that vary, all rows of them, and their classes.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_varying)
        float32 or float64, never to be written to; in C or in Fortran order, or compressed rows or columns. The ends of
        every column are finite and far enough apart to be squared.
    target : Target or None
        Classes of the rows and their weights, all of them positive; None for a method that reads no labels.
    columns : ndarray of shape (n_varying,)
        Which columns of the table these are.
    n_features : int
        How many the table has.
    low, high : ndarray of shape (n_varying,)
        The least and the largest value of each column.
    n_jobs : int or None
        How many threads to use.
    """

    X: Any
    target: Target | None
    columns: Integers
    n_features: int
    low: Floats
    high: Floats
    n_jobs: int | None = None

    @classmethod
    def of(cls, X: Any, target: Target | None, n_jobs: int | None = None, *, missing: bool = False) -> Self:
        """Check a table, and leave out rows of no weight and columns with one value.

        Copied only if something is left out or the type is not one of floats.
        """
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()  # the caller's matrix keeps its duplicates
            X.sum_duplicates()
        if target is not None and (target.codes < 0).any():
            here = target.codes >= 0
            X = (X.tocsr() if sparse.issparse(X) else X)[here]
            target = Target(target.classes, target.codes[here], target.weight[here])
        low, high = column_ends(X, missing=missing)
        varying = high > low
        n_features = X.shape[1]
        columns = np.flatnonzero(varying)
        if columns.size < n_features:
            X = (X.tocsc() if sparse.issparse(X) else X)[:, columns]
        return cls(X, target, columns, n_features, low[columns], high[columns], n_jobs)

    def spread(self, values: NDArray[Any], fill: float = 0.0, axis: int = -1) -> NDArray[Any]:
        """Values of the columns that vary as values of all columns, the others filled."""
        values = np.moveaxis(np.asarray(values), axis, -1)
        every = np.full((*values.shape[:-1], self.n_features), fill, dtype=values.dtype)
        every[..., self.columns] = values
        return np.moveaxis(every, -1, axis)


def column_ends(X: Any, *, missing: bool = False) -> tuple[Floats, Floats]:
    """Least and largest value of each column, NaN for one without cells.

    Raise `UnusableColumnError` for infinity and for values too far apart or too close to be squared, and
    `MissingCellsError` for NaN unless missing cells are allowed.
    """
    low, high = _ends(X)
    incomplete = np.flatnonzero(np.isnan(low))
    if incomplete.size and not missing:
        raise MissingCellsError(incomplete)
    if incomplete.size:
        low[incomplete], high[incomplete] = _ends((X.tocsc() if sparse.issparse(X) else X)[:, incomplete], missing=True)
    infinite = np.isinf(low) | np.isinf(high)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = high - low
    for wrong, reason in (
        (infinite, INFINITE),
        (apart > LARGEST, TOO_LARGE),
        ((apart > 0) & (apart < SMALLEST), TOO_SMALL),
    ):
        if wrong.any():
            raise UnusableColumnError(int(wrong.argmax()), reason)
    return low, high


def refuse_missing(X: Any) -> None:
    """Raise `MissingCellsError` if a cell is NaN."""
    low, _ = _ends(X)
    if np.isnan(low).any():
        raise MissingCellsError(np.flatnonzero(np.isnan(low)))


def _ends(X: Any, *, missing: bool = False) -> tuple[Floats, Floats]:
    if sparse.issparse(X):
        return _sparse_ends(X.tocsc(), missing=missing)
    low, high = (np.fmin, np.fmax) if missing else (np.minimum, np.maximum)
    return low.reduce(X, axis=0).astype(np.float64), high.reduce(X, axis=0).astype(np.float64)


def _sparse_ends(X: Any, *, missing: bool) -> tuple[Floats, Floats]:
    """The same from the stored cells; those not stored are zeros."""
    stored = np.diff(X.indptr)
    filled = stored > 0
    low, high = np.full((2, X.shape[1]), np.nan)
    starts = X.indptr[:-1][filled]
    if starts.size:
        lower, upper = (np.fmin, np.fmax) if missing else (np.minimum, np.maximum)
        low[filled] = lower.reduceat(X.data, starts)
        high[filled] = upper.reduceat(X.data, starts)
    zeros = stored < X.shape[0]
    low[zeros & ~filled], high[zeros & ~filled] = 0.0, 0.0
    # fmin would forget NaN where it must be reported
    some = zeros & filled & (missing | ~np.isnan(low))
    low[some], high[some] = np.fmin(low[some], 0.0), np.fmax(high[some], 0.0)
    return low, high
