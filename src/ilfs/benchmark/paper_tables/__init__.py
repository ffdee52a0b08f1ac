"""The tables that the paper prints, as data.

Table 2 has seconds, Table 3 the average precision of each VOC class with half of the features, Table 4 the mean average
precision over 20 splits and five numbers of features. Table 3 shows the classes as pictures; we assume that they are in
the order in which VOC lists them. Averages are those that the paper prints: `paper_slips` lists those that differ from
the mean of its other numbers.
"""

import csv
from functools import cache
from importlib.resources import files

METHODS_OF_THE_PAPER = ("cfs", "fisher", "fsv", "llcfs", "ls", "mcfs", "mi", "relieff", "rfe", "udfs", "inf_fs", "ilfs")
MICROARRAYS = ("colon", "leukemia", "prostate", "lymphoma", "lung")
OTHER_DATASETS = ("gina", "dexter", "polarity")
GROUPS = {"dna": MICROARRAYS, "other": OTHER_DATASETS}  # groups of data sets that the paper averages over
MAX_ROUNDING_ERROR = 0.011  # largest rounding error of a mean of numbers with two decimals


def _read(name: str) -> list[dict[str, str]]:
    text = (files("ilfs.benchmark.paper_tables") / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def seconds() -> dict[str, float]:
    """Table 2: seconds of each method on 10,000 x 5,000 uniform numbers.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import seconds
    >>> seconds()["rfe"]
    91799.0
    """
    return {row["method"]: float(row["seconds"]) for row in _read("table2")}


@cache
def class_precision() -> dict[tuple[str, str, str], float]:
    """Table 3: average precision in per cent by data set, class (or ``"mean"``) and method.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import class_precision
    >>> class_precision()["voc2007", "mean", "ilfs"]
    81.21
    """
    return {
        (row["dataset"], row["class"], method): float(row[method])
        for row in _read("table3")
        for method in METHODS_OF_THE_PAPER
    }


@cache
def precision() -> dict[tuple[str, str], float]:
    """Table 4: mean average precision in per cent by method and data set, or by method and ``"dna"`` or ``"other"``.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import precision
    >>> precision()["ilfs", "colon"]
    96.35
    """
    return {(row["method"], row["dataset"]): float(row["mean"]) for row in _read("table4")}


@cache
def deviation() -> dict[tuple[str, str], float]:
    """Table 4: standard deviations, as fractions, by method and data set."""
    return {(row["method"], row["dataset"]): float(row["deviation"]) for row in _read("table4") if row["deviation"]}


def paper_slips() -> list[str]:
    """Averages in the paper that differ from the mean of its own numbers, as sentences."""
    slips = []
    for (dataset, row, method), printed in class_precision().items():
        if row == "mean":
            values = [
                value for (d, c, m), value in class_precision().items() if (d, m) == (dataset, method) and c != row
            ]
            slips += _slip(f"Table 3, {dataset}, {method}", printed, values)
    for method in METHODS_OF_THE_PAPER:
        for group, sets in GROUPS.items():
            values = [precision()[method, name] for name in sets]
            slips += _slip(f"Table 4, {group}, {method}", precision()[method, group], values)
    return slips


def _slip(where: str, printed: float, values: list[float]) -> list[str]:
    mean = sum(values) / len(values)
    return (
        [f"{where}: {printed:.2f} printed, {mean:.2f} is the mean of its numbers"]
        if abs(mean - printed) > MAX_ROUNDING_ERROR
        else []
    )
