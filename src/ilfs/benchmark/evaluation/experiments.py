"""The experiments: functions that compute the outcome of a job."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.evaluation.classifiers import Tuning, predict
from ilfs.benchmark.evaluation.job import NO_CLASSIFIER, OWN_SIZE, Job, Measurement, Outcome, seed_of
from ilfs.benchmark.evaluation.memory import Peak
from ilfs.benchmark.evaluation.metrics import metrics_of, penalty_of
from ilfs.benchmark.evaluation.precision import average_precision, voc_average_precision
from ilfs.benchmark.evaluation.protocol import TimingJob
from ilfs.benchmark.evaluation.recovery import explained_fraction, n_directions, true_fraction
from ilfs.benchmark.evaluation.splits import split_rows
from ilfs.benchmark.methods.fitting import columns_kept, impute, prepared, reads_labels
from ilfs.datasets import Dataset, Truth, VocOptions, load, load_truth
from ilfs.datasets.known_answer import TRUE_COLUMNS
from ilfs.fitted import order_of

MAX_CACHED_TABLES = 3  # data sets that a process keeps in memory


class Ranking(NamedTuple):
    """Columns, best first; or the columns that are kept, if the method chooses a subset without an order."""

    order: Integers
    is_subset: bool = False


def compute(job: Job) -> Outcome:
    """Compute the outcome of a job."""
    return EXPERIMENTS[job.experiment](job)


def table_of(job: Job) -> Dataset:
    """Load the data set of a job; raise an error if it has changed since the job was described."""
    table = _table(job.dataset, job.voc)
    if table.checksum != job.checksum:
        raise ValueError(
            f"data set {job.dataset} has changed since the job was described: its checksum is {table.checksum[:12]}, "
            f"not {job.checksum[:12]}"
        )
    return table


@lru_cache(MAX_CACHED_TABLES)
def _table(name: str, voc: VocOptions) -> Dataset:
    return load(name, voc=voc)


def rows_of(job: Job, table: Dataset) -> tuple[Integers, Integers]:
    """Training and test rows of a split, the same for all methods."""
    seed = seed_of(job.protocol.seed, job.dataset, "split", job.split)
    return split_rows(table, job.split, job.protocol.test_fraction, seed)


def rank(job: Job, X: Any, y: Integers, *of_class: int) -> Ranking:
    """Rank the columns of the training rows X by the method of a job; a random order differs between classes."""
    if job.method.is_random:
        seed = seed_of(job.protocol.seed, job.dataset, "random", job.split, *of_class)
        return Ranking(np.random.default_rng(seed).permutation(X.shape[1]))
    defaults = job.defaults()
    if job.experiment in ("sizes", "recovery"):
        defaults["n_features_to_select"] = min(defaults["n_features_to_select"], X.shape[1])
    selector = job.method.make(n_jobs=1, **defaults)
    selector.fit(prepared(selector, X), y)
    kept = columns_kept(selector)
    if kept is None:
        return Ranking(checked_order(order_of(selector), X.shape[1], job.method.name))
    if not kept.size:
        raise ValueError(f"method {job.method.name} must keep a feature of data set {job.dataset}, got none")
    return Ranking(kept, is_subset=True)


def checked_order(order: Integers, n_features: int, method: str) -> Integers:
    """Return the order; raise an error unless it has some or all columns, each once."""
    if order.ndim != 1 or order.dtype.kind not in "iu":
        raise ValueError(f"method {method} must order columns by a list of integers, got {order.dtype} {order.shape}")
    if order.size and not 0 <= order.min() <= order.max() < n_features:
        wrong = next(column for column in order.tolist() if not 0 <= column < n_features)
        raise ValueError(f"method {method} must order columns 0 to {n_features - 1}, got {wrong}")
    if np.unique(order).size < order.size:
        raise ValueError(f"method {method} must order every column once, got one twice")
    return order


def first_of(ranking: Ranking, n_wanted: int, n_features: int, method: str) -> Integers:
    """Best columns of a ranking; all columns that are kept if it is a subset without an order."""
    n_least, n_ordered = min(n_wanted, n_features), ranking.order.size
    if not ranking.is_subset and n_ordered < n_least:
        raise ValueError(f"method {method} orders {n_ordered} features, fewer than the {n_least} evaluated")
    return ranking.order if ranking.is_subset else ranking.order[:n_wanted]


def sizes_experiment(job: Job) -> Outcome:
    """Rank the features once, and evaluate the best ones at every size with every classifier, all classes at once."""
    table = table_of(job)
    if table.is_multilabel:
        raise ValueError(f"data set {table.name} has several labels per sample: use the experiment 'classes'")
    train, test = rows_of(job, table)
    ranking, seconds = timed(rank, job, table.X[train], table.y[train])
    order = first_of(ranking, max(job.protocol.sizes), table.n_features, job.method.name)
    counts = {OWN_SIZE: order.size} if ranking.is_subset else {size: size for size in job.protocol.sizes}
    measured, seconds_evaluated = timed(measure_sizes, job, table, train, test, order, counts)
    return Outcome(measured, order.tolist(), seconds, seconds_evaluated)


def measure_sizes(
    job: Job, table: Dataset, train: Integers, test: Integers, order: Integers, counts: Mapping[int, int]
) -> list[Measurement]:
    """Compute all metrics of all classifiers for each size; ``counts`` has the number of columns of each size."""
    X, T = impute(columns(table.X, train, order), columns(table.X, test, order))
    tuning = tuning_of(job, table, train)
    measured = []
    for classifier in job.protocol.classifiers:
        for size, count in counts.items():
            predicted = predict(classifier, X[:, :count], table.y[train], T[:, :count], table.n_classes, tuning)
            extra = penalty_of(predicted.C, job.protocol.Cs)
            extra |= {"n_features": float(count)} if size == OWN_SIZE else {}
            found = metrics_of(table.y, test, predicted) + [(metric, -1, value) for metric, value in extra.items()]
            measured += [Measurement(size, *one, classifier.name) for one in found]
    return measured


def tuning_of(job: Job, table: Dataset, train: Integers, *of_class: int) -> Tuning:
    """Grid, folds and seed of the classifiers of a split, the same for all methods."""
    seed = seed_of(job.protocol.seed, job.dataset, "folds", job.split, *of_class)
    groups = None if table.groups is None else table.groups[train]
    return Tuning(job.protocol.Cs, job.protocol.n_folds, seed, groups)


def classes_experiment(job: Job) -> Outcome:
    """Evaluate fractions of the features for each class against the rest; supervised methods rank for each class."""
    table = table_of(job)
    train, test = rows_of(job, table)
    relevant = table.y if table.is_multilabel else (table.y[:, None] == np.arange(table.n_classes)).astype(int)
    sizes = job.protocol.fraction_sizes(table.n_features)
    shared = None  # a ranking that does not depend on labels serves all classes
    if not job.method.is_random and not reads_labels(job.method.make()):
        shared = timed(rank, job, table.X[train], relevant[train, 0])
    measurements, order, seconds, seconds_evaluated = [], [], 0.0, 0.0
    for k in range(table.n_classes):
        # A label of -1 means difficult, as in VOC: such rows are left out for this class.
        train_rows, test_rows = train[relevant[train, k] >= 0], test[relevant[test, k] >= 0]
        if shared is None:
            ranking, taken = timed(rank, job, table.X[train_rows], relevant[train_rows, k], k)
        else:
            ranking, taken = shared if k == 0 else (shared[0], 0.0)
        kept = first_of(ranking, sizes[-1], table.n_features, job.method.name)
        counts = {OWN_SIZE: kept.size} if ranking.is_subset else {size: size for size in sizes}
        rows = OfClass(k, relevant[:, k], train_rows, test_rows)
        measured, evaluated = timed(measure_class, job, table, rows, kept, counts)
        measurements += measured
        order, seconds, seconds_evaluated = kept.tolist(), seconds + taken, seconds_evaluated + evaluated
    return Outcome([*measurements, *means_of_classes(measurements)], order, seconds, seconds_evaluated)


class OfClass(NamedTuple):
    """Labels of one class against the rest, and the rows that count for it."""

    number: int
    labels: Integers
    train: Integers
    test: Integers


def measure_class(
    job: Job, table: Dataset, rows: OfClass, kept: Integers, counts: Mapping[int, int]
) -> list[Measurement]:
    """Compute the metrics of one class against the rest for each size; ``counts`` has its number of columns."""
    X, T = impute(columns(table.X, rows.train, kept), columns(table.X, rows.test, kept))
    tuning = tuning_of(job, table, rows.train, rows.number)
    true, measured = rows.labels[rows.test] == 1, []
    for classifier in job.protocol.classifiers:
        for size, count in counts.items():
            predicted = predict(classifier, X[:, :count], rows.labels[rows.train], T[:, :count], 2, tuning)
            found = precisions_of(true, predicted.decision[:, 1]) | penalty_of(predicted.C, job.protocol.Cs)
            measured += [
                Measurement(size, metric, rows.number, value, classifier.name) for metric, value in found.items()
            ]
    return measured


def precisions_of(true: Any, decision: Floats) -> dict[str, float]:
    """Average precision by its three definitions."""
    return {
        "ap": average_precision(true, decision),
        "ap_2007": voc_average_precision(true, decision, definition="2007"),
        "ap_2012": voc_average_precision(true, decision, definition="2012"),
    }


def means_of_classes(measured: list[Measurement]) -> list[Measurement]:
    """Mean of each average precision over the classes, by classifier."""
    values: dict[tuple[int, str, str], list[float]] = {}
    for one in measured:
        if one.metric.startswith("ap"):
            values.setdefault((one.size, one.metric, one.classifier), []).append(one.value)
    return [
        Measurement(size, f"{metric}_macro", -1, float(np.mean(of_classes)), classifier)
        for (size, metric, classifier), of_classes in values.items()
    ]


def timing_experiment(job: Job) -> Outcome:
    """Measure seconds and memory of one fit, after its kernels have been compiled."""
    protocol: TimingJob = job.protocol
    X, y = uniform_table(protocol.rows, protocol.columns, protocol.seed)
    selector = job.method.make(n_jobs=protocol.n_threads)
    # A small fit compiles the kernels. A copy has the memory layout of X, for which they are compiled.
    small = prepared(selector, X[:60, :20].copy())
    clone(selector).fit(small, np.arange(len(small)) % 2)
    X = prepared(selector, X)
    with Peak() as peak:
        _, seconds = timed(selector.fit, X, y)
        megabytes = peak.megabytes
    measurements = [Measurement(protocol.columns, "seconds", -1, seconds, NO_CLASSIFIER)]
    if megabytes is not None:
        measurements.append(Measurement(protocol.columns, "peak_megabytes", -1, megabytes, NO_CLASSIFIER))
    return Outcome(measurements, [], seconds, 0.0)


def recovery_experiment(job: Job) -> Outcome:
    """Rank the features once, and count the true ones among the first."""
    truth = truth_of(job)
    X, is_true = truth.table.X, truth.informative
    ranking, seconds = timed(rank, job, X, truth.table.y)
    order = first_of(ranking, job.protocol.n_picks, truth.table.n_features, job.method.name)
    found = {
        "recovery": (int(is_true.sum()), true_fraction(order, is_true)),
        "directions": (n_directions(X[:, is_true]), explained_fraction(X, order, is_true)),
    }
    measured = [Measurement(size, metric, -1, value, NO_CLASSIFIER) for metric, (size, value) in found.items()]
    return Outcome(measured, order.tolist(), seconds, 0.0)


def truth_of(job: Job) -> Truth:
    """Data of a job with known true columns: made with the number of the split as seed, or training rows of a file."""
    table = table_of(job)
    if job.dataset not in TRUE_COLUMNS:
        return load_truth(job.dataset, random_state=job.split)
    train, _ = rows_of(job, table)
    return Truth.from_columns(replace(table, X=table.X[train], y=table.y[train]), TRUE_COLUMNS[job.dataset])


def uniform_table(n_rows: int, n_columns: int, seed: int) -> tuple[Floats, Integers]:
    """Make the data of the paper's timing experiment: uniform numbers, two classes at random."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1000, size=(n_rows, n_columns)), rng.integers(0, 2, size=n_rows)


EXPERIMENTS: dict[str, Callable[[Job], Outcome]] = {
    "sizes": sizes_experiment,
    "classes": classes_experiment,
    "timing": timing_experiment,
    "recovery": recovery_experiment,
}


def columns(X: Any, rows: Integers, order: Integers) -> Floats:
    """Dense copy of some rows and columns."""
    part = X[rows][:, order]
    return np.ascontiguousarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Call a function; return its result and the seconds that it took."""
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start
