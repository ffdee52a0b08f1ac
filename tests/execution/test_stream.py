"""Rows that are read in batches give the same result as a table in memory."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from helpers import planted
from metamorphic import small_blocks as blocks_of
from scipy import sparse
from sklearn.base import clone

from ilfs import CFS, ILFS, FisherScore, InfFS, MutualInformation, Novelty, ReliefF
from ilfs.execution.stream import one_ahead
from ilfs.sources import Batch, BatchReader, BatchSource
from ilfs.sources.batches import block_height

EDGES = np.linspace(-2, 2, 5)
SELECTORS = {
    "plain": ILFS(redundancy=None),
    "gain": ILFS(n_candidates=8),
    "novelty": ILFS(redundancy="novelty"),
    "fisher": FisherScore(),
    "mi": MutualInformation(edges=EDGES),
    "novelty of fisher": Novelty(FisherScore()),
    "cfs": CFS(),
    "inf_fs": InfFS(correlation="pearson"),
}
selectors = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)


class PartsReader(BatchReader):
    """Reader of an array, in batches of given heights, that records which columns were read."""

    def __init__(self, X, y=None, heights=None, weight=None, *, strips=None, by_column=False):
        self.X, self.y, self.weight, self.heights = X, y, weight, heights or [X.shape[0]]
        self.n_features, self.is_sparse, self.has_labels = X.shape[1], sparse.issparse(X), y is not None
        self.strip_columns, self.by_column, self.dtype = strips, by_column, np.dtype(X.dtype)
        self.passes = []

    def batches(self, columns, max_rows):
        self.passes.append(None if columns is None else columns.tolist())
        start = 0
        for height in self.heights:
            rows = slice(start, start + height)
            X = self.X[rows] if columns is None else self.X[rows][:, columns]
            if self.by_column:
                X = [np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])]
            y = None if self.y is None else self.y[rows]
            yield Batch(X, y, None if self.weight is None else self.weight[rows], height)
            start += height


def table(n_samples=130, n_features=12):
    X, y = planted(n_samples=n_samples, n_features=n_features, shift=1.0)
    rng = np.random.default_rng(5)
    return X, np.array(["no", "yes"])[y], rng.uniform(0.5, 2, n_samples)


def assert_equal(found, expected):
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


def expected_of(selector, X, y, weight):
    weights = {} if isinstance(selector, CFS | InfFS) else {"sample_weight": weight}
    return clone(selector).fit(X, y, **weights)


@selectors
@pytest.mark.parametrize("heights", [[130], [1, 60, 0, 2, 67], [13] * 10, [129, 1]], ids=str)
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("strips", [None, 5])
def test_batches_of_any_height_give_the_same_bits_as_memory(selector, heights, by_column, strips):
    X, y, weight = table()
    if isinstance(selector, CFS | InfFS):
        weight = None
    with blocks_of(32):
        found = clone(selector).fit(BatchSource(PartsReader(X, y, heights, weight, by_column=by_column, strips=strips)))
        expected = expected_of(selector, X, y, weight)
    if isinstance(selector, CFS | InfFS):  # in memory these use all rows at once
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10)
    else:
        assert_equal(found, expected)


@selectors
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_float32_and_missing_values_give_the_same_bits(selector, n_jobs):
    X, y, _ = table()
    X = X.astype(np.float32)
    if not isinstance(selector, CFS | InfFS):
        X[::7, 3] = np.nan
    with blocks_of(32):
        found = clone(selector).set_params(n_jobs=n_jobs).fit(BatchSource(PartsReader(X, y, [50, 80], by_column=True)))
        expected = expected_of(selector, X, y, None)
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-5 if isinstance(selector, InfFS) else 1e-12)


@pytest.mark.parametrize(
    "selector", [SELECTORS["gain"], SELECTORS["fisher"], SELECTORS["mi"]], ids=["gain", "fisher", "mi"]
)
def test_sparse_batches_agree_with_memory(selector):
    X, y, weight = table()
    X = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    found = clone(selector).fit(BatchSource(PartsReader(X, y, [50, 0, 80], weight)))
    expected = clone(selector).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10, atol=1e-12)


def test_an_indicator_matrix_is_read_as_often_as_one_label():
    X, _, _ = table()
    Y = np.random.default_rng(1).integers(0, 2, size=(len(X), 4))
    reader = PartsReader(X, Y, [60, 70])
    found = ILFS().fit(BatchSource(reader))
    assert_equal(found, ILFS().fit(X, Y))
    assert len(reader.passes) == 4  # labels, moments, tokens, products


class TestReads:
    def test_the_labels_are_read_without_the_features(self):
        X, y, _ = table()
        reader = PartsReader(X, y, [65, 65])
        FisherScore().fit(BatchSource(reader))
        assert reader.passes == [[], None]

    def test_the_last_pass_reads_the_candidates_only(self):
        X, y, _ = table()
        reader = PartsReader(X, y, [65, 65])
        selector = ILFS(n_candidates=3).fit(BatchSource(reader))
        assert reader.passes[1:3] == [None, None]
        assert reader.passes[3] == sorted(selector.candidates_.tolist())

    def test_strips_cover_all_columns_once_in_each_read(self):
        X, y, _ = table()
        reader = PartsReader(X, y, [65, 65], strips=5)
        ILFS(redundancy=None).fit(BatchSource(reader))
        assert reader.passes == [[], *2 * [list(range(5)), list(range(5, 10)), [10, 11]]]

    @selectors
    def test_n_reads_counts_them(self, selector):
        X, y, _ = table()
        reader = PartsReader(X, y, [65, 65])
        clone(selector).fit(BatchSource(reader))
        assert len(reader.passes) == 1 + selector.n_reads

    def test_progress_reaches_the_end_of_every_read(self):
        X, y, _ = table()
        reported = []
        with blocks_of(32):
            ILFS().fit(BatchSource(PartsReader(X, y, [65, 65], strips=5), progress=reported.append))
        ends = {one.number: one.fraction for one in reported}
        assert ends == {0: None, 1: 1.0, 2: 1.0, 3: 1.0}
        assert all(a.fraction <= b.fraction for a, b in pairwise(reported) if a.number == b.number > 0)


class TestLabels:
    def test_a_label_may_first_appear_in_the_last_batch(self):
        X, y, _ = table()
        order = np.argsort(y, kind="stable")
        with blocks_of(16):
            found = ILFS().fit(BatchSource(PartsReader(X[order], y[order], [50, 40, 40])))
            assert_equal(found, ILFS().fit(X[order], y[order]))
        assert found.classes_.tolist() == ["no", "yes"]

    def test_rows_of_weight_0_are_absent(self):
        X, y, weight = table()
        y = np.where(np.arange(len(y)) % 10 == 0, "absent", y)
        weight = np.where(y == "absent", 0.0, weight)
        found = FisherScore().fit(BatchSource(PartsReader(X, y, [65, 65], weight)))
        assert found.classes_.tolist() == ["no", "yes"]

    def test_labels_may_be_given_beside_the_batches(self):
        X, y, _ = table()
        assert_equal(FisherScore().fit(BatchSource(PartsReader(X, heights=[30, 100]), y)), FisherScore().fit(X, y))

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.array(["a"] * 129), "got 129 values of y and at least 130 rows"),
            (np.array(["a"] * 131), "same number of rows, got 130 and 131"),
            (np.array([1.5, 2] * 65), "Unknown label type"),
            (np.array(["a"] * 130), "at least two classes, got one class, 'a'"),
            (np.array(["a", None] * 65, dtype=object), "row 1 has none"),
        ],
    )
    def test_bad_labels_are_refused(self, y, message):
        with pytest.raises(ValueError, match=message):
            FisherScore().fit(BatchSource(PartsReader(table()[0], heights=[65, 65]), y))

    def test_a_missing_label_is_found_in_any_batch(self):
        X, y, _ = table()
        y = y.astype(object)
        y[100] = None
        with pytest.raises(ValueError, match="row 100 has none"):
            FisherScore().fit(BatchSource(PartsReader(X, y, [65, 65])))

    def test_text_and_numbers_do_not_mix(self):
        X, y, _ = table()

        class Mixed(PartsReader):
            def batches(self, columns, max_rows):
                for number, batch in enumerate(super().batches(columns, max_rows)):
                    yield Batch(batch.X, np.arange(65) % 2 if number else batch.y, None, batch.n_rows)

        with pytest.raises(ValueError, match="one type, got text in some rows and numbers in others"):
            FisherScore().fit(BatchSource(Mixed(X, y, [65, 65])))

    def test_labels_that_change_between_reads_are_noticed(self):
        X, y, _ = table()

        class Changing(PartsReader):
            def batches(self, columns, max_rows):
                for batch in super().batches(columns, max_rows):
                    yield Batch(
                        batch.X, np.full(batch.n_rows, "new") if len(self.passes) > 1 else batch.y, None, batch.n_rows
                    )

        with pytest.raises(ValueError, match=r"has changed between two reads: label .*'new'"):
            FisherScore().fit(BatchSource(Changing(X, y, [65, 65])))


class TestErrors:
    def test_infinity_names_the_column(self):
        X, y, _ = table()
        X[100, 7] = np.inf
        reader = PartsReader(X, y, [65, 65], strips=5)
        reader.feature_names = [f"gene{j}" for j in range(12)]
        with pytest.raises(ValueError, match="column 'gene7' of X holds infinity"):
            ILFS().fit(BatchSource(reader))

    @pytest.mark.parametrize("n_rows", [0, 1])
    def test_too_few_rows_are_refused(self, n_rows):
        X, y, _ = table()
        with pytest.raises(ValueError, match=f"must have at least 2 rows, got {n_rows}"):
            FisherScore().fit(BatchSource(PartsReader(X[:n_rows], y[:n_rows], [n_rows])))

    def test_a_method_that_needs_all_rows_names_those_that_do_not(self):
        X, y, _ = table()
        with pytest.raises(TypeError, match=r"ReliefF needs all rows in memory: .* \(ILFS, FisherScore, .*\)"):
            ReliefF().fit(BatchSource(PartsReader(X, y)))
        with pytest.raises(TypeError, match="ReliefF needs all rows in memory"):
            Novelty(ReliefF()).fit(BatchSource(PartsReader(X, y)))
        with pytest.raises(ValueError, match="choose correlation='pearson'"):
            InfFS().fit(BatchSource(PartsReader(X, y)))

    def test_labels_beside_a_source_and_a_source_without_labels_are_refused(self):
        X, y, _ = table()
        with pytest.raises(TypeError, match="y must be None if X is a source"):
            FisherScore().fit(BatchSource(PartsReader(X, y)), y)
        with pytest.raises(ValueError, match="the source has no target"):
            FisherScore().fit(BatchSource(PartsReader(X)))

    def test_an_error_of_the_reader_is_passed_on_and_leaves_no_thread(self):
        X, y, _ = table()

        class Broken(PartsReader):
            def batches(self, columns, max_rows):
                yield from super().batches(columns, max_rows)
                if len(self.passes) > 1:
                    raise ValueError("part 7 is truncated")

        before = threading.active_count()
        with pytest.raises(ValueError, match="part 7 is truncated"):
            ILFS().fit(BatchSource(Broken(X, y, [65, 65])))
        assert threading.active_count() == before

    @pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
    def test_bad_weights_name_the_row(self, weight):
        X, y, weights = table()
        weights[70] = weight
        with pytest.raises(
            ValueError, match=f"sample_weight must be a number >= 0 for each row, got {weight} in row 70"
        ):
            FisherScore().fit(BatchSource(PartsReader(X, y, [65, 65], weights)))


class TestMemory:
    def test_wide_tables_have_lower_blocks_unless_they_are_read_in_strips(self):
        wide = PartsReader(np.zeros((1, 100_000), dtype=np.float32), strips=256)
        assert block_height(wide, None) == 8192
        wide.strip_columns = None
        assert block_height(wide, None) == 256
        assert block_height(wide, 2**20) == 1

    def test_a_limit_makes_blocks_lower_and_the_order_stays(self):
        X, y, weight = table()
        limit = 4 * 12 * 8 * 20  # four blocks of 20 rows: the next smaller power of two is 16
        source = BatchSource(PartsReader(X, y, [130], weight), memory_limit=limit)
        assert max(block.X.shape[0] for block in source.blocks()) == 16
        found, expected = ILFS().fit(source), ILFS().fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10)

    def test_a_batch_that_is_a_block_is_not_copied(self):
        X, y, _ = table()
        with blocks_of(65):
            blocks = list(BatchSource(PartsReader(X, y, [65, 65])).blocks())
        assert all(np.shares_memory(block.X, X) for block in blocks)


class TestOneAhead:
    def test_the_next_item_is_taken_while_the_caller_works(self):
        taken = threading.Event()

        def items():
            yield 1
            taken.set()
            yield 2

        with one_ahead(items()) as found:
            assert next(found) == 1
            assert taken.wait(10)  # set by the reading thread, while this one waits
            assert list(found) == [2]

    def test_an_iterator_that_is_left_early_is_closed(self):
        closed = []

        def items():
            try:
                yield from range(100)
            finally:
                closed.append(True)

        with one_ahead(items()) as found:
            next(found)
        assert closed == [True]
