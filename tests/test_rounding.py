import numpy as np

from ilfs.arrays import rounded


def test_the_last_bits_of_a_number_are_gone():
    third = 1.0 / 3.0
    a, b, large, larger, other = rounded(
        np.array([third, np.nextafter(third, 1), 3e11, 3e11 * (1 + 1e-15), third + 1e-6])
    )
    assert a == b
    assert large == larger
    assert other > a


def test_of_a_small_number_ten_digits_behind_the_point_stay():
    assert rounded(np.array([1e-17, 1e-9])).tolist() == [0.0, 1e-9]


def test_infinity_and_missing_numbers_stay():
    np.testing.assert_array_equal(rounded(np.array([-np.inf, np.inf, np.nan])), [-np.inf, np.inf, np.nan])
