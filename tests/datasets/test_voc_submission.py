"""Files for the evaluation server of the challenge."""

import numpy as np
import pytest
from small_devkit import write_devkit

from ilfs.datasets.voc_submission import read_test_images, write_submission

pytest.importorskip("PIL", reason="needs the extra [deep]")


@pytest.fixture
def kit(tmp_path):
    """A devkit of 2012 with test images that have no labels."""
    folder, _ = write_devkit(tmp_path, 2012, parts=("train", "val"), n_images=3)
    (folder / "VOC2012" / "ImageSets" / "Main" / "test.txt").write_text("000002\n001001\n")
    return folder


def test_test_images_are_read_without_labels(kit):
    images = read_test_images(kit, 2012)
    assert images.ids == ("000002", "001001")
    assert all(path.is_file() for path in images.paths)


def test_missing_lists_and_images_are_named(kit):
    with pytest.raises(FileNotFoundError, match="no VOC2007/ImageSets/Main"):
        read_test_images(kit, 2007)
    file = kit / "VOC2012" / "ImageSets" / "Main" / "test.txt"
    file.write_text("2008_000006\n")
    with pytest.raises(FileNotFoundError, match=r"no image 2008_000006\.jpg"):
        read_test_images(kit, 2012)
    file.write_text("\n")
    with pytest.raises(ValueError, match=r"test\.txt must list at least one image, it is empty"):
        read_test_images(kit, 2012)
    file.unlink()
    with pytest.raises(
        FileNotFoundError, match=r"no test\.txt in .*; the archive of test images of 2012 must be unpack"
    ):
        read_test_images(kit, 2012)


def test_every_class_has_a_file_with_a_line_per_image(tmp_path):
    scores = np.array([[0.5, -1.25e-5], [2 / 3, 1e9]])
    files = write_submission(tmp_path, ["a", "b"], ["cat", "dog"], scores, year=2012)
    home = tmp_path / "results" / "VOC2012" / "Main"
    assert files == (home / "comp2_cls_test_cat.txt", home / "comp2_cls_test_dog.txt")
    assert files[0].read_text() == "a 0.5\nb 0.666666667\n"
    assert [float(line.split()[1]) for line in files[1].read_text().splitlines()] == [-1.25e-5, 1e9]
    (first,) = write_submission(tmp_path, ["a"], ["cat"], [[1]], year=2007, competition="comp1")
    assert first.name == "comp1_cls_test_cat.txt"


@pytest.mark.parametrize("scores", [[[1.0, 2.0]], [1.0, 2.0], [[np.nan], [1.0]], [[1.0], [np.inf]]])
def test_invalid_scores_are_refused(tmp_path, scores):
    with pytest.raises(ValueError, match=r"scores must be finite numbers of shape \(2, 1\), a row per image"):
        write_submission(tmp_path, ["a", "b"], ["cat"], scores, year=2012)


def test_an_unknown_competition_is_refused(tmp_path):
    with pytest.raises(ValueError, match="competition must be 'comp1' or 'comp2', got 'comp3'"):
        write_submission(tmp_path, ["a"], ["cat"], [[1]], year=2012, competition="comp3")
