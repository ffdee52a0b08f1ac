"""AnnData, in memory or backed by an ``.h5ad`` file: rows are observations, features are variables.

The matrix on disk is read from its HDF5 arrays, whose layout anndata documents. anndata's own slices of a sparse matrix
on disk depend on private functions of SciPy, and fail with its newer versions.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Integers, sparse_defect
from ilfs.sources.batches import BatchSource, check_all_used, check_number_of_rows, check_row_weights
from ilfs.sources.dask import dask_anndata
from ilfs.sources.label_checks import check_kind_of_labels, check_types, warn_of_quantity
from ilfs.sources.reader import Batch, BatchReader
from ilfs.sources.roles import MAX_NAMES_SHOWN, Request, check_column_names, find_column
from ilfs.sources.source import Source
from ilfs.sources.tables import table_source

STORED_BYTES = 12  # of a stored value of a sparse matrix in memory, with its index
STRIP_BYTES = 2**26  # most bytes of the columns that are read at a time from a matrix stored by columns
COPIES_OF_STRIP = 3  # as read, by rows, and the block that is cut from it


def open_anndata(X: Any, request: Request) -> Source:
    """Make a source of an AnnData; the target and the weight are columns of its observations."""
    if X.isbacked and X.is_view:
        raise TypeError(
            f"{request.name} must be a whole file, got a view of a backed AnnData: load it, adata.to_memory()"
        )
    matrix = X.X
    check_column_names(list(X.var_names), f"{request.name}.var_names")
    if matrix is None:
        raise ValueError(f"{request.name} must have a matrix X, got an AnnData without one")
    kept = kept_variables(list(X.var_names), request)
    if is_dask(matrix):
        return open_dask_matrix(X if kept is None else X[:, kept], request)
    if not X.isbacked:
        return in_memory(X, matrix, kept, request)
    reader = AnnDataReader(X, kept, request)
    return BatchSource(reader, request.y, request.sample_weight, memory_limit=request.memory_limit)


def kept_variables(names: list[str], request: Request) -> Integers | None:
    """Return the positions of the variables that are not dropped; None if none is dropped."""
    if not request.drop:
        return None
    where, places = f"{request.name}.var_names", {name: j for j, name in enumerate(names)}
    unknown = [name for name in request.drop if isinstance(name, str) and name not in places]
    if unknown:
        some, n_more = ", ".join(map(repr, unknown[:MAX_NAMES_SHOWN])), len(unknown) - MAX_NAMES_SHOWN
        more = f" and {n_more} more" if n_more > 0 else ""
        raise ValueError(f"drop must hold names from {where} (such as {', '.join(names[:3])}), got {some}{more}")
    dropped = [
        places[one] if isinstance(one, str) else find_column("drop", one, names, len(names), where)
        for one in request.drop
    ]
    kept = np.delete(np.arange(len(names)), dropped)
    if not kept.size:
        raise ValueError(f"{request.name} must have at least one variable that is not dropped, got none")
    return kept


def is_dask(matrix: Any) -> bool:
    """Check if the matrix is a Dask array, as in a lazy AnnData."""
    return type(matrix).__module__.partition(".")[0] == "dask"


def open_dask_matrix(X: Any, request: Request) -> Source:
    """Make a source of an AnnData whose matrix is a Dask array."""
    target = request.target if isinstance(request.target, str) else labels_of(X, request)
    y = request.y if target is None else target
    weight = weights_of(X, request) if request.sample_weight is None else request.sample_weight
    return dask_anndata(X, y, weight, reads_labels=y is not None)


def in_memory(X: Any, matrix: Any, kept: Integers | None, request: Request) -> Source:
    """Make a table in memory of an AnnData; the matrix is copied only if variables are dropped."""
    if sparse.issparse(matrix):
        form = matrix.format if matrix.format in ("csr", "csc") else "csr"
        matrix = matrix.asformat(form)
        outer, inner = matrix.shape if form == "csr" else matrix.shape[::-1]
        if defect := sparse_defect(matrix.indptr, matrix.indices, outer, inner):
            raise ValueError(f"{request.name}.X must be a valid {form.upper()} matrix: {defect}")
    matrix = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    refuse_other_numbers(matrix.dtype, request.name)
    check_number_of_rows(matrix.shape[0], request.name)
    y = labels_of(X, request) if request.y is None else request.y
    weight = weights_of(X, request) if request.sample_weight is None else request.sample_weight
    check_all_used("y", y, matrix.shape[0])
    check_all_used("sample_weight", weight, matrix.shape[0])
    if y is not None:
        y = check_types(y)
        check_kind_of_labels(y)
    names = list(X.var_names)
    if kept is not None:
        matrix, names = matrix[:, kept], [names[j] for j in kept]
    source = table_source(matrix, y, check_row_weights(weight, 0), names)
    if len(source.labellings) == 1:
        warn_of_quantity(source.labellings[0].labels, source.labellings[0].rows)
    return source


class AnnDataReader(BatchReader):
    """Reader of a backed AnnData.

    Parameters
    ----------
    X : AnnData
        Opened with ``anndata.read_h5ad(path, backed="r")``.
    kept : ndarray of int or None
        Variables that are features; None for all of them.
    request : Request
        Target and weight are columns of the observations.
    """

    def __init__(self, X: Any, kept: Integers | None, request: Request) -> None:
        self.name, self._kept, matrix, names = request.name, kept, X.X, list(X.var_names)
        refuse_other_numbers(matrix.dtype, request.name)
        self.n_rows, self._n_variables = matrix.shape
        self.feature_names = names if kept is None else [names[j] for j in kept]
        self.n_features = len(self.feature_names)
        self._y, self._sample_weight = labels_of(X, request), weights_of(X, request)
        self.has_labels, self.has_weights = self._y is not None, self._sample_weight is not None
        self.dtype = np.dtype(np.float32 if matrix.dtype == np.float32 else np.float64)
        form = getattr(matrix, "format", "dense")
        kind = {"csr": RowsOnDisk, "csc": ColumnsOnDisk}.get(form, DenseOnDisk)
        self._matrix, self.is_sparse = kind(matrix), form in ("csr", "csc")
        if isinstance(self._matrix, ColumnsOnDisk):
            self.strip_columns = self._matrix.strip_width(request.memory_limit)

    @property
    def n_bytes(self) -> int | None:
        """Estimate of the bytes that all values take in memory."""
        if not self.is_sparse:
            return super().n_bytes
        return int(STORED_BYTES * self._matrix.n_stored * self.n_features // max(self._n_variables, 1))

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last; the matrix is not read if only labels are needed."""
        assert self.n_rows is not None
        if not self.is_sparse:  # whole rows are read, which are wider than those of a block if variables are dropped
            max_rows = max(max_rows * self.n_features // self._n_variables, 1)
        starts = range(0, self.n_rows, max_rows)
        spans = [slice(start, min(start + max_rows, self.n_rows)) for start in starts]
        wanted = columns if self._kept is None else self._kept if columns is None else self._kept[columns]
        values = self._matrix.read(spans, wanted) if wanted is None or wanted.size else (None for _ in spans)
        for rows, X in zip(spans, values, strict=True):
            y, weight = (part if part is None else part[rows] for part in (self._y, self._sample_weight))
            yield Batch(X, y, weight, rows.stop - rows.start)


class DenseOnDisk:
    """A dense matrix in an HDF5 file."""

    def __init__(self, matrix: Any) -> None:
        self._matrix, self.n_stored = matrix, int(np.prod(matrix.shape))

    def read(self, spans: list[slice], columns: Integers | None) -> Iterator[Any]:
        """Read spans of rows."""
        for rows in spans:
            X = np.asarray(self._matrix[rows])
            yield X if columns is None else X[:, columns]


class RowsOnDisk:
    """A sparse matrix stored by rows (CSR) in an HDF5 file."""

    def __init__(self, matrix: Any) -> None:
        self.shape, group = matrix.shape, matrix.group
        self._data, self._indices = group["data"], group["indices"]
        self._indptr: NDArray[np.int64] = group["indptr"][...].astype(np.int64)
        self.n_stored = int(self._indptr[-1])

    def read(self, spans: list[slice], columns: Integers | None) -> Iterator[Any]:
        """Read spans of rows as CSR matrices."""
        for rows in spans:
            X = sparse.csr_array(
                self._stored(rows.start, rows.stop), shape=(rows.stop - rows.start, self.shape[1]), dtype=None
            )
            yield X if columns is None else X[:, columns]

    def _stored(self, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Read the stored values of some rows, or columns, with their indices and pointers."""
        pointers = self._indptr[start : stop + 1]
        span = slice(int(pointers[0]), int(pointers[-1]))
        return as_floats(self._data[span]), self._indices[span], pointers - pointers[0]


class ColumnsOnDisk(RowsOnDisk):
    """A sparse matrix stored by columns (CSC) in an HDF5 file: columns are read from the first row to the last."""

    def strip_width(self, memory_limit: int | None) -> int:
        """Return the number of columns to read at a time."""
        n_bytes = STRIP_BYTES if memory_limit is None else min(STRIP_BYTES, memory_limit // 2)
        per_column = COPIES_OF_STRIP * STORED_BYTES * max(self.n_stored // max(self.shape[1], 1), 1)
        return int(min(max(n_bytes // per_column, 1), max(self.shape[1], 1)))

    def read(self, spans: list[slice], columns: Integers | None) -> Iterator[Any]:
        """Read columns, and cut them into spans of rows."""
        runs = [(0, self.shape[1])] if columns is None else neighbours(columns)
        parts = [
            sparse.csc_array(self._stored(start, stop), shape=(self.shape[0], stop - start)) for start, stop in runs
        ]
        by_rows = sparse.hstack(parts, format="csr") if len(parts) > 1 else parts[0].tocsr()
        del parts
        for rows in spans:
            yield by_rows[rows]


def neighbours(columns: Integers) -> list[tuple[int, int]]:
    """Return the first and the end of every run of consecutive columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.sources.anndata import neighbours
    >>> neighbours(np.array([2, 3, 4, 7]))
    [(2, 5), (7, 8)]
    """
    ends = [0, *(np.flatnonzero(np.diff(columns) != 1) + 1).tolist(), columns.size]
    return [(int(columns[start]), int(columns[stop - 1]) + 1) for start, stop in pairwise(ends)]


def as_floats(values: NDArray[Any]) -> NDArray[Any]:
    """Convert values to float64, unless they are float32."""
    return values if values.dtype == np.float32 else values.astype(np.float64, copy=False)


def refuse_other_numbers(dtype: Any, name: str) -> None:
    """Raise if the matrix does not hold real numbers or booleans."""
    if np.dtype(dtype).kind not in "buif":
        raise ValueError(f"{name}.X must hold numbers, got {dtype}")


def labels_of(X: Any, request: Request) -> NDArray[Any] | None:
    """Return the labels of the observations, from columns of ``obs``."""
    target = request.target
    if target is None or isinstance(target, str | int):
        return None if target is None else obs_column(X, "target", target, request.name)
    return np.column_stack([obs_column(X, "target", one, request.name) for one in target])


def weights_of(X: Any, request: Request) -> NDArray[Any] | None:
    """Return the weights of the observations, from a column of ``obs``."""
    return None if request.weight is None else obs_column(X, "weight", request.weight, request.name)


def obs_column(X: Any, role: str, column: Any, name: str) -> NDArray[Any]:
    """Return a column of the observations; categories become their names."""
    names = [str(one) for one in X.obs.columns]
    found = X.obs.iloc[:, find_column(role, column, names, len(names), f"{name}.obs")]
    return np.asarray(found.astype(object) if found.dtype.name in ("category", "string", "str") else found)
