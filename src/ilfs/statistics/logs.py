"""Statistics of the logarithms of counts, log(1 + x / unit), which read the values as they are stored."""

from dataclasses import dataclass, replace

import numpy as np

from ilfs.arrays import Floats
from ilfs.statistics.association import Association
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description
from ilfs.statistics.moments import ClassMoments, Moments
from ilfs.statistics.products import CrossProducts, Products


@dataclass(frozen=True)
class LogMoments(Description[ClassMoments]):
    """Description of the moments of columns, some of them after the transformation log(1 + x / unit).

    Parameters
    ----------
    unit : ndarray of shape (n_columns,)
        Unit of each column, such as the mean of its values that are not 0. 0 for columns that are not transformed.
        The others have no negative values.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import LogMoments
    >>> fold = fold_of(table_source(np.array([[0.0, 3.0], [np.e - 1, 5.0]]), np.array(["a", "a"])))
    >>> fold(LogMoments(np.array([1.0, 0.0]))).mean
    array([[0.5, 4. ]])
    """

    unit: Floats

    def __call__(self, block: Block) -> ClassMoments:
        """Compute the moments of one block."""
        return Moments()(with_logs(block, self.unit))


@dataclass(frozen=True)
class LogProducts(Description[CrossProducts]):
    """Description of the cross products of columns, some of them after the transformation log(1 + x / unit).

    Parameters
    ----------
    association : Association
        Mean, deviation and class weights of the transformed columns, as for `Products`.
    unit : ndarray of shape (n_columns,)
        Unit of each column, as for `LogMoments`.
    """

    association: Association
    unit: Floats

    def __call__(self, block: Block) -> CrossProducts:
        """Compute the cross products of one block."""
        return Products(self.association)(with_logs(block, self.unit))


def with_logs(block: Block, unit: Floats) -> Block:
    """Return a block in which the values x of some columns are replaced by log(1 + x / unit).

    Parameters
    ----------
    block : Block
        Values.
    unit : ndarray of shape (n_columns,)
        Unit of each of all requested columns; 0 for columns that are not replaced.

    Returns
    -------
    Block
        With a copy of the values. A sparse block stays sparse, since log(1 + 0) = 0.
    """
    divisor = unit[block.columns]
    if isinstance(block, SparseBlock):
        data = block.data.astype(np.float64)
        stored = slice(block.indptr[0], block.indptr[-1])
        take_logs(data[stored], np.repeat(divisor, np.diff(block.indptr)))
        return replace(block, data=data)
    block = block.row_major()
    values = block.X[:, block.first : block.last].astype(np.float64)
    take_logs(values, divisor)
    return replace(block, X=values, first=0, last=block.n_columns, is_own=True)


def take_logs(values: Floats, divisor: Floats) -> None:
    """Replace values x by log(1 + x / divisor) where the divisor is not 0."""
    chosen = divisor > 0
    np.divide(values, divisor, out=values, where=chosen)
    with np.errstate(divide="ignore", invalid="ignore"):  # rows that are left out may have negative values
        np.log1p(values, out=values, where=chosen)
