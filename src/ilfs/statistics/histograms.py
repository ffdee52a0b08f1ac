"""Counts of the values of every feature by class and bin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ilfs.arrays import Floats, Integers, read_only
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description


@dataclass(frozen=True)
class ClassHistograms:
    """Weight of the values of every feature in every class and bin.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_features, n_bins)
        Weights; missing values are in no bin.
    """

    counts: Floats

    def merge(self, other: Self) -> Self:
        """Add the counts of two sets of rows."""
        return type(self)(self.counts + other.counts)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the counts of neighbouring columns side by side."""
        return cls(np.concatenate([part.counts for part in parts], axis=1))


@dataclass(frozen=True)
class Histograms(Description[ClassHistograms]):
    """Description of histograms on given cuts.

    Parameters
    ----------
    cuts : ndarray of shape (n_features, n)
        Boundaries between the bins of each feature, ascending. A value is in bin b if exactly b cuts are <= the value.
    n_cuts : ndarray of shape (n_features,)
        Number of cuts of each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Histograms
    >>> fold = fold_of(table_source(np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "b"])))
    >>> fold(Histograms(np.array([[2.0]]), np.array([1]))).counts[:, 0].tolist()  # below 2, and from 2 on
    [[1.0, 0.0], [0.0, 2.0]]
    """

    cuts: Floats
    n_cuts: Integers

    def __call__(self, block: Block) -> ClassHistograms:
        """Count the values of one block."""
        from ilfs.kernels import bins

        cuts, n_cuts = np.ascontiguousarray(self.cuts[block.columns]), self.n_cuts[block.columns]
        labels = block.labels
        counts = np.zeros((labels.n_classes, block.n_columns, self.cuts.shape[1] + 1))
        if isinstance(block, SparseBlock):
            bins.sparse_histogram(
                block.data, block.indices, block.indptr, labels.codes, labels.weight,
                labels.class_rows, labels.class_total, cuts, n_cuts, counts,
            )  # fmt: skip
        elif not block.is_row_major:
            return ClassHistograms.join([self(strip) for strip in block.row_major_strips()])
        else:
            bins.dense_histogram(read_only(block.X), *labels.by_class, block.first, cuts, n_cuts, counts)
        return ClassHistograms(counts)
