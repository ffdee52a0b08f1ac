"""Hashes of the rows and columns of a table, to choose the same one of many optimal solutions every time.

A linear program over discrete data often has many solutions. To make the solution unique, a solver perturbs the program
by small pseudo-random numbers. These numbers must not depend on the order of the rows, on dense or sparse storage, on
the memory layout or on the labels. So they are hashes of the values alone. They are computed in integer arithmetic
modulo 2^64, where sums are exact in any order:

1. a first hash of each row: the sum of the hashes of its values;
2. the hash of each column: the sum over the rows of hash(value) x hash(row);
3. the hash of each row: the sum over the columns of hash(value) x hash(column).

Zeros have hash 0 and add nothing, so only the stored values of a sparse table are read. Columns with the same hash
(in practice: exact copies) get different numbers in the order of the columns. Rows with the same hash are handled in
`Fingerprints.row_numbers`.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, read_only
from ilfs.execution.columns import dense_column_blocks, dense_columns
from ilfs.execution.threads import thread_map

Hashes = NDArray[np.uint64]
GOLDEN_INCREMENT = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: its multiples modulo 2^64 are far apart
DROPPED_BITS = np.uint64(11)  # 64 bits of a hash minus the 53 bits of a float64 mantissa


@dataclass(frozen=True)
class Fingerprints:
    """Hashes of the rows and columns of a table.

    Parameters
    ----------
    rows : ndarray of shape (n_samples,)
        Hash of each row; equal for rows with the same values.
    columns : ndarray of shape (n_features,)
        Hash of each column; no two are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution.fingerprints import Fingerprints
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    >>> numbers = Fingerprints.from_table(X).row_numbers(np.array([1.0, 1.0, -1.0]))
    >>> reverse = Fingerprints.from_table(X[::-1]).row_numbers(np.array([-1.0, 1.0, 1.0]))
    >>> bool(numbers[1] == reverse[1]), bool(numbers[2] == reverse[0])
    (True, True)
    """

    rows: Hashes
    columns: Hashes

    @classmethod
    def from_table(cls, X: Any, n_jobs: int | None = None) -> Self:
        """Hash the rows and columns of a table, dense or sparse."""
        # Adding a constant before scrambling keeps a sum of 0 (an empty row or column) from getting hash 0.
        rows = sum_by_row(X, np.ones(X.shape[1], dtype=np.uint64), n_jobs)
        columns = distinct(scrambled(sum_by_column(X, scrambled(rows + GOLDEN_INCREMENT), n_jobs) + GOLDEN_INCREMENT))
        return cls(scrambled(sum_by_row(X, columns, n_jobs) + GOLDEN_INCREMENT), columns)

    def column_numbers(self) -> Floats:
        """Return a number in [0, 1) for each column; among equal columns the first has the smallest number."""
        return uniform(self.columns)

    def row_numbers(self, label: Floats) -> Floats:
        """Return a number in [0, 1) for each row; rows with the same label have different numbers.

        Rows with the same values and the same label get different numbers in their order. A permutation of the rows
        therefore exchanges numbers only between rows that cannot be distinguished.
        """
        numbers = np.empty(label.size)
        for value in np.unique(label):
            members = np.flatnonzero(label == value)
            numbers[members] = uniform(distinct(self.rows[members]))
        return numbers


def sum_by_row(X: Any, weight: Hashes, n_jobs: int | None) -> Hashes:
    """Sum hash(value) x weight over the columns of each row."""
    from ilfs.kernels import hashes

    def partial_sum(columns: slice) -> Hashes:
        if sparse.issparse(X):
            return np.asarray(hashed_sparse(X[:, columns]) @ weight[columns])
        total = np.zeros(X.shape[0], dtype=np.uint64)
        hashes.add_hashes_by_row(bits(dense_columns(X, columns)), weight[columns], total)
        return total

    return np.asarray(np.sum(list(thread_map(partial_sum, dense_column_blocks(X), n_jobs)), axis=0, dtype=np.uint64))


def sum_by_column(X: Any, weight: Hashes, n_jobs: int | None) -> Hashes:
    """Sum hash(value) x weight over the rows of each column."""
    from ilfs.kernels import hashes

    def block_sums(columns: slice) -> Hashes:
        if sparse.issparse(X):
            return np.asarray(hashed_sparse(X[:, columns]).T @ weight)
        total = np.zeros(columns.stop - columns.start, dtype=np.uint64)
        hashes.add_hashes_by_column(bits(dense_columns(X, columns)), weight, total)
        return total

    return np.concatenate(list(thread_map(block_sums, dense_column_blocks(X), n_jobs)))


def bits(values: Floats) -> Hashes:
    """View float64 values as 64-bit integers, with -0.0 as 0.0."""
    # -0.0 + 0.0 is 0.0, so that the two zeros have the same bits.
    return read_only((values + 0.0).view(np.uint64))


def hashed_sparse(block: Any) -> Any:
    """Replace the stored values of a sparse matrix by their hashes."""
    values = scrambled(bits(block.data.astype(np.float64)))
    return type(block)((values, block.indices, block.indptr), shape=block.shape)


def scrambled(numbers: Hashes) -> Hashes:
    """Apply a pseudo-random bijection of the 64-bit integers that maps 0 to 0."""
    from ilfs.kernels import hashes

    return hashes.scrambled(read_only(numbers))


def distinct(hashes: Hashes) -> Hashes:
    """Replace hashes by distinct ones; elements with equal hashes get increasing ones in their order."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    starts_group = np.append(True, ordered[1:] != ordered[:-1])
    group = np.cumsum(starts_group) - 1
    occurrence = (np.arange(hashes.size) - np.flatnonzero(starts_group)[group]).astype(np.uint64)
    # The k-th element of a group of equal hashes is scrambled with k added, then each group is sorted.
    new = scrambled(ordered + occurrence * GOLDEN_INCREMENT)
    result = np.empty_like(hashes)
    result[order] = new[np.lexsort([new, group])]
    return result


def uniform(hashes: Hashes) -> Floats:
    """Convert hashes to floats in [0, 1), from their upper 53 bits."""
    return (hashes >> DROPPED_BITS).astype(np.float64) * 2.0**-53
