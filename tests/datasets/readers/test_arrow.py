import builtins

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ilfs.datasets import read_table

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

FRAME = pd.DataFrame(
    {
        "a": [1.5, np.nan, 3.0],
        "b": [1, 2, 3],
        "c": [True, False, True],
        "kind": pd.Categorical(["red", "blue", "red"], categories=["red", "blue", "unused"]),
    }
)


def written(frame, path):
    (frame.to_parquet if path.suffix == ".parquet" else frame.to_feather)(path)
    return path


@pytest.mark.parametrize("name", ["toy.parquet", "toy.feather"])
def test_a_frame_of_pandas_is_read(tmp_path, name):
    table = read_table(written(FRAME, tmp_path / name))
    np.testing.assert_array_equal(table.X, [[1.5, 1, 1], [np.nan, 2, 0], [3, 3, 1]])
    assert table.feature_names == ("a", "b", "c")
    assert table.class_names == ("blue", "red")
    assert table.y.tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", ["toy.parquet", "toy.feather"])
def test_a_frame_of_polars_is_read(tmp_path, name):
    frame = pl.DataFrame({"y": [True, False, True], "a": [1, None, 3]})
    (frame.write_parquet if name.endswith("parquet") else frame.write_ipc)(tmp_path / name)
    table = read_table(tmp_path / name)
    np.testing.assert_array_equal(table.X, [[1], [np.nan], [3]])
    assert table.class_names == ("False", "True")


def test_a_missing_class_is_refused(tmp_path):
    path = written(FRAME.assign(kind=["red", None, "blue"]), tmp_path / "toy.parquet")
    with pytest.raises(ValueError, match=r"must not be missing, got .* in row 2"):
        read_table(path)


@pytest.mark.parametrize("name", ["toy.parquet", "toy.feather"])
def test_dropped_columns_are_not_features(tmp_path, name):
    path = written(FRAME.assign(sample=["s1", "s2", "s3"], batch=1), tmp_path / name)
    table = read_table(path, "kind", drop=["sample", -1, "b"])
    assert table.feature_names == ("a", "c")
    assert read_table(path, drop=["sample", "batch"]).class_names == ("blue", "red")  # the last column not dropped
    with pytest.raises(ValueError, match=r"got 's1' .*if it is the class: target='sample'; .* rows: drop='sample' "):
        read_table(path, "kind")


def test_float32_stays_float32(tmp_path):
    frame = pd.DataFrame({"a": np.float32([1, 2]), "b": np.float32([3, 4]), "y": [0, 1]})
    assert read_table(written(frame, tmp_path / "toy.parquet")).X.dtype == np.float32


def test_the_index_of_pandas_is_not_a_feature(tmp_path):
    frame = FRAME.set_index(pd.Index([7, 8, 9], name="sample"))
    assert read_table(written(frame, tmp_path / "toy.parquet")).feature_names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("column", "got"),
    [
        ([None, "x", "y"], r"'x' \((large_)?string\) in row 2"),
        (pd.to_datetime(["2020-01-01"] * 3), "datetime|Timestamp"),
        ([np.inf, 1.0, 2.0], "inf in row 1"),
    ],
)
def test_columns_that_are_not_numbers_are_refused(tmp_path, column, got):
    path = written(FRAME.assign(b=column), tmp_path / "toy.parquet")
    with pytest.raises(ValueError, match=rf"column 'b' of .*toy\.parquet must .*got .*({got})"):
        read_table(path)


@pytest.mark.parametrize("name", ["toy.parquet", "toy.feather"])
@pytest.mark.parametrize("kept", [3, 100, -3])
def test_a_truncated_file_is_refused(tmp_path, name, kept):
    path = written(FRAME, tmp_path / name)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=rf"{name} must be a complete \.{name[4:]} file"):
        read_table(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = written(FRAME, tmp_path / "toy.parquet")
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pyarrow":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'reading toy\.parquet needs pyarrow: pip install "ilfs\[parquet\]"'):
        read_table(path)


@pytest.mark.parametrize("name", ["toy.parquet", "toy.feather"])
@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            [("a", [1.0, 2]), ("a", [3.0, 4]), ("y", [0, 1])],
            "names of columns of .* must differ, got 'a' more than once",
        ),
        ([("", [1.0, 2]), ("y", [0, 1])], "column 1 of .* must have a name"),
        ([("a", [1.0, 2]), ("y", [[0], [1]])], r"the target of .* must hold classes .* got \[0\] in row 1"),
        ([("a", [1.0, 2]), ("y", pd.to_datetime(["2020", "2021"]))], "the target of .* must hold classes .* in row 1"),
        ([("a", [1.0, 2]), ("y", [b"x", b"\xff"])], r"the target of .* must hold classes .* got b'\\xff' in row 2"),
        ([("a", [1.0, 2]), ("y", [0.0, np.nan])], "the target of .* must not be missing, got .* in row 2"),
        ([("a", [1.0]), ("y", [0])], "must have at least 2 rows and 1 feature, got 1 and 1"),
        ([("a", [1.0, 2]), ("y", [1, 1])], "must hold at least two classes, got only '1'"),
        ([], "must have columns, got none"),
    ],
)
def test_invalid_tables_are_refused(tmp_path, name, columns, sentence):
    import pyarrow as pa
    from pyarrow import feather, parquet

    table = pa.Table.from_arrays([pa.array(values) for _, values in columns], names=[name for name, _ in columns])
    path = tmp_path / name
    parquet.write_table(table, path) if name.endswith("parquet") else feather.write_feather(table, str(path))
    with pytest.raises(ValueError, match=sentence) as caught:
        read_table(path)
    assert name in str(caught.value)
    assert "must be a complete" not in str(caught.value)


def test_classes_as_bytes_are_decoded(tmp_path):
    path = written(pd.DataFrame({"a": [1.0, 2], "y": [b"x", "gr\u00fcn".encode()]}), tmp_path / "toy.parquet")
    assert read_table(path).class_names == ("gr\u00fcn", "x")


def test_feather_version_1_is_refused(tmp_path):
    (tmp_path / "toy.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(
        ValueError, match=r"toy\.feather must have version 2 of the Feather format, got version 1: write it again"
    ):
        read_table(tmp_path / "toy.feather")
