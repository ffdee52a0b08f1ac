"""Integers that float64 would merge: classes keep all their digits, features are refused."""

import numpy as np
import pandas as pd
import pytest

from ilfs.datasets import read_table
from ilfs.datasets.readers.assemble import encode

BIG = 2**53
LABELS = [BIG, BIG + 1, BIG + 2, BIG + 1]
FRAME = pd.DataFrame({"a": [1.0, 2, 3, 4], "y": LABELS})
ARFF = "@relation r\n@attribute a real\n@attribute y {}\n@data\n"

WRITERS = {
    "t.csv": lambda path, frame: frame.to_csv(path, index=False),
    "t.tsv": lambda path, frame: frame.to_csv(path, index=False, sep="\t"),
    "t.parquet": lambda path, frame: frame.to_parquet(path),
    "t.feather": lambda path, frame: frame.to_feather(path),
    "t.npz": lambda path, frame: np.savez(path, X=frame[["a"]].to_numpy(), y=frame["y"].to_numpy()),
    "t.svm": lambda path, frame: path.write_text("".join(f"{y} 1:{a}\n" for a, y in frame.itertuples(index=False))),
    "t.arff": lambda path, frame: path.write_text(
        ARFF.format("numeric") + "".join(f"{a},{y}\n" for a, y in frame.itertuples(index=False))
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_classes_are_not_merged(tmp_path, name):
    WRITERS[name](tmp_path / name, FRAME)
    table = read_table(tmp_path / name)
    assert table.class_names == ("9007199254740992", "9007199254740993", "9007199254740994")
    assert table.y.tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("value", [BIG + 1, -BIG - 1])
@pytest.mark.parametrize("name", WRITERS)
def test_too_large_features_are_refused_with_column_and_row(tmp_path, name, value):
    WRITERS[name](tmp_path / name, pd.DataFrame({"a": [1, 2, value, 4], "y": [0, 1, 0, 1]}))
    column = "1" if name.endswith(("npz", "svm")) else "'a'"
    sentence = rf"integers in column {column} of .*{name} must be within \+-2\*\*53, .* got -?9007199254740993 in row 3"
    with pytest.raises(ValueError, match=sentence):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("values", [[BIG, -BIG, 0, 1], [1e20, -1e300, 0.0, 1.0]])
def test_exact_integers_and_large_floats_are_features(tmp_path, name, values):
    WRITERS[name](tmp_path / name, pd.DataFrame({"a": values, "y": [0, 1, 0, 1]}))
    X = read_table(tmp_path / name).X
    np.testing.assert_array_equal((X.toarray() if name == "t.svm" else X).ravel(), values)


def test_too_large_decimals_and_unsigned_integers_of_parquet_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for value, kind in ((BIG + 1, pa.decimal128(20, 0)), (2**64 - 1, pa.uint64())):
        table = pa.table({"a": pa.array([None, value], kind), "y": [0, 1]})
        parquet.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=rf"column 'a' of .* got {value} in row 2"):
            read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["1e22", "10000000000000000000000", "7"], ("7", "1" + "0" * 22)),
        (["-0", "0", "0.0", "1"], ("0", "1")),
        (["1" * 400, "2", "1" * 400], ("2", "1" * 400)),
        (["0e99999999999999999999", "1"], ("1", "0e99999999999999999999")),
        ([1e22, 5.0], ("5", "1" + "0" * 22)),
        ([10, 9], ("9", "10")),
    ],
)
def test_equal_numbers_in_different_notations_are_one_class(tmp_path, labels, names):
    assert encode(labels, tmp_path)[1] == names


def test_a_tiny_class_number_is_not_zero(tmp_path):
    with pytest.raises(ValueError, match=r"must hold classes .* got 1e-400 in row 2"):
        encode(["0", "1e-400"], tmp_path)
