import bz2
import gzip
import lzma
import struct

import numpy as np
import pytest
from r_files import INT, NIL, R, encoded, factor, frame, integers, matrix, named_list, rda, rds, reals, texts

from ilfs.datasets import ReadLimits, read_table

pytest.importorskip("rdata", reason="the package rdata is not installed")

X = np.round(np.random.default_rng(0).normal(size=(6, 3)), 3)
KINDS = ["t", "n", "t", "t", "n", "n"]
ALON = {"x": matrix(X, ["X1", "X2", "X3"]), "y": factor(KINDS)}


def written(path, content):
    path.write_bytes(content)
    return path


def check(table):
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, [1, 0, 1, 1, 0, 0])
    assert table.class_names == ("n", "t")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("ending", [".RData", ".rda"])
def test_a_list_with_a_matrix_and_a_factor(tmp_path, compress, ending):
    table = read_table(written(tmp_path / f"alon{ending}", rda(compress, alon=named_list(**ALON))))
    check(table)
    assert (table.name, table.feature_names) == ("alon", ("X1", "X2", "X3"))


def test_separate_objects_and_texts_as_classes(tmp_path):
    check(read_table(written(tmp_path / "t.rda", rda(X=matrix(X), Y=texts(KINDS), when=reals([1999])))))


def test_a_single_object(tmp_path):
    check(read_table(written(tmp_path / "t.rds", rds(named_list(**ALON)))))


def test_a_data_frame_with_the_name_of_its_target(tmp_path):
    columns = {"id": texts("abcdef"), **{f"g{j}": reals(X[:, j]) for j in range(3)}, "tissue": factor(KINDS)}
    path = written(tmp_path / "t.rda", rda(frame=frame(**columns)))
    check(read_table(path, target="tissue", drop="id"))
    with pytest.raises(ValueError, match=r"column 'id' of .*t\.rda must hold numbers, got text; if it is the class"):
        read_table(path, target="tissue")
    with pytest.raises(ValueError, match=r"column 'tissue' of .*t\.rda must hold numbers, got a factor; "):
        read_table(path, target="g0", drop="id")


def test_names_of_genes_in_a_list_beside_the_matrix(tmp_path):
    colon = named_list(X=matrix(X), Y=reals([2, 1, 2, 2, 1, 1]), gene__names=texts(["a", "b", "a"]))
    table = read_table(written(tmp_path / "Colon.rda", rda(Colon=colon)))
    assert table.feature_names == ("a", "b", "a.2")
    assert table.class_names == ("1", "2")


def test_missing_values(tmp_path):
    whole = matrix([[1, 2], [3, 0], [5, 6]], make=integers)
    whole.content[1] = -(2**31)  # NA in the first column
    table = read_table(written(tmp_path / "t.rda", rda(x=whole, y=texts("aba"))))
    np.testing.assert_array_equal(table.X, [[1, 2], [np.nan, 0], [5, 6]])
    with pytest.raises(ValueError, match=r"the target of .*t\.rda must not be missing, got 'NA' in row 2"):
        read_table(written(tmp_path / "t.rda", rda(x=matrix(X[:3]), y=texts(["a", None, "b"]))))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (rda(a=reals([1])), "must hold a list with a matrix X or x and a vector y or Y, or a data frame, got neither"),
        (rda(a=named_list(**ALON), b=named_list(**ALON)), "must hold one table, got a, b"),
        (rda(x=matrix(X), y=texts(KINDS[:5])), "must have one label per row, got 6 rows and 5 labels"),
        (rda(x=reals(X[:, 0]), y=texts(KINDS)), "must be a complete R data file: "),
        (rda(x=texts(KINDS), y=texts(KINDS)), "must be a complete R data file: "),
        (rda(x=R(INT, [1, 2, 3], {"dim": integers([2, 2])}), y=texts("ab")), "must be a complete R data file: "),
        (rda(alon=named_list(**ALON))[:-20], "must be a complete R data file: the compressed data end too early"),
        (rda(bytes, alon=named_list(**ALON))[:-20], "must be a complete R data file: "),
        (b"not R at all", "must be a complete R data file: "),
        (rda(x=R(NIL, None), y=R(NIL, None)), "must be a complete R data file: "),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_table_is_refused_in_one_sentence(tmp_path, content, sentence):
    path = written(tmp_path / "t.rda", content)
    with pytest.raises(ValueError, match=sentence) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_vector_that_claims_to_be_huge_takes_no_memory(tmp_path):
    huge = rda(bytes, x=matrix(X), y=texts(KINDS)).replace(struct.pack(">ii", 13, 2), struct.pack(">ii", 13, 2**31 - 1))
    with pytest.raises(ValueError, match=r"t\.rda must be a complete R data file"):
        read_table(written(tmp_path / "t.rda", huge))


def compact(n):
    """Bytes of 1:n as R since 3.5 stores it: an ALTREP of class compact_intseq."""
    info = pairlist_of(b"compact_intseq", b"base")
    return struct.pack(">i", 238) + info + encoded(reals([n, 1, 1])) + struct.pack(">i", NIL)


def pairlist_of(*names):
    nodes = [struct.pack(">i", 2) + struct.pack(">iii", 1, 9 | 1 << 18, len(name)) + name for name in names]
    return b"".join(nodes) + struct.pack(">i", 2) + encoded(integers([13])) + struct.pack(">i", NIL)


def test_a_compact_sequence_is_expanded_if_it_is_short(tmp_path):
    def file_with(n):
        node = struct.pack(">iii", 2 | 1 << 10, 1, 9 | 1 << 18) + struct.pack(">i", 3) + b"seq"
        objects = rda(bytes, x=matrix(X), y=texts(KINDS))
        return objects[:-4] + node + compact(n) + struct.pack(">i", NIL)

    check(read_table(written(tmp_path / "t.rda", file_with(10))))
    with pytest.raises(ValueError, match=r"the table in .*t\.rda .* must take at most 268,435,456 bytes in memory"):
        read_table(written(tmp_path / "t.rda", file_with(10**12)))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_file_that_expands_beyond_the_limit_is_refused(tmp_path, compress):
    zeros = rda(compress, x=matrix(np.zeros((1000, 50))), y=texts("ab" * 500))
    path = written(tmp_path / "t.rda", zeros)
    with pytest.raises(ValueError, match=r"t\.rda .* must take at most [\d,]+ bytes in memory, got"):
        read_table(path, limits=ReadLimits(max_bytes=10_000, max_expansion=2))
    assert read_table(path).n_features == 50


def test_a_file_that_r_has_written(tmp_path):
    import rdata

    table = read_table(rdata.TESTDATA_PATH / "test_dataframe.rda", target="class")
    assert (table.n_samples, table.feature_names, table.class_names) == (3, ("value",), ("a", "b"))
    np.testing.assert_array_equal(table.X[:, 0], [1, 2, 3])


def test_without_the_package_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdata.parser", None)
    with pytest.raises(ValueError, match=r"reading .*t\.rda needs the package rdata: pip install 'ilfs\[rdata\]'"):
        read_table(written(tmp_path / "t.rda", rda(x=matrix(X), y=texts(KINDS))))
