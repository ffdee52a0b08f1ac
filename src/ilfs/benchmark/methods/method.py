"""Methods of a benchmark: those of the library, baselines, a random order, scikit-learn selectors by import path."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ilfs.benchmark.methods.named import NAMED
from ilfs.benchmark.provenance.describe import provenance_of
from ilfs.importing import importable_from
from ilfs.registry import IMPORT_PREFIX, SelectorNames

RANDOM = "random"
MEMORY_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
IGNORED_PARAMETERS = {"n_jobs", "verbose"}  # parameters that change no result


@dataclass(frozen=True)
class BenchmarkMethod:
    """A selector under a name, with parameters.

    Parameters
    ----------
    name : str
        Name of the method in tables.
    selector : str or estimator, optional
        The name of a method as `ilfs.registry.make_selector` takes it, such as ``"fisher"``, ``"novelty(mi)"`` or the
        import path of a class; one of the baselines ``"fastcan"``, ``"mrmrs"``, ``"extra_trees"`` and ``"l1_path"``;
        ``"random"``; or a selector itself. By default the name.
    parameters : mapping
        Parameters of the class. A string ``"import:a.b.c"`` is replaced by the object with that import path, and a
        mapping with ``selector`` and ``parameters`` by such an estimator.
    folder : str, optional
        Where modules are looked for after the usual places; the folder of a suite's file.

    Examples
    --------
    >>> from ilfs.benchmark import BenchmarkMethod
    >>> BenchmarkMethod("ilfs").make()
    ILFS()
    >>> from sklearn.feature_selection import SelectKBest
    >>> BenchmarkMethod("anova", SelectKBest(k=5)).make()
    SelectKBest(k=5)
    >>> anova = BenchmarkMethod(
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
            raise ValueError(f"the name of a method must be a non-empty string, got {self.name!r}")
        is_estimator = isinstance(self.selector, BaseEstimator)
        if not is_estimator and not isinstance(self.selector, str):
            raise ValueError(
                f"the selector of method {self.name!r} must be a string or a selector, got {self.selector!r}"
            )
        if not isinstance(self.parameters, Mapping):
            raise ValueError(f"the parameters of method {self.name!r} must be a table, got {self.parameters!r}")
        if is_estimator and self.parameters:
            raise ValueError(f"parameters of method {self.name!r} must be none, as its selector has its own")
        object.__setattr__(self, "selector", self.selector if is_estimator else self.selector or self.name)
        object.__setattr__(self, "parameters", dict(self.parameters))

    @property
    def is_random(self) -> bool:
        """True for the random order."""
        return isinstance(self.selector, str) and self.selector == RANDOM

    def make(self, **defaults: Any) -> Any:
        """Make the selector.

        Parameters
        ----------
        **defaults : dict
            Parameters to set if the class has them and none was given. A selector that was given as an object gets
            only the number of threads.

        Returns
        -------
        estimator
            The selector, unfitted.
        """
        if isinstance(self.selector, BaseEstimator):
            threads = {"n_jobs": defaults["n_jobs"]} if "n_jobs" in defaults else {}
            own = clone(self.selector)
            return own.set_params(**{name: value for name, value in threads.items() if name in own.get_params()})
        with importable_from(self.folder):
            return selector_names(self.folder).make(self.selector, self.parameters, defaults=defaults, label=self.name)

    def describe(self, **defaults: Any) -> dict[str, Any]:
        """Describe the class and all parameters that can change results, defaults too, as plain data.

        Parameters
        ----------
        **defaults : dict
            As for `make`.

        Returns
        -------
        dict
            Plain data, the same in every process.
        """
        if self.is_random:
            return {"selector": RANDOM, "parameters": {}}
        described: dict[str, Any] = described_value(self.make(**defaults))
        return described

    def provenance(self, evaluators: Iterable[Any] = ()) -> dict[str, Any]:
        """Describe the code and the versions that the method is computed and evaluated with, as plain data.

        Parameters
        ----------
        evaluators : iterable of estimators
            Estimators that evaluate the chosen features.

        Returns
        -------
        dict
            See `ilfs.benchmark.provenance.describe`.
        """
        with importable_from(self.folder):
            return provenance_of(None if self.is_random else self.make(), evaluators)


def selector_names(folder: str | None = None) -> SelectorNames:
    """Return the names that suites may use for a selector: methods, baselines, the random order, import paths."""
    return SelectorNames(NAMED, (RANDOM,), folder)


def described_value(value: Any) -> Any:
    """Describe a parameter as plain data, the same in every process."""
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
        return {
            "selector": f"{type(value).__module__}.{type(value).__qualname__}",
            "parameters": {
                name: described_value(one) for name, one in sorted(parameters.items()) if name not in IGNORED_PARAMETERS
            },
        }
    if callable(value):
        name = getattr(value, "__qualname__", "<>")
        if "<" in name:  # a lambda or a local function: two of them could not be told apart
            raise ValueError(f"a parameter that is a function must be importable, got {value!r}")
        return f"{IMPORT_PREFIX}{value.__module__}.{name}"
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [described_value(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return described_object(value)


def described_object(value: Any) -> Any:
    """Describe a parameter of another type as plain data.

    `repr` alone is not enough: that of a long array leaves most of it out, so that two arrays could not be told apart,
    and the default one has the memory address of the object, which differs between processes.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        content = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
        return {"array": content, "shape": list(value.shape), "type": value.dtype.str}
    if isinstance(value, Mapping):
        pairs = [[described_value(name), described_value(one)] for name, one in value.items()]
        return {"mapping": sorted(pairs, key=repr)}
    if isinstance(value, set | frozenset):
        return {"set": sorted(map(described_value, value), key=repr)}
    if MEMORY_ADDRESS.search(words := repr(value)) or isinstance(value, np.ndarray | np.random.RandomState):
        raise ValueError(
            f"a parameter must be the same in every process, got {words}; give a random state as an integer"
        )
    return words
