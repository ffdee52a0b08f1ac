r"""Recursive feature elimination with a linear support vector machine.

A linear SVM is trained, the feature with the smallest squared weight is removed, and the SVM is trained again, until
one feature is left. The later a feature is removed, the better it is.

.. math:: \min_{w, b}\; \tfrac12 |w|^2 + C \sum_i \max(0,\, 1 - y_i (w^\top x_i + b))^2,
   \qquad \text{remove } \arg\min_j w_j^2

With more than two classes there is an SVM for each class against the rest, and :math:`w_j^2` is summed over them.

Reference: I. Guyon, J. Weston, S. Barnhill, V. Vapnik, *Gene Selection for Cancer Classification using Support Vector
Machines*, Machine Learning 46, 2002.

Where we depart:

- The loss is the squared hinge, as in scikit-learn's `LinearSVC`. In the dual problem this adds a ridge 1 / (2 C) to
  the diagonal of the kernel and leaves the multipliers without an upper bound; the paper has both a ridge and a bound.
- The intercept is not penalised, as in the paper and unlike `LinearSVC`.
- Columns are standardised, as in the paper: weights of columns in different units cannot be compared.
  ``standardize=False`` uses the columns as they are, like the toolbox of the ILFS paper's authors.
- The elimination always ends with one feature. The toolbox, called as in its own demo, eliminates nothing and returns
  the columns in their original order. If it does eliminate, it lists features removed in the same step in reverse
  order.
- A fractional ``step`` is a fraction of the remaining features, as in the paper (which halves). In scikit-learn's `RFE`
  it is a fraction of all features.
- If columns have the same weight, for example copies, the later one is removed first.
- Every SVM is solved exactly, starting from the solution of the previous one; see `ilfs.solvers.svm`.
"""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows, blocks, one_blas_thread, thread_map
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_between, check_choice, check_integer, is_fraction, is_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.solvers.svm import Dual, Primal
from ilfs.warn import warn

STANDARDISED_BLOCK_COLUMNS = 128  # columns that a thread standardises at a time
MIN_RELATIVE_SCALE = 1e-100  # of the largest standard deviation; squares of smaller ones would underflow


class SVMRFE(SupervisedRowsSelector):
    """Recursive feature elimination with a linear support vector machine.

    The SVMs of all steps are solved exactly. X must be dense, without missing values. Memory is a float64 copy of X, a
    tenth of that again, and n_svms + 1 square matrices with min(n_samples, n_features) rows. There is one SVM for two
    classes, otherwise one per class.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"auto"``: the
        number is found by cross-validation of a linear SVM (see `ilfs.selection.SizeCV`). All features are ranked in
        any case.
    C : float, default=1.0
        Weight of the loss relative to the squared norm of the weights. Values larger than about 1e10 divided by the
        mean squared norm of a sample are treated as that value.
    step : int or float, default=1
        Number of features to remove at once: an integer, or a fraction in (0, 1) of the remaining features, but at
        least one.
    standardize : bool, default=True
        Whether to divide columns by their standard deviation.
    tol : float, default=1e-9
        Distance by which a sample may be on the wrong side of the margin.
    max_iter : int, default=1000
        Maximum number of linear systems solved for one SVM; few are needed unless C is large.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors. Threads help if X is large.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Step at which a feature was removed, from 1; one more than the last step for the feature that is left; 0 for
        constant columns. Features removed in the same step are ordered by their weights.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_iter_ : int
        Largest number of linear systems solved for one SVM.
    squared_weights_ : ndarray of shape (n_features,)
        Squared weight of each feature when it was removed, summed over the SVMs.
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest; NaN for a label that all samples or no
        samples have. ``scores_`` is then the mean of 1 / rank over the labels, and ``squared_weights_`` a mean too.
    per_label_ : dict of int to SVMRFE
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
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        C: float = 1.0,
        step: int | float = 1,
        standardize: bool = True,
        tol: float = 1e-9,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.step = step
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by how long they stay in a linear SVM for the classes y.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers without missing values.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        SVMRFE
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        removals = []
        with one_blas_thread(), np.errstate(all="ignore"):  # the solver checks its solutions
            svms, unit = self._initial_svms(rows)
            for n in self._steps(batch_sizes(rows.columns.size, self.step), "elimination"):
                positions, squares = svms.weakest(n)
                removals.append((svms.columns[positions], squares))
                svms = without(svms, positions)
            # If a callback stopped the elimination early, the remaining features are ranked by their weights.
            positions, squares = svms.weakest(svms.n_features)
            removals.append((svms.columns[positions], squares))
        if not svms.converged:
            warn(f"an SVM did not converge to tol={self.tol:g} in max_iter={self.max_iter} steps", ConvergenceWarning)
        step, place, squares = removal_tables(removals)
        self.n_iter_ = svms.n_iter
        self.squared_weights_ = rows.expand(squares / unit**2)
        return Scores(step, tie_break=place)

    def _initial_svms(self, rows: LabelledRows) -> tuple[Dual | Primal, float]:
        """Return the SVMs of all features, and the unit in which their columns are measured.

        Without standardisation the columns are divided by the largest standard deviation, so that no square overflows.
        The ridge is divided by the square of this unit, which leaves the solution the same up to the unit of the
        weights.
        """
        n_samples, n_features = rows.X.shape
        features_first = n_features > n_samples
        signs = rows.labels.one_against_rest()
        table, deviation = standardised(rows, features_first=features_first)
        unit = 1.0 if self.standardize else float(deviation.max())
        scale = np.ones(n_features) if self.standardize else np.maximum(deviation / unit, MIN_RELATIVE_SCALE)
        ridge = 1 / (2 * float(self.C)) / unit**2
        settings: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "n_jobs": rows.n_jobs}
        if features_first:
            table *= scale[:, None]
            return Dual(table, signs, ridge, **settings), unit
        return Primal(table, signs, scale, ridge, np.arange(n_features), **settings), unit

    def _average_labels(self, fitted: list[Self]) -> Scores:
        self.squared_weights_ = np.mean([one.squared_weights_ for one in fitted], axis=0)
        self.n_iter_ = max(one.n_iter_ for one in fitted)
        # The mean step would favour features that are mediocre for every label over the best feature of one label.
        return Scores(np.mean([1 / one.ranking_ for one in fitted], axis=0))

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {"squared_weight": self.squared_weights_}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_between("C", self.C, 1e-100, 1e100)
        if not (is_integer(self.step) and self.step >= 1) and not (is_fraction(self.step) and self.step < 1):
            raise ValueError(f"step must be an integer >= 1 or a fraction in (0, 1), got {self.step!r}")
        check_choice("standardize", self.standardize, (True, False))
        check_between("tol", self.tol, 0, 1)
        check_integer("max_iter", self.max_iter, 1)


def batch_sizes(n_features: int, step: int | float) -> list[int]:
    """Return the number of features that each step removes until one is left."""
    sizes = []
    while n_features > 1:
        # 1e-9: a product such as 0.29 * 100 = 28.999999999999996 must not be rounded down.
        wanted = int(step) if is_integer(step) else max(1, int(step * n_features + 1e-9))
        sizes.append(min(wanted, n_features - 1))
        n_features -= sizes[-1]
    return sizes


def standardised(rows: LabelledRows, *, features_first: bool) -> tuple[Floats, Floats]:
    """Return the columns with mean 0 and variance 1, and their standard deviations.

    The table has one row per feature if ``features_first``, otherwise a column of ones followed by one column per
    feature.
    """
    n_samples, n_features = rows.X.shape
    table = np.empty((n_features, n_samples) if features_first else (n_samples, n_features + 1))
    deviation = np.empty(n_features)

    def fill(columns: slice) -> None:
        block = rows.X[:, columns].astype(np.float64)
        block -= block.mean(axis=0)
        width = rows.high[columns] - rows.low[columns]
        block /= width  # so that squares neither overflow nor underflow
        spread = np.sqrt(np.einsum("ij,ij->j", block, block) / n_samples)
        block /= spread
        deviation[columns] = width * spread
        if features_first:
            table[columns] = block.T
        else:
            table[:, columns.start + 1 : columns.stop + 1] = block

    for _ in thread_map(fill, blocks(n_features, STANDARDISED_BLOCK_COLUMNS), rows.n_jobs):
        pass
    if not features_first:
        table[:, 0] = 1.0
    return table, deviation


def without(svms: Dual | Primal, positions: Integers) -> Dual | Primal:
    """Remove features, and switch to the primal form once its linear systems are the smaller ones."""
    svms.remove(positions)
    if isinstance(svms, Dual) and svms.n_features <= svms.n_samples:
        return svms.in_primal()
    return svms


def removal_tables(removals: list[tuple[Integers, Floats]]) -> tuple[Floats, Floats, Floats]:
    """Return the step, the position in the order of removal and the squared weight of every feature."""
    order = np.concatenate([columns for columns, _ in removals])
    tables = np.empty((3, order.size))
    tables[0, order] = np.repeat(np.arange(1, len(removals) + 1), [columns.size for columns, _ in removals])
    tables[1, order] = np.arange(order.size)
    tables[2, order] = np.concatenate([squares for _, squares in removals])
    return tables[0], tables[1], tables[2]
