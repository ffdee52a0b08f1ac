"""A comparison as CSV and JSON."""

import json
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs import __version__
from ilfs.files import write_text_atomically
from ilfs.selection import Comparison
from ilfs.selection.comparison import MethodStability
from ilfs.text_table import Grid

PERFORMANCE_COLUMNS = ("method", "classifier", "n_features", "mean", "std_error")
OUTPUT_ENDINGS = (".csv", ".json")


def check_output(path: str | os.PathLike[str], endings: tuple[str, ...] = OUTPUT_ENDINGS) -> None:
    """Raise an error if a file to write has none of the endings."""
    if Path(path).suffix.lower() not in endings:
        raise ValueError(f"the output must end in {' or '.join(endings)}, got {str(path)!r}")


def write_comparison(
    comparison: Comparison, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None
) -> Path:
    """Write a comparison: the performance as CSV, or everything as JSON.

    The file appears complete or not at all.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    path : path-like
        A file that ends in ``.csv`` or ``.json``; its folder must exist.
    about : mapping, optional
        Further entries of the JSON document, such as the command.

    Returns
    -------
    Path
        The file written.
    """
    check_output(path)
    is_json = Path(path).suffix.lower() == ".json"
    text = comparison_json(comparison, about) if is_json else performance_csv(comparison)
    write_text_atomically(path, text + "\n")
    return Path(path)


def write_compared_ranks(comparison: Comparison, path: str | os.PathLike[str]) -> Path:
    """Write the rank of every feature under each method as CSV, the best mean rank first.

    Names that a spreadsheet would run as a formula get an apostrophe. The file appears complete or not at all.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    path : path-like
        A file that ends in ``.csv``; its folder must exist.

    Returns
    -------
    Path
        The file written.
    """
    check_output(path, (".csv",))
    write_text_atomically(path, csv_of(comparison.ranks()) + "\n")
    return Path(path)


def performance_csv(comparison: Comparison) -> str:
    """Format the performance as CSV: a row for each method (or ``random``), classifier and size."""
    table = comparison.performance()
    return csv_of({title: table[title] for title in PERFORMANCE_COLUMNS})


def csv_of(table: dict[str, NDArray[Any]]) -> str:
    """Format columns of a table as CSV."""
    rows = list(zip(*(values.tolist() for values in table.values()), strict=True))
    return Grid("", list(table), rows).render("csv", spreadsheet_safe=True)


def comparison_json(comparison: Comparison, about: Mapping[str, Any] | None = None) -> str:
    """Format a comparison as JSON; numbers that are not finite are null.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    about : mapping, optional
        Further entries of the document, such as the command.

    Returns
    -------
    str
        An object with the keys ``ilfs_version``, ``table``, ``protocol``, ``methods``, ``performance``,
        ``all_features``, ``verdicts``, ``differences``, ``agreement``, ``rankings``, ``left_out`` and ``notes``.
    """
    content = {
        "ilfs_version": __version__,
        **(about or {}),
        "table": table_fields(comparison),
        "protocol": protocol_fields(comparison),
        "methods": [method_fields(comparison, i) for i in range(len(comparison.methods))],
        "performance": records(comparison.performance()),
        "all_features": by_classifier(comparison, comparison.all_features.mean(axis=1)),
        "verdicts": [vars(comparison.verdict(name)) for name in comparison.classifiers],
        "differences": records(comparison.differences()),
        "agreement": records(comparison.agreement()),
        "rankings": records(comparison.ranks()),
        "left_out": [vars(one) for one in comparison.left_out],
        "notes": list(comparison.notes),
    }
    return json.dumps(without_nan(content), indent=1, ensure_ascii=False, allow_nan=False)


def table_fields(comparison: Comparison) -> dict[str, Any]:
    """Describe the table."""
    return {
        "n_samples": comparison.n_samples,
        "n_features": comparison.n_features,
        "classes": dict(comparison.classes),
    }


def protocol_fields(comparison: Comparison) -> dict[str, Any]:
    """Describe how the methods were compared."""
    names = ("classifiers", "metric", "n_folds", "n_repeats", "n_train", "n_test", "k", "n_resamples")
    return {name: getattr(comparison, name) for name in (*names, "random_state", "is_grouped")} | {
        "sizes": comparison.sizes.tolist()
    }


def method_fields(comparison: Comparison, place: int) -> dict[str, Any]:
    """Describe one method."""
    return {
        "name": comparison.methods[place],
        "selector": comparison.selectors[place],
        "seconds": float(comparison.seconds[place]),
        "stability": stability_fields(comparison.stability[place]),
        "mean_over_sizes": by_classifier(comparison, comparison.mean_over_sizes[place]),
        "sufficient_size": by_classifier(comparison, comparison.sufficient_sizes[place]),
    }


def by_classifier(comparison: Comparison, values: NDArray[Any]) -> dict[str, Any]:
    """Name the values of the classifiers."""
    return dict(zip(comparison.classifiers, values.tolist(), strict=True))


def stability_fields(found: MethodStability | None) -> dict[str, Any] | None:
    """Describe the stability of a method, with 95 % intervals."""
    if found is None:
        return None
    indices = {"features": found.features, "families": found.families}
    return {name: {"value": one.value, "interval": list(one.interval())} for name, one in indices.items()}


def records(table: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """Turn columns of a table into a list of rows."""
    columns = [np.asarray(values).tolist() for values in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]


def without_nan(value: Any) -> Any:
    """Replace numbers that are not finite by None, at any depth."""
    if isinstance(value, dict):
        return {key: without_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
