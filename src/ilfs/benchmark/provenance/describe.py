"""The code and the packages that a result was computed with, as plain data.

They are part of the key of a job (`ilfs.benchmark.evaluation.job.Job.key`), so that a stored result is used only as
long as computing it again would give the same:

- ``evaluation``: hash of the modules that split, fit and evaluate (`EVALUATION` and all that they import);
- ``method``: hash of the modules of the selector, of its base classes, of estimators and functions among its
  parameters, and of all that these import;
- ``packages``: versions of `VERSIONED_PACKAGES`, and of the packages that a selector from elsewhere imports.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from inspect import isclass
from typing import Any

from sklearn.base import BaseEstimator

from ilfs.benchmark.provenance.source_code import (
    LIBRARY,
    Dependencies,
    Find,
    dependencies,
    find_file,
    is_under,
    packages_used,
)

VERSIONED_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
EVALUATION = "ilfs.benchmark.jobs.compute"
IGNORED_MODULES = (  # imported by methods or by the evaluation, without an effect on the order of the features
    "ilfs.registry",  # names and descriptions of all methods; the class of a job is hashed itself
    "ilfs.benchmark.methods.named",  # the baselines; the one of a job is hashed itself
    "ilfs.benchmark.provenance.describe",
    "ilfs.benchmark.provenance.source_code",
    # Names of types and allocation, checks of parameters, messages and progress.
    "ilfs.arrays",
    "ilfs.parameters",
    "ilfs.choices",
    "ilfs.words",
    "ilfs.warn",
    "ilfs.one_line",
    "ilfs.callbacks",
    # Descriptions of a finished ranking: tables, explanations, files, and the selected columns.
    "ilfs.selector.description",
    "ilfs.effects",
    "ilfs.explanation",
    "ilfs.ranking_table",
    "ilfs.text_table",
    "ilfs.spreadsheet",
    "ilfs.selection_files",
    "ilfs.selected_columns",
    # Statistics that were computed elsewhere and saved. They know all kinds of statistics, and jobs fit rows.
    "ilfs.summaries",
)
DATASETS = "ilfs.datasets"  # ignored in the evaluation, as the content of the data is hashed; not in selectors
PACKAGES_WITHOUT_EFFECT = frozenset({"joblib", "threadpoolctl", "tqdm"})  # they run work or show progress
PLAIN_TYPES = (str, bytes, int, float, complex, bool, type(None))


def provenance_of(selector: Any, evaluators: Iterable[Any] = (), *, find: Find = find_file) -> dict[str, Any]:
    """Code and packages that a selector is computed and evaluated with.

    Parameters
    ----------
    selector : estimator or None
        A selector that is not fitted; None for a random order, which has no code of its own.
    evaluators : iterable of estimators
        Classifiers that evaluate the features it chooses; their code counts as part of the evaluation.
    find : callable
        Returns the file of a module.

    Returns
    -------
    dict
        Plain data, the same on every computer with the same code and versions.

    Examples
    --------
    >>> from ilfs import FisherScore
    >>> from ilfs.benchmark.provenance.describe import provenance_of
    >>> sorted(provenance_of(FisherScore()))
    ['evaluation', 'method', 'packages']
    """
    method = code_behind([] if selector is None else [selector], find)
    classifiers = code_behind(evaluators, find)
    evaluation = dependencies([EVALUATION], find=find, ignored=(*IGNORED_MODULES, DATASETS)).files | classifiers.files
    names = sorted(
        (method.packages | classifiers.packages) - PACKAGES_WITHOUT_EFFECT - {LIBRARY, "sklearn", *VERSIONED_PACKAGES}
    )
    versions_of_others = {name: imported_version(name) for name in names}
    return {
        "evaluation": Dependencies(evaluation).digest(),
        "method": method.digest(),
        "packages": {name: installed_version(name) for name in VERSIONED_PACKAGES} | versions_of_others,
    }


def ingredients(value: Any) -> Iterator[Any]:
    """Classes and functions that a parameter consists of, those of nested estimators too."""
    if isinstance(value, PLAIN_TYPES):
        return
    if isinstance(value, list | tuple | set | frozenset | Mapping):
        inside: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
        for one in inside:
            yield from ingredients(one)
    elif isinstance(value, BaseEstimator) and not isclass(value):
        yield type(value)
        yield from ingredients(value.get_params(deep=False))
    else:
        yield value if callable(value) and hasattr(value, "__qualname__") else type(value)


def code_behind(estimators: Iterable[Any], find: Find) -> Dependencies:
    """Files and packages behind estimators and their parameters."""
    used = [one for estimator in estimators for one in ingredients(estimator)]
    classes = [base for one in used for base in (one.__mro__ if isclass(one) else (one,))]
    modules = {module for one in classes if (module := getattr(one, "__module__", None))}
    files = dependencies(modules, find=find, ignored=IGNORED_MODULES).files
    check_has_code(classes, files)
    # The library's own imports are in VERSIONED_PACKAGES or change no result. Only the baselines rely on others.
    packages = dependencies(
        (name for name in modules if not is_under(name, [LIBRARY])), find=find, ignored=(LIBRARY,)
    ).packages
    for one in used:
        path = files.get(getattr(one, "__module__", ""))
        if path is not None and is_under(one.__module__, [LIBRARY]):
            packages |= packages_used(path, one.__name__)
    return Dependencies(files, packages)


def check_has_code(used: Iterable[Any], files: Mapping[str, Any]) -> None:
    """Raise an error for a class or function that is in no file: changes to its code could not be noticed."""
    for one in used:
        if getattr(one, "__module__", None) == "__main__" and "__main__" not in files:
            raise ValueError(
                f"{one.__qualname__} must be in a file, so that changes to it are noticed; "
                "got one that was typed into an interpreter"
            )


@lru_cache
def installed_version(package: str) -> str | None:
    """Version of a distribution, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@lru_cache
def imported_version(name: str) -> str | None:
    """Version of the distribution that holds the package of this import name, None if there is none."""
    found = [installed_version(one) for one in sorted(set(packages_distributions().get(name, ())))]
    return ", ".join(filter(None, found)) or None


@lru_cache
def versions() -> dict[str, str | None]:
    """Versions that are recorded with every result."""
    return {name: installed_version(name) for name in VERSIONED_PACKAGES} | {LIBRARY: library_version()}


def library_version() -> str:
    """Version of this library, which need not be installed."""
    from ilfs import __version__

    return __version__
