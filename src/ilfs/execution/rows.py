"""All rows at once, for methods that cannot be computed from mergeable statistics."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.sources.tables import TableSource
from ilfs.statistics.labels import Classes, RowLabels
from ilfs.statistics.moments import check_column_ranges


class MissingValuesError(ValueError):
    """Error for columns with NaN if a method needs all values; ``columns`` are their indices."""

    def __init__(self, columns: Integers) -> None:
        super().__init__(f"columns {columns.tolist()} hold NaN")
        self.columns = columns


@dataclass(frozen=True, kw_only=True)
class AllRows:
    """All rows of a table, without its constant columns.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_varying)
        float32 or float64, in C or Fortran order, or a CSR or CSC matrix. Do not write to it. The minimum and maximum
        of every column are finite, and their difference can be squared without overflow or underflow.
    columns : ndarray of shape (n_varying,)
        Indices of these columns in the table.
    n_features : int
        Number of columns of the table.
    low, high : ndarray of shape (n_varying,)
        Smallest and largest value of each column.
    n_jobs : int or None
        Number of threads to use.
    """

    X: Any
    columns: Integers
    n_features: int
    low: Floats
    high: Floats
    n_jobs: int | None = None

    @classmethod
    def from_matrix(cls, X: Any, n_jobs: int | None = None, *, missing: bool = False, **more: Any) -> Self:
        """Check a table and drop constant columns; it is copied only if columns are dropped or values converted.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The table.
        n_jobs : int, optional
            Number of threads to use.
        missing : bool, default=False
            Allow missing values (NaN).
        **more : dict
            Other fields of a subclass.

        Returns
        -------
        AllRows
            The columns that vary.
        """
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()  # the caller's matrix keeps its duplicates
            X.sum_duplicates()
        low, high = column_ranges(X, missing=missing)
        n_features, columns = X.shape[1], np.flatnonzero(high > low)
        if columns.size < n_features:
            X = (X.tocsc() if sparse.issparse(X) else X)[:, columns]
        return cls(
            X=X, columns=columns, n_features=n_features, low=low[columns], high=high[columns], n_jobs=n_jobs, **more
        )

    def expand(self, values: NDArray[Any], fill: float = 0.0, axis: int = -1) -> NDArray[Any]:
        """Expand values of the columns that vary to all columns of the table; the others get ``fill``."""
        values = np.moveaxis(np.asarray(values), axis, -1)
        every = np.full((*values.shape[:-1], self.n_features), fill, dtype=values.dtype)
        every[..., self.columns] = values
        return np.moveaxis(every, -1, axis)


@dataclass(frozen=True, kw_only=True)
class LabelledRows(AllRows):
    """All rows of a table, without its constant columns, and the classes of the rows.

    Parameters
    ----------
    classes : Classes
        The classes and their sizes.
    labels : RowLabels
        Class and weight of each row; all rows take part.
    """

    classes: Classes
    labels: RowLabels

    @classmethod
    def from_source(
        cls, source: TableSource, labelling: int = 0, n_jobs: int | None = None, *, missing: bool = False
    ) -> Self:
        """Check a table, and drop rows of weight 0 and constant columns."""
        X, labels = source.to_matrix(), source.row_labels(labelling)
        if not labels.takes_part.all():
            X = (X.tocsr() if sparse.issparse(X) else X)[labels.takes_part]
            labels = labels.take(labels.takes_part)
        classes = source.labellings[labelling]
        return cls.from_matrix(X, n_jobs, missing=missing, classes=classes, labels=labels)


def column_ranges(X: Any, *, missing: bool = False) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each column, NaN for a column without values.

    Raise `UnusableColumnError` for infinity and for values too far apart or too close to be squared, and
    `MissingValuesError` for NaN unless missing values are allowed.
    """
    low, high = _ranges(X)
    incomplete = np.flatnonzero(np.isnan(low))
    if incomplete.size and not missing:
        raise MissingValuesError(incomplete)
    if incomplete.size:
        low[incomplete], high[incomplete] = _ranges(
            (X.tocsc() if sparse.issparse(X) else X)[:, incomplete], missing=True
        )
    check_column_ranges(low, high)
    return low, high


def refuse_missing(X: Any) -> None:
    """Raise `MissingValuesError` if a value is NaN."""
    low, _ = _ranges(X)
    if np.isnan(low).any():
        raise MissingValuesError(np.flatnonzero(np.isnan(low)))


def _ranges(X: Any, *, missing: bool = False) -> tuple[Floats, Floats]:
    if sparse.issparse(X):
        return _sparse_ranges(X.tocsc(), missing=missing)
    low, high = (np.fmin, np.fmax) if missing else (np.minimum, np.maximum)
    return low.reduce(X, axis=0).astype(np.float64), high.reduce(X, axis=0).astype(np.float64)


def _sparse_ranges(X: Any, *, missing: bool) -> tuple[Floats, Floats]:
    """Return the smallest and largest values of sparse columns; values that are not stored are zeros."""
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
    # fmin ignores NaN, which must be reported unless missing values are allowed.
    some = zeros & filled & (missing | ~np.isnan(low))
    low[some], high[some] = np.fmin(low[some], 0.0), np.fmax(high[some], 0.0)
    return low, high
