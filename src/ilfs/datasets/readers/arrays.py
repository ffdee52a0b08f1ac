"""Arrays by name: NumPy's npz and npy, MATLAB's mat up to version 7."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.datasets.archive import distinct, matrix_of, read_arrays
from ilfs.datasets.readers.assemble import Drop, Target, assemble, find_columns, find_kept
from ilfs.datasets.table import Table, with_checksum

FEATURES = ("X", "x", "data", "features", "fea")
TARGETS = ("y", "Y", "target", "labels", "label", "class")


def read_npz(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read features and target from a NumPy archive; sparse features are CSR parts."""
    parts = read_arrays(path)
    if "class_names" in parts and "y" in parts and target is None:
        return with_checksum(_of_archive(path, parts, drop, name))
    X = matrix_of(parts, path) if "indptr" in parts else parts[_which(parts, FEATURES, "features", path)]
    names = parts.get("feature_names")
    y = parts[_target_in(parts, target, path)]
    return _table(path, name, X, y, drop, None if names is None else distinct(names.tolist()))


def read_npy(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read a matrix of which one column is the target."""
    try:
        matrix = np.load(path, allow_pickle=False)
    except Exception as error:  # a damaged header is read as Python and raises almost anything
        raise ValueError(f"{path} must be a whole .npy file without pickled objects: {error}") from error
    if target is None:
        raise ValueError(
            f"target must say which column of {path} holds the classes (-1 is the last), or keep X and y in an .npz"
        )
    if matrix.ndim != 2:
        raise ValueError(f"{path} must be a matrix, got an array of shape {matrix.shape}")
    at, features = find_columns(None, matrix.shape[1], target, drop, path)
    return _table(path, name, matrix[:, features], matrix[:, at])


def read_mat(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read features and target from a MATLAB file."""
    from scipy.io import loadmat

    try:
        loaded = loadmat(path, appendmat=False)
    except NotImplementedError as error:
        raise ValueError(f"{path} is of MATLAB's version 7.3: save it again with save(..., '-v7')") from error
    except Exception as error:  # a damaged file makes SciPy raise almost anything
        raise ValueError(f"{path} must be a whole MATLAB file: {error}") from error
    parts = {key: value for key, value in loaded.items() if not key.startswith("__")}
    X = parts[_which(parts, FEATURES, "features", path)]
    return _table(path, name, X, parts[_target_in(parts, target, path)], drop)


def _of_archive(path: Path, parts: Mapping[str, Any], drop: Drop, name: str) -> Table:
    """Our own format, in which the classes have codes already."""
    names = distinct(parts["feature_names"].tolist()) if "feature_names" in parts else None
    X, names = _without(drop, matrix_of(parts, path), names, path)
    return Table(name, X, parts["y"], tuple(map(str, parts["class_names"])), names)


def _without(drop: Drop, X: Any, names: tuple[str, ...] | None, path: Path) -> tuple[Any, tuple[str, ...] | None]:
    """The features that are not dropped, and their names."""
    if not drop:
        return X, names
    kept = find_kept(names, X.shape[1], drop, path)
    return X[:, kept], None if names is None else tuple(names[j] for j in kept)


def _target_in(parts: Mapping[str, Any], target: Target, path: Path) -> str:
    if target is None:
        return _which(parts, TARGETS, "classes", path)
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
    path: Path, name: str, X: Any, target: Any, drop: Drop = (), feature_names: tuple[str, ...] | None = None
) -> Table:
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise ValueError(f"the features of {path} must be a matrix of numbers, got shape {X.shape} of {X.dtype}")
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    X, names = _without(drop, X, feature_names, path)
    return assemble(path, name, X, _labels(target, path), names)


def _labels(target: Any, path: Path) -> list[Any]:
    """The target as a list; MATLAB keeps vectors as matrices and texts in cells."""
    target = np.asarray(target.todense() if sparse.issparse(target) else target)
    if target.size != max(target.shape, default=0):
        raise ValueError(f"the target of {path} must be a vector, got shape {target.shape}")
    return [_out_of_cell(label) for label in target.ravel()]


def _out_of_cell(label: Any) -> Any:
    if isinstance(label, np.ndarray) and label.size == 1:
        label = label.ravel()[0]
    return label.strip() if isinstance(label, str) else label  # MATLAB pads texts to one length
