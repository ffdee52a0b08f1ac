"""The base class of all selectors: score and order the features, select the best."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ilfs.callbacks import ProgressMixin, reports_progress
from ilfs.must_keep import forced_first
from ilfs.registry import classes_with
from ilfs.selected_columns import ColumnChoice, select_columns
from ilfs.selector.description import DescribesRanking
from ilfs.selector.input import ReadsInput
from ilfs.selector.scores import Scores
from ilfs.selector.size_rules import SizeRules
from ilfs.sources import Source, TableSource
from ilfs.sources.row_index import check_same_index
from ilfs.statistics.labels import Classes
from ilfs.ties import UNIT_FLOOR
from ilfs.validation import (
    TooFewRowsError,
    check_n_jobs,
    column_names,
    prepare_table,
    refuse_one_class,
    without_column,
)
from ilfs.warn import warn


class RankingSelector(ProgressMixin, SizeRules, ReadsInput, DescribesRanking, BaseEstimator):  # type: ignore[misc]
    """Rank all features, keep the best.

    A method derives from one of the subclasses below, which say what it needs: `StatisticsSelector` (statistics of the
    rows), `SupervisedRowsSelector` (all rows and their classes) or `UnsupervisedRowsSelector` (all rows). Its ``fit``
    has the signature that the method supports and calls ``_fit``. If ``y`` is an indicator matrix, each label is scored
    against the rest by a selector of its own, and the scores are averaged.

    ``y`` may be the name of a column if X is a data frame of pandas, polars or pyarrow: the labels are taken from it,
    and it is not a feature. A method that reads no labels drops it, too.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better. These are not rounded: to sort features, use ``order_`` or ``ranking_``.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first. Scores that differ only by rounding are ties (`ilfs.ties`). Features of
        ``must_keep`` come first, whatever their scores.
    profile_ : FeatureProfile
        Direction and size of the difference between classes, and fractions of missing and non-zero values, for
        `table` and `explain`. Not if the method reads no labels and its rows are not in memory.
    target_name_ : str or other name
        The column that the labels were taken from, if ``y`` was its name.
    """

    n_features_to_select: int | float | str | None
    n_jobs: int | None

    # Abilities of a method, besides those of the mixins.
    _scores_columns_alone: ClassVar[bool] = False  # a column's score does not depend on the other columns
    _takes_long: ClassVar[bool] = False  # if True, `fit` reports progress by a loop over `_steps`
    _streams: ClassVar[bool] = False  # needs only statistics, so rows need not be in memory

    def _score_source(self, source: TableSource) -> Scores:
        """Score all features of a table with at most one labelling."""
        raise NotImplementedError

    def _average_labels(self, fitted: list[Self]) -> Scores:
        """Average the scores over the labels; a method may average other attributes, too."""
        return Scores(np.mean([selector.scores_ for selector in fitted], axis=0), floor=UNIT_FLOOR)

    @reports_progress
    def _fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Validate, score every feature and order them."""
        self._check_parameters()
        self._forget()
        check_same_index(X, groups, "groups")
        source = self._source_of(X, y, sample_weight)
        permuted = source
        self._check_must_keep()
        try:
            self._check_source_for_rule(source)
            self._begin_folds()
            permuted = self._permuted(source, groups)
            with self._named_columns():
                scores = self._score_any(permuted)
                self._profile_table(permuted)
            if self._uses_rule("auto"):
                self._cross_validate_size(source, groups)
        finally:
            if not isinstance(X, Source):  # a source that the caller made may be read again
                permuted.close()
        self._end_progress()  # before the ranking: an interrupt in a callback leaves the selector unfitted
        self._rank(scores)
        self._warn_of_size()
        return self

    def _permuted(self, source: Source, groups: ArrayLike | None) -> Source:  # noqa: ARG002
        """Add permutations of the labels to a source, for methods that have p-values."""
        return source

    def _score_any(self, source: Source) -> Scores:
        """Score a source with any number of labellings."""
        n_labels = self._n_labels(source.labellings)
        if self._reads_labels and n_labels == 1:
            refuse_one_class(source.labellings[0])
        if not isinstance(source, TableSource):
            return self._score_stream(source)
        return self._score_labels(source) if n_labels > 1 else self._score_source(source)

    def _score_stream(self, source: Source) -> Scores:  # noqa: ARG002
        """Score a source whose rows are not in memory."""
        raise TypeError(
            f"{self._title} needs all rows in memory: load the table if it fits, e.g. with ilfs.read and a higher "
            f"memory_limit, or use a method that reads rows in blocks ({classes_with('streams')})"
        )

    def _rank(self, scores: Scores) -> Self:
        self.scores_ = scores.values
        self.order_ = forced_first(scores.order(), self._forced())
        self.ranking_ = np.empty_like(self.order_)
        self.ranking_[self.order_] = np.arange(1, self.order_.size + 1)
        return self

    def _check_parameters(self) -> None:
        self._check_size()
        check_n_jobs(self.n_jobs)

    def _forget(self) -> None:
        """Remove the attributes of an earlier fit: this fit may fail, or may not set all of them."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    # Several labels

    def _n_labels(self, labellings: Sequence[Classes]) -> int:
        """Return the number of observed labellings; the others are permutations of them."""
        return len(labellings) // (1 + getattr(self, "n_permutations_", 0))

    def _score_labels(self, source: TableSource) -> Scores:
        """Score each label of an indicator matrix against the rest, one after the other."""
        n_labels = self._n_labels(source.labellings)
        informative = self._informative_labels(source.labellings[:n_labels])
        clones = (self._clone_for_label() for _ in informative)
        fitted: dict[int, Self] = {}
        fits = self._sub_fits(clones, "label", len(informative))
        for one, label in zip(fits, informative, strict=False):  # a callback may stop the loop early
            with warnings_of_label(label):
                of_label = source.with_labelling(label)
                fitted[label] = one._rank(one._score_source(of_label))
                one._profile_table(of_label)
        self._keep_labels(fitted, n_labels)
        return self._average_labels(list(fitted.values()))

    def _informative_labels(self, labellings: Sequence[Classes]) -> list[int]:
        """Return the labels that differ between samples; warn of the others, which no feature can predict."""
        informative = [label for label, classes in enumerate(labellings) if classes.n_classes == 2]
        if not informative:
            raise TooFewRowsError("y must have a label that some samples have and some have not, got none")
        if constant := sorted(set(range(len(labellings))) - set(informative)):
            warn(f"labels {constant} of y are the same for all samples and were left out")
        return informative

    def _clone_for_label(self) -> Self:
        """Return an unfitted selector with the same parameters that knows the columns."""
        one: Self = clone(self)
        one._copy_columns(self)
        return one

    def _copy_columns(self, other: "RankingSelector") -> None:
        """Copy number and names of the columns from another selector."""
        self.n_features_in_ = other.n_features_in_
        if hasattr(other, "feature_names_in_"):
            self.feature_names_in_ = other.feature_names_in_

    def _keep_labels(self, fitted: dict[int, Self], n_labels: int) -> None:
        """Keep the selector and the scores of each label."""
        self.per_label_ = fitted
        self.scores_per_label_ = np.full((n_labels, self.n_features_in_), np.nan)
        for label, one in fitted.items():
            self.scores_per_label_[label] = one.scores_
        # A feature may be higher with one label and lower with another: each label has a direction of its own.
        if (profile := next(iter(fitted.values()))._found_profile()) is not None:
            self.profile_ = profile.without_classes()

    # Selected columns

    def transform(self, X: Any) -> Any:
        """Keep the selected features of X.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The columns that ``fit`` has ranked. If ``fit`` took the labels from a column of a data frame, X may still
            have that column; it is left out.

            Or any other table that ``fit`` takes: a file opened by `ilfs.read`, a polars LazyFrame, a pyarrow dataset
            or stream, a DuckDB relation, a table of Dask, an AnnData, or blocks of rows. If both have names, the
            columns of such a table are found by name, in any order and beside others; only the selected ones must be
            there.

        Returns
        -------
        array, data frame or sparse matrix of shape (n_samples, n_selected)
            The selected columns, in the order in which ``fit`` has seen them. For any other table: a table of the same
            kind, of which no rows were read. A dataset becomes a scanner, an AnnData a view.

        Examples
        --------
        >>> import pandas as pd
        >>> from ilfs import FisherScore
        >>> frame = pd.DataFrame({"size": [1.0, 2, 4, 5], "hue": [3.0, 1, 2, 2], "kind": ["a", "a", "b", "b"]})
        >>> FisherScore(1).fit(frame, "kind").transform(frame).tolist()
        [[1.0], [2.0], [4.0], [5.0]]
        """
        check_is_fitted(self)
        refuse_path(X)
        selected = select_columns(X, self._column_choice())
        if selected is not None:
            return selected
        X = prepare_table(X)
        target = getattr(self, "target_name_", None)
        if target is not None and target in (column_names(X) or ()):
            X = without_column(X, target)
        return super().transform(X)

    def _column_choice(self) -> ColumnChoice:
        """Return the selected columns; warn if there are none, as scikit-learn does for a table in memory."""
        names, columns = getattr(self, "feature_names_in_", None), np.flatnonzero(self._get_support_mask())
        if not columns.size:
            warn("No features were selected, so the result has no columns")
        target = getattr(self, "target_name_", None)
        return ColumnChoice(columns, self.n_features_in_, None if names is None else list(names), target)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        self._check_parameters()  # they may have been changed since
        if self._uses_rule("auto") and not hasattr(self, "cv_results_"):
            raise ValueError(
                "n_features_to_select='auto' needs the cross-validation of a fit with this rule: fit again"
            )
        self._check_must_keep()
        forced = self._forced()
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[forced_first(self.order_, forced)[: max(self._n_selected(), forced.size)]] = True
        return mask

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "order_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        tags.target_tags.required = self._reads_labels
        return tags


def refuse_path(X: Any) -> None:
    """Raise if ``transform`` is given a path."""
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        raise TypeError(
            f"X must be a table, got the path {path!r}: open the file, transform(ilfs.read(path)), or write its "
            "selected columns to another one, ilfs.apply(selector, path, out)"
        )


@contextmanager
def warnings_of_label(label: int) -> Iterator[None]:
    """Begin the message of every warning with the label that it is about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        warn(f"label {label}: {warning.message}", warning.category)
