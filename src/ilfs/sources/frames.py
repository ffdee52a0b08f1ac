"""Data frames of pandas, polars and pyarrow whose columns have several types, converted block by block.

Such a frame is not stored as one array. numpy would copy all of it, with some libraries several times. Here only the
block that is being read is converted.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers, read_only
from ilfs.sources.arrow_columns import first_batch, has_one_chunk
from ilfs.sources.tables import BLOCK_ROWS, ArraySource, DenseSource
from ilfs.statistics.block import ColumnArrays, column_addresses

# A frame that takes less than this in float32 is copied whole, which is faster and takes at most 64 MB (in float64).
MIN_BYTES_BY_BLOCK = 2**25
GATHERED_ROWS = 2048  # rows of chosen columns converted together: 16 MB for a thousand columns
FILLED_COLUMNS = 64  # columns converted at a time when the whole table is needed
FOUND_COLUMNS = 64  # columns whose memory is looked up at a time
EXACT_IN_FLOAT32 = ("float32", "float16", "halffloat", "int8", "int16", "uint8", "uint16", "bool", "boolean")
PYARROW_TYPES = {"float": "float32", "double": "float64"}  # types with other names
NOT_FOUND, NOT_CONTIGUOUS = 0, -1  # in place of the address of a column

# Address of a column, and the column as an array if the library makes one without a copy.
FoundColumn = tuple[int, NDArray[Any] | None]


class FrameSource(DenseSource):
    """Source over a data frame, which converts each block when it is read.

    Parameters
    ----------
    frame : data frame
        A pandas, polars or pyarrow data frame with numeric columns.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Class of every row, or an indicator matrix: each of its columns is a labelling.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows.
    types : set of str, optional
        The result of `column_types`, if it is known.
    """

    by_column = True

    def __init__(
        self,
        frame: Any,
        y: NDArray[Any] | None = None,
        sample_weight: Floats | None = None,
        types: set[str] | None = None,
    ) -> None:
        self._read_column = column_reader(frame)
        self._gathered: tuple[int, Integers, NDArray[Any]] | None = None
        self._lock = threading.Lock()
        n_rows, n_features = frame.shape
        super().__init__(n_rows, n_features, y, sample_weight, frame_names(frame))
        types = column_types(frame) if types is None else types
        self._dtype, self.in_place = common_dtype(types), len(types) == 1 and types <= {"float32", "float64"}
        self._find_columns = column_finder(frame, self._dtype)
        self._views: list[NDArray[Any] | None] = [None] * n_features
        self._addresses = np.full(n_features, NOT_FOUND)
        if self.in_place and has_one_chunk(frame):
            self._find_at_once(frame)

    def _find_at_once(self, frame: Any) -> None:
        """Find out where all columns are in memory; columns that are not found here are left to `_look_up`."""
        self._batch = first_batch(frame)  # keeps the memory allocated
        if self._batch is not None:
            self._batch.find_values(self.n_rows, self._dtype, self._addresses)

    def column_arrays(self, rows: slice, columns: slice | Integers) -> ColumnArrays:
        """Return some rows of some columns; only columns that are not floats in memory are copied."""
        self._look_up(columns)
        moved = self._addresses[columns] == NOT_CONTIGUOUS
        addresses = self._addresses[columns] + rows.start * self._dtype.itemsize
        converted = self._convert(rows, np.arange(self.n_features)[columns][moved])
        addresses[moved] = column_addresses(converted)
        return ColumnArrays(addresses, rows.stop - rows.start, self._dtype, (self, converted))

    def _look_up(self, columns: slice | Integers) -> None:
        """Find out where columns are in memory. Two threads may do so at once: both results are equal."""
        places = np.arange(self.n_features)[columns]
        for start in np.unique(places[self._addresses[columns] == NOT_FOUND] // FOUND_COLUMNS) * FOUND_COLUMNS:
            stop = min(int(start) + FOUND_COLUMNS, self.n_features)
            addresses, self._views[start:stop] = zip(*self._find_columns(int(start), stop), strict=True)
            self._addresses[start:stop] = addresses  # last: other threads use a column as soon as it has an address

    def values(self, rows: slice, columns: slice) -> tuple[NDArray[Any], int]:
        """Convert a rectangle of the frame to one array with contiguous columns."""
        return read_only(self._convert(rows, np.arange(columns.start, columns.stop))), 0

    def gather(self, rows: slice, columns: Integers) -> Floats:
        """Convert some columns to float64.

        An engine requests a few hundred rows at a time. If a column is not an array in memory, converting so few rows
        takes as long as converting many. So `GATHERED_ROWS` rows are converted at once and kept until later rows are
        requested.
        """
        self._look_up(columns)
        if not (self._addresses[columns] == NOT_CONTIGUOUS).any():
            return self.column_arrays(rows, columns).to_rows(np.float64)
        start = rows.start - rows.start % GATHERED_ROWS
        stop = min(start + GATHERED_ROWS, self.n_rows)
        if rows.stop > stop:
            return self._convert(rows, columns).astype(np.float64, order="C")
        with self._lock:
            if self._gathered is None or self._gathered[0] != start or self._gathered[1] is not columns:
                self._gathered = None  # frees the rows before the next are converted
                self._gathered = start, columns, self._convert(slice(start, stop), columns)
            block = self._gathered[2]
        return block[rows.start - start : rows.stop - start].astype(np.float64, order="C")

    def to_matrix(self) -> NDArray[Any]:
        """Convert the whole frame, a few columns at a time."""
        whole = np.empty((self.n_rows, self.n_features), self._dtype)
        for start in range(0, self.n_features, FILLED_COLUMNS):
            columns = np.arange(start, min(start + FILLED_COLUMNS, self.n_features))
            for top in range(0, self.n_rows, BLOCK_ROWS):
                rows = slice(top, min(top + BLOCK_ROWS, self.n_rows))
                whole[rows, columns[0] : columns[-1] + 1] = self._convert(rows, columns)
        return whole

    def _convert(self, rows: slice, columns: Integers) -> NDArray[Any]:
        """Convert some rows of some columns to an array with contiguous columns."""
        self._look_up(columns)
        values = np.empty((columns.size, rows.stop - rows.start), self._dtype)
        for place, j in enumerate(columns.tolist()):
            view = self._views[j]
            values[place] = self._read_column(j, rows) if view is None else view[rows]
        return values.T


def contiguous_address(view: NDArray[Any] | None, dtype: "np.dtype[Any]") -> int:
    """Return the address of a contiguous column of a type, `NOT_CONTIGUOUS` for any other column."""
    if view is None or view.dtype != dtype or view.strides[0] != view.itemsize or not view.flags.aligned:
        return NOT_CONTIGUOUS
    return int(view.__array_interface__["data"][0])


def column_types(frame: Any) -> set[str]:
    """Return the names of the different types of the columns of a data frame, in lower case."""
    if nw.dependencies.is_pyarrow_table(frame):
        kinds = set(frame.schema.types)
    elif nw.dependencies.is_polars_dataframe(frame):
        kinds = set({type(kind): kind for kind in frame.dtypes}.values())  # hashing every type is slow
    elif is_data_frame(frame):
        kinds = set(frame.dtypes)
    else:
        kinds = set(nw.from_native(frame, eager_only=True).schema.values())
    return {type_name(kind) for kind in kinds}


def type_name(kind: Any) -> str:
    """Return the name of the type of a column in lower case, the same for all libraries."""
    return PYARROW_TYPES.get(str(kind), str(kind).lower())


def frame_names(frame: Any) -> list[Any]:
    """Return the names of the columns of a data frame."""
    # These are ten times faster than `column_names` of pyarrow and than iterating over the columns of pandas.
    if nw.dependencies.is_pyarrow_table(frame):
        return list(frame.schema.names)
    return list(frame.columns.tolist() if nw.dependencies.is_pandas_dataframe(frame) else frame.columns)


def common_dtype(types: set[str]) -> "np.dtype[Any]":
    """Return float32 if it holds columns of all types exactly and one of them is float32, float64 otherwise.

    Parameters
    ----------
    types : set of str
        Names of the types of the columns, as `type_name` gives them.

    Returns
    -------
    dtype
        float32 or float64.
    """
    return np.dtype(np.float32 if "float32" in types and types.issubset(EXACT_IN_FLOAT32) else np.float64)


def column_finder(frame: Any, dtype: "np.dtype[Any]") -> Callable[[int, int], Iterable[FoundColumn]]:
    """Return a function that finds columns start:stop in memory, without a copy.

    The address of a column is `NOT_CONTIGUOUS` unless it is a contiguous array of the type.
    """
    if nw.dependencies.is_pandas_dataframe(frame):
        # Numbers as names: pandas looks up the name of each column that it returns, which is slow for strings.
        numbered = frame.copy(deep=False)
        numbered.columns = range(frame.shape[1])
        return lambda start, stop: (found_view(pandas_view(numbered[j]), dtype) for j in range(start, stop))
    if nw.dependencies.is_pyarrow_table(frame):
        import pyarrow

        wanted = pyarrow.from_numpy_dtype(dtype)
        return lambda start, stop: (found_in_arrow(frame.column(j), wanted, dtype) for j in range(start, stop))
    if nw.dependencies.is_polars_dataframe(frame):
        return lambda start, stop: (found_view(polars_view(frame.to_series(j)), dtype) for j in range(start, stop))
    return lambda start, stop: [(NOT_CONTIGUOUS, None)] * (stop - start)


def found_view(view: NDArray[Any] | None, dtype: "np.dtype[Any]") -> FoundColumn:
    """Return a column and its address."""
    return contiguous_address(view, dtype), view


def pandas_view(column: Any) -> NDArray[Any] | None:
    """Return a column of pandas as an array; None if it is not a numpy array of numbers."""
    return column.to_numpy() if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub" else None


def found_in_arrow(column: Any, wanted: Any, dtype: "np.dtype[Any]") -> FoundColumn:
    """Return the address of a column of pyarrow; a column of another type is returned as an array, if possible.

    `wanted` is the type of pyarrow that corresponds to `dtype`.
    """
    # For thousands of columns, asking for buffers takes a third of the time of making arrays.
    chunk = column.chunk(0) if column.num_chunks == 1 else None
    if chunk is not None and chunk.type == wanted and chunk.null_count == 0:
        address = chunk.buffers()[1].address + chunk.offset * dtype.itemsize
        if address % dtype.itemsize == 0:
            return address, None
    return found_view(arrow_view(column), dtype)


def arrow_view(column: Any) -> NDArray[Any] | None:
    """Return a column of pyarrow as an array; None if it is in several chunks, has missing values or needs a copy."""
    if column.num_chunks != 1:
        return None
    try:
        return numeric(column.chunk(0).to_numpy())  # raises if it would have to copy
    except ValueError:  # the base class of pyarrow.ArrowInvalid
        return None


def polars_view(column: Any) -> NDArray[Any] | None:
    """Return a column of polars as an array; None if it is in several chunks, has missing values or needs a copy."""
    try:
        return numeric(column.to_numpy(allow_copy=False))
    except RuntimeError:
        return None


def numeric(values: NDArray[Any]) -> NDArray[Any] | None:
    """Return an array of numbers, None for any other array."""
    return values if values.dtype.kind in "fiub" else None


def column_reader(frame: Any) -> Callable[[int, slice], NDArray[Any]]:
    """Return a function that converts some rows of a column; missing values become NaN.

    The libraries are called directly: for a thousand columns, calls of narwhals would take longer than the copies.
    """
    if nw.dependencies.is_pandas_dataframe(frame):
        return lambda j, rows: frame.iloc[:, j].iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
    if nw.dependencies.is_pyarrow_table(frame):
        return lambda j, rows: arrow_values(frame.column(j).slice(rows.start, rows.stop - rows.start))
    if nw.dependencies.is_polars_dataframe(frame):
        return lambda j, rows: polars_values(frame.to_series(j).slice(rows.start, rows.stop - rows.start))
    whole = nw.from_native(frame, eager_only=True)
    return lambda j, rows: np.asarray(whole[:, j][rows].cast(nw.Float64).to_numpy())


def arrow_values(column: Any) -> NDArray[Any]:
    """Convert a column of pyarrow."""
    import pyarrow

    return np.asarray((column if pyarrow.types.is_floating(column.type) else column.cast("float64")).to_numpy())


def polars_values(column: Any) -> NDArray[Any]:
    """Convert a column of polars."""
    return np.asarray((column if column.dtype.is_float() else column.cast(float)).to_numpy())


def is_data_frame(X: Any) -> bool:
    """Check if X is a data frame of pandas, polars or pyarrow."""
    known = nw.dependencies
    return known.is_pandas_dataframe(X) or known.is_polars_dataframe(X) or known.is_pyarrow_table(X)


def is_large_frame(X: Any) -> bool:
    """Check if X is a data frame of so many values that copying it takes much time or memory."""
    if not is_data_frame(X):
        X = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(X, nw.DataFrame):
            return False
    n_rows, n_features = X.shape
    return bool(n_rows > 1 and n_features > 0 and 4 * n_rows * n_features >= MIN_BYTES_BY_BLOCK)


def frame_source(
    frame: Any, y: NDArray[Any] | None = None, sample_weight: Floats | None = None, types: set[str] | None = None
) -> ArraySource | FrameSource:
    """Make a source of a data frame; a pandas frame that is stored as one array is read as that array."""
    if nw.dependencies.is_pandas_dataframe(frame) and is_one_array(frame):
        return ArraySource(frame.to_numpy(), y, sample_weight)
    return FrameSource(frame, y, sample_weight, types)


def is_one_array(frame: Any) -> bool:
    """Check if a pandas frame is stored as one array, which numpy can use without a copy."""
    if not all(isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in set(frame.dtypes)):
        return False
    first, last = frame.iloc[:, 0].to_numpy(), frame.iloc[:, -1].to_numpy()
    # The comparison of two columns is fast; the other one puts together a row of all columns.
    return first.base is last.base and np.may_share_memory(frame.iloc[:1].to_numpy(), first)
