"""Signs that features give the classes away, or that rows are not independent. Each check reads the table once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Integers
from ilfs.preparing.options import some_names
from ilfs.preparing.raw_columns import RawColumn
from ilfs.words import counted

MIN_LEAK_ROWS = 6  # rows from which a feature that separates the classes exactly is suspicious
MIN_COMPARED_FEATURES = 8  # features from which equal rows are suspicious
MAX_BLOCK_COLUMNS = 1024  # columns that are compared at a time
MAX_GROUPS = 50  # different values of a column that is compared with the classes


def leak_warnings(X: Any, names: Sequence[str], labels: NDArray[Any], target: str | None) -> list[str]:
    """Return sentences on features that give the classes away, and on duplicate rows.

    Parameters
    ----------
    X : ndarray or scipy.sparse matrix of shape (n_rows, n_features)
        The features.
    names : sequence of str
        Their names.
    labels : ndarray of shape (n_rows,)
        The class of each row.
    target : str or None
        Name of the target.

    Returns
    -------
    list of str
        The sentences.
    """
    codes = np.unique(labels, return_inverse=True)[1]
    called = "the classes" if target is None else repr(target)
    found = []
    if labels.size >= MIN_LEAK_ROWS and codes.max() + 1 <= labels.size / 2:
        if equal := [names[j] for j in recodings(X, codes).tolist()]:
            tell, them, are = ("tells", "it", "it is") if len(equal) == 1 else ("tell", "them", "they are")
            found.append(
                f"{some_names(equal)} {tell} {called} exactly: leave {them} out (drop={equal[:5]!r}), unless {are} "
                "really known before the class is"
            )
        if rising := [names[j] for j in rising_columns(X, codes).tolist()]:
            found.append(
                f"rows are sorted by class, and {counted(len(rising), 'feature')} rising or falling from row to row: "
                f"{some_names(rising)}"
            )
    n_twice = n_duplicates(X) if X.shape[1] >= MIN_COMPARED_FEATURES else 0
    if n_twice:
        found.append(f"{counted(n_twice, 'row')} repeating another row: cross-validation would be too optimistic")
    return found


def recodings(X: Any, codes: Integers) -> Integers:
    """Find the features that are constant in each class, with another value in every class."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    found = [
        start + np.flatnonzero(are_recodings(block, order, starts)) for start, block in column_blocks(X, codes.size)
    ]
    return np.concatenate(found)


def are_recodings(block: NDArray[Any], order: Integers, starts: Integers) -> NDArray[np.bool_]:
    """Check each column of a block; missing values count as one more value."""
    sorted_rows = np.nan_to_num(block[order], nan=np.inf)
    low, high = np.minimum.reduceat(sorted_rows, starts), np.maximum.reduceat(sorted_rows, starts)
    constant = (low == high).all(axis=0)
    result: NDArray[np.bool_] = constant
    some = np.flatnonzero(constant)
    result[some] = [np.unique(low[:, j]).size == starts.size for j in some.tolist()]
    return result


def rising_columns(X: Any, codes: Integers) -> Integers:
    """Find the features that rise or fall from row to row, if rows are sorted by class."""
    if sparse.issparse(X) or np.count_nonzero(np.diff(codes)) != codes.max():
        return np.empty(0, dtype=np.int64)
    found = []
    for start, block in column_blocks(X, codes.size):
        steps = np.diff(block, axis=0)
        found.append(start + np.flatnonzero((steps > 0).all(axis=0) | (steps < 0).all(axis=0)))
    return np.concatenate(found)


def column_blocks(X: Any, n_rows: int) -> Any:
    """Yield blocks of columns as arrays, each with the index of its first column."""
    width = max(min(MAX_BLOCK_COLUMNS, 2**24 // max(n_rows, 1)), 1)
    columns = X.tocsc() if sparse.issparse(X) else X
    for start in range(0, X.shape[1], width):
        block = columns[:, start : start + width]
        yield start, block.toarray() if sparse.issparse(block) else block


def n_duplicates(X: Any) -> int:
    """Count the rows that repeat an earlier row; a missing value equals a missing value only.

    Rows are compared by random projections of their values and of the places of their missing values: equal rows have
    equal projections, different rows almost never do.
    """
    weights = np.random.default_rng(0).normal(size=X.shape[1])
    projected = sparse_projections(X, weights) if sparse.issparse(X) else dense_projections(X, weights)
    return int(len(projected) - len(np.unique(projected, axis=0)))


def dense_projections(X: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Project the values of rows, with 0 for missing ones, and the places of the missing ones."""
    projected = np.zeros((X.shape[0], 2))
    for start, block in column_blocks(X, X.shape[0]):
        missing = np.isnan(block)
        for k, values in enumerate((np.where(missing, 0, block), missing)):
            # einsum adds up in the same order for every row, which a matrix product of BLAS does not promise.
            projected[:, k] += np.einsum("ij,j->i", values, weights[start : start + block.shape[1]])
    return projected


def sparse_projections(X: Any, weights: NDArray[Any]) -> NDArray[Any]:
    """Project the rows of a sparse matrix like `dense_projections`."""
    rows = X.tocsr()
    missing = np.isnan(rows.data)
    parts = [
        sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape) @ weights
        for values in (np.where(missing, 0, rows.data), missing.astype(np.float64))
    ]
    return np.column_stack(parts)


def same_partition(columns: Mapping[str, RawColumn], labels: NDArray[Any], target: str | None) -> list[str]:
    """Return sentences on columns that are no features and divide the rows exactly as the classes do.

    They are no features, but what differs between batches would be taken for a difference between classes.
    """
    codes = np.unique(labels, return_inverse=True)[1]
    if labels.size < MIN_LEAK_ROWS:
        return []
    same = [name for name, column in columns.items() if divides_alike(column, codes)]
    called = "the classes" if target is None else repr(target)
    if not same:
        return []
    not_used = "is not used as a feature, tells" if len(same) == 1 else "are not used as features, tell"
    return [
        f"{some_names(same)}, which {not_used} {called} exactly: features that differ with "
        f"{'it' if len(same) == 1 else 'them'} cannot be told from features that differ between the classes"
    ]


def divides_alike(column: RawColumn, codes: Integers) -> bool:
    """Check if a column has one value in each class and another in every class."""
    distinct = column.distinct(MAX_GROUPS)
    n_classes = int(codes.max()) + 1
    if distinct is None or len(distinct) != n_classes or n_classes > codes.size / 2:
        return False
    pairs = set(zip(column.texts, codes.tolist(), strict=True))
    return len(pairs) == n_classes
