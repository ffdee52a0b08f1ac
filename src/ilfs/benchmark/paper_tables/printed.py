"""The numbers, marks and words of the paper's four tables."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

METHODS_OF_THE_PAPER = ("cfs", "fisher", "fsv", "llcfs", "ls", "mcfs", "mi", "relieff", "rfe", "udfs", "inf_fs", "ilfs")
MICROARRAYS = ("colon", "leukemia", "prostate", "lymphoma", "lung")
OTHER_DATASETS = ("gina", "dexter", "polarity")
GROUPS = {"dna": MICROARRAYS, "other": OTHER_DATASETS}  # groups of data sets that the paper averages over
VOC_DATASETS = ("voc2007", "voc2012")
PROPERTIES = ("few_train", "unbalanced", "overlap", "noise", "sparse")  # the challenges that Table 1 lists
MEAN = "mean"  # row of Table 3 with the means over the classes

Mark = Literal["", "bold", "star"]  # a starred number is bold, too


def read_table(name: str) -> list[dict[str, str]]:
    """Read a table of the paper, as words."""
    text = (files("ilfs.benchmark.paper_tables") / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@dataclass(frozen=True)
class PrintedDataset:
    """A row of Table 1, with the words that the paper prints.

    Parameters
    ----------
    title : str
        Name of the data set.
    samples, classes, features : str
        Their numbers, some of them rounded: ``"2K"``.
    few_train, unbalanced, overlap, noise, sparse : str
        ``"X"`` for a cross, empty for none, ``"n.s."`` for "not specified". For two classes, ``unbalanced`` has the
        sizes of the classes instead.
    """

    title: str
    samples: str
    classes: str
    features: str
    few_train: str
    unbalanced: str
    overlap: str
    noise: str
    sparse: str


@cache
def dataset_rows() -> dict[str, PrintedDataset]:
    """Table 1: the ten data sets and their properties, by name.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import dataset_rows
    >>> dataset_rows()["dexter"].sparse, dataset_rows()["lung"].unbalanced
    ('X', '31/150')
    """
    rows = [dict(row) for row in read_table("table1")]
    return {row.pop("dataset"): PrintedDataset(**row) for row in rows}


@dataclass(frozen=True)
class PrintedMethod:
    """A row of Table 2.

    Parameters
    ----------
    number : int
        The paper's ID of the method.
    title : str
        The paper's acronym.
    kind : {"f", "w", "e"}
        Filter, wrapper or embedded method.
    supervision : {"s", "u"}
        Supervised or unsupervised.
    complexity : str
        Time for T samples, n features, i iterations and C classes.
    seconds : float
        Seconds on 10,000 x 5,000 uniform numbers.
    """

    number: int
    title: str
    kind: str
    supervision: str
    complexity: str
    seconds: float


@cache
def method_rows() -> dict[str, PrintedMethod]:
    """Table 2: the twelve methods, by name.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import method_rows
    >>> method_rows()["rfe"].kind, method_rows()["rfe"].complexity
    ('w', 'O(T^2 n log2 n)')
    """
    return {
        row["method"]: PrintedMethod(
            number=int(row["id"]),
            title=row["title"],
            kind=row["type"],
            supervision=row["class"],
            complexity=row["complexity"],
            seconds=float(row["seconds"]),
        )
        for row in read_table("table2")
    }


@cache
def seconds() -> dict[str, float]:
    """Table 2: seconds of each method on 10,000 x 5,000 uniform numbers.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import seconds
    >>> seconds()["rfe"]
    91799.0
    """
    return {name: row.seconds for name, row in method_rows().items()}


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
        for row in read_table("table3")
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
    return {(row["method"], row["dataset"]): float(row["mean"]) for row in read_table("table4")}


@cache
def deviation() -> dict[tuple[str, str], float]:
    """Table 4: standard deviations, as fractions, by method and data set."""
    return {
        (row["method"], row["dataset"]): float(row["deviation"]) for row in read_table("table4") if row["deviation"]
    }


@cache
def marks() -> dict[tuple[str, str], Mark]:
    """Table 4: which numbers are bold or have an asterisk, by method and data set, ``"dna"`` or ``"other"``.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import marks
    >>> marks()["ilfs", "colon"], marks()["inf_fs", "colon"], marks()["mi", "lung"]
    ('star', 'bold', '')
    """
    known: dict[str, Mark] = {"": "", "bold": "bold", "star": "star"}
    return {(row["method"], row["dataset"]): known[row["mark"]] for row in read_table("table4")}


@cache
def bold_methods() -> dict[tuple[str, str], tuple[str, ...]]:
    """Table 3: methods whose number is bold, by data set and class; in the row of the means they have asterisks, too.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import bold_methods
    >>> bold_methods()["voc2007", "bird"], bold_methods()["voc2007", "mean"]
    (('ilfs',), ('fisher', 'mi', 'ilfs'))
    """
    return {(row["dataset"], row["class"]): tuple(row["bold"].split()) for row in read_table("table3")}


def n_tests() -> int:
    """Number of results in Tables 3 and 4 without their averages: the paper's "576 unique tests".

    The paper does not say how it counts. 12 methods x (2 x 20 classes + 8 data sets) is 576.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import n_tests
    >>> n_tests()
    576
    """
    of_classes = [key for key in class_precision() if key[1] != MEAN]
    of_datasets = [key for key in precision() if key[1] not in GROUPS]
    return len(of_classes) + len(of_datasets)
