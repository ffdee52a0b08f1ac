import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from ilfs.datasets import ReadLimits, read_table
from ilfs.datasets.archive import read_archive, write_archive
from ilfs.datasets.dataset import Dataset, content_checksum

X = np.random.default_rng(0).normal(size=(4, 3))
Y = np.array([2, 7, 2, 7])


def npz(tmp_path, **arrays):
    np.savez(tmp_path / "toy.npz", **arrays)
    return tmp_path / "toy.npz"


def mat(tmp_path, **arrays):
    savemat(tmp_path / "toy.mat", arrays)
    return tmp_path / "toy.mat"


@pytest.mark.parametrize("write", [npz, mat])
@pytest.mark.parametrize("target", ["y", "Y", "target", "labels"])
def test_features_and_target_are_found_by_their_usual_names(tmp_path, write, target):
    table = read_table(write(tmp_path, X=X, **{target: Y}))
    np.testing.assert_array_equal(table.X, X)
    assert table.class_names == ("2", "7")
    assert table.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("write", [npz, mat])
def test_a_target_is_found_by_its_name(tmp_path, write):
    table = read_table(write(tmp_path, X=X, y=Y, stage=Y[::-1]), target="stage")
    assert table.y.tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match=r"target must be an array of .* \(X, y, stage\), got 'satge'"):
        read_table(tmp_path / f"toy.{write.__name__}", target="satge")


@pytest.mark.parametrize("write", [npz, mat])
@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": X}, "must have an array of classes called y, Y, .* got X"),
        ({"y": Y}, "must have an array of features called X, .* got y"),
        ({"X": X, "y": Y[:3]}, "must have one label per row, got 4 rows and 3 labels"),
        ({"X": X.T, "y": Y}, "must have one label per row, got 3 rows and 4 labels"),
        ({"X": X[:1], "y": Y[:1]}, "must have at least 2 rows and 1 feature, got 1 and 3"),
        ({"X": X, "y": Y * 0}, "must hold at least two classes, got only '0'"),
        ({"X": X, "y": Y + 0.5}, r"must hold classes .*, got 2.5 in row 1"),
        ({"X": np.where(X[2, 1] == X, np.inf, X), "y": Y}, "column 2 of .* must be finite, got inf in row 3"),
        ({"X": np.array([["a", "b"]] * 4), "y": Y}, "the features of .* must be a matrix of numbers, got shape"),
        ({"X": X, "y": np.array([Y, Y]).T}, r"the target of .* must be a vector, got shape \(4, 2\)"),
    ],
)
def test_invalid_arrays_are_refused(tmp_path, write, arrays, sentence):
    path = write(tmp_path, **arrays)
    with pytest.raises(ValueError, match=sentence):
        read_table(path)


@pytest.mark.parametrize("feature_names", [None, ("a", "b", "c")])
@pytest.mark.parametrize("kept", [np.asarray, sparse.csr_array])
def test_archives_of_this_package_are_read_as_written(tmp_path, feature_names, kept):
    table = Dataset("toy", kept(X), np.array([1, 0, 1, 0]), ("no", "yes"), feature_names)
    with (tmp_path / "toy.npz").open("wb") as file:
        write_archive(file, table)
    read = read_table(tmp_path / "toy.npz")
    assert content_checksum(read) == read.checksum == content_checksum(table)
    assert sparse.issparse(read.X) == sparse.issparse(table.X)


def test_the_arrays_of_a_csr_matrix_are_read_as_a_sparse_matrix(tmp_path):
    parts = sparse.csr_array(np.eye(4))
    path = npz(tmp_path, data=parts.data, indices=parts.indices, indptr=parts.indptr, shape=parts.shape, target=Y)
    table = read_table(path)
    assert isinstance(table.X, sparse.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), np.eye(4))


def test_feature_names_are_read(tmp_path):
    assert read_table(npz(tmp_path, X=X, y=Y, feature_names=np.array(list("abc")))).feature_names == ("a", "b", "c")


def test_integers_become_floats_and_float32_stays(tmp_path):
    assert read_table(npz(tmp_path, X=np.arange(12).reshape(4, 3), y=Y)).X.dtype == np.float64
    assert read_table(npz(tmp_path, X=X.astype(np.float32), y=Y)).X.dtype == np.float32


def test_pickled_objects_are_refused(tmp_path):
    with pytest.raises(ValueError, match="without pickled objects"):
        read_table(npz(tmp_path, X=X, y=np.array(["a", 1, "a", 1], dtype=object)))
    np.save(tmp_path / "toy.npy", np.array([[1, "a"]], dtype=object))
    with pytest.raises(ValueError, match="without pickled objects"):
        read_table(tmp_path / "toy.npy", target=-1)


def test_the_target_of_a_matrix_is_one_of_its_columns(tmp_path):
    np.save(tmp_path / "toy.npy", np.column_stack([X, Y]))
    table = read_table(tmp_path / "toy.npy", target=-1)
    np.testing.assert_array_equal(table.X, X)
    assert table.class_names == ("2", "7")
    np.testing.assert_array_equal(read_table(tmp_path / "toy.npy", target=-1, drop=[1, -4]).X, X[:, [2]])


@pytest.mark.parametrize(("write", "kept"), [(npz, np.asarray), (mat, np.asarray), (mat, sparse.csc_matrix)])
def test_columns_of_the_features_are_dropped_by_position(tmp_path, write, kept):
    table = read_table(write(tmp_path, X=kept(X), y=Y), drop=[0, -1])
    np.testing.assert_array_equal(table.X.toarray() if sparse.issparse(table.X) else table.X, X[:, [1]])
    with pytest.raises(ValueError, match=r"drop must leave at least one column of .*, got all 3"):
        read_table(tmp_path / f"toy.{write.__name__}", drop=(0, 1, 2, -1))
    with pytest.raises(ValueError, match=r"drop must be the position of a column, .* has no names of columns, got 'a'"):
        read_table(tmp_path / f"toy.{write.__name__}", drop="a")


@pytest.mark.parametrize("codes", [{}, {"class_names": np.array(["no", "yes"])}])
def test_features_are_dropped_by_name(tmp_path, codes):
    y = Y if not codes else np.array([0, 1, 0, 1])
    path = npz(tmp_path, X=X, y=y, feature_names=np.array(["a", "b", "a"]), **codes)
    assert read_table(path, drop="a.2").feature_names == ("a", "b")
    assert read_table(path, drop=["b"]).X.tolist() == X[:, [0, 2]].tolist()


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (
            None,
            r"target must be the column of .*toy\.npy that holds the classes .*, got None; or save X and y",
        ),
        ("y", "target must be the position of a column, as .* has no names of columns, got 'y'"),
        (9, "target must be a position from 0 to 3"),
    ],
)
def test_a_matrix_needs_a_target(tmp_path, target, sentence):
    np.save(tmp_path / "toy.npy", np.column_stack([X, Y]))
    with pytest.raises(ValueError, match=sentence):
        read_table(tmp_path / "toy.npy", target)


def test_an_array_that_is_not_a_matrix_is_refused(tmp_path):
    np.save(tmp_path / "toy.npy", Y)
    with pytest.raises(ValueError, match=r"must be a matrix, got an array of shape \(4,\)"):
        read_table(tmp_path / "toy.npy", target=0)


def test_sparse_features_and_cell_arrays_of_texts_are_read_from_matlab(tmp_path):
    classes = np.empty(4, dtype=object)
    classes[:] = ["red", "blue", "red", "blue"]
    table = read_table(mat(tmp_path, X=sparse.csc_matrix(np.eye(4)), Y=classes))
    assert isinstance(table.X, sparse.csr_array)
    assert table.class_names == ("blue", "red")
    assert table.y.tolist() == [1, 0, 1, 0]


def test_rows_of_characters_in_matlab_are_texts_without_padding(tmp_path):
    table = read_table(mat(tmp_path, X=X, Y=np.array(["red ", "blue", "red ", "blue"])))
    assert table.class_names == ("blue", "red")


def test_the_target_may_be_a_column_vector_of_matlab(tmp_path):
    assert read_table(mat(tmp_path, X=X, Y=Y[:, None])).y.tolist() == [0, 1, 0, 1]


def test_matlab_version_7_3_is_refused(tmp_path):
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: today".ljust(116) + b" " * 8 + b"\x00\x02IM"
    (tmp_path / "toy.mat").write_bytes(header.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(
        ValueError, match=r"toy\.mat must have version 4 to 7, got 7\.3: save it again with save\(\.\.\., '-v7'\)"
    ):
        read_table(tmp_path / "toy.mat")


@pytest.mark.parametrize("write", [npz, mat])
@pytest.mark.parametrize("kept", [3, 200, -7])
def test_a_truncated_file_is_refused(tmp_path, write, kept):
    path = write(tmp_path, X=X, y=Y)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"toy\.\w+ must be a complete"):
        read_table(path)


def test_a_truncated_array_is_refused(tmp_path):
    np.save(tmp_path / "toy.npy", X)
    (tmp_path / "toy.npy").write_bytes((tmp_path / "toy.npy").read_bytes()[:-7])
    with pytest.raises(ValueError, match=r"toy\.npy must be a complete"):
        read_table(tmp_path / "toy.npy", target=0)


CODES = np.array([0, 1, 0, 1])
CLASS_NAMES = np.array(["no", "yes"])
CSR = sparse.csr_array(X)
PARTS = {"data": CSR.data, "indices": CSR.indices, "indptr": CSR.indptr, "shape": np.array(CSR.shape)}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": np.where(X[2, 1] == X, np.inf, X)}, r"column 2 of .*toy\.npz must be finite, got inf in row 3"),
        ({"X": np.array([["a"]] * 4)}, r"the features of .*toy\.npz must be a matrix of numbers, got shape \(4, 1\)"),
        ({"X": X[0]}, r"the features of .*toy\.npz must be a matrix of numbers, got shape \(3,\)"),
        ({"X": X[:1], "y": CODES[:1]}, r"toy\.npz must have at least 2 rows and 1 feature, got 1 and 3"),
        ({"X": np.full((4, 1), 2**60)}, r"integers in column 1 of .*toy\.npz must be within"),
        ({"X": X, "y": CODES[:3]}, r"toy\.npz must have one label per row, got 4 rows and 3 labels"),
        ({"X": X, "y": CODES * 1.0}, r"y of .*toy\.npz must be integers, .* got shape \(4,\) of float64"),
        ({"X": X, "y": CODES + 1}, r"y of .*toy\.npz must be integers from 0 to 1, .* got values from 1 to 2"),
        ({"X": X, "y": np.eye(4, dtype=int)}, r"y of .*toy\.npz must have a column for each of 2 class names, got 4"),
        (
            {"X": X, "class_names": CLASS_NAMES[[0, 0]]},
            r"class_names of .*toy\.npz must be .* different names, got no, no",
        ),
        (
            {"X": X, "feature_names": np.array(["a"])},
            r"toy\.npz must have one name per feature, got 3 features and 1 names",
        ),
        ({**PARTS, "indices": CSR.indices + 0.5}, r"indices of .*toy\.npz must be a vector of integers, .* of float64"),
        ({**PARTS, "indptr": CSR.indptr * 1.0}, r"indptr of .*toy\.npz must be a vector of integers"),
        ({**PARTS, "shape": np.array([4.0, 3.0])}, r"shape of .*toy\.npz must be a vector of integers"),
        ({**PARTS, "indices": CSR.indices + 1}, r"toy\.npz must hold a valid CSR matrix"),
        ({**PARTS, "data": CSR.data * np.inf}, r"column 1 of .*toy\.npz must be finite"),
    ],
)
def test_archives_with_class_names_are_checked_too(tmp_path, arrays, sentence):
    path = npz(tmp_path, **({"y": CODES, "class_names": CLASS_NAMES} | arrays))
    for read in (read_table, lambda path: read_archive(path, "toy")):
        with pytest.raises(ValueError, match=sentence):
            read(path)


def test_infinity_in_a_dropped_column_is_accepted(tmp_path):
    bad = np.column_stack([X, np.full(4, np.inf)])
    assert read_table(npz(tmp_path, X=bad, y=CODES, class_names=CLASS_NAMES), drop=-1).n_features == 3
    assert read_table(npz(tmp_path, X=bad, y=Y), drop=-1).n_features == 3


def test_bytes_become_text(tmp_path):
    table = read_table(npz(tmp_path, X=X, y=np.array([b"b", b"a"] * 2), feature_names=np.array([b"u", b"v", b"w"])))
    assert (table.class_names, table.feature_names) == (("a", "b"), ("u", "v", "w"))


def test_text_that_is_not_unicode_is_refused(tmp_path):
    broken = np.array([0x110000, 97, 98, 99], dtype="u4").view("U1")
    with pytest.raises(ValueError, match=r"toy\.npz must be a complete .*: an array holds text that is not Unicode"):
        read_table(npz(tmp_path, X=X, y=broken))


@pytest.mark.parametrize("labels", [[1.0, np.nan, 2.0, 1.0], np.array(["a", "NaN", "b", "b"])])
@pytest.mark.parametrize("write", [npz, mat])
def test_a_missing_class_is_refused(tmp_path, write, labels):
    with pytest.raises(ValueError, match=r"the target of .* must not be missing, got .* in row 2"):
        read_table(write(tmp_path, X=X, y=labels))


@pytest.mark.parametrize("write", [npz, mat])
def test_the_limit_applies_to_the_size_as_floats(tmp_path, write):
    path = write(tmp_path, X=np.zeros((100, 10), np.int8), y=np.arange(100) % 2)
    limits = ReadLimits(max_bytes=7999, max_expansion=1e-9)
    with pytest.raises(ValueError, match="must take at most 7,999 bytes in memory, got 8,000 or more"):
        read_table(path, limits=limits)
    assert read_table(path, limits=ReadLimits(max_bytes=8000, max_expansion=1e-9)).X.nbytes == 8000
