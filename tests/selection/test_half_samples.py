"""Half-samples: numbers of rows, classes, groups and pairs, and that every row is equally likely."""

import numpy as np
import pytest

from ilfs.selection.half_samples import half_samples
from ilfs.statistics.labels import encode_labels


def labels_of(y, weight=None):
    return [encode_labels(np.asarray(y), None if weight is None else np.asarray(weight, dtype=float))[1]]


def test_a_half_has_half_of_the_rows_of_each_class_rounded_down():
    y = np.repeat([0, 1, 2], [7, 10, 3])
    for complementary in (True, False):
        taken = half_samples(labels_of(y), 6, complementary_pairs=complementary)
        assert [np.bincount(y[rows]).tolist() for rows in taken] == [[3, 5, 1]] * 6


def test_the_halves_of_a_pair_have_no_common_row():
    y = np.repeat([0, 1], [7, 10])
    taken = half_samples(labels_of(y), 10)
    assert not (taken[::2] & taken[1::2]).any()
    assert (taken[::2] | taken[1::2]).sum(axis=1).tolist() == [16] * 5
    plain = half_samples(labels_of(y), 10, complementary_pairs=False)
    assert (plain[::2] & plain[1::2]).any()


def test_every_row_is_equally_likely():
    y = np.repeat([0, 1], [5, 8])
    for complementary in (True, False):
        often = half_samples(labels_of(y), 4000, complementary_pairs=complementary).mean(axis=0)
        assert often[:5] == pytest.approx(np.full(5, 2 / 5), abs=5 * np.sqrt(0.24 / 4000))
        assert often[5:] == pytest.approx(np.full(8, 4 / 8), abs=5 * np.sqrt(0.25 / 4000))


def test_rows_of_a_group_stay_together_and_groups_are_stratified_by_class():
    groups = np.repeat(["d", "a", "c", "b", "e", "f", "g", "h"], [3, 2, 5, 1, 4, 2, 2, 3])
    y = np.isin(groups, ["a", "b", "c", "d"]).astype(int)
    for rows in half_samples(labels_of(y), 20, groups=groups):
        inside = set(groups[rows])
        assert rows.sum() == np.isin(groups, list(inside)).sum()
        assert len(inside & set("abcd")) == len(inside & set("efgh")) == 2


def test_groups_of_several_classes_are_not_stratified():
    groups = np.repeat(np.arange(6), 4)
    y = np.arange(24) % 2
    taken = half_samples(labels_of(y), 10, groups=groups)
    assert {len(set(groups[rows])) for rows in taken} == {3}


def test_rows_of_weight_0_are_in_no_half():
    y, weight = np.repeat([0, 1], 6), np.tile([1.0, 0, 2], 4)
    taken = half_samples(labels_of(y, weight), 20)
    assert not taken[:, weight == 0].any()
    assert [np.bincount(y[rows]).tolist() for rows in taken] == [[2, 2]] * 20


def test_several_labels_are_not_stratified():
    y = np.random.default_rng(0).integers(0, 2, (9, 3))
    taken = half_samples([labels_of(column)[0] for column in y.T], 4)
    assert taken.sum(axis=1).tolist() == [4] * 4


def test_random_numbers_are_repeatable():
    labels = labels_of(np.arange(40) % 2)
    assert (half_samples(labels, 6, 1) == half_samples(labels, 6, 1)).all()
    assert (half_samples(labels, 6, 1) != half_samples(labels, 6, 2)).any()
    assert (half_samples(labels, 6, 1)[:4] == half_samples(labels, 4, 1)).all()
    generator = np.random.default_rng(0)
    assert (half_samples(labels, 6, generator) != half_samples(labels, 6, generator)).any()


def test_too_few_rows_or_groups_are_refused():
    with pytest.raises(ValueError, match="stability needs at least 2 rows of each class to take half of them, got 1"):
        half_samples(labels_of([0, 0, 1]), 2)
    with pytest.raises(ValueError, match="stability needs at least 2 groups of each class to take half of them, got 1"):
        half_samples(labels_of([0, 0, 1, 1]), 2, groups=[1, 2, 3, 3])
    with pytest.raises(ValueError, match="stability needs at least 2 groups to take half of them, got 1"):
        half_samples(labels_of([0, 0, 1, 1]), 2, groups=[1, 1, 1, 1])
    with pytest.raises(ValueError, match=r"groups must have shape \(4,\)"):
        half_samples(labels_of([0, 0, 1, 1]), 2, groups=[1, 1, 1])
