"""The tables that the paper prints, as data, with its rules for marks and its slips.

Table 1 has the data sets and their properties, Table 2 the methods with their complexity and seconds, Table 3 the
average precision of each VOC class with half of the features, Table 4 the mean average precision over 20 splits and
five numbers of features. Table 3 shows the classes as pictures; we assume that they are in the order in which VOC lists
them. Numbers are those that the paper prints: `paper_slips` lists those that contradict others.
"""

from ilfs.benchmark.paper_tables.marking import BOLD_WITHIN, N_STARS, PRINTED_DECIMALS, best_of, marks_on_dataset
from ilfs.benchmark.paper_tables.printed import (
    GROUPS,
    METHODS_OF_THE_PAPER,
    MICROARRAYS,
    OTHER_DATASETS,
    PROPERTIES,
    VOC_DATASETS,
    Mark,
    PrintedDataset,
    PrintedMethod,
    bold_methods,
    class_precision,
    dataset_rows,
    deviation,
    marks,
    method_rows,
    n_tests,
    precision,
    seconds,
)
from ilfs.benchmark.paper_tables.slips import paper_slips

__all__ = [
    "BOLD_WITHIN",
    "GROUPS",
    "METHODS_OF_THE_PAPER",
    "MICROARRAYS",
    "N_STARS",
    "OTHER_DATASETS",
    "PRINTED_DECIMALS",
    "PROPERTIES",
    "VOC_DATASETS",
    "Mark",
    "PrintedDataset",
    "PrintedMethod",
    "best_of",
    "bold_methods",
    "class_precision",
    "dataset_rows",
    "deviation",
    "marks",
    "marks_on_dataset",
    "method_rows",
    "n_tests",
    "paper_slips",
    "precision",
    "seconds",
]
