"""Computed partitions of a table, on the worker that holds them.

A worker divides a partition into values, labels and weights, and opens it as a table in memory (`PartitionReader`), so
it is cut into the same blocks as any other table. In a first pass it only counts rows and labels (`RowCounts`). This
module does not import Dask.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers, sparse_defect
from ilfs.sources.batches import NO_COLUMNS, Tally, check_row_weights, encode_rows, label_columns
from ilfs.sources.frames import frame_source, is_large_frame
from ilfs.sources.label_checks import check_kind_of_labels, check_types, label_array
from ilfs.sources.permutations import PermutedLabels
from ilfs.sources.roles import find_column, refuse_columns
from ilfs.sources.row_index import check_same_index
from ilfs.sources.subsets import RowSubsets
from ilfs.sources.tables import TableSource, table_source
from ilfs.statistics.labels import Classes, RowLabels

Divided = tuple[Any, Any, Any]  # values, labels and weights of a partition
Divide = Callable[[Any, Integers | None], Divided]


def divide_chunks(chunks: list[Any], columns: Integers | None) -> Divided:
    """Put chunks of columns side by side, or only some of their columns."""
    chunks = [plain(chunk) for chunk in chunks]
    if columns is not None:
        starts = np.cumsum([0, *(chunk.shape[1] for chunk in chunks)])
        chunks = [
            chunk[:, columns[(columns >= start) & (columns < stop)] - start]
            for chunk, start, stop in zip(chunks, starts, starts[1:], strict=False)
        ]
    return side_by_side(chunks), None, None


def divide_frame(frame: Any, columns: Integers | None, names: list[Any], target: Any) -> Divided:
    """Take the requested columns and the labels from a data frame, which may hold only these."""
    chosen = names if columns is None else [names[j] for j in columns]
    return taken(frame, chosen), None if target is None else label_column(frame, target), None


def divide_delayed(part: Any, columns: Integers | None, names: list[Any] | None, target: Any) -> Divided:
    """Take values, labels and weights from a delayed partition."""
    X, y, weight = (*part, None, None)[:3] if isinstance(part, tuple | list) else (part, None, None)
    check_same_index(X, y, "y")
    check_same_index(X, weight, "weight")
    if names is not None and is_frame(X):
        missing = [name for name in names if name not in set(frame_columns(X))]
        if missing:
            raise ValueError(f"partitions of X must have the same columns, {missing[0]!r} is not in all of them")
        X, labels, _ = divide_frame(X, columns, names, target)
        return X, y if labels is None else labels, weight
    return (*divide_chunks([X], columns)[:1], y, weight)


def divide_unlabelled(part: Any, columns: Integers | None, divide: Divide) -> Divided:
    """Divide a partition, without its labels."""
    X, _, weight = divide(part, columns)
    return X, None, weight


def described(part: Any, target: Any) -> tuple[int, list[Any] | None, bool]:
    """Return the number and the names of the columns of a delayed partition, and if it has labels."""
    X, y, _ = divide_delayed(part, None, None, None) if isinstance(part, tuple | list) else (part, None, None)
    if not is_frame(X):
        if target is not None:
            raise TypeError(f"y may be the name of a column only if partitions are data frames, got y={target!r}")
        return plain(X).shape[1], None, y is not None
    names = frame_columns(X)
    if target is not None:
        find_column("y", target, names, len(names), "X")
    names = [name for name in names if name != target]
    check_frame(taken(X, names))
    return len(names), names, y is not None or target is not None


def plain(chunk: Any) -> Any:
    """Convert a chunk to an array or a sparse matrix; masked values become NaN."""
    if sparse.issparse(chunk):
        form = chunk.format if chunk.format in ("csr", "csc") else "csr"
        chunk = chunk.asformat(form)
        outer, inner = chunk.shape if form == "csr" else chunk.shape[::-1]
        if defect := sparse_defect(chunk.indptr, chunk.indices, outer, inner):
            raise ValueError(f"chunks of X must be valid {form.upper()} matrices: {defect}")
        return chunk
    if hasattr(chunk, "to_scipy_sparse"):  # arrays of the package sparse
        return chunk.to_scipy_sparse().tocsr()
    if isinstance(chunk, np.ma.MaskedArray):
        return np.ma.filled(chunk.astype(np.result_type(chunk.dtype, np.float32)), np.nan)
    return np.asarray(chunk)


def side_by_side(chunks: Sequence[Any]) -> Any:
    """Put chunks of columns side by side."""
    if len(chunks) == 1:
        return chunks[0]
    is_sparse = any(sparse.issparse(chunk) for chunk in chunks)
    return sparse.hstack(chunks, format="csr") if is_sparse else np.hstack(chunks)


def check_numbers(dtype: Any) -> None:
    """Raise unless values are real numbers or booleans."""
    if dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers, got values of type {dtype}: convert them first, X.astype(float)")


def is_frame(X: Any) -> bool:
    """Check if X is a data frame in memory."""
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def frame_columns(frame: Any) -> list[Any]:
    """Return the names of the columns of a data frame in memory."""
    return list(frame.columns if hasattr(frame, "iloc") else nw.from_native(frame, eager_only=True).columns)


def taken(frame: Any, names: list[Any]) -> Any:
    """Return some columns of a data frame in memory."""
    if hasattr(frame, "iloc"):
        return frame if names == list(frame.columns) else frame[names]
    return frame.select(names)


def label_column(frame: Any, name: Any) -> NDArray[Any]:
    """Return a column of labels of a data frame in memory."""
    place = frame_columns(frame).index(name)
    return label_array(nw.from_native(frame, eager_only=True)[:, place])


def check_frame(frame: Any) -> None:
    """Raise if a data frame has no columns, or some of them do not hold numbers."""
    schema = nw.from_native(frame, eager_only=True).schema
    if not schema:
        raise ValueError("X must have at least one column besides that of the labels, got none")
    wrong = [(name, kind) for name, kind in schema.items() if not (kind.is_numeric() or isinstance(kind, nw.Boolean))]
    refuse_columns([(name, type(kind).__name__) for name, kind in wrong], "X")


def labels_of(y: Any, first_row: int) -> NDArray[Any]:
    """Validate the labels of some rows and convert them to an array."""
    labels = y.toarray() if hasattr(y, "toarray") else y
    series = nw.from_native(labels, series_only=True, pass_through=True)
    labels = label_array(series) if isinstance(series, nw.Series) else np.asarray(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim not in (1, 2):
        raise ValueError(f"y must have a label for each row of X, got an array of shape {labels.shape}")
    if labels.dtype.kind in "mM":
        raise ValueError(f"y must hold classes, got dates or durations ({labels.dtype}): bin them or pass them as text")
    labels = check_types(labels, first_row) if len(labels) else labels
    if len(labels):
        check_kind_of_labels(labels)
    return labels


def opened(X: Any, weight: Floats | None) -> TableSource:
    """Make a table in memory of the values of a partition."""
    if not is_frame(X):
        check_numbers(X.dtype)
        return table_source(X, None, weight)
    frame = frame_source(X, None, weight)
    return frame if is_large_frame(X) else table_source(frame.to_matrix(), None, weight)


@dataclass(frozen=True)
class PartitionReader:
    """Opens computed partitions; it is sent to the workers.

    Parameters
    ----------
    divide : callable
        Function of the table: see `DaskTable`.
    labellings : tuple of Classes
        Classes of each labelling, as they are in the labels that the workers get.
    columns : ndarray of int or None
        Columns to take, ascending; None for all of them.
    n_columns : int
        Number of these columns.
    wider : WiderClasses, optional
        Classes that include those of rows elsewhere, if the opened tables are to have these.
    subsets : RowSubsets, optional
        Subsets of the rows of the whole table, as further labellings.
    permuted : tuple of Classes, optional
        Classes of each permutation of each labelling, if labels are permuted.
    """

    divide: Divide
    labellings: tuple[Classes, ...]
    columns: Integers | None
    n_columns: int
    wider: "WiderClasses | None" = None
    subsets: RowSubsets | None = None
    permuted: tuple[Classes, ...] = ()

    def open(
        self, part: Any, y: Any, weight: Any, permuted: NDArray[Any] | None, first_row: int, number: int
    ) -> TableSource | None:
        """Make a table in memory of a computed partition.

        Parameters
        ----------
        part : object
            The partition.
        y, weight : array or None
            Labels and weights, if they are not in the partition.
        permuted : ndarray of shape (n_permutations, n_labels, n_rows) or None
            Codes of the permuted labels of its rows.
        first_row : int
            Number of its first row in the whole table.
        number : int
            Number of the partition, for messages.

        Returns
        -------
        TableSource or None
            None if the partition has no rows.
        """
        X, own_y, own_weight = self.divide(part, self.columns)
        y, weight = own_y if y is None else y, own_weight if weight is None else weight
        if X.shape[1] != self.n_columns:
            raise ValueError(
                f"partitions of X must have the same columns, got {X.shape[1]} in partition {number}, not "
                f"{self.n_columns}"
            )
        for name, column in (("y", y), ("sample_weight", weight)):
            check_height(X, column, name, number)
        weight = check_row_weights(weight, first_row)
        return self._labelled(opened(X, weight), y, permuted, first_row) if X.shape[0] else None

    def _labelled(self, table: TableSource, y: Any, permuted: NDArray[Any] | None, first_row: int) -> TableSource:
        """Set the classes of all rows of the table, of which a partition may have fewer."""
        columns = label_columns(labels_of(y, first_row)) if self.labellings else []
        table.first_row, table.labellings = first_row, self.labellings
        table.labels = tuple(
            encode_rows(column, classes, table.weight, "X")
            for column, classes in zip(columns, self.labellings, strict=True)
        )
        if permuted is not None:
            table.permuted = PermutedLabels(permuted, self.permuted)
            table.labellings += self.permuted
        table = table if self.wider is None else table._relabelled(self.wider.labellings, self.wider.places)
        return table if self.subsets is None else table.with_subsets(self.subsets)


@dataclass(frozen=True)
class WiderClasses:
    """Classes of a table that include those of rows elsewhere.

    Parameters
    ----------
    labellings : tuple of Classes
        Classes of each labelling.
    places : list of ndarray of int
        New codes of the classes of the table, for each labelling.
    """

    labellings: tuple[Classes, ...]
    places: list[Integers]


def check_height(X: Any, column: Any, name: str, number: int) -> None:
    """Raise if labels or weights of a partition have another number of rows than its values."""
    if column is not None and column.shape[0] != X.shape[0]:
        raise ValueError(
            f"X and {name} must have the same number of rows in each partition, got {X.shape[0]} and "
            f"{column.shape[0]} in partition {number}"
        )


@dataclass
class RowCounts:
    """Rows of each partition, and rows and weight of each class."""

    heights: list[int] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    everything: Tally = field(default_factory=Tally)

    def add(self, y: NDArray[Any] | None, weight: Floats | None, n_rows: int) -> Self:
        """Add the rows of a partition."""
        weight = np.ones(n_rows) if weight is None else weight
        columns = label_columns(y)
        self.heights.append(n_rows)
        if n_rows:
            self.tallies = self.tallies or [Tally() for _ in columns]
            for tally, column in zip(self.tallies, columns, strict=True):
                tally.add(column, weight)
            self.everything.add(np.zeros(n_rows), weight)
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows of later partitions."""
        self.heights += other.heights
        self.everything.merge(other.everything)
        self.tallies = self.tallies or [Tally() for _ in other.tallies]
        if other.tallies:
            for tally, more in zip(self.tallies, other.tallies, strict=True):
                tally.merge(more)
        return self


def count_partition(
    divide: Divide, columns: Integers, part: Any, y: Any, weight: Any, first_row: int | None, number: int
) -> RowCounts:
    """Count the rows and labels of a computed partition, whose values may be absent if labels are beside them."""
    X, own_y, own_weight = (None, None, None) if part is None else divide(part, columns)
    y, weight = own_y if y is None else y, own_weight if weight is None else weight
    try:
        labels = None if y is None else labels_of(y, first_row or 0)
        weight = check_row_weights(weight, first_row or 0)
    except ValueError as error:
        raise error if first_row is not None else ValueError(f"partition {number}: {error}") from None
    n_rows = next(column.shape[0] for column in (labels, weight, X) if column is not None)
    if labels is not None and weight is not None and len(labels) != len(weight):
        raise ValueError(
            f"y and sample_weight must have the same number of rows in each partition, got {len(labels)} and "
            f"{len(weight)} in partition {number}"
        )
    return RowCounts().add(labels, weight, n_rows)


def encode_partition(
    divide: Divide, labellings: tuple[Classes, ...], part: Any, y: Any, weight: Any, first_row: int
) -> tuple[NDArray[Any], Floats | None]:
    """Return the classes of the rows of a computed partition, of shape (n_labels, n_rows), and their weights.

    Classes are codes of the smallest unsigned type; a row of weight 0 has code 0.
    """
    _, own_y, own_weight = (None, None, None) if part is None else divide(part, NO_COLUMNS)
    y, weight = own_y if y is None else y, own_weight if weight is None else weight
    labels, weight = labels_of(y, first_row), check_row_weights(weight, first_row)
    every = np.ones(len(labels)) if weight is None else weight
    pairs = zip(label_columns(labels), labellings, strict=True) if len(labels) else ()
    codes = [np.maximum(encode_rows(column, classes, every, "X").codes, 0) for column, classes in pairs]
    kind = np.min_scalar_type(max(classes.n_classes for classes in labellings) - 1)
    return np.array(codes, dtype=kind).reshape(len(labellings), len(labels)), weight


def merge_counts(counts: list[RowCounts]) -> RowCounts:
    """Merge counts in the order of the partitions."""
    merged = RowCounts()
    for count in counts:
        merged.merge(count)
    return merged


def partition_labels(reader: PartitionReader, *inputs: Any) -> tuple[RowLabels, ...] | None:
    """Return the labels of a computed partition; None if it has no rows."""
    table = reader.open(*inputs)
    return None if table is None else table.encoded_labels()
