"""Training and test rows: every class in both, no group in both, folds as they are given."""

import numpy as np
import pytest

from ilfs.benchmark.evaluation.splits import n_splits_of, n_test_of, split_rows, strata
from ilfs.datasets import Dataset


def table(y, **roles):
    y = np.asarray(y)
    n_classes = y.shape[1] if y.ndim == 2 else int(y.max()) + 1
    names = tuple(f"c{k}" for k in range(n_classes))
    roles = {role: np.asarray(values) for role, values in roles.items()}
    return Dataset("made", np.zeros((len(y), 2)), y, names, **roles)


def parts(made, split=0, test_fraction=1 / 3, seed=0):
    train, test = split_rows(made, split, test_fraction, seed)
    assert sorted([*train, *test]) == list(range(made.n_samples))
    return train, test


@pytest.mark.parametrize("seed", range(20))
def test_small_classes_are_in_both_parts(seed):
    # ten classes of two samples each: stratified shuffling alone leaves some out of the test rows
    y = np.r_[np.zeros(70, dtype=int), np.repeat(np.arange(1, 11), 2)]
    train, test = parts(table(y), test_fraction=0.15, seed=seed)
    assert set(y[train]) == set(y[test]) == set(range(11))


def test_fewer_rows_than_classes_are_refused():
    with pytest.raises(ValueError, match=r"must have at least as many training rows .* 4 classes, got 7 and 3"):
        parts(table([0, 0, 0, 0, 1, 1, 2, 2, 3, 3]), test_fraction=0.3)


def test_labels_of_several_classes_are_split_by_the_rarest_that_a_sample_has():
    Y = np.zeros((20, 3), dtype=int)
    Y[:, 0] = 1
    Y[:6, 1] = 1
    Y[:1, 2] = 1
    assert strata(Y).tolist() == [0, *[1] * 5, *[0] * 14]  # a stratum of one sample joins the largest
    parts(table(Y))
    Y[19] = [0, 0, 0]
    assert strata(Y).tolist() == [-1, *[1] * 5, *[0] * 13, -1]  # two strata of one sample are merged
    parts(table(Y))


@pytest.mark.parametrize("seed", range(10))
def test_no_group_is_in_both_parts_and_every_class_is(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 15, size=200)
    groups[:15] = np.arange(15)
    y = (rng.uniform(size=200) < 0.2).astype(int)
    train, test = parts(table(y, groups=groups), seed=seed)
    assert not set(groups[train]) & set(groups[test])
    assert abs(len(test) / 200 - 1 / 3) < 0.08
    assert abs(y[test].sum() / y.sum() - 1 / 3) < 0.15


def test_groups_of_one_class_each_are_divided_within_the_classes():
    groups = np.repeat(np.arange(12), 5)  # donors, each healthy or ill
    y = groups % 2
    for seed in range(10):
        train, test = parts(table(y, groups=groups), seed=seed)
        assert not set(groups[train]) & set(groups[test])
        assert set(y[train]) == set(y[test]) == {0, 1}
    tests = {tuple(parts(table(y, groups=groups), seed=seed)[1]) for seed in range(10)}
    assert len(tests) > 5


def test_two_groups_of_each_class_are_enough():
    groups = np.repeat(np.arange(4), [50, 2, 1, 30])
    y = np.repeat([0, 0, 1, 1], [50, 2, 1, 30])
    train, test = parts(table(y, groups=groups))
    assert set(y[train]) == set(y[test]) == {0, 1}


def test_a_class_in_one_group_is_refused():
    with pytest.raises(ValueError, match=r"class 'c1' of data set made must be in at least two groups, .* got one"):
        parts(table([0, 0, 0, 0, 1, 1], groups=[0, 0, 1, 1, 2, 2]))


def test_groups_that_cannot_be_divided_are_refused():
    # whichever groups are for testing, a class is missing on one side
    with pytest.raises(ValueError, match=r"which none of 200 random divisions of its 3 groups does"):
        parts(table([0, 1, 0, 2, 1, 2], groups=[0, 0, 1, 1, 2, 2]))


def test_fold_i_is_the_test_set_of_split_i():
    folds = np.array([2, 0, 1, 0, 1, 2, 2, 0])
    made = table([0, 1, 0, 0, 1, 1, 0, 1], folds=folds)
    for i in range(3):
        np.testing.assert_array_equal(parts(made, split=i)[1], np.flatnonzero(folds == i))
    assert n_splits_of(made, 20) == 3
    assert n_splits_of(made, 2) == 2
    assert n_test_of(made, 0.9) == 3  # 8 rows in 3 folds
    assert n_test_of(table([0, 1] * 5), 0.25) == 3
    with pytest.raises(ValueError, match=r"data set made has 3 folds, got split 3"):
        parts(made, split=3)


@pytest.mark.parametrize(
    ("y", "folds", "groups", "message"),
    [
        ([0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2], "fold 0 of data set made must not share groups .*, got 1 shared"),
        ([0, 1, 0, 0], [0, 0, 1, 1], None, "fold 0 .* must leave training rows of every class, got no rows of 'c1'"),
        ([0, 0, 0, 1], [0, 0, 1, 1], None, "fold 0 .* must have at least two classes, got only 'c0'"),
    ],
)
def test_folds_that_cannot_be_used_are_refused(y, folds, groups, message):
    roles = {"folds": folds} | ({} if groups is None else {"groups": groups})
    with pytest.raises(ValueError, match=message):
        parts(table(y, **roles))
