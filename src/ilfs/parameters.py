"""Checks of parameters, whose error messages state the name, the rule and the value."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_integer(name: str, value: Any, least: int) -> None:
    """Raise an error unless the value is an integer >= least."""
    if not is_integer(value) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")


def check_choice(name: str, value: Any, choices: Sequence[str | bool | int | None]) -> None:
    """Raise an error unless the value is one of the choices; 1 is not accepted as True."""
    if isinstance(value, np.generic):
        value = value.item()
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        *others, last = (repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {value!r}")


def check_between(name: str, value: Any, low: float, high: float, *, word: str | None = None) -> None:
    """Raise an error unless the value is a number strictly between low and high, or the given word."""
    if isinstance(value, str) and value == word:
        return
    if is_boolean(value) or not isinstance(value, Real) or not low < float(value) < high:
        or_word = "" if word is None else f"{word!r} or "
        raise ValueError(f"{name} must be {or_word}a number strictly between {low:g} and {high:g}, got {value!r}")


def check_within(name: str, value: Any, low: float, high: float) -> None:
    """Raise an error unless the value is a number from low to high, both included."""
    if is_boolean(value) or not isinstance(value, Real) or not low <= float(value) <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Raise an error unless the value is a finite number > 0."""
    if is_boolean(value) or not isinstance(value, Real) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be a number > 0, got {value!r}")


def is_integer(value: Any) -> bool:
    """Return True for an integer of Python or NumPy, but not for True and False."""
    return isinstance(value, Integral) and not is_boolean(value)


def is_fraction(value: Any) -> bool:
    """Return True for a number in (0, 1] that is not of an integer type."""
    return isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1


def is_boolean(value: Any) -> bool:
    """Return True for True and False, which Python counts among the numbers."""
    return isinstance(value, bool | np.bool_)
