"""Read the scores of a fitted selector, whoever wrote it."""

from typing import Any

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats


def scores_of(selector: Any) -> Floats | None:
    """Scores of a fitted selector: its own, its weights or those of the model inside, or its ranking.

    What is not there for every feature does not count: the model inside may have seen only some, and others call
    something else scores.
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
