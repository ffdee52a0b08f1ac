r"""Correlation-based feature selection of M. A. Hall.

A good subset has features that are strongly associated with the class and weakly with each other. Features are
discretised first. Let :math:`\bar r_{cf}` be the mean symmetrical uncertainty between the k features of a subset and
the class, and :math:`\bar r_{ff}` its mean over pairs of these features. The merit of the subset is

.. math:: M = \frac{k\, \bar r_{cf}}{\sqrt{k + k (k - 1)\, \bar r_{ff}}},
          \qquad SU(x, y) = \frac{2\, I(x; y)}{H(x) + H(y)}

and best-first search looks for the subset with the largest merit.

References: M. A. Hall, *Correlation-based Feature Selection for Machine Learning*, thesis, University of Waikato 1999;
for the bins U. M. Fayyad, K. B. Irani, *Multi-interval discretization of continuous-valued attributes for
classification learning*, IJCAI 1993.

Where we depart from them:

- All features are ranked, not only a subset selected. The subset comes first, in the order in which the search added
  its features. The others follow by their symmetrical uncertainty with the class. Features that are not cut into bins
  come last, ordered by how close their best cut is to being accepted.
- Locally predictive features are not added afterwards.
- Missing values raise an error; Hall distributes them over the other values.
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
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_choice, check_integer
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.statistics.labels import RowLabels
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR, first_of_largest, stable_order, tolerance
from ilfs.warn import warn

MAX_BINS = 2**16  # bin numbers are stored as uint16
UNCERTAINTY_BLOCK_COLUMNS = 256  # columns per task of a thread

Bins = NDArray[np.uint16]


class HallCFS(SupervisedRowsSelector):
    """Correlation-based feature selection of M. A. Hall: a relevant subset without redundant features.

    Bins take two bytes per value, for the features that are cut into several bins. The search compares every feature
    that it adds with all of these, which takes n_samples x n_features operations, and stores one number for each. Time
    and memory grow with the number of features that the search adds. No features x features matrix is formed.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for the subset that was found (at
        least one feature). ``"auto"``: the number is found by cross-validation of a linear SVM (see
        `ilfs.selection.SizeCV`).
    discretize : {"mdl", "frequency"}, default="mdl"
        How features are cut into bins. ``"mdl"``: a cut is made if it reduces the entropy of the classes by more bits
        than it costs to describe the cut (minimum description length). ``"frequency"``: bins of equal frequency as in
        `MutualInformation`, without using the classes.
    n_bins : int or "auto", default="auto"
        Number of bins for ``"frequency"``; ``"auto"`` means 1 + log2(n_samples), rounded down.
    max_stale : int, default=5
        The search ends after this many consecutive steps without a better subset.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        are those without it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 + (k - i) / k for the feature that the search added as number i = 0, 1, ... of the k in the subset; for the
        others, the symmetrical uncertainty with the class, in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    subset_ : ndarray of shape (n_subset,)
        Column indices of the subset that was found, in the order they were added. For an indicator matrix: the union of
        the subsets of all labels, best first.
    merit_ : float
        Merit of the subset. For an indicator matrix: its mean over the labels.
    uncertainty_ : ndarray of shape (n_features,)
        Symmetrical uncertainty between each feature and the class, in [0, 1]. For an indicator matrix: its mean over
        the labels.
    n_iter_ : int
        Number of steps of the search (not for an indicator matrix).
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest. ``scores_`` is their mean, plus 1 for
        the features of ``subset_``.
    per_label_ : dict of int to HallCFS
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_ : int
        Only with ``n_features_to_select="auto"``: the number found.
    cv_results_ : dict of str to ndarray
        Only with ``n_features_to_select="auto"``: the table of `ilfs.selection.SizeCV`.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    See Also
    --------
    CFS : The different method that the ILFS paper calls CFS.

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
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        discretize: Literal["mdl", "frequency"] = "mdl",
        n_bins: int | Literal["auto"] = "auto",
        max_stale: int = 5,
        n_jobs: int | None = None,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.discretize = discretize
        self.n_bins = n_bins
        self.max_stale = max_stale
        self.n_jobs = n_jobs
        self.must_keep = must_keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Search for the subset of features with the largest merit, and rank all features.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Finite numbers.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.

        Returns
        -------
        HallCFS
            The fitted selector.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        table, kept, gain = discretised(rows, rows.labels, self._wanted_bins(rows))
        with_class = np.zeros(rows.columns.size)
        with_class[kept] = table.uncertainty_with(rows.labels.codes, rows.classes.n_classes)
        for search in self._steps(best_first(with_class[kept], table.uncertainty_with_column, self.max_stale), "step"):
            best, self.n_iter_ = search.best, search.n_steps
        chosen = kept[list(best.features)]
        if not chosen.size:
            warn("no discretised feature carries information about the classes: the subset is empty")
        self.subset_, self.merit_, self.uncertainty_ = rows.columns[chosen], best.merit, rows.expand(with_class)
        scores = with_class.copy()
        # Features of the subset score in (1, 2], above every uncertainty, in the order they were added.
        scores[chosen] = 1 + np.arange(chosen.size, 0, -1) / max(1, chosen.size)
        return Scores(scores, gain, UNIT_FLOOR, UNIT_FLOOR)

    def _wanted_bins(self, rows: LabelledRows) -> int | None:
        """Return the number of bins of equal frequency, or None for minimum description length."""
        if self.discretize == "mdl":
            return None
        n_samples = rows.X.shape[0]
        return sturges(n_samples) if self.n_bins == "auto" else min(self.n_bins, n_samples, MAX_BINS)

    def _average_labels(self, fitted: list[Self]) -> Scores:
        chosen = np.unique(np.concatenate([one.subset_ for one in fitted]))
        scores = super()._average_labels(fitted).values
        scores[chosen] += 1  # so that they rank before features in no subset, whose scores are at most 1
        self.subset_ = chosen[stable_order(scores[chosen], floor=UNIT_FLOOR)]
        self.merit_ = float(np.mean([one.merit_ for one in fitted]))
        self.uncertainty_ = np.mean([one.uncertainty_ for one in fitted], axis=0)
        return Scores(scores, floor=UNIT_FLOOR)

    def _fixed_size(self) -> int | None:
        return None if self.n_features_to_select is None else super()._fixed_size()

    def _n_selected(self) -> int:
        return max(1, self.subset_.size) if self.n_features_to_select is None else super()._n_selected()

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {"uncertainty": self.uncertainty_}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("discretize", self.discretize, ("mdl", "frequency"))
        check_n_bins(self.n_bins)
        check_integer("max_stale", self.max_stale, 1)


class DiscreteColumns:
    """Discretised columns and their symmetrical uncertainties.

    Parameters
    ----------
    bins : ndarray of shape (n_columns, n_samples)
        Bin of every value, from 0.
    n_values : ndarray of shape (n_columns,)
        Number of bins of every column, at least 2.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(self, bins: Bins, n_values: Integers, n_jobs: int | None) -> None:
        self.bins, self.n_values, self.n_jobs = bins, n_values, n_jobs
        # The joint entropy with a constant is the entropy of the column itself.
        self.entropies = self._joint_entropies(np.zeros(bins.shape[1], np.uint16), 1)

    def uncertainty_with_column(self, column: int) -> Floats:
        """Return the symmetrical uncertainty of every column with one of them."""
        return self._uncertainty(self.bins[column], int(self.n_values[column]), self.entropies[column])

    def uncertainty_with(self, other: Integers, n_other: int) -> Floats:
        """Return the symmetrical uncertainty of every column with another variable, whose values are in 0:n_other."""
        frequencies = np.bincount(other) / other.size
        return self._uncertainty(other, n_other, float(-(frequencies * np.log2(frequencies)).sum()))

    def _uncertainty(self, other: NDArray[Any], n_other: int, entropy: float) -> Floats:
        """Return 2 I(x; y) / (H(x) + H(y)), where I(x; y) = H(x) + H(y) - H(x, y)."""
        sum_of_entropies = self.entropies + entropy
        information = sum_of_entropies - self._joint_entropies(other, n_other)
        # Rounding may leave [0, 1], for example for a copy or for independent columns.
        return np.asarray(np.clip(2 * information / sum_of_entropies, 0.0, 1.0))

    def _joint_entropies(self, other: NDArray[Any], n_other: int) -> Floats:
        """Return the joint entropy of every column with another variable, in bits."""
        from ilfs.kernels import uncertainty

        entropies, table = np.empty(len(self.bins)), n_log_n(other.size)
        other = other.astype(np.int64)

        def fill(columns: slice) -> None:
            uncertainty.joint_entropies(
                self.bins[columns], self.n_values[columns], other, n_other, table, entropies[columns]
            )

        for _ in thread_map(fill, blocks(len(self.bins), UNCERTAINTY_BLOCK_COLUMNS), self.n_jobs):
            pass
        return entropies


def discretised(rows: LabelledRows, labels: RowLabels, wanted: int | None) -> tuple[DiscreteColumns, Integers, Floats]:
    """Discretise the columns and drop those with a single bin.

    Parameters
    ----------
    rows : LabelledRows
        Table of samples.
    labels : RowLabels
        Classes of the samples.
    wanted : int or None
        Number of bins of equal frequency; None for cuts of minimum description length.

    Returns
    -------
    table : DiscreteColumns
        Columns with several bins.
    kept : ndarray of int
        Indices of these columns.
    gain : ndarray of shape (n_columns,)
        Bits per sample that the first cut of a column gains minus the bits it costs; 0 for bins of equal frequency.
    """
    from ilfs.kernels import bins as bin_kernels
    from ilfs.kernels import mdl

    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    n_samples, table = X.shape[0], n_log_n(X.shape[0])

    def cut(columns: slice) -> tuple[Bins, Integers, Integers, Floats]:
        values = gather_columns(X, columns, np.arange(n_samples))
        bins, n_bins, gain = np.empty(values.shape, np.uint16), np.empty(len(values), np.int64), np.zeros(len(values))
        if wanted is None:
            # Cuts are searched between neighbouring values of the sorted column.
            order = np.argsort(values, axis=1)
            ordered = np.take_along_axis(values, order, axis=1)
            mdl.mdl_bins(
                ordered, order, labels.codes, labels.n_classes, table, RELATIVE_TOLERANCE, UNIT_FLOOR,
                bins, n_bins, gain,
            )  # fmt: skip
        else:
            bin_kernels.frequency_bins(
                values, np.sort(values, axis=1), np.arange(n_samples + 1.0), wanted, bins, n_bins
            )
        several = np.flatnonzero(n_bins > 1)
        return bins[several], n_bins[several], columns.start + several, gain

    results = list(thread_map(cut, column_blocks(X), rows.n_jobs))
    bins, n_bins, kept, gain = (np.concatenate(arrays) for arrays in zip(*results, strict=True))
    return DiscreteColumns(bins, n_bins, rows.n_jobs), kept, gain


def n_log_n(largest: int) -> Floats:
    """Tabulate n log2 n for the integers from 0 to the largest, with 0 for n = 0."""
    n = np.arange(largest + 1.0)
    return np.asarray(n * np.log2(np.maximum(n, 1)))


@dataclass(frozen=True)
class FeatureSubset:
    """Features of a subset in the order they were added.

    ``relevance`` is the sum of their uncertainties with the class, ``redundancy`` the sum of the uncertainties of all
    pairs. The merit needs only these two sums.
    """

    features: tuple[int, ...] = ()
    relevance: float = 0.0
    redundancy: float = 0.0

    @property
    def merit(self) -> float:
        """Merit k mean(r_cf) / sqrt(k + k (k - 1) mean(r_ff)); 0 for the empty subset."""
        # relevance is k mean(r_cf); redundancy counts each pair once, so 2 redundancy is k (k - 1) mean(r_ff).
        return self.relevance / float(np.sqrt(max(1, len(self.features)) + 2 * self.redundancy))


class Expansion:
    """A subset and all subsets with one more feature, of which the best is taken first.

    Parameters
    ----------
    subset : FeatureSubset
        Subset to expand.
    with_class : ndarray of shape (n_features,)
        Uncertainty of every feature with the class.
    with_subset : ndarray of shape (n_features,)
        Sum of the uncertainties of every feature with the features of the subset.
    """

    def __init__(self, subset: FeatureSubset, with_class: Floats, with_subset: Floats) -> None:
        self.subset, self.with_class, self.with_subset = subset, with_class, with_subset
        relevance, redundancy = subset.relevance + with_class, subset.redundancy + with_subset
        self.merits = relevance / np.sqrt(len(subset.features) + 1 + 2 * redundancy)
        self.merits[list(subset.features)] = -np.inf  # these features are in the subset already

    def best_merit(self) -> float:
        """Return the largest merit among the expanded subsets not yet taken; minus infinity if none is left."""
        return float(self.merits.max(initial=-np.inf))

    def best(self) -> FeatureSubset:
        """Return the expanded subset with the largest merit among those not yet taken."""
        j = first_of_largest(self.merits, UNIT_FLOOR)
        relevance, redundancy = self.subset.relevance + self.with_class[j], self.subset.redundancy + self.with_subset[j]
        return FeatureSubset((*self.subset.features, j), float(relevance), float(redundancy))

    def take(self) -> None:
        """Mark the best expanded subset as taken."""
        self.merits[first_of_largest(self.merits, UNIT_FLOOR)] = -np.inf


@dataclass(frozen=True)
class Search:
    """State of the search after a step: the best subset so far and the number of steps."""

    best: FeatureSubset
    n_steps: int


def best_first(with_class: Floats, with_feature: Callable[[int], Floats], max_stale: int) -> Iterator[Search]:
    """Search for the subset with the largest merit, best first.

    Every step expands the best subset that has not been expanded yet. Unlike greedy forward selection, the search can
    return to an earlier subset if the current one stops improving.

    Parameters
    ----------
    with_class : ndarray of shape (n_features,)
        Uncertainty of every feature with the class.
    with_feature : callable
        Returns the uncertainty of every feature with a given one. It is called once for each feature that the search
        adds.
    max_stale : int
        Number of consecutive steps without a better subset after which the search ends.

    Yields
    ------
    Search
        State after every step.
    """
    known: dict[int, Floats] = {}
    expanded: list[Expansion] = []
    seen: set[frozenset[int]] = set()
    best, n_steps, stale = FeatureSubset(), 0, 0
    node: Expansion | None = Expansion(best, with_class, np.zeros_like(with_class))
    while node is not None and stale < max_stale:
        n_steps, stale = n_steps + 1, stale + 1
        # Only an increase beyond rounding counts; otherwise the last bit of a sum would decide when the search ends.
        if node.best_merit() > best.merit + tolerance(best.merit, UNIT_FLOOR):
            best, stale = node.best(), 0
        expanded.append(node)
        yield Search(best, n_steps)
        node = next_to_expand(expanded, seen, known, with_feature)


def next_to_expand(
    expanded: list[Expansion],
    seen: set[frozenset[int]],
    known: dict[int, Floats],
    with_feature: Callable[[int], Floats],
) -> Expansion | None:
    """Expand the best subset that has not been expanded yet; return None if there is none.

    The same subset may be reached by adding its features in another order; ``seen`` excludes it.
    """
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
            return Expansion(subset, parent.with_class, parent.with_subset + known[added])
    return None
