"""GCT and RES with their class files; the small files follow the Broad Institute's description of the formats."""

import gzip

import numpy as np
import pytest

from ilfs.datasets import read_table

GCT = "#1.2\n2\t3\nNAME\tDescription\tA\tB\tC\nAFFX-BioB\tcontrol\t-342\t1.5\t\nX95735_at\tZyxin\t100\t200\t300\n"
RES = (
    "Description\tAccession\tA\t\tB\t\tC\t\n"
    "\tfirst\t\tsecond\t\tthird\t\n"
    "2\n"
    "control\tAFFX-BioB\t-342\tA\t1.5\tP\tNA\tA\n"
    "Zyxin\tX95735_at\t100\tP\t200\tM\t300\tP\n"
)
CLS = "3 2 1\n# ALL AML\n0 1 0\n"
FILES = {".gct": GCT, ".res": RES}
both = pytest.mark.parametrize("ending", FILES)


def written(folder, ending, text=None, classes=CLS):
    path = folder / f"t{ending}"
    path.write_text(FILES[ending] if text is None else text)
    (folder / "t.cls").write_text(classes)
    return path


@both
def test_genes_become_columns(tmp_path, ending):
    table = read_table(written(tmp_path, ending))
    np.testing.assert_array_equal(table.X, [[-342, 100], [1.5, 200], [np.nan, 300]])
    assert (table.class_names, table.y.tolist()) == (("ALL", "AML"), [0, 1, 0])
    assert table.feature_names == ("AFFX-BioB", "X95735_at")
    assert read_table(tmp_path / f"t{ending}", drop="AFFX-BioB").X.tolist() == [[100], [200], [300]]


def test_the_table_may_be_gzipped_and_classes_may_be_names(tmp_path):
    written(tmp_path, ".gct", classes="3 2 1\n#ALL AML\nAML AML ALL\n")
    (tmp_path / "t.gct.gz").write_bytes(gzip.compress(GCT.encode()))
    assert read_table(tmp_path / "t.gct.gz").y.tolist() == [1, 1, 0]


def test_repeated_genes_are_numbered(tmp_path):
    table = read_table(written(tmp_path, ".gct", GCT.replace("X95735_at", "AFFX-BioB")))
    assert table.feature_names == ("AFFX-BioB", "AFFX-BioB.2")


@pytest.mark.parametrize(
    ("ending", "text", "sentence"),
    [
        (".gct", GCT.replace("#1.2", "#1.3"), "must begin with the line #1.2"),
        (".gct", GCT.replace("2\t3", "2"), "line 2 of .* must be the numbers of genes and samples, got '2'"),
        (".gct", GCT.replace("2\t3", "3\t3"), "must have 3 genes, as it declares, and at least one, got 2"),
        (
            ".gct",
            GCT.replace("2\t3", "1\t3"),
            "must have 1 genes of 3 samples, as it declares, got 5 columns in gene 2",
        ),
        (".gct", GCT.replace("2\t3", "2\t4"), "must name 4 samples, got 3"),
        (".gct", GCT.replace("\t300", ""), "must have 2 genes of 3 samples, as it declares, got 4 columns in gene 2"),
        (".gct", GCT.replace("300", "high"), "must hold numbers, .*, got 'high' in row 2"),
        (
            ".gct",
            GCT.replace("2\t3", "9999999999\t3"),
            "must take at most 268,435,456 bytes in memory, got 239,999,999",
        ),
        (".gct", "#1.2\n", "line 2 of .* must be the numbers of genes and samples, got ''"),
        (".res", RES.replace("\n2\n", "\nmany\n"), "line 3 of .* must be the number of genes, got 'many'"),
        (".res", RES.replace("\n2\n", "\n5\n"), "must have 5 genes, as it declares, and at least one, got 2"),
        (".res", "Description\n", "line 3 of .* must be the number of genes, got ''"),
    ],
)
def test_a_wrong_table_is_refused_in_one_sentence(tmp_path, ending, text, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        read_table(written(tmp_path, ending, text))
    assert f"t{ending}" in str(caught.value)


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ("3 2 1\n", "must have three lines"),
        ("3 2 1\nALL AML\n0 1 0\n", "must have three lines"),
        (
            "4 2 1\n# ALL AML\n0 1 0 1\n",
            "must declare and have 3 samples, .*, got '4 and 2' with 2 names and 4 classes",
        ),
        ("3 3 1\n# ALL AML\n0 1 0\n", "must declare and have 3 samples, .*, got '3 and 3' with 2 names"),
        ("3 2 1\n# ALL AML\n0 1 2\n", r"class of sample 3 of .*t\.cls must be one of ALL, AML, got '2'"),
        ("3 2 1\n# ALL AML\n0 0 0\n", "must hold at least two classes"),
    ],
)
def test_a_wrong_class_file_is_refused(tmp_path, classes, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_table(written(tmp_path, ".gct", classes=classes))


@both
def test_the_class_file_must_be_there_and_is_the_target(tmp_path, ending):
    path = written(tmp_path, ending)
    with pytest.raises(ValueError, match=r"target must be None for .*, as its classes are in a \.cls file, got 'x'"):
        read_table(path, target="x")
    (tmp_path / "t.cls").unlink()
    with pytest.raises(FileNotFoundError, match=r"must have t\.cls beside it"):
        read_table(path)
