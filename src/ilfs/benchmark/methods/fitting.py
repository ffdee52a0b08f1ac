"""Fit a selector to the rows of a split, and read its choice of features."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer

from ilfs.arrays import Integers
from ilfs.fitted import scores_of


def reads_labels(selector: Any) -> bool:
    """Check if a selector uses the classes; selectors of other packages are assumed to use them."""
    return bool(getattr(selector, "_reads_labels", True))


def prepared(selector: Any, X: Any) -> Any:
    """Convert X to a form that the selector accepts: dense and without missing values where it needs that."""
    takes = selector.__sklearn_tags__().input_tags
    if sparse.issparse(X) and not takes.sparse:
        X = X.toarray()
    return X if takes.allow_nan else impute(X)[0]


def impute(train: Any, *others: Any) -> tuple[Any, ...]:
    """Replace missing values by the mean of their column over the training rows, 0 if the column has no value there.

    Parameters
    ----------
    train : array or sparse matrix of shape (n_train, n_features)
        Training rows.
    *others : array or sparse matrix of shape (n_rows, n_features)
        Rows that are filled with the same means, such as test rows.

    Returns
    -------
    tuple of arrays
        The training rows and the others. They are the given arrays if no value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.methods.fitting import impute
    >>> impute(np.array([[1.0], [3.0]]), np.array([[np.nan]]))[1]
    array([[2.]])
    """
    if not any(has_missing(one) for one in (train, *others)):
        return (train, *others)
    # keep_empty_features: a column without a value in the training rows must not shift the columns behind it
    imputer = SimpleImputer(keep_empty_features=True).fit(train)
    return tuple(imputer.transform(one) for one in (train, *others))


def has_missing(X: Any) -> bool:
    """Check if an array or sparse matrix has a missing value."""
    return bool(np.isnan(X.data if sparse.issparse(X) else X).any())


def columns_kept(selector: Any) -> Integers | None:
    """Columns that a fitted selector keeps, if it has a mask but neither an order nor scores; else None."""
    ordered = (
        any(hasattr(selector, name) for name in ("order_", "ranking_", "scores_")) or scores_of(selector) is not None
    )
    return None if ordered or not hasattr(selector, "get_support") else np.flatnonzero(selector.get_support())
