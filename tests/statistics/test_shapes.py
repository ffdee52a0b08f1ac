from functools import reduce

import numpy as np
import pytest
from helpers import fold_of, moments_of, part_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2, f_oneway

from ilfs.statistics import ClassShapes, ShapeAssociation, Shapes

forms = pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_array], ids=["C", "F", "sparse"])


def table(missing=0.0, n_samples=90, n_features=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n_samples, n_features))  # some values are beyond the limit of a shape
    X[rng.random(X.shape) < 0.3] = 0.0
    X[rng.random(X.shape) < missing] = np.nan
    y = np.concatenate([np.arange(3), rng.integers(3, size=n_samples - 3)])
    return X, y, rng.integers(1, 4, size=n_samples).astype(float)


def explicit_shapes(X, shapes):
    return np.minimum(((X - shapes.mean) / shapes.deviation) ** 2, 3.0)


def sums_of(X, y, weight):
    fold = fold_of(X, y, weight)
    return fold(Shapes.from_moments(moments_of(X, y, weight)))


@forms
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sums_match_the_definition(convert, missing):
    X, y, weight = table(missing)
    shapes = Shapes.from_moments(moments_of(X, y, weight))
    mean = np.nansum(weight[:, None] * X, axis=0) / np.sum(weight[:, None] * ~np.isnan(X), axis=0)
    np.testing.assert_allclose(shapes.mean, mean, rtol=1e-12)
    found, U, Z = sums_of(convert(X), y, weight), explicit_shapes(X, shapes), (X - shapes.mean) / shapes.deviation
    for k in range(3):
        of_class = weight[y == k, None]
        np.testing.assert_allclose(found.sum[k], np.nansum(of_class * U[y == k], axis=0), rtol=1e-11)
        np.testing.assert_allclose(found.square[k], np.nansum(of_class * U[y == k] ** 2, axis=0), rtol=1e-11)
        np.testing.assert_allclose(found.product[k], np.nansum(of_class * (U * Z)[y == k], axis=0), atol=1e-10)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.0, 0.3]), st.booleans())
def test_merging_blocks_in_any_order_gives_the_whole(seed, n_parts, missing, is_sparse):
    rng = np.random.default_rng(seed)
    X, y, weight = table(missing, int(rng.integers(8, 40)), seed=seed)
    X = sparse.csr_array(X) if is_sparse else X
    shapes, part = Shapes.from_moments(moments_of(X, y, weight)), rng.integers(n_parts, size=len(y))
    parts = [part_of(X, y, np.flatnonzero(part == i), weight)(shapes) for i in np.unique(part)]
    merged = reduce(ClassShapes.merge, [parts[i] for i in rng.permutation(len(parts))])
    whole = fold_of(X, y, weight)(shapes)
    for name in ("sum", "square", "product"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), atol=1e-10)


def association_of(X, y, weight, class_weight):
    moments = moments_of(X, y, weight)
    shapes = Shapes.from_moments(moments)
    total = np.bincount(y, weight)
    return ShapeAssociation.from_sums(shapes, fold_of(X, y, weight)(shapes), moments, class_weight, total)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_association_is_that_of_explicit_columns(convert, missing):
    X, y, weight = table(missing)
    class_weight = np.array([0.5, 2.0, 1.0])
    found = association_of(convert(X), y, weight, class_weight)
    w = weight * class_weight[y]
    T = np.eye(3)[y]
    T = (T - w @ T / w.sum()) / np.sqrt(w @ T / w.sum() * (1 - w @ T / w.sum()))
    for j in range(X.shape[1]):
        here = ~np.isnan(X[:, j])
        u, x = explicit_shapes(X, found.shapes)[:, j], X[:, j].copy()
        u, x = (np.where(here, a - np.average(a[here], weights=w[here]), 0.0) for a in (u, x))
        correlation = (w * u) @ T / w.sum() / np.sqrt(w @ u**2 / w.sum())
        np.testing.assert_allclose(found.association.correlation[j], correlation, atol=1e-12)
        left = u - (w @ (u * x)) / (w @ x**2) * x
        means = np.array([np.average(left[y == k], weights=w[y == k]) for k in range(3)])
        between = np.sum(np.bincount(y, w) * means**2)
        assert found.explained[j] == pytest.approx(between / (w @ left**2), rel=1e-9)


def test_the_test_of_a_feature_with_equal_means_is_that_of_one_way_analysis_of_variance():
    # Symmetric within each class: no straight line explains anything of the shape.
    half = np.abs(np.random.default_rng(0).normal(size=(2, 40))) * np.array([[1.0], [1.4]])
    X, y = np.concatenate([half, -half], axis=1).reshape(-1, 1), np.repeat([0, 1], 80)
    found = association_of(X, y, np.ones(160), np.ones(2))
    u = explicit_shapes(X, found.shapes)[:, 0]
    f = f_oneway(u[y == 0], u[y == 1]).statistic
    assert found.explained[0] == pytest.approx(f / (f + 158))
    assert found.n_samples == pytest.approx(160)
    assert found.critical(0.01) == pytest.approx(chi2.isf(0.01, 1) / 160)


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.1, 0.3), (1e6, 1e6 + 1), (-3.0, 1e-3)])
@pytest.mark.parametrize("n_high", [1, 20, 30])
def test_a_feature_with_two_values_has_no_shape(values, n_high):
    y = np.random.default_rng(0).permutation(np.arange(60) % 3)
    X = np.array(values)[(np.arange(60) < n_high).astype(int)][:, None]
    for table_of in (np.asarray, sparse.csr_array):
        assert association_of(table_of(X), y, np.ones(60), np.array([1.0, 2.0, 1.0])).explained.tolist() == [0.0]


def test_a_constant_feature_has_no_shape():
    found = association_of(np.full((6, 1), 3.0), np.array([0, 1, 0, 1, 0, 1]), np.ones(6), np.ones(2))
    assert found.explained.tolist() == [0.0]


def test_several_labels_count_as_several_tests():
    X, _, weight = table()
    Y = np.random.default_rng(1).integers(2, size=(90, 4))
    each = [association_of(X, label, weight, np.ones(2)) for label in Y.T]
    joint = ShapeAssociation.over_labels(each)
    np.testing.assert_array_equal(joint.explained, np.max([one.explained for one in each], axis=0))
    np.testing.assert_array_equal(joint.association.correlation[:, 2], each[2].association.correlation[:, 1])
    assert joint.critical(0.04) == pytest.approx(each[0].critical(0.01))
