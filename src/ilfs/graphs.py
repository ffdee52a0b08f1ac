"""Nearest neighbours and the graphs that unsupervised methods make of them."""

from typing import Any

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import blocks, thread_map

BLOCK_ROWS = 256  # a block of distances is this high and as wide as there are samples


def nearest_neighbours(X: Any, n_neighbors: int, n_jobs: int | None = None) -> tuple[Integers, Floats]:
    """The nearest other samples of every sample.

    A sample is not its own neighbour, but a copy of it may be. Of equally distant ones those that come first are taken.

    Parameters
    ----------
    X : ndarray or scipy.sparse array of shape (n_samples, n_features)
        Finite numbers.
    n_neighbors : int
        How many; less than n_samples.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    indices : ndarray of shape (n_samples, n_neighbors)
        Nearest first.
    squared_distances : ndarray of shape (n_samples, n_neighbors)
        Exact to rounding, also for samples that nearly coincide.
    """
    if not sparse.issparse(X):
        X = X - X.mean(axis=0, dtype=np.float64)  # far from zero, the products below would cancel
    norms = np.asarray((X.multiply(X) if sparse.issparse(X) else np.square(X)).sum(axis=1)).ravel()
    transposed = X.T.tocsc() if sparse.issparse(X) else X.T

    def nearest(rows: slice) -> tuple[Integers, Floats]:
        products = X[rows] @ transposed
        products = products.toarray() if sparse.issparse(products) else products
        distances = norms[rows, None] + norms - 2 * products
        here = np.arange(rows.start, rows.stop)
        distances[here - rows.start, here] = np.inf
        kth = np.partition(distances, n_neighbors - 1, axis=1)[:, n_neighbors - 1]
        margin = 1e-9 * (norms[rows] + norms.max())
        return _exact_nearest(X, here, distances <= (kth + margin)[:, None], n_neighbors)

    found = list(thread_map(nearest, blocks(X.shape[0], BLOCK_ROWS), n_jobs))
    return np.vstack([indices for indices, _ in found]), np.vstack([distances for _, distances in found])


def _exact_nearest(X: Any, here: Integers, near: Any, n_neighbors: int) -> tuple[Integers, Floats]:
    """The nearest of some candidates, by differences: rounding of the products must not decide."""
    indices, squared = np.empty((here.size, n_neighbors), np.intp), np.empty((here.size, n_neighbors))
    for a, i in enumerate(here):
        candidates = np.flatnonzero(near[a])
        difference = X[candidates] - (X[i] if not sparse.issparse(X) else X[np.full(candidates.size, i)])
        square = difference.multiply(difference) if sparse.issparse(X) else np.square(difference)
        distances = np.asarray(square.sum(axis=1)).ravel()
        best = np.argsort(distances, kind="stable")[:n_neighbors]
        indices[a], squared[a] = candidates[best], distances[best]
    return indices, squared
