import numpy as np
import pytest
from brute_force import picked_by_gain, unit_columns
from helpers import planted
from scipy import sparse

from ilfs import ILFS
from ilfs.execution import fold_of, run_plan
from ilfs.rare_events import RARE_EVENT_FACTOR, find_counts, log_correlations
from ilfs.redundancy import ridge_of
from ilfs.sources import table_source
from ilfs.statistics import LogMoments, LogProducts, Moments, Products
from ilfs.statistics.association import Association


def words(n_texts=90, n_words=30, n_classes=3, seed=0):
    """Return counts of words, of which each class has some of its own, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_texts) % n_classes
    rate = np.full((n_classes, n_words), 0.05)
    rate[np.arange(n_words // 2) % n_classes, np.arange(n_words // 2)] = 0.3
    return rng.poisson(rate[y] * rng.gamma(1.0, 1.0, size=(n_texts, 1))).astype(float), y


def logs(X):
    """Return log(1 + x / unit), where the unit of a column is the mean of its values that are not 0."""
    return np.log1p(X * (X > 0).sum(axis=0) / X.sum(axis=0))


def counts_in(X, y=None):
    y = np.arange(len(X)) % 2 if y is None else y
    return run_plan(find_counts(np.arange(X.shape[1]), 0), fold_of(table_source(X, y)))


class TestFindCounts:
    def test_words_are_counts(self):
        X, y = words()
        assert counts_in(X, y).all()
        assert counts_in(sparse.csr_array(X), y).all()

    def test_binary_words_are_counts(self):
        assert counts_in((words()[0] > 0).astype(float)).all()

    @pytest.mark.parametrize("change", [lambda X: -X, lambda X: X + 1, lambda X: X - X.mean(axis=0), np.exp])
    def test_other_tables_are_not(self, change):
        assert counts_in(change(words()[0])) is None

    def test_pixels_that_are_often_dark_are_not(self):
        assert counts_in(np.maximum(np.random.default_rng(0).normal(size=(90, 30)), 0)) is None

    def test_missing_values_are_not_counts(self):
        X, _ = words()
        X[0, 0] = np.nan
        assert counts_in(X) is None

    def test_columns_with_negative_values_are_not_transformed(self):
        X, _ = words()
        X[:, 3] = np.random.default_rng(0).normal(size=90)
        np.testing.assert_array_equal(np.flatnonzero(counts_in(X) == 0), [3])

    @pytest.mark.parametrize(("n_dense", "expected"), [(15, True), (16, False)])
    def test_half_of_the_columns_must_be_rare(self, n_dense, expected):
        X, _ = words()
        X[:, :n_dense] += 1
        assert (counts_in(X) is not None) is expected


class TestPicks:
    @pytest.mark.parametrize("class_weight", ["balanced", None])
    def test_are_those_of_a_regression_on_logarithms_with_a_larger_ridge(self, class_weight):
        X, y = words(seed=1)
        X, y = X[:80], y[:80]  # classes of different sizes
        found = ILFS(class_weight=class_weight).fit(X, y)
        sizes = np.bincount(y)
        weight = (80 / (3 * sizes))[y] if class_weight else np.ones(80)
        Z, T = (unit_columns(A, weight) for A in (logs(X), (y[:, None] == np.arange(3)).astype(float)))
        ridge = RARE_EVENT_FACTOR * ridge_of(30, weight.sum() ** 2 / (weight**2).sum())
        picks, gains = picked_by_gain(Z, T, ridge, 10)
        np.testing.assert_array_equal(found.order_[:10], picks)
        np.testing.assert_allclose(found.gain_[picks], gains, rtol=1e-7, atol=1e-11)

    def test_correlations_of_features_are_those_of_the_values(self):
        X, y = words()
        found = ILFS(class_weight=None).fit(X, y)
        second = found.order_[1]
        expected = np.corrcoef(X[:, second], X[:, found.nearest_[second]])[0, 1]
        assert found.nearest_correlation_[second] == pytest.approx(expected)

    def test_relevance_does_not_change(self):
        X, y = words()
        np.testing.assert_array_equal(ILFS().fit(X, y).relevance_, ILFS(redundancy=None).fit(X, y).relevance_)

    def test_several_labels(self):
        X, y = words(seed=2)
        Y = np.column_stack([y == 0, y > 0]).astype(int)
        found = ILFS().fit(X, Y)
        Z, T = unit_columns(logs(X)), unit_columns(Y.astype(float))
        picks, gains = picked_by_gain(Z, T, RARE_EVENT_FACTOR * ridge_of(30, 90), 5)
        np.testing.assert_allclose(found.gain_[picks], gains, rtol=1e-7, atol=1e-11)

    def test_one_informative_label_has_one_gain(self):
        X, y = words(n_classes=2)
        with pytest.warns(UserWarning, match="the same for all samples"):
            found = ILFS().fit(X, np.column_stack([y, np.zeros(90, dtype=int)]))
        expected = ILFS(class_weight=None).fit(X, y)
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.gain_, expected.gain_[:, 1:])

    @pytest.mark.parametrize("offset", [-1e9, 1e9])
    def test_dense_columns_far_from_0_keep_their_correlations(self, offset):
        X, y = words(seed=3)
        rng = np.random.default_rng(0)
        X[:, 20] = rng.normal(size=90) + y
        X[:, 21] = X[:, 20] + 0.3 * rng.normal(size=90)  # repeats it
        moved = X.copy()
        moved[:, 20:22] += offset
        found, expected = ILFS().fit(moved, y), ILFS().fit(X, y)
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.gain_, expected.gain_, rtol=1e-5, atol=1e-7)

    @pytest.mark.filterwarnings("error")
    def test_rows_without_weight_may_have_negative_values(self):
        X, y = words()
        X[0] = -5.0
        found = ILFS().fit(X, y, np.append(0.0, np.ones(89)))
        np.testing.assert_array_equal(found.order_, ILFS().fit(X[1:], y[1:]).order_)

    def test_there_are_no_shapes_beside_the_products_of_counts(self):
        rng = np.random.default_rng(0)
        X = rng.poisson(0.15, size=(400, 20)).astype(float)
        y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
        X[:, 5] = np.where(y, rng.poisson(0.3, size=400), 0)
        found = ILFS(interactions=2).fit(X, y)
        assert len(found.interactions_) > 0
        assert not found.shape_gain_.any()
        without = ILFS(interactions=2, shapes=False).fit(X, y)
        np.testing.assert_array_equal(found.order_, without.order_)
        np.testing.assert_allclose(found.gain_, without.gain_)

    def test_dense_and_sparse_tables_and_other_rows_give_the_same_order(self):
        X, y = words()
        expected = ILFS().fit(X, y).order_
        rows = np.random.default_rng(0).permutation(90)
        np.testing.assert_array_equal(ILFS().fit(sparse.csr_array(X), y).order_, expected)
        np.testing.assert_array_equal(ILFS(n_jobs=2).fit(np.asfortranarray(X[rows]), y[rows]).order_, expected)

    def test_fractional_weights_do_not_look_like_missing_values(self):
        X, y = words()
        weight = np.random.default_rng(0).uniform(0.5, 1.5, size=90)
        dense, stored = (ILFS().fit(table, y, weight) for table in (X, sparse.csr_array(X)))
        np.testing.assert_array_equal(stored.order_, dense.order_)
        np.testing.assert_allclose(stored.gain_, dense.gain_, rtol=1e-9, atol=1e-12)

    def test_the_unit_of_the_counts_does_not_change_the_order(self):
        X, y = words()
        for factor in (0.001, 7.0, 1e6):
            np.testing.assert_array_equal(ILFS().fit(factor * X, y).order_, ILFS().fit(X, y).order_)

    def test_dense_features_keep_the_ridge(self):
        X, y = planted(60, 20, 10, 3, shift=1.0)
        found = ILFS(shapes=False).fit(X, y)
        Z, T = unit_columns(X), unit_columns((y[:, None] == np.arange(3)).astype(float))
        picks, _ = picked_by_gain(Z, T, ridge_of(20, 60), 5)
        np.testing.assert_array_equal(found.order_[:5], picks)


class TestLogs:
    @pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csc_array, lambda X: X.astype(np.float32)])
    def test_statistics_are_those_of_the_transformed_table(self, form):
        X, y = words()
        unit = np.arange(30) % 3 / 2.0
        Z = np.where(unit > 0, np.log1p(X / np.where(unit > 0, unit, 1.0)), X)
        found, expected = fold_of(table_source(form(X), y)), fold_of(table_source(Z, y))
        association = Association.from_moments(expected(Moments()))
        of_logs, of_table = found(LogMoments(unit)), expected(Moments())
        np.testing.assert_allclose(of_logs.mean, of_table.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(of_logs.scatter, of_table.scatter, rtol=1e-9, atol=1e-12)
        products = found(LogProducts(association, unit)).correlation()
        np.testing.assert_allclose(products, expected(Products(association)).correlation(), atol=1e-12)

    def test_the_table_is_not_changed(self):
        X, y = words()
        for table in (X.copy(), sparse.csc_array(X)):
            fold_of(table_source(table, y))(LogMoments(np.ones(30)))
            ILFS().fit(table, y)
            np.testing.assert_array_equal(table.toarray() if sparse.issparse(table) else table, X)

    def test_correlations_are_pearson_s(self):
        X, y = words()
        fold = fold_of(table_source(X, y))
        association = Association.from_moments(fold(Moments()))
        of_classes, of_pairs = run_plan(log_correlations(np.arange(30), np.ones(30), association, 0), fold)
        every = np.corrcoef(np.column_stack([np.log1p(X), y[:, None] == np.arange(3)]).T)
        np.testing.assert_allclose(of_pairs, every[:30, :30], atol=1e-12)
        np.testing.assert_allclose(of_classes, every[:30, 30:], atol=1e-12)
