"""Data sets as compressed NumPy archives, the format that registered data sets are kept in.

Features are an array ``X``, or ``data``, ``indices``, ``indptr`` and ``shape`` of a CSR matrix. ``y`` has the classes
as codes 0 to K-1, and ``class_names`` their names. ``feature_names`` is optional, and so is ``split``, the name of a
split for each row. Other arrays are ignored. Nothing is ever unpickled.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import sparse_defect
from ilfs.datasets.checks import as_floats, check_kind, check_matrix
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import DEFAULT_LIMITS, ReadError, ReadLimits
from ilfs.datasets.npz import NpzArrays

CSR_PARTS = ("data", "indices", "indptr", "shape")


def read_archive(path: Path, name: str, split: str = "", limits: ReadLimits = DEFAULT_LIMITS) -> Dataset:
    """Read the data set in an archive, or only the rows of one split."""
    parts = NpzArrays(path, limits)
    needed = ["y", "class_names", *(["split"] if split else [])]
    if not parts.keys() >= set(needed):
        raise ValueError(f"{path} must have the arrays {', '.join(needed)}, got {', '.join(parts) or 'none'}")
    X, names = features_of(parts, path)
    check_matrix(path, X, names, limits)
    codes, class_names = classes_of(parts, X.shape[0], path)
    rows = _rows_of(parts, split, X.shape[0], path) if split else slice(None)
    return Dataset(
        name=name,
        X=as_floats(X[rows]),
        y=codes[rows],
        class_names=class_names,
        feature_names=names,
        file=path,
    )


def features_of(parts: NpzArrays, path: Path) -> tuple[Any, tuple[str, ...] | None]:
    """Read the features of an archive and their names."""
    if "X" in parts:  # check the headers before anything is decompressed
        check_same_rows(parts.shape("X"), parts.shape("y"), path)
    X, names = matrix_of(parts, path), feature_names_of(parts)
    check_kind(path, X, names)
    return X, names


def feature_names_of(parts: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Read the feature names of an archive, if it has any, and make them distinct."""
    return distinct(parts["feature_names"].ravel().tolist()) if "feature_names" in parts else None


def classes_of(parts: Mapping[str, Any], n_rows: int, path: Path) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Read the codes of the classes, or the indicator matrix of labels, and the class names."""
    y, class_names = parts["y"], tuple(map(str, parts["class_names"].ravel()))
    if y.ndim not in (1, 2) or y.dtype.kind not in "iu":
        raise ValueError(
            f"y of {path} must be integers, codes of its class_names or an indicator matrix of labels, "
            f"got shape {y.shape} of {y.dtype}"
        )
    if len(y) != n_rows:
        raise ValueError(f"{path} must have one label per row, got {n_rows} rows and {len(y)} labels")
    if len(class_names) < 2 or len(set(class_names)) < len(class_names):
        raise ValueError(f"class_names of {path} must be two or more different names, got {', '.join(class_names[:5])}")
    _check_codes(y, len(class_names), path)
    return y, class_names


def _check_codes(y: NDArray[Any], n_classes: int, path: Path) -> None:
    low, high = (0, n_classes - 1) if y.ndim == 1 else (-1, 1)
    if y.ndim == 2 and y.shape[1] != n_classes:
        raise ValueError(f"y of {path} must have a column for each of {n_classes} class names, got {y.shape[1]}")
    if y.size and not low <= y.min() <= y.max() <= high:
        got = f"values from {y.min()} to {y.max()}"
        raise ValueError(
            f"y of {path} must be integers from {low} to {high}, as it has {n_classes} class names, got {got}"
        )


def check_same_rows(features: tuple[int, ...], target: tuple[int, ...], path: Path) -> None:
    """Raise an error unless the target has as many values as the features have rows."""
    # Classes may be stored as a row or a column vector, so the labels may be along any axis of the target.
    if len(features) == 2 and features[0] not in target:
        n_labels = max(target, default=0)
        raise ValueError(f"{path} must have one label per row, got {features[0]} rows and {n_labels} labels")


def _rows_of(parts: Mapping[str, Any], split: str, n_rows: int, path: Path) -> NDArray[np.bool_]:
    marks = parts["split"]
    if marks.shape != (n_rows,):
        raise ValueError(f"split of {path} must have one value for each of {n_rows} rows, got shape {marks.shape}")
    return np.asarray(marks == split)


def write_archive(file: IO[bytes], table: Dataset, **notes: str) -> None:
    """Write a data set as an archive, with texts beside its arrays."""
    X = table.X
    if sparse.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    else:
        arrays = {"X": X}
    if table.feature_names is not None:
        arrays["feature_names"] = np.array(table.feature_names)
    arrays |= {key: np.array(text) for key, text in notes.items()}
    np.savez_compressed(file, y=table.y, class_names=np.array(table.class_names), **arrays)


def read_provenance(path: Path) -> dict[str, str]:
    """Read where a fetched archive comes from; the result is empty for an archive that does not say."""
    parts = NpzArrays(path, DEFAULT_LIMITS)
    try:
        found = json.loads(str(parts["fetched"].ravel()[0])) if "fetched" in parts else {}
    except (ValueError, IndexError) as error:
        raise ValueError(f"the note of its origin in {path} must be JSON: {error}") from error
    return {str(key): str(text) for key, text in found.items()}


def matrix_of(parts: Mapping[str, Any], path: Path) -> Any:
    """Read the features of an archive as a dense array or a CSR matrix."""
    if "X" in parts:
        return parts["X"]
    if not parts.keys() >= set(CSR_PARTS):
        raise ValueError(f"{path} must have an array X or data, indices, indptr and shape, got {', '.join(parts)}")
    data, *places = (parts[key] for key in CSR_PARTS)
    for key, array in zip(CSR_PARTS[1:], places, strict=True):
        if array.dtype.kind not in "iu" or array.ndim != 1:  # SciPy would round floats
            raise ValueError(f"{key} of {path} must be a vector of integers, got shape {array.shape} of {array.dtype}")
    return checked_sparse(sparse.csr_array, data, places[0], places[1], places[2].tolist(), path)


def checked_sparse(kind: Any, data: Any, indices: Any, indptr: Any, shape: Sequence[int], path: Path) -> Any:
    """Build a ``csr_array`` or ``csc_array``, or raise an error if an index is outside of its shape."""
    what = f"{path} must hold a valid {kind.__name__[:3].upper()} matrix"
    if len(shape) != 2 or min(shape) < 0 or max(shape) > np.iinfo(np.int64).max:
        raise ReadError(f"{what}, got the shape {tuple(shape)}")
    outer, inner = shape if kind is sparse.csr_array else shape[::-1]
    if defect := sparse_defect(indptr, indices, outer, inner):
        raise ReadError(f"{what}: {defect}")
    n_values = int(indptr[-1])  # the arrays may be longer than the matrix needs
    data, indices = data[:n_values], indices[:n_values]
    if data.shape != (n_values,) or data.dtype.kind not in "buif":
        raise ReadError(f"{what}: data must be {n_values} numbers, got shape {data.shape} of {data.dtype}")
    return kind((data, indices, indptr), shape=tuple(shape))


def distinct(names: Sequence[Any]) -> tuple[str, ...]:
    """Make names distinct by numbering repeated ones.

    Microarrays have several probes per gene, and results must distinguish them.

    >>> distinct(["a", "b", "a"])
    ('a', 'b', 'a.2')
    """
    given, made = set(map(str, names)), list[str]()
    seen = set[str]()
    for name in map(str, names):
        new, number = name, 1
        while new in seen or (number > 1 and new in given):  # a.2 may be the name of another column
            number += 1
            new = f"{name}.{number}"
        seen.add(new)
        made.append(new)
    return tuple(made)
