"""Data frames of pandas, polars and pyarrow whose columns have several types, converted block by block.

Such a frame is not stored as one array. numpy would copy all of it, with some libraries several times. Here only the
block that is being read is converted.
"""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers, read_only
from ilfs.sources.tables import BLOCK_ROWS, DenseSource

WORTH_BYTES = 2**25  # a smaller frame is copied whole, which is faster and takes at most 32 MB
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
        n_rows, n_features = self._frame.shape
        super().__init__(n_rows, n_features, y, sample_weight, list(self._frame.columns))
        self._dtype = common_dtype(self._frame)

    def values(self, rows: slice, columns: slice) -> tuple[NDArray[Any], int]:
        """Convert a rectangle."""
        return read_only(self._convert(rows, np.arange(columns.start, columns.stop), self._dtype)), 0

    def gather(self, rows: slice, columns: Integers) -> Floats:
        """Convert some columns to float64."""
        return self._convert(rows, columns, np.dtype(np.float64))

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
            return pandas_values(self._pandas.iloc[rows, columns], dtype)
        values = np.empty((rows.stop - rows.start, columns.size), dtype)
        for place, j in enumerate(columns.tolist()):
            values[:, place] = column_values(self._frame[:, j][rows])
        return values


def common_dtype(frame: Any) -> "np.dtype[Any]":
    """Return float32 if all columns of a frame are exact in it and some are float32 already, float64 otherwise."""
    kinds = list(frame.schema.values())
    is_single = any(kind == nw.Float32 for kind in kinds) and all(kind in EXACT_IN_FLOAT32 for kind in kinds)
    return np.dtype(np.float32 if is_single else np.float64)


def pandas_values(part: Any, dtype: "np.dtype[Any]") -> NDArray[Any]:
    """Convert a part of a pandas frame; missing values become NaN."""
    if all(isinstance(kind, np.dtype) and kind.kind != "O" for kind in part.dtypes):
        return np.ascontiguousarray(part.to_numpy(dtype=dtype))
    return np.ascontiguousarray(part.to_numpy(dtype=dtype, na_value=np.nan))


def column_values(column: Any) -> NDArray[Any]:
    """Convert a column of polars or pyarrow; missing values become NaN."""
    if not isinstance(column.dtype, nw.Float32 | nw.Float64):
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def is_worth_converting_by_block(X: Any) -> bool:
    """Check if X is a large data frame that numpy would have to copy whole."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or frame.shape[0] < 2 or not frame.shape[1]:
        return False
    if 4 * frame.shape[0] * frame.shape[1] < WORTH_BYTES:
        return False
    return not (nw.dependencies.is_pandas_dataframe(X) and is_one_array(X))


def is_one_array(frame: Any) -> bool:
    """Check if a pandas frame is stored as one array, which numpy can use without a copy."""
    if not all(isinstance(kind, np.dtype) for kind in frame.dtypes):
        return False
    return np.may_share_memory(frame.iloc[:1].to_numpy(), frame.iloc[:, 0].to_numpy())
