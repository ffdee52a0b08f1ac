"""Invariances of ILFS, on tables and parameters drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ilfs import ILFS

settings_of_ilfs = st.fixed_dictionaries(
    {
        "n_tokens": st.sampled_from([2, 5, 6, 12]),
        "evidence": st.sampled_from(["posterior", "distance"]),
        "intervals": st.sampled_from(["uniform", "pooled"]),
        "topics": st.sampled_from(["shrunk", "anchored", "learned"]),
        "leave_one_out": st.booleans(),
        "class_weight": st.sampled_from(["balanced", None]),
        "tol": st.just(1e-4),
    }
)


@st.composite
def tables(draw):
    """Draw a table of normal noise with informative columns and missing values; each class has two rows or more."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes, n_features = draw(st.integers(2, 4)), draw(st.integers(1, 8))
    y = np.r_[np.repeat(np.arange(n_classes), 2), rng.integers(n_classes, size=draw(st.integers(4, 30)))]
    X = rng.normal(size=(len(y), n_features)) + rng.normal(size=(n_classes, n_features))[y]
    if draw(st.booleans()):
        X[2 * n_classes :][rng.random((len(y) - 2 * n_classes, n_features)) < 0.2] = np.nan
    return X, y, rng


def assert_near(a, b):
    np.testing.assert_allclose(a.token_counts_, b.token_counts_, atol=1e-8)
    np.testing.assert_allclose(a.relevance_, b.relevance_, atol=1e-3)
    np.testing.assert_allclose(a.mean_log_odds_, b.mean_log_odds_, rtol=1e-7, atol=1e-7)


@pytest.mark.filterwarnings("ignore:the topics did not converge")
@pytest.mark.filterwarnings("ignore:the topic relevancy has lost")
class TestInvariance:
    @given(tables(), settings_of_ilfs)
    def test_the_order_of_rows_does_not_matter(self, table, parameters):
        X, y, rng = table
        rows = rng.permutation(len(y))
        assert_near(ILFS(**parameters).fit(X[rows], y[rows]), ILFS(**parameters).fit(X, y))

    @given(tables(), settings_of_ilfs)
    def test_permuting_the_columns_permutes_counts_and_relevance(self, table, parameters):
        X, y, rng = table
        columns = rng.permutation(X.shape[1])
        moved, plain = ILFS(**parameters).fit(X[:, columns], y), ILFS(**parameters).fit(X, y)
        np.testing.assert_array_equal(moved.token_counts_, plain.token_counts_[columns])
        np.testing.assert_array_equal(moved.mean_log_odds_, plain.mean_log_odds_[columns])
        np.testing.assert_allclose(moved.relevance_, plain.relevance_[columns], atol=1e-3)

    @given(tables(), settings_of_ilfs)
    def test_class_names_in_the_same_order_give_the_same_scores(self, table, parameters):
        X, y, _ = table
        plain = ILFS(**parameters).fit(X, y)
        names = np.array(["ant", "bee", "cat", "dog"])
        for labels in (names[y], names[y].astype(object), y - 7, y.astype(float), y.astype(np.uint8), list(y)):
            np.testing.assert_array_equal(ILFS(**parameters).fit(X, labels).scores_, plain.scores_)

    @given(tables(), settings_of_ilfs)
    def test_class_names_in_another_order_do_not_matter(self, table, parameters):
        X, y, rng = table
        labels = rng.permutation(["ant", "bee", "cat", "dog"])[y]
        assert_near(ILFS(**parameters).fit(X, labels), ILFS(**parameters).fit(X, y))

    @given(tables(), settings_of_ilfs)
    def test_boolean_and_integer_labels_give_the_same_scores(self, table, parameters):
        X, y, _ = table
        plain = ILFS(**parameters).fit(X, (y > 0).astype(int))
        np.testing.assert_array_equal(ILFS(**parameters).fit(X, y > 0).scores_, plain.scores_)

    @given(tables(), settings_of_ilfs)
    def test_scaling_by_powers_of_two_gives_bitwise_equal_scores(self, table, parameters):
        X, y, rng = table
        scale = np.ldexp(rng.choice([-1.0, 1.0], X.shape[1]), rng.integers(-60, 60, X.shape[1]))
        scaled, plain = ILFS(**parameters).fit(X * scale, y), ILFS(**parameters).fit(X, y)
        np.testing.assert_array_equal(scaled.token_counts_, plain.token_counts_)
        np.testing.assert_array_equal(scaled.scores_, plain.scores_)
        np.testing.assert_array_equal(scaled.mean_log_odds_, plain.mean_log_odds_)

    @given(st.integers(0, 2**32 - 1), settings_of_ilfs)
    def test_integer_offsets_give_bitwise_equal_scores(self, seed, parameters):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat([0, 1], [16, 8]))  # sizes are powers of two, so that class means are exact
        X = (rng.integers(-99, 99, size=(24, 5)) + 30 * y[:, None]).astype(float)
        shift = rng.integers(-(10**6), 10**6, size=5)
        parameters |= {"redundancy": None}
        moved, plain = ILFS(**parameters).fit(X + shift, y), ILFS(**parameters).fit(X, y)
        np.testing.assert_array_equal(moved.token_counts_, plain.token_counts_)
        np.testing.assert_array_equal(moved.scores_, plain.scores_)

    @pytest.mark.parametrize("redundancy", ["novelty", "gain"])
    @given(st.integers(0, 2**32 - 1))
    def test_integer_offsets_do_not_matter_with_redundancy(self, redundancy, seed):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat([0, 1], [16, 8]))
        X = (rng.integers(-99, 99, size=(24, 5)) + 30 * y[:, None]).astype(float)
        shift = rng.integers(-(10**6), 10**6, size=5)
        moved, plain = (ILFS(redundancy=redundancy).fit(table, y) for table in (X + shift, X))
        np.testing.assert_allclose(moved.scores_, plain.scores_, rtol=1e-7, atol=1e-9)

    @given(tables(), settings_of_ilfs)
    def test_affine_transformations_of_features_do_not_matter(self, table, parameters):
        X, y, rng = table
        mapped = X * rng.uniform(0.1, 50, X.shape[1]) * rng.choice([-1, 1], X.shape[1]) + rng.normal(0, 9, X.shape[1])
        assert_near(ILFS(**parameters).fit(mapped, y), ILFS(**parameters).fit(X, y))

    @given(tables(), settings_of_ilfs)
    def test_integer_weights_equal_repeated_rows(self, table, parameters):
        X, y, rng = table
        weight = rng.integers(1, 4, size=len(y))
        often = ILFS(**parameters).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert_near(ILFS(**parameters).fit(X, y, weight), often)

    @given(tables(), settings_of_ilfs)
    def test_rows_with_weight_zero_do_not_matter(self, table, parameters):
        X, y, rng = table
        extra = rng.normal(size=(5, X.shape[1])) * 100
        padded = ILFS(**parameters).fit(
            np.concatenate([X, extra]), np.r_[y, rng.integers(6, size=5)], np.r_[np.ones(len(y)), np.zeros(5)]
        )
        np.testing.assert_array_equal(padded.token_counts_, ILFS(**parameters).fit(X, y).token_counts_)

    @given(tables(), settings_of_ilfs)
    def test_sparse_and_dense_storage_give_the_same_scores(self, table, parameters):
        X, y, rng = table
        X = np.where(rng.random(X.shape) < 0.4, 0.0, X)
        assert_near(ILFS(**parameters).fit(sparse.csr_array(X), y), ILFS(**parameters).fit(X, y))

    @given(tables(), settings_of_ilfs)
    def test_scores_are_larger_for_better_ranks(self, table, parameters):
        X, y, _ = table
        selector = ILFS(**parameters).fit(X, y)
        assert (np.diff(selector.scores_[selector.order_]) <= 0).all()
        assert sorted(selector.ranking_) == list(range(1, X.shape[1] + 1))

    @given(tables(), settings_of_ilfs)
    def test_fitting_twice_gives_the_same_scores(self, table, parameters):
        X, y, _ = table
        selector = ILFS(**parameters)
        first = selector.fit(X, y).scores_
        np.testing.assert_array_equal(selector.fit(X, y).scores_, first)


def test_relevance_of_a_single_nonzero_value_does_not_depend_on_column_layout_and_unit():
    rng, y = np.random.default_rng(0), np.arange(40) % 2
    X = np.zeros((40, 10))
    X[1 + 2 * np.arange(10), np.arange(10)] = rng.random(10)
    relevance = ILFS().fit(X, y).relevance_
    assert np.unique(relevance).size == 1
    for same in (sparse.csr_array(X), 7 * X, np.sign(X)):
        np.testing.assert_array_equal(ILFS().fit(same, y).relevance_, relevance)


@pytest.mark.parametrize("evidence", ["posterior", "distance", "distance_sum"])
@pytest.mark.parametrize("step", [0.1, 1 / 3, 1e-3, 7.7])
def test_relevance_with_equal_class_means_does_not_depend_on_the_order_of_rows(step, evidence):
    # All values of class 0 are equal to both class means, whose difference is rounding.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [20, 40])
    even = np.r_[np.zeros(20), np.tile([step, -step, 2 * step, -2 * step], 10)]
    X = np.column_stack([even, even + 0.7, even + 3.3, rng.normal(size=60) + y])
    orders = [np.arange(60), *(rng.permutation(60) for _ in range(8))]
    found = [ILFS(evidence=evidence, redundancy=None).fit(X[rows], y[rows]).relevance_ for rows in orders]
    np.testing.assert_allclose(found, np.tile(found[0], (9, 1)), rtol=1e-9)
