"""Files of selections: JSON that any program can read, without pickled objects.

The file has one line for each of its keys. Numbers are written so that they are read back to the last bit. JSON has no
NaN and no infinity: they are written as the texts ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``. A key that a selection
has no value for is null.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.files import write_text_atomically
from ilfs.importing import import_object

KIND, FORMAT = "ilfs selection", 1
NOT_FINITE = ("NaN", "Infinity", "-Infinity")
KEYS = ("method", "parameters", "n_features", "feature_names", "target", "classes", "selected", "order", "scores")


def write_selection(path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write a selection; the file appears complete or not at all.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.
    fields : mapping
        ``method``, ``parameters``, ``n_features``, ``feature_names``, ``target``, ``classes``, ``selected``, ``order``,
        ``scores`` and ``columns``, a mapping of the further columns of the table.
    """
    names, selected = fields["feature_names"], fields["selected"]
    header = {"kind": KIND, "format": FORMAT, "ilfs_version": version()}
    chosen = {"selected_names": None if names is None else [names[j] for j in selected.tolist()]}
    record = header | {key: fields[key] for key in KEYS} | chosen | {"columns": dict(fields["columns"])}
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(plain(value), allow_nan=False)}" for key, value in record.items()
    )
    write_text_atomically(path, "{" + lines + "}\n")


def version() -> str:
    """Return the version of this package, which modules of lower layers do not import."""
    return str(import_object("ilfs.__version__"))


def plain(value: Any) -> Any:
    """Convert a value to what JSON has: numbers, text, lists, objects and null; anything else becomes its ``repr``.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection_files import plain
    >>> plain({"scores": np.array([0.5, np.nan]), "n": np.int64(3), "kind": ("a", None)})
    {'scores': [0.5, 'NaN'], 'n': 3, 'kind': ['a', None]}
    """
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else json.dumps(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else " ".join(repr(value).split())


def read_selection(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the fields of a selection, and check that they fit each other.

    Any defect of the file raises a ValueError of one sentence. A file that cannot be opened raises an OSError.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict
        The fields, as for `write_selection`, and ``ilfs_version``; ``selected`` and ``order`` are arrays of int,
        ``scores`` and the values of ``columns`` arrays.
    """
    what = f"{os.fspath(path)!r} must be a selection, as ilfs rank --save and selector.save write it"
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"there is no file {os.fspath(path)!r}: save a selection first, by selector.save(path) or ilfs rank --save"
        ) from None
    except UnicodeDecodeError:
        raise ValueError(f"{what}, but it is not text") from None
    try:
        record = json.loads(text, parse_constant=refuse_constant)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{what}, but it is {defect_of_json(text, error)}") from None
    try:
        return checked_fields(record)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{what}, but {error}") from None


def refuse_constant(name: str) -> None:
    """Raise for NaN and infinity without quotes, which are not JSON."""
    raise json.JSONDecodeError(f"{name} is no value of JSON", name, 0)


def defect_of_json(text: str, error: Exception) -> str:
    """Say in a few words why a text is not JSON."""
    if not text.strip():
        return "empty"
    if not text.lstrip().startswith("{"):
        return "no JSON object"
    if (isinstance(error, json.JSONDecodeError) and text[error.pos :].strip() == "") or not text.rstrip().endswith("}"):
        return "cut off before its end: save it again"
    where = f", in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
    return f"damaged JSON{where}: save it again"


def checked_fields(record: Any) -> dict[str, Any]:
    """Check the keys and values of a file, and make arrays of them."""
    if not isinstance(record, dict) or record.get("kind") != KIND:
        raise ValueError("it is another kind of file")
    check_format(record.get("format"), record.get("ilfs_version"))
    if missing := [key for key in (*KEYS, "columns") if key not in record]:
        raise ValueError(f"it lacks {missing[0]!r}")
    n, names = record["n_features"], record["feature_names"]
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ValueError(f"'n_features' is {n!r}, which is no number of features")
    check_names(names, n)
    order, selected = column_array("order", record["order"], n), column_array("selected", record["selected"], n)
    if order.size != n:
        raise ValueError(f"'order' has {order.size} of the {n} columns")
    if names is not None and record.get("selected_names") not in (None, [names[j] for j in selected.tolist()]):
        raise ValueError("'selected_names' are not those of the columns in 'selected'")
    columns = record["columns"]
    if not isinstance(record["parameters"], dict) or not isinstance(columns, dict):
        raise ValueError("'parameters' and 'columns' are no JSON objects")
    return {key: record[key] for key in (*KEYS, "ilfs_version")} | {
        "method": str(record["method"]),
        "order": order,
        "selected": np.sort(selected),
        "scores": float_array("scores", record["scores"], n),
        "classes": check_classes(record["classes"]),
        "target": as_name(record["target"]),
        "columns": {title: table_column(title, values, n) for title, values in columns.items()},
    }


def check_format(number: Any, written_by: Any) -> None:
    """Raise unless this version of the package reads a format."""
    if number == FORMAT and not isinstance(number, bool):
        return
    if isinstance(number, int) and number > FORMAT:
        raise ValueError(
            f"it has format {number} of ilfs {written_by}, and this version ({version()}) reads format {FORMAT}: "
            "install a newer version of ilfs"
        )
    raise ValueError(f"its format is {number!r}, and this version of ilfs reads format {FORMAT}")


def check_names(names: Any, n_features: int) -> None:
    """Check that every column has a name of its own, or none has."""
    if names is None:
        return
    if not isinstance(names, list) or len(names) != n_features or not all(isinstance(one, str) for one in names):
        raise ValueError(f"'feature_names' does not name each of the {n_features} columns")
    if len(set(names)) < n_features:
        raise ValueError("'feature_names' has a name twice")


def column_array(key: str, values: Any, n_features: int) -> Integers:
    """Make an array of column indices, all of them different."""
    is_list = isinstance(values, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in values)
    if not is_list or any(not 0 <= one < n_features for one in values) or len(set(values)) < len(values):
        raise ValueError(f"{key!r} does not hold different columns from 0 to {n_features - 1}")
    return np.array(values, dtype=np.int64)


def float_array(key: str, values: Any, n_features: int) -> Floats:
    """Make an array of numbers; the texts of NaN and infinity are numbers, too."""
    if not isinstance(values, list) or len(values) != n_features or not all(map(is_number, values)):
        raise ValueError(f"{key!r} does not hold a number for each of the {n_features} columns")
    return np.array([float(one) for one in values], dtype=np.float64)


def is_number(value: Any) -> bool:
    """Check if a value of JSON is a number of `plain`."""
    return (isinstance(value, int | float) and not isinstance(value, bool)) or value in NOT_FINITE


def table_column(title: str, values: Any, n_features: int) -> NDArray[Any]:
    """Make an array of a further column of the table: numbers, or values of one kind such as names."""
    if isinstance(values, list) and values and all(map(is_number, values)):
        is_whole = all(isinstance(one, int) for one in values)
        return (
            np.array(values, dtype=np.int64)
            if is_whole and len(values) == n_features
            else float_array(title, values, n_features)
        )
    if not isinstance(values, list) or len(values) != n_features or any(isinstance(one, list | dict) for one in values):
        raise ValueError(f"{title!r} does not hold a value for each of the {n_features} columns")
    return np.array(values) if all(isinstance(one, bool) for one in values) else np.array(values, dtype=object)


def check_classes(classes: Any) -> NDArray[Any] | None:
    """Make an array of the class labels, None if there are none."""
    if classes is None:
        return None
    if not isinstance(classes, list) or any(isinstance(one, list | dict) for one in classes):
        raise ValueError("'classes' is no list of labels")
    return np.array(classes)


def as_name(target: Any) -> Any:
    """Return the name of a column; a name of several parts is a tuple, which JSON writes as a list."""
    return tuple(as_name(one) for one in target) if isinstance(target, list) else target
