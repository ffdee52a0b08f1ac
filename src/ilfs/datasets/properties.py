r"""Properties of a data set that make feature selection hard, as in the paper's Table 1, measured by stated rules.

The paper marks its data sets with crosses and gives no rule. These are ours:

- *few train*: at most `FEW_SAMPLES` samples, and fewer samples than features.
- *unbalanced*: the largest class has at least `UNBALANCED_RATIO` times as many samples as the smallest. If a sample may
  have several labels, the samples that have a label are its class.
- *overlap*: the nearest other sample belongs to another class for more than `OVERLAP_FRACTION` of the samples of a
  class, on average over the classes. Features are standardised, unless the data are sparse.
- *noise*: the median kurtosis of the features is above `NOISE_KURTOSIS`. Outliers raise the kurtosis
  :math:`E (x - \mu)^4 / \sigma^4`, which is 3 for a normal distribution. In sparse data it would measure the zeros
  instead of outliers, so it is left out there.
- *sparse*: more than `SPARSE_FRACTION` of the values are 0.

Overlap and noise are measured on a random sample of at most `MAX_ROWS` rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.datasets.dataset import Dataset
from ilfs.neighbours import nearest_neighbours

FEW_SAMPLES = 200
UNBALANCED_RATIO = 2.0
OVERLAP_FRACTION = 0.1
NOISE_KURTOSIS = 4.0
SPARSE_FRACTION = 0.9
MAX_ROWS = 2000  # rows for neighbours and kurtosis
BLOCK_COLUMNS = 1024  # columns whose kurtosis is computed at once


@dataclass(frozen=True)
class DatasetProperties:
    """Sizes of a data set and the properties of the paper's Table 1.

    Parameters
    ----------
    n_samples, n_classes, n_features : int
        Numbers of rows, of classes or labels, and of columns.
    class_ratio : float
        Samples of the largest class divided by those of the smallest.
    overlap_fraction : float
        Fraction of the samples of a class whose nearest other sample is not of that class, mean over the classes; NaN
        if there is only one sample.
    kurtosis : float
        Median kurtosis of the features that vary; NaN if the data are sparse or no feature varies.
    zero_fraction : float
        Fraction of the values that are 0.
    """

    n_samples: int
    n_classes: int
    n_features: int
    class_ratio: float
    overlap_fraction: float
    kurtosis: float
    zero_fraction: float

    @property
    def few_train(self) -> bool:
        """Few samples, and fewer than features."""
        return self.n_samples <= FEW_SAMPLES and self.n_samples < self.n_features

    @property
    def unbalanced(self) -> bool:
        """The largest class is much larger than the smallest."""
        return self.class_ratio >= UNBALANCED_RATIO

    @property
    def overlap(self) -> bool:
        """Nearest neighbours are often of another class."""
        return self.overlap_fraction > OVERLAP_FRACTION

    @property
    def noise(self) -> bool:
        """Features have more outliers than a normal distribution."""
        return self.kurtosis > NOISE_KURTOSIS

    @property
    def sparse(self) -> bool:
        """Most values are 0."""
        return self.zero_fraction > SPARSE_FRACTION


def measure_properties(table: Dataset, *, seed: int = 0) -> DatasetProperties:
    """Measure the properties of a data set.

    Parameters
    ----------
    table : Dataset
        The data set.
    seed : int, default=0
        Seed of the sample of rows, if there are more than 2000.

    Returns
    -------
    DatasetProperties
        Measured values; the rules are its properties ``few_train``, ``unbalanced``, ``overlap``, ``noise`` and
        ``sparse``.

    Examples
    --------
    >>> from ilfs.datasets import load, measure_properties
    >>> found = measure_properties(load("synthetic_unbalanced"))
    >>> found.class_ratio, found.unbalanced, found.sparse
    (9.0, True, False)
    """
    zeros = zero_fraction(table.X)
    rows = sampled_rows(table.n_samples, seed)
    X, y = table.X[rows], table.y[rows]
    is_sparse = zeros > SPARSE_FRACTION
    return DatasetProperties(
        n_samples=table.n_samples,
        n_classes=table.n_classes,
        n_features=table.n_features,
        class_ratio=max(table.class_sizes) / min(table.class_sizes) if min(table.class_sizes) else float("inf"),
        overlap_fraction=class_overlap(X if is_sparse else standardised(dense(X)), y),
        kurtosis=float("nan") if is_sparse else median_kurtosis(dense(X)),
        zero_fraction=zeros,
    )


def sampled_rows(n_samples: int, seed: int) -> Integers:
    """Choose at most `MAX_ROWS` rows at random, in ascending order."""
    return np.sort(np.random.default_rng(seed).permutation(n_samples)[:MAX_ROWS])


def zero_fraction(X: Any) -> float:
    """Fraction of the values that are 0."""
    n_nonzero = int(np.count_nonzero(X.data if sparse.issparse(X) else X))
    return 1 - n_nonzero / int(X.shape[0] * X.shape[1])


def dense(X: Any) -> Floats:
    """Dense float64 copy, with missing values kept."""
    return np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def standardised(X: Floats) -> Floats:
    """Features of mean 0 and deviation 1, with missing values at the mean; features that do not vary are 0."""
    there = ~np.isnan(X)
    count = np.maximum(there.sum(axis=0), 1)
    Z = np.where(there, X - np.where(there, X, 0.0).sum(axis=0) / count, 0.0)
    scale = np.sqrt((Z**2).sum(axis=0) / count)
    return Z / np.where(scale > 0, scale, 1.0)


def class_overlap(X: Any, y: Integers) -> float:
    """Fraction of the samples of a class whose nearest other sample is not of that class, mean over the classes.

    Neighbours at the same distance count in equal parts. A label to ignore (-1) counts as present at a neighbour.
    """
    if X.shape[0] < 2:
        return float("nan")
    if sparse.issparse(X) and np.isnan(X.data).any():
        X = sparse.csr_array((np.nan_to_num(X.data), X.indices, X.indptr), shape=X.shape)
    found = nearest_neighbours(X, 1)
    labels = y if y.ndim == 2 else (y[:, None] == np.arange(y.max() + 1)).astype(int)
    members, other = labels[found.first] == 1, labels[found.indices] == 0
    weights = found.places[:, None]
    n_members = (weights * members).sum(axis=0)
    n_other = (weights * (members & other)).sum(axis=0)
    return float(np.mean(n_other[n_members > 0] / n_members[n_members > 0]))


def median_kurtosis(X: Floats) -> float:
    """Median over the features that vary of the fourth central moment divided by the squared variance."""
    found = [kurtosis_of(X[:, start : start + BLOCK_COLUMNS]) for start in range(0, X.shape[1], BLOCK_COLUMNS)]
    values = np.concatenate(found) if found else np.array([])
    return float(np.median(values)) if values.size else float("nan")


def kurtosis_of(X: Floats) -> Floats:
    """Kurtosis of each column that varies; missing values are left out."""
    there = ~np.isnan(X)
    count = np.maximum(there.sum(axis=0), 1)
    Z = np.where(there, X - np.where(there, X, 0.0).sum(axis=0) / count, 0.0)
    variance = (Z**2).sum(axis=0) / count
    varies = variance > 0
    fourth = (Z[:, varies] ** 4).sum(axis=0) / count[varies]
    return np.asarray(fourth / variance[varies] ** 2)
