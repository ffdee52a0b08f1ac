"""Activations of VOC images in a file: labels, difficult images, and the official split."""

import numpy as np
import pytest

from ilfs.datasets import VocOptions, load, title_of
from ilfs.datasets.loading import whereabouts
from ilfs.datasets.registry import REGISTRY
from ilfs.datasets.voc_archive import read_voc_archive

SHOWN = np.array([[1, 0], [0, 1], [0, 0], [1, 1], [0, 0], [1, 0]], dtype=np.uint8)
DIFFICULT = np.array([[1, 0], [0, 0], [0, 1], [0, 0], [0, 0], [0, 1]], dtype=np.uint8)


def arrays(**other):
    return {
        "X": np.arange(12, dtype=np.float16).reshape(6, 2),
        "Y": SHOWN,
        "difficult": DIFFICULT,
        "split": np.array([2, 0, 1, 2, 0, 1], dtype=np.uint8),
        "split_names": np.array(["train", "val", "test"]),
        "class_names": np.array(["cat", "dog"]),
        "image_id": np.array(list("abcdef")),
    } | other


def saved(folder, name="voc2007", **other):
    path = folder / f"{name}.npz"
    np.savez_compressed(path, **arrays(**other))
    return path


def test_difficult_images_are_marked_unless_the_object_is_also_clear(tmp_path):
    table = read_voc_archive(saved(tmp_path), "voc2007", 2007)
    assert table.y.tolist() == [[1, 0], [0, 1], [0, -1], [1, 1], [0, 0], [1, -1]]
    assert table.class_names == ("cat", "dog")
    assert table.X.dtype == np.float32
    assert table.X[:, 0].tolist() == [0, 2, 4, 6, 8, 10]


def test_2007_is_tested_on_test_and_2012_on_val(tmp_path):
    path = saved(tmp_path)
    assert read_voc_archive(path, "voc2007", 2007).test_rows.tolist() == [True, False, False, True, False, False]
    later = read_voc_archive(path, "voc2012", 2012)
    assert later.X[:, 0].tolist() == [2, 4, 8, 10]  # without the rows of test
    assert later.test_rows.tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"Y": SHOWN[:5]}, r"Y of .*voc2007\.npz must be 0 and 1 of shape \(6, 2\), got uint8 \(5, 2\)"),
        ({"difficult": 2 * DIFFICULT}, r"difficult of .* must be 0 and 1 of shape \(6, 2\), got uint8"),
        (
            {"split": np.array([0, 0, 1, 2, 0, 3])},
            "split of .* must have a position in its 3 split_names for each of 6",
        ),
        ({"split": np.zeros(6)}, "split of .* must have a position .* got float64"),
        ({"split": np.array([0, 0, 1, 1, 0, 1])}, r"must have rows of train\+val and test, got train, val"),
        ({"X": np.full((6, 2), np.inf)}, "column 1 of .* must be finite, got inf in row 1"),
    ],
)
def test_an_archive_that_contradicts_itself_is_refused(tmp_path, other, message):
    with pytest.raises(ValueError, match=message):
        read_voc_archive(saved(tmp_path, **other), "voc2007", 2007)


def test_an_archive_without_an_array_is_refused(tmp_path):
    path = tmp_path / "voc2007.npz"
    np.savez(path, **{name: one for name, one in arrays().items() if name != "difficult"})
    with pytest.raises(ValueError, match=r"must have the arrays X, Y, difficult, .* got no difficult"):
        read_voc_archive(path, "voc2007", 2007)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("ILFS_DATA", str(tmp_path))
    for name in ("DEVKIT", "NETWORK", "LAYER"):
        monkeypatch.delenv(f"ILFS_VOC_{name}", raising=False)
    return saved(tmp_path)


def test_load_finds_the_file_unless_a_network_is_named(here, tmp_path, monkeypatch):
    with pytest.warns(UserWarning, match="is not the registered file"):
        assert load("voc2007").test_rows.sum() == 2
    assert whereabouts(REGISTRY["voc2007"]) == "yes"
    with pytest.raises(FileNotFoundError, match="no VOC2007/ImageSets/Main"):
        load("voc2007", voc=VocOptions(str(tmp_path), "vgg16.onnx"))
    monkeypatch.setenv("ILFS_VOC_DEVKIT", str(tmp_path))
    monkeypatch.setenv("ILFS_VOC_NETWORK", "vgg16.onnx")
    assert whereabouts(REGISTRY["voc2007"]) == "made"
    with pytest.raises(FileNotFoundError, match="no VOC2007/ImageSets/Main"):
        load("voc2007")


def test_the_title_names_the_network(here):
    assert title_of("voc2007") == "VOC 2007, EfficientNet-Lite0"
    assert title_of("voc2012", voc=VocOptions("VOCdevkit", "vgg16.onnx")) == "VOC 2012, features of your network"
    assert title_of("colon", voc=VocOptions("VOCdevkit", "vgg16.onnx")) == "COLON"
