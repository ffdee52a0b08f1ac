"""Measure the cost of permutations: CPU time of B = 20 against 20 separate plain fits and against one default fit.

    python benchmarks/null.py [n_samples n_features]

The table is that of the timing job, 10,000 x 5,000 by default. A plain fit computes the statistic of the test: ILFS
without redundancy, the Fisher score, or the mutual information. Each time is the smallest of three, for one thread.
"""

import sys
import time

import numpy as np
from sklearn.base import clone

from ilfs import ILFS, FisherScore, MutualInformation

N_PERMUTATIONS, N_REPEATS = 20, 3
SELECTORS = {
    "ILFS": (ILFS(), ILFS(redundancy=None)),
    "FisherScore": (FisherScore(), FisherScore()),
    "MutualInformation": (MutualInformation(), MutualInformation()),
}


def cpu_seconds(selector, X, y, n_repeats=N_REPEATS):
    """Return the smallest CPU time of some fits."""
    times = []
    for _ in range(n_repeats):
        start = time.process_time()
        clone(selector).fit(X, y)
        times.append(time.process_time() - start)
    return min(times)


def main(n_samples=10_000, n_features=5_000):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_samples, n_features)), np.arange(n_samples) % 2
    print(f"{n_samples:,} x {n_features:,}, CPU seconds")
    print(f"{'':18}{'default fit':>12}{'plain fit':>11}{'20 plain fits':>15}{'B = 20':>8}{'of 20 plain':>13}")
    for name, (default, plain) in SELECTORS.items():
        for one in (default, plain):
            clone(one).fit(X[:100, :50], y[:100])  # compile
        clone(default).set_params(n_permutations=N_PERMUTATIONS).fit(X[:100, :50], y[:100])
        n_repeats = 1 if name == "MutualInformation" else N_REPEATS
        once, one = cpu_seconds(default, X, y, n_repeats), cpu_seconds(plain, X, y, n_repeats)
        both = cpu_seconds(clone(default).set_params(n_permutations=N_PERMUTATIONS), X, y, n_repeats)
        separate = N_PERMUTATIONS * one
        print(f"{name:18}{once:12.2f}{one:11.2f}{separate:15.2f}{both:8.2f}{(both - once) / separate:13.0%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
