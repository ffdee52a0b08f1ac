"""Every table that is read in blocks gives the scores of the same table in memory."""

import gzip
import sys
import tracemalloc
from importlib.util import find_spec

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import ilfs
from ilfs import ILFS, FisherScore, LaplacianScore, MutualInformation, Novelty, ReliefF
from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.reading.svmlight import NumberedLines
from ilfs.sources import BatchSource, TableSource, batches, tables

N_ROWS, N_FEATURES = 150, 6
NAMES = [f"f{j}" for j in range(N_FEATURES)]
LOW_LIMIT = 4000  # bytes: less than the table, so that it is read in blocks
METHODS = {
    "ILFS": ILFS(),
    "relevance": ILFS(redundancy=None),
    "fisher": FisherScore(),
    "mi": MutualInformation(edges=[-1.0, 0.0, 0.5, 2.0]),
    "novelty": Novelty(FisherScore()),
}


def make_table():
    """Rows sorted so that blocks hold one class, and class c occurs only at the end; one value is missing."""
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b", "a", "c"], [40, 50, 45, 15])
    X = rng.normal(size=(N_ROWS, N_FEATURES)).round(4)
    X[:, 1] += y == "b"
    X[:, 2] = X[:, 1] + 0.5 * X[:, 2] + (y == "c")
    X[7, 3] = np.nan
    return X, y


X, Y = make_table()
ARROW = pa.table({**{name: X[:, j] for j, name in enumerate(NAMES)}, "kind": Y})
COUNTS = np.random.default_rng(1).poisson(0.7, size=(N_ROWS, N_FEATURES)).astype(float)


@pytest.fixture(autouse=True)
def low_blocks(monkeypatch):
    monkeypatch.setattr(tables, "BLOCK_ROWS", 32)
    monkeypatch.setattr(batches, "SPARSE_BLOCK_ROWS", 32)


def fitted(method, *data, **more):
    return clone(METHODS[method]).fit(*data, **more)


def assert_same(got, expected):
    assert np.array_equal(got.scores_, expected.scores_)
    assert np.array_equal(got.order_, expected.order_)


def write_parquet(folder, n_files=1, row_group_size=50):
    cuts = np.linspace(0, N_ROWS, n_files + 1).astype(int)
    for i in range(n_files):
        part = ARROW.slice(cuts[i], cuts[i + 1] - cuts[i])
        pq.write_table(part, folder / f"part-{i}.parquet", row_group_size=row_group_size)
    return folder


def blocks_of(height):
    def blocks():
        for start in range(0, N_ROWS, height):
            yield X[start : start + height], Y[start : start + height]
            yield X[:0], Y[:0]

    return blocks


class Blocks:
    def __iter__(self):
        return iter([(pl.DataFrame(X[:99], NAMES), Y[:99]), (pl.DataFrame(X[99:], NAMES), Y[99:])])


def duckdb_relation(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql(f"select * from '{write_parquet(folder)}/*.parquet'")


def with_empty_batches():
    empty = ARROW.slice(0, 0).combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], ARROW.schema)]
    some = ARROW.to_batches(max_chunksize=41)
    return pa.RecordBatchReader.from_batches(ARROW.schema, [empty[0], some[0], empty[0], *some[1:]])


OBJECTS = {
    "LazyFrame": lambda folder: (pl.from_arrow(ARROW).lazy(), "kind"),
    "LazyFrame of files": lambda folder: (pl.scan_parquet(write_parquet(folder, 3) / "*.parquet"), "kind"),
    "LazyFrame and array": lambda folder: (pl.DataFrame(X, NAMES).lazy(), Y),
    "dataset": lambda folder: (ds.dataset(write_parquet(folder, 3, 20)), "kind"),
    "ParquetFile": lambda folder: (pq.ParquetFile(write_parquet(folder) / "part-0.parquet"), "kind"),
    "RecordBatchReader": lambda folder: (with_empty_batches(), "kind"),
    "scanner": lambda folder: (ds.dataset(ARROW).scanner(), "kind"),
    "DuckDB": lambda folder: (duckdb_relation(folder), "kind"),
    "function": lambda folder: (blocks_of(37),),
    "iterable of frames": lambda folder: (Blocks(),),
    "list of blocks": lambda folder: (list(blocks_of(64)()),),
}


@pytest.mark.parametrize("form", OBJECTS)
@pytest.mark.parametrize("method", METHODS)
def test_fit_gives_the_scores_of_the_array(method, form, tmp_path):
    got = fitted(method, *OBJECTS[form](tmp_path))
    assert_same(got, fitted(method, X, Y))
    assert got.classes_.tolist() == ["a", "b", "c"]


def text_file(path, separator=",", opener=open, **options):
    with opener(path, "wb") as file:
        pl.from_arrow(ARROW).write_csv(file, separator=separator, **options)
    return path


def with_decimal_commas(path):
    path.write_text(path.read_text().replace(".", ","))
    return path


def partitioned(folder):
    for site in ("10", "9"):
        (folder / f"site={site}").mkdir()
    write_parquet(folder / "site=10")
    (folder / "site=10" / "_metadata.parquet").write_text("not data")
    pq.write_table(ARROW.slice(0, 0), folder / "site=9" / "empty.parquet")
    return folder


def text_parts(folder):
    pl.from_arrow(ARROW)[:33].write_csv(folder / "a-1.csv")
    pl.from_arrow(ARROW)[33:].write_csv(folder / "a-2.csv")
    return folder / "a-*.csv"


def saved(path, array):
    np.save(path, array)
    return path


def feather(path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, ARROW.schema) as writer:
        writer.write_table(ARROW, max_chunksize=47)
    return path


FILES = {
    "parquet": lambda folder: (write_parquet(folder) / "part-0.parquet", {"target": "kind"}),
    "folder": lambda folder: (write_parquet(folder, 4, 13), {"target": "kind"}),
    "pattern": lambda folder: (str(write_parquet(folder, 3) / "part-*.parquet"), {"target": "kind"}),
    "partitions": lambda folder: (partitioned(folder), {"target": "kind", "drop": "site"}),
    "csv": lambda folder: (text_file(folder / "a.csv"), {"target": "kind"}),
    "csv by position": lambda folder: (text_file(folder / "a.csv"), {"target": -1}),
    "csv without header": lambda folder: (text_file(folder / "a.csv", include_header=False), {"target": -1}),
    "tsv": lambda folder: (text_file(folder / "a.tsv", "\t", null_value="NA"), {"target": "kind"}),
    "semicolons": lambda folder: (with_decimal_commas(text_file(folder / "a.csv", ";")), {"target": "kind"}),
    "spaces": lambda folder: (text_file(folder / "a.txt", " "), {"target": "kind"}),
    "gzipped": lambda folder: (text_file(folder / "a.csv.gz", opener=gzip.open), {"target": "kind"}),
    "several csv": lambda folder: (text_parts(folder), {"target": "kind"}),
    "feather": lambda folder: (feather(folder / "a.feather"), {"target": "kind"}),
    "npy": lambda folder: (saved(folder / "X.npy", X), {"target": str(saved(folder / "y.npy", Y))}),
    "npy by columns": lambda folder: (saved(folder / "X.npy", np.asfortranarray(X)), {"target": Y}),
}


@pytest.mark.parametrize("limit", [None, LOW_LIMIT], ids=["loaded", "streamed"])
@pytest.mark.parametrize("form", FILES)
def test_read_gives_the_scores_of_the_array(form, limit, tmp_path):
    path, columns = FILES[form](tmp_path)
    source = ilfs.read(path, memory_limit=limit, **columns)
    assert isinstance(source, TableSource if limit is None else BatchSource)
    for method in ("ILFS", "fisher"):
        expected = fitted(method, X, Y)
        got = fitted(method, source)
        if limit is None or source.block_rows == 32:
            assert_same(got, expected)
        assert np.allclose(got.scores_, expected.scores_, atol=1e-10)
        assert np.array_equal(got.order_, expected.order_)
        assert got.classes_.tolist() == ["a", "b", "c"]


def test_text_is_parsed_by_python_where_pyarrow_refuses_it(tmp_path):
    text = text_file(tmp_path / "a.csv").read_text().replace(",,", ", NA ,").replace("NaN", " nan ")
    lines = text.splitlines()
    lines[3] = lines[3].replace(lines[3].split(",")[0], f" {lines[3].split(',')[0]} ", 1)
    (tmp_path / "a.csv").write_text("\n".join(lines[:100]) + "\n  \n" + "\n".join(lines[100:]))
    source = ilfs.read(tmp_path / "a.csv", "kind", memory_limit=LOW_LIMIT)
    assert np.allclose(fitted("fisher", source).scores_, fitted("fisher", X, Y).scores_, atol=1e-10)
    assert not source.reader._is_plain


def test_text_is_read_without_pyarrow(tmp_path, monkeypatch):
    path = text_file(tmp_path / "a.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = ilfs.read(path, "kind")
    monkeypatch.undo()
    assert np.array_equal(source.to_matrix(), X, equal_nan=True)


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_gives_the_scores_of_the_matrix(zero_based, tmp_path):
    labels = (Y == "b").astype(int)
    dump_svmlight_file(COUNTS, labels, str(tmp_path / "a.svm"), zero_based=zero_based)
    for limit, kind in ((None, TableSource), (1000, BatchSource)):
        source = ilfs.read(tmp_path / "a.svm", memory_limit=limit)
        assert isinstance(source, kind)
        for method in METHODS:
            got, expected = fitted(method, source), fitted(method, sparse.csr_array(COUNTS), labels)
            assert np.allclose(got.scores_, expected.scores_, rtol=1e-10, atol=1e-10)
            assert np.array_equal(got.order_, expected.order_)
            assert got.classes_.tolist() == ["0", "1"]


def test_svmlight_keeps_only_the_labels_of_a_batch(tmp_path):
    n_rows, path = 40_000, tmp_path / "a.svm"
    path.write_bytes(b"1 2:3\n0 1:1\n" * (n_rows // 2))
    n_labels = 0
    with path.open("rb") as file:
        lines = NumberedLines(file, path, DEFAULT_LIMITS)
        tracemalloc.start()
        while list(lines.take(100)):
            n_labels += len(lines.taken_labels())
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    assert n_labels == n_rows
    assert kept < n_rows  # less than a byte for each row


@pytest.mark.parametrize("line", ["one 1:2", "1 2:9007199254740993"], ids=["class", "integer"])
def test_svmlight_errors_name_the_row_in_the_whole_file(line, tmp_path):
    (tmp_path / "a.svm").write_text("\n".join(["1 1:2", "0 2:3"] * 3000 + [line]))
    with pytest.raises(ValueError, match=r"\b(row|line|sample) 6001\b"):
        ilfs.read(tmp_path / "a.svm")


@pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed")
@pytest.mark.filterwarnings("ignore")
class TestAnnData:
    @pytest.fixture(params=["dense", "csr", "csc"])
    def adata(self, request):
        import anndata
        import pandas as pd

        matrix = COUNTS if request.param == "dense" else sparse.csr_matrix(COUNTS).asformat(request.param)
        kinds = pd.Categorical(pd.Series(Y, dtype=object), categories=pd.Index(["a", "b", "c"], dtype=object))
        obs = pd.DataFrame({"kind": kinds, "n": 2.0}, index=pd.Index([f"c{i}" for i in range(N_ROWS)], dtype=object))
        return anndata.AnnData(X=matrix, obs=obs, var=pd.DataFrame(index=pd.Index(NAMES, dtype=object)))

    @pytest.mark.parametrize("method", METHODS)
    def test_fit_gives_the_scores_of_the_matrix(self, adata, method, tmp_path, monkeypatch):
        import anndata

        monkeypatch.setattr("ilfs.sources.anndata.STRIP_BYTES", 6000)
        adata.write_h5ad(tmp_path / "a.h5ad")
        backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
        expected = fitted(method, adata.X, Y)
        for got in (fitted(method, adata, "kind"), fitted(method, backed, "kind"), fitted(method, backed, Y)):
            assert np.allclose(got.scores_, expected.scores_, rtol=1e-10, atol=1e-10)
            assert np.array_equal(got.order_, expected.order_)
            assert got.feature_names_in_.tolist() == NAMES
        backed.file.close()

    def test_read_loads_or_streams_a_file(self, adata, tmp_path):
        adata.write_h5ad(tmp_path / "a.h5ad")
        expected = FisherScore().fit(adata.X, Y)
        for limit, kind in ((None, TableSource), (LOW_LIMIT, BatchSource)):
            source = ilfs.read(tmp_path / "a.h5ad", "kind", memory_limit=limit, weight="n")
            assert isinstance(source, kind)
            assert source.has_weights
            assert np.array_equal(FisherScore().fit(source).order_, expected.order_)

    @pytest.mark.parametrize("drop", ["f2", ["f4", "f0", "f4"], [2, "f5"]], ids=str)
    def test_dropped_variables_are_no_features(self, adata, drop, tmp_path, monkeypatch):
        monkeypatch.setattr("ilfs.sources.anndata.STRIP_BYTES", 6000)
        adata.write_h5ad(tmp_path / "a.h5ad")
        gone = {"f2"} if drop == "f2" else {"f4", "f0"} if "f4" in drop else {"f2", "f5"}
        kept = [j for j, name in enumerate(NAMES) if name not in gone]
        for method in ("ILFS", "fisher"):
            expected = fitted(method, adata.X[:, kept], Y)
            for table, limit, kind in (
                (tmp_path / "a.h5ad", None, TableSource),
                (tmp_path / "a.h5ad", LOW_LIMIT // 2, BatchSource),
                (adata, None, TableSource),
            ):
                source = ilfs.read(table, "kind", drop, limit)
                assert isinstance(source, kind)
                got = fitted(method, source)
                assert np.allclose(got.scores_, expected.scores_, rtol=1e-10, atol=1e-10)
                assert np.array_equal(got.order_, expected.order_)
                assert got.feature_names_in_.tolist() == [NAMES[j] for j in kept]

    def test_whole_rows_of_a_dense_file_keep_within_the_limit_if_most_variables_are_dropped(self, adata, tmp_path):
        if sparse.issparse(adata.X):
            return
        adata.write_h5ad(tmp_path / "a.h5ad")
        source = ilfs.read(tmp_path / "a.h5ad", "kind", NAMES[1:], 600)
        heights = [batch.n_rows for batch in source.reader.batches(None, 12)]
        assert (max(heights), sum(heights)) == (2, N_ROWS)

    def test_variables_of_a_dask_matrix_can_be_dropped(self, adata):
        da = pytest.importorskip("dask.array", reason="Dask is not installed")
        expected = FisherScore().fit(adata.X[:, [0, 2, 3, 4, 5]], Y)
        adata.X = da.from_array(COUNTS, chunks=(40, 6))
        got = FisherScore().fit(ilfs.read(adata, "kind", "f1"))
        assert np.array_equal(got.order_, expected.order_)
        assert got.feature_names_in_.tolist() == ["f0", "f2", "f3", "f4", "f5"]

    def test_weights_and_several_targets_of_a_dask_matrix_are_columns_of_obs(self, adata):
        da = pytest.importorskip("dask.array", reason="Dask is not installed")
        adata.obs["n"], adata.obs["b"], adata.obs["c"] = np.arange(N_ROWS) % 3.0, Y == "b", Y == "c"
        indicator = np.column_stack([Y == "b", Y == "c"])
        adata.X = da.from_array(COUNTS, chunks=(40, 6))
        for target, y in (("kind", Y), (["b", "c"], indicator)):
            got = FisherScore().fit(ilfs.read(adata, target, weight="n"))
            expected = FisherScore().fit(COUNTS, y, sample_weight=np.arange(N_ROWS) % 3.0)
            assert np.allclose(got.scores_, expected.scores_, rtol=1e-10, atol=1e-10)

    def test_a_method_that_needs_all_rows_takes_one_in_memory(self, adata):
        if not sparse.issparse(adata.X):
            assert np.array_equal(ReliefF().fit(adata, "kind").order_, ReliefF().fit(COUNTS, Y).order_)

    def test_messages(self, adata, tmp_path):
        adata.write_h5ad(tmp_path / "a.h5ad")
        with pytest.raises(ValueError, match=r"target must be a column of .*a.h5ad.obs \(such as kind\), got 'knid'"):
            ilfs.read(tmp_path / "a.h5ad", "knid")
        with pytest.raises(
            ValueError, match=r"names from .*a.h5ad.var_names \(such as f0, f1, f2\), got 'f9', 'MT-1'$"
        ):
            ilfs.read(tmp_path / "a.h5ad", "kind", ["f9", "f1", "MT-1"])
        with pytest.raises(ValueError, match="at least one variable that is not dropped, got none"):
            ilfs.read(tmp_path / "a.h5ad", "kind", NAMES)
        (tmp_path / "b.h5ad").write_bytes((tmp_path / "a.h5ad").read_bytes()[:500])
        with pytest.raises(ValueError, match=r"b.h5ad must be a complete .h5ad file: "):
            ilfs.read(tmp_path / "b.h5ad", "kind")


class TestRoles:
    def test_several_targets_are_labels_of_their_own(self, tmp_path):
        indicator = np.column_stack([Y == "b", Y == "c"]).astype(int)
        table = ARROW.drop_columns("kind").append_column("b", pa.array(indicator[:, 0]))
        table = table.append_column("c", pa.array(indicator[:, 1]))
        pq.write_table(table, tmp_path / "a.parquet")
        pl.from_arrow(table).write_csv(tmp_path / "a.csv")
        expected = FisherScore().fit(X, indicator)
        for file in ("a.parquet", "a.csv"):
            for limit in (None, LOW_LIMIT):
                source = ilfs.read(tmp_path / file, ["b", "c"], memory_limit=limit)
                assert np.allclose(FisherScore().fit(source).scores_, expected.scores_, rtol=1e-12)

    @pytest.mark.parametrize("limit", [None, LOW_LIMIT])
    def test_a_column_of_weights_counts_rows(self, limit, tmp_path):
        weight = np.arange(N_ROWS) % 3.0
        table = ARROW.append_column("w", pa.array(weight))
        pq.write_table(table, tmp_path / "a.parquet")
        pl.from_arrow(table).write_csv(tmp_path / "a.csv")
        expected = FisherScore().fit(X, Y, sample_weight=weight)
        for file in ("a.parquet", "a.csv"):
            got = FisherScore().fit(ilfs.read(tmp_path / file, "kind", memory_limit=limit, weight="w"))
            assert np.allclose(got.scores_, expected.scores_, rtol=1e-12)
        with pytest.raises(TypeError, match="ReliefF takes no weights, but the table has weights of its rows"):
            ReliefF().fit(ilfs.read(tmp_path / "a.parquet", "kind", weight="w"))

    def test_a_method_without_labels_needs_no_target(self, tmp_path):
        complete = ARROW.drop_columns("f3")
        pq.write_table(complete, tmp_path / "a.parquet")
        expected = LaplacianScore().fit(np.delete(X, 3, axis=1))
        for source in (
            ilfs.read(tmp_path / "a.parquet", drop="kind"),
            ilfs.read(tmp_path / "a.parquet", target="kind"),
        ):
            assert_same(LaplacianScore().fit(source), expected)

    def test_the_index_of_pandas_is_no_feature(self, tmp_path):
        ARROW.to_pandas().iloc[::-1].to_parquet(tmp_path / "a.parquet")
        assert ilfs.read(tmp_path / "a.parquet", "kind").feature_names == NAMES

    def test_integers_booleans_decimals_categories_and_nulls(self, tmp_path):
        count = pa.array([None if i == 5 else i % 4 for i in range(N_ROWS)])
        table = pa.table(
            {
                "count": count,
                "flag": pa.array(Y == "a"),
                "price": pa.array(np.arange(N_ROWS) % 7).cast(pa.decimal128(25, 2)),
                "kind": pa.array(Y).dictionary_encode(),
            }
        )
        pq.write_table(table, tmp_path / "a.parquet")
        frame = table.select(["count", "flag", "price"]).to_pandas().astype(float)
        expected = FisherScore().fit(frame.to_numpy(), Y)
        for limit in (None, LOW_LIMIT // 2):
            assert_same(FisherScore().fit(ilfs.read(tmp_path / "a.parquet", "kind", memory_limit=limit)), expected)
        assert np.array_equal(FisherScore().fit(pl.from_arrow(table).lazy(), "kind").order_, expected.order_)

    def test_the_target_column_is_left_out_by_transform(self):
        frame = pl.from_arrow(ARROW)
        selector = FisherScore(2).fit(frame.lazy(), "kind")
        assert selector.target_name_ == "kind"
        assert selector.transform(frame).shape == (N_ROWS, 2)

    @pytest.mark.parametrize("limit", [None, LOW_LIMIT], ids=["loaded", "streamed"])
    def test_transform_leaves_out_the_target_that_read_was_given(self, limit, tmp_path):
        frame = pl.from_arrow(ARROW)
        frame.write_parquet(tmp_path / "a.parquet")
        table = ilfs.read(tmp_path / "a.parquet", "kind", memory_limit=limit)
        for selector in (FisherScore(2).fit(table), FisherScore(2).fit(ilfs.summarise(table, selector=FisherScore()))):
            assert selector.transform(frame).shape == (N_ROWS, 2)
        np.save(tmp_path / "X.npy", X)
        np.save(tmp_path / "y.npy", Y)
        table = ilfs.read(tmp_path / "X.npy", str(tmp_path / "y.npy"), memory_limit=limit)
        assert not hasattr(FisherScore().fit(table), "target_name_")


def test_a_spooled_stream_is_closed_after_fit_and_after_an_error(monkeypatch):
    from ilfs.sources.spooled import SpooledReader

    opened = []
    keep = SpooledReader.__init__
    monkeypatch.setattr(SpooledReader, "__init__", lambda self, *a: (opened.append(self), keep(self, *a))[1])
    FisherScore().fit(ARROW.to_reader(), "kind")
    with pytest.raises(TypeError, match="ReliefF needs all rows in memory"):
        ReliefF().fit(ARROW.to_reader(), "kind")
    assert [reader._file.closed for reader in opened] == [True, True]


def test_a_full_disk_is_reported_in_one_sentence(monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.ipc.new_file", full)
    with pytest.raises(OSError, match=r"X can be read only once, so it is written to a temporary file in .* no space"):
        FisherScore().fit(ARROW.to_reader(), "kind")


def test_lazy_frames_are_read_without_the_unstable_function(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)  # old versions do not have it
    assert_same(fitted("fisher", pl.from_arrow(ARROW).lazy(), "kind"), fitted("fisher", X, Y))
