"""Recognise tables that are read in batches, by their type, without importing optional packages."""

from typing import Any

from numpy.typing import ArrayLike

from ilfs.sources.source import Source


def stream_source(X: Any, y: Any, sample_weight: ArrayLike | None, *, reads_labels: bool) -> Source | None:
    """Make a source of a table that is not in memory.

    Parameters
    ----------
    X : object
        Anything that ``fit`` takes.
    y : object
        Labels, the name of a column, or None.
    sample_weight : array, optional
        Weights of the rows.
    reads_labels : bool
        True if the method needs labels.

    Returns
    -------
    Source or None
        None for a table in memory, which is validated elsewhere.
    """
    if isinstance(X, Source):
        return given_source(X, y, sample_weight, reads_labels=reads_labels)
    return None


def given_source(source: Source, y: Any, sample_weight: Any, *, reads_labels: bool) -> Source:
    """Check that a source comes with its labels."""
    if y is not None or sample_weight is not None:
        given = "y" if y is not None else "sample_weight"
        raise TypeError(f"{given} must be None if X is a source, which has labels and weights of its own")
    if reads_labels and not source.has_labels:
        raise ValueError("fit requires y to be passed, but the source has no target: name it, ilfs.read(..., target=)")
    return source if reads_labels or not source.has_labels else source.without_labels()
