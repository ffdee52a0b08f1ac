"""ILFS with shapes: features whose classes differ in spread."""

import numpy as np
import pandas as pd
import pytest
from brute_force import picked_by_terms, residual_columns, unit_columns
from helpers import planted
from scipy import sparse
from scipy.stats import chi2

from ilfs import ILFS
from ilfs.redundancy import SHAPE_CANDIDATES
from ilfs.regression_terms import SHAPE_LEVEL


def spread(n_samples=150, n_features=14, n_classes=3, seed=0):
    """Return related columns; in some, the classes differ in spread, in others in their means or not at all."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    y[rng.random(n_samples) < 0.2] = 0
    X = rng.normal(size=(n_samples, n_features)) + 0.5 * rng.normal(size=(n_samples, 1))
    X[:, :4] *= np.array([1.0, 2.0, 0.5, 1.5, 2.5])[:n_classes][y][:, None]
    X[:, 3:7] += 0.7 * rng.permutation(n_classes)[y][:, None]
    X[:, 7] = X[:, 7] > 0.5  # two values: no shape
    return X, y


def balanced(y):
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    return sizes.mean() / sizes[codes]


def filled(column, weight):
    here = ~np.isnan(column)
    return np.where(here, column, np.average(column[here], weights=weight[here]))


def columns_of(X, weight):
    """Return features and shapes as columns without missing values."""
    mean, deviation = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    U = np.minimum(((X - mean) / deviation) ** 2, 3.0)
    return tuple(np.column_stack([filled(column, weight) for column in A.T]) for A in (X, U))


def expected_picks(X, T, weight, n_tests=1, degrees_of_freedom=1, n_picks=None):
    """Pick by explicit regressions; T has the indicators of the classes, or the labels."""
    filled_X, U = columns_of(X, weight)
    Z, T = unit_columns(filled_X, weight), unit_columns(T, weight)
    with np.errstate(invalid="ignore"):
        F = np.nan_to_num(unit_columns(U, weight))
    every = np.column_stack([np.arange(X.shape[1]), np.full((X.shape[1], 2), -1)])
    R = residual_columns(Z, F, every)
    n_samples = weight.sum() ** 2 / (weight**2).sum()
    variance = (R**2).sum(axis=0)
    explained = np.zeros(X.shape[1])
    for j in np.flatnonzero(variance > 1e-6):
        of_class = (R[:, [j]] * T).sum(axis=0) ** 2 / variance[j]
        explained[j] = of_class.max() if n_tests > 1 or T.shape[1] == 2 else of_class @ fraction_outside(T, weight)
    chosen = np.flatnonzero(explained > chi2.isf(SHAPE_LEVEL / n_tests, degrees_of_freedom) / n_samples)
    is_strong = explained[chosen] > chi2.isf(0.05 / X.shape[1] / n_tests, degrees_of_freedom) / n_samples
    ridge = 1 + 7.5 * 2 * np.log(X.shape[1]) / n_samples
    prices = np.where(is_strong, ridge, 2 * ridge)
    return picked_by_terms(Z, R[:, chosen], T, every[chosen], ridge, prices), chosen, is_strong


def fraction_outside(T, weight):
    """Return 1 - p for each class: its standardised indicator is sqrt((1 - p) / p) in the class."""
    inside = T.max(axis=0) / np.sqrt(weight[T.argmax(axis=0)] / weight.sum())
    return inside**2 / (1 + inside**2)


class TestBruteForce:
    @pytest.mark.parametrize("missing", [0.0, 0.15])
    @pytest.mark.parametrize("class_weight", ["balanced", None])
    @pytest.mark.parametrize("n_classes", [2, 3, 5])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_picks_are_those_of_explicit_regressions(self, n_classes, class_weight, missing, convert):
        X, y = spread(n_classes=n_classes)
        X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
        weight = balanced(y) if class_weight else np.ones(len(y))
        (order, values, _), chosen, is_strong = expected_picks(X, np.eye(n_classes)[y], weight, 1, n_classes - 1)
        assert 0 < is_strong.sum() < chosen.size < X.shape[1]
        found = ILFS(class_weight=class_weight).fit(convert(X), y)
        np.testing.assert_array_equal(found.order_, order)
        np.testing.assert_allclose(found.gain_[order].sum(axis=1), values, rtol=1e-7)
        np.testing.assert_array_equal(found.shape_gain_.any(axis=1), np.isin(np.arange(X.shape[1]), chosen))
        assert (found.shape_gain_ <= found.gain_ + 1e-15).all()

    def test_several_labels(self):
        X, y = spread(n_samples=200)
        Y = np.column_stack([y == 1, np.random.default_rng(1).random(200) < 0.3, y != 2]).astype(int)
        (order, values, _), chosen, is_strong = expected_picks(X, Y, np.ones(200), n_tests=3)
        assert 0 < is_strong.sum() < chosen.size < X.shape[1]
        found = ILFS().fit(X, Y)
        np.testing.assert_array_equal(found.order_, order)
        np.testing.assert_allclose(found.gain_[order].sum(axis=1), values, rtol=1e-7)
        for label, one in found.per_label_.items():
            np.testing.assert_array_equal(one.order_, ILFS().fit(X, Y[:, label]).order_)

    def test_weights_equal_repeated_rows(self):
        X, y = spread()
        times = np.random.default_rng(1).integers(0, 4, size=len(y))
        again = np.repeat(np.arange(len(y)), times)
        found, expected = ILFS().fit(X, y, sample_weight=times), ILFS().fit(X[again], y[again])
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.shape_gain_, expected.shape_gain_, rtol=1e-8, atol=1e-13)

    def test_features_that_must_be_kept_come_first_with_their_shapes(self):
        X, y = spread()
        found = ILFS(must_keep=[0, 9]).fit(X, y)
        assert set(found.order_[:2]) == {0, 9}
        assert found.shape_gain_[0].sum() > 0

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_threads_and_layouts_give_the_same_bits(self, n_jobs):
        X, y = spread()
        expected = ILFS().fit(X, y)
        for table in (X, np.asfortranarray(X), pd.DataFrame(X)):
            np.testing.assert_array_equal(ILFS(n_jobs=n_jobs).fit(table, y).shape_gain_, expected.shape_gain_)


class TestFound:
    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_ring_among_many_noise_features(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 1500))
        distance = X[:, 700] ** 2 + X[:, 1200] ** 2
        y = distance > np.median(distance)
        assert set(ILFS().fit(X, y).order_[:2]) == {700, 1200}
        assert not set(ILFS(shapes=False).fit(X, y).order_[:100]) & {700, 1200}

    @pytest.mark.parametrize("seed", [0, 1])
    def test_features_that_differ_only_in_spread(self, seed):
        X, y = planted(300, 1500, 0, seed=seed)
        X[y == 1, 1100:1104] *= 3
        assert set(ILFS().fit(X, y).order_[:4]) == {1100, 1101, 1102, 1103}

    def test_an_outlier_makes_no_shape(self):
        X, y = planted(200, 30, 3)
        X[0, 20] = 1e6
        assert not ILFS().fit(X, y).shape_gain_[20].any()


class TestCandidates:
    def table(self):
        X, y = planted(400, 60, 30, shift=1.0)
        X[y == 1, 40:50] *= 4
        return X, y

    def test_strong_shapes_replace_the_least_relevant_candidates(self):
        X, y = self.table()
        plain, found = ILFS(n_candidates=20, shapes=False).fit(X, y), ILFS(n_candidates=20).fit(X, y)
        assert not set(plain.candidates_) & set(range(40, 50))
        n_new = int(SHAPE_CANDIDATES * 20)
        np.testing.assert_array_equal(found.candidates_[:-n_new], plain.candidates_[:-n_new])
        assert set(found.candidates_[-n_new:]) < set(range(40, 50))

    def test_features_that_must_be_kept_stay_candidates(self):
        X, y = self.table()
        found = ILFS(n_candidates=8, must_keep=[55, 56]).fit(X, y)
        assert {55, 56} <= set(found.candidates_)
        assert found.candidates_.size == 10
        assert set(found.order_[:2]) == {55, 56}

    def test_without_strong_shapes_the_candidates_are_the_most_relevant(self):
        X, y = planted(200, 60, 10)
        np.testing.assert_array_equal(
            ILFS(n_candidates=20).fit(X, y).candidates_, ILFS(n_candidates=20, shapes=False).fit(X, y).candidates_
        )


class TestParameter:
    def test_a_table_of_features_with_two_values_is_ranked_as_without_shapes(self):
        X, y = planted(100, 30, 6)
        X = (X > 0.5).astype(float)
        one, other = ILFS().fit(X, y), ILFS(shapes=False).fit(X, y)
        np.testing.assert_array_equal(one.order_, other.order_)
        np.testing.assert_array_equal(one.scores_, other.scores_)
        assert not one.shape_gain_.any()

    def test_the_attribute_is_there_only_if_shapes_are_used(self):
        X, y = spread()
        for options in ({"shapes": False}, {"redundancy": "novelty"}, {"redundancy": None}):
            assert not hasattr(ILFS(**options).fit(X, y), "shape_gain_")

    def test_another_value_is_an_error(self):
        X, y = spread()
        with pytest.raises(ValueError, match="shapes must be True or False, got 'yes'"):
            ILFS(shapes="yes").fit(X, y)

    def test_p_values_do_not_depend_on_shapes(self):
        X, y = spread()
        one, other = (ILFS(n_permutations=20, shapes=shapes).fit(X, y) for shapes in (True, False))
        np.testing.assert_array_equal(one.p_values_, other.p_values_)
