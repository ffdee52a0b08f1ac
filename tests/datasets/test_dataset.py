import numpy as np
import pytest
from scipy import sparse

from ilfs.datasets import Dataset

X = np.arange(6.0).reshape(3, 2)


def test_sizes_and_repr_count_the_samples_of_every_class():
    table = Dataset("toy", X, np.array([0, 2, 2]), ("a", "b", "c"), ("left", "right"))
    assert (table.n_samples, table.n_features, table.n_classes) == (3, 2, 3)
    assert table.class_sizes == (1, 0, 2)
    assert not table.is_multilabel
    assert repr(table) == "<Dataset toy: 3 samples x 2 features; classes a 1, b 0, c 2>"


def test_class_sizes_of_several_labels_leave_out_ignored_labels():
    table = Dataset("toy", sparse.csr_array(X), np.array([[1, 0], [1, -1], [0, 0]]), ("a", "b"))
    assert table.is_multilabel
    assert table.class_sizes == (2, 0)


def test_repr_summarises_many_classes():
    table = Dataset("toy", np.zeros((24, 1)), np.arange(24) % 11, tuple("abcdefghijk"))
    assert repr(table).endswith("classes 11 of 2 to 3 samples>")


@pytest.mark.parametrize(
    ("y", "class_names", "feature_names", "sentence"),
    [
        ([0, 1], "ab", None, "toy has 3 samples but 2 labels"),
        ([0, 1, 2], "ab", None, "y of toy must be integers from 0 to 1, as there are 2 class names"),
        ([0, 1, -1], "ab", None, "integers from 0 to 1"),
        ([0.0, 1, 1], "ab", None, "integers from 0 to 1"),
        ([[0, 1]] * 3, "abc", None, "an indicator matrix of 3 columns"),
        ([[0, 2]] * 3, "ab", None, "an indicator matrix of 2 columns of 0, 1 and -1"),
        ([0, 1, 1], "ab", ("left",), "toy has 2 features but 1 feature names"),
        ([0, 1, 1], "ab", ("left", "left"), "feature names of toy must differ, got 'left' more than once"),
    ],
)
def test_inconsistent_sizes_are_refused(y, class_names, feature_names, sentence):
    with pytest.raises(ValueError, match=sentence):
        Dataset("toy", X, np.array(y), tuple(class_names), feature_names)


def test_x_must_have_two_dimensions():
    with pytest.raises(ValueError, match="X of toy must have two dimensions, got 1"):
        Dataset("toy", X[0], np.array([0, 0]), ("a",))
