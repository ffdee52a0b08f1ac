import numpy as np
import pytest
from scipy import sparse

from ilfs.execution import columns
from ilfs.neighbours import DistinctSamples, distinct
from ilfs.neighbours.distinct import row_keys


def table(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, size=(300, 4)).astype(float) / 7


FORMS = [
    np.asarray,
    np.asfortranarray,
    np.float32,
    lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    sparse.csr_array,
    sparse.csc_array,
]


@pytest.mark.parametrize("form", FORMS)
def test_equal_rows_are_found_in_any_storage(form):
    X = table() if form is not np.float32 else np.round(7 * table())
    samples = DistinctSamples.from_samples(form(X))
    rows = samples.X.toarray() if sparse.issparse(samples.X) else samples.X
    expected, counts = np.unique(X, axis=0, return_counts=True)
    order = np.lexsort(rows.T[::-1])
    np.testing.assert_array_equal(rows[order], expected)
    np.testing.assert_array_equal(samples.counts[order], counts)
    np.testing.assert_array_equal(rows[samples.inverse], X)
    assert samples.n_samples == 300


def test_order_and_rank_do_not_depend_on_the_order_of_the_rows():
    X = table()
    moved = np.random.default_rng(1).permutation(300)
    one, two = DistinctSamples.from_samples(X), DistinctSamples.from_samples(np.asfortranarray(X[moved]))
    np.testing.assert_array_equal(one.X, two.X)
    X = np.random.default_rng(0).normal(size=(50, 3))
    moved = np.random.default_rng(1).permutation(50)
    one, two = DistinctSamples.from_samples(X), DistinctSamples.from_samples(X[moved])
    assert one.X is X  # without repeated rows the input is not copied
    np.testing.assert_array_equal(one.rank[moved], two.rank)
    np.testing.assert_array_equal(DistinctSamples.from_samples(X[moved], ordered=True).X, X[np.argsort(one.rank)])


def test_keys_do_not_depend_on_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 30))
    keys = row_keys(X)
    monkeypatch.setattr(columns, "DENSE_BLOCK_VALUES", 100)
    np.testing.assert_array_equal(row_keys(X), keys)


def test_different_rows_with_the_same_key_stay_distinct(monkeypatch):
    monkeypatch.setattr(distinct, "row_keys", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
    for form in (np.asarray, sparse.csr_array):
        assert DistinctSamples.from_samples(form(X)).counts.tolist() == [2.0, 1.0]


def test_rows_of_small_integers_have_different_keys():
    grid = np.stack(np.meshgrid(*[np.arange(-8.0, 8.0)] * 4), axis=-1).reshape(-1, 4)
    assert np.unique(row_keys(grid)).size == len(grid)
