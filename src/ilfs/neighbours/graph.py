"""Graphs of nearest neighbours, which unsupervised methods look at samples through."""

from typing import Literal

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution import blocks, thread_map
from ilfs.neighbours.distinct import DistinctSamples
from ilfs.neighbours.euclidean import search
from ilfs.warn import warn

Weights = Literal["heat", "binary"]

LEAST_WEIGHT = 1e-200  # no sample is cut off by underflow, and squares of values can still be weighed
GRAM_SAMPLES = 64  # whose products a thread computes at once


def heat_graph(
    samples: DistinctSamples,
    n_neighbors: int = 5,
    *,
    weights: Weights = "heat",
    width: float | None = None,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """Join samples with their nearest neighbours in a symmetric graph.

    Two samples are joined if one of them is among the nearest of the other. Samples that tie for the last places share
    them, and so does the weight of their edges. No sample is joined with itself. Copies of a sample are one node: its
    edges are the sums of those of the copies, and its entry on the diagonal is the sum of the edges between them.

    Parameters
    ----------
    samples : DistinctSamples
        The samples and their numbers of copies.
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
    scipy.sparse.csr_array of shape (n_distinct, n_distinct)
        The heat of an edge is at least 1e-200, so that none underflows to zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.neighbours import DistinctSamples, heat_graph
    >>> samples = DistinctSamples.of(np.array([[0.0], [1.0], [3.0]]))
    >>> heat_graph(samples, 1, weights="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    n_neighbors = usable_neighbours(n_neighbors, samples.n_samples)
    heat, counts = weights == "heat", samples.counts
    found, mean = search(samples.X, n_neighbors, n_jobs, mean=heat and width is None, counts=counts, rank=samples.rank)
    first, second = found.first, found.indices
    others = counts[second] - (first == second)  # copies of a sample are joined with each other, not with themselves
    edges = found.places / others
    if heat:
        scaled = np.sqrt(found.squared) / (_without_last_bits(mean) if width is None else width)
        edges *= np.maximum(np.exp(-0.5 * scaled * scaled), LEAST_WEIGHT)
    shape = counts.size, counts.size
    one_way = sparse.csr_array((edges, second, found.indptr), shape=shape)
    one_way.sort_indices()
    graph = sparse.csr_array(one_way.maximum(one_way.T))
    nodes = np.repeat(np.arange(counts.size), np.diff(graph.indptr))
    graph.data *= counts[nodes] * (counts[graph.indices] - (nodes == graph.indices))
    return graph


def _without_last_bits(mean: float) -> float:
    """To 36 bits: dense and sparse products, and rows in another order, round the mean distance differently."""
    significand, exponent = np.frexp(mean)
    return float(np.ldexp(np.rint(significand * 2.0**36) / 2.0**36, exponent))


def usable_neighbours(n_neighbors: int, n_samples: int) -> int:
    """As many as asked for, or all others with a warning."""
    if n_neighbors < n_samples:
        return n_neighbors
    warn(f"n_neighbors={n_neighbors} is more than the {n_samples - 1} other samples: all of them are taken")
    return n_samples - 1


def difference_grams(X: Floats, samples: Integers, neighbours: Integers, n_jobs: int | None) -> Floats:
    """For each of these samples, the scalar products of the differences of its neighbours to it."""
    from ilfs.kernels.neighbours import fill_difference_grams

    m, k = neighbours.shape
    table, grams = read_only(np.ascontiguousarray(X)), np.empty((m, k, k))

    def fill(some: slice) -> None:
        fill_difference_grams(table, samples[some], neighbours[some], grams[some])

    list(thread_map(fill, blocks(m, GRAM_SAMPLES), n_jobs))
    return grams
