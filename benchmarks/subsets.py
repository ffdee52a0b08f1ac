"""Evaluate the options of ILFS(redundancy=...) on the data sets in ILFS_DATA: the tables of docs/subsets.md.

    python benchmarks/subsets.py run --store out/subsets.jsonl --jobs 2   # about half an hour
    python benchmarks/subsets.py table --store out/subsets.jsonl          # the tables, from the results so far

The protocol is that of the benchmark: 2/3 of each class for training, the first 10, 50, 100, 150 and 200 features, a
linear SVM with C by cross-validation, average precision, mean of the classes. There are fewer splits than in the
benchmark, and they are different ones, so that the benchmark evaluates the options chosen here on other splits. Sets
with many samples and classes have a fixed C = 0.01, because they would take most of the time. Results are appended to a
file, one line per set, split and variant; jobs whose results are in the file are skipped.
"""

import argparse
import json
import os
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from ilfs import ILFS, FisherScore, Novelty
from ilfs.benchmark import Protocol
from ilfs.benchmark.evaluation.experiments import columns
from ilfs.benchmark.evaluation.linear_svm import classify
from ilfs.benchmark.evaluation.precision import average_precision
from ilfs.benchmark.methods.fitting import impute
from ilfs.datasets import load
from ilfs.execution import fold_of, run_plan
from ilfs.redundancy import above_median, correlations, effective_samples, most_relevant
from ilfs.solvers.paths import novel_path_scores
from ilfs.solvers.picking import gaining_picks
from ilfs.sources import table_source
from ilfs.statistics import Association, Moments, encode_labels

SPLITS = {
    "colon": 10, "srbct": 10, "glioma": 10, "lymphoma": 10, "leukemia": 8, "prostate": 8, "lung": 4, "tox_171": 6,
    "arcene": 6, "pascal_sentence": 6, "dexter": 4, "polarity": 4, "dorothea": 4, "madelon": 2, "gina": 2, "coil20": 2,
    "office_caltech10": 2, "usps": 2,
}  # fmt: skip
MANY_CLASSES = ("srbct", "glioma", "tox_171", "pascal_sentence", "coil20", "office_caltech10", "usps")
ONE_C = ("coil20", "office_caltech10", "usps")
PROTOCOL = Protocol()
FIRST_SEED = 1000


class Training:
    """The training rows of a split, with results that several variants share."""

    def __init__(self, X, y):
        self.X, self.y = X, y
        self.plain = ILFS(redundancy=None).fit(X, y)
        self.usable = np.isfinite(self.plain.mean_log_odds_)

    def candidates(self, relevance, n_candidates=1000):
        """Return the candidates, their correlations with each other, and their association with the classes."""
        found = most_relevant(relevance, self.usable, n_candidates)
        fold = fold_of(table_source(self.X, self.y))
        moments = fold(Moments()).of_columns(found)
        self.balance = fold.classes.balance
        association = Association.from_moments(moments, self.balance, fold.classes.total)
        return found, run_plan(correlations(found, association), fold), association

    def followed(self, picked):
        """Return the picked columns, followed by all others in the order of ILFS without redundancy."""
        rest = self.plain.order_[~np.isin(self.plain.order_, picked)]
        return np.concatenate([picked, rest])


def by_ilfs(training, **parameters):
    return ILFS(**parameters).fit(training.X, training.y).order_


def by_ridge(training, ridge):
    """Pick by gain; `ridge` is a number, or a pair of the minimum and the factor of the chance correlation."""
    found, (rho, covariance), association = training.candidates(training.plain.relevance_)
    if not np.isscalar(ridge):
        n_samples = effective_samples(encode_labels(training.y)[0], training.balance)
        ridge = ridge[0] + ridge[1] * 2 * np.log(training.usable.sum()) / n_samples
    picks, _ = gaining_picks(association.correlation, rho, ridge, covariance)
    return training.followed(found[picks.order])


def by_paths(training):
    """Order by the infinite path sum on the graph with edges p_i p_j (1 - rho_ij^2)."""
    relevance = training.plain.relevance_
    found, (rho, _), _ = training.candidates(relevance)
    p = above_median(relevance, training.usable)[found]
    return training.followed(found[np.argsort(-novel_path_scores(p, rho, 0.9), kind="stable")])


def against_the_rest(training):
    """Fit ILFS for each class against the rest; the relevance is the mean over the classes."""
    indicators = (training.y[:, None] == np.unique(training.y)).astype(int)
    return ILFS(redundancy=None).fit(training.X, indicators)


def in_turn(training):
    """Let the classes take turns: pick by the relevance for one class against the rest, times novelty."""
    classes = np.unique(training.y)
    fitted = against_the_rest(training).per_label_
    relevance = np.array([above_median(one.relevance_, training.usable) for one in fitted.values()])
    found, (rho, _), _ = training.candidates(relevance.max(axis=0))
    relevance, novelty, picked = relevance[:, found], np.ones(found.size), []
    for turn in range(max(PROTOCOL.sizes)):
        value = relevance[turn % classes.size] * novelty
        value[picked] = 0.0
        if value.max() > 0:
            picked.append(int(value.argmax()))
            novelty = np.minimum(novelty, 1 - rho[picked[-1]] ** 2)
    return training.followed(found[picked])


def softmax_relevance(training):
    """Return the mean probability of a sample's own class, by one Gaussian per class without the sample; no tokens."""
    X = training.X.toarray() if hasattr(training.X, "toarray") else np.asarray(training.X, dtype=float)
    codes = np.unique(training.y, return_inverse=True)[1]
    count, missing = np.bincount(codes), np.isnan(X)
    means = np.array([np.nanmean(X[codes == k], axis=0) for k in range(count.size)])
    variance = np.nansum((X - means[codes]) ** 2, axis=0) / np.maximum((~missing).sum(axis=0) - count.size, 1)
    variance[variance == 0] = np.inf
    total = np.zeros(X.shape[1])
    for k, n in enumerate(count):
        own = (X[codes == k] - means[k]) ** 2 * (n / max(n - 1, 1)) ** 2
        others = [np.exp(np.clip((own - (X[codes == k] - mean) ** 2) / (2 * variance), -99, 99)) for mean in means]
        others[k] = np.ones_like(own)
        total += np.nanmean(1 / np.sum(others, axis=0), axis=0)
    return np.where(training.usable, total / count.size, 0.0)


def by_relevance(training, relevance, novel):
    relevance = relevance(training)
    order = np.argsort(-relevance, kind="stable")
    return Novelty(lambda _X, _y: relevance).fit(training.X, training.y).order_ if novel else order


OTHERS = {
    "one against the rest": lambda training: against_the_rest(training).relevance_,
    "softmax, no tokens": softmax_relevance,
}


RIDGES = {"0.01": 0.01, "0.3": 0.3, "1": 1.0, "3": 3.0, "10": 10.0} | {
    f"{least:g} + {chance:g} * 2 log(n) / m": (least, chance)
    for least, chance in ((0.3, 7.5), (1, 3), (1, 7.5), (1, 15))
}
WAYS = {
    "None": partial(by_ilfs, redundancy=None),
    "path sum": by_paths,
    "novelty": partial(by_ilfs, redundancy="novelty"),
    "classes in turn": in_turn,
    "gain": by_ilfs,
    "gain, 500 candidates": partial(by_ilfs, n_candidates=500),
    "gain, 2000 candidates": partial(by_ilfs, n_candidates=2000),
    "gain, candidates by Fisher": lambda t: Novelty(FisherScore(), redundancy="gain").fit(t.X, t.y).order_,
}
TOKENS = {
    "6 tokens": {},
    "12 tokens": {"n_tokens": 12},
    "60 tokens": {"n_tokens": 60},
    "6 pooled": {"intervals": "pooled"},
    "12 pooled": {"intervals": "pooled", "n_tokens": 12},
}
TABLES = {
    "ways": (WAYS, tuple(SPLITS)),
    "ridge": ({f"ridge {name}": partial(by_ridge, ridge=ridge) for name, ridge in RIDGES.items()}, tuple(SPLITS)),
    "tokens": (
        {name: partial(by_ilfs, redundancy=None, **tokens) for name, tokens in TOKENS.items()}
        | {name: partial(by_relevance, relevance=relevance, novel=False) for name, relevance in OTHERS.items()},
        MANY_CLASSES,
    ),
    "tokens, novelty": (
        {f"{name}, novelty": partial(by_ilfs, redundancy="novelty", **tokens) for name, tokens in TOKENS.items()}
        | {
            f"{name}, novelty": partial(by_relevance, relevance=relevance, novel=True)
            for name, relevance in OTHERS.items()
        },
        MANY_CLASSES,
    ),
    "tokens, gain": ({f"{name}, gain": partial(by_ilfs, **tokens) for name, tokens in TOKENS.items()}, MANY_CLASSES),
}


def evaluate(name, table, train, test, order):
    """Return the average precision in %, mean of the classes, for each number of features."""
    order = order[: max(PROTOCOL.sizes)]
    X, T = impute(columns(table.X, train, order), columns(table.X, test, order))
    Cs = (0.01,) if name in ONE_C else PROTOCOL.Cs
    precisions = []
    for size in PROTOCOL.sizes:
        found = classify(X[:, :size], table.y[train], T[:, :size], table.n_classes, Cs, PROTOCOL.n_folds, 0)
        classes = range(table.n_classes)
        by_class = [average_precision(table.y[test] == k, found.decision[:, k]) for k in classes]
        precisions.append(100 * np.mean(by_class))
    return precisions


def of_split(name, split, variants):
    """Return the results of some variants on one split."""
    warnings.simplefilter("ignore")
    table = load(name)
    shuffle = StratifiedShuffleSplit(1, test_size=PROTOCOL.test_fraction, random_state=FIRST_SEED + split)
    train, test = next(shuffle.split(table.y, table.y))
    with threadpool_limits(1):
        training = Training(table.X[train], table.y[train])
        return [
            (name, split, one, evaluate(name, table, train, test, all_variants()[one](training))) for one in variants
        ]


def all_variants():
    return {name: variant for variants, _ in TABLES.values() for name, variant in variants.items()}


def read(path):
    if not path.is_file():
        return {}
    lines = (json.loads(line) for line in path.read_text().splitlines())
    return {(name, split, variant): np.mean(precisions) for name, split, variant, precisions in lines}


def run(path, n_jobs, tables):
    done = read(path)
    wanted = {}
    for variants, datasets in (TABLES[table] for table in tables):
        for name in datasets:
            for split in range(SPLITS[name]):
                missing = [one for one in variants if (name, split, one) not in done]
                wanted.setdefault((name, split), []).extend(missing)
    work = [(*place, variants) for place, variants in wanted.items() if variants]
    path.parent.mkdir(parents=True, exist_ok=True)
    for rows in Parallel(n_jobs, return_as="generator_unordered")(delayed(of_split)(*one) for one in work):
        with path.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        print(rows[0][:2], len(rows), flush=True)


def show(path, tables):
    done = read(path)
    for variants, datasets in (TABLES[table] for table in tables):
        names = list(variants)
        rows = []
        for name in datasets:
            splits = [s for s in range(SPLITS[name]) if all((name, s, one) in done for one in names)]
            if splits:
                means = [float(np.mean([done[name, s, one] for s in splits])) for one in names]
                rows.append((f"{name} ({len(splits)})", means))
        if not rows:
            continue
        print(f"\n| data set (splits) | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
        means = np.array([values for _, values in rows])
        ranks = np.mean([rankdata(-np.round(values, 2)) for values in means], axis=0)
        summary = [("**mean**", means.mean(axis=0)), ("**worst set**", means.min(axis=0)), ("**mean rank**", ranks)]
        for title, values in [*rows, *summary]:
            print(f"| {title} | {' | '.join(f'{value:.1f}' for value in values)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("--store", type=Path, default=Path("out/subsets.jsonl"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    if options.command == "run":
        if not os.environ.get("ILFS_DATA"):
            parser.error("the environment variable ILFS_DATA must name the folder of the data sets")
        run(options.store, options.jobs, options.tables)
    show(options.store, options.tables)


if __name__ == "__main__":
    main()
