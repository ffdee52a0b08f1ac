"""Who takes part: the methods of the library, rivals, a random order, any scikit-learn selector by its import path."""

import difflib
import hashlib
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.impute import SimpleImputer

from ilfs.arrays import Integers
from ilfs.benchmark.methods.importing import import_object, importable_from
from ilfs.benchmark.methods.named import NAMED
from ilfs.benchmark.one_line import in_one_line
from ilfs.benchmark.provenance.describe import provenance_of
from ilfs.fitted import scores_of

RANDOM = "random"
IMPORT = "import:"  # before a parameter that is not a number or a word but something to import
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
NOT_PART_OF_IT = {"n_jobs", "verbose"}  # parameters that change no result


@dataclass(frozen=True)
class Contender:
    """A method under a name, with parameters.

    Parameters
    ----------
    name : str
        What tables call it.
    selector : str or estimator, optional
        One of `ilfs.METHODS`, ``"hall_cfs"``, one of the rivals ``"fastcan"``, ``"mrmr"``, ``"extra_trees"`` and
        ``"l1_path"``, ``"random"``, the import path of a class such as ``"sklearn.feature_selection.SelectKBest"``, or
        such a selector itself; by default the name.
    parameters : mapping
        For the class; a string ``"import:a.b.c"`` stands for what can be imported as that, and a mapping with
        ``selector`` and ``parameters`` for such an object, as base estimators have to be.
    folder : str, optional
        Where modules are looked for too, besides the places where Python looks; the folder of a suite's file.

    Examples
    --------
    >>> from ilfs.benchmark import Contender
    >>> Contender("ilfs").make()
    ILFS()
    >>> from sklearn.feature_selection import SelectKBest
    >>> Contender("anova", SelectKBest(k=5)).make()
    SelectKBest(k=5)
    >>> anova = Contender(
    ...     "anova",
    ...     "sklearn.feature_selection.SelectKBest",
    ...     {"score_func": "import:sklearn.feature_selection.f_classif", "k": 10},
    ... )
    >>> anova.make().k
    10
    """

    name: str
    selector: Any = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    folder: str | None = None

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ValueError(f"the name of a method must be a word, got {self.name!r}")
        is_estimator = isinstance(self.selector, BaseEstimator)
        if not is_estimator and not isinstance(self.selector, str):
            raise ValueError(
                f"the selector of method {self.name!r} must be a word or a selector, got {self.selector!r}"
            )
        if not isinstance(self.parameters, Mapping):
            raise ValueError(f"the parameters of method {self.name!r} must be a table, got {self.parameters!r}")
        if is_estimator and self.parameters:
            raise ValueError(f"parameters of method {self.name!r} must be none, as its selector has its own")
        object.__setattr__(self, "selector", self.selector if is_estimator else self.selector or self.name)
        object.__setattr__(self, "parameters", dict(self.parameters))

    @property
    def is_random(self) -> bool:
        """Whether it is the random order."""
        return isinstance(self.selector, str) and self.selector == RANDOM

    def make(self, **defaults: Any) -> Any:
        """The selector.

        Parameters
        ----------
        **defaults : dict
            Parameters that it gets if it has them and none was given. A selector that was given itself gets none of
            them but the number of threads.

        Returns
        -------
        estimator
            Not yet fitted.
        """
        if isinstance(self.selector, BaseEstimator):
            threads = {"n_jobs": defaults["n_jobs"]} if "n_jobs" in defaults else {}
            own = clone(self.selector)
            return own.set_params(**{name: value for name, value in threads.items() if name in own.get_params()})
        with importable_from(self.folder):
            return self._make_by_name(defaults)

    def _make_by_name(self, defaults: Mapping[str, Any]) -> Any:
        kind = self._selector_class()
        known = list(inspect.signature(kind).parameters)
        if unknown := sorted(set(self.parameters) - set(known)):
            raise ValueError(f"{self.selector} has no parameter {unknown[0]!r}; it has {', '.join(known)}")
        given = {name: built(value, self.folder) for name, value in self.parameters.items()}
        try:
            return kind(**{name: value for name, value in defaults.items() if name in known} | given)
        except (Exception, SystemExit) as error:  # a class of the user's own may fail in any way
            raise ValueError(f"method {self.name!r} cannot be made: {in_one_line(error)}") from None

    def _selector_class(self) -> Any:
        """Class of the selector. What is not one is refused before anything of it is called."""
        kind = NAMED[self.selector] if self.selector in NAMED else imported(self.selector, "method", folder=self.folder)
        if not inspect.isclass(kind) or not issubclass(kind, BaseEstimator) or not hasattr(kind, "fit"):
            raise ValueError(
                f"method {self.name!r} must be a subclass of sklearn.base.BaseEstimator with fit, got {self.selector}"
            )
        return kind

    def describe(self, **defaults: Any) -> dict[str, Any]:
        """The class and all parameters that matter, those with default values too, as plain data.

        Parameters
        ----------
        **defaults : dict
            As of `make`.

        Returns
        -------
        dict
            The same in every process.
        """
        if self.is_random:
            return {"selector": RANDOM, "parameters": {}}
        described: dict[str, Any] = described_value(self.make(**defaults))
        return described

    def provenance(self, evaluators: Iterable[Any] = ()) -> dict[str, Any]:
        """Code and versions that it is computed and evaluated with, as plain data.

        Parameters
        ----------
        evaluators : iterable of estimators
            That evaluate the features it chooses.

        Returns
        -------
        dict
            See `ilfs.benchmark.provenance.describe`.
        """
        with importable_from(self.folder):
            return provenance_of(None if self.is_random else self.make(), evaluators)


def imported(path: str, what: str, known: Sequence[str] = (*NAMED, RANDOM), folder: str | None = None) -> Any:
    """Something by its import path; ``known`` are the names that it could have had instead."""
    near = difflib.get_close_matches(path, known, n=1)
    try:
        return import_object(path, folder)
    except LookupError as error:
        why = f"; did you mean {near[0]!r}?" if near else f": {error}"
        raise ValueError(f"{what} {path!r} is none of {', '.join(known)}, and cannot be imported{why}") from None
    except ImportError as error:
        raise ValueError(f"{what} {path!r} cannot be imported: {error}") from None


def built(value: Any, folder: str | None = None) -> Any:
    """A parameter as the selector wants it."""
    if isinstance(value, str) and value.startswith(IMPORT):
        return imported(value.removeprefix(IMPORT), "parameter", folder=folder)
    if isinstance(value, Mapping) and "selector" in value:
        return Contender("estimator", value["selector"], value.get("parameters", {}), folder).make()
    return value


def described_value(value: Any) -> Any:
    """Plain data that says the same in every process."""
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
        return {
            "selector": f"{type(value).__module__}.{type(value).__qualname__}",
            "parameters": {
                name: described_value(one) for name, one in sorted(parameters.items()) if name not in NOT_PART_OF_IT
            },
        }
    if callable(value):
        name = getattr(value, "__qualname__", "<>")
        if "<" in name:  # a lambda, or of another function: two of them could not be told apart
            raise ValueError(f"a parameter that is a function must be importable, got {value!r}")
        return f"{IMPORT}{value.__module__}.{name}"
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [described_value(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return described_object(value)


def described_object(value: Any) -> Any:
    """Plain data of a parameter of another type.

    `repr` alone will not do: that of a long array leaves most of it out, so that two of them could not be told apart,
    and that of an object without one of its own has its address, which is another in every process.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        content = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
        return {"array": content, "shape": list(value.shape), "type": value.dtype.str}
    if isinstance(value, Mapping):
        pairs = [[described_value(name), described_value(one)] for name, one in value.items()]
        return {"mapping": sorted(pairs, key=repr)}
    if isinstance(value, set | frozenset):
        return {"set": sorted(map(described_value, value), key=repr)}
    if ADDRESS.search(words := repr(value)) or isinstance(value, np.ndarray | np.random.RandomState):
        raise ValueError(
            f"a parameter must be data that is the same in every process, got {words}; for chance, give an integer"
        )
    return words


def reads_labels(selector: Any) -> bool:
    """Whether the order depends on the classes; without a word about it we believe that it does."""
    return bool(getattr(selector, "_reads_labels", True))


def prepared(selector: Any, X: Any) -> Any:
    """X as the selector takes it: dense if it must be, missing cells filled with the means of these rows."""
    takes = selector.__sklearn_tags__().input_tags
    if sparse.issparse(X) and not takes.sparse:
        X = X.toarray()
    cells = X.data if sparse.issparse(X) else X
    if not takes.allow_nan and np.isnan(cells).any():
        X = SimpleImputer(keep_empty_features=True).fit_transform(X)
    return X


def mask_of(selector: Any) -> Integers | None:
    """Columns that a fitted selector keeps, if that is all it says: it has a mask but neither order nor scores."""
    ordered = (
        any(hasattr(selector, name) for name in ("order_", "ranking_", "scores_")) or scores_of(selector) is not None
    )
    return None if ordered or not hasattr(selector, "get_support") else np.flatnonzero(selector.get_support())


def order_of(selector: Any) -> Integers:
    """Columns, best first, of a fitted selector."""
    if hasattr(selector, "order_"):
        return np.asarray(selector.order_)
    if hasattr(selector, "ranking_"):
        return np.argsort(selector.ranking_, kind="stable")
    scores = scores_of(selector)
    if scores is not None:
        if np.isnan(scores).all():
            raise ValueError(f"{type(selector).__name__} must score features by numbers, got NaN for all of them")
        return np.argsort(-np.nan_to_num(scores, nan=-np.inf, neginf=-np.inf), kind="stable")
    raise ValueError(
        f"{type(selector).__name__} says no order of the features: it has none of order_, ranking_, scores_, "
        "feature_importances_, coef_ and get_support"
    )
