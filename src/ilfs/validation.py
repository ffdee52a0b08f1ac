"""Validation of the input of ``fit``: tables, labels, weights.

Every error message is one sentence that names the argument, the rule, the value that was found and a remedy. Optional
packages (pandas, polars, pyarrow, dask, anndata) are recognised by the names of their classes, without importing them.
"""

import os
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_array

from ilfs.arrays import Floats, sparse_defect
from ilfs.parameters import is_integer
from ilfs.sources.frames import column_types, frame_names, is_data_frame
from ilfs.sources.label_checks import check_kind_of_labels, check_types, label_array, warn_of_quantity
from ilfs.sources.roles import MAX_NAMES_SHOWN
from ilfs.statistics.labels import Classes
from ilfs.warn import warn

MAX_CHARACTERS_SHOWN = 40  # of a value in a message

NUMERIC_TYPES = {"bool", "boolean", "float16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
IF_IT_FITS = "if it fits in memory"
# Lazy tables that `fit` and ``transform`` take are listed for what needs them in memory.
LOADING_ADVICE = {  # (package, class): how to load such a table into memory
    ("dask", "Array"): f"call X.compute() {IF_IT_FITS}",
    ("dask", "DataFrame"): f"call X.compute() {IF_IT_FITS}",
    ("dask", "FrameBase"): f"call X.compute() {IF_IT_FITS}",
    ("dask", "Delayed"): f"call X.compute() {IF_IT_FITS}",
    ("polars", "LazyFrame"): f"call X.collect() {IF_IT_FITS}",
    ("pyarrow", "Dataset"): f"call X.to_table() {IF_IT_FITS}",
    ("pyarrow", "Scanner"): f"call X.to_table() {IF_IT_FITS}",
    ("pyarrow", "RecordBatchReader"): f"call X.read_all() {IF_IT_FITS}",
    ("pyarrow", "ParquetFile"): f"call X.read() {IF_IT_FITS}",
    ("pyarrow", "ParquetDataset"): f"call X.read() {IF_IT_FITS}",
    ("pyspark", "DataFrame"): f"call X.toPandas() {IF_IT_FITS}",
    ("duckdb", "DuckDBPyRelation"): f"call X.to_arrow_table() {IF_IT_FITS}",
    ("ilfs", "Source"): f"pass the table itself {IF_IT_FITS}",
}
ANNDATA_ADVICE = (
    "X must be an array or a data frame, got an AnnData: pass adata.to_df() or adata.X, and labels from adata.obs "
    "(load a backed one first, adata.to_memory())"
)
NON_NUMERIC_ADVICE = (
    "drop such columns or convert them to numbers (text and categories with OneHotEncoder or OrdinalEncoder of "
    "sklearn.preprocessing, dates to days since a date; a missing value is NaN)"
)


def check_n_jobs(n_jobs: Any) -> None:
    """Validate the number of threads, which has the meaning it has in `joblib`."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")


# Tables


def check_in_memory(X: Any) -> None:
    """Raise for a path, a lazy or distributed table and AnnData, with advice on loading the table into memory.

    ``fit`` reads some of these in blocks (`ilfs.sources.recognise`), and ``transform`` selects their columns
    (`ilfs.selected_columns`).
    """
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"X must be a table, got the path {os.fspath(X)!r}: open the file first, fit(ilfs.read(path, target=...))"
        )
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}
    if ("anndata", "AnnData") in kinds:
        raise TypeError(ANNDATA_ADVICE)
    remedies = [remedy for kind, remedy in LOADING_ADVICE.items() if kind in kinds]
    if remedies:
        package = type(X).__module__.partition(".")[0]
        raise TypeError(f"X must be in memory, got {package}.{type(X).__name__}: {remedies[0]}")


def as_frame(X: Any) -> Any:
    """Wrap a data frame in memory as a `narwhals` data frame; return None for anything else."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X must be in memory, got a lazy {type(X).__name__}: collect it {IF_IT_FITS}")
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a data frame, None for anything else."""
    names = getattr(X, "column_names", None)  # pyarrow, whose `columns` are the data
    if names is None:
        names = getattr(X, "columns", None)
    return None if names is None else list(names)


def prepare_table(X: Any) -> Any:
    """Convert tables that scikit-learn does not accept, or misinterprets.

    A record batch becomes a pyarrow table. A pandas frame becomes dense if only some of its columns are sparse, or if
    sparse columns have a fill value other than 0. A list becomes an array.
    """
    check_in_memory(X)
    if type(X).__name__ == "RecordBatch" and type(X).__module__.startswith("pyarrow"):
        import pyarrow

        return pyarrow.Table.from_batches([X])
    if nw.dependencies.is_pandas_dataframe(X):
        return without_sparse_columns(X)
    if isinstance(X, list | tuple):
        return array_of_rows(X)
    return X


def array_of_rows(rows: Any) -> Any:
    """Convert a list of rows to an array; leave rows of different lengths to the error message of scikit-learn."""
    try:
        return np.asarray(rows)
    except ValueError:
        return rows


def is_sparse_frame(X: Any) -> bool:
    """Check if X is a pandas frame of sparse columns with fill value 0, which is treated as a sparse matrix."""
    return (
        nw.dependencies.is_pandas_dataframe(X)
        and X.shape[1] > 0
        and all(is_sparse_dtype(kind) and kind.fill_value == 0 for kind in X.dtypes)
    )


def is_sparse_dtype(kind: Any) -> bool:
    """Check if a dtype is that of sparse pandas columns."""
    return type(kind).__name__ == "SparseDtype"


def without_sparse_columns(X: Any) -> Any:
    """Make sparse columns of a pandas frame dense, unless the whole frame is treated as a sparse matrix."""
    if is_sparse_frame(X) or not any(map(is_sparse_dtype, set(X.dtypes))):
        return X
    dense = X.copy(deep=False)
    for j, kind in enumerate(X.dtypes):
        if is_sparse_dtype(kind):
            dense.isetitem(j, X.iloc[:, j].sparse.to_dense())
    return dense


def check_columns(X: Any) -> Any:
    """Raise if columns have the same name or are not numeric; convert masked values to NaN."""
    return check_typed_columns(X)[0]


def check_typed_columns(X: Any) -> tuple[Any, set[str] | None]:
    """Check columns as `check_columns` does, and return their types, too, if X is a data frame of common types."""
    X = prepare_table(X)
    check_kind_of_array(X)
    check_sparse(X)
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan), None
    if isinstance(X, np.ndarray):
        if X.dtype == object and X.ndim == 2:
            raise_for_columns(bad_values(j, X[:, j]) for j in range(X.shape[1]))
        return X, None
    check_names(X)
    types = common_types(X)
    if types is not None:
        return X, types
    frame = as_frame(X)
    if frame is not None:
        if not frame.columns:
            raise ValueError(f"X must have at least one column, got a data frame of shape {frame.shape}")
        if not is_sparse_frame(X):
            problems = (bad_column(frame, j, *column) for j, column in enumerate(frame.schema.items()))
            raise_for_columns(problems, f"{NON_NUMERIC_ADVICE}; if one of them is the target, pass its name as y")
    return X, None


def common_types(X: Any) -> set[str] | None:
    """Return the types of the columns of a data frame if all are common numeric types, None otherwise.

    This takes a millisecond for thousands of columns. Types that it does not know are left to `bad_column`.
    """
    types = column_types(X) if is_data_frame(X) and X.shape[1] > 0 else set()
    return types if types and types <= NUMERIC_TYPES else None


def check_sparse(X: Any) -> None:
    """Raise if a CSR or CSC matrix has indices out of bounds, which would crash the process in a kernel."""
    form = getattr(X, "format", "")
    if sparse.issparse(X) and form in ("csr", "csc") and X.ndim == 2:
        outer, inner = X.shape if form == "csr" else X.shape[::-1]
        if defect := sparse_defect(X.indptr, X.indices, outer, inner):
            raise ValueError(f"X must be a valid {form.upper()} matrix: {defect}")


def check_kind_of_array(X: Any) -> None:
    """Raise for arrays of complex numbers, dates and durations, which would be silently converted to real numbers."""
    dtype = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers")
    if kind == "M":
        raise ValueError(
            f"X must hold numbers, got dates ({dtype}): pass e.g. days, (X - X.min()) / numpy.timedelta64(1, 'D')"
        )
    if kind == "m":
        raise ValueError(
            f"X must hold numbers, got durations ({dtype}): pass e.g. seconds, X / numpy.timedelta64(1, 's')"
        )


def check_names(X: Any) -> None:
    """Raise if two columns have the same name, which pandas and pyarrow allow."""
    if not (nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_pyarrow_table(X)):
        return
    if nw.dependencies.is_pandas_dataframe(X) and X.columns.is_unique:  # much faster than counting
        return
    names = frame_names(X)
    if len(set(names)) < len(names):
        name, times = Counter(names).most_common(1)[0]
        raise ValueError(f"columns of X must have different names, {name!r} occurs {times} times: rename one")


def bad_column(frame: Any, j: int, name: Any, kind: Any) -> Exception | None:
    """Return an error that tells why a column of a data frame is not numeric, or None if it is numeric."""
    if kind.is_numeric() or isinstance(kind, nw.Boolean):
        return None
    if isinstance(kind, nw.Object | nw.Unknown):  # Python objects, possibly numbers
        return bad_values(name, frame[:, j].to_list())  # by position: narwhals needs strings as names
    return ValueError(f"{name!r} holds {type(kind).__name__}")


def bad_values(name: Any, values: Iterable[Any]) -> Exception | None:
    """Return an error for the first value of an object column that is not a number, or None if all are numbers."""
    for row, value in enumerate(values):
        try:
            to_number(value)
        except TypeError as error:
            return TypeError(f"{name!r} has {shown(value)} in row {row} ({error})")
        except ValueError:
            return ValueError(f"{name!r} has {shown(value)} in row {row}")
        except OverflowError:
            return ValueError(f"{name!r} has an integer in row {row} that is too large for float64: rescale it")
    return None


def to_number(value: Any) -> float:
    """Convert a Python object to a float; None becomes NaN, dates raise although NumPy would convert them."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        raise TypeError("a date or a duration is not a number")
    return float("nan" if value is None else value)


def shown(value: Any) -> str:
    """Format a value for a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= MAX_CHARACTERS_SHOWN else text[: MAX_CHARACTERS_SHOWN - 3] + "..."


def raise_for_columns(problems: Iterable[Exception | None], remedy: str = NON_NUMERIC_ADVICE) -> None:
    """Raise one error for all columns with a problem; it has the type of the first problem."""
    found = [problem for problem in problems if problem is not None]
    if found:
        some = ", ".join(map(str, found[:MAX_NAMES_SHOWN]))
        n_more = len(found) - MAX_NAMES_SHOWN
        more = f" and {n_more} more columns are not numeric" if n_more > 0 else ""
        raise type(found[0])(f"columns of X must hold numbers, {some}{more}: {remedy}")


# The target as a column of X


def is_column_name(y: Any, X: Any) -> bool:
    """Check if y is the name of a column: any string, or another scalar or tuple that names a column of a pandas X."""
    if isinstance(y, str):
        return True
    return nw.dependencies.is_pandas_dataframe(X) and (np.isscalar(y) or isinstance(y, tuple)) and y in X.columns


def take_target(X: Any, name: Any) -> tuple[Any, Any]:
    """Split a data frame into the target column and the other columns.

    Parameters
    ----------
    X : data frame
        Data frame of pandas, polars or pyarrow.
    name : str, or any name of a column of a pandas frame
        Name of the column that holds the class of every sample.

    Returns
    -------
    X : data frame
        The other columns.
    y : ndarray of shape (n_samples,)
        The values of the target column.

    Examples
    --------
    >>> import pandas as pd
    >>> from ilfs.validation import take_target
    >>> X, y = take_target(pd.DataFrame({"size": [1, 2], "kind": ["a", "b"]}), "kind")
    >>> list(X.columns), y.tolist()
    (['size'], ['a', 'b'])
    """
    X = prepare_table(X)
    check_names(X)
    frame = as_frame(X)
    if frame is None:
        raise TypeError(
            f"y may be the name of a column only if X is a data frame, got y={name!r} and X of type "
            f"{type(X).__name__}: pass an array with the class of every sample"
        )
    if name not in frame.columns:
        raise ValueError(f"X has no column {name!r} to take y from: {suggestion(name, frame.columns)}")
    column = frame[:, frame.columns.index(name)]  # by position: narwhals needs strings as names
    return without_column(X, name), label_array(column)


def suggestion(name: str, columns: list[Any]) -> str:
    """Suggest column names similar to a missing one, or list some columns if none is similar."""
    texts = [column for column in columns if isinstance(column, str)]
    close = get_close_matches(name, texts, n=3)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    some = ", ".join(map(repr, columns[:MAX_NAMES_SHOWN])) + (", ..." if len(columns) > MAX_NAMES_SHOWN else "")
    return f"its columns are {some}"


def without_column(X: Any, name: Any) -> Any:
    """Drop a column of a data frame; the index of pandas is kept, and sparse columns stay sparse."""
    if nw.dependencies.is_pandas_dataframe(X):
        return X.drop(columns=[name])
    return nw.from_native(X).drop(name).to_native()


# Labels and weights


class TooFewRowsError(ValueError):
    """Error for rows by which features cannot be ranked, such as rows of one class; more rows may help."""


def refuse_one_class(classes: Classes) -> None:
    """Raise if there are fewer than two classes."""
    if classes.n_classes < 2:
        raise TooFewRowsError(f"y must have at least two classes, got one class, {classes.labels.tolist()[0]!r}")


def check_labels(y: Any, n_samples: int, *, quantities: bool = True) -> NDArray[Any]:
    """Validate labels: one per row, or an indicator matrix with one column per label.

    Warn if the labels look like a quantity, unless ``quantities`` is false.
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None: every sample needs a class")
    y = check_types(check_rows(y, n_samples))
    check_kind_of_labels(y)
    if quantities and y.ndim == 1 and y.dtype.kind in "iuf":
        warn_of_quantity(*np.unique(y, return_counts=True))
    return np.asarray(y)


def check_rows(y: Any, n_samples: int) -> NDArray[Any]:
    """Convert labels to an array with one row per sample, or raise."""
    labels: NDArray[Any] = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning)
    if labels.ndim != 2 or labels.shape[1] == 1:
        labels = column_or_1d(labels)
    if labels.shape[0] != n_samples:
        raise ValueError(f"X and y must have the same number of rows, got {n_samples} and {labels.shape[0]}")
    if labels.dtype.kind in "mM":
        raise ValueError(f"y must hold classes, got dates or durations ({labels.dtype}): bin them or pass them as text")
    return labels


def check_weight(sample_weight: ArrayLike | None, n_samples: int) -> Floats | None:
    """Validate sample weights: a finite number >= 0 for each row."""
    if sample_weight is None:
        return None
    if np.asarray(sample_weight).dtype.kind in "SUmM":
        raise ValueError(f"sample_weight must be a number for each row of X, got {shown(sample_weight)}")
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have shape ({n_samples},), a weight for each row of X, got {weight.shape}"
        )
    if weight.min() < 0:
        raise ValueError(f"sample_weight must not be negative, got {weight.min():g} in row {int(weight.argmin())}")
    if not weight.any():
        raise ValueError("sample_weight must contain at least one non-zero number, got only zeros")
    counted = weight[weight > 0]
    if counted.max() > 1e100 or counted.min() < 1e-100:
        raise ValueError(
            f"sample_weight must be 0 or between 1e-100 and 1e+100, got {counted.min():g} to {counted.max():g}"
        )
    mean = float(counted.mean())
    if mean < 0.5:
        warn(
            f"sample_weight is the number of times that each row counts, but its mean is {mean:.2g}: "
            "scale relative weights to a mean of 1",
        )
    return np.asarray(weight)
