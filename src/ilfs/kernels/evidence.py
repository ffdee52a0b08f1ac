"""Counts of the samples of each feature whose evidence reaches each boundary between tokens.

With z the distance of a value from the mean of its class, its squared distance from that class and the mean of its
squared distances from the other classes are the quadratics

    own = a z^2        rest = z^2 + b z + c

whose coefficients depend on class and feature; `ilfs.statistics.tokens.class_contrast` derives them. (a is 1, or
(n / (n - 1))^2 if the sample is left out of the mean of its class of n samples.) So the time per value does not depend
on the number of classes.

The evidence is (rest - own) / (2 variance) ("posterior", a log odds) or rest / (rest + own) ("distance", a fraction).
The token of a value is the number of thresholds that its evidence reaches.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels._sizes import STREAMED_COLUMNS
from ilfs.kernels.contrast import Contrast

# The loops are written out for these two numbers.
THRESHOLDS_PER_SWEEP = 5  # thresholds counted in one sweep over the rows: as many as the default of six tokens needs
ROWS_PER_COUNT = 4  # rows that share one load and one store of the counts


@formula
def log_odds(x: float, mean: float, square: float, linear: float, constant: float, sharpness: float) -> float:
    """Compute (rest - own) / (2 variance), the log odds of the sample's own class."""
    z = x - mean
    # rest - own = (1 - a) z^2 + b z + c, with square = 1 - a. Scale last: an integer half way between two class means
    # then gives exactly 0.
    return ((square * z + linear) * z + constant) * sharpness


@formula
def fraction(x: float, mean: float, square: float, linear: float, constant: float) -> float:
    """Compute rest / (rest + own); 1/2 if both are 0, because the value is then equally near to all classes."""
    z = x - mean
    own = square * z * z
    rest = (z + linear) * z + constant
    return 0.5 if own + rest == 0.0 else rest / (own + rest)


@formula
def add_reaching(
    n: float,
    threshold: float,
    e0: float,
    e1: float,
    e2: float,
    e3: float,
    w0: float,
    w1: float,
    w2: float,
    w3: float,
) -> float:
    """Add to n the weights of those of four values whose evidence reaches the threshold."""
    # Add the rows one after the other, so that the sum does not depend on the number of rows per call. Adding 0.0
    # instead of branching lets the compiler use masked vector additions. NaN reaches no threshold.
    n += w0 if e0 >= threshold else 0.0
    n += w1 if e1 >= threshold else 0.0
    n += w2 if e2 >= threshold else 0.0
    n += w3 if e3 >= threshold else 0.0
    return n


@formula
def count_at(
    reached: Floats,
    j: int,
    t: tuple[float, ...],
    e0: float,
    e1: float,
    e2: float,
    e3: float,
    w: tuple[float, ...],
) -> None:
    """Add the weights of four values of column j to the counts of the thresholds that they reach."""
    reached[0, j] = add_reaching(reached[0, j], t[0], e0, e1, e2, e3, w[0], w[1], w[2], w[3])
    reached[1, j] = add_reaching(reached[1, j], t[1], e0, e1, e2, e3, w[0], w[1], w[2], w[3])
    reached[2, j] = add_reaching(reached[2, j], t[2], e0, e1, e2, e3, w[0], w[1], w[2], w[3])
    reached[3, j] = add_reaching(reached[3, j], t[3], e0, e1, e2, e3, w[0], w[1], w[2], w[3])
    reached[4, j] = add_reaching(reached[4, j], t[4], e0, e1, e2, e3, w[0], w[1], w[2], w[3])


@formula
def count_odds(
    x: tuple[Any, ...],
    mean: Floats,
    square: Floats,
    linear: Floats,
    constant: Floats,
    sharpness: Floats,
    t: tuple[float, ...],
    w: tuple[float, ...],
    reached: Floats,
) -> None:
    """Count, at each threshold, those of four rows of one class whose log odds reach it."""
    x0, x1, x2, x3 = x
    for j in range(mean.size):
        m, s, b, c, h = mean[j], square[j], linear[j], constant[j], sharpness[j]
        e0, e1 = log_odds(x0[j], m, s, b, c, h), log_odds(x1[j], m, s, b, c, h)
        e2, e3 = log_odds(x2[j], m, s, b, c, h), log_odds(x3[j], m, s, b, c, h)
        count_at(reached, j, t, e0, e1, e2, e3, w)


@formula
def count_fractions(
    x: tuple[Any, ...],
    mean: Floats,
    square: Floats,
    linear: Floats,
    constant: Floats,
    t: tuple[float, ...],
    w: tuple[float, ...],
    reached: Floats,
) -> None:
    """Count, at each threshold, those of four rows of one class whose fraction rest / (rest + own) reaches it."""
    x0, x1, x2, x3 = x
    for j in range(mean.size):
        m, s, b, c = mean[j], square[j], linear[j], constant[j]
        e0, e1 = fraction(x0[j], m, s, b, c), fraction(x1[j], m, s, b, c)
        e2, e3 = fraction(x2[j], m, s, b, c), fraction(x3[j], m, s, b, c)
        count_at(reached, j, t, e0, e1, e2, e3, w)


def dense_tokens(
    X: NDArray[Any],
    rows: Integers,
    starts: Integers,
    weight: Floats,
    first: int,
    last: int,
    contrast: Contrast,
    is_fraction: bool,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Add the weight of the samples that reach each threshold to at_least (thresholds x columns first:last of X).

    rows[starts[k]:starts[k + 1]] are the rows of class k, and weight[a] is the weight of rows[a]. The length of
    thresholds is a multiple of THRESHOLDS_PER_SWEEP. A missing value reaches no threshold.
    """
    # None has a type of its own, for which Numba does not compile the loop over fractions. Few fits need that loop.
    count_dense(X, rows, starts, weight, first, last, contrast, is_fraction or None, thresholds, at_least)


@kernel
def count_dense(
    X: NDArray[Any],
    rows: Integers,
    starts: Integers,
    weight: Floats,
    first: int,
    last: int,
    contrast: Contrast,
    is_fraction: bool | None,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Count the tokens of dense rows, see `dense_tokens`; is_fraction is True or None."""
    reached = np.empty((THRESHOLDS_PER_SWEEP, STREAMED_COLUMNS))
    for low in range(first, last, STREAMED_COLUMNS):
        high = min(low + STREAMED_COLUMNS, last)
        f0, f1 = low - first, high - first
        for k in range(starts.size - 1):
            mean, square = contrast.mean[k, f0:f1], contrast.square[k, f0:f1]
            linear, constant = contrast.linear[k, f0:f1], contrast.constant[k, f0:f1]
            final = starts[k + 1] - 1
            for g in range(0, thresholds.size, THRESHOLDS_PER_SWEEP):
                t = (thresholds[g], thresholds[g + 1], thresholds[g + 2], thresholds[g + 3], thresholds[g + 4])
                reached[:] = 0.0
                for a in range(starts[k], final + 1, ROWS_PER_COUNT):
                    # If fewer than four rows of the class are left, its last row fills the gap with weight 0.
                    b, c, d = min(a + 1, final), min(a + 2, final), min(a + 3, final)
                    w = (weight[a], weight[b] * (b > a), weight[c] * (c > b), weight[d] * (d > c))
                    x = (X[rows[a], low:high], X[rows[b], low:high], X[rows[c], low:high], X[rows[d], low:high])
                    if is_fraction is None:
                        count_odds(x, mean, square, linear, constant, contrast.sharpness[f0:f1], t, w, reached)
                    else:
                        count_fractions(x, mean, square, linear, constant, t, w, reached)
                for i in range(THRESHOLDS_PER_SWEEP):
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
    is_fraction: bool,
    thresholds: Floats,
    at_least: Floats,
) -> None:
    """Add the weight of the samples that reach each threshold to at_least, for sparse columns.

    All zeros of a class are counted as one value with their total weight. codes[i] is the class of row i, or -1 if the
    row is left out; class_rows and class_total are the number of rows of each class and the sum of their weights.
    """
    stored = np.empty(class_rows.size, np.int64)
    unstored = np.empty(class_rows.size)
    reached = np.empty((class_rows.size, thresholds.size))
    for f in range(indptr.size - 1):
        reached[:] = 0.0
        for k in range(class_rows.size):
            stored[k], unstored[k] = 0, class_total[k]
        for a in range(indptr[f], indptr[f + 1]):
            k, w = codes[indices[a]], weight[indices[a]]
            if k >= 0:
                stored[k] += 1
                unstored[k] -= w
                count_value(float(data[a]), w, k, f, contrast, is_fraction, thresholds, reached)
        for k in range(class_rows.size):
            # Compare numbers of rows, not weights: rounding would leave a small weight in a column without zeros.
            if stored[k] < class_rows[k] and unstored[k] > 0.0:
                count_value(0.0, unstored[k], k, f, contrast, is_fraction, thresholds, reached)
            for t in range(thresholds.size):
                at_least[t, f] += reached[k, t] * contrast.class_weight[k, f]


@formula
def count_value(
    x: float, w: float, k: int, f: int, contrast: Contrast, is_fraction: bool, thresholds: Floats, reached: Floats
) -> None:
    """Count one value of class k, column f at every threshold that its evidence reaches."""
    mean, square = contrast.mean[k, f], contrast.square[k, f]
    linear, constant = contrast.linear[k, f], contrast.constant[k, f]
    if is_fraction:
        e = fraction(x, mean, square, linear, constant)
    else:
        e = log_odds(x, mean, square, linear, constant, contrast.sharpness[f])
    for t in range(thresholds.size):
        if e >= thresholds[t]:
            reached[k, t] += w
