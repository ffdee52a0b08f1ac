"""Greedy canonical correlation, by the package fastcan."""

import re
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from ilfs.arrays import Floats
from ilfs.benchmark.baselines.base import INSTALL_COMMAND, Baseline, points
from ilfs.parameters import check_positive
from ilfs.statistics.labels import RowLabels


class FastCan(Baseline):
    """Greedy canonical correlation, by the package `fastcan`.

    Picks one feature at a time, the one that raises the sum of squared canonical correlations of the picked features
    with the classes the most. The classes are given as an indicator matrix, as the documentation of the package advises
    for more than two of them. The first pick is the feature with the largest F statistic.

    Its picks are linearly independent, so there are fewer of them than samples; the other features follow by Fisher
    score. Needs the extra ``baselines``.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to pick and keep: a count, a fraction, or None for half of them.
    tol : float, default=0.01
        Tolerance of the check for linear dependence. Candidates are orthogonalised against the picked features; one
        whose cosine with a picked direction is still above this value counts as linearly dependent.
    n_jobs : int, default=None
        Number of threads. None is 1 unless in a `joblib.parallel_config` context, -1 is all processors.

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
    .. [1] S. Zhang, Z. Q. Lang, "Orthogonal Least Squares Based Fast Feature Selection for Linear Classification",
       Pattern Recognition 123, 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.baselines import FastCan
    >>> wine = load_wine()
    >>> selector = FastCan(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['flavanoids', 'alcohol', 'color_intensity']
    """

    _takes_sparse = False

    def __init__(
        self, n_features_to_select: int | float | None = None, *, tol: float = 0.01, n_jobs: int | None = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("tol", self.tol)

    def _values(self, X: Any, labels: RowLabels) -> Floats:
        try:
            from fastcan import FastCan as Packaged
        except ImportError:
            raise ImportError(f"FastCan needs the package fastcan: {INSTALL_COMMAND}") from None
        indicators = np.eye(labels.n_classes)[labels.codes]
        n_picks = min(self._n_wanted(X), X.shape[0] - 1)
        with threadpool_limits(effective_n_jobs(self.n_jobs), user_api="openmp"):
            while n_picks:
                try:
                    picks = Packaged(n_picks, tol=self.tol, verbose=0).fit(X, indicators).indices_
                except RuntimeError as error:
                    n_picks = n_reached(str(error), n_picks)
                else:
                    return points(picks, X.shape[1])
        return np.zeros(X.shape[1])


def n_reached(message: str, n_picks: int) -> int:
    """Read the number of features that fastcan could pick from its error message, which does not list them."""
    return next((int(n) for n in re.findall(r"\d+", message) if int(n) < n_picks), n_picks - 1)
