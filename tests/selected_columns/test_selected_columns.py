"""``transform`` of tables that are not in memory: the same columns, of the same kind, without reading rows."""

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
from dask import delayed
from helpers import planted
from scipy import sparse

import ilfs
from ilfs import ILFS, FisherScore, ReliefF
from ilfs.reading.entry import open_table
from ilfs.selected_columns import ColumnChoice, select_columns
from ilfs.sources import BatchSource, DaskSource, TableSource
from ilfs.sources.dask import dask_source

NAMES = [f"gene {j}" for j in range(12)]
N_ROWS = 60


def table():
    return planted(n_samples=N_ROWS, n_features=12, n_informative=4)


def frame():
    return pd.DataFrame(table()[0], columns=NAMES)


def everything():
    """Return the table with other columns, and with its features in another order."""
    return frame()[NAMES[::-1]].assign(kind=table()[1]).assign(note="n")


@pytest.fixture(scope="module")
def selector():
    return ILFS(3).fit(frame().assign(kind=table()[1]), "kind")


@pytest.fixture(scope="module")
def expected(selector):
    kept = selector.transform(frame())
    assert kept.shape == (N_ROWS, 3)
    return kept


@pytest.fixture(scope="module")
def unnamed():
    """Selector that was fitted on columns without names, with the same result."""
    return ILFS(3).fit(*table())


def names_of(selector):
    return list(selector.get_feature_names_out())


class TestQueries:
    def test_a_lazy_frame_stays_lazy(self, selector, expected):
        found = selector.transform(pl.from_pandas(everything()).lazy())
        assert isinstance(found, pl.LazyFrame)
        assert found.collect_schema().names() == names_of(selector)
        np.testing.assert_array_equal(found.collect().to_numpy(), expected)

    def test_no_row_of_a_lazy_frame_is_read(self, selector):
        lazy = pl.from_pandas(frame()).lazy().map_batches(lambda _: pytest.fail("rows were read"), schema=None)
        assert isinstance(selector.transform(lazy), pl.LazyFrame)

    def test_a_file_larger_than_memory_is_scanned_for_the_selected_columns_only(self, selector, expected, tmp_path):
        everything().to_parquet(tmp_path / "table.parquet")
        found = selector.transform(pl.scan_parquet(tmp_path / "table.parquet"))
        assert "PROJECT 3/14 COLUMNS" in found.explain()
        np.testing.assert_array_equal(found.collect().to_numpy(), expected)

    def test_a_relation_of_duckdb_stays_a_relation(self, selector, expected):
        rows = everything()  # noqa: F841  DuckDB finds it by its name
        found = selector.transform(duckdb.sql("select * from rows"))
        assert isinstance(found, duckdb.DuckDBPyRelation)
        assert found.columns == names_of(selector)
        np.testing.assert_array_equal(found.df().to_numpy(), expected)

    def test_names_with_quotes(self):
        X, y = table()
        names = [f'a "{j}"; drop' for j in range(12)]
        rows = pd.DataFrame(X, columns=names)
        selector = FisherScore(2).fit(rows, y)
        found = selector.transform(duckdb.from_df(rows))
        assert found.columns == names_of(selector)
        np.testing.assert_array_equal(found.df().to_numpy(), selector.transform(rows))


class TestArrow:
    def test_a_dataset_becomes_a_scanner(self, selector, expected):
        found = selector.transform(ds.dataset(pa.Table.from_pandas(everything())))
        assert isinstance(found, ds.Scanner)
        assert found.to_table().column_names == names_of(selector)
        np.testing.assert_array_equal(found.to_table().to_pandas().to_numpy(), expected)

    @pytest.mark.parametrize("kind", ["reader", "scanner", "file", "capsule"])
    def test_streams_stay_streams(self, kind, selector, expected, tmp_path):
        arrow = pa.Table.from_pandas(everything())
        pq.write_table(arrow, tmp_path / "table.parquet", row_group_size=25)

        class Capsule:
            def __arrow_c_stream__(self, requested_schema=None):
                return arrow.__arrow_c_stream__(requested_schema)

        X = {
            "reader": lambda: arrow.to_reader(max_chunksize=25),
            "scanner": lambda: ds.dataset(arrow).scanner(),
            "file": lambda: pq.ParquetFile(tmp_path / "table.parquet"),
            "capsule": Capsule,
        }[kind]()
        found = selector.transform(X)
        assert isinstance(found, pa.RecordBatchReader)
        assert found.schema.names == names_of(selector)
        np.testing.assert_array_equal(found.read_all().to_pandas().to_numpy(), expected)

    def test_batches_are_read_one_at_a_time(self, selector):
        n_read = 0

        def batches():
            nonlocal n_read
            for batch in pa.Table.from_pandas(frame()).to_batches(max_chunksize=20):
                n_read += 1
                yield batch

        schema = pa.Table.from_pandas(frame()).schema
        found = selector.transform(pa.RecordBatchReader.from_batches(schema, batches()))
        assert n_read == 0
        assert found.read_next_batch().num_rows == 20
        assert n_read == 1

    def test_the_index_of_pandas_is_no_column(self, unnamed, expected):
        rows = pd.DataFrame(table()[0], columns=NAMES, index=pd.Index(np.arange(N_ROWS) * 2, name="row"))
        found = unnamed.transform(ds.dataset(pa.Table.from_pandas(rows)))
        np.testing.assert_array_equal(found.to_table().to_pandas().to_numpy(), expected)


def cells(X, names):
    """Return an AnnData whose names are Python objects: it does not write text arrays of new versions of pandas."""
    kinds = pd.Categorical(
        pd.Series(table()[1].astype(str), dtype=object), categories=pd.Index(["0", "1"], dtype=object)
    )
    obs = pd.DataFrame({"kind": kinds}, index=pd.Index([f"cell {i}" for i in range(N_ROWS)], dtype=object))
    return anndata.AnnData(X, obs, pd.DataFrame(index=pd.Index(names, dtype=object)))


@pytest.mark.filterwarnings("ignore")
class TestAnnData:
    def adata(self):
        return cells(table()[0][:, ::-1].copy(), NAMES[::-1])

    def test_a_view_of_the_selected_variables(self, selector, expected):
        adata = self.adata()
        found = selector.transform(adata)
        assert found.is_view
        assert list(found.var_names) == names_of(selector)
        assert list(found.obs["kind"]) == list(adata.obs["kind"])
        np.testing.assert_array_equal(found.X, expected)

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
    def test_backed(self, make, selector, expected, tmp_path):
        adata = self.adata()
        adata.X = make(adata.X)
        adata.obsm["pca"] = adata.X[:, :2].toarray() if sparse.issparse(adata.X) else adata.X[:, :2]
        adata.write_h5ad(tmp_path / "cells.h5ad")
        opened = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        found = selector.transform(opened)
        loaded = found.to_memory()
        assert found.isbacked == (make is np.asarray)  # the selected columns of a sparse matrix are loaded
        assert list(found.var_names) == names_of(selector)
        np.testing.assert_array_equal(loaded.X.toarray() if sparse.issparse(loaded.X) else loaded.X, expected)
        assert list(found.obs["kind"]) == list(adata.obs["kind"])
        np.testing.assert_array_equal(found.obsm["pca"], adata.obsm["pca"])
        opened.file.close()

    def test_missing_variables_are_named(self, selector):
        adata = self.adata()
        gone = names_of(selector)[0]
        with pytest.raises(ValueError, match=f"X.var_names must have all 3 selected columns, but lacks '{gone}'"):
            selector.transform(adata[:, [name for name in adata.var_names if name != gone]])


class TestDask:
    def test_an_array_stays_lazy(self, unnamed, expected):
        def fail(block):
            raise AssertionError("rows were read")

        X = da.from_array(table()[0], chunks=(20, 5))
        assert unnamed.transform(X.map_blocks(fail, meta=np.empty((0, 0)))).shape == (N_ROWS, 3)
        found = unnamed.transform(X)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)

    def test_a_frame_stays_lazy(self, selector, expected):
        found = selector.transform(dd.from_pandas(everything(), npartitions=3))
        assert list(found.columns) == names_of(selector)
        np.testing.assert_array_equal(found.compute(scheduler="sync").to_numpy(), expected)

    def test_delayed_partitions(self, selector, expected):
        y = table()[1]
        parts = [delayed((frame()[s : s + 20], y[s : s + 20])) for s in range(0, N_ROWS, 20)]
        found = [part.compute(scheduler="sync") for part in selector.transform(parts)]
        np.testing.assert_array_equal(pd.concat([X for X, _ in found]).to_numpy(), expected)
        np.testing.assert_array_equal(np.concatenate([y for _, y in found]), y)
        one = selector.transform(delayed(frame())).compute(scheduler="sync")
        np.testing.assert_array_equal(one.to_numpy(), expected)

    def test_a_source_of_dask(self, selector, expected):
        source = dask_source(
            dd.from_pandas(frame().assign(kind=table()[1]), npartitions=3), "kind", None, reads_labels=True
        )
        found = selector.transform(source)
        assert isinstance(found, DaskSource)
        np.testing.assert_array_equal(np.concatenate([block.X for block in found.blocks()]), expected)
        again = FisherScore(1).fit(found)
        np.testing.assert_allclose(again.scores_, FisherScore(1).fit(expected, table()[1]).scores_, rtol=1e-12)

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
    def test_anndata_over_dask(self, make, selector, expected):
        adata = anndata.AnnData(table()[0], var=pd.DataFrame(index=NAMES))
        adata.X = da.from_array(adata.X, chunks=(20, 12)).map_blocks(make)
        found = selector.transform(adata).X.compute(scheduler="sync")
        np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, expected)


class TestBlocks:
    def blocks(self):
        X, y = table()
        return [(X[s : s + 25], y[s : s + 25]) for s in range(0, N_ROWS, 25)]

    def test_a_function_stays_a_function(self, unnamed, expected):
        found = unnamed.transform(lambda: iter(self.blocks()))
        for _ in range(2):
            np.testing.assert_array_equal(np.concatenate([X for X, _ in found()]), expected)
        again = FisherScore().fit(found)
        np.testing.assert_allclose(again.scores_, FisherScore().fit(expected, table()[1]).scores_, rtol=1e-12)

    def test_an_iterable_can_be_iterated_again(self, unnamed, expected):
        found = unnamed.transform(self.blocks())
        for _ in range(2):
            np.testing.assert_array_equal(np.concatenate([X for X, _ in found]), expected)

    def test_an_iterator_is_read_once_and_block_by_block(self, unnamed, expected):
        given = iter(self.blocks())
        found = unnamed.transform(given)
        np.testing.assert_array_equal(next(found)[0], expected[:25])
        assert len(list(given)) == 2  # the others have not been read

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
    def test_blocks_that_are_frames_stay_frames(self, make, selector, expected):
        whole = everything().drop(columns="note")
        parts = [make(whole[s : s + 25].to_dict("list")) for s in range(0, N_ROWS, 25)]
        found = list(selector.transform(iter(parts)))
        assert all(isinstance(part, make) for part in found)
        np.testing.assert_array_equal(np.concatenate([part.to_numpy() for part in found]), expected)

    def test_sparse_blocks_with_weights(self, unnamed, expected):
        X, y = table()
        (found, labels, weight) = next(unnamed.transform(iter([(sparse.csr_array(X), y, np.ones(N_ROWS))])))
        assert sparse.issparse(found)
        np.testing.assert_array_equal(found.toarray(), expected)
        assert labels is y
        assert weight.sum() == N_ROWS

    def test_a_block_with_other_columns_is_named(self, unnamed, selector):
        X, _ = table()
        with pytest.raises(ValueError, match="block 1 of X must have 12 columns, as the table of fit had, got 11"):
            list(unnamed.transform(iter([X, X[:, 1:]])))
        with pytest.raises(ValueError, match="block 0 of X must have all 3 selected columns, but lacks 'gene"):
            next(selector.transform(iter([frame()[NAMES[-2:]]])))
        with pytest.raises(ValueError, match=r"block 0 of X must be a table, got shape \(12,\)"):
            next(unnamed.transform(iter([X[0]])))


class TestSources:
    @pytest.fixture
    def path(self, tmp_path):
        frame()[NAMES[::-1]].assign(kind=table()[1]).to_parquet(tmp_path / "table.parquet", row_group_size=25)
        return tmp_path / "table.parquet"

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_files_that_were_opened(self, engine, path, selector, expected):
        source = open_table(path, "kind", engine=engine)
        found = selector.transform(source)
        assert isinstance(found, TableSource if engine == "memory" else BatchSource)
        assert found.feature_names == names_of(selector)
        assert found.target_name == "kind"
        for _ in range(2):
            X = np.concatenate(
                [
                    np.asarray(getattr(block.X, "to_rows", lambda _, X=block.X: X)(np.float64))
                    for block in found.blocks()
                ]
            )
            np.testing.assert_array_equal(X, expected)
        for again in (FisherScore(1), ILFS(1)):
            same = FisherScore(1) if isinstance(again, FisherScore) else ILFS(1)
            np.testing.assert_allclose(again.fit(found).scores_, same.fit(expected, table()[1]).scores_, rtol=1e-10)

    def test_a_loaded_file_can_be_ranked_by_methods_that_need_rows(self, path, selector, expected):
        found = selector.transform(ilfs.read(path, "kind"))
        np.testing.assert_allclose(ReliefF().fit(found).scores_, ReliefF().fit(expected, table()[1]).scores_)

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    @pytest.mark.parametrize("suffix", [".csv", ".feather", ".npy", ".svmlight"])
    def test_all_formats(self, suffix, engine, selector, unnamed, expected, tmp_path):
        X, y = table()
        path = tmp_path / f"table{suffix}"
        target = "kind"
        if suffix == ".csv":
            frame().assign(kind=y).to_csv(path, index=False)
        elif suffix == ".feather":
            frame().assign(kind=y).to_feather(path)
        elif suffix == ".npy":
            np.save(path, np.column_stack([X, y]))
            target = 12
        else:
            from sklearn.datasets import dump_svmlight_file

            dump_svmlight_file(X, y, str(path))
            target = None
        used = selector if suffix in (".csv", ".feather") else unnamed
        found = used.transform(open_table(path, target, engine=engine))
        blocks = [block.X for block in found.blocks()]
        dense = [
            X.toarray() if sparse.issparse(X) else X.to_rows(np.float64) if hasattr(X, "to_rows") else X for X in blocks
        ]
        np.testing.assert_allclose(np.concatenate(dense), expected, rtol=1e-15)

    @pytest.mark.filterwarnings("ignore")
    def test_a_backed_anndata(self, selector, expected, tmp_path):
        cells(sparse.csc_matrix(table()[0]), NAMES).write_h5ad(tmp_path / "cells.h5ad")
        found = selector.transform(open_table(tmp_path / "cells.h5ad", "kind", engine="stream"))
        np.testing.assert_array_equal(np.concatenate([block.X.toarray() for block in found.blocks()]), expected)
        assert FisherScore().fit(found).classes_.tolist() == ["0", "1"]

    def test_only_the_selected_columns_of_the_file_are_read(self, path, selector):
        source = open_table(path, "kind", engine="stream")
        read = []
        batches = source.reader.part_batches
        source.reader.part_batches = lambda part, columns, rows: read.append(columns) or batches(part, columns, rows)
        list(selector.transform(source).blocks())
        wanted = sorted(11 - NAMES.index(name) for name in names_of(selector))
        assert [columns.tolist() for columns in read] == [[], wanted]  # the first pass finds the classes

    def test_a_summary_has_no_rows(self, unnamed):
        with pytest.raises(TypeError, match="X must have rows of which columns can be selected, got a Summary"):
            unnamed.transform(ilfs.summarise(*table()))


class TestColumns:
    """Names are used if both have names, positions otherwise."""

    def test_missing_columns_are_named(self, selector):
        lazy = pl.from_pandas(frame()).lazy().drop(names_of(selector)[1:])
        with pytest.raises(ValueError, match=r"X must have all 3 selected columns, but lacks 'gene \d+', 'gene \d+'$"):
            selector.transform(lazy)

    def test_many_missing_columns_are_counted(self):
        choice = ColumnChoice(np.arange(9), 9, list("abcdefghi"))
        with pytest.raises(ValueError, match=r"lacks 'a', 'b', 'c', 'd', 'e' and 4 more$"):
            choice.positions(["z"], 1)

    def test_a_name_that_occurs_twice(self):
        choice = ColumnChoice(np.array([0]), 2, ["a", "b"])
        with pytest.raises(ValueError, match="columns of X must have different names, 'a' occurs 2 times"):
            choice.positions(["a", "a", "b"], 3)
        assert choice.positions(["a", "b", "b"], 3) == [0]

    def test_positions_if_the_fit_had_no_names(self, unnamed, expected):
        lazy = pl.from_pandas(frame()).lazy()
        np.testing.assert_array_equal(unnamed.transform(lazy).collect().to_numpy(), expected)
        with pytest.raises(ValueError, match="X must have 12 columns, as the table of fit had, got 13"):
            unnamed.transform(lazy.with_columns(more=1))

    def test_the_target_is_left_out(self):
        choice = ColumnChoice(np.array([0, 1]), 2, None, "kind")
        assert choice.positions(["a", "kind", "b"], 3) == [0, 2]

    def test_tables_in_memory_are_left_to_scikit_learn(self, selector):
        X, choice = frame(), selector._column_choice()
        for table_in_memory in (
            X,
            X.to_numpy(),
            pl.from_pandas(X),
            pa.table(X),
            sparse.csr_array(X),
            X.values.tolist(),
            5,
        ):
            assert select_columns(table_in_memory, choice) is None
        with pytest.raises(ValueError, match="feature names should match"):
            selector.transform(X[NAMES[::-1]])

    def test_nothing_is_selected(self):
        rng = np.random.default_rng(3)
        none = FisherScore("fdr").fit(rng.normal(size=(40, 12)), np.arange(40) % 2)
        with pytest.warns(UserWarning, match="No features were selected"):
            assert none.transform(pl.from_pandas(frame()).lazy()).collect().width == 0

    def test_fit_transform(self, expected):
        lazy = pl.from_pandas(frame().assign(kind=table()[1])).lazy()
        np.testing.assert_array_equal(ILFS(3).fit_transform(lazy, "kind").collect().to_numpy(), expected)

    @pytest.mark.parametrize("path", ["table.csv", "table.parquet"])
    def test_a_path_is_refused_with_advice(self, path, selector):
        with pytest.raises(
            TypeError, match=rf"got the path '{path}': open the file, transform\(ilfs.read\(path\)\), or"
        ):
            selector.transform(path)
