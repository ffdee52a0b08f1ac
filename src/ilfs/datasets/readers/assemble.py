"""Steps that all formats share: find target and features, encode the classes, and check the result."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.datasets.checks import MAX_QUOTED_LENGTH, as_floats, check_matrix, quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadError, ReadLimits
from ilfs.datasets.naming import Column, format_name
from ilfs.sources.roles import find_column

Target = Column | None
Drop = Sequence[Column]
Reader = Callable[[Path, Target, Drop, str, ReadLimits], Dataset]

USUAL_TARGETS = ("class", "target", "label", "y")
TARGET_ADVICE = "choose the column that holds the classes, and make sure that rows are samples and columns features"
CLASS_TYPES = (str, int, float, np.floating, Decimal)
SPREADSHEET_ERRORS = ("#n/a", "#div/0!", "#value!", "#num!", "#ref!", "#name?", "#null!")
MISSING = ("", "na", "nan", "n/a", "null", "?", *SPREADSHEET_ERRORS)  # in upper or lower case


def find_columns(
    names: Sequence[str] | None, n_columns: int, target: Target, drop: Drop, path: Path
) -> tuple[int, list[int]]:
    """Find the position of the column that holds the classes, and the positions of the features."""
    kept = find_kept(names, n_columns, drop, path)
    at = (
        _usual_target(names, kept, path)
        if target is None
        else find_column("target", target, names, n_columns, str(path))
    )
    if at not in kept:
        raise ValueError(f"target and drop must be different columns of {path}, got {target!r} for both")
    return at, [j for j in kept if j != at]


def find_kept(names: Sequence[str] | None, n_columns: int, drop: Drop, path: Path) -> list[int]:
    """Find the positions of the columns that are not dropped."""
    dropped = {find_column("drop", column, names, n_columns, str(path)) for column in drop}
    if len(dropped) == n_columns:
        raise ValueError(f"drop must leave at least one column of {path}, got all {n_columns}")
    return [j for j in range(n_columns) if j not in dropped]


def _usual_target(names: Sequence[str] | None, kept: Sequence[int], path: Path) -> int:
    usual = [j for j in kept if names is not None and names[j].lower() in USUAL_TARGETS]
    if len(usual) > 1:
        both = " or ".join(repr((names or ())[j]) for j in usual)
        raise ValueError(f"target must say which column of {path} holds the classes: {both}")
    return usual[0] if usual else kept[-1]


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise an error if names of columns are empty or repeated."""
    if "" in names:
        raise ReadError(f"column {names.index('') + 1} of {path} must have a name, got an empty one")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ReadError(f"names of columns of {path} must differ, got {quoted(repeated[0])} more than once")


def what_to_do(names: Sequence[str] | None, j: int, path: Path) -> str:
    """Return the advice at the end of an error message about text in a feature."""
    column: Column = j if names is None else names[j]
    if len(str(column)) > MAX_QUOTED_LENGTH:
        return "if it is the class, make it the target; if it identifies the rows, drop it"
    return (
        f"if it is the class: target={column!r}; if it identifies the rows: drop={column!r} "
        f"(in a command or a suite: {format_name(str(path), drop=[column])!r})"
    )


def assemble(
    path: Path,
    name: str,
    X: Any,
    labels: Sequence[Any] | NDArray[Any],
    limits: ReadLimits,
    feature_names: Sequence[str] | None = None,
    declared: Sequence[str] | None = None,
) -> Dataset:
    """Build the data set from features and labels, or raise an error if no selector can use it.

    ``declared`` are the classes in the order in which the file declares them; otherwise they are sorted.
    """
    check_matrix(path, X, feature_names, limits)
    if len(labels) != X.shape[0]:
        raise ValueError(f"{path} must have one label per row, got {X.shape[0]} rows and {len(labels)} labels")
    y, class_names = encode(labels, path, declared)
    names = None if feature_names is None else tuple(feature_names)
    return Dataset(name, as_floats(X), y, class_names, names)


def encode(
    labels: Sequence[Any] | NDArray[Any], path: Path, declared: Sequence[str] | None = None
) -> tuple[Integers, tuple[str, ...]]:
    """Encode classes, which may be text, booleans or integers; return their codes and names."""
    classes = dict.fromkeys(declared or ())
    present = [_present(label, row, path, classes) for row, label in enumerate(labels, start=1)]
    values = present if declared else _as_text(present, path)
    found = set(values)
    if len(found) < 2:
        raise ValueError(f"the target of {path} must hold at least two classes, got only {quoted(values[0])}")
    ordered = [c for c in classes if c in found] if declared else sorted(found, key=_numbers_first)
    codes = {value: code for code, value in enumerate(ordered)}
    return np.array([codes[value] for value in values], dtype=np.int64), tuple(ordered)


def _present(label: Any, row: int, path: Path, declared: Collection[str]) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    is_empty = isinstance(label, str) and label.strip().lower() in MISSING and label not in declared
    if label is None or label != label or is_empty:
        raise ValueError(f"the target of {path} must not be missing, got {quoted(label)} in row {row}; drop such rows")
    return _class_label(label, row, path)


def _class_label(label: Any, row: int, path: Path) -> Any:
    """Check that a label can name a class, and decode bytes, because some programs store text as bytes."""
    if isinstance(label, bytes):
        with suppress(UnicodeDecodeError):
            label = label.decode()
    if not isinstance(label, CLASS_TYPES):
        raise ValueError(
            f"the target of {path} must hold classes (text, booleans or integers), "
            f"got {quoted(label)} in row {row}: {TARGET_ADVICE}"
        )
    return label


def _as_text(labels: list[Any], path: Path) -> list[str]:
    """Convert labels to text. Numbers get a single format, so that 1 and 1.0 are one class."""
    texts = [str(label) for label in labels]
    numbers = {text: exact_number(text) for text in set(texts)}
    if None in numbers.values():
        return texts
    names = {text: _integer_text(number) for text, number in numbers.items() if number is not None}
    for row, text in enumerate(texts, start=1):
        if not names[text]:
            raise ValueError(
                f"the target of {path} must hold classes (text, booleans or integers), "
                f"got {text[:60]} in row {row}: {TARGET_ADVICE}"
            )
    return [names[text] for text in texts]


def _integer_text(number: Decimal) -> str:
    """Format an integer with all its digits; return an empty text for other numbers."""
    rounded = number.to_integral_value()
    return "" if rounded != number else f"{rounded:f}" if number else "0"


def _numbers_first(label: str) -> tuple[bool, Decimal, str]:
    number = exact_number(label)
    return number is None, Decimal(0) if number is None else number, label


def exact_number(text: str) -> Decimal | None:
    """Parse a finite number with all its digits; return None for other text.

    Classes are never converted to floats, which would merge integers beyond 2**53.
    """
    try:
        return None if number_in(text) is None else Decimal(text.strip())
    except ArithmeticError:  # too large an exponent, such as 0e99999999999999999999
        return None


def number_in(text: str) -> float | None:
    """Parse a finite number; return None for other text, also for 1_000, which Python would accept."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if "_" not in text and math.isfinite(number) else None
