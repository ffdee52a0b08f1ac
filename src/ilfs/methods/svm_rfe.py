r"""Recursive feature elimination with a linear support vector machine.

Train a linear machine, remove the feature with the smallest squared weight, train again, until one feature is left: the
later a feature is removed, the better it is.

.. math:: \min_{w, b}\; \tfrac12 |w|^2 + C \sum_i \max(0,\, 1 - y_i (w^\top x_i + b))^2,
   \qquad \text{remove } \arg\min_j w_j^2

With more than two classes there is a machine for each class against the rest, and :math:`w_j^2` is summed over them.

Reference: I. Guyon, J. Weston, S. Barnhill, V. Vapnik, *Gene Selection for Cancer Classification using Support Vector
Machines*, Machine Learning 46, 2002.

Where we depart:

- The loss is the squared hinge, as in scikit-learn's `LinearSVC`. In the dual it is a ridge 1 / (2 C) on the diagonal
  of the kernel and no upper bound of the multipliers; the paper has such a ridge and a bound as well.
- The intercept is not penalised, as in the paper and unlike `LinearSVC`.
- Columns are standardised, as the paper does with genes: weights of columns in different units cannot be compared.
  ``standardize=False`` compares them as they are, which the authors' toolbox for the comparison does.
- The elimination always ends with one feature. The toolbox, as its own demo calls it, eliminates nothing and returns
  the columns in their order; and what it removes at once it lists in reverse order.
- A share as ``step`` is a share of the features that are left, as in the paper (which halves). In scikit-learn's `RFE`
  it is one of all features.
- Of columns with the same weight, copies for example, the later one is removed first.
- Every machine is solved exactly and from the solution of the one before; see `ilfs.solvers.svm`.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows, blocks, one_blas_thread, thread_map
from ilfs.parameters import check_between, check_choice, check_integer, is_fraction, is_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.solvers.svm import Dual, Primal
from ilfs.warn import warn

BLOCK_COLUMNS = 128  # columns that are standardised at once
LEAST_SCALE = 1e-100  # of the largest standard deviation; smaller ones could not be squared


class SVMRFE(SupervisedRowsSelector):
    """Recursive feature elimination with a linear support vector machine.

    Solves the machines of all steps exactly. Takes dense tables without missing cells. Needs memory for a copy of X in
    double precision, a tenth of that again, and n_machines + 1 square matrices with as many rows as X has samples or
    features, whichever are fewer; there is one machine for two classes, otherwise one a class.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half. All features are ranked in any case.
    C : float, default=1.0
        Weight of the samples inside the margin against the size of the weights. Very large values, over about 1e10
        divided by the mean squared norm of a sample, are treated as that.
    step : int or float, default=1
        How many features to remove at once: a number, or a share in (0, 1) of those that are left, but at least one.
    standardize : bool, default=True
        Divide columns by their standard deviation.
    tol : float, default=1e-9
        How far a sample may be on the wrong side of the margin.
    max_iter : int, default=1000
        Most systems of equations to solve for one machine; few are needed unless C is large.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors. They help if X is large.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The step at which a feature was removed, from 1; one more than the last step for what is left then; 0 for
        columns with one value. Features removed in the same step are ordered by their weights.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_iter_ : int
        Most systems of equations that were solved for one machine.
    squared_weights_ : ndarray of shape (n_features,)
        The squared weight of each feature, summed over the machines, when it was removed.
    classes_ : ndarray of shape (n_classes,)
        The labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: the scores of each label against the rest; NaN for a label that all samples
        have, or none. ``scores_`` are then the means of 1 / rank over the labels, and ``squared_weights_`` means too.
    per_label_ : dict of int to SVMRFE
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene Selection for Cancer Classification using Support Vector
       Machines", Machine Learning 46, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import SVMRFE
    >>> wine = load_wine()
    >>> selector = SVMRFE(n_features_to_select=3).fit(wine.data, wine.target)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['flavanoids', 'color_intensity', 'proline']
    """

    _takes_sparse = False
    _takes_missing = False
    _takes_long = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        C: float = 1.0,
        step: int | float = 1,
        standardize: bool = True,
        tol: float = 1e-9,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.step = step
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by how long they stay in a machine that tells the classes y apart.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        SVMRFE
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        removals = []
        with one_blas_thread(), np.errstate(all="ignore"):  # the machines check their solutions
            machines, unit = self._machines(rows)
            for n in self._steps(batch_sizes(rows.columns.size, self.step), "elimination"):
                places, squares = machines.weakest(n)
                removals.append((machines.columns[places], squares))
                machines = without(machines, places)
            places, squares = machines.weakest(machines.n_features)
            removals.append((machines.columns[places], squares))
        if not machines.converged:
            warn(f"a machine did not settle to tol={self.tol:g} in max_iter={self.max_iter} steps", ConvergenceWarning)
        step, place, squares = removal_tables(removals)
        self.n_iter_ = machines.n_iter
        self.squared_weights_ = rows.expand(squares / unit**2)
        return Scores(step, tie_break=place)

    def _machines(self, rows: LabelledRows) -> tuple[Dual | Primal, float]:
        """The machines of all features, and the unit in which their columns are measured."""
        n_samples, n_features = rows.X.shape
        features_first = n_features > n_samples
        signs = rows.labels.one_against_rest()
        table, deviation = standardised(rows, features_first=features_first)
        unit = 1.0 if self.standardize else float(deviation.max())
        scale = np.ones(n_features) if self.standardize else np.maximum(deviation / unit, LEAST_SCALE)
        ridge = 1 / (2 * float(self.C)) / unit**2
        settings: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "n_jobs": rows.n_jobs}
        if features_first:
            table *= scale[:, None]
            return Dual(table, signs, ridge, **settings), unit
        return Primal(table, signs, scale, ridge, np.arange(n_features), **settings), unit

    def _average_labels(self, fitted: list[Self]) -> Scores:
        self.squared_weights_ = np.mean([one.squared_weights_ for one in fitted], axis=0)
        self.n_iter_ = max(one.n_iter_ for one in fitted)
        # mean steps would favour what is middling for every label over what is best for one
        return Scores(np.mean([1 / one.ranking_ for one in fitted], axis=0))

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {"squared_weight": self.squared_weights_}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_between("C", self.C, 1e-100, 1e100)
        if not (is_integer(self.step) and self.step >= 1) and not (is_fraction(self.step) and self.step < 1):
            raise ValueError(f"step must be an integer >= 1 or a share in (0, 1), got {self.step!r}")
        check_choice("standardize", self.standardize, (True, False))
        check_between("tol", self.tol, 0, 1)
        check_integer("max_iter", self.max_iter, 1)


def batch_sizes(n_features: int, step: int | float) -> list[int]:
    """How many features each step removes until one is left."""
    sizes = []
    while n_features > 1:
        wanted = int(step) if is_integer(step) else max(1, int(step * n_features + 1e-9))
        sizes.append(min(wanted, n_features - 1))
        n_features -= sizes[-1]
    return sizes


def standardised(rows: LabelledRows, *, features_first: bool) -> tuple[Floats, Floats]:
    """Columns with mean 0 and variance 1, and their standard deviations.

    In rows of features, or in columns after one of ones.
    """
    n_samples, n_features = rows.X.shape
    table = np.empty((n_features, n_samples) if features_first else (n_samples, n_features + 1))
    deviation = np.empty(n_features)

    def fill(columns: slice) -> None:
        block = rows.X[:, columns].astype(np.float64)
        block -= block.mean(axis=0)
        width = rows.high[columns] - rows.low[columns]
        block /= width  # so that squares neither overflow nor vanish
        spread = np.sqrt(np.einsum("ij,ij->j", block, block) / n_samples)
        block /= spread
        deviation[columns] = width * spread
        if features_first:
            table[columns] = block.T
        else:
            table[:, columns.start + 1 : columns.stop + 1] = block

    for _ in thread_map(fill, blocks(n_features, BLOCK_COLUMNS), rows.n_jobs):
        pass
    if not features_first:
        table[:, 0] = 1.0
    return table, deviation


def without(machines: Dual | Primal, places: Integers) -> Dual | Primal:
    """Remove features, and go on with the smaller systems of equations when there are fewer features than samples."""
    machines.remove(places)
    if isinstance(machines, Dual) and machines.n_features <= machines.n_samples:
        return machines.in_primal()
    return machines


def removal_tables(removals: list[tuple[Integers, Floats]]) -> tuple[Floats, Floats, Floats]:
    """Step, place in the order of removal and squared weight of every feature, from those of every step."""
    order = np.concatenate([columns for columns, _ in removals])
    tables = np.empty((3, order.size))
    tables[0, order] = np.repeat(np.arange(1, len(removals) + 1), [columns.size for columns, _ in removals])
    tables[1, order] = np.arange(order.size)
    tables[2, order] = np.concatenate([squares for _, squares in removals])
    return tables[0], tables[1], tables[2]
