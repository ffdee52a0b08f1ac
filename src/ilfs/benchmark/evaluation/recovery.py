"""Metrics of a ranking on data whose true columns are known."""

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers

RECOVERY_METRICS = ("recovery", "directions")
MIN_EIGENVALUE = 0.1  # of the correlation matrix; principal components below it are noise of copies


def true_fraction(order: Integers, is_true: NDArray[np.bool_]) -> float:
    """Fraction of the true columns among the first k of a ranking, where k is their number.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.evaluation.recovery import true_fraction
    >>> true_fraction(np.array([3, 0, 1, 2]), np.array([True, True, False, False]))
    0.5
    """
    return float(is_true[order[: is_true.sum()]].mean())


def n_directions(X: Floats) -> int:
    """Number of directions that columns span: principal components of the standardised columns that are not noise.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.evaluation.recovery import n_directions
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> n_directions(np.column_stack([X, X[:, 0] + X[:, 1]]))
    3
    """
    return int((np.linalg.eigvalsh(np.corrcoef(X.T)) > MIN_EIGENVALUE).sum())


def explained_fraction(X: Floats, order: Integers, is_true: NDArray[np.bool_]) -> float:
    """Fraction of the variance of the true columns that the true ones among the first picks explain linearly.

    There are as many picks as the true columns span directions (`n_directions`), so that a ranking without repetitions
    can explain all. If the true columns are independent, this is the fraction that is found, up to chance correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.evaluation.recovery import explained_fraction
    >>> x = np.random.default_rng(0).normal(size=50)
    >>> explained_fraction(np.column_stack([x, -x, x**2]), np.array([1, 2, 0]), np.array([True, True, False]))
    1.0
    """
    true = X[:, is_true]
    Z = (true - true.mean(axis=0)) / true.std(axis=0)
    first = order[: n_directions(true)]
    picks = Z[:, np.searchsorted(np.flatnonzero(is_true), first[is_true[first]])]
    fitted = picks @ np.linalg.lstsq(picks, Z)[0]
    return float(np.round((fitted**2).mean(), 12))
