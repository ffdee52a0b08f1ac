"""Loading of tables that are small enough for the memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.sources import BatchSource, TableSource, table_source
from ilfs.sources.batches import check_number_of_rows

LOADED_COPIES = 2  # a table is loaded if the limit allows so many copies of it: many methods make one


def loaded(source: BatchSource, max_bytes: int) -> TableSource | None:
    """Load all rows of a source, unless they take too much memory.

    Parameters
    ----------
    source : BatchSource
        Rows that are read in batches.
    max_bytes : int
        Memory limit.

    Returns
    -------
    TableSource or None
        A source in memory with the same rows; None if the table is too large.
    """
    allowed = max_bytes // LOADED_COPIES
    expected = source.reader.n_bytes
    if expected is not None and expected > allowed:
        return None
    rows = CollectedRows(source)
    for X, y, weight in source.pieces():
        rows.add(X, y, weight)
        if rows.n_bytes > allowed:
            return None
    return rows.table()


class CollectedRows:
    """Rows that are collected block by block.

    Parameters
    ----------
    source : BatchSource
        The source that they come from. If it knows its number of rows, values are copied to their place at once.
    """

    def __init__(self, source: BatchSource) -> None:
        self._source, self.n_rows, self.n_bytes = source, 0, 0
        self._X: list[Any] = []
        self._y: list[NDArray[Any]] = []
        self._weight: list[NDArray[np.float64]] = []
        reader = source.reader
        self._whole: NDArray[Any] | None = None
        if reader.n_rows is not None and not reader.is_sparse:
            self._whole = np.empty((reader.n_rows, reader.n_features), reader.dtype)

    def add(self, X: Any, y: NDArray[Any] | None, weight: NDArray[np.float64]) -> None:
        """Add a block."""
        if self._whole is not None:
            self._whole[self.n_rows : self.n_rows + X.shape[0]] = X
        else:
            self._X.append(X)
        if y is not None:
            self._y.append(y)
        self._weight.append(weight)
        self.n_rows += X.shape[0]
        self.n_bytes += X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes

    def table(self) -> TableSource:
        """Return all rows as a table in memory."""
        name = self._source.reader.name
        check_number_of_rows(sum(int(np.count_nonzero(weight)) for weight in self._weight), name)
        check_one_kind(self._y)
        y = np.concatenate(self._y) if self._y else None
        weight = np.concatenate(self._weight) if self._source.has_weights else None
        source = table_source(self._values(), y, weight, self._source.feature_names)
        if len(source.labellings) == 1:
            self._source.reader.check_classes(source.labellings[0].labels, source.labellings[0].rows)
        return source

    def _values(self) -> Any:
        if self._whole is not None:
            return self._whole[: self.n_rows]
        if sparse.issparse(self._X[0]):
            return sparse.csr_array(sparse.vstack(self._X, format="csr"))
        return np.concatenate(self._X)


def check_one_kind(parts: list[NDArray[Any]]) -> None:
    """Raise if some labels are text and others numbers, which NumPy would convert to text."""
    kinds = {"text" if part.dtype.kind in "SUO" else "numbers" for part in parts}
    if len(kinds) > 1:
        raise ValueError("labels in y must be of one type, got text in some rows and numbers in others")
