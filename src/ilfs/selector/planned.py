"""Base classes of the methods that need only statistics of the rows, so that rows may be anywhere."""

from collections.abc import Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ilfs.effects import FeatureProfile
from ilfs.execution import Fold, Plan, ask, fold_of, run_plan, together, under_labelling
from ilfs.selector.ranking import RankingSelector, warnings_of_label
from ilfs.selector.scores import Scores
from ilfs.sources import Source, TableSource
from ilfs.statistics.labels import Classes
from ilfs.statistics.moments import ClassMoments, Moments
from ilfs.statistics.profile import Profile
from ilfs.summaries import Summary
from ilfs.validation import TooFewRowsError, refuse_one_class

T = TypeVar("T")


class PlannedSelector(RankingSelector):
    """Base of the methods that need only statistics of the rows: they implement ``_plan``.

    Such a method does not know where the rows are, so it can be fitted on any engine.
    """

    _streams = True
    _describes_features = True  # False while statistics under permuted labels are computed

    @property
    def n_reads(self) -> int:
        """Number of reads of all rows that ``fit`` makes if they are not in memory, besides one of the labels."""
        raise NotImplementedError

    def _plan(self, classes: Classes) -> Plan[Scores]:
        """Ask for statistics and score all features."""
        raise NotImplementedError

    def _plan_labels(self, labellings: Sequence[Classes], all_rows: Classes) -> Plan[Scores]:  # noqa: ARG002
        """Score each label of an indicator matrix against the rest, all labels in the same reads."""
        fitted = {label: self._clone_for_label() for label in self._informative_labels(labellings)}
        plans = [one._for_label(label, one._plan(labellings[label])) for label, one in fitted.items()]
        scores = yield from together(plans)
        for one, scores_of_one in zip(fitted.values(), scores, strict=True):
            one._rank(scores_of_one)
        self._keep_labels(fitted, len(labellings))
        return self._average_labels(list(fitted.values()))

    @staticmethod
    def _for_label(label: int, plan: Plan[T]) -> Plan[T]:
        """Run a plan for one label of an indicator matrix."""
        return under_labelling(plan, label, lambda: warnings_of_label(label))

    def _plan_moments(self, classes: Classes) -> Plan[ClassMoments]:
        """Ask for the moments of the features; describe the features, unless the labels are permuted."""
        if not self._describes_features:
            return (yield from ask(Moments())).checked()
        profile = yield from ask(Profile())
        moments = profile.moments.checked()
        self.profile_ = FeatureProfile.from_statistics(profile, classes)
        return moments

    def _plan_fit(self, classes: Classes, outer: RankingSelector) -> Plan[Self]:
        """Fit inside the plan of another selector, over the same columns."""
        self._check_parameters()
        self._copy_columns(outer)
        self._rank((yield from self._plan(classes)))
        self._warn_of_size()
        return self

    def _score_fold(self, fold: Fold) -> Scores:
        """Score all features on an engine, with any number of labellings."""
        if len(fold.labellings) > 1:
            return run_plan(self._plan_labels(fold.labellings, fold.all_rows), fold)
        return run_plan(self._plan(fold.classes), fold)

    def _score_stream(self, source: Source) -> Scores:
        if not self._streams:  # a wrapper, around a method that needs all rows
            return super()._score_stream(source)
        fold = source.engine() if isinstance(source, Summary) else fold_of(source, self.n_jobs)
        return self._score_fold(fold)

    def _score_any(self, source: Source) -> Scores:
        if hasattr(self, "partial_fit"):  # keep the statistics, so that rows can be added later
            source = self.summary_ = source if isinstance(source, Summary) else Summary._first_round(self, source)
        return super()._score_any(source)

    def _partial_fit(self, X: Any, y: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        """Add rows to those of earlier partial fits and rank the features anew; after an error nothing is changed."""
        before = self.__dict__.copy()
        try:
            self._add_rows(X, y, classes, sample_weight)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _add_rows(self, X: Any, y: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        self._check_parameters()
        earlier: Summary | None = getattr(self, "summary_", None)
        if earlier is None:
            refuse_without_summary(self)
            self._forget()
        source = self._source_of(X, y, sample_weight, min_rows=1, reset=earlier is None)
        self._check_must_keep()
        check_known(source.labellings, classes)
        with self._named_columns():
            added = Summary._first_round(self, source)
            self.summary_ = added if earlier is None else earlier.merge(added)
            self._rank_summary(self.summary_)

    def _rank_summary(self, summary: Summary) -> None:
        """Rank the features, or stay unfitted as long as the rows are of one class or all columns are constant."""
        try:
            if len(summary.labellings) == 1:
                refuse_one_class(summary.labellings[0])
            self._rank(self._score_fold(summary.engine()))
        except TooFewRowsError:
            return
        self._warn_of_size()

    def _fit_fold(self, fold: Fold, feature_names: Sequence[str] | None = None) -> Self:
        """Fit on an engine, with the same result as ``fit``."""
        self._check_parameters()
        self._forget()
        self.n_features_in_ = fold.n_features
        if feature_names is not None:
            self.feature_names_in_ = np.asarray(feature_names, dtype=object)
        if self._reads_labels and len(fold.labellings) <= 1:
            refuse_one_class(fold.classes)
        with self._named_columns():
            self._rank(self._score_fold(fold))
        self._warn_of_size()
        return self


class StatisticsSelector(PlannedSelector):
    """Base of the methods that use only statistics, even for tables in memory."""

    _prefers_statistics = True

    def _score_source(self, source: TableSource) -> Scores:
        return self._score_fold(fold_of(source, self.n_jobs))

    def _score_labels(self, source: TableSource) -> Scores:
        return self._score_fold(fold_of(source, self.n_jobs))


def refuse_without_summary(selector: RankingSelector) -> None:
    """Raise if a selector was fitted by another one, so that ``partial_fit`` does not know its rows."""
    if hasattr(selector, "order_"):
        raise ValueError(
            "partial_fit needs the statistics of the rows before, which a selector inside another one does not keep: "
            "clone it to begin anew"
        )


def check_known(labellings: Sequence[Classes], classes: ArrayLike | None) -> None:
    """Raise if ``partial_fit`` is given labels that are not in its ``classes``."""
    if classes is None or len(labellings) != 1:
        return
    known = np.asarray(classes).ravel().tolist()
    unknown = [label for label in labellings[0].labels.tolist() if label not in known]
    if unknown:
        raise ValueError(f"labels in y must be among classes, got {unknown[0]!r}, which is none of {known}")
