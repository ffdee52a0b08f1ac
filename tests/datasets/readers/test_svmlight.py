import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from ilfs.datasets import read_table

# Converted from a dense array to get 32-bit indices, the only ones that scikit-learn 1.6 can write.
X = sparse.csr_array(sparse.random_array((20, 50), density=0.3, random_state=np.random.default_rng(0)).toarray())
Y = np.arange(20) % 3 - 1


@pytest.mark.parametrize("name", ["toy.svmlight", "toy.libsvm", "toy.svm", "toy.svm.gz"])
@pytest.mark.parametrize("zero_based", [True, False])
def test_features_are_sparse(tmp_path, name, zero_based):
    path = tmp_path / name
    with (gzip.open if name.endswith("gz") else open)(path, "wb") as file:
        dump_svmlight_file(X, Y, file, zero_based=zero_based)
    table = read_table(path)
    assert isinstance(table.X, sparse.csr_array)
    np.testing.assert_allclose(table.X.toarray(), X.toarray())
    assert table.class_names == ("-1", "0", "1")
    np.testing.assert_array_equal(table.y, Y + 1)
    assert table.name == "toy"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 1:2 2:x\n0 1:3\n", "must be in the svmlight format"),
        ("a,b\n1,2\n", "must be in the svmlight format"),
        ("0.5 1:2\n1 1:3\n", "must hold classes .* got 0.5 in row 1"),
        ("1 1:2\n", "must have at least 2 rows"),
        ("1 1:2\n1 1:3\n", "at least two classes, got only '1'"),
        ("1 1:2\n0 2:inf\n", "column 2 of .* must be finite, got inf in row 2"),
    ],
)
def test_invalid_files_are_refused(tmp_path, text, sentence):
    (tmp_path / "toy.svm").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        read_table(tmp_path / "toy.svm")


def test_target_and_dropped_columns_cannot_be_chosen(tmp_path):
    (tmp_path / "toy.svm").write_text("1 1:2\n0 1:3\n")
    with pytest.raises(
        ValueError, match=r"target must be None for .*toy\.svm, as svmlight rows start with their class, got 'y'"
    ):
        read_table(tmp_path / "toy.svm", "y")
    with pytest.raises(
        ValueError, match=r"drop must be empty for .*toy\.svm, as svmlight columns have no names, got 0"
    ):
        read_table(tmp_path / "toy.svm", drop=0)


def test_a_damaged_gzip_file_is_refused(tmp_path):
    (tmp_path / "toy.svm.gz").write_bytes(gzip.compress(b"1 1:2\n0 1:3\n" * 50)[:-12])
    with pytest.raises(ValueError, match="must be a complete gzip file"):
        read_table(tmp_path / "toy.svm.gz")


@pytest.mark.parametrize("word", ["9", "0", ":", "1:0", ":9", " ", "1 "])
@pytest.mark.parametrize("start", ["1 1:1 ", "", "1 1:"])
def test_long_lines_take_linear_time(tmp_path, start, word):
    """A pattern that starts again at every digit would take hours."""
    (tmp_path / "toy.svm").write_text(start + word * 2_000_000 + "x\n0 1:1\n")
    with pytest.raises(ValueError, match=r"toy\.svm") as caught:
        read_table(tmp_path / "toy.svm")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("label", ["inf", "nan", "1_0", "x"])
def test_a_class_that_is_not_a_number_is_refused(tmp_path, label):
    (tmp_path / "toy.svm").write_text(f"1 1:2\n{label} 1:3\n")
    with pytest.raises(ValueError, match=rf"must be in the svmlight format .* got '{label}' in row 2"):
        read_table(tmp_path / "toy.svm")
