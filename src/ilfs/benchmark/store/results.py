"""What a store has of a suite, as arrays."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.benchmark.evaluation.classifiers import LINEAR_SVM
from ilfs.benchmark.evaluation.metrics import METRIC_TITLES
from ilfs.benchmark.evaluation.protocol import NO_CLASSIFIER, OWN_SIZE
from ilfs.benchmark.store.store import Row, Store
from ilfs.benchmark.suites.suite import Suite
from ilfs.datasets import load, title_of

ABOUT_ALL = -1  # the class of figures that are about all classes


@dataclass(frozen=True)
class Results:
    """Figures of a suite; NaN where a cell is missing or failed.

    Parameters
    ----------
    suite : Suite
        Whose they are.
    rows : ndarray of object of shape (n_datasets, n_methods, n_splits)
        The rows of the store, None where there is none.
    n_failed, n_missing : int
        Cells that failed, and that have not been computed.
    n_versions : int
        How many different sets of versions the cells were computed with.
    figures : dict
        For each classifier and metric, its values by key, size and class.
    classifier : str
        Whose metrics `values` returns.
    n_other_code : int
        Jobs of which the store has no row of the present code, data and versions, but one of others.
    any_code : bool
        Whether those rows are among the rows; else they are left out and count as missing.
    n_features : dict
        Number of features of each data set.
    """

    suite: Suite
    rows: NDArray[Any]
    n_failed: int
    n_missing: int
    n_versions: int
    figures: dict[str, dict[str, dict[tuple[str, int, int], float]]]
    classifier: str = LINEAR_SVM
    n_other_code: int = 0
    any_code: bool = False
    n_features: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, suite: Suite, store: Store, *, any_code: bool = False) -> "Results":
        """Read them: the rows of the present code, data and versions.

        Parameters
        ----------
        suite : Suite
            Whose results are wanted.
        store : Store
            Where they are; it may be closed afterwards.
        any_code : bool
            Take rows of other code where there are none of the present; of several the last.

        Returns
        -------
        Results
            What there is.
        """
        cells = suite.cells()
        keys = {cell.key for cell in cells}
        by_identity = {row.identity: row for row in store.rows([cell.identity for cell in cells], keys)}
        n_features = {} if suite.experiment == "timing" else {name: load(name).n_features for name in suite.datasets}
        check_orders(by_identity.values(), n_features, store)
        shown = {name: row for name, row in by_identity.items() if any_code or row.key in keys}
        datasets, methods = list(suite.datasets), [one.name for one in suite.contenders]
        rows = np.full((len(datasets), len(methods), suite.n_splits), None, dtype=object)
        for cell in cells:
            place = datasets.index(cell.dataset), methods.index(cell.contender.name), cell.split
            rows[place] = shown.get(cell.identity)
        there = [row for row in rows.ravel() if row is not None]
        failed = sum(not row.is_done for row in there)
        is_timing = suite.experiment == "timing"
        metrics = TIMING_METRICS if is_timing else METRICS
        classifiers = (NO_CLASSIFIER,) if is_timing else suite.protocol.classifier_names
        return cls(
            suite,
            rows,
            failed,
            len(cells) - len(there),
            len({row.versions for row in there}),
            {one: {metric: store.figures(metric, one) for metric in metrics} for one in classifiers},
            LINEAR_SVM if LINEAR_SVM in classifiers else classifiers[0],
            sum(row.key not in keys for row in by_identity.values()),
            any_code,
            n_features,
        )

    @property
    def n_jobs(self) -> int:
        """Number of jobs of the suite; a data set with given folds may have fewer splits than others."""
        return self.n_missing + sum(row is not None for row in self.rows.ravel())

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers that evaluated the subsets."""
        return tuple(self.figures)

    def by_classifier(self, name: str) -> "Results":
        """The same results with the metrics of another classifier.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        Results
            Without reading the store again.
        """
        if name not in self.classifiers:
            known = ", ".join(self.classifiers)
            raise ValueError(f"the classifier must be one of {known}, which suite {self.suite.name} has, got {name!r}")
        return replace(self, classifier=name)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Their names."""
        return self.suite.datasets

    @property
    def methods(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(one.name for one in self.suite.contenders)

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the data sets; they mark those that are rebuilt or substitutes."""
        return tuple(title_of(name, self.datasets) for name in self.datasets)

    @property
    def least_features(self) -> int:
        """Features of the narrowest data set."""
        return min(self.n_features.values())

    @property
    def reasons(self) -> list[str]:
        """Why cells failed."""
        failed = [row for row in self.rows.ravel() if row is not None and not row.is_done]
        return [f"{row.dataset}, {row.method}, split {row.split}: {row.reason}" for row in failed]

    def values(self, metric: str, sizes: Sequence[int] | None = None, which_class: int = ABOUT_ALL) -> Floats:
        """Figures of all cells.

        Parameters
        ----------
        metric : str
            Which figure.
        sizes : sequence of int, optional
            For which numbers of features; all by default.
        which_class : int
            For which class; by default the figure that is about all of them.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods, n_splits, n_sizes)
            NaN where there is none.
        """
        sizes = self.suite.protocol.sizes if sizes is None else sizes
        figures = self.figures[self.classifier][metric]
        values = np.full((*self.rows.shape, len(sizes)), np.nan)
        for place, row in np.ndenumerate(self.rows):
            if row is not None and row.is_done:
                values[place] = [figures.get((row.key, size, which_class), np.nan) for size in sizes]
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
            Which metric.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods, n_splits, n_sizes)
            The value at the own size stands at every size, so that it is the mean over the sizes.
        """
        values, own = self.values(metric), self.values(metric, [OWN_SIZE])
        return np.where(np.isnan(self.own_counts)[..., None], values, own)

    def of_classes(self, row: Row, metric: str) -> dict[int, float]:
        """Average precision of each class of one cell of the experiment ``"classes"``.

        Parameters
        ----------
        row : Row
            The cell.
        metric : {"ap", "ap_2007", "ap_2012"}
            By which definition.

        Returns
        -------
        dict
            From the number of a class.
        """
        found = self.figures[self.classifier][metric]
        return {k: value for (key, _, k), value in found.items() if key == row.key}

    def orders(self, dataset: str, method: str) -> list[list[int]]:
        """First columns of the orders of all splits that are there.

        Parameters
        ----------
        dataset, method : str
            Which.

        Returns
        -------
        list of lists of int
            Columns, best first, as many as were evaluated.
        """
        place = self.datasets.index(dataset), self.methods.index(method)
        return [row.order for row in self.rows[place] if row is not None and row.is_done]


def check_orders(rows: Iterable[Row], n_features: Mapping[str, int], store: Store) -> None:
    """Refuse a row whose order has columns that its data set has not."""
    for row in rows:
        last, n_columns = max(row.order, default=-1), n_features.get(row.dataset, 0)
        if last >= n_columns > 0:
            raise OSError(
                f"the store {store.path} is damaged in the row of {row.dataset}, {row.method}, split {row.split} "
                f"(column {last} of {n_columns}): ilfs bench run --recompute replaces it"
            )


METRICS = ("ap", "ap_2007", "ap_2012", "C", "C_on_edge", "n_features", *METRIC_TITLES)
TIMING_METRICS = ("seconds", "peak_megabytes")
