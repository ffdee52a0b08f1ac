"""The experiments of the paper: what a cell is, and the function that computes it.

A cell is one method on one split of one data set. It is described by plain data, from which its result follows: the
same description gives the same result in any process, in any order, on any machine with the same versions.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.evaluation.classifiers import LINEAR_SVM, Classifier, Tuning, as_classifier, predict
from ilfs.benchmark.evaluation.memory import Peak
from ilfs.benchmark.evaluation.metrics import metrics_of, penalty_of
from ilfs.benchmark.evaluation.precision import average_precision, voc_average_precision
from ilfs.benchmark.evaluation.splits import split_rows
from ilfs.benchmark.methods.method import Contender, mask_of, order_of, prepared, reads_labels
from ilfs.datasets import Table, load
from ilfs.parameters import check_between, check_integer, check_positive

MAX_SIZE = 2**31 - 1  # features; far beyond any table, and within what a store can hold
TABLES_KEPT = 3  # in memory, of a process
OWN_SIZE = 0  # stands for the number of features that a selector without an order chooses itself
NO_CLASSIFIER = ""  # of measurements without one


@dataclass(frozen=True)
class Protocol:
    """How a split is made and a subset of features is evaluated.

    Parameters
    ----------
    sizes : tuple of int
        How many of the first features are evaluated.
    test_share : float
        Of the samples of each class.
    Cs : tuple of float
        The grid of C of the linear SVM, ascending.
    n_folds : int
        Of the cross-validation that chooses C, on training rows.
    seed : int
        Of splits, folds and classifiers.
    classifiers : tuple of Classifier or str
        Which classifiers evaluate the subsets. A method orders the features once for all of them.
    """

    sizes: tuple[int, ...] = (10, 50, 100, 150, 200)
    test_share: float = 1 / 3
    Cs: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0)
    n_folds: int = 5
    seed: int = 0
    classifiers: tuple[Classifier, ...] = field(
        default=(Classifier(LINEAR_SVM),), metadata={"before": (Classifier(LINEAR_SVM),)}
    )

    def __post_init__(self) -> None:
        for name, what in (("sizes", "integers >= 1"), ("Cs", "numbers > 0")):
            values = getattr(self, name)
            if not isinstance(values, tuple | list) or not values:
                raise ValueError(
                    f"{name} must be {what}, got {values!r}" if values else f"{name} must be {what}, got none"
                )
        for size in self.sizes:
            check_integer("sizes", size, 1)
            if size > MAX_SIZE:
                raise ValueError(f"sizes must be at most {MAX_SIZE}, got {size}")
        if len(set(self.sizes)) < len(self.sizes):
            raise ValueError(f"sizes must have every number once, got {list(self.sizes)}")
        for C in self.Cs:
            check_positive("Cs", C)
        if list(self.Cs) != sorted(set(self.Cs)):
            raise ValueError(f"Cs must be ascending, got {list(self.Cs)}")
        check_between("test_share", self.test_share, 0, 1)
        check_integer("n_folds", self.n_folds, 2)
        check_integer("seed", self.seed, 0)
        self._check_classifiers()

    def _check_classifiers(self) -> None:
        if not isinstance(self.classifiers, tuple | list) or not self.classifiers:
            raise ValueError(f"classifiers must be a list of at least one, got {self.classifiers!r}")
        object.__setattr__(self, "classifiers", tuple(map(as_classifier, self.classifiers)))
        if repeated := [name for i, name in enumerate(self.classifier_names) if name in self.classifier_names[:i]]:
            raise ValueError(f"classifiers must have different names, got {repeated[0]!r} again")
        for one in self.classifiers:
            one.describe()  # refuse what is not there before anything is run

    @property
    def classifier_names(self) -> tuple[str, ...]:
        """The names of the classifiers."""
        return tuple(one.name for one in self.classifiers)

    def describe(self) -> dict[str, Any]:
        """All of it as plain data."""
        plain = described_fields(self)
        if "classifiers" in plain:
            plain["classifiers"] = [one.describe() for one in self.classifiers]
        return plain

    def evaluators(self) -> list[Any]:
        """Estimators that evaluate, besides the code of `compute`: their code is part of the key of a job."""
        return [one.make(seed=0) for one in self.classifiers if not one.is_linear_svm]


@dataclass(frozen=True)
class TimingJob:
    """The paper's timing job: uniform numbers in [0, 1000], two classes by chance.

    Parameters
    ----------
    rows, columns : int
        How many.
    n_threads : int
        That a method may use.
    seed : int
        Of the numbers.
    """

    rows: int = 10_000
    columns: int = 5_000
    n_threads: int = 1
    seed: int = 0

    def evaluators(self) -> list[Any]:
        """None: nothing is evaluated."""
        return []

    def describe(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    """One method on one split of one data set.

    Parameters
    ----------
    experiment : str
        ``"sizes"``: the first so many features, all classes at once (the paper's second experiment).
        ``"classes"``: half of the features, each class against the rest (its first).
        ``"timing"``: seconds and memory of one fit.
    dataset, checksum : str
        The data; ``"uniform"`` for timing.
    contender : Contender
        The method.
    split : int
        Which one.
    protocol : Protocol or TimingJob
        The rest.
    provenance : mapping
        What else the result depends on: hashes of the code and of the content of the data, versions of packages. See
        `ilfs.benchmark.provenance.describe`; `Suite.cells` fills it in.
    """

    experiment: str
    dataset: str
    checksum: str
    contender: Contender
    split: int
    protocol: Any = field(default_factory=Protocol)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Everything that the result follows from, but for code and versions."""
        protocol = self.protocol.describe()
        if self.experiment == "classes":
            del protocol["sizes"]
        return {
            "experiment": self.experiment,
            "dataset": self.dataset,
            "checksum": self.checksum,
            "method": self.contender.name,
            **self.contender.describe(**self.defaults()),
            "split": self.split,
            "protocol": protocol,
        }

    def defaults(self) -> dict[str, Any]:
        """A method whose scores depend on how many features it is asked for is asked for the most evaluated."""
        if self.experiment == "timing":
            return {}
        return {"n_features_to_select": 0.5 if self.experiment == "classes" else max(self.protocol.sizes)}

    @property
    def identity(self) -> str:
        """The same for the same description, with whatever code and versions it is computed."""
        return digest(self.describe())

    @property
    def key(self) -> str:
        """The same for the same description, code, content of the data and versions."""
        return digest(self.describe() | {"provenance": dict(self.provenance)})


class Measurement(NamedTuple):
    """A metric of the first ``size`` features by one classifier; of all classes if ``of_class`` is -1."""

    size: int
    metric: str
    of_class: int
    value: float
    classifier: str = LINEAR_SVM


class Ranking(NamedTuple):
    """Columns, best first; or, if the method chooses their number itself, the columns that it keeps."""

    order: Integers
    is_subset: bool = False


@dataclass
class Outcome:
    """What came of a cell.

    Parameters
    ----------
    figures : list of Measurement
        All metrics, by classifier and size; the size of a method that chooses it itself is `OWN_SIZE`.
    order : list of int
        The first columns of the order, as many as were evaluated.
    seconds : float
        For the order.
    seconds_judged : float
        For all classifiers.
    """

    figures: list[Measurement]
    order: list[int]
    seconds: float
    seconds_judged: float


def digest(description: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, however its keys are ordered."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def described_fields(options: Any) -> dict[str, Any]:
    """Fields of a dataclass by name, for the description of a job.

    A field that was added later says in its metadata which value stands for the time before it, as
    ``field(default="svm", metadata={"before": "svm"})`` does. With that value it is left out, so that the description
    and the identity of a job stay what they were. The value must never change, even if the default does.
    """
    values = {one.name: getattr(options, one.name) for one in fields(options)}
    before = {one.name: one.metadata["before"] for one in fields(options) if "before" in one.metadata}
    return {name: value for name, value in values.items() if name not in before or before[name] != value}


def seed_of(*parts: Any) -> int:
    """A seed that depends on these things only."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:4], "big") % 2**31


def compute(cell: Cell) -> Outcome:
    """The result of a cell."""
    return EXPERIMENTS[cell.experiment](cell)


def table_of(cell: Cell) -> Table:
    """The data of a cell, if they are what they were when it was described."""
    table = _table(cell.dataset)
    if table.checksum != cell.checksum:
        raise ValueError(
            f"data set {cell.dataset} is not the one that was asked for: its checksum is {table.checksum[:12]}, "
            f"not {cell.checksum[:12]}"
        )
    return table


@lru_cache(TABLES_KEPT)
def _table(name: str) -> Table:
    return load(name)


def rows_of(cell: Cell, table: Table) -> tuple[Integers, Integers]:
    """Training and test rows of a split: the same for all methods."""
    seed = seed_of(cell.protocol.seed, cell.dataset, "split", cell.split)
    return split_rows(table, cell.split, cell.protocol.test_share, seed)


def rank(cell: Cell, X: Any, y: Integers) -> Ranking:
    """Rank the columns by these rows."""
    if cell.contender.is_random:
        seed = seed_of(cell.protocol.seed, cell.dataset, "random", cell.split)
        return Ranking(np.random.default_rng(seed).permutation(X.shape[1]))
    defaults = cell.defaults()
    if cell.experiment == "sizes":
        defaults["n_features_to_select"] = min(defaults["n_features_to_select"], X.shape[1])
    selector = cell.contender.make(n_jobs=1, **defaults)
    selector.fit(prepared(selector, X), y)
    mask = mask_of(selector)
    if mask is None:
        return Ranking(checked_order(order_of(selector), X.shape[1], cell.contender.name))
    if not mask.size:
        raise ValueError(f"method {cell.contender.name} must keep a feature of data set {cell.dataset}, got none")
    return Ranking(mask, is_subset=True)


def checked_order(order: Integers, n_features: int, method: str) -> Integers:
    """The order, if it is one: some or all columns, each once."""
    if order.ndim != 1 or order.dtype.kind not in "iu":
        raise ValueError(f"method {method} must order columns by a list of integers, got {order.dtype} {order.shape}")
    if order.size and not 0 <= order.min() <= order.max() < n_features:
        wrong = next(column for column in order.tolist() if not 0 <= column < n_features)
        raise ValueError(f"method {method} must order columns 0 to {n_features - 1}, got {wrong}")
    if np.unique(order).size < order.size:
        raise ValueError(f"method {method} must order every column once, got one twice")
    return order


def first_of(ranking: Ranking, n_wanted: int, n_features: int, method: str) -> Integers:
    """The first columns of an order, refused if it ends before; all that a method keeps which has no order."""
    n_least, n_ordered = min(n_wanted, n_features), ranking.order.size
    if not ranking.is_subset and n_ordered < n_least:
        raise ValueError(f"method {method} orders {n_ordered} features, fewer than the {n_least} evaluated")
    return ranking.order if ranking.is_subset else ranking.order[:n_wanted]


def sizes_experiment(cell: Cell) -> Outcome:
    """The first features of one order, as many as each size says, and every classifier for all classes."""
    table = table_of(cell)
    if table.is_multilabel:
        raise ValueError(f"data set {table.name} has several labels a sample: it is for the experiment 'classes'")
    train, test = rows_of(cell, table)
    ranking, seconds = timed(rank, cell, table.X[train], table.y[train])
    order = first_of(ranking, max(cell.protocol.sizes), table.n_features, cell.contender.name)
    counts = {OWN_SIZE: order.size} if ranking.is_subset else {size: size for size in cell.protocol.sizes}
    measured, seconds_judged = timed(measure_sizes, cell, table, train, test, order, counts)
    return Outcome(measured, order.tolist(), seconds, seconds_judged)


def measure_sizes(
    cell: Cell, table: Table, train: Integers, test: Integers, order: Integers, counts: Mapping[int, int]
) -> list[Measurement]:
    """All metrics of all classifiers, for each size with so many of the first columns."""
    X, T = filled(columns(table.X, train, order), columns(table.X, test, order))
    tuning = tuning_of(cell, table, train)
    measured = []
    for classifier in cell.protocol.classifiers:
        for size, count in counts.items():
            predicted = predict(classifier, X[:, :count], table.y[train], T[:, :count], table.n_classes, tuning)
            extra = penalty_of(predicted.C, cell.protocol.Cs)
            extra |= {"n_features": float(count)} if size == OWN_SIZE else {}
            found = metrics_of(table.y, test, predicted) + [(metric, -1, value) for metric, value in extra.items()]
            measured += [Measurement(size, *one, classifier.name) for one in found]
    return measured


def tuning_of(cell: Cell, table: Table, train: Integers, *of_class: int) -> Tuning:
    """Grid, folds and seed of the classifiers of a split: the same for all methods."""
    seed = seed_of(cell.protocol.seed, cell.dataset, "folds", cell.split, *of_class)
    groups = None if table.groups is None else table.groups[train]
    return Tuning(cell.protocol.Cs, cell.protocol.n_folds, seed, groups)


def classes_experiment(cell: Cell) -> Outcome:
    """Half of the features for each class against the rest, ordered for that class if the method reads labels."""
    table = table_of(cell)
    train, test = rows_of(cell, table)
    relevant = table.y if table.is_multilabel else (table.y[:, None] == np.arange(table.n_classes)).astype(int)
    n_kept = max(1, table.n_features // 2)
    shared = None
    if cell.contender.is_random or not reads_labels(cell.contender.make()):
        shared = timed(rank, cell, table.X[train], relevant[train, 0])
    figures, first, seconds, seconds_judged = [], [], 0.0, 0.0
    for k in range(table.n_classes):
        here, there = train[relevant[train, k] >= 0], test[relevant[test, k] >= 0]
        if shared is None:
            ranking, taken = timed(rank, cell, table.X[here], relevant[here, k])
        else:
            ranking, taken = shared if k == 0 else (shared[0], 0.0)
        kept = first_of(ranking, n_kept, table.n_features, cell.contender.name)
        measured, judged = timed(measure_class, cell, table, relevant[:, k], k, here, there, kept)
        figures += [Measurement(OWN_SIZE if ranking.is_subset else n_kept, *one) for one in measured]
        first, seconds, seconds_judged = kept.tolist(), seconds + taken, seconds_judged + judged
    return Outcome([*figures, *means_of_classes(figures)], first, seconds, seconds_judged)


def measure_class(
    cell: Cell, table: Table, relevant: Integers, k: int, train: Integers, test: Integers, kept: Integers
) -> list[tuple[str, int, float, str]]:
    """Metrics of one class against the rest by every classifier: (metric, class, value, classifier)."""
    X, T = filled(columns(table.X, train, kept), columns(table.X, test, kept))
    tuning = tuning_of(cell, table, train, k)
    true, measured = relevant[test] == 1, []
    for classifier in cell.protocol.classifiers:
        predicted = predict(classifier, X, relevant[train], T, 2, tuning)
        decision = predicted.decision[:, 1]
        values = {
            "ap": average_precision(true, decision),
            "ap_2007": voc_average_precision(true, decision, definition="2007"),
            "ap_2012": voc_average_precision(true, decision, definition="2012"),
        } | penalty_of(predicted.C, cell.protocol.Cs)
        measured += [(metric, k, value, classifier.name) for metric, value in values.items()]
    return measured


def means_of_classes(measured: list[Measurement]) -> list[Measurement]:
    """Mean over the classes of each average precision, by classifier."""
    values: dict[tuple[int, str, str], list[float]] = {}
    for one in measured:
        if one.metric.startswith("ap"):
            values.setdefault((one.size, one.metric, one.classifier), []).append(one.value)
    return [
        Measurement(size, f"{metric}_macro", -1, float(np.mean(of_classes)), classifier)
        for (size, metric, classifier), of_classes in values.items()
    ]


def timing_experiment(cell: Cell) -> Outcome:
    """Seconds and memory of one fit, its kernels compiled before."""
    job: TimingJob = cell.protocol
    X, y = uniform_table(job.rows, job.columns, job.seed)
    selector = cell.contender.make(n_jobs=job.n_threads)
    small = prepared(selector, X[:60, :20].copy())  # in the layout of the whole, which kernels are compiled for
    clone(selector).fit(small, np.arange(len(small)) % 2)
    X = prepared(selector, X)
    with Peak() as peak:
        _, seconds = timed(selector.fit, X, y)
        megabytes = peak.megabytes
    figures = [Measurement(job.columns, "seconds", -1, seconds, NO_CLASSIFIER)]
    if megabytes is not None:
        figures.append(Measurement(job.columns, "peak_megabytes", -1, megabytes, NO_CLASSIFIER))
    return Outcome(figures, [], seconds, 0.0)


def uniform_table(n_rows: int, n_columns: int, seed: int) -> tuple[Floats, Integers]:
    """The paper's timing job."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1000, size=(n_rows, n_columns)), rng.integers(0, 2, size=n_rows)


EXPERIMENTS: dict[str, Callable[[Cell], Outcome]] = {
    "sizes": sizes_experiment,
    "classes": classes_experiment,
    "timing": timing_experiment,
}


def columns(X: Any, rows: Integers, order: Integers) -> Floats:
    """Some rows and columns, dense."""
    part = X[rows][:, order]
    return np.ascontiguousarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def filled(X: Floats, T: Floats) -> tuple[Floats, Floats]:
    """Missing cells get the mean of the column over the rows X, 0 if there is none."""
    missing = np.isnan(X)
    if not missing.any() and not np.isnan(T).any():
        return X, T
    present = np.maximum((~missing).sum(axis=0), 1)
    mean = np.where(missing, 0.0, X).sum(axis=0) / present
    return np.where(missing, mean, X), np.where(np.isnan(T), mean, T)


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """What a function returns, and its seconds."""
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start
