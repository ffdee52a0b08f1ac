import threading
import time
import weakref

import numpy as np
import pytest
from helpers import fold_of, moments_of, planted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from ilfs import ILFS
from ilfs.execution import memory, partition, threads
from ilfs.sources import tables
from ilfs.statistics import SparseBlock

FITTED_ATTRIBUTES = ["scores_", "ranking_", "relevance_", "token_counts_", "topic_tokens_", "loglik_", "mean_log_odds_"]


def assert_same_bits(a, b):
    for name in FITTED_ATTRIBUTES:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


class BlockRecorder:
    """Statistic that records the columns of its blocks in the order of merging."""

    def __init__(self, block):
        self.places = [(block.columns.start, block.columns.stop)]
        self.n_rows = block.n_rows

    def merge(self, other):
        self.places += other.places
        self.n_rows += other.n_rows
        return self

    @classmethod
    def join(cls, parts):
        return parts


def layouts(X):
    """Return the same table in different memory layouts."""
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, 1::3] = X
    tall = np.zeros((2 * X.shape[0], X.shape[1]), dtype=X.dtype)
    tall[::2] = X
    return {
        "fortran": np.asfortranarray(X),
        "strided rows and columns": wide[::2, 1::3],
        "strided rows": tall[::2],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "swapped bytes": X.astype(X.dtype.newbyteorder()),
        "transposed copy": X.T.copy().T,
    }


@pytest.mark.parametrize("layout", sorted(layouts(np.zeros((1, 1)))))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_are_bitwise_equal_in_every_layout(small_blocks, layout, dtype):
    X, y = planted(n_samples=70, n_features=11)
    X = X.astype(dtype)
    assert_same_bits(ILFS().fit(layouts(X)[layout], y), ILFS().fit(X, y))


def test_results_are_bitwise_equal_in_every_layout_with_default_blocks():
    X, y = planted(n_samples=9000, n_features=60)
    assert_same_bits(ILFS().fit(np.asfortranarray(X), y), ILFS().fit(X, y))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_memory_mapped_file_gives_bitwise_equal_results(tmp_path, order):
    X, y = planted(n_samples=70, n_features=11)
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    assert_same_bits(ILFS().fit(mapped, y), ILFS().fit(X, y))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64, np.float16, np.float32])
def test_other_dtypes_give_the_result_of_float64(dtype):
    X, y = planted(n_samples=70, n_features=11)
    X = (X > 0 if dtype is bool else 10 * np.abs(X)).astype(dtype)
    assert_same_bits(ILFS().fit(X, y), ILFS().fit(X.astype(np.float64), y))


def test_float32_is_close_to_float64():
    X, y = planted(n_samples=200, n_features=30, shift=1)
    np.testing.assert_allclose(ILFS().fit(X.astype(np.float32), y).scores_, ILFS().fit(X, y).scores_, rtol=1e-5)


SPARSE_FORMS = {
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "int64 indices": lambda X: with_wide_indices(sparse.csc_array(X)),
}


def with_wide_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def mostly_zero(n_samples=80, n_features=12, seed=0):
    X, y = planted(n_samples, n_features, seed=seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.6] = 0.0
    X[:, 3] = 0.0
    return X, y


def assert_near(a, b):
    np.testing.assert_allclose(a.token_counts_, b.token_counts_, atol=1e-9)
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-6)
    np.testing.assert_allclose(a.mean_log_odds_, b.mean_log_odds_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", sorted(SPARSE_FORMS))
@pytest.mark.parametrize("evidence", ["posterior", "distance"])
def test_sparse_equals_dense(form, evidence):
    X, y = mostly_zero()
    assert_near(ILFS(evidence=evidence).fit(SPARSE_FORMS[form](X), y), ILFS(evidence=evidence).fit(X, y))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_sparse_equals_dense_for_other_dtypes(dtype):
    X, y = mostly_zero()
    X = (X > 0 if dtype is bool else 10 * X).astype(dtype)
    assert_near(ILFS().fit(sparse.csr_array(X), y), ILFS().fit(X, y))


def test_sparse_equals_dense_with_missing_values_and_weights():
    X, y = mostly_zero()
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, size=len(y)).astype(float)
    assert_near(ILFS().fit(sparse.csr_array(X), y, weight), ILFS().fit(X, y, weight))


def test_stored_zeros_are_zeros():
    X, y = mostly_zero()
    stored = sparse.csr_array(np.where(X == 0, 1.0, X))
    stored.data[stored.data == 1.0] = 0.0
    assert stored.nnz == X.size
    assert_near(ILFS().fit(stored, y), ILFS().fit(X, y))


def test_duplicate_entries_are_summed_and_the_input_is_not_modified():
    X, y = mostly_zero()
    rows, columns = np.nonzero(X)
    twice = sparse.csc_array(
        (
            np.tile(X[rows, columns] / 2, 2)[np.argsort(np.tile(columns, 2), kind="stable")],
            np.tile(rows, 2)[np.argsort(np.tile(columns, 2), kind="stable")],
            np.r_[0, 2 * np.cumsum(np.bincount(columns, minlength=X.shape[1]))],
        ),
        shape=X.shape,
    )
    assert twice.nnz == 2 * rows.size
    assert_near(ILFS().fit(twice, y), ILFS().fit(X, y))
    assert twice.nnz == 2 * rows.size


def test_unsorted_indices_are_supported():
    X, y = mostly_zero()
    unsorted = sparse.csc_array(X)
    for start, stop in zip(unsorted.indptr[:-1], unsorted.indptr[1:], strict=True):
        unsorted.indices[start:stop] = unsorted.indices[start:stop][::-1].copy()
        unsorted.data[start:stop] = unsorted.data[start:stop][::-1].copy()
    unsorted.has_sorted_indices = False
    before = unsorted.indices.copy()
    assert_near(ILFS().fit(unsorted, y), ILFS().fit(X, y))
    np.testing.assert_array_equal(unsorted.indices, before)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize(("redundancy", "n_dense"), [(None, 0), ("novelty", 5), ("gain", 10)])  # with their shapes
def test_only_the_candidates_of_a_sparse_table_are_made_dense(monkeypatch, form, redundancy, n_dense):
    X, y = mostly_zero()
    X = form(X)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array):

        def only_candidates(self, *args, to_array=kind.toarray, **options):
            assert self.shape[1] <= n_dense
            return to_array(self, *args, **options)

        monkeypatch.setattr(kind, "toarray", only_candidates)
        monkeypatch.setattr(kind, "todense", only_candidates)
    assert ILFS(redundancy=redundancy, n_candidates=5).fit(X, y).scores_.shape == (12,)


def test_a_sparse_table_too_large_for_dense_storage_is_fitted():
    n_samples, n_features = 20_000, 200_000
    rng = np.random.default_rng(0)
    n_stored = 100_000
    rows, columns = rng.integers(n_samples, size=n_stored), rng.integers(n_features, size=n_stored)
    y = np.arange(n_samples) % 2
    label = sparse.csr_array((np.ones(n_samples // 2), (np.flatnonzero(y), np.full(n_samples // 2, 7))), (n_samples, 9))
    X = sparse.hstack(
        [label, sparse.coo_array((rng.random(n_stored), (rows, columns)), (n_samples, n_features))], format="csr"
    )
    assert ILFS().fit(X, y).order_[0] == 7


@pytest.mark.parametrize("is_sparse", [False, True])
def test_two_threads_give_bitwise_equal_results(small_blocks, is_sparse):
    X, y = mostly_zero(n_samples=150, n_features=31)
    X = sparse.csr_array(X) if is_sparse else X
    weight = np.random.default_rng(0).uniform(0.5, 2, size=150)
    assert_same_bits(ILFS(n_jobs=2).fit(X, y, weight), ILFS(n_jobs=1).fit(X, y, weight))


def test_two_threads_give_bitwise_equal_results_with_default_blocks():
    X, y = planted(n_samples=17_000, n_features=40, shift=0.1, n_classes=3)
    assert X.size > memory.MAX_SERIAL_VALUES
    assert len(X) > 2 * tables.BLOCK_ROWS
    assert_same_bits(ILFS(n_jobs=2).fit(X, y), ILFS(n_jobs=1).fit(X, y))


def test_two_threads_give_bitwise_equal_results_for_a_wide_table():
    X, y = planted(n_samples=40, n_features=9000)
    assert X.size > memory.MAX_SERIAL_VALUES
    assert_same_bits(ILFS(n_jobs=2).fit(X, y), ILFS(n_jobs=1).fit(X, y))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 50), st.integers(1, 12), st.integers(1, 3), st.booleans())
def test_blocks_cover_every_row_and_column_once(small_blocks, n_samples, n_features, n_jobs, is_fortran):
    X = np.zeros((n_samples, n_features), order="F" if is_fortran else "C")
    parts = fold_of(X, np.zeros(n_samples), n_jobs=n_jobs)(BlockRecorder)
    covered = [part.places[0] for part in parts]
    assert covered[0][0] == 0
    assert covered[-1][1] == n_features
    assert [stop for _, stop in covered[:-1]] == [start for start, _ in covered[1:]]
    assert {part.n_rows for part in parts} == {n_samples}


def test_the_fixture_small_blocks_makes_many_blocks(small_blocks):
    X = np.zeros((100, 20))
    for table in (X, np.asfortranarray(X)):
        parts = fold_of(table, np.zeros(100))(BlockRecorder)
        assert len(parts) > 2
        assert all(len(part.places) == 7 for part in parts)
    assert len(fold_of(sparse.csc_array(np.ones((100, 20))), np.zeros(100))(BlockRecorder)) > 2


def test_blocks_of_rows_are_merged_in_order_of_rows_not_of_completion(small_blocks):
    class Rows:
        def __init__(self, block):
            self.first = [float(block.X[0, 0])]
            time.sleep(0.05 if self.first[0] == 0 else 0)

        def merge(self, other):
            self.first += other.first
            return self

        @classmethod
        def join(cls, parts):
            return [part.first for part in parts]

    X = np.repeat(np.arange(80.0), 2).reshape(80, 2)
    assert fold_of(X, np.zeros(80), n_jobs=2)(Rows) == [[0, 16, 32, 48, 64]]


@pytest.mark.parametrize("columns", [None, np.arange(2)])
def test_few_results_wait_to_be_merged(small_blocks, monkeypatch, columns):
    monkeypatch.setattr(partition, "MIN_LEAF_ROWS", 16)
    monkeypatch.setattr(partition, "GATHERED_VALUES", 1)
    alive, most = weakref.WeakSet(), []

    class Large:
        def __init__(self, block=None):
            alive.add(self)
            most.append(len(alive))

        def merge(self, other):
            return Large()

        @classmethod
        def join(cls, parts):
            return len(most)

    X = np.zeros((16 * 200, 2))
    assert fold_of(X, np.zeros(len(X)), n_jobs=2)(Large, columns=columns) == 399
    at_once = 2 * threads.QUEUED_PER_THREAD if columns is None else 2
    n_levels = 3  # levels of the merge tree; each keeps one statistic
    assert max(most) <= at_once + 1 + n_levels


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_products_inside_a_fold_of_some_columns_use_one_thread(small_blocks, n_jobs):
    seen = []

    def look(block):
        seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return BlockRecorder(block)

    X = np.zeros((64, 2))
    with threadpool_limits(2):
        fold_of(X, np.zeros(64), n_jobs=n_jobs)(look, columns=np.arange(2))
    assert set(seen) == {1}


def test_two_threads_work_at_the_same_time(small_blocks):
    meeting = threading.Barrier(2, timeout=20)

    def wait_for_the_other(block):
        meeting.wait()
        return BlockRecorder(block)

    X = np.zeros((64, 2))
    assert fold_of(X, np.zeros(64), n_jobs=2)(wait_for_the_other)[0].n_rows == 64


def test_an_error_in_a_thread_is_raised_and_stops_the_others(small_blocks):
    begun = []

    def fail(block):
        begun.append(block)
        raise ZeroDivisionError("in a thread")

    X = np.zeros((16 * 200, 2))
    with pytest.raises(ZeroDivisionError, match="in a thread"):
        fold_of(X, np.zeros(len(X)), n_jobs=2)(fail)
    assert len(begun) < 200


def test_infinity_in_a_later_block_is_reported_with_its_column(small_blocks):
    X, y = planted(n_samples=70, n_features=11)
    X[60, 9] = np.inf
    for table in (X, np.asfortranarray(X), sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"column 9 .*infinity"):
            ILFS(n_jobs=2).fit(table, y)


def test_contiguous_floats_are_read_in_place():
    X, y = planted()
    seen = []

    def look(block):
        seen.append(np.shares_memory(block.X, X))
        return BlockRecorder(block)

    fold_of(X, y)(look)
    fold_of(X.astype(np.float32), y)(look)
    fold_of(np.asfortranarray(X), y)(look)
    assert seen == [True, False, False]


def test_compressed_columns_are_read_in_place():
    X, y = mostly_zero()
    X = sparse.csc_array(X)

    def look(block):
        assert isinstance(block, SparseBlock)
        assert np.shares_memory(block.data, X.data)
        return BlockRecorder(block)

    fold_of(X, y)(look)


def test_blocks_of_rows_agree_with_one_block(small_blocks):
    X, y = planted(n_samples=100, n_features=7, n_classes=3)
    blocks = moments_of(X, y)
    for k in range(3):
        np.testing.assert_allclose(blocks.mean[k], X[y == k].mean(axis=0), atol=1e-14)
        np.testing.assert_allclose(blocks.scatter[k], X[y == k].var(axis=0) * (y == k).sum(), rtol=1e-12)
