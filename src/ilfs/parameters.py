"""Checks of parameters: one sentence with the name, the rule and the value."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_integer(name: str, value: Any, least: int) -> None:
    """Refuse what is not an integer of at least so much."""
    if not is_integer(value) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")


def check_choice(name: str, value: Any, choices: Sequence[str | bool | None]) -> None:
    """Refuse what is not one of the choices."""
    if isinstance(value, np.generic):
        value = value.item()
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        *others, last = (repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {value!r}")


def check_between(name: str, value: Any, low: float, high: float, *, word: str | None = None) -> None:
    """Refuse what is not a number strictly between the two, nor the word that may stand for one."""
    if isinstance(value, str) and value == word:
        return
    if is_boolean(value) or not isinstance(value, Real) or not low < float(value) < high:
        or_word = "" if word is None else f"{word!r} or "
        raise ValueError(f"{name} must be {or_word}a number strictly between {low:g} and {high:g}, got {value!r}")


def check_within(name: str, value: Any, low: float, high: float) -> None:
    """Refuse what is not a number between the two, ends included."""
    if is_boolean(value) or not isinstance(value, Real) or not low <= float(value) <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse what is not a positive number, infinity included."""
    if is_boolean(value) or not isinstance(value, Real) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be a number > 0, got {value!r}")


def is_integer(value: Any) -> bool:
    """Whether it is an integer; True and False are not."""
    return isinstance(value, Integral) and not is_boolean(value)


def is_share(value: Any) -> bool:
    """Whether it is a number in (0, 1] that is not an integer."""
    return isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1


def is_boolean(value: Any) -> bool:
    """Whether it is True or False, which Python counts among the numbers."""
    return isinstance(value, bool | np.bool_)
