"""Discrete tables, and changes to a table or a fit that must leave the order of the features as it is.

On discrete data many scores are equal, so an order that depends on the last bits of sums shows at once.
"""

from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ilfs.execution import memory, partition
from ilfs.sources import tables


def labels(rng, n_samples, n_classes):
    """Random classes, each with at least four samples."""
    y = np.concatenate([np.repeat(np.arange(n_classes), 4), rng.integers(n_classes, size=n_samples - 4 * n_classes)])
    return rng.permutation(y)


def binary(rng):
    """Zeros and ones that are independent of the classes."""
    return rng.integers(2, size=(30, 8)).astype(float), labels(rng, 30, 2)


def small_integers(rng):
    """0 to 3, some columns larger in one of three classes."""
    y = labels(rng, 36, 3)
    return np.minimum(rng.integers(3, size=(36, 9)) + np.outer(y == 1, np.arange(9) < 3), 3).astype(float), y


def counts(rng):
    """Poisson counts, most of them 0, some columns more frequent in one class."""
    y = labels(rng, 40, 2)
    return rng.poisson(0.4 + 0.6 * np.outer(y == 1, np.arange(12) % 4 == 0)).astype(float), y


def tenths(rng):
    """Multiples of 0.1, whose sums are not exact, three classes."""
    y = labels(rng, 33, 3)
    return rng.integers(1, 7, size=(33, 8)) / 10, y


def duplicated(rng):
    """Binary columns, some of them twice, some inverted, and some rows twice."""
    X, y = binary(rng)
    X = np.column_stack([X, X[:, :3], 1 - X[:, 2:5]])
    rows = np.concatenate([np.arange(30), rng.integers(30, size=6)])
    return X[rows], y[rows]


def planted(rng):
    """Binary columns that agree with the class in most rows, two of them complements."""
    y = labels(rng, 32, 2)
    X = np.where(rng.random((32, 8)) < 0.25, 1 - y[:, None], y[:, None]).astype(float)
    X[:, 4:] = rng.integers(2, size=(32, 4))
    X[:, 7] = 1 - X[:, 0]
    return X, y


def wide(rng):
    """More binary columns than rows, three classes."""
    return rng.integers(2, size=(18, 40)).astype(float), labels(rng, 18, 3)


def singles(rng):
    """Multiples of 1/7 as float32."""
    return (rng.integers(4, size=(30, 8)) / 7).astype(np.float32), labels(rng, 30, 2)


TABLES = {
    table.__name__: table for table in (binary, small_integers, counts, tenths, duplicated, planted, wide, singles)
}


@contextmanager
def small_blocks(rows=7):
    """Cut even a tiny table into many blocks, and read them in threads."""
    sizes = {name: 3 for name, value in vars(partition).items() if name.isupper() and isinstance(value, int)}
    with pytest.MonkeyPatch.context() as patch:
        for name, size in sizes.items():
            patch.setattr(partition, name, size)
        patch.setattr(tables, "BLOCK_ROWS", rows)
        patch.setattr(memory, "MAX_SERIAL_VALUES", 0)
        yield


def fitted(selector, X, y, **weights):
    return clone(selector).fit(X, y if selector._reads_labels else None, **weights)


def takes_weights(selector):
    return has_fit_parameter(getattr(selector, "selector", selector), "sample_weight")


def changed_fits(selector, X, y, rng):
    """Yield name and result of every fit that must give the same order."""
    rows = rng.permutation(len(X))
    yield "rows permuted", fitted(selector, X[rows], y[rows])
    yield "rows reversed", fitted(selector, X[::-1], y[::-1])
    yield "Fortran order", fitted(selector, np.asfortranarray(X), y)
    if selector._reads_labels:
        yield "labels swapped", fitted(selector, X, y.max() - y)
        yield "labels renamed", fitted(selector, X, np.array(["m", "z", "b"])[y])
        yield "labels and rows", fitted(selector, X[rows], (y[rows] + 1) % (y.max() + 1))
    if selector._takes_sparse:
        yield "compressed rows", fitted(selector, sparse.csr_array(X), y)
        yield "compressed columns", fitted(selector, sparse.csc_array(X[rows]), y[rows])
    for height in (4, 7, 16):
        with small_blocks(height):
            yield f"blocks of {height} rows", fitted(selector, X, y)
    with small_blocks():
        yield "three threads", fitted(clone(selector).set_params(n_jobs=3), X, y)
        if selector._takes_sparse:
            yield "sparse, three threads", fitted(clone(selector).set_params(n_jobs=3), sparse.csr_array(X), y)


def changed_weighted_fits(selector, X, y, weight, rng):
    """Yield name and result of every weighted fit that must give the same order."""
    rows = rng.permutation(len(X))
    yield "weighted rows permuted", fitted(selector, X[rows], y[rows], sample_weight=weight[rows])
    yield "weighted labels swapped", fitted(selector, X, y.max() - y, sample_weight=weight)
    if selector._takes_sparse:
        yield "weighted, compressed rows", fitted(selector, sparse.csr_array(X), y, sample_weight=weight)
    with small_blocks():
        yield "weighted blocks", fitted(selector, X, y, sample_weight=weight)


def changed_label_fits(selector, X, Y, rng):
    """Yield name and result of every fit to an indicator matrix that must give the same order."""
    rows = rng.permutation(len(X))
    yield "rows with several labels", fitted(selector, X[rows], Y[rows])
    yield "several labels reversed", fitted(selector, X, Y[:, ::-1])


def changed_orders(selector, table, seed):
    """Return the names of the changes that changed the order on one table, and the number of changes tried."""
    rng = np.random.default_rng(seed)
    X, y = TABLES[table](rng)
    fits = [(fitted(selector, X, y), changed_fits(selector, X, y, rng))]
    if takes_weights(selector):
        weight = rng.integers(1, 6, size=len(X)) / 3
        weighted = fitted(selector, X, y, sample_weight=weight)
        fits.append((weighted, changed_weighted_fits(selector, X, y, weight, rng)))
    if selector._reads_labels:
        Y = np.column_stack([y == 1, labels(rng, len(X), 2), labels(rng, len(X), 2)]).astype(int)
        fits.append((fitted(selector, X, Y), changed_label_fits(selector, X, Y, rng)))
    same = {name: np.array_equal(fit.order_, first.order_) for first, others in fits for name, fit in others}
    return [name for name, is_same in same.items() if not is_same], len(same)


def count_changed_orders(selector, seeds):
    """Count the changed orders by kind of table and change; return these counts and the number of comparisons."""
    changed, tried = Counter(), 0
    for table in TABLES:
        for seed in seeds:
            names, some = changed_orders(selector, table, seed)
            tried += some
            changed.update(f"{table}, {name}" for name in names)
    return changed, tried
