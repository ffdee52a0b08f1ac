"""Values of a few features by class, read from a table in memory or in blocks: what strip plots and boxes need."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from ilfs.arrays import Floats, Integers
from ilfs.reading import read
from ilfs.report.charts.strips import BOX_QUANTILES
from ilfs.selector import RankingSelector
from ilfs.sources import Source
from ilfs.sources.source import RowBlock
from ilfs.statistics.block import ColumnArrays
from ilfs.summaries import Summary
from ilfs.validation import check_labels, column_names

MAX_ROWS_READ = 20_000  # of a larger table, a random sample of the rows
MAX_POINTS = 400  # rows whose values are kept; quantiles are computed from all rows read
MIN_CLASS_POINTS = 20  # rows of a rare class that are kept, if it has so many
ALL_ROWS = "all rows"  # name of the only group, without labels or with several labels


@dataclass(frozen=True)
class ClassValues:
    """Values of some features by class.

    Parameters
    ----------
    labels : tuple of str
        Names of the classes.
    class_rows : tuple of int
        Number of rows of each class, in the whole table.
    codes : ndarray of int of shape (n_points,)
        Class of each row whose values are kept.
    values : ndarray of shape (n_points, n_columns)
        Values; NaN is a missing value.
    quantiles : ndarray of shape (n_columns, n_classes, 5)
        Quantiles `BOX_QUANTILES` of the values of each class; NaN if there are none.
    n_rows, n_read : int
        Number of rows of the table, and number of those that were used.
    """

    labels: tuple[str, ...]
    class_rows: tuple[int, ...]
    codes: Integers
    values: Floats
    quantiles: Floats
    n_rows: int
    n_read: int


@dataclass(frozen=True)
class CorrelationMap:
    """Correlations of the selected features, similar ones side by side.

    Parameters
    ----------
    columns : ndarray of int of shape (n,)
        Column indices, in the order of the clusters.
    correlation : ndarray of shape (n, n)
        Correlations; NaN for a constant column. Missing values are replaced by the mean of their column.
    """

    columns: Integers
    correlation: Floats


@dataclass(frozen=True)
class ReadRows:
    """Some columns of a sample of the rows, with the class of each row."""

    labels: tuple[str, ...]
    class_rows: tuple[int, ...]
    codes: Integers
    values: Floats
    n_rows: int


class InputChecker(RankingSelector):
    """Checks a table like ``fit`` of a selector, for a method that takes everything."""

    _reads_labels = False
    _prefers_statistics = True

    def __init__(self, n_features_to_select: int | None = None, n_jobs: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        # No warning that labels look like a quantity: ``fit`` has given it.
        return check_labels(y, n_samples, quantities=False) if self._reads_labels else None


def read_rows(selector: RankingSelector, X: Any, y: Any, columns: Integers, seed: int = 0) -> ReadRows | None:
    """Read some columns of a table that a selector was fitted on.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    X : table, Source or path-like
        Anything that ``fit`` takes, with the columns of the fit.
    y : array, str or None
        Labels, or the name of their column; without them, all rows are one group.
    columns : ndarray of int
        Columns to read.
    seed : int, default=0
        Random numbers of the sample, if there are more than `MAX_ROWS_READ` rows.

    Returns
    -------
    ReadRows or None
        None if X is a `Summary`, which has no rows.
    """
    if isinstance(X, Summary):
        return None
    is_path = isinstance(X, str | os.PathLike)
    target = getattr(selector, "target_name_", None)
    if y is None and target is not None and (is_path or target in possible_targets(X)):
        y = target
    if is_path:
        X, y = read(X, target=y if isinstance(y, str) else None), None if isinstance(y, str) else y
    source = checked_source(selector, X, y)
    try:
        return rows_of_source(source, columns, np.random.default_rng(seed))
    finally:
        if is_path or not isinstance(X, Source):  # a source that the caller made may be read again
            source.close()


def names_of(X: Any) -> Any:
    """Return the names of the columns of a data frame, None of anything else."""
    if isinstance(X, Source | str | os.PathLike):
        return None
    return X.collect_schema().names() if hasattr(X, "collect_schema") else column_names(X)  # polars, also lazy


def possible_targets(X: Any) -> list[Any]:
    """Return the names of the columns that may hold the labels: those of a frame, or the annotations of an AnnData."""
    found = names_of(getattr(X, "obs", X))
    return [] if found is None else list(found)


def checked_source(selector: RankingSelector, X: Any, y: Any) -> Source:
    """Check a table against the columns of a fitted selector and make a source of it."""
    checker = InputChecker()
    checker._reads_labels = y is not None or (isinstance(X, Source) and X.has_labels)  # type: ignore[misc]
    by_name = hasattr(selector, "feature_names_in_") and names_of(X) is not None
    if by_name:
        checker._copy_columns(selector)
    source = checker._source_of(X, y, None, min_rows=1, reset=not by_name)
    if source.n_features != selector.n_features_in_:
        raise ValueError(
            f"X must have the {selector.n_features_in_:,} columns that the selector was fitted on, got "
            f"{source.n_features:,}"
        )
    check_names(selector, source.feature_names)
    return source


def check_names(selector: RankingSelector, names: list[Any] | None) -> None:
    """Raise if a source has other names of columns than the selector was fitted on, or another order."""
    known = getattr(selector, "feature_names_in_", None)
    if known is None or names is None:
        return
    other = [k for k, (one, two) in enumerate(zip(known.tolist(), names, strict=True)) if one != str(two)]
    if other:
        raise ValueError(
            f"columns of X must be those that the selector was fitted on, in the same order, but column {other[0]} is "
            f"{str(names[other[0]])!r:.80} instead of {known[other[0]]!r:.80}"
        )


def rows_of_source(source: Source, columns: Integers, rng: np.random.Generator) -> ReadRows:
    """Read some columns of a sample of the rows, in one pass."""
    n_rows = int(source.all_rows.rows.sum())
    is_labelled = len(source.labellings) == 1
    classes = source.labellings[0] if is_labelled else source.all_rows
    labels = tuple(str(label) for label in classes.labels.tolist()) if is_labelled else (ALL_ROWS,)
    by_column = np.argsort(columns)
    chosen = None if n_rows <= MAX_ROWS_READ else np.sort(rng.choice(n_rows, MAX_ROWS_READ, replace=False))
    parts = list(parts_of(source, columns[by_column], 0 if is_labelled else None, chosen))
    values = np.concatenate([values for _, values in parts]) if parts else np.empty((0, columns.size))
    codes = np.concatenate([codes for codes, _ in parts]) if parts else np.empty(0, dtype=np.int64)
    in_order = np.empty_like(values)
    in_order[:, by_column] = values
    return ReadRows(labels, tuple(classes.rows.tolist()), codes, in_order, n_rows)


def parts_of(
    source: Source, columns: Integers, labelling: int | None, chosen: Integers | None
) -> Iterator[tuple[Integers, Floats]]:
    """Iterate over class and values of the chosen rows, block by block."""
    for block in source.blocks(columns):
        codes = block.row_labels(labelling).codes
        rows = np.arange(codes.size) if chosen is None else chosen - block.first_row
        rows = rows[(rows >= 0) & (rows < codes.size)]
        rows = rows[codes[rows] >= 0]  # rows of weight 0 have no class
        if rows.size:
            yield codes[rows].astype(np.int64), dense_values(block)[rows].astype(np.float64)


def dense_values(block: RowBlock) -> NDArray[Any]:
    """Return the values of a block as an array."""
    if isinstance(block.X, ColumnArrays):
        return block.X.to_rows()
    return np.asarray(block.X.toarray() if sparse.issparse(block.X) else block.X)


def class_values(rows: ReadRows, seed: int = 0) -> ClassValues:
    """Compute quantiles of each class, and keep the values of a sample of the rows.

    Parameters
    ----------
    rows : ReadRows
        The rows.
    seed : int, default=0
        Random numbers of the sample.

    Returns
    -------
    ClassValues
        Quantiles of all rows, and values of at most about `MAX_POINTS` rows.
    """
    kept = sampled_points(rows.codes, len(rows.labels), np.random.default_rng(seed))
    found = np.full((rows.values.shape[1], len(rows.labels), len(BOX_QUANTILES)), np.nan)
    for code in range(len(rows.labels)):
        of_class = rows.values[rows.codes == code]
        for j in range(of_class.shape[1]):
            there = of_class[~np.isnan(of_class[:, j]), j]
            if there.size:
                found[j, code] = np.quantile(there, BOX_QUANTILES)
    return ClassValues(
        rows.labels, rows.class_rows, rows.codes[kept], rows.values[kept], found, rows.n_rows, rows.codes.size
    )


def sampled_points(codes: Integers, n_classes: int, rng: np.random.Generator) -> Integers:
    """Choose rows at random, in proportion to the classes, but at least `MIN_CLASS_POINTS` of each."""
    if codes.size <= MAX_POINTS:
        return np.arange(codes.size)
    chosen = []
    for code in range(n_classes):
        members = np.flatnonzero(codes == code)
        wanted = max(MIN_CLASS_POINTS, round(MAX_POINTS * members.size / codes.size))
        chosen.append(rng.permutation(members)[:wanted])
    return np.sort(np.concatenate(chosen))


def correlation_map(columns: Integers, values: Floats) -> CorrelationMap:
    """Correlate columns, and put similar ones side by side by average linkage of their correlations.

    Parameters
    ----------
    columns : ndarray of int of shape (n,)
        Column indices.
    values : ndarray of shape (n_rows, n)
        Their values; NaN is a missing value.

    Returns
    -------
    CorrelationMap
        The correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.class_values import correlation_map
    >>> values = np.array([[0.0, 1, 0], [1, 0, 2], [2, 1, 4], [3, 0, 6]])
    >>> found = correlation_map(np.array([5, 6, 7]), values)
    >>> found.columns.tolist()[1] != 6, float(abs(found.correlation).min().round(2))  # 5 and 7 stay together
    (True, 0.45)
    """
    correlation = correlations(values)
    if columns.size < 3:
        return CorrelationMap(columns, correlation)
    order = neighbour_order(1 - np.abs(np.nan_to_num(correlation)))
    return CorrelationMap(columns[order], correlation[np.ix_(order, order)])


def correlations(values: Floats) -> Floats:
    """Compute the correlations of columns, with missing values replaced by the mean; NaN for a constant column."""
    there = ~np.isnan(values)
    count = np.maximum(there.sum(axis=0), 1)
    centred = np.where(there, values - np.where(there, values, 0.0).sum(axis=0) / count, 0.0)
    length = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(length > 0, length, np.nan)
    return np.asarray(np.clip(unit.T @ unit, -1.0, 1.0))


def neighbour_order(distance: Floats) -> Integers:
    """Order three or more features so that close ones are neighbours, by average linkage.

    Parameters
    ----------
    distance : ndarray of shape (n_features, n_features)
        Distances, at least 0 up to rounding; those of features from themselves are not used.

    Returns
    -------
    ndarray of shape (n_features,)
        Positions of the features.
    """
    pairs = np.clip((distance + distance.T) / 2, 0.0, None)
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(leaves_list(linkage(squareform(pairs, checks=False), "average", optimal_ordering=True)))
