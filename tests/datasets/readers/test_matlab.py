"""Our reader of MATLAB files against SciPy's on valid files, and errors for invalid ones."""

import io
import struct

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat, savemat

from ilfs.datasets import Dataset, read_table
from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.matlab import MatVariables

# New versions of SciPy warn unless loadmat gets the argument spmatrix, which old versions do not have.
pytestmark = pytest.mark.filterwarnings(r"ignore:\s*The default value for .spmatrix.:DeprecationWarning")

X = np.round(np.random.default_rng(0).normal(size=(4, 3)), 3)
Y = np.array([2, 7, 2, 7])
VALUES = {
    **{name: (100 * np.abs(X)).astype(name) for name in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")},
    "negative": np.array([[-5, 3]], dtype="i2"),
    "logical": X > 0,
    "scalar": 5.0,
    "vector": Y,
    "empty": np.empty((0, 3)),
    "cube": np.arange(24.0).reshape(2, 3, 4),
    "sparse": sparse.csc_array(np.where(X > 0, X, 0)),
    "sparse_logical": sparse.csc_array(X > 0),
    "no_values": sparse.csc_array((4, 3)),
    "a_name_of_thirty_one_characters": X,
}


def variables(path):
    return MatVariables(path, DEFAULT_LIMITS)


def assert_same(ours, theirs):
    if sparse.issparse(theirs):
        assert (ours != theirs).nnz == 0
    else:
        np.testing.assert_array_equal(ours, theirs)
    assert ours.dtype == theirs.dtype or theirs.dtype.kind == "u"  # SciPy reads logical values as uint8
    assert ours.shape == theirs.shape


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_equal_those_that_scipy_reads(tmp_path, packed):
    savemat(tmp_path / "t.mat", VALUES, do_compression=packed)
    ours, theirs = variables(tmp_path / "t.mat"), loadmat(tmp_path / "t.mat")
    assert list(ours) == [name for name in theirs if not name.startswith("__")]
    for name in ours:
        assert_same(ours[name], theirs[name])


def test_variables_of_version_4_equal_those_that_scipy_reads(tmp_path):
    kept = {name: VALUES[name] for name in ("f8", "f4", "i4", "i2", "u2", "u1", "vector", "scalar")}
    savemat(tmp_path / "t.mat", {**kept, "sparse": VALUES["sparse"], "letters": np.array(["ab", "cd"])}, format="4")
    ours, theirs = variables(tmp_path / "t.mat"), loadmat(tmp_path / "t.mat")
    for name in (*kept, "sparse"):
        assert_same(ours[name], theirs[name])
    assert ours["letters"].tolist() == theirs["letters"].tolist() == ["ab", "cd"]


def test_version_4_is_read_in_the_other_byte_order(tmp_path):
    head = struct.pack(">5i", 1000, 2, 3, 0, 2) + b"X\0"
    (tmp_path / "t.mat").write_bytes(head + X[:2].astype(">f8").tobytes(order="F"))
    np.testing.assert_array_equal(variables(tmp_path / "t.mat")["X"], X[:2])


def big_endian(name, array):
    """Write a big-endian file of version 5 with one matrix of floats."""

    def element(kind, body):
        return struct.pack(">II", kind, len(body)) + body.ljust(-(-len(body) // 8) * 8, b"\0")

    flags, shape = element(6, struct.pack(">II", 6, 0)), element(5, struct.pack(">2i", *array.shape))
    small = struct.pack(">HH", len(name), 1) + name.ljust(4, b"\0")  # at most four bytes fit into the tag
    values = element(9, array.astype(">f8").tobytes(order="F"))
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    return header + element(14, flags + shape + small + values)


def test_version_5_is_read_in_the_other_byte_order(tmp_path):
    (tmp_path / "t.mat").write_bytes(big_endian(b"X", X))
    np.testing.assert_array_equal(loadmat(tmp_path / "t.mat")["X"], X)
    np.testing.assert_array_equal(variables(tmp_path / "t.mat")["X"], X)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (np.array(["rot", "gr\u00fcn", "rot", "gr\u00fcn"], dtype=object), ("gr\u00fcn", "rot")),
        (np.array(["ab ", "c", "ab ", "c"]), ("ab", "c")),
        (np.array([1.0, 2.0, 1.0, 2.0], dtype=object), ("1", "2")),
        (np.array([True, False, True, False]), ("False", "True")),
        (sparse.csc_array(np.array([[1.0], [0], [1], [0]])), ("0", "1")),
        (np.array([2**53, 2**53 + 1] * 2, dtype=np.int64), ("9007199254740992", "9007199254740993")),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_classes_may_be_text_numbers_or_booleans(tmp_path, labels, names, packed):
    savemat(tmp_path / "t.mat", {"X": X, "y": labels}, do_compression=packed)
    assert read_table(tmp_path / "t.mat").class_names == names


def test_characters_with_two_utf_16_code_units_are_read(tmp_path):
    content = io.BytesIO()
    savemat(content, {"X": X, "y": np.array(["ab", "cd", "ab", "cd"], dtype=object)})
    packed = content.getvalue()
    text = struct.pack("<HH", 16, 2) + b"ab\0\0"  # UTF-8, in the tag
    assert packed.count(text) == 2
    units = struct.pack("<HH", 17, 4) + "\U0001d6fc".encode("utf-16-le")
    (tmp_path / "t.mat").write_bytes(packed.replace(text, units))
    assert read_table(tmp_path / "t.mat").class_names == ("cd", "\U0001d6fc")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": X, "y": {"a": 1}}, r"'y' of .*t\.mat must hold numbers, characters or cells of them, got a struct"),
        ({"X": X * 1j, "y": Y}, r"'X' of .*t\.mat must hold real numbers, got complex ones"),
        ({"X": X, "y": np.array([X, "a", "b", "c"], dtype=object)}, "must hold one text or one number, got shape"),
        ({"X": X, "y": np.array([{"a": 1}, "a", "b", "c"], dtype=object)}, r"t\.mat must hold one text or one number"),
        ({"X": X, "y": np.array(["", "a", "a", "b"], dtype=object)}, "must not be missing, got .* in row 1"),
        ({"X": X, "y": sparse.csc_array((9, 1))}, "must have one label per row, got 4 rows and 9 labels"),
        ({"X": np.zeros((2, 3, 4)), "y": [0, 1]}, r"must be a matrix of numbers, got shape \(2, 3, 4\)"),
        ({"X": np.array([[2**60, 1], [1, 1]]), "y": [0, 1]}, r"column 1 of .* must be within \+-2\*\*53"),
    ],
)
def test_invalid_files_are_refused(tmp_path, arrays, sentence):
    savemat(tmp_path / "t.mat", arrays)
    with pytest.raises(ValueError, match=sentence):
        read_table(tmp_path / "t.mat")


def test_unused_variables_are_not_decoded(tmp_path):
    savemat(tmp_path / "t.mat", {"X": X, "notes": {"a": [1, {"b": 2}]}, "z": X * 1j, "y": Y})
    assert read_table(tmp_path / "t.mat").class_names == ("2", "7")


@pytest.mark.parametrize("value", [0x00, 0x01, 0x05, 0x0F, 0x7F, 0x80, 0xFF])
@pytest.mark.parametrize("packed", [False, True])
def test_every_single_damaged_byte_is_handled(tmp_path, packed, value):
    savemat(tmp_path / "t.mat", {"X": sparse.csc_array(np.eye(3)), "y": ["a", "b", "a"]}, do_compression=packed)
    whole = (tmp_path / "t.mat").read_bytes()
    for at in range(124, len(whole)):
        (tmp_path / "t.mat").write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
        try:
            assert isinstance(read_table(tmp_path / "t.mat"), Dataset)
        except ValueError as error:
            assert "t.mat" in str(error) and "\n" not in str(error)  # noqa: PT017, PT018
