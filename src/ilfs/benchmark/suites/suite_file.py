"""Suites in TOML files."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ilfs.benchmark.evaluation.protocol import Protocol
from ilfs.benchmark.methods.method import BenchmarkMethod
from ilfs.benchmark.suites.built_in import SUITES
from ilfs.benchmark.suites.suite import WITHOUT_CLASSIFIERS, Suite
from ilfs.datasets import REGISTRY
from ilfs.datasets.naming import format_name
from ilfs.datasets.readers import ENDINGS, columns_of
from ilfs.importing import importable_from
from ilfs.methods import METHODS

MAX_NESTING = 50  # lists and tables inside each other: functions that read them are recursive
TOO_DEEP = f"its lists and tables are nested too deeply, the limit is {MAX_NESTING}"
SUITE_KEYS = {"name", "experiment", "datasets", "methods", "splits"}
PROTOCOL_KEYS = {one.name for one in fields(Protocol)}
RENAMED_SUITE_KEYS = {"test_share": "test_fraction"}


def suite_by_name(name: str) -> Suite:
    """Get a suite by its name or by the path of its TOML file."""
    if name in SUITES:
        return SUITES[name]
    if not name.endswith(".toml"):
        raise ValueError(f"suite must be {', '.join(SUITES)} or the path of a .toml file, got {name!r}")
    return read_suite(name)


def read_suite(path: str) -> Suite:
    r"""Read a suite from a TOML file.

    The file has ``datasets`` (names, paths from the folder of the file, or tables with ``path``, ``target``, ``drop``,
    ``groups`` and ``folds``) and may have ``name``, ``experiment``, ``methods`` (names, or tables with ``name``,
    ``selector`` and ``parameters``), ``splits``, and the fields of `Protocol`: ``sizes``, ``test_fraction``, ``Cs``,
    ``n_folds``, ``seed``, ``classifiers`` (names, or tables with ``name``, ``classifier``, ``parameters`` and
    ``standardise``).

    Parameters
    ----------
    path : str
        Path of the file.

    Returns
    -------
    Suite
        The suite, for `run`. Modules of selectors that are not methods of this library are imported, from the folder of
        the file too: do not read a file of somebody you do not trust.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.benchmark import read_suite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mine.toml"
    ...     _ = file.write_text('datasets = ["wine"]\nsplits = 3\n')
    ...     read_suite(str(file)).n_splits
    3
    """
    content = read_toml(path)
    check_keys(content, path)
    check_types(content, path)
    folder = str(Path(path).resolve().parent)
    return Suite(
        name=content.get("name", Path(path).stem),
        experiment=content.get("experiment", "sizes"),
        datasets=dataset_names(content["datasets"], path),
        methods=tuple(methods_from_entries(content.get("methods", list(METHODS)), path, folder)),
        n_splits=content.get("splits", 20),
        protocol=protocol_from(content, folder),
        folder=folder,
    )


def read_toml(path: str) -> dict[str, Any]:
    """Read a TOML file; every problem is a ValueError that names the file."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except (ValueError, OSError) as error:  # ValueError: invalid TOML or UTF-8, or a number of thousands of digits
        raise ValueError(f"suite {path} cannot be read: {error}") from None
    except RecursionError:
        raise ValueError(f"suite {path} cannot be read: {TOO_DEEP}") from None
    if is_deeper(content, MAX_NESTING):
        raise ValueError(f"suite {path} cannot be read: {TOO_DEEP}")
    return content


def check_keys(content: Mapping[str, Any], path: str) -> None:
    """Raise an error if a key is unknown or has been renamed, or if there are no data sets."""
    if old := next((key for key in RENAMED_SUITE_KEYS if key in content), None):
        raise ValueError(f"suite {path} has {old!r}, which is called {RENAMED_SUITE_KEYS[old]!r} now: rename it")
    known = SUITE_KEYS | PROTOCOL_KEYS
    if unknown := sorted(set(content) - known):
        raise ValueError(f"suite {path} has {unknown[0]!r}, which is none of {', '.join(sorted(known))}")
    if "datasets" not in content:
        raise ValueError(f"suite {path} must have datasets, got none")


def protocol_from(content: Mapping[str, Any], folder: str) -> Protocol:
    """Make the protocol of a suite; classifiers may be imported from the folder of its file."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in content.items()
        if key in PROTOCOL_KEYS
    }
    with importable_from(folder):
        return Protocol(**values)


def is_deeper(content: Any, limit: int) -> bool:
    """Check if lists and tables are nested more deeply than the limit."""
    level = [content]
    for _ in range(limit):
        level = [
            one
            for value in level
            if isinstance(value, list | Mapping)
            for one in (value.values() if isinstance(value, Mapping) else value)
        ]
    return any(isinstance(value, list | Mapping) for value in level)


def dataset_names(datasets: Any, path: str) -> tuple[str, ...]:
    """Names of data sets from names, paths and tables."""
    if not isinstance(datasets, list):
        raise ValueError(f"datasets of suite {path} must be a list, got {datasets!r}")
    return tuple(dataset_name(one, path) for one in datasets)


def dataset_name(one: Any, path: str) -> str:
    """Name of a data set as `ilfs.datasets.load` takes it."""
    entries = {"path": one} if isinstance(one, str) else one
    column = (str, int)
    known = {"path": (str,), "target": column, "drop": (*column, list), "groups": column, "folds": column}
    if not isinstance(entries, dict) or "path" not in entries or not set(entries) <= set(known):
        raise ValueError(
            f"a data set of suite {path} must be a name, a path, or a table with path, target, drop, groups and folds, "
            f"got {one!r}"
        )
    drop = columns_of(entries.get("drop", ()))
    checked = [(key, entries[key]) for key in known if key in entries and key != "drop"]
    checked += [("drop", name) for name in drop]
    for key, value in checked:
        if type(value) not in known[key]:
            raise ValueError(
                f"{key} of a data set of suite {path} must be text{' or a position' * (key != 'path')}, got {value!r}"
            )
    target, groups, folds = (entries.get(key) for key in ("target", "groups", "folds"))
    return format_name(from_folder(entries["path"], Path(path).parent), target, drop, groups, folds)


def from_folder(name: str, folder: Path) -> str:
    """Resolve a path from the folder of the suite; names of data sets stay as they are."""
    if name in REGISTRY:
        return name
    file, query, columns = name.partition("?")
    is_path = file.lower().endswith(ENDINGS) or (folder / name).exists()
    return f"{folder / file}{query}{columns}" if is_path else name


def check_types(content: Mapping[str, Any], path: str) -> None:
    """Raise an error if a value has the wrong type, such as a string in place of a list."""
    for name in ("methods", "sizes", "Cs", "classifiers"):
        if not isinstance(content.get(name, []), list):
            raise ValueError(f"{name} of suite {path} must be a list, got {content[name]!r}")
    for name in ("name", "experiment"):
        if not isinstance(content.get(name, ""), str):
            raise ValueError(f"{name} of suite {path} must be a string, got {content[name]!r}")
    if wrong := [one for one in content.get("methods", []) if not isinstance(one, str | Mapping)]:
        raise ValueError(f"methods of suite {path} must be names or tables, got {wrong[0]!r}")
    if (experiment := content.get("experiment")) in WITHOUT_CLASSIFIERS:
        raise ValueError(
            f"suite {path} must be of experiment 'sizes' or 'classes': the experiment {experiment} has its own suite"
        )


def methods_from_entries(methods: Iterable[str | Mapping[str, Any]], path: str, folder: str) -> list[BenchmarkMethod]:
    """Methods from names and tables."""
    made = []
    for one in methods:
        entries = {"name": one} if isinstance(one, str) else dict(one)
        if "name" not in entries or not set(entries) <= {"name", "selector", "parameters"}:
            raise ValueError(
                f"a method of suite {path} must have a name and may have a selector and parameters, got {entries!r}"
            )
        method = BenchmarkMethod(**entries, folder=folder)
        method.describe()
        made.append(method)
    return made
