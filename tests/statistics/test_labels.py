import pickle

import numpy as np
import pytest

from ilfs.statistics import Classes, RowLabels, encode_labels


@pytest.mark.parametrize(
    ("labels", "classes"),
    [(["b", "a", "b"], ["a", "b"]), ([True, False, True], [False, True]), ([7, -1, 7], [-1, 7])],
)
def test_labels_of_any_type_become_codes(labels, classes):
    found, rows = encode_labels(np.array(labels))
    assert found.labels.tolist() == classes
    assert rows.codes.tolist() == [1, 0, 1]


def test_a_row_with_weight_zero_has_no_code_and_its_class_may_vanish():
    classes, rows = encode_labels(np.array(["a", "b", "c", "a"]), np.array([1.0, 0.0, 2.0, 0.5]))
    assert classes.labels.tolist() == ["a", "c"]
    assert rows.codes.tolist() == [0, -1, 1, 0]
    assert rows.takes_part.tolist() == [True, False, True, True]
    assert classes.rows.tolist() == rows.class_rows.tolist() == [2, 1]
    assert classes.total.tolist() == rows.class_total.tolist() == [1.5, 2.0]


def test_grouping_by_class_keeps_the_order_of_rows():
    _, labels = encode_labels(np.array(list("xbabab")), np.array([0.0, 1, 2, 3, 4, 5]))
    rows, starts, weight = labels.by_class
    assert rows.tolist() == [2, 4, 1, 3, 5]
    assert starts.tolist() == [0, 2, 5]
    assert weight.tolist() == [2, 4, 1, 3, 5]


def test_rows_of_a_block_are_counted_from_its_start():
    _, labels = encode_labels(np.array(list("abcabc")))
    rows, starts, _ = labels.take(slice(3, 5)).by_class
    assert rows.tolist() == [0, 1]
    assert starts.tolist() == [0, 1, 2, 2]


def test_class_sizes_add_up_over_blocks():
    classes, labels = encode_labels(np.array(list("abcab")), np.array([1.0, 2, 0.5, 4, 0]))
    blocks = [labels.take(slice(0, 2)), labels.take(slice(2, 5))]
    counted = Classes.count(classes.labels, blocks)
    assert counted.rows.tolist() == classes.rows.tolist() == [2, 1, 1]
    assert counted.total.tolist() == classes.total.tolist() == [5.0, 2.0, 0.5]


def test_balance_gives_every_class_the_same_total_weight():
    classes, _ = encode_labels(np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(classes.balance * classes.total, [2, 2])


def test_one_class_leaves_out_rows_with_weight_zero():
    labels = RowLabels.one_class(np.array([1.0, 0.0, 2.0]))
    assert labels.codes.tolist() == [0, -1, 0]
    assert labels.class_total.tolist() == [3.0]


def test_signs_have_one_row_for_two_classes_and_otherwise_one_per_class():
    assert encode_labels(np.array(["a", "b", "b"]))[1].one_against_rest().tolist() == [[-1, 1, 1]]
    three = encode_labels(np.array([5, 7, 9]))[1].one_against_rest()
    assert three.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]


def test_a_pickle_contains_no_cached_values():
    _, labels = encode_labels(np.arange(1000) % 3)
    before = len(pickle.dumps(labels))
    assert labels.by_class.rows.size == labels.class_rows.sum() == 1000
    assert len(pickle.dumps(labels)) == before
    assert pickle.loads(pickle.dumps(labels)).codes.tolist() == labels.codes.tolist()
