"""The unit of benchmark work: one method on one split of one data set, described by plain data.

The result follows from the description: the same description gives the same result in any process, in any order, on
any computer with the same package versions.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ilfs.benchmark.evaluation.classifiers import LINEAR_SVM
from ilfs.benchmark.evaluation.protocol import Protocol
from ilfs.benchmark.methods.method import BenchmarkMethod
from ilfs.datasets import VocOptions

OWN_SIZE = 0  # size of measurements of a method that chooses the number of features itself
NO_CLASSIFIER = ""  # classifier of measurements that need none, such as seconds


@dataclass(frozen=True)
class Job:
    """One method on one split of one data set.

    Parameters
    ----------
    experiment : str
        ``"sizes"``: the best features at each size, all classes at once (the paper's second experiment).
        ``"classes"``: the best features at each fraction, each class against the rest (its first experiment).
        ``"timing"``: seconds and memory of one fit.
        ``"recovery"``: the fraction of the true features that are found.
    dataset, checksum : str
        Name of the data set and checksum of its file; ``"uniform"`` for timing.
    method : BenchmarkMethod
        The method.
    split : int
        Number of the split, from 0 on.
    protocol : Protocol, TimingJob or RecoveryJob
        How the split is made and the features are evaluated.
    provenance : mapping
        Other things that the result depends on: hashes of the code and of the content of the data, versions of
        packages. See `ilfs.benchmark.provenance.describe`; `Suite.jobs` fills it in.
    voc : VocOptions
        Where the images and the network of the VOC data sets are. Their content is in the checksum.
    """

    experiment: str
    dataset: str
    checksum: str
    method: BenchmarkMethod
    split: int
    protocol: Any = field(default_factory=Protocol)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    voc: VocOptions = field(default_factory=VocOptions)

    def describe(self) -> dict[str, Any]:
        """Describe everything that the result depends on, except code and versions, as plain data."""
        protocol = self.protocol.describe()
        if self.experiment == "classes":
            del protocol["sizes"]
        else:
            protocol.pop("fractions", None)
        return {
            "experiment": self.experiment,
            "dataset": self.dataset,
            "checksum": self.checksum,
            "method": self.method.name,
            **self.method.describe(**self.defaults()),
            "split": self.split,
            "protocol": protocol,
        }

    def defaults(self) -> dict[str, Any]:
        """Default parameters of the method: as many features as the largest subset that is evaluated."""
        if self.experiment == "timing":
            return {}
        if self.experiment == "recovery":
            return {"n_features_to_select": self.protocol.n_picks}
        of_classes = self.experiment == "classes"
        return {"n_features_to_select": max(self.protocol.fractions if of_classes else self.protocol.sizes)}

    @property
    def identity(self) -> str:
        """Hash of the description: the same for any code and versions."""
        return digest(self.describe())

    @property
    def key(self) -> str:
        """Hash of the description, the code, the content of the data and the package versions."""
        return digest(self.describe() | {"provenance": dict(self.provenance)})


class Measurement(NamedTuple):
    """Value of a metric for the best ``size`` features and one classifier; ``of_class`` is -1 for all classes."""

    size: int
    metric: str
    of_class: int
    value: float
    classifier: str = LINEAR_SVM


@dataclass
class Outcome:
    """Result of a job.

    Parameters
    ----------
    measurements : list of Measurement
        All metrics, by classifier and size; the size of a method that chooses it itself is `OWN_SIZE`.
    order : list of int
        The best columns, as many as were evaluated; those of the last class in the experiment ``"classes"``.
    seconds : float
        Time that the method took.
    seconds_evaluated : float
        Time that all classifiers took.
    """

    measurements: list[Measurement]
    order: list[int]
    seconds: float
    seconds_evaluated: float


def digest(description: Mapping[str, Any]) -> str:
    """SHA-256 of plain data; the order of keys does not matter."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seed_of(*parts: Any) -> int:
    """Derive a seed from the given values, the same in every process."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:4], "big") % 2**31
