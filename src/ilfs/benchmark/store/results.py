"""The results of a suite, read from a store, as arrays."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.benchmark.evaluation.classifiers import LINEAR_SVM
from ilfs.benchmark.evaluation.job import NO_CLASSIFIER, OWN_SIZE, Job
from ilfs.benchmark.evaluation.metrics import TIMING_METRICS
from ilfs.benchmark.evaluation.recovery import RECOVERY_METRICS
from ilfs.benchmark.store.store import Store
from ilfs.benchmark.store.stored_job import StoredJob
from ilfs.benchmark.suites.dataset_facts import DatasetFacts
from ilfs.benchmark.suites.suite import Suite
from ilfs.choices import METRIC_TITLES
from ilfs.datasets import title_of

ALL_CLASSES = -1  # number in place of a class, for metrics of all classes together


@dataclass(frozen=True)
class Results:
    """Results of a suite; values are NaN where a job is missing or failed.

    Parameters
    ----------
    suite : Suite
        The suite.
    rows : ndarray of object of shape (n_datasets, n_methods, n_splits)
        Rows of the store (`StoredJob`), None where there is none.
    n_failed, n_missing : int
        Jobs that failed, and that have not been computed.
    n_versions : int
        Number of different sets of package versions that the jobs were computed with.
    metric_values : dict
        Values of each classifier and metric, by key, size and class.
    classifier : str
        Name of the classifier whose metrics `values` returns.
    n_other_code : int
        Jobs whose only rows in the store were computed with other code, data or versions than the present.
    any_code : bool
        Whether those rows are included; else they are left out and count as missing.
    facts : dict
        Sizes and names of each data set.
    """

    suite: Suite
    rows: NDArray[Any]
    n_failed: int
    n_missing: int
    n_versions: int
    metric_values: dict[str, dict[str, dict[tuple[str, int, int], float]]]
    classifier: str = LINEAR_SVM
    n_other_code: int = 0
    any_code: bool = False
    facts: dict[str, DatasetFacts] = field(default_factory=dict)

    @classmethod
    def from_store(cls, suite: Suite, store: Store, *, any_code: bool = False) -> "Results":
        """Read the rows of the present code, data and versions.

        Parameters
        ----------
        suite : Suite
            The suite.
        store : Store
            The store, which may be closed afterwards.
        any_code : bool
            For a job without such a row, use its last row from other code.

        Returns
        -------
        Results
            All results that the store has.
        """
        facts = suite.dataset_facts()
        jobs = suite.jobs(facts)
        keys = {job.key for job in jobs}
        by_identity = {row.identity: row for row in store.rows([job.identity for job in jobs], keys)}
        check_orders(by_identity.values(), facts, store)
        shown = {name: row for name, row in by_identity.items() if any_code or row.key in keys}
        rows = rows_by_job(suite, jobs, shown)
        there = [row for row in rows.ravel() if row is not None]
        metrics = METRICS_WITHOUT_CLASSIFIER.get(suite.experiment, METRICS)
        classifiers = (NO_CLASSIFIER,) if metrics is not METRICS else suite.protocol.classifier_names
        return cls(
            suite=suite,
            rows=rows,
            n_failed=sum(not row.is_done for row in there),
            n_missing=len(jobs) - len(there),
            n_versions=len({row.versions for row in there}),
            metric_values={
                one: {metric: store.metric_values(metric, one) for metric in metrics} for one in classifiers
            },
            classifier=LINEAR_SVM if LINEAR_SVM in classifiers else classifiers[0],
            n_other_code=sum(row.key not in keys for row in by_identity.values()),
            any_code=any_code,
            facts=facts,
        )

    @property
    def n_jobs(self) -> int:
        """Number of jobs of the suite; a data set with given folds may have fewer splits than others."""
        return self.n_missing + sum(row is not None for row in self.rows.ravel())

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers that evaluated the subsets."""
        return tuple(self.metric_values)

    def by_classifier(self, name: str) -> "Results":
        """Copy with the metrics of another classifier.

        Parameters
        ----------
        name : str
            Name of the classifier.

        Returns
        -------
        Results
            The store is not read again.
        """
        if name not in self.classifiers:
            known = ", ".join(self.classifiers)
            raise ValueError(f"the classifier must be one of {known}, which suite {self.suite.name} has, got {name!r}")
        return replace(self, classifier=name)

    def select(self, datasets: Sequence[str] | None = None, methods: Sequence[str] | None = None) -> "Results":
        """Copy with some of the data sets and methods.

        Parameters
        ----------
        datasets, methods : sequence of str, optional
            Names, which must be in the suite; all by default.

        Returns
        -------
        Results
            The store is not read again.
        """
        suite = self.suite.only(datasets, methods)
        places = [self.datasets.index(name) for name in suite.datasets]
        columns = [self.methods.index(one.name) for one in suite.methods]
        rows = self.rows[np.ix_(places, columns)]
        facts = {name: one for name, one in self.facts.items() if name in suite.datasets}
        there = [row for row in rows.ravel() if row is not None]
        return replace(
            self,
            suite=suite,
            rows=rows,
            facts=facts,
            n_failed=sum(not row.is_done for row in there),
            n_missing=len(columns) * sum(one.n_splits for one in facts.values()) - len(there),
            n_versions=len({row.versions for row in there}),
        )

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return self.suite.datasets

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(one.name for one in self.suite.methods)

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the data sets; they mark those that are rebuilt or substitutes."""
        return tuple(title_of(name, self.datasets, voc=self.suite.voc) for name in self.datasets)

    @property
    def least_features(self) -> int:
        """Number of features of the narrowest data set."""
        return min(one.n_features for one in self.facts.values())

    @property
    def reasons(self) -> list[str]:
        """One sentence for each failed job."""
        failed = [row for row in self.rows.ravel() if row is not None and not row.is_done]
        return [f"{row.dataset}, {row.method}, split {row.split}: {row.reason}" for row in failed]

    def values(self, metric: str, sizes: Sequence[int] | None = None, which_class: int = ALL_CLASSES) -> Floats:
        """Values of a metric for all jobs.

        Parameters
        ----------
        metric : str
            Name of the metric.
        sizes : sequence of int, optional
            Numbers of features; all by default.
        which_class : int
            Number of a class; by default the value for all classes together.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods, n_splits, n_sizes)
            NaN where there is none.
        """
        sizes = self.suite.protocol.sizes if sizes is None else sizes
        by_key = self.metric_values[self.classifier][metric]
        values = np.full((*self.rows.shape, len(sizes)), np.nan)
        for place, row in np.ndenumerate(self.rows):
            if row is not None and row.is_done:
                values[place] = [by_key.get((row.key, size, which_class), np.nan) for size in sizes]
        return values

    @property
    def own_counts(self) -> Floats:
        """Number of features kept by methods that choose it themselves, NaN elsewhere: (datasets, methods, splits)."""
        return self.values("n_features", [OWN_SIZE])[..., 0]

    @property
    def methods_of_own_size(self) -> tuple[str, ...]:
        """Methods that choose the number of features themselves, on some data set."""
        counts = self.own_counts
        return tuple(method for m, method in enumerate(self.methods) if not np.isnan(counts[:, m]).all())

    def values_or_own(self, metric: str) -> Floats:
        """Like `values` for all sizes, with methods that choose their own size at that size.

        Parameters
        ----------
        metric : str
            Name of the metric.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods, n_splits, n_sizes)
            The value at the own size is repeated for every size, so that it is also the mean over the sizes.
        """
        values, own = self.values(metric), self.values(metric, [OWN_SIZE])
        return np.where(np.isnan(self.own_counts)[..., None], values, own)

    def class_sizes(self, dataset: str) -> tuple[int, ...]:
        """Numbers of features of a data set that are evaluated in the experiment ``"classes"``, ascending.

        Parameters
        ----------
        dataset : str
            Name of the data set.

        Returns
        -------
        tuple of int
            The fractions of the protocol, as numbers of features.
        """
        sizes: tuple[int, ...] = self.suite.protocol.fraction_sizes(self.facts[dataset].n_features)
        return sizes

    def of_classes(self, row: StoredJob, metric: str, size: int | None = None) -> dict[int, float]:
        """Average precision of each class, for one job of the experiment ``"classes"``.

        Parameters
        ----------
        row : StoredJob
            The job.
        metric : {"ap", "ap_2007", "ap_2012"}
            Name of the definition.
        size : int, optional
            Number of features, one of `class_sizes`; the largest by default.

        Returns
        -------
        dict
            Average precision by the number of the class. That of a method that chooses the number of features itself
            is the same at every size.
        """
        size = self.class_sizes(row.dataset)[-1] if size is None else size
        found = self.metric_values[self.classifier][metric]
        return {k: value for (key, n, k), value in found.items() if key == row.key and n in (size, OWN_SIZE)}

    def orders(self, dataset: str, method: str) -> list[list[int]]:
        """Best columns of every split that has been computed.

        Parameters
        ----------
        dataset, method : str
            Names.

        Returns
        -------
        list of lists of int
            Columns, best first, as many as were evaluated.
        """
        place = self.datasets.index(dataset), self.methods.index(method)
        return [row.order for row in self.rows[place] if row is not None and row.is_done]


def rows_by_job(suite: Suite, jobs: Iterable[Job], by_identity: Mapping[str, StoredJob]) -> NDArray[Any]:
    """Array of rows of shape (n_datasets, n_methods, n_splits), None where there is none."""
    datasets = {name: d for d, name in enumerate(suite.datasets)}
    methods = {one.name: m for m, one in enumerate(suite.methods)}
    rows = np.full((len(datasets), len(methods), suite.n_splits), None, dtype=object)
    for job in jobs:
        rows[datasets[job.dataset], methods[job.method.name], job.split] = by_identity.get(job.identity)
    return rows


def check_orders(rows: Iterable[StoredJob], facts: Mapping[str, DatasetFacts], store: Store) -> None:
    """Raise an error if the order of a row has columns that its data set does not have."""
    for row in rows:
        last, n_columns = max(row.order, default=-1), facts[row.dataset].n_features if row.dataset in facts else 0
        if last >= n_columns > 0:
            raise OSError(
                f"the store {store.path} is damaged in the row of {row.dataset}, {row.method}, split {row.split} "
                f"(column {last} of {n_columns}): ilfs bench run --recompute replaces it"
            )


METRICS_WITHOUT_CLASSIFIER = {"timing": TIMING_METRICS, "recovery": RECOVERY_METRICS}
METRICS = ("ap", "ap_2007", "ap_2012", "C", "C_on_edge", "n_features", *METRIC_TITLES)
