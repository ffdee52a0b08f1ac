"""Test images of VOC without labels, and files of scores for the evaluation server of the challenge.

For each class there is a file with one line per test image: its name and a score, larger if the image is more likely to
show the class. The server computes average precision from the order of the scores. Competition 1 is for classifiers
that were trained with images of VOC only, competition 2 for all others, such as features of a network trained on
ImageNet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ilfs.datasets.voc import AnyPath, devkit_home, image_paths
from ilfs.files import write_text_atomically
from ilfs.parameters import check_choice

COMPETITIONS = ("comp1", "comp2")


@dataclass(frozen=True, eq=False)
class TestImages:
    """Images without labels.

    Parameters
    ----------
    ids : tuple of str
        The names of the images.
    paths : tuple of Path
        The files of the images.
    """

    __test__ = False  # pytest takes other classes with this name for tests

    ids: tuple[str, ...]
    paths: tuple[Path, ...]


def read_test_images(folder: AnyPath, year: int) -> TestImages:
    r"""Read which images of a VOCdevkit are for testing, from ``ImageSets/Main/test.txt``.

    Parameters
    ----------
    folder : path-like
        As for `ilfs.datasets.voc.read_devkit`. The archive of test images must be unpacked in the same place.
    year : int
        Year of the challenge.

    Returns
    -------
    TestImages
        The images, in the order of the list.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.datasets.voc_submission import read_test_images
    >>> folder = Path(tempfile.mkdtemp(), "VOC2012")
    >>> for inner in ("ImageSets/Main", "JPEGImages"):
    ...     (folder / inner).mkdir(parents=True)
    >>> (folder / "JPEGImages" / "2008_000001.jpg").touch()
    >>> _ = (folder / "ImageSets/Main/test.txt").write_text("2008_000001\n")
    >>> read_test_images(folder, 2012).ids
    ('2008_000001',)
    """
    home = devkit_home(Path(folder), year)
    file = home / "ImageSets" / "Main" / "test.txt"
    if not file.is_file():
        raise FileNotFoundError(
            f"no test.txt in {file.parent}; the archive of test images of {year} must be unpacked in the same place"
        )
    ids = tuple(file.read_text(encoding="utf-8", errors="replace").split())
    if not ids:
        raise ValueError(f"{file} must list at least one image, it is empty")
    return TestImages(ids, image_paths(home, ids))


def write_submission(
    folder: AnyPath,
    ids: Sequence[str],
    class_names: Sequence[str],
    scores: ArrayLike,
    *,
    year: int,
    competition: str = "comp2",
) -> tuple[Path, ...]:
    """Write the files of scores that the evaluation server takes.

    Parameters
    ----------
    folder : path-like
        Where the folder ``results`` is made. The archive to send must begin with it: ``tar -czf results.tgz results``.
    ids : sequence of str
        The names of the test images.
    class_names : sequence of str
        The names of the classes.
    scores : array of shape (n_images, n_classes)
        Larger means more likely to show the class; finite numbers.
    year : int
        Year of the challenge.
    competition : {"comp1", "comp2"}
        ``"comp1"`` if all training data are images of VOC, the network's too; else ``"comp2"``.

    Returns
    -------
    tuple of Path
        The files, one per class.

    Examples
    --------
    >>> import tempfile
    >>> from ilfs.datasets.voc_submission import write_submission
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (file,) = write_submission(folder, ["2008_000001", "2008_000004"], ["cat"], [[0.25], [-1.5]], year=2012)
    ...     print("/".join(file.parts[-4:]), file.read_text(), sep="; ", end="")
    results/VOC2012/Main/comp2_cls_test_cat.txt; 2008_000001 0.25
    2008_000004 -1.5
    """
    check_choice("competition", competition, COMPETITIONS)
    values = np.asarray(scores, dtype=float)
    if values.shape != (len(ids), len(class_names)) or not np.isfinite(values).all():
        rule = f"finite numbers of shape ({len(ids)}, {len(class_names)}), a row per image and a column per class"
        raise ValueError(f"scores must be {rule}, got shape {values.shape}")
    home = Path(folder) / "results" / f"VOC{year}" / "Main"
    home.mkdir(parents=True, exist_ok=True)
    files = tuple(home / f"{competition}_cls_test_{name}.txt" for name in class_names)
    for file, column in zip(files, values.T, strict=True):
        lines = (f"{image} {score:.9g}\n" for image, score in zip(ids, column, strict=True))
        write_text_atomically(file, "".join(lines))
    return files
