"""The interface of all sources."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ilfs.arrays import Floats, Integers
from ilfs.statistics.labels import Classes, RowLabels


@dataclass(frozen=True)
class RowBlock:
    """Some rows of a source.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_rows, n_columns)
        Values; NaN is a missing value.
    labels : tuple of RowLabels
        Classes and weights of these rows, for each labelling of the source.
    weight : ndarray of shape (n_rows,)
        Weights of these rows.
    first_row : int
        Number of the first of these rows in the source.
    """

    X: Any
    labels: tuple[RowLabels, ...]
    weight: Floats
    first_row: int

    def row_labels(self, labelling: int | None) -> RowLabels:
        """Return the classes of these rows.

        Parameters
        ----------
        labelling : int or None
            Number of the labelling; None puts all rows into one class.

        Returns
        -------
        RowLabels
            Class and weight of each row.
        """
        if labelling is None or not self.labels:
            return RowLabels.one_class(self.weight)
        return self.labels[labelling]


class Source(Protocol):
    """Rows with their classes, which can be read in blocks any number of times.

    A *labelling* gives every row a class. There may be several of them, all of which are read together: the labels of
    an indicator matrix, permutations of labels, or groups of rows.

    Attributes
    ----------
    n_features : int
        Number of columns.
    is_sparse : bool
        True if blocks are sparse matrices.
    feature_names : list or None
        Names of the columns, if they have any.
    labellings : tuple of Classes
        Classes of each labelling.
    all_rows : Classes
        All rows as one class.
    """

    n_features: int
    is_sparse: bool
    feature_names: list[Any] | None
    labellings: tuple[Classes, ...]
    all_rows: Classes

    def blocks(self, columns: Integers | None = None) -> Iterator[RowBlock]:
        """Iterate over the rows from the first one, in blocks in a fixed order; only some columns, if given."""
