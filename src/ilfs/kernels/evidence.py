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
ROWS_PER_COUNT = 8  # rows that share one load and one store of the counts


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


# Eight scalars instead of tuples in these two functions: a loop over tuples takes a fifth longer.
@formula
def add_reaching(
    n: float, threshold: float,
    e0: float, e1: float, e2: float, e3: float, e4: float, e5: float, e6: float, e7: float,
    w0: float, w1: float, w2: float, w3: float, w4: float, w5: float, w6: float, w7: float,
) -> float:  # fmt: skip
    """Add to n the weights w of those of eight values whose evidence e reaches the threshold."""
    # Add the rows one after the other, so that the sum does not depend on the number of rows per call. In this form
    # the compiler uses masked vector additions instead of branches. NaN reaches no threshold.
    n = n + w0 if e0 >= threshold else n
    n = n + w1 if e1 >= threshold else n
    n = n + w2 if e2 >= threshold else n
    n = n + w3 if e3 >= threshold else n
    n = n + w4 if e4 >= threshold else n
    n = n + w5 if e5 >= threshold else n
    n = n + w6 if e6 >= threshold else n
    return n + w7 if e7 >= threshold else n


@formula
def count_at(
    reached: Floats, j: int, t: tuple[float, ...], w: tuple[float, ...],
    e0: float, e1: float, e2: float, e3: float, e4: float, e5: float, e6: float, e7: float,
) -> None:  # fmt: skip
    """Add the weights of eight values of column j to the counts of the thresholds that they reach."""
    w0, w1, w2, w3, w4, w5, w6, w7 = w
    reached[0, j] = add_reaching(
        reached[0, j], t[0], e0, e1, e2, e3, e4, e5, e6, e7, w0, w1, w2, w3, w4, w5, w6, w7
    )  # fmt: skip
    reached[1, j] = add_reaching(
        reached[1, j], t[1], e0, e1, e2, e3, e4, e5, e6, e7, w0, w1, w2, w3, w4, w5, w6, w7
    )  # fmt: skip
    reached[2, j] = add_reaching(
        reached[2, j], t[2], e0, e1, e2, e3, e4, e5, e6, e7, w0, w1, w2, w3, w4, w5, w6, w7
    )  # fmt: skip
    reached[3, j] = add_reaching(
        reached[3, j], t[3], e0, e1, e2, e3, e4, e5, e6, e7, w0, w1, w2, w3, w4, w5, w6, w7
    )  # fmt: skip
    reached[4, j] = add_reaching(
        reached[4, j], t[4], e0, e1, e2, e3, e4, e5, e6, e7, w0, w1, w2, w3, w4, w5, w6, w7
    )  # fmt: skip


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
    """Count, at each threshold, those of eight rows of one class whose log odds reach it."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    for j in range(mean.size):
        m, s, b, c, h = mean[j], square[j], linear[j], constant[j], sharpness[j]
        e0, e1 = log_odds(x0[j], m, s, b, c, h), log_odds(x1[j], m, s, b, c, h)
        e2, e3 = log_odds(x2[j], m, s, b, c, h), log_odds(x3[j], m, s, b, c, h)
        e4, e5 = log_odds(x4[j], m, s, b, c, h), log_odds(x5[j], m, s, b, c, h)
        e6, e7 = log_odds(x6[j], m, s, b, c, h), log_odds(x7[j], m, s, b, c, h)
        count_at(reached, j, t, w, e0, e1, e2, e3, e4, e5, e6, e7)


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
    """Count, at each threshold, those of eight rows of one class whose fraction rest / (rest + own) reaches it."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    for j in range(mean.size):
        m, s, b, c = mean[j], square[j], linear[j], constant[j]
        e0, e1 = fraction(x0[j], m, s, b, c), fraction(x1[j], m, s, b, c)
        e2, e3 = fraction(x2[j], m, s, b, c), fraction(x3[j], m, s, b, c)
        e4, e5 = fraction(x4[j], m, s, b, c), fraction(x5[j], m, s, b, c)
        e6, e7 = fraction(x6[j], m, s, b, c), fraction(x7[j], m, s, b, c)
        count_at(reached, j, t, w, e0, e1, e2, e3, e4, e5, e6, e7)


@formula
def take_row(X: NDArray[Any], rows: Integers, a: int, final: int, low: int, high: int) -> NDArray[Any]:
    """Return columns low:high of row rows[a]; of rows[final], the last one of the class, if a is beyond it."""
    return X[rows[min(a, final)], low:high]


@formula
def weight_of(weight: Floats, a: int, final: int) -> float:
    """Return weight[a], or 0 if a is beyond the last row of the class."""
    return float(weight[a]) if a <= final else 0.0


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
                    # If fewer than eight rows of the class are left, its last row fills the gap with weight 0.
                    x = (
                        take_row(X, rows, a, final, low, high), take_row(X, rows, a + 1, final, low, high),
                        take_row(X, rows, a + 2, final, low, high), take_row(X, rows, a + 3, final, low, high),
                        take_row(X, rows, a + 4, final, low, high), take_row(X, rows, a + 5, final, low, high),
                        take_row(X, rows, a + 6, final, low, high), take_row(X, rows, a + 7, final, low, high),
                    )  # fmt: skip
                    w = (
                        weight_of(weight, a, final), weight_of(weight, a + 1, final),
                        weight_of(weight, a + 2, final), weight_of(weight, a + 3, final),
                        weight_of(weight, a + 4, final), weight_of(weight, a + 5, final),
                        weight_of(weight, a + 6, final), weight_of(weight, a + 7, final),
                    )  # fmt: skip
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
        reached[k, t] += w if e >= thresholds[t] else 0.0  # no branch, which would often be predicted wrongly
