"""Metrics that evaluate the decision values and predictions of a classifier on test rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.evaluation.precision import average_precision

TIMING_METRICS = ("seconds", "peak_megabytes")  # metrics that do not depend on a classifier
MIN_GRID_WITH_INTERIOR = 3  # a grid of fewer values of C has only ends


@dataclass(frozen=True)
class Predictions:
    """Predictions of a classifier for the test rows.

    Parameters
    ----------
    decision : ndarray of shape (n_test, n_classes)
        Decision values or probabilities: larger means more likely of that class.
    labels : ndarray of shape (n_test,)
        The predicted classes.
    C : float
        The C that cross-validation chose, NaN if none was chosen.
    """

    decision: Floats
    labels: Integers
    C: float = float("nan")


def metrics_of(y: Integers, test: Integers, predicted: Predictions) -> list[tuple[str, int, float]]:
    """Compute all metrics of one subset of the features: (metric, class or -1, value).

    The paper does not say which class is the positive one. So three kinds of average precision are stored: that of each
    class against the rest, the mean of the classes (``ap_macro``), and that of the class with most samples
    (``ap_majority``). A class without test rows has no average precision and is left out of the means.
    """
    true, classes = y[test], np.unique(y)
    precision = [average_precision(true == k, predicted.decision[:, k]) for k in classes]
    area = [area_under_curve(true == k, predicted.decision[:, k]) for k in classes]
    about_all = {
        "ap_macro": np.nanmean(precision),
        "ap_majority": precision[int(np.argmax(np.bincount(y)[classes]))],
        "accuracy": np.mean(predicted.labels == true),
        "balanced_accuracy": balanced_accuracy(true, predicted.labels),
        "f1": macro_f1(true, predicted.labels),
        "auc": np.nanmean(area),
    }
    of_classes = [("ap", int(k), value) for k, value in zip(classes, precision, strict=True)]
    return [*of_classes, *((metric, -1, float(value)) for metric, value in about_all.items())]


def penalty_of(C: float, Cs: Sequence[float]) -> dict[str, float]:
    """Chosen C, if any, and whether it is at an end of its grid; not for grids of two, which have only ends."""
    if np.isnan(C):
        return {}
    return {"C": C} | ({"C_on_edge": float(C in (Cs[0], Cs[-1]))} if len(Cs) >= MIN_GRID_WITH_INTERIOR else {})


def balanced_accuracy(true: Integers, predicted: Integers) -> float:
    """Mean of the recalls of the classes that occur.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.evaluation.metrics import balanced_accuracy
    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))
    0.5
    """
    return float(np.mean([np.mean(predicted[true == k] == k) for k in np.unique(true)]))


def macro_f1(true: Integers, predicted: Integers) -> float:
    """F1 score (harmonic mean of precision and recall), averaged over the classes that occur.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.evaluation.metrics import macro_f1
    >>> macro_f1(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))  # (4/5 + 2/3) / 2
    0.7333333333333334
    """
    # F1 = 2 TP / (2 TP + FP + FN), and the denominator is the number of true plus the number of predicted samples.
    classes = np.unique(true)
    found = [2 * np.count_nonzero((true == k) & (predicted == k)) for k in classes]
    named = [np.count_nonzero(true == k) + np.count_nonzero(predicted == k) for k in classes]
    return float(np.mean(np.divide(found, named)))


def area_under_curve(relevant: NDArray[np.bool_], scores: Floats) -> float:
    """Fraction of pairs of a relevant and another sample in which the relevant one scores higher; ties count half.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.evaluation.metrics import area_under_curve
    >>> area_under_curve(np.array([True, False, False, True]), np.array([3.0, 1.0, 2.0, 2.0]))
    0.875
    """
    from scipy.stats import rankdata

    n_relevant = int(np.count_nonzero(relevant))
    n_others = relevant.size - n_relevant
    if not n_relevant or not n_others:
        return float("nan")
    # Mann and Whitney's U: the rank sum of the relevant samples minus its least value counts the pairs that they win.
    above = rankdata(scores)[relevant].sum() - n_relevant * (n_relevant + 1) / 2
    return float(above / (n_relevant * n_others))
