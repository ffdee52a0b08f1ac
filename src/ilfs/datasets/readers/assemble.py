"""What all formats have in common: finding target and features, naming classes, refusing what no selector can use."""

import difflib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Integers
from ilfs.datasets.naming import spelled
from ilfs.datasets.table import Table, with_checksum
from ilfs.parameters import is_integer

Column = str | int
Target = Column | None
Drop = Sequence[Column]
Reader = Callable[[Path, Target, Drop, str], Table]

USUAL_TARGETS = ("class", "target", "label", "y")
OTHERWISE = "target says which column holds them, and samples must be rows, not columns"
MISSING = ("", "na", "nan", "n/a", "null", "?")  # in any case


def find_columns(
    names: Sequence[str] | None, n_columns: int, target: Target, drop: Drop, path: Path
) -> tuple[int, list[int]]:
    """Position of the column that holds the classes, and those of the features."""
    kept = find_kept(names, n_columns, drop, path)
    at = _usual_target(names, kept, path) if target is None else _find("target", target, names, n_columns, path)
    if at not in kept:
        raise ValueError(f"target and drop must be different columns of {path}, got {target!r} for both")
    return at, [j for j in kept if j != at]


def find_kept(names: Sequence[str] | None, n_columns: int, drop: Drop, path: Path) -> list[int]:
    """Positions of the columns that are not dropped."""
    dropped = {_find("drop", column, names, n_columns, path) for column in drop}
    if len(dropped) == n_columns:
        raise ValueError(f"drop must leave a column of {path}, got all {n_columns}")
    return [j for j in range(n_columns) if j not in dropped]


def _find(role: str, column: Any, names: Sequence[str] | None, n_columns: int, path: Path) -> int:
    """Position of a column; ``role`` is the parameter that names it."""
    if isinstance(column, str):
        return _named(role, column, names, path)
    if not is_integer(column):
        or_none = ", its position or None" if role == "target" else " or its position"
        raise TypeError(f"{role} must be the name of a column{or_none}, got {column!r}")
    if not -n_columns <= column < n_columns:
        raise ValueError(f"{role} must be a position from 0 to {n_columns - 1} in {path}, got {column}")
    position = int(column) % n_columns
    # columns may be called by numbers, as genes are in Entrez: a wrong one would go unseen
    if names is not None and str(column) in names and names[position] != str(column):
        raise ValueError(
            f"{role} must be the name of a column of {path}, as one is called {str(column)!r} "
            f"and another has this position ({names[position]!r}), got {column}"
        )
    return position


def _named(role: str, column: str, names: Sequence[str] | None, path: Path) -> int:
    if names is None:
        raise ValueError(f"{role} must be the position of a column, as {path} has no names of columns, got {column!r}")
    if column not in names:
        near = difflib.get_close_matches(column, names, n=3) or list(names[:3])
        raise ValueError(f"{role} must be a column of {path} (such as {', '.join(near)}), got {column!r}")
    return names.index(column)


def _usual_target(names: Sequence[str] | None, kept: Sequence[int], path: Path) -> int:
    usual = [j for j in kept if names is not None and names[j].lower() in USUAL_TARGETS]
    if len(usual) > 1:
        both = " or ".join(repr((names or ())[j]) for j in usual)
        raise ValueError(f"target must say which column of {path} holds the classes: {both}")
    return usual[0] if usual else kept[-1]


def check_names(names: Sequence[str], path: Path) -> None:
    """Refuse names of columns that are empty or the same."""
    if "" in names:
        raise ValueError(f"column {names.index('') + 1} of {path} must have a name, as the others have")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"names of columns of {path} must differ, got {repeated[0]!r} more than once")


def column_called(names: Sequence[str] | None, j: int) -> str:
    """How a sentence calls a column: by name, or counted from 1."""
    return f"column {j + 1}" if names is None else f"column {names[j]!r}"


def what_to_do(names: Sequence[str] | None, j: int, path: Path) -> str:
    """How a sentence about text in a feature ends."""
    column: Column = j if names is None else names[j]
    return (
        f"if it is the class: target={column!r}; if it names the rows: drop={column!r} "
        f"(in a command or a suite: {spelled(str(path), drop=[column])!r})"
    )


def assemble(
    path: Path,
    name: str,
    X: Any,
    labels: Sequence[Any] | NDArray[Any],
    feature_names: Sequence[str] | None = None,
    declared: Sequence[str] | None = None,
) -> Table:
    """The table of what was read, if a selector can use it.

    ``declared`` are the classes in the order that the file declares; else they are sorted.
    """
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(f"{path} must have at least 2 rows and 1 feature, got {X.shape[0]} and {X.shape[1]}")
    if len(labels) != X.shape[0]:
        raise ValueError(f"{path} must have one label a row, got {X.shape[0]} rows and {len(labels)} labels")
    _check_finite(path, X, feature_names)
    y, class_names = encode(labels, path, declared)
    names = None if feature_names is None else tuple(feature_names)
    return with_checksum(Table(name, X, y, class_names, names))


def _check_finite(path: Path, X: Any, feature_names: Sequence[str] | None) -> None:
    values = X.data if sparse.issparse(X) else X
    if not np.isinf(values).any():
        return
    if sparse.issparse(X):
        coordinates = X.tocoo()
        at = int(np.isinf(coordinates.data).argmax())
        i, j = coordinates.row[at], coordinates.col[at]
    else:
        i, j = np.argwhere(np.isinf(X))[0]
    raise ValueError(f"{column_called(feature_names, int(j))} of {path} must be finite, got {X[i, j]} in row {i + 1}")


def encode(
    labels: Sequence[Any] | NDArray[Any], path: Path, declared: Sequence[str] | None = None
) -> tuple[Integers, tuple[str, ...]]:
    """Codes and names of classes that are text, truth values or integers."""
    present = [_present(label, row, path, declared or ()) for row, label in enumerate(labels, start=1)]
    values = present if declared else _as_text(present, path)
    found = set(values)
    if len(found) < 2:
        raise ValueError(f"the target of {path} must hold at least two classes, got only {values[0]!r}")
    ordered = [c for c in declared if c in found] if declared else sorted(found, key=_numbers_first)
    codes = {value: code for code, value in enumerate(ordered)}
    return np.array([codes[value] for value in values], dtype=np.int64), tuple(ordered)


def _present(label: Any, row: int, path: Path, declared: Sequence[str]) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    is_empty = isinstance(label, str) and label.strip().lower() in MISSING and label not in declared
    if label is None or label != label or is_empty:
        raise ValueError(f"the target of {path} must not be missing, as it is in row {row}")
    return label


def _as_text(labels: list[Any], path: Path) -> list[str]:
    """Text as it is; numbers, also those that were written as text, in one way, so that 1 and 1.0 are one class."""
    numbers = [label if isinstance(label, float) else number_in(str(label)) for label in labels]
    if any(number is None for number in numbers):
        return [str(label) for label in labels]
    for row, number in enumerate(numbers, start=1):
        if number is not None and not number.is_integer():
            got = f"{labels[row - 1]} in row {row}"
            raise ValueError(
                f"the target of {path} must hold classes (text, truth values or integers), got {got}: {OTHERWISE}"
            )
    return [f"{number:.0f}" for number in numbers]


def _numbers_first(label: str) -> tuple[bool, float, str]:
    number = number_in(label)
    return number is None, 0.0 if number is None else number, label


def number_in(text: str) -> float | None:
    """The finite number that a text is, or None; 1_000 is no number, though Python says so."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if "_" not in text and math.isfinite(number) else None
