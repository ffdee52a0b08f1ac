"""The base classes of all selectors: validate the input, score and order the features, select the best."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from ilfs.arrays import Floats, Integers
from ilfs.callbacks import ProgressMixin, reports_progress
from ilfs.effects import NO_CLASS, FeatureProfile
from ilfs.execution import (
    AllRows,
    Fold,
    LabelledRows,
    MissingValuesError,
    Plan,
    ask,
    fold_of,
    one_blas_thread,
    run_plan,
    together,
    under_labelling,
)
from ilfs.explanation import Explanation, column_of, explain_row
from ilfs.must_keep import forced_columns, forced_first
from ilfs.parameters import check_integer, is_fraction, is_integer
from ilfs.ranking_table import MEAN_PREFIX, RankingTable, in_order, verdicts
from ilfs.registry import classes_with, summary_of
from ilfs.selected_columns import ColumnChoice, select_columns
from ilfs.selection_files import write_selection
from ilfs.sources import Source, TableSource, stream_source, table_source
from ilfs.sources.frames import frame_names, frame_source, is_large_frame
from ilfs.sources.row_index import check_same_index
from ilfs.statistics.labels import Classes
from ilfs.statistics.moments import ClassMoments, Moments, UnusableColumnError
from ilfs.statistics.profile import Profile
from ilfs.summaries import RoundMissingError, Summary
from ilfs.ties import UNIT_FLOOR, stable_order, tolerance
from ilfs.validation import (
    TooFewRowsError,
    check_labels,
    check_n_jobs,
    check_typed_columns,
    check_weight,
    column_names,
    is_column_name,
    is_sparse_frame,
    prepare_table,
    refuse_one_class,
    take_target,
    without_column,
)
from ilfs.warn import warn

T = TypeVar("T")

# Rules for the number of features, and what a method lacks that does not have the rule.
RULES = {
    "fdr": "needs p-values, which {name} does not have: give a number, or use a method that has them ({with_null})",
    "auto": "cross-validates a classifier, but {name} reads no labels: give a number, or wrap the method in "
    "ilfs.selection.SizeCV",
    "absorption": "needs the random walk of ILFS, which {name} does not have: give a number, or use ILFS",
}
DEFAULT_FDR = 0.05  # of the verdicts, if a selector has q-values and no parameter ``fdr``


@dataclass(frozen=True)
class Scores:
    """Scores of all features, with tie-breaks and tolerances to order them.

    Parameters
    ----------
    values : ndarray of shape (n_features,)
        Larger is better.
    tie_break : ndarray of shape (n_features,), optional
        Orders features whose values are equal; larger is better.
    floor, tie_break_floor : float, default=0.0
        Absolute tolerance: values, or tie-breaks, that differ by at most this are ties. It is the size of the rounding
        error of a value that would be zero in exact arithmetic.
    """

    values: Floats
    tie_break: Floats | None = None
    floor: float = 0.0
    tie_break_floor: float = 0.0

    @classmethod
    def along(cls, order: Integers, values: Floats, n_forced: int = 0) -> Self:
        """Make scores of features whose order is known, for methods that pick one feature at a time.

        Parameters
        ----------
        order : ndarray of shape (n_features,)
            All columns, best first.
        values : ndarray of shape (n_features,)
            The score of each column. A score that rounding has put above that of a better column is lowered to it.
        n_forced : int, default=0
            Number of columns at the beginning of the order that must be kept. Their scores may be lower than those of
            the columns after them.
        """
        falling, position = np.empty(order.size), np.empty(order.size)
        for part in (order[:n_forced], order[n_forced:]):
            falling[part] = np.minimum.accumulate(values[part])
        position[order] = np.arange(order.size)
        return cls(falling, -position)

    def with_constants(self, columns: Integers, n_features: int, lowest: float) -> Self:
        """Expand scores of the columns that vary to all columns; constant columns come last, even if scores tie.

        Parameters
        ----------
        columns : ndarray of int
            Columns that vary, whose scores these are.
        n_features : int
            Number of all columns.
        lowest : float
            Score of the constant columns.
        """
        values, tie_break = np.full(n_features, lowest), np.full(n_features, -np.inf)
        values[columns] = self.values
        tie_break[columns] = 0.0 if self.tie_break is None else self.tie_break
        return replace(self, values=values, tie_break=tie_break)

    def order(self) -> NDArray[np.intp]:
        """Return column indices, best first, by the rule of `ilfs.ties`; remaining ties stay in column order."""
        return stable_order(self.values, self.tie_break, self.floor, self.tie_break_floor)


class RankingSelector(ProgressMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
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
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    # Abilities of a method, from which scikit-learn's tags and error messages are derived.
    _reads_labels: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = True
    _takes_missing: ClassVar[bool] = True
    _scores_columns_alone: ClassVar[bool] = False  # a column's score does not depend on the other columns
    _takes_long: ClassVar[bool] = False  # if True, `fit` reports progress by a loop over `_steps`
    _streams: ClassVar[bool] = False  # needs only statistics, so rows need not be in memory
    _prefers_statistics: ClassVar[bool] = False  # uses statistics even if rows are in memory
    _has_null: ClassVar[bool] = False  # has p-values by permutations of the labels
    _has_walk: ClassVar[bool] = False  # has a random walk, and so the rule "absorption"

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

    # Number of features by a rule

    @property
    def _rules(self) -> list[str]:
        """Return the rules for the number of features that the method has."""
        has = {"fdr": self._has_null, "auto": self._reads_labels, "absorption": self._has_walk}
        return [rule for rule in RULES if has[rule]]

    def _uses_rule(self, rule: str) -> bool:
        k: Any = getattr(self, "n_features_to_select", None)  # searches of `ilfs.selection` have no such parameter
        return isinstance(k, str) and k == rule

    def _check_source_for_rule(self, source: Source) -> None:
        """Raise if the number of features is to be found by cross-validation of rows that are not in memory."""
        if self._uses_rule("auto") and not isinstance(source, TableSource):
            others = ", ".join(["a number", *(repr(rule) for rule in self._rules if rule != "auto")])
            raise TypeError(
                "n_features_to_select='auto' needs all rows in memory, since it fits the method and a classifier on "
                f"several sets of rows: load the table if it fits, or give {others}"
            )

    def _begin_folds(self) -> None:
        """Begin the progress of a fit whose ranking is followed by the folds of the rule "auto"."""
        if self._uses_rule("auto"):
            from ilfs.cross_validation import DEFAULT_FOLDS  # imports much of scikit-learn

            self._begin_with_ranking(DEFAULT_FOLDS)

    def _cross_validate_size(self, source: Source, groups: ArrayLike | None) -> None:
        """Set the number of features by the rule "auto"."""
        from ilfs.cross_validation import Samples, size_by_cross_validation  # imports much of scikit-learn

        assert isinstance(source, TableSource)
        samples = Samples.from_source(source)
        folds = partial(self._later_steps, name="fold")
        size, results = size_by_cross_validation(self._clone_for_folds(), samples, groups, folds)
        for one in (self, *getattr(self, "per_label_", {}).values()):
            one.n_features_, one.cv_results_ = size, results

    def _clone_for_folds(self) -> Self:
        """Return an unfitted selector that orders the features in a fold."""
        one: Self = self._with_positions(clone(self).set_params(n_features_to_select=None))
        one.set_callbacks()  # a fold is one step: callbacks are not told of the steps inside it
        return one

    def _source_of(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, min_rows: int = 2, reset: bool = True
    ) -> Source:
        """Make a source of the input of ``fit``; without ``reset``, its columns must be those seen before."""
        if isinstance(X, Summary):
            X.check_method(self)
        source = stream_source(X, y, sample_weight, reads_labels=self._reads_labels)
        if source is None:
            return self._validate(X, y, sample_weight, min_rows=min_rows, reset=reset)
        if source.is_sparse and not self._takes_sparse:
            raise TypeError(self._refusal_of_sparse())
        if source.has_weights and sample_weight is None and not self._takes_weights:
            raise TypeError(
                f"{self._title} takes no weights, but the table has weights of its rows: leave them out, or use a "
                f"method that takes weights ({classes_with('weights')})"
            )
        self._set_columns(source)
        if isinstance(y, str):
            self.target_name_ = y
        return source

    @property
    def _takes_weights(self) -> bool:
        """True if ``fit`` takes ``sample_weight``; a wrapper passes it on."""
        return has_fit_parameter(self, "sample_weight") or hasattr(self, "__metadata_request__fit")

    def _set_columns(self, source: Source) -> None:
        """Set number and names of the columns, as scikit-learn does for a table in memory."""
        self.n_features_in_ = source.n_features
        if source.target_name is not None:  # ``transform`` then drops this column, too
            self.target_name_ = source.target_name
        names = source.feature_names
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _validate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, min_rows: int = 2, reset: bool = True
    ) -> TableSource:
        """Check a table in memory and make a source of it."""
        X, y = self._split(X, y)
        table, types = check_typed_columns(X)
        if (sparse.issparse(table) or is_sparse_frame(table)) and not self._takes_sparse:
            raise TypeError(self._refusal_of_sparse())
        by_block = is_large_frame(table) and not is_sparse_frame(table)
        X = self._check_table(table, by_block=by_block, min_rows=min_rows, reset=reset)
        labels = self._labels(y, X.shape[0])
        weight = check_weight(sample_weight, X.shape[0])
        check_same_index(table, None if labels is None else y, "y")
        check_same_index(table, sample_weight, "sample_weight")
        if not by_block:
            return table_source(X, labels, weight)
        source = frame_source(X, labels, weight, types)
        # A method that needs all rows gets one array, converted once for all labels.
        return source if self._prefers_statistics else table_source(source.to_matrix(), labels, weight)

    def _check_table(self, table: Any, *, by_block: bool, min_rows: int, reset: bool) -> Any:
        """Check a table by the rules of scikit-learn, and set number and names of its columns."""
        if not by_block:
            checks = {"accept_sparse": ("csc", "csr"), "dtype": "numeric", "ensure_all_finite": False}
            return validate_data(self, table, reset=reset, ensure_min_samples=min_rows, **checks)
        names = frame_names(table)
        if not reset or not all(isinstance(name, str) for name in names):
            return validate_data(self, table, reset=reset, skip_check_array=True)
        # The names as scikit-learn would set them, but it takes milliseconds for thousands of columns.
        self.n_features_in_, self.feature_names_in_ = len(names), np.asarray(names, dtype=object)
        return table

    def _permuted(self, source: Source, groups: ArrayLike | None) -> Source:  # noqa: ARG002
        """Add permutations of the labels to a source, for methods that have p-values."""
        return source

    def _n_labels(self, labellings: Sequence[Classes]) -> int:
        """Return the number of observed labellings; the others are permutations of them."""
        return len(labellings) // (1 + getattr(self, "n_permutations_", 0))

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

    @contextmanager
    def _named_columns(self) -> Iterator[None]:
        """Turn errors of other layers into a ValueError that names the columns."""
        try:
            yield
        except UnusableColumnError as error:
            raise ValueError(f"column {self._name(error.column)} of X {error.reason}") from None
        except MissingValuesError as error:
            raise ValueError(self._refusal_of_missing(error.columns)) from None
        except RoundMissingError as error:
            raise ValueError(str(error)) from None

    def _warn_of_size(self) -> None:
        k: Any = self.n_features_to_select
        if is_integer(k) and k > self.n_features_in_:
            warn(f"n_features_to_select={k} is more than the {self.n_features_in_} features of X: all are kept")

    def _split(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Take the labels from a column of X if y is its name; ``transform`` then drops this column, too."""
        if not is_column_name(y, X):
            return X, y
        X, labels = take_target(X, y)
        self.target_name_ = y
        return X, labels

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        """Check the labels, unless the method reads none."""
        return check_labels(y, n_samples) if self._reads_labels else None

    def _forget(self) -> None:
        """Remove the attributes of an earlier fit: this fit may fail, or may not set all of them."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

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

    def _found_profile(self) -> FeatureProfile | None:
        """Return the description of the features, which that of a wrapped selector may be."""
        own = getattr(self, "profile_", None)
        return own if own is not None else getattr(getattr(self, "selector_", None), "profile_", None)

    def _profile_table(self, source: Source) -> None:
        """Describe the features of a table in memory, unless the method has done so with its own statistics."""
        if not isinstance(source, TableSource):
            return
        has_classes = self._reads_labels and self._n_labels(source.labellings) == 1
        found = self._found_profile()
        if found is not None and (found.labels is not None or not has_classes):
            return
        fold = fold_of(source, self.n_jobs)
        profile = fold(Profile(), labelling=0 if has_classes else None)
        self.profile_ = FeatureProfile.from_statistics(profile, fold.classes if has_classes else fold.all_rows)

    @property
    def _title(self) -> str:
        """Name of the method in error messages."""
        return type(self).__name__

    def _refusal_of_sparse(self) -> str:
        return (
            f"Sparse data was passed for X, but {self._title} needs all values: make X dense with X.toarray() "
            "(a data frame: X.sparse.to_dense()) if memory allows, or use a method that takes sparse tables "
            f"({classes_with('sparse')})"
        )

    def _refusal_of_missing(self, columns: Integers) -> str:
        some = ", ".join(self._name(column) for column in columns[:5]) + (", ..." if columns.size > 5 else "")
        return (
            f"Input X contains NaN, in {columns.size} of {self.n_features_in_} columns: {some}. {self._title} "
            "takes no missing values: fill them (sklearn.impute.SimpleImputer), drop those columns or rows, or use a "
            f"method that leaves them out ({classes_with('missing')})"
        )

    def _rank(self, scores: Scores) -> Self:
        self.scores_ = scores.values
        self.order_ = forced_first(scores.order(), self._forced())
        self.ranking_ = np.empty_like(self.order_)
        self.ranking_[self.order_] = np.arange(1, self.order_.size + 1)
        return self

    def _check_parameters(self) -> None:
        k: Any = self.n_features_to_select
        self._check_rule(k)
        is_rule = isinstance(k, str) and k in self._rules
        if not (k is None or is_rule or (is_integer(k) and k >= 1) or is_fraction(k)):
            rules = "".join(f", {rule!r}" for rule in self._rules)
            raise ValueError(
                f"n_features_to_select must be an integer >= 1, a fraction in (0, 1] (1.0: all){rules} or None (half), "
                f"got {k!r}"
            )
        check_n_jobs(self.n_jobs)

    def _check_rule(self, k: Any) -> None:
        """Raise if the number of features is to be found by a rule that the method does not have."""
        if isinstance(k, str) and k in RULES and k not in self._rules:
            reason = RULES[k].format(name=type(self).__name__, with_null=classes_with("null"))
            raise ValueError(f"n_features_to_select={k!r} {reason}")

    def _forced(self) -> Integers:
        """Return the columns of ``must_keep``, which some meta-selectors do not have."""
        names = getattr(self, "feature_names_in_", None)
        return forced_columns(getattr(self, "must_keep", None), self.n_features_in_, names)

    def _with_positions(self, selector: Any) -> Any:
        """Return another selector for the columns without their names: its ``must_keep`` holds positions."""
        must_keep = getattr(selector, "must_keep", None)
        if must_keep is None or not isinstance(selector, RankingSelector):
            return selector
        names = getattr(self, "feature_names_in_", None)
        return clone(selector).set_params(must_keep=forced_columns(must_keep, self.n_features_in_, names).tolist())

    def _check_must_keep(self) -> None:
        """Raise if ``must_keep`` names unknown columns, or more than are to be selected."""
        n_forced, n_kept = self._forced().size, self._fixed_size()
        if n_kept is not None and n_forced > n_kept:
            raise ValueError(
                f"must_keep must not hold more features than are selected, got {n_forced} and "
                f"n_features_to_select={self.n_features_to_select!r}, which selects {n_kept} of {self.n_features_in_}"
            )

    def _fixed_size(self) -> int | None:
        """Return the number of features to keep; None if ``fit`` finds it, and all of ``must_keep`` are added to it."""
        k = self.n_features_to_select
        return None if isinstance(k, str) else n_selected(k, self.n_features_in_)

    def _name(self, column: int) -> str:
        """Format a column by its name, or by its index if it has none."""
        return repr(str(self.feature_names_in_[column])) if hasattr(self, "feature_names_in_") else str(column)

    def _names(self, input_features: Sequence[str] | None) -> NDArray[Any]:
        """Return the names of all columns: those given, those seen by ``fit``, or x0, x1, ..."""
        if input_features is None:
            return getattr(self, "feature_names_in_", np.array([f"x{j}" for j in range(self.n_features_in_)]))
        if len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features must name each of the {self.n_features_in_} columns, got {len(input_features)} names"
            )
        return np.asarray(input_features)

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the selection to a small JSON file, for use elsewhere.

        It holds the method with its parameters, and names, order, scores and p-values of all features, but no data. The
        file appears complete or not at all; several threads or processes may write to one path. 100,000 features take
        5 to 13 MB. Numbers are exact; NaN and infinity are written as text.

        Parameters
        ----------
        path : path-like
            The file to write; its folder must exist.

        See Also
        --------
        ilfs.load : Read the selection.

        Examples
        --------
        >>> import tempfile
        >>> import ilfs
        >>> selector = ilfs.FisherScore(1).fit([[0.0, 3], [1, 5], [4, 4], [5, 3]], [0, 0, 1, 1])
        >>> path = tempfile.mkdtemp() + "/selection.json"
        >>> selector.save(path)
        >>> ilfs.load(path).transform([[7.0, 8.0]])
        array([[7.]])
        """
        check_is_fitted(self)
        method, parameters = self._description()
        names = getattr(self, "feature_names_in_", None)
        fields = {
            "method": method,
            "parameters": parameters,
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else [str(name) for name in names],
            "target": getattr(self, "target_name_", None),
            "classes": getattr(self, "classes_", None),
            "selected": np.flatnonzero(self._get_support_mask()),
            "order": self.order_,
            "scores": self.scores_,
            "columns": self._further_columns(self._names(None)),
        }
        write_selection(path, fields)

    def _description(self) -> tuple[str, dict[str, Any]]:
        """Return the name of the method and its parameters."""
        return type(self).__name__, self.get_params(deep=False)

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

    def _n_selected(self) -> int:
        """Return the number of features to keep."""
        k = self.n_features_to_select
        if not isinstance(k, str):
            return n_selected(k, self.n_features_in_)
        # A method that needs a number during the fit, before the rule has found one, takes half of the features.
        return int(getattr(self, "n_features_", n_selected(None, self.n_features_in_)))

    def table(self, top: int | None = None, input_features: Sequence[str] | None = None) -> RankingTable:
        """Return the ranking as a table, best feature first.

        Parameters
        ----------
        top : int, optional
            Maximum number of rows; all by default.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        RankingTable
            A dict of columns that can be printed, written as CSV and turned into a data frame; see there for what the
            columns mean.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ilfs import ILFS
        >>> iris = load_iris()
        >>> selector = ILFS().fit(iris.data, iris.target_names[iris.target])
        >>> table = selector.table(top=2, input_features=iris.feature_names)
        >>> table["feature"].tolist(), table["direction"].tolist()
        (['petal length (cm)', 'petal width (cm)'], ['virginica', 'virginica'])
        """
        check_is_fitted(self)
        if top is not None:
            check_integer("top", top, 1)
        return self._table_of(self.order_[:top].copy(), self._names(input_features))

    def _table_of(self, columns: Integers, names: NDArray[Any]) -> RankingTable:
        """Make a table of some columns."""
        every = {"rank": self.ranking_, "feature": names, "score": self.scores_} | self._further_columns(names)
        found = {"column": columns} | {title: values[columns] for title, values in every.items()}
        return RankingTable(in_order(found))

    def _further_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return all columns of the table besides rank, name, index and score, with a value for each feature."""
        chosen = {"selected": self._get_support_mask()} if self._finds_size() else {}
        return self._more_columns(names) | self._tested_columns() | chosen | profile_columns(self._found_profile())

    def _finds_size(self) -> bool:
        """Return True if a rule has chosen the features, which need not be the first of the order."""
        return isinstance(getattr(self, "n_features_to_select", None), str)

    def _tested_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns that tell how sure the result is, as far as they were computed."""
        attributes = {"p_value": "p_values_", "q_value": "q_values_", "selection_frequency": "selection_frequency_"}
        found = {title: getattr(self, name) for title, name in attributes.items() if hasattr(self, name)}
        if "q_value" not in found:
            return found
        fdr = getattr(self, "fdr", DEFAULT_FDR)
        return found | {"verdict": verdicts(found["q_value"], fdr, found.get("selection_frequency"))}

    def explain(self, feature: str | int, input_features: Sequence[str] | None = None) -> Explanation:
        """Explain why a feature is ranked where it is, in numbers and in one paragraph.

        Parameters
        ----------
        feature : str or int
            Name or column index.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        Explanation
            The numbers as attributes; ``print`` shows the paragraph.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ilfs import FisherScore
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> labels = y.map({0: "malignant", 1: "benign"})
        >>> why = FisherScore(5).fit(X, labels).explain("mean radius")
        >>> why.rank, why.direction, round(why.effect, 2), why.is_selected
        (7, 'malignant', 2.21, False)
        >>> print(why)
        mean radius is ranked 7th of 30 features by FisherScore, and is not selected. FisherScore looks for features
        whose class means are far apart compared with the spread within classes. Its score is 1.14; the largest is
        1.7. It is higher in malignant (17.5 on average) than in benign (12.1). The difference is 2.21 standard
        deviations of a class, a factor of 1.44.
        """
        check_is_fitted(self)
        names = self._names(input_features)
        column = column_of(feature, names)
        return explain_row(self._table_of(np.array([column]), names), self._facts(column, names))

    def _facts(self, column: int, names: NDArray[Any]) -> dict[str, Any]:  # noqa: ARG002
        """Return what is known of a feature besides its row of the table, as fields of `Explanation`."""
        facts: dict[str, Any] = {
            "n_features": self.n_features_in_,
            "is_selected": bool(self.get_support()[column]),
            "method": self._description()[0],
            "looks_for": summary_of(self._description()[0]),
            "largest_score": float(self.scores_[self.order_[0]]),
        }
        if hasattr(self, "q_values_"):
            facts["fdr"] = getattr(self, "fdr", DEFAULT_FDR)
        if hasattr(self, "relevance_"):
            above = self.relevance_ - self.relevance_[column] > tolerance(self.relevance_[column], UNIT_FLOOR)
            facts["relevance_rank"] = 1 + int(np.count_nonzero(above))
        return facts

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return further columns of the ranking table: titles and arrays of shape (n_features,)."""
        return {}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "order_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        tags.target_tags.required = self._reads_labels
        return tags


def profile_columns(profile: FeatureProfile | None) -> dict[str, NDArray[Any]]:
    """Return the columns of a ranking table that describe the features."""
    if profile is None:
        return {}
    found = {"missing": profile.missing, "nonzero": profile.nonzero}
    if profile.labels is None or profile.direction is None or profile.effect is None:
        return found
    labels = np.array([str(label) for label in profile.labels.tolist()])
    found |= {"direction": np.where(profile.direction == NO_CLASS, "", labels[profile.direction])}
    found |= {"effect": profile.effect}
    if profile.fold_change is not None:
        found["log2_fold_change"] = profile.fold_change
    means = () if profile.means is None else zip(labels.tolist(), profile.means, strict=True)
    return found | {f"{MEAN_PREFIX}{label}": mean for label, mean in means}


class RowsSelector(RankingSelector):
    """Base of the methods that need all rows at once."""

    _lowest: ClassVar[float] = 0.0  # score of a column with one value; no other column may have a lower one

    def _with_constants(self, scores: Scores, rows: AllRows) -> Scores:
        return scores.with_constants(rows.columns, rows.n_features, self._lowest)


class SupervisedRowsSelector(RowsSelector):
    """Base of the methods that need all rows and their classes: they implement ``_score_rows``."""

    def _score_rows(self, rows: LabelledRows) -> Scores:
        """Score the columns that vary."""
        raise NotImplementedError

    def _score_source(self, source: TableSource) -> Scores:
        self.classes_ = source.labellings[0].labels
        rows = LabelledRows.from_source(source, n_jobs=self.n_jobs, missing=self._takes_missing)
        refuse_constant(rows.columns)
        with one_blas_thread():  # set once here, because changing the limit for every product takes time
            return self._with_constants(self._score_rows(rows), rows)


class UnsupervisedRowsSelector(RowsSelector):
    """Base of the methods that need all rows and no labels: they implement ``_score_rows``."""

    _reads_labels = False

    def _score_rows(self, rows: AllRows) -> Scores:
        """Score the columns that vary."""
        raise NotImplementedError

    def _score_source(self, source: TableSource) -> Scores:
        rows = AllRows.from_matrix(source.to_matrix(), self.n_jobs, missing=self._takes_missing)
        refuse_constant(rows.columns)
        with one_blas_thread():
            return self._with_constants(self._score_rows(rows), rows)


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


def refuse_path(X: Any) -> None:
    """Raise if ``transform`` is given a path."""
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        raise TypeError(
            f"X must be a table, got the path {path!r}: open the file, transform(ilfs.read(path)), or write its "
            "selected columns to another one, ilfs.apply(selector, path, out)"
        )


def refuse_constant(varying: Integers) -> None:
    """Raise if all columns are constant."""
    if not varying.size:
        raise TooFewRowsError("X must have a column with two different values, got none")


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


@contextmanager
def warnings_of_label(label: int) -> Iterator[None]:
    """Begin the message of every warning with the label that it is about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        warn(f"label {label}: {warning.message}", warning.category)


def n_selected(wanted: int | float | None, n_features: int) -> int:
    """Convert a number, a fraction or None (half) to a number of features."""
    if wanted is None:
        return max(1, n_features // 2)
    if is_integer(wanted):
        return int(min(wanted, n_features))
    return max(1, int(wanted * n_features + 1e-9))  # rounding: 0.29 * 100 is 28.999...
