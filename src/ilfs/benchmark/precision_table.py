"""The numbers of a table like the paper's Table 4, from results or from the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ilfs.arrays import Floats
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.store.results import Results

OTHERS = "more"  # group of the data sets that the paper does not have


@dataclass(frozen=True)
class PrecisionTable:
    """Average precision of methods on data sets, and its mean, minimum and maximum over groups of data sets.

    Attributes
    ----------
    methods : tuple of str
        Names, those of the paper first, in its order.
    datasets : tuple of str
        Names, group by group.
    groups : dict
        Data sets of each group: ``"dna"`` and ``"other"`` as in the paper, and ``"more"`` for those that it does not
        have. Only data sets that are present, and no empty group.
    mean : ndarray of shape (n_methods, n_datasets)
        Per cent; NaN where there is no result.
    deviation : ndarray of shape (n_methods, n_datasets)
        Standard deviation over all splits and sizes, as a fraction, as the paper prints it; NaN below two values.
    average : dict
        Averages over each group, arrays of shape (n_methods,). NaN for a method that lacks a data set of the group: its
        average would not be comparable.
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]
    mean: Floats
    deviation: Floats
    average: dict[str, Floats]

    def of_group(self, group: str) -> Floats:
        """Means of the data sets of a group, of shape (n_methods, n_members)."""
        return self.mean[:, [self.datasets.index(name) for name in self.groups[group]]]


def precision_table(results: Results, metric: str = "ap_macro") -> PrecisionTable:
    """Compute the numbers of the paper's Table 4 from results.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    metric : str
        Name of the metric.

    Returns
    -------
    PrecisionTable
        Means and deviations over all splits and numbers of features that have a value.
    """
    groups = groups_of(results.datasets)
    datasets = tuple(name for members in groups.values() for name in members)
    methods = paper_order(results.methods)
    values = results.values_or_own(metric)
    chosen = [[values[results.datasets.index(d), results.methods.index(m)].ravel() for d in datasets] for m in methods]
    there = [[one[~np.isnan(one)] for one in row] for row in chosen]
    mean = np.array([[100 * one.mean() if one.size else np.nan for one in row] for row in there])
    deviation = np.array([[one.std(ddof=1) if one.size > 1 else np.nan for one in row] for row in there])
    average = {
        group: mean[:, [datasets.index(name) for name in members]].mean(axis=1) for group, members in groups.items()
    }
    return PrecisionTable(methods, datasets, groups, mean, deviation, average)


def printed_table(methods: Sequence[str], datasets: Sequence[str]) -> PrecisionTable:
    """Take the rows and columns of the paper's Table 4 that are named.

    Parameters
    ----------
    methods, datasets : sequence of str
        Names; those that the paper does not have are left out.

    Returns
    -------
    PrecisionTable
        The printed numbers. The average of a group is the printed one if the group is complete.

    Examples
    --------
    >>> from ilfs.benchmark.precision_table import printed_table
    >>> table = printed_table(["ilfs", "fisher"], ["colon", "dexter", "iris"])
    >>> table.methods, table.groups
    (('fisher', 'ilfs'), {'dna': ('colon',), 'other': ('dexter',)})
    >>> table.mean
    array([[87.83, 95.65],
           [96.35, 97.81]])
    """
    groups = {group: members for group, members in groups_of(datasets).items() if group != OTHERS}
    columns = tuple(name for members in groups.values() for name in members)
    rows = tuple(name for name in paper.METHODS_OF_THE_PAPER if name in methods)
    mean, deviation = (
        np.array([[values()[m, d] for d in columns] for m in rows]).reshape(len(rows), len(columns))
        for values in (paper.precision, paper.deviation)
    )
    average = {
        group: np.array([paper.precision()[m, group] for m in rows])
        if members == paper.GROUPS[group]
        else mean[:, [columns.index(name) for name in members]].mean(axis=1)
        for group, members in groups.items()
    }
    return PrecisionTable(rows, columns, groups, mean, deviation, average)


def groups_of(datasets: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Sort data sets into the groups of the paper and those that it does not have, without empty groups."""
    known = {name for members in paper.GROUPS.values() for name in members}
    groups = {group: tuple(name for name in members if name in datasets) for group, members in paper.GROUPS.items()}
    groups[OTHERS] = tuple(name for name in datasets if name not in known)
    return {group: members for group, members in groups.items() if members}


def paper_order(methods: Sequence[str]) -> tuple[str, ...]:
    """Sort methods: those of the paper in its order, then the others as they are."""
    of_paper = paper.METHODS_OF_THE_PAPER
    return tuple(sorted(methods, key=lambda name: of_paper.index(name) if name in of_paper else len(of_paper)))
