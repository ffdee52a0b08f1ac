"""Addresses of the columns of polars and pyarrow tables by the Arrow C data interface."""

import gc
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from ilfs.sources.arrow_columns import first_batch, has_one_chunk
from ilfs.sources.frames import FrameSource

TABLES = [pa.table, *([pl.DataFrame] if hasattr(pl.DataFrame, "__arrow_c_stream__") else [])]  # polars 1.3 or newer
FLOAT64 = np.dtype(np.float64)
VALUES = {"a": np.arange(20.0), "b": np.linspace(0, 1, 20)}


def address(values):
    return values.__array_interface__["data"][0]


def found(table, dtype=FLOAT64):
    addresses = np.zeros(table.shape[1], np.int64)
    first_batch(table).find_values(table.shape[0], dtype, addresses)
    return addresses.tolist()


def as_numpy(table):
    return [column.to_numpy() for column in (table.columns if isinstance(table, pa.Table) else table.get_columns())]


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_addresses_are_those_of_the_arrays(make, dtype):
    table = make({name: values.astype(dtype) for name, values in VALUES.items()})
    assert found(table, np.dtype(dtype)) == [address(values) for values in as_numpy(table)]
    part = table.slice(7, 9)
    assert found(part, np.dtype(dtype)) == [address(values) for values in as_numpy(part)]


@pytest.mark.parametrize("make", TABLES)
def test_a_column_with_missing_values_is_left_out(make):
    table = make({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]})
    addresses = found(table)
    assert addresses[0] == 0
    assert addresses[1] == address(as_numpy(table)[1])


def test_a_column_at_an_odd_address_is_left_out():
    buffer = pa.py_buffer(b" " + VALUES["a"].tobytes()).slice(1)
    assert found(pa.table({"a": pa.Array.from_buffers(pa.float64(), 20, [None, buffer])})) == [0]


def test_a_table_in_chunks_is_left_out():
    table = pa.concat_tables([pa.table(VALUES), pa.table(VALUES)])
    assert found(table) == [0, 0]
    frame = pl.concat([pl.DataFrame(VALUES), pl.DataFrame(VALUES)], rechunk=False)
    assert not has_one_chunk(frame)
    assert has_one_chunk(frame.rechunk()) == (pl.DataFrame in TABLES)


def test_polars_copies_no_column_to_align_chunks():
    two = pl.concat([pl.Series("b", VALUES["b"][:5]), pl.Series("b", VALUES["b"][5:])], rechunk=False)
    frame = pl.DataFrame({"a": VALUES["a"]}).with_columns(two)
    assert not has_one_chunk(frame)
    arrays = FrameSource(frame).column_arrays(slice(0, 20), slice(0, 2))
    assert frame.n_chunks("all") == [1, 2]
    np.testing.assert_array_equal(arrays.to_rows(), np.column_stack(list(VALUES.values())))


def test_a_table_without_rows_has_no_batch():
    assert first_batch(pa.table({"a": pa.array([], pa.float64())})) is None


def test_memory_is_kept_with_the_batch_and_released_after_it():
    values = np.arange(20.0)
    before = sys.getrefcount(values)
    table = pa.table({"a": pa.Array.from_buffers(pa.float64(), 20, [None, pa.py_buffer(values)])})
    batches = [first_batch(table), first_batch(table)]
    del table
    gc.collect()
    for _ in range(2):
        assert sys.getrefcount(values) > before
        batches.pop()
    gc.collect()
    assert sys.getrefcount(values) == before


def test_a_source_keeps_the_memory_of_its_columns():
    source = FrameSource(pa.table(VALUES))
    arrays = source.column_arrays(slice(0, 20), slice(0, 2))
    del source
    gc.collect()
    np.testing.assert_array_equal(arrays.to_rows(), np.column_stack(list(VALUES.values())))
