r"""Infinite Feature Selection.

An unsupervised filter. Features are the nodes of a graph. The weight of an edge is large if one of the two features has
a large spread and if they are hardly correlated. A path stands for a subset of features. The score of a feature is the
sum over all paths that start at it, of any length.

.. math:: a_{ij} = \alpha \max(s_i, s_j) + (1 - \alpha)\,(1 - |\rho_{ij}|), \qquad
          \check c = \big[(I - rA)^{-1} - I\big]\,\mathbf e, \qquad r = c / \rho(A)

Here :math:`\rho_{ij}` is the rank correlation of two features, :math:`s_i` the standard deviation of a feature, scaled
such that the spread term covers [0, 1] over all pairs, :math:`\rho(A)` the spectral radius and c the damping.

Reference: G. Roffo, S. Melzi, M. Cristani, *Infinite Feature Selection*, ICCV 2015.

Where we depart from the paper and from the authors' toolbox:

- No matrix is inverted. The path sums and the spectral radius are both computed by the Lanczos method in the Krylov
  space of the vector of ones: about ten products of A with a vector instead of :math:`O(n^3)` operations.
- ``alpha`` is the weight of the spread, as in the paper's text; in the toolbox it is the weight of the correlation. The
  defaults are 0.2, as in the comparison of the ILFS paper, and ``damping=0.9``. The toolbox has 0.5, and 0.9 or 0.99,
  depending on the version.
- The absolute value of the correlation is used, as in the paper and in version 6.2 of the toolbox. Version 5.2 uses the
  signed value, so that 1 - correlation is 2 for a feature and its negative, and only 1 for two independent features.
- Constant columns have no correlation. They are left out and come last. The toolbox treats them as uncorrelated.
- ``scale="range"`` and ``correlation="pearson"`` are additions. The variants of 2020 and the supervised variant are not
  implemented.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats
from ilfs.execution import AllRows, Plan, ask, blocks, both, one_blas_thread, thread_map
from ilfs.execution.pairs import complete_moments, pair_correlations
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_between, check_choice, check_integer, check_within
from ilfs.selector import PlannedSelector, Scores, UnsupervisedRowsSelector, refuse_constant
from ilfs.sources import Source
from ilfs.statistics import Classes, DistinctValues
from ilfs.warn import warn

BLOCK_FEATURES = 64  # columns standardised at a time
STRIP_FEATURES = 256  # rows of the graph's matrix computed at a time
SPREAD_ROUNDING = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-9}  # relative rounding error of a spread
KEPT_BYTES = 2 << 30  # maximum size of the stored part of the graph; the rest is recomputed for every product

Correlation = Literal["spearman", "pearson"]


class InfFS(UnsupervisedRowsSelector, PlannedSelector):
    """Infinite Feature Selection: features with a large spread and small correlations with others.

    It needs no labels. By default the spread depends on the units: a column in millimetres has a thousand times the
    spread of the same column in metres. Use ``scale="range"`` unless all columns have the same unit. If the columns are
    standardised, all spreads are equal, and only the correlations matter.

    The cost is that of sorting every column and of n_samples n_features^2 / 2 multiplications. Peak memory is a copy of
    the table and half of the graph, n_features^2 / 2 numbers, but at most 2 GB of it: the rest of a larger graph is
    recomputed in every step. Float32 tables are processed in float32, which halves time and memory.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them.
    alpha : float, default=0.2
        Weight of the spread, from 0 to 1; 1 - alpha is the weight of the correlation term.
    damping : float, default=0.9
        Spectral radius of the scaled graph rA, in (0, 1). Near 0 only direct neighbours count; near 1 long paths count.
    correlation : {"spearman", "pearson"}, default="spearman"
        Type of correlation. ``"spearman"``: of the ranks, as in the paper. ``"pearson"``: of the values.
    scale : {"range", None}, default=None
        Scaling before the spread is computed. ``"range"``: every column is scaled to [0, 1]. None: no scaling.
    max_iter : int, default=100
        Maximum number of steps; each is a product of the matrix A with a vector.
    tol : float, default=1e-10
        The iteration stops when the relative residuals of path sums and spectral radius are at most this.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Sum over all paths from the feature, at least 0; 0 for a constant feature.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    spectral_radius_ : float
        Spectral radius of A.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    References
    ----------
    .. [1] G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import InfFS
    >>> wine = load_wine()
    >>> selector = InfFS(n_features_to_select=3, scale="range").fit(wine.data)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['malic_acid', 'ash', 'od280/od315_of_diluted_wines']
    """

    _takes_sparse = False
    _takes_missing = False
    _takes_long = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        alpha: float = 0.2,
        damping: float = 0.9,
        correlation: Correlation = "spearman",
        scale: Literal["range"] | None = None,
        max_iter: int = 100,
        tol: float = 1e-10,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.damping = damping
        self.correlation = correlation
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by their spread and their correlations.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Finite numbers.
        y : object, optional
            Ignored, except that the name of a column of X excludes this column from the features.

        Returns
        -------
        InfFS
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        Z, deviations = standardised(rows, self.correlation)
        spread = deviations if self.scale == "range" else deviations * (rows.high - rows.low)
        spread = scaled_spread(spread, SPREAD_ROUNDING[rows.X.dtype]).astype(Z.dtype)
        graph = Graph(lambda strip: Z[strip] @ Z[strip.start :].T, spread, float(self.alpha), rows.n_jobs)
        return self._sum_paths(graph)

    def _sum_paths(self, graph: "Graph") -> Scores:
        """Sum over the paths of a graph; a callback may end the iteration after any step."""
        steps = path_sums(graph.times, graph.spread.size, float(self.damping), self.tol, self.max_iter)
        for paths in self._steps(steps, "step", self.max_iter):
            self.n_iter_, self.spectral_radius_ = paths.n_steps, paths.spectral_radius
        if not paths.converged and paths.n_steps == self.max_iter:
            warn(
                f"the path sums did not converge to tol={self.tol:g} in max_iter={self.max_iter} steps",
                ConvergenceWarning,
            )
        return Scores(paths.sums, tie_break=paths.degrees)

    @property
    def _streams(self) -> bool:  # type: ignore[override]
        """Ranks need all rows in memory; Pearson correlations can be computed from blocks."""
        return self.correlation == "pearson"

    @property
    def n_reads(self) -> int:
        """Number of reads of all rows that ``fit`` makes if they are not in memory: moments, products."""
        return 2

    def _score_stream(self, source: Source) -> Scores:
        self._refuse_ranks()
        return super()._score_stream(source)

    def _refuse_ranks(self) -> None:
        """Raise an error if ranks are needed: unlike other methods, this one has a parameter that allows blocks."""
        if not self._streams:
            raise ValueError(
                "InfFS ranks the values of each column, which needs all rows in memory: choose correlation='pearson' "
                f"to read rows in blocks, got correlation={self.correlation!r}"
            )

    def _plan(self, classes: Classes) -> Plan[Scores]:  # noqa: ARG002  unsupervised
        """Read the rows twice in blocks; the correlations of all pairs are stored."""
        self._refuse_ranks()
        moments, ends = yield from both(complete_moments(), ask(DistinctValues(2), labelling=None))
        columns = np.flatnonzero(~moments.constant)
        refuse_constant(columns)
        variance = moments.scatter[0, columns] / (moments.total[columns] - 1.0)
        spread = np.sqrt(variance)
        if self.scale == "range":
            spread /= (ends.high - ends.low)[columns]
        spread = scaled_spread(spread, SPREAD_ROUNDING[np.dtype(np.float64)])
        correlation = yield from pair_correlations(moments, columns, "InfFS")
        graph = Graph(lambda strip: correlation[strip, strip.start :].copy(), spread, float(self.alpha), self.n_jobs)
        return self._sum_paths(graph).with_constants(columns, moments.total.size, self._lowest)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_within("alpha", self.alpha, 0, 1)
        check_between("damping", self.damping, 0, 1)
        check_choice("correlation", self.correlation, ("spearman", "pearson"))
        check_choice("scale", self.scale, ("range", None))
        check_integer("max_iter", self.max_iter, 1)
        check_between("tol", self.tol, 0, 1)


def standardised(rows: AllRows, correlation: Correlation) -> tuple[Floats, Floats]:
    """Standardise the columns or their ranks.

    Returns
    -------
    Z : ndarray of shape (n_features, n_samples)
        One column, or its ranks, in each row, with mean 0 and norm 1: dot products of rows are correlations.
    deviations : ndarray of shape (n_features,)
        Standard deviations divided by the ranges of the columns.
    """
    from ilfs.kernels.ranks import write_unit_ranks

    Z = np.empty(rows.X.shape[::-1], rows.X.dtype)
    deviations = np.empty(len(Z))

    def standardise(columns: slice) -> None:
        low, high = rows.low[columns, None], rows.high[columns, None]
        values = np.ascontiguousarray(rows.X[:, columns].T, np.float64)
        centred = (values - low) / (high - low)  # in [0, 1], so that squares neither overflow nor underflow
        centred -= centred.mean(axis=1, keepdims=True)
        lengths = np.sqrt(np.einsum("fs,fs->f", centred, centred))
        deviations[columns] = lengths / np.sqrt(values.shape[1] - 1)
        if correlation == "spearman":
            write_unit_ranks(values, np.argsort(values, axis=1), Z[columns])
        else:
            np.divide(centred, lengths[:, None], out=Z[columns], casting="same_kind")

    for _ in thread_map(standardise, blocks(len(Z), BLOCK_FEATURES), rows.n_jobs):
        pass
    return Z, deviations


def scaled_spread(spread: Floats, rounding: float) -> Floats:
    """Scale the spread linearly to [0, 1]; all zeros if the spreads are equal up to rounding.

    The paper scales max(s_i, s_j) over all pairs, i = j included. Its minimum and maximum are those of s.
    """
    apart = spread.max() - spread.min()
    return (spread - spread.min()) / apart if apart > rounding * spread.max() else np.zeros_like(spread)


class Graph:
    """Symmetric matrix A of the edge weights.

    Only strips of rows are stored, from the diagonal to the right. They are computed when they are first needed.

    Parameters
    ----------
    correlations : callable
        Function that returns the correlations of a slice of the features with these and all later features, as a
        new array, which is overwritten.
    spread : ndarray of shape (n_features,)
        Spread of each feature in [0, 1], with the dtype of the correlations.
    alpha : float
        Weight of the spread.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(
        self, correlations: Callable[[slice], Floats], spread: Floats, alpha: float, n_jobs: int | None
    ) -> None:
        self.correlations, self.spread, self.alpha, self.n_jobs = correlations, spread, alpha, n_jobs
        self.strips = blocks(spread.size, STRIP_FEATURES)
        sizes = [spread.itemsize * (rows.stop - rows.start) * (spread.size - rows.start) for rows in self.strips]
        self.n_kept = int(np.searchsorted(np.cumsum(sizes), KEPT_BYTES, side="right"))
        self.kept: dict[int, Floats] = {}

    def times(self, vector: Floats) -> Floats:
        """Multiply A with a vector."""
        vector = vector.astype(self.spread.dtype)
        product = np.zeros(len(vector))

        def parts(number: int) -> tuple[Floats, Floats]:
            rows, strip = self.strips[number], self.strip(number)
            return strip @ vector[rows.start :], vector[rows] @ strip[:, rows.stop - rows.start :]

        for rows, (right, below) in zip(
            self.strips, thread_map(parts, range(len(self.strips)), self.n_jobs), strict=True
        ):
            product[rows] += right
            product[rows.stop :] += below  # A is symmetric: below the diagonal is the transposed strip
        return product

    def strip(self, number: int) -> Floats:
        """Return a strip of rows of A, from the diagonal element of its first row to the right."""
        from ilfs.kernels.edges import write_edges

        if number in self.kept:
            return self.kept[number]
        rows = self.strips[number]
        strip = self.correlations(rows)
        write_edges(strip, self.spread[rows], self.spread[rows.start :], self.alpha)
        if number < self.n_kept:
            self.kept[number] = strip
        return strip


@dataclass(frozen=True)
class Paths:
    """Path sums of a graph after some steps of the iteration.

    Parameters
    ----------
    n_steps : int
        Number of products with A so far.
    spectral_radius : float
        Estimate of the spectral radius of A.
    sums : ndarray of shape (n_features,)
        Sums over all paths from each node.
    degrees : ndarray of shape (n_features,)
        Row sums of A, the sums over paths of length one before scaling.
    converged : bool
        True if the residuals are within the tolerance.
    """

    n_steps: int
    spectral_radius: float
    sums: Floats
    degrees: Floats
    converged: bool


def path_sums(times: Callable[[Floats], Floats], n: int, damping: float, tol: float, max_iter: int) -> Iterator[Paths]:
    """Approximate the row sums of (I - rA)^-1 - I, with r = damping / spectral radius, by the Lanczos method.

    In an orthonormal basis of the Krylov space of e, Ae, A^2 e, ..., where e is the vector of ones, A is a small
    tridiagonal matrix T. The largest eigenvalue of T converges to that of A: by the theorem of Perron and Frobenius the
    eigenvector has no negative entry, so it is not orthogonal to e. The path sums are (I - rT)^-1 in the same basis.
    """
    basis = np.full((1, n), 1.0 / np.sqrt(n))
    diagonal, off_diagonal = np.zeros((2, 0))
    for step in range(max_iter):
        image = times(basis[-1])
        if step == 0:
            degrees = np.sqrt(n) * image
        with one_blas_thread():
            diagonal = np.append(diagonal, basis[-1] @ image)
            for _ in range(2):  # Gram-Schmidt twice: once is not orthogonal to working precision
                image -= (basis @ image) @ basis
            length = float(np.linalg.norm(image))
            T = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
            radius, coefficients, residual = solved(T, length, damping)
            # e is sqrt(n) times the first basis vector. Subtracting 1 = (I e)_i leaves the paths of length 1 or more.
            sums = np.maximum(np.sqrt(n) * (coefficients @ basis) - 1.0, 0.0)
        converged = residual <= tol
        yield Paths(step + 1, radius, sums, degrees, converged)
        if converged:
            return
        basis, off_diagonal = np.vstack([basis, image / length]), np.append(off_diagonal, length)


def solved(T: Floats, next_off_diagonal: float, damping: float) -> tuple[float, Floats, float]:
    """Solve both problems for the tridiagonal matrix T of the Lanczos method.

    Returns
    -------
    radius : float
        Largest eigenvalue of T.
    coefficients : ndarray of shape (n_steps,)
        (I - rT)^-1 times the first unit vector, with r = damping / radius.
    residual : float
        Larger of the relative residuals of the two for A. In the Lanczos method a residual is the next off-diagonal
        element of T times the last coefficient of the solution.
    """
    eigenvalues, vectors = np.linalg.eigh(T)
    radius = float(eigenvalues[-1])
    if radius <= 0.0:  # no edges
        return 0.0, np.eye(len(T))[0], 0.0
    # T = V diag(eigenvalues) V', so (I - rT)^-1 e_1 = V diag(1 / (1 - r eigenvalues)) V' e_1.
    coefficients = vectors @ (vectors[0] / (1.0 - damping * eigenvalues / radius))
    last = max(abs(vectors[-1, -1]), damping * abs(coefficients[-1]))
    return radius, coefficients, next_off_diagonal / radius * last
