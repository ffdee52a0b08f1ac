"""Sums over all paths of the graph with edges a_ij = p_i p_j, without the graph.

A = p p' has rank one, so every function of it is a rescaling: A^l = |p|^(2l - 2) A, and with r = c / |p|^2, 0 < c < 1,

    sum over l >= 1 of r^l A^l = (I - r A)^-1 - I = r p p' / (1 - c).

All of the following cost O(n).
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bound = Literal["radius", "rows"]


def path_weight(p: Floats, damping: float, bound: Bound = "radius") -> float:
    """The weight r of one step.

    ``"radius"`` makes the spectral radius of r A equal to `damping`, as the paper does. ``"rows"`` makes its largest
    row sum equal to `damping`: then r A is a matrix of transition probabilities and what a row lacks to 1 is absorbed.
    """
    largest = float(p @ p) if bound == "radius" else float(p.max(initial=0.0) * p.sum())
    return damping / largest if largest > 0 else 0.0


def fundamental_product(p: Floats, v: NDArray[Any], damping: float, bound: Bound = "radius") -> Floats:
    """(I - r A)^-1 v: with v an indicator, the expected visits to those nodes from every node."""
    r = path_weight(p, damping, bound)
    return np.asarray(v + p * (r * float(p @ v) / (1.0 - r * float(p @ p))), dtype=np.float64)


def absorption_times(p: Floats, damping: float, bound: Bound = "radius") -> Floats:
    """(I - r A)^-1 1: expected number of steps before the walk from each node is absorbed."""
    return fundamental_product(p, np.ones_like(p), damping, bound)


def infinite_path_scores(p: Floats, damping: float) -> Floats:
    """Row sums of (I - r A)^-1 - I: p times one number, so the order of the scores is the order of p."""
    r = path_weight(p, damping)
    return np.asarray(p * (r * float(p.sum()) / (1.0 - damping)))


def adjacency(p: Floats) -> Floats:
    """The graph itself, n x n: for teaching and tests."""
    return np.outer(p, p)
