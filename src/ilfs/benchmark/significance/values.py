"""The results that tests read: arrays in which NaN is a job that failed."""

from math import ceil, log10

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.parameters import check_integer

SIGNIFICANT_DIGITS = 12  # of the largest value; what differs less differs by rounding only and ties
MAX_DECIMALS = 300  # that numpy can round to


def mean_over_splits(values: ArrayLike) -> Floats:
    """One number for a method on a data set: the mean over splits and sizes.

    A method of which one split failed has no mean there: over fewer splits than the others it would not be comparable.

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
    """Values as an array of floats; NaN means missing, infinity is refused."""
    array = np.asarray(values, dtype=np.float64)
    if n_dimensions is not None and array.ndim != n_dimensions:
        plural = "s" if n_dimensions > 1 else ""
        raise ValueError(f"{name} must have {n_dimensions} dimension{plural}, got an array of shape {array.shape}")
    if np.isinf(array).any():
        raise ValueError(f"{name} must be finite or NaN (missing), got an infinite value")
    return array


def present(name: str, values: ArrayLike, least: int) -> Floats:
    """The values of one sample that are not missing, at least so many, without noise."""
    sample = numbers(name, values, 1)
    sample = sample[~np.isnan(sample)]
    if sample.size < least:
        raise ValueError(f"{name} must hold at least {least} values that are not NaN, got {sample.size}")
    return without_noise(sample, float(np.abs(sample).max(initial=0)))


def paired_differences(first: ArrayLike, second: ArrayLike, least: int) -> Floats:
    """First minus second; a pair of which either is missing is left out."""
    a, b = numbers("first", first, 1), numbers("second", second, 1)
    if a.size != b.size:
        raise ValueError(f"first and second must be paired, got {a.size} and {b.size} values")
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < least:
        raise ValueError(f"first and second must have {least} pairs or more without NaN, got {both.sum()}")
    return without_noise(a[both] - b[both], float(np.abs([a[both], b[both]]).max(initial=0)))


def without_noise(values: Floats, largest: float) -> Floats:
    """Rounded to some digits of the largest number that went into them, so that equal results of sums are equal."""
    if largest == 0:
        return values
    return np.round(values, min(SIGNIFICANT_DIGITS - ceil(log10(largest)), MAX_DECIMALS))


def results_on_splits(values: ArrayLike, reference: int) -> Floats:
    """Values as (data sets, methods, splits, sizes), of which there may be one."""
    measured = numbers("values", values)
    if measured.ndim not in (3, 4) or 0 in measured.shape:
        raise ValueError(f"values must have the shape (data sets, methods, splits[, sizes]), got {measured.shape}")
    check_reference(reference, measured.shape[1])
    return measured[..., None] if measured.ndim == 3 else measured


def check_reference(reference: int, n_methods: int) -> None:
    """Refuse what is not the index of a method."""
    check_integer("reference", reference, 0)
    if reference >= n_methods:
        raise ValueError(f"reference must be the index of one of {n_methods} methods, got {reference}")
