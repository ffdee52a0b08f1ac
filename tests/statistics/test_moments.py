from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from helpers import fold_of, moments_of, part_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ilfs.statistics import ClassMoments, Moments
from ilfs.statistics.moments import UnusableColumnError


def exact(x, w=None):
    """Compute weight, mean and centred sum of squares in rational arithmetic."""
    w = [1] * len(x) if w is None else w
    pairs = [(Fraction(float(v)), Fraction(float(u))) for v, u in zip(x, w, strict=True) if not np.isnan(v)]
    n = sum(u for _, u in pairs)
    mean = sum(v * u for v, u in pairs) / n
    return float(n), float(mean), float(sum(u * (v - mean) ** 2 for v, u in pairs))


def assert_exact(X, y, weight=None, rtol=1e-12):
    moments = moments_of(X, y, weight)
    dense = X.toarray() if sparse.issparse(X) else X
    for k, label in enumerate(np.unique(y)):
        for f in range(X.shape[1]):
            here = y == label
            n, mean, scatter = exact(dense[here, f], None if weight is None else weight[here])
            assert moments.count[k, f] == pytest.approx(n, rel=1e-14)
            assert moments.mean[k, f] == pytest.approx(mean, rel=1e-13, abs=1e-14)
            assert moments.scatter[k, f] == pytest.approx(scatter, rel=rtol)


def noise(n_samples=60, n_features=5, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, n_features)), rng.permutation(np.arange(n_samples) % n_classes)


def assert_same_moments(a, b, **tolerance):
    np.testing.assert_allclose(a.count, b.count, **tolerance)
    np.testing.assert_allclose(a.mean, b.mean, **tolerance)
    np.testing.assert_allclose(a.scatter, b.scatter, **tolerance)


def test_moments_match_hand_computed_values():
    # class a: 1, 3 and a missing value; class b: 2, 2, 5, mean 3, squares 1 + 1 + 4
    X, y = np.array([[1.0], [2.0], [3.0], [2.0], [np.nan], [5.0]]), np.array(list("abab" + "ab"))
    moments = moments_of(X, y)
    np.testing.assert_array_equal(moments.count, [[2], [3]])
    np.testing.assert_array_equal(moments.mean, [[2], [3]])
    np.testing.assert_array_equal(moments.scatter, [[2], [6]])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_moments_match_a_two_pass_computation(convert):
    X, y = noise()
    assert_exact(convert(X), y)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_weighted_moments_match_a_two_pass_computation(convert):
    X, y = noise()
    assert_exact(convert(X), y, np.random.default_rng(1).uniform(0.1, 3, size=len(y)))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_missing_values_are_ignored(convert):
    X, y = noise()
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    assert_exact(convert(X), y, np.random.default_rng(1).uniform(0.1, 3, size=len(y)))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_large_offsets_lose_no_precision(convert):
    X, y = noise()
    assert_exact(convert(1e8 + 1e-2 * X), y, rtol=1e-11)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_an_outlier_in_the_first_row_costs_no_precision(convert):
    X, y = noise(n_samples=300)
    X[:3] = 1e9
    assert_exact(convert(X), y)


def test_values_that_are_not_stored_are_zeros():
    X, y = noise()
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0.0
    assert_exact(sparse.csc_array(X), y)
    assert_same_moments(moments_of(sparse.csc_array(X), y), moments_of(X, y), rtol=1e-12)


def test_missing_values_of_a_sparse_column_are_ignored_and_zeros_are_not():
    X, y = noise()
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    assert_exact(sparse.csc_array(X), y)


def test_the_mean_of_many_equal_values_is_exact():
    X, y = np.full((30_001, 1), 0.1), np.arange(30_001) % 2
    assert np.cumsum(X[:, 0])[-1] / len(X) != 0.1
    for convert in (np.asarray, sparse.csc_array):
        moments = moments_of(convert(X), y)
        assert (moments.mean == 0.1).all()
        assert (moments.scatter == 0.0).all()
        assert moments.constant.all()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_fractional_weights_leave_no_remainder_in_a_full_column(convert):
    weight = np.random.default_rng(0).uniform(0.01, 1, size=301)
    moments = moments_of(convert(np.full((301, 1), 0.1)), np.arange(301) % 2, weight)
    assert (moments.mean == 0.1).all()
    assert moments.constant.all()


def test_pooled_variance_matches_a_hand_computed_value():
    # The sums of squares are 2 in class a (1, 3) and 6 in class b (2, 2, 5), so the variance is 8 / (5 - 2).
    X, y = np.array([[1.0], [3.0], [2.0], [2.0], [5.0]]), np.array([0, 0, 1, 1, 1])
    np.testing.assert_allclose(moments_of(X, y).pooled_variance, [8 / 3])


def test_pooled_variance_uses_only_present_values_and_classes():
    X, y = noise(n_classes=3)
    X[y == 2, 0] = np.nan
    X[:4, 0] = np.nan
    here = ~np.isnan(X[:, 0])
    without = moments_of(X[here][:, :1], y[here])
    np.testing.assert_allclose(moments_of(X, y).pooled_variance[0], without.pooled_variance[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("column", "constant"),
    [
        ([1.0, 1.0, 1.0, 1.0], True),
        ([np.nan, 1.0, 1.0, 1.0], True),
        ([np.nan] * 4, True),
        ([1.0, 1.0, 2.0, 2.0], False),
        ([1.0, 2.0, 1.0, 2.0], False),
        ([0.0, 1e-12, 0.0, 0.0], False),
    ],
)
def test_constant_columns_are_detected(column, constant):
    X, y = np.array(column)[:, None], np.array([0, 0, 1, 1])
    assert moments_of(X, y).constant.tolist() == [constant]
    assert moments_of(sparse.csc_array(X), y).constant.tolist() == [constant]


def test_a_class_without_values_has_weight_zero():
    X, y = noise()
    X[y == 1, 2] = np.nan
    moments = moments_of(X, y)
    assert moments.count[1, 2] == 0
    assert moments.n_observed.tolist() == [3, 3, 2, 3, 3]
    assert np.isfinite(moments.mean).all()


partitions = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 8), st.booleans())


@given(partitions)
def test_merging_blocks_in_any_order_gives_the_whole(partition):
    seed, n_parts, is_sparse = partition
    rng = np.random.default_rng(seed)
    X, y = noise(n_samples=int(rng.integers(2, 40)), n_features=4, n_classes=int(rng.integers(1, 4)), seed=seed)
    X[rng.random(X.shape) < 0.2] = np.nan
    X = sparse.csr_array(X) if is_sparse else X
    weight = rng.integers(0, 4, size=len(y)).astype(float)
    weight[0] = 1.0
    part = rng.integers(n_parts, size=len(y))
    parts = [part_of(X, y, np.flatnonzero(part == i), weight)(Moments()) for i in np.unique(part)]
    merged = reduce(ClassMoments.merge, [parts[i] for i in rng.permutation(len(parts))])
    assert_same_moments(merged, moments_of(X, y, weight), rtol=1e-10, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_merging_is_associative_and_commutative(seed):
    X, y = noise(n_samples=30, seed=seed)
    a, b, c = (part_of(X, y, np.arange(i, 30, 3))(Moments()) for i in range(3))
    assert_same_moments(a.merge(b).merge(c), a.merge(b.merge(c)), rtol=1e-11, atol=1e-13)
    assert_same_moments(a.merge(b), b.merge(a), rtol=1e-11, atol=1e-13)


def test_merging_an_empty_class_is_bitwise_neutral():
    X, y = noise(n_classes=2)
    whole = moments_of(X, y)
    parts = [part_of(X, y, np.flatnonzero(y == k))(Moments()) for k in (0, 1)]
    for merged in (parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        np.testing.assert_array_equal(merged.mean, whole.mean)
        np.testing.assert_array_equal(merged.scatter, whole.scatter)


def test_large_offsets_lose_no_precision_in_merging():
    X, y = noise(n_samples=400)
    X = 1e8 + 1e-2 * X
    parts = [part_of(X, y, np.arange(i, 400, 8))(Moments()) for i in range(8)]
    merged = reduce(ClassMoments.merge, parts)
    for k in range(3):
        assert merged.scatter[k, 0] == pytest.approx(exact(X[y == k, 0])[2], rel=1e-5)


def test_joining_puts_columns_side_by_side():
    X, y = noise()
    parts = [moments_of(X[:, columns], y) for columns in (slice(0, 2), slice(2, 5))]
    whole, joined = moments_of(X, y), ClassMoments.join(parts)
    np.testing.assert_array_equal(joined.count, whole.count)
    np.testing.assert_array_equal(joined.mean, whole.mean)
    np.testing.assert_array_equal(joined.scatter, whole.scatter)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("where", ["first", "middle", "last", "all", "all of a class", "beside missing"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_detected_in_any_row(value, where, convert):
    X, y = noise(n_classes=2)
    if where == "beside missing":
        X[:, 3] = np.nan
    rows = {"first": 0, "middle": 30, "last": 59, "all": slice(None), "all of a class": y == 1, "beside missing": 7}
    X[rows[where], 3] = value
    with pytest.raises(UnusableColumnError, match=r"column 3 .*infinity") as error:
        fold_of(convert(X), y)(Moments())
    assert error.value.column == 3


def test_infinities_of_both_signs_are_detected():
    X, y = noise(n_classes=2)
    X[:, 3] = np.where(np.arange(60) % 4 < 2, np.inf, -np.inf)
    with pytest.raises(UnusableColumnError, match=r"column 3 .*infinity"):
        moments_of(X, y)


def test_a_row_with_weight_zero_may_contain_infinity():
    X, y = noise(n_classes=2)
    weight = np.ones(60)
    weight[5] = 0
    X[5, 3] = np.inf
    expected = moments_of(np.delete(X, 5, axis=0), np.delete(y, 5))
    assert_same_moments(moments_of(X, y, weight), expected, rtol=1e-14)
    assert_same_moments(moments_of(sparse.csc_array(X), y, weight), expected, rtol=1e-12)
