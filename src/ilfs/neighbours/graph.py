"""Graphs of nearest neighbours, which unsupervised methods look at samples through."""

from typing import Any, Literal

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution import blocks, thread_map
from ilfs.neighbours.euclidean import search
from ilfs.warn import warn

Weights = Literal["heat", "binary"]

LEAST_WEIGHT = 1e-200  # no sample is cut off by underflow, and squares of values can still be weighed
GRAM_SAMPLES = 64  # whose products a thread computes at once


def heat_graph(
    X: Any,
    n_neighbors: int = 5,
    *,
    weights: Weights = "heat",
    width: float | None = None,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """The symmetric graph of nearest neighbours.

    Two samples are joined if one of them is among the nearest of the other. No sample is joined with itself.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Finite numbers.
    n_neighbors : int, default=5
        How many; if there are not as many other samples, all of them, with a warning.
    weights : {"heat", "binary"}, default="heat"
        exp(-d^2 / (2 t^2)) of the distance d, or 1.
    width : float, optional
        The t of the heat weights. By default the mean of all n_samples x n_samples distances, among them the zeros of
        the diagonal.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        All weights are at least 1e-200, so that none underflows to zero.
    """
    n_neighbors = usable_neighbours(n_neighbors, X.shape[0])
    heat = weights == "heat"
    indices, squared, mean = search(X, n_neighbors, n_jobs, mean=heat and width is None)
    near = np.ones(squared.shape)
    if heat:
        scaled = np.sqrt(squared) / (mean if width is None else width)
        near = np.maximum(np.exp(-0.5 * scaled * scaled), LEAST_WEIGHT)
    indptr = np.arange(0, indices.size + 1, n_neighbors)
    one_way = sparse.csr_array((near.ravel(), indices.ravel(), indptr), shape=(X.shape[0], X.shape[0]))
    one_way.sort_indices()
    return sparse.csr_array(one_way.maximum(one_way.T))


def usable_neighbours(n_neighbors: int, n_samples: int) -> int:
    """As many as asked for, or all others with a warning."""
    if n_neighbors < n_samples:
        return n_neighbors
    warn(f"n_neighbors={n_neighbors} is more than the {n_samples - 1} other samples: all of them are taken")
    return n_samples - 1


def difference_grams(X: Floats, neighbours: Integers, n_jobs: int | None) -> Floats:
    """For every sample, the scalar products of the differences of its neighbours to it."""
    from ilfs.kernels.neighbours import fill_difference_grams

    m, k = neighbours.shape
    table, grams = read_only(np.ascontiguousarray(X)), np.empty((m, k, k))

    def fill(some: slice) -> None:
        fill_difference_grams(table, neighbours[some], some.start, grams[some])

    list(thread_map(fill, blocks(m, GRAM_SAMPLES), n_jobs))
    return grams
