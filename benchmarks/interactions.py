"""Measure the search for interactions: speed, false sets under permuted labels, sets under the real ones, and power.

    python benchmarks/interactions.py speed
    python benchmarks/interactions.py calibration [SET=ROUNDS ...]
    python benchmarks/interactions.py noise
    python benchmarks/interactions.py markers
    python benchmarks/interactions.py power
    python benchmarks/interactions.py graph

Speed is CPU time of one thread, with one bit a feature; "reading the bits" is XOR and popcount without the statistic.
Calibration permutes the labels and counts the rounds with any significant set, for a probability of 0.05. Noise counts
the tables of normal noise with any significant set. Markers counts the tables with any significant pair among features
that tell the class alone and do not interact, by the first test alone and by both. Power is the fraction of tables in
which the true pair of an XOR, or of an AND, is found, with labels of which some are wrong. Graph compares subsets of 20
features by k nearest neighbours: the largest path sums over significant pairs, and two settings of ILFS. The data sets
are those in ILFS_DATA.
"""

import sys
import time
import warnings
from unittest import mock

import numpy as np
import options
from sklearn.model_selection import StratifiedShuffleSplit

from ilfs import ILFS
from ilfs.datasets import load
from ilfs.execution import LabelledRows
from ilfs.interactions import find_interactions
from ilfs.interactions.bits import PackedBits
from ilfs.interactions.finding import threshold
from ilfs.interactions.pairs import count_pairs, screen_all_pairs
from ilfs.interactions.triples import level_bits, screen_all_triples
from ilfs.kernels.bit_pairs import read_pairs
from ilfs.solvers.paths import path_scores
from ilfs.sources import table_source

SHAPES = ((60, 12_000, 2), (200, 10_000, 2), (2_600, 500, 2), (10_000, 5_000, 2), (83, 2_308, 4), (1_440, 1_024, 20))
ROUNDS = {
    "colon": 100, "srbct": 60, "glioma": 20, "prostate": 20, "gina": 30, "usps": 20, "arcene": 10, "polarity": 10,
    "madelon": 100, "leukemia": 20, "tox_171": 20, "lymphoma": 20, "lung": 20, "dexter": 10,
}  # fmt: skip
NOISE_SHAPES = ((40, 200, 2), (100, 500, 2), (300, 200, 2), (100, 300, 4), (400, 200, 10), (1_000, 300, 2))
MARKERS = (  # sizes of the classes, common correlation of the markers within each class
    ((31, 150), 0.0), ((100, 1_000), 0.0), ((90, 90), 0.0), ((40, 40, 40, 40), 0.0), ((100, 100, 100, 100), 0.0),
    ((40, 60, 100, 200), 0.0), ((31, 150), 0.5), ((90, 90), 0.5), ((500, 500), 0.5), ((1_000, 1_000), 0.5),
    ((100, 100, 100, 100), 0.5),
)  # fmt: skip
N_TIMES = 5


def best_seconds(function, *arguments):
    """Return the smallest CPU time of some calls."""
    times = []
    for _ in range(N_TIMES):
        start = time.process_time()
        function(*arguments)
        times.append(time.process_time() - start)
    return min(times)


def speed():
    rng = np.random.default_rng(0)
    print(f"{'samples':>8}{'features':>10}{'classes':>8}{'pack s':>9}{'pairs s':>9}{'M pairs/s':>11}{'of reading':>11}")
    for m, n, n_classes in SHAPES:
        source = table_source(rng.normal(size=(m, n)), rng.integers(0, n_classes, m))
        rows = LabelledRows.from_source(source)
        bits = level_bits(PackedBits.from_rows(rows))
        packing = best_seconds(PackedBits.from_rows, rows)
        least = threshold(0.05, count_pairs(bits), n_classes - 1)
        pairs = best_seconds(screen_all_pairs, bits, least, 1)
        reading = best_seconds(read_pairs, bits.words, bits.starts)
        rate = count_pairs(bits) / pairs / 1e6
        print(f"{m:>8,}{n:>10,}{n_classes:>8}{packing:>9.3f}{pairs:>9.3f}{rate:>11,.0f}{pairs / reading:>10.1f}x")
    for m, n in ((500, 1_000), (200, 1_000), (300, 500)):
        source = table_source(rng.normal(size=(m, n)), rng.integers(0, 2, m))
        bits = level_bits(PackedBits.from_rows(LabelledRows.from_source(source)))
        n_triples = n * (n - 1) * (n - 2) // 6
        seconds = best_seconds(screen_all_triples, bits, threshold(0.05, n_triples, 1), 1)
        print(f"triples of {m} x {n:,}: {seconds:.2f} s, {n_triples / seconds / 1e6:.0f} M triples/s")


def calibration(*wanted):
    rounds = {name: int(number) for name, number in (one.split("=") for one in wanted)} or ROUNDS
    print(f"{'set':12}{'real labels':>12}{'rounds':>8}{'with false sets':>16}{'seconds a round':>17}", flush=True)
    for name, n_rounds in rounds.items():
        data, rng = load(name), np.random.default_rng(0)
        y = np.asarray(data.y)
        real = find_interactions(data.X, y)
        start = time.process_time()
        n_false = sum(find_interactions(data.X, rng.permutation(y)).n_significant > 0 for _ in range(n_rounds))
        seconds = (time.process_time() - start) / n_rounds
        print(f"{name:12}{real.n_significant:>12,}{n_rounds:>8}{n_false:>16}{seconds:>17.2f}", flush=True)


def noise(n_tables=300):
    for m, n, n_classes in NOISE_SHAPES:
        rngs = [np.random.default_rng(seed) for seed in range(n_tables)]
        tables = ((rng.normal(size=(m, n)), rng.permutation(np.arange(m) % n_classes)) for rng in rngs)
        n_false = sum(find_interactions(X, y).n_significant > 0 for X, y in tables)
        print(f"{m:>6,} x {n:<6,}{n_classes:>3} classes: {n_false} of {n_tables} tables", flush=True)


def markers(n_tables=20):
    print("tables with a significant pair; 30 of 300 features are shifted by two standard deviations in one class each")
    print(f"{'classes':26}{'correlation':>12}{'first test':>12}{'both tests':>12}{'pairs a table':>15}")
    for sizes, correlation in MARKERS:
        tables = [marker_table(sizes, correlation, seed) for seed in range(n_tables)]
        both = [find_interactions(X, y).n_significant for X, y in tables]
        with mock.patch("ilfs.interactions.pairs.keep_unequal_odds", keep_all):
            first = [find_interactions(X, y).n_significant for X, y in tables]
        n_first, n_both = np.count_nonzero(first), np.count_nonzero(both)
        print(f"{sizes!s:26}{correlation:>12}{n_first:>12}{n_both:>12}{np.mean(both):>15.1f}", flush=True)


def marker_table(sizes, correlation, seed, n_markers=30):
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(y.size, 300))
    X[:, :n_markers] *= np.sqrt(1 - correlation)
    X[:, :n_markers] += np.sqrt(correlation) * rng.normal(size=(y.size, 1))
    for j in range(n_markers):
        X[y == (j % len(sizes) if len(sizes) > 2 else 0), j] += 2
    return X, y


def keep_all(bits, sets, statistic, _):
    return sets, np.column_stack([statistic, np.zeros((len(sets), bits.total.size))])


def power(n_tables=20):
    wrong = (0.0, 0.05, 0.1, 0.2)
    print("fraction of tables in which the pair of an XOR is found (continuous features, one true pair)")
    print(f"{'samples':>8}{'features':>10}" + "".join(f"{one:>8.0%} wrong" for one in wrong))
    for m, n in ((60, 1_000), (60, 10_000), (100, 1_000), (100, 10_000), (200, 10_000), (500, 10_000)):
        found = [np.mean([finds(np.logical_xor, m, n, one, seed) for seed in range(n_tables)]) for one in wrong]
        print(f"{m:>8,}{n:>10,}" + "".join(f"{one:>14.2f}" for one in found), flush=True)
    print("the same for AND, by the first test alone and by both")
    for m, n in ((200, 1_000), (500, 1_000), (1_000, 1_000)):
        both = [np.mean([finds(np.logical_and, m, n, one, seed) for seed in range(n_tables)]) for one in wrong]
        with mock.patch("ilfs.interactions.pairs.keep_unequal_odds", keep_all):
            first = [np.mean([finds(np.logical_and, m, n, one, seed) for seed in range(n_tables)]) for one in wrong]
        figures = "".join(f"{one:>8.2f}, {other:.2f}" for one, other in zip(first, both, strict=True))
        print(f"{m:>8,}{n:>10,}{figures}", flush=True)


def finds(rule, m, n, wrong, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = rule(X[:, 0] > 0, X[:, 1] > 0) ^ (rng.random(m) < wrong)
    return [0, 1, -1] in find_interactions(X, y).columns.tolist()


def graph(n_splits=2, n_features=20):
    print(f"{'set':10}{'path sums':>12}{'interactions=2':>16}{'ILFS()':>10}   (k-NN, average precision in %)")
    for name in ("madelon", "gina", "usps", "arcene", "coil20"):
        X, y = options.sample_of(name)
        results = [precisions(np.asarray(X, dtype=float), y, split, n_features) for split in range(n_splits)]
        print("{:10}{:>12.1f}{:>16.1f}{:>10.1f}".format(name, *np.mean(results, axis=0)), flush=True)


def precisions(X, y, split, n_features):
    splits = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=options.FIRST_SEED + split)
    train, test = next(splits.split(y, y))
    scores = path_scores(find_interactions(X[train], y[train]).adjacency(), damping=0.9)
    orders = [np.argsort(-scores, kind="stable")]
    orders += [selector.fit(X[train], y[train]).order_ for selector in (ILFS(interactions=2), ILFS())]
    return [100 * options.precision(X[:, order[:n_features]], y, train, test)["k-NN"] for order in orders]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    actions = {one.__name__: one for one in (speed, calibration, noise, markers, power, graph)}
    actions[sys.argv[1]](*sys.argv[2:])
