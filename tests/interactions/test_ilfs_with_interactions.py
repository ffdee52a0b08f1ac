import numpy as np
import pytest
from helpers import load, planted
from metamorphic import changed_fits

import ilfs
from ilfs import ILFS, Novelty
from ilfs.selection import stability

MADELON = [28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493]


def xor(n_samples=200, n_features=300, n_true=2, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_samples, n_features))
    return X, (X[:, -n_true:] > 0).sum(axis=1) % 2


@pytest.mark.parametrize("n_true", [2, 3])
def test_features_that_are_informative_only_together_are_picked_first(n_true):
    X, y = xor(n_true=n_true)
    selector = ILFS(n_true, interactions=3, n_candidates=20).fit(X, y)  # they would not be candidates by relevance
    assert set(selector.order_[:n_true]) == {*range(300 - n_true, 300)}
    assert not set(ILFS(n_true).fit(X, y).order_[:n_true]) & {*range(300 - n_true, 300)}
    assert set(selector.interactions_.columns[0]) - {-1} == {*range(300 - n_true, 300)}


def test_without_a_significant_set_the_order_is_the_default():
    X, y = planted(n_features=60)
    default, selector = ILFS().fit(X, y), ILFS(interactions=3).fit(X, y)
    assert len(selector.interactions_) == 0
    np.testing.assert_array_equal(selector.order_, default.order_)
    np.testing.assert_array_equal(selector.scores_, default.scores_)


def test_order_does_not_depend_on_rows_labels_storage_or_threads():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(120, 14)).astype(float)
    y = ((X[:, 2] > 1) ^ (X[:, 9] > 1)).astype(int)
    selector = ILFS(3, interactions=3)
    first = selector.fit(X, y).order_
    assert set(first[:2]) == {2, 9}
    changed = [name for name, fit in changed_fits(selector, X, y, rng) if not np.array_equal(fit.order_, first)]
    assert changed == []


def test_labels_of_an_indicator_matrix_have_their_own_interactions():
    X, first = xor()
    Y = np.column_stack([first, (X[:, 0] > 0) ^ (X[:, 1] > 0)]).astype(int)
    selector = ILFS(4, interactions=2).fit(X, Y)
    assert set(selector.order_[:4]) == {0, 1, 298, 299}
    assert set(selector.per_label_[0].order_[:2]) == {298, 299}
    assert selector.per_label_[1].interactions_.columns.tolist() == [[0, 1, -1]]


def test_p_values_are_those_without_interactions():
    X, y = xor(n_features=40)
    with_interactions = ILFS(n_permutations=20, interactions=2).fit(X, y)
    np.testing.assert_array_equal(with_interactions.p_values_, ILFS(n_permutations=20).fit(X, y).p_values_)


def test_features_that_must_be_kept_come_first():
    X, y = xor()
    assert ILFS(4, interactions=2, must_keep=[5]).fit(X, y).order_[0] == 5


def test_bad_parameters_and_rows_that_are_not_in_memory_are_refused():
    X, y = xor(n_features=10)
    with pytest.raises(ValueError, match="interactions must be False, 2 or 3, got 1"):
        ILFS(interactions=1).fit(X, y)
    with pytest.raises(
        ValueError, match="interactions must be False, 2 or 3, got True: use 2 to test pairs, 3 to test"
    ):
        ILFS(interactions=True).fit(X, y)
    with pytest.raises(ValueError, match="interactions=2 must be used with redundancy='gain', got redundancy=None"):
        ILFS(interactions=2, redundancy=None).fit(X, y)
    blocks = [(X[:100], y[:100]), (X[100:], y[100:])]
    with pytest.raises(TypeError, match=r"ILFS\(interactions=2\) needs all rows in memory"):
        ILFS(interactions=2).fit(lambda: iter(blocks))
    with pytest.raises(TypeError, match=r"ILFS\(interactions=2\) needs all rows together"):
        ilfs.summarise(X, y, selector=ILFS(interactions=2))


def test_selectors_around_ilfs_search_for_interactions_in_their_rows():
    X, y = xor(n_features=20)
    selector = ILFS(2, interactions=2)
    wrapped = Novelty(selector).fit(X, y)
    np.testing.assert_array_equal(wrapped.relevance_, selector.fit(X, y).relevance_)
    np.testing.assert_array_equal(wrapped.selector_.interactions_.columns, [[18, 19, -1]])
    found = stability(selector, X, y, n_resamples=4)
    np.testing.assert_array_equal(found.order, selector.order_)
    assert found.nogueira.value == 1.0  # the pair of each half


@pytest.mark.slow
def test_all_true_columns_of_madelon_are_picked_first():
    X, y = load("madelon")
    assert len(set(ILFS(20, interactions=2).fit(X, y).order_[:20]) & set(MADELON)) >= 18
    assert len(set(ILFS(20).fit(X, y).order_[:20]) & set(MADELON)) < 10
