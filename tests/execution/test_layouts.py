"""Arrays and data frames whose columns are contiguous give the same bits as C-ordered arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import planted

from ilfs import ILFS, FisherScore
from ilfs.execution.blockwise import read_block
from ilfs.execution.fold import Read
from ilfs.sources import FrameSource, frames, table_source, tables
from ilfs.sources.frames import frame_source
from ilfs.statistics import DenseBlock, DistinctValues, Histograms, Moments, Products, SampledRows, Tokens
from ilfs.statistics.association import Association
from ilfs.statistics.block import ColumnArrays
from ilfs.statistics.labels import encode_labels

ILFS_ATTRIBUTES = ["scores_", "relevance_", "token_counts_", "mean_log_odds_", "order_"]


def columns_of(X):
    return {f"f{j}": X[:, j].copy() for j in range(X.shape[1])}


def in_chunks(X):
    parts = [pa.table(columns_of(part)) for part in (X[:13], X[13:30], X[30:])]
    return pa.concat_tables(parts)


def unaligned(values):
    """A column of pyarrow whose values begin one byte after an aligned address."""
    buffer = pa.py_buffer(b" " + values.tobytes()).slice(1)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, buffer])


def many_arrays(X):
    """A frame of pandas with one array for each column, in old versions of pandas, too."""
    frame = pd.DataFrame(index=range(len(X)))
    for name, values in columns_of(X).items():
        frame[name] = values
    return frame


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "Fortran, backwards": lambda X: np.asfortranarray(X[:, ::-1])[:, ::-1],
    "pandas, one array": lambda X: pd.DataFrame(np.asfortranarray(X)).rename(columns=str),
    "pandas, rows of one array": lambda X: pd.DataFrame(X, copy=False).rename(columns=str),
    "pandas, many arrays": many_arrays,
    "polars": lambda X: pl.DataFrame(columns_of(X)),
    "polars in chunks": lambda X: pl.concat([pl.DataFrame(columns_of(X[:20])), pl.DataFrame(columns_of(X[20:]))]),
    "pyarrow": lambda X: pa.table(columns_of(X)),
    "pyarrow in chunks": in_chunks,
    "pyarrow, sliced": lambda X: pa.table(columns_of(np.vstack([X[:3], X]))).slice(3),
    "pyarrow, unaligned": lambda X: pa.table({name: unaligned(values) for name, values in columns_of(X).items()}),
}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@pytest.fixture
def by_block(small_blocks, monkeypatch):
    """Read even small frames in place, in blocks of 16 rows (the last one has fewer)."""
    monkeypatch.setattr(frames, "MIN_BYTES_BY_BLOCK", 0)


def assert_same_fit(X, other, y, n_jobs, sample_weight=None):
    expected = ILFS(redundancy=None, n_jobs=n_jobs).fit(X, y, sample_weight=sample_weight)
    found = ILFS(redundancy=None, n_jobs=n_jobs).fit(other, y, sample_weight=sample_weight)
    for name in ILFS_ATTRIBUTES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    expected, found = (FisherScore(n_jobs=n_jobs).fit(table, y, sample_weight=sample_weight) for table in (X, other))
    np.testing.assert_array_equal(found.scores_, expected.scores_)


@layouts
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("n_jobs", "n_classes"), [(1, 2), (2, 2), (1, 3), (2, 3)])
def test_every_layout_gives_the_same_bits(by_block, layout, dtype, missing, n_jobs, n_classes):
    X, y = planted(n_samples=85, n_features=21, n_classes=n_classes)
    X = X.astype(dtype)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
        X[y == 1, 4] = np.nan
    assert_same_fit(X, layout(X), y, n_jobs)


@layouts
@pytest.mark.parametrize("weights", ["fractions", "zero or one"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_layout_gives_the_same_bits_with_weights(by_block, layout, weights, n_classes):
    X, y = planted(n_samples=85, n_features=11, n_classes=n_classes)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 85) if weights == "fractions" else rng.integers(0, 2, 85).astype(float)
    assert_same_fit(X, layout(X), y, 2, weight)


@layouts
def test_every_layout_gives_the_same_bits_with_redundancy(by_block, layout):
    X, y = planted(n_samples=85, n_features=11)
    np.testing.assert_array_equal(ILFS().fit(layout(X), y).scores_, ILFS().fit(X, y).scores_)


@layouts
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_of_default_height(layout, monkeypatch, n_classes):
    monkeypatch.setattr(frames, "MIN_BYTES_BY_BLOCK", 0)
    X, y = planted(n_samples=tables.BLOCK_ROWS + 1003, n_features=19, n_classes=n_classes)
    X[:, :3] *= 1e-3
    X[:, 3:6] += 1e6
    assert_same_fit(X, layout(X), y, 2)


@pytest.mark.filterwarnings("ignore:leave_one_out")
@pytest.mark.parametrize("sizes", [[1, 1], [3, 40], [8, 8, 8], [16, 1, 7, 9], [2] * 30, [900, 1100]])
@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 16])
def test_any_sizes_of_classes(sizes, n_columns):
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(y.size, n_columns))
    assert_same_fit(X, np.asfortranarray(X), y, 1)


def block_of(X, labels):
    return DenseBlock(X, labels, 1, X.shape[1] - 1, slice(0, X.shape[1] - 2))


def descriptions(moments):
    n = moments.mean.shape[1]
    yield Moments()
    for evidence in ("posterior", "distance", "distance_sum"):
        yield Tokens(moments, np.linspace(0, 1, 7), evidence)
        yield Tokens(moments, np.linspace(0, 1, 13), evidence, leave_one_out=False, balanced=False)
    yield Histograms(np.tile([-1.0, 0.0, 1.0], (n, 1)), np.full(n, 3))
    yield DistinctValues(5)
    yield SampledRows(10)
    yield Products(Association.from_moments(moments))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_statistic_takes_a_block_in_fortran_order(dtype, is_weighted, n_classes):
    X, y = planted(n_samples=75, n_features=70, n_classes=n_classes)
    X = X.astype(dtype)
    _, labels = encode_labels(y, np.linspace(0, 2, 75) if is_weighted else None)
    by_row, by_column = block_of(X, labels), block_of(np.asfortranarray(X), labels)
    as_arrays = block_of(ColumnArrays.from_array(np.asfortranarray(X)), labels)
    for description in descriptions(Moments()(by_row)):
        expected = vars(description(by_row))
        for block in (by_column, as_arrays):
            for name, value in vars(description(block)).items():
                np.testing.assert_array_equal(value, expected[name], err_msg=f"{type(description).__name__}.{name}")


def test_an_engine_may_hand_over_rows_in_fortran_order():
    X, y = planted(n_samples=75, n_features=9)
    (by_row,), (by_column,) = (table_source(table, y).blocks() for table in (X, np.asfortranarray(X)))
    assert not by_column.X.flags.c_contiguous
    for columns in (None, np.array([5, 2])):
        reads = [Read(Moments(), columns, 0)]
        np.testing.assert_array_equal(read_block(reads, by_column)[0].scatter, read_block(reads, by_row)[0].scatter)


@pytest.mark.parametrize("name", ["pandas, many arrays", "polars", "pyarrow"])
def test_columns_of_a_frame_are_read_in_place(name):
    X, y = planted(n_samples=40, n_features=5)
    frame = LAYOUTS[name](X)
    source = frame_source(frame, y)
    assert isinstance(source, FrameSource)
    assert source.in_place
    column = frame["f3"].to_numpy()
    found = source.column_arrays(slice(8, 20), slice(3, 4))
    assert found.addresses.tolist() == [column.__array_interface__["data"][0] + 8 * column.itemsize]
    assert len(found) == 12


def test_only_columns_that_need_it_are_converted():
    X, y = planted(n_samples=40, n_features=5)
    frame = pl.DataFrame(columns_of(X)).with_columns(pl.Series("f2", [None, *X[1:, 2]]))
    source = FrameSource(frame, y)
    expected = frame.to_numpy()
    np.testing.assert_array_equal(source.column_arrays(slice(0, 40), slice(0, 5)).to_rows(), expected)
    assert source.column_arrays(slice(0, 40), slice(0, 2)).owner[1].shape == (40, 0)
    assert source.column_arrays(slice(0, 40), slice(0, 5)).owner[1].shape == (40, 1)


@layouts
def test_infinity_is_reported_with_its_column(by_block, layout):
    X, y = planted(n_samples=85, n_features=11)
    X[80, 9] = np.inf
    with pytest.raises(ValueError, match=r"column '?(f?9)'? .*infinity"):
        ILFS().fit(layout(X), y)
