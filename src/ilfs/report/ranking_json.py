"""Rankings as JSON: one documented, stable shape for programs.

The shape has a format number. A new field may appear at any time; a field that is there keeps its meaning, or the
number grows. Numbers that JSON cannot hold (NaN, infinity) are null.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from ilfs.ranking_table import MEAN_PREFIX, RankingTable
from ilfs.report.certainty import selection_sentence, verdict_sentence
from ilfs.report.interactions.data import interactions_as_data
from ilfs.report.summary import interactions_of
from ilfs.selector import RankingSelector

JSON_FORMAT = 1  # number of the shape


def ranking_as_data(selector: RankingSelector, top: int | None = None, method: str | None = None) -> dict[str, Any]:
    """Describe a ranking by numbers, words, lists and dicts that JSON can hold.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    top : int, optional
        Number of features in ``features``; all by default.
    method : str, optional
        Name of the method; by default that of its class.

    Returns
    -------
    dict
        ``method``, ``parameters``, ``verdict`` (None without a test), ``selected`` and ``features``, best first; and
        ``search`` and ``interactions``, if the selector has searched for interactions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import FisherScore
    >>> from ilfs.report.ranking_json import ranking_as_data
    >>> found = ranking_as_data(FisherScore(1).fit(*load_iris(return_X_y=True, as_frame=True)))
    >>> found["method"], found["selected"]["names"], found["features"][0]["feature"]
    ('FisherScore', ['petal length (cm)'], 'petal length (cm)')
    """
    class_name, parameters = selector._description()
    found = interactions_of(selector)
    return {
        "method": class_name if method is None else method,
        "parameters": as_json(parameters),
        "verdict": verdict_as_data(selector),
        "selected": selected_as_data(selector),
        "features": rows_as_data(selector, selector.table(top)),
    } | ({} if found is None else interactions_as_data(found))


def verdict_as_data(selector: Any) -> dict[str, Any] | None:
    """Describe the test against chance; None if there was none."""
    if not hasattr(selector, "chance_p_value_"):
        return None
    return {
        "better_than_chance": bool(selector.is_better_than_chance_),
        "p_value": as_json(selector.chance_p_value_),
        "level": as_json(selector.fdr),
        "permutations": int(selector.n_permutations_),
        "sentence": "; ".join(verdict_sentence(selector)),
    }


def selected_as_data(selector: Any) -> dict[str, Any]:
    """Describe the selected features: by which rule, how many, their names best first, and why."""
    chosen = selector.order_[selector.get_support()[selector.order_]]
    names = selector._names(None)
    rule = selector.n_features_to_select if hasattr(selector, "n_features_to_select") else None
    return {
        "rule": as_json(rule),
        "number": int(chosen.size),
        "names": [str(names[column]) for column in chosen.tolist()],
        "sentence": selection_sentence(selector),
    }


def rows_as_data(selector: RankingSelector, table: RankingTable) -> list[dict[str, Any]]:
    """Describe each feature; the class means are one dict, by label."""
    plain = {title: as_json(values) for title, values in table.items() if not title.startswith(MEAN_PREFIX)}
    plain["selected"] = as_json(selector.get_support()[table["column"]])
    means = {
        title.removeprefix(MEAN_PREFIX): as_json(values)
        for title, values in table.items()
        if title.startswith(MEAN_PREFIX)
    }
    rows = [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]
    if means:
        for row, values in zip(rows, zip(*means.values(), strict=True), strict=True):
            row["means"] = dict(zip(means, values, strict=True))
    return rows


def as_json(value: Any) -> Any:
    """Convert a value to what JSON can hold: NaN and infinity become None, and unknown objects text.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.ranking_json import as_json
    >>> as_json({"a": np.array([1.0, np.nan]), "b": (np.int64(2), "x")})
    {'a': [1.0, None], 'b': [2, 'x']}
    """
    if isinstance(value, np.ndarray | np.generic):
        return as_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [as_json(one) for one in value]
    return as_json(asdict(value)) if is_dataclass(value) and not isinstance(value, type) else str(value)


def json_text(document: Mapping[str, Any]) -> str:
    """Format a document, one line for each feature, so that files can be compared line by line.

    Parameters
    ----------
    document : mapping
        What `as_json` returns; lists of dicts are written one dict a line.

    Returns
    -------
    str
        JSON without NaN and infinity, and without a line break at its end.
    """
    return "{\n" + ",\n".join(f"  {json.dumps(key)}: {field_text(value)}" for key, value in document.items()) + "\n}"


def field_text(value: Any) -> str:
    """Format the value of a field."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return "[\n" + ",\n".join(f"    {json.dumps(one, allow_nan=False)}" for one in value) + "\n  ]"
    return json.dumps(value, allow_nan=False)
