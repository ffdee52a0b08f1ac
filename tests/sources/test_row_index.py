"""Labels and weights of pandas are matched by position only if their index does not contradict it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ilfs
from ilfs import CFS, FisherScore
from ilfs.sources.row_index import first_difference

rng = np.random.default_rng(0)
Y = np.repeat(["ill", "well"], 20)
X = rng.normal(size=(40, 3)) + (Y == "ill")[:, None] * [0.0, 1.0, 2.0]
WEIGHT = np.arange(40) % 3.0
NAMES = ["a", "b", "c"]
SHUFFLED = rng.permutation(40)
REFUSAL = r"must have the index 0, 1, 2, \.\.\., because its rows are matched to those of X by position, but row 0 is"


def lazy_frame(folder):
    return pl.LazyFrame(X, NAMES)


def arrow_stream(folder):
    return pl.DataFrame(X, NAMES).to_arrow().to_reader()


def dask_array(folder):
    return pytest.importorskip("dask.array", reason="Dask is not installed").from_array(X, chunks=(15, 3))


def dask_frame(folder):
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    return dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=2)


tables = pytest.mark.parametrize("table", [lazy_frame, arrow_stream, dask_array, dask_frame])


@tables
@pytest.mark.parametrize("index", [None, list(range(40))], ids=["default", "integers"])
def test_a_series_numbered_by_position_is_taken(table, index, tmp_path):
    found = FisherScore().fit(table(tmp_path), pd.Series(Y, index), sample_weight=pd.Series(WEIGHT, index))
    expected = FisherScore().fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-12)


@tables
@pytest.mark.parametrize(
    "index", [SHUFFLED, np.arange(1, 41), [f"s{i}" for i in range(40)]], ids=["shuffled", "from one", "names"]
)
def test_a_series_with_another_index_is_refused(table, index, tmp_path):
    labels, weight = pd.Series(Y, index), pd.Series(WEIGHT, index)
    with pytest.raises(ValueError, match=rf"^y {REFUSAL}.*: pass y.to_numpy\(\) if its rows have the order") as caught:
        FisherScore().fit(table(tmp_path), labels)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=rf"^sample_weight {REFUSAL}.*: pass sample_weight.to_numpy\(\) if"):
        FisherScore().fit(table(tmp_path), Y, sample_weight=weight)
    with pytest.raises(ValueError, match=f"^y {REFUSAL}"):
        ilfs.summarise(table(tmp_path), labels)
    FisherScore().fit(table(tmp_path), labels.to_numpy(), sample_weight=weight.to_numpy())


def test_the_index_of_an_indicator_matrix_is_checked():
    labels = pd.get_dummies(pd.Series(Y), dtype=int)
    FisherScore().fit(lazy_frame(None), labels)
    with pytest.raises(ValueError, match=r"^y must have the index 0, 1, 2, .*, but row 0 is 39: pass"):
        FisherScore().fit(lazy_frame(None), labels[::-1])


def test_methods_without_labels_ignore_the_index_of_y():
    labels = pd.Series(Y, index=SHUFFLED)
    np.testing.assert_array_equal(CFS().fit(lazy_frame(None), labels).order_, CFS().fit(X).order_)


@pytest.mark.parametrize("limit", [None, 500], ids=["loaded", "streamed"])
def test_read_checks_the_index_of_target_and_weight(limit, tmp_path):
    np.save(tmp_path / "X.npy", X)
    labels, weight = pd.Series(Y), pd.Series(WEIGHT)
    found = FisherScore().fit(ilfs.read(tmp_path / "X.npy", labels, memory_limit=limit, weight=weight))
    np.testing.assert_allclose(found.scores_, FisherScore().fit(X, Y, sample_weight=WEIGHT).scores_, rtol=1e-12)
    with pytest.raises(ValueError, match=r"^target must have the index 0, 1, 2, .*: pass target.to_numpy\(\)"):
        ilfs.read(tmp_path / "X.npy", labels[::-1], memory_limit=limit)
    with pytest.raises(ValueError, match=r"^weight must have the index 0, 1, 2, "):
        ilfs.read(tmp_path / "X.npy", labels, memory_limit=limit, weight=weight[::-1])


@pytest.mark.parametrize("backed", [False, True], ids=["in memory", "backed"])
def test_labels_of_anndata_have_its_names_of_observations(backed, tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    cells = pd.Index([f"c{i}" for i in range(40)], dtype=object)
    adata = anndata.AnnData(X, pd.DataFrame(index=cells), pd.DataFrame(index=pd.Index(NAMES, dtype=object)))
    if backed:
        adata.write_h5ad(tmp_path / "a.h5ad")
        adata = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    labels, expected = pd.Series(Y, cells), FisherScore().fit(X, Y).order_.tolist()
    for y in (labels, labels.reset_index(drop=True), Y):
        assert FisherScore().fit(adata, y).order_.tolist() == expected
    message = r"^y must have the index of X.obs, but row 0 is 'c39' in y and 'c0' in X.obs: align them, y.loc\[X.obs.in"
    with pytest.raises(ValueError, match=message):
        FisherScore().fit(adata, labels[::-1])
    if backed:
        adata.file.close()


def test_a_block_and_its_labels_must_have_the_same_index():
    frame, labels = pd.DataFrame(X, columns=NAMES), pd.Series(Y)
    FisherScore().fit([(frame[:25], labels[:25]), (frame[25:], labels[25:])])
    blocks = [(frame[:25], labels[:25]), (frame[25:], labels[25:][::-1])]
    with pytest.raises(
        ValueError, match=r"^block 1 of X: y must have the index of X, but row 0 is 39 in y and 25 in X"
    ):
        FisherScore().fit(blocks)
    delayed = pytest.importorskip("dask", reason="Dask is not installed").delayed
    with pytest.raises(ValueError, match="y must have the index of X, but row 0 is 39 in y and 25 in X"):
        FisherScore().fit([delayed(block) for block in blocks])


@pytest.mark.parametrize("row", [0, 1, 500, 998, 999])
def test_the_first_difference_is_found(row):
    index = pd.Index(np.where(np.arange(1000) >= row, -1, np.arange(1000)))
    assert first_difference(index, pd.RangeIndex(1000)) == row
    assert first_difference(pd.RangeIndex(1000), pd.Index(np.arange(1000))) is None
