"""Data frames of pandas, polars and pyarrow whose columns have several types, converted block by block.

Such a frame is not stored as one array. numpy would copy all of it, with some libraries several times. Here only the
block that is being read is converted.
"""

import threading
from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers, read_only
from ilfs.sources.tables import BLOCK_ROWS, DenseSource

# A frame that takes less than this in float32 is copied whole, which is faster and takes at most 64 MB (in float64).
MIN_BYTES_BY_BLOCK = 2**25
GATHERED_ROWS = 2048  # rows of chosen columns converted together: 16 MB for a thousand columns
FILLED_COLUMNS = 64  # columns converted at a time when the whole table is needed
EXACT_IN_FLOAT32 = (nw.Float32, nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Boolean)


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
    """

    by_column = True

    def __init__(self, frame: Any, y: NDArray[Any] | None = None, sample_weight: Floats | None = None) -> None:
        self._frame = nw.from_native(frame, eager_only=True)
        self._pandas = frame if nw.dependencies.is_pandas_dataframe(frame) else None
        self._read_column = column_reader(frame)
        self._gathered: tuple[int, Integers, NDArray[Any]] | None = None
        self._lock = threading.Lock()
        n_rows, n_features = self._frame.shape
        super().__init__(n_rows, n_features, y, sample_weight, list(self._frame.columns))
        self._dtype = common_dtype(self._frame)

    def values(self, rows: slice, columns: slice) -> tuple[NDArray[Any], int]:
        """Convert a rectangle of the frame to one array."""
        return read_only(self._convert(rows, np.arange(columns.start, columns.stop), self._dtype)), 0

    def gather(self, rows: slice, columns: Integers) -> Floats:
        """Convert some columns to float64.

        An engine requests a few hundred rows at a time, and converting so few rows takes as long as converting many.
        So `GATHERED_ROWS` rows are converted at once and kept until later rows are requested.
        """
        start = rows.start - rows.start % GATHERED_ROWS
        stop = min(start + GATHERED_ROWS, self.n_rows)
        if rows.stop > stop:
            return self._convert(rows, columns, np.dtype(np.float64))
        with self._lock:
            if self._gathered is None or self._gathered[0] != start or self._gathered[1] is not columns:
                self._gathered = None  # frees the rows before the next are converted
                self._gathered = start, columns, self._convert(slice(start, stop), columns, self._dtype)
            block = self._gathered[2]
        return block[rows.start - start : rows.stop - start].astype(np.float64)

    def to_matrix(self) -> NDArray[Any]:
        """Convert the whole frame, a few columns at a time."""
        whole = np.empty((self.n_rows, self.n_features), self._dtype)
        for start in range(0, self.n_features, FILLED_COLUMNS):
            columns = np.arange(start, min(start + FILLED_COLUMNS, self.n_features))
            for top in range(0, self.n_rows, BLOCK_ROWS):
                rows = slice(top, min(top + BLOCK_ROWS, self.n_rows))
                whole[rows, columns[0] : columns[-1] + 1] = self._convert(rows, columns, self._dtype)
        return whole

    def _convert(self, rows: slice, columns: Integers, dtype: np.dtype[Any]) -> NDArray[Any]:
        if self._pandas is not None:
            # Rows first: pandas would copy all rows of the columns if both were given at once.
            return pandas_values(self._pandas.iloc[rows].iloc[:, columns], dtype)
        values = np.empty((rows.stop - rows.start, columns.size), dtype)
        for place, j in enumerate(columns.tolist()):
            values[:, place] = self._read_column(j, rows)
        return values


def common_dtype(frame: Any) -> "np.dtype[Any]":
    """Return float32 if it holds all columns of a frame exactly and one of them is float32, float64 otherwise."""
    kinds = list(frame.schema.values())
    is_single = any(kind == nw.Float32 for kind in kinds) and all(kind in EXACT_IN_FLOAT32 for kind in kinds)
    return np.dtype(np.float32 if is_single else np.float64)


def pandas_values(block: Any, dtype: "np.dtype[Any]") -> NDArray[Any]:
    """Convert a block of a pandas frame; missing values become NaN."""
    if all(isinstance(kind, np.dtype) and kind.kind != "O" for kind in block.dtypes):
        return np.ascontiguousarray(block.to_numpy(dtype=dtype))
    return np.ascontiguousarray(block.to_numpy(dtype=dtype, na_value=np.nan))


def column_reader(frame: Any) -> Callable[[int, slice], NDArray[Any]]:
    """Return a function that converts some rows of a column; missing values become NaN.

    polars and pyarrow are called directly: for a thousand columns, calls of narwhals would take longer than the copies.
    """
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


def is_worth_converting_by_block(X: Any) -> bool:
    """Check if X is a large data frame that numpy would have to copy whole."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or frame.shape[0] < 2 or not frame.shape[1]:
        return False
    if 4 * frame.shape[0] * frame.shape[1] < MIN_BYTES_BY_BLOCK:
        return False
    return not (nw.dependencies.is_pandas_dataframe(X) and is_one_array(X))


def is_one_array(frame: Any) -> bool:
    """Check if a pandas frame is stored as one array, which numpy can use without a copy."""
    if not all(isinstance(kind, np.dtype) for kind in frame.dtypes):
        return False
    return np.may_share_memory(frame.iloc[:1].to_numpy(), frame.iloc[:, 0].to_numpy())
