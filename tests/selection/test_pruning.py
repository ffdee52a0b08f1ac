import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from ilfs.selection import prune_redundant, pruning


def brute_force(order, X, threshold, n_keep=None):
    """Compare each column with all kept ones by ``numpy.corrcoef``, one at a time."""
    with np.errstate(invalid="ignore"):
        rho = np.nan_to_num(np.abs(np.corrcoef(X, rowvar=False)))
    kept, heads = [], np.full(X.shape[1], -1)
    for column in order:
        if len(kept) == n_keep:
            break
        above = [other for other in kept if rho[other, column] > threshold + 1e-11]
        heads[column] = above[0] if above else column
        if not above:
            kept.append(int(column))
    return kept, heads.tolist()


def families(n_samples=70, n_families=12, n_each=4, seed=0):
    """Return noisy copies of some columns, some of them with the other sign, and a random order."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n_samples, n_families)), n_each, axis=1)
    X = X * rng.choice([-1, 1], X.shape[1]) + rng.uniform(0, 1, X.shape[1]) * rng.normal(size=X.shape)
    return X, rng.permutation(X.shape[1])


@pytest.fixture(params=[1, 5, 256], ids="blocks of {} columns".format)
def block_columns(request, monkeypatch):
    monkeypatch.setattr(pruning, "BLOCK_COLUMNS", request.param)


@pytest.mark.usefixtures("block_columns")
class TestBruteForce:
    @pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7, 0.9, 1.0])
    @pytest.mark.parametrize("n_keep", [None, 1, 7, 1000])
    def test_kept_columns_and_heads_match(self, threshold, n_keep):
        for seed in range(3):
            X, order = families(seed=seed)
            kept, heads = prune_redundant(order, X, threshold, n_keep=n_keep, return_heads=True)
            assert (kept.tolist(), heads.tolist()) == brute_force(order, X, threshold, n_keep)

    def test_a_part_of_the_columns_may_be_ranked(self):
        X, order = families()
        kept, heads = prune_redundant(order[:20], X, 0.7, return_heads=True)
        assert (kept.tolist(), heads.tolist()) == brute_force(order[:20], X, 0.7)
        assert (heads[order[20:]] == -1).all()

    def test_no_two_kept_columns_are_correlated_above_the_threshold(self):
        X, order = families()
        kept, heads = prune_redundant(order, X, 0.6, return_heads=True)
        rho = np.abs(np.corrcoef(X, rowvar=False))
        assert rho[np.ix_(kept, kept)][np.triu_indices(kept.size, 1)].max() <= 0.6
        dropped = np.setdiff1d(order, kept)
        assert (rho[dropped, heads[dropped]] > 0.6).all()

    def test_a_sparse_table_gives_the_result_of_a_dense_one(self):
        X, order = families()
        X[np.abs(X) < 0.8] = 0
        kept = prune_redundant(order, X, 0.5).tolist()
        assert kept == brute_force(order, X, 0.5)[0]
        for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
            assert prune_redundant(order, form(X), 0.5).tolist() == kept

    def test_many_rows_are_read_in_blocks(self, monkeypatch):
        monkeypatch.setattr(pruning, "BLOCK_ROWS", 16)
        X, order = families()
        for table in (X, X.astype(np.float32), np.asfortranarray(X), sparse.csc_array(X)):
            assert prune_redundant(order, table, 0.7).tolist() == brute_force(order, X, 0.7)[0]


def test_numbers_worked_by_hand():
    # Columns 0 and 1 have correlation 1, 0 and 2 have -0.8 (covariance -4, both sums of squares 5), 3 is constant.
    X = np.array([[1.0, 2, 4, 7], [2, 4, 2, 7], [3, 6, 3, 7], [4, 8, 1, 7]])
    assert prune_redundant([0, 1, 2, 3], X).tolist() == [0, 2, 3]
    assert prune_redundant([0, 1, 2, 3], X, 0.79).tolist() == [0, 3]
    assert prune_redundant([2, 1, 0, 3], X, 0.79, return_heads=True)[1].tolist() == [2, 2, 2, 3]


def test_a_correlation_equal_to_the_threshold_is_kept():
    X = np.array([[1.0, 4], [2, 2], [3, 3], [4, 1]])  # correlation -0.8
    for scale, shift in [(1, 0), (3e5, 1e6), (1e-7, 0)]:
        assert prune_redundant([0, 1], scale * X + shift, 0.8).size == 2
    assert prune_redundant([0, 1], X, 0.8 - 1e-9).size == 1


def test_columns_far_from_zero_keep_their_digits():
    X, order = families()
    assert prune_redundant(order, X + 1e7, 0.7).tolist() == prune_redundant(order, X, 0.7).tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_taken(frame, monkeypatch):
    X, order = families()
    table = frame({f"g{j}": X[:, j] for j in range(X.shape[1])})
    expected = prune_redundant(order, X, 0.7).tolist()
    assert prune_redundant(order, table, 0.7).tolist() == expected
    monkeypatch.setattr("ilfs.sources.frames.MIN_BYTES_BY_BLOCK", 1)
    assert prune_redundant(order, table, 0.7).tolist() == expected


def test_the_table_and_the_order_are_not_changed():
    X, order = families()
    before = X.copy(), order.copy()
    kept = prune_redundant(order, X, 1.0)
    assert not np.shares_memory(kept, order)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(order, before[1])


def test_an_empty_order_keeps_nothing():
    assert prune_redundant([], np.eye(3)).tolist() == []


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 0], "order must have each column once, got one twice"),
        ([0, 3], "order must have indices from 0 to 2, got 0 to 3"),
        ([-1], "order must have indices from 0 to 2, got -1 to -1"),
        ([0.5], r"order must be a list of column indices, best first, got float64 of shape \(1,\)"),
        ([[0]], r"order must be a list of column indices, best first, got int64 of shape \(1, 1\)"),
    ],
)
def test_a_wrong_order_is_refused(order, message):
    with pytest.raises(ValueError, match=message):
        prune_redundant(order, np.eye(3))


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match=r"threshold must be a number from 0 to 1, got 1\.5"):
        prune_redundant([0], np.eye(3), 1.5)
    with pytest.raises(ValueError, match="n_keep must be an integer >= 1, got 0"):
        prune_redundant([0], np.eye(3), n_keep=0)


def test_missing_and_infinite_values_are_refused_by_name():
    frame = pd.DataFrame({"a": [1.0, np.nan, 2], "b": [1.0, 2, 3], "c": [4.0, 3, 3]})
    with pytest.raises(ValueError, match="X must have no missing values in the columns of order, got NaN in 'a': fill"):
        prune_redundant([0, 1], frame)
    assert prune_redundant([1, 2], frame).tolist() == [1, 2]
    with pytest.raises(ValueError, match="column 'b' of X holds infinity"):
        prune_redundant([1, 2], frame.replace({"b": {2.0: np.inf}}))
    with pytest.raises(TypeError, match="X must be in memory"):
        prune_redundant([0], pl.from_pandas(frame).lazy())


def test_memory_does_not_grow_with_the_number_of_pairs():
    X = np.random.default_rng(0).normal(size=(40, 12_000))
    tracemalloc.start()
    try:
        assert prune_redundant(np.arange(12_000), X, 0.9).size > 11_000
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    assert peak < 20  # the correlations of all pairs would take 1,152 MB
