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
MAX_LIBLINEAR_ITERATIONS = 100  # enough to see which features enter, without full convergence
MIN_CORRELATION = 1e-8  # a column whose correlation with the classes is smaller counts as uncorrelated


class L1Path(Baseline):
    """The order in which features enter logistic regression with an L1 penalty, by scikit-learn (liblinear).

    Columns are standardised; sparse ones are only scaled. With three or more classes, each is fitted against the rest.
    C grows step by step from the value at which the first coefficient leaves zero, until the wanted number of features
    have had a nonzero coefficient, or for ``n_steps`` steps. Features are ordered by the step at which they enter, and
    within a step by the norm of their coefficients.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, at which the path ends: a count, a fraction, or None for half of them.
    n_steps : int, default=30
        Maximum number of values of C.
    span : float, default=1000
        Ratio of the last value of C to the first.
    tol : float, default=1e-4
        Tolerance of the solver, as in `sklearn.linear_model.LogisticRegression`.
    n_jobs : int, default=None
        Number of processes, at most one for each class; the result does not depend on it. None is 1 unless in a
        `joblib.parallel_config` context, -1 is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        n for the first of n features that enter, n - 1 for the second, down to 1; 0 for a feature that does not enter.
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
    # At zero coefficients the logistic loss has the gradient -C Z'y / 2. The L1 penalty keeps a coefficient at zero as
    # long as its gradient is at most 1.
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
