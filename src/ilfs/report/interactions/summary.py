"""Interactions as plain data, from which a screen, a picture and a page are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.interactions import Interactions, InteractionTable
from ilfs.interactions.power import Power
from ilfs.interactions.words import most_affected, short_pattern, text_of_log10

DEFAULT_ALPHA = 0.05
NUMBERS_OF_SETS = ("excess", "statistic", "p_value", "adjusted_p_value", "log10_adjusted_p_value")  # in files


@dataclass(frozen=True)
class FoundSet:
    """A significant set of features.

    Parameters
    ----------
    columns : tuple of int
        Column indices.
    names : tuple of str
        Names of the features.
    bits : tuple of int
        0 for a level bit, 1 for a size bit.
    statistic, p_value, adjusted_p_value, log10_adjusted_p_value : float
        As in `ilfs.interactions.Interactions`.
    words : str
        The effect in words, such as "high together with high, or low with low: more often in tumour".
    pattern : str
        The same in short, such as "high & high".
    group : int
        Number of the class, or of the label, in which the pattern is more frequent.
    is_opposite : bool
        The product of the bits is -1, such as one high and the other low.
    excess : float
        Fraction of the samples of this class that show the pattern, beyond what the features say alone.
    alone : tuple of int
        Ranks of the features by relevance alone; empty if they are not known.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]
    bits: tuple[int, ...]
    statistic: float
    p_value: float
    adjusted_p_value: float
    log10_adjusted_p_value: float
    words: str
    pattern: str
    group: int
    is_opposite: bool
    excess: float
    alone: tuple[int, ...] = ()

    @property
    def p_text(self) -> str:
        """The adjusted p-value as text, also if it is too small for a number."""
        return text_of_log10(self.log10_adjusted_p_value)


@dataclass(frozen=True)
class PairValues:
    """Values of the strongest pairs in a sample of the rows.

    Parameters
    ----------
    columns : ndarray of int of shape (n_columns,)
        Column indices, ascending.
    ranks : ndarray of shape (n_points, n_columns)
        Ranks of the values within their columns, from 0 to 1; NaN for a missing value.
    codes : ndarray of int of shape (n_points,)
        Class of each row.
    labels : tuple of str
        Names of the classes.
    """

    columns: Integers
    ranks: Floats
    codes: Integers
    labels: tuple[str, ...]


@dataclass(frozen=True)
class InteractionSummary:
    """The result of a search for interactions.

    Parameters
    ----------
    sets : tuple of FoundSet
        Significant sets, strongest first.
    labels : tuple of str
        Classes, or labels of an indicator matrix.
    table : InteractionTable
        All columns, for files.
    order : int
        Largest number of features of a tested set.
    n_features, n_tests, n_significant : int
        Number of all features, of tested sets and of significant ones.
    alpha : float
        Probability of at least one false set.
    power : Power, optional
        What the search can find, if the number of samples is known.
    values : PairValues, optional
        Values of the strongest pairs, if the table is given.
    """

    sets: tuple[FoundSet, ...]
    labels: tuple[str, ...]
    table: InteractionTable
    order: int
    n_features: int
    n_tests: int
    n_significant: int
    alpha: float = DEFAULT_ALPHA
    power: Power | None = None
    values: PairValues | None = None

    @property
    def n_different(self) -> int:
        """Number of different sets of features; two sets may have the same features and different bits or labels."""
        return len({one.columns for one in self.sets})


def summarise_interactions(
    found: Interactions,
    *,
    names: Sequence[Any] | None = None,
    labels: Sequence[Any] | None = None,
    class_sizes: Integers | None = None,
    ranks_alone: Integers | None = None,
    alpha: float = DEFAULT_ALPHA,
) -> InteractionSummary:
    """Describe interactions as plain data.

    Parameters
    ----------
    found : Interactions
        The significant sets.
    names : sequence, optional
        Names of all columns; by default those seen in the search, or x0, x1, ...
    labels : sequence, optional
        Names of the classes.
    class_sizes : ndarray of int, optional
        Number of samples of each class, for the power of the search.
    ranks_alone : ndarray of int of shape (n_features,), optional
        Rank of each feature by its relevance alone.
    alpha : float, default=0.05
        Probability of at least one false set.

    Returns
    -------
    InteractionSummary
        Plain data.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions import find_interactions
    >>> from ilfs.report.interactions import summarise_interactions
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> y = np.where(X[:, 3] * X[:, 7] > 0, "sick", "well")
    >>> summary = summarise_interactions(find_interactions(X, y), class_sizes=np.array([150, 150]))
    >>> [(one.names, one.pattern, summary.labels[one.group]) for one in summary.sets]
    [(('x3', 'x7'), 'high & high', 'sick')]
    """
    given = found.feature_names if names is None else names
    every = [f"x{j}" for j in range(len(found.cuts))] if given is None else [str(name) for name in given]
    classes = tuple(str(label) for label in (found.classes if labels is None else labels))
    words = found.table(every, classes)["effect"].tolist()
    sets = tuple(found_set(found, row, every, words[row], ranks_alone) for row in range(len(found)))
    power = None
    if class_sizes is not None and found.labels is None and len(classes) > 1:
        power = Power.of_search(np.array(classes), class_sizes, found.n_tests, alpha)
    return InteractionSummary(
        sets=sets,
        labels=classes,
        table=file_table(sets, classes),
        order=max(found.orders),
        n_features=len(every),
        n_tests=found.n_tests,
        n_significant=found.n_significant,
        alpha=alpha,
        power=power,
    )


def found_set(
    found: Interactions, row: int, names: Sequence[str], words: str, ranks_alone: Integers | None
) -> FoundSet:
    """Describe one set."""
    columns = tuple(column for column in found.columns[row].tolist() if column >= 0)
    k, is_minus = most_affected(found.effect[row], found.labels is not None)
    return FoundSet(
        columns=columns,
        names=tuple(names[column] for column in columns),
        bits=tuple(found.bits[row, : len(columns)].tolist()),
        statistic=float(found.statistic[row]),
        p_value=float(found.p_values[row]),
        adjusted_p_value=float(found.adjusted_p_values[row]),
        log10_adjusted_p_value=float(found.log10_adjusted_p_values[row]),
        words=words,
        pattern=short_pattern(found.bits[row], is_minus),
        group=k if found.labels is None else int(found.labels[row]),
        is_opposite=bool(is_minus),
        excess=abs(float(found.effect[row, k])),
        alone=() if ranks_alone is None else tuple(ranks_alone[list(columns)].tolist()),
    )


def file_table(sets: Sequence[FoundSet], labels: Sequence[str]) -> InteractionTable:
    """Return the sets as columns for a file; the third place of a pair is empty.

    Parameters
    ----------
    sets : sequence of FoundSet
        The sets, strongest first.
    labels : sequence of str
        Names of the classes or labels.

    Returns
    -------
    InteractionTable
        ``rank``, ``features`` (names), ``column_1`` to ``column_3`` (indices), ``pattern`` (in short), ``class`` (in
        which the pattern is more frequent), ``excess``, ``statistic``, ``p_value``, ``adjusted_p_value`` and its
        decimal logarithm, ``effect`` (in words), and ``rank_alone_1`` to ``rank_alone_3`` if they are known.
    """
    found: dict[str, Any] = {
        "rank": np.arange(1, len(sets) + 1),
        "features": words_of([" & ".join(one.names) for one in sets]),
        **in_places("column", [one.columns for one in sets]),
        "pattern": words_of([one.pattern for one in sets]),
        "class": words_of([labels[one.group] for one in sets]),
        **{name: np.array([getattr(one, name) for one in sets], dtype=float) for name in NUMBERS_OF_SETS},
        "effect": words_of([one.words for one in sets]),
    }
    ranks = in_places("rank_alone", [one.alone for one in sets]) if sets and sets[0].alone else {}
    return InteractionTable(found | ranks)


def in_places(title: str, values: Sequence[Sequence[Any]]) -> dict[str, NDArray[Any]]:
    """Return three columns, with the first, second and third value of each set; None where a pair has no third."""
    every = [(*one, None)[:3] for one in values]
    return {f"{title}_{place + 1}": words_of([one[place] for one in every]) for place in range(3)}


def words_of(values: Sequence[Any]) -> NDArray[Any]:
    """Return a column of objects."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def ranks_of(relevance: Any) -> Integers:
    """Return ranks by relevance, 1 for the largest; equal ones share the best rank.

    Examples
    --------
    >>> from ilfs.report.interactions.summary import ranks_of
    >>> ranks_of([0.2, 0.9, 0.2]).tolist()
    [2, 1, 2]
    """
    values = np.asarray(relevance, dtype=np.float64)
    return 1 + values.size - np.searchsorted(np.sort(values), values, side="right")
