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
def test_storage_does_not_matter(form):
    same(Fingerprints.of(form(bits())), Fingerprints.of(bits()))


def test_blocks_and_threads_do_not_matter(monkeypatch):
    plain = Fingerprints.of(bits())
    monkeypatch.setattr(columns, "PART_CELLS", 60)
    same(Fingerprints.of(bits(), 1), plain)
    same(Fingerprints.of(bits(), 3), plain)


def test_they_move_with_rows_and_columns():
    X, rng = bits(), np.random.default_rng(1)
    plain, rows, order = Fingerprints.of(X), rng.permutation(30), rng.permutation(8)
    moved = Fingerprints.of(X[rows][:, order])
    np.testing.assert_array_equal(moved.columns, plain.columns[order])
    np.testing.assert_array_equal(moved.rows, plain.rows[rows])


def test_columns_with_the_same_values_in_other_rows_differ():
    X = np.eye(6)[:, :5]
    assert np.unique(Fingerprints.of(X).columns).size == 5
    assert np.unique(Fingerprints.of(X).rows).size == 6


def test_of_equal_columns_the_first_has_the_least_number():
    X = bits()
    X[:, [3, 6]] = X[:, [1, 1]]
    numbers = Fingerprints.of(X).column_numbers()
    assert numbers[1] < numbers[3] < numbers[6]
    assert np.unique(numbers).size == 8


def test_equal_rows_have_different_numbers_but_the_same_set_of_them():
    X, label = np.repeat(bits(6), 3, axis=0), np.tile([1.0, 1.0, -1.0], 6)
    numbers = Fingerprints.of(X).row_numbers(label)
    backwards = Fingerprints.of(X[::-1]).row_numbers(label[::-1])[::-1]
    for row in range(0, 18, 3):
        assert numbers[row] != numbers[row + 1]
        assert set(numbers[row : row + 2]) == set(backwards[row : row + 2])
        assert numbers[row + 2] == backwards[row + 2]
    np.testing.assert_array_equal(Fingerprints.of(X).row_numbers(-label), numbers)


def test_hashes_become_distinct_in_order():
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
