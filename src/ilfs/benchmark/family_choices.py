"""Stability of the families of features that methods choose, over the splits of a benchmark."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.store.results import Results
from ilfs.datasets import load
from ilfs.execution import fold_of, run_plan
from ilfs.selection.resampling import plan_families
from ilfs.sources import table_source
from ilfs.stability_indices import family_stability
from ilfs.statistics import Moments

MAX_CHANCE = 0.9  # if a random choice has more of the families, the corrected index is a quotient of small numbers
FAMILY_CORRELATION = 0.7  # least absolute correlation of two features of a family, as in `ilfs.selection.stability`


def family_choice_stability(results: Results, size: int) -> Floats:
    """Measure how much the families of the best features agree between splits.

    A feature that another split replaces by one with an absolute correlation of at least 0.7 counts as chosen again
    (`ilfs.stability_indices.family_stability`). Correlations are those of all rows.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``. Its data sets are loaded.
    size : int
        Number of the best features.

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        1 for always the same families, 0 for a random choice; NaN where there are fewer than two splits or no choice,
        and where nine of ten features are in a family of a random choice.
    """
    return np.array([_on_dataset(results, name, size) for name in results.datasets])


def _on_dataset(results: Results, dataset: str, size: int) -> list[float]:
    orders = {method: results.orders(dataset, method) for method in results.methods}
    comparable = {method: [one[:size] for one in found] for method, found in orders.items() if len(found) > 1}
    n_features = results.facts[dataset].n_features
    if not comparable or size >= n_features:
        return [float("nan")] * len(results.methods)
    columns = np.unique([column for found in comparable.values() for one in found for column in one])
    related, n_related = families_of(load(dataset, voc=results.suite.voc).X, columns)
    found = {
        method: stability_of_families(subsets, n_features, columns, related, n_related)
        for method, subsets in comparable.items()
    }
    return [found.get(method, float("nan")) for method in results.methods]


def families_of(X: Any, columns: Integers) -> tuple[NDArray[np.bool_], Floats]:
    """Pairs of some columns of a table that are correlated, and the number of columns correlated with each."""
    fold = fold_of(table_source(X))
    return run_plan(plan_families(fold(Moments(), labelling=None), columns, FAMILY_CORRELATION), fold)


def stability_of_families(
    subsets: list[list[int]], n_features: int, columns: Integers, related: NDArray[np.bool_], n_related: Floats
) -> float:
    """Stability of subsets of one method, given the relations of the columns that any method chose."""
    own = np.unique(subsets)
    places = np.searchsorted(columns, own)
    found = family_stability(subsets, n_features, own, related[np.ix_(places, places)], n_related[places])
    return found.value if found.by_chance <= MAX_CHANCE else float("nan")
