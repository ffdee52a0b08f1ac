"""How a benchmark was computed: protocol, versions, computers, and the commands that repeat it."""

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ilfs.benchmark.evaluation.classifiers import LINEAR_SVM
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites.built_in import SUITES
from ilfs.benchmark.suites.suite import Suite
from ilfs.words import counted


@dataclass(frozen=True)
class Provenance:
    """How results were computed.

    Attributes
    ----------
    protocol : tuple of (str, str)
        Names and values of the settings.
    versions, computers : tuple of str
        Sets of package versions and kinds of computers, each with the number of jobs if there are several.
    commands : tuple of str
        Commands that repeat the run.
    """

    protocol: tuple[tuple[str, str], ...]
    versions: tuple[str, ...]
    computers: tuple[str, ...]
    commands: tuple[str, ...]


def provenance_of(results: Results, commands: Sequence[str] = ()) -> Provenance:
    """Describe how results were computed.

    Parameters
    ----------
    results : Results
        Results of a suite.
    commands : sequence of str, optional
        Commands that repeat the run; by default made for a built-in suite.

    Returns
    -------
    Provenance
        The names of computers are left out: a page is made to be sent to others.
    """
    there = [row for row in results.rows.ravel() if row is not None]
    return Provenance(
        protocol=tuple(protocol_facts(results)),
        versions=with_counts(format_versions(json.loads(row.versions)) for row in there),
        computers=with_counts(format_computer(json.loads(row.host)) for row in there),
        commands=tuple(commands) or default_commands(results.suite),
    )


def with_counts(words: Iterable[str]) -> tuple[str, ...]:
    """Different words, most frequent first; with their frequency if there are several."""
    counts = Counter(words).most_common()
    return tuple(word if len(counts) == 1 else f"{word} ({counted(n, 'job')})" for word, n in counts)


def format_versions(versions: dict[str, str | None]) -> str:
    """Format the versions of packages, this library first."""
    names = sorted(versions, key=lambda name: (name != "ilfs", name))
    return ", ".join(f"{name} {versions[name]}" for name in names if versions[name])


def format_computer(host: dict[str, Any]) -> str:
    """Format system, cores and Python of a computer, without its name."""
    parts = [str(host[key]) for key in ("system", "processor") if host.get(key)]
    cores = f"{host['cores']} cores" if host.get("cores") else ""
    python = f"Python {host['python']}" if host.get("python") else ""
    return ", ".join(filter(None, [*dict.fromkeys(parts), cores, python]))


def protocol_facts(results: Results) -> Iterable[tuple[str, str]]:
    """Yield names and values of the settings of a suite."""
    suite, protocol = results.suite, results.suite.protocol
    if suite.experiment == "timing":
        yield "Data", f"{protocol.rows:,} x {protocol.columns:,} uniform numbers, two classes at random"
        yield "Threads", str(protocol.n_threads)
    else:
        yield "Splits", format_splits(results)
        yield from (size_fact(suite), *classifier_facts(suite))
    yield "Seed", f"{protocol.seed}; everything random is derived from it, the data set and the number of the split"
    yield "Methods", "; ".join(format_method(one) for one in suite.methods)


def format_splits(results: Results) -> str:
    """Format the splits of a suite."""
    n, fraction = results.suite.n_splits, results.suite.protocol.test_fraction
    return (
        f"{n}, each with {100 * fraction:.0f} % of the samples of each class for testing, the same for all methods"
        " (data sets with given test rows or folds keep them)"
    )


def size_fact(suite: Suite) -> tuple[str, str]:
    """Numbers or fractions of features that are evaluated."""
    if suite.experiment == "sizes":
        return "Numbers of features", ", ".join(map(str, suite.protocol.sizes))
    return "Fractions of the features", ", ".join(f"{100 * one:g} %" for one in suite.protocol.fractions)


def classifier_facts(suite: Suite) -> Iterable[tuple[str, str]]:
    """Classifiers, and how C of the linear SVM is chosen."""
    protocol = suite.protocol
    yield "Classifiers" if len(protocol.classifiers) > 1 else "Classifier", ", ".join(protocol.classifier_names)
    if LINEAR_SVM in protocol.classifier_names:
        grid = ", ".join(f"{C:g}" for C in protocol.Cs)
        yield "C of the linear SVM", f"one of {grid}, by cross-validation with {protocol.n_folds} folds"


def format_method(method: Any) -> str:
    """Format a method with the parameters that differ from its defaults."""
    if not method.parameters:
        return str(method.name)
    parameters = ", ".join(f"{name}={value!r}" for name, value in method.parameters.items())
    return f"{method.name} ({parameters})"


def default_commands(suite: Suite) -> tuple[str, ...]:
    """Commands that repeat a built-in suite; none for a suite from a file or from Python code."""
    if suite.name not in SUITES:
        return ()
    return run_command(suite, suite.name), shlex.join(["ilfs", "bench", "report", suite.name])


def run_command(suite: Suite, name: str, asked: Suite | None = None, store: str = "") -> str:
    """Format the command that runs a suite.

    Parameters
    ----------
    suite : Suite
        The suite with the options of its run.
    name : str
        Name of the suite, or path of its file, for the command line.
    asked : Suite, optional
        The suite without options; by default the built-in one of this name.
    store : str
        File of results, if it is not the default.

    Returns
    -------
    str
        A line for a shell.

    Examples
    --------
    >>> from ilfs.benchmark import SUITES
    >>> from ilfs.report.benchmark.provenance import run_command
    >>> run_command(SUITES["quick"].only(methods=["ilfs", "mi"]), "quick")
    'ilfs bench run quick --methods ilfs mi'
    """
    chosen = different_options(suite, SUITES[name] if asked is None else asked)
    return shlex.join(["ilfs", "bench", "run", name, *chosen, *(["--store", store] if store else [])])


def different_options(suite: Suite, asked: Suite) -> list[str]:
    """Options that turn one suite into another."""
    options: list[str] = []
    if suite.datasets != asked.datasets:
        options += ["--datasets", *suite.datasets]
    if suite.methods != asked.methods:
        options += ["--methods", *(one.name for one in suite.methods)]
    if suite.n_splits != asked.n_splits:
        options += ["--splits", str(suite.n_splits)]
    if suite.experiment == "timing":
        sides = [(side, getattr(suite.protocol, side)) for side in ("rows", "columns")]
        changed = [(side, n) for side, n in sides if n != getattr(asked.protocol, side)]
        return [*options, *(word for side, n in changed for word in (f"--{side}", str(n)))]
    if suite.protocol.classifiers != asked.protocol.classifiers:
        options += ["--classifiers", *suite.protocol.classifier_names]
    return options
