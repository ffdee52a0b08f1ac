import numpy as np
import pytest
from helpers import moments_of, planted
from scipy import sparse

from ilfs.statistics import Association

both = pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def expected(X, y, weight=None):
    """Weighted correlations with indicator columns, feature by feature, over the values that are not missing."""
    weight = np.ones(len(y)) if weight is None else weight
    found = np.zeros((X.shape[1], np.unique(y).size))
    for f in range(X.shape[1]):
        here = ~np.isnan(X[:, f])
        for k, label in enumerate(np.unique(y)):
            indicator = (y[here] == label).astype(float)
            if np.ptp(indicator) and np.ptp(X[here, f]):
                C = np.cov(X[here, f], indicator, aweights=weight[here])
                found[f, k] = C[0, 1] / np.sqrt(C[0, 0] * C[1, 1])
    return found


def table(n_classes=3, missing=0.0):
    X, y = planted(n_samples=70, n_features=6, n_informative=4, n_classes=n_classes, shift=1.0)
    y = np.where(np.random.default_rng(1).random(70) < 0.3, 0, y)  # classes of different size
    X[np.random.default_rng(2).random(X.shape) < missing] = np.nan
    return X, y


@both
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_correlations_with_indicators_are_those_of_numpy(convert, n_classes):
    X, y = table(n_classes)
    association = Association.from_moments(moments_of(convert(X), y))
    indicators = y[:, None] == np.arange(n_classes)
    by_numpy = np.corrcoef(np.column_stack([X, indicators]).T)[:6, 6:]
    np.testing.assert_allclose(association.correlation, by_numpy, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(association.mean, X.mean(axis=0), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(association.deviation, X.std(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(association.class_weight, np.ones(n_classes))


@both
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weights_and_missing_values(convert, missing):
    X, y = table(missing=missing)
    weight = np.random.default_rng(3).uniform(0.1, 3, size=len(y))
    association = Association.from_moments(moments_of(convert(X), y, weight))
    np.testing.assert_allclose(association.correlation, expected(X, y, weight), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_weight_of_a_class_is_that_of_its_samples(missing):
    X, y = table(missing=missing)
    of_class = 1 / np.bincount(y)
    association = Association.from_moments(moments_of(X, y), of_class)
    np.testing.assert_allclose(association.correlation, expected(X, y, of_class[y]), rtol=1e-10, atol=1e-12)
    for f in range(6):
        here = ~np.isnan(X[:, f])
        assert association.mean[f] == pytest.approx(np.average(X[here, f], weights=of_class[y][here]), abs=1e-12)


def test_two_classes_are_mirror_images():
    X, y = table(n_classes=2)
    correlation = Association.from_moments(moments_of(X, y)).correlation
    np.testing.assert_allclose(correlation[:, 0], -correlation[:, 1], rtol=1e-12)


def test_a_feature_has_no_correlation_with_a_class_without_values():
    X, y = table()
    X[y == 1, 2] = np.nan
    association = Association.from_moments(moments_of(X, y))
    assert association.correlation[2, 1] == 0
    np.testing.assert_allclose(association.correlation, expected(X, y), rtol=1e-10, atol=1e-12)


def test_a_constant_feature_has_correlation_0_and_deviation_1():
    X, y = table()
    X[:, 1], X[:, 3] = 5.0, np.nan
    association = Association.from_moments(moments_of(X, y))
    np.testing.assert_array_equal(association.correlation[[1, 3]], np.zeros((2, 3)))
    np.testing.assert_array_equal(association.deviation[[1, 3]], [1.0, 1.0])
    assert np.isfinite(association.mean).all()


def test_a_feature_with_values_in_one_class_has_no_correlation():
    X, y = table(n_classes=2)
    X[y == 1, 0] = np.nan
    np.testing.assert_array_equal(Association.from_moments(moments_of(X, y)).correlation[0], [0.0, 0.0])


def test_the_indicator_of_a_class_has_correlation_1():
    y = np.array([0, 0, 1, 1, 1, 2])
    association = Association.from_moments(moments_of((y == 1)[:, None] * 1e9, y))
    assert association.correlation[0, 1] == pytest.approx(1.0, abs=1e-15)
    assert association.correlation.max() <= 1.0


def test_a_small_spread_far_from_zero_loses_no_precision():
    X, y = table()
    X = np.round(1e3 * X)
    far, near = (Association.from_moments(moments_of(Z, y)).correlation for Z in (1e9 + X, X))
    np.testing.assert_allclose(far, near, rtol=1e-8, atol=1e-10)


def test_take_gives_the_association_of_some_features():
    X, y = table()
    whole, part = Association.from_moments(moments_of(X, y)), Association.from_moments(moments_of(X[:, [4, 1]], y))
    some = whole.take(np.array([4, 1]))
    for name in ("mean", "deviation", "correlation", "class_weight"):
        np.testing.assert_array_equal(getattr(some, name), getattr(part, name))


@both
def test_over_all_samples_missing_values_are_replaced_by_the_mean(convert):
    X, y = table(missing=0.3)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    association = Association.from_moments(moments_of(convert(X), y), class_total=np.bincount(y).astype(float))
    by_numpy = np.corrcoef(np.column_stack([filled, y[:, None] == np.arange(3)]).T)[:6, 6:]
    np.testing.assert_allclose(association.correlation, by_numpy, rtol=1e-11, atol=1e-13)
