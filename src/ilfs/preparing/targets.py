"""The target: guessed if it is not named, and checked to hold classes."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.readers.assemble import exact_number
from ilfs.preparing.options import Account, some_names
from ilfs.preparing.raw_columns import RawColumn, ValueColumn, are_dates
from ilfs.reading.text import class_names
from ilfs.sources.label_checks import looks_like_quantity
from ilfs.words import counted

TARGET_NAMES = (  # in the order of preference
    *("target", "class", "label", "y", "diagnosis", "outcome", "response", "phenotype", "disease", "status"),
    *("group", "condition", "subtype", "type", "species", "classes", "labels", "treatment"),
)
PLAIN_TARGETS = ("target", "class", "label", "y")  # names that columns with another role hardly have
MAX_TARGET_CLASSES = 20  # distinct values of a column that may be the target without being named so
MAX_NUMBER_CLASSES = 10  # distinct integers of a last column that may be the target


def guessed_target(columns: Mapping[str, RawColumn], table: str, account: Account) -> str | None:
    """Guess the column that holds the classes, and say so.

    Parameters
    ----------
    columns : mapping
        Columns that have no other role, by their names.
    table : str
        Name of the table in messages.
    account : Account
        Gets the sentence.

    Returns
    -------
    str or None
        Name of the column; None if no column fits, or several do.
    """
    for guess, why in (
        (usual_target, "by its name"),
        (only_text, "as the only column of text with few different values"),
        (last_integers, "as the last column, which holds few different integers"),
    ):
        name = guess(columns)
        if name is not None:
            account.guesses.append(f"the target of {table} was guessed: {name!r}, {why}; to change it: target='COLUMN'")
            return name
    return None


def usual_target(columns: Mapping[str, RawColumn]) -> str | None:
    """Find a column with one of the usual names of targets, alone or as a word of its name."""
    by_name = {name.lower(): name for name in columns}
    for usual in TARGET_NAMES:
        if usual in by_name and holds_classes(columns[by_name[usual]]):
            return by_name[usual]
    plain = [by_name[usual] for usual in PLAIN_TARGETS if usual in by_name]
    if plain:  # whatever it holds: the checks of the target say what is wrong with it
        return plain[0]
    words = [name for name in columns if is_usual_name(name)]
    fitting = [name for name in words if holds_classes(columns[name])]
    return fitting[0] if len(fitting) == 1 else None


def is_usual_name(name: str) -> bool:
    """Check if a name is that of a usual target, or contains it as a word."""
    words = set(re.split(r"[\W_]+", name.lower()))
    return name.lower() in TARGET_NAMES or bool(words & set(TARGET_NAMES) - {"y"})


def only_text(columns: Mapping[str, RawColumn]) -> str | None:
    """Find the only column of text or booleans with few different values."""
    fitting = [name for name, column in columns.items() if may_be_classes(column) and not is_quantity(column)]
    return fitting[0] if len(fitting) == 1 else None


def last_integers(columns: Mapping[str, RawColumn]) -> str | None:
    """Return the last column if it holds few different integers."""
    if not columns:
        return None
    name, column = list(columns.items())[-1]
    return name if has_few(column, MAX_NUMBER_CLASSES) and is_integral(column) else None


def possible_targets(columns: Mapping[str, RawColumn]) -> list[str]:
    """Return the columns that could hold the classes."""
    return [name for name, column in columns.items() if holds_classes(column)]


def holds_classes(column: RawColumn) -> bool:
    """Check if a column has few different values, all of them text, booleans or integers."""
    is_usable = column.kind in ("text", "number") and (column.numbers is None or is_integral(column))
    return is_usable and has_few(column, MAX_TARGET_CLASSES)


def may_be_classes(column: RawColumn) -> bool:
    """Check if a column holds text or booleans with few different values."""
    return (column.kind == "text" or column.is_boolean) and has_few(column, MAX_TARGET_CLASSES)


def is_quantity(column: RawColumn) -> bool:
    """Check if a column of text or other values holds numbers; booleans are none."""
    return column.numbers is not None and not column.is_boolean


def has_few(column: RawColumn, most: int) -> bool:
    """Check if a column has at least two and at most so many different values, two rows of each on average."""
    distinct = column.distinct(most)
    return distinct is not None and 2 <= len(distinct) <= len(column) / 2 and not are_dates(distinct)


def is_integral(column: RawColumn) -> bool:
    """Check if a column holds integers only."""
    numbers = column.numbers
    return numbers is not None and bool((np.isnan(numbers) | (numbers == np.floor(numbers))).all())


def no_target(columns: Mapping[str, RawColumn], table: str, advice: str) -> ValueError:
    """Make the error for a table whose target was neither named nor guessed."""
    possible = possible_targets(columns)
    if possible:
        which = f"it could be {some_names(possible)}"
    else:
        which = f"none of its {counted(len(columns), 'column')} has few different values{advice}"
    return ValueError(f"target must be named, as the column of {table} with the classes cannot be guessed: {which}")


def labels_in(column: RawColumn) -> NDArray[Any]:
    """Return the labels of all rows: integers if the column has such a type, text otherwise; None if missing."""
    if isinstance(column, ValueColumn) and not column.is_boolean and is_integral(column):
        numbers = column.numbers
        if not np.isnan(numbers).any() and np.abs(numbers).max(initial=0) < 2**53:
            return numbers.astype(np.int64)
    return class_names(column.texts)


def is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the rows that have no label."""
    if labels.dtype.kind != "O":
        return np.zeros(labels.size, dtype=bool)
    return np.array([label is None for label in labels.tolist()], dtype=bool)


def check_classes(labels: NDArray[Any], target: str, table: str, account: Account, n_without: int = 0) -> None:
    """Raise unless labels are at least two classes; warn of classes of one row."""
    values, sizes = np.unique(labels, return_counts=True)
    if values.size < 2:
        got = f"only {str(values[0])!r}" if values.size else "none"
        others = f" ({counted(n_without, 'row')} without a class, such as NA, left out)" if n_without else ""
        raise ValueError(f"target must hold at least two classes, got {got} in {target!r} of {table}{others}")
    refuse_quantity(values, sizes, target, table)
    single = [str(value) for value in values[sizes == 1].tolist()]
    if single:
        account.warnings.append(
            f"{counted(len(single), 'class')} of {target!r} with a single row, too few to compare: {some_names(single)}"
        )


def refuse_quantity(values: NDArray[Any], sizes: NDArray[Any], target: str, table: str) -> None:
    """Raise if the classes are measurements, or if almost every row has its own."""
    numbers = [exact_number(str(value)) for value in values.tolist()]
    advice = "bin a quantity first, for example into low and high"
    if all(number is not None for number in numbers):
        broken = [number for number in numbers if number is not None and number != number.to_integral_value()]
        if broken:
            raise ValueError(
                f"target must hold classes, got numbers such as {broken[0]} in {target!r} of {table}: {advice}"
            )
        known = np.array([float(number or 0) for number in numbers])
        order = np.argsort(known)
        if looks_like_quantity(known[order], sizes[order]):
            raise ValueError(
                f"target must hold classes, got {values.size:,} different integers in {target!r} of {table}: {advice}; "
                "if they are names of classes, write them as text, such as c1"
            )
    elif values.size > max(2, labels_limit(sizes)):
        raise ValueError(
            f"target must hold classes, got {values.size:,} different texts in {counted(int(sizes.sum()), 'row')} of "
            f"{target!r} in {table}: this column seems to name the rows"
        )


def labels_limit(sizes: NDArray[Any]) -> float:
    """Return the most classes that so many rows may have."""
    return float(sizes.sum()) / 2


def kept_rows(labels: NDArray[Any], target: str, table: str, account: Account) -> NDArray[np.int64] | None:
    """Return the rows that have a label, with a warning; None if all have one."""
    missing = is_missing(labels)
    n_missing = int(missing.sum())
    if not n_missing:
        return None
    if 2 * n_missing > labels.size:
        raise ValueError(
            f"target must have a class in at least half of the rows, got one in {labels.size - n_missing:,} of "
            f"{labels.size:,} in {target!r} of {table}"
        )
    rows = some_names([str(i + 1) for i in np.flatnonzero(missing).tolist()])
    account.warnings.append(f"{counted(n_missing, 'row')} without a class in {target!r} left out: {rows}")
    return np.flatnonzero(~missing)


def text_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Convert labels that are Python objects to an array of text."""
    return np.array(labels.tolist()) if labels.dtype.kind == "O" else labels
