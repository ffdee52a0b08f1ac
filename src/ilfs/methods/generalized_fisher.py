r"""Generalised Fisher score: a subset of features that separates the classes together.

The Fisher score rates every feature alone, and so the best m features may all carry the same information. The
generalised score looks for the m features for which linear discriminant analysis, written as a ridge regression,
separates the classes best. With X the centred samples (rows), H the class indicators of `class_targets`, and p the
features of the subset,

.. math:: \min_{p, W}\; \|X\, \mathrm{diag}(p)\, W - H\|^2 + \gamma \|W\|^2,
    \qquad p_j \in \{0, 1\},\; \sum_j p_j = m.

For fixed p the best W has a closed form. What remains is a convex function of the kernel matrix of the subset, and the
authors show that its minimum bounds the Fisher criterion of the subset from below:

.. math:: f(p) = \gamma\, \mathrm{tr}\, H^\top \Big(\gamma I + \sum_j p_j x_j x_j^\top\Big)^{-1} H

They relax the problem to mixtures of subsets, a multiple kernel learning problem, and solve it by cutting planes: each
step adds the subset of the m features with the largest :math:`\|x_j^\top A\|^2`, where
:math:`A = (\gamma I + \sum_j p_j x_j x_j^\top)^{-1} H`, and finds the best mixture of the subsets so far.

Reference: Q. Gu, Z. Li, J. Han, *Generalized Fisher Score for Feature Selection*, UAI 2011, arXiv:1202.3725.

Where we depart:

- A mixture of subsets matters only through the mean membership of each feature, p with :math:`0 \le p_j \le 1` and
  :math:`\sum_j p_j = m`. So we minimise f over p itself, by projected gradients (`ilfs.solvers.memberships`). The
  problem and its minimum are the same. Features with equal columns have equal memberships, for any order of columns.
- The most violated constraint of the cutting planes gives the stopping rule: the value of f is at most the duality gap
  above its minimum.
- Columns are scaled to norm 1. The problem would otherwise prefer columns with large values, unlike the Fisher score.
  In the limit of large :math:`\gamma` the order is that of `FisherScore`.
- The parameter ``gamma`` is :math:`\gamma / m`. The kernel grows with the number of features, and a ridge that suits 10
  features lets 200 fit any labels.
- The optimal p may have fractions. Features are ordered by :math:`\gamma \|x_j^\top A\|^2`, minus the derivative of f.
  Features of membership 1 are at or above the m-th largest of these values, features of membership 0 at or below it,
  and those between are equal to it and ordered by their memberships.
"""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats
from ilfs.execution import LabelledRows, blocks, thread_map
from ilfs.methods.svm_rfe import standardised
from ilfs.must_keep import MustKeep
from ilfs.neighbours.distinct import row_keys
from ilfs.parameters import check_between, check_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.solvers.memberships import Memberships, largest_memberships, minimise_memberships
from ilfs.statistics.labels import RowLabels
from ilfs.ties import RELATIVE_TOLERANCE
from ilfs.warn import warn

PRODUCT_FEATURES = 1024  # features that a thread multiplies at a time
TIED_MEMBERSHIPS = 1e-4  # memberships that differ by less are equal: the solver does not resolve them
TIED_DESCENTS = 1e-6  # the same for the scores, relative to the largest


class GeneralizedFisherScore(SupervisedRowsSelector):
    """Generalised Fisher score: a subset of features that together separate the classes.

    The subset depends on its size: ``n_features_to_select`` is part of the problem, and the best 10 features need not
    be among the best 50. X must be dense, without missing values. Memory is two float64 copies of X and two square
    matrices with as many rows as there are samples, or features of positive membership, whichever are fewer.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Size m of the subset: an integer, a fraction of all features, or None for half of them. ``"auto"``: the number
        is found by cross-validation of a linear SVM (see `ilfs.selection.SizeCV`), with the order of the subset of half
        of the features. Fit again with the number found to have the best subset of that size.
    gamma : float, default=0.1
        Weight of the ridge, relative to the total squared norm of the m columns. A small value looks for features that
        add to each other; a large one for features that are good alone, and gives the order of `FisherScore`.
    tol : float, default=1e-6
        Largest duality gap, relative to the objective.
    max_iter : int, default=1000
        Maximum number of steps.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Decrease of the objective per unit of membership, at the solution; 0 for constant columns.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    memberships_ : ndarray of shape (n_features,)
        Optimal memberships, from 0 to 1, with the sum ``n_features_to_select``.
    objective_ : float
        Objective of the m best features, as a fraction of that of the empty set: the part of the class targets that a
        ridge regression on these features leaves, plus the penalty.
    lower_bound_ : float
        No subset of this size has a smaller objective.
    n_iter_ : int
        Number of memberships that were tried, the start included.
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest; ``scores_`` and ``memberships_`` are
        means over the labels. NaN for a label that all samples or no samples have.
    per_label_ : dict of int to GeneralizedFisherScore
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_ : int
        Only with ``n_features_to_select="auto"``: the number found.
    cv_results_ : dict of str to ndarray
        Only with ``n_features_to_select="auto"``: the table of `ilfs.selection.SizeCV`.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    References
    ----------
    .. [1] Q. Gu, Z. Li, J. Han, "Generalized Fisher Score for Feature Selection", Uncertainty in Artificial
       Intelligence 2011, arXiv:1202.3725.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import GeneralizedFisherScore
    >>> wine = load_wine()
    >>> selector = GeneralizedFisherScore(n_features_to_select=3).fit(wine.data, wine.target)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['flavanoids', 'color_intensity', 'proline']
    """

    _takes_sparse = False
    _takes_missing = False
    _takes_long = True

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        gamma: float = 0.1,
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the features of X that together separate the classes in y.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers without missing values.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        GeneralizedFisherScore
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        size = min(self._n_selected(), rows.columns.size)
        problem = RidgeProblem(rows, float(self.gamma) * size)
        found = self._solve(problem, size)
        scores = membership_scores(found)
        chosen = np.zeros(rows.columns.size)
        chosen[scores.order()[:size]] = 1.0
        self.objective_, self.lower_bound_ = problem(chosen)[0], max(found.value - found.gap, 0.0)
        self.memberships_ = rows.expand(found.p)
        return scores

    def _solve(self, problem: "RidgeProblem", size: int) -> Memberships:
        """Minimise the objective; the start is the subset of the Fisher score."""
        alone = problem.descent_without_features
        start = largest_memberships(alone, size, RELATIVE_TOLERANCE * float(alone.max()))
        solutions = minimise_memberships(problem, start, size, tol=self.tol, max_iter=self.max_iter)
        for n_iter, found in enumerate(self._steps(solutions, "step", self.max_iter + 1), 1):  # noqa: B007
            pass
        self.n_iter_ = n_iter
        if self.n_iter_ > self.max_iter and found.gap > self.tol * found.value:
            warn(
                f"the memberships did not converge to tol={self.tol:g} in max_iter={self.max_iter} steps, "
                f"relative gap {found.gap / found.value:.1e}",
                ConvergenceWarning,
            )
        return found

    def _average_labels(self, fitted: list[Self]) -> Scores:
        self.memberships_ = np.mean([one.memberships_ for one in fitted], axis=0)
        scores = np.mean([one.scores_ for one in fitted], axis=0)
        return Scores(scores, self.memberships_, TIED_DESCENTS * float(scores.max()), TIED_MEMBERSHIPS)

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {"membership": self.memberships_}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_between("gamma", self.gamma, 1e-12, 1e12)
        check_between("tol", self.tol, 0, 1)
        check_integer("max_iter", self.max_iter, 1)


class RidgeProblem:
    """The objective f(p) and minus its gradient.

    Parameters
    ----------
    rows : LabelledRows
        Samples and their classes.
    gamma : float
        Weight of the ridge, relative to the squared norm of a column.
    """

    def __init__(self, rows: LabelledRows, gamma: float) -> None:
        rows = in_order_of_values(rows)
        self.columns, _ = standardised(rows, features_first=True)  # one row for each feature, of norm sqrt(n_samples)
        self.ridge, self.n_jobs = gamma * self.columns.shape[1], rows.n_jobs
        self.targets = class_targets(rows.labels)

    def __call__(self, p: Floats) -> tuple[float, Floats]:
        """Return f(p) and minus its gradient, computed from the smaller of the two Gram matrices."""
        used = np.flatnonzero(p)
        table = self.columns[used] * np.sqrt(p[used])[:, None]
        solve = solve_by_samples if len(used) >= table.shape[1] else solve_by_features
        residual = solve(table, self.targets, self.ridge)
        return float((residual * self.targets).sum()), self.descent(residual)

    @property
    def descent_without_features(self) -> Floats:
        """Return minus the gradient at p = 0, the scatter between the classes of each column."""
        return self.descent(self.targets)

    def descent(self, residual: Floats) -> Floats:
        """Return minus the gradient, given gamma (gamma I + K)^-1 H."""

        def of_block(features: slice) -> Floats:
            return np.asarray(((self.columns[features] @ residual) ** 2).sum(axis=1))

        parts = thread_map(of_block, blocks(len(self.columns), PRODUCT_FEATURES), self.n_jobs)
        return np.asarray(np.concatenate(list(parts)) / self.ridge)


def in_order_of_values(rows: LabelledRows) -> LabelledRows:
    """Sort the samples by hashes of their values.

    Many steps with a small gamma amplify rounding errors, which then do not depend on the order of the caller's rows.
    """
    order = np.argsort(row_keys(rows.X), kind="stable")
    return replace(rows, X=rows.X[order], labels=rows.labels.take(order))


def class_targets(labels: RowLabels) -> Floats:
    """Return centred class indicators, divided by the root of the class sizes and by the norm of all.

    The squared product with a column is then its scatter between the classes. For two classes the two columns are
    multiples of each other; one is enough.
    """
    sizes = np.bincount(labels.codes, minlength=labels.n_classes)
    targets = (labels.codes[:, None] == np.arange(labels.n_classes)) / np.sqrt(sizes)
    targets -= np.sqrt(sizes) / sizes.sum()
    if labels.n_classes == 2:
        targets = targets[:, :1]
    return np.asarray(targets / np.sqrt((targets**2).sum()))


def solve_by_samples(table: Floats, targets: Floats, ridge: float) -> Floats:
    """Return ridge (ridge I + K)^-1 targets, with K = table' table, by a system of n_samples equations."""
    gram = table.T @ table
    gram.flat[:: len(gram) + 1] += ridge
    return np.asarray(ridge * cho_solve(cho_factor(gram, overwrite_a=True, check_finite=False), targets))


def solve_by_features(table: Floats, targets: Floats, ridge: float) -> Floats:
    """Return what `solve_by_samples` does, by a system of as many equations as there are features (Woodbury)."""
    gram = table @ table.T
    gram.flat[:: len(gram) + 1] += ridge
    weights = cho_solve(cho_factor(gram, overwrite_a=True, check_finite=False), table @ targets)
    return np.asarray(targets - table.T @ weights)


def membership_scores(found: Memberships) -> Scores:
    """Score features by the descent; those between 0 and 1, whose descents are equal, by their memberships."""
    threshold = np.partition(found.descent, -found.size)[-found.size]
    is_in, is_out = found.p >= 1 - TIED_MEMBERSHIPS, found.p <= TIED_MEMBERSHIPS
    values = np.where(
        is_in,
        np.maximum(found.descent, threshold),
        np.where(is_out, np.minimum(found.descent, threshold), threshold),
    )
    return Scores(values, found.p, TIED_DESCENTS * float(values.max()), TIED_MEMBERSHIPS)
