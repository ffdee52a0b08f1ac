"""The input of ``fit``: validate it, set number and names of the columns, and make a source of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import has_fit_parameter, validate_data

from ilfs.arrays import Integers
from ilfs.execution import MissingValuesError
from ilfs.registry import classes_with
from ilfs.sources import Source, TableSource, stream_source, table_source
from ilfs.sources.frames import frame_names, frame_source, is_large_frame
from ilfs.sources.row_index import check_same_index
from ilfs.statistics.moments import UnusableColumnError
from ilfs.summaries import RoundMissingError, Summary
from ilfs.validation import (
    check_labels,
    check_typed_columns,
    check_weight,
    is_column_name,
    is_sparse_frame,
    take_target,
)


class ReadsInput(SelectorMixin):  # type: ignore[misc]
    """Mixin of selectors: make a source of the input of ``fit``, and raise errors that name its columns."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    # Abilities of a method, from which scikit-learn's tags and error messages are derived.
    _reads_labels: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = True
    _takes_missing: ClassVar[bool] = True
    _prefers_statistics: ClassVar[bool] = False  # uses statistics even if rows are in memory

    def _source_of(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, min_rows: int = 2, reset: bool = True
    ) -> Source:
        """Make a source of the input of ``fit``; without ``reset``, its columns must be those seen before."""
        if isinstance(X, Summary):
            X.check_method(self)
        source = stream_source(X, y, sample_weight, reads_labels=self._reads_labels)
        if source is None:
            return self._validate(X, y, sample_weight, min_rows=min_rows, reset=reset)
        if source.is_sparse and not self._takes_sparse:
            raise TypeError(self._refusal_of_sparse())
        if source.has_weights and sample_weight is None and not self._takes_weights:
            raise TypeError(
                f"{self._title} takes no weights, but the table has weights of its rows: leave them out, or use a "
                f"method that takes weights ({classes_with('weights')})"
            )
        self._set_columns(source)
        if isinstance(y, str):
            self.target_name_ = y
        return source

    def _validate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, min_rows: int = 2, reset: bool = True
    ) -> TableSource:
        """Check a table in memory and make a source of it."""
        X, y = self._split(X, y)
        table, types = check_typed_columns(X)
        if (sparse.issparse(table) or is_sparse_frame(table)) and not self._takes_sparse:
            raise TypeError(self._refusal_of_sparse())
        by_block = is_large_frame(table) and not is_sparse_frame(table)
        X = self._check_table(table, by_block=by_block, min_rows=min_rows, reset=reset)
        labels = self._labels(y, X.shape[0])
        weight = check_weight(sample_weight, X.shape[0])
        check_same_index(table, None if labels is None else y, "y")
        check_same_index(table, sample_weight, "sample_weight")
        if not by_block:
            return table_source(X, labels, weight)
        source = frame_source(X, labels, weight, types)
        # A method that needs all rows gets one array, converted once for all labels.
        return source if self._prefers_statistics else table_source(source.to_matrix(), labels, weight)

    def _check_table(self, table: Any, *, by_block: bool, min_rows: int, reset: bool) -> Any:
        """Check a table by the rules of scikit-learn, and set number and names of its columns."""
        if not by_block:
            checks = {"accept_sparse": ("csc", "csr"), "dtype": "numeric", "ensure_all_finite": False}
            return validate_data(self, table, reset=reset, ensure_min_samples=min_rows, **checks)
        names = frame_names(table)
        if not reset or not all(isinstance(name, str) for name in names):
            return validate_data(self, table, reset=reset, skip_check_array=True)
        # The names as scikit-learn would set them, but it takes milliseconds for thousands of columns.
        self.n_features_in_, self.feature_names_in_ = len(names), np.asarray(names, dtype=object)
        return table

    def _split(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Take the labels from a column of X if y is its name; ``transform`` then drops this column, too."""
        if not is_column_name(y, X):
            return X, y
        X, labels = take_target(X, y)
        self.target_name_ = y
        return X, labels

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        """Check the labels, unless the method reads none."""
        return check_labels(y, n_samples) if self._reads_labels else None

    @property
    def _takes_weights(self) -> bool:
        """True if ``fit`` takes ``sample_weight``; a wrapper passes it on."""
        return has_fit_parameter(self, "sample_weight") or hasattr(self, "__metadata_request__fit")

    # Columns

    def _set_columns(self, source: Source) -> None:
        """Set number and names of the columns, as scikit-learn does for a table in memory."""
        self.n_features_in_ = source.n_features
        if source.target_name is not None:  # ``transform`` then drops this column, too
            self.target_name_ = source.target_name
        names = source.feature_names
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _name(self, column: int) -> str:
        """Format a column by its name, or by its index if it has none."""
        return repr(str(self.feature_names_in_[column])) if hasattr(self, "feature_names_in_") else str(column)

    def _names(self, input_features: Sequence[str] | None) -> NDArray[Any]:
        """Return the names of all columns: those given, those seen by ``fit``, or x0, x1, ..."""
        if input_features is None:
            return getattr(self, "feature_names_in_", np.array([f"x{j}" for j in range(self.n_features_in_)]))
        if len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features must name each of the {self.n_features_in_} columns, got {len(input_features)} names"
            )
        return np.asarray(input_features)

    @contextmanager
    def _named_columns(self) -> Iterator[None]:
        """Turn errors of other layers into a ValueError that names the columns."""
        try:
            yield
        except UnusableColumnError as error:
            raise ValueError(f"column {self._name(error.column)} of X {error.reason}") from None
        except MissingValuesError as error:
            raise ValueError(self._refusal_of_missing(error.columns)) from None
        except RoundMissingError as error:
            raise ValueError(str(error)) from None

    # Error messages

    @property
    def _title(self) -> str:
        """Name of the method in error messages."""
        return type(self).__name__

    def _refusal_of_sparse(self) -> str:
        return (
            f"Sparse data was passed for X, but {self._title} needs all values: make X dense with X.toarray() "
            "(a data frame: X.sparse.to_dense()) if memory allows, or use a method that takes sparse tables "
            f"({classes_with('sparse')})"
        )

    def _refusal_of_missing(self, columns: Integers) -> str:
        some = ", ".join(self._name(column) for column in columns[:5]) + (", ..." if columns.size > 5 else "")
        return (
            f"Input X contains NaN, in {columns.size} of {self.n_features_in_} columns: {some}. {self._title} "
            "takes no missing values: fill them (sklearn.impute.SimpleImputer), drop those columns or rows, or use a "
            f"method that leaves them out ({classes_with('missing')})"
        )
