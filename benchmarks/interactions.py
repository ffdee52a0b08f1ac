"""Measure the search for interactions: speed, false sets under permuted labels, sets under the real ones, and power.

    python benchmarks/interactions.py speed
    python benchmarks/interactions.py calibration [SET=ROUNDS ...]
    python benchmarks/interactions.py power
    python benchmarks/interactions.py graph

Speed is CPU time of one thread, with one bit a feature; "reading the bits" is XOR and popcount without the statistic.
Calibration permutes the labels and counts the rounds with any significant set, for a probability of 0.05. Power is the
fraction of tables in which the true pair of an XOR is found, with labels of which some are wrong. The data sets are
those in ILFS_DATA.
"""

import sys
import time
import warnings

import numpy as np

from ilfs.datasets import load
from ilfs.execution import LabelledRows
from ilfs.interactions import find_interactions
from ilfs.interactions.bits import PackedBits
from ilfs.interactions.finding import threshold
from ilfs.interactions.pairs import count_pairs, screen_all_pairs
from ilfs.interactions.triples import level_bits, screen_all_triples
from ilfs.kernels.bit_pairs import read_pairs
from ilfs.sources import table_source

SHAPES = ((60, 12_000, 2), (200, 10_000, 2), (2_600, 500, 2), (10_000, 5_000, 2), (83, 2_308, 4), (1_440, 1_024, 20))
ROUNDS = {
    "colon": 100, "srbct": 60, "glioma": 20, "prostate": 20, "gina": 30, "usps": 20, "arcene": 10, "polarity": 10,
    "madelon": 100, "leukemia": 20, "tox_171": 20, "lymphoma": 20, "lung": 20, "dexter": 10,
}  # fmt: skip
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


def power(n_tables=20):
    print("fraction of tables in which the pair of an XOR is found (continuous features, one true pair)")
    print(f"{'samples':>8}{'features':>10}" + "".join(f"{wrong:>8.0%} wrong" for wrong in (0.0, 0.05, 0.1, 0.2)))
    for m, n in ((60, 1_000), (60, 10_000), (100, 1_000), (100, 10_000), (200, 10_000), (500, 10_000)):
        found = [np.mean([finds_xor(m, n, wrong, seed) for seed in range(n_tables)]) for wrong in (0, 0.05, 0.1, 0.2)]
        print(f"{m:>8,}{n:>10,}" + "".join(f"{one:>14.2f}" for one in found), flush=True)


def finds_xor(m, n, wrong, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(m) < wrong)
    return [0, 1, -1] in find_interactions(X, y).columns.tolist()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"speed": speed, "calibration": calibration, "power": power}[sys.argv[1]](*sys.argv[2:])
