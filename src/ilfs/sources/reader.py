"""The interface of all formats that are read in batches."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.sources.label_checks import warn_of_quantity


@dataclass(frozen=True)
class Batch:
    """Some rows as a reader gives them.

    Parameters
    ----------
    X : ndarray, scipy.sparse matrix or sequence of ndarrays
        Values of the requested columns: a table with ``n_rows`` rows, or one array for each column. NaN is a missing
        value.
    y : ndarray of shape (n_rows,) or (n_rows, n_labels), optional
        Labels of these rows.
    weight : ndarray of shape (n_rows,), optional
        Weights of these rows.
    n_rows : int
        Number of rows; a batch may be empty.
    """

    X: Any
    y: NDArray[Any] | None
    weight: Floats | None
    n_rows: int


class BatchReader(ABC):
    """Base class of the formats that are read in batches.

    Attributes
    ----------
    name : str
        Name of the table in messages, such as the path of a file.
    n_features : int
        Number of columns, without those of labels and weights.
    feature_names : list or None
        Names of these columns, if they have any.
    dtype : dtype
        float32 or float64: the type in which dense values are passed on.
    is_sparse : bool
        True if batches are sparse matrices.
    by_column : bool
        True if the values of a column are contiguous in a batch.
    has_labels, has_weights : bool
        True if batches have labels, or weights.
    n_rows : int or None
        Number of rows, if it is known without reading them.
    strip_columns : int or None
        Number of columns to read at a time, if reading some columns takes less time and memory than reading all of
        them; None if all must be read together.
    n_parts : int
        Number of parts, such as files, that are opened one after the other.
    """

    name: str = "the table"
    n_features: int
    feature_names: list[Any] | None = None
    dtype: "np.dtype[Any]" = np.dtype(np.float64)
    is_sparse: bool = False
    by_column: bool = False
    has_labels: bool = False
    has_weights: bool = False
    n_rows: int | None = None
    strip_columns: int | None = None
    n_parts: int = 1

    @abstractmethod
    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last.

        Parameters
        ----------
        columns : ndarray of int or None
            Columns to read, ascending; None for all of them. If it is empty, only labels and weights are needed.
        max_rows : int
            Most rows of a batch, if the format allows to choose.

        Yields
        ------
        Batch
            The next rows. Every call starts again at the first row and gives the same rows in the same order.
        """

    def part_batches(self, part: int, columns: Integers | None, max_rows: int) -> Iterator[Batch]:  # noqa: ARG002
        """Read the rows of one part. A reader of several parts overrides it.

        Parameters
        ----------
        part : int
            Number of the part.
        columns, max_rows :
            As for `batches`.

        Returns
        -------
        iterator of Batch
            The rows of this part, from the first to the last.
        """
        return self.batches(columns, max_rows)

    @property
    def n_bytes(self) -> int | None:
        """Estimate of the bytes that all values take in memory; None if it is not known."""
        return None if self.n_rows is None else self.n_rows * self.n_features * self.dtype.itemsize

    def check_classes(self, labels: NDArray[Any], rows: NDArray[Any]) -> None:
        """Check the classes of all rows: warn if they look like a quantity.

        Parameters
        ----------
        labels, rows : ndarray of shape (n_classes,)
            Label of each class, and the number of its rows.
        """
        warn_of_quantity(labels, rows)

    def close(self) -> None:  # noqa: B027  most readers hold nothing open
        """Free what the reader holds open, such as temporary files; it cannot be read afterwards."""


def column_places(columns: Integers | None, n_features: int) -> Sequence[int]:
    """Return the requested columns as a list; all of them if ``columns`` is None."""
    return range(n_features) if columns is None else columns.tolist()
