from functools import reduce

import numpy as np
import pytest
from brute_force import unit_columns
from helpers import fold_of, part_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ilfs.kernels.terms import bit_of, shape_of
from ilfs.statistics import Association, Moments, Products, ProductTerms, ShapeColumns, TermProducts, Terms, products
from ilfs.statistics import terms as terms_module

both = pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
SETS = ProductTerms(
    np.array([[0, 1, -1], [1, 2, 4], [0, 4, -1]]),
    np.array([[0, 0, -1], [0, 1, 0], [1, 1, -1]], dtype=np.int8),
    np.array([[-0.5, 0.1, 0.6]] * 5) + np.arange(5)[:, None] * 0.01,
)
SHAPED = np.array([3, 0, 1])


def table(missing=0.0, n_samples=70, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5)) + rng.normal(size=(n_samples, 1)) * rng.normal(size=5)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[rng.random(X.shape) < missing] = np.nan
    return X, rng.integers(3, size=n_samples), rng.integers(1, 4, size=n_samples).astype(float)


def shapes_of(Z):
    return np.where(np.isnan(Z), np.nan, np.vectorize(shape_of)(np.nan_to_num(Z)))


def moments_of_shapes(X, weight):
    """Return centres and scales, and mean and deviation of the shapes over the values that are not missing."""
    centre, scale = np.nanmedian(X, axis=0)[SHAPED], np.array([1.0, 0.7, 1.3])
    U = shapes_of((X[:, SHAPED] - centre) / scale)
    W = np.where(np.isnan(U), 0.0, weight[:, None])
    mean = np.sum(W * np.nan_to_num(U), axis=0) / W.sum(axis=0)
    return centre, scale, mean, np.sqrt(np.sum(W * np.nan_to_num(U - mean) ** 2, axis=0) / W.sum(axis=0))


def description(X, y, weight, class_weight=None):
    association = Association.from_moments(fold_of(X, y, weight)(Moments()), class_weight)
    total = weight if class_weight is None else weight * class_weight[y]
    dense = X.toarray() if sparse.issparse(X) else X
    return Terms(association, ShapeColumns(SHAPED, *moments_of_shapes(dense, total)), SETS)


def explicit_columns(X, terms):
    """Return features, shapes and products as columns; missing values have their mean."""
    Z = (X - terms.association.mean) / terms.association.deviation
    U = shapes_of((X[:, SHAPED] - terms.shapes.centre) / terms.shapes.scale)
    U = (U - terms.shapes.mean) / terms.shapes.deviation
    P = [
        np.prod([[bit_of(x, b, SETS.cuts[j]) for x in X[:, j]] for j, b in zip(c, bits, strict=True) if j >= 0], axis=0)
        for c, bits in zip(SETS.columns, SETS.bits, strict=True)
    ]
    return np.nan_to_num(np.column_stack([Z, U, *P]))


@both
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("class_weight", [None, np.array([0.5, 2.0, 1.0])], ids=["equal", "weighted"])
def test_covariances_match_those_of_explicit_columns(convert, missing, class_weight):
    X, y, weight = table(missing)
    terms = description(convert(X), y, weight, class_weight)
    found = fold_of(convert(X), y, weight)(terms, columns=np.arange(5))
    covariance, of_classes = found.standardised()
    total = weight if class_weight is None else weight * class_weight[y]
    E = unit_columns(explicit_columns(X, terms), total)
    T = unit_columns(np.eye(3)[y], total)
    expected = E.T @ E
    np.testing.assert_allclose(covariance[:5], expected[:5, 5:], atol=1e-12)
    np.testing.assert_allclose(np.triu(covariance[5:]), np.triu(expected[5:, 5:]), atol=1e-12)
    np.testing.assert_allclose(of_classes, E[:, 5:].T @ T, atol=1e-12)


@both
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_products_of_features_are_those_without_further_columns(convert, missing):
    X, y, weight = table(missing)
    terms = description(convert(X), y, weight)
    fold = fold_of(convert(X), y, weight)
    found, alone = fold(terms, columns=np.arange(5)), fold(Products(terms.association), columns=np.arange(5))
    assert found.is_complete == alone.is_complete == (missing == 0)
    np.testing.assert_allclose(found.correlation(), alone.correlation(), atol=1e-13)
    np.testing.assert_allclose(found.filled(), alone.filled(), atol=1e-13)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.0, 0.02, 0.3]), st.booleans())
def test_merging_blocks_in_any_order_gives_the_whole(seed, n_parts, missing, is_sparse):
    rng = np.random.default_rng(seed)
    X, y, weight = table(missing, int(rng.integers(8, 40)), seed)
    y[:3] = np.arange(3)
    X = sparse.csr_array(X) if is_sparse else X
    terms, part = description(X, y, weight), rng.integers(n_parts, size=len(y))
    parts = [part_of(X, y, np.flatnonzero(part == i), weight)(terms, columns=np.arange(5)) for i in np.unique(part)]
    merged = reduce(TermProducts.merge, [parts[i] for i in rng.permutation(len(parts))])
    whole = fold_of(X, y, weight)(terms, columns=np.arange(5))
    for one, other in zip(merged.standardised(), whole.standardised(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)


def test_a_table_with_few_values_is_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 30), density=0.02, random_state=rng, format="csr")
    X.data += 2.0
    y, weight, features = rng.integers(3, size=400), rng.integers(1, 3, size=400).astype(float), np.arange(5, 20)
    association = Association.from_moments(fold_of(X, y, weight)(Moments()))
    shapes = ShapeColumns(features, association.mean[features], association.deviation[features], *np.ones((2, 15)) / 3)
    terms = Terms(association, shapes, ProductTerms.none())
    expected = fold_of(X.toarray(), y, weight)(terms, columns=np.arange(30))
    monkeypatch.setattr(products, "dense_blocks", None)
    found = fold_of(X, y, weight)(terms, columns=np.arange(30))
    for one, other in zip(found.standardised(), expected.standardised(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    np.testing.assert_allclose(found.correlation(), expected.correlation(), atol=1e-12)


def test_the_kernel_and_numpy_have_the_same_shapes():
    z = np.linspace(-4, 4, 81)
    np.testing.assert_array_equal(terms_module.shapes_of(z), [shape_of(one) for one in z])


def test_bits_of_values_on_the_cuts():
    cuts = np.array([1.0, 2.0, 3.0])
    assert [bit_of(x, 0, cuts) for x in (1.0, 2.0, 2.5, np.nan)] == [-1, -1, 1, 0]
    assert [bit_of(x, 1, cuts) for x in (0.5, 1.0, 3.0, 3.5, np.nan)] == [1, -1, -1, 1, 0]


def test_a_constant_product_column_has_no_covariance():
    X, y, weight = table()
    above = ProductTerms(SETS.columns[:1], SETS.bits[:1], np.full((5, 3), -100.0))
    terms = description(X, y, weight)
    terms = Terms(terms.association, ShapeColumns.none(), above)
    covariance, of_classes = fold_of(X, y, weight)(terms, columns=np.arange(5)).standardised()
    assert not covariance.any()
    assert not of_classes.any()


def test_sets_with_other_features_than_candidates_are_left_out():
    among = SETS.among(np.array([4, 0, 1]))
    assert among.columns.tolist() == [[1, 2, -1], [1, 0, -1]]
    assert among.bits.tolist() == [[0, 0, -1], [1, 1, -1]]
    np.testing.assert_array_equal(among.cuts, SETS.cuts[[4, 0, 1]])
