"""Importance in extremely randomised trees, by scikit-learn."""

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from ilfs.arrays import Floats
from ilfs.benchmark.baselines.base import Baseline
from ilfs.parameters import check_integer
from ilfs.statistics.labels import RowLabels


class ExtraTrees(Baseline):
    """Importance in extremely randomised trees, by scikit-learn's `ExtraTreesClassifier`.

    The score of a feature is the decrease in impurity at its splits, averaged over the trees.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: a count, a fraction, or None for half of them.
    n_estimators : int, default=500
        Number of trees.
    random_state : int, default=0
        Seed of the trees.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Importances.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel, "Extremely Randomized Trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.baselines import ExtraTrees
    >>> wine = load_wine()
    >>> selector = ExtraTrees(n_features_to_select=3, n_estimators=100).fit(wine.data, wine.target)
    >>> sorted(selector.get_feature_names_out(wine.feature_names))
    ['alcohol', 'od280/od315_of_diluted_wines', 'proline']
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_estimators: int = 500,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("random_state", self.random_state, 0)

    def _values(self, X: Any, labels: RowLabels) -> Floats:
        trees = ExtraTreesClassifier(self.n_estimators, random_state=self.random_state, n_jobs=self.n_jobs)
        return np.asarray(trees.fit(X, labels.codes).feature_importances_)
