"""Checks of the labels of rows, for tables in memory and for batches of a stream."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from ilfs.warn import warn

MAX_UNSUSPICIOUS_CLASSES = 20  # more distinct integers than this may be a quantity
MAX_CHANCE_DISPERSION = 2.0  # variance / mean of class sizes; about 1 for rows drawn from equal classes


def check_types(y: NDArray[Any], first_row: int = 0) -> NDArray[Any]:
    """Raise for missing labels and labels of several types; convert Python objects to an array of their type.

    Objects without a NumPy type, such as the intervals of ``pandas.cut``, are converted to strings.
    """
    missing = np.flatnonzero(missing_labels(y))
    if missing.size:
        row = first_row + int(missing[0]) // (y.size // len(y))
        raise ValueError(f"y must have a label for every sample, row {row} has none (NaN, None or NA)")
    types = sorted({type(label).__name__ for label in y.flat}) if y.dtype.kind == "O" else []
    if len(types) > 1:
        raise ValueError(f"labels in y must be of one type, got {' and '.join(types)}")
    if not types:
        return y
    labels = np.asarray(y.tolist())
    return np.array([str(label) for label in y]) if labels.dtype.kind == "O" and y.ndim == 1 else labels


def label_array(column: Any) -> NDArray[Any]:
    """Convert a column of a data frame to an array of labels; categories become their names."""
    if isinstance(column.dtype, nw.Categorical | nw.Enum):
        return np.array(column.to_list(), dtype=object)
    return np.asarray(column.to_numpy())


def missing_labels(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the labels that are missing, in a flat array."""
    if y.dtype.kind == "f":
        return np.asarray(np.isnan(y.ravel()))
    if y.dtype.kind == "O":
        return np.fromiter((is_missing(label) for label in y.flat), dtype=bool, count=y.size)
    return np.zeros(y.size, dtype=bool)


def is_missing(label: Any) -> bool:
    """Check if a label is None, NaN, or the NA or NaT of pandas."""
    return (
        label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label)
    )


def check_kind_of_labels(y: NDArray[Any]) -> None:
    """Raise if labels are quantities, or an indicator matrix has other values than 0 and 1."""
    # type_of_target reads every value; these dtypes need no check.
    kind = "" if y.ndim == 1 and y.dtype.kind in "biuSU" else type_of_target(y, input_name="y")
    if kind not in ("", "binary", "multiclass", "multilabel-indicator"):
        raise ValueError(
            f"Unknown label type: y must hold classes or be an indicator matrix of 0 and 1, got {kind} values: bin a "
            "quantity first, e.g. pandas.qcut(y, 4, labels=False), or pass names of classes as text, y.astype(str)"
        )
    if kind == "multilabel-indicator" and (others := np.setdiff1d(y, (0, 1))).size:
        raise ValueError(f"an indicator matrix y must hold 0 and 1, got {others[0]}")


def warn_of_quantity(values: NDArray[Any], sizes: NDArray[Any]) -> None:
    """Warn if there are so many integer labels that they look like an age or a count, not like classes.

    Parameters
    ----------
    values : ndarray of shape (n_classes,)
        The distinct labels.
    sizes : ndarray of shape (n_classes,)
        Number of rows with each label.
    """
    if values.dtype.kind in "iuf" and looks_like_quantity(values, sizes):
        warn(
            f"y has {values.size} distinct numbers, so {values.size} classes were made, of {sizes.min()} to "
            f"{sizes.max()} samples: if y is a quantity such as an age, bin it first, e.g. pandas.qcut(y, 4, "
            "labels=False) or sklearn.preprocessing.KBinsDiscretizer; if its numbers are names of classes, pass "
            "y.astype(str)",
        )


def looks_like_quantity(values: NDArray[Any], sizes: NDArray[Any]) -> bool:
    """Check if distinct integers, with the number of samples of each, are unlikely to be class codes.

    Class codes are 0 to K - 1 or 1 to K, with class sizes that are equal or vary like those of a random sample. Other
    integers are accepted as class codes if the class sizes differ by at most one. A quantity has other values, or few
    samples in its tails.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.sources.label_checks import looks_like_quantity
    >>> looks_like_quantity(np.arange(40), np.full(40, 10))  # ten photographs each of forty persons
    False
    >>> looks_like_quantity(np.arange(18, 90), np.arange(1, 73))  # ages
    True
    """
    if values.size <= MAX_UNSUSPICIOUS_CLASSES:
        return False
    if sizes.mean() < 2:
        return True
    are_codes = values[0] in (0, 1) and values[-1] - values[0] == values.size - 1
    if are_codes:
        return bool(sizes.var() / sizes.mean() > MAX_CHANCE_DISPERSION)
    return bool(sizes.max() - sizes.min() > 1)
