"""Tables that cannot be used: one sentence that names the thing, the rule and the value."""

import builtins
import errno
import re
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import ilfs
from ilfs import FisherScore
from ilfs.sources.arrow import one_line_errors

ROWS = {"size": [1.0, 2, 3, 4], "hue": [4.0, 1, 2, 2], "kind": ["a", "b", "a", "b"]}
LIMITS = (None, 60)  # bytes: loaded, and read in blocks


def parquet(folder, **columns):
    table = {name: values for name, values in {**ROWS, **columns}.items() if values is not None}
    pq.write_table(pa.table(table), folder / "a.parquet")
    return folder / "a.parquet"


def two_files(folder, other):
    parquet(folder)
    pq.write_table(pa.table(other), folder / "b.parquet")
    return folder


def text(folder, content, name="a.csv"):
    (folder / name).write_text(content)
    return folder / name


def truncated(folder):
    path = parquet(folder)
    path.write_bytes(path.read_bytes()[:-20])
    return path


def damaged(folder):
    path = parquet(folder, size=np.arange(4.0))
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(56)
    path.write_bytes(content)
    return path


def made(folder):
    folder.mkdir()
    return folder


CASES = {
    "folder without Parquet": (
        lambda d: made(d / "f"),
        FileNotFoundError,
        "folder .* must hold at least one Parquet file",
    ),
    "pattern": (
        lambda d: str(d / "*.parquet"),
        FileNotFoundError,
        r"must match at least one file, got '.*\*\.parquet'",
    ),
    "no file": (lambda d: d / "a.parquet", FileNotFoundError, "there is no file .*a.parquet"),
    "truncated": (truncated, ValueError, "a.parquet must be a complete Parquet file: "),
    "damaged": (damaged, ValueError, "a.parquet cannot be read to its end: "),
    "empty file": (lambda d: text(d, "", "a.parquet"), ValueError, "a.parquet must be a complete Parquet file: "),
    "other type": (
        lambda d: two_files(d, {"size": ["1", "2"], "hue": [1.0, 2], "kind": ["a", "b"]}),
        ValueError,
        "same columns: 'size' is double in .*a.parquet and string in .*b.parquet",
    ),
    "column missing": (
        lambda d: two_files(d, {"size": [1.0, 2], "kind": ["a", "b"]}),
        ValueError,
        "'hue' is double in .*a.parquet and missing in .*b.parquet",
    ),
    "text column": (
        lambda d: parquet(d, town=list("xyxy")),
        ValueError,
        "columns of .*a.parquet must hold numbers, 'town' holds string: drop them",
    ),
    "target misspelt": (
        lambda d: parquet(d, kind=None, kinds=list("abab")),
        ValueError,
        r"target must be a column of .*a.parquet \(such as kinds\), got 'kind'",
    ),
    "missing label": (
        lambda d: parquet(d, kind=["a", None, "a", "b"]),
        ValueError,
        "y must have a label .* row 1 has none",
    ),
    "one class": (lambda d: parquet(d, kind=list("aaaa")), ValueError, "at least two classes, got one class, 'a'"),
    "quantity": (
        lambda d: parquet(d, kind=[0.5, 1.5, 2.5, 3.5]),
        ValueError,
        "y must hold classes .* got continuous values",
    ),
    "infinity": (lambda d: parquet(d, hue=[1.0, np.inf, 2, 3]), ValueError, "column 'hue' of X .*infin"),
    "one row": (
        lambda d: parquet(d, size=[1.0], hue=[2.0], kind=["a"]),
        ValueError,
        "a.parquet must have at least 2 rows, got 1",
    ),
    "no row": (
        lambda d: parquet(d, size=pa.array([], "float64"), hue=pa.array([], "float64"), kind=pa.array([], "string")),
        ValueError,
        "a.parquet must have at least 2 rows, got 0",
    ),
    "only the target": (lambda d: parquet(d, size=None, hue=None), ValueError, "must have at least one column besides"),
    "two formats": (
        lambda d: (parquet(d), text(d, "size,kind\n1,a\n"), str(d / "a.*"))[-1],
        ValueError,
        "must have the same format, got .csv and .parquet",
    ),
    "csv: text in a number": (
        lambda d: text(d, "size,hue,kind\n1,2,a\n3,zap,b\n5,6,a\n"),
        ValueError,
        "column 'hue' of .*a.csv must hold numbers, .* got 'zap' in row 2",
    ),
    "csv: short row": (
        lambda d: text(d, "size,hue,kind\n1,2,a\n3,b\n"),
        ValueError,
        "row 2 of .*a.csv must have 3 values, got 2",
    ),
    "csv: repeated name": (
        lambda d: text(d, "size,size,kind\n1,2,a\n3,4,b\n"),
        ValueError,
        "names of columns of .*a.csv must differ, got 'size' more than once",
    ),
    "csv: quantity": (
        lambda d: text(d, "size,hue,kind\n1,2,0.5\n3,4,1.5\n5,6,2\n"),
        ValueError,
        r"the target of .*a.csv must hold classes .*got 0.5: bin a quantity first",
    ),
    "csv: missing label": (
        lambda d: text(d, "size,hue,kind\n1,2,a\n3,4,NA\n5,6,b\n"),
        ValueError,
        "y must have a label for every sample, row 1 has none",
    ),
    "csv: large integer": (
        lambda d: text(d, "size,hue,kind\n9007199254740993,2,a\n3,4,b\n5,6,b\n"),
        ValueError,
        r"integers in column 'size' of .*a.csv must be within",
    ),
    "csv: empty": (lambda d: text(d, ""), ValueError, "a.csv is empty"),
    "csv: only a header": (
        lambda d: text(d, "size,hue,kind\n"),
        ValueError,
        "must have rows below its header, got none",
    ),
    "csv: misspelt": (
        lambda d: text(d, "size,hue,kid\n1,2,a\n3,4,b\n"),
        ValueError,
        r"target must be a column of .*a.csv \(such as kid\), got 'kind'",
    ),
}


@pytest.mark.parametrize("limit", LIMITS, ids=["loaded", "streamed"])
@pytest.mark.parametrize("case", CASES)
def test_one_sentence_names_the_problem(case, limit, tmp_path):
    make, error, message = CASES[case]
    with pytest.raises(error, match=message) as caught:
        FisherScore().fit(ilfs.read(make(tmp_path), "kind", memory_limit=limit))
    assert "\n" not in str(caught.value)


BLOCKS = [(np.eye(2), [0, 1]), (np.ones((2, 2)), [1, 0])]
OBJECTS = {
    "generator": (lambda: (block for block in BLOCKS), TypeError, "a generator can be read only once: pass a function"),
    "same generator": (
        lambda: (lambda one: lambda: one)(block for block in BLOCKS),
        TypeError,
        "a generator can be read only once",
    ),
    "no iterator": (lambda: lambda: 5, TypeError, "X must return an iterator of blocks of rows, got int"),
    "no blocks": (lambda: lambda: iter([]), ValueError, "X must give at least one block of rows, got none"),
    "width": (lambda: [*BLOCKS, (np.ones((2, 3)), [0, 1])], ValueError, "block 2 of X must have 2 columns, .* got 3"),
    "rows": (lambda: [*BLOCKS, (np.ones((2, 2)), [0])], ValueError, "X and y of block 2 of X .* got 2 and 1"),
    "sparse": (lambda: [*BLOCKS, (sparse.eye_array(2), [0, 1])], ValueError, "block 2 of X must be dense"),
    "text": (lambda: lambda: iter([(np.array([["a"]]), [0])]), ValueError, "block 0 of X must be a table of numbers"),
    "precision": (
        lambda: [(np.eye(2, dtype=np.float32), [0, 1]), *BLOCKS],
        ValueError,
        "block 1 of X must hold float32, as the first does, got float64",
    ),
    "parts": (lambda: lambda: iter([(1, 2, 3, 4)]), ValueError, "block 0 of X must be .*, got 4 parts"),
    "text and numbers": (
        lambda: [*BLOCKS, (np.eye(2), ["a", "b"])],
        ValueError,
        "labels in y must be of one type, got numbers in some rows and text",
    ),
    "duplicate names": (
        lambda: pa.RecordBatchReader.from_batches(
            pa.schema([("a", "int8"), ("a", "int8")]), [pa.record_batch([[1], [2]], names=["a", "a"])]
        ),
        ValueError,
        "columns of X must have different names, 'a' occurs more than once",
    ),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_fit_refuses_other_blocks(case):
    make, error, message = OBJECTS[case]
    with pytest.raises(error, match=message):
        FisherScore().fit(make())


@pytest.mark.parametrize("role", ["drop", "weight"])
def test_read_refuses_names_of_columns_of_blocks(role):
    with pytest.raises(
        ValueError, match=rf"{role} must be None if X gives blocks of rows \(X, y\) or \(X, y, weight\)"
    ):
        ilfs.read(BLOCKS, **{role: "size"})


def test_labels_and_weights_must_have_a_value_for_each_row():
    lazy = pl.LazyFrame({"size": [1.0, 2, 3], "hue": [1.0, 3, 2]})
    for y in ([0, 1], [0, 1, 1, 0]):
        with pytest.raises(ValueError, match="X and y must have the same number of rows, got"):
            FisherScore().fit(lazy, y)
    with pytest.raises(ValueError, match="X and sample_weight must have the same number of rows"):
        FisherScore().fit(lazy, [0, 1, 1], sample_weight=[1, 2])
    with pytest.raises(ValueError, match="fit requires y to be passed, but the source has no target"):
        FisherScore().fit(lazy)
    with pytest.raises(TypeError, match="y must be None if X is a source"):
        FisherScore().fit(ilfs.read(lazy), [0, 1, 1])


def test_a_table_in_memory_needs_no_reading():
    with pytest.raises(TypeError, match="got ndarray: pass a table in memory to fit itself"):
        ilfs.read(np.eye(3))


@pytest.mark.parametrize("limit", [0, -1, "many", "5 XB", 1.5, "0.1B"])
def test_a_memory_limit_is_a_number_of_bytes(limit, tmp_path):
    with pytest.raises(ValueError, match=rf"memory_limit must be a number of bytes .* got {re.escape(repr(limit))}"):
        ilfs.read(tmp_path, memory_limit=limit)


@pytest.mark.parametrize(
    ("package", "file", "extra"), [("pyarrow", "a.parquet", "parquet"), ("anndata", "a.h5ad", "omics")]
)
def test_a_missing_package_is_named_with_its_extra(package, file, extra, tmp_path, monkeypatch):
    (tmp_path / file).write_text("x")
    monkeypatch.setitem(sys.modules, package, None)
    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", real)
    message = rf'reading {file} needs the package {package}: pip install "ilfs\[{extra}\]"'
    with pytest.raises(ImportError, match=message):
        ilfs.read(tmp_path / file, "kind")


def test_an_error_of_the_system_is_not_an_incomplete_file():
    with pytest.raises(OSError, match="Too many open files"), one_line_errors("a.parquet must be complete"):
        raise OSError(errno.EMFILE, "Too many open files")
    with pytest.raises(ValueError, match="complete: Unexpected end"), one_line_errors("a.parquet must be complete"):
        raise OSError("Unexpected end of stream")
