"""The order in which features enter L1 logistic regression, by scikit-learn."""

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ilfs.arrays import Floats
from ilfs.benchmark.baselines.base import Baseline, points, standardised
from ilfs.parameters import check_integer, check_positive
from ilfs.statistics.labels import RowLabels

INTERCEPT_SCALING = 10.0  # liblinear penalises the intercept like a coefficient: this makes the penalty small
MAX_LIBLINEAR_ITERATIONS = 100  # few are enough to see which features enter
MIN_CORRELATION = 1e-8  # a column whose correlation with the classes is smaller counts as uncorrelated


class L1Path(Baseline):
    """The order in which features enter logistic regression with an L1 penalty, by scikit-learn (liblinear).

    Columns are standardised; sparse ones are only scaled. Of three or more classes each is fitted against the rest.
    C grows step by step from the value at which the first coefficient leaves zero, until as many features as wanted
    have had one that is not zero, or the steps are over. Features come in the order of the step at which they enter;
    those of the same step by the norm of their coefficients there.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep, and to wait for: a number, a fraction of them, or half.
    n_steps : int, default=30
        How many values of C, at most.
    span : float, default=1000
        The last of them as multiple of the first.
    tol : float, default=1e-4
        As of `sklearn.linear_model.LogisticRegression`.
    n_jobs : int, default=None
        Number of processes, one a class; the result does not depend on it. None is 1 unless in a
        `joblib.parallel_config` context, -1 is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many features entered from this one on; 0 for one that did not.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.baselines import L1Path
    >>> wine = load_wine()
    >>> selector = L1Path(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['proline', 'od280/od315_of_diluted_wines', 'alcohol']
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_steps: int = 30,
        span: float = 1000.0,
        tol: float = 1e-4,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_steps = n_steps
        self.span = span
        self.tol = tol
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_steps", self.n_steps, 1)
        check_positive("span", self.span)
        check_positive("tol", self.tol)

    def _values(self, X: Any, labels: RowLabels) -> Floats:
        Z, signs = standardised(X), labels.one_against_rest()
        start = start_of_path(Z, signs)
        picks: list[int] = []
        for C in start * np.geomspace(1, self.span, self.n_steps) if start else ():
            size = np.linalg.norm(self._coefficients(Z, signs, C), axis=0)
            size[picks] = 0.0
            picks += [int(j) for j in np.argsort(-size, kind="stable") if size[j]]
            if len(picks) >= self._n_wanted(X):
                break
        return points(picks, X.shape[1])

    def _coefficients(self, Z: Any, signs: Floats, C: float) -> Floats:
        """Coefficients of every column, for each class against the rest."""
        return np.stack(Parallel(n_jobs=self.n_jobs)(delayed(l1_coefficients)(Z, one, C, self.tol) for one in signs))


def start_of_path(Z: Any, signs: Floats) -> float:
    """Smallest C at which a coefficient leaves zero while the intercepts are zero; 0 if none ever does."""
    steepest = float(np.abs(Z.T @ signs.T).max())
    return 2 / steepest if steepest > MIN_CORRELATION * Z.shape[0] else 0.0


def l1_coefficients(Z: Any, sign: Floats, C: float, tol: float) -> NDArray[np.float64]:
    """Coefficients of L1 logistic regression for one class, 1, against the rest, -1."""
    model = LogisticRegression(
        C=C,
        **l1_penalty(),
        solver="liblinear",
        intercept_scaling=INTERCEPT_SCALING,
        tol=tol,
        max_iter=MAX_LIBLINEAR_ITERATIONS,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(Z, sign).coef_[0])


def l1_penalty() -> dict[str, Any]:
    """Parameters of scikit-learn's logistic regression for an L1 penalty.

    Before version 1.8, ``l1_ratio`` was None by default and ignored: ``penalty`` chose the norm.
    """
    return {"penalty": "l1"} if LogisticRegression().l1_ratio is None else {"l1_ratio": 1}
