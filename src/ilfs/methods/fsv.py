r"""Feature selection via concave minimization (FSV).

FSV fits a plane that separates two classes with few features. The objective is the mean hinge loss of each class plus a
penalty that is about the same for every feature in use, however large its weight. A sequence of linear programs
minimises it. The features of the plane are ranked first, by weight, then those that only an earlier program used.
Further planes, fitted without these features, rank more features in the same way. The remaining features are ranked by
how close they were to being used.

.. math::

   \min_{w, b} \;(1 - \lambda) \sum_{k = \pm 1} \frac1{m_k} \sum_{i : y_i = k} \big(1 - y_i (x_i^\top w + b)\big)_+
   \;+\; \lambda \sum_j \big(1 - e^{-\alpha |w_j|}\big)

The second sum is concave in :math:`|w|`. Replacing it by its tangent at the current weights gives a linear program in
which a unit of :math:`|w_j|` costs :math:`\lambda \alpha e^{-\alpha |w_j|}`. Its solution is the next iterate. Concave
functions lie below their tangents, so the objective never rises. After finitely many programs the point is stationary.

Reference: P. S. Bradley, O. L. Mangasarian, *Feature Selection via Concave Minimization and Support Vector Machines*,
ICML 1998.

Where we depart from the paper:

- Features are standardised (``standardize=True``), so that the unit of a feature does not change its cost.
- :math:`\lambda` is computed from the data (``penalty="auto"``); the paper tunes it.
- The start is w = 0, so that the first program is the linear SVM with an L1 penalty. Nothing is random.
- The paper selects the features with nonzero weight; we rank all features. Features that only earlier programs used
  come next, the most recently used first, then the features of further planes. The others are ranked by
  :math:`|X_j^\top u| / c_j` in the first program, where u are the dual variables and c the costs. This ratio reaches 1
  when a feature enters. ``rest="last"`` ranks all features without weight by the last program, in which fewer samples
  have nonzero dual variables.
- A linear program over discrete values often has many solutions. Margins and costs are therefore perturbed by at most
  1e-7 of their size, with hashes of the values of rows and columns (`ilfs.execution.fingerprints`). Weights and duals
  are computed for the unperturbed program at the vertex that is found.
- More than two classes: one plane for each class against the rest.

Where we depart from the toolbox of the ILFS paper's authors: the toolbox has a hard margin, so there is no solution if
the classes overlap. It stops after at most three programs, and the order of the features without weight is the order of
its solver's rounding errors.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows
from ilfs.execution.columns import dense_column_blocks, dense_columns
from ilfs.execution.fingerprints import Fingerprints
from ilfs.execution.threads import one_blas_thread, thread_map
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_between, check_choice, check_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.solvers.hinge_program import HingeProgram
from ilfs.ties import RELATIVE_TOLERANCE
from ilfs.warn import warn

# Penalties of the planes of a round with penalty="auto", as fractions of the smallest lambda / (1 - lambda) at which no
# feature is used.
PENALTY_FRACTIONS = 0.5, 0.25
MIN_SUPPORTED_FEATURES = 100  # no further plane is fitted once this many features have had nonzero weight
N_COST_LEVELS = 4  # steps in which the costs fall to those of the first program
MAX_DIRECT_SAMPLES = 4000  # with more samples, the program of a subsample is solved first
SUBSAMPLE_DIVISOR = 8  # the subsample has 1 / 8 of the samples of each class ...
MIN_SUBSAMPLE_PER_CLASS = 100  # ... but at least this many
MIN_BATCH_FEATURES = 50  # features that enter a program at once; a quarter of those present if that is more
JOIN_TOLERANCE = 1e-12  # a feature enters only if its slope exceeds its cost by this fraction of the cost
MAX_COST_PERTURBATION = 1e-7  # fraction by which costs are raised so that the optimum is unique
MIN_COST_FRACTION = 1e-9  # of the cost at weight 0: a smaller cost would drown in rounding errors
SLOPE_ROUNDING = 1e-12  # rounding error of a slope, which is a difference of class means in standard deviations
MAX_MEAN_TO_STD = 1e4  # above this |mean| / std, a product with uncentred columns loses too many digits


class FSV(SupervisedRowsSelector):
    """Feature selection via concave minimization: a separating plane that uses few features.

    The linear programs are solved exactly by a parametric simplex method; ``duality_gap_`` proves it. If there are
    several optima, the same one is always found: the order of the rows, the names of the classes and dense or sparse
    storage do not matter.

    A pivot costs O(n_samples x features in use). A plane needs twenty to fifty products of the whole table with a
    vector. Memory beyond the table: a few standardised float64 copies of the features that entered a program, some
    blocks of 8 MB for each thread, and an eighth of the table if there are more than 4000 samples.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"auto"``: the
        number is found by cross-validation of a linear SVM, for rows in memory (see `ilfs.selection.SizeCV`).
    alpha : float, default=5.0
        How quickly the cost of a weight saturates: a weight of 1 / alpha costs 63 % of the largest possible cost.
    penalty : float or "auto", default="auto"
        Lambda, in (0, 1): the cost of features relative to the loss of samples. ``"auto"`` sets lambda / (1 - lambda),
        for each class, to half of the smallest value at which the first program uses no feature. That value is the
        largest difference between the two class means of a feature (in standard deviations if standardised), divided
        by alpha.
    standardize : bool, default=True
        Divide every feature by its standard deviation first.
    n_planes : int or None, default=None
        Maximum number of planes for each class. With ``penalty="auto"`` planes are fitted in rounds of two, at a half
        and at a quarter of the value described there; if ``penalty`` is a number, a round has one plane. Features that
        had nonzero weight in earlier rounds are excluded. None: fit planes until 100 features have had nonzero weight
        (100 / n_classes for each of several classes), or one plane if ``penalty`` is a number or ``rest="last"``.
    rest : {"programs", "last"}, default="programs"
        How to rank features without weight in the first plane. ``"programs"``: first the features that had weight in an
        earlier program, the most recent ones first; then the features of further planes; then those that never had
        weight, by how close they were to entering the first program. ``"last"``: by how close they are to entering the
        last program of the first plane.
    max_iter : int, default=100
        Maximum number of linear programs for a plane.
    tol : float, default=1e-6
        A plane has converged when a program lowers its objective by no more than this fraction.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Features used by a first plane: 2 plus the sum of their absolute weights. Features with weight only in an
        earlier program or in a further plane: between 1 + 1 / (p + 1) and 1 + 1 / p for plane p = 1, 2, ... Other
        features: at most 1, the decrease of the loss per unit of weight divided by the cost of that unit, for the
        class where this ratio is largest.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    weights_ : ndarray of shape (n_problems, n_features)
        Weights of the first planes, for the features ``(X - mean_) / scale_``. There is one plane for two classes, with
        the second class positive; otherwise one for each class.
    intercepts_ : ndarray of shape (n_problems,)
        Intercepts of the first planes.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation of the features; 0 and 1 if not standardised.
    support_sizes_ : ndarray of shape (n_problems,)
        Number of features that each first plane uses.
    plane_sizes_ : list of ndarray of shape (n_planes,)
        For each problem, the number of features that had nonzero weight for the first time in each plane.
    n_supported_ : int
        Number of features that had nonzero weight in some program of some plane (with ``rest="last"``: in the first
        planes). They have the first ranks. Ranks after ``n_supported_`` tell how close a feature was to being used.
    penalties_ : ndarray of shape (n_problems,)
        Lambda of each first plane.
    objective_ : list of ndarray
        Objective of each first plane after every program.
    duality_gap_ : ndarray of shape (n_problems,)
        Gap between the last linear program of each first plane and its dual, in units of the objective; 0 up to
        rounding.
    n_iter_ : int
        Largest number of linear programs solved for a first plane.
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest; ``scores_`` is their mean. NaN for a
        label that all samples or no samples have.
    per_label_ : dict of int to FSV
        If ``y`` is an indicator matrix: the fitted selector of each label, which has the other attributes.
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
    .. [1] P. S. Bradley, O. L. Mangasarian, "Feature Selection via Concave Minimization and Support Vector Machines",
       ICML 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import FSV
    >>> cancer = load_breast_cancer()
    >>> selector = FSV(n_features_to_select=3).fit(cancer.data, cancer.target)
    >>> list(selector.get_feature_names_out(cancer.feature_names))
    ['mean concave points', 'worst radius', 'worst concave points']
    >>> selector.support_sizes_
    array([1])
    >>> selector.n_supported_
    30
    """

    _takes_missing = False
    _takes_long = True

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        alpha: float = 5.0,
        penalty: float | Literal["auto"] = "auto",
        standardize: bool = True,
        n_planes: int | None = None,
        rest: Literal["programs", "last"] = "programs",
        max_iter: int = 100,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.penalty = penalty
        self.standardize = standardize
        self.n_planes = n_planes
        self.rest = rest
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X by their use in planes that separate the classes in y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers without missing values.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        FSV
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        with one_blas_thread():
            features = StandardisedFeatures.from_rows(rows)
            # All computations are in standardised units. A weight for raw units is a standardised one divided by the
            # scale, so dividing alpha by the scale gives the penalty of the raw weights.
            alpha = np.full(features.scale.size, float(self.alpha)) / (1.0 if self.standardize else features.scale)
            labels = rows.labels.one_against_rest()
            sequences = [PlaneSequence(Plane(features, label, alpha, self.penalty)) for label in labels]
            max_planes, enough = self._plane_limits(len(labels))
            total = self.max_iter * len(labels) * max_planes
            programs = all_programs(sequences, max_planes, enough, self.max_iter, self.tol)
            for _ in self._steps(programs, "linear program", total):
                pass
        self._set_plane_attributes([sequence.planes[0] for sequence in sequences], features, rows)
        self.plane_sizes_ = [sequence.sizes() for sequence in sequences]
        self._warn(sequences)
        tiers = np.max([sequence.tiers(self.rest) for sequence in sequences], axis=0)
        self.n_supported_ = int(np.sum(tiers > 1.0))
        return Scores(tiers + np.abs(self.weights_).sum(axis=0)[rows.columns], floor=RELATIVE_TOLERANCE)

    def _plane_limits(self, n_labels: int) -> tuple[int, int]:
        """Return the maximum number of planes, and the number of supported features that is enough, per label."""
        if self.n_planes is not None:
            return self.n_planes, sys.maxsize
        if self.penalty != "auto" or self.rest == "last":
            return 1, 0
        enough = -(-MIN_SUPPORTED_FEATURES // n_labels)
        return len(PENALTY_FRACTIONS) * enough, enough

    def _set_plane_attributes(
        self, planes: list["Plane"], features: "StandardisedFeatures", rows: LabelledRows
    ) -> None:
        """Set the attributes of the first planes; weights are in units of X unless ``standardize`` is true."""
        scale, mean = (features.scale, features.mean) if self.standardize else (1.0, 0.0)
        self.mean_ = rows.expand(np.broadcast_to(mean, features.mean.shape))
        self.scale_ = rows.expand(np.broadcast_to(scale, features.scale.shape), 1.0)
        weights = np.stack([plane.weight for plane in planes]) * (scale / features.scale)
        self.weights_ = rows.expand(weights)
        self.intercepts_ = np.array([plane.intercept for plane in planes]) + weights @ ((mean - features.mean) / scale)
        self.support_sizes_ = (self.weights_ != 0).sum(axis=1)
        self.penalties_ = np.array([plane.ratio / (1.0 + plane.ratio) for plane in planes])
        self.objective_ = [np.array(plane.objective) for plane in planes]
        self.duality_gap_ = np.array([plane.gap for plane in planes])
        self.n_iter_ = max(len(plane.objective) for plane in planes)

    def _warn(self, sequences: list["PlaneSequence"]) -> None:
        if all(sequence.planes[0].has_no_signal for sequence in sequences):
            warn("no feature has different means in two classes: the planes use no feature")
        planes = [plane for sequence in sequences for plane in sequence.planes]
        unfinished = sum(len(plane.objective) == self.max_iter and not plane.converged for plane in planes)
        if unfinished:
            warn(
                f"{unfinished} of {len(planes)} planes did not converge in max_iter={self.max_iter} linear programs",
                ConvergenceWarning,
            )
        stuck = sum(plane.stuck for plane in planes)
        if stuck:
            warn(
                f"a linear program was not solved to optimality for {stuck} of {len(planes)} planes: see duality_gap_",
                ConvergenceWarning,
            )

    def _average_labels(self, fitted: list[Self]) -> Scores:
        self.n_iter_ = max(one.n_iter_ for one in fitted)
        return super()._average_labels(fitted)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_between("alpha", self.alpha, 0, np.inf)
        check_between("penalty", self.penalty, 0, 1, word="auto")
        check_choice("standardize", self.standardize, (True, False))
        if self.n_planes is not None:
            check_integer("n_planes", self.n_planes, 1)
        check_choice("rest", self.rest, ("programs", "last"))
        check_integer("max_iter", self.max_iter, 1)
        check_between("tol", self.tol, 0, 1)


@dataclass(frozen=True)
class StandardisedFeatures:
    """A table whose columns are standardised on demand, so that no standardised copy of all of it is made.

    Centring changes only the intercept of a plane. Scaling changes only the unit of its weights, hence their costs.
    """

    X: Any
    mean: Floats
    scale: Floats
    fingerprints: Fingerprints
    n_jobs: int | None

    @classmethod
    def from_rows(cls, rows: LabelledRows) -> Self:
        """Compute means, standard deviations and fingerprints of the columns."""
        X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X

        def moments(columns: slice) -> Floats:
            block = dense_columns(X, columns)
            # The minimum is subtracted first: the mean of values far from 0 would lose digits.
            mean = rows.low[columns] + (block - rows.low[columns]).mean(axis=0)
            block = block - mean
            return np.stack([mean, np.sqrt(np.mean(block * block, axis=0))])

        mean, scale = np.hstack(list(thread_map(moments, dense_column_blocks(X), rows.n_jobs)))
        return cls(X, mean, scale, Fingerprints.from_table(X, rows.n_jobs), rows.n_jobs)

    def slopes(self, v: Floats) -> Floats:
        """Return Z'v for the standardised features Z and a vector v whose sum is 0 up to rounding."""

        def product(columns: slice) -> Floats:
            mean, block = self.mean[columns], self.X[:, columns]
            # Z'v = (X'v - mean * sum(v)) / scale needs no centred copy, but loses digits if |mean| >> scale.
            if sparse.issparse(block) or (np.abs(mean) < MAX_MEAN_TO_STD * self.scale[columns]).all():
                return np.asarray(block.T @ v - mean * v.sum())
            return np.asarray(v @ (block - mean))

        return np.concatenate(list(thread_map(product, dense_column_blocks(self.X), self.n_jobs))) / self.scale

    def subsample(self, rows: Integers) -> "StandardisedFeatures":
        """Select samples; means and standard deviations stay those of all samples."""
        X = self.X.tocsr()[rows].tocsc() if sparse.issparse(self.X) else self.X[rows]
        return replace(self, X=X, fingerprints=replace(self.fingerprints, rows=self.fingerprints.rows[rows]))

    def columns(self, features: Integers) -> Floats:
        """Return the standardised values of some features, one feature per row."""
        Z = self.X[:, features]
        Z = np.asarray((Z.toarray() if sparse.issparse(Z) else Z).T, dtype=np.float64, order="C")
        return (Z - self.mean[features, None]) / self.scale[features, None]


def all_programs(
    sequences: list["PlaneSequence"], max_planes: int, enough: int, max_iter: int, tol: float
) -> Iterator["Plane"]:
    """Solve the linear programs of all labels, one label after the other; yield the plane after each program."""
    for sequence in sequences:
        yield from sequence.programs(max_planes, enough, max_iter, tol)


class PlaneSequence:
    """Rounds of planes between the same two classes; a round excludes the features that had weight in earlier rounds.

    With an automatic penalty a round has one plane for each of `PENALTY_FRACTIONS`, otherwise it has one plane.

    Parameters
    ----------
    first : Plane
        The first plane, not yet fitted.
    """

    def __init__(self, first: "Plane") -> None:
        self.fractions = PENALTY_FRACTIONS if first.penalty == "auto" else PENALTY_FRACTIONS[:1]
        self.planes = [first]
        self.new: list[NDArray[np.bool_]] = []  # for each fitted plane: features with their first weight
        self.seen = np.zeros(first.alpha.size, dtype=bool)

    def programs(self, max_planes: int, enough: int, max_iter: int, tol: float) -> Iterator["Plane"]:
        """Fit one plane after the other until enough features have had weight; yield after every program."""
        plane = self.planes[0]
        program = FullProgram(plane.features, plane.label, plane.cost())
        while True:
            yield from plane.programs(program, max_iter, tol)
            self._record(plane)
            plane = self._next()
            if plane.has_no_signal or self.planes[-1].stuck or len(self.new) == max_planes or self.seen.sum() >= enough:
                return
            self.planes.append(plane)

    def _record(self, plane: "Plane") -> None:
        self.new.append((plane.last_used > 0) & ~self.seen)
        self.seen = self.seen | self.new[-1]

    def _next(self) -> "Plane":
        """Return the plane with the next smaller penalty of this round, or the first plane of a new round."""
        level = len(self.new) % len(self.fractions)
        excluded = self.planes[-1].excluded if level else self.seen
        return self.planes[-1].again(self.fractions[level], excluded)

    def sizes(self) -> Integers:
        """Count the features that had weight for the first time in each plane."""
        return np.array([np.count_nonzero(new) for new in self.new])

    def tiers(self, rest: Literal["programs", "last"]) -> Floats:
        """Return the scores without the weights.

        2 for features of the first plane, between 1 and 2 for other features that had weight, at most 1 for the rest.
        """
        first = self.planes[0]
        if rest == "last":
            return np.where(first.weight != 0, 2.0, first.last_nearness)
        tiers = first.first_nearness
        for p, new in enumerate(self.new):
            # These intervals get shorter and shorter, so a score does not depend on how many planes follow.
            low, high = 1.0 / (p + 2), 1.0 / (p + 1)
            tiers = np.where(new, 1.0 + low + (high - low) * self.planes[p].order_of_use(), tiers)
        return np.where(first.weight != 0, 2.0, tiers)


class Plane:
    """A plane between two classes, with the history of the features in its linear programs.

    The objective is divided by 1 - lambda, so that features cost ``ratio`` = lambda / (1 - lambda).

    Parameters
    ----------
    features : StandardisedFeatures
        Samples.
    label : ndarray of shape (n_samples,)
        Labels of the samples, 1 or -1.
    alpha : ndarray of shape (n_features,)
        How quickly the cost of each weight saturates.
    penalty : float or "auto"
        Lambda.
    fraction : float
        With an automatic penalty: ``ratio`` divided by its smallest value at which no feature is used.
    excluded : ndarray of shape (n_features,), optional
        Features that must not be used.
    """

    def __init__(
        self,
        features: StandardisedFeatures,
        label: Floats,
        alpha: Floats,
        penalty: float | Literal["auto"],
        fraction: float = PENALTY_FRACTIONS[0],
        excluded: NDArray[np.bool_] | None = None,
    ) -> None:
        self.features, self.label, self.alpha, self.penalty = features, label, alpha, penalty
        self.excluded = np.zeros(alpha.size, dtype=bool) if excluded is None else excluded
        # At w = 0 every sample is inside the margin, so its dual variable is at its upper bound, and the slopes are
        # the differences of the class means.
        self.slope = features.slopes(label * balanced(label))
        distance = np.where(self.excluded, 0.0, np.abs(self.slope))
        self.has_no_signal = float(distance.max()) < SLOPE_ROUNDING
        if penalty == "auto":
            self.ratio = 1.0 if self.has_no_signal else fraction * float((distance / alpha).max())
        else:
            self.ratio = penalty / (1.0 - penalty)
        # At w = 0 the mean hinge loss of each of the two classes is 1.
        self.weight, self.intercept, self.hinge = np.zeros(alpha.size), 0.0, 2.0
        self.last_used, self.last_weight = np.zeros((2, alpha.size))
        self.first_nearness = self.last_nearness = nearness(self.slope, self.cost())
        self.objective: list[float] = []
        self.gap, self.converged, self.stuck = np.nan, False, False

    def again(self, fraction: float, excluded: NDArray[np.bool_]) -> "Plane":
        """Return a new plane between the same classes, not yet fitted."""
        return Plane(self.features, self.label, self.alpha, self.penalty, fraction, excluded)

    def programs(self, program: "FullProgram", max_iter: int, tol: float) -> Iterator["Plane"]:
        """Solve linear programs until the plane is stationary; yield after each of them."""
        while len(self.objective) < max_iter and not self.converged:
            self.solve_next(program, tol)
            yield self

    def cost(self) -> Floats:
        """Return the cost of a unit of each weight: the derivative of the penalty at the current weights."""
        tangent = self.ratio * self.alpha * np.maximum(np.exp(-self.alpha * np.abs(self.weight)), MIN_COST_FRACTION)
        # No slope of a standardised feature exceeds 2 sqrt(n_samples), so an excluded feature never enters.
        return np.where(self.excluded, 3.0 * np.sqrt(self.label.size), tangent)

    def solve_next(self, program: "FullProgram", tol: float) -> None:
        """Solve the linear program at the current weights and record its solution."""
        cost = self.cost()
        before = self.hinge + float(cost @ np.abs(self.weight))
        self.slope, solved = program.solve(cost)
        weight = program.working.weights()
        self.weight = np.zeros(cost.size)
        self.weight[program.working.feature[1:]], self.intercept = weight[1:], weight[0]
        self.hinge, after = program.working.hinge(weight), program.value(cost)
        self.stuck, self.converged = not solved, not solved or before - after <= tol * before
        # Weak duality: dual variables shrunk until no slope exceeds its cost are feasible, so they bound the optimum
        # from below.
        dual = program.dual.sum() / max(1.0, (np.abs(self.slope) / (cost + SLOPE_ROUNDING)).max())
        self.gap = (after - float(dual)) / (1.0 + self.ratio)
        self._record(cost)

    def _record(self, cost: Floats) -> None:
        used = self.weight != 0
        n_used = float(np.sum(1.0 - np.exp(-self.alpha * np.abs(self.weight))))
        self.objective.append((self.hinge + self.ratio * n_used) / (1.0 + self.ratio))
        self.last_used[used], self.last_weight[used] = len(self.objective), np.abs(self.weight)[used]
        self.last_nearness = nearness(self.slope, cost)
        if len(self.objective) == 1:
            self.first_nearness = self.last_nearness

    def order_of_use(self) -> Floats:
        """Order the features of this plane by numbers in [0, 1).

        Features in use at the end have at least 0.5, ordered by weight. The others are below 0.5, ordered by the last
        program that used them, then by their weight in it.
        """
        by_weight = self.alpha * self.last_weight / (1.0 + self.alpha * self.last_weight)  # increasing, in [0, 1)
        dropped = (self.last_used - 1.0 + by_weight) / max(1, len(self.objective))
        return np.where(self.weight != 0, 0.5 + 0.5 * by_weight, 0.5 * dropped)


def nearness(slope: Floats, cost: Floats) -> Floats:
    """Return the loss that a unit of weight saves, as a fraction of its cost, at most 1.

    At an optimum the fraction is 1 for features in use and at most 1 for all others. If it is larger, before the first
    program or by rounding, all fractions are divided by the largest one.
    """
    fraction = np.abs(slope) / cost
    return np.asarray(fraction / max(1.0, float(fraction.max())))


def balanced(label: Floats) -> Floats:
    """Return sample weights that sum to 1 for each of the two labels."""
    return np.where(label > 0, 1.0 / np.count_nonzero(label > 0), 1.0 / np.count_nonzero(label < 0))


def stratified_subsample(label: Floats) -> Integers:
    """Return the sorted rows of a fixed random subsample of both labels."""
    order = np.random.default_rng(0).permutation(label.size)
    sides = [order[label[order] == side] for side in (-1.0, 1.0)]
    rows: Integers = np.concatenate(
        [side[: max(MIN_SUBSAMPLE_PER_CLASS, side.size // SUBSAMPLE_DIVISOR)] for side in sides]
    )
    return np.sort(rows)


class FullProgram:
    """The linear program over all features, solved by column generation.

    The program ``working`` holds only the features that have entered so far. With many samples, the program of a
    subsample is solved first, and its solution is the start for all samples.

    Parameters
    ----------
    features : StandardisedFeatures
        Samples.
    label : ndarray of shape (n_samples,)
        Labels of the samples, 1 or -1.
    cost : ndarray of shape (n_features,)
        Costs of the first call of `solve`.
    """

    def __init__(self, features: StandardisedFeatures, label: Floats, cost: Floats) -> None:
        self.features, self.label = features, label
        self.working = HingeProgram(label, balanced(label), features.fingerprints.row_numbers(label))
        self.perturbation = 1.0 + MAX_COST_PERTURBATION * features.fingerprints.column_numbers()
        ratio = np.abs(features.slopes(label * self.working.bound)) / cost
        self.subprogram = self._subsample_program(ratio, cost) if label.size > MAX_DIRECT_SAMPLES else None
        if self.subprogram is None:
            # Costs fall in geometric steps from those at which w = 0 is optimal: fewer features enter at each level.
            for level in np.geomspace(max(float(ratio.max()), 1.0), 1.0, N_COST_LEVELS + 1)[1:-1]:
                self._optimise(level * cost)

    def solve(self, cost: Floats) -> tuple[Floats, bool]:
        """Return the slopes of all features at the optimum for these costs, and whether the optimum was found."""
        if self.subprogram is not None:
            self._start_from(self.subprogram, cost)
        solved = self._optimise(cost)
        self.dual = self.working.duals(np.append(0.0, cost[self.working.feature[1:]]))
        return self.features.slopes(self.label * self.dual), solved

    def _subsample_program(self, ratio: Floats, cost: Floats) -> "FullProgram | None":
        """Return the program of a subsample, or None if it would use many more features than that of all samples.

        In a small subsample the class means of noise features differ more, so that many of them would enter needlessly.
        """
        self.rows = stratified_subsample(self.label)
        features, label = self.features.subsample(self.rows), self.label[self.rows]
        sub_ratio = np.abs(features.slopes(label * balanced(label))) / cost
        n_entering, sub_n_entering = int(np.sum(ratio > 1)), int(np.sum(sub_ratio > 1))
        if sub_n_entering > max(2 * n_entering, label.size // 20):
            return None
        return FullProgram(features, label, cost)

    def _start_from(self, subprogram: "FullProgram", cost: Floats) -> None:
        """Move to the solution of the subsample if its objective, over all samples, is lower than the current one."""
        _, solved = subprogram.solve(cost)
        features, weight = subprogram.working.feature[1:], subprogram.working.weights()
        columns = self.features.columns(features) * self.label
        loss = np.maximum(1.0 - weight[1:] @ columns - weight[0] * self.label, 0.0)
        value = float(self.working.bound @ loss + cost[features] @ np.abs(weight[1:]))
        if solved and value < self.value(cost):
            jitter = self.features.fingerprints.row_numbers(self.label)
            self.working = HingeProgram.lifted(
                subprogram.working, self.rows, self.label, self.working.bound, columns, jitter
            )

    def _optimise(self, cost: Floats) -> bool:
        """Solve the working program and add features until none is left whose slope exceeds its cost."""
        cost = cost * self.perturbation
        while True:
            present = self.working.feature[1:]
            # The limit on pivots is a safeguard, far above the number that is usually needed.
            solved = self.working.move(np.append(0.0, cost[present]), 1000 + 20 * (self.label.size + present.size))
            slope = self.features.slopes(self.label * self.working.dual)
            # A feature lowers the objective if |slope| > cost. If none does, the duals are feasible for all features,
            # and the working solution is the optimum of the full program.
            ratio = np.abs(slope) / cost
            ratio[present] = 0.0
            # Rounded, so that the memory layout of the table does not decide between equal columns.
            new = np.argsort(-ratio.round(9), kind="stable")[: max(MIN_BATCH_FEATURES, present.size // 4)]
            new = new[ratio[new] > 1.0 + JOIN_TOLERANCE]
            if not solved or not new.size:
                return solved
            self.working.add(new, self.features.columns(new) * self.label)

    def value(self, cost: Floats) -> float:
        """Return the objective of the linear program at the current weights."""
        weight = self.working.weights()
        return self.working.hinge(weight) + float(cost[self.working.feature[1:]] @ np.abs(weight[1:]))
