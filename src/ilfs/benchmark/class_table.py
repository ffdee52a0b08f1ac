"""The numbers of a table like the paper's Table 3: average precision of each class against the rest."""

from dataclasses import dataclass

import numpy as np

from ilfs.arrays import Floats
from ilfs.benchmark.store.results import Results

VOC_METRICS = {"voc2007": "ap_2007", "voc2012": "ap_2012"}  # each by the definition of its year


@dataclass(frozen=True)
class ClassTable:
    """Average precision of methods on the classes of a data set.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    classes : tuple of str
        Names of the classes that have results.
    values : ndarray of shape (n_classes, n_methods)
        Per cent, mean over the splits, methods in the order of the suite; NaN where there is no result.
    """

    dataset: str
    classes: tuple[str, ...]
    values: Floats


def class_table(results: Results, dataset: str, size: int | None = None) -> ClassTable:
    """Compute the numbers of the paper's Table 3 for a data set.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"classes"``.
    dataset : str
        Name of the data set.
    size : int, optional
        Number of features; the largest that was evaluated by default.

    Returns
    -------
    ClassTable
        Means over the splits, by VOC's definition of the year for VOC 2007 and 2012.
    """
    d, metric = results.datasets.index(dataset), VOC_METRICS.get(dataset, "ap")
    by_method = [class_means(results, d, m, metric, size) for m in range(len(results.methods))]
    classes = sorted(set().union(*by_method))
    values = np.array([[100 * one.get(k, np.nan) for one in by_method] for k in classes])
    names = tuple(results.facts[dataset].class_names[k] for k in classes)
    return ClassTable(dataset, names, values.reshape(len(classes), len(by_method)))


def class_means(results: Results, d: int, m: int, metric: str, size: int | None = None) -> dict[int, float]:
    """Average precision of each class with ``size`` features (by default the most), mean over the splits."""
    found: dict[int, list[float]] = {}
    for row in results.rows[d, m]:
        if row is not None and row.is_done:
            for k, value in results.of_classes(row, metric, size).items():
                found.setdefault(k, []).append(value)
    return {k: float(np.mean(values)) for k, values in found.items()}
