"""Recognise tables that are read in batches, by their type, without importing optional packages."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from ilfs.sources.dask import dask_anndata, dask_source
from ilfs.sources.source import Source

SOURCES: dict[tuple[str, str], Callable[..., Source | None]] = {  # (package, class): makes a source, or returns None
    ("anndata", "AnnData"): dask_anndata,
    ("dask", "Array"): dask_source,
    ("dask", "DataFrame"): dask_source,
    ("dask", "Delayed"): dask_source,
}


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
    # A list of tables is recognised by the first of them, which must be delayed: other lists are lists of rows.
    for kind in kinds_of(X[0]) & {("dask", "Delayed")} if isinstance(X, list | tuple) and X else kinds_of(X):
        if kind in SOURCES:
            return SOURCES[kind](X, y, sample_weight, reads_labels=reads_labels)
    return None


def kinds_of(X: Any) -> set[tuple[str, str]]:
    """Return the packages and names of the class of an object and of its base classes."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}


def given_source(source: Source, y: Any, sample_weight: Any, *, reads_labels: bool) -> Source:
    """Check that a source comes with its labels."""
    if y is not None or sample_weight is not None:
        given = "y" if y is not None else "sample_weight"
        raise TypeError(f"{given} must be None if X is a source, which has labels and weights of its own")
    if reads_labels and not source.has_labels:
        raise ValueError("fit requires y to be passed, but the source has no target: name it, ilfs.read(..., target=)")
    return source if reads_labels or not source.has_labels else source.without_labels()
