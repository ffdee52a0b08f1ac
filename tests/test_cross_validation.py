import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from ilfs.cross_validation import (
    Samples,
    SizeEvaluator,
    check_sizes,
    chosen_size,
    default_estimator,
    fit_weights,
    good_enough,
    results_table,
    seed_of,
    short_indices,
    splits_of,
)


class TestRule:
    # Three folds, four sizes. Means: 0.6, 0.8, 0.85, 0.9. The scores of the last size are 0.8, 0.9 and 1.0: their
    # standard deviation is 0.1, and the standard error 0.1 / sqrt(3) = 0.0577. So 0.85 is within one, 0.8 is not.
    SCORES = np.array([[0.5, 0.8, 0.85, 0.8], [0.6, 0.8, 0.85, 0.9], [0.7, 0.8, 0.85, 1.0]])
    SIZES = np.array([1, 2, 4, 8])

    def test_means_and_standard_errors_are_those_worked_by_hand(self):
        table = results_table({"n_features": self.SIZES}, self.SCORES)
        assert list(table) == [
            *("n_features", "mean_test_score", "std_error"),
            *("split0_test_score", "split1_test_score", "split2_test_score"),
        ]
        np.testing.assert_allclose(table["mean_test_score"], [0.6, 0.8, 0.85, 0.9])
        np.testing.assert_allclose(table["std_error"], [0.1 / 3**0.5, 0, 0, 0.1 / 3**0.5], atol=1e-15)
        np.testing.assert_array_equal(table["split1_test_score"], self.SCORES[1])
        assert pd.DataFrame(table).shape == (4, 6)

    def test_one_se_takes_the_smallest_size_within_one_error_of_the_best(self):
        mean, error = np.array([0.6, 0.8, 0.85, 0.9]), np.array([9.0, 0, 0, 0.1 / 3**0.5])
        assert chosen_size(self.SIZES, mean, error, "one_se") == 4
        assert chosen_size(self.SIZES, mean, error, "best") == 8

    def test_a_size_exactly_one_error_below_the_best_is_chosen(self):
        mean, error = np.array([0.1 + 0.7, 0.9]), np.array([0.0, 0.1])  # 0.1 + 0.7 is a bit less than 0.8
        assert mean[0] < mean[1] - error[1] + 1e-16
        assert chosen_size(np.array([3, 9]), mean, error, "one_se") == 3

    def test_the_smallest_of_the_best_sizes_is_chosen(self):
        mean, error = np.array([0.5, 0.3, 0.1 + 0.4, 0.5]), np.zeros(4)
        assert chosen_size(self.SIZES, mean, error, "best") == 1
        assert chosen_size(self.SIZES, mean, error, "one_se") == 1

    def test_the_error_is_that_of_the_best_size(self):
        mean = np.array([0.7, 0.9, 0.8, 0.85])
        assert chosen_size(self.SIZES, mean, np.array([9, 0.01, 9, 9.0]), "one_se") == 2
        assert chosen_size(self.SIZES, mean, np.array([0, 0.25, 0, 0.0]), "one_se") == 1

    def test_a_metric_below_zero_is_treated_alike(self):
        mean, error = np.array([-0.9, -0.52, -0.5]), np.array([0.0, 0.0, 0.03])
        assert chosen_size(np.array([1, 2, 3]), mean, error, "one_se") == 2


class TestSizes:
    def test_default_sizes_grow_by_a_constant_factor(self):
        sizes = check_sizes(None, 10_000)
        assert (sizes[0], sizes[-1], sizes.size) == (1, 500, 12)
        np.testing.assert_allclose(sizes, 500 ** (np.arange(12) / 11), atol=0.5)

    def test_default_sizes_include_one_feature_and_all_features(self):
        for n_features in (1, 2, 3, 13, 400):
            sizes = check_sizes(None, n_features)
            assert (sizes[0], sizes[-1]) == (1, n_features)
            assert (np.diff(sizes) > 0).all()


def samples(n_samples=20, weight=None):
    rng = np.random.default_rng(0)
    return Samples(rng.normal(size=(n_samples, 3)), np.arange(n_samples) % 2, weight)


class TestGoodEnough:
    def test_means_within_one_error_of_the_best_are_good_enough(self):
        mean, error = np.array([0.6, 0.8, 0.85, 0.9]), np.array([9.0, 0, 0, 0.06])
        assert good_enough(mean, error, "one_se").tolist() == [False, False, True, True]
        assert good_enough(mean, error, "best").tolist() == [False, False, False, True]

    def test_without_a_standard_error_only_the_best_is(self):
        assert good_enough(np.array([0.5, 0.9, 0.8]), np.full(3, np.nan), "one_se").tolist() == [False, True, False]


class TestSplits:
    def test_folds_are_stratified_and_cover_all_rows(self):
        table = samples(50)
        splits = splits_of(None, table, None, 0)
        np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(50))
        for train, test in splits:
            assert not set(train) & set(test)
            assert table.y[test].sum() == 5

    def test_rows_of_weight_0_are_in_no_fold(self):
        weight = np.ones(20)
        weight[[3, 8]] = 0
        with_weights = splits_of(4, samples(weight=weight), None, 0)
        for train, test in with_weights:
            assert not {3, 8} & {*train, *test}
        kept = np.flatnonzero(weight)
        without = splits_of(4, samples().take(kept), None, 0)
        for (train, test), (rows, others) in zip(with_weights, without, strict=True):
            np.testing.assert_array_equal(train, kept[rows])
            np.testing.assert_array_equal(test, kept[others])

    def test_rows_of_a_group_are_in_the_same_fold(self):
        groups = np.repeat(list("abcdefghij"), 2)
        for cv in (None, 3, GroupKFold(3)):
            for train, test in splits_of(cv, samples(), groups, 0):
                assert not set(groups[train]) & set(groups[test])
        with pytest.raises(ValueError, match=r"groups must have shape \(20,\), a group for each row of X, got \(19,\)"):
            splits_of(None, samples(), groups[1:], 0)

    def test_a_fold_whose_training_rows_have_one_class_is_refused(self):
        groups = np.arange(20) % 2  # the groups are the classes
        with pytest.raises(ValueError, match="the training rows of each fold must have two classes, got a fold with"):
            splits_of(2, samples(), groups, 0)

    def test_classes_of_one_sample_each_are_refused(self):
        with pytest.raises(ValueError, match="needs a class with two samples or more, got 2 classes of one sample"):
            splits_of(None, samples(2), None, 0)


class TestEvaluator:
    def test_scores_are_those_of_the_estimator_on_the_first_columns(self):
        X, y = load_wine(return_X_y=True)
        train, test = Samples(X[::2], y[::2]), Samples(X[1::2], y[1::2])
        evaluator = SizeEvaluator.for_samples(train, GaussianNB(), sizes=[2, 5])
        orders = [np.arange(13), np.arange(13)[::-1]]
        for order, scores in zip(orders, evaluator.scores(orders, train, test), strict=True):
            for size, score in zip([2, 5], scores, strict=True):
                columns = np.sort(order[:size])
                expected = GaussianNB().fit(train.X[:, columns], train.y).score(test.X[:, columns], test.y)
                assert score == expected

    def test_a_subset_that_two_orders_share_is_scored_once(self):
        fits = []

        class Counting(GaussianNB):
            def fit(self, X, y, sample_weight=None):
                fits.append(X.shape[1])
                return super().fit(X, y, sample_weight)

        table = samples()
        evaluator = SizeEvaluator.for_samples(table, Counting(), sizes=[1, 2, 3])
        scores = evaluator.scores([np.array([0, 1, 2]), np.array([1, 0, 2])], table, table)
        assert sorted(fits) == [1, 1, 2, 3]
        assert scores[0, 1:].tolist() == scores[1, 1:].tolist()

    def test_weights_reach_the_estimator_and_the_metric(self):
        # Weight 2 is the same row twice, for the fit and for the score.
        table = samples(40, np.r_[np.full(20, 2.0), np.ones(20)])
        twice = np.r_[np.arange(40), np.arange(20)]
        repeated = Samples(table.X[twice], table.y[twice])
        for scoring in (None, "balanced_accuracy", "roc_auc"):
            for model in (GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10))):
                weighted, plain = (
                    SizeEvaluator.for_samples(one, model, scoring, [1, 3]).scores([np.arange(3)], one, one)
                    for one in (table, repeated)
                )
                np.testing.assert_allclose(weighted, plain, rtol=1e-6)
                unweighted = SizeEvaluator.for_samples(table, model, scoring, [1, 3]).scores(
                    [np.arange(3)], *[Samples(table.X, table.y)] * 2
                )
                assert np.abs(weighted - unweighted).max() > 1e-3

    def test_an_estimator_and_a_metric_without_weights_are_used_without_them(self):
        def agreement(model, X, y):
            return np.mean(model.predict(X) == y)

        table = samples(40, np.arange(40.0))
        evaluator = SizeEvaluator.for_samples(table, KNeighborsClassifier(), agreement, [1])
        plain = Samples(table.X, table.y)
        expected = evaluator.scores([np.arange(3)], plain, plain)
        assert evaluator.scores([np.arange(3)], table, table).tolist() == expected.tolist()


class TestWeights:
    def test_steps_of_a_pipeline_that_take_weights_get_them(self):
        weight = np.ones(3)
        found = fit_weights(make_pipeline(Normalizer(), "passthrough", StandardScaler(), GaussianNB()), weight)
        assert list(found) == ["standardscaler__sample_weight", "gaussiannb__sample_weight"]
        assert fit_weights(make_pipeline(KNeighborsClassifier()), weight) == {}
        assert fit_weights(GaussianNB(), None) == {}

    def test_the_default_estimator_takes_weights(self):
        table = samples(weight=np.arange(1.0, 21))
        model = default_estimator(table.X, table.y, 0)
        assert list(fit_weights(model, table.weight)) == ["standardscaler__sample_weight", "linearsvc__sample_weight"]
        assert check_scoring(model)(model.fit(table.X, table.y), table.X, table.y) > 0.4


def test_a_generator_gives_a_new_seed_each_time():
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    first, second = seed_of(one), seed_of(one)
    assert first != second
    assert [first, second] == [seed_of(two), seed_of(two)]


def test_short_indices_keep_the_values():
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    short = short_indices(X)
    assert short.indices.dtype == short.indptr.dtype == np.int32
    np.testing.assert_array_equal(short.toarray(), np.eye(3))
