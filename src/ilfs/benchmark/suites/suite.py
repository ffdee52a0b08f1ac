"""A suite: the data sets, methods, splits and protocol that are run together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ilfs.benchmark.evaluation.experiments import EXPERIMENTS
from ilfs.benchmark.evaluation.job import Job
from ilfs.benchmark.evaluation.protocol import Protocol
from ilfs.benchmark.methods.method import BenchmarkMethod
from ilfs.benchmark.suites.dataset_facts import DatasetFacts
from ilfs.datasets import REGISTRY, Dataset, VocOptions, load
from ilfs.datasets.known_answer import KNOWN_ANSWERS, TRUE_COLUMNS
from ilfs.datasets.loading import check_registered, whereabouts
from ilfs.methods import METHODS
from ilfs.parameters import check_integer

TIMING_DATASET = "uniform"  # name of the random table of the timing experiment
MAX_SPLITS = 10_000
WITHOUT_CLASSIFIERS = {"timing": "times the methods", "recovery": "counts the true features that are found"}
PAPER_METHODS = tuple(BenchmarkMethod(name) for name in METHODS)


@dataclass(frozen=True)
class Suite:
    """Data sets, methods, splits and a protocol that are run together.

    Parameters
    ----------
    name : str
        Name of the suite.
    experiment : {"sizes", "classes", "timing", "recovery"}
        The paper's second experiment, its first, its timing experiment, or the recovery of known true features.
    datasets : tuple of str
        Names, or paths of files, perhaps with their columns: ``genes.csv?target=diagnosis&drop=sample&groups=donor``.
    methods : tuple of BenchmarkMethod
        The methods.
    n_splits : int
        Number of splits; a data set with given folds has at most as many as folds.
    protocol : Protocol, TimingJob or RecoveryJob
        How splits are made and features are evaluated.
    folder : str, optional
        Folder of the suite's file, where modules of selectors are looked for too.
    voc : VocOptions, optional
        Images and network of the data sets voc2007 and voc2012; by default those that environment variables name.
    max_splits : mapping, optional
        Data sets with fewer splits than the others, by name, and their numbers of splits. Large ones need fewer, as
        means over many test rows vary little.

    Examples
    --------
    >>> from ilfs.benchmark import SUITES
    >>> SUITES["paper"].n_splits, len(SUITES["paper"].methods)
    (20, 16)
    """

    name: str
    experiment: str
    datasets: tuple[str, ...]
    methods: tuple[BenchmarkMethod, ...] = PAPER_METHODS
    n_splits: int = 20
    protocol: Any = field(default_factory=Protocol)
    folder: str | None = None
    voc: VocOptions = field(default_factory=VocOptions)
    max_splits: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.experiment not in EXPERIMENTS:
            known = " or ".join(map(repr, EXPERIMENTS))
            raise ValueError(f"experiment of suite {self.name} must be {known}, got {self.experiment!r}")
        check_integer("splits", self.n_splits, 1)
        if self.n_splits > MAX_SPLITS:
            raise ValueError(f"splits must be at most {MAX_SPLITS}, got {self.n_splits}")
        if self.experiment == "timing":
            self._check_timing()
        if self.experiment == "recovery":
            self._check_recovery()
        for what, names in (("data set", self.datasets), ("method", [one.name for one in self.methods])):
            if not names:
                raise ValueError(f"suite {self.name} must have a {what}, got none")
            if repeated := [name for i, name in enumerate(names) if name in names[:i]]:
                raise ValueError(f"suite {self.name} must have every {what} once, got {repeated[0]!r} again")

    def _check_timing(self) -> None:
        if others := [name for name in self.datasets if name != TIMING_DATASET]:
            raise ValueError(f"suite {self.name} makes its data set {TIMING_DATASET} itself, got {others[0]!r}")
        if any(one.is_random for one in self.methods):
            raise ValueError(f"suite {self.name} must have methods that can be timed, got a random order")

    def _check_recovery(self) -> None:
        if unknown := [name for name in self.datasets if name not in (*KNOWN_ANSWERS, *TRUE_COLUMNS)]:
            raise ValueError(
                f"suite {self.name} must have data sets whose true features are known "
                f"({', '.join((*KNOWN_ANSWERS, *TRUE_COLUMNS))}), got {unknown[0]!r}"
            )

    def only(
        self,
        datasets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        classifiers: Sequence[str] | None = None,
    ) -> "Suite":
        """Copy with the named data sets, methods and classifiers, which need not be in this suite.

        Parameters
        ----------
        datasets, methods, classifiers : sequence of str, optional
            Names; all by default.

        Returns
        -------
        Suite
            An unknown method or classifier is an error.
        """
        known = {one.name: one for one in self.methods}
        names = methods or list(known)
        chosen = tuple(known.get(name) or BenchmarkMethod(name, folder=self.folder) for name in names)
        for method in chosen:
            method.describe()  # raises now, before anything runs, if a class cannot be imported
        suite = replace(self, datasets=tuple(datasets or self.datasets), methods=chosen)
        return suite.with_classifiers(classifiers) if classifiers else suite

    def with_classifiers(self, names: Sequence[str]) -> "Suite":
        """Copy with the named classifiers, which need not be in this suite.

        Parameters
        ----------
        names : sequence of str
            Names of the classifiers.

        Returns
        -------
        Suite
            Its jobs do not use stored results of other classifiers.
        """
        if self.experiment in WITHOUT_CLASSIFIERS:
            why = WITHOUT_CLASSIFIERS[self.experiment]
            raise ValueError(f"suite {self.name} has no classifiers, as it only {why}, got {names[0]!r}")
        known = {one.name: one for one in self.protocol.classifiers}
        chosen = tuple(known.get(name, name) for name in names)
        return replace(self, protocol=replace(self.protocol, classifiers=chosen))

    def with_threads(self, n_threads: int) -> "Suite":
        """Copy with a number of threads for the timing experiment; any other suite as it is.

        Parameters
        ----------
        n_threads : int
            Number of threads that a method may use.

        Returns
        -------
        Suite
            Its jobs do not use stored results with another number of threads.
        """
        if self.experiment != "timing":
            return self
        return replace(self, protocol=replace(self.protocol, n_threads=n_threads))

    def _load(self, name: str) -> Dataset:
        """Load a data set, and warn if its file is not the registered one."""
        table = load(name, voc=self.voc)
        check_registered(table)
        return table

    def without_missing(self) -> tuple["Suite", dict[str, str]]:
        """Copy with the data sets that can be loaded, and the reason for each of the others.

        Data sets that are not on disk are looked for where `ilfs.datasets.load` may download them from.

        Returns
        -------
        Suite
            The suite with the data sets that can be loaded.
        dict
            Why a data set cannot be loaded and what to do, by its name.
        """
        reasons = dict[str, str]()
        for name in self.datasets:
            if name in REGISTRY and whereabouts(REGISTRY[name]) not in ("yes", "made"):
                try:
                    load(name, voc=self.voc)
                except FileNotFoundError as error:
                    reasons[name] = str(error)
        there = tuple(name for name in self.datasets if name not in reasons)
        if not there:
            public = [name for name in self.datasets if name in REGISTRY and REGISTRY[name].sources]
            advice = f"run ilfs datasets fetch {' '.join(public)}, or see" if public else "see"
            raise ValueError(f"none of the data sets of suite {self.name} is here: {advice} docs/datasets.md")
        return replace(self, datasets=there), reasons

    def dataset_facts(self) -> dict[str, DatasetFacts]:
        """Load every data set once and collect the facts that jobs and tables need.

        Returns
        -------
        dict
            Facts by name of the data set; empty for the timing experiment, which has no data set to load.
        """
        if self.experiment == "timing":
            return {}
        return {
            name: DatasetFacts.from_table(self._load(name), self.splits_of(name), self.protocol.test_fraction)
            for name in self.datasets
        }

    def splits_of(self, dataset: str) -> int:
        """Return the number of splits of a data set, before its folds are known.

        Parameters
        ----------
        dataset : str
            Name of the data set.

        Returns
        -------
        int
            That of the suite, or the limit in ``max_splits``.
        """
        return min(self.n_splits, self.max_splits.get(dataset, self.n_splits))

    def jobs(self, facts: Mapping[str, DatasetFacts] | None = None) -> list[Job]:
        """List all jobs, split by split: a run that is stopped early has the first splits of all methods.

        Parameters
        ----------
        facts : mapping, optional
            What `dataset_facts` returns, if it is known already: else the data sets are loaded.

        Returns
        -------
        list of Job
            One for each data set, method and split.
        """
        evaluators = self.protocol.evaluators()
        provenance = {one.name: one.provenance(evaluators) for one in self.methods}
        facts = self.dataset_facts() if facts is None else facts
        known = {name: facts.get(name, DatasetFacts(n_splits=self.splits_of(name))) for name in self.datasets}
        return [
            Job(
                self.experiment,
                name,
                known[name].checksum,
                method,
                split,
                self.protocol,
                provenance[method.name] | {"content": known[name].content},
                self.voc,
            )
            for split in range(self.n_splits)
            for name in self.datasets
            for method in self.methods
            if split < known[name].n_splits
        ]
