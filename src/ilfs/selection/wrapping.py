"""Base class of selectors that fit other selectors on tables in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import isclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from ilfs.arrays import Floats, Integers
from ilfs.cross_validation import Samples
from ilfs.execution import refuse_missing
from ilfs.fitted import scores_of
from ilfs.methods.novelty import name_of, takes_weight
from ilfs.registry import make_selector
from ilfs.selector import RankingSelector, Scores
from ilfs.sources import Source, TableSource
from ilfs.validation import check_labels, refuse_one_class


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

    def _to_fit(self) -> list[Any]:
        """Return the selectors to fit on the matrix without names of columns."""
        return [self._with_positions(one) for one in self._wrapped()]

    def _score_stream(self, source: Source) -> Scores:  # noqa: ARG002
        raise TypeError(
            f"{type(self).__name__} needs all rows in memory, since it fits selectors on several sets of rows: load "
            "the table if it fits, e.g. with ilfs.read and a higher memory_limit"
        )

    @contextmanager
    def _opened(self, X: Any, y: Any, sample_weight: Any) -> Iterator[Source]:
        """Validate the input of ``fit`` and make a source of it; errors inside the context name the columns."""
        source = self._source_of(X, y, sample_weight)
        try:
            with self._named_columns():
                yield source
        finally:
            if not isinstance(X, Source):  # a source that the caller made may be read again
                source.close()

    def _in_memory(self, source: Source) -> TableSource:
        """Return a table in memory with two classes or more; raise for any other source."""
        if not isinstance(source, TableSource):
            self._score_stream(source)
        elif len(source.labellings) == 1:
            refuse_one_class(source.labellings[0])
        return cast(TableSource, source)

    def _samples(self, source: TableSource) -> Samples:
        """Return all rows, with labels and weights; raise if the wrapped selectors do not take them."""
        samples = Samples.from_source(source)
        if not self._takes_missing:
            refuse_missing(samples.X)
        self._check_weight(samples.weight)
        return samples

    def _check_weight(self, weight: Floats | None) -> None:
        """Raise if rows have weights that a wrapped selector does not take."""
        without = [one for one in self._wrapped() if not takes_weight(one)]
        if weight is not None and without:
            raise TypeError(f"sample_weight needs a selector that supports it, {name_of(without[0])} does not")

    def _with_weight(self, fit_params: dict[str, Any], weight: Floats | None) -> dict[str, Any]:
        """Return the arguments of ``fit`` of the wrapped selectors, with the validated weights of the rows."""
        self._check_weight(weight)
        return fit_params if weight is None else fit_params | {"sample_weight": weight}

    def _keep_ranking(self, selector: Any, order: Integers) -> None:
        """Keep a selector that was fitted on the bare matrix, with its order and scores."""
        if isinstance(selector, RankingSelector):
            selector._copy_columns(self)
        scores = scores_of(selector)
        self.selector_, self.order_, self.ranking_ = selector, order, ranking_of(order)
        self.scores_ = -self.ranking_.astype(np.float64) if scores is None else scores

    def _labels(self, y: Any, n_samples: int) -> NDArray[Any] | None:
        if not self._reads_labels:
            return None
        # Selectors of this package warn by themselves if labels look like a quantity.
        warns_itself = any(getattr(one, "_reads_labels", False) for one in self._wrapped())
        return check_labels(y, n_samples, quantities=not warns_itself)

    @property
    def _reads_labels(self) -> bool:  # type: ignore[override]
        return any(getattr(one, "_reads_labels", get_tags(one).target_tags.required) for one in self._wrapped())

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return all(bool(get_tags(one).input_tags.sparse) for one in self._wrapped())

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return all(bool(get_tags(one).input_tags.allow_nan) for one in self._wrapped())


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


def ranking_clone(selector: Any) -> Any:
    """Return an unfitted copy of a selector that, if it is one of this package, makes no permutations and no choice.

    Parameters
    ----------
    selector : estimator
        The selector.

    Returns
    -------
    estimator
        Ranks all features; its number of features is not that of the selector.
    """
    one = clone(selector)
    if isinstance(one, RankingSelector):
        plain = {"n_features_to_select": None, "n_permutations": 0}
        one.set_params(**{name: value for name, value in plain.items() if name in one.get_params(deep=False)})
    return one
