"""Checks and conversions of the values that tests read: arrays in which NaN is a job that failed."""

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.paired_tests import numbers, without_noise
from ilfs.parameters import check_integer


def mean_over_splits(values: ArrayLike) -> Floats:
    """Average over splits and sizes: one value for each method and data set.

    The mean is NaN if a split failed: a mean over fewer splits would not be comparable with the others.

    Parameters
    ----------
    values : array of shape (n_datasets, n_methods, ...)
        NaN is a job that failed.

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        Means; NaN where a job failed.

    Examples
    --------
    >>> from ilfs.benchmark.significance import mean_over_splits
    >>> mean_over_splits([[[0.5, 0.7], [0.9, float("nan")]]])
    array([[0.6, nan]])
    """
    measured = numbers("values", values)
    if measured.ndim < 3 or 0 in measured.shape:
        raise ValueError(f"values must have a shape (data sets, methods, splits, ...), got {measured.shape}")
    means: Floats = measured.mean(axis=tuple(range(2, measured.ndim)))
    return means


def nan_mean(values: Floats) -> Floats:
    """Mean over the last axis of the values that are not NaN; NaN where there is none."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=-1)
    count = there.sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def present(name: str, values: ArrayLike, least: int) -> Floats:
    """Values of one sample that are not missing, rounded; an error if there are too few."""
    sample = numbers(name, values, 1)
    sample = sample[~np.isnan(sample)]
    if sample.size < least:
        raise ValueError(f"{name} must hold at least {least} values that are not NaN, got {sample.size}")
    return without_noise(sample, float(np.abs(sample).max(initial=0)))


def results_on_splits(values: ArrayLike, reference: int) -> Floats:
    """Convert values to the shape (data sets, methods, splits, sizes); there may be one size."""
    measured = numbers("values", values)
    if measured.ndim not in (3, 4) or 0 in measured.shape:
        raise ValueError(f"values must have the shape (data sets, methods, splits[, sizes]), got {measured.shape}")
    check_reference(reference, measured.shape[1])
    return measured[..., None] if measured.ndim == 3 else measured


def check_reference(reference: int, n_methods: int) -> None:
    """Raise an error if the reference is not the index of a method."""
    check_integer("reference", reference, 0)
    if reference >= n_methods:
        raise ValueError(f"reference must be the index of one of {n_methods} methods, got {reference}")
