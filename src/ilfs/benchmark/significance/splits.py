"""Tests of two methods on splits of one data set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.benchmark.significance.values import results_on_splits
from ilfs.paired_tests import corrected_t_test, holm


@dataclass(frozen=True)
class DatasetComparison:
    """Comparison of a reference with every method on every data set, in arrays of shape (n_datasets, n_methods).

    NaN for the reference itself and where fewer than two splits are shared. ``adjusted`` are the p-values with Holm's
    correction over the whole table.
    """

    difference: Floats
    low: Floats
    high: Floats
    p_values: Floats
    adjusted: Floats


def compare_on_datasets(
    values: ArrayLike, reference: int = 0, *, n_train: ArrayLike, n_test: ArrayLike, confidence: float = 0.95
) -> DatasetComparison:
    """Compare a reference with every other method on every data set, by `corrected_t_test`.

    Parameters
    ----------
    values : array of shape (n_datasets, n_methods, n_splits) or (n_datasets, n_methods, n_splits, n_sizes)
        Larger is better. Sizes are averaged; a split without a value for some size counts as missing.
    reference : int, default=0
        Index of the method that is compared with the others.
    n_train, n_test : int or array of shape (n_datasets,)
        Rows for training and for testing.
    confidence : float, default=0.95
        Level of the intervals, which are not corrected for multiple comparisons.

    Returns
    -------
    DatasetComparison
        Reference minus method.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.significance import compare_on_datasets
    >>> values = np.random.default_rng(0).normal(size=(2, 3, 20)) + np.array([5.0, 5.0, 0.0])[:, None]
    >>> compare_on_datasets(values, n_train=40, n_test=20).adjusted.round(3)
    array([[  nan, 1.   , 0.001],
           [  nan, 1.   , 0.001]])
    """
    measured = results_on_splits(values, reference).mean(axis=3)
    n_datasets, n_methods, _ = measured.shape
    train, test = _one_per_dataset("n_train", n_train, n_datasets), _one_per_dataset("n_test", n_test, n_datasets)
    table = np.full((4, n_datasets, n_methods), np.nan)
    shared = ~np.isnan(measured) & ~np.isnan(measured[:, [reference]])
    for i, j in np.argwhere(shared.sum(axis=2) > 1):
        if j != reference:
            first, second = measured[i, reference], measured[i, j]
            found = corrected_t_test(first, second, n_train=train[i], n_test=test[i], confidence=confidence)
            table[:, i, j] = found.mean, found.low, found.high, found.p_value
    difference, low, high, p_values = table
    return DatasetComparison(difference, low, high, p_values, holm(p_values))


def _one_per_dataset(name: str, rows: ArrayLike, n_datasets: int) -> list[int]:
    counts = np.asarray(rows)
    if counts.shape not in ((), (n_datasets,)):
        raise ValueError(f"{name} must be one number or one per data set ({n_datasets}), got the shape {counts.shape}")
    return [int(count) for count in np.broadcast_to(counts, n_datasets)]
