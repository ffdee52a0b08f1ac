"""Files of summaries: ``.npz`` without pickled objects.

The file has one array for each array of the summary, and a header in JSON that says what they are.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.npz import read_arrays, reason_of, write_arrays
from ilfs.statistics import Classes
from ilfs.statistics.axes import AXES, STATISTICS, arrays_of, shape_defect
from ilfs.summaries.rounds import Answer, Round

KIND, FORMAT = "ilfs summary", 2  # format 1 had moments without zeros and signs
Arrays = Mapping[str, NDArray[Any]]


def write_summary(path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the fields of a summary."""
    header = {name: fields[name] for name in ("method", "n_features", "feature_names")}
    header |= {"kind": KIND, "format": FORMAT, "sites": sorted(fields["sites"])}
    # Names of other types, such as dates, have no form in JSON, and are left out.
    targets = [name for name in fields["target_names"] if isinstance(name, str | int)]
    header |= {"target_names": sorted(targets, key=str)}
    header |= {"n_permutations": fields["n_permutations"], "draws": sorted(fields["draws"])}
    header |= {"n_labellings": len(fields["labellings"]), "rounds": [outline(one) for one in fields["rounds"]]}
    arrays = {"header": np.array(json.dumps(header))}
    for place, classes in enumerate((*fields["labellings"], fields["all_rows"])):
        arrays |= {f"classes{place}.{name}": array for name, array in arrays_of(classes).items()}
    for number, one in enumerate(fields["rounds"]):
        for place, answer in enumerate(one.answers):
            arrays |= answer_arrays(answer, f"round{number}.answer{place}")
    write_arrays(path, arrays)


def outline(one: Round) -> dict[str, Any]:
    """Describe a round without its arrays."""
    answers = [{"statistic": type(answer.statistic).__name__, "labelling": answer.labelling} for answer in one.answers]
    return {"n_rows": one.n_rows, "answers": answers}


def answer_arrays(answer: Answer, name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of an answer by their names in the file."""
    arrays = {f"{name}.{field}": array for field, array in arrays_of(answer.statistic).items()}
    return arrays if answer.columns is None else arrays | {f"{name}.columns": answer.columns}


def read_summary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the fields of a summary, and check that they fit each other.

    Any defect of the file raises a ValueError of one sentence. A file that cannot be opened raises an OSError.
    """
    try:
        arrays = read_arrays(path)
        return parsed(arrays)
    except OSError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise almost anything for a damaged file
        reason = f"there is no {error}" if isinstance(error, KeyError) else reason_of(error)
        raise ValueError(f"{os.fspath(path)} must be a complete file written by Summary.save: {reason}") from error


def parsed(arrays: Arrays) -> dict[str, Any]:
    """Make the fields of a summary from the arrays of a file."""
    header = json.loads(str(arrays["header"]))
    if not isinstance(header, dict) or header.get("kind") != KIND:
        raise ValueError("its header is that of another kind of file")
    if header["format"] != FORMAT:
        raise ValueError(f"it has format {header['format']!r}, and this version of ilfs reads format {FORMAT}")
    check_columns(header["n_features"], header["feature_names"])
    targets = header.get("target_names", [])  # not in files of earlier versions
    if not isinstance(targets, list) or not all(isinstance(name, str | int) for name in targets):
        raise ValueError("target_names must be a list of names of columns")
    *labellings, all_rows = (read_classes(arrays, place) for place in range(header["n_labellings"] + 1))
    sizes = [classes.n_classes for classes in labellings]
    rounds = [read_round(arrays, number, one, sizes, header) for number, one in enumerate(header["rounds"])]
    return {
        "method": header["method"],
        "n_features": header["n_features"],
        "feature_names": header["feature_names"],
        "labellings": tuple(labellings),
        "all_rows": all_rows,
        "rounds": tuple(rounds),
        "sites": frozenset(map(str, header["sites"])),
        "target_names": frozenset(targets),
        **read_permutations(header),
    }


def read_permutations(header: Any) -> dict[str, Any]:
    """Return the number of permutations and their digests, which files of earlier versions do not have."""
    n_permutations = header.get("n_permutations", 0)
    if not isinstance(n_permutations, int) or n_permutations < 0 or header["n_labellings"] % (1 + n_permutations):
        raise ValueError(f"n_permutations must fit the {header['n_labellings']} labellings, got {n_permutations!r}")
    return {"n_permutations": n_permutations, "draws": frozenset(map(str, header.get("draws", [])))}


def check_columns(n_features: Any, names: Any) -> None:
    """Check number and names of the columns."""
    if not isinstance(n_features, int) or n_features < 1:
        raise ValueError(f"n_features must be an integer >= 1, got {n_features!r}")
    if names is None:
        return
    if not isinstance(names, list) or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names must name each of the {n_features} columns")


def read_classes(arrays: Arrays, place: int) -> Classes:
    """Make classes from the arrays of a file, and check them."""
    labels, rows, total = (arrays[f"classes{place}.{name}"] for name in ("labels", "rows", "total"))
    fits = labels.ndim == 1 and labels.shape == rows.shape == total.shape and labels.dtype.kind in "biufU"
    if not fits or rows.dtype.kind != "i" or total.dtype.kind != "f" or (labels[1:] <= labels[:-1]).any():
        raise ValueError("classes must have sorted labels, a number of rows and a weight each")
    if (rows < 0).any() or not (np.isfinite(total) & (total >= 0)).all():
        raise ValueError("classes must have numbers of rows and weights >= 0")
    return Classes(labels, rows, total)


def read_round(arrays: Arrays, number: int, one: Any, sizes: list[int], header: Any) -> Round:
    """Make a round from the arrays of a file, and check it."""
    answers = (
        read_answer(arrays, f"round{number}.answer{place}", answer, sizes, header["n_features"])
        for place, answer in enumerate(one["answers"])
    )
    return Round(tuple(answers), int(one["n_rows"]))


def read_answer(arrays: Arrays, name: str, outlined: Any, sizes: list[int], n_features: int) -> Answer:
    """Make an answer from the arrays of a file, and check the shapes of its arrays."""
    kind, labelling = STATISTICS[outlined["statistic"]], outlined["labelling"]
    columns = arrays.get(f"{name}.columns")
    if columns is not None and not are_columns(columns, n_features):
        raise ValueError(f"columns of {name} must be from 0 to {n_features - 1}")
    statistic = kind(**{field: arrays[f"{name}.{field}"] for field in AXES[kind]})
    n_classes = 1 if labelling is None or not sizes else sizes[labelling]
    if defect := shape_defect(statistic, n_classes, n_features if columns is None else columns.size):
        raise ValueError(f"{defect}, which does not fit {n_classes} classes and {n_features} columns")
    return Answer(statistic, labelling, columns)


def are_columns(columns: NDArray[Any], n_features: int) -> bool:
    """Return True for an array of column indices."""
    if columns.ndim != 1 or columns.dtype.kind != "i" or not columns.size:
        return False
    return bool(0 <= columns.min() <= columns.max() < n_features)
