"""Measure the cost of permutations: B = 20 against 20 separate plain fits and against one default fit.

    python benchmarks/null.py [n_samples n_features n_classes]

The table is that of the timing job, 10,000 x 5,000 with two classes by default. A plain fit computes the statistic of
the test: ILFS without redundancy, the Fisher score, or the mutual information. Fits are made in turn, in one thread,
and the medians of their CPU times and wall times are printed. The cost of the permutations is the time of a fit with
them minus that of the default fit.
"""

import sys
import time

import numpy as np
from sklearn.base import clone

from ilfs import ILFS, FisherScore, MutualInformation

N_PERMUTATIONS = 20
SELECTORS = {  # the default selector, that of a plain fit, and the number of rounds
    "ILFS": (ILFS(), ILFS(redundancy=None), 9),
    "FisherScore": (FisherScore(), FisherScore(), 9),
    "MutualInformation": (MutualInformation(), MutualInformation(), 1),
}
CLOCKS = {"CPU": time.process_time, "wall": time.perf_counter}


def seconds(selector, X, y):
    """Return the CPU time and the wall time of a fit."""
    starts = [clock() for clock in CLOCKS.values()]
    clone(selector).fit(X, y)
    return [clock() - start for clock, start in zip(CLOCKS.values(), starts, strict=True)]


def main(n_samples=10_000, n_features=5_000, n_classes=2):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_samples, n_features)), np.arange(n_samples) % n_classes
    print(f"{n_samples:,} x {n_features:,}, {n_classes} classes, seconds of one thread")
    titles = ("default fit", "20 plain fits", "B = 20", "of 20 plain", "of default")
    print(f"{'':24}" + "".join(f"{title:>15}" for title in titles))
    for name, (default, plain, n_rounds) in SELECTORS.items():
        three = default, plain, clone(default).set_params(n_permutations=N_PERMUTATIONS)
        for one in three:
            clone(one).fit(X[:1000, :50], y[:1000])  # compile
        times = np.median([[seconds(one, X, y) for one in three] for _ in range(n_rounds)], axis=0)
        for clock, (once, one, with_null) in zip(CLOCKS, times.T, strict=True):
            added, separate = with_null - once, N_PERMUTATIONS * one
            print(
                f"{name:18}{clock:>6}{once:15.2f}{separate:15.2f}{with_null:15.2f}"
                f"{added / separate:15.0%}{added / once:15.0%}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
