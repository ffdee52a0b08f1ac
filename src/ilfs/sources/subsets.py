"""Subsets of the rows: further labellings of the same rows, in which the other rows take no part.

Statistics of many subsets, such as half-samples, are then computed in the same reads of the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.statistics.labels import LEFT_OUT, Classes, RowLabels


@dataclass(frozen=True)
class RowSubsets:
    """Rows of every subset, and its classes.

    A subset has a labelling for each observed one, and one more that puts all rows of the subset into one class. It
    takes one byte a row.

    Parameters
    ----------
    taken : ndarray of bool of shape (n_subsets, n_rows)
        Rows of each subset.
    labellings : tuple of Classes
        Classes of all labellings of the first subset, then of the second, ...
    places : tuple of ndarray of int
        Codes of the observed classes in each labelling: a subset may lack some classes.
    """

    taken: NDArray[np.bool_]
    labellings: tuple[Classes, ...]
    places: tuple[Integers, ...]

    @classmethod
    def of_rows(cls, taken: NDArray[np.bool_], observed: Sequence[RowLabels], classes: Sequence[Classes]) -> Self:
        """Find the classes of each subset.

        Parameters
        ----------
        taken : ndarray of bool of shape (n_subsets, n_rows)
            Rows of each subset.
        observed : sequence of RowLabels
            Labels of all rows, for each labelling; all rows as one class if there are no labels.
        classes : sequence of Classes
            Classes of each labelling; empty if there are no labels.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.sources.subsets import RowSubsets
        >>> from ilfs.statistics.labels import encode_labels
        >>> classes, labels = encode_labels(np.array(["a", "b", "c", "c"]))
        >>> subsets = RowSubsets.of_rows(np.array([[False, True, True, True]]), [labels], [classes])
        >>> subsets.labellings[0].labels.tolist(), subsets.row_labels(0, slice(0, 4), [labels], labels.weight).codes
        (['b', 'c'], array([-1,  0,  1,  1]))
        """
        labellings, places = [], []
        for mask in taken:
            for labels, known in zip(observed, classes, strict=False):
                codes, weight = labels.codes[mask], labels.weight[mask]
                inside = RowLabels(codes, weight, known.n_classes)
                present = inside.class_rows > 0
                labellings.append(
                    Classes(known.labels[present], inside.class_rows[present], inside.class_total[present])
                )
                places.append(np.where(present, np.cumsum(present) - 1, LEFT_OUT))
            labellings.append(Classes.count(np.zeros(1), [RowLabels.one_class(observed[0].weight[mask])]))
            places.append(np.zeros(1, dtype=np.int64))
        return cls(taken, tuple(labellings), tuple(places))

    @property
    def per_subset(self) -> int:
        """Number of labellings of a subset."""
        return len(self.labellings) // len(self.taken)

    def row_labels(self, number: int, rows: slice, observed: Sequence[RowLabels], weight: Floats) -> RowLabels:
        """Return the labels of some rows under one of ``labellings``.

        Parameters
        ----------
        number : int
            Number of the labelling, from 0 on.
        rows : slice
            The rows.
        observed : sequence of RowLabels
            Their labels under each observed labelling.
        weight : ndarray of shape (n,)
            Their weights.
        """
        subset, label = divmod(number, self.per_subset)
        kept = np.where(self.taken[subset, rows], weight, 0.0)  # a row that is left out counts as one of weight 0
        if label == self.per_subset - 1:
            return RowLabels.one_class(kept)
        codes = np.where(kept > 0, observed[label].codes, LEFT_OUT)
        inside = RowLabels(codes, kept, observed[label].n_classes)
        return inside.among(self.places[number], self.labellings[number].n_classes)

    def block_labels(self, rows: slice, observed: Sequence[RowLabels], weight: Floats) -> tuple[RowLabels, ...]:
        """Return the labels of some rows under all of ``labellings``."""
        return tuple(self.row_labels(number, rows, observed, weight) for number in range(len(self.labellings)))
