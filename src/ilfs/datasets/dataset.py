"""A data set in memory, which every loader returns and every experiment takes."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.cached import cached_property


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set in memory.

    Parameters
    ----------
    name : str
        Name in tables of results.
    X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
        The features in float32 or float64; NaN is a missing value.
    y : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Codes 0 to K-1 of the classes. For samples with several labels, an indicator matrix of 0 and 1, in which -1
        marks a label to ignore (VOC calls it difficult).
    class_names : tuple of str
        The name of each code, or of each column of the indicator matrix.
    feature_names : tuple of str, optional
        The names of the columns, all different.
    file : Path, optional
        The file that the whole data set was read from, if its bytes identify it.
    known_checksum : str, optional
        The checksum, if it is known without hashing file or content.
    test_rows : ndarray of bool of shape (n_samples,), optional
        Test rows of the official split, if the data set has one.
    groups : ndarray of int of shape (n_samples,), optional
        The group of each row, from 0. A group is never divided between training and test rows.
    folds : ndarray of int of shape (n_samples,), optional
        The number, from 0, of the split in which a row is a test row.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.datasets import Dataset
    >>> Dataset("toy", np.eye(3), np.array([0, 1, 1]), ("no", "yes"))
    <Dataset toy: 3 samples x 3 features; classes no 1, yes 2>
    """

    name: str
    X: Any
    y: NDArray[Any]
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None = None
    file: Path | None = None
    known_checksum: str = ""
    test_rows: NDArray[np.bool_] | None = None
    groups: NDArray[np.int64] | None = None
    folds: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.X.ndim != 2:
            raise ValueError(f"X of {self.name} must have two dimensions, got {self.X.ndim}")
        if len(self.y) != self.n_samples:
            raise ValueError(f"{self.name} has {self.n_samples} samples but {len(self.y)} labels")
        self._check_labels()
        self._check_feature_names()

    @cached_property
    def checksum(self) -> str:
        """SHA-256 in hexadecimal of the file, or of the content if there is no such file; computed when first read."""
        return self.known_checksum or (content_checksum(self) if self.file is None else file_checksum(self.file))

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, or of labels if a sample may have several."""
        return len(self.class_names)

    @property
    def is_multilabel(self) -> bool:
        """True if a sample may have several labels."""
        return self.y.ndim == 2

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """Number of samples of each class, in the order of the names."""
        if self.is_multilabel:
            return tuple(int(size) for size in (self.y == 1).sum(axis=0))
        return tuple(int(size) for size in np.bincount(self.y, minlength=self.n_classes))

    def __repr__(self) -> str:
        classes = ", ".join(f"{name} {size}" for name, size in zip(self.class_names, self.class_sizes, strict=True))
        if self.n_classes > 10:
            classes = f"{self.n_classes} of {min(self.class_sizes)} to {max(self.class_sizes)} samples"
        return f"<Dataset {self.name}: {self.n_samples} samples x {self.n_features} features; classes {classes}>"

    def _check_labels(self) -> None:
        if self.is_multilabel:
            allowed, rule = (-1, 1), f"an indicator matrix of {self.n_classes} columns of 0, 1 and -1"
            fits = self.y.shape[1] == self.n_classes
        else:
            allowed, rule = (0, self.n_classes - 1), f"integers from 0 to {self.n_classes - 1}"
            fits = self.y.dtype.kind in "iu"
        if not fits or (self.y.size and not allowed[0] <= self.y.min() <= self.y.max() <= allowed[1]):
            raise ValueError(f"y of {self.name} must be {rule}, as there are {self.n_classes} class names")

    def _check_feature_names(self) -> None:
        if self.feature_names is None:
            return
        if len(self.feature_names) != self.n_features:
            raise ValueError(f"{self.name} has {self.n_features} features but {len(self.feature_names)} feature names")
        repeated = [name for name, times in Counter(self.feature_names).items() if times > 1]
        if repeated:
            raise ValueError(f"feature names of {self.name} must differ, got {repeated[0]!r} more than once")


def content_checksum(table: Dataset) -> str:
    """Compute the SHA-256 of the values and names of a data set, independent of their memory layout."""
    digest = hashlib.sha256(repr((table.X.shape, table.class_names, table.feature_names)).encode())
    roles = [role for role in (table.groups, table.folds) if role is not None]
    for part in (*_parts(table.X), table.y.astype(np.int64), *roles):
        digest.update(part.dtype.str.encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def values_checksum(table: Dataset) -> str:
    """Compute the SHA-256 of values and classes alone: names, precision and the numbering of classes do not matter.

    Two sources of one data set often name features and classes differently, or store more digits.
    """
    X = table.X.astype(np.float32)
    digest = hashlib.sha256(repr(X.shape).encode())
    _, first, codes = np.unique(table.y, return_index=True, return_inverse=True)
    by_appearance = np.argsort(np.argsort(first))[codes]
    for part in (*_parts(X), by_appearance.astype(np.int64)):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _parts(X: Any) -> list[Any]:
    """Return the arrays that determine a dense or sparse matrix, in an order that does not depend on its storage."""
    if not sparse.issparse(X):
        return [X]
    sorted_rows = X.sorted_indices()
    return [sorted_rows.data, sorted_rows.indices.astype(np.int64), sorted_rows.indptr.astype(np.int64)]


def file_checksum(path: Path) -> str:
    """Compute the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
