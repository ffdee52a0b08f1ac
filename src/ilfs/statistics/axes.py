"""Axes of the arrays of every statistic, to check their shapes and to align the classes of statistics.

Rows that live in different places may have different classes. Before their statistics are merged, each gets the classes
that only the others have, without any values.
"""

from dataclasses import fields
from typing import Any

import numpy as np

from ilfs.arrays import Integers
from ilfs.statistics.histograms import ClassHistograms, Histograms
from ilfs.statistics.logs import LogMoments, LogProducts
from ilfs.statistics.moments import ClassMoments, Moments
from ilfs.statistics.products import CrossProducts, Products
from ilfs.statistics.profile import ClassProfile, Profile
from ilfs.statistics.shapes import ClassShapes, Shapes
from ilfs.statistics.terms import TermProducts, Terms
from ilfs.statistics.tokens import TokenCounts, Tokens
from ilfs.statistics.values import ColumnValues, DistinctValues

CLASS, COLUMN, PAIR, ANY = "class", "column", "pair", "any"  # PAIR: the length is 1 or the number of columns

AXES: dict[type[Any], dict[str, tuple[str, ...]]] = {
    ClassMoments: {"count": (CLASS, COLUMN), "mean": (CLASS, COLUMN), "scatter": (CLASS, COLUMN)},
    ClassProfile: {
        "count": (CLASS, COLUMN),
        "mean": (CLASS, COLUMN),
        "scatter": (CLASS, COLUMN),
        "zeros": (CLASS, COLUMN),
        "negative": (COLUMN,),
    },
    ClassShapes: {"sum": (CLASS, COLUMN), "square": (CLASS, COLUMN), "product": (CLASS, COLUMN)},
    ClassHistograms: {"counts": (CLASS, COLUMN, ANY)},
    ColumnValues: {"low": (COLUMN,), "high": (COLUMN,), "values": (COLUMN, ANY), "n_values": (COLUMN,)},
    CrossProducts: {
        "count": (PAIR, PAIR),
        "weight": (PAIR, PAIR),
        "sum": (COLUMN, PAIR),
        "square": (COLUMN, PAIR),
        "product": (COLUMN, COLUMN),
    },
    TermProducts: {
        "count": (PAIR, PAIR),
        "weight": (PAIR, PAIR),
        "sum": (COLUMN, PAIR),
        "square": (COLUMN, PAIR),
        "product": (COLUMN, COLUMN),
        "further": (ANY, ANY),
        "total": (ANY,),
        "of_class": (CLASS, ANY),
        "class_sum": (CLASS,),
    },
    TokenCounts: {"at_least": (ANY, COLUMN)},
}
STATISTICS = {kind.__name__: kind for kind in AXES}
DESCRIBED: dict[type[Any], type[Any]] = {  # the statistic of each description
    Moments: ClassMoments,
    LogMoments: ClassMoments,
    LogProducts: CrossProducts,
    Histograms: ClassHistograms,
    DistinctValues: ColumnValues,
    Products: CrossProducts,
    Profile: ClassProfile,
    Shapes: ClassShapes,
    Terms: TermProducts,
    Tokens: TokenCounts,
}


def arrays_of(statistic: Any) -> dict[str, Any]:
    """Return the arrays of a statistic by the names of its fields."""
    return {field.name: getattr(statistic, field.name) for field in fields(statistic)}


def with_classes(statistic: Any, places: Integers, n_classes: int) -> Any:
    """Insert classes without values into a statistic.

    Parameters
    ----------
    statistic : statistic
        One of `STATISTICS`. A statistic without classes is returned unchanged.
    places : ndarray of int
        New position of each of its classes.
    n_classes : int
        New number of classes.

    Returns
    -------
    statistic
        Other classes have zeros in all arrays that have classes.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.statistics import ClassHistograms
    >>> from ilfs.statistics.axes import with_classes
    >>> one = ClassHistograms(np.array([[[2.0, 1.0]], [[0.0, 4.0]]]))
    >>> with_classes(one, np.array([0, 2]), 3).counts[:, 0].tolist()
    [[2.0, 1.0], [0.0, 0.0], [0.0, 4.0]]
    """
    axes = AXES[type(statistic)]
    if not any(CLASS in of_field for of_field in axes.values()):
        return statistic

    def inserted(name: str, array: Any) -> Any:
        if CLASS not in axes[name]:
            return array
        wider = np.zeros((n_classes, *array.shape[1:]))
        wider[places] = array
        return wider

    return type(statistic)(**{name: inserted(name, array) for name, array in arrays_of(statistic).items()})


def shape_defect(statistic: Any, n_classes: int, n_columns: int) -> str | None:
    """Check types and shapes of the arrays of a statistic.

    Parameters
    ----------
    statistic : statistic
        One of `STATISTICS`.
    n_classes, n_columns : int
        Number of its classes and columns.

    Returns
    -------
    str or None
        The array that is wrong, with its type and shape, or None.
    """
    allowed = {CLASS: {n_classes}, COLUMN: {n_columns}, PAIR: {1, n_columns}}
    for name, array in arrays_of(statistic).items():
        axes = AXES[type(statistic)][name]
        fits = array.ndim == len(axes) and all(
            axis == ANY or length in allowed[axis] for axis, length in zip(axes, array.shape, strict=True)
        )
        if not fits or array.dtype.kind not in "if":
            return f"{type(statistic).__name__}.{name} is an array of {array.dtype} of shape {array.shape}"
    return None


def fit_together(one: Any, other: Any) -> bool:
    """Return True if two statistics are of the same kind and their arrays have shapes that can be added."""
    if type(one) is not type(other):
        return False
    return all(
        a.ndim == b.ndim and all(m == n or 1 in (m, n) for m, n in zip(a.shape, b.shape, strict=True))
        for a, b in zip(arrays_of(one).values(), arrays_of(other).values(), strict=True)
    )


def are_equal(one: Any, other: Any) -> bool:
    """Return True if two statistics are equal to the last bit."""
    if type(one) is not type(other):
        return False
    pairs = zip(arrays_of(one).values(), arrays_of(other).values(), strict=True)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)
