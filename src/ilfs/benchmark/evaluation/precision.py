r"""Average precision: how well scores rank the relevant samples before the others.

At a threshold, :math:`P` is the fraction of relevant samples among those at or above it, and :math:`R` the fraction of
the relevant samples that are there. Three definitions are in use, and they differ on the same ranking:

- ``"area"``, that of scikit-learn: :math:`\sum_i (R_i - R_{i-1})\,P_i` over all thresholds, nothing interpolated.
- ``"2007"``, that of the VOC challenges up to 2009: the mean of :math:`\max_{R_i \ge r} P_i` over the eleven recalls
  :math:`r = 0, 0.1, \dots, 1`.
- ``"2012"``, that of the VOC challenges from 2010 on: :math:`\sum_i (R_i - R_{i-1})\,\max_{j \ge i} P_j`.

Everywhere: ``relevant`` is 1 (yes), 0 (no) or -1 (difficult: the sample is left out, as if it had not been ranked);
without any relevant sample the result is NaN, since there is nothing to find.

Where we depart from the development kits of the challenges: samples of the same score are one threshold, so that the
answer does not depend on the order of the rows (the kits keep the order of the image list; ``ties="as given"`` does so
too); and a recall of 3/10 always reaches 0.3, which in the kits depends on rounding.

Reference: M. Everingham, L. Van Gool, C. K. I. Williams, J. Winn, A. Zisserman, *The PASCAL Visual Object Classes (VOC)
Challenge*, IJCV 88, 2010.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ilfs.arrays import Floats
from ilfs.parameters import check_choice

Counts = NDArray[np.int64]


def average_precision(relevant: ArrayLike, scores: ArrayLike) -> float:
    """Area under the curve of precision over recall, as scikit-learn's ``average_precision_score``.

    Optimised for few samples, since an experiment calls it half a million times. If ``relevant`` is boolean, only
    shapes and NaN are checked.

    Parameters
    ----------
    relevant : array of shape (n_samples,)
        1 or True if the sample is of the class, 0 or False if not, -1 to leave it out.
    scores : array of shape (n_samples,)
        Larger means more probably relevant; only their order counts.

    Returns
    -------
    float
        Above 0, at most 1; NaN if no sample is relevant (scikit-learn: 0 and a warning).

    Examples
    --------
    >>> from ilfs.benchmark.evaluation.precision import average_precision
    >>> round(average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 4)  # (1/1 + 2/3) / 2
    0.8333
    """
    is_relevant, scores = _samples(relevant, scores)
    ranked, found = np.sort(scores), np.sort(scores[is_relevant])
    if ranked.size and np.isnan(ranked[-1]):  # NaN is sorted to the end
        raise ValueError(NAN_SCORE)
    if not found.size:
        return float("nan")
    # recall rises by 1/n_relevant at every relevant sample: the area is the mean of the precisions at their scores
    n_found = found.size - found.searchsorted(found)
    n_ranked = ranked.size - ranked.searchsorted(found)
    return float((n_found / n_ranked).mean())


def voc_average_precision(
    relevant: ArrayLike, scores: ArrayLike, definition: str = "2007", *, ties: str = "together"
) -> float:
    """Average precision as the VOC challenges define it.

    Parameters
    ----------
    relevant : array of shape (n_samples,)
        1 if the image shows an object of the class, 0 if not, -1 if it is difficult and does not count.
    scores : array of shape (n_samples,)
        Larger means more probably relevant; only their order counts.
    definition : {"2007", "2012"}, default="2007"
        The mean of the interpolated precision at eleven recalls (until 2009), or the area under the interpolated
        precision (from 2010 on).
    ties : {"together", "as given"}, default="together"
        Treatment of equal scores. ``"together"``: they are one threshold. ``"as given"``: they are ranked in the given
        order, as in the development kits, where constant scores have an AP of 1 if the relevant samples happen to come
        first.

    Returns
    -------
    float
        Above 0, at most 1; NaN if no sample is relevant.

    Examples
    --------
    >>> from ilfs.benchmark.evaluation.precision import voc_average_precision
    >>> relevant, scores = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> round(voc_average_precision(relevant, scores, "2007"), 4)  # (6 * 1/1 + 5 * 2/3) / 11
    0.8485
    >>> round(voc_average_precision(relevant, scores, "2012"), 4)  # 1/2 * 1/1 + 1/2 * 2/3
    0.8333
    """
    check_choice("definition", definition, ("2007", "2012"))
    check_choice("ties", ties, ("together", "as given"))
    is_relevant, scores = _samples(relevant, scores)
    if np.isnan(scores).any():
        raise ValueError(NAN_SCORE)
    if not is_relevant.any():
        return float("nan")
    n_found, n_ranked = _thresholds(is_relevant, scores, together=ties == "together")
    interpolated = np.maximum.accumulate((n_found / n_ranked)[::-1])[::-1]
    return _eleven_points(n_found, interpolated) if definition == "2007" else _all_points(n_found, interpolated)


def average_precisions(relevant: ArrayLike, scores: ArrayLike, definition: str = "area") -> Floats:
    """Average precision of every class; their mean is what is called mAP.

    Parameters
    ----------
    relevant : array of shape (n_samples, n_classes)
        1, 0 or -1, as for one class.
    scores : array of shape (n_samples, n_classes)
        The score of every sample for every class.
    definition : {"area", "2007", "2012"}, default="area"
        Definition of the average precision.

    Returns
    -------
    ndarray of shape (n_classes,)
        NaN for a class without relevant samples.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.evaluation.precision import average_precisions
    >>> relevant = np.array([[1, 0], [0, 1], [1, -1]])
    >>> scores = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.9]])
    >>> average_precisions(relevant, scores)
    array([1., 1.])
    """
    check_choice("definition", definition, ("area", "2007", "2012"))
    relevant, scores = np.asarray(relevant), np.asarray(scores)
    if relevant.ndim != 2 or relevant.shape != scores.shape:
        raise ValueError(
            f"relevant and scores must be two matrices of one shape, got the shapes {relevant.shape} and {scores.shape}"
        )
    columns = zip(relevant.T, scores.T, strict=True)
    if definition == "area":
        return np.array([average_precision(*column) for column in columns])
    return np.array([voc_average_precision(*column, definition) for column in columns])


NAN_SCORE = "scores must be numbers, got NaN"


def _samples(relevant: ArrayLike, scores: ArrayLike) -> tuple[NDArray[np.bool_], Floats]:
    """Validate relevance and scores, and drop the difficult samples."""
    relevant, scores = np.asarray(relevant), np.asarray(scores, dtype=np.float64)
    if relevant.ndim != 1 or relevant.shape != scores.shape:
        raise ValueError(
            f"relevant and scores must be two vectors of one length, got the shapes {relevant.shape} and {scores.shape}"
        )
    if relevant.dtype == np.bool_:
        return relevant, scores
    is_relevant, is_difficult = relevant == 1, relevant == -1
    strange = relevant[~(is_relevant | is_difficult | (relevant == 0))]
    if strange.size:
        raise ValueError(f"relevant must be 1, 0 or -1 (difficult), got {strange[0]}")
    if not is_difficult.any():
        return is_relevant, scores
    if is_relevant.any() and (is_relevant | is_difficult).all():  # -1 may be the other class, as for an SVM
        raise ValueError("relevant must be 0 where the class is absent (-1 is difficult), got only 1 and -1")
    return is_relevant[~is_difficult], scores[~is_difficult]


def _thresholds(is_relevant: NDArray[np.bool_], scores: Floats, together: bool) -> tuple[Counts, Counts]:
    """Count the relevant samples and all samples at or above each threshold, highest threshold first."""
    order = np.argsort(-scores, kind="stable")
    n_found = np.cumsum(is_relevant[order], dtype=np.int64)
    n_ranked = np.arange(1, scores.size + 1, dtype=np.int64)
    if not together:
        return n_found, n_ranked
    ranked = scores[order]
    is_last_of_tie = np.append(ranked[1:] != ranked[:-1], True)
    return n_found[is_last_of_tie], n_ranked[is_last_of_tie]


def _eleven_points(n_found: Counts, interpolated: Floats) -> float:
    """Mean of the interpolated precision at the recalls 0, 1/10, ..., 1."""
    # n_found / n_relevant >= tenths / 10, in integers: 3/10 as a float may miss 0.3
    first = np.searchsorted(10 * n_found, np.arange(11) * n_found[-1])
    return float(interpolated[first].mean())


def _all_points(n_found: Counts, interpolated: Floats) -> float:
    """Area under the interpolated precision."""
    gained = np.diff(n_found, prepend=0)
    return float(gained @ interpolated / n_found[-1])
