import numpy as np
import pytest
from scipy import sparse

from ilfs.execution import columns
from ilfs.execution.fingerprints import Fingerprints, distinct, scrambled, uniform


def bits(n_samples=30, n_features=8, seed=0):
    return (np.random.default_rng(seed).random((n_samples, n_features)) < 0.5).astype(float)


def same(one, two):
    np.testing.assert_array_equal(one.rows, two.rows)
    np.testing.assert_array_equal(one.columns, two.columns)


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_array,
        sparse.csc_matrix,
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: sparse.csc_array(X.astype(np.float32)),
        lambda X: np.where(X == 0, -0.0, X),
    ],
)
def test_hashes_do_not_depend_on_the_storage(form):
    same(Fingerprints.from_table(form(bits())), Fingerprints.from_table(bits()))


def test_hashes_do_not_depend_on_blocks_and_threads(monkeypatch):
    plain = Fingerprints.from_table(bits())
    monkeypatch.setattr(columns, "DENSE_BLOCK_VALUES", 60)
    same(Fingerprints.from_table(bits(), 1), plain)
    same(Fingerprints.from_table(bits(), 3), plain)


def test_permuting_rows_and_columns_permutes_their_hashes():
    X, rng = bits(), np.random.default_rng(1)
    plain, rows, order = Fingerprints.from_table(X), rng.permutation(30), rng.permutation(8)
    moved = Fingerprints.from_table(X[rows][:, order])
    np.testing.assert_array_equal(moved.columns, plain.columns[order])
    np.testing.assert_array_equal(moved.rows, plain.rows[rows])


def test_columns_with_the_same_values_in_other_rows_have_different_hashes():
    X = np.eye(6)[:, :5]
    assert np.unique(Fingerprints.from_table(X).columns).size == 5
    assert np.unique(Fingerprints.from_table(X).rows).size == 6


def test_the_first_of_equal_columns_has_the_smallest_number():
    X = bits()
    X[:, [3, 6]] = X[:, [1, 1]]
    numbers = Fingerprints.from_table(X).column_numbers()
    assert numbers[1] < numbers[3] < numbers[6]
    assert np.unique(numbers).size == 8


def test_reversing_the_rows_exchanges_numbers_only_between_equal_rows_of_one_label():
    X, label = np.repeat(bits(6), 3, axis=0), np.tile([1.0, 1.0, -1.0], 6)
    numbers = Fingerprints.from_table(X).row_numbers(label)
    backwards = Fingerprints.from_table(X[::-1]).row_numbers(label[::-1])[::-1]
    for row in range(0, 18, 3):
        assert numbers[row] != numbers[row + 1]
        assert set(numbers[row : row + 2]) == set(backwards[row : row + 2])
        assert numbers[row + 2] == backwards[row + 2]
    np.testing.assert_array_equal(Fingerprints.from_table(X).row_numbers(-label), numbers)


def test_equal_hashes_become_distinct_and_increase_in_order():
    hashes = distinct(np.array([7, 5, 7, 7], dtype=np.uint64))
    assert np.unique(hashes).size == 4
    assert hashes[0] < hashes[2] < hashes[3]


def test_scrambled_numbers_look_random():
    hashes = scrambled(np.arange(20_000, dtype=np.uint64))
    assert hashes[0] == 0
    assert np.unique(hashes).size == hashes.size
    numbers = uniform(hashes)
    assert 0 <= numbers.min() < numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03
