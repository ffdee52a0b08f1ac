import numpy as np
import pytest

from ilfs.datasets import ReadLimits, read_table

NAMES = """| genes of the Kent Ridge repository
germinal, activated.       | the classes
GENE1X: continuous.
GENE\\:2X: continuous
GENE3X: 0, 1.
sample: ignore.
"""
DATA = "-0.31,?,1,s1,germinal\n0.5,2e3,0,s2,activated.\n\n1,2,1,s3,germinal\n"


@pytest.fixture
def pair(tmp_path):
    def write(names=NAMES, data=DATA):
        (tmp_path / "t.names").write_text(names)
        (tmp_path / "t.data").write_text(data)
        return tmp_path / "t.names"

    return write


@pytest.mark.parametrize("ending", [".names", ".data"])
def test_either_file_of_the_pair_can_be_named(pair, ending):
    table = read_table(pair().with_suffix(ending))
    np.testing.assert_array_equal(table.X, [[-0.31, np.nan, 1], [0.5, 2000, 0], [1, 2, 1]])
    np.testing.assert_array_equal(table.y, [0, 1, 0])
    assert table.class_names == ("germinal", "activated")  # in the order of the file
    assert table.feature_names == ("GENE1X", "GENE:2X", "GENE3X")
    assert table.name == "t"


def test_columns_can_be_dropped_and_be_the_target(pair):
    table = read_table(pair(), target="GENE3X", drop=["GENE:2X", "class"])
    assert (table.feature_names, table.class_names, table.y.tolist()) == (("GENE1X",), ("0", "1"), [1, 0, 1])


def test_the_first_entry_may_name_the_attribute_of_the_classes(pair):
    names = "tissue.\na: continuous.\ntissue: tumour, normal.\n"
    table = read_table(pair(names, "1,tumour\n2,normal\n3,tumour\n"))
    assert (table.class_names, table.feature_names, table.y.tolist()) == (("tumour", "normal"), ("a",), [0, 1, 0])


@pytest.mark.parametrize(
    ("names", "data", "sentence"),
    [
        ("", DATA, r"t\.names must begin with its classes, got no entry"),
        ("a: continuous.\n", DATA, r"t\.names must begin with its classes, got 'a: continuous'"),
        ("one.\na: continuous.\n", DATA, r"t\.names must declare at least two classes, got 'one'"),
        ("p, q.\nnothing.\n", DATA, r"an attribute of .*t\.names must be 'name: type', got 'nothing'"),
        ("p, q.\na: continuous.\na: continuous.\n", DATA, r"names of columns of .*t\.names must differ, got 'a' more"),
        ("p, q.\na: red, green.\n", DATA, r"column 'a' of .*t\.names must hold numbers, got 'red, green'; if it is"),
        (NAMES, "", r"t\.data must have rows, got none"),
        (NAMES, "1,2,3\n", r"row 1 of .*t\.data must have 5 values, got 3"),
        (NAMES, DATA.replace("-0.31", "x"), r"column 'GENE1X' of .*t\.data must hold numbers, .*, got 'x' in row 1"),
        (
            NAMES,
            DATA.replace("activated.", "other"),
            r"class of .*t\.data must be declared \(germinal, .*\), got 'other'",
        ),
        (NAMES, DATA.replace("activated.", "?"), r"the target of .*t\.data must not be missing, got '\?' in row 2"),
        (NAMES, DATA.replace("activated.", "germinal"), r"target of .*t\.data must hold at least two classes"),
    ],
)
def test_a_wrong_pair_is_refused_in_one_sentence(pair, names, data, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_table(pair(names or "\n", data or "\n"))


def test_the_other_file_must_be_there(pair):
    path = pair()
    path.with_suffix(".data").unlink()
    with pytest.raises(FileNotFoundError, match=r"t\.names must have t\.data beside it"):
        read_table(path)


def test_the_limits_apply(pair):
    with pytest.raises(ValueError, match="must take at most 64 bytes in memory"):
        read_table(pair(), limits=ReadLimits(max_bytes=64, max_expansion=0.1))
