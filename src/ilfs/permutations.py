"""Selectors with p-values: the statistic of every feature is compared with that under permuted labels.

The permuted labels are further labellings of the source. The plans for all of them run together with the plan for the
observed labels, so the rows are read as often as without permutations. `ilfs.null` computes p-values from the results.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ilfs.arrays import Floats
from ilfs.execution import Fold, Plan, at_once, both, run_plan, together, under_labelling
from ilfs.null import PermutationTest, Procedure, permutations_needed
from ilfs.parameters import check_between, check_integer, is_integer
from ilfs.selector import PlannedSelector, RankingSelector, Scores
from ilfs.sources import Source
from ilfs.statistics.labels import Classes
from ilfs.ties import UNIT_FLOOR
from ilfs.warn import warn

MIN_PERMUTATIONS = 20  # of the rule "fdr"


class HasPValues(RankingSelector):
    """Base class of the selectors that keep the results of a permutation test.

    Attributes
    ----------
    p_values_, q_values_ : ndarray of shape (n_features,)
        p-value of each feature, and the smallest false discovery rate at which it is selected.
    chance_p_value_ : float
        p-value of the best features together.
    is_better_than_chance_ : bool
        True if ``chance_p_value_`` is at most ``fdr``.
    n_permutations_ : int
        Number of permutations that were made.
    null_curve_ : NullCurve
        The largest statistics under the observed and under permuted labels, for a picture (`ilfs.null.NullCurve`). Not
        for an indicator matrix; each selector in ``per_label_`` then has one.
    n_features_ : int
        Only if features are selected by their q-values: their number.
    false_discovery_bound_ : float
        Only if features are selected by their q-values: upper confidence bound on the proportion of false discoveries.
    """

    random_state: int | np.random.Generator | None
    fdr: float

    p_values_: Floats
    q_values_: Floats

    def _is_fdr_rule(self) -> bool:
        """Return True if features are selected by their q-values."""
        raise NotImplementedError

    def _keep_test(self, test: PermutationTest, procedure: Procedure = "bh") -> None:
        """Set the attributes that tell how sure the result is."""
        self.n_permutations_ = test.null_best.size
        self.p_values_, self.q_values_ = test.p_values, test.q_values_by(procedure)
        self.chance_p_value_ = test.chance_p_value
        self.is_better_than_chance_ = self.chance_p_value_ <= self.fdr
        if test.curve is not None:
            self.null_curve_ = test.curve
        if self._is_fdr_rule():
            found = self.q_values_ <= self.fdr
            self.n_features_, self.false_discovery_bound_ = int(found.sum()), test.false_discovery_bound(found)

    def _check_test(self) -> None:
        """Validate the parameters of the test."""
        check_between("fdr", self.fdr, 0, 1)
        state = self.random_state
        if not (state is None or isinstance(state, np.random.Generator) or (is_integer(state) and state >= 0)):
            raise ValueError(f"random_state must be an integer >= 0, a numpy.random.Generator or None, got {state!r}")


class HasNull(HasPValues, PlannedSelector):
    """Base class of the methods that can compute p-values by permutations of the labels.

    A method defines its statistic by ``_plan_statistic``; by default it is the score.
    """

    n_permutations: int

    _has_null = True
    _within_groups = False  # True if labels are permuted within groups of rows, such as the sites of a summary
    _keeps_test = False  # True in a clone inside `FDRSelector`, which takes ``_test`` after the fit

    def _plan_statistic(self, classes: Classes) -> Plan[Floats]:
        """Compute the statistic of every feature, NaN for an uninformative one."""
        return statistic_of((yield from self._plan(classes)))

    def _observed_statistic(self, scores: Scores) -> Floats:
        """Return the statistic after the plan for the observed labels has run."""
        return statistic_of(scores)

    def _clone_for_null(self) -> Self:
        """Return an unfitted selector that computes the statistic under permuted labels."""
        one = self._clone_for_folds()
        one._copy_columns(self)
        one._describes_features = False
        return one

    def _clone_for_folds(self) -> Self:
        one: Self = super()._clone_for_folds().set_params(n_permutations=0)
        return one

    # Number of permutations

    def _makes_permutations(self) -> bool:
        return self.n_permutations > 0 or self._is_fdr_rule()

    def _is_fdr_rule(self) -> bool:
        return self._uses_rule("fdr")

    def _n_permutations_to_make(self) -> int:
        """Return the number of permutations, raised to the one that ``fdr`` needs."""
        if not self._makes_permutations():
            return 0
        return permutations_to_make(self.n_permutations, self.fdr, MIN_PERMUTATIONS if self._is_fdr_rule() else 0)

    def _permuted(self, source: Source, groups: ArrayLike | None) -> Source:
        n_permutations = self._n_permutations_to_make()
        if n_permutations:
            source = source.with_permutations(
                n_permutations, self.random_state, None if groups is None else np.asarray(groups)
            )
        self._within_groups = source.is_within_groups
        if source.n_permutations:  # a summary may have some even if none are asked for
            self.n_permutations_ = source.n_permutations
        return source

    # Plans

    def _score_fold(self, fold: Fold) -> Scores:
        if not hasattr(self, "n_permutations_"):
            return super()._score_fold(fold)
        labellings, n_labels = fold.labellings, self._n_labels(fold.labellings)
        if n_labels > 1:
            return run_plan(self._plan_labels_with_null(labellings, n_labels, fold.all_rows), fold)
        scores, null = run_plan(self._plan_with_null(labellings), fold)
        self._keep_test(tested(self._observed_statistic(scores), null, self._within_groups))
        return scores

    def _plan_with_null(self, labellings: Sequence[Classes]) -> Plan[tuple[Scores, Floats]]:
        """Score the features, and compute their statistics under permuted labels in the same reads.

        Parameters
        ----------
        labellings : sequence of Classes
            Classes of the observed labels and of each permutation.

        Returns
        -------
        plan of Scores and ndarray of shape (n_permutations, n_features)
            Scores for the observed labels, and null values.
        """
        return (yield from both(self._plan(labellings[0]), self._plan_statistics(labellings, first=1)))

    def _plan_statistics(self, labellings: Sequence[Classes], first: int = 0) -> Plan[Floats]:
        """Compute the statistics under each labelling from the given one on, all in the same reads."""
        one = self._clone_for_null()
        plans = [  # copies: scikit-learn's clone inspects all parameters again
            under_labelling(copy(one)._plan_statistic(labellings[number]), number, without_warnings)
            for number in range(first, len(labellings))
        ]
        return np.array((yield from at_once(plans)))

    def _plan_labels_with_null(self, labellings: Sequence[Classes], n_labels: int, all_rows: Classes) -> Plan[Scores]:
        """Score the features for an indicator matrix, and test them for each label and for all labels together."""
        informative = [label for label in range(n_labels) if labellings[label].n_classes == 2]
        plans = [
            under_labelling(self._plan_statistics(labellings[label::n_labels]), label, step=n_labels)
            for label in informative
        ]
        scores, statistics = yield from both(self._plan_labels(labellings[:n_labels], all_rows), together(plans))
        for label, (observed, *null) in zip(informative, statistics, strict=True):
            self.per_label_[label]._keep_test(tested(observed, np.array(null), self._within_groups))
        self._join_tests()
        return scores

    def _join_tests(self) -> None:
        """Test the features for all labels of an indicator matrix together, after each label was tested."""
        tests = [one.__dict__.pop("_test") for one in self.per_label_.values()]
        self._keep_test(PermutationTest.over_labels(tests))

    def _score_any(self, source: Source) -> Scores:
        try:
            return super()._score_any(source)
        finally:
            self.__dict__.pop("_within_groups", None)
            if not self._keeps_test:
                self.__dict__.pop("_test", None)  # large, and only needed to join the tests of several labels

    # Results

    def _keep_test(self, test: PermutationTest, procedure: Procedure = "bh") -> None:
        self._test = test
        super()._keep_test(test, procedure)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        if not self._is_fdr_rule():
            mask: NDArray[np.bool_] = super()._get_support_mask()
            return mask
        check_is_fitted(self)
        self._check_parameters()
        if not hasattr(self, "q_values_"):
            raise ValueError("n_features_to_select='fdr' needs the q-values of a fit with permutations: fit again")
        mask = self.q_values_ <= self.fdr
        mask[self._forced()] = True
        return mask

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_permutations", self.n_permutations, 0)
        self._check_test()


def permutations_to_make(given: int, fdr: float, least: int = 0) -> int:
    """Return a number of permutations, raised to the one that ``fdr`` needs; warn if it is raised.

    Parameters
    ----------
    given : int
        Number that the user wants; 0 for the smallest one that suffices.
    fdr : float
        Level, between 0 and 1.
    least : int, default=0
        Smallest number, whatever the level.

    Returns
    -------
    int
        Number of permutations.

    Examples
    --------
    >>> from ilfs.permutations import permutations_to_make
    >>> permutations_to_make(0, fdr=0.1, least=20), permutations_to_make(0, fdr=0.01), permutations_to_make(50, fdr=0.1)
    (20, 100, 50)
    """
    needed = max(permutations_needed(fdr), least)
    if 0 < given < needed:
        warn(
            f"n_permutations={given} is too small for fdr={fdr:g}, since no p-value could be small enough: "
            f"{needed} permutations are made"
        )
    return max(needed, given)


def tested(observed: Floats, null: Floats, is_within_groups: bool) -> PermutationTest:
    """Test the statistics of all features against those under permuted labels."""
    return PermutationTest.from_statistics(observed, null, UNIT_FLOOR, within_groups=is_within_groups)


def statistic_of(scores: Scores) -> Floats:
    """Return the scores, and NaN for an uninformative feature, whose tie-break is minus infinity."""
    uninformative = False if scores.tie_break is None else np.isneginf(scores.tie_break)
    return np.where(uninformative, np.nan, scores.values)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore warnings, which under permuted labels do not concern the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def makes_no_permutations(selector: HasNull) -> bool:
    """Return True if ``partial_fit`` is available: it keeps no rows, for permuted labels or for cross-validation."""
    if selector._uses_rule("auto"):
        raise AttributeError("partial_fit keeps no rows that could be cross-validated: give a number of features")
    if selector._makes_permutations():
        raise AttributeError(
            "partial_fit keeps no rows whose labels could be permuted: set n_permutations=0 and a number of features"
        )
    return True
