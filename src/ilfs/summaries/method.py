"""The method of a summary as plain data: its name and parameters."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ilfs.registry import BY_NAME, RECORDS

# These parameters do not change the statistics: every site, and the final fit, may choose them.
FREE_PARAMETERS = ("n_features_to_select", "n_jobs")
Described = dict[str, Any]


def describe(selector: Any) -> Described:
    """Describe a selector of this library as plain data.

    Parameters
    ----------
    selector : estimator
        A registered method.

    Returns
    -------
    dict
        ``selector``, the name of the method, and ``parameters``, without those that every site may choose.

    Examples
    --------
    >>> from ilfs import FisherScore
    >>> from ilfs.summaries.method import describe
    >>> describe(FisherScore(10))
    {'selector': 'fisher', 'parameters': {'weighting': 'size'}}
    """
    path = f"{type(selector).__module__}.{type(selector).__qualname__}"
    names = [method.name for method in RECORDS if method.path == path]
    if not names:
        raise TypeError(f"selector must be a method of ilfs to be summarised, got {type(selector).__name__}")
    parameters = selector.get_params(deep=False)
    return {
        "selector": names[0],
        "parameters": {name: plain(name, parameters[name]) for name in parameters if name not in FREE_PARAMETERS},
    }


def plain(name: str, value: Any) -> Any:
    """Convert a parameter to numbers, text, lists and dictionaries."""
    if isinstance(value, BaseEstimator):
        return describe(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(name, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{name} must be a number, text, a list or a selector to be summarised, got {value!r}")


def make(described: Any) -> Any:
    """Make the selector that `describe` has described. Only registered methods are imported.

    Parameters
    ----------
    described : dict
        Name and parameters, possibly from a file.

    Returns
    -------
    estimator
        Not fitted; its parameters are valid.
    """
    name = described.get("selector") if isinstance(described, dict) else None
    if name not in BY_NAME or set(described) != {"selector", "parameters"}:
        raise ValueError(f"the method must be one of {', '.join(BY_NAME)}, got {name!r}")
    parameters = described["parameters"]
    given = {key: make(value) if isinstance(value, dict) else value for key, value in parameters.items()}
    try:
        selector = BY_NAME[name].load()(**given)
    except TypeError as error:
        raise ValueError(f"parameters of {name} must be those of the class: {error}") from None
    selector._check_parameters()
    return selector


def title_of(described: Described) -> str:
    """Return the class name of a described method."""
    return BY_NAME[described["selector"]].class_name


def check_same(one: Described, other: Described, where: str) -> None:
    """Raise an error that names the first parameter in which two methods differ.

    Parameters
    ----------
    one, other : dict
        The methods.
    where : str
        Where they come from, for the message.
    """
    for name, first, second in differences(one, other):
        raise ValueError(
            f"{name} must be the same {where}, got {first!r} and {second!r}: a summary serves only the method and "
            "parameters that it was made for"
        )


def differences(one: Described, other: Described, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the name and both values of all parameters in which two methods differ."""
    if one["selector"] != other["selector"]:
        yield prefix.removesuffix("__") or "the method", title_of(one), title_of(other)
        return
    for name, first in one["parameters"].items():
        second = other["parameters"].get(name)
        if isinstance(first, dict) and isinstance(second, dict):
            yield from differences(first, second, f"{prefix}{name}__")
        elif first != second:
            yield prefix + name, first, second
