"""Checks and conversions of the values that tests read: arrays in which NaN is a job that failed."""

from math import ceil, log10

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.parameters import check_integer

SIGNIFICANT_DIGITS = 12  # relative to the largest value; smaller differences are rounding errors
MAX_DECIMALS = 300  # numpy cannot round to more decimals


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


def numbers(name: str, values: ArrayLike, n_dimensions: int | None = None) -> Floats:
    """Convert values to an array of floats; NaN is a missing value, infinity is an error."""
    array = np.asarray(values, dtype=np.float64)
    if n_dimensions is not None and array.ndim != n_dimensions:
        plural = "s" if n_dimensions > 1 else ""
        raise ValueError(f"{name} must have {n_dimensions} dimension{plural}, got an array of shape {array.shape}")
    if np.isinf(array).any():
        raise ValueError(f"{name} must be finite or NaN (missing), got an infinite value")
    return array


def present(name: str, values: ArrayLike, least: int) -> Floats:
    """Values of one sample that are not missing, rounded; an error if there are too few."""
    sample = numbers(name, values, 1)
    sample = sample[~np.isnan(sample)]
    if sample.size < least:
        raise ValueError(f"{name} must hold at least {least} values that are not NaN, got {sample.size}")
    return without_noise(sample, float(np.abs(sample).max(initial=0)))


def paired_differences(first: ArrayLike, second: ArrayLike, least: int) -> Floats:
    """Differences of pairs, rounded; a pair with a missing value is left out."""
    a, b = numbers("first", first, 1), numbers("second", second, 1)
    if a.size != b.size:
        raise ValueError(f"first and second must be paired, got {a.size} and {b.size} values")
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < least:
        raise ValueError(f"first and second must have {least} pairs or more without NaN, got {both.sum()}")
    return without_noise(a[both] - b[both], float(np.abs([a[both], b[both]]).max(initial=0)))


def without_noise(values: Floats, largest: float) -> Floats:
    """Round to 12 digits of the largest input, so that values that differ by rounding errors only are equal."""
    if largest == 0:
        return values
    return np.round(values, min(SIGNIFICANT_DIGITS - ceil(log10(largest)), MAX_DECIMALS))


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
