"""Checks of features that all files share, whatever their format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.datasets.limits import ReadError, ReadLimits

#: Integers up to here, of either sign, are floats of 64 bits without rounding.
MAX_EXACT_INTEGER = 2**53
FLOAT_BYTES = 8
MAX_QUOTED_LENGTH = 80  # characters of a value in a sentence


def check_kind(path: Path, X: Any, feature_names: Sequence[str] | None) -> None:
    """Refuse features that are not a matrix of numbers with one name a column, if they have names."""
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise ValueError(f"the features of {path} must be a matrix of numbers, got shape {X.shape} of {X.dtype}")
    if feature_names is not None and len(feature_names) != X.shape[1]:
        got = f"{X.shape[1]} features and {len(feature_names)} names"
        raise ValueError(f"{path} must have one name a feature, got {got}")


def check_matrix(path: Path, X: Any, feature_names: Sequence[str] | None, limits: ReadLimits) -> None:
    """Refuse features that no selector can use: too few, too many, infinite, or integers that floats cannot hold."""
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
    """The features as float32 if they are so already, else as float64."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def column_called(names: Sequence[str] | None, j: int) -> str:
    """How a sentence calls a column: by name, or counted from 1."""
    return f"column {j + 1}" if names is None else f"column {quoted(names[j])}"


def quoted(value: Any) -> str:
    """A value of a file in a sentence: in quotes if it is text, and only its beginning if it is long."""
    if isinstance(value, str) and len(value) > MAX_QUOTED_LENGTH:
        value = value[:MAX_QUOTED_LENGTH] + "..."
    return repr(value)[: 10 * MAX_QUOTED_LENGTH]


def inexact_integer(column: str, value: Any, row: int, path: Path) -> ReadError:
    """The error for an integer that a float of 64 bits may have to round."""
    return ReadError(
        f"integers in {column} of {path} must be within +-2**53, as features are floats of 64 bits, "
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
    """Row and column of the first value that is true."""
    rows, columns = condition.nonzero()
    at = np.lexsort((columns, rows))[0]
    return int(rows[at]), int(columns[at])
