"""The base of every selector: validate, score, order, cut."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ilfs.arrays import Floats, Integers
from ilfs.callbacks import ProgressMixin, reports_progress
from ilfs.execution import Fold, InMemory, MissingCellsError, Rows, one_blas_thread
from ilfs.parameters import check_integer, is_integer, is_share
from ilfs.statistics.moments import UnusableColumnError
from ilfs.ties import UNIT_FLOOR, stable_order
from ilfs.validation import (
    check_columns,
    check_labels,
    check_n_jobs,
    check_same_index,
    check_weight,
    column_names,
    is_column_name,
    is_sparse_frame,
    prepare_table,
    take_target,
    target_of,
    without_column,
)
from ilfs.warn import warn


@dataclass(frozen=True)
class Scores:
    """Scores of all features, and what is needed to order them.

    Parameters
    ----------
    values : ndarray of shape (n_features,)
        Larger is better.
    tie_break : ndarray of shape (n_features,), optional
        Orders features whose values are equal; larger is better.
    floor, tie_break_floor : float, default=0.0
        Values, and tie-breaks, that differ by no more than this are equal however small they are: the size of the
        rounding errors of a value that is zero.
    """

    values: Floats
    tie_break: Floats | None = None
    floor: float = 0.0
    tie_break_floor: float = 0.0

    @classmethod
    def along(cls, order: Integers, values: Floats) -> Self:
        """Scores of features whose order is known, for methods that take one feature at a time.

        Parameters
        ----------
        order : ndarray of shape (n_features,)
            All columns, best first.
        values : ndarray of shape (n_features,)
            The score of each column. A score that rounding has put above that of a better column is lowered to it.
        """
        falling, place = np.empty(order.size), np.empty(order.size)
        falling[order] = np.minimum.accumulate(values[order])
        place[order] = np.arange(order.size)
        return cls(falling, -place)

    def order(self) -> NDArray[np.intp]:
        """Column indices, best first, by the rule of `ilfs.ties`; what is still equal stays in column order."""
        return stable_order(self.values, self.tie_break, self.floor, self.tie_break_floor)


class RankingSelector(ProgressMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Rank all features, keep the best.

    A method implements one of two things: ``_score_folded(fold)``, which asks a fold for statistics of the rows, or
    ``_score_rows(rows)``, which is given all rows at once, without columns that have only one value. Both return
    `Scores`. Its ``fit`` has the signature that the method supports and calls ``_fit``. If ``y`` is an indicator
    matrix, each label is scored against the rest by a selector of its own, and the scores are averaged.

    ``y`` may be the name of a column if X is a data frame of pandas, polars or pyarrow: the labels are taken from it,
    and it is no feature. A method that reads no labels leaves it out as well.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better. As computed, last bits included: to sort features, use ``order_`` or ``ranking_``.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first. Scores that differ only by rounding are ties (`ilfs.ties`).
    target_name_ : str or other name
        The column that the labels were taken from, if ``y`` was its name.
    """

    n_features_to_select: int | float | None
    n_jobs: int | None

    # what a method can work with
    _reads_labels: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = True
    _takes_missing: ClassVar[bool] = True
    _scores_columns_alone: ClassVar[bool] = False  # a column's score does not depend on the other columns
    _takes_long: ClassVar[bool] = False  # so that it loops over `_steps`
    _lowest: ClassVar[float] = 0.0  # score of a column with one value; that of no other may be lower

    def _score_folded(self, fold: Fold) -> Scores:
        raise NotImplementedError

    def _score_rows(self, rows: Rows) -> Scores:
        raise NotImplementedError

    def _average_labels(self, fitted: list[Self]) -> Scores:
        """Scores of all labels together; a method may average more of what it has found."""
        return Scores(np.mean([selector.scores_ for selector in fitted], axis=0), floor=UNIT_FLOOR)

    @reports_progress
    def _fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Validate, score every feature and order them."""
        self._check_parameters()
        self._forget()
        X, y = self._split(X, y)
        table = check_columns(X)
        if (sparse.issparse(table) or is_sparse_frame(table)) and not self._takes_sparse:
            raise TypeError(self._refusal_of_sparse())
        X = validate_data(
            self,
            table,
            accept_sparse=("csc", "csr"),
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
        labels = self._labels(y, X.shape[0])
        weight = check_weight(sample_weight, X.shape[0])
        check_same_index(table, None if labels is None else y, "y")
        check_same_index(table, sample_weight, "sample_weight")
        try:
            scores = (
                self._score_labels(X, labels, weight)
                if labels is not None and labels.ndim == 2
                else self._score_table(X, labels, weight)
            )
        except UnusableColumnError as error:
            raise ValueError(f"column {self._name(error.column)} of X {error.reason}") from None
        except MissingCellsError as error:
            raise ValueError(self._refusal_of_missing(error.columns)) from None
        self._end_progress()
        self._rank(scores)
        if is_integer(self.n_features_to_select) and self.n_features_to_select > self.n_features_in_:
            warn(
                f"n_features_to_select={self.n_features_to_select} is more than the {self.n_features_in_} features "
                "of X: all are kept",
            )
        return self

    def _split(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Take the labels from a column of X if y is its name, which ``transform`` then leaves out, too."""
        if not is_column_name(y, X):
            return X, y
        X, labels = take_target(X, y)
        self.target_name_ = y
        return X, labels

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        """What the method is to know of the classes."""
        return check_labels(y, n_samples) if self._reads_labels else None

    def _forget(self) -> None:
        """Remove what an earlier fit has found: this one may find other things, or fail."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _score_table(self, X: Any, y: NDArray[Any] | None, weight: Floats | None) -> Scores:
        """By statistics if the method has a way to, by all rows otherwise."""
        target = None if y is None else target_of(y, weight)
        if type(self)._score_folded is not RankingSelector._score_folded:
            assert target is not None
            return self._score_folded(InMemory(X, target, self.n_jobs))
        if target is not None:
            self.classes_ = target.classes
        rows = Rows.of(X, target, self.n_jobs, missing=self._takes_missing)
        if not rows.columns.size:
            raise ValueError("X must have a column with two different values, got none")
        with one_blas_thread():  # once for all of it: setting it back and forth takes time
            return self._with_constants(self._score_rows(rows), rows)

    def _with_constants(self, scores: Scores, rows: Rows) -> Scores:
        """Columns with one value come last, also behind others of the lowest score."""
        tie_break = np.zeros(rows.columns.size) if scores.tie_break is None else scores.tie_break
        return replace(
            scores, values=rows.spread(scores.values, self._lowest), tie_break=rows.spread(tie_break, -np.inf)
        )

    def _score_labels(self, X: Any, Y: NDArray[Any], weight: Floats | None) -> Scores:
        """Each label of an indicator matrix against the rest; a label that all or no samples have says nothing."""
        counted = Y if weight is None else Y[weight > 0]
        says_something = counted.any(axis=0) & ~counted.all(axis=0)
        telling, silent = np.flatnonzero(says_something).tolist(), np.flatnonzero(~says_something).tolist()
        if not telling:
            raise ValueError("y must have a label that some samples have and some have not, got none")
        if silent:
            warn(f"labels {silent} of y are the same for all samples and were left out")
        self.per_label_: dict[int, Self] = {}
        self.scores_per_label_ = np.full((Y.shape[1], X.shape[1]), np.nan)
        clones = (self._clone_for_label() for _ in telling)
        for one, j in zip(self._sub_fits(clones, "label", len(telling)), telling, strict=False):  # may end early
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.per_label_[j] = one._rank(one._score_table(X, Y[:, j], weight))
            for warning in caught:
                warn(f"label {j}: {warning.message}", warning.category)
            self.scores_per_label_[j] = one.scores_
        return self._average_labels(list(self.per_label_.values()))

    def _clone_for_label(self) -> Self:
        """Clone the selector and let the clone know the columns, as it is given a table that is validated already."""
        one: Self = clone(self)
        one.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            one.feature_names_in_ = self.feature_names_in_
        return one

    @property
    def _title(self) -> str:
        """What does not take some tables."""
        return type(self).__name__

    def _refusal_of_sparse(self) -> str:
        return (
            f"Sparse data was passed for X, but {self._title} needs all values: make X dense with X.toarray() "
            "(a data frame: X.sparse.to_dense()) if memory allows, or use a method that takes sparse tables (ILFS, "
            "FisherScore, MutualInformation, ReliefF, FSV, CFS, LaplacianScore, MCFS)"
        )

    def _refusal_of_missing(self, columns: Integers) -> str:
        some = ", ".join(self._name(column) for column in columns[:5]) + (", ..." if columns.size > 5 else "")
        return (
            f"Input X contains NaN, in {columns.size} of {self.n_features_in_} columns: {some}. {self._title} "
            "takes no missing cells: fill them (sklearn.impute.SimpleImputer), drop those columns or rows, or use a "
            "method that leaves them out (ILFS, FisherScore, MutualInformation, ReliefF)"
        )

    def _rank(self, scores: Scores) -> Self:
        self.scores_ = scores.values
        self.order_ = scores.order()
        self.ranking_ = np.empty_like(self.order_)
        self.ranking_[self.order_] = np.arange(1, self.order_.size + 1)
        return self

    def _check_parameters(self) -> None:
        k = self.n_features_to_select
        if not (k is None or (is_integer(k) and k >= 1) or is_share(k)):
            raise ValueError(
                f"n_features_to_select must be an integer >= 1, a share in (0, 1] (1.0: all) or None (half), got {k!r}"
            )
        check_n_jobs(self.n_jobs)

    def _name(self, column: int) -> str:
        """A column as the user calls it."""
        return repr(str(self.feature_names_in_[column])) if hasattr(self, "feature_names_in_") else str(column)

    def _names(self, input_features: Sequence[str] | None) -> NDArray[Any]:
        """All column names: those given, those seen by ``fit``, or x0, x1, ..."""
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

        Returns
        -------
        array, data frame or sparse matrix of shape (n_samples, n_selected)
            The selected columns, in their order in X.

        Examples
        --------
        >>> import pandas as pd
        >>> from ilfs import FisherScore
        >>> frame = pd.DataFrame({"size": [1.0, 2, 4, 5], "hue": [3.0, 1, 2, 2], "kind": ["a", "a", "b", "b"]})
        >>> FisherScore(1).fit(frame, "kind").transform(frame).tolist()
        [[1.0], [2.0], [4.0], [5.0]]
        """
        check_is_fitted(self)
        X = prepare_table(X)
        target = getattr(self, "target_name_", None)
        if target is not None and target in (column_names(X) or ()):
            X = without_column(X, target)
        return super().transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        self._check_parameters()  # they may have been changed since
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.order_[: self._n_selected()]] = True
        return mask

    def _n_selected(self) -> int:
        """How many features to keep of those seen."""
        return n_selected(self.n_features_to_select, self.n_features_in_)

    def ranking_table(
        self, top: int | None = None, input_features: Sequence[str] | None = None
    ) -> dict[str, NDArray[Any]]:
        """The ranking as columns of a table, best feature first.

        ``pandas.DataFrame(selector.ranking_table())``, or the same with polars, makes a data frame of it.

        Parameters
        ----------
        top : int, optional
            Only so many rows.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        dict of str to ndarray
            ``rank``, ``feature`` (its name), ``column`` (its index), ``score``, and what else the method has to say of
            a feature (ILFS: ``relevance``, ``novelty``, ``nearest``, ``correlation``).
        """
        check_is_fitted(self)
        if top is not None:
            check_integer("top", top, 1)
        order, names = self.order_[:top].copy(), self._names(input_features)
        return {
            "rank": self.ranking_[order],
            "feature": names[order],
            "column": order,
            "score": self.scores_[order],
        } | {title: values[order] for title, values in self._more_columns(names).items()}

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """More to say of each feature in the ranking table: titles and arrays of shape (n_features,)."""
        return {}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "order_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        tags.target_tags.required = self._reads_labels
        return tags


def n_selected(wanted: int | float | None, n_features: int) -> int:
    """How many features a number, a share or None (half) stand for."""
    if wanted is None:
        return max(1, n_features // 2)
    if is_integer(wanted):
        return int(min(wanted, n_features))
    return max(1, int(wanted * n_features + 1e-9))  # 0.29 of 100 are 29, not 28.999...
