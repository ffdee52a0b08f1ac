"""Parquet files: many chosen columns are read strip by strip and put side by side."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ilfs.sources import parquet
from ilfs.sources.parquet import ParquetPart, ParquetReader, aligned_slices, strip_width

N_ROWS, N_COLUMNS, HEIGHT = 57, 9, 8
VALUES = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)
KINDS = np.array(["a", "b", "c"])[np.arange(N_ROWS) % 3]
WEIGHTS = np.arange(N_ROWS) % 4.0


@pytest.fixture
def reader(tmp_path):
    """Two files of 30 and 27 rows, in row groups of 13: no row group begins or ends with a block of 8 rows."""
    table = pa.table({f"f{j}": VALUES[:, j] for j in range(N_COLUMNS)} | {"kind": KINDS, "w": WEIGHTS})
    for number, rows in enumerate([table.slice(0, 30), table.slice(30)]):
        pq.write_table(rows, tmp_path / f"{number}.parquet", row_group_size=13)
    files = [ParquetPart(tmp_path / f"{number}.parquet") for number in range(2)]
    made = ParquetReader(files, "kind", weight="w", name="the table")
    made.strip_columns = 4
    return made


def read(reader, columns):
    return [batch for part in range(reader.n_parts) for batch in reader.part_batches(part, columns, HEIGHT)]


@pytest.mark.parametrize("width", [1, 2, 3, 64])
def test_strips_side_by_side_are_all_columns(reader, width, monkeypatch):
    monkeypatch.setattr(parquet, "WIDE_STRIP_COLUMNS", width)
    columns = np.array([0, 2, 3, 4, 5, 7, 8])
    batches = read(reader, columns)
    assert (np.concatenate([batch.X for batch in batches]) == VALUES[:, columns]).all()
    assert (np.concatenate([batch.y for batch in batches]) == KINDS).all()
    assert (np.concatenate([batch.weight for batch in batches]) == WEIGHTS).all()


def test_batches_end_where_blocks_of_the_whole_table_end(reader):
    ends = np.cumsum([batch.n_rows for batch in read(reader, np.arange(N_COLUMNS))])
    groups = [13, 26, 30, 43, 56, 57]
    assert ends.tolist() == sorted({*range(HEIGHT, N_ROWS, HEIGHT), *groups})


def test_whole_blocks_are_in_fortran_order_and_own_their_memory(reader):
    batches = read(reader, np.arange(N_COLUMNS))
    assert all(batch.X.flags.f_contiguous for batch in batches)
    assert not any(np.shares_memory(one.X, batches[0].X) for one in batches[1:])


def test_few_columns_are_not_copied(reader):
    assert all(isinstance(batch.X, list) for batch in read(reader, np.arange(4)))


def test_long_row_groups_are_read_in_batches(reader, monkeypatch):
    monkeypatch.setattr(parquet, "PAGE_BYTES", 12 * parquet.VALUE_BYTES)
    batches = read(reader, np.arange(N_COLUMNS))
    assert {type(batch.X) for batch in batches} == {list, np.ndarray}  # row groups of 13 rows, and the short last ones
    assert sum(batch.n_rows for batch in batches) == N_ROWS


@pytest.mark.parametrize(("n_rows", "height", "first_row"), [(10, 4, 0), (10, 4, 7), (3, 8, 6), (1, 8, 3), (8, 8, 8)])
def test_aligned_slices_cover_all_rows_and_cut_at_multiples(n_rows, height, first_row):
    slices = aligned_slices(n_rows, height, first_row)
    assert [row for part in slices for row in range(part.start, part.stop)] == list(range(n_rows))
    assert all((first_row + part.stop) % height == 0 for part in slices[:-1])
    assert all(0 < part.stop - part.start <= height for part in slices)


@pytest.mark.parametrize(
    ("memory_limit", "n_rows", "width"),
    [
        (None, 10**9, 256),
        (10**7, 10**9, 4),  # pages of 1 MB: four fit into half of the limit
        (10**7, 60, 256),  # pages of 480 bytes
        (10**6, 10_000, 6),  # pages of 80 kB
        (1, 10**9, 1),
        (1, 0, 1),
    ],
)
def test_a_low_limit_makes_strips_of_long_files_narrow(memory_limit, n_rows, width):
    assert strip_width(memory_limit, n_rows) == width
