"""Graphs of nearest neighbours, on which several unsupervised methods are based."""

from typing import Literal

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution import blocks, thread_map
from ilfs.neighbours.distinct import DistinctSamples
from ilfs.neighbours.euclidean import search
from ilfs.warn import warn

Weights = Literal["heat", "binary"]

MIN_WEIGHT = 1e-200  # keeps edges from underflowing to 0, and leaves room to multiply them by squares of values
GRAM_SAMPLES_PER_TASK = 64  # samples whose Gram matrices one thread computes per task


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
    them. The weight of an edge is multiplied by the larger of the two fractions of a place that its ends assign to each
    other. No sample is joined with itself. Copies of a sample are one node: its edges are the sums of the edges of the
    copies, and its entry on the diagonal is the sum of the edges between the copies.

    Parameters
    ----------
    samples : DistinctSamples
        The samples and their numbers of copies.
    n_neighbors : int, default=5
        Number of neighbours. If there are fewer other samples, all of them are taken, with a warning.
    weights : {"heat", "binary"}, default="heat"
        Weight of an edge: exp(-d^2 / (2 t^2)) for the distance d, or 1.
    width : float, optional
        The t of the heat weights. By default the mean of all n_samples x n_samples distances, including the zeros on
        the diagonal.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_distinct, n_distinct)
        Weights of the edges. Heat weights are at least 1e-200, so that none underflows to zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.neighbours import DistinctSamples, heat_graph
    >>> samples = DistinctSamples.from_samples(np.array([[0.0], [1.0], [3.0]]))
    >>> heat_graph(samples, 1, weights="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    n_neighbors = usable_neighbours(n_neighbors, samples.n_samples)
    heat, counts = weights == "heat", samples.counts
    found, mean = search(samples.X, n_neighbors, n_jobs, mean=heat and width is None, counts=counts, rank=samples.rank)
    first, second = found.first, found.indices
    # An entry holds the places of all copies of a neighbour; divide by their number to get those of one copy. A sample
    # is not its own neighbour, so its own node has one copy less.
    edges = found.places / (counts[second] - (first == second))
    if heat:
        scaled = np.sqrt(found.squared) / (_without_last_bits(mean) if width is None else width)
        edges *= np.maximum(np.exp(-0.5 * scaled * scaled), MIN_WEIGHT)
    shape = counts.size, counts.size
    one_way = sparse.csr_array((edges, second, found.indptr), shape=shape)
    one_way.sort_indices()
    graph = sparse.csr_array(one_way.maximum(one_way.T))  # joined if either is among the nearest of the other
    # So far an edge joins one copy with one copy: multiply by the number of pairs of copies.
    nodes = np.repeat(np.arange(counts.size), np.diff(graph.indptr))
    graph.data *= counts[nodes] * (counts[graph.indices] - (nodes == graph.indices))
    return graph


def _without_last_bits(mean: float) -> float:
    """Round to 36 bits: the last bits of the mean depend on the order of the rows and on dense or sparse products."""
    significand, exponent = np.frexp(mean)
    return float(np.ldexp(np.rint(significand * 2.0**36) / 2.0**36, exponent))


def usable_neighbours(n_neighbors: int, n_samples: int) -> int:
    """Limit ``n_neighbors`` to the number of other samples, with a warning if that is less.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours asked for.
    n_samples : int
        Number of samples.

    Returns
    -------
    int
        Number of neighbours that every sample has.
    """
    if n_neighbors < n_samples:
        return n_neighbors
    warn(f"n_neighbors={n_neighbors} is more than the {n_samples - 1} other samples: all of them are taken")
    return n_samples - 1


def difference_grams(X: Floats, samples: Integers, neighbours: Integers, n_jobs: int | None) -> Floats:
    """Compute the local Gram matrices: scalar products of the differences between neighbours and their sample.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        All samples.
    samples : ndarray of shape (m,)
        Samples to compute the matrices of.
    neighbours : ndarray of shape (m, k)
        Their neighbours.
    n_jobs : int or None
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (m, k, k)
        Entry (i, a, b) is the product of ``X[neighbours[i, a]] - X[samples[i]]`` with the same for b.
    """
    from ilfs.kernels.neighbours import fill_difference_grams

    m, k = neighbours.shape
    table, grams = read_only(np.ascontiguousarray(X)), np.empty((m, k, k))

    def fill(some: slice) -> None:
        fill_difference_grams(table, samples[some], neighbours[some], grams[some])

    list(thread_map(fill, blocks(m, GRAM_SAMPLES_PER_TASK), n_jobs))
    return grams
