"""Sums over all paths of the graph with edges a_ij = p_i p_j, computed without the matrix A of the graph.

A = p p' has rank one, so its powers are multiples of it: A^l = |p|^(2l - 2) A. With r = c / |p|^2 and 0 < c < 1,

    sum over l >= 1 of r^l A^l = (I - r A)^-1 - I = r p p' / (1 - c).

All functions take O(n) time, except those that form a matrix: `adjacency`, `novel_adjacency`, `novel_path_scores`.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats

Bound = Literal["radius", "rows"]
MIN_LANCZOS_NODES = 50  # for smaller graphs, all eigenvalues are computed


def inner(a: Floats, b: NDArray[Any]) -> float:
    """Compute the inner product of two vectors, the same for any number of threads."""
    # Not by BLAS, whose order of summation depends on the number of threads.
    return float(np.einsum("i,i->", a, b))


def path_weight(p: Floats, damping: float, bound: Bound = "radius") -> float:
    """Compute the weight r of one step along the graph.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes, not negative; the weight of an edge is the product of those of its two ends.
    damping : float
        A number in (0, 1).
    bound : {"radius", "rows"}, default="radius"
        The norm of r A that equals `damping`. ``"radius"``: the spectral radius, as in the paper. ``"rows"``: the
        largest row sum. Then r A has the transition probabilities of a random walk. At each node the walk is absorbed
        with probability 1 minus the row sum.

    Returns
    -------
    float
        r, or 0 for a graph without edges.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import path_weight
    >>> path_weight(np.array([3.0, 4.0]), damping=0.5)  # 0.5 / (9 + 16)
    0.02
    """
    # The only nonzero eigenvalue of p p' is |p|^2, and its row sums are p_i sum(p).
    largest = inner(p, p) if bound == "radius" else float(p.max(initial=0.0) * p.sum())
    return damping / largest if largest > 0 else 0.0


def fundamental_product(p: Floats, v: NDArray[Any], damping: float, bound: Bound = "radius") -> Floats:
    """Compute (I - r A)^-1 v for a vector v.

    With v the indicator of some nodes and ``bound="rows"``, this is the expected number of visits of the absorbing walk
    to those nodes, from every node.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes.
    v : ndarray of shape (n,)
        The vector.
    damping : float
        A number in (0, 1).
    bound : {"radius", "rows"}, default="radius"
        The norm of r A that equals `damping`; see `path_weight`.

    Returns
    -------
    ndarray of shape (n,)
        The fundamental matrix times v.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import fundamental_product
    >>> fundamental_product(np.array([1.0, 1.0]), np.array([1.0, 0.0]), damping=0.5)
    array([1.5, 0.5])
    """
    r = path_weight(p, damping, bound)
    # The formula of Sherman and Morrison for the inverse of I - r p p'.
    return np.asarray(v + p * (r * inner(p, v) / (1.0 - r * inner(p, p))), dtype=np.float64)


def absorption_times(p: Floats, damping: float, bound: Bound = "radius") -> Floats:
    """Compute (I - r A)^-1 times the vector of ones.

    With ``bound="rows"``, this is the expected number of steps until the walk from each node is absorbed.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes.
    damping : float
        A number in (0, 1).
    bound : {"radius", "rows"}, default="radius"
        The norm of r A that equals `damping`; see `path_weight`.

    Returns
    -------
    ndarray of shape (n,)
        Numbers of at least 1, in the same order as p: a larger weight has a longer time.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import absorption_times
    >>> absorption_times(np.array([1.0, 1.0]), damping=0.5, bound="rows")  # goes on with probability 1/2
    array([2., 2.])
    """
    return fundamental_product(p, np.ones_like(p), damping, bound)


def effective_returns(p: Floats) -> float:
    """Compute the effective number of nodes to which the walk returns.

    The diagonal of (I - r A)^-1 - I, ``r p_i^2 / (1 - r |p|^2)``, has the expected numbers of returns. With
    fractions f_i of the sum of all returns, the result is 1 / sum of f_i^2, the inverse of Simpson's index: k nodes
    that have all the returns in equal parts give k. The factor r cancels, so the damping does not matter.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes, not negative.

    Returns
    -------
    float
        A number from 1 to n, or 0 for a graph without edges.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import effective_returns
    >>> effective_returns(np.array([1.0, 1.0, 1.0, 0.0]))
    3.0
    >>> effective_returns(np.array([2.0, 1.0, 1.0]))  # (4 + 1 + 1)^2 / (16 + 1 + 1)
    2.0
    """
    largest = float(p.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    returns = (p / largest) ** 2
    return float(returns.sum()) ** 2 / inner(returns, returns)


def infinite_path_scores(p: Floats, damping: float) -> Floats:
    """Compute the row sums of (I - r A)^-1 - I, the weight of all paths from each node.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes.
    damping : float
        Spectral radius of r A, in (0, 1).

    Returns
    -------
    ndarray of shape (n,)
        A multiple of p, so the scores rank the nodes as p does.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import infinite_path_scores
    >>> infinite_path_scores(np.array([3.0, 4.0]), damping=0.5)
    array([0.84, 1.12])
    """
    r = path_weight(p, damping)
    return np.asarray(p * (r * float(p.sum()) / (1.0 - damping)))


def adjacency(p: Floats) -> Floats:
    """Compute the matrix A of the graph, for teaching and tests.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes.

    Returns
    -------
    ndarray of shape (n, n)
        The products of all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import adjacency
    >>> adjacency(np.array([3.0, 4.0]))
    array([[ 9., 12.],
           [12., 16.]])
    """
    return np.outer(p, p)


def novel_adjacency(p: Floats, correlation: Floats) -> Floats:
    """Compute the matrix of a graph that accounts for redundancy: a_ij = p_i p_j (1 - rho_ij^2).

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes, not negative.
    correlation : ndarray of shape (n, n)
        Correlations of all pairs of nodes.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, with zeros on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import novel_adjacency
    >>> novel_adjacency(np.array([1.0, 0.5]), np.array([[1.0, 0.6], [0.6, 1.0]]))
    array([[0.  , 0.32],
           [0.32, 0.  ]])
    """
    A = np.outer(p, p) * (1.0 - correlation**2)
    np.fill_diagonal(A, 0.0)
    return A


def novel_path_scores(p: Floats, correlation: Floats, damping: float) -> Floats:
    """Compute the weight of all paths from each node of `novel_adjacency`, by conjugate gradients.

    The matrix of this graph does not have rank one, and its path sums depend on redundancy. They do not rank subsets,
    though: a node scores higher if it is unlike many others, but copies of a node all have the same score and follow
    each other in the order. Picking one node at a time (`ilfs.solvers.picking`) works better; the documentation has
    measurements.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Weights of the nodes, not negative.
    correlation : ndarray of shape (n, n)
        Correlations of all pairs of nodes.
    damping : float
        Spectral radius of r A, in (0, 1).

    Returns
    -------
    ndarray of shape (n,)
        Row sums of (I - r A)^-1 - I.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import novel_path_scores
    >>> correlation = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> novel_path_scores(np.ones(3), correlation, damping=0.5).round(3)  # the third is unlike both others
    array([0.852, 0.852, 1.224])
    """
    return path_scores(novel_adjacency(p, correlation), damping)


def path_scores(A: Any, damping: float) -> Floats:
    """Compute the weight of all paths from each node of any graph, by conjugate gradients.

    Parameters
    ----------
    A : ndarray or sparse matrix of shape (n, n)
        Weights of the edges, symmetric and not negative.
    damping : float
        Spectral radius of r A, in (0, 1).

    Returns
    -------
    ndarray of shape (n,)
        Row sums of (I - r A)^-1 - I; zeros for a graph without edges.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.paths import path_scores
    >>> path_scores(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), damping=0.5)  # 1/2 + 1/4 + ...
    array([1., 1., 0.])
    """
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.linalg import cg, eigsh

    edges = csr_array(A)
    scores, nodes = np.zeros(edges.shape[0]), np.flatnonzero(edges.sum(axis=1))
    if not nodes.size:
        return scores
    edges, n = edges[nodes][:, nodes], nodes.size  # a node without edges has no path
    # The fixed start of the Lanczos steps gives the same result in every call.
    is_small = n < MIN_LANCZOS_NODES
    radius = np.linalg.eigvalsh(edges.toarray())[-1] if is_small else eigsh(edges, 1, which="LA", v0=np.ones(n))[0][0]
    # I - r A is symmetric and, as the spectral radius of r A is below 1, positive definite.
    paths, _ = cg(eye_array(n) - damping / radius * edges, np.ones(n), rtol=1e-12)
    scores[nodes] = paths - 1.0
    return scores
