r"""Correlation-based feature selection of M. A. Hall.

A good subset has features that say much about the class and little about each other. Features are cut into bins; with
:math:`\bar r_{cf}` the mean symmetrical uncertainty between its k features and the class, and :math:`\bar r_{ff}` that
between two of them, the merit of a subset is

.. math:: M = \frac{k\, \bar r_{cf}}{\sqrt{k + k (k - 1)\, \bar r_{ff}}},
          \qquad SU(x, y) = \frac{2\, I(x; y)}{H(x) + H(y)}

and best-first search looks for the subset with the largest.

References: M. A. Hall, *Correlation-based Feature Selection for Machine Learning*, thesis, University of Waikato 1999;
for the bins U. M. Fayyad, K. B. Irani, *Multi-interval discretization of continuous-valued attributes for
classification learning*, IJCAI 1993.

Where we depart from them:

- A ranking of all features, not only a subset: the subset comes first, in the order in which the search added its
  features; the others follow by their symmetrical uncertainty with the class, and those that no cut was worth making in
  by how near the best cut came to it.
- Locally predictive features are not added afterwards.
- Missing cells are refused instead of being shared out among the values.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows, blocks, thread_map
from ilfs.execution.columns import column_blocks, gather_columns
from ilfs.methods.mutual_information import check_n_bins, sturges
from ilfs.parameters import check_choice, check_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.statistics.labels import RowLabels
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR, first_of_largest, stable_order, tolerance
from ilfs.warn import warn

MAX_BINS = 2**16  # bins are kept in two bytes
BLOCK_COLUMNS = 256  # of those whose uncertainty is computed at once

Bins = NDArray[np.uint16]


class HallCFS(SupervisedRowsSelector):
    """Correlation-based feature selection of M. A. Hall: a subset that says much of the class and little twice.

    Bins are kept in two bytes a cell for the features that say anything about the class. The search compares every
    feature that it adds with all of those, n_samples x n_features operations, and remembers the result: one number for
    each. There is no matrix of features x features. Time and memory grow with the number of features that the search
    adds, not with the square of those there are.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or the subset that was found (at least one).
    discretize : {"mdl", "frequency"}, default="mdl"
        How features are cut into bins. ``"mdl"``: where a cut tells the classes apart by more than it costs to describe
        it. ``"frequency"``: as in `MutualInformation`, without looking at the classes.
    n_bins : int or "auto", default="auto"
        The number of bins for ``"frequency"``; ``"auto"`` is 1 + log2(n_samples), rounded down.
    max_stale : int, default=5
        The search ends after so many steps in a row without a better subset.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 + (k - i) / k for feature number i = 0, 1, ... of the k in the subset; for the others, the symmetrical
        uncertainty with the class, in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    subset_ : ndarray of shape (n_subset,)
        Column indices of the subset that was found, in the order they were added. For an indicator matrix: of the
        features that are in the subset of some label.
    merit_ : float
        Merit of the subset. For an indicator matrix: the mean over the labels.
    uncertainty_ : ndarray of shape (n_features,)
        Symmetrical uncertainty between each feature and the class, in [0, 1]. For an indicator matrix: the mean.
    n_iter_ : int
        Steps of the search (not for an indicator matrix).
    classes_ : ndarray of shape (n_classes,)
        The labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: the scores of each label against the rest. ``scores_`` is their mean, plus 1
        for the features of ``subset_``.
    per_label_ : dict of int to HallCFS
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

    See Also
    --------
    CFS : What the ILFS paper calls CFS, another method.

    References
    ----------
    .. [1] M. A. Hall, "Correlation-based Feature Selection for Machine Learning", thesis, University of Waikato 1999.
    .. [2] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued attributes for classification
       learning", IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import HallCFS
    >>> iris = load_iris()
    >>> selector = HallCFS().fit(iris.data, iris.target)
    >>> list(selector.get_feature_names_out(iris.feature_names))
    ['petal length (cm)', 'petal width (cm)']
    >>> round(selector.merit_, 3)
    0.898
    """

    _takes_missing = False
    _takes_long = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        discretize: Literal["mdl", "frequency"] = "mdl",
        n_bins: int | Literal["auto"] = "auto",
        max_stale: int = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.discretize = discretize
        self.n_bins = n_bins
        self.max_stale = max_stale
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Look for the subset of features with the largest merit, and rank all features.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        HallCFS
            Itself, fitted.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        table, kept, gain = discretised(rows, rows.labels, self._wanted_bins(rows))
        with_class = np.zeros(rows.columns.size)
        with_class[kept] = table.uncertainty_with(rows.labels.codes, rows.classes.n_classes)
        for search in self._steps(best_first(with_class[kept], table.uncertainty_with_own, self.max_stale), "step"):
            best, self.n_iter_ = search.best, search.n_steps
        chosen = kept[list(best.features)]
        if not chosen.size:
            warn("no feature says anything about the classes when cut into bins: the subset is empty")
        self.subset_, self.merit_, self.uncertainty_ = rows.columns[chosen], best.merit, rows.expand(with_class)
        scores = with_class.copy()
        scores[chosen] = 1 + np.arange(chosen.size, 0, -1) / max(1, chosen.size)
        return Scores(scores, gain, UNIT_FLOOR, UNIT_FLOOR)

    def _wanted_bins(self, rows: LabelledRows) -> int | None:
        """How many bins of equal frequency; None for those of minimum description length."""
        if self.discretize == "mdl":
            return None
        n_samples = rows.X.shape[0]
        return sturges(n_samples) if self.n_bins == "auto" else min(self.n_bins, n_samples, MAX_BINS)

    def _average_labels(self, fitted: list[Self]) -> Scores:
        chosen = np.unique(np.concatenate([one.subset_ for one in fitted]))
        scores = super()._average_labels(fitted).values
        scores[chosen] += 1  # what is in no subset has at most 1
        self.subset_ = chosen[stable_order(scores[chosen], floor=UNIT_FLOOR)]
        self.merit_ = float(np.mean([one.merit_ for one in fitted]))
        self.uncertainty_ = np.mean([one.uncertainty_ for one in fitted], axis=0)
        return Scores(scores, floor=UNIT_FLOOR)

    def _n_selected(self) -> int:
        return max(1, self.subset_.size) if self.n_features_to_select is None else super()._n_selected()

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {"uncertainty": self.uncertainty_}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("discretize", self.discretize, ("mdl", "frequency"))
        check_n_bins(self.n_bins)
        check_integer("max_stale", self.max_stale, 1)


class DiscreteTable:
    """Columns with few values, and what they say of each other.

    Parameters
    ----------
    bins : ndarray of shape (n_columns, n_samples)
        Whole numbers from 0 on.
    n_values : ndarray of shape (n_columns,)
        How many, at least 2.
    n_jobs : int or None
        How many threads to use.
    """

    def __init__(self, bins: Bins, n_values: Integers, n_jobs: int | None) -> None:
        self.bins, self.n_values, self.n_jobs = bins, n_values, n_jobs
        self.entropies = self._joint_entropies(np.zeros(bins.shape[1], np.uint16), 1)

    def uncertainty_with_own(self, column: int) -> Floats:
        """Symmetrical uncertainty of every column with one of them."""
        return self._uncertainty(self.bins[column], int(self.n_values[column]), self.entropies[column])

    def uncertainty_with(self, other: Integers, n_other: int) -> Floats:
        """Symmetrical uncertainty of every column with one other, which has values in 0:n_other."""
        shares = np.bincount(other) / other.size
        return self._uncertainty(other, n_other, float(-(shares * np.log2(shares)).sum()))

    def _uncertainty(self, other: NDArray[Any], n_other: int, entropy: float) -> Floats:
        both = self.entropies + entropy
        shared = both - self._joint_entropies(other, n_other)
        return np.asarray(np.clip(2 * shared / both, 0.0, 1.0))

    def _joint_entropies(self, other: NDArray[Any], n_other: int) -> Floats:
        """Entropy of every column together with another, in bits."""
        from ilfs.kernels import uncertainty

        found, table = np.empty(len(self.bins)), n_log_n(other.size)
        other = other.astype(np.int64)

        def of_block(columns: slice) -> None:
            uncertainty.joint_entropies(
                self.bins[columns], self.n_values[columns], other, n_other, table, found[columns]
            )

        for _ in thread_map(of_block, blocks(len(self.bins), BLOCK_COLUMNS), self.n_jobs):
            pass
        return found


def discretised(rows: LabelledRows, labels: RowLabels, wanted: int | None) -> tuple[DiscreteTable, Integers, Floats]:
    """Columns cut into bins, those that remained in one piece left out.

    Parameters
    ----------
    rows : LabelledRows
        The columns.
    labels : RowLabels
        Their classes.
    wanted : int or None
        How many bins of equal frequency; None for cuts of minimum description length.

    Returns
    -------
    table : DiscreteTable
        Those with several bins.
    kept : ndarray of int
        Which columns they are.
    gain : ndarray of shape (n_columns,)
        Bits a sample that the first cut of a column gains over what it costs; 0 for bins of equal frequency.
    """
    from ilfs.kernels import bins as bin_kernels
    from ilfs.kernels import mdl

    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    n_samples, table = X.shape[0], n_log_n(X.shape[0])

    def cut(columns: slice) -> tuple[Bins, Integers, Integers, Floats]:
        cells = gather_columns(X, columns, np.arange(n_samples))
        bins, n_bins, gain = np.empty(cells.shape, np.uint16), np.empty(len(cells), np.int64), np.zeros(len(cells))
        if wanted is None:
            order = np.argsort(cells, axis=1)
            ordered = np.take_along_axis(cells, order, axis=1)
            mdl.mdl_bins(
                ordered, order, labels.codes, labels.n_classes, table, RELATIVE_TOLERANCE, UNIT_FLOOR,
                bins, n_bins, gain,
            )  # fmt: skip
        else:
            bin_kernels.frequency_bins(cells, np.sort(cells, axis=1), np.arange(n_samples + 1.0), wanted, bins, n_bins)
        several = np.flatnonzero(n_bins > 1)
        return bins[several], n_bins[several], columns.start + several, gain

    parts = list(thread_map(cut, column_blocks(X), rows.n_jobs))
    bins, n_bins, kept, gain = (np.concatenate(part) for part in zip(*parts, strict=True))
    return DiscreteTable(bins, n_bins, rows.n_jobs), kept, gain


def n_log_n(most: int) -> Floats:
    """n log2 n of every whole number n from 0 to the most."""
    n = np.arange(most + 1.0)
    return np.asarray(n * np.log2(np.maximum(n, 1)))


@dataclass(frozen=True)
class Subset:
    """Features in the order they were added.

    ``relevance`` is the sum of their uncertainties with the class, ``redundancy`` the sum of those of all pairs.
    """

    features: tuple[int, ...] = ()
    relevance: float = 0.0
    redundancy: float = 0.0

    @property
    def merit(self) -> float:
        """k mean(r_cf) / sqrt(k + k (k - 1) mean(r_ff)), 0 for the empty subset."""
        return self.relevance / float(np.sqrt(max(1, len(self.features)) + 2 * self.redundancy))


class Expanded:
    """A subset and all subsets of one feature more, the best first.

    Parameters
    ----------
    subset : Subset
        What to expand.
    with_class : ndarray of shape (n_features,)
        Uncertainty of every feature with the class.
    with_subset : ndarray of shape (n_features,)
        Sum of the uncertainties of every feature with those of the subset.
    """

    def __init__(self, subset: Subset, with_class: Floats, with_subset: Floats) -> None:
        self.subset, self.with_class, self.with_subset = subset, with_class, with_subset
        relevance, redundancy = subset.relevance + with_class, subset.redundancy + with_subset
        self.merits = relevance / np.sqrt(len(subset.features) + 1 + 2 * redundancy)
        self.merits[list(subset.features)] = -np.inf

    def best_merit(self) -> float:
        """That of the best of them that was not taken, minus infinity if there is none."""
        return float(self.merits.max(initial=-np.inf))

    def best(self) -> Subset:
        """The best of them that was not taken."""
        j = first_of_largest(self.merits, UNIT_FLOOR)
        relevance, redundancy = self.subset.relevance + self.with_class[j], self.subset.redundancy + self.with_subset[j]
        return Subset((*self.subset.features, j), float(relevance), float(redundancy))

    def take(self) -> None:
        """Remove the best of them."""
        self.merits[first_of_largest(self.merits, UNIT_FLOOR)] = -np.inf


@dataclass(frozen=True)
class Search:
    """The best subset after some steps."""

    best: Subset
    n_steps: int


def best_first(with_class: Floats, with_feature: Callable[[int], Floats], max_stale: int) -> Iterator[Search]:
    """Expand the best subset known that was not expanded yet, until that has not helped for a while.

    Parameters
    ----------
    with_class : ndarray of shape (n_features,)
        Uncertainty of every feature with the class.
    with_feature : callable
        Gives the uncertainty of every feature with one of them; called once for each that the search adds.
    max_stale : int
        After so many steps without a better subset the search ends.

    Yields
    ------
    Search
        After every step.
    """
    known: dict[int, Floats] = {}
    expanded: list[Expanded] = []
    seen: set[frozenset[int]] = set()
    best, n_steps, stale = Subset(), 0, 0
    node: Expanded | None = Expanded(best, with_class, np.zeros_like(with_class))
    while node is not None and stale < max_stale:
        n_steps, stale = n_steps + 1, stale + 1
        if node.best_merit() > best.merit + tolerance(best.merit, UNIT_FLOOR):
            best, stale = node.best(), 0
        expanded.append(node)
        yield Search(best, n_steps)
        node = next_to_expand(expanded, seen, known, with_feature)


def next_to_expand(
    expanded: list[Expanded],
    seen: set[frozenset[int]],
    known: dict[int, Floats],
    with_feature: Callable[[int], Floats],
) -> Expanded | None:
    """The best subset that was not expanded yet, expanded; None if there is no other."""
    merits = np.array([node.best_merit() for node in expanded])
    while merits.max() > -np.inf:
        number = first_of_largest(merits, UNIT_FLOOR)
        parent = expanded[number]
        subset = parent.best()
        parent.take()
        merits[number] = parent.best_merit()
        if frozenset(subset.features) not in seen:
            seen.add(frozenset(subset.features))
            added = subset.features[-1]
            if added not in known:
                known[added] = with_feature(added)
            return Expanded(subset, parent.with_class, parent.with_subset + known[added])
    return None
