from functools import reduce

import numpy as np
import pandas as pd
import pytest
from brute_force import correlations
from helpers import fold_of, part_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ilfs.execution import memory, partition
from ilfs.statistics import Association, CrossProducts, DenseBlock, Moments, Products, encode_labels, products

both = pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def related(n_samples=60, n_features=6, missing=0.0, seed=0):
    """Create correlated columns and the classes of their rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) + rng.normal(size=(n_samples, 2)) @ rng.normal(size=(2, n_features))
    X[rng.random(X.shape) < missing] = np.nan
    return X, rng.integers(3, size=n_samples)


def association_of(X, y, weight=None, class_weight=None):
    return Association.from_moments(fold_of(X, y, weight)(Moments()), class_weight)


def products_of(X, y=None, weight=None, class_weight=None, n_jobs=None):
    y = np.zeros(X.shape[0]) if y is None else y
    read = Products(association_of(X, y, weight, class_weight))
    return fold_of(X, y, weight, n_jobs)(read, columns=np.arange(X.shape[1]))


def rho_of(X, *args, **options):
    return products_of(X, *args, **options).correlation()


@both
def test_correlations_match_hand_computed_values(convert):
    # The deviations (-1, 0, 1) and (-1, 2, -1) are orthogonal; those of the third column are minus those of the first.
    X = np.array([[1.0, 0.0, 9.0], [2.0, 3.0, 8.0], [3.0, 0.0, 7.0]])
    np.testing.assert_allclose(rho_of(convert(X)), [[1, 0, -1], [0, 1, 0], [-1, 0, 1]], atol=1e-15)


@both
@pytest.mark.parametrize("n_features", [1, 6, 64, 65, 150])
def test_correlations_match_numpy(convert, n_features):
    X, y = related(n_features=n_features)
    np.testing.assert_allclose(rho_of(convert(X), y), np.corrcoef(X.T), rtol=1e-12, atol=1e-13)


@both
def test_correlations_with_missing_values_use_the_rows_in_which_both_are_present(convert):
    X, y = related(missing=0.3)
    np.testing.assert_allclose(rho_of(convert(X), y), pd.DataFrame(X).corr().to_numpy(), rtol=1e-11, atol=1e-13)


@both
def test_filled_replaces_missing_values_by_the_mean(convert):
    X, y = related(missing=0.3)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    products = products_of(convert(X), y)
    assert not products.is_complete
    np.testing.assert_allclose(products.filled(), np.corrcoef(filled.T), rtol=1e-11, atol=1e-13)
    assert products_of(convert(filled), y).is_complete


@both
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_integer_weights_equal_repeated_rows(convert, missing):
    X, y = related(missing=missing)
    times = np.random.default_rng(1).integers(0, 4, size=len(y))
    again = np.repeat(np.arange(len(y)), times)
    weighted = rho_of(convert(X), y, times.astype(float))
    np.testing.assert_allclose(weighted, pd.DataFrame(X[again]).corr().to_numpy(), rtol=1e-11, atol=1e-13)


@both
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_fractional_weights_match_the_definition(convert, missing):
    X, y = related(missing=missing)
    weight = np.random.default_rng(1).uniform(0.1, 3, size=len(y))
    np.testing.assert_allclose(rho_of(convert(X), y, weight), correlations(X, weight), rtol=1e-11, atol=1e-13)


@both
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_class_weights_equal_sample_weights(convert, missing):
    X, y = related(missing=missing)
    weight, of_class = np.random.default_rng(1).uniform(0.5, 2, size=len(y)), np.array([0.5, 3.0, 1.0])
    expected = correlations(X, weight * of_class[y])
    np.testing.assert_allclose(rho_of(convert(X), y, weight, of_class), expected, rtol=1e-11, atol=1e-13)


@both
@pytest.mark.parametrize("value", [np.inf, np.nan, 1e300])
def test_a_row_with_weight_zero_may_contain_any_value(convert, value):
    X, y = related()
    weight = np.ones(len(y))
    weight[[3, 7]] = 0.0
    expected = rho_of(np.delete(X, [3, 7], axis=0))
    X[3, 2] = value
    found = products_of(convert(X), y, weight)
    assert found.weight.shape == (1, 1)  # no value of a row with positive weight is missing
    np.testing.assert_allclose(found.correlation(), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_sums_of_some_features_are_those_of_a_table_of_them(missing):
    X, _ = related(missing=missing)
    some = np.array([0, 2, 5])
    taken, alone = products_of(X).take(some), products_of(X[:, some])
    assert taken.is_complete == alone.is_complete == (missing == 0)
    np.testing.assert_allclose(taken.correlation(), alone.correlation(), atol=1e-12)
    np.testing.assert_allclose(taken.filled(), alone.filled(), atol=1e-12)


def test_sums_are_stored_once_without_missing_values():
    X, y = related()
    found = products_of(X, y)
    assert (found.weight.shape, found.sum.shape, found.square.shape) == ((1, 1), (6, 1), (6, 1))


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([0.0, 0.02, 0.4]), st.booleans())
def test_merging_blocks_in_any_order_gives_the_whole(seed, n_parts, missing, is_sparse):
    rng = np.random.default_rng(seed)
    X, y = related(n_samples=int(rng.integers(4, 40)), n_features=4, missing=missing, seed=seed)
    weight = rng.integers(0, 4, size=len(y)).astype(float)
    weight[0] = 1.0
    table = sparse.csr_array(X) if is_sparse else X
    read = Products(association_of(table, y, weight))
    part = rng.integers(n_parts, size=len(y))
    parts = [
        part_of(table, y, np.flatnonzero(part == i), weight)(read, columns=np.arange(4))
        for i in np.unique(part)
        if weight[part == i].any()
    ]
    merged = reduce(CrossProducts.merge, [parts[i] for i in rng.permutation(len(parts))])
    np.testing.assert_allclose(merged.correlation(), rho_of(table, y, weight), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_correlations_are_bitwise_equal_for_any_number_of_threads(monkeypatch, missing):
    X, y = related(n_samples=200, missing=missing)
    whole = rho_of(X, y)
    monkeypatch.setattr(partition, "MIN_LEAF_ROWS", 16)
    monkeypatch.setattr(partition, "GATHERED_VALUES", 1)
    monkeypatch.setattr(memory, "MAX_SERIAL_VALUES", 0)
    cut = rho_of(X, y)
    np.testing.assert_allclose(cut, whole, rtol=1e-12, atol=1e-13)
    for n_jobs in (2, 3, 8):
        np.testing.assert_array_equal(rho_of(X, y, n_jobs=n_jobs), cut)


class TestSparse:
    def mostly_zero(self, missing=0.0):
        X, y = related(n_samples=300)
        rng = np.random.default_rng(1)
        X[rng.random(X.shape) < 0.8] = 0.0
        X[rng.random(X.shape) < missing] = np.nan
        return X, y

    @pytest.mark.parametrize("cost", [0, 10**9], ids=["stored values", "dense blocks"])
    def test_sparse_products_match_dense_ones(self, monkeypatch, cost):
        X, y = self.mostly_zero()
        weight, of_class = np.random.default_rng(2).integers(0, 3, size=len(y)).astype(float), np.array([2.0, 1.0, 0.5])
        monkeypatch.setattr(products, "SPARSE_PRODUCT_COST", cost)
        monkeypatch.setattr(products, "DENSE_BLOCK_ROWS", 64)
        if cost == 0:
            monkeypatch.setattr(products, "dense_blocks", None)
        found, expected = (products_of(Z, y, weight, of_class) for Z in (sparse.csc_array(X), X))
        np.testing.assert_allclose(found.correlation(), expected.correlation(), rtol=1e-11, atol=1e-13)
        # Both subtract the same offsets, so that blocks of either kind can be merged.
        for name in ("count", "weight", "sum", "square"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-11, atol=1e-10)

    @pytest.mark.parametrize("cost", [0, 10**9])
    def test_stored_missing_values_are_ignored(self, monkeypatch, cost):
        X, y = self.mostly_zero(missing=0.1)
        monkeypatch.setattr(products, "SPARSE_PRODUCT_COST", cost)
        np.testing.assert_allclose(rho_of(sparse.csr_array(X), y), pd.DataFrame(X).corr(), rtol=1e-11, atol=1e-12)

    def test_few_stored_values_are_never_made_dense(self, monkeypatch):
        X = sparse.random_array((2000, 50), density=0.01, format="csr", random_state=np.random.default_rng(0))
        monkeypatch.setattr(products, "dense_blocks", None)
        np.testing.assert_allclose(rho_of(X), np.corrcoef(X.toarray().T), atol=1e-12)

    def test_a_full_column_with_a_large_offset_keeps_its_precision(self):
        X = np.zeros((500, 30))
        rng = np.random.default_rng(0)
        X[rng.integers(500, size=90), np.arange(90) % 30] = 1.0
        X[:, 0] = 1e8 + rng.normal(size=500) + 3 * X[:, 1]
        X[:, 2] = X[:, 0] - 0.01 * rng.normal(size=500)
        np.testing.assert_allclose(rho_of(sparse.csr_array(X)), correlations(X), atol=1e-7)


@both
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_large_offsets_lose_no_precision(convert, missing):
    X, y = related(missing=missing)
    X = np.round(1e3 * X)
    far = rho_of(convert(1e8 + X), y)  # exact in float64
    np.testing.assert_allclose(far, rho_of(X, y), rtol=1e-9, atol=1e-10)


@both
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_correlations_do_not_depend_on_units(convert, missing):
    X, y = related(missing=missing)
    units = np.array([1e-140, 1e-9, -1.0, 2.0**40, 1e100, -1e140])
    expected = rho_of(X, y) * np.outer(np.sign(units), np.sign(units))
    np.testing.assert_allclose(rho_of(convert(X * units), y), expected, rtol=1e-10, atol=1e-12)


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "rows, backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "columns, backwards": lambda X: np.asfortranarray(X[::-1, ::-1])[::-1, ::-1],
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
}
any_layout = pytest.mark.parametrize("lay", LAYOUTS.values(), ids=list(LAYOUTS))


@any_layout
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, bool])
@pytest.mark.parametrize("n_last", [0, 1, 2, 15])
@pytest.mark.parametrize("n_features", [1, 6])
def test_correlations_match_numpy_for_every_dtype_layout_and_last_block(monkeypatch, lay, dtype, n_last, n_features):
    monkeypatch.setattr(partition, "MIN_LEAF_ROWS", 16)
    monkeypatch.setattr(partition, "GATHERED_VALUES", 1)
    X, y = related(48 + n_last, n_features)
    X[-1] = 5.0 + np.arange(n_features)  # an outlier in the last row, which must not be lost
    X = lay(np.asarray(X > 0 if dtype is bool else 20 * X, dtype=dtype))
    np.testing.assert_allclose(rho_of(X, y), np.atleast_2d(np.corrcoef(X.astype(float).T)), rtol=1e-12, atol=1e-13)


@any_layout
def test_the_table_is_not_modified(lay):
    X, y = related()
    X = lay(X)
    before = X.copy()
    rho_of(X, y)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("is_own", [False, True])
def test_the_values_of_a_block_are_modified_only_if_it_owns_them(is_own):
    X, y = related()
    before, whole = X.copy(), slice(0, X.shape[1])
    _, labels = encode_labels(y)
    block = DenseBlock(X, labels, whole.start, whole.stop, whole, is_own=is_own)
    found = Products(association_of(X, y))(block)
    assert np.array_equal(X, before) is not is_own
    np.testing.assert_allclose(found.correlation(), np.corrcoef(before.T), rtol=1e-12, atol=1e-13)


@both
@pytest.mark.parametrize("n_common", [0, 1, 2, 3])
def test_the_correlation_over_fewer_than_three_common_rows_is_zero(convert, n_common):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2))
    X[: 5 - n_common, 0] = X[5:, 1] = np.nan
    expected = pd.DataFrame(X).corr().to_numpy()[0, 1] if n_common > 2 else 0.0
    assert rho_of(convert(X))[0, 1] == pytest.approx(expected, rel=1e-12)
    assert (expected != 0) == (n_common > 2)


@both
@pytest.mark.parametrize("of_class", [0.1, 50.0])
def test_common_rows_are_counted_without_class_weights(convert, of_class):
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[:4, 0] = X[6:, 1] = np.nan  # columns 0 and 1 are both present in rows 4 and 5
    X[:3, 2] = np.nan  # columns 1 and 2 are both present in rows 3, 4 and 5
    rho = rho_of(convert(X), np.arange(12) // 6, None, np.array([of_class, 1.0]))
    assert rho[0, 1] == 0
    assert rho[1, 2] == pytest.approx(np.corrcoef(X[3:6, 1], X[3:6, 2])[0, 1], rel=1e-9)


@both
@pytest.mark.parametrize("value", [0.0, 0.1, -3.7e5])
def test_a_feature_that_is_constant_in_the_common_rows_has_correlation_zero(convert, value):
    rng = np.random.default_rng(0)
    X = value + rng.normal(size=(40, 3))
    X[:20, 0] = value
    X[20:, 1] = np.nan
    rho = rho_of(convert(X))
    assert rho[0, 1] == rho[1, 0] == 0
    assert rho[0, 2] == pytest.approx(np.corrcoef(X[:, 0], X[:, 2])[0, 1], rel=1e-10)


@both
def test_copies_have_correlation_plus_or_minus_one(convert):
    X, y = related()
    X = np.column_stack([X[:, 0], 3 * X[:, 0] - 7, -X[:, 0], X[:, 1]])
    rho = rho_of(convert(X), y)
    np.testing.assert_allclose(rho[:3, :3], [[1, 1, -1], [1, 1, -1], [-1, -1, 1]], rtol=1e-14)
    assert np.abs(rho).max() <= 1.0
    np.testing.assert_array_equal(rho, rho.T)


def test_merging_in_place_gives_the_same_sums_and_overwrites_only_the_first():
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(20, 4)) for _ in range(2)]
    blocks[1][3, 2] = np.nan
    one, other = (CrossProducts._from_dense(block, np.ones(20), np.ones(20)) for block in blocks)
    expected, kept = one.merge(other), other.product.copy()
    merged = one.merge_in_place(other)
    for name in ("count", "weight", "sum", "square", "product"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(expected, name))
    assert merged.product is one.product
    np.testing.assert_array_equal(other.product, kept)
