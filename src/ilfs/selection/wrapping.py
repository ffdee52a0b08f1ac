"""Base class of selectors that fit other selectors on tables in memory."""

from inspect import isclass
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from ilfs.arrays import Floats, Integers
from ilfs.execution import refuse_missing
from ilfs.fitted import order_of
from ilfs.methods.novelty import name_of, takes_weight
from ilfs.registry import make_selector
from ilfs.selector import RankingSelector, Scores
from ilfs.sources import Source, TableSource
from ilfs.validation import refuse_one_class


class WrapsSelectors(RankingSelector):
    """Base class of selectors that fit other selectors; what they take depends on these selectors.

    Subclasses implement ``_wrapped``.
    """

    # Declares sample_weight for scikit-learn's metadata routing. The signature cannot name it, because support for
    # weights depends on the wrapped selectors.
    __metadata_request__fit: ClassVar = {"sample_weight": None}

    def _wrapped(self) -> list[Any]:
        """Return the selectors to fit, not fitted themselves."""
        raise NotImplementedError

    def _score_stream(self, source: Source) -> Scores:  # noqa: ARG002
        raise TypeError(
            f"{type(self).__name__} needs all rows in memory, since it fits selectors on several sets of rows: load "
            "the table if it fits, e.g. with ilfs.read and a higher memory_limit"
        )

    def _in_memory(self, source: Source) -> TableSource:
        """Return a table in memory with two classes or more; raise for any other source."""
        if not isinstance(source, TableSource):
            self._score_stream(source)
        elif len(source.labellings) == 1:
            refuse_one_class(source.labellings[0])
        return cast(TableSource, source)

    def _matrix(self, source: TableSource) -> Any:
        """Return the whole table as an array or a CSR matrix, for taking rows by their indices."""
        X = source.to_matrix()
        if not self._takes_missing:
            refuse_missing(X)
        return short_indices(X.tocsr()) if source.is_sparse else X

    def _check_weight(self, weight: Floats | None) -> None:
        """Raise if rows have weights that a wrapped selector does not take."""
        without = [one for one in self._wrapped() if not takes_weight(one)]
        if weight is not None and without:
            raise TypeError(f"sample_weight needs a selector that supports it, {name_of(without[0])} does not")

    def _copy_names_to(self, selector: Any) -> None:
        """Give the names of the columns to a selector that was fitted on the bare matrix."""
        if isinstance(selector, RankingSelector):
            selector._copy_columns(self)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return all(bool(get_tags(one).input_tags.sparse) for one in self._wrapped())

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return all(bool(get_tags(one).input_tags.allow_nan) for one in self._wrapped())


def short_indices(X: Any) -> Any:
    """Return a CSR matrix with 32-bit indices if they suffice; some estimators of scikit-learn take no others."""
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def as_selector(given: Any, parameter: str) -> Any:
    """Make a selector of a name of the registry; return an estimator as it is.

    Parameters
    ----------
    given : str or estimator
        A name as `ilfs.registry.make_selector` takes it, or a selector.
    parameter : str
        Name of the parameter, for the error message.

    Returns
    -------
    estimator
        Not a copy if an estimator was given.
    """
    if isinstance(given, str):
        return make_selector(given)
    if isclass(given) or not hasattr(given, "fit") or not hasattr(given, "get_params"):
        raise ValueError(f"{parameter} must be a selector or the name of a method such as 'fisher', got {given!r}")
    return given


def fitted_order(selector: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> tuple[Any, Integers]:
    """Fit a clone of a selector.

    Parameters
    ----------
    selector : estimator
        Has ``order_``, ``ranking_`` or scores after fitting.
    X : array or sparse matrix of shape (n_samples, n_features)
        The table.
    y : array of shape (n_samples,) or (n_samples, n_labels)
        Class of every sample, or an indicator matrix.
    fit_params : dict
        Further arguments of ``fit``.

    Returns
    -------
    selector : estimator
        The fitted clone.
    order : ndarray of shape (n_features,)
        All columns, best first.
    """
    fitted = clone(selector).fit(X, y, **fit_params)
    order = np.asarray(order_of(fitted), dtype=np.int64)
    if not np.array_equal(np.sort(order), np.arange(X.shape[1])):
        raise ValueError(
            f"the order of {name_of(selector)} must contain each of the {X.shape[1]} columns once, got {order.size} "
            f"columns, {np.unique(order).size} of them different"
        )
    return fitted, order


def ranking_of(order: Integers) -> Integers:
    """Return the rank of every column, 1 for the first of the order.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection.wrapping import ranking_of
    >>> ranking_of(np.array([2, 0, 1]))
    array([2, 3, 1])
    """
    ranking = np.empty_like(order)
    ranking[order] = np.arange(1, order.size + 1)
    return ranking
