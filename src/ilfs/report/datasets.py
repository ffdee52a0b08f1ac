"""Properties of data sets beside the crosses of the paper's Table 1."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ilfs.benchmark.paper_tables import PROPERTIES, dataset_rows
from ilfs.datasets import DatasetProperties, title_of
from ilfs.datasets.properties import (
    FEW_SAMPLES,
    MAX_ROWS,
    NOISE_KURTOSIS,
    OVERLAP_FRACTION,
    SPARSE_FRACTION,
    UNBALANCED_RATIO,
)
from ilfs.text_table import Grid

CROSS = "X"
TITLES = {name: name.replace("_", " ") for name in PROPERTIES}
RULES = (
    f"few train: at most {FEW_SAMPLES} samples, and fewer samples than features.",
    f"unbalanced: the largest class has at least {UNBALANCED_RATIO:g} times as many samples as the smallest (this "
    "ratio).",
    f"overlap: for more than {100 * OVERLAP_FRACTION:.0f} % of the samples of a class, the nearest other sample is of "
    "another class (the percentage, mean over the classes).",
    f"noise: the median kurtosis of the features is above {NOISE_KURTOSIS:g} (the kurtosis; not for sparse data).",
    f"sparse: more than {100 * SPARSE_FRACTION:.0f} % of the values are 0 (the percentage).",
    f"overlap and noise: from at most {MAX_ROWS:,} rows, chosen at random.",
)


def properties_grid(measured: Mapping[str, DatasetProperties | None]) -> Grid:
    """Table of the properties of data sets, each beside the paper's.

    Parameters
    ----------
    measured : mapping
        Properties by name of the data set; None for a data set that is not available.

    Returns
    -------
    Grid
        A row for each data set. The notes have the rules, and how often they agree with the paper.
    """
    header = ["data set", "samples", "classes", "features"]
    for title in TITLES.values():
        header += [title, "paper"]
    rows = [properties_row(name, found) for name, found in measured.items()]
    return Grid(
        "Properties of data sets, beside the paper's Table 1", header, rows, notes=[*RULES, *notes_on(measured)]
    )


def properties_row(name: str, found: DatasetProperties | None) -> list[Any]:
    """Format the properties of a data set."""
    printed = dataset_rows().get(name)
    sizes = [None] * 3 if found is None else [found.n_samples, found.n_classes, found.n_features]
    row: list[Any] = [title_of(name), *sizes]
    for one in PROPERTIES:
        row += [format_property(found, one), None if printed is None else getattr(printed, one)]
    return row


def format_property(found: DatasetProperties | None, name: str) -> str | None:
    """Format a cross and the number behind it; None if it was not measured."""
    if found is None:
        return None
    cross = CROSS if getattr(found, name) else ""
    return f"{cross} {number_behind(found, name)}".strip()


def number_behind(found: DatasetProperties, name: str) -> str:
    """Format the number that a rule compares with its threshold; empty if there is none."""
    value, form = {
        "few_train": (float("nan"), ""),
        "unbalanced": (found.class_ratio, "{:.1f}"),
        "overlap": (100 * found.overlap_fraction, "{:.0f} %"),
        "noise": (found.kurtosis, "{:.1f}"),
        "sparse": (100 * found.zero_fraction, "{:.0f} %"),
    }[name]
    return "" if np.isnan(value) else form.format(value)


def notes_on(measured: Mapping[str, DatasetProperties | None]) -> list[str]:
    """Notes on the agreement with the paper and on data sets that are not available."""
    counts = [(title, *agreement(measured, name)) for name, title in TITLES.items()]
    said = ", ".join(f"{title} {equal} of {total}" for title, equal, total in counts if total)
    away = ", ".join(name for name, found in measured.items() if found is None)
    return [
        *([f"Agreement with the paper's crosses: {said}."] if said else []),
        *([f"Not available here: {away}."] if away else []),
    ]


def agreement(measured: Mapping[str, DatasetProperties | None], name: str) -> tuple[int, int]:
    """Count the data sets where a rule and the paper agree, and those where the paper has or leaves out a cross.

    Where the paper prints "n.s." (not specified), or the sizes of the classes instead of a cross, there is nothing to
    agree with.
    """
    pairs = [
        (getattr(found, name), getattr(dataset_rows()[dataset], name))
        for dataset, found in measured.items()
        if found is not None and dataset in dataset_rows()
    ]
    verdicts = [(ours, printed == CROSS) for ours, printed in pairs if printed in ("", CROSS)]
    return sum(ours == papers for ours, papers in verdicts), len(verdicts)
