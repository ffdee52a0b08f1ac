"""Tables in several files: each file is opened once in a pass, and memory of a batch is freed before the next one."""

import pickle
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from metamorphic import small_blocks

import ilfs
from ilfs.execution import fold_of
from ilfs.sources import Batch, BatchReader, BatchSource
from ilfs.sources.parquet import ParquetPart, ParquetReader
from ilfs.statistics import Moments
from ilfs.statistics.block import ColumnArrays

RNG = np.random.default_rng(0)
X = RNG.normal(size=(230, 10)).astype(np.float32)
Y = np.array(["no", "yes"])[(X[:, 0] + RNG.normal(size=230) > 0).astype(int)]
HEIGHT = 16


def write_files(folder, ends=(45, 61, 62, 190, 230), row_group=40):
    """Write rows into files that end between blocks."""
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": Y}
    table = pa.table(columns)
    for number, (start, stop) in enumerate(zip((0, *ends[:-1]), ends, strict=True)):
        pq.write_table(table.slice(start, stop - start), folder / f"{number}.parquet", row_group_size=row_group)
    return folder


@pytest.fixture
def opened(monkeypatch):
    """Record the files that are opened."""
    calls = []
    open_file = ParquetPart.opened
    monkeypatch.setattr(ParquetPart, "opened", lambda self: [calls.append(self.path.name), open_file(self)][1])
    return calls


def stream(folder, **options):
    files = [ParquetPart(path) for path in sorted(folder.iterdir())]
    reader = ParquetReader(files, "y", name="parts")
    reader.strip_columns = 4
    return BatchSource(reader, **options)


@pytest.mark.parametrize("row_group", [5, 16, 40, 1000])
@pytest.mark.parametrize("waits", [True, False])
def test_strips_of_several_files_give_the_bits_of_memory(tmp_path, waits, row_group, monkeypatch):
    with small_blocks(HEIGHT):
        expected = ilfs.ILFS(n_candidates=6).fit(X, Y)
        source = stream(write_files(tmp_path, row_group=row_group))
        monkeypatch.setattr(source, "_can_wait", lambda strips: waits)
        found = ilfs.ILFS(n_candidates=6).fit(source)
        moments, in_memory = fold_of(source)(Moments()), fold_of(ilfs.sources.table_source(X, Y))(Moments())
    assert np.array_equal(found.scores_, expected.scores_)
    assert np.array_equal(found.relevance_, expected.relevance_)
    assert np.array_equal(moments.mean, in_memory.mean)
    assert np.array_equal(moments.scatter, in_memory.scatter)


def test_a_file_is_opened_once_in_a_pass_over_all_strips(tmp_path, opened):
    with small_blocks(HEIGHT):
        source = stream(write_files(tmp_path))
        assert len(source.labellings) == 1
        opened.clear()
        fold_of(source)(Moments())
    assert opened == [f"{number}.parquet" for number in range(5)]


def test_strips_are_read_one_by_one_if_rows_at_the_end_of_files_take_too_much_memory(tmp_path, opened):
    with small_blocks(HEIGHT):
        source = stream(write_files(tmp_path))
        source._max_waiting_bytes = HEIGHT * 10 * 4 - 1
        assert len(source.labellings) == 1
        opened.clear()
        fold_of(source)(Moments())
    assert opened == 3 * [f"{number}.parquet" for number in range(5)]


def test_blocks_within_a_row_group_refer_to_it_and_the_last_ones_are_copied(tmp_path):
    with small_blocks(HEIGHT):
        source = stream(write_files(tmp_path, ends=(230,), row_group=80))
        kinds = [isinstance(block.X, ColumnArrays) for block in source.blocks(np.arange(4))]
    # Row groups end after 80, 160 and 230 rows: after blocks 5 and 10, and within the last block.
    assert kinds == [True] * 4 + [False] + [True] * 4 + [False] + [True] * 3 + [False] * 2


class FreedBatches(BatchReader):
    """Reader that fails if a batch is still in memory when the next one is made."""

    by_column, has_labels, n_features, n_rows, dtype = True, True, 3, 200, np.dtype(np.float64)

    def batches(self, columns, max_rows):
        alive = None
        for start in range(0, 200, 40):
            if alive is not None and columns is None:  # not in the pass over labels alone, which needs no memory
                assert alive() is None, "the batch before is still in memory"
            values = [np.arange(start, start + 40.0) for _ in range(3)]
            alive = weakref.ref(values[0])
            batch = Batch(values, np.arange(40) % 2, None, 40)
            del values
            yield batch
            del batch


@pytest.mark.parametrize("height", [8, 16, 32, 64])
def test_a_batch_is_freed_before_the_next_one_is_read(height):
    with small_blocks(height):
        n_rows = 0
        for block in BatchSource(FreedBatches()).blocks():
            n_rows += len(block.X)
            in_use = block  # while the next block is read
            del block
    assert n_rows == 200
    assert in_use is not None


def test_a_batch_that_is_a_block_is_freed_with_it():
    with small_blocks(40):
        for block in BatchSource(FreedBatches()).blocks():
            assert isinstance(block.X, ColumnArrays)
            del block


def test_columns_in_place_can_be_pickled():
    columns = ColumnArrays.from_columns([np.arange(3.0), np.arange(3.0, 6.0)], np.dtype(np.float64))
    copy = pickle.loads(pickle.dumps(columns))
    assert copy.shape == (3, 2)
    assert np.array_equal(copy.to_rows(), columns.to_rows())
    assert copy.addresses[0] != columns.addresses[0]


@pytest.mark.parametrize(
    "columns",
    [[np.arange(3.0), np.arange(3)], [np.arange(6.0)[::2], np.arange(3.0)]],
    ids=["another type", "gaps"],
)
def test_columns_of_other_types_or_with_gaps_are_not_used_in_place(columns):
    assert ColumnArrays.from_columns(columns, np.dtype(np.float64)) is None
