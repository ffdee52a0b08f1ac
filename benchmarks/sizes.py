"""Compare the rules for the number of features: chosen sizes, and the performance of a linear SVM on other rows.

    ILFS_DATA=... python benchmarks/sizes.py rules results.csv [data set ...]
    ILFS_DATA=... python benchmarks/sizes.py main results.csv [data set ...]
    ILFS_DATA=... python benchmarks/sizes.py tokens results.csv [data set ...]
    python benchmarks/sizes.py table results.csv

Each data set is split six times into two thirds for selection and training and one third for testing, stratified. All
rules select on the training rows. The features are the first of ``order_`` of ILFS with default parameters, except for
"fdr", which selects its own features. The classifier is that of `ilfs.selection.SizeCV`: a standardised linear SVM.

Of VOC, half of the 20 classes are binary problems: the class against the rest, with a random sample of the images of
the challenge's own training and test parts. Images in which the class is difficult to see are left out. The average
precision is that of the class.

"rules" also evaluates other readings of the random walk. "main" leaves them out: they keep thousands of features, with
which SVMs of many classes take minutes.

"tokens" compares the default configuration of ILFS with the one that `ilfs.selection.ILFSCV` finds on the training
rows, for given numbers of features.
"""

import csv
import sys
import time
import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.metrics import accuracy_score, average_precision_score
from sklearn.model_selection import StratifiedShuffleSplit

from ilfs import ILFS
from ilfs.cross_validation import default_estimator, good_enough, short_indices
from ilfs.datasets import load
from ilfs.redundancy import above_median
from ilfs.selection import ILFSCV, SizeCV

N_SPLITS, TEST_FRACTION = 6, 1 / 3
FIXED_SIZES = (10, 50, 100, 200)
TOKEN_SIZES = (10, 50, 200)
DATASETS = (
    *("colon", "leukemia", "prostate", "lymphoma", "lung", "glioma", "srbct", "tox_171", "arcene", "madelon"),
    *("dexter", "polarity", "pascal_sentence", "usps", "coil20", "gina", "dorothea", "office_caltech10"),
    *("voc2007", "voc2012"),
)
MAX_ROWS = {"office_caltech10": 1000}  # a random sample, because SVMs of all rows and features take minutes each
LABEL_STEP = 2  # every second class of VOC
LABEL_ROWS = (1000, 2000)  # images of VOC for training and for testing
DIFFICULT = -1


def problems(data):
    """Yield splits of a data set: their number, the labels, training rows and test rows."""
    y = np.asarray(data.y)
    rng = np.random.default_rng(0)
    if y.ndim == 1:
        rows = np.arange(len(y))
        if data.name in MAX_ROWS:
            rows = np.sort(rng.choice(rows, MAX_ROWS[data.name], replace=False))
        splits = StratifiedShuffleSplit(N_SPLITS, test_size=TEST_FRACTION, random_state=0)
        for number, (train, test) in enumerate(splits.split(rows, y[rows])):
            yield number, y, rows[train], rows[test]
        return
    parts = [np.flatnonzero(~data.test_rows), np.flatnonzero(data.test_rows)]
    samples = [np.sort(rng.choice(rows, size, replace=False)) for rows, size in zip(parts, LABEL_ROWS, strict=True)]
    for label in range(0, y.shape[1], LABEL_STEP):
        yield label, y[:, label], *(rows[y[rows, label] != DIFFICULT] for rows in samples)


def performance(X, y, train, test, columns, judged=None):
    """Return accuracy and macro average precision on the test rows, those of a constant prediction for no columns.

    The average precision is the mean over the classes, or over those that are ``judged``.
    """
    labels = np.unique(y[train])
    judged = labels if judged is None else judged
    if not len(columns):
        most = labels[np.argmax([(y[train] == label).sum() for label in labels])]
        return np.mean(y[test] == most), np.mean([(y[test] == label).mean() for label in judged])
    table = X[:, np.sort(columns)]
    model = default_estimator(table[train], y[train], 0).fit(table[train], y[train])
    values = model.decision_function(table[test])
    values = np.column_stack([-values, values]) if values.ndim == 1 else values
    of_class = zip(labels, values.T, strict=True)
    precision = [average_precision_score(y[test] == label, one) for label, one in of_class if label in judged]
    return accuracy_score(y[test], model.predict(table[test])), np.mean(precision)


def effective(weights):
    """Return the effective number of features of some weights: the inverse of the sum of their squared fractions."""
    return round(weights.sum() ** 2 / (weights @ weights)) if weights.any() else 1


def candidates(relevance, usable):
    """Return sizes by several readings of the random walk."""
    p, above = relevance[usable], above_median(relevance, usable)[usable]
    least, largest = p.min(), p.max()
    return {
        "toolbox": int(np.ceil((largest * p.sum() - p.size * least**2) / (largest**2 - least**2))),
        "visits of p": effective(p),
        "longer than average": int((p > p.mean()).sum()),
        "excess visits": effective(above),
        "absorption": effective(above**2),
    }


def supports(X, y, rules=None):
    """Yield each rule, or some of them, with the columns that it selects and the CPU time of its fit."""
    return (found for found in all_supports(X, y) if rules is None or found[0] in rules)


def all_supports(X, y):
    start = time.process_time()
    selector = ILFS().fit(X, y)
    seconds = time.process_time() - start
    usable = np.isfinite(selector.mean_log_odds_)
    for rule, size in candidates(selector.relevance_, usable).items():
        yield rule, selector.order_[:size], seconds
    for size in FIXED_SIZES:
        yield f"{size}", selector.order_[:size], seconds
    start = time.process_time()
    tested = ILFS(n_features_to_select="fdr").fit(X, y)
    yield "fdr", np.flatnonzero(tested.get_support()), time.process_time() - start
    yield "as many as fdr", tested.order_[: tested.get_support().sum()], time.process_time() - start
    start = time.process_time()
    search = SizeCV(ILFS()).fit(X, y)
    yield "auto", search.order_[: search.n_features_], time.process_time() - start


def tuned_supports(X, y):
    """Yield the default and the tuned configurations, with the columns that they select at each size."""
    for redundancy in ("gain", None):
        start = time.process_time()
        search = ILFSCV(selector=ILFS(redundancy=redundancy), sizes=TOKEN_SIZES).fit(X, y)
        seconds = time.process_time() - start
        orders = {}
        for size in TOKEN_SIZES:
            rows = search.cv_results_["n_features"] == size
            table = {name: values[rows] for name, values in search.cv_results_.items()}
            for rule in ("default", "one_se", "best"):
                parameters = {} if rule == "default" else chosen_parameters(table, rule)
                key = tuple(parameters.values())
                if key not in orders:
                    orders[key] = ILFS(redundancy=redundancy, **parameters).fit(X, y).order_
                yield f"{redundancy} {size} {rule}", orders[key][:size], seconds


def chosen_parameters(table, rule):
    """Return the first configuration whose mean score is good enough, as `ILFSCV` does for one size."""
    row = np.argmax(good_enough(table["mean_test_score"], table["std_error"], rule))
    return {name: table[name][row].item() for name in ("n_tokens", "evidence", "topics")}


def run(supports, path, *names):
    with open(path, "a", newline="") as file:
        out = csv.writer(file)
        for name in names or DATASETS:
            data = load(name)
            X = short_indices(data.X.tocsr()) if sparse.issparse(data.X) else data.X
            judged = [1] if np.ndim(data.y) == 2 else None
            for split, y, train, test in problems(data):
                for rule, columns, seconds in supports(X[train], y[train]):
                    accuracy, precision = performance(X, y, train, test, columns, judged)
                    out.writerow([name, split, rule, len(columns), accuracy, precision, round(seconds, 3)])
                    file.flush()
                print(name, split, flush=True)


def table(path):
    """Print mean size and mean average precision of each rule, one line for each data set."""
    with open(path) as file:
        rows = [(name, rule, int(size), float(ap)) for name, _, rule, size, _, ap, _ in csv.reader(file)]
    rules = list(dict.fromkeys(rule for _, rule, *_ in rows))
    names = list(dict.fromkeys(name for name, *_ in rows))
    means = []
    print("| data set |", " | ".join(rules), "|")
    for name in names:
        of_name = [[(size, ap) for n, r, size, ap in rows if (n, r) == (name, rule)] for rule in rules]
        means.append([100 * np.mean([ap for _, ap in one]) for one in of_name])
        sizes = [np.median([size for size, _ in one]) for one in of_name]
        print(f"| {name} |", " | ".join(f"{n:.0f}: {mean:.1f}" for n, mean in zip(sizes, means[-1], strict=True)), "|")
    print("| mean |", " | ".join(f"{mean:.1f}" for mean in np.mean(means, axis=0)), "|")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main = partial(supports, rules={"absorption", "fdr", "auto", *map(str, FIXED_SIZES)})
    commands = {
        "rules": partial(run, supports),
        "main": partial(run, main),
        "tokens": partial(run, tuned_supports),
        "table": table,
    }
    commands[sys.argv[1]](*sys.argv[2:])
