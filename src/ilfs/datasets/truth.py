"""Data sets whose informative columns are known, and the fraction of these columns that a ranking finds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ilfs.arrays import Floats, Integers
from ilfs.datasets.dataset import Dataset
from ilfs.parameters import check_integer


@dataclass(frozen=True, eq=False)
class Truth:
    """A synthetic data set and the nature of its columns.

    Parameters
    ----------
    table : Dataset
        The data set.
    informative : ndarray of bool, shape (n_features,)
        Columns that say something about the class, alone or together.
    redundant : ndarray of bool, shape (n_features,)
        Noisy copies of informative columns.
    repeats : ndarray of int, shape (n_features,)
        For a redundant column, the informative one that it repeats; -1 for the others.
    """

    table: Dataset
    informative: NDArray[np.bool_]
    redundant: NDArray[np.bool_]
    repeats: Integers

    @classmethod
    def from_columns(cls, table: Dataset, columns: ArrayLike) -> "Truth":
        """Describe a data set that has informative columns and no copies of them.

        Parameters
        ----------
        table : Dataset
            The data set.
        columns : array-like of int
            The informative columns.

        Returns
        -------
        Truth
            The data set and its columns.
        """
        informative = np.zeros(table.n_features, dtype=bool)
        informative[np.asarray(columns)] = True
        return cls(table, informative, np.zeros_like(informative), np.full(table.n_features, -1))


def recovery(order: ArrayLike, truth: Truth, k: int) -> float:
    """Compute the fraction of the informative columns among the first k of a ranking.

    A redundant column counts as the column that it repeats. Each informative column counts once, however many copies of
    it are found.

    Parameters
    ----------
    order : array-like of int
        Indices of columns, best first.
    truth : Truth
        The data set and the nature of its columns.
    k : int
        Number of columns taken from the ranking.

    Returns
    -------
    float
        Fraction from 0 to 1.

    Examples
    --------
    >>> from ilfs.datasets import make_truth, recovery
    >>> truth = make_truth(20, 6, n_informative=2)
    >>> recovery(truth.informative.argsort()[::-1], truth, k=2)
    1.0
    """
    check_integer("k", k, 1)
    curve = recovery_curve(order, truth)
    if k > len(curve):
        raise ValueError(f"k must be at most the {len(curve)} columns of order, got {k}")
    return float(curve[k - 1])


def recovery_curve(order: ArrayLike, truth: Truth) -> Floats:
    """Compute the recovery for every k from 1 to the length of a ranking.

    Parameters
    ----------
    order : array-like of int
        Indices of columns, best first.
    truth : Truth
        The data set and the nature of its columns.

    Returns
    -------
    ndarray of shape (len(order),)
        Element k - 1 is the :func:`recovery` of the first k columns.

    Examples
    --------
    >>> from ilfs.datasets import make_truth, recovery_curve
    >>> truth = make_truth(20, 6, n_informative=2)
    >>> recovery_curve(truth.informative.argsort()[::-1], truth)
    array([0.5, 1. , 1. , 1. , 1. , 1. ])
    """
    columns = np.asarray(order)
    n_features = truth.table.n_features
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or len(np.unique(columns)) != len(columns):
        raise ValueError(f"order must be different indices of columns, got {order!r}")
    if len(columns) and not 0 <= columns.min() <= columns.max() < n_features:
        raise ValueError(f"order must be indices from 0 to {n_features - 1}, got {columns.min()} to {columns.max()}")
    if not truth.informative.any():
        raise ValueError(f"{truth.table.name} has no informative columns to recover")
    original = np.where(truth.redundant, truth.repeats, np.arange(n_features))[columns]
    is_new = np.zeros(len(columns), dtype=bool)
    is_new[np.unique(original, return_index=True)[1]] = True  # the first occurrence of each
    found = is_new & truth.informative[original]
    return np.asarray(np.cumsum(found) / truth.informative.sum())
