"""Statistics of the logarithms of counts, log(1 + x), which read the values as they are stored."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description
from ilfs.statistics.moments import ClassMoments, Moments
from ilfs.statistics.products import CrossProducts, Products


@dataclass(frozen=True)
class LogMoments(Description[ClassMoments]):
    """Description of the moments of columns, some of them after the transformation log(1 + x).

    Parameters
    ----------
    is_count : ndarray of bool of shape (n_columns,)
        Columns to transform; they have no negative values.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import LogMoments
    >>> fold = fold_of(table_source(np.array([[0.0, 3.0], [np.e - 1, 5.0]]), np.array(["a", "a"])))
    >>> fold(LogMoments(np.array([True, False]))).mean
    array([[0.5, 4. ]])
    """

    is_count: NDArray[np.bool_]

    def __call__(self, block: Block) -> ClassMoments:
        """Compute the moments of one block."""
        return Moments()(with_logs(block, self.is_count))


@dataclass(frozen=True)
class LogProducts(Description[CrossProducts]):
    """Description of the cross products of columns, some of them after the transformation log(1 + x).

    Parameters
    ----------
    association : Association
        Mean, deviation and class weights of the transformed columns, as for `Products`.
    is_count : ndarray of bool of shape (n_columns,)
        Columns to transform; they have no negative values.
    """

    association: Association
    is_count: NDArray[np.bool_]

    def __call__(self, block: Block) -> CrossProducts:
        """Compute the cross products of one block."""
        return Products(self.association)(with_logs(block, self.is_count))


def with_logs(block: Block, is_count: NDArray[np.bool_]) -> Block:
    """Return a block in which the values x of some columns are replaced by log(1 + x).

    Parameters
    ----------
    block : Block
        Values.
    is_count : ndarray of bool of shape (n_columns,)
        Which of all requested columns to replace.

    Returns
    -------
    Block
        With a copy of the values. A sparse block stays sparse, since log(1 + 0) = 0.
    """
    chosen = is_count[block.columns]
    if isinstance(block, SparseBlock):
        data = block.data.astype(np.float64)
        stored = slice(block.indptr[0], block.indptr[-1])
        here = np.repeat(chosen, np.diff(block.indptr))
        np.log1p(data[stored], out=data[stored], where=here)
        return replace(block, data=data)
    block = block.row_major()
    values = block.X[:, block.first : block.last].astype(np.float64)
    np.log1p(values, out=values, where=chosen)
    return replace(block, X=values, first=0, last=block.n_columns, is_own=True)
