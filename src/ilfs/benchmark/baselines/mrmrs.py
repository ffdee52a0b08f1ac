"""Minimum redundancy, maximum relevance, by the package mrmrs."""

from typing import Any

import numpy as np

from ilfs.arrays import Floats
from ilfs.benchmark.baselines.base import INSTALL_COMMAND, Baseline, points
from ilfs.statistics.labels import RowLabels


class MRMR(Baseline):
    """Minimum redundancy, maximum relevance, by the package `mrmrs`.

    Picks one feature at a time, the one with the largest F divided by the mean absolute correlation with the features
    picked before. Constant features are never picked; they come last. Needs the extra ``baselines``.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to pick and keep: a count, a fraction, or None for half of them.
    n_jobs : int, default=None
        Not used: the package starts as many threads as the environment variable ``RAYON_NUM_THREADS`` says, by default
        one for each processor.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        n for the first of n picks, n - 1 for the second, down to 1; 0 for a feature that was not picked.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.

    References
    ----------
    .. [1] C. Ding, H. Peng, "Minimum Redundancy Feature Selection from Microarray Gene Expression Data", Journal of
       Bioinformatics and Computational Biology 3, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.baselines import MRMR
    >>> wine = load_wine()
    >>> selector = MRMR(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['flavanoids', 'color_intensity', 'proline']
    """

    _takes_sparse = False

    def __init__(self, n_features_to_select: int | float | None = None, *, n_jobs: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _values(self, X: Any, labels: RowLabels) -> Floats:
        mrmrs, polars = import_mrmrs()
        varying = np.flatnonzero((X[:1] != X).any(axis=0))
        if not varying.size:
            return np.zeros(X.shape[1])
        # Columns are named by their positions. mrmrs reads numbers of double precision.
        frame = polars.DataFrame({str(j): np.ascontiguousarray(X[:, j], dtype=np.float64) for j in varying.tolist()})
        classes = polars.Series("class", labels.codes.astype(np.int64))
        picks = mrmrs.mrmr(frame, classes, min(self._n_wanted(X), varying.size), "classification")
        return points([int(one.name) for one in picks], X.shape[1])


def import_mrmrs() -> tuple[Any, Any]:
    """Import mrmrs and polars."""
    try:
        import mrmrs
        import polars
    except ImportError:
        raise ImportError(f"MRMR needs the packages mrmrs and polars: {INSTALL_COMMAND}") from None
    return mrmrs, polars
