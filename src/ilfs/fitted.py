"""Scores and orders of fitted selectors, of this package or any other."""

from typing import Any

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers


def scores_of(selector: Any) -> Floats | None:
    """Return the scores of a fitted selector, or None if it has none.

    The scores are the first of these that exist: ``scores_``; importances or coefficients of the selector or of its
    ``estimator_``; minus its ``ranking_``. Arrays with another length than the number of features are skipped: the
    inner model may have seen only some features, and selectors of other packages may call something else ``scores_``.
    """
    n_features = getattr(selector, "n_features_in_", None)
    inside = getattr(selector, "estimator_", None)
    weights = ((owner, name) for owner in (selector, inside) for name in ("feature_importances_", "coef_"))
    for owner, name in ((selector, "scores_"), *weights):
        values = getattr(owner, name, None)
        if values is None or isinstance(values, dict):
            continue
        values = np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=float)
        if n_features in (None, *values.shape[-1:]):
            values = np.abs(values) if name == "coef_" else values
            return values if values.ndim == 1 else np.linalg.norm(values, axis=0)
    ranking = getattr(selector, "ranking_", None)
    return None if ranking is None else -np.asarray(ranking, dtype=float)


def order_of(selector: Any) -> Integers:
    """Return the columns of a fitted selector, best first.

    The order is the first of these that exist: ``order_``, ``ranking_``, the scores of `scores_of`.
    """
    if hasattr(selector, "order_"):
        return np.asarray(selector.order_)
    if hasattr(selector, "ranking_"):
        return np.argsort(selector.ranking_, kind="stable")
    scores = scores_of(selector)
    if scores is not None:
        if np.isnan(scores).all():
            raise ValueError(f"{type(selector).__name__} must score features by numbers, got NaN for all of them")
        return np.argsort(-np.nan_to_num(scores, nan=-np.inf, neginf=-np.inf), kind="stable")
    raise ValueError(
        f"{type(selector).__name__} has no ranking of the features: it has none of order_, ranking_, scores_, "
        "feature_importances_, coef_ and get_support"
    )
