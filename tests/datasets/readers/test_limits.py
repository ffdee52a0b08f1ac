"""Limits on the memory that a file may take, which apply before the memory is used."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat

from ilfs import npz
from ilfs.datasets import ReadLimits, load, read_table

N_ROWS = 2000
TINY = ReadLimits(max_bytes=10_000, max_expansion=2)
LARGE = ReadLimits(max_bytes=10**6)
ZEROS = np.zeros((N_ROWS, 5))
CODES = np.arange(N_ROWS) % 2
FRAME = pd.DataFrame(ZEROS, columns=list("abcde")).assign(y=CODES)
SPARSE_ROWS = "".join(f"{{5 {code}}}\n" for code in CODES)
HEADER = "@relation r\n" + "".join(f"@attribute {name} real\n" for name in "abcde") + "@attribute y {0,1}\n@data\n"

WRITERS = {
    "t.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "t.arff.gz": lambda path: path.write_bytes(gzip.compress((HEADER + "0,0,0,0,0,0\n0,0,0,0,0,1\n" * 1000).encode())),
    "t.svm.gz": lambda path: path.write_bytes(gzip.compress(b"0 1:1\n1 2:1\n" * N_ROWS)),
    "t.npz": lambda path: np.savez_compressed(path, X=ZEROS, y=CODES),
    "t.mat": lambda path: savemat(path, {"X": ZEROS, "y": CODES}, do_compression=True),
    "t.parquet": FRAME.to_parquet,
    "t.feather": lambda path: FRAME.to_feather(path, compression="zstd"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_much_larger_than_its_file_is_refused_with_the_numbers(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    size = path.stat().st_size
    sentence = rf"{name} \({size:,} bytes\) must take at most [\d,]+ bytes in memory, got [\d,]+ or more; if you trust"
    with pytest.raises(ValueError, match=sentence):
        read_table(path, limits=TINY)
    with pytest.raises(ValueError, match=sentence):
        load(path, limits=TINY)
    assert read_table(path, limits=LARGE).class_names == ("0", "1")


def test_a_large_file_may_have_a_large_table(tmp_path):
    np.savez(tmp_path / "t.npz", X=ZEROS, y=CODES)
    assert read_table(tmp_path / "t.npz", limits=TINY).n_samples == N_ROWS


@pytest.fixture
def no_inflating(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("inflated")

    monkeypatch.setattr(npz.npy, "read_array", refuse)


@pytest.mark.usefixtures("no_inflating")
def test_headers_of_an_archive_are_checked_before_decompression(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", X=ZEROS, y=CODES[:7])
    with pytest.raises(ValueError, match=r"t\.npz must have one label per row, got 2000 rows and 7 labels"):
        read_table(tmp_path / "t.npz")
    np.savez_compressed(tmp_path / "t.npz", X=ZEROS, y=CODES)
    with pytest.raises(ValueError, match=r"t\.npz \(.*\) must take at most 10,000 bytes in memory, got 80,000 or more"):
        read_table(tmp_path / "t.npz", limits=TINY)


@pytest.mark.parametrize("shape", ["(999999999999, 9)", "(-1, 3)", "(3, 4)"])
@pytest.mark.usefixtures("no_inflating")
def test_a_header_that_declares_too_much_is_refused(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    (tmp_path / "t.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(8)
    )
    with pytest.raises(ValueError, match=r"t\.npy must be a complete \.npy file .*: an array declares the shape"):
        read_table(tmp_path / "t.npy", target=0)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.arff", "t.svm"])
def test_too_long_lines_are_refused(tmp_path, name):
    text = {"t.arff": "@relation r\n@attribute a real\n", "t.svm": "1 1:1\n"}.get(name, "a,b\n") + "1" * 2000 + "\n"
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    with pytest.raises(
        ValueError, match=rf"a line of .*{name} must have at most 1,000 characters, got more; .*limits="
    ):
        read_table(tmp_path / name, limits=ReadLimits(max_line_length=1000))


def test_a_gzipped_file_of_one_line_is_not_decompressed_completely(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1," * 2**25, compresslevel=1))
    unpacked, read1 = [], gzip.GzipFile.read1
    monkeypatch.setattr(gzip.GzipFile, "read1", lambda *a: (unpacked.append(len(part := read1(*a))), part)[1])
    with pytest.raises(ValueError, match=r"must have at most 33,554,432 characters"):
        read_table(path)
    assert 2**25 <= sum(unpacked) < 2**25 + 2**20  # half of the content


def test_the_largest_index_of_a_sparse_file_is_limited(tmp_path):
    (tmp_path / "t.svm").write_text("0 1:1\n1 2147483646:1\n")
    with pytest.raises(
        ValueError, match=r"the sparse table in .*t\.svm must have at most 16,777,216 columns, got 2,147,483"
    ):
        read_table(tmp_path / "t.svm")
    assert read_table(tmp_path / "t.svm", limits=ReadLimits(max_columns=2**31)).n_features > 2**30


WIDE = sparse.csr_array(([1.0, 2.0], [3, 4], [0, 1, 2]), shape=(2, 5000))


@pytest.mark.parametrize("name", ["t.npz", "t.mat"])
def test_the_declared_width_of_a_sparse_matrix_is_limited(tmp_path, name):
    if name == "t.npz":
        parts = {"data": WIDE.data, "indices": WIDE.indices, "indptr": WIDE.indptr, "shape": WIDE.shape}
        np.savez(tmp_path / name, y=[0, 1], **parts)
    else:
        savemat(tmp_path / name, {"X": sparse.csc_array(WIDE), "y": [0, 1]})
    with pytest.raises(ValueError, match=r"must have at most 999 columns, got 5,000"):
        read_table(tmp_path / name, limits=ReadLimits(max_columns=999))


def test_the_declared_height_of_a_csc_matrix_is_limited(tmp_path):
    content = io.BytesIO()
    savemat(content, {"X": sparse.csc_array(WIDE.T), "y": [0, 1]})
    height = (5000).to_bytes(4, "little")
    assert content.getvalue().count(height) == 1
    (tmp_path / "t.mat").write_bytes(content.getvalue().replace(height, (2**31 - 1).to_bytes(4, "little")))
    with pytest.raises(ValueError, match=r"must have one label per row, got 2147483647 rows and 2 labels"):
        read_table(tmp_path / "t.mat")


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"max_bytes": 0}, ValueError, "max_bytes must be an integer >= 1, got 0"),
        ({"max_line_length": 1.5}, ValueError, "max_line_length must be an integer >= 1, got 1.5"),
        ({"max_columns": -1}, ValueError, "max_columns must be an integer >= 1, got -1"),
        ({"max_expansion": 0}, ValueError, "max_expansion must be a number > 0, got 0"),
    ],
)
def test_invalid_limits_are_refused(wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        ReadLimits(**wrong)


def test_limits_of_another_type_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    with pytest.raises(TypeError, match="limits must be a ReadLimits, got 5"):
        read_table(tmp_path / "t.csv", limits=5)
