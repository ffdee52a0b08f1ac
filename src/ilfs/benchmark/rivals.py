"""What people reach for today, to stand beside the paper's methods in the benchmark.

The work is done by packages that others maintain; here they get one face, that of the methods of this library: columns
with one value are left out and come last, and a feature that a rival says nothing of follows those of which it does,
by Fisher score. So each of them orders all columns of any table, however few it picks.

None takes missing cells: the benchmark fills them, for all rivals alike.
"""

import re
import warnings
from abc import abstractmethod
from multiprocessing import parent_process
from threading import RLock
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ilfs.arrays import Floats, Integers
from ilfs.execution import Rows, Target
from ilfs.methods import FisherScore
from ilfs.parameters import check_choice, check_integer, check_positive
from ilfs.selector import RankingSelector, Scores

EXTRA = 'pip install "ilfs[rivals]"'
INTERCEPT_SCALING = 10.0  # liblinear penalises the intercept as it does a coefficient: this makes it cheap
MOST_ITERATIONS = 100  # of liblinear: few are enough to see which features enter
NOTHING = 1e-8  # correlation with the classes below which a column is taken for one that has none


class Rival(RankingSelector):
    """A method of others: what it says of a feature, then the Fisher score."""

    _takes_missing = False

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by what they say of the classes in y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, none missing; sparse if the tags of the selector say so.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels.

        Returns
        -------
        selector
            Itself.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: Rows) -> Scores:
        assert rows.target is not None
        fisher = FisherScore(n_jobs=self.n_jobs).fit(rows.X, rows.target.codes).scores_
        return Scores(self._values(with_short_indices(rows.X), rows.target), tie_break=fisher)

    @abstractmethod
    def _values(self, X: Any, target: Target) -> Floats:
        """What the rival thinks of each column, larger is better; 0 of those it says nothing of."""

    def _n_wanted(self, X: Any) -> int:
        """How many columns it has to pick."""
        return min(self._n_selected(), int(X.shape[1]))


class FastCan(Rival):
    """Greedy canonical correlation, by the package `fastcan`.

    Picks one feature at a time, the one that raises the sum of squared canonical correlations of the picked features
    with the classes the most. The classes are given as an indicator matrix, as the documentation of the package advises
    for more than two of them. Its first pick is that of the largest F.

    Its picks are linearly independent, so there are fewer of them than samples; the other features follow by Fisher
    score. Needs the extra ``rivals``.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep and to pick: a number, a share of them, or half.
    tol : float, default=0.01
        A feature whose cosine with a direction of those picked is above this, after these were taken out of it, counts
        as linearly dependent.
    n_jobs : int, default=None
        Number of threads. None is 1 unless in a `joblib.parallel_config` context, -1 is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many picks there are from this one on; 0 for a feature that was not picked.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.

    References
    ----------
    .. [1] S. Zhang, Z. Q. Lang, "Orthogonal Least Squares Based Fast Feature Selection for Linear Classification",
       Pattern Recognition 123, 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.rivals import FastCan
    >>> wine = load_wine()
    >>> selector = FastCan(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['flavanoids', 'alcohol', 'color_intensity']
    """

    _takes_sparse = False

    def __init__(
        self, n_features_to_select: int | float | None = None, *, tol: float = 0.01, n_jobs: int | None = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("tol", self.tol)

    def _values(self, X: Any, target: Target) -> Floats:
        try:
            from fastcan import FastCan as Packaged
        except ImportError:
            raise ImportError(f"FastCan needs the package fastcan: {EXTRA}") from None
        indicators = np.eye(target.classes.size)[target.codes]
        n_picks = min(self._n_wanted(X), X.shape[0] - 1)
        with threadpool_limits(effective_n_jobs(self.n_jobs), user_api="openmp"):
            while n_picks:
                try:
                    picks = Packaged(n_picks, tol=self.tol, verbose=0).fit(X, indicators).indices_
                except RuntimeError as error:
                    n_picks = n_reached(str(error), n_picks)
                else:
                    return points(picks, X.shape[1])
        return np.zeros(X.shape[1])


class MRMR(Rival):
    """Minimum redundancy, maximum relevance, by the package `mrmr-selection`.

    Picks one feature at a time, the one with the largest F divided by the mean absolute correlation with the features
    picked before. A feature whose F is 0 is never picked. Needs the extra ``rivals``.

    The package keeps a matrix of n_candidates x n_candidates numbers: 1.8 GB for 15,000.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep and to pick: a number, a share of them, or half.
    n_candidates : int or None, default=15000
        Only so many features, those with the largest F, can be picked; None: all. With fewer than there are, this is no
        longer quite what the package does, but it can be done.
    statistics : {"table", "columns"}, default="table"
        Who computes F and the correlations. ``"columns"``: the package, by a loop over the columns in Python.
        ``"table"``: functions that the package takes instead, for all columns at once. The numbers are the same up to
        rounding, and it is several times faster.
    n_jobs : int, default=None
        Number of processes, of ``"columns"`` only. None is 1 unless in a `joblib.parallel_config` context, -1 is all
        processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many picks there are from this one on; 0 for a feature that was not picked.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.

    References
    ----------
    .. [1] C. Ding, H. Peng, "Minimum Redundancy Feature Selection from Microarray Gene Expression Data", Journal of
       Bioinformatics and Computational Biology 3, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.rivals import MRMR
    >>> wine = load_wine()
    >>> selector = MRMR(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['flavanoids', 'color_intensity', 'proline']
    """

    _takes_sparse = False

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_candidates: int | None = 15_000,
        statistics: Literal["table", "columns"] = "table",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_candidates = n_candidates
        self.statistics = statistics
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_candidates is not None:
            check_integer("n_candidates", self.n_candidates, 1)
        check_choice("statistics", self.statistics, ("table", "columns"))

    def _values(self, X: Any, target: Target) -> Floats:
        mrmr, pandas = import_mrmr()
        F = f_of_columns(X, target.codes)
        candidates = np.sort(np.argsort(-F, kind="stable")[: self.n_candidates])
        frame = pandas.DataFrame(X[:, candidates].astype(np.float64))
        options: dict[str, Any] = {}
        if self.statistics == "table":
            options = {
                "relevance": lambda X, y: pandas.Series(F[candidates]),  # noqa: ARG005  the package names them
                "redundancy": correlation_of(frame, pandas),
            }
        with np.errstate(divide="ignore", invalid="ignore"):  # F is infinite for a column that tells all
            picks = mrmr.mrmr_classif(
                frame,
                pandas.Series(target.codes),
                min(self._n_wanted(X), candidates.size),
                n_jobs=effective_n_jobs(self.n_jobs),
                show_progress=False,
                **options,
            )
        return points(candidates[np.asarray(picks, dtype=int)], X.shape[1])


class ExtraTrees(Rival):
    """Importance in extremely randomised trees, by scikit-learn's `ExtraTreesClassifier`.

    How much the splits on a feature lower the impurity, on average over the trees.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    n_estimators : int, default=500
        How many trees.
    random_state : int, default=0
        Of the trees.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Importances.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel, "Extremely Randomized Trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.rivals import ExtraTrees
    >>> wine = load_wine()
    >>> selector = ExtraTrees(n_features_to_select=3, n_estimators=100).fit(wine.data, wine.target)
    >>> sorted(selector.get_feature_names_out(wine.feature_names))
    ['alcohol', 'od280/od315_of_diluted_wines', 'proline']
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_estimators: int = 500,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("random_state", self.random_state, 0)

    def _values(self, X: Any, target: Target) -> Floats:
        trees = ExtraTreesClassifier(self.n_estimators, random_state=self.random_state, n_jobs=self.n_jobs)
        return np.asarray(trees.fit(X, target.codes).feature_importances_)


class L1Path(Rival):
    """The order in which features enter logistic regression with an L1 penalty, by scikit-learn (liblinear).

    Columns are standardised; sparse ones are only scaled. Of three or more classes each is fitted against the rest.
    C grows step by step from the value at which the first coefficient leaves zero, until as many features as wanted
    have had one that is not zero, or the steps are over. Features come in the order of the step at which they enter;
    those of the same step by the norm of their coefficients there.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep, and to wait for: a number, a share of them, or half.
    n_steps : int, default=30
        How many values of C, at most.
    span : float, default=1000
        The last of them as multiple of the first.
    tol : float, default=1e-4
        As of `sklearn.linear_model.LogisticRegression`.
    n_jobs : int, default=None
        Number of processes, one a class; the result does not depend on it. None is 1 unless in a
        `joblib.parallel_config` context, -1 is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many features entered from this one on; 0 for one that did not.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.benchmark.rivals import L1Path
    >>> wine = load_wine()
    >>> selector = L1Path(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['proline', 'od280/od315_of_diluted_wines', 'alcohol']
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_steps: int = 30,
        span: float = 1000.0,
        tol: float = 1e-4,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_steps = n_steps
        self.span = span
        self.tol = tol
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_steps", self.n_steps, 1)
        check_positive("span", self.span)
        check_positive("tol", self.tol)

    def _values(self, X: Any, target: Target) -> Floats:
        Z, signs = standardised(X), target.one_against_rest()
        start = start_of_path(Z, signs)
        picks: list[int] = []
        for C in start * np.geomspace(1, self.span, self.n_steps) if start else ():
            size = np.linalg.norm(self._coefficients(Z, signs, C), axis=0)
            size[picks] = 0.0
            picks += [int(j) for j in np.argsort(-size, kind="stable") if size[j]]
            if len(picks) >= self._n_wanted(X):
                break
        return points(picks, X.shape[1])

    def _coefficients(self, Z: Any, signs: Floats, C: float) -> Floats:
        """Of every column, for each class against the rest."""
        return np.stack(Parallel(n_jobs=self.n_jobs)(delayed(l1_coefficients)(Z, one, C, self.tol) for one in signs))


RIVALS: dict[str, type[Rival]] = {"fastcan": FastCan, "mrmr": MRMR, "extra_trees": ExtraTrees, "l1_path": L1Path}


def with_short_indices(X: Any) -> Any:
    """A sparse table with indices of 32 bits, all that liblinear and trees take, compressed by column."""
    if not sparse.issparse(X):
        return X
    X = X.tocsc()
    return sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def points(picks: Any, n_features: int) -> Floats:
    """As many for a pick as there are from it on, none for other columns."""
    values = np.zeros(n_features)
    values[np.asarray(picks, dtype=int)] = np.arange(len(picks), 0, -1)
    return values


def n_reached(message: str, n_picks: int) -> int:
    """How many picks fastcan had made when it found no more: its complaint says so, but it does not say which."""
    return next((int(n) for n in re.findall(r"\d+", message) if int(n) < n_picks), n_picks - 1)


def import_mrmr() -> tuple[Any, Any]:
    """The packages; the import of mrmr would switch all warnings off for good."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mrmr
            import pandas
            from tqdm import tqdm
    except ImportError:
        raise ImportError(f"MRMR needs the packages mrmr-selection and pandas: {EXTRA}") from None
    if parent_process() is not None:
        tqdm.set_lock(RLock())  # its own would be reported as leaked when a process of the benchmark is ended
    return mrmr, pandas


def f_of_columns(X: Any, codes: Integers) -> Floats:
    """F of each column, infinite if it has one value in each class."""
    with np.errstate(divide="ignore", invalid="ignore"):
        F: Floats = f_classif(X.astype(np.float64), codes)[0]
    return np.nan_to_num(F, nan=0.0, posinf=np.inf)


def correlation_of(frame: Any, pandas: Any) -> Any:
    """The function that mrmr asks for the correlations of one column with others."""
    Z = standardised(frame.to_numpy()) / np.sqrt(len(frame))

    def correlation(target_column: int, features: list[int], X: Any) -> Any:  # noqa: ARG001
        # rounded, since mrmr never picks a column whose correlation is exactly 1
        return pandas.Series((Z[:, target_column] @ Z[:, features]).round(12), index=features)

    return correlation


def standardised(X: Any) -> Any:
    """Columns of mean 0 and variance 1; sparse ones keep their zeros."""
    return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X.astype(np.float64))


def start_of_path(Z: Any, signs: Floats) -> float:
    """Above which a coefficient leaves zero while the intercepts are zero; 0 if none ever does."""
    steepest = float(np.abs(Z.T @ signs.T).max())
    return 2 / steepest if steepest > NOTHING * Z.shape[0] else 0.0


def l1_penalty() -> dict[str, Any]:
    """Parameters of scikit-learn's logistic regression for an L1 penalty.

    Before version 1.8, ``l1_ratio`` was None by default and ignored: ``penalty`` chose the norm.
    """
    return {"penalty": "l1"} if LogisticRegression().l1_ratio is None else {"l1_ratio": 1}


def l1_coefficients(Z: Any, sign: Floats, C: float, tol: float) -> NDArray[np.float64]:
    """Of logistic regression for one class, 1, against the rest, -1."""
    model = LogisticRegression(
        C=C,
        **l1_penalty(),
        solver="liblinear",
        intercept_scaling=INTERCEPT_SCALING,
        tol=tol,
        max_iter=MOST_ITERATIONS,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(Z, sign).coef_[0])
