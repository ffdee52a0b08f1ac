"""What a run was about, as plain data that a store can keep."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from ilfs.benchmark.evaluation.protocol import Protocol, TimingJob
from ilfs.benchmark.methods.method import Contender, described_value
from ilfs.benchmark.suites.suite import Suite

SETTINGS = ("ILFS_VOC_DEVKIT", "ILFS_VOC_NETWORK", "ILFS_VOC_LAYER")  # which make data sets


@dataclass(frozen=True)
class LastRun:
    """The last run on a store.

    Parameters
    ----------
    suite : Suite
        What was run.
    asked : mapping
        The suite as it was named, before options changed it, as `suite_as_data` gives it.
    settings : mapping
        Environment variables that its data sets depend on.
    """

    suite: Suite
    asked: Mapping[str, Any]
    settings: Mapping[str, str]


def describe_run(suite: Suite, asked: Suite) -> dict[str, Any]:
    """Plain data of a run, for `ilfs.benchmark.Store.remember`."""
    settings = {name: os.environ[name] for name in SETTINGS if os.environ.get(name)}
    return {"suite": suite_as_data(suite), "asked": suite_as_data(asked), "settings": settings}


def read_run(data: Mapping[str, Any]) -> LastRun:
    """The run that `describe_run` described.

    Parameters
    ----------
    data : mapping
        From `ilfs.benchmark.Store.last_run`. Selectors that it names are imported.

    Returns
    -------
    LastRun
        ValueError if the data are not those of a run, or of one that only Python code can repeat.

    Examples
    --------
    >>> from ilfs.benchmark import SUITES
    >>> from ilfs.benchmark.suites.last_run import describe_run, read_run
    >>> read_run(describe_run(SUITES["quick"], SUITES["quick"])).suite == SUITES["quick"]
    True
    """
    try:
        settings = {name: str(value) for name, value in dict(data["settings"]).items() if name in SETTINGS}
        return LastRun(suite_from_data(data["suite"]), dict(data["asked"]), settings)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the last run is not described as this version of ilfs does it ({error!r})") from None


def suite_as_data(suite: Suite) -> dict[str, Any]:
    """A suite as plain data; two suites with the same data have the same jobs."""
    data = {
        "name": suite.name,
        "experiment": suite.experiment,
        "datasets": list(suite.datasets),
        "methods": [method_as_data(one) for one in suite.contenders],
        "splits": suite.n_splits,
        "protocol": fields_as_data(suite.protocol),
        "folder": suite.folder,
    }
    plain: dict[str, Any] = json.loads(json.dumps(data, default=repr))
    return plain


def method_as_data(contender: Contender) -> dict[str, Any]:
    """A method as plain data; ``is_complete`` says whether the same can be made of it again."""
    if isinstance(contender.selector, str):
        what = {"selector": contender.selector, "parameters": plain_parameter(contender.parameters)}
    else:
        what = described_value(contender.selector)
    again = Contender(contender.name, what["selector"], what["parameters"], contender.folder)
    return {"name": contender.name, **what, "is_complete": is_described_alike(again, contender)}


def is_described_alike(again: Contender, contender: Contender) -> bool:
    """True if a method made from its stored description equals the original."""
    try:
        return again.describe() == contender.describe()
    except ValueError:  # a class inside another cannot be imported, and a parameter that is no data cannot be given
        return False


def fields_as_data(options: Any) -> dict[str, Any]:
    """Fields of a dataclass as plain data, those of dataclasses among them too."""
    return {one.name: field_as_data(getattr(options, one.name)) for one in fields(options)}


def field_as_data(value: Any) -> Any:
    """A field as plain data."""
    if isinstance(value, list | tuple):
        return [field_as_data(one) for one in value]
    return fields_as_data(value) if is_dataclass(value) else plain_parameter(value)


def plain_parameter(value: Any) -> Any:
    """A parameter as plain data, tables of estimators inside it too."""
    if isinstance(value, Mapping):
        return {str(name): plain_parameter(one) for name, one in value.items()}
    return described_value(value)


def suite_from_data(data: Mapping[str, Any]) -> Suite:
    """The suite that `suite_as_data` described."""
    if incomplete := [one["name"] for one in data["methods"] if not one["is_complete"]]:
        raise ValueError(f"the last run had method {incomplete[0]!r} with parameters that only Python code can give")
    folder = data["folder"]
    kind: Callable[..., Any] = TimingJob if data["experiment"] == "timing" else Protocol
    protocol = {name: tuple(one) if isinstance(one, list) else one for name, one in data["protocol"].items()}
    methods = [Contender(one["name"], one["selector"], one["parameters"], folder) for one in data["methods"]]
    return Suite(
        name=data["name"],
        experiment=data["experiment"],
        datasets=tuple(data["datasets"]),
        contenders=tuple(methods),
        n_splits=data["splits"],
        protocol=kind(**protocol),
        folder=folder,
    )
