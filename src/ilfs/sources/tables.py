"""Tables in memory, or memory-mapped: numpy arrays and sparse matrices."""

from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.cached import cached_property
from ilfs.sources.permutations import PermutedLabels, check_groups
from ilfs.sources.source import Labelling, RowBlock, Source
from ilfs.sources.subsets import RowSubsets
from ilfs.statistics.block import ColumnArrays
from ilfs.statistics.labels import Classes, ManyLabels, RowLabels, encode_labels

BLOCK_ROWS = 8192  # rows of a block; the same for all sources, so that their sums round alike


class TableSource(Source):
    """Base class of tables with random access to rows and columns.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the table.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Class of every row, or an indicator matrix: each of its columns is a labelling.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows, 1 by default.
    feature_names : list, optional
        Names of the columns.
    """

    is_sparse = False
    first_row = 0  # number of the first row, if the table is a part of a larger one
    subsets: RowSubsets | None = None  # labellings after the observed ones, if these are subsets of the rows

    def __init__(
        self,
        n_rows: int,
        n_features: int,
        y: NDArray[Any] | None = None,
        sample_weight: Floats | None = None,
        feature_names: list[Any] | None = None,
    ) -> None:
        self.n_rows, self.n_features, self.feature_names = n_rows, n_features, feature_names
        self.y, self.sample_weight = y, sample_weight
        columns = [] if y is None else list(y.T) if y.ndim == 2 else [y]
        encoded = [encode_labels(column, sample_weight) for column in columns]
        self.labellings = tuple(classes for classes, _ in encoded)
        self.labels = tuple(labels for _, labels in encoded)

    @cached_property
    def weight(self) -> Floats:
        """Weights of the rows."""
        return np.ones(self.n_rows) if self.sample_weight is None else self.sample_weight

    @property
    def all_rows(self) -> Classes:  # type: ignore[override]
        """All rows as one class."""
        return Classes.count(np.zeros(1), [RowLabels.one_class(self.weight)])

    @property
    def has_labels(self) -> bool:  # type: ignore[override]
        """True if rows have labels."""
        return bool(self.labels)

    @property
    def has_weights(self) -> bool:  # type: ignore[override]
        """True if rows have weights."""
        return self.sample_weight is not None

    def row_labels(self, labelling: Labelling) -> RowLabels:
        """Return the classes of all rows under a labelling; if it is None, all rows are one class."""
        if isinstance(labelling, int) and labelling < len(self.labels):
            return self.labels[labelling]
        return self.block_labels(labelling, slice(0, self.n_rows))

    def block_labels(self, labelling: Labelling, rows: slice) -> RowLabels:
        """Return the classes of some rows under a labelling; if it is None, all rows are one class."""
        if labelling is None or (not self.labels and self.subsets is None):
            return RowLabels.one_class(self.weight[rows])
        if isinstance(labelling, tuple):
            return ManyLabels.from_each([self.block_labels(number, rows) for number in labelling])
        if labelling < len(self.labels):
            return self.labels[labelling].take(rows)
        if self.subsets is not None:
            number, observed = labelling - len(self.labels), [labels.take(rows) for labels in self.labels]
            in_source = slice(self.first_row + rows.start, self.first_row + rows.stop)
            return self.subsets.row_labels(number, in_source, observed, self.weight[rows])
        assert self.permuted is not None
        return self.permuted.row_labels(labelling - len(self.labels), rows, self.weight[rows])

    def with_labelling(self, labelling: int) -> Self:
        """Return the same table with only one of the observed labellings, and its permutations."""
        one = copy(self)
        one.labellings, one.labels = (self.labellings[labelling],), (self.labels[labelling],)
        one.y = self.y[:, labelling] if self.y is not None and self.y.ndim == 2 else self.y
        if self.permuted is not None:
            one.permuted = self.permuted.of_label(labelling)
            one.labellings += one.permuted.labellings
        return one

    def with_permutations(
        self,
        n_permutations: int,
        random_state: int | np.random.Generator | None = 0,
        groups: NDArray[Any] | None = None,
    ) -> Self:
        """Return the same table with permuted labels as further labellings; see `Source`."""
        one, n_labels = copy(self), len(self.labels)
        groups = None if groups is None else check_groups(groups, self.n_rows)
        classes = self.labellings[:n_labels]
        one.permuted = PermutedLabels.draw(self.labels, classes, n_permutations, random_state, groups)
        one.is_within_groups = groups is not None
        one.labellings = classes + one.permuted.labellings
        return one

    def encoded_labels(self) -> tuple[RowLabels, ...]:
        """Return the labels of all rows under each observed labelling; without labels, all rows as one class."""
        return self.labels or (RowLabels.one_class(self.weight),)

    def with_subsets(self, subsets: RowSubsets) -> Self:
        """Return the same table with subsets of the rows as further labellings; see `Source`."""
        one = copy(self)
        one.permuted, one.subsets = None, subsets
        one.labellings = self.labellings[: len(self.labels)] + subsets.labellings
        return one

    def without_labels(self) -> Self:
        """Return the same table without labels."""
        one = copy(self)
        one.labellings, one.labels, one.y, one.permuted, one.subsets = (), (), None, None, None
        return one

    def _relabelled(self, labellings: tuple[Classes, ...], places: list[Integers]) -> Self:
        wider, n_labels = copy(self), len(self.labels)
        wider.labellings = labellings
        triples = zip(self.labels, places[:n_labels], labellings[:n_labels], strict=True)
        wider.labels = tuple(labels.among(codes, classes.n_classes) for labels, codes, classes in triples)
        if self.permuted is not None:
            wider.permuted = self.permuted.among(places[:n_labels], labellings[n_labels:])
        return wider

    @abstractmethod
    def to_matrix(self) -> Any:
        """Return the whole table as an array or a sparse matrix, for methods that need all rows at once."""

    @abstractmethod
    def block_values(self, rows: slice, columns: Integers | None) -> Any:
        """Return some rows as an array or a sparse matrix; only some columns, if given."""

    def blocks(self, columns: Integers | None = None) -> Iterator[RowBlock]:
        """Iterate over the rows from the first one, in blocks."""
        for start in range(0, self.n_rows, self._block_rows):
            rows = slice(start, min(start + self._block_rows, self.n_rows))
            labels = tuple(self.block_labels(labelling, rows) for labelling in range(len(self.labellings)))
            yield RowBlock(self.block_values(rows, columns), labels, self.weight[rows], self.first_row + start)

    @property
    def _block_rows(self) -> int:
        return BLOCK_ROWS


class DenseSource(TableSource):
    """Base class of dense tables, whose rectangles can be read as arrays."""

    in_place = False  # True if rectangles are views of the table, with contiguous rows or contiguous columns
    by_column = False  # True if the values of a column are contiguous

    @abstractmethod
    def values(self, rows: slice, columns: slice) -> tuple[NDArray[Any], int]:
        """Return an array that contains a rectangle of the table, and the index of its first column there.

        The array is float32 or float64 with contiguous rows or contiguous columns. It may be the table itself: do not
        write to it.
        """

    def column_arrays(self, rows: slice, columns: slice | Integers) -> ColumnArrays | None:  # noqa: ARG002
        """Return some rows of some columns if columns are contiguous, None otherwise."""
        return None

    @abstractmethod
    def gather(self, rows: slice, columns: Integers) -> Floats:
        """Return a float64 copy of some columns with contiguous rows."""

    def block_values(self, rows: slice, columns: Integers | None) -> NDArray[Any]:
        """Return some rows as an array; only some columns, if given."""
        return self.values(rows, slice(0, self.n_features))[0] if columns is None else self.gather(rows, columns)


class ArraySource(DenseSource):
    """Source over a numpy array; a float32 or float64 array with contiguous rows or columns is not copied.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Numbers in any layout.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Class of every row, or an indicator matrix: each of its columns is a labelling.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows.
    feature_names : list, optional
        Names of the columns.
    """

    def __init__(
        self,
        X: NDArray[Any],
        y: NDArray[Any] | None = None,
        sample_weight: Floats | None = None,
        feature_names: list[Any] | None = None,
    ) -> None:
        super().__init__(X.shape[0], X.shape[1], y, sample_weight, feature_names)
        self._X = read_only(X)
        self.by_column = abs(X.strides[0]) < abs(X.strides[1])
        self._columns = ColumnArrays.from_array(self._X) if self.by_column else None
        is_row_major = X.flags.c_contiguous and X.dtype in (np.float32, np.float64)
        self.in_place = is_row_major or self._columns is not None

    def to_matrix(self) -> NDArray[Any]:
        """Return the array itself."""
        return self._X

    def values(self, rows: slice, columns: slice) -> tuple[NDArray[Any], int]:
        """Return whole rows of the array itself if rows or columns are contiguous, otherwise a copy."""
        if self.in_place:
            return self._X[rows], columns.start
        kept = np.float32 if self._X.dtype == np.float32 else np.float64
        return read_only(np.array(self._X[rows, columns], dtype=kept, order="C")), 0

    def column_arrays(self, rows: slice, columns: slice | Integers) -> ColumnArrays | None:
        """Return some rows of some columns without a copy; None if columns are not contiguous."""
        return None if self._columns is None else self._columns.take(columns).take_rows(rows)

    def gather(self, rows: slice, columns: Integers) -> Floats:
        """Return a float64 copy of some columns with contiguous rows."""
        arrays = self.column_arrays(rows, columns)
        if arrays is not None:
            return arrays.to_rows(np.float64)
        X = self._X[rows]
        # Indexing is faster if columns are contiguous, because it keeps the layout; otherwise `take` is.
        values = X[:, columns] if self.by_column else X.take(columns, axis=1)
        return np.asarray(values, dtype=np.float64, order="C")


class SparseSource(TableSource):
    """Source over a sparse matrix, read as one block: cutting a CSC matrix into rows would copy it in every pass.

    Parameters
    ----------
    X : scipy.sparse matrix of shape (n_rows, n_features)
        Any format. The engine `InMemory` converts it to CSC once.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Class of every row, or an indicator matrix: each of its columns is a labelling.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows.
    feature_names : list, optional
        Names of the columns.
    """

    is_sparse = True

    def __init__(
        self,
        X: Any,
        y: NDArray[Any] | None = None,
        sample_weight: Floats | None = None,
        feature_names: list[Any] | None = None,
    ) -> None:
        super().__init__(X.shape[0], X.shape[1], y, sample_weight, feature_names)
        self._X = X

    def to_matrix(self) -> Any:
        """Return the matrix itself."""
        return self._X

    def block_values(self, rows: slice, columns: Integers | None) -> Any:
        """Return some rows; only some columns, if given."""
        X = self._X.tocsr()[rows]
        return X if columns is None else X[:, columns]

    @property
    def _block_rows(self) -> int:
        return max(self.n_rows, 1)


def table_source(
    X: Any,
    y: NDArray[Any] | None = None,
    sample_weight: Floats | None = None,
    feature_names: list[Any] | None = None,
) -> TableSource:
    """Make a source of an array or a sparse matrix.

    Parameters
    ----------
    X : ndarray or scipy.sparse matrix of shape (n_rows, n_features)
        The table.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Class of every row, or an indicator matrix: each of its columns is a labelling.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows.
    feature_names : list, optional
        Names of the columns.

    Returns
    -------
    TableSource
        The source, which can be read any number of times.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.sources import table_source
    >>> source = table_source(np.eye(3), np.array(["a", "b", "b"]))
    >>> source.labellings[0].total.tolist()
    [1.0, 2.0]
    """
    kind = SparseSource if sparse.issparse(X) else ArraySource
    return kind(X, y, sample_weight, feature_names)
