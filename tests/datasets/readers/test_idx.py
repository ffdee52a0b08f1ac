import gzip
import struct

import numpy as np
import pytest
from idx_files import idx

from ilfs.datasets import ReadLimits, read_table

IMAGES = np.random.default_rng(0).integers(0, 256, size=(6, 2, 3), dtype=np.uint8)
LABELS = np.array([3, 1, 3, 1, 0, 0], dtype=np.uint8)


def written(folder, images=None, labels=None, name="train-images-idx3-ubyte", pack=bytes):
    path = folder / name
    path.write_bytes(pack(idx(IMAGES) if images is None else images))
    other = name.replace("images", "labels").replace("idx3", "idx1")
    (folder / other).write_bytes(pack(idx(LABELS) if labels is None else labels))
    return path


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("train-images-idx3-ubyte", bytes),
        ("t10k-images-idx3-ubyte.gz", gzip.compress),
        ("train-images.idx3-ubyte", bytes),
    ],
)
def test_pixels_are_features(tmp_path, name, pack):
    table = read_table(written(tmp_path, name=name, pack=pack))
    np.testing.assert_array_equal(table.X, IMAGES.reshape(6, 6))
    np.testing.assert_array_equal(table.y, [2, 1, 2, 1, 0, 0])
    assert table.class_names == ("0", "1", "3")
    assert table.feature_names == ("r0_c0", "r0_c1", "r0_c2", "r1_c0", "r1_c1", "r1_c2")
    assert table.name == name.removesuffix(".gz")
    assert read_table(tmp_path / name, drop="r0_c1").n_features == 5


def test_labels_may_be_unpacked_when_images_are_packed(tmp_path):
    path = written(tmp_path, name="train-images-idx3-ubyte.gz", pack=gzip.compress)
    packed = tmp_path / "train-labels-idx1-ubyte.gz"
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    assert read_table(path).class_names == ("0", "1", "3")


@pytest.mark.parametrize(
    ("images", "labels", "sentence"),
    [
        (b"\x00\x00\x08", None, "must be an IDX file"),
        (b"\x00\x01" + idx(IMAGES)[2:], None, "must be an IDX file"),
        (b"\x00\x00\x07" + idx(IMAGES)[3:], None, "must be an IDX file"),
        (idx(IMAGES)[:10], None, "must have the lengths of 3 axes, but it ends before"),
        (idx(IMAGES)[:-1], None, r"must have 36 bytes of values, as it declares \(6, 2, 3\), got 35"),
        (idx(IMAGES) + b"!", None, "must have 36 bytes of values, .*, got more"),
        (idx(IMAGES.reshape(6, 6)), None, "must hold images, an array of 3 axes, got 2"),
        (None, idx(LABELS[:5]), r"must have one label per image, got 6 images and labels \(5,\)"),
        (None, idx(LABELS * 0), "must hold at least two classes"),
        (struct.pack(">BBBBIII", 0, 0, 8, 3, 2**31, 28, 28), None, "must take at most 268,435,456 bytes in memory"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path, images, labels, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        read_table(written(tmp_path, images, labels))
    assert "ubyte" in str(caught.value)


def test_the_labels_must_be_there(tmp_path):
    path = written(tmp_path)
    with pytest.raises(ValueError, match=r"target must be None for .*, as its classes are in another file, got 0"):
        read_table(path, target=0)
    (tmp_path / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(FileNotFoundError, match="must have train-labels-idx1-ubyte beside it"):
        read_table(path)


def test_a_packed_file_of_zeros_cannot_fill_the_memory(tmp_path):
    zeros = np.zeros((50, 100, 100), np.uint8)
    path = written(tmp_path, idx(zeros), idx(np.arange(50, dtype=np.uint8)), "a-images-idx3-ubyte.gz", gzip.compress)
    with pytest.raises(ValueError, match=r"must take at most 10,000 bytes in memory, got 4,000,000"):
        read_table(path, limits=ReadLimits(max_bytes=10_000, max_expansion=1))
