"""Synthetic data whose informative features are known, to measure how many of them a ranking finds.

An informative column is normal with standard deviation 1 around the mean of the sample's class; the class means are
equally far apart, in an order that is random for every column. A redundant column is a noisy copy of an informative
one: given the original, it carries no further information about the class. All other columns are noise. Columns and
rows are shuffled.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.truth import Truth
from ilfs.parameters import check_integer, check_positive, check_within

NOISE_BLOCK_COLUMNS = 256  # columns per block of random numbers; changing it changes the data that belong to a seed


def make_truth(
    n_samples: int,
    n_features: int,
    n_informative: int,
    n_redundant: int = 0,
    *,
    n_classes: int = 2,
    class_fractions: Sequence[float] | None = None,
    sparsity: float = 0.0,
    separation: float = 1.0,
    correlation: float = 0.9,
    missing: float = 0.0,
    random_state: int | Generator = 0,
    name: str = "synthetic",
) -> Truth:
    """Make a synthetic data set whose informative features are known.

    Parameters
    ----------
    n_samples, n_features : int
        Number of rows and columns.
    n_informative : int
        Number of informative columns.
    n_redundant : int, default=0
        Number of columns that repeat an informative one. All other columns are noise.
    n_classes : int, default=2
        Number of classes.
    class_fractions : sequence of float, optional
        Fraction of the samples in each class, with the sum 1; equal by default.
    sparsity : float, default=0.0
        Fraction of the values that are zero, chosen at random. If it is not 0, the features are a sparse matrix.
    separation : float, default=1.0
        Distance of neighbouring class means, in standard deviations within a class.
    correlation : float, default=0.9
        Correlation of a redundant column with the one that it repeats, before values are made zero or missing.
    missing : float, default=0.0
        Fraction of the values that are NaN, chosen at random.
    random_state : int or Generator, default=0
        The seed.
    name : str, default="synthetic"
        Name of the data set.

    Returns
    -------
    Truth
        The data set and the nature of its columns.

    Examples
    --------
    >>> from ilfs import FisherScore
    >>> from ilfs.datasets import make_truth, recovery
    >>> truth = make_truth(200, 50, n_informative=5, n_redundant=10)
    >>> truth.table
    <Dataset synthetic: 200 samples x 50 features; classes class_0 100, class_1 100>
    >>> selector = FisherScore().fit(truth.table.X, truth.table.y)
    >>> recovery(selector.order_, truth, k=15)
    1.0
    """
    _check(n_samples, n_features, n_informative, n_redundant, n_classes)
    _check_fractions(sparsity, missing, separation, correlation)
    rng = np.random.default_rng(random_state)
    sizes = _class_sizes(n_samples, n_classes, class_fractions)
    y = rng.permutation(np.repeat(np.arange(n_classes), sizes))
    # Final position of each column; before, informative ones come first, then copies, then noise.
    position = rng.permutation(n_features)
    signal = _informative(y, n_classes, n_informative, separation, rng)
    origin = rng.permutation(np.arange(n_redundant) % max(n_informative, 1))
    blocks = _blocks(signal, origin, n_samples, n_features, correlation, rng)
    X = _gathered(blocks, sparsity, missing, rng)[:, np.argsort(position)]
    names = np.empty(n_features, dtype=object)
    names[position] = _names(n_features, n_informative, origin)
    classes = tuple(f"class_{k}" for k in range(n_classes))
    return _truth(Dataset(name, X, y, classes, tuple(names)), position, n_informative, origin)


#: Parameters of the registered synthetic data sets. Good methods find most of the informative columns, but not all.
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        name: {"n_samples": n_samples, "n_features": n_features, "n_informative": n_informative, **options}
        for name, n_samples, n_features, n_informative, options in (
            ("synthetic_redundant", 200, 500, 10, {"n_redundant": 90}),
            ("synthetic_sparse", 400, 2000, 20, {"sparsity": 0.9, "separation": 1.5}),
            ("synthetic_unbalanced", 300, 300, 10, {"class_fractions": (0.9, 0.1), "separation": 0.8}),
            ("synthetic_many_classes", 400, 300, 15, {"n_classes": 10, "separation": 0.1}),
            ("synthetic_missing", 200, 300, 10, {"missing": 0.1, "separation": 0.5}),
            ("synthetic_noise", 200, 300, 0, {}),
        )
    }
)


def _check(n_samples: int, n_features: int, n_informative: int, n_redundant: int, n_classes: int) -> None:
    check_integer("n_classes", n_classes, 2)
    check_integer("n_samples", n_samples, n_classes)
    check_integer("n_features", n_features, 1)
    check_integer("n_informative", n_informative, 0)
    check_integer("n_redundant", n_redundant, 0)
    if n_redundant and not n_informative:
        raise ValueError(f"n_redundant must be 0 without informative columns to repeat, got {n_redundant}")
    if n_informative + n_redundant > n_features:
        together = f"{n_informative} + {n_redundant}"
        raise ValueError(f"n_informative + n_redundant must be at most n_features = {n_features}, got {together}")


def _check_fractions(sparsity: float, missing: float, separation: float, correlation: float) -> None:
    check_within("sparsity", sparsity, 0, 1)
    check_within("missing", missing, 0, 1)
    check_positive("separation", separation)
    check_within("correlation", correlation, 0, 1)
    if sparsity and missing:
        raise ValueError(f"missing must be 0 if sparsity is not, got {missing}")


def _class_sizes(n_samples: int, n_classes: int, given: Sequence[float] | None) -> Integers:
    """Convert fractions to numbers of samples: round down, then give the rest to the largest remainders."""
    fractions = np.full(n_classes, 1 / n_classes) if given is None else np.asarray(given, dtype=np.float64)
    if fractions.shape != (n_classes,) or not (fractions > 0).all() or not np.isclose(fractions.sum(), 1):
        raise ValueError(f"class_fractions must be {n_classes} positive numbers that sum to 1, got {given}")
    exact = np.round(fractions / fractions.sum() * n_samples, 9)  # 0.1 * 30 is 3, not 3 minus a rounding error
    sizes: Integers = np.floor(exact).astype(np.int64)
    largest = np.argsort(sizes - exact, kind="stable")[: n_samples - sizes.sum()]
    sizes[largest] += 1
    if not sizes.all():
        raise ValueError(f"class_fractions must give every class at least one of {n_samples} samples, got {given}")
    return sizes


def _informative(y: Integers, n_classes: int, n_informative: int, separation: float, rng: Generator) -> Floats:
    ranks = rng.permuted(np.tile(np.arange(n_classes), (n_informative, 1)), axis=1)
    # Equidistant class means around 0, in a random order for every column.
    means = separation * (ranks.T - (n_classes - 1) / 2)
    return np.asarray(means[y] + rng.normal(size=(len(y), n_informative)))


def _blocks(
    signal: Floats, origin: Integers, n_samples: int, n_features: int, correlation: float, rng: Generator
) -> Iterator[Floats]:
    """Yield blocks of columns (informative, copies, noise), so that wide sparse data are never dense as a whole."""
    yield signal
    if len(origin):
        standardised = (signal - signal.mean(axis=0)) / signal.std(axis=0)
        noise = rng.normal(size=(n_samples, len(origin)))
        # The sum of two independent variables with variance 1 that has variance 1 and this correlation with the first.
        yield correlation * standardised[:, origin] + np.sqrt(1 - correlation**2) * noise
    for start in range(signal.shape[1] + len(origin), n_features, NOISE_BLOCK_COLUMNS):
        yield rng.normal(size=(n_samples, min(NOISE_BLOCK_COLUMNS, n_features - start)))


def _gathered(blocks: Iterator[Floats], sparsity: float, missing: float, rng: Generator) -> Any:
    if sparsity:
        return sparse.hstack([sparse.csc_array(_with_replaced(X, sparsity, 0.0, rng)) for X in blocks], format="csr")
    return np.hstack([_with_replaced(X, missing, np.nan, rng) if missing else X for X in blocks])


def _with_replaced(X: Floats, fraction: float, value: float, rng: Generator) -> Floats:
    """Replace a random fraction of the values."""
    return np.where(rng.random(X.shape) < fraction, value, X)


def _names(n_features: int, n_informative: int, origin: Integers) -> list[str]:
    n_noise = n_features - n_informative - len(origin)
    copies = [f"copy_{i}_of_informative_{j}" for i, j in enumerate(origin)]
    return [*(f"informative_{j}" for j in range(n_informative)), *copies, *(f"noise_{j}" for j in range(n_noise))]


def _truth(table: Dataset, position: Integers, n_informative: int, origin: Integers) -> Truth:
    """Describe the columns at their final positions."""
    originals, copies = position[:n_informative], position[n_informative : n_informative + len(origin)]
    informative, redundant = np.zeros((2, table.n_features), dtype=bool)
    repeats = np.full(table.n_features, -1)
    informative[originals] = redundant[copies] = True
    repeats[copies] = originals[origin]
    return Truth(table, informative, redundant, repeats)
