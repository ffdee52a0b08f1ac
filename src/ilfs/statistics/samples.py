"""A random sample of the rows that does not depend on how they are cut into blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, read_only
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description


@dataclass(frozen=True)
class RowSample:
    """Random sample of rows: those with the smallest keys, where a key is a hash of the row number.

    Parameters
    ----------
    keys : ndarray of shape (n_sampled,)
        Keys of the rows, in ascending order.
    weight : ndarray of shape (n_sampled,)
        Weights of the rows.
    X : ndarray or scipy.sparse.csr_array of shape (n_sampled, n_features)
        Their values.
    size : int
        Maximum number of rows in the sample.
    """

    keys: NDArray[np.uint64]
    weight: Floats
    X: Any
    size: int

    def merge(self, other: Self) -> Self:
        """Keep the smallest keys of two sets of rows."""
        keys = np.concatenate([self.keys, other.keys])
        kept = np.argsort(keys, kind="stable")[: self.size]
        both = [self.X, other.X]
        X: Any = sparse.vstack(both, format="csr") if sparse.issparse(self.X) else np.vstack(both)
        return type(self)(keys[kept], np.concatenate([self.weight, other.weight])[kept], X[kept], self.size)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put neighbouring columns of the same rows side by side."""
        first, strips = parts[0], [part.X for part in parts]
        X: Any = sparse.hstack(strips, format="csr") if sparse.issparse(first.X) else np.hstack(strips)
        return cls(first.keys, first.weight, X, first.size)


@dataclass(frozen=True)
class SampledRows(Description[RowSample]):
    """Description of a sample of the rows that take part.

    Parameters
    ----------
    size : int
        Number of rows to sample. If there are fewer, all are taken.
    """

    size: int

    def __call__(self, block: Block) -> RowSample:
        """Sample the rows of one block."""
        from ilfs.kernels import hashes

        here = np.flatnonzero(block.labels.takes_part)
        # The hash maps 0 to 0, so rows are counted from 1.
        keys = hashes.scrambled(read_only((here + block.first_row + 1).astype(np.uint64)))
        kept = np.argsort(keys, kind="stable")[: self.size]
        rows = here[kept]
        if isinstance(block, SparseBlock):
            shape = (block.n_rows, block.n_columns)
            X: Any = sparse.csc_array((block.data, block.indices, block.indptr), shape=shape).tocsr()[rows]
        elif block.is_row_major:
            X = block.X[rows, block.first : block.last]
        else:
            X = np.hstack([strip.X[rows, strip.first : strip.last] for strip in block.row_major_strips()])
        return RowSample(keys[kept], block.labels.weight[rows], X, self.size)
