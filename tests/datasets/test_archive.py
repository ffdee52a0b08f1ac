import hashlib

import numpy as np
import pytest
from scipy import sparse

from ilfs.datasets.archive import distinct, read_archive

Y = np.array([0, 1, 1])
NAMES = np.array(["no", "yes"])


def saved(tmp_path, **arrays):
    path = tmp_path / "toy.npz"
    np.savez_compressed(path, **arrays)
    return path


def test_a_dense_archive_is_read_with_distinct_feature_names(tmp_path):
    path = saved(
        tmp_path, X=np.eye(3, dtype=np.float32), y=Y, class_names=NAMES, feature_names=np.array(["a", "b", "a"])
    )
    table = read_archive(path, "toy")
    assert table.X.dtype == np.float32
    assert table.class_names == ("no", "yes")
    assert table.feature_names == ("a", "b", "a.2")
    assert table.checksum == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_sparse_archive_stays_sparse(tmp_path):
    X = sparse.random_array((3, 50), density=0.1, format="csr", random_state=np.random.default_rng(0))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    table = read_archive(saved(tmp_path, y=Y, class_names=NAMES, **parts), "toy")
    assert isinstance(table.X, sparse.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), X.toarray())


def test_indices_beyond_the_shape_are_refused(tmp_path):
    parts = {"data": [1.0], "indices": [9], "indptr": [0, 1, 1, 1], "shape": (3, 4)}
    with pytest.raises(ValueError, match=r"toy\.npz must hold a valid CSR matrix"):
        read_archive(saved(tmp_path, y=Y, class_names=NAMES, **parts), "toy")


@pytest.mark.parametrize(
    "parts",
    [
        {"indptr": [0, 99, -99, 0]},  # SciPy checks no pointer if the last is 0
        {"indptr": [0, 1, 0, 1]},
        {"indptr": [1, 1, 1, 1]},
        {"indptr": [0, 1, 2, 2]},
        {"indptr": [0, 1]},
        {"indices": [-1]},
        {"shape": [3, 4, 5]},
        {"shape": [-3, 4]},
        {"data": ["a"]},
        {"data": [[1.0]]},
        {"data": []},
    ],
)
def test_an_invalid_sparse_matrix_is_refused(tmp_path, parts):
    valid = {"data": [1.0], "indices": [0], "indptr": [0, 1, 1, 1], "shape": [3, 4]}
    assert read_archive(saved(tmp_path, y=Y, class_names=NAMES, **valid), "toy").X.nnz == 1
    with pytest.raises(ValueError, match=r"toy\.npz must hold a valid CSR matrix"):
        read_archive(saved(tmp_path, y=Y, class_names=NAMES, **(valid | parts)), "toy")


def test_unused_space_in_the_arrays_of_a_sparse_matrix_is_ignored(tmp_path):
    parts = {"data": [1.0, 7.0], "indices": [0, 99], "indptr": [0, 1, 1, 1], "shape": [3, 4]}
    X = read_archive(saved(tmp_path, y=Y, class_names=NAMES, **parts), "toy").X
    assert X.toarray().sum() == 1


def test_pickled_objects_are_refused(tmp_path):
    path = saved(tmp_path, X=np.array([{}], dtype=object), y=Y, class_names=NAMES)
    with pytest.raises(ValueError, match="without pickled objects"):
        read_archive(path, "toy")


@pytest.mark.parametrize("kept", [0, 10, 300, -5])
def test_a_truncated_archive_is_refused(tmp_path, kept):
    path = saved(tmp_path, X=np.random.default_rng(0).normal(size=(3, 99)), y=Y, class_names=NAMES)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"toy\.npz must be a complete \.npz file"):
        read_archive(path, "toy")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": np.eye(3)}, "must have the arrays y, class_names, got X"),
        ({"y": Y, "class_names": NAMES}, "must have an array X or data, indices, indptr and shape, got y, class_names"),
    ],
)
def test_missing_arrays_are_named(tmp_path, arrays, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_archive(saved(tmp_path, **arrays), "toy")


def test_loading_a_split_needs_the_array_split(tmp_path):
    with pytest.raises(ValueError, match="must have the arrays y, class_names, split, got X, y, class_names"):
        read_archive(saved(tmp_path, X=np.eye(3), y=Y, class_names=NAMES), "toy", split="train")


def test_a_single_array_under_the_name_of_an_archive_is_refused(tmp_path):
    with (tmp_path / "toy.npz").open("wb") as file:
        np.save(file, np.eye(3))
    with pytest.raises(ValueError, match=r"toy\.npz must be a complete \.npz file"):
        read_archive(tmp_path / "toy.npz", "toy")


def test_repeated_names_become_distinct():
    assert distinct(["a", "a", "a.2", "b", "a", 3, 3]) == ("a", "a.3", "a.2", "b", "a.4", "3", "3.2")
