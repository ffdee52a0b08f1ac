"""Tables of Dask give the same result as a table in memory, in threads and on a real cluster."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import planted
from metamorphic import small_blocks as blocks_of
from platforms import needs_posix
from scipy import sparse
from sklearn.base import clone

from ilfs import CFS, ILFS, FisherScore, InfFS, MutualInformation, Novelty, ReliefF, summarise
from ilfs.execution import Fold, OnDask, Read, Streamed, fold_of
from ilfs.execution.dask import connected, merge_partitions
from ilfs.execution.merging import MergeTree
from ilfs.sources import stream_source, table_source
from ilfs.sources.cluster import active_client, compute, explained, placed, placed_each, reduced
from ilfs.statistics import Moments
from ilfs.statistics.moments import UnusableColumnError

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")
da = pytest.importorskip("dask.array", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")

SELECTORS = {
    "plain": ILFS(redundancy=None),
    "gain": ILFS(n_candidates=8),
    "novelty": ILFS(redundancy="novelty", n_candidates=8),
    "fisher": FisherScore(),
    "mi": MutualInformation(edges=np.linspace(-2, 2, 5)),
    "novelty of fisher": Novelty(FisherScore(), n_candidates=8),
    "cfs": CFS(),
    "inf_fs": InfFS(correlation="pearson"),
}
selectors = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)
NAMES = [f"f{j}" for j in range(12)]


def table(n_samples=130, n_features=12):
    X, y = planted(n_samples=n_samples, n_features=n_features, shift=1.0)
    weight = np.random.default_rng(5).integers(0, 5, n_samples) / 2
    return X, np.array(["no", "yes"])[y], weight


def with_weight(selector, weight):
    return {} if isinstance(selector, CFS | InfFS) else {"sample_weight": weight}


def frame_of(X, y):
    return pd.DataFrame(X, columns=NAMES[: X.shape[1]]).assign(kind=y)


def assert_same(found, expected, exactly=False):
    np.testing.assert_array_equal(found.order_, expected.order_)
    if exactly:
        np.testing.assert_array_equal(found.scores_, expected.scores_)
    else:
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10, atol=1e-10)


class TestArrays:
    @selectors
    @pytest.mark.parametrize("chunks", [(50, 12), (33, 5), (130, 12), ((1, 60, 2, 67), 12)], ids=str)
    def test_chunks_of_any_shape_give_the_same_order(self, selector, chunks):
        X, y, weight = table()
        more = with_weight(selector, weight)
        found = clone(selector).fit(da.from_array(X, chunks=chunks), y, **more)
        assert_same(found, clone(selector).fit(X, y, **more))

    @selectors
    @pytest.mark.parametrize("height", [16, 16 * 8])
    def test_partitions_of_the_height_of_blocks_give_the_same_bits(self, selector, height):
        X, y, weight = table(n_samples=70 * 16 + 3)
        with blocks_of(16):
            found = clone(selector).fit(da.from_array(X, chunks=(height, 5)), y, **with_weight(selector, weight))
            if isinstance(selector, CFS | InfFS | MutualInformation):  # these use other formulas for all rows
                expected = clone(selector)._fit_fold(Streamed(source_of(X, y, weight, selector)))
            else:
                expected = clone(selector).fit(X, y, sample_weight=weight)
        assert_same(found, expected, exactly=True)

    def test_the_real_block_height_gives_the_same_bits(self):
        X, y = planted(n_samples=20_000, n_features=6, shift=0.2)
        found = ILFS().fit(da.from_array(X, chunks=(8192, 6)), da.from_array(y, chunks=5000))
        assert_same(found, ILFS(n_jobs=2).fit(X, y), exactly=True)

    @selectors
    def test_sparse_chunks_give_the_same_order(self, selector):
        X, y, weight = table()
        X[np.random.default_rng(1).random(X.shape) < 0.6] = 0.0
        chunks = da.from_array(X, chunks=(40, 5)).map_blocks(sparse.csr_array)
        more = with_weight(selector, weight)
        found = clone(selector).fit(chunks, y, **more)
        np.testing.assert_array_equal(found.order_, clone(selector).fit(X, y, **more).order_)

    @pytest.mark.parametrize("make", [da.from_array, list, pd.Series, lambda y: da.from_array(y, chunks=(17,))])
    def test_labels_of_any_kind_are_aligned(self, make):
        X, y, _ = table()
        assert_same(ILFS().fit(da.from_array(X, chunks=(50, 12)), make(y)), ILFS().fit(X, y))

    def test_weights_may_be_a_dask_array(self):
        X, y, weight = table()
        chunks, labels = da.from_array(X, chunks=(50, 12)), da.from_array(y, chunks=29)
        found = ILFS().fit(chunks, labels, sample_weight=da.from_array(weight, chunks=31))
        assert_same(found, ILFS().fit(X, y, sample_weight=weight))

    def test_unknown_chunk_sizes_are_counted(self):
        X, y, weight = table()
        frame = dd.from_pandas(frame_of(X, y).assign(number=(y == "yes").astype(int)), npartitions=3)
        for labels in (frame["kind"], frame["number"].values):
            assert_same(ILFS().fit(frame[NAMES].values, labels), ILFS().fit(X, y))
        assert_same(ILFS().fit(frame[NAMES].values, y, sample_weight=weight), ILFS().fit(X, y, sample_weight=weight))

    def test_empty_partitions_are_left_out(self):
        X, y, _ = table()
        chunks = da.from_array(X, chunks=(50, 12))
        some = chunks[da.from_array(np.arange(130) < 60, chunks=50)]
        assert np.isnan(some.chunks[0]).all()
        labels = da.from_array(y, chunks=50)[da.from_array(np.arange(130) < 60, chunks=50)]
        assert_same(ILFS().fit(some, labels), ILFS().fit(X[:60], y[:60]))

    def test_several_labels(self):
        X, _, weight = table()
        Y = np.random.default_rng(1).integers(0, 2, size=(len(X), 4))
        expected = ILFS(n_candidates=8).fit(X, Y, sample_weight=weight)
        for labels in (Y, da.from_array(Y, chunks=(29, 3))):
            found = ILFS(n_candidates=8).fit(da.from_array(X, chunks=(50, 7)), labels, sample_weight=weight)
            assert_same(found, expected)
            np.testing.assert_allclose(found.scores_per_label_, expected.scores_per_label_, rtol=1e-10)

    @pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
    def test_other_types_of_numbers(self, dtype):
        X, y, _ = table()
        X = (X > 0.5) if dtype is bool else np.round(4 * X).astype(dtype)
        assert_same(FisherScore().fit(da.from_array(X, chunks=(50, 12)), y), FisherScore().fit(X, y))

    def test_masked_values_are_missing(self):
        X, y, _ = table()
        masked = da.from_array(np.ma.masked_greater(X, 1.5), chunks=(50, 12))
        assert_same(ILFS().fit(masked, y), ILFS().fit(np.where(X > 1.5, np.nan, X), y))

    def test_rows_are_numbered_over_all_partitions(self, monkeypatch):
        monkeypatch.setattr("ilfs.methods.mutual_information.MAX_SAMPLED_ROWS", 512)
        X, y = planted(n_samples=3000, n_features=5)
        one, other = (MutualInformation().fit(da.from_array(X, chunks=(n, 5)), y) for n in (3000, 700))
        np.testing.assert_array_equal(one.scores_, other.scores_)

    def test_a_partition_may_lack_a_class(self):
        X, y, _ = table()
        order = np.argsort(y, kind="stable")
        assert_same(ILFS().fit(da.from_array(X[order], chunks=(30, 12)), y[order]), ILFS().fit(X[order], y[order]))


def source_of(X, y, weight, selector):
    """Return a stream of the same blocks."""
    from test_stream import PartsReader

    from ilfs.sources import BatchSource

    labels = None if isinstance(selector, CFS | InfFS) else y
    return BatchSource(PartsReader(X, labels, weight=None if labels is None else weight))


class TestFrames:
    @pytest.mark.parametrize("kind", [str, "category", "string"])
    def test_a_frame_with_the_name_of_its_target(self, kind):
        X, y, _ = table()
        frame = frame_of(X, y)
        found = ILFS().fit(dd.from_pandas(frame.astype({"kind": kind}), npartitions=3), "kind")
        assert_same(found, ILFS().fit(X, y))
        assert found.feature_names_in_.tolist() == NAMES
        assert found.transform(frame).shape == (130, 6)

    def test_a_label_that_appears_late(self):
        X, y, _ = table()
        y[-2:] = "rare"
        for kind in (str, "category"):
            found = ILFS().fit(dd.from_pandas(frame_of(X, y).astype({"kind": kind}), npartitions=5), "kind")
            assert_same(found, ILFS().fit(X, y))

    def test_only_needed_columns_are_read(self, tmp_path):
        X, y, _ = table()
        frame_of(X, y).to_parquet(tmp_path / "x.parquet")
        source = stream_source(dd.read_parquet(tmp_path), "kind", None, reads_labels=True)
        (part,) = (one.part.compute() for one in source.inputs(np.array([2, 5])))
        assert list(part.columns) == ["f2", "f5", "kind"]
        (part,) = source.table.partitions(np.empty(0, dtype=int))
        assert list(part.compute().columns) == ["kind"]
        assert_same(ILFS(n_candidates=4).fit(dd.read_parquet(tmp_path), "kind"), ILFS(n_candidates=4).fit(X, y))

    def test_labels_beside_a_frame(self):
        X, y, weight = table()
        frame = dd.from_pandas(frame_of(X, y), npartitions=3)
        weights = dd.from_pandas(pd.Series(weight), npartitions=3)
        expected = ILFS().fit(X, y, sample_weight=weight)
        assert_same(ILFS().fit(frame[NAMES], frame["kind"], sample_weight=weights), expected)
        assert_same(ILFS().fit(frame[NAMES], y, sample_weight=weight), expected)

    def test_unsupervised_methods_leave_the_target_out(self):
        X, y, _ = table()
        frame = frame_of(X, y)
        frame.loc[3, "kind"] = None
        found = InfFS(correlation="pearson").fit(dd.from_pandas(frame, npartitions=3), "kind")
        np.testing.assert_array_equal(found.order_, InfFS(correlation="pearson").fit(X).order_)
        assert found.target_name_ == "kind"

    def test_columns_of_several_types(self):
        X, y, _ = table()
        frame = frame_of(np.round(3 * X), y).astype({"f1": "Int64", "f2": "float32", "f3": "int8"})
        frame.loc[3, "f1"] = pd.NA
        assert_same(ILFS().fit(dd.from_pandas(frame, npartitions=3), "kind"), ILFS().fit(frame, "kind"))


class TestDelayed:
    @pytest.mark.parametrize(
        ("make", "y"),
        [
            (lambda X, y, weight: (X, y), None),
            (lambda X, y, weight: (sparse.csr_array(X), y, weight), None),
            (lambda X, y, weight: frame_of(X, y), "kind"),
            (lambda X, y, weight: pl.DataFrame(X, schema=NAMES).with_columns(kind=pl.Series(y)), "kind"),
            (lambda X, y, weight: (frame_of(X, y).drop(columns="kind"), pd.Series(y)), None),
        ],
        ids=["arrays", "sparse with weights", "pandas", "polars", "frame and labels"],
    )
    def test_partitions_of_any_kind(self, make, y):
        X, labels, weight = table()
        rows = [slice(0, 50), slice(50, 51), slice(51, 130)]
        parts = [dask.delayed(make)(X[these], labels[these], weight[these]) for these in rows]
        has_weight = len(make(X, labels, weight)) == 3
        assert_same(ILFS().fit(parts, y), ILFS().fit(X, labels, sample_weight=weight if has_weight else None))

    def test_one_partition_and_a_method_without_labels(self):
        X, _, _ = table()
        for part in (X, pl.DataFrame(X)):
            np.testing.assert_array_equal(CFS().fit(dask.delayed(part)).order_, CFS().fit(X).order_)

    def test_partitions_with_other_columns_are_refused(self):
        X, y, _ = table()
        with pytest.raises(ValueError, match="must have the same columns, got 11 in partition 1, not 12"):
            ILFS().fit([dask.delayed((X, y)), dask.delayed((X[:, 1:], y))])
        frame = frame_of(X, y)
        with pytest.raises(ValueError, match="must have the same columns, 'f3' is not in all of them"):
            ILFS().fit([dask.delayed(frame), dask.delayed(frame.drop(columns="f3"))], "kind")


class TestAnnData:
    def test_lazy_expression_with_a_column_of_observations(self):
        anndata = pytest.importorskip("anndata", reason="anndata is not installed")
        X, y, _ = table()
        obs = pd.DataFrame({"tissue": pd.Categorical(y)}, index=[f"c{i}" for i in range(130)])
        chunks = da.from_array(X * (X > 0), chunks=(50, 12)).map_blocks(sparse.csr_matrix)
        adata = anndata.AnnData(chunks, obs, pd.DataFrame(index=NAMES))
        found = ILFS().fit(adata, "tissue")
        assert_same(found, ILFS().fit(X * (X > 0), y))
        assert found.feature_names_in_.tolist() == NAMES
        with pytest.raises(ValueError, match=r"y must be a column of adata.obs \(such as tissue\), got 'tisue'"):
            ILFS().fit(adata, "tisue")


class TestErrors:
    @pytest.mark.parametrize(
        ("fit", "message"),
        [
            (lambda X, y: FisherScore().fit(X, None), "fit requires y to be passed, but the target y is None"),
            (lambda X, y: FisherScore().fit(X, "kind"), "only if X is a data frame, got y='kind' and an array"),
            (lambda X, y: FisherScore().fit(X, y[:99]), "X and y must have the same number of rows, got 130 and 99"),
            (lambda X, y: FisherScore().fit(X, da.from_array(y[:99])), "the same number of rows, got 130 and 99"),
            (lambda X, y: FisherScore().fit(X[:, 0], y), r"X must have two dimensions .*, got the shape \(130,\)"),
            (lambda X, y: FisherScore().fit(X.astype(str), y), "X must hold numbers, got values of type <U"),
            (lambda X, y: FisherScore().fit(X, y, sample_weight=np.ones((2, 2))), "sample_weight must be a number for"),
            (lambda X, y: FisherScore().fit(X, y, sample_weight=np.full(130, -1.0)), "number >= 0 .* in row 0"),
            (lambda X, y: FisherScore().fit(X, np.linspace(0, 1, 130)), "Unknown label type: y must hold classes"),
            (lambda X, y: FisherScore().fit(X, np.where(np.arange(130) == 7, None, y)), "row 7 has none"),
            (lambda X, y: FisherScore().fit(X, np.full(130, "a")), "at least two classes, got one class, 'a'"),
            (lambda X, y: FisherScore().fit(X[:1], y[:1]), "X must have at least 2 rows, got 1"),
        ],
    )
    def test_each_is_one_sentence(self, fit, message):
        X, y, _ = table()
        with pytest.raises((ValueError, TypeError), match=message):
            fit(da.from_array(X, chunks=(50, 12)), y)

    def test_infinity_is_rejected_with_its_column(self):
        X, y, _ = table()
        X[100, 3] = np.inf
        with pytest.raises(ValueError, match="column 3 of X holds infinity"):
            ILFS().fit(da.from_array(X, chunks=(50, 5)), y)
        with pytest.raises(ValueError, match="column 'f3' of X holds infinity"):
            ILFS().fit(dd.from_pandas(frame_of(X, y), npartitions=2), "kind")

    def test_the_error_of_a_column_can_be_sent(self):
        error = pickle.loads(pickle.dumps(UnusableColumnError(3, "holds infinity")))
        assert (error.column, error.reason, str(error)) == (3, "holds infinity", "column 3 holds infinity")

    def test_other_partitions_of_unknown_height_are_refused(self):
        X, y, _ = table()
        frame = dd.from_pandas(frame_of(X, y), npartitions=3)
        with pytest.raises(ValueError, match=r"y must have the partitions of X, .*: X has 3 and y has 2"):
            ILFS().fit(frame[NAMES], da.from_array(y, chunks=65))
        with pytest.raises(
            ValueError, match=r"the same number of rows in each partition, got 4\d and \d0 in partition"
        ):
            ILFS().fit(frame[NAMES], da.from_array(y, chunks=((40, 40, 50),)))

    def test_a_missing_label_in_a_frame(self):
        X, y, _ = table()
        frame = frame_of(X, y)
        frame.loc[100, "kind"] = None
        with pytest.raises(ValueError, match="partition 2: y must have a label for every sample, row 13 has none"):
            ILFS().fit(dd.from_pandas(frame, npartitions=3), "kind")

    def test_columns_that_are_not_numeric_are_named(self):
        X, y, _ = table()
        frame = dd.from_pandas(frame_of(X, y).assign(town="x"), npartitions=3)
        with pytest.raises(ValueError, match="columns of X must hold numbers, 'town' holds String: drop"):
            ILFS().fit(frame, "kind")
        with pytest.raises(ValueError, match=r"y must be a column of X \(such as kind"):
            ILFS().fit(frame, "kin")

    def test_methods_that_need_all_rows_list_those_that_do_not(self):
        X, y, _ = table()
        with pytest.raises(
            TypeError, match=r"ReliefF needs all rows in memory: .*reads rows in blocks \(ILFS, FisherScore"
        ):
            ReliefF().fit(da.from_array(X, chunks=(50, 12)), y)


class TestEngine:
    class Text(str):
        """A statistic that shows how it was merged."""

        def merge(self, other):
            return type(self)(f"({self}{other})")

    @pytest.mark.parametrize("n", [1, 2, 8, 9, 17, 64, 65, 100, 513])
    def test_partitions_are_merged_along_the_same_tree(self, n):
        tree = MergeTree()
        for i in range(n):
            tree.add(self.Text(i % 10))
        leaves = [dask.delayed([self.Text(i % 10)]) for i in range(n)]
        (found,) = reduced(leaves, merge_partitions, 8).compute(scheduler="sync")
        assert found == tree.result()

    def test_merging_overwrites_no_statistic(self):
        X, y, _ = table()
        fold = fold_of(stream_source(da.from_array(X, chunks=(50, 12)), y, None, reads_labels=True))
        assert isinstance(fold, OnDask)
        assert isinstance(fold, Fold)
        parts = [list(fold.read([Read(Moments())])) for _ in range(3)]
        before = pickle.dumps(parts)
        merge_partitions(parts)
        assert pickle.dumps(parts) == before

    def test_blocks_can_be_read_in_this_process(self):
        X, y, weight = table()
        source = stream_source(da.from_array(X, chunks=(50, 5)), y, weight, reads_labels=True)
        blocks = list(source.blocks(np.array([2, 11])))
        assert [block.first_row for block in blocks] == [0, 50, 100]
        np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X[:, [2, 11]])
        assert_same(
            ILFS(n_candidates=8)._fit_fold(Streamed(source)), ILFS(n_candidates=8).fit(X, y, sample_weight=weight)
        )

    def test_labels_are_read_alone_to_find_the_classes(self):
        X, y, _ = table()
        read = []

        def chunk(block):
            read.append(len(block))
            return block

        values = da.from_array(X, chunks=(50, 12)).map_blocks(chunk, meta=np.empty((0, 0)))
        source = stream_source(values, da.from_array(y, chunks=50), None, reads_labels=True)
        assert source.labellings[0].labels.tolist() == ["no", "yes"]
        assert read == []


def reported(chunks, labels, selector):
    """Fit a selector; return the reports of progress of each read."""
    source, reports = stream_source(chunks, labels, None, reads_labels=True), {}
    source.progress = lambda progress: reports.setdefault(progress.number, []).append(progress.fraction)
    selector.fit(source)
    return reports


WITH_NULL = {
    "ilfs": ILFS("fdr", n_candidates=8),
    "plain": ILFS("fdr", redundancy=None),
    "fisher": FisherScore("fdr"),
    "mi": MutualInformation("fdr", edges=np.linspace(-2, 2, 5)),
}
with_null = pytest.mark.parametrize("selector", WITH_NULL.values(), ids=WITH_NULL)


def assert_same_null(found, expected, exactly=True):
    compare = np.testing.assert_array_equal if exactly else np.testing.assert_allclose
    compare(found.p_values_, expected.p_values_)
    compare(found.q_values_, expected.q_values_)
    assert found.chance_p_value_ == expected.chance_p_value_


class TestPermutations:
    @with_null
    def test_partitions_of_the_height_of_blocks_give_the_bits_of_memory(self, selector):
        X, y, weight = table(n_samples=200)
        groups = np.arange(200) // 20
        with blocks_of(32):
            expected = clone(selector).fit(X, y, sample_weight=weight, groups=groups)
            found = clone(selector).fit(da.from_array(X, chunks=(32, 5)), y, sample_weight=weight, groups=groups)
        assert_same_null(found, expected)

    @with_null
    @pytest.mark.parametrize("chunks", [(50, 12), ((1, 60, 2, 137), 12)], ids=str)
    def test_the_labels_are_permuted_as_in_memory_for_any_partitions(self, selector, chunks):
        X, y, weight = table(n_samples=200)
        labels, weights = da.from_array(y, chunks=29), da.from_array(weight, chunks=31)
        found = clone(selector).fit(da.from_array(X, chunks=chunks), labels, sample_weight=weights)
        assert_same_null(found, clone(selector).fit(X, y, sample_weight=weight), exactly=False)

    def test_labels_may_be_in_the_partitions(self):
        X, y, weight = table()
        expected = FisherScore("fdr").fit(X, y)
        frame = dd.from_pandas(frame_of(X, y), npartitions=3)
        assert_same_null(FisherScore("fdr").fit(frame, "kind"), expected, exactly=False)
        rows = [slice(0, 70), slice(70, 70), slice(70, 130)]
        parts = [dask.delayed((X[some], y[some], weight[some])) for some in rows]
        weighted = FisherScore("fdr").fit(X, y, sample_weight=weight)
        assert_same_null(FisherScore("fdr").fit(parts), weighted, exactly=False)

    def test_all_labels_of_an_indicator_matrix_are_permuted_together(self):
        X, _, _ = table()
        Y = np.random.default_rng(1).integers(0, 2, size=(130, 3))
        found = FisherScore("fdr").fit(da.from_array(X, chunks=(40, 12)), Y)
        assert_same_null(found, FisherScore("fdr").fit(X, Y), exactly=False)

    def test_groups_must_have_one_for_each_row(self):
        X, y, _ = table()
        with pytest.raises(ValueError, match=r"^groups must have shape \(130,\)"):
            FisherScore("fdr").fit(da.from_array(X, chunks=(40, 12)), y, groups=np.arange(3))

    def test_a_task_gets_the_permuted_labels_of_its_rows_only(self):
        X, y, _ = table()
        source = FisherScore()._source_of(da.from_array(X, chunks=(50, 12)), y, None).with_permutations(7)
        assert [codes.shape for codes in source.permuted_codes()] == [(7, 1, 50), (7, 1, 50), (7, 1, 30)]
        assert {codes.dtype for codes in source.permuted_codes()} == {np.dtype(np.uint8)}
        memory = table_source(X, y).with_permutations(7)
        blocks = [np.array([one.codes for one in block.labels]) for block in source.blocks()]
        expected = np.array([memory.row_labels(number).codes for number in range(8)])
        np.testing.assert_array_equal(np.hstack(blocks), expected)


class TestProgress:
    def test_every_partition_is_reported_in_threads(self):
        X, y, _ = table()
        reports = reported(da.from_array(X, chunks=(33, 5)), da.from_array(y, chunks=33), ILFS(n_candidates=8))
        assert list(reports) == [0, 1, 2, 3]  # the labels, and three reads of the rows
        assert all(fractions == [0.25, 0.5, 0.75, 1.0] for fractions in reports.values())

    def test_labels_in_memory_are_not_read(self):
        X, y, _ = table()
        assert list(reported(da.from_array(X, chunks=(50, 12)), y, FisherScore())) == [1]

    @pytest.mark.filterwarnings("ignore")
    def test_partitions_are_reported_on_the_cluster_and_released(self, client):
        X, y, _ = table(n_samples=400)
        with client.as_current():
            chunks = da.from_array(X, chunks=(40, 12)).map_blocks(slow_chunk, seconds=0.02)
            reports = reported(chunks, da.from_array(y, chunks=40), ILFS(n_candidates=8))
        assert list(reports) == [0, 1, 2, 3]
        for fractions in reports.values():
            assert fractions == sorted(fractions)
            assert fractions[-1] == 1.0
            assert len(fractions) > 2
        deadline = time.monotonic() + 10
        while any(client.has_what().values()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(client.has_what().values())

    @pytest.mark.filterwarnings("ignore")
    def test_an_error_in_a_report_cancels_the_tasks(self, client, tmp_path):
        X, y, _ = table(n_samples=400)

        def stop(progress):
            raise KeyboardInterrupt

        with client.as_current():
            chunks = da.from_array(X, chunks=(10, 12)).map_blocks(slow_chunk, seconds=0.2, folder=tmp_path)
            source = stream_source(chunks, y, None, reads_labels=True)
            source.progress = stop
            with pytest.raises(KeyboardInterrupt):
                FisherScore().fit(source)
        while any(client.processing().values()):  # those that have begun
            time.sleep(0.05)
        assert len(list(tmp_path.iterdir())) < 20

    @pytest.mark.filterwarnings("ignore")
    def test_errors_of_workers_are_raised_in_spite_of_it(self, client):
        X, y, _ = table()
        X[100, 3] = np.inf
        with client.as_current(), pytest.raises(ValueError, match="column 3 of X holds infinity"):
            reported(da.from_array(X, chunks=(50, 5)), y, ILFS())


class TestSummaries:
    """A site whose rows are on Dask may lack classes that other sites have."""

    def sites(self, n_samples=1200):
        """Return rows with three classes, the second of which is missing at the first site."""
        X, y, _ = table(n_samples=n_samples)
        y = np.where(np.arange(n_samples) % 5 == 0, "other", y)
        first = np.flatnonzero((y != "other") & (np.arange(n_samples) % 3 > 0))
        return X, y, first, np.setdiff1d(np.arange(n_samples), first)

    def merged(self, X, y, first, second, sizes):
        """Merge the rounds of both sites; collect the sizes of what Dask sends to this process."""
        chunks = da.from_array(X[first], chunks=(100, 12))
        summary = None
        while summary is None or not summary.is_complete:
            sizes.clear()
            one = summarise(chunks, y[first], after=summary)
            largest = max(sizes, default=0)
            assert largest < X[:100].nbytes / 2, "a partition was sent to this process"
            summary = one.merge(summarise(X[second], y[second], after=summary))
        return summary

    @pytest.fixture
    def sizes(self, monkeypatch):
        """Sizes of all results that Dask has sent to this process."""
        sizes = []

        def computed(*arguments, **options):
            result = compute(*arguments, **options)
            sizes.append(len(pickle.dumps(result)))
            return result

        for module in ("ilfs.sources.dask", "ilfs.execution.dask"):
            monkeypatch.setattr(f"{module}.compute", computed)
        return sizes

    def test_classes_are_inserted_in_threads(self, sizes):
        X, y, first, second = self.sites()
        found = ILFS().fit(self.merged(X, y, first, second, sizes))
        assert sizes
        assert found.classes_.tolist() == ["no", "other", "yes"]
        assert_same(found, ILFS().fit(X, y))

    @pytest.mark.filterwarnings("ignore")
    def test_classes_are_inserted_on_the_workers(self, client, sizes):
        X, y, first, second = self.sites()
        with client.as_current():
            summary = self.merged(X, y, first, second, sizes)
        assert sizes
        assert_same(ILFS().fit(summary), ILFS().fit(X, y))

    @pytest.mark.filterwarnings("ignore:label .*the summary reveals")
    def test_other_forms_of_labels(self):
        X, y, first, second = self.sites(240)
        Y = np.column_stack([y == "no", y == "other"]).astype(int)
        frame = dd.from_pandas(frame_of(X, y).loc[first].reset_index(drop=True), npartitions=3)
        chunks = da.from_array(X[first], chunks=(50, 5))
        for site, other, labels in (
            ((frame, "kind"), (frame_of(X, y).loc[second], "kind"), y),
            ((chunks, da.from_array(Y[first], chunks=31)), (X[second], Y[second]), Y),
        ):
            summary = None
            while summary is None or not summary.is_complete:
                summary = summarise(*site, after=summary).merge(summarise(*other, after=summary))
            assert_same(ILFS().fit(summary), ILFS().fit(X, labels))

    def test_blocks_have_the_wider_classes(self):
        X, y, first, _ = self.sites(240)
        source = stream_source(da.from_array(X[first], chunks=(50, 12)), y[first], None, reads_labels=True)
        wider = source.with_classes(table_source(X, y).labellings)
        codes = np.concatenate([block.labels[0].codes for block in wider.blocks()])
        np.testing.assert_array_equal(wider.labellings[0].labels[codes], y[first])
        assert isinstance(fold_of(wider), OnDask)
        assert wider.without_labels().labellings == ()


QUERY_PLANNING = """
import numpy as np, dask.array as da, distributed, warnings
from scipy import sparse
from ilfs import ILFS
X = np.random.default_rng(0).normal(size=(130, 12))
X[:, 0] += np.arange(130) % 2
y = np.array(["no", "yes"])[np.arange(130) % 2]
chunks = da.from_array(X, chunks=(50, 5))
assert not hasattr(chunks, "to_delayed")
expected = ILFS().fit(X, y)
def check():
    for table in (chunks, chunks.map_blocks(sparse.csr_array)):
        for labels in (y, da.from_array(y, chunks=29)):
            found = ILFS().fit(table, labels, sample_weight=da.ones(130, chunks=130))
            assert found.order_.tolist() == expected.order_.tolist()
            assert np.allclose(found.scores_, expected.scores_, rtol=1e-10)
check()
with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    check()
"""


@pytest.mark.skipif(find_spec("dask.array._array_expr") is None, reason="this version of Dask has no such arrays")
def test_arrays_with_query_planning():
    # The kind of arrays is chosen once, when dask.array is imported.
    environment = os.environ | {"DASK_ARRAY__QUERY_PLANNING": "True"}
    done = subprocess.run([sys.executable, "-c", QUERY_PLANNING], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(autouse=True)
def scheduler_of_this_test(monkeypatch):
    """Restore Dask's default scheduler: `Client.as_current` in two threads at once can leave its own behind."""
    monkeypatch.setitem(dask.config.config, "scheduler", None)


@pytest.fixture(scope="module")
def cluster():
    """Two workers in processes of their own, started once for all tests."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    ) as one:
        yield one


@pytest.fixture
def client(cluster):
    """Connection of one test, so that a test that interrupts its tasks cannot break that of the next."""
    with distributed.Client(cluster, set_as_default=False) as one:
        yield one


def break_connection(client):
    """Close the connection of a client to the scheduler, as a network failure does."""
    client.loop.add_callback(client.scheduler_comm.comm.abort)


def slow_chunk(block, seconds=0.05, folder=None):
    """Return the rows after some time; a file in the folder counts the call."""
    time.sleep(seconds)
    if folder is not None and block.size > 1:  # Dask calls it for a tiny block to know its type
        (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return block


def after_chunks(n_chunks, folder, function):
    """Call a function in a thread as soon as so many chunks have been read."""

    def work():
        while len(list(folder.iterdir())) < n_chunks:
            time.sleep(0.01)
        function()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def worker_ids(client):
    return list(client.run(os.getpid).values())


@pytest.mark.filterwarnings("ignore")  # of the cluster's own, about ports and shutting down
class TestCluster:
    def test_the_result_is_that_of_a_table_in_memory(self, client):
        X, y, weight = table(n_samples=500)
        Y = np.random.default_rng(1).integers(0, 2, size=(500, 3))
        chunks, frame = da.from_array(X, chunks=(60, 5)), dd.from_pandas(frame_of(X, y), npartitions=6)
        with client.as_current():
            assert active_client() is client
            assert_same(ILFS().fit(chunks, y, sample_weight=weight), ILFS().fit(X, y, sample_weight=weight))
            assert_same(ILFS().fit(chunks.map_blocks(sparse.csr_array), da.from_array(y)), ILFS().fit(X, y))
            assert_same(ILFS().fit(frame.astype({"kind": "category"}), "kind"), ILFS().fit(X, y))
            assert_same(FisherScore().fit(chunks, Y), FisherScore().fit(X, Y))
            assert_same(InfFS(correlation="pearson").fit(chunks), InfFS(correlation="pearson").fit(X))

    def test_labels_are_permuted_as_in_memory(self, client):
        X, y, weight = table(n_samples=500)
        chunks, frame = da.from_array(X, chunks=(60, 5)), dd.from_pandas(frame_of(X, y), npartitions=6)
        with client.as_current():
            found = ILFS("fdr").fit(chunks, y, sample_weight=weight)
            assert_same_null(found, ILFS("fdr").fit(X, y, sample_weight=weight), exactly=False)
            assert_same_null(ILFS("fdr").fit(frame, "kind"), ILFS("fdr").fit(X, y), exactly=False)

    def test_errors_of_workers_name_the_column(self, client):
        X, y, _ = table()
        X[100, 3] = np.inf
        with client.as_current(), pytest.raises(ValueError, match="column 3 of X holds infinity"):
            ILFS().fit(da.from_array(X, chunks=(50, 5)), y)

    def test_two_fits_at_once(self, client):
        X, y, _ = table(n_samples=300)
        chunks = da.from_array(X, chunks=(60, 12)).map_blocks(slow_chunk, seconds=0.01)
        y2 = np.roll(y, 1)

        def fit(labels):
            with client.as_current():
                return ILFS().fit(chunks, labels)

        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(fit, [y, y2, y, y2]))
        for one, labels in zip(found, [y, y2, y, y2], strict=True):
            assert_same(one, ILFS().fit(X, labels))

    def test_large_inputs_are_sent_in_parts_without_a_warning(self, client, monkeypatch, recwarn):
        monkeypatch.setattr("ilfs.sources.cluster.MESSAGE_BYTES", 1000)
        array = np.random.default_rng(0).normal(size=5000)
        with client.as_current():
            np.testing.assert_array_equal(placed(array).result(), array)
            slices = placed_each(list(array.reshape(50, 100)))
            np.testing.assert_array_equal(np.concatenate(client.gather(slices)), array)
            assert placed_each([None, None]) == [None, None]

    @needs_posix
    def test_an_interrupt_cancels_the_tasks(self, client, tmp_path):
        X, y, _ = table(n_samples=400)
        chunks = da.from_array(X, chunks=(10, 12)).map_blocks(slow_chunk, seconds=0.2, folder=tmp_path)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        thread = after_chunks(2, tmp_path, lambda: os.kill(os.getpid(), signal.SIGINT))
        try:
            with client.as_current(), pytest.raises(KeyboardInterrupt):
                ILFS().fit(chunks, y)
        finally:
            signal.signal(signal.SIGINT, before)
        thread.join()
        while any(client.processing().values()):  # those that have begun
            time.sleep(0.05)
        assert len(list(tmp_path.iterdir())) < 20

    @pytest.mark.parametrize("n_chunks", [5, 45], ids=["first read", "second read"])
    def test_a_broken_connection_does_not_change_the_result(self, client, tmp_path, n_chunks):
        X, y, weight = table(n_samples=600)
        chunks = da.from_array(X, chunks=(20, 12)).map_blocks(slow_chunk, folder=tmp_path)
        thread = after_chunks(n_chunks, tmp_path, lambda: break_connection(client))
        with client.as_current():
            found = ILFS().fit(chunks, y, sample_weight=weight)
        thread.join()
        assert len(list(tmp_path.iterdir())) > 90  # three reads of 30 chunks, and some again
        assert_same(found, ILFS().fit(X, y, sample_weight=weight))

    @needs_posix
    def test_a_killed_worker_does_not_change_the_result(self, client, tmp_path):
        X, y, _ = table(n_samples=600)
        chunks = da.from_array(X, chunks=(20, 12)).map_blocks(slow_chunk, folder=tmp_path)
        first, _ = worker_ids(client)
        thread = after_chunks(8, tmp_path, lambda: os.kill(first, signal.SIGKILL))
        with client.as_current():
            found = ILFS().fit(chunks, y)
        thread.join()
        assert_same(found, ILFS().fit(X, y))


@pytest.mark.filterwarnings("ignore")
class TestScheduler:
    def test_an_unreachable_scheduler_is_an_error_within_seconds(self, monkeypatch):
        monkeypatch.setattr("ilfs.sources.cluster.CONNECT_SECONDS", 1)
        start = time.monotonic()
        with (
            pytest.raises(ValueError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"),
            connected("tcp://127.0.0.1:9"),
        ):
            pass
        assert time.monotonic() - start < 10

    def test_fits_use_the_scheduler_while_connected(self, client):
        X, y, _ = table()
        with connected(client.scheduler.address) as other:
            assert active_client() is other
            assert_same(ILFS().fit(da.from_array(X, chunks=(50, 5)), y), ILFS().fit(X, y))
        assert active_client() is None

    def test_a_scheduler_that_is_gone_is_one_sentence(self, monkeypatch):
        monkeypatch.setattr("ilfs.sources.cluster.CONNECT_SECONDS", 2)
        X, y, _ = table(n_samples=400)

        def slowly(block):  # a nested function is sent whole, so the cluster need not import this module
            time.sleep(0.2)
            return block

        chunks = da.from_array(X, chunks=(10, 12)).map_blocks(slowly, meta=np.empty((0, 0)))
        with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as process:
            kill = threading.Timer(1.0, process.kill)
            with connected(process.stdout.readline().strip()):
                kill.start()
                with pytest.raises(ConnectionError, match="the Dask scheduler is gone"):
                    ILFS().fit(chunks, y)


SCHEDULER = """
import distributed, time
cluster = distributed.LocalCluster(n_workers=1, processes=False, protocol="tcp://", dashboard_address=None)
print(cluster.scheduler_address, flush=True)
time.sleep(60)
"""


def grown_chunk(block):
    """Return the rows after taking 1.2 GB, little by little, so that the worker is ended by its own limit."""
    taken = []
    for _ in range(60 if block.size > 1 else 0):  # Dask calls it for a tiny block to know its type
        taken.append(np.ones(2_500_000))
        time.sleep(0.02)
    time.sleep(2 if taken else 0)
    return block


@pytest.mark.filterwarnings("ignore")
class TestPartitionsThatKillWorkers:
    MESSAGE = (
        "died while computing the same partition, most likely for lack of memory: make the partitions smaller "
        "(X.rechunk or X.repartition), or give the workers more memory"
    )

    def test_a_partition_too_large_for_a_worker_is_one_sentence(self):
        X, y, _ = table()
        chunks = da.from_array(X, chunks=(65, 12)).map_blocks(grown_chunk)
        with (
            # A worker that pauses when its memory is nearly full would wait for ever.
            dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.worker.memory.pause": False}),
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit="800MB", silence_logs=50
            ) as cluster,
            distributed.Client(cluster),
            pytest.raises(RuntimeError) as caught,
        ):
            FisherScore().fit(chunks, y)
        assert str(caught.value) == f"2 workers of the Dask cluster have {self.MESSAGE}"

    @pytest.mark.parametrize(
        ("n_allowed", "workers"), [(0, "a worker of the Dask cluster has"), (3, "4 workers of the Dask cluster have")]
    )
    def test_the_number_of_workers_is_stated(self, n_allowed, workers):
        with pytest.raises(RuntimeError) as caught, explained():
            raise distributed.KilledWorker("read-1", None, n_allowed)
        assert str(caught.value) == f"{workers} {self.MESSAGE}"
        assert caught.value.__suppress_context__  # the traceback of Dask says nothing more


def made_chunk(block_info=None):
    """Make rows where they are read."""
    (start, stop), (_, width) = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    X = rng.normal(size=(stop - start, width))
    X[:, 0] += np.arange(start, stop) % 2
    return X


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestLargeData:
    @needs_posix
    def test_all_workers_may_die_at_once(self, tmp_path):
        X, y, _ = table(n_samples=2000)
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            chunks = da.from_array(X, chunks=(40, 12)).map_blocks(slow_chunk, folder=tmp_path)

            def kill():
                for one in worker_ids(client):
                    os.kill(one, signal.SIGKILL)

            # In the first read, which sends moments, and in the second, whose inputs are sent anew.
            threads = [after_chunks(n_chunks, tmp_path, kill) for n_chunks in (20, 90)]
            found = ILFS().fit(chunks, y)
            for thread in threads:
                thread.join()
        assert_same(found, ILFS().fit(X, y))

    @pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is measured on Linux only")
    def test_workers_with_less_memory_than_the_data(self):
        n_rows, n_columns, height = 128 * 2048, 1000, 2048  # 2.1 GB in chunks of 16 MB
        X = da.map_blocks(
            made_chunk, chunks=((height,) * (n_rows // height), (n_columns,)), dtype=float, meta=np.empty((0, 0))
        )
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="600MB"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            before = set(worker_ids(client))
            found = ILFS(1, n_candidates=100).fit(X, np.arange(n_rows) % 2)
            peaks = client.run(peak_megabytes)
            assert set(worker_ids(client)) == before  # none was restarted
        assert found.order_[0] == 0
        assert max(peaks.values()) < 600  # of which the libraries take more than 200


def peak_megabytes():
    """Return the peak memory of this process; getrusage would include that of the process that started it."""
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def test_the_scheduler_that_a_closed_client_left_is_not_used():
    X, y, _ = table()
    with dask.config.set(scheduler="dask.distributed"):
        found = FisherScore().fit(da.from_array(X, chunks=(50, -1)), y)
    assert np.array_equal(found.order_, FisherScore().fit(X, y).order_)
