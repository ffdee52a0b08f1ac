r"""Feature selection via concave minimization (FSV).

A plane is to separate two classes with few features: besides the hinge loss of each class, every feature that it uses
costs about the same, however large its weight. A sequence of linear programs finds such a plane. Its features come
first, by weight, then those that it gave up on the way. Further planes, which must do without these features, rank more
of them in the same way; the rest is ranked by how near it was to being used.

.. math::

   \min_{w, b} \;(1 - \lambda) \sum_{k = \pm 1} \frac1{m_k} \sum_{i : y_i = k} \big(1 - y_i (x_i^\top w + b)\big)_+
   \;+\; \lambda \sum_j \big(1 - e^{-\alpha |w_j|}\big)

The second sum is concave in :math:`|w|`. Its tangent at the present weights makes a linear program of the problem, in
which a unit of :math:`|w_j|` costs :math:`\lambda \alpha e^{-\alpha |w_j|}`; the solution is the next point. The
objective never rises, and after finitely many programs the point is stationary.

Reference: P. S. Bradley, O. L. Mangasarian, *Feature Selection via Concave Minimization and Support Vector Machines*,
ICML 1998.

Where we depart from the paper:

- Features are standardised (``standardize=True``), lest the unit of a feature decide what its use costs.
- :math:`\lambda` is taken from the data (``penalty="auto"``); the paper tunes it.
- The start is w = 0, so that the first program is the linear SVM with an L1 penalty. Nothing is random.
- The paper selects the features with weight; we rank all. Those given up on the way come next, the last first. Then
  come the features of further planes, and then the others by :math:`|X_j^\top u| / c_j` in the first program, with u
  its dual and c the costs: it is 1 when a feature is about to be used. ``rest="last"`` ranks all without weight by the
  last program, whose dual knows fewer samples.
- A linear program over discrete values has many solutions. Margins and costs are therefore perturbed by at most 1e-7 of
  their size, by numbers that depend on the values of the rows and columns (`ilfs.execution.fingerprints`). Weights and
  duals are those of the unperturbed program at the vertex that is found.
- More than two classes: one plane for each class against the rest.

Where we depart from the toolbox of the ILFS paper's authors: it wants all samples on their side of the margin (there is
no loss, so overlapping classes have no solution), stops after at most three programs, and leaves the features without
weight in the order of the rounding errors of its solver.
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
from ilfs.parameters import check_between, check_choice, check_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.solvers.hinge_program import HingeProgram
from ilfs.ties import RELATIVE_TOLERANCE
from ilfs.warn import warn

FRACTIONS = 0.5, 0.25  # of the least ratio at which no feature is used: penalties of a round if penalty="auto"
MIN_SUPPORTED = 100  # features that had weight, from which on no further plane is fitted
LEVELS = 4  # on which the costs come down to those of the first program
MANY = 4000  # samples, more than which begin with the solution for some of them
FEWER = 8  # times fewer are those
AT_LEAST = 100  # of a class
BATCH = 50  # features that join a program at once, at least
EXCESS = 1e-12  # share of its cost by which a feature may miss its chance to join
PERTURBATION = 1e-7  # share by which the cost of a feature is raised at most, so that there is one optimum
CHEAPEST = 1e-9  # share of its first cost that a feature costs at least, lest rounding cost more
ROUNDING = 1e-12  # of a slope: a distance of weighted means, in standard deviations
FAR = 1e4  # a mean of so many deviations is taken off before a product, not after


class FSV(SupervisedRowsSelector):
    """Feature selection via concave minimization: a separating plane that uses few features.

    The linear programs are solved exactly, by following the optimal vertex; ``duality_gap_`` proves it. Of several
    optima always the same one is found: the order of the rows, the names of the classes and dense or sparse storage do
    not matter. A pivot costs O(samples x features in use), and all features are looked at (one product of the table
    with a vector) some twenty to fifty times for a plane. Memory beyond the table: the features that ever were worth
    their cost, standardised, a few times (8 bytes a value), some blocks of 8 MB a thread, and an eighth of the table if
    there are more than 4000 samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    alpha : float, default=5.0
        How soon the cost of a weight levels off: a weight of 1 / alpha costs 63 % of what any weight costs at most.
    penalty : float or "auto", default="auto"
        Lambda, in (0, 1): the cost of features against the loss of samples. ``"auto"``: half of the
        smallest ratio lambda / (1 - lambda) at which the first program uses no feature, for each class. That ratio is
        the largest distance between the means of a feature in the two classes (in standard deviations if standardised),
        divided by alpha.
    standardize : bool, default=True
        Divide every feature by its standard deviation first.
    n_planes : int or None, default=None
        Largest number of planes fitted one after the other, for each class. With ``penalty="auto"`` they come in rounds
        of two, at a half and at a quarter of the ratio; with a number each round has one plane. A round must do without
        the features that had weight in the rounds before. None: until 100 features had weight (100 / n_classes for each
        of several classes); one plane if ``penalty`` is a number or ``rest="last"``.
    rest : {"programs", "last"}, default="programs"
        How features without weight in the first plane are ranked. ``"programs"``: those that had weight in an earlier
        program come first, the last given up before the others, then the features of further planes, and then those
        that never had weight, by how near they were in the first program. ``"last"``: by how near they are in the last
        program of the first plane.
    max_iter : int, default=100
        Most linear programs of a plane.
    tol : float, default=1e-6
        A plane is done when a program lowers what it minimises by no more than this fraction.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        In use by a first plane: 2 plus the sum of the absolute weights. Weight in an earlier program or in a further
        plane: between 1 and 2, for plane p = 1, 2, ... between 1 + 1 / (p + 1) and 1 + 1 / p. Others: at most 1, the
        saving that weight on the feature would bring as a fraction of its cost, for the class where it is largest.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    weights_ : ndarray of shape (n_problems, n_features)
        Of the first planes: one for two classes, the second being positive, else one a class. They are for
        ``(X - mean_) / scale_``.
    intercepts_ : ndarray of shape (n_problems,)
        Of the first planes.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation of the features; 0 and 1 if not standardised.
    support_sizes_ : ndarray of shape (n_problems,)
        How many features each first plane uses.
    plane_sizes_ : list of ndarray of shape (n_planes,)
        For each problem, how many features had weight for the first time in each plane.
    n_supported_ : int
        How many features had weight in some program of some plane. So many of the first ranks come from the programs;
        the ranks after them are by how near a feature was to being used (not with ``rest="last"``, where only the
        features in use count).
    penalties_ : ndarray of shape (n_problems,)
        Lambda of each first plane.
    objective_ : list of ndarray
        For each first plane, what is minimised, after every program.
    duality_gap_ : ndarray of shape (n_problems,)
        Between the last linear program of the first plane and its dual, in units of the objective: 0 but for rounding.
    n_iter_ : int
        Linear programs solved, for the first plane that took most.
    classes_ : ndarray of shape (n_classes,)
        The labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: the scores of each label against the rest, of which ``scores_`` is the mean;
        NaN for a label that all samples have, or none.
    per_label_ : dict of int to FSV
        If ``y`` is an indicator matrix: the fitted selector of each label, where the other attributes are.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

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
        n_features_to_select: int | float | None = None,
        *,
        alpha: float = 5.0,
        penalty: float | Literal["auto"] = "auto",
        standardize: bool = True,
        n_planes: int | None = None,
        rest: Literal["programs", "last"] = "programs",
        max_iter: int = 100,
        tol: float = 1e-6,
        n_jobs: int | None = None,
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

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by their use for a plane between the classes in y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, none missing.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        FSV
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        with one_blas_thread():
            table = Table.of(rows)
            alpha = np.full(table.scale.size, float(self.alpha)) / (1.0 if self.standardize else table.scale)
            labels = rows.labels.one_against_rest()
            sequences = [PlaneSequence(Plane(table, label, alpha, self.penalty)) for label in labels]
            max_planes, enough = self._n_planes(len(labels))
            total = self.max_iter * len(labels) * max_planes
            programs = all_programs(sequences, max_planes, enough, self.max_iter, self.tol)
            for _ in self._steps(programs, "linear program", total):
                pass
        self._describe([sequence.planes[0] for sequence in sequences], table, rows)
        self.plane_sizes_ = [sequence.sizes() for sequence in sequences]
        self._warn(sequences)
        places = np.max([sequence.places(self.rest) for sequence in sequences], axis=0)
        self.n_supported_ = int(np.sum(places > 1.0))
        return Scores(places + np.abs(self.weights_).sum(axis=0)[rows.columns], floor=RELATIVE_TOLERANCE)

    def _n_planes(self, n_labels: int) -> tuple[int, int]:
        """How many planes are fitted for each label at most, and after how many features with weight no further one."""
        if self.n_planes is not None:
            return self.n_planes, sys.maxsize
        if self.penalty != "auto" or self.rest == "last":
            return 1, 0
        enough = -(-MIN_SUPPORTED // n_labels)
        return len(FRACTIONS) * enough, enough

    def _describe(self, planes: list["Plane"], table: "Table", rows: LabelledRows) -> None:
        """Set the attributes of the first planes, in the units of the features unless they were standardised."""
        scale, mean = (table.scale, table.mean) if self.standardize else (1.0, 0.0)
        self.mean_ = rows.expand(np.broadcast_to(mean, table.mean.shape))
        self.scale_ = rows.expand(np.broadcast_to(scale, table.scale.shape), 1.0)
        weights = np.stack([plane.weight for plane in planes]) * (scale / table.scale)
        self.weights_ = rows.expand(weights)
        self.intercepts_ = np.array([plane.intercept for plane in planes]) + weights @ ((mean - table.mean) / scale)
        self.support_sizes_ = (self.weights_ != 0).sum(axis=1)
        self.penalties_ = np.array([plane.ratio / (1.0 + plane.ratio) for plane in planes])
        self.objective_ = [np.array(plane.objective) for plane in planes]
        self.duality_gap_ = np.array([plane.gap for plane in planes])
        self.n_iter_ = max(len(plane.objective) for plane in planes)

    def _warn(self, sequences: list["PlaneSequence"]) -> None:
        if all(sequence.planes[0].blind for sequence in sequences):
            warn("no feature differs between the means of two classes: none is used")
        planes = [plane for sequence in sequences for plane in sequence.planes]
        left = sum(len(plane.objective) == self.max_iter and not plane.settled for plane in planes)
        if left:
            warn(
                f"{left} of {len(planes)} planes did not settle in max_iter={self.max_iter} linear programs",
                ConvergenceWarning,
            )
        stuck = sum(plane.stuck for plane in planes)
        if stuck:
            warn(
                f"a linear program did not converge, for {stuck} of {len(planes)} planes: see duality_gap_",
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
class Table:
    """Standardised features, of which only those asked for are ever written down.

    Centring changes nothing but the intercept; a weight of another unit is a matter of its cost.
    """

    X: Any
    mean: Floats
    scale: Floats
    prints: Fingerprints
    n_jobs: int | None

    @classmethod
    def of(cls, rows: LabelledRows) -> Self:
        """Means and standard deviations of the columns."""
        X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X

        def moments(part: slice) -> Floats:
            block = dense_columns(X, part)
            mean = rows.low[part] + (block - rows.low[part]).mean(axis=0)
            block = block - mean
            return np.stack([mean, np.sqrt(np.mean(block * block, axis=0))])

        mean, scale = np.hstack(list(thread_map(moments, dense_column_blocks(X), rows.n_jobs)))
        return cls(X, mean, scale, Fingerprints.of(X, rows.n_jobs), rows.n_jobs)

    def slopes(self, v: Floats) -> Floats:
        """Z'v, with Z the standardised features and v of sum 0 but for rounding."""

        def product(part: slice) -> Floats:
            mean, block = self.mean[part], self.X[:, part]
            if sparse.issparse(block) or (np.abs(mean) < FAR * self.scale[part]).all():
                return np.asarray(block.T @ v - mean * v.sum())
            return np.asarray(v @ (block - mean))

        return np.concatenate(list(thread_map(product, dense_column_blocks(self.X), self.n_jobs))) / self.scale

    def some(self, rows: Integers) -> "Table":
        """A table of some samples, standardised as all."""
        X = self.X.tocsr()[rows].tocsc() if sparse.issparse(self.X) else self.X[rows]
        return replace(self, X=X, prints=replace(self.prints, rows=self.prints.rows[rows]))

    def columns(self, features: Integers) -> Floats:
        """Z of some features, one a row."""
        Z = self.X[:, features]
        Z = np.asarray((Z.toarray() if sparse.issparse(Z) else Z).T, dtype=np.float64, order="C")
        return (Z - self.mean[features, None]) / self.scale[features, None]


def all_programs(
    sequences: list["PlaneSequence"], max_planes: int, enough: int, max_iter: int, tol: float
) -> Iterator["Plane"]:
    """Solve the linear programs of all labels, one after the other."""
    for sequence in sequences:
        yield from sequence.programs(max_planes, enough, max_iter, tol)


class PlaneSequence:
    """Planes between the same two classes, in rounds, each round without the features that had weight before it.

    A round with an automatic penalty has one plane for each of `FRACTIONS`, otherwise it has one plane.

    Parameters
    ----------
    first : Plane
        The first plane, not yet fitted.
    """

    def __init__(self, first: "Plane") -> None:
        self.fractions = FRACTIONS if first.penalty == "auto" else FRACTIONS[:1]
        self.planes = [first]
        self.new: list[NDArray[np.bool_]] = []  # features that had weight for the first time, of each fitted plane
        self.seen = np.zeros(first.alpha.size, dtype=bool)

    def programs(self, max_planes: int, enough: int, max_iter: int, tol: float) -> Iterator["Plane"]:
        """Solve the linear programs of one plane after the other, until enough features had weight."""
        plane = self.planes[0]
        program = FullProgram(plane.table, plane.label, plane.cost())
        while True:
            yield from plane.programs(program, max_iter, tol)
            self._note(plane)
            plane = self._next()
            if plane.blind or self.planes[-1].stuck or len(self.new) == max_planes or self.seen.sum() >= enough:
                return
            self.planes.append(plane)

    def _note(self, plane: "Plane") -> None:
        self.new.append((plane.last_used > 0) & ~self.seen)
        self.seen = self.seen | self.new[-1]

    def _next(self) -> "Plane":
        """The plane of the next smaller penalty, or the first one of a new round."""
        level = len(self.new) % len(self.fractions)
        excluded = self.planes[-1].excluded if level else self.seen
        return self.planes[-1].again(self.fractions[level], excluded)

    def sizes(self) -> Integers:
        """How many features had weight for the first time in each plane."""
        return np.array([np.count_nonzero(new) for new in self.new])

    def places(self, rest: Literal["programs", "last"]) -> Floats:
        """2 for a feature that the first plane uses; below that, above 1 if it had weight; else at most 1."""
        first = self.planes[0]
        if rest == "last":
            return np.where(first.weight != 0, 2.0, first.last_nearness)
        places = first.first_nearness
        for p, new in enumerate(self.new):
            low, high = 1.0 / (p + 2), 1.0 / (p + 1)  # so that a place does not depend on how many planes follow
            places = np.where(new, 1.0 + low + (high - low) * self.planes[p].order_of_use(), places)
        return np.where(first.weight != 0, 2.0, places)


class Plane:
    """A plane between two classes, and what the linear programs on the way to it have said of the features.

    The objective is divided by 1 - lambda, and ``ratio`` is lambda / (1 - lambda).

    Parameters
    ----------
    table, label : Table, ndarray of shape (n_samples,)
        Samples and their labels, 1 or -1.
    alpha : ndarray of shape (n_features,)
        How soon the cost of each weight levels off.
    penalty : float or "auto"
        Lambda.
    fraction : float
        With an automatic penalty: of the least ratio at which no feature is used.
    excluded : ndarray of shape (n_features,), optional
        Features that must not be used.
    """

    def __init__(
        self,
        table: Table,
        label: Floats,
        alpha: Floats,
        penalty: float | Literal["auto"],
        fraction: float = FRACTIONS[0],
        excluded: NDArray[np.bool_] | None = None,
    ) -> None:
        self.table, self.label, self.alpha, self.penalty = table, label, alpha, penalty
        self.excluded = np.zeros(alpha.size, dtype=bool) if excluded is None else excluded
        self.slope = table.slopes(label * balanced(label))
        distance = np.where(self.excluded, 0.0, np.abs(self.slope))
        self.blind = float(distance.max()) < ROUNDING
        if penalty == "auto":
            self.ratio = 1.0 if self.blind else fraction * float((distance / alpha).max())
        else:
            self.ratio = penalty / (1.0 - penalty)
        self.weight, self.intercept, self.hinge = np.zeros(alpha.size), 0.0, 2.0
        self.last_used, self.last_weight = np.zeros((2, alpha.size))
        self.first_nearness = self.last_nearness = nearness(self.slope, self.cost())
        self.objective: list[float] = []
        self.gap, self.settled, self.stuck = np.nan, False, False

    def again(self, fraction: float, excluded: NDArray[np.bool_]) -> "Plane":
        """A new plane between the same classes."""
        return Plane(self.table, self.label, self.alpha, self.penalty, fraction, excluded)

    def programs(self, program: "FullProgram", max_iter: int, tol: float) -> Iterator["Plane"]:
        """Solve linear programs until the plane is stationary."""
        while len(self.objective) < max_iter and not self.settled:
            self.solve_next(program, tol)
            yield self

    def cost(self) -> Floats:
        """Of a unit of each weight: the tangent at the present weights."""
        tangent = self.ratio * self.alpha * np.maximum(np.exp(-self.alpha * np.abs(self.weight)), CHEAPEST)
        # No slope of a standardised feature exceeds 2 sqrt(n_samples), so that an excluded one is never worth its cost.
        return np.where(self.excluded, 3.0 * np.sqrt(self.label.size), tangent)

    def solve_next(self, program: "FullProgram", tol: float) -> None:
        """Solve the linear program at the present weights, and note what its solution says."""
        cost = self.cost()
        before = self.hinge + float(cost @ np.abs(self.weight))
        self.slope, solved = program.solve(cost)
        weight = program.part.weights()
        self.weight = np.zeros(cost.size)
        self.weight[program.part.feature[1:]], self.intercept = weight[1:], weight[0]
        self.hinge, after = program.part.hinge(weight), program.value(cost)
        self.stuck, self.settled = not solved, not solved or before - after <= tol * before
        # the dual, shrunk until no slope exceeds its cost by more than rounding, is a lower bound
        dual = program.dual.sum() / max(1.0, (np.abs(self.slope) / (cost + ROUNDING)).max())
        self.gap = (after - float(dual)) / (1.0 + self.ratio)
        self._note(cost)

    def _note(self, cost: Floats) -> None:
        used = self.weight != 0
        n_used = float(np.sum(1.0 - np.exp(-self.alpha * np.abs(self.weight))))
        self.objective.append((self.hinge + self.ratio * n_used) / (1.0 + self.ratio))
        self.last_used[used], self.last_weight[used] = len(self.objective), np.abs(self.weight)[used]
        self.last_nearness = nearness(self.slope, cost)
        if len(self.objective) == 1:
            self.first_nearness = self.last_nearness

    def order_of_use(self) -> Floats:
        """Numbers in [0, 1): larger for features used to the end, then for those given up late, then by weight."""
        share = self.alpha * self.last_weight / (1.0 + self.alpha * self.last_weight)
        given_up = (self.last_used - 1.0 + share) / max(1, len(self.objective))
        return np.where(self.weight != 0, 0.5 + 0.5 * share, 0.5 * given_up)


def nearness(slope: Floats, cost: Floats) -> Floats:
    """What weight on a feature would save, as a share of its cost: less than 1 if the feature is not worth it."""
    share = np.abs(slope) / cost
    return np.asarray(share / max(1.0, float(share.max())))


def balanced(label: Floats) -> Floats:
    """What the loss of each sample counts, if both labels count 1."""
    return np.where(label > 0, 1.0 / np.count_nonzero(label > 0), 1.0 / np.count_nonzero(label < 0))


def some_of_both(label: Floats) -> Integers:
    """Rows of a sample of both labels, always the same, in order."""
    order = np.random.default_rng(0).permutation(label.size)
    parts = [order[label[order] == side] for side in (-1.0, 1.0)]
    rows: Integers = np.concatenate([part[: max(AT_LEAST, part.size // FEWER)] for part in parts])
    return np.sort(rows)


class FullProgram:
    """The linear program over all features, of which it holds those that were worth their cost at some time.

    Of many samples, it lets fewer go ahead, if these see the features as all do, and follows from where they arrive.

    Parameters
    ----------
    table, label : Table, ndarray of shape (n_samples,)
        Samples and their labels, 1 or -1.
    cost : ndarray of shape (n_features,)
        The first costs that it will be solved for.
    """

    def __init__(self, table: Table, label: Floats, cost: Floats) -> None:
        self.table, self.label = table, label
        self.part = HingeProgram(label, balanced(label), table.prints.row_numbers(label))
        self.dearer = 1.0 + PERTURBATION * table.prints.column_numbers()
        worth = np.abs(table.slopes(label * self.part.bound)) / cost
        self.ahead = self._fewer_samples(worth, cost) if label.size > MANY else None
        if self.ahead is None:
            for level in np.geomspace(max(float(worth.max()), 1.0), 1.0, LEVELS + 1)[1:-1]:
                self._reach(level * cost)

    def solve(self, cost: Floats) -> tuple[Floats, bool]:
        """The slopes of all features at the optimum for these costs, and whether it was found."""
        if self.ahead is not None:
            self._follow(self.ahead, cost)
        solved = self._reach(cost)
        self.dual = self.part.duals(np.append(0.0, cost[self.part.feature[1:]]))
        return self.table.slopes(self.label * self.dual), solved

    def _fewer_samples(self, worth: Floats, cost: Floats) -> "FullProgram | None":
        """The program of some samples, unless much noise would look to them as if it were worth its cost."""
        self.rows = some_of_both(self.label)
        table, label = self.table.some(self.rows), self.label[self.rows]
        their_worth = np.abs(table.slopes(label * balanced(label))) / cost
        n_worth, their_n_worth = int(np.sum(worth > 1)), int(np.sum(their_worth > 1))
        if their_n_worth > max(2 * n_worth, label.size // 20):
            return None
        return FullProgram(table, label, cost)

    def _follow(self, ahead: "FullProgram", cost: Floats) -> None:
        """Go to where the fewer samples have arrived, if that is better than here."""
        _, arrived = ahead.solve(cost)
        features, weight = ahead.part.feature[1:], ahead.part.weights()
        columns = self.table.columns(features) * self.label
        loss = np.maximum(1.0 - weight[1:] @ columns - weight[0] * self.label, 0.0)
        there = float(self.part.bound @ loss + cost[features] @ np.abs(weight[1:]))
        if arrived and there < self.value(cost):
            jitter = self.table.prints.row_numbers(self.label)
            self.part = HingeProgram.lifted(ahead.part, self.rows, self.label, self.part.bound, columns, jitter)

    def _reach(self, cost: Floats) -> bool:
        """Let features join that are worth their cost until there are none left."""
        cost = cost * self.dearer
        while True:
            here = self.part.feature[1:]
            solved = self.part.move(np.append(0.0, cost[here]), 1000 + 20 * (self.label.size + here.size))
            slope = self.table.slopes(self.label * self.part.dual)
            worth = np.abs(slope) / cost
            worth[here] = 0.0
            # rounded, lest the layout of the table decides between equal columns
            new = np.argsort(-worth.round(9), kind="stable")[: max(BATCH, here.size // 4)]
            new = new[worth[new] > 1.0 + EXCESS]
            if not solved or not new.size:
                return solved
            self.part.add(new, self.table.columns(new) * self.label)

    def value(self, cost: Floats) -> float:
        """Of what is minimised, at the present weights."""
        weight = self.part.weights()
        return self.part.hinge(weight) + float(cost[self.part.feature[1:]] @ np.abs(weight[1:]))
