"""Matrices in NumPy's ``.npy`` files, read some rows at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.datasets.npz import load_npy, whole_file
from ilfs.npz import read_header
from ilfs.sources.reader import Batch, BatchReader, column_places
from ilfs.sources.roles import Request, find_roles


class NpyReader(BatchReader):
    """Reader of a matrix in an ``.npy`` file.

    Parameters
    ----------
    path : Path
        The file.
    request : Request
        Target, weight and columns to drop, by position.
    """

    def __init__(self, path: Path, request: Request) -> None:
        self.path, self.name = path, str(path)
        with whole_file(path, ".npy file without pickled objects"), path.open("rb") as file:
            header = read_header(file, path.stat().st_size)
            self._offset = file.tell()
        if len(header.shape) != 2 or header.dtype.kind not in "buif":
            raise ValueError(f"{path} must be a matrix of numbers, got shape {header.shape} of {header.dtype}")
        self.n_rows, self._n_columns = header.shape
        self._dtype, self._is_by_column = header.dtype, is_fortran(path)
        self._roles = find_roles(None, self._n_columns, request.target, request.drop, request.weight, self.name)
        self.n_features, self.has_labels = len(self._roles.features), bool(self._roles.targets)
        self.has_weights = self._roles.weight is not None
        self.dtype = np.dtype(np.float32 if header.dtype == np.float32 else np.float64)

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last."""
        roles = self._roles
        wanted = [roles.features[j] for j in column_places(columns, self.n_features)]
        for rows in self._rows(max_rows):
            y = None if not roles.targets else rows[:, roles.targets if roles.is_indicator else roles.targets[0]]
            weight = None if roles.weight is None else rows[:, roles.weight].astype(np.float64)
            X = rows if len(wanted) == self._n_columns else rows[:, wanted]
            yield Batch(X, y, weight, rows.shape[0])

    def _rows(self, max_rows: int) -> Iterator[NDArray[Any]]:
        """Read whole rows."""
        assert self.n_rows is not None
        for start in range(0, self.n_rows, max_rows):
            n_rows = min(max_rows, self.n_rows - start)
            yield self._mapped(start, n_rows) if self._is_by_column else self._read(start, n_rows)

    def _read(self, start: int, n_rows: int) -> NDArray[Any]:
        """Read rows of a matrix in C order; mapping the file would fill the memory with pages that were read."""
        n_values, offset = n_rows * self._n_columns, self._offset + start * self._n_columns * self._dtype.itemsize
        return np.fromfile(self.path, self._dtype, n_values, offset=offset).reshape(n_rows, self._n_columns)

    def _mapped(self, start: int, n_rows: int) -> NDArray[Any]:
        """Copy rows of a matrix in Fortran order."""
        shape = (self.n_rows, self._n_columns)
        mapped = np.memmap(self.path, self._dtype, "r", self._offset, shape, "F")  # type: ignore[call-overload]
        return np.array(mapped[start : start + n_rows], order="C")


def is_fortran(path: Path) -> bool:
    """Check if a matrix is stored by columns."""
    with path.open("rb") as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        return bool(read(file)[1])


def labels_in(path: Path, role: str) -> NDArray[Any]:
    """Read labels or weights from another ``.npy`` file."""
    values = load_npy(path)
    if values.ndim not in (1, 2) or (role == "weight" and values.ndim == 2):
        raise ValueError(f"{role} in {path} must have a value for each row, got an array of shape {values.shape}")
    return values
