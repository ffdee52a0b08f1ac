"""Measure the stability of the 20 best features on the data sets in ILFS_DATA: the tables of docs/stability.md.

python benchmarks/stability.py indices           # about 15 minutes: writes docs/findings/half_samples.md
python benchmarks/stability.py cost              # CPU time of 50 half-samples against 50 separate fits
python benchmarks/stability.py approximation     # tokens counted with the class means of all rows
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from ilfs import ILFS, FisherScore, MutualInformation, ReliefF
from ilfs.datasets import load
from ilfs.execution import fold_of
from ilfs.redundancy import most_relevant
from ilfs.selection import stability
from ilfs.selection.half_samples import half_samples
from ilfs.sources import table_source
from ilfs.sources.subsets import RowSubsets
from ilfs.statistics import Moments
from ilfs.text_table import Grid

DATASETS = ("colon", "leukemia", "prostate", "srbct", "gina", "usps", "dexter")
METHODS = {
    "ILFS": ILFS(),
    "ILFS, redundancy=None": ILFS(redundancy=None),
    "Fisher score": FisherScore(),
    "mutual information": MutualInformation(),
    "ReliefF": ReliefF(),
}
TABLE = Path(__file__).parents[1] / "docs/findings/half_samples.md"
N_RESAMPLES, K = 50, 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("indices", "cost", "approximation"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        {"indices": indices, "cost": cost, "approximation": approximation}[arguments.what](arguments.datasets)


def indices(names):
    """Print and write Nogueira's index of features and the index of families."""
    rows = {method: [] for method in METHODS}
    for name in names:
        X, y = table(name)
        for method, selector in METHODS.items():
            began = time.process_time()
            found = stability(selector, X, y, n_resamples=N_RESAMPLES, k=K)
            rows[method].append(f"{found.nogueira.value:.2f} / {found.families.value:.2f}")
            width = np.ptp(found.nogueira.interval()) / 2, np.ptp(found.families.interval()) / 2
            print(f"{name:10} {method:24} {rows[method][-1]}  +-{width[0]:.3f} {width[1]:.3f}", end="  ")
            print(f"bound at 0.75: {found.expected_false_positives(0.75):.2g}", end="  ")
            print(f"kept {found.selected(0.75).size}  {time.process_time() - began:.1f} CPU s", flush=True)
    grid = Grid("", ["method", *map(str.upper, names)], [[method, *values] for method, values in rows.items()])
    TABLE.write_text("\n".join(grid.render("markdown").splitlines()[2:]) + "\n", encoding="utf-8")


def cost(names):
    """Print the CPU time of all half-samples in the same reads, of separate fits on their rows, and of one fit."""
    for name in names:
        X, y = table(name)
        halves = half_samples(table_source(X, y).encoded_labels(), N_RESAMPLES)
        for method in ("ILFS", "ILFS, redundancy=None", "Fisher score"):
            selector = METHODS[method]
            together = cpu_seconds(stability, selector, X, y, N_RESAMPLES, K)
            apart = sum(cpu_seconds(selector.fit, X[rows], y[rows]) for rows in halves)
            once = cpu_seconds(selector.fit, X, y)
            print(f"{name:10} {method:24} together {together:.2f}, apart {apart:.2f}, one fit {once:.3f} CPU s")


def cpu_seconds(function, *arguments):
    began = time.process_time()
    function(*arguments)
    return time.process_time() - began


def approximation(names):
    """Compare relevance from tokens that are counted with the class means of all rows with that of the half-samples.

    Such counts could be merged from random groups of rows, without reading the rows for every half-sample.
    """
    for name in names:
        X, y = table(name)
        source = table_source(X, y)
        subsets = RowSubsets.of_rows(half_samples(source.encoded_labels(), 10), source.labels, source.labellings)
        fold = fold_of(source.with_subsets(subsets))
        moments = fold(Moments())
        overlap, correlation = [], []
        for number in range(10):
            labelling = 1 + 2 * number
            classes = fold.labellings[labelling]
            own = fold(Moments(), labelling=labelling)
            exact = relevance(fold, own, own, classes, labelling)
            approximate = relevance(fold, moments, own, classes, labelling)
            best = [set(most_relevant(one, own.informative, K)) for one in (exact, approximate)]
            overlap.append(len(best[0] & best[1]) / K)
            correlation.append(np.corrcoef(exact, approximate)[0, 1])
        print(f"{name:10} overlap of the best {K}: {np.mean(overlap):.2f}, correlation {np.mean(correlation):.3f}")


def relevance(fold, means, own, classes, labelling):
    """Learn the relevance of the rows of a half-sample from tokens that are counted with given moments."""
    selector = ILFS(redundancy=None)
    tokens = fold(selector._tokens(means), labelling=labelling)
    counts = selector._count_tokens(tokens, own)
    return selector._fit_topics(counts, float(classes.total.sum()))


def table(name):
    data = load(name)
    return (data.X.tocsr() if sparse.issparse(data.X) else data.X), np.asarray(data.y)


if __name__ == "__main__":
    main()
