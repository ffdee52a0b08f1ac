"""Compare options of ILFS, or any selectors, under three classifiers on the data sets in ILFS_DATA.

    python benchmarks/options.py run "ILFS()" "ILFS(redundancy='novelty')" --store out/options.jsonl
    python benchmarks/options.py table --store out/options.jsonl --base "ILFS()"

This is the quick evaluation for choosing defaults; the suites of `ilfs bench` are the thorough one. Each set has at
most `MAX_ROWS` rows, 2/3 of them for training. The first 10, 50, 100, 150 and 200 features are standardised on the
training rows and evaluated by three classifiers with fixed parameters: ridge regression of the class indicators
(linear), five nearest neighbours weighted by distance, and ridge regression with a Gaussian kernel. The metric is the
average precision of each class against the rest, averaged over classes and sizes. Results are appended to a file, one
line per set, split and selector; jobs whose results are in the file are skipped. `run --name NAME EXPRESSION` stores
one selector under another name, so that the results of two versions of the code can be in one file.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

import ilfs
from ilfs.benchmark.methods.fitting import impute, prepared
from ilfs.datasets import load

SETS = (
    "colon srbct glioma lymphoma leukemia prostate lung tox_171 arcene pascal_sentence dexter polarity dorothea "
    "madelon gina coil20 office_caltech10 usps"
).split()
SIZES = (10, 50, 100, 150, 200)
MAX_ROWS = 1200
N_NEIGHBOURS = 5
PENALTY = 0.1  # of the kernel ridge regression, relative to the diagonal of the kernel
LINEAR_PENALTY = 10.0  # of the linear one, relative to the mean diagonal of the kernel
FIRST_SEED = 2000  # splits that neither the suites nor benchmarks/subsets.py use


def sample_of(name):
    """Return X and the class codes of a data set, with at most MAX_ROWS rows, the same ones in every call."""
    data = load(name)
    y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    if y.size <= MAX_ROWS:
        return data.X, y
    rows, _ = next(StratifiedShuffleSplit(1, train_size=MAX_ROWS, random_state=FIRST_SEED).split(y, y))
    return data.X[np.sort(rows)], y[np.sort(rows)]


def linear(train, test, targets):
    kernel = train @ train.T
    penalty = LINEAR_PENALTY * kernel.trace() / len(kernel)
    return test @ (train.T @ np.linalg.solve(kernel + penalty * np.eye(len(kernel)), targets))


def nearest_neighbours(train, test, targets):
    distances = cdist(test, train)
    near = np.argpartition(distances, N_NEIGHBOURS - 1, axis=1)[:, :N_NEIGHBOURS]
    weight = 1.0 / (np.take_along_axis(distances, near, axis=1) + 1e-9)
    return np.einsum("tn,tnk->tk", weight / weight.sum(axis=1, keepdims=True), targets[near])


def gaussian_kernel(train, test, targets):
    width = 1.0 / train.shape[1]
    kernel = np.exp(-width * cdist(train, train, "sqeuclidean"))
    weights = np.linalg.solve(kernel + PENALTY * np.eye(len(kernel)), targets)
    return np.exp(-width * cdist(test, train, "sqeuclidean")) @ weights


CLASSIFIERS = {"linear": linear, "k-NN": nearest_neighbours, "RBF": gaussian_kernel}


def standardised(train, test):
    """Standardise by the training rows; constant columns become 0."""
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation == 0] = np.inf
    return (train - mean) / deviation, (test - mean) / deviation


def precision(X, y, train, test):
    """Return the average precision of each classifier, averaged over the classes."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    rows_train, rows_test = standardised(*impute(X[train], X[test]))
    targets = np.where(y[train][:, None] == np.arange(y.max() + 1), 1.0, 0.0)
    targets = (targets - targets.mean(axis=0)) / targets.mean(axis=0)
    result = {}
    for name, classify in CLASSIFIERS.items():
        decision = classify(rows_train, rows_test, targets)
        scores = [average_precision_score(y[test] == k, decision[:, k]) for k in range(decision.shape[1])]
        result[name] = float(np.mean(scores))
    return result


def job(expression, X, y, split):
    """Fit a selector on the training rows of one split, and evaluate its subsets."""
    splits = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=FIRST_SEED + split)
    train, test = next(splits.split(y, y))
    selector = eval(expression, {**vars(ilfs), **{name: getattr(ilfs, name) for name in ilfs.__all__}, "np": np})
    started = time.process_time()
    order = selector.fit(prepared(selector, X[train]), y[train]).order_
    seconds = time.process_time() - started
    by_size = [precision(X[:, order[:size]], y, train, test) for size in SIZES]
    return {name: [one[name] for one in by_size] for name in CLASSIFIERS} | {"seconds": seconds}


def stored(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {(one["set"], one["split"], one["name"]): one for one in map(json.loads, lines)}


def run(options):
    """Run the missing jobs, data set by data set."""
    names = [options.name] if options.name else options.selectors
    done = stored(options.store)
    options.store.parent.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1), warnings.catch_warnings(), options.store.open("a") as file:
        warnings.simplefilter("ignore")
        for data_set in options.sets:
            jobs = [
                (split, name, expression)
                for split in range(options.splits)
                for name, expression in zip(names, options.selectors, strict=True)
                if (data_set, split, name) not in done
            ]
            X, y = sample_of(data_set) if jobs else (None, None)
            for split, name, expression in jobs:
                result = {"set": data_set, "split": split, "name": name} | job(expression, X, y, split)
                file.write(json.dumps(result) + "\n")
                file.flush()


def table(options):
    """Print the mean over sizes and splits of each selector, for each classifier, beside the base."""
    results = stored(options.store)
    names = list(dict.fromkeys(name for _, _, name in results))
    base = options.base or names[0]
    others = [name for name in names if name != base]
    for classifier in CLASSIFIERS:
        print(f"\n{classifier}: average precision of {base} in %, and the differences of the others to it")
        print(" | ".join(["set", base, *others]))
        rows = []
        for data_set in options.sets:
            keys = [{split for one, split, by in results if (one, by) == (data_set, name)} for name in names]
            splits = set.intersection(*keys)
            if not splits:
                continue
            mean = {
                name: 100 * np.mean([results[data_set, split, name][classifier] for split in splits]) for name in names
            }
            rows.append([mean[base], *(mean[name] - mean[base] for name in others)])
            print(f"{data_set} ({len(splits)}) | {rows[-1][0]:.1f} | " + " | ".join(f"{d:+.2f}" for d in rows[-1][1:]))
        if not rows:
            continue
        rows = np.array(rows)
        print("mean | " + f"{rows[:, 0].mean():.2f} | " + " | ".join(f"{d:+.2f}" for d in rows[:, 1:].mean(axis=0)))
        values = np.column_stack([rows[:, 0], rows[:, 1:] + rows[:, :1]])
        print("worst | " + " | ".join(f"{one:.1f}" for one in values.min(axis=0)))
        print("mean rank | " + " | ".join(f"{one:.2f}" for one in rankdata(-values.round(2), axis=1).mean(axis=0)))
        print("wins/losses | | " + " | ".join(f"{(d > 0.05).sum()}/{(d < -0.05).sum()}" for d in rows[:, 1:].T))
    print("\nCPU seconds of all fits")
    for name in names:
        print(f"{name} | {sum(one['seconds'] for key, one in results.items() if key[2] == name):.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("selectors", nargs="*", default=["ILFS()"], help='expressions such as "ILFS(redundancy=None)"')
    parser.add_argument("--name", help="name of the only selector in the results; by default the expression")
    parser.add_argument("--base", help="name of the selector that the others are compared with; by default the first")
    parser.add_argument("--store", type=Path, default=Path("out/options.jsonl"))
    parser.add_argument("--sets", type=lambda text: text.split(","), default=SETS)
    parser.add_argument("--splits", type=int, default=4)
    options = parser.parse_args()
    {"run": run, "table": table}[options.action](options)


if __name__ == "__main__":
    main()
