"""Description of the last run as plain data, which a store keeps so that tables can be made without naming a suite."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from ilfs.benchmark.evaluation.protocol import Protocol, RecoveryJob, TimingJob
from ilfs.benchmark.methods.method import BenchmarkMethod, described_value
from ilfs.benchmark.suites.suite import Suite
from ilfs.datasets import VocOptions


@dataclass(frozen=True)
class LastRun:
    """The last run on a store.

    Parameters
    ----------
    suite : Suite
        The suite that was run, with the options of that run.
    asked : mapping
        The suite before options changed it, as `suite_as_data` describes it.
    """

    suite: Suite
    asked: Mapping[str, Any]


def describe_run(suite: Suite, asked: Suite) -> dict[str, Any]:
    """Describe a run as plain data, for `ilfs.benchmark.Store.remember`."""
    settings = suite.voc.or_environment().as_variables()
    return {"suite": suite_as_data(suite), "asked": suite_as_data(asked), "settings": settings}


def read_run(data: Mapping[str, Any]) -> LastRun:
    """Restore a run from the data that `describe_run` returned.

    Parameters
    ----------
    data : mapping
        From `ilfs.benchmark.Store.last_run`. Selectors that it names are imported.

    Returns
    -------
    LastRun
        The run. A ValueError is raised if the data do not describe a run, or one that only Python code can repeat.

    Examples
    --------
    >>> from ilfs.benchmark import SUITES
    >>> from ilfs.benchmark.suites.last_run import describe_run, read_run
    >>> read_run(describe_run(SUITES["quick"], SUITES["quick"])).suite == SUITES["quick"]
    True
    """
    try:
        stored = VocOptions.from_variables(dict(data["settings"]))
        # present environment variables take precedence over the stored ones
        voc = VocOptions().or_environment().or_else(stored)
        return LastRun(replace(suite_from_data(data["suite"]), voc=voc), dict(data["asked"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this version of ilfs cannot read the description of the last run ({error!r})") from None


def suite_as_data(suite: Suite) -> dict[str, Any]:
    """Describe a suite as plain data; two suites with the same data have the same jobs."""
    data = {
        "name": suite.name,
        "experiment": suite.experiment,
        "datasets": list(suite.datasets),
        "methods": [method_as_data(one) for one in suite.methods],
        "splits": suite.n_splits,
        "protocol": fields_as_data(suite.protocol),
        "folder": suite.folder,
    } | ({"max_splits": dict(suite.max_splits)} if suite.max_splits else {})
    plain: dict[str, Any] = json.loads(json.dumps(data, default=repr))
    return plain


def method_as_data(method: BenchmarkMethod) -> dict[str, Any]:
    """Describe a method as plain data; ``is_complete`` is True if the same method can be made from it."""
    if isinstance(method.selector, str):
        what = {"selector": method.selector, "parameters": plain_parameter(method.parameters)}
    else:
        what = described_value(method.selector)
    again = BenchmarkMethod(method.name, what["selector"], what["parameters"], method.folder)
    return {"name": method.name, **what, "is_complete": is_described_alike(again, method)}


def is_described_alike(again: BenchmarkMethod, method: BenchmarkMethod) -> bool:
    """True if a method made from its stored description equals the original."""
    try:
        return again.describe() == method.describe()
    except ValueError:  # a class inside another class cannot be imported, and some parameters cannot be described
        return False


def fields_as_data(options: Any) -> dict[str, Any]:
    """Describe the fields of a dataclass as plain data, nested dataclasses too."""
    return {one.name: field_as_data(getattr(options, one.name)) for one in fields(options)}


def field_as_data(value: Any) -> Any:
    """Describe the value of a field as plain data."""
    if isinstance(value, list | tuple):
        return [field_as_data(one) for one in value]
    return fields_as_data(value) if is_dataclass(value) else plain_parameter(value)


def plain_parameter(value: Any) -> Any:
    """Describe a parameter as plain data, tables of estimators inside it too."""
    if isinstance(value, Mapping):
        return {str(name): plain_parameter(one) for name, one in value.items()}
    return described_value(value)


def suite_from_data(data: Mapping[str, Any]) -> Suite:
    """Make the suite that `suite_as_data` described."""
    if incomplete := [one["name"] for one in data["methods"] if not one["is_complete"]]:
        raise ValueError(f"the last run had method {incomplete[0]!r} with parameters that only Python code can give")
    folder = data["folder"]
    kind: Callable[..., Any] = {"timing": TimingJob, "recovery": RecoveryJob}.get(data["experiment"], Protocol)
    protocol = {name: tuple(one) if isinstance(one, list) else one for name, one in data["protocol"].items()}
    methods = [BenchmarkMethod(one["name"], one["selector"], one["parameters"], folder) for one in data["methods"]]
    return Suite(
        name=data["name"],
        experiment=data["experiment"],
        datasets=tuple(data["datasets"]),
        methods=tuple(methods),
        n_splits=data["splits"],
        protocol=kind(**protocol),
        folder=folder,
        max_splits=data.get("max_splits", {}),
    )
