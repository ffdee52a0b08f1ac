import io

import numpy as np
import pytest
from scipy import sparse
from scipy.io.arff import loadarff

from ilfs.datasets import read_table

DENSE = """% a comment
@RELATION 'some cells'

@ATTRIBUTE size REAL
@attribute 'a, b' integer
@Attribute binary {0, 1}
@ATTRIBUTE Class {red,'dark blue',green}
@DATA
% another
1.5, 2, 1, red
?,3,0,'dark blue'

-1e3, 4, ?, red
"""

SPARSE = """@relation words
@attribute one numeric
@attribute kind {ham,spam}
@attribute two numeric
@attribute three numeric
@data
{0 1.5, 3 2}
{1 spam, 3 1, 2 7}
{}
{2 ?, 1 ham}
"""


def read(tmp_path, text, target=None, name="toy.arff", **options):
    (tmp_path / name).write_text(text)
    return read_table(tmp_path / name, target, **options)


def test_a_dense_file_is_read_with_missing_values(tmp_path):
    table = read(tmp_path, DENSE)
    np.testing.assert_array_equal(table.X, [[1.5, 2, 1], [np.nan, 3, 0], [-1000, 4, np.nan]])
    assert table.feature_names == ("size", "a, b", "binary")
    assert table.class_names == ("red", "dark blue")  # in declared order, without the unused one
    assert table.y.tolist() == [0, 1, 0]


def test_dense_agrees_with_scipy(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{a!r},{b!r},{'xy'[i % 2]}\n" for i, (a, b) in enumerate(rng.normal(size=(30, 2)).tolist()))
    text = f"@relation r\n@attribute a real\n@attribute b numeric\n@attribute class {{x,y}}\n@data\n{rows}"
    theirs, _ = loadarff(io.StringIO(text))
    ours = read(tmp_path, text)
    np.testing.assert_array_equal(ours.X, np.column_stack([theirs["a"], theirs["b"]]))
    assert [ours.class_names[code] for code in ours.y] == [label.decode() for label in theirs["class"]]


def test_sparse_stays_sparse_and_leaves_out_the_first_value(tmp_path):
    table = read(tmp_path, SPARSE, target="kind")
    assert isinstance(table.X, sparse.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), [[1.5, 0, 2], [0, 7, 1], [0, 0, 0], [0, np.nan, 0]])
    assert table.X.has_sorted_indices
    assert table.feature_names == ("one", "two", "three")
    assert table.class_names == ("ham", "spam")
    assert table.y.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("rows", ["s1,1,x,2\ns2,3,y,4\n", "{1 1, 3 2}\n{0 s2, 1 3, 2 y, 3 4}\n"])
def test_dropped_columns_are_not_features(tmp_path, rows):
    text = (
        f"@relation r\n@attribute id string\n@attribute a real\n@attribute k {{x,y}}\n@attribute b real\n@data\n{rows}"
    )
    table = read(tmp_path, text, "k", drop="id")
    np.testing.assert_array_equal(table.X.toarray() if sparse.issparse(table.X) else table.X, [[1, 2], [3, 4]])
    assert table.feature_names == ("a", "b")
    assert read(tmp_path, text, "k", drop=(0, "a")).feature_names == ("b",)
    with pytest.raises(ValueError, match=r"column 'id' .* got string; if it is the class: target='id'; .*: drop='id' "):
        read(tmp_path, text, "k")


def test_sparse_agrees_with_scikit_learns_reader(tmp_path):
    arff = pytest.importorskip("sklearn.externals._arff")
    X = sparse.random_array((25, 40), density=0.1, random_state=np.random.default_rng(0)).toarray()
    lines = [
        "{" + ", ".join(f"{j} {row[j]!r}" for j in np.flatnonzero(row)) + f", 40 {'ab'[i % 2]}}}"
        for i, row in enumerate(X.tolist())
    ]
    lines = [line.replace("{, ", "{") for line in lines]
    header = (
        "@relation r\n" + "".join(f"@attribute f{j} numeric\n" for j in range(40)) + "@attribute class {b,a}\n@data\n"
    )
    text = header + "\n".join(lines)
    theirs = arff.loads(text, return_type=arff.LOD)["data"]
    table = read(tmp_path, text)
    expected = np.zeros_like(X)
    for i, row in enumerate(theirs):
        for j, value in row.items():
            if j < 40:
                expected[i, j] = value
    np.testing.assert_array_equal(table.X.toarray(), expected)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.class_names == ("b", "a")


def test_quotes_and_escapes_are_removed(tmp_path):
    text = r"""@relation r
@attribute 'it\'s' real
@attribute "class" {'a,b', "c \" d", O'Brien}
@data
1,'a,b'
2,"c \" d"
3,O'Brien
"""
    table = read(tmp_path, text)
    assert table.feature_names == ("it's",)
    assert table.class_names == ("a,b", 'c " d', "O'Brien")


def test_quoted_classes_in_sparse_rows_are_read(tmp_path):
    text = "@relation r\n@attribute a real\n@attribute class {x, 'y, z'}\n@data\n{0 1}\n{0 2, 1 'y, z'}\n"
    assert read(tmp_path, text).y.tolist() == [0, 1]


def test_declared_classes_may_look_like_missing_values(tmp_path):
    text = "@relation r\n@attribute a real\n@attribute class {NA, null}\n@data\n1,NA\n2,null\n"
    assert read(tmp_path, text).class_names == ("NA", "null")


def test_a_target_may_hold_numbers_or_text(tmp_path):
    text = "@relation r\n@attribute a real\n@attribute {} {}\n@data\n1,{}\n2,{}\n"
    assert read(tmp_path, text.format("class", "numeric", "2", "10")).class_names == ("2", "10")
    assert read(tmp_path, text.format("class", "string", "'x y'", "z")).class_names == ("x y", "z")


HEAD = "@relation r\n@attribute a real\n@attribute class {x,y}\n@data\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "@relation r\n@attribute c {red,green}\n@attribute class {x,y}\n@data\nred,x\n",
            "column 'c' .* got one of red, green",
        ),
        (
            "@relation r\n@attribute c string\n@attribute class {x,y}\n@data\nred,x\n",
            "column 'c' .* must hold numbers, got string",
        ),
        ("@relation r\n@attribute c date 'yy'\n@attribute class {x,y}\n@data\n1,x\n", "column 'c' .* got date"),
        (
            "@relation r\n@attribute a real\n@attribute a real\n@attribute y {x,y}\n@data\n1,2,x\n",
            "must differ, got 'a'",
        ),
        ("@relation r\n@attribute a\n@data\n1\n", "an attribute of .* must have a name and a type, got '@attribute a'"),
        ("@relation r\n@attribute a real\n", "must have lines @attribute and then @data"),
        ("a,b\n1,2\n", "must begin with @relation, @attribute and @data, got 'a,b'"),
        (HEAD, "must have rows below its header, got none"),
        (HEAD + "1,x\nb,y\n", "column 'a' of .* must hold numbers, .* got 'b' in row 2"),
        (HEAD + "1,x\n2\n", "row 2 of .* must have 2 values, got 1"),
        (HEAD + "1,x\n2,z\n", "'class' of .* must be a value that it declares, got 'z' in row 2"),
        (HEAD + "1,x\n2,?\n", "must not be missing, got .* in row 2"),
        (HEAD + "1,x\n2,'y\n", 'must close its quotes, got "\'y"'),
        (HEAD + "1,x\ninf,y\n", "column 'a' of .* must be finite, got inf in row 2"),
        (
            HEAD + "{0 1}\n{2 5}\n",
            "row 2 of .* must have pairs 'column value' of different columns from 0 to 1, got '{2 5}'",
        ),
        (HEAD + "{0 1}\n{0 5, 0 6}\n", "row 2 of .* of different columns"),
        (HEAD + "{0 1}\n{0}\n", "row 2 of .* must have pairs 'column value'"),
        (HEAD + "{0 1}\n1,x\n", "row 2 of .* must be in braces, as the first row is, got '1,x'"),
        (HEAD + "{0 1}\n{0 b, 1 y}\n", "column 'a' of .* must hold numbers, .* got 'b' in row 2"),
        (HEAD.replace("real", "{1,0}") + "{0 1}\n{}\n", "the first value of 'a' of .* must be 0, .* got 1"),
        (HEAD + "{0 1, 1 y}\n{0 2, 1", "row 2 of .* must be in braces"),
    ],
)
def test_invalid_files_are_refused(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(tmp_path, text)


MANY = 400_000


@pytest.mark.parametrize(
    "value",
    [
        "a" + " " * MANY + "b",
        "'a'" + " " * MANY + "b",
        "'" + "a" * MANY,
        "'" + "\\" * MANY,
        "1" * MANY + " b",
        "7" + " " * MANY + "b",
        "a" + "'" * MANY,
    ],
)
@pytest.mark.parametrize("row", ["{},'x'\n", "'x',{}\n", "{{0 {}, 1 'x'}}\n"])
def test_long_values_take_linear_time(tmp_path, value, row):
    """A pattern that tries every end of a value would take hours."""
    with pytest.raises(ValueError, match=r"toy\.arff") as caught:
        read(tmp_path, HEAD + row.format(value))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "line", ["@attribute " + "a" * MANY, "@attribute a" + " " * MANY, "@attribute '" + "\\a" * MANY]
)
def test_long_attributes_take_linear_time(tmp_path, line):
    with pytest.raises(ValueError, match=r"an attribute of .*toy\.arff must have a name and a type"):
        read(tmp_path, f"@relation r\n{line}\n@data\n1\n")


def test_an_attribute_needs_a_type(tmp_path):
    with pytest.raises(ValueError, match=r"must have a name and a type, got '@attribute abc'"):
        read(tmp_path, "@relation r\n@attribute abc\n@attribute class {x,y}\n@data\n1,x\n2,y\n")


def test_reading_many_classes_takes_linear_time(tmp_path):
    n = 60_000
    names = [f"c{i}" for i in range(n)]
    header = f"@relation r\n@attribute a real\n@attribute class {{{','.join(names)}}}\n@data\n"
    table = read(tmp_path, header + "".join(f"1,{name}\n" for name in reversed(names)))
    assert table.y[:2].tolist() == [n - 1, n - 2]


def test_a_class_declared_twice_counts_once(tmp_path):
    text = "@relation r\n@attribute a real\n@attribute class {x,y,x}\n@data\n1,x\n2,y\n"
    table = read(tmp_path, text)
    assert table.class_names == ("x", "y")
    assert table.y.tolist() == [0, 1]


def test_a_column_number_of_many_digits_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"row 1 of .* must have pairs 'column value'"):
        read(tmp_path, HEAD + "{" + "9" * 5000 + " 1}\n")


LONG = "n" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        f"@relation r\n@attribute {LONG} string\n@attribute class {{x,y}}\n@data\na,x\n",
        f"@relation r\n@attribute a {LONG}\n@attribute class {{x,y}}\n@data\na,x\n",
        f"@relation r\n@attribute a {{{LONG},{LONG}}}\n@attribute class {{x,y}}\n@data\na,x\n",
        f"@relation r\n@attribute {LONG} real\n@attribute {LONG} real\n@attribute class {{x,y}}\n@data\n1,1,x\n",
        f"@relation r\n@attribute {LONG} real\n@attribute class {{x,y}}\n@data\ninf,x\n1,y\n",
        f"@relation r\n@attribute a real\n@attribute {LONG} {{x,y}}\n@data\n1,{LONG}\n",
        f"@relation r\n@attribute a real\n@attribute class string\n@data\n1,{LONG}\n2,{LONG}\n",
    ],
)
def test_error_messages_stay_short(tmp_path, text):
    with pytest.raises(ValueError, match=r"toy\.arff") as caught:
        read(tmp_path, text)
    assert len(str(caught.value)) < 1500
