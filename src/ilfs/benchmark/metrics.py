"""Figures that judge what machines say of test rows."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.machine import Verdict
from ilfs.benchmark.precision import average_precision

METRIC_TITLES = {  # of the figures that are about all classes
    "ap_macro": "average precision, mean of the classes",
    "ap_majority": "average precision, class with most samples",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "area under the curve",
}


def figures_of(size: int, y: Integers, test: Integers, verdict: Verdict) -> list[tuple[int, str, int, float]]:
    """All figures of one choice of features: (size, metric, class or -1, value).

    The paper does not say which class is the positive one. So the average precision of each class against the rest is
    kept, and their mean (``ap_macro``), and that of the class with most samples (``ap_majority``).
    """
    decision, said = verdict.decision, y[test]
    classes = np.unique(y)
    precision = [average_precision(said == k, decision[:, k]) for k in classes]
    majority = int(np.argmax(np.bincount(y)[classes]))
    right = decision.argmax(axis=1) == said
    figures = [(size, "ap", int(k), value) for k, value in zip(classes, precision, strict=True)]
    for metric, value in (
        ("ap_macro", np.mean(precision)),
        ("ap_majority", precision[majority]),
        ("accuracy", right.mean()),
        ("balanced_accuracy", np.mean([right[said == k].mean() for k in np.unique(said)])),
        ("auc", np.mean([area_under_curve(said == k, decision[:, k]) for k in classes])),
        ("C", verdict.C),
    ):
        figures.append((size, metric, -1, float(value)))
    return figures


def area_under_curve(relevant: np.ndarray, scores: Floats) -> float:
    """Share of pairs of a relevant and another sample in which the relevant one scores higher; equals count half.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.metrics import area_under_curve
    >>> area_under_curve(np.array([True, False, False, True]), np.array([3.0, 1.0, 2.0, 2.0]))
    0.875
    """
    from scipy.stats import rankdata

    n_relevant = int(np.count_nonzero(relevant))
    n_others = relevant.size - n_relevant
    if not n_relevant or not n_others:
        return float("nan")
    above = rankdata(scores)[relevant].sum() - n_relevant * (n_relevant + 1) / 2
    return float(above / (n_relevant * n_others))
