"""How many samples of each feature reach each token boundary.

A cell x of class k compares its distance to its own class with the mean distance to the others:

    own = own_scale (x - own_mean)^2        rest = rest_scale (x - rest_mean)^2 + rest_spread

since the mean of (x - mu_j)^2 over the other classes j is (x - their mean)^2 + their spread. So a cell
costs the same for 2 and for 200 classes. The evidence is rest - own ("posterior", a log odds) or
rest / (rest + own) ("distance", a share), and a token is the number of thresholds it reaches.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.kernels._jit import inlined, kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TILE = 2048  # columns read of a row before the next: long enough to stream, short enough for the nearest caches
GROUP = 5  # thresholds counted in one sweep: as many as the default of six tokens has


class Contrast(NamedTuple):
    """What a cell is compared with: arrays classes x columns, rest_scale one for each column."""

    own_mean: Floats
    own_scale: Floats
    rest_mean: Floats
    rest_scale: Floats
    rest_spread: Floats
    class_weight: Floats


@inlined
def log_odds(
    x: float, own_mean: float, own_scale: float, rest_mean: float, rest_scale: float, rest_spread: float
) -> float:
    """rest - own: the log odds of the sample's own class."""
    own, rest = x - own_mean, x - rest_mean
    return (rest * rest) * rest_scale + rest_spread - (own * own) * own_scale


@inlined
def share(
    x: float, own_mean: float, own_scale: float, rest_mean: float, rest_scale: float, rest_spread: float
) -> float:
    """rest / (rest + own); 1/2 where both vanish and nothing can be said."""
    own, rest = x - own_mean, x - rest_mean
    near = (own * own) * own_scale
    far = (rest * rest) * rest_scale + rest_spread
    return 0.5 if near + far == 0.0 else far / (near + far)


@inlined
def weigh(n: float, threshold: float, e: tuple[float, ...], w: tuple[float, ...]) -> float:
    """n plus the weights of those of four cells whose evidence reaches the threshold."""
    n = n + w[0] if e[0] >= threshold else n
    n = n + w[1] if e[1] >= threshold else n
    n = n + w[2] if e[2] >= threshold else n
    n = n + w[3] if e[3] >= threshold else n
    return n  # noqa: RET504 - in this shape it compiles to masked additions


@inlined
def tally(reached: Floats, j: int, t: tuple[float, ...], e: tuple[float, ...], w: tuple[float, ...]) -> None:
    """Count four cells of column j at the five thresholds of a group."""
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
        rs = contrast.rest_scale[f0:f1]
        for k in range(starts.size - 1):
            om, os = contrast.own_mean[k, f0:f1], contrast.own_scale[k, f0:f1]
            rm, rp = contrast.rest_mean[k, f0:f1], contrast.rest_spread[k, f0:f1]
            stop = starts[k + 1] - 1
            for g in range(0, thresholds.size, GROUP):
                t = (thresholds[g], thresholds[g + 1], thresholds[g + 2], thresholds[g + 3], thresholds[g + 4])
                reached[:] = 0.0
                for a in range(starts[k], stop + 1, 4):
                    # four rows share one load and store of the counts; the last group is filled with weight 0
                    b, c, d = min(a + 1, stop), min(a + 2, stop), min(a + 3, stop)
                    w = (
                        weight[a],
                        weight[b] if a + 1 <= stop else 0.0,
                        weight[c] if a + 2 <= stop else 0.0,
                        weight[d] if a + 3 <= stop else 0.0,
                    )
                    xa, xb, xc, xd = (
                        X[rows[a], low:high],
                        X[rows[b], low:high],
                        X[rows[c], low:high],
                        X[rows[d], low:high],
                    )
                    if is_share:
                        for j in range(high - low):
                            ea = share(xa[j], om[j], os[j], rm[j], rs[j], rp[j])
                            eb = share(xb[j], om[j], os[j], rm[j], rs[j], rp[j])
                            ec = share(xc[j], om[j], os[j], rm[j], rs[j], rp[j])
                            ed = share(xd[j], om[j], os[j], rm[j], rs[j], rp[j])
                            tally(reached, j, t, (ea, eb, ec, ed), w)
                    else:
                        for j in range(high - low):
                            ea = log_odds(xa[j], om[j], os[j], rm[j], rs[j], rp[j])
                            eb = log_odds(xb[j], om[j], os[j], rm[j], rs[j], rp[j])
                            ec = log_odds(xc[j], om[j], os[j], rm[j], rs[j], rp[j])
                            ed = log_odds(xd[j], om[j], os[j], rm[j], rs[j], rp[j])
                            tally(reached, j, t, (ea, eb, ec, ed), w)
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
    om, os, rs = contrast.own_mean[k, f], contrast.own_scale[k, f], contrast.rest_scale[f]
    rm, rp = contrast.rest_mean[k, f], contrast.rest_spread[k, f]
    e = share(x, om, os, rm, rs, rp) if is_share else log_odds(x, om, os, rm, rs, rp)
    for t in range(thresholds.size):
        if e >= thresholds[t]:
            reached[k, t] += w
