import numpy as np
import pytest

from ilfs.execution import Target


@pytest.mark.parametrize(
    ("labels", "classes"),
    [(["b", "a", "b"], ["a", "b"]), ([True, False, True], [False, True]), ([7, -1, 7], [-1, 7])],
)
def test_labels_of_any_type_become_codes(labels, classes):
    target = Target.from_labels(np.array(labels))
    assert target.classes.tolist() == classes
    assert target.codes.tolist() == [1, 0, 1]


def test_a_row_without_weight_has_no_code_and_its_class_may_vanish():
    target = Target.from_labels(np.array(["a", "b", "c", "a"]), np.array([1.0, 0.0, 2.0, 0.5]))
    assert target.classes.tolist() == ["a", "c"]
    assert target.codes.tolist() == [0, -1, 1, 0]
    assert target.class_rows.tolist() == [2, 1]
    assert target.class_total.tolist() == [1.5, 2.0]


def test_rows_are_grouped_by_class_in_their_order():
    target = Target.from_labels(np.array(list("xbabab")), np.array([0.0, 1, 2, 3, 4, 5]))
    rows, starts, weight = target.sorted_rows(0, 6)
    assert rows.tolist() == [2, 4, 1, 3, 5]
    assert starts.tolist() == [0, 2, 5]
    assert weight.tolist() == [2, 4, 1, 3, 5]


def test_rows_of_a_block_are_counted_from_its_start():
    target = Target.from_labels(np.array(list("abcabc")))
    rows, starts, _ = target.sorted_rows(3, 5)
    assert rows.tolist() == [0, 1]
    assert starts.tolist() == [0, 1, 2, 2]


def test_one_machine_for_two_classes_otherwise_one_a_class():
    assert Target.from_labels(np.array(["a", "b", "b"])).one_against_rest().tolist() == [[-1, 1, 1]]
    three = Target.from_labels(np.array([5, 7, 9])).one_against_rest()
    assert three.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
