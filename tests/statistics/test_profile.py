"""Zeros and signs, beside moments that have the bits of `Moments`."""

import pickle
from functools import reduce

import numpy as np
import pytest
from helpers import fold_of, part_of
from scipy import sparse

from ilfs.statistics import Moments, Profile
from ilfs.statistics.axes import with_classes
from ilfs.statistics.moments import UnusableColumnError

LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float32": lambda X: X.astype(np.float32),
    "float32 Fortran": lambda X: np.asfortranarray(X.astype(np.float32)),
    "sparse": sparse.csc_array,
    "sparse with stored zeros": lambda X: sparse.csc_array(
        (X.T.ravel(), np.tile(np.arange(len(X)), X.shape[1]), np.arange(X.shape[1] + 1) * len(X)), shape=X.shape
    ),
}
layouts = pytest.mark.parametrize("convert", LAYOUTS.values(), ids=LAYOUTS)


def counts(n_samples=203, n_features=70, seed=0):
    """Return counts and negative numbers, some zero and some missing, and three classes; numbers fit float32."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (n_samples, n_features)).astype(float)
    X[:, 5:10] -= 2.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 11] = np.nan
    X[:, 12:20] += 0.5
    return X, rng.permutation(np.arange(n_samples) % 3)


def brute_force(X, y, weight):
    here = [y == label for label in np.unique(y)]
    zeros = np.array([(weight[rows, None] * (X[rows] == 0)).sum(axis=0) for rows in here])
    return zeros, (X[weight > 0] < 0).any(axis=0)


@layouts
@pytest.mark.parametrize("weighted", [False, True])
def test_zeros_and_negative_values_match_brute_force(convert, weighted):
    X, y = counts()
    weight = np.random.default_rng(1).integers(0, 4, len(y)) / 2 if weighted else np.ones(len(y))
    found = fold_of(convert(X), y, weight if weighted else None)(Profile())
    zeros, negative = brute_force(X, y, weight)
    np.testing.assert_array_equal(found.zeros, zeros)
    np.testing.assert_array_equal(found.negative, negative)


@layouts
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_have_the_bits_of_moments(convert, weighted):
    X, y = counts()
    X *= 1.1
    fold = fold_of(convert(X), y, np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else None)
    profile, moments = fold(Profile()), fold(Moments())
    for name in ("count", "mean", "scatter"):
        np.testing.assert_array_equal(getattr(profile, name), getattr(moments, name))


@layouts
def test_any_partition_gives_the_same_profile(convert):
    X, y = counts()
    X = convert(X)
    X = X.tocsr() if sparse.issparse(X) else X
    parts = [part_of(X, y, rows)(Profile()) for rows in np.array_split(np.random.default_rng(2).permutation(len(y)), 5)]
    whole, merged = fold_of(X, y)(Profile()), reduce(lambda one, two: one.merge(two), parts)
    np.testing.assert_array_equal(merged.zeros, whole.zeros)
    np.testing.assert_array_equal(merged.negative, whole.negative)
    np.testing.assert_allclose(merged.scatter, whole.scatter, rtol=1e-12, atol=1e-12)


def test_the_result_does_not_depend_on_the_number_of_threads():
    X, y = counts(n_features=5000)
    one, two = fold_of(X, y)(Profile()), fold_of(X, y, n_jobs=2)(Profile())
    np.testing.assert_array_equal(one.zeros, two.zeros)
    np.testing.assert_array_equal(one.scatter, two.scatter)


def test_minus_zero_is_a_zero_and_not_negative():
    found = fold_of(np.array([[-0.0], [0.0], [2.0]]), [0, 0, 1])(Profile())
    assert found.zeros.ravel().tolist() == [2, 0]
    assert found.negative.tolist() == [0]


@layouts
def test_infinity_is_refused(convert):
    X, y = counts()
    X[3, 4] = -np.inf
    with pytest.raises(UnusableColumnError, match="column 4 holds infinity"):
        fold_of(convert(X), y)(Profile())


def test_classes_may_be_inserted_and_the_description_pickles():
    X, y = counts()
    wider = with_classes(fold_of(X, y)(pickle.loads(pickle.dumps(Profile()))), np.array([0, 2, 3]), 4)
    zeros, negative = brute_force(X, y, np.ones(len(y)))
    np.testing.assert_array_equal(wider.zeros, np.insert(zeros, 1, 0, axis=0))
    np.testing.assert_array_equal(wider.negative, negative)
