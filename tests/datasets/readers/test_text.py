import gzip

import numpy as np
import pytest

from ilfs.datasets import read_table

NUMBERS = np.array([[1.5, 2.0], [-3.0, np.nan], [0.25, 1e3]])


def written(tmp_path, text, name="toy.csv", encoding="utf-8"):
    path = tmp_path / name
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def read(tmp_path, text, target=None, drop=(), **where):
    return read_table(written(tmp_path, text, **where), target, drop=drop)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", ", ", "   "])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("name", ["toy.csv", "toy.TSV", "toy.txt", "toy.csv.gz"])
def test_delimiter_and_header_are_detected(tmp_path, delimiter, header, name):
    lines = [["a", "b", "kind"]] * header + [["1.5", "2", "red"], ["-3", "NA", "blue"], ["0.25", "1e3", "red"]]
    table = read(tmp_path, "\n".join(delimiter.join(line) for line in lines) + "\n", name=name)
    np.testing.assert_array_equal(table.X, NUMBERS)
    assert table.X.dtype == np.float64
    assert table.feature_names == (("a", "b") if header else None)
    assert table.class_names == ("blue", "red")
    assert table.y.tolist() == [1, 0, 1]
    assert table.name == "toy"


@pytest.mark.parametrize("missing", ["", "NA", "na", "NaN", "nan", "?", "N/A", "null", " "])
def test_missing_values_become_nan(tmp_path, missing):
    table = read(tmp_path, f"a,b,y\n1,{missing},0\n{missing},2,1\n")
    np.testing.assert_array_equal(table.X, [[1, np.nan], [np.nan, 2]])


def test_a_missing_value_in_the_first_row_does_not_make_it_a_header(tmp_path):
    table = read(tmp_path, ",2,red\n1,3,blue\n")
    np.testing.assert_array_equal(table.X, [[np.nan, 2], [1, 3]])


@pytest.mark.parametrize(("text", "target"), [("1,2,a\n3,4,5\n", None), ("a,1,2\n5,3,4\n", 0), ("a,1,2\n5,3,4\n", -3)])
def test_text_classes_do_not_make_the_first_row_a_header(tmp_path, text, target):
    table = read(tmp_path, text, target)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.class_names == ("5", "a")


def test_quoted_names_may_contain_delimiters_quotes_and_line_breaks(tmp_path):
    table = read(tmp_path, '"a, b","say ""c""","d\ne","class"\r\n1,2,3,"x,y"\r\n4,5,6,z\r\n')
    assert table.feature_names == ("a, b", 'say "c"', "d\ne")
    assert table.class_names == ("x,y", "z")


def test_with_semicolons_numbers_may_have_decimal_commas(tmp_path):
    table = read(tmp_path, "1,5;2;red\n-3,25;1.5;blue\n")
    np.testing.assert_array_equal(table.X, [[1.5, 2], [-3.25, 1.5]])


@pytest.mark.parametrize("delimiter", ["\t", "|"])
def test_without_semicolons_a_comma_in_a_number_is_refused(tmp_path, delimiter):
    with pytest.raises(ValueError, match=r"column 'a' of .*toy\.csv must hold numbers, .* got '1,234' in row 1"):
        read(tmp_path, "a;b;kind\n1,234;2;red\n5;2;blue\n".replace(";", delimiter))


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path):
    assert read(tmp_path, "a,b\n1,0\n2,1\n", encoding="utf-8-sig").feature_names == ("a",)


def test_names_of_columns_may_be_numbers_next_to_a_usual_target(tmp_path):
    table = read(tmp_path, "0,1,Class\n0.5,0.6,red\n0.7,0.8,blue\n")
    assert table.feature_names == ("0", "1")


def test_one_row_under_a_header_is_refused_as_one_row(tmp_path):
    with pytest.raises(ValueError, match="must have at least 2 rows and 1 feature, got 1 and 2"):
        read(tmp_path, "a,b,y\n1,2,0\n")


@pytest.mark.parametrize(
    "text",
    [
        ",a,class\n0,1.5,red\n1,2.5,blue\n",  # pandas
        '"","a","class"\n"s1",1.5,"red"\n"s2",2.5,"blue"\n',  # R, write.csv
        '"a" "class"\n"s1" 1.5 "red"\n"s2" 2.5 "blue"\n',  # R, write.table
    ],
)
def test_names_of_rows_are_left_out(tmp_path, text):
    with pytest.warns(UserWarning, match="has no name: it is treated as names of rows, not as a feature"):
        table = read(tmp_path, text)
    np.testing.assert_array_equal(table.X, [[1.5], [2.5]])
    assert table.feature_names == ("a",)
    assert table.class_names == ("blue", "red")


TARGETS = "y2,Label,b\n1,red,3\n2,blue,4\n"


@pytest.mark.parametrize(
    ("target", "classes", "features"),
    [
        (None, ("blue", "red"), ("y2", "b")),
        ("Label", ("blue", "red"), ("y2", "b")),
        (1, ("blue", "red"), ("y2", "b")),
        (-2, ("blue", "red"), ("y2", "b")),
    ],
)
def test_target_by_name_position_or_default(tmp_path, target, classes, features):
    table = read(tmp_path, TARGETS, target)
    assert table.class_names == classes
    assert table.feature_names == features


@pytest.mark.parametrize(
    ("target", "error", "sentence"),
    [
        ("Lable", ValueError, r"target must be a column of .*toy\.csv \(such as Label\), got 'Lable'"),
        (3, ValueError, r"target must be a position from 0 to 2 in .*toy\.csv, got 3"),
        (True, TypeError, "target must be the name of a column, its position or None, got True"),
    ],
)
def test_an_unknown_target_is_refused(tmp_path, target, error, sentence):
    with pytest.raises(error, match=sentence):
        read(tmp_path, TARGETS, target)


def test_two_possible_targets_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"target must say which column of .* holds the classes: 'y' or 'CLASS'"):
        read(tmp_path, "y,a,CLASS\n1,2,3\n4,5,6\n")


BIOLOGY = "sample,diagnosis,TP53,BRCA1,batch\ns1,tumour,1.5,2,b1\ns2,normal,NA,3,b2\ns3,tumour,4,5,b1\n"


@pytest.mark.parametrize("drop", [("sample", "batch"), (0, -1), ("sample", 4, "batch")])
@pytest.mark.parametrize("target", ["diagnosis", 1, -4])
def test_dropped_columns_are_not_features(tmp_path, target, drop):
    table = read(tmp_path, BIOLOGY, target, drop)
    np.testing.assert_array_equal(table.X, [[1.5, 2], [np.nan, 3], [4, 5]])
    assert table.feature_names == ("TP53", "BRCA1")
    assert table.class_names == ("normal", "tumour")


def test_the_default_target_is_the_last_column_not_dropped(tmp_path):
    text = "a,b,grade,site\n1,2,low,x\n3,4,high,y\n"
    for drop in ("site", 3, ["site"]):
        table = read(tmp_path, text, drop=drop)
        assert table.feature_names == ("a", "b")
        assert table.class_names == ("high", "low")


def test_columns_are_dropped_by_position_without_a_header(tmp_path):
    table = read(tmp_path, "s1,red,1,2\ns2,blue,3,4\n", 1, 0)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.feature_names is None
    assert table.class_names == ("blue", "red")
    table = read(tmp_path, "1,2,a,x\n3,4,5,7\n", drop=-1)  # text in a dropped column does not make the row a header
    assert table.class_names == ("5", "a")


@pytest.mark.parametrize(
    ("target", "drop", "error", "sentence"),
    [
        ("diagnosis", "smaple", ValueError, r"drop must be a column of .*toy\.csv \(such as sample\), got 'smaple'"),
        ("diagnosis", 5, ValueError, r"drop must be a position from 0 to 4 in .*toy\.csv, got 5"),
        ("diagnosis", [None], TypeError, "drop must be the name of a column or its position, got None"),
        ("diagnosis", True, TypeError, "drop must be the name of a column or its position, got True"),
        ("batch", "batch", ValueError, r"target and drop must be different columns of .*, got 'batch' for both"),
        (-1, "batch", ValueError, r"target and drop must be different columns of .*, got -1 for both"),
        (None, range(5), ValueError, r"drop must leave at least one column of .*toy\.csv, got all 5"),
        (None, range(4), ValueError, r"must have at least 2 rows and 1 feature, got \d and 0"),
    ],
)
def test_invalid_columns_to_drop_are_refused(tmp_path, target, drop, error, sentence):
    with pytest.raises(error, match=sentence):
        read(tmp_path, BIOLOGY, target, drop)


def test_text_in_a_feature_is_refused_with_advice(tmp_path):
    with pytest.raises(ValueError, match="column 'sample' of ") as caught:
        read(tmp_path, BIOLOGY)
    assert str(caught.value).endswith(
        "got 's1' in row 1; if it is the class: target='sample'; if it identifies the rows: drop='sample' "
        f"(in a command or a suite: '{tmp_path}/toy.csv?drop=sample')"
    )
    with pytest.raises(ValueError, match=r"column 1 of .*: target=0; .*: drop=0 .*toy\.csv\?drop=0'"):
        read(tmp_path, "s1,1,red\ns2,2,blue\n")


def test_measurements_as_the_target_are_refused_with_advice(tmp_path):
    with pytest.raises(
        ValueError,
        match=r"got 0.7 in row 2: choose the column that holds the classes, and make sure that rows are samples",
    ):
        read(tmp_path, "gene,s1,s2\nTP53,0.5,2\nBRCA1,0.25,0.7\n", drop="gene")


def test_a_position_that_is_another_columns_name_is_refused(tmp_path):
    text = "id,0,1,y\n7,1,2,0\n8,3,4,1\n"
    with pytest.raises(ValueError, match=r"one is called '1' and another has this position \('0'\), got 1"):
        read(tmp_path, text, drop=1)
    assert read(tmp_path, text, drop="1").feature_names == ("id", "0")
    assert read(tmp_path, "0,1,y\n1,2,0\n3,4,1\n", drop=1).feature_names == ("0",)


@pytest.mark.parametrize(
    ("labels", "names", "codes"),
    [
        (["10", "9", "10"], ("9", "10"), [1, 0, 1]),
        (["1.0", "2.0", "1"], ("1", "2"), [0, 1, 0]),
        (["-1", "+1", "-1"], ("-1", "1"), [0, 1, 0]),
        (["True", "False", "True"], ("False", "True"), [1, 0, 1]),
        (["b", "7", "a"], ("7", "a", "b"), [2, 0, 1]),
        (["01", "1", "x"], ("01", "1", "x"), [0, 1, 2]),
    ],
)
def test_classes_may_be_integers_booleans_or_text(tmp_path, labels, names, codes):
    table = read(tmp_path, "a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    assert table.class_names == names
    assert table.y.tolist() == codes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b,y\n1,2,0\n3,four,1\n", "column 'b' of .* must hold numbers, .*got 'four' in row 2"),
        ("id,b,y\ns1,2,0\ns2,4,1\n", "column 'id' of .* must hold numbers, .*got 's1' in row 1"),
        ("y,b\n1,2\n0,x\n", "column 'b' of .* got 'x' in row 2"),
        ("1,2,a\n3,1_000,b\n", "column 2 of .* got '1_000' in row 2"),
        ("a,a,y\n1,2,0\n3,4,1\n", "names of columns of .* must differ, got 'a' more than once"),
        ("a,,y\n1,2,0\n3,4,1\n", "column 2 of .* must have a name"),
        ("a,b,y\n1,2,0\n3,4\n", "row 2 of .* must have 3 values, got 2"),
        ("mean of a,mean of b,y\n1,2,0\n3,4\n", "row 2 of .* must have 3 values, got 2"),  # more blanks than commas
        ("a,b,y\n1,2,0\n3,4,1,5\n", "row 2 of .* must have 3 values, got 4"),
        ("a,b,y\n1,inf,0\n3,4,1\n", "column 'b' of .* must be finite, got inf in row 1"),
        ("1,2,0\n3,-Infinity,1\n", "column 2 of .* must be finite, got -inf in row 2"),
        ("a,b,y\n1,2,0\n3,4,0\n", "must hold at least two classes, got only '0'"),
        ("a,b,y\n1,2,0\n3,4,\n", "the target of .* must not be missing, got .* in row 2"),
        ("a,b,y\n1,2,0.5\n3,4,1\n", "must hold classes .*, got 0.5 in row 1"),
        ("a,b,y\n", "must have rows below its header, got none"),
        ("\n\n", "must have at least two columns"),
        ("a\n1\n2\n", "must have at least two columns"),
        ("", "is empty"),
    ],
)
def test_invalid_files_are_refused(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=rf"toy\.csv.*|{sentence}") as caught:
        read(tmp_path, text)
    caught.match(sentence)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "toy.csv").write_bytes(b"a,b\n\xff\xfe,1\n")
    with pytest.raises(ValueError, match=r"toy\.csv must be text in UTF-8"):
        read_table(tmp_path / "toy.csv")


@pytest.mark.parametrize("kept", [5, -10])
def test_a_damaged_gzip_file_is_refused(tmp_path, kept):
    path = written(tmp_path, "a,b,y\n" + "1,2,0\n3,4,1\n" * 99, name="toy.csv.gz")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"toy\.csv\.gz must be a complete gzip file"):
        read_table(path)


def test_a_wide_table_agrees_with_numpy(tmp_path):
    X = np.random.default_rng(0).normal(size=(6, 3000))
    text = "\n".join(",".join(map(repr, row.tolist())) + f",{i % 2}" for i, row in enumerate(X))
    table = read(tmp_path, text)
    np.testing.assert_array_equal(table.X, np.loadtxt(tmp_path / "toy.csv", delimiter=",")[:, :-1])
    np.testing.assert_array_equal(table.X, X)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
def test_a_row_longer_than_the_limit_of_the_csv_module_is_read(tmp_path, delimiter):
    rows = [["0.123456789012345"] * 12_000 + [kind] for kind in "abab"]
    table = read(tmp_path, "\n".join(map(delimiter.join, rows)))
    assert table.n_features == 12_000
    assert table.class_names == ("a", "b")


def test_more_rows_than_one_block_are_read(tmp_path):
    X = np.arange(2 * 2500.0).reshape(-1, 2)
    table = read(tmp_path, "\n".join(f"{a},{b},{i % 2}" for i, (a, b) in enumerate(X.tolist())))
    np.testing.assert_array_equal(table.X, X)
