"""Files that cannot be used: one sentence for each."""

import gzip

import numpy as np
import pytest
from prepared_tables import expression, plain_csv

from ilfs.preparing import prepare

GOOD = "y,a,b\n" + "".join(f"{'uv'[i % 2]},{i * i},{i * 7 % 5}\n" for i in range(8))
CASES = {
    "empty": ("t.csv", b"", "t.csv is empty"),
    "blank": ("t.csv", b"\n \n", "t.csv is empty"),
    "header only": ("t.csv", b"y,a,b\n", "t.csv must have rows below its header, got none"),
    "one row": ("t.csv", b"y,a,b\nu,1,2\n", "t.csv must have at least 2 rows, got 1"),
    "one column": ("t.csv", b"y\nu\nv\n", "t.csv must have at least two columns"),
    "short row": ("t.csv", GOOD.encode() + b"u,1\n", "row 9 of t.csv must have 3 values, got 2"),
    "long row": ("t.csv", GOOD.encode() + b"u,1,2,3\n", "row 9 of t.csv must have 3 values, got 4"),
    "binary": ("t.csv", bytes(range(256)), "t.csv must be delimited text, got a binary file"),
    "picture": ("t.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "t.csv must be delimited text, got a binary file"),
    "half of UTF-16": ("t.csv", GOOD.encode("utf-16")[:-1], "got UTF-16 that is not complete"),
    "no encoding": ("t.csv", GOOD.encode() + b"\x81\x8d,1,2\n", "t.csv must be text in UTF-8"),
    "truncated gzip": ("t.csv.gz", gzip.compress(GOOD.encode() * 99)[:60], "must be a complete gzip file"),
    "no gzip": ("t.csv.gz", GOOD.encode(), "must be a complete gzip file"),
    "no bzip2": ("t.csv.bz2", GOOD.encode(), "must be a complete bzip2 file"),
    "no xz": ("t.csv.xz", GOOD.encode(), "must be a complete xz file"),
    "repeated name": ("t.csv", GOOD.replace("b", "a", 1).encode(), "names of columns of t.csv must differ, got a more"),
    "repeated target": (
        "t.csv",
        GOOD.replace("b", "y", 1).encode(),
        "names of columns of t.csv must differ, got y more",
    ),
    "one class": ("t.csv", GOOD.replace("v", "u").encode(), "target must hold at least two classes, got only 'u'"),
    "Parquet": ("t.parquet", GOOD.encode(), "t.parquet must be a complete Parquet file"),
    "empty Parquet": ("t.parquet", b"", "t.parquet must be a complete Parquet file"),
    "Feather": ("t.feather", GOOD.encode(), "t.feather must be a complete Arrow or Feather"),
    "Excel": ("t.xlsx", GOOD.encode(), "t.xlsx must be a complete Excel workbook"),
    "npz": ("t.npz", GOOD.encode(), "t.npz must be"),
    "npy": ("t.npy", GOOD.encode(), "t.npy must be"),
    "mat": ("t.mat", GOOD.encode(), "t.mat must be"),
    "svmlight": ("t.svm", GOOD.encode(), "t.svm must be|of .*t.svm must"),
    "arff": ("t.arff", GOOD.encode(), "t.arff must begin with @relation"),
    "h5ad": ("t.h5ad", GOOD.encode(), "t.h5ad must be a complete .h5ad file"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_is_refused_with_one_sentence(tmp_path, case):
    name, content, message = CASES[case]
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        prepare(tmp_path / name)
    assert "\n" not in str(error.value)


STREAMED = (
    "empty",
    "blank",
    "header only",
    "short row",
    "long row",
    "truncated gzip",
    "no xz",
    "Parquet",
    "Feather",
    "npy",
)


@pytest.mark.parametrize("case", STREAMED)
def test_a_bad_file_is_refused_as_a_stream_too(tmp_path, case):
    name, content, message = CASES[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message.replace("of t.csv", "of .*t.csv")):
        list(prepare(tmp_path / name, engine="stream").source.blocks())


def test_a_folder_without_parquet_files_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold at least one Parquet file, got none"):
        prepare(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing.csv"):
        prepare(tmp_path / "nothing.csv")


def test_a_missing_sheet_is_named(tmp_path):
    path = plain_csv(tmp_path / "t.csv", *expression())
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing.csv"):
        prepare(path, samples=tmp_path / "nothing.csv")


def test_a_matrix_is_no_sheet(tmp_path):
    path = plain_csv(tmp_path / "t.csv", *expression())
    np.savez(tmp_path / "s.npz", X=np.eye(3))
    with pytest.raises(ValueError, match=r"samples must be a table of text, Parquet, Feather or Excel, got s.npz"):
        prepare(path, samples=tmp_path / "s.npz")


def test_infinity_in_a_matrix_is_refused_with_its_place(tmp_path):
    X, y = expression()
    X[4, 7] = -np.inf
    np.savez(tmp_path / "t.npz", X=X, y=y)
    with pytest.raises(ValueError, match=r"column .* must be finite, got -inf in row 5"):
        prepare(tmp_path / "t.npz")


@pytest.mark.parametrize("role", ["samples", "id", "weight", "encode", "transpose"])
def test_a_matrix_has_no_columns_with_roles(tmp_path, role):
    X, y = expression()
    np.savez(tmp_path / "t.npz", X=X, y=y)
    given = True if role in ("encode", "transpose") else "x1"
    with pytest.raises(ValueError, match=f"{role} must be left out for t.npz, a .npz file, got {given!r}"):
        prepare(tmp_path / "t.npz", **{role: given})


@pytest.mark.parametrize("limit", [5, "9MB", "100 kB"])
def test_a_tiny_memory_limit_is_refused(tmp_path, limit):
    path = plain_csv(tmp_path / "t.csv", *expression())
    with pytest.raises(ValueError, match=r"memory_limit must be at least 10 MB, got .*memory_limit='500MB'"):
        prepare(path, memory_limit=limit)
