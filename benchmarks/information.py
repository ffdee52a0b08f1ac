"""Compare the estimates of mutual information: agreement of two binnings, and values missing at different rates.

    ILFS_DATA=... python benchmarks/information.py

The tables of docs/methods/mutual_information.md. The first part ranks the features of 41 training rows twice, with six
bins of seven values of which the last, or the first, has one value less. The second part removes values of each feature
at a rate of its own, drawn from 0 to 90 %, ranks by the rest, and evaluates the first 50 features on complete rows.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ilfs import MutualInformation

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers import load

ESTIMATES = {
    "plug-in": {},
    "Miller-Madow": {"correction": "miller-madow"},
    "posterior mean": {"estimate": "posterior_mean"},
    "lower bound": {"estimate": "lower_bound"},
    "lower bound, Jeffreys": {"estimate": "lower_bound", "prior": "jeffreys"},
    "lower bound, Perks": {"estimate": "lower_bound", "prior": "perks"},
}
N_SPLITS, N_ROWS, N_BEST = 10, 41, 50


def table(name, n_columns=None):
    """Return a data set as a dense table, with columns spread over all of them."""
    X, y = load(name)
    X = np.asarray(X, dtype=float)
    return (X if n_columns is None else X[:, np.linspace(0, X.shape[1] - 1, n_columns).astype(int)]), y


def splits(X, y, train_size):
    return StratifiedShuffleSplit(N_SPLITS, train_size=train_size, random_state=0).split(X, y)


def agreement(name):
    """Return the rank correlation of two fair binnings and the common fraction of their best features."""
    X, y = table(name)
    found = {estimate: [] for estimate in ESTIMATES}
    for train, _ in splits(X, y, N_ROWS):
        ordered = np.sort(X[train], axis=0).T
        distinct = np.all(np.diff(ordered, axis=1) > 0, axis=1)
        Z, ordered = X[np.ix_(train, distinct)], ordered[distinct]
        for estimate, parameters in ESTIMATES.items():
            one, two = (
                MutualInformation(edges=ordered[:, first::7][:, :5], **parameters).fit(Z, y[train]) for first in (7, 6)
            )
            common = np.intersect1d(one.order_[:N_BEST], two.order_[:N_BEST]).size / N_BEST
            found[estimate].append((spearmanr(one.scores_, two.scores_).statistic, common))
    return {estimate: np.mean(values, axis=0) for estimate, values in found.items()}


def with_holes(name):
    """Return the fraction of the best features of the complete rows that are found, and the average precision."""
    X, y = table(name, n_columns=2000)
    found = {estimate: [] for estimate in ESTIMATES}
    for split, (train, test) in enumerate(splits(X, y, 2 / 3)):
        rng = np.random.default_rng(split)
        holed = np.where(rng.random(X.shape) < rng.uniform(0, 0.9, X.shape[1]), np.nan, X)
        best = MutualInformation().fit(X[train], y[train]).order_[:N_BEST]
        for estimate, parameters in ESTIMATES.items():
            chosen = MutualInformation(**parameters).fit(holed[train], y[train]).order_[:N_BEST]
            precision = average_precision(X[:, chosen], y, train, test)
            found[estimate].append((np.intersect1d(best, chosen).size / N_BEST, precision))
    return {estimate: np.mean(values, axis=0) for estimate, values in found.items()}


def average_precision(X, y, train, test):
    """Return the mean average precision of the classes, of a linear SVM."""
    scaler = StandardScaler().fit(X[train])
    svm = LinearSVC(C=0.01, class_weight="balanced").fit(scaler.transform(X[train]), y[train])
    values = svm.decision_function(scaler.transform(X[test]))
    values = np.column_stack([-values, values]) if values.ndim == 1 else values
    return np.mean([average_precision_score(y[test] == k, values[:, j]) for j, k in enumerate(svm.classes_)])


def show(title, names, measure):
    print(f"\n{title}\n| | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    results = [measure(name) for name in names]
    for estimate in ESTIMATES:
        print(f"| {estimate} | {' | '.join('{:.3f} / {:.3f}'.format(*one[estimate]) for one in results)} |", flush=True)


if __name__ == "__main__":
    show("rank correlation of two binnings / common best features", ("colon", "leukemia", "glioma"), agreement)
    show(
        "best features found / average precision, values missing",
        ("colon", "leukemia", "prostate", "srbct", "tox_171"),
        with_holes,
    )
