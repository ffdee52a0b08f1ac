import numpy as np
import pytest

from ilfs.parameters import (
    check_between,
    check_choice,
    check_integer,
    check_positive,
    check_within,
    is_fraction,
    is_integer,
)


@pytest.mark.parametrize("value", [1, np.int8(3), np.uint64(9)])
def test_python_and_numpy_integers_are_integers(value):
    assert is_integer(value)


@pytest.mark.parametrize("value", [True, np.True_, 1.0, np.float64(2), "1", None, np.array([1, 2])])
def test_booleans_floats_and_text_are_not_integers(value):
    assert not is_integer(value)


@pytest.mark.parametrize("value", [1e-9, 0.5, 1.0, np.float32(0.25)])
def test_numbers_above_0_and_up_to_1_are_fractions(value):
    assert is_fraction(value)


@pytest.mark.parametrize("value", [0.0, 1.0001, -0.5, np.nan, np.inf, 1, True, "0.5", None, 0.5j])
def test_integers_and_numbers_outside_0_to_1_are_not_fractions(value):
    assert not is_fraction(value)


def test_error_for_a_too_small_integer_has_name_rule_and_value():
    check_integer("depth", 3, 3)
    with pytest.raises(ValueError, match=r"^depth must be an integer >= 3, got 2$"):
        check_integer("depth", 2, 3)


def test_error_for_an_unknown_choice_has_name_rule_and_value():
    check_choice("way", "b", ("a", "b", None))
    check_choice("way", None, ("a", "b", None))
    with pytest.raises(ValueError, match=r"^way must be 'a', 'b' or None, got 'c'$"):
        check_choice("way", "c", ("a", "b", None))


def test_1_is_not_accepted_as_true():
    with pytest.raises(ValueError, match=r"^flag must be True or False, got 1$"):
        check_choice("flag", 1, (True, False))


@pytest.mark.parametrize("value", [0, 1, -1, np.nan, True, "0.5", None])
def test_error_for_a_number_outside_an_open_interval_has_name_rule_and_value(value):
    with pytest.raises(ValueError, match=r"^fraction must be a number strictly between 0 and 1, got "):
        check_between("fraction", value, 0, 1)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), 1e-300])
def test_a_number_inside_an_open_interval_is_accepted(value):
    check_between("fraction", value, 0, 1)


@pytest.mark.parametrize("value", [-1e-9, 1.1, np.nan, True, "0.5", None])
def test_error_for_a_number_outside_a_closed_interval_has_name_rule_and_value(value):
    with pytest.raises(ValueError, match=r"^weight must be a number from 0 to 1, got "):
        check_within("weight", value, 0, 1)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(1)])
def test_the_ends_of_a_closed_interval_are_accepted(value):
    check_within("weight", value, 0, 1)


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, True, "1", None])
def test_error_for_a_number_that_is_not_positive_has_name_rule_and_value(value):
    with pytest.raises(ValueError, match=r"^weight must be a number > 0, got "):
        check_positive("weight", value)


@pytest.mark.parametrize("value", [1, 1e-300, np.float32(2)])
def test_a_positive_number_is_accepted(value):
    check_positive("weight", value)
