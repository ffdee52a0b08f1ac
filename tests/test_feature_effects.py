"""Direction and size of differences between classes, by hand and by brute force."""

import numpy as np
import pytest
from helpers import fold_of
from scipy import sparse

from ilfs.effects import MAX_CLASS_MEANS, FeatureProfile
from ilfs.statistics import Profile


def described(X, y, weight=None):
    fold = fold_of(X, np.asarray(y), weight)
    return FeatureProfile.from_statistics(fold(Profile()), fold.classes)


def named(profile):
    """Return the labels of the named classes of each feature, joined."""
    return ["".join(str(label) for label in profile.labels[mask]) for mask in profile.named.T]


def column(*values):
    return np.array(values, dtype=float)[:, None]


def test_two_classes_by_hand():
    # a: 1, 3, mean 2; b: 4, 8, 6, mean 6. Squares within classes 2 + 8, 5 - 2 degrees of freedom.
    found = described(column(1, 3, 4, 8, 6), list("aabbb"))
    assert found.labels.tolist() == ["a", "b"]
    assert named(found) == ["b"]
    assert found.effect == pytest.approx([4 / np.sqrt(10 / 3)])
    assert found.fold_change == pytest.approx([np.log2(3)])
    np.testing.assert_array_equal(found.means, [[2], [6]])


def test_the_sign_is_that_of_the_second_class_minus_the_first():
    found = described(column(4, 8, 6, 1, 3), list("aaabb"))
    assert named(found) == ["a"]
    assert found.effect == pytest.approx([-4 / np.sqrt(10 / 3)])
    assert found.fold_change == pytest.approx([-np.log2(3)])


def test_three_classes_by_hand():
    # means 1 (of 2 values), 5 (of 2) and 4 (of 4): the largest gap is that above a, which is lower. All other values
    # have a mean of (2 * 5 + 4 * 4) / 6 = 13 / 3. Squares within classes 2 + 2 + 4, 8 - 3 degrees of freedom.
    found = described(column(0, 2, 4, 6, 3, 5, 3, 5), list("aabbcccc"))
    assert named(found) == ["a"]
    assert found.effect == pytest.approx([-10 / 3 / np.sqrt(8 / 5)])
    assert found.fold_change == pytest.approx([np.log2(3 / 13)])


def test_a_feature_that_is_low_in_one_class_is_not_called_high_in_another():
    found = described(column(0, 2, 9, 11, 10, 12), list("aabbcc"))
    assert named(found) == ["a"]
    assert found.effect == pytest.approx([-9.5 / np.sqrt(2)])


def test_all_classes_on_the_smaller_side_of_the_largest_gap_are_named():
    # means 1, 7, 2 and 8: the gap from 2 to 7 is the largest. Both sides have two classes: the higher ones are named.
    found = described(column(0, 2, 6, 8, 1, 3, 7, 9), list("aabbccdd"))
    assert named(found) == ["bd"]
    assert found.effect == pytest.approx([6 / np.sqrt(2)])  # 7.5 - 1.5; squares within classes 8, 8 - 4 degrees
    assert found.fold_change == pytest.approx([np.log2(5)])
    low = described(column(0, 2, 16, 18, 1, 3, 17, 19, 18, 20), list("aabbccddee"))
    assert named(low) == ["ac"]
    assert low.effect[0] < 0


def test_at_most_three_classes_are_named():
    # four means near 0 and four near 10; the gaps within are 1 and 1.5
    means = np.array([0, 1, 2, 3, 10, 11, 12, 13.5])
    found = described((np.repeat(means, 2) + np.tile([-0.1, 0.1], 8))[:, None], np.repeat(list("abcdefgh"), 2))
    assert named(found) == ["h"]


def test_the_named_classes_do_not_depend_on_the_labels():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 200)).astype(float), np.arange(60) % 5
    letters = np.array(list("cebad"))
    found, other = described(X, y), described(X, letters[y])
    for one, two in zip(found.named.T, other.named.T, strict=True):
        assert set(letters[found.labels[one]]) == set(other.labels[two])


def test_of_classes_that_stand_out_equally_the_higher_one_is_named():
    # means 0.1, 0.2 and 0.3, up to rounding: the first and the last are equally far from the rest
    X = np.column_stack([[0.1, 0.1, 0.2, 0.2, 0.3, 0.3], [0.3, 0.3, 0.2, 0.2, 0.1, 0.1]])
    noise = np.tile([[0.01], [-0.01]], (3, 1))
    assert named(described(X + noise, list("aabbcc"))) == ["c", "a"]
    assert named(described(X + 1e6 + noise, list("aabbcc"))) == ["c", "a"]


def test_the_widest_class_has_clearly_the_largest_variance():
    X = np.column_stack([[0, 1, 0, 9], [0, 9, 0, 1], [0, 5, 0, 5.1]]).astype(float)
    assert described(X, list("aabb")).widest.tolist() == [1, 0, -1]


def test_equal_means_have_no_direction():
    found = described(np.column_stack([[1, 3, 0, 4], [7, 7, 7, 7]]).astype(float), list("aabb"))
    assert named(found) == ["", ""]
    assert found.effect.tolist() == [0, 0]
    assert found.fold_change.tolist() == [0, 0]


def test_means_that_differ_by_rounding_have_no_direction():
    x = np.array([0.1, 0.2, 0.3])
    found = described(column(*x, *x[::-1], *x[[1, 0, 2]]), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert named(found) == [""]
    assert found.effect.tolist() == [0]


def test_a_feature_that_is_constant_within_classes_has_an_infinite_effect():
    assert described(column(1, 1, 2, 2), list("aabb")).effect.tolist() == [np.inf]
    assert described(column(2, 2, 1, 1), list("aabb")).effect.tolist() == [-np.inf]


def test_a_feature_with_values_in_one_class_only_has_no_effect():
    found = described(column(1, 2, np.nan, np.nan), list("aabb"))
    assert named(found) == [""]
    assert np.isnan(found.effect).all()
    assert np.isnan(found.fold_change).all()
    np.testing.assert_array_equal(found.means, [[1.5], [np.nan]])
    assert found.missing.tolist() == [0.5]


def test_a_class_without_values_is_left_out():
    with_gap = described(column(1, 3, 4, 8, 6, np.nan), list("aabbbc"))
    assert named(with_gap) == ["b"]
    assert with_gap.effect == pytest.approx([4 / np.sqrt(10 / 3)])


def test_large_offsets_lose_no_digits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 20)), np.arange(50) % 3
    np.testing.assert_allclose(described(X + 1e7, y).effect, described(X, y).effect, rtol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_effects_match_brute_force(n_classes, convert):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.5, (80, 30)).astype(float), rng.permutation(np.arange(80) % n_classes)
    found = described(convert(X), y)
    for j in range(30):
        of_class = [X[y == k, j] for k in range(n_classes)]
        order = sorted(range(n_classes), key=lambda k: of_class[k].mean())
        gaps = [of_class[order[k + 1]].mean() - of_class[order[k]].mean() for k in range(n_classes - 1)]
        sides = [(order[: k + 1], order[k + 1 :]) for k in range(n_classes - 1)]
        smaller = [min(reversed(side), key=len) for side in sides]
        best = min(range(n_classes - 1), key=lambda k: (-round(gaps[k], 9), len(smaller[k]), smaller[k] == sides[k][0]))
        chosen = [1] if n_classes == 2 else smaller[best]
        some = np.concatenate([of_class[k] for k in chosen])
        rest = np.concatenate([x for k, x in enumerate(of_class) if k not in chosen])
        pooled = np.sqrt(sum(((x - x.mean()) ** 2).sum() for x in of_class) / (80 - n_classes))
        assert found.effect[j] == pytest.approx((some.mean() - rest.mean()) / pooled, rel=1e-10)
        assert found.fold_change[j] == pytest.approx(np.log2(some.mean() / rest.mean()), rel=1e-10)
        assert n_classes == 2 or named(found)[j] == "".join(map(str, sorted(chosen)))
        assert found.nonzero[j] == pytest.approx((X[:, j] != 0).mean())


def test_weight_2_is_the_row_twice():
    rng = np.random.default_rng(0)
    X, y, weight = rng.poisson(1.0, (30, 6)).astype(float), np.arange(30) % 3, rng.integers(1, 3, 30)
    X[rng.random(X.shape) < 0.2] = np.nan
    one, two = described(X, y, weight.astype(float)), described(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for name in ("missing", "nonzero", "effect", "fold_change", "means"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-12)


class TestFoldChange:
    def test_one_negative_value_in_the_table_removes_all_fold_changes(self):
        X = np.column_stack([[1, 2, 3, 4], [1, 2, 3, -1]]).astype(float)
        assert described(X, list("aabb")).fold_change is None
        assert described(X[:, :1], list("aabb")).fold_change is not None

    def test_a_mean_of_0_gives_infinity_and_two_of_them_nan(self):
        X = np.column_stack([[0, 0, 3, 4], [3, 4, 0, 0], [0, 0, 0, 0]]).astype(float)
        np.testing.assert_array_equal(described(X, list("aabb")).fold_change, [np.inf, -np.inf, np.nan])

    def test_other_classes_of_exactly_0_give_infinity(self):
        assert described(column(0, 0, 0, 0, 0.1, 0.7), [0, 0, 1, 1, 2, 2]).fold_change.tolist() == [np.inf]


def test_fractions_of_missing_and_nonzero_values():
    X = np.array([[0, np.nan, 1], [2, np.nan, np.nan], [0, np.nan, 0], [3, np.nan, 0]], dtype=float)
    found = described(X, [0, 1, 0, 1])
    np.testing.assert_array_equal(found.missing, [0, 1, 0.25])
    np.testing.assert_allclose(found.nonzero, [0.5, np.nan, 1 / 3])


def test_missing_is_exactly_0_in_spite_of_rounded_weights():
    rng = np.random.default_rng(0)
    found = described(rng.normal(size=(1000, 5)), np.arange(1000) % 7, rng.uniform(0.1, 3, 1000))
    assert found.missing.tolist() == [0] * 5


def test_one_class_has_no_direction_and_many_classes_have_no_means():
    assert described(column(1, 2, 3), [0, 0, 0]).named is None
    many = np.repeat(np.arange(MAX_CLASS_MEANS + 1), 2)
    assert described(np.random.default_rng(0).normal(size=(many.size, 2)), many).means is None
    assert described(np.ones((4, 2)), list("aabb")).without_classes().effect is None
