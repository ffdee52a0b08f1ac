"""Numbers that identify rows and columns by their values, for choices among equally good solutions.

A linear program over discrete data often has many solutions. To choose the same one every time, a solver perturbs its
program by small numbers. They must look random, and they must not depend on the order of the rows, on dense or sparse
storage, on the memory layout or on the labels. So they are computed from the values alone, in integer arithmetic
modulo 2^64, where sums are exact in any order:

1. a first hash of each row: the sum of the hashes of its values;
2. the hash of each column: the sum over the rows of hash(value) x hash(row);
3. the hash of each row: the sum over the columns of hash(value) x hash(column).

Values that are zero have hash 0 and add nothing, so that only stored values of a sparse table are read. Columns with
the same hash (mostly exact copies) are told apart by their order; rows need not be, see `Fingerprints.row_numbers`.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, read_only
from ilfs.execution.columns import column_parts, dense_columns
from ilfs.execution.threads import thread_map

Hashes = NDArray[np.uint64]
STEP = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: multiples of it are far apart
SPARE_BITS = np.uint64(11)  # of 64: a float has 53


@dataclass(frozen=True)
class Fingerprints:
    """Hashes of the rows and columns of a table.

    Parameters
    ----------
    rows : ndarray of shape (n_samples,)
        Equal for rows with the same values.
    columns : ndarray of shape (n_features,)
        Different for all columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution.fingerprints import Fingerprints
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    >>> numbers = Fingerprints.of(X).row_numbers(np.array([1.0, 1.0, -1.0]))
    >>> reverse = Fingerprints.of(X[::-1]).row_numbers(np.array([-1.0, 1.0, 1.0]))
    >>> bool(numbers[1] == reverse[1]), bool(numbers[2] == reverse[0])
    (True, True)
    """

    rows: Hashes
    columns: Hashes

    @classmethod
    def of(cls, X: Any, n_jobs: int | None = None) -> Self:
        """Hash a table of numbers, dense or sparse."""
        rows = sum_by_row(X, np.ones(X.shape[1], dtype=np.uint64), n_jobs)
        columns = distinct(scrambled(sum_by_column(X, scrambled(rows + STEP), n_jobs) + STEP))
        return cls(scrambled(sum_by_row(X, columns, n_jobs) + STEP), columns)

    def column_numbers(self) -> Floats:
        """Give each column a number in [0, 1); of equal columns the first has the least."""
        return uniform(self.columns)

    def row_numbers(self, label: Floats) -> Floats:
        """Give each row a number in [0, 1), different also for rows with the same values.

        Such rows are told apart by their order among those with the same label, so that a permutation of the rows
        permutes numbers only between rows that have the same values and the same label.
        """
        numbers = np.empty(label.size)
        for side in np.unique(label):
            here = np.flatnonzero(label == side)
            numbers[here] = uniform(distinct(self.rows[here]))
        return numbers


def sum_by_row(X: Any, weight: Hashes, n_jobs: int | None) -> Hashes:
    """Sum hash(value) x weight over the columns of each row."""
    from ilfs.kernels import hashes

    def part_of_sum(part: slice) -> Hashes:
        if sparse.issparse(X):
            return np.asarray(hashed_sparse(X[:, part]) @ weight[part])
        total = np.zeros(X.shape[0], dtype=np.uint64)
        hashes.add_hashes_by_row(bits(dense_columns(X, part)), weight[part], total)
        return total

    return np.asarray(np.sum(list(thread_map(part_of_sum, column_parts(X), n_jobs)), axis=0, dtype=np.uint64))


def sum_by_column(X: Any, weight: Hashes, n_jobs: int | None) -> Hashes:
    """Sum hash(value) x weight over the rows of each column."""
    from ilfs.kernels import hashes

    def sums(part: slice) -> Hashes:
        if sparse.issparse(X):
            return np.asarray(hashed_sparse(X[:, part]).T @ weight)
        total = np.zeros(part.stop - part.start, dtype=np.uint64)
        hashes.add_hashes_by_column(bits(dense_columns(X, part)), weight, total)
        return total

    return np.concatenate(list(thread_map(sums, column_parts(X), n_jobs)))


def bits(values: Floats) -> Hashes:
    """The bits of numbers as integers, those of -0 being those of 0."""
    return read_only((values + 0.0).view(np.uint64))


def hashed_sparse(block: Any) -> Any:
    """Replace the stored values of a sparse matrix by their hashes."""
    values = scrambled(bits(block.data.astype(np.float64)))
    return type(block)((values, block.indices, block.indptr), shape=block.shape)


def scrambled(numbers: Hashes) -> Hashes:
    """Map different integers to different ones that look random, and 0 to 0."""
    from ilfs.kernels import hashes

    return hashes.scrambled(read_only(numbers))


def distinct(hashes: Hashes) -> Hashes:
    """Make hashes differ; those of elements that were equal increase in their order."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    opens = np.append(True, ordered[1:] != ordered[:-1])
    group = np.cumsum(opens) - 1
    occurrence = (np.arange(hashes.size) - np.flatnonzero(opens)[group]).astype(np.uint64)
    new = scrambled(ordered + occurrence * STEP)
    result = np.empty_like(hashes)
    result[order] = new[np.lexsort([new, group])]
    return result


def uniform(hashes: Hashes) -> Floats:
    """Numbers in [0, 1) of 53 random bits."""
    return (hashes >> SPARE_BITS).astype(np.float64) * 2.0**-53
