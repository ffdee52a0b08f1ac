"""The method of a summary as plain data: its name and parameters."""

from collections.abc import Iterator
from typing import Any

from sklearn.base import BaseEstimator

from ilfs.registry import BY_NAME, RECORDS, classes_with

# These parameters do not change the statistics: every site, and the final fit, may choose them.
FREE_PARAMETERS = ("n_features_to_select", "n_jobs", "n_permutations", "random_state", "fdr")
Described = dict[str, Any]


def describe(selector: Any) -> Described:
    """Describe a selector as plain data.

    Parameters
    ----------
    selector : estimator
        A registered method; a class of another name is described by its import path, and cannot be made again.

    Returns
    -------
    dict
        ``selector``, the name of the method, and ``parameters``, without those that every site may choose.

    Examples
    --------
    >>> from ilfs import FisherScore
    >>> from ilfs.summaries.method import describe
    >>> describe(FisherScore(10))
    {'selector': 'fisher', 'parameters': {'must_keep': None, 'weighting': 'size'}}
    """
    path = f"{type(selector).__module__}.{type(selector).__qualname__}"
    names = [method.name for method in RECORDS if method.path == path]
    parameters = selector.get_params(deep=False)
    return {
        "selector": names[0] if names else path,
        "parameters": {name: plain(value) for name, value in parameters.items() if name not in FREE_PARAMETERS},
    }


def plain(value: Any) -> Any:
    """Convert a parameter to numbers, text, lists and dictionaries; other objects become their ``repr``."""
    if isinstance(value, BaseEstimator):
        return describe(value)
    if hasattr(value, "tolist"):  # NumPy, or names from the columns of pandas
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else {"selector": repr(value)}


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
        raise ValueError(f"selector must be a method of ilfs ({', '.join(BY_NAME)}), got {name!r}")
    parameters = described["parameters"]
    given = {key: make(value) if isinstance(value, dict) else value for key, value in parameters.items()}
    try:
        selector = BY_NAME[name].load()(**given)
    except TypeError as error:
        raise ValueError(f"parameters of {name} must be those of the class: {error}") from None
    selector._check_parameters()
    return selector


def check_streams(selector: Any) -> None:
    """Raise an error unless a method needs only statistics of the rows."""
    if not selector._streams:
        raise TypeError(
            f"{selector._title} needs all rows together, so it cannot be fitted from summaries: use one of "
            f"{classes_with('streams')}"
        )


def title_of(described: Described) -> str:
    """Return the class name of a described method."""
    name: str = described["selector"]
    return BY_NAME[name].class_name if name in BY_NAME else name.rpartition(".")[2]


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
