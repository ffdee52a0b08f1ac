"""Subsets of rows as labellings: the labels of a subset are those of its rows alone."""

import numpy as np
import pytest

from ilfs.execution import fold_of
from ilfs.sources import table_source
from ilfs.sources.source import Relabelled
from ilfs.sources.subsets import RowSubsets
from ilfs.statistics import Moments
from ilfs.statistics.labels import LEFT_OUT, encode_labels

Y = np.array(["b", "a", "c", "a", "b", "a", "c", "b"])
X = np.random.default_rng(0).standard_normal((8, 5))
WEIGHT = np.array([1.0, 2, 1, 0, 3, 1, 1, 2])
TAKEN = np.array([[1, 1, 0, 1, 1, 0, 0, 0], [1, 0, 1, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 0]], dtype=bool)


def with_subsets(source):
    return source.with_subsets(RowSubsets.of_rows(TAKEN, source.encoded_labels(), source.labellings))


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_classes_and_moments_of_a_subset_are_those_of_its_rows(weight):
    source = with_subsets(table_source(X, Y, weight))
    fold = fold_of(source)
    assert len(source.labellings) == 1 + 3 * 2
    for number, rows in enumerate(TAKEN):
        alone = table_source(X[rows], Y[rows], None if weight is None else weight[rows])
        for labelling, expected in ((1 + 2 * number, alone.labellings[0]), (2 + 2 * number, alone.all_rows)):
            found = source.labellings[labelling]
            assert found.labels.tolist() == expected.labels.tolist()
            assert found.rows.tolist() == expected.rows.tolist()
            assert found.total.tolist() == expected.total.tolist()
        for labelling, of_alone in ((1 + 2 * number, 0), (2 + 2 * number, None)):
            expected = fold_of(alone)(Moments(), labelling=of_alone)
            found = fold(Moments(), labelling=labelling)
            np.testing.assert_array_equal(found.count, expected.count)
            np.testing.assert_array_equal(found.mean, expected.mean)
            np.testing.assert_array_equal(found.scatter, expected.scatter)


def test_observed_labels_stay():
    source = with_subsets(table_source(X, Y, WEIGHT))
    np.testing.assert_array_equal(source.row_labels(0).codes, encode_labels(Y, WEIGHT)[1].codes)
    np.testing.assert_array_equal(source.row_labels(None).takes_part, WEIGHT > 0)


def test_without_labels_a_subset_has_one_labelling():
    source = with_subsets(table_source(X))
    assert len(source.labellings) == 3
    for number, rows in enumerate(TAKEN):
        np.testing.assert_array_equal(source.row_labels(number).takes_part, rows)
    assert source.without_labels().labellings == ()


def test_a_part_of_a_table_takes_the_rows_by_their_numbers():
    whole = with_subsets(table_source(X, Y, WEIGHT))
    part = table_source(X[3:6], Y[3:6], WEIGHT[3:6])
    part.first_row, part.labels = 3, tuple(labels.take(slice(3, 6)) for labels in whole.labels)
    part = part.with_subsets(whole.subsets)
    for labelling in range(7):
        np.testing.assert_array_equal(part.row_labels(labelling).codes, whole.row_labels(labelling).codes[3:6])


def test_rows_outside_a_subset_have_no_class_and_no_weight():
    labels = with_subsets(table_source(X, Y, WEIGHT)).row_labels(1)
    assert (labels.codes[~TAKEN[0]] == LEFT_OUT).all()
    assert (labels.weight[~TAKEN[0]] == 0).all()


def test_sources_without_labels_of_all_rows_say_so():
    table = table_source(X, Y)
    with pytest.raises(TypeError, match="rows of a Relabelled cannot be resampled"):
        Relabelled(table, table.labellings, []).encoded_labels()
