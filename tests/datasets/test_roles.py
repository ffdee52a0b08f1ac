"""Columns of groups and folds: every format with columns supports them, and they are not features."""

import numpy as np
import pytest
from scipy.io import savemat

from ilfs.datasets import load

DONORS = ["ann", "bob", "cid", "ann", "bob", "cid", "ann", "bob"]
FOLDS = [1, 2, 2, 1, 2, 1, 2, 1]
Y = ["yes", "no"] * 4


@pytest.fixture
def genes(tmp_path, monkeypatch):
    rows = [f"s{i},{Y[i]},{DONORS[i]},{FOLDS[i]},{i},{i * i % 5},only" for i in range(8)]
    text = "\n".join(["sample,ill,donor,fold,TP53,BRCA1,one", *rows])
    (tmp_path / "genes.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    return text


ONE = "genes.csv?target=ill&drop=sample&drop=donor&drop=fold"
BASE = "genes.csv?target=ill&drop=sample&drop=one"


def check(table):
    assert table.feature_names == ("TP53", "BRCA1")
    assert table.class_names == ("no", "yes")
    np.testing.assert_array_equal(table.groups, [0, 1, 2, 0, 1, 2, 0, 1])
    np.testing.assert_array_equal(table.folds, np.array(FOLDS) - 1)


def test_groups_and_folds_are_read_from_a_text_file(genes):
    check(load(f"{BASE}&groups=donor&folds=fold"))
    check(load("genes.csv?target=1&drop=0&drop=-1&groups=2&folds=3"))
    only = load(f"{BASE}&groups=donor&drop=fold")
    assert only.folds is None


def test_groups_and_folds_are_read_from_parquet_and_feather(genes, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import csv, feather, parquet

    table = csv.read_csv(tmp_path / "genes.csv")
    assert isinstance(table, pyarrow.Table)
    parquet.write_table(table, tmp_path / "genes.parquet")
    feather.write_feather(table, tmp_path / "genes.feather")
    for ending in ("parquet", "feather"):
        check(load(f"{BASE.replace('csv', ending)}&groups=donor&folds=fold"))


def test_groups_and_folds_are_read_from_arrays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, groups = np.arange(24.0).reshape(8, 3), np.arange(8) % 2, np.arange(8) // 2
    np.savez("a.npz", X=X, y=y, donor=groups, fold=np.array(FOLDS))
    savemat("a.mat", {"X": X, "y": y, "donor": groups, "fold": np.array(FOLDS)})
    for name in ("a.npz", "a.mat"):
        table = load(f"{name}?drop=0&groups=donor&folds=fold")
        np.testing.assert_array_equal(table.X, X[:, 1:])
        np.testing.assert_array_equal(table.groups, groups)
        np.testing.assert_array_equal(table.folds, np.array(FOLDS) - 1)


def test_the_checksum_includes_groups_and_folds(genes):
    plain = load(f"{BASE}&drop=donor&drop=fold").checksum
    grouped = load(f"{BASE}&groups=donor&drop=fold").checksum
    folded = load(f"{BASE}&folds=fold&drop=donor").checksum
    assert len({plain, grouped, folded}) == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{ONE}&groups=one", "groups column 'one' of genes.csv must hold at least two groups, got only 'only'"),
        ("genes.csv?drop=sample&groups=donor", "target of genes.csv must be given where groups or folds are, got none"),
        (f"{BASE}&groups=doner", "must be a column of genes.csv"),
        (f"{BASE}&groups=ill", "target, groups and folds of genes.csv must be different columns, got 'ill' again"),
        (f"{BASE}&groups=fold&folds=fold", "must be different columns, got 'fold' again"),
        (f"{BASE}&groups=donor&groups=fold", "must state groups at most once, got it 2 times"),
        ("wine?groups=alcohol", "groups and folds must be none for 'wine', whose columns are known"),
        (f"{BASE}&drop=fold&folds=donor", "folds of genes.csv must be numbered .* without gaps, got ann, bob, cid"),
    ],
)
def test_invalid_groups_and_folds_are_refused(genes, name, message):
    with pytest.raises(ValueError, match=message):
        load(name)


def test_gaps_in_folds_and_missing_groups_are_refused(genes, tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text(genes.replace(",2,", ",4,"))
    with pytest.raises(ValueError, match=r"must be numbered 0, 1, 2, ... or 1, 2, 3, ... without gaps, got 1, 4"):
        load(f"{BASE}&folds=fold&drop=donor")
    path.write_text(genes.replace("cid", ""))
    with pytest.raises(ValueError, match=r"groups column 'donor' of .* must not be missing, got .* in row 3"):
        load(f"{BASE}&groups=donor&drop=fold")
