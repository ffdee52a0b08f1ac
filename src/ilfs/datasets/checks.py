"""Checks of features that apply to all file formats."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.datasets.limits import ReadError, ReadLimits

#: Integers up to this absolute value are float64 numbers without rounding.
MAX_EXACT_INTEGER = 2**53
FLOAT_BYTES = 8
MAX_QUOTED_LENGTH = 80  # characters of a value in an error message


def check_kind(path: Path, X: Any, feature_names: Sequence[str] | None) -> None:
    """Raise an error unless the features are a matrix of numbers with one name per column, if they have names."""
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise ValueError(f"the features of {path} must be a matrix of numbers, got shape {X.shape} of {X.dtype}")
    if feature_names is not None and len(feature_names) != X.shape[1]:
        got = f"{X.shape[1]} features and {len(feature_names)} names"
        raise ValueError(f"{path} must have one name per feature, got {got}")


def check_matrix(path: Path, X: Any, feature_names: Sequence[str] | None, limits: ReadLimits) -> None:
    """Raise an error for features that no selector can use: too few, too many, infinite, or too large integers."""
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(f"{path} must have at least 2 rows and 1 feature, got {X.shape[0]} and {X.shape[1]}")
    if sparse.issparse(X):
        limits.check_columns(X.shape[1], path)
    if X.dtype not in (np.float32, np.float64):  # converted to float64 afterwards
        limits.check_bytes(FLOAT_BYTES * (X.nnz if sparse.issparse(X) else X.size), path)
    if X.dtype.kind in "iu":
        _check_exact(path, X, feature_names)
    elif X.dtype.kind == "f":
        _check_finite(path, X, feature_names)


def as_floats(X: Any) -> Any:
    """Convert features to float64 unless they are float32 or float64 already."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def column_called(names: Sequence[str] | None, j: int) -> str:
    """Name a column in an error message, by its name or by its number from 1."""
    return f"column {j + 1}" if names is None else f"column {quoted(names[j])}"


def quoted(value: Any) -> str:
    """Format a value for an error message: in quotes if it is text, shortened if it is long."""
    if isinstance(value, str) and len(value) > MAX_QUOTED_LENGTH:
        value = value[:MAX_QUOTED_LENGTH] + "..."
    return repr(value)[: 10 * MAX_QUOTED_LENGTH]


def inexact_integer(column: str, value: Any, row: int, path: Path) -> ReadError:
    """Make the error for an integer that float64 may have to round."""
    return ReadError(
        f"integers in {column} of {path} must be within +-2**53, as features are float64, "
        f"got {str(value)[:60]} in row {row}; drop the column if it is an identifier, else store it as floats"
    )


def _check_exact(path: Path, X: Any, feature_names: Sequence[str] | None) -> None:
    values = X.data if sparse.issparse(X) else X
    if values.size and (int(values.max()) > MAX_EXACT_INTEGER or int(values.min()) < -MAX_EXACT_INTEGER):
        i, j = _first((X > MAX_EXACT_INTEGER) + (X < -MAX_EXACT_INTEGER))
        raise inexact_integer(column_called(feature_names, j), X[i, j], i + 1, path)


def _check_finite(path: Path, X: Any, feature_names: Sequence[str] | None) -> None:
    if np.isinf(X.data if sparse.issparse(X) else X).any():
        i, j = _first(abs(X) == np.inf)
        raise ValueError(f"{column_called(feature_names, j)} of {path} must be finite, got {X[i, j]} in row {i + 1}")


def _first(condition: Any) -> tuple[int, int]:
    """Find the row and column of the first true value."""
    rows, columns = condition.nonzero()
    at = np.lexsort((columns, rows))[0]
    return int(rows[at]), int(columns[at])
