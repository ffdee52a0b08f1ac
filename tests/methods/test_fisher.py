"""The Fisher score against hand-computed values, the F test and the authors' toolbox."""

import warnings

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load, oracle, peak_megabytes, planted
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_selection import SelectKBest, f_classif

from ilfs import FisherScore, scorer

fisher_score = scorer("fisher")


def test_scores_match_hand_computed_values():
    # class a: 0, 2 (mean 1, variance 1); class b: 4, 6, 8 (mean 6, variance 8/3); mean 4
    x, y = np.array([[0.0], [2], [4], [6], [8]]), np.array(["a", "a", "b", "b", "b"])
    assert fisher_score(x, y)[0] == pytest.approx((2 * 9 + 3 * 4) / (2 * 1 + 3 * 8 / 3))
    # variances of n - 1 degrees of freedom are 2 and 4
    assert FisherScore(weighting="equal").fit(x, y).scores_[0] == pytest.approx((6 - 1) ** 2 / (2 + 4))


def test_equal_weighting_averages_over_pairs_of_classes():
    X, y = planted(n_classes=4, n_features=6)
    mean = np.array([X[y == k].mean(axis=0) for k in range(4)])
    variance = np.array([X[y == k].var(axis=0, ddof=1) for k in range(4)])
    pairs = [(k, c) for k in range(4) for c in range(k)]
    above = np.mean([(mean[k] - mean[c]) ** 2 for k, c in pairs], axis=0)
    below = np.mean([variance[k] + variance[c] for k, c in pairs], axis=0)
    np.testing.assert_allclose(FisherScore(weighting="equal").fit(X, y).scores_, above / below, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@given(offset=st.sampled_from([0.0, 1.0, 1e6]), seed=st.integers(0, 1000))
def test_scores_are_proportional_to_the_f_statistic(n_classes, offset, seed):
    X, y = planted(n_samples=70, n_features=12, n_classes=n_classes, seed=seed)
    y[:9] = 0  # classes of different sizes
    done = FisherScore().fit(X + offset, y)
    f_statistic = f_classif(X, y)[0]
    # Adding the offset rounds the data to 1e-10, which shows in the squared difference of nearly equal class means.
    found, rounding = done.scores_ * (70 - n_classes) / (n_classes - 1), 1e-10 * f_statistic.max()
    np.testing.assert_allclose(found, f_statistic, rtol=1e-7, atol=rounding)
    np.testing.assert_array_equal(done.order_, np.argsort(-f_statistic))


@pytest.mark.skipif(not DATA, reason=NO_DATA)
@pytest.mark.parametrize("name", ["colon", "dexter", "srbct"])
def test_scores_are_proportional_to_the_f_statistic_on_real_data(name):
    X, y = load(name)
    X, n_classes = X.astype(np.float64), np.unique(y).size
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        f_statistic = np.nan_to_num(f_classif(X, y)[0], posinf=np.inf)  # NaN for a constant column
    scores = fisher_score(X, y)
    np.testing.assert_allclose(scores * (len(y) - n_classes) / (n_classes - 1), f_statistic, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", ["syn2c_60x40", "allaml_72x400", "colon_62x300"])
def test_equal_weighting_matches_the_toolbox(name):
    X, y, weights, ranking = oracle(name, "fisher")
    done = FisherScore(weighting="equal").fit(X, y)
    np.testing.assert_allclose(done.scores_, weights, rtol=1e-10)
    np.testing.assert_allclose(weights[done.order_], weights[ranking], rtol=1e-12)


@pytest.mark.parametrize("weighting", ["size", "equal"])
class TestEveryWeighting:
    def test_integer_weights_equal_repeated_rows(self, weighting):
        X, y = planted(n_classes=3)
        weight = np.random.default_rng(0).integers(0, 4, len(y))
        weighted = FisherScore(weighting=weighting).fit(X, y, sample_weight=weight)
        repeated = FisherScore(weighting=weighting).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-12)

    def test_missing_values_are_ignored(self, weighting):
        X, y = planted(n_classes=3, n_features=4)
        present = np.random.default_rng(1).random(X.shape) < 0.7
        done = FisherScore(weighting=weighting).fit(np.where(present, X, np.nan), y)
        for j, here in enumerate(present.T):
            alone = FisherScore(weighting=weighting).fit(X[here, j : j + 1], y[here])
            assert done.scores_[j] == pytest.approx(alone.scores_[0], rel=1e-12)

    def test_scores_do_not_depend_on_scale_and_offset(self, weighting):
        X, y = planted(n_classes=3)
        scale, offset = np.logspace(-8, 8, 40) * np.where(np.arange(40) % 2, 1, -1), np.linspace(-50, 50, 40)
        done, moved = (FisherScore(weighting=weighting).fit(Z, y) for Z in (X, (X + offset) * scale))
        np.testing.assert_allclose(moved.scores_, done.scores_, rtol=1e-9)

    def test_scores_are_infinite_if_every_class_is_constant(self, weighting):
        y = np.array([0, 0, 1, 1, 2, 2])
        two, three, noise, equal_means = [5, 5, 5, 5, 9, 9], [1, 1, 2, 2, 3, 3], [1, 2, 3, 1, 2, 4], [1, 2, 1, 2, 1, 2]
        done = FisherScore(weighting=weighting).fit(np.column_stack([equal_means, [7] * 6, noise, two, three]), y)
        assert done.scores_[3] == done.scores_[4] == np.inf
        assert done.scores_[0] == done.scores_[1] == 0
        # The column in which more pairs of samples differ comes first, the constant one last.
        assert done.order_.tolist() == [4, 3, 2, 0, 1]

    def test_a_feature_present_in_one_class_only_is_uninformative(self, weighting):
        X, y = planted(n_features=3)
        X[y == 1, 0] = np.nan
        done = FisherScore(weighting=weighting).fit(X, y)
        assert done.scores_[0] == 0
        assert done.order_[-1] == 0

    def test_constant_features_give_a_warning(self, weighting):
        with pytest.warns(UserWarning, match="no feature differs between samples of two classes"):
            done = FisherScore(weighting=weighting).fit(np.ones((4, 2)), [0, 0, 1, 1])
        assert done.scores_.tolist() == [0, 0]


def test_a_score_that_overflows_is_infinite():
    X, y = np.array([[1e149], [1e149], [0.0], [1e-9]]), np.array([0, 0, 1, 1])
    assert fisher_score(X, y)[0] == np.inf


def test_classes_of_one_sample_have_no_variance():
    X, y = np.array([[0.0], [2.0], [9.0]]), np.array([0, 0, 1])
    # The mean variance is that of class 0, which is 2, because class 1 has none.
    assert FisherScore(weighting="equal").fit(X, y).scores_[0] == pytest.approx(8**2 / (2 + 2))


def test_small_weights_do_not_make_a_column_perfect():
    X, y = planted(n_samples=6, n_features=2)
    with pytest.warns(UserWarning, match="its mean is 0.1"):
        done = FisherScore(weighting="equal").fit(X, y, sample_weight=np.full(6, 0.1))
    assert np.isfinite(done.scores_).all()


def test_the_scorer_works_in_select_k_best():
    X, y = planted()
    ours, theirs = SelectKBest(fisher_score, k=5).fit(X, y), SelectKBest(f_classif, k=5).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    np.testing.assert_allclose(fisher_score(sparse.csr_array(X), y), ours.scores_, rtol=1e-12)


def test_invalid_parameters_are_rejected():
    with pytest.raises(ValueError, match="weighting must be 'size' or 'equal', got 'none'"):
        FisherScore(weighting="none").fit(*planted())


def test_peak_memory_does_not_grow_with_n_samples():
    assert peak_megabytes("FisherScore(n_jobs=2)", 20_000, 500) < 8
