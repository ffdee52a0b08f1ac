"""The interface of all sources."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.sources.permutations import PermutedLabels
from ilfs.sources.subsets import RowSubsets
from ilfs.statistics.labels import Classes, ManyLabels, RowLabels

Labelling = int | tuple[int, ...] | None  # number of a labelling, several numbers, or all rows as one class


@dataclass(frozen=True)
class RowBlock:
    """Some rows of a source.

    Parameters
    ----------
    X : ndarray, ColumnArrays or scipy.sparse array of shape (n_rows, n_columns)
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

    @property
    def is_sparse(self) -> bool:
        """True if the values are a sparse matrix."""
        return bool(sparse.issparse(self.X))

    def row_labels(self, labelling: Labelling) -> RowLabels:
        """Return the classes of these rows.

        Parameters
        ----------
        labelling : int, tuple of int or None
            Number of the labelling, or several numbers; None puts all rows into one class.

        Returns
        -------
        RowLabels
            Class and weight of each row; `ManyLabels` for several labellings.
        """
        if labelling is None or not self.labels:
            return RowLabels.one_class(self.weight)
        if isinstance(labelling, tuple):
            return ManyLabels.from_each([self.labels[number] for number in labelling])
        return self.labels[labelling]


@dataclass(frozen=True)
class ReadProgress:
    """How far a read of the rows has come.

    Parameters
    ----------
    number : int
        Number of the read, from 1 on; 0 for the labels, which are read first to find the classes.
    fraction : float or None
        Fraction of the table that was read, from 0 to 1; None if the number of rows is not known.
    """

    number: int
    fraction: float | None


class Source(ABC):
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
    has_labels, has_weights : bool
        True if rows have labels, or weights; asking for it does not read them.
    target_name : object
        Name of the column that ``y`` named, None if it named none.
    """

    n_features: int
    is_sparse: bool
    has_labels: bool
    has_weights: bool = False
    target_name: Any = None
    feature_names: list[Any] | None
    labellings: tuple[Classes, ...]
    all_rows: Classes
    permuted: PermutedLabels | None = None  # labels of the labellings after the observed ones
    is_within_groups: bool = False  # labels were permuted within groups of rows

    @property
    def n_permutations(self) -> int:
        """Number of permutations of the labels."""
        return 0 if self.permuted is None else len(self.permuted.codes)

    @abstractmethod
    def blocks(self, columns: Integers | None = None) -> Iterator[RowBlock]:
        """Iterate over the rows from the first one, in blocks in a fixed order.

        Parameters
        ----------
        columns : ndarray of int, optional
            Columns to read; all of them by default.

        Returns
        -------
        iterator of RowBlock
            The blocks, from the first row on; every call begins anew.
        """

    def strip_blocks(self, strips: Sequence[Integers | None]) -> Iterator[tuple[int, RowBlock]]:
        """Iterate over the rows of several strips of columns, in blocks.

        Parameters
        ----------
        strips : sequence of ndarray of int or None
            Columns of each strip; None for all columns.

        Yields
        ------
        strip, block : int and RowBlock
            Number of a strip and its next rows. Blocks of different strips may be mixed; those of one strip are in
            the order of their rows.
        """
        for number, columns in enumerate(strips):
            for block in self.blocks(columns):
                yield number, block

    def without_labels(self) -> "Source":
        """Return the same rows without labels, for a method that reads none; by default the source itself."""
        return self

    def with_permutations(
        self,
        n_permutations: int,  # noqa: ARG002
        random_state: int | np.random.Generator | None = 0,  # noqa: ARG002
        groups: NDArray[Any] | None = None,  # noqa: ARG002
    ) -> "Source":
        """Return the same rows with permuted labels as further labellings.

        Labelling ``k * n_labels + label`` is the k-th permutation of a label, from 1 on; the first ``n_labels``
        labellings are the observed labels. Weights stay with their rows, and rows of weight 0 take no part. The
        permuted labels take one byte for each row, label and permutation if there are at most 256 classes: 20
        permutations of 1.25 million rows take 25 MB.

        Parameters
        ----------
        n_permutations : int
            Number of permutations.
        random_state : int, numpy.random.Generator or None, default=0
            Source of random numbers. For equal numbers, the permuted labels do not depend on how rows are stored.
        groups : ndarray of shape (n_rows,), optional
            Group of each row; labels are then permuted within groups only.

        Returns
        -------
        Source
            It has ``(1 + n_permutations) * n_labels`` labellings.
        """
        raise TypeError(
            f"labels of a {type(self).__name__} cannot be permuted, because it does not have the labels of all rows in "
            "this process: load the rows, read them from a file with ilfs.read, or set n_permutations=0"
        )

    def encoded_labels(self) -> tuple[RowLabels, ...]:
        """Return the labels of all rows under each observed labelling; without labels, all rows as one class."""
        raise TypeError(
            f"rows of a {type(self).__name__} cannot be resampled, because it does not have the labels of all rows: "
            "load the rows, or read them from a file with ilfs.read"
        )

    def with_subsets(self, subsets: RowSubsets) -> "Source":
        """Return the same rows with subsets of them as further labellings, behind the observed ones.

        Parameters
        ----------
        subsets : RowSubsets
            The subsets, made from ``encoded_labels``.

        Returns
        -------
        Source
            The rows.
        """
        raise NotImplementedError

    def close(self) -> None:  # noqa: B027  most sources hold nothing open
        """Free what the source holds open, such as temporary files; it cannot be read afterwards."""

    def __repr__(self) -> str:
        n_rows = getattr(self, "n_rows", None)
        rows = "" if n_rows is None else f"{n_rows:,} rows x "
        return f"<{type(self).__name__}: {rows}{self.n_features:,} features>"

    def with_classes(self, labellings: tuple[Classes, ...]) -> "Source":
        """Return the same rows with classes that include those of other rows, which are elsewhere.

        Parameters
        ----------
        labellings : tuple of Classes
            Classes of each labelling; they contain all labels of these rows.

        Returns
        -------
        Source
            Its ``labellings`` are those given; ``all_rows`` counts these rows only.
        """
        places = places_among(self.labellings, labellings)
        same = all(map(lambda old, new: old.n_classes == new.n_classes, self.labellings, labellings))
        return self if same else self._relabelled(labellings, places)

    def _relabelled(self, labellings: tuple[Classes, ...], places: list[Integers]) -> "Source":
        """Return the same rows with other classes; ``places`` are the new codes of the old classes."""
        return Relabelled(self, labellings, places)


class Relabelled(Source):
    """Rows of another source with more classes than they have.

    Parameters
    ----------
    source : Source
        The rows.
    labellings : tuple of Classes
        Classes of each labelling.
    places : list of ndarray of int
        New codes of the classes of the source, for each labelling.
    """

    def __init__(self, source: Source, labellings: tuple[Classes, ...], places: list[Integers]) -> None:
        self._source, self.labellings, self._places = source, labellings, places
        self.n_features, self.is_sparse, self.feature_names = source.n_features, source.is_sparse, source.feature_names
        self.all_rows, self.has_labels, self.permuted = source.all_rows, source.has_labels, source.permuted
        # `Streamed` looks for these two attributes, which only sources that are read in batches have.
        self.strip_columns, self.progress = getattr(source, "strip_columns", None), getattr(source, "progress", None)

    def blocks(self, columns: Integers | None = None) -> Iterator[RowBlock]:
        """Iterate over the rows of the source, in the same blocks."""
        return map(self._relabelled_block, self._source.blocks(columns))

    def strip_blocks(self, strips: Sequence[Integers | None]) -> Iterator[tuple[int, RowBlock]]:
        """Iterate over the rows of several strips of columns of the source, in the same blocks."""
        return ((number, self._relabelled_block(block)) for number, block in self._source.strip_blocks(strips))

    def _relabelled_block(self, block: RowBlock) -> RowBlock:
        triples = zip(block.labels, self._places, self.labellings, strict=True)
        return replace(block, labels=tuple(one.among(places, classes.n_classes) for one, places, classes in triples))


def places_among(local: tuple[Classes, ...], given: tuple[Classes, ...]) -> list[Integers]:
    """Return the position of each class of a source among given classes, for each labelling."""
    if len(local) != len(given):
        raise ValueError(f"y must have as many labels as those of the other sites, got {len(local)} and {len(given)}")
    for classes, known in zip(local, given, strict=True):
        new = sorted(set(classes.labels.tolist()) - set(known.labels.tolist()))
        if new:
            raise ValueError(
                f"labels must be among those of the rounds before, which have no {new[0]!r}: the rows must not change "
                "between rounds"
            )
    return [np.searchsorted(known.labels, classes.labels) for classes, known in zip(local, given, strict=True)]
