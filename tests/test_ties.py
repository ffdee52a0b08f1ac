import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilfs.ties import RELATIVE_TOLERANCE, first_of_largest, stable_order, tied_groups, tolerance

THIRD = 1.0 / 3.0
NUMBERS = st.lists(
    st.one_of(
        st.sampled_from([0.0, THIRD, np.nextafter(THIRD, 1), 1e-17, np.inf, -np.inf, -THIRD, 1e300]),
        st.floats(allow_nan=False),
    ),
    max_size=30,
)


def test_values_that_differ_by_rounding_stay_in_column_order():
    assert stable_order(np.array([THIRD, np.nextafter(THIRD, 1), np.nextafter(THIRD, 0)])).tolist() == [0, 1, 2]


def test_a_difference_above_the_tolerance_determines_the_order():
    assert stable_order(np.array([THIRD, THIRD * (1 + 1e-8)])).tolist() == [1, 0]


def test_a_chain_of_close_values_is_split_at_the_tolerance():
    step = 0.4 * RELATIVE_TOLERANCE
    groups = tied_groups(1.0 - step * np.arange(7))
    assert groups.tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_without_a_floor_small_values_are_different():
    assert tied_groups(np.array([1e-17, 2e-17])).tolist() == [1, 0]


def test_values_below_the_floor_are_equal():
    assert tied_groups(np.array([1e-17, -2e-17, 0.0, 1e-3]), floor=1e-12).tolist() == [1, 1, 1, 0]


def test_infinite_values_have_their_own_groups():
    assert tied_groups(np.array([1e308, np.inf, -np.inf, np.inf, -1e308])).tolist() == [1, 0, 3, 0, 2]


def test_the_tie_break_is_compared_by_the_same_rule():
    values, tie_break = np.array([1.0, 1.0, 1.0, 2.0]), np.array([THIRD, np.nextafter(THIRD, 1), 0.5, -5.0])
    assert stable_order(values, tie_break).tolist() == [3, 2, 0, 1]


def test_the_tie_break_has_its_own_floor():
    values, tie_break = np.ones(2), np.array([0.0, 1e-14])
    assert stable_order(values, tie_break).tolist() == [1, 0]
    assert stable_order(values, tie_break, tie_break_floor=1e-12).tolist() == [0, 1]


def test_order_of_an_empty_array_is_empty():
    assert stable_order(np.array([])).tolist() == []
    assert stable_order(np.array([]), np.array([])).tolist() == []


@pytest.mark.parametrize(("values", "first"), [([THIRD, np.nextafter(THIRD, 1)], 0), ([0.1, np.inf, np.inf], 1)])
def test_first_of_largest_ignores_rounding(values, first):
    assert first_of_largest(np.array(values)) == first


@given(NUMBERS)
def test_groups_are_no_wider_than_the_tolerance_and_in_order(values):
    values = np.array(values)
    groups = tied_groups(values)
    for group in range(groups.max(initial=-1) + 1):
        members = values[groups == group]
        assert members.size
        assert members.max() == members.min() or members.max() - members.min() <= tolerance(members.max())
        if group:
            assert members.max() < values[groups == group - 1].min()


@given(NUMBERS, st.randoms())
def test_the_groups_do_not_depend_on_the_order_of_the_values(values, random):
    values = np.array(values)
    shuffled = np.array(random.sample(range(values.size), values.size), dtype=int)
    np.testing.assert_array_equal(tied_groups(values[shuffled]), tied_groups(values)[shuffled])


@given(NUMBERS, st.randoms())
def test_the_last_bit_of_distant_or_equal_values_does_not_change_the_order(values, random):
    values = np.unique(np.round(np.clip(values, -1e6, 1e6), 3))
    values = np.concatenate([values, values])
    sign = np.array([random.choice([-1, 0, 1]) for _ in values], dtype=float)
    disturbed = values + sign * np.spacing(values)
    np.testing.assert_array_equal(stable_order(disturbed, floor=1e-12), stable_order(values, floor=1e-12))


def test_an_empty_array_has_no_groups():
    assert tied_groups(np.array([])).size == 0
