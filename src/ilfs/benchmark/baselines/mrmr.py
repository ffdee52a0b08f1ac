"""Minimum redundancy, maximum relevance, by the package mrmr-selection."""

import warnings
from multiprocessing import parent_process
from threading import RLock
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from sklearn.feature_selection import f_classif

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.baselines.base import INSTALL_COMMAND, Baseline, points, standardised
from ilfs.parameters import check_choice, check_integer
from ilfs.statistics.labels import RowLabels


class MRMR(Baseline):
    """Minimum redundancy, maximum relevance, by the package `mrmr-selection`.

    Picks one feature at a time, the one with the largest F divided by the mean absolute correlation with the features
    picked before. A feature whose F is 0 is never picked. Needs the extra ``baselines``.

    The package keeps a matrix of n_candidates x n_candidates numbers: 1.8 GB for 15,000.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to pick and keep: a count, a fraction, or None for half of them.
    n_candidates : int or None, default=15000
        Number of features with the largest F that can be picked; None for all. The package itself has no such limit,
        but then needs too much memory for wide tables.
    statistics : {"table", "columns"}, default="table"
        How F and the correlations are computed. ``"columns"``: by the package, in a Python loop over the columns.
        ``"table"``: by functions of this library that are handed to the package, for all columns at once. The numbers
        are the same up to rounding, and it is several times faster.
    n_jobs : int, default=None
        Number of processes; used by ``"columns"`` only. None is 1 unless in a `joblib.parallel_config` context, -1 is
        all processors.

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

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_candidates: int | None = 15_000,
        statistics: Literal["table", "columns"] = "table",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_candidates = n_candidates
        self.statistics = statistics
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_candidates is not None:
            check_integer("n_candidates", self.n_candidates, 1)
        check_choice("statistics", self.statistics, ("table", "columns"))

    def _values(self, X: Any, labels: RowLabels) -> Floats:
        mrmr, pandas = import_mrmr()
        F = f_of_columns(X, labels.codes)
        candidates = np.sort(np.argsort(-F, kind="stable")[: self.n_candidates])
        frame = pandas.DataFrame(X[:, candidates].astype(np.float64))
        options: dict[str, Any] = {}
        if self.statistics == "table":
            options = {
                "relevance": lambda X, y: pandas.Series(F[candidates]),  # noqa: ARG005  mrmr passes X and y by name
                "redundancy": correlation_of(frame, pandas),
            }
        # F is infinite for a column that separates the classes perfectly.
        with np.errstate(divide="ignore", invalid="ignore"):
            picks = mrmr.mrmr_classif(
                frame,
                pandas.Series(labels.codes),
                min(self._n_wanted(X), candidates.size),
                n_jobs=effective_n_jobs(self.n_jobs),
                show_progress=False,
                **options,
            )
        return points(candidates[np.asarray(picks, dtype=int)], X.shape[1])


def import_mrmr() -> tuple[Any, Any]:
    """Import mrmr and pandas, and undo a side effect: importing mrmr turns all warnings off."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mrmr
            import pandas
            from tqdm import tqdm
    except ImportError:
        raise ImportError(f"MRMR needs the packages mrmr-selection and pandas: {INSTALL_COMMAND}") from None
    if parent_process() is not None:
        tqdm.set_lock(RLock())  # the default lock would be reported as leaked when a worker process is ended
    return mrmr, pandas


def f_of_columns(X: Any, codes: Integers) -> Floats:
    """F statistic of each column: infinite if it is constant within each class, 0 if it is constant over all rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        F: Floats = f_classif(X.astype(np.float64), codes)[0]
    return np.nan_to_num(F, nan=0.0, posinf=np.inf)


def correlation_of(frame: Any, pandas: Any) -> Any:
    """Make the function that mrmr calls for the correlations of one column with others."""
    Z = standardised(frame.to_numpy()) / np.sqrt(len(frame))

    def correlation(target_column: int, features: list[int], X: Any) -> Any:  # noqa: ARG001
        # Rounded, so that the correlation of duplicates is exactly 1: mrmr never picks a duplicate of a picked column.
        return pandas.Series((Z[:, target_column] @ Z[:, features]).round(12), index=features)

    return correlation
