"""How many samples of each feature reach each token boundary.

With z the distance of a cell from the mean of its class, its squared distance from that class and the mean of its
squared distances from the others are the quadratics

    own = a z^2        rest = z^2 + b z + c

whose coefficients depend on class and feature. So a cell costs the same for 2 and for 200 classes. The evidence is
(rest - own) / (2 variance) ("posterior", a log odds) or rest / (rest + own) ("distance", a share), and a token is the
number of thresholds that it reaches.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, inlined, kernel
from ilfs.kernels._rows import EIGHT, TILE, eight, eight_slices, eight_weights
from ilfs.kernels.contrast import Contrast

GROUP = 5  # thresholds counted in one sweep, written out in tally: as many as six tokens have


@formula
def log_odds(x: float, mean: float, square: float, linear: float, constant: float, sharpness: float) -> float:
    """The log odds of the sample's own class."""
    z = x - mean
    # scaled last: whole numbers half way between two means then say exactly 0
    return ((square * z + linear) * z + constant) * sharpness


@formula
def share(x: float, mean: float, square: float, linear: float, constant: float) -> float:
    """Rest / (rest + own); 1/2 where both vanish and nothing can be said."""
    z = x - mean
    own = square * z * z
    rest = (z + linear) * z + constant
    return 0.5 if own + rest == 0.0 else rest / (own + rest)


@inlined
def weigh(n: float, threshold: float, e: tuple[float, ...], w: tuple[float, ...]) -> float:
    """n plus the weights of those of eight cells whose evidence reaches the threshold."""
    n = n + w[0] if e[0] >= threshold else n
    n = n + w[1] if e[1] >= threshold else n
    n = n + w[2] if e[2] >= threshold else n
    n = n + w[3] if e[3] >= threshold else n
    n = n + w[4] if e[4] >= threshold else n
    n = n + w[5] if e[5] >= threshold else n
    n = n + w[6] if e[6] >= threshold else n
    n = n + w[7] if e[7] >= threshold else n
    return n  # noqa: RET504 - in this shape it compiles to masked additions


@inlined
def tally(reached: Floats, j: int, t: tuple[float, ...], e: tuple[float, ...], w: tuple[float, ...]) -> None:
    """Count eight cells of column j at the five thresholds of a group."""
    reached[0, j] = weigh(reached[0, j], t[0], e, w)
    reached[1, j] = weigh(reached[1, j], t[1], e, w)
    reached[2, j] = weigh(reached[2, j], t[2], e, w)
    reached[3, j] = weigh(reached[3, j], t[3], e, w)
    reached[4, j] = weigh(reached[4, j], t[4], e, w)


@kernel
def dense_tokens(
    X: NDArray[Any],
    rows: Integers,
    starts: Integers,
    weight: Floats,
    first: int,
    last: int,
    contrast: Contrast,
    is_share: bool,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Add to at_least (thresholds x columns) from columns first:last of X.

    rows[starts[k]:starts[k + 1]] are the rows of class k, weight[a] the weight of rows[a]. The length of
    thresholds is a multiple of GROUP. A NaN cell reaches no threshold.
    """
    reached = np.empty((GROUP, TILE))
    for low in range(first, last, TILE):
        high = min(low + TILE, last)
        f0, f1 = low - first, high - first
        sharpness = contrast.sharpness[f0:f1]
        for k in range(starts.size - 1):
            mean, square = contrast.mean[k, f0:f1], contrast.square[k, f0:f1]
            linear, constant = contrast.linear[k, f0:f1], contrast.constant[k, f0:f1]
            final = starts[k + 1] - 1
            for g in range(0, thresholds.size, GROUP):
                t = (thresholds[g], thresholds[g + 1], thresholds[g + 2], thresholds[g + 3], thresholds[g + 4])
                reached[:] = 0.0
                for a in range(starts[k], final + 1, EIGHT):
                    w = eight_weights(weight, a, final)
                    x0, x1, x2, x3, x4, x5, x6, x7 = eight_slices(X, eight(rows, a, final), low, high)
                    if is_share:
                        for j in range(high - low):
                            e0 = share(x0[j], mean[j], square[j], linear[j], constant[j])
                            e1 = share(x1[j], mean[j], square[j], linear[j], constant[j])
                            e2 = share(x2[j], mean[j], square[j], linear[j], constant[j])
                            e3 = share(x3[j], mean[j], square[j], linear[j], constant[j])
                            e4 = share(x4[j], mean[j], square[j], linear[j], constant[j])
                            e5 = share(x5[j], mean[j], square[j], linear[j], constant[j])
                            e6 = share(x6[j], mean[j], square[j], linear[j], constant[j])
                            e7 = share(x7[j], mean[j], square[j], linear[j], constant[j])
                            tally(reached, j, t, (e0, e1, e2, e3, e4, e5, e6, e7), w)
                    else:
                        for j in range(high - low):
                            e0 = log_odds(x0[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            e1 = log_odds(x1[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            e2 = log_odds(x2[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            e3 = log_odds(x3[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            e4 = log_odds(x4[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            e5 = log_odds(x5[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            e6 = log_odds(x6[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            e7 = log_odds(x7[j], mean[j], square[j], linear[j], constant[j], sharpness[j])
                            tally(reached, j, t, (e0, e1, e2, e3, e4, e5, e6, e7), w)
                for i in range(GROUP):
                    for j in range(high - low):
                        at_least[g + i, f0 + j] += reached[i, j] * contrast.class_weight[k, f0 + j]


@kernel
def sparse_tokens(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: Integers,
    weight: Floats,
    class_rows: Integers,
    class_total: Floats,
    contrast: Contrast,
    is_share: bool,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """The same from the stored cells of sparse columns; all zeros of a class count as one cell."""
    stored = np.empty(class_rows.size, np.int64)
    unstored = np.empty(class_rows.size)
    reached = np.empty((class_rows.size, thresholds.size))
    for f in range(indptr.size - 1):
        stored[:] = 0
        unstored[:] = class_total
        reached[:] = 0.0
        for a in range(indptr[f], indptr[f + 1]):
            k, w = codes[indices[a]], weight[indices[a]]
            if k >= 0:
                stored[k] += 1
                unstored[k] -= w
                count_cell(data[a], w, k, f, contrast, is_share, thresholds, reached)
        for k in range(class_rows.size):
            if stored[k] < class_rows[k] and unstored[k] > 0.0:
                count_cell(0.0, unstored[k], k, f, contrast, is_share, thresholds, reached)
            for t in range(thresholds.size):
                at_least[t, f] += reached[k, t] * contrast.class_weight[k, f]


@kernel
def count_cell(
    x: float, w: float, k: int, f: int, contrast: Contrast, is_share: bool, thresholds: Floats, reached: Floats
) -> None:
    """Count one cell of class k, column f at every threshold that its evidence reaches."""
    mean, square = contrast.mean[k, f], contrast.square[k, f]
    linear, constant = contrast.linear[k, f], contrast.constant[k, f]
    if is_share:
        e = share(x, mean, square, linear, constant)
    else:
        e = log_odds(x, mean, square, linear, constant, contrast.sharpness[f])
    for t in range(thresholds.size):
        if e >= thresholds[t]:
            reached[k, t] += w
