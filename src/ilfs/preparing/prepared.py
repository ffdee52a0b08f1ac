"""The result of preparing a file: a source, and an account of what was done."""

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ilfs.sources import Source


@dataclass(frozen=True)
class SetAside:
    """A column that is no feature.

    Parameters
    ----------
    name : str
        Name of the column.
    reason : str
        Why it is no feature, such as ``"has the same value, 0, in all rows"``.
    """

    name: str
    reason: str


@dataclass(frozen=True)
class PreparedTable:
    """A table that is ready for ``fit``.

    Parameters
    ----------
    source : Source
        Numeric features with their labels and weights: ``selector.fit(table.source)``.
    name : str
        Name of the input in messages, such as ``"expression.csv"``.
    target : str or None
        Name of the column that holds the classes; None if there are none, or if they have no name.
    guesses : tuple of str
        Sentences on what was guessed: the target, genes in rows.
    set_aside : tuple of SetAside
        Columns that are no features, and why.
    warnings : tuple of str
        Sentences on features that may leak the classes, duplicate rows, tiny classes, and unmatched samples.
    groups : ndarray of shape (n_rows,), optional
        Value of the groups column for each row.
    ids : ndarray of str of shape (n_rows,), optional
        Names of the rows.
    """

    source: Source
    name: str
    target: str | None = None
    guesses: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    warnings: tuple[str, ...] = ()
    groups: NDArray[Any] | None = field(default=None, repr=False)
    ids: NDArray[Any] | None = field(default=None, repr=False)
