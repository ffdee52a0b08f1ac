"""Compare the candidates of ILFS with the most relevant features on wide images, spectra and random fields.

    python benchmarks/pools.py --splits 8        # the table of docs/redundancy.md, about two minutes

The images are those of USPS and COIL-20 (from ILFS_DATA), enlarged to 64 x 64 or 100 x 100 pixels by linear
interpolation, with few samples of each class. Spectra are sums of broad peaks, some of which depend on the class. In a
random field, one corner marks the first class. The splits, sizes, classifiers and the metric are those of
benchmarks/options.py. The columns of the table are the average precision of the picks from the 1,000 most relevant
features, and the differences to it of ILFS() and of a random order. The ratios are those of `ilfs.candidates`: the pool
is narrow if the first is below 1 and the second above 0.92.
"""

import argparse
from contextlib import contextmanager

import numpy as np
from options import CLASSIFIERS, FIRST_SEED, SIZES, precision
from options import sample_of as registered
from scipy.ndimage import gaussian_filter, zoom
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from ilfs import ILFS, candidates
from ilfs.datasets import load


def enlarged(name, side, to, classes, per_class):
    """Return some images of each class, enlarged, and their classes."""
    data = load(name)
    y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:per_class] for k in classes])
    images = np.asarray(data.X)[rows].reshape(-1, side, side).astype(float)
    wide = zoom(images, (1, to / side, to / side), order=1)
    return wide.reshape(len(rows), -1), np.unique(y[rows], return_inverse=True)[1]


def usps(to=100, per_class=10, n_classes=10):
    return enlarged("usps", 16, to, range(n_classes), per_class)


def coil(to=100, per_class=10, classes=range(10)):
    return enlarged("coil20", 32, to, classes, per_class)


def even_against_odd(X, y):
    return X, y % 2


def spectra(n_samples=100, n_classes=5, width=200, seed=0, n_features=10_000):
    rng = np.random.default_rng(seed)
    y, place = np.repeat(np.arange(n_classes), n_samples // n_classes), np.arange(n_features)
    X = np.zeros((y.size, n_features))
    for peak in range(40):
        height = rng.normal(1, 0.4, y.size) + (rng.normal(0, 0.5, n_classes)[y] if peak < 6 else 0)
        X += height[:, None] * np.exp(
            -0.5 * ((place - rng.uniform(0, n_features)) / (width * rng.uniform(0.5, 2))) ** 2
        )
    X += 3 * (y == 0)[:, None] * np.exp(-0.5 * ((place - 3000) / 800) ** 2)
    return X + rng.normal(0, 0.02, X.shape), y


def field(n_samples=120, n_classes=6, smoothness=6, seed=0, side=100):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), n_samples // n_classes)

    def fields(n):
        found = np.array([gaussian_filter(rng.normal(size=(side, side)), smoothness) for _ in range(n)])
        return found / found.std()

    corner = np.zeros((side, side))
    corner[:40, :40] = 1
    X = 0.6 * fields(n_classes)[y] + fields(y.size) + 5 * (y == 0)[:, None, None] * gaussian_filter(corner, 3)
    return X.reshape(y.size, -1), y


TABLES = {
    "USPS, 100 x 100, 10 a class": usps,
    "USPS, 100 x 100, 50 a class": lambda: usps(per_class=50),
    "USPS, 64 x 64, 100 a class": lambda: usps(64, 100),
    "USPS, 100 x 100, even or odd": lambda: even_against_odd(*usps(per_class=20)),
    "USPS, 100 x 100, 4 classes": lambda: usps(per_class=25, n_classes=4),
    "COIL, 100 x 100, objects 1-10": coil,
    "COIL, 100 x 100, objects 11-20": lambda: coil(classes=range(10, 20)),
    "COIL, 64 x 64, 36 an object": lambda: coil(64, 36, range(20)),
    "COIL, 100 x 100, even or odd": lambda: even_against_odd(*coil(classes=range(20))),
    "spectra, 5 classes": spectra,
    "spectra, 3 classes": lambda: spectra(90, 3, 100, seed=4),
    "spectra, 2 classes": lambda: spectra(80, 2, seed=3),
    "random field, 6 classes": field,
    "random field, 3 classes": lambda: field(90, 3, 4, seed=6),
    "random field, 2 classes": lambda: field(80, 2, seed=5),
    "ARCENE": lambda: registered("arcene"),
}


@contextmanager
def without_spreading():
    """Let the candidates be the most relevant features."""
    limit = candidates.MIN_POOL
    candidates.MIN_POOL = np.inf
    try:
        yield
    finally:
        candidates.MIN_POOL = limit


@contextmanager
def recorded_ratios():
    """Record the effective rank and the unexplained fraction of each pool relative to its sample."""
    ratios, decide = [], candidates.is_narrow

    def record(pool, sample, n_picks):
        left = [candidates.unexplained(one, n_picks) for one in (pool, sample)]
        ratios.append((pool.effective_rank / sample.effective_rank, left[0] / left[1]))
        return decide(pool, sample, n_picks)

    candidates.is_narrow = record
    try:
        yield ratios
    finally:
        candidates.is_narrow = decide


def orders(X, y, split):
    with without_spreading():
        yield ILFS().fit(X, y).order_
    yield ILFS().fit(X, y).order_
    yield np.random.default_rng(split).permutation(X.shape[1])


def evaluated(X, y, split):
    """Return the average precision of each order (first axis) and classifier, averaged over the sizes."""
    splits = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=FIRST_SEED + split)
    train, test = next(splits.split(y, y))
    found = [[precision(X[:, order[:n]], y, train, test) for n in SIZES] for order in orders(X[train], y[train], split)]
    return 100 * np.array([[np.mean([one[name] for one in by_size]) for name in CLASSIFIERS] for by_size in found])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=4)
    options = parser.parse_args()
    print("| table | rank, unexplained |", " | ".join(CLASSIFIERS), "|\n" + "|---" * (2 + len(CLASSIFIERS)) + "|")
    with threadpool_limits(1):
        for name, make in TABLES.items():
            X, y = make()
            with recorded_ratios() as ratios:
                mean = np.mean([evaluated(X, y, split) for split in range(options.splits)], axis=0)
            rank, left = np.mean(ratios, axis=0) if ratios else (np.nan, np.nan)
            changes = [f"{base:.1f}, {ours - base:+.1f}, {random - base:+.1f}" for base, ours, random in mean.T]
            print(f"| {name} | {rank:.2f}, {left:.2f} |", " | ".join(changes), "|", flush=True)


if __name__ == "__main__":
    main()
