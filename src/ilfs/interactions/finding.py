"""Search for interactions among all pairs and triples of features."""

import os
from dataclasses import replace
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from ilfs.execution import LabelledRows
from ilfs.interactions.bits import PackedBits
from ilfs.interactions.pairs import count_pairs, screen_all_pairs
from ilfs.interactions.result import Interactions, in_one_table
from ilfs.interactions.triples import are_triples_affordable, level_bits, screen_all_triples
from ilfs.parameters import check_between, check_choice
from ilfs.sources import Source, TableSource, stream_source, table_source
from ilfs.sources.row_index import check_same_index
from ilfs.statistics.moments import UnusableColumnError
from ilfs.validation import (
    TooFewRowsError,
    check_columns,
    check_in_memory,
    check_labels,
    check_n_jobs,
    check_weight,
    column_names,
    is_column_name,
    refuse_one_class,
    take_target,
)
from ilfs.warn import warn

DEFAULT_ALPHA = 0.05  # probability of at least one false set


def find_interactions(
    X: Any,
    y: Any = None,
    *,
    order: Literal[2, 3] = 2,
    alpha: float = DEFAULT_ALPHA,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Interactions:
    """Find all pairs (and triples) of features that are informative together, beyond what each says alone.

    Every pair of features is tested, however weak the two are alone. A pair must be informative beyond the sum of what
    its features say, and the features must depend on each other in another way in one class than in another. Each
    feature is reduced to two bits, above the median and outside of the quartiles, so that a test takes one or two
    nanoseconds for hundreds of samples. Peak memory is about one byte for each value of X and 150 bytes for each
    feature and class; X is not copied.

    Parameters
    ----------
    X : array, data frame, sparse matrix of shape (n_samples, n_features), or a table opened by `ilfs.read`
        Numbers; NaN is a missing value, and each pair is tested on the samples in which both values are present.
    y : array of shape (n_samples,) or (n_samples, n_labels), optional
        Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the name of
        the column of X that holds the classes. Leave it out if ``X`` was opened by `ilfs.read` with a target.
    order : {2, 3}, default=2
        2: pairs. 3: pairs, and triples of level bits unless there are too many features, of which a warning tells.
    alpha : float, default=0.05
        Probability of at least one false set, if there are no interactions at all.
    sample_weight : array of int of shape (n_samples,), optional
        Weight of each row, a whole number: 2 has the same effect as repeating the row, 0 as leaving it out.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    Interactions
        The significant sets, strongest first; there may be none.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions import find_interactions
    >>> X = np.random.default_rng(0).normal(size=(200, 1000))
    >>> y = (X[:, 0] > 0) ^ (X[:, 1] > 0)  # neither column says anything about y alone
    >>> found = find_interactions(X, y)
    >>> found.columns.tolist(), found.n_tests
    ([[0, 1, -1]], 1998000)
    """
    check_order("order", order, (2, 3))
    check_between("alpha", alpha, 0, 1)
    check_n_jobs(n_jobs)
    source = checked_source(X, y, sample_weight)
    try:
        return interactions_in(source, order, alpha, n_jobs)
    except UnusableColumnError as error:
        name = error.column if source.feature_names is None else repr(source.feature_names[error.column])
        raise ValueError(f"column {name} of X {error.reason}") from None


def check_order(name: str, order: Any, choices: tuple[bool | int, ...]) -> None:
    """Raise an error unless the largest number of features of a set is one of the choices; explain them for True."""
    if order is True or isinstance(order, np.bool_):
        words = ", ".join(repr(choice) for choice in choices[:-1])
        raise ValueError(
            f"{name} must be {words} or {choices[-1]}, got {bool(order)}: use 2 to test pairs, 3 to test triples, too"
        )
    check_choice(name, order, choices)


def checked_source(X: Any, y: Any, sample_weight: ArrayLike | None) -> TableSource:
    """Validate a table in memory, its labels and weights."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"X must be a table, got the path {os.fspath(X)!r}: open the file, "
            "find_interactions(ilfs.read(path, target=...))"
        )
    if isinstance(X, Source) or callable(X):
        return opened_source(X, y, sample_weight)
    check_in_memory(X)
    if y is None:
        raise ValueError("y must be the class of every row of X, or the name of the column that holds it, got None")
    if is_column_name(y, X):
        X, y = take_target(X, y)
    names = column_names(X)
    table = check_array(
        check_columns(X), accept_sparse=("csc", "csr"), dtype="numeric", ensure_all_finite=False, ensure_min_samples=2
    )
    labels, weight = check_labels(y, table.shape[0]), check_weight(sample_weight, table.shape[0])
    check_same_index(X, y, "y")
    check_same_index(X, sample_weight, "sample_weight")
    return table_source(table, labels, weight, names)


def opened_source(X: Any, y: Any, sample_weight: ArrayLike | None) -> TableSource:
    """Return a table that was opened by ``ilfs.read`` if all its rows are in memory and have labels."""
    if isinstance(X, Source) and not X.has_labels:
        raise ValueError(
            "X must have labels, got a table without a target: name its column, ilfs.read(..., target=...)"
        )
    source = stream_source(X, y, sample_weight, reads_labels=True)
    if not isinstance(source, TableSource):
        raise TypeError(
            f"X must be in memory, got {type(X).__name__}, which is read in blocks: load it if it fits, e.g. with "
            "ilfs.read and a higher memory_limit"
        )
    return source


def interactions_in(
    source: TableSource, order: int, alpha: float = DEFAULT_ALPHA, n_jobs: int | None = None
) -> Interactions:
    """Find interactions in a table in memory, for each label separately if there are several.

    Parameters
    ----------
    source : TableSource
        The table.
    order : {2, 3}
        Largest number of features of a set.
    alpha : float, default=0.05
        Probability of at least one false set, over all labels and sizes of sets.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    Interactions
        The significant sets.
    """
    n_labels = len(source.labels)
    if n_labels == 1:
        refuse_one_class(source.labellings[0])
        return interactions_of_classes(source, order, alpha, n_jobs)
    informative = [label for label in range(n_labels) if source.labellings[label].n_classes == 2]
    if not informative:
        raise TooFewRowsError("y must have a label that some samples have and some have not, got none")
    each = [
        interactions_of_classes(source.with_labelling(label), order, alpha, n_jobs, len(informative))
        for label in informative
    ]
    numbers = np.repeat(informative, [len(one) for one in each])
    return in_one_table([*each], numbers, np.arange(n_labels))


def interactions_of_classes(
    source: TableSource, order: int, alpha: float, n_jobs: int | None, n_labels: int = 1
) -> Interactions:
    """Find interactions for one labelling of a table; the tests are adjusted for so many labels."""
    rows = LabelledRows.from_source(source, n_jobs=n_jobs, missing=True)
    bits, classes = PackedBits.from_rows(rows), rows.classes.labels
    if not bits.n_bits:
        warn("no feature has at least two samples on each side of its median, so no pair can be tested")
    with_triples = order == 3 and are_triples_affordable(bits)
    # Pairs and triples each have half of alpha: adjusted together, the many triples would cost pairs much power.
    n_families = n_labels * (2 if with_triples else 1)
    n_pairs = count_pairs(bits)
    pairs = screen_all_pairs(bits, threshold(alpha, n_pairs * n_families, classes.size - 1), n_jobs)
    found = Interactions.from_sets(bits, pairs.strongest(), n_pairs, n_families, classes)
    if with_triples:
        bits = level_bits(bits)
        n_triples = comb(bits.n_bits, 3)
        triples = screen_all_triples(bits, threshold(alpha, n_triples * n_families, classes.size - 1), n_jobs)
        found = in_one_table([found, Interactions.from_sets(bits, triples.strongest(), n_triples, n_families, classes)])
    return replace(found, feature_names=source.feature_names)


def threshold(alpha: float, n_tests: int, degrees_of_freedom: int) -> float:
    """Return the statistic that one of so many tests exceeds with a probability of at most alpha by chance."""
    from scipy.stats import chi2

    return float(chi2.isf(alpha / max(n_tests, 1), degrees_of_freedom))
