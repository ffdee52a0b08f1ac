r"""Infinite Feature Selection, without labels.

Features are the nodes of a graph whose edges weigh how much two features vary and how little they repeat each other; a
path stands for a subset of features, and the sum over all paths from a feature, of any length, is its score.

.. math:: a_{ij} = \alpha \max(s_i, s_j) + (1 - \alpha)\,(1 - |\rho_{ij}|), \qquad
          \check c = \big[(I - rA)^{-1} - I\big]\,\mathbf e, \qquad r = c / \rho(A)

with :math:`\rho_{ij}` the rank correlation of two features and :math:`s_i` the standard deviation of one, the spread
term brought to [0, 1] over all pairs.

Reference: G. Roffo, S. Melzi, M. Cristani, *Infinite Feature Selection*, ICCV 2015.

Where we depart from the paper and from the authors' toolbox:

- Nothing is inverted. The path sums and the spectral radius are both found in the Krylov space of the vector of ones
  (Lanczos), in about ten products of A with a vector instead of :math:`O(n^3)` operations.
- ``alpha`` weighs the spread, as in the paper's text; the toolbox weighs the correlation with it. Default 0.2, as in
  the comparison of the ILFS paper, and ``damping`` 0.9; the toolbox has 0.5 and 0.9 or 0.99, by version.
- The correlation enters by its absolute value, as in the paper and in version 6.2 of the toolbox. Version 5.2 has the
  signed value, by which a feature and its mirror image look twice as new to each other as two independent ones.
- Columns with one value have no correlation: they are left out and come last. The toolbox takes them for new.
- ``scale="range"`` and ``correlation="pearson"`` are ours. The versions of 2020, and the supervised one, are not here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats
from ilfs.execution import AllRows, Plan, ask, blocks, both, one_blas_thread, thread_map
from ilfs.execution.pairs import complete_moments, pair_correlations
from ilfs.parameters import check_between, check_choice, check_integer, check_within
from ilfs.selector import PlannedSelector, Scores, UnsupervisedRowsSelector, refuse_constant
from ilfs.statistics import Classes, DistinctValues
from ilfs.warn import warn

BLOCK_FEATURES = 64  # columns standardised at a time
STRIP_FEATURES = 256  # rows of the graph's matrix computed at a time
EQUAL = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-9}  # share by which spreads may differ from rounding
KEPT_BYTES = 2 << 30  # most of the graph that is kept; the rest is computed again for every product

Correlation = Literal["spearman", "pearson"]


class InfFS(UnsupervisedRowsSelector, PlannedSelector):
    """Infinite Feature Selection, without labels.

    Good features vary much and are unlike many others. The spread is that of the columns as they come: a column in
    millimetres has a thousand times the spread of the same in metres. Use ``scale="range"`` unless the units agree.
    After standardising all spreads are equal, and only being unlike others counts.

    Time: sorting every column, and one product of the table with itself. Memory: a copy of the table and half the
    graph, n_features^2 / 2 numbers up to 2 GB; of a larger graph the rest is computed anew in every step. Float32
    tables are worked on in float32, which takes half of both.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    alpha : float, default=0.2
        Weight of the spread against that of being unlike others, from 0 to 1.
    damping : float, default=0.9
        Spectral radius of the weighted graph, in (0, 1): near 0 only direct neighbours count, near 1 long paths.
    correlation : {"spearman", "pearson"}, default="spearman"
        Of ranks, as in the paper, or of the values.
    scale : {"range", None}, default=None
        ``"range"``: the spread of every column is that of its values brought to [0, 1]. None: that of the values.
    max_iter : int, default=100
        Most steps, that is products of the graph's matrix with a vector.
    tol : float, default=1e-10
        They end when path sums and spectral radius solve their equations up to this share.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Sum over all paths from the feature, at least 0.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    spectral_radius_ : float
        Of the graph before weighing.
    n_iter_ : int
        Steps made.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

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
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.damping = damping
        self.correlation = correlation
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Finite numbers.
        y : object, optional
            Not looked at; the name of a column of X leaves this column out.

        Returns
        -------
        InfFS
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: AllRows) -> Scores:
        Z, deviations = standardised(rows, self.correlation)
        spread = deviations if self.scale == "range" else deviations * (rows.high - rows.low)
        spread = brought_to_unit_interval(spread, EQUAL[rows.X.dtype]).astype(Z.dtype)
        graph = Graph(lambda strip: Z[strip] @ Z[strip.start :].T, spread, float(self.alpha), rows.n_jobs)
        return self._sum_paths(graph)

    def _sum_paths(self, graph: "Graph") -> Scores:
        """Sum over the paths of a graph, in steps that a callback may end."""
        steps = path_sums(graph.times, graph.spread.size, float(self.damping), self.tol, self.max_iter)
        for paths in self._steps(steps, "step", self.max_iter):
            self.n_iter_, self.spectral_radius_ = paths.n_steps, paths.spectral_radius
        if not paths.settled and paths.n_steps == self.max_iter:
            warn(
                f"the path sums did not settle to tol={self.tol:g} in max_iter={self.max_iter} steps",
                ConvergenceWarning,
            )
        return Scores(paths.sums, tie_break=paths.degrees)

    @property
    def _streams(self) -> bool:  # type: ignore[override]
        """Ranks of values need all rows, correlations of the values themselves do not."""
        return self.correlation == "pearson"

    def _plan(self, classes: Classes) -> Plan[Scores]:  # noqa: ARG002  without labels
        """Read the rows in blocks: twice, keeping the correlations of all pairs."""
        if not self._streams:
            raise ValueError(
                "InfFS ranks the values of each column, which needs all rows in memory: choose correlation='pearson' "
                f"to read rows in blocks, got correlation={self.correlation!r}"
            )
        moments, ends = yield from both(complete_moments(), ask(DistinctValues(2), labelling=None))
        columns = np.flatnonzero(~moments.constant)
        refuse_constant(columns)
        variance = moments.scatter[0, columns] / (moments.total[columns] - 1.0)
        spread = np.sqrt(variance)
        if self.scale == "range":
            spread /= (ends.high - ends.low)[columns]
        spread = brought_to_unit_interval(spread, EQUAL[np.dtype(np.float64)])
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
    """Columns (or their ranks) as rows of mean 0 and length 1, and standard deviations in units of the range."""
    from ilfs.kernels.ranks import write_unit_ranks

    Z = np.empty(rows.X.shape[::-1], rows.X.dtype)
    deviations = np.empty(len(Z))

    def standardise(columns: slice) -> None:
        low, high = rows.low[columns, None], rows.high[columns, None]
        values = np.ascontiguousarray(rows.X[:, columns].T, np.float64)
        centred = (values - low) / (high - low)  # in [0, 1], so that squares stay in range
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


def brought_to_unit_interval(spread: Floats, equal: float) -> Floats:
    """Such that max(s_i, s_j) over all pairs has least value 0 and largest 1; 0 if all are equal up to rounding."""
    apart = spread.max() - spread.min()
    return (spread - spread.min()) / apart if apart > equal * spread.max() else np.zeros_like(spread)


class Graph:
    """The symmetric matrix A, of which strips right of the diagonal are computed when first needed.

    Parameters
    ----------
    correlations : callable
        Gives some rows of the matrix of correlations from the diagonal on, in an array that may be written to.
    spread : ndarray of shape (n_features,)
        Spread of each feature in [0, 1], of the type that the correlations have.
    alpha : float
        Weight of the spread.
    n_jobs : int or None
        How many threads to use.
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
        """A times a vector."""
        vector = vector.astype(self.spread.dtype)
        product = np.zeros(len(vector))

        def parts(number: int) -> tuple[Floats, Floats]:
            rows, strip = self.strips[number], self.strip(number)
            return strip @ vector[rows.start :], vector[rows] @ strip[:, rows.stop - rows.start :]

        for rows, (right, below) in zip(
            self.strips, thread_map(parts, range(len(self.strips)), self.n_jobs), strict=True
        ):
            product[rows] += right
            product[rows.stop :] += below  # what lies below the diagonal is what lies right of it
        return product

    def strip(self, number: int) -> Floats:
        """Some rows of A from the diagonal on, all columns of its first row."""
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
    """Sums over the paths of a graph after some steps.

    Parameters
    ----------
    n_steps : int
        Products made.
    spectral_radius : float
        Of the graph.
    sums : ndarray of shape (n_features,)
        Over all paths from each node.
    degrees : ndarray of shape (n_features,)
        Over those of length one, before weighing.
    settled : bool
        Whether the equations are solved to the tolerance.
    """

    n_steps: int
    spectral_radius: float
    sums: Floats
    degrees: Floats
    settled: bool


def path_sums(times: Callable[[Floats], Floats], n: int, damping: float, tol: float, max_iter: int) -> Iterator[Paths]:
    """Row sums of (I - rA)^-1 - I, r = damping / spectral radius, better with every step.

    Lanczos: in the space of e, Ae, A^2 e, ... the matrix is a small tridiagonal T. The largest eigenvalue of T tends to
    that of A, whose vector has no negative entry and is therefore in that space; and (I - rT)^-1 gives the path sums.
    """
    basis = np.full((1, n), 1.0 / np.sqrt(n))
    diagonal, beside = np.zeros((2, 0))
    for step in range(max_iter):
        image = times(basis[-1])
        if step == 0:
            degrees = np.sqrt(n) * image
        with one_blas_thread():
            diagonal = np.append(diagonal, basis[-1] @ image)
            for _ in range(2):  # once leaves what rounding left
                image -= (basis @ image) @ basis
            length = float(np.linalg.norm(image))
            T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
            radius, shares, residual = solved(T, length, damping)
            sums = np.maximum(np.sqrt(n) * (shares @ basis) - 1.0, 0.0)
        settled = residual <= tol
        yield Paths(step + 1, radius, sums, degrees, settled)
        if settled:
            return
        basis, beside = np.vstack([basis, image / length]), np.append(beside, length)


def solved(T: Floats, beside: float, damping: float) -> tuple[float, Floats, float]:
    """Largest eigenvalue of T, (I - rT)^-1 times the first unit vector, and how far both are from solving for A."""
    eigenvalues, vectors = np.linalg.eigh(T)
    radius = float(eigenvalues[-1])
    if radius <= 0.0:  # no edges
        return 0.0, np.eye(len(T))[0], 0.0
    shares = vectors @ (vectors[0] / (1.0 - damping * eigenvalues / radius))
    return radius, shares, beside / radius * max(abs(vectors[-1, -1]), damping * abs(shares[-1]))
