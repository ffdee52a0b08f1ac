"""Selected columns of files, written to other files."""

import subprocess
import sys
from pathlib import Path

import anndata
import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from helpers import planted
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import ilfs
from ilfs import FisherScore
from ilfs.applying import columns, writers

NAMES = [f"gene {j}" for j in range(12)]
N_ROWS = 60
ENDINGS = [".csv", ".tsv", ".parquet", ".feather"]


def table():
    return planted(n_samples=N_ROWS, n_features=12, n_informative=4)


def frame():
    """Return the features in another order, between the names of the rows and the target."""
    X, y = table()
    rows = pd.DataFrame(X, columns=NAMES)[NAMES[::-1]]
    rows.insert(0, "cell", [f"c{i}, {'é' if i % 2 else 'e'}" for i in range(N_ROWS)])
    return rows.assign(kind=np.array(["benign", "malignant"])[y], age=np.arange(N_ROWS))


@pytest.fixture(scope="module")
def selector():
    X, y = table()
    return FisherScore(3).fit(pd.DataFrame(X, columns=NAMES), y)


@pytest.fixture(scope="module")
def unnamed():
    return FisherScore(3).fit(*table())


@pytest.fixture(scope="module")
def expected(selector):
    return table()[0][:, selector.get_support()]


def write(rows, path):
    if path.suffix in (".csv", ".tsv"):
        rows.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        rows.to_parquet(path, row_group_size=25)
    else:
        rows.to_feather(path)
    return path


def read(path):
    if path.suffix in (".csv", ".tsv"):
        return pl.read_csv(path, separator="\t" if path.suffix == ".tsv" else ",").to_pandas()
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_feather(path)


def names_of(selector):
    return list(selector.get_feature_names_out())


class TestFormats:
    @pytest.mark.parametrize("target", ENDINGS)
    @pytest.mark.parametrize("source", ENDINGS)
    def test_from_every_format_to_every_other(self, source, target, selector, expected, tmp_path):
        given = write(frame(), tmp_path / f"given{source}")
        out = ilfs.apply(selector, given, tmp_path / f"out{target}", keep=["cell", "kind"])
        found = read(out)
        assert list(found.columns) == ["cell", "kind", *names_of(selector)]
        np.testing.assert_array_equal(found[names_of(selector)].to_numpy(), expected)
        assert found["cell"].tolist() == frame()["cell"].tolist()
        assert found["kind"].tolist() == frame()["kind"].tolist()

    @pytest.mark.parametrize("target", ENDINGS)
    @pytest.mark.parametrize("source", [".npy", ".svmlight", ".npz"])
    def test_from_formats_without_names(self, source, target, unnamed, expected, tmp_path):
        X, y = table()
        given = tmp_path / f"given{source}"
        if source == ".npy":
            np.save(given, X)
        elif source == ".npz":
            np.savez(given, X=X, y=y)
        else:
            dump_svmlight_file(X, y, str(given))
        found = read(ilfs.apply(unnamed, given, tmp_path / f"out{target}"))
        assert list(found.columns) == [f"x{j}" for j in unnamed.get_support(indices=True)]
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-15)

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
    def test_from_h5ad(self, make, selector, expected, tmp_path):
        X, y = table()
        index = pd.Index([f"cell {i}" for i in range(N_ROWS)], dtype=object)
        kinds = pd.Categorical(np.array(["a", "b"], dtype=object)[y], categories=pd.Index(["a", "b"], dtype=object))
        obs = pd.DataFrame({"kind": kinds, "age": np.arange(N_ROWS)}, index=index)
        adata = anndata.AnnData(make(X), obs, pd.DataFrame(index=pd.Index(NAMES, dtype=object)))
        adata.write_h5ad(tmp_path / "cells.h5ad")
        for given in (tmp_path / "cells.h5ad", adata):
            found = read(ilfs.apply(selector, given, tmp_path / "out.parquet", keep="others", memory_limit="20kB"))
            assert list(found.columns) == ["obs_names", "kind", "age", *names_of(selector)]
            np.testing.assert_array_equal(found[names_of(selector)].to_numpy(), expected)
            assert found["obs_names"].tolist() == index.tolist()
            assert found["kind"].tolist() == list(kinds)
            assert found["age"].tolist() == list(range(N_ROWS))
        with pytest.raises(ValueError, match=r"keep must hold 'obs_names' or columns of X\.obs, got 'batch'"):
            ilfs.apply(selector, adata, tmp_path / "out.csv", keep=["batch"])

    def test_several_files(self, selector, expected, tmp_path):
        rows = frame()
        for ending in (".csv", ".parquet"):
            for part in range(3):
                write(rows[20 * part : 20 * part + 20], tmp_path / f"part-{part}{ending}")
            found = read(ilfs.apply(selector, f"{tmp_path}/part-*{ending}", tmp_path / "out.parquet"))
            np.testing.assert_array_equal(found.to_numpy(), expected)

    def test_folders_that_name_values(self, selector, expected, tmp_path):
        for year in (2023, 2024):
            (tmp_path / "data" / f"year={year}").mkdir(parents=True)
            write(frame()[:30] if year == 2023 else frame()[30:], tmp_path / "data" / f"year={year}" / "a.parquet")
        found = read(ilfs.apply(selector, tmp_path / "data", tmp_path / "out.csv", keep=["year"]))
        assert found["year"].tolist() == [2023] * 30 + [2024] * 30
        np.testing.assert_array_equal(found[names_of(selector)].to_numpy(), expected)

    def test_types_are_kept(self, tmp_path):
        rows = pa.table(
            {
                "a": pa.array([1, None, 3], pa.int16()),
                "b": pa.array([True, False, None]),
                "c": pa.array([0.1, float("nan"), None], pa.float32()),
                "day": pa.array([0, 1, None], pa.date32()),
            }
        )
        selector = FisherScore(3).fit(pd.DataFrame(np.eye(4)[:, :3], columns=["a", "b", "c"]), [0, 0, 1, 1])
        pq.write_table(rows, tmp_path / "given.parquet")
        out = ilfs.apply(selector, tmp_path / "given.parquet", tmp_path / "out.parquet", keep=["day"])
        found, expected = pq.read_table(out), rows.select(["day", "a", "b", "c"])
        assert found.schema.equals(expected.schema)
        assert repr(found.to_pydict()) == repr(expected.to_pydict())  # NaN is not equal to itself
        text = ilfs.apply(selector, tmp_path / "given.parquet", tmp_path / "out.csv", keep=["day"]).read_text()
        first = float(np.float32(0.1))
        assert text == f"day,a,b,c\n1970-01-01,1,1,{first}\n1970-01-02,,0,\n,3,,\n"


class TestText:
    def text(self, selector, text, tmp_path, out="out.csv", **options):
        (tmp_path / "given.csv").write_text(text)
        return ilfs.apply(selector, tmp_path / "given.csv", tmp_path / out, **options)

    @pytest.fixture
    def two(self):
        return FisherScore(1, must_keep=["size"]).fit(
            pd.DataFrame({"size": [1.0, 2, 4, 5], "hue": [3.0, 1, 2, 2]}), [0, 0, 1, 1]
        )

    def test_values_are_copied_as_they_are(self, two, tmp_path):
        text = 'id,size,hue\n"a,1",1.50,2\nb,NA,3\nc,1e3,4\n'
        out = self.text(two, text, tmp_path, keep=["id"])
        assert out.read_text() == 'id,size\n"a,1",1.50\nb,NA\nc,1e3\n'

    def test_decimal_commas(self, two, tmp_path):
        text = "id;size;hue\na;1,5;2\nb;;3\n"
        assert self.text(two, text, tmp_path, keep=["id"]).read_text() == "id;size\na;1,5\nb;\n"
        assert self.text(two, text, tmp_path, "out.tsv", keep=["id"]).read_text() == "id\tsize\na\t1.5\nb\t\n"
        assert read(self.text(two, text, tmp_path, "out.parquet"))["size"].tolist()[0] == 1.5

    @pytest.mark.filterwarnings("ignore:the first column")
    def test_names_of_rows_are_no_column(self, two, tmp_path):
        assert self.text(two, "size,hue\nr1,1,2\nr2,3,4\n", tmp_path).read_text() == "size\n1\n3\n"

    def test_one_row(self, two, tmp_path):
        assert self.text(two, "size,hue\n7,2\n", tmp_path).read_text() == "size\n7\n"

    def test_no_row(self, two, tmp_path):
        assert self.text(two, "size,hue\n", tmp_path).read_text() == "size\n"
        assert read(self.text(two, "size,hue\n", tmp_path, "out.parquet")).shape == (0, 1)

    def test_a_file_without_names_is_taken_by_position(self, unnamed, expected, tmp_path):
        np.savetxt(tmp_path / "given.csv", table()[0], delimiter=",", fmt="%.17g")
        out = ilfs.apply(unnamed, tmp_path / "given.csv", tmp_path / "out.csv")
        np.testing.assert_array_equal(read(out).to_numpy(), expected)

    def test_columns_to_keep_are_not_counted(self, unnamed, expected, tmp_path):
        rows = pd.DataFrame(table()[0], columns=NAMES).assign(id="a")
        out = ilfs.apply(unnamed, write(rows, tmp_path / "given.csv"), tmp_path / "out.csv", keep=["id"])
        np.testing.assert_array_equal(read(out).to_numpy()[:, 1:].astype(float), expected)

    @pytest.mark.parametrize(
        ("text", "out", "message"),
        [
            ("size,hue\n1,2\n3\n", "out.csv", "row 2 of .* must have 2 values, got 1"),
            ("size,hue\n1,2\nx,2\n", "out.parquet", "column 'size' of .* must hold numbers.* got 'x' in row 2"),
            ("hue,x\n1,2\n", "out.csv", r"given.csv must have all 1 selected columns, but lacks 'size'$"),
            ("", "out.csv", "given.csv is empty"),
        ],
    )
    def test_errors_leave_no_file(self, two, text, out, message, tmp_path):
        with pytest.raises(ValueError, match=message):
            self.text(two, text, tmp_path, out)
        assert [file.name for file in tmp_path.iterdir()] == ["given.csv"]


class TestTables:
    @pytest.mark.parametrize(
        "make",
        [
            lambda rows: rows,
            pl.from_pandas,
            lambda rows: pl.from_pandas(rows).lazy(),
            pa.Table.from_pandas,
            lambda rows: pa.Table.from_pandas(rows).to_reader(max_chunksize=7),
            lambda rows: ds.dataset(pa.Table.from_pandas(rows)),
            lambda rows: ds.dataset(pa.Table.from_pandas(rows)).scanner(),
            duckdb.from_df,
            lambda rows: dd.from_pandas(rows, npartitions=3),
        ],
        ids=["pandas", "polars", "lazy", "arrow", "reader", "dataset", "scanner", "duckdb", "dask frame"],
    )
    def test_tables_with_names(self, make, selector, expected, tmp_path):
        for ending in (".csv", ".parquet"):
            found = read(ilfs.apply(selector, make(frame()), tmp_path / f"out{ending}", keep="others"))
            assert list(found.columns) == ["cell", "kind", "age", *names_of(selector)]
            np.testing.assert_array_equal(found[names_of(selector)].to_numpy(), expected)
            assert found["kind"].tolist() == frame()["kind"].tolist()

    @pytest.mark.parametrize(
        "make",
        [
            lambda X: X,
            lambda X: X.tolist(),
            sparse.csr_array,
            lambda X: da.from_array(X, chunks=(20, 5)),
            lambda X: lambda: (X[start : start + 25] for start in range(0, N_ROWS, 25)),
        ],
        ids=["array", "list", "sparse", "dask array", "blocks"],
    )
    def test_tables_without_names(self, make, unnamed, expected, tmp_path):
        found = read(ilfs.apply(unnamed, make(table()[0]), tmp_path / "out.parquet"))
        np.testing.assert_array_equal(found.to_numpy(), expected)
        with pytest.raises(ValueError, match="keep must be empty for X, of which only the features are read"):
            ilfs.apply(unnamed, make(table()[0]), tmp_path / "out.csv", keep=["kind"])

    def test_a_table_that_was_opened(self, selector, expected, tmp_path):
        given = write(frame(), tmp_path / "given.parquet")
        for limit in (None, "100kB"):
            source = ilfs.read(given, "kind", ["cell", "age"], limit)
            found = read(ilfs.apply(selector, source, tmp_path / "out.csv"))
            np.testing.assert_array_equal(found.to_numpy(), expected)


class TestArguments:
    def test_the_selection_may_be_a_file(self, selector, expected, tmp_path):
        selector.save(tmp_path / "selection.json")
        for selection in (tmp_path / "selection.json", ilfs.load(tmp_path / "selection.json")):
            out = ilfs.apply(selection, write(frame(), tmp_path / "given.csv"), str(tmp_path / "out.csv"))
            assert out == tmp_path / "out.csv"
            np.testing.assert_array_equal(read(out).to_numpy(), expected)

    @pytest.mark.parametrize(
        ("changes", "kind", "message"),
        [
            ({"selection": 5}, TypeError, "selection must be a fitted selector or the path of a saved one, got 5"),
            ({"selection": FisherScore()}, ValueError, "not fitted"),
            ({"source": 5}, TypeError, "source must be a path or a table that fit takes, got int"),
            ({"source": "none.csv"}, FileNotFoundError, "there is no file .*none.csv"),
            ({"out": "out.xlsx"}, ValueError, r"out must end in .csv, .tsv, .parquet or .feather, got 'out.xlsx'"),
            ({"out": "no/out.csv"}, FileNotFoundError, "the folder of 'no/out.csv' does not exist: make it first"),
            ({"out": "given.csv"}, ValueError, "out must be another file than those that are read, got 'given.csv'"),
            ({"keep": "kind"}, ValueError, r"keep must be 'others' or a list .*, got 'kind': write \['kind'\]"),
            ({"keep": [3]}, TypeError, "keep must be 'others' or a list of names of columns, got 3 in it"),
            ({"keep": ["knd"]}, ValueError, "given.csv must have all 1 kept columns, but lacks 'knd'"),
            ({"memory_limit": "much"}, ValueError, "memory_limit"),
        ],
    )
    def test_errors(self, changes, kind, message, selector, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write(frame(), Path("given.csv"))
        arguments = {"selection": selector, "source": "given.csv", "out": "out.csv"} | changes
        with pytest.raises(kind, match=message):
            ilfs.apply(**arguments)
        assert [file.name for file in tmp_path.iterdir()] == ["given.csv"]

    def test_a_feature_that_is_not_selected_can_be_kept(self, selector, tmp_path):
        given = write(frame(), tmp_path / "given.csv")
        other = next(name for name in NAMES if name not in names_of(selector))
        keep = [other, names_of(selector)[0], other]
        found = read(ilfs.apply(selector, given, tmp_path / "out.csv", keep=keep))
        assert list(found.columns) == [other, *names_of(selector)]

    def test_an_existing_file_is_replaced(self, selector, tmp_path):
        (tmp_path / "out.csv").write_text("old")
        ilfs.apply(selector, write(frame(), tmp_path / "given.csv"), tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text().startswith("gene")

    def test_an_interrupted_write_leaves_the_old_file(self, unnamed, tmp_path):
        (tmp_path / "out.csv").write_text("old")

        def blocks():
            yield table()[0]
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ilfs.apply(unnamed, blocks, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == "old"
        assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


class TestMemory:
    def test_the_limit_sets_the_rows_that_are_read_at_a_time(self, selector):
        wanted = columns.Columns(selector._column_choice(), (), 50_000)
        assert wanted.max_rows(10) * 10 * columns.STREAMED_VALUE_BYTES <= 50_000
        assert columns.Columns(selector._column_choice(), (), 1).max_rows(10) == 1
        assert columns.Columns(selector._column_choice(), (), 10**12).max_rows(10) == columns.MAX_STREAMED_ROWS

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_any_number_of_rows_at_a_time_gives_the_same_file(self, ending, selector, tmp_path, monkeypatch):
        given = write(frame(), tmp_path / f"given{ending}")
        whole = ilfs.apply(selector, given, tmp_path / "whole.csv", keep=["cell"]).read_bytes()
        parts = ilfs.apply(selector, given, tmp_path / "parts.csv", keep=["cell"], memory_limit=2000).read_bytes()
        assert parts == whole

    def test_row_groups_are_neither_tiny_nor_huge(self, unnamed, tmp_path, monkeypatch):
        monkeypatch.setattr(writers, "ROW_GROUP_ROWS", 40)
        monkeypatch.setattr(columns, "MAX_STREAMED_ROWS", 15)
        assert self.group_sizes(ilfs.apply(unnamed, table()[0], tmp_path / "out.parquet")) == [45, 15]

    def test_the_size_of_a_row_group(self):
        assert writers.group_bytes(10, 10**12) == writers.GROUP_BYTES
        assert writers.group_bytes(100_000, 10**12) == 100_000 * writers.COLUMN_BYTES
        assert writers.group_bytes(10, 4 * 10**6) == 10**6
        assert writers.group_bytes(10, 1) == 10 * writers.MIN_COLUMN_BYTES

    @staticmethod
    def group_sizes(path):
        written = pq.ParquetFile(path).metadata
        return [written.row_group(i).num_rows for i in range(written.num_row_groups)]

    @pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory can only be read on Linux")
    @pytest.mark.parametrize(
        ("source", "target", "n_rows"),
        [(".parquet", ".parquet", 200_000), (".csv", ".csv", 30_000), (".npy", ".parquet", 100_000)],
    )
    def test_memory_does_not_grow_with_the_file(self, source, target, n_rows, tmp_path):
        """Files that take 80, 12 or 40 MB as numbers are copied in a fraction of this."""
        n_columns = 50
        X = np.random.default_rng(0).integers(0, 100, size=(n_rows, n_columns)).astype(float)
        out, names = tmp_path / f"out{target}", [f"f{j}" for j in range(n_columns)]
        for given, some in ((tmp_path / f"small{source}", X[:1000]), (tmp_path / f"given{source}", X)):
            if source == ".parquet":
                pq.write_table(pa.table(dict(zip(names, some.T, strict=True))), given, row_group_size=5000)
            elif source == ".csv":
                pl.DataFrame(some.astype(np.int16), schema=names).write_csv(given)
            else:
                np.save(given, some)
        rows = X[:40] if source == ".npy" else pd.DataFrame(X[:40], columns=names)
        FisherScore(40).fit(rows, np.arange(40) % 2).save(tmp_path / "selection.json")
        code = (
            "import sys, ilfs\n"
            "from pathlib import Path\n"
            "import pyarrow.parquet, pyarrow.ipc\n"
            "def status(key):\n"
            "    lines = Path('/proc/self/status').read_text().splitlines()\n"
            "    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024\n"
            "selection, given, out = sys.argv[1:]\n"
            "selection = ilfs.load(selection)\n"
            "small = str(given).replace('given', 'small')\n"
            "ilfs.apply(selection, small, Path(out).with_name('first' + Path(out).suffix), memory_limit='2MB')\n"
            "before = status('VmRSS')\n"
            "Path('/proc/self/clear_refs').write_text('5')\n"
            "ilfs.apply(selection, given, out, memory_limit='2MB')\n"
            "print(status('VmHWM') - before)\n"
        )
        arguments = [sys.executable, "-c", code, tmp_path / "selection.json", given, out]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        assert float(done.stdout) < n_rows * n_columns * 8e-6 / 5  # MB
        assert read(out).shape == (n_rows, 40)
