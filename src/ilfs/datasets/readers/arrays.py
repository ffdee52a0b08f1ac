"""Readers of files with named arrays: NumPy's npz and npy, MATLAB's mat up to version 7."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy import sparse

from ilfs.datasets.archive import check_same_rows, classes_of, feature_names_of, features_of, matrix_of
from ilfs.datasets.checks import as_floats, check_kind, check_matrix
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.npz import NpzArrays, load_npy
from ilfs.datasets.readers.assemble import Drop, Target, assemble, find_columns, find_kept
from ilfs.datasets.readers.matlab import MatVariables

FEATURE_ARRAYS = ("X", "x", "data", "features", "fea")
TARGET_ARRAYS = ("y", "Y", "target", "labels", "label", "class")


def read_npz(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read features and target from a NumPy archive; sparse features are the arrays of a CSR matrix."""
    parts = NpzArrays(path, limits)
    if "class_names" in parts and "y" in parts and target is None:
        return _of_archive(path, parts, drop, name, limits)
    of_target = _target_in(parts, target, path)
    if "indptr" in parts:
        X = matrix_of(parts, path)
    else:
        of_features = _which(parts, FEATURE_ARRAYS, "features", path)
        check_same_rows(parts.shape(of_features), parts.shape(of_target), path)
        X = parts[of_features]
    return _table(path, name, X, parts[of_target], limits, drop, feature_names_of(parts))


def read_npy(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read a matrix, one column of which is the target."""
    matrix = load_npy(path)
    if target is None:
        raise ValueError(
            f"target must be the column of {path} that holds the classes (-1 is the last), got None; "
            "or save X and y in an .npz file"
        )
    if matrix.ndim != 2:
        raise ValueError(f"{path} must be a matrix, got an array of shape {matrix.shape}")
    at, features = find_columns(None, matrix.shape[1], target, drop, path)
    return _table(path, name, matrix[:, features], matrix[:, at], limits)


def read_mat(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read features and target from a MATLAB file."""
    parts = MatVariables(path, limits)
    of_features = _which(parts, FEATURE_ARRAYS, "features", path)
    of_target = _target_in(parts, target, path)
    return _table(path, name, parts[of_features], parts[of_target], limits, drop)


def _of_archive(path: Path, parts: NpzArrays, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read an archive of this package, in which the classes are codes already."""
    X, names = features_of(parts, path)
    y, class_names = classes_of(parts, X.shape[0], path)
    X, names = _without(drop, X, names, path)
    check_matrix(path, X, names, limits)
    return Dataset(name, as_floats(X), y, class_names, names)


def _without(drop: Drop, X: Any, names: tuple[str, ...] | None, path: Path) -> tuple[Any, tuple[str, ...] | None]:
    """Return the features that are not dropped, and their names."""
    if not drop:
        return X, names
    kept = find_kept(names, X.shape[1], drop, path)
    return X[:, kept], None if names is None else tuple(names[j] for j in kept)


def _target_in(parts: Mapping[str, Any], target: Target, path: Path) -> str:
    if target is None:
        return _which(parts, TARGET_ARRAYS, "classes", path)
    if target not in parts:
        raise ValueError(f"target must be an array of {path} ({', '.join(parts)}), got {target!r}")
    return str(target)


def _which(parts: Mapping[str, Any], usual: Sequence[str], what: str, path: Path) -> str:
    found = [key for key in usual if key in parts]
    if not found:
        got = ", ".join(parts) or "none"
        raise ValueError(
            f"{path} must have an array of {what} called {', '.join(usual[:-1])} or {usual[-1]}, got {got}"
        )
    return found[0]


def _table(
    path: Path,
    name: str,
    X: Any,
    target: Any,
    limits: ReadLimits,
    drop: Drop = (),
    feature_names: tuple[str, ...] | None = None,
) -> Dataset:
    check_kind(path, X, feature_names)
    labels = _labels(target, X.shape[0], limits, path)
    X, names = _without(drop, sparse.csr_array(X) if sparse.issparse(X) else X, feature_names, path)
    return assemble(path, name, X, labels, limits, names)


def _labels(target: Any, n_rows: int, limits: ReadLimits, path: Path) -> list[Any]:
    """Convert the target to a list; MATLAB stores vectors as matrices and texts in cell arrays."""
    # At most one axis of a vector is longer than 1.
    if math.prod(target.shape) != max(target.shape, default=0):
        raise ValueError(f"the target of {path} must be a vector, got shape {target.shape}")
    if n_rows not in target.shape:
        got = f"{n_rows} rows and {math.prod(target.shape)} labels"
        raise ValueError(f"{path} must have one label per row, got {got}")
    if sparse.issparse(target):  # a small file may declare a huge length
        limits.check_bytes(n_rows * target.dtype.itemsize, path)
        target = target.toarray()
    return [label.strip() if isinstance(label, str) else label for label in target.ravel()]  # MATLAB pads texts
