"""Evaluate the configurations of ILFS without redundancy on real data: the tables of docs/quality.md.

The protocol is the paper's, on the data sets in ILFS_DATA. There are 20 stratified splits into 2/3 for training and
1/3 for testing, the same for all variants. Features are ranked on the training rows; the best 10, 50, 100, 150 and 200
are standardised on the training rows and given to a linear SVM (C = 0.01). The metric is the average precision of
each class against the rest, averaged over the classes. The baselines of the configurations of ILFS are Fisher's score
and a random order.

Results are appended to a file, one line per split and variant. Jobs whose results are in the file are skipped:

    python benchmarks/quality.py run --store out/quality.jsonl --jobs 2
    python benchmarks/quality.py table --store out/quality.jsonl
    python benchmarks/quality.py suspects
"""

import argparse
import json
import os
import warnings
import zlib
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.stats import rankdata
from sklearn.feature_selection import f_classif
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ilfs import ILFS
from ilfs.benchmark.methods.fitting import impute, prepared

SIZES = (10, 50, 100, 150, 200)
N_SPLITS = 20
C = 0.01
BY_COST = (
    "colon srbct glioma lymphoma leukemia prostate lung dexter pascal_sentence arcene tox_171 polarity dorothea "
    "coil20 madelon gina office_caltech10 usps"
).split()
# Maximum number of steps for learned topics, as in the tables of docs/quality.md. Plain maximum likelihood often has
# not converged after so many steps, and its ranking still changes.
LEARNED_STEPS = 1000
MICROARRAYS = ["colon", "leukemia", "prostate", "lymphoma", "lung"]

CONFIGURATIONS = {
    "random": None,
    "Fisher": None,
    "paper": ILFS.paper(max_iter=LEARNED_STEPS, tol=1e-6),
    "distance, learned": ILFS(evidence="distance", topics="learned", max_iter=LEARNED_STEPS, redundancy=None),
    "distance, anchored": ILFS(evidence="distance", topics="anchored", redundancy=None),
    "distance, shrunk": ILFS(evidence="distance", redundancy=None),
    "posterior, learned": ILFS(topics="learned", max_iter=LEARNED_STEPS, redundancy=None),
    "posterior, anchored": ILFS(topics="anchored", redundancy=None),
    "posterior, shrunk": ILFS(redundancy=None),
    "same, pooled": ILFS(intervals="pooled", redundancy=None),
    "same, no leave-one-out": ILFS(leave_one_out=False, redundancy=None),
    "same, not balanced": ILFS(class_weight=None, redundancy=None),
    "same, 4 tokens": ILFS(n_tokens=4, redundancy=None),
    "same, 12 tokens": ILFS(n_tokens=12, redundancy=None),
    "same, 60 tokens": ILFS(n_tokens=60, redundancy=None),
}


def load(name):
    """Return X and y of a data set in the folder ILFS_DATA."""
    with np.load(Path(os.environ["ILFS_DATA"]) / f"{name}.npz", allow_pickle=False) as file:
        if "X" in file:
            return file["X"], file["y"]
        parts = (file["data"], file["indices"], file["indptr"])
        return sparse.csr_matrix(parts, shape=tuple(file["shape"])), file["y"]


def order_by(variant, X, y, seed):
    """Return the column indices by one variant, best first."""
    if variant == "random":
        return np.random.default_rng(seed).permutation(X.shape[1])
    if variant == "Fisher":
        scores, _ = f_classif(*impute(X), y)
        return np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")
    selector = CONFIGURATIONS[variant]
    return selector.fit(prepared(selector, X), y).order_


def precision_by_class(X, y, train, test):
    """Return the average precision of a linear SVM for each class against the rest."""
    X = X.toarray() if sparse.issparse(X) else X
    X_train, X_test = impute(X[train], X[test])
    model = make_pipeline(StandardScaler(), LinearSVC(C=C, dual="auto", random_state=0))
    decision = model.fit(X_train, y[train]).decision_function(X_test)
    decision = np.column_stack([-decision, decision]) if decision.ndim == 1 else decision
    return [float(average_precision_score(y[test] == k, decision[:, k])) for k in range(decision.shape[1])]


def job(name, split, variant):
    """Return the results of one job, which depend on the arguments and the data only."""
    X, y = load(name)
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0).split(y, y)
    train, test = list(splits)[split]
    seed = zlib.crc32(f"{name} {split}".encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        order = order_by(variant, X[train], y[train], seed)
        scores = [np.mean(precision_by_class(X[:, order[:size]], y, train, test)) for size in SIZES]
    return {"set": name, "split": split, "variant": variant, "ap": scores}


def run(store, variants, names, n_splits, n_jobs):
    """Run the missing jobs, data set by data set."""
    done = {(row["set"], row["split"], row["variant"]) for row in read(store)}
    for name in names:
        todo = [
            (name, split, variant)
            for split in range(n_splits)
            for variant in variants
            if (name, split, variant) not in done
        ]
        for row in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(job)(*task) for task in todo):
            with store.open("a") as file:
                file.write(json.dumps(row) + "\n")
        print(f"{name}: {len(todo)} jobs", flush=True)


def read(store):
    """Return all results so far; an interruption may have truncated the last line, which is skipped."""
    rows = []
    for line in store.read_text().splitlines() if store.exists() else ():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def table(store):
    """Print means over splits and sizes in %: a table of evidence and topics, and one of changed defaults."""
    variants = list(CONFIGURATIONS)
    means, splits = means_by_set(read(store), variants)
    ranks = np.mean([rankdata(-np.round(row, 3)) for row in means.values()], axis=0)
    values = np.array(list(means.values()))
    default = variants.index("posterior, shrunk")
    for columns in ([default, 1, 0, *range(2, default)], [default, *range(default + 1, len(variants))]):
        print("\n| data set (splits) | " + " | ".join(variants[c] for c in columns) + " |")
        print("|---" * (len(columns) + 1) + "|")
        for title, row, digits in (
            *((f"{name} ({splits[name]})", row, 1) for name, row in means.items()),
            ("**mean**", values.mean(axis=0), 1),
            ("**worst set**", values.min(axis=0), 1),
            (f"**mean rank of {len(variants)}**", ranks, 1),
        ):
            print(f"| {title} | " + " | ".join(f"{row[c]:.{digits}f}" for c in columns) + " |")


def means_by_set(rows, variants):
    """Return the mean of each variant on each data set over the splits that all variants have, and their number."""
    means, splits = {}, {}
    for name in BY_COST:
        of_set = {(row["variant"], row["split"]): np.mean(row["ap"]) for row in rows if row["set"] == name}
        shared = [s for s in range(N_SPLITS) if all((v, s) in of_set for v in variants)]
        if shared:
            means[name] = [100 * np.mean([of_set[v, s] for s in shared]) for v in variants]
            splits[name] = len(shared)
    return means, splits


def suspects(names):
    """Print two possible reasons for the paper's higher results: the positive class, and selection before splitting."""
    print("\n| data set | larger class | smaller class | mean | mean, features chosen on all rows before splitting |")
    print("|---|---|---|---|---|")
    for name in names:
        X, y = load(name)
        precisions = []
        for train, test in StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0).split(y, y):
            inside, before = (
                ILFS(redundancy=None).fit(X[train], y[train]).order_,
                ILFS(redundancy=None).fit(X, y).order_,
            )
            for size in SIZES:
                fair = precision_by_class(X[:, inside[:size]], y, train, test)
                precisions.append([*fair, np.mean(precision_by_class(X[:, before[:size]], y, train, test))])
        larger = int(np.bincount(y).argmax())
        one, other, leaked = 100 * np.mean(precisions, axis=0)
        first, second = (other, one) if larger == 1 else (one, other)
        print(f"| {name} | {first:.1f} | {second:.1f} | {(first + second) / 2:.1f} | {leaked:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table", "suspects"])
    parser.add_argument("--store", type=Path, default=Path("out/quality.jsonl"))
    parser.add_argument("--sets", nargs="+", default=BY_COST, metavar="NAME")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    if args.command != "table" and not os.environ.get("ILFS_DATA"):
        parser.error("the environment variable ILFS_DATA must name the folder of the data sets")
    args.store.parent.mkdir(parents=True, exist_ok=True)
    if args.command == "suspects":
        suspects(MICROARRAYS)
        return
    if args.command == "run":
        run(args.store, CONFIGURATIONS, args.sets, args.splits, args.jobs)
    table(args.store)


if __name__ == "__main__":
    main()
