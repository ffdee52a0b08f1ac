import numpy as np
import pytest
from scipy import sparse

from ilfs import METHODS
from ilfs.datasets import load, read_table
from ilfs.datasets.dataset import content_checksum

CSV = "a,b,y\n1,2,0\n3,4,1\n5,6,1\n"


def test_the_name_is_that_of_the_file_and_the_checksum_that_of_the_content(tmp_path):
    (tmp_path / "cells.v2.csv").write_text(CSV)
    table = read_table(tmp_path / "cells.v2.csv")
    assert table.name == "cells.v2"
    assert table.checksum == content_checksum(table)
    assert read_table(str(tmp_path / "cells.v2.csv"), name="mine").name == "mine"


@pytest.mark.parametrize("name", ["toy", "toy.xlsx", "toy.gz", "toy.npz.gz", "toy.pkl"])
def test_an_unknown_ending_is_refused(tmp_path, name):
    with pytest.raises(
        ValueError, match=rf"the name of a data file must end in \.csv, .*images-idx3-ubyte, got '{name}'"
    ):
        read_table(tmp_path / name)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*toy\.csv"):
        read_table(tmp_path / "toy.csv")
    (tmp_path / "toy.csv").mkdir()
    with pytest.raises(FileNotFoundError, match=r"toy\.csv must be a file, not a folder"):
        read_table(tmp_path / "toy.csv")


def test_load_reads_files_too(tmp_path, monkeypatch):
    (tmp_path / "toy.csv").write_text(CSV)
    assert load(tmp_path / "toy.csv", target="a").feature_names == ("b", "y")
    monkeypatch.chdir(tmp_path)
    assert load("toy.csv").class_sizes == (1, 2)
    with pytest.raises(FileNotFoundError, match=rf"^there is no file {tmp_path / 'missing.csv'}$"):
        load("missing.csv")
    with pytest.raises(ValueError, match="target must be None for 'wine', whose classes are known, got 'a'"):
        load("wine", target="a")
    with pytest.raises(ValueError, match="drop must be empty for 'wine', whose features are known, got 0"):
        load("wine", drop=0)


def test_a_registered_name_comes_before_a_file_but_not_before_a_path(tmp_path, monkeypatch):
    (tmp_path / "wine").write_text(CSV)
    monkeypatch.chdir(tmp_path)
    assert load("wine").n_samples == 178
    with pytest.raises(ValueError, match=r"must end in .*, got 'wine'"):
        load(tmp_path / "wine")


def test_all_formats_give_the_same_data(tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12, 4)), 3)
    y = np.arange(12) % 3
    rows = [[*map(repr, row), str(code)] for row, code in zip(X.tolist(), y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(map(",".join, rows)))
    (tmp_path / "t.tsv").write_text("\n".join(map("\t".join, rows)))
    header = (
        "@relation t\n" + "".join(f"@attribute f{j} real\n" for j in range(4)) + "@attribute class {0,1,2}\n@data\n"
    )
    (tmp_path / "t.arff").write_text(header + "\n".join(map(",".join, rows)))
    (tmp_path / "t.svm").write_text(
        "\n".join(f"{row[-1]} " + " ".join(f"{j}:{value}" for j, value in enumerate(row[:-1], 1)) for row in rows)
    )
    np.savez(tmp_path / "t.npz", X=X, y=y)
    for ending in ("csv", "tsv", "arff", "svm", "npz"):
        table = read_table(tmp_path / f"t.{ending}")
        np.testing.assert_array_equal(table.X.toarray() if sparse.issparse(table.X) else table.X, X)
        np.testing.assert_array_equal(table.y, y)
        assert table.class_names == ("0", "1", "2")
        METHODS["fisher"](2).fit(table.X, table.y)
