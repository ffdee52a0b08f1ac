"""Tables that are read in blocks, and on Dask: prepared by types and first rows, never loaded."""

import numpy as np
import pytest
from prepared_tables import expression, genes, plain_csv, samples, sheet_csv, write

import ilfs
from ilfs.preparing import prepare

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
X, Y = expression(40, 20)


@pytest.fixture
def folder(tmp_path):
    """Write two Parquet files with columns of many types."""
    data = pandas.DataFrame({name: X[:, j] for j, name in enumerate(genes(20))}).assign(
        sample=samples(40),
        diagnosis=Y,
        donor=[f"d{i // 4}" for i in range(40)],
        w=np.arange(40) % 3 + 1.0,
        day=pandas.date_range("2024-01-01", periods=40),
        patient_id=np.random.default_rng(0).permutation(1000)[:40],
    )
    (tmp_path / "parts").mkdir()
    data[:25].to_parquet(tmp_path / "parts" / "a.parquet")
    data[25:].to_parquet(tmp_path / "parts" / "b.parquet")
    return tmp_path / "parts"


def rows_of(table):
    return np.vstack([np.asarray(block.X) for block in table.source.blocks()])


@pytest.mark.parametrize("pattern", ["", "*.parquet"])
def test_streams_set_columns_aside_by_their_types(folder, pattern):
    path = folder / pattern if pattern else folder
    table = prepare(path, engine="stream", groups="donor", id="sample", weight="w")
    assert isinstance(table.source, ilfs.sources.BatchSource)
    assert (table.target, table.source.feature_names) == ("diagnosis", genes(20))
    np.testing.assert_array_equal(rows_of(table), X)
    assert table.groups.tolist() == [f"d{i // 4}" for i in range(40)]
    assert table.ids.tolist() == samples(40)
    assert {one.name: one.reason for one in table.set_aside} == {
        "sample": "names the rows",
        "day": "holds dates",
        "patient_id": "identifies the rows by different integers",
    }


def test_a_stream_gives_the_same_ranking_as_the_loaded_table(folder):
    options = {"groups": "donor", "weight": "w"}
    streamed, loaded = (prepare(folder, engine=engine, **options) for engine in ("stream", "memory"))
    orders = [ilfs.FisherScore().fit(table.source).order_ for table in (streamed, loaded)]
    np.testing.assert_array_equal(*orders)
    assert loaded.source.feature_names == streamed.source.feature_names


def test_dask_gives_the_same_ranking_as_the_loaded_table(folder):
    pytest.importorskip("dask.dataframe")
    options = {"groups": "donor", "id": "sample", "weight": "w", "drop": "gene1?"}
    on_dask, loaded = (prepare(folder, engine=engine, **options) for engine in ("dask", "memory"))
    assert on_dask.target == loaded.target == "diagnosis"
    assert on_dask.source.feature_names == loaded.source.feature_names == genes(10)
    assert {one.name for one in on_dask.set_aside} == {one.name for one in loaded.set_aside}
    assert on_dask.groups.tolist() == loaded.groups.tolist()
    assert on_dask.ids.tolist() == loaded.ids.tolist()
    orders = [ilfs.FisherScore().fit(table.source).order_ for table in (on_dask, loaded)]
    np.testing.assert_array_equal(*orders)


@pytest.mark.parametrize("n_kept", [1, 2, 10, 19])
def test_few_columns_of_parquet_files_on_dask_keep_their_labels(folder, n_kept):
    pytest.importorskip("dask.dataframe")
    kept = genes(20)[:n_kept]
    table = prepare(folder, engine="dask", only=kept)
    assert table.source.feature_names == kept
    selector = ilfs.FisherScore().fit(table.source)
    np.testing.assert_allclose(selector.scores_, ilfs.FisherScore().fit(X[:, :n_kept], Y).scores_)


def test_a_text_is_streamed_by_its_first_rows(tmp_path):
    table = prepare(plain_csv(tmp_path / "t.csv", X, Y), engine="stream", drop="gene1?")
    assert table.source.feature_names == genes(10)
    np.testing.assert_array_equal(rows_of(table), X[:, :10])
    assert [one.name for one in table.set_aside] == [*genes(20)[10:], "sample"]


def test_a_text_without_a_header_is_streamed_by_positions(tmp_path):
    lines = [",".join([*map(str, row), kind]) for row, kind in zip(X.tolist(), Y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    table = prepare(tmp_path / "t.csv", engine="stream", drop=["x0", "x3"])
    assert table.target == "x20"
    np.testing.assert_array_equal(rows_of(table), np.delete(X, [0, 3], axis=1))


def test_several_text_files_are_streamed(tmp_path):
    for number, rows in enumerate((slice(0, 15), slice(15, 40))):
        plain_csv(tmp_path / f"{number}.csv", X[rows], Y[rows])
    table = prepare(tmp_path / "*.csv", groups="sample")
    np.testing.assert_array_equal(rows_of(table), X)
    assert table.groups.tolist() == [*samples(15), *samples(25)]


def test_a_large_table_is_never_loaded(tmp_path, monkeypatch):
    path = plain_csv(tmp_path / "t.csv", X, Y)
    monkeypatch.setattr("ilfs.preparing.streams.bytes_needed", lambda _: 2**40)
    monkeypatch.setattr("ilfs.preparing.text_files.whole_content", lambda _: pytest.fail("loaded"))
    assert prepare(path, memory_limit="20MB").target == "diagnosis"


def test_classes_of_a_stream_may_come_from_a_sheet(tmp_path):
    rows = [[name, *values] for name, values in zip(samples(40), X.tolist(), strict=True)]
    path = write(tmp_path / "t.csv", ["who", *genes(20)], rows)
    order = np.random.default_rng(0).permutation(40)
    table = prepare(path, engine="stream", samples=sheet_csv(tmp_path / "s.csv", Y, order))
    streamed = ilfs.FisherScore().fit(table.source)
    np.testing.assert_array_equal(streamed.order_, ilfs.FisherScore().fit(X, Y).order_)


@pytest.mark.parametrize("option", ["transpose", "encode"])
def test_what_needs_all_rows_is_refused(folder, option):
    with pytest.raises(ValueError, match=f"{option} must be left out for parts, which is read in blocks"):
        prepare(folder, engine="stream", **{option: True})


def test_a_format_without_blocks_cannot_be_streamed(tmp_path):
    (tmp_path / "t.arff").write_text("x")
    with pytest.raises(ValueError, match=r"engine must be 'auto' or 'memory' for t.arff"):
        prepare(tmp_path / "t.arff", engine="stream")


def test_dask_reads_parquet_only(tmp_path):
    path = plain_csv(tmp_path / "t.csv", X, Y)
    with pytest.raises(ValueError, match=r"engine must be .* as Dask reads Parquet files"):
        prepare(path, engine="dask")


class TestTypesOfFiles:
    """Files of one table whose columns have different types."""

    def two(self, folder, first, second, name="c"):
        n = len(first)
        for file, values in (("a", first), ("b", second)):
            frame = pandas.DataFrame({"y": ["u", "v"] * (n // 2), name: values, "d": np.arange(n) ** 2.0})
            frame.to_parquet(folder / f"{file}.parquet")
        return folder

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (np.array([1, 2, 3, 5]), np.array([1.5, np.nan, 2, 3])),
            (np.array([1.5, np.nan, 2, 3]), np.array([1, 2, 3, 5])),
            (np.array([1, 2, 3, 5], dtype=np.int32), np.array([1, 2, 3, 2**40])),
            (np.array([1, 2, 3, 5], dtype=np.int16), np.array([0.5, 2, 3, 7], dtype=np.float32)),
            (np.array([None] * 4), np.array([0.5, 2, 3, 7])),
        ],
        ids=["integer and float", "float and integer", "two integers", "float32", "only missing"],
    )
    def test_types_are_widened(self, tmp_path, engine, first, second):
        table = prepare(self.two(tmp_path, first, second), engine=engine)
        expected = np.concatenate([first, second]).astype(np.float64)
        np.testing.assert_array_equal(rows_of(table)[:, table.source.feature_names.index("c")], expected)

    def test_an_integer_that_would_be_rounded_is_refused(self, tmp_path):
        folder = self.two(tmp_path, np.array([1, 2, 3, 2**53 + 1]), np.array([1.5, 2, 3, 4]))
        with pytest.raises(ValueError, match=r"a.parquet cannot be read to its end: Integer value"):
            prepare(folder)

    def test_text_and_numbers_are_refused(self, tmp_path):
        folder = self.two(tmp_path, np.array(["1", "2", "3", "4"]), np.array([1.5, 2, 3, 4]))
        with pytest.raises(ValueError, match=r"all files must have the same columns: 'c' is .*string in .*a.parquet"):
            prepare(folder)
