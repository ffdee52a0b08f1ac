"""Base class of searches by cross-validation, with selection inside the folds."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.parallel import delayed

from ilfs.arrays import Floats, Integers
from ilfs.callbacks import reports_progress
from ilfs.cross_validation import Rule, Samples, SizeEvaluator, check_scores, fitted_order, seed_of, splits_of
from ilfs.parameters import check_choice, check_integer, is_integer
from ilfs.selection.parallel import results_in_order
from ilfs.selection.wrapping import WrapsSelectors
from ilfs.sources import TableSource
from ilfs.validation import check_labels, check_n_jobs


class CrossValidationSearch(WrapsSelectors):
    """Base class of meta-selectors that score subsets of features by cross-validation.

    Subclasses implement ``_fold_function`` and ``_choose``.
    """

    estimator: Any
    sizes: Sequence[int] | None
    scoring: Any
    cv: Any
    rule: Rule
    random_state: Any
    n_features_: int
    cv_results_: dict[str, NDArray[Any]]

    _takes_long = True
    _reads_labels: ClassVar[bool] = True  # the estimator needs labels, even if the selector does not

    def _fold_function(self) -> Callable[..., Floats]:
        """Return a function of (evaluator, samples, split, fit_params) that scores a fold and pickles."""
        raise NotImplementedError

    def _choose(self, sizes: Integers, scores: Floats) -> Any:
        """Set the results, of scores whose first axis is the folds, and return the selector to fit on all rows."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, groups: Any = None, **fit_params: Any) -> Self:
        """Cross-validate, and rank the features on all rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Data in any form that the selector accepts, in memory.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, or an indicator matrix.
        groups : array of shape (n_samples,), optional
            Group of every sample, such as the donor of a cell, for the splitter.
        **fit_params : dict
            Arguments of ``fit`` of the selector, such as ``sample_weight``. Of arrays with a value for each sample, a
            fold gets the values of its samples. ``sample_weight`` also goes to the estimator, or to the steps of a
            pipeline, if their ``fit`` has this parameter, and to the metric if it has it. Folds are made without
            weights.

        Returns
        -------
        estimator
            The fitted search.
        """
        return self._fit_search(X, y, groups, fit_params)

    @reports_progress
    def _fit_search(self, X: Any, y: Any, groups: Any, fit_params: dict[str, Any]) -> Self:
        self._check_parameters()
        self._forget()
        with self._opened(X, y, fit_params.get("sample_weight")) as source:
            self._fit_table(self._in_memory(source), groups, fit_params)
        return self

    def _fit_table(self, table: TableSource, groups: Any, fit_params: dict[str, Any]) -> None:
        samples = self._samples(table)
        fit_params = self._with_weight(fit_params, samples.weight)
        sizes, scores = self._cross_validate(samples, groups, fit_params)
        selector, order = fitted_order(self._choose(sizes, scores), samples.X, samples.y, fit_params)
        self._end_progress()  # before the ranking: an interrupt in a callback leaves the search unfitted
        self._keep_ranking(selector, order)

    def _cross_validate(self, samples: Samples, groups: Any, fit_params: dict[str, Any]) -> tuple[Integers, Floats]:
        """Score all folds; return the sizes, and the scores of each fold."""
        seed = seed_of(self.random_state)
        splits = splits_of(self.cv, samples, groups, seed)
        if self.rule == "one_se" and len(splits) < 2:
            raise ValueError("rule='one_se' needs at least two folds, got one from cv: use rule='best' or more folds")
        least = self._forced().size
        evaluator = SizeEvaluator.for_samples(samples, self.estimator, self.scoring, self.sizes, seed, least)
        score_fold = self._fold_function()
        tasks = (delayed(score_fold)(evaluator, samples, split, fit_params) for split in splits)
        with results_in_order(tasks, self.n_jobs) as folds:
            scores = np.array(list(self._steps(folds, "fold", len(splits))))
        check_scores(scores, evaluator.sizes)
        return evaluator.sizes, scores

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        # A selector of this package warns by itself if labels look like a quantity.
        return check_labels(y, n_samples, quantities=not getattr(self._wrapped()[0], "_reads_labels", False))

    def _check_parameters(self) -> None:
        self._wrapped()
        check_choice("rule", self.rule, ("one_se", "best"))
        check_n_jobs(self.n_jobs)
        if self.scoring is not None and not isinstance(self.scoring, str) and not callable(self.scoring):
            raise ValueError(f"scoring must be None, the name of one metric or a callable, got {self.scoring!r}")
        if is_integer(self.cv):
            check_integer("cv", self.cv, 2)

    def _forced(self) -> Integers:
        """Return the columns that the selector must keep."""
        forced: Integers = np.array(getattr(self._to_fit()[0], "must_keep", None) or [], dtype=np.int64)
        return forced

    def _fixed_size(self) -> None:
        """Return None: the size is found by cross-validation."""

    def _n_selected(self) -> int:
        return self.n_features_

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return super()._takes_sparse and (self.estimator is None or bool(get_tags(self.estimator).input_tags.sparse))

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return super()._takes_missing and (
            self.estimator is None or bool(get_tags(self.estimator).input_tags.allow_nan)
        )
