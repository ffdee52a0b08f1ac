"""PASCAL VOC: a reader of the VOCdevkit folder, and deep features of its images as data sets.

A folder ``VOC2007`` has the images in ``JPEGImages``. For every class and part, ``ImageSets/Main`` has a list with one
line per image: its name and 1 (it shows an object of the class), -1 (it does not) or 0 (it only shows objects that are
hard to recognise; the challenge calls it difficult and ignores it). In our data sets these are 1, 0 and -1.

The labels of the test images are public for 2007 only. For 2012 we train on ``train`` and test on ``val``, and the
names of the data sets say so.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.dataset import Dataset
from ilfs.datasets.deep import deep_features
from ilfs.datasets.voc_options import VocOptions
from ilfs.parameters import check_choice

AnyPath = str | os.PathLike[str]

VOC_CLASSES = (
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
)
YEARS = range(2007, 2013)  # years of the challenge with these classes
PARTS = ("train", "val", "trainval", "test")
LINE = re.compile(r"\s*(\S+)\s+(-1|0|1)\s*")
LABELS = {"1": 1, "-1": 0, "0": -1}


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images, each of which may have several labels.

    Parameters
    ----------
    name : str
        For example ``"VOC2007 train"``.
    ids : tuple of str
        The names of the images.
    labels : ndarray of shape (n_images, n_classes)
        1 if the image shows an object of the class, 0 if not, -1 if it is difficult.
    class_names : tuple of str
        The columns of the labels.
    paths : tuple of Path
        The files of the images.
    """

    name: str
    ids: tuple[str, ...]
    labels: NDArray[np.int8]
    class_names: tuple[str, ...]
    paths: tuple[Path, ...]


def read_devkit(folder: AnyPath, year: int, part: str, *, classes: Sequence[str] = VOC_CLASSES) -> ImageSet:
    r"""Read the images and labels of one part of a VOCdevkit.

    Parameters
    ----------
    folder : path-like
        The folder ``VOCdevkit``, the one it was unpacked in, or ``VOC<year>`` itself.
    year : int
        From 2007 to 2012.
    part : {"train", "val", "trainval", "test"}
        Part of the images to read. Only 2007 has public labels of the test images.
    classes : sequence of str
        Names of the classes. By default the twenty of the challenge, in alphabetical order; name others to read another
        data set in the same format.

    Returns
    -------
    ImageSet
        The images and their labels, in the order of the lists.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.datasets.voc import read_devkit
    >>> folder = Path(tempfile.mkdtemp(), "VOC2007")
    >>> for inner in ("ImageSets/Main", "JPEGImages"):
    ...     (folder / inner).mkdir(parents=True)
    >>> for image in ("000012.jpg", "000017.jpg"):
    ...     (folder / "JPEGImages" / image).touch()
    >>> _ = (folder / "ImageSets/Main/cat_train.txt").write_text("000012  1\n000017 -1\n")
    >>> images = read_devkit(folder, 2007, "train", classes=["cat"])
    >>> images.ids, images.labels.tolist()
    (('000012', '000017'), [[1], [0]])
    """
    if year not in YEARS:
        raise ValueError(f"year must be from {YEARS[0]} to {YEARS[-1]}, got {year!r}")
    check_choice("part", part, PARTS)
    _check_classes(classes)
    home = devkit_home(Path(folder), year)
    files = [_list_file(home, name, year, part) for name in classes]
    lists = [_read_list(file) for file in files]
    _check_same_images(files, lists)
    ids = tuple(lists[0])
    labels = np.array([list(labels.values()) for labels in lists], dtype=np.int8).T
    return ImageSet(f"VOC{year} {part}", ids, labels, tuple(classes), image_paths(home, ids))


def load_voc(
    folder: AnyPath,
    year: int,
    model: AnyPath,
    *,
    parts: tuple[str, str] | None = None,
    classes: Sequence[str] = VOC_CLASSES,
    **options: Any,
) -> tuple[Dataset, Dataset]:
    """Load the images of VOC as two data sets of deep features, for training and for testing.

    Parameters
    ----------
    folder, year, classes
        As for `read_devkit`.
    model : path-like
        The ONNX file of a network.
    parts : two of {"train", "val", "trainval", "test"}, optional
        Parts for training and testing. By default trainval and test for 2007; train and val for the other years, whose
        test labels are not public.
    **options : dict
        Passed to `ilfs.datasets.deep.deep_features`: the layer, how images become numbers, the cache, the progress.

    Returns
    -------
    train, test : Dataset
        With an indicator matrix of 1, 0 and -1 (difficult) as ``y``.

    Examples
    --------
    >>> from ilfs.datasets.voc import load_voc
    >>> train, test = load_voc("VOCdevkit", 2007, "vgg16.onnx", layer="fc7")  # doctest: +SKIP
    >>> test  # doctest: +SKIP
    <Dataset VOC2007 test: 4952 samples x 4096 features; classes 20 of 91 to 2007 samples>
    """
    parts = parts or (("trainval", "test") if year == 2007 else ("train", "val"))
    if isinstance(parts, str) or len(parts) != 2:
        raise ValueError(f"parts must be two, one to train and one to test with, got {parts!r}")
    train, test = (read_devkit(folder, year, part, classes=classes) for part in parts)
    return _table(train, model, options), _table(test, model, options)


def voc_table(year: int, options: VocOptions, progress: Callable[[int, int], None] | None = None) -> Dataset:
    """Load one year of VOC, training and test rows in one table, from a VOCdevkit folder and a network."""
    given = options.or_environment()
    if not given.is_complete:
        raise FileNotFoundError(
            f"VOC {year} needs both: ILFS_VOC_DEVKIT must name the VOCdevkit folder and ILFS_VOC_NETWORK the ONNX file "
            "of a network, as docs/voc.md says (ilfs bench run deep has --devkit and --network)"
        )
    train, test = load_voc(given.devkit, year, given.network, progress=progress, **given.deep_options())
    return Dataset(
        f"voc{year}",
        np.vstack([train.X, test.X]),
        np.vstack([train.y, test.y]),
        train.class_names,
        known_checksum=hashlib.sha256((train.checksum + test.checksum).encode()).hexdigest(),
        test_rows=np.repeat([False, True], [train.n_samples, test.n_samples]),
    )


def _table(images: ImageSet, model: AnyPath, options: dict[str, Any]) -> Dataset:
    X = deep_features(images.paths, model, **options)
    checksum = hashlib.sha256("\n".join((*images.ids, *images.class_names)).encode())
    for content in (images.labels, X):
        checksum.update(np.ascontiguousarray(content).tobytes())
    return Dataset(images.name, X, images.labels, images.class_names, known_checksum=checksum.hexdigest())


def _check_classes(classes: Sequence[str]) -> None:
    if isinstance(classes, str) or not len(classes):
        raise ValueError(f"classes must be a sequence of at least one name, got {classes!r}")
    repeated = [name for name, times in Counter(classes).items() if times > 1]
    if repeated:
        raise ValueError(f"classes must differ, got {repeated[0]!r} more than once")


def devkit_home(folder: Path, year: int) -> Path:
    """Find the folder that contains ImageSets."""
    own = f"VOC{year}"
    for home in (folder / own, folder / "VOCdevkit" / own, folder):
        if (home / "ImageSets" / "Main").is_dir() and (home != folder or home.resolve().name == own):
            return home
    raise FileNotFoundError(f"no {own}/ImageSets/Main in {folder}, which must be the VOCdevkit folder")


def _list_file(home: Path, class_name: str, year: int, part: str) -> Path:
    file = home / "ImageSets" / "Main" / f"{class_name}_{part}.txt"
    if file.is_file():
        return file
    advice = ""
    if part == "test":
        advice = (
            "; its archive of test images must be unpacked in the same place"
            if year == 2007
            else f"; test labels of {year} are not public: test on 'val'"
        )
    raise FileNotFoundError(f"no {file.name} in {file.parent}{advice}")


def _read_list(file: Path) -> dict[str, int]:
    """Read the label of each image."""
    labels: dict[str, int] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        match = LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"{file}, line {number}: must be the name of an image and 1, -1 or 0, got {line[:80]!r}")
        name, label = match.groups()
        if name in labels:
            raise ValueError(f"{file}, line {number}: the image {name} must occur once, got it again")
        labels[name] = LABELS[label]
    if not labels:
        raise ValueError(f"{file} must list at least one image, it is empty")
    return labels


def _check_same_images(files: list[Path], lists: list[dict[str, int]]) -> None:
    for file, labels in zip(files[1:], lists[1:], strict=True):
        pairs = zip_longest(lists[0], labels, fillvalue="the end of the list")
        strange = next(((expected, got) for expected, got in pairs if expected != got), None)
        if strange:
            raise ValueError(
                f"{file} must list the images of {files[0].name}, got {strange[1]} instead of {strange[0]}"
            )


def image_paths(home: Path, ids: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files of images; raise an error if one is missing."""
    paths = tuple(home / "JPEGImages" / f"{image}.jpg" for image in ids)
    lost = [path.name for path in paths if not path.is_file()]
    if lost:
        more = f", nor {len(lost) - 1} more of the {len(ids)}" if len(lost) > 1 else ""
        raise FileNotFoundError(f"no image {lost[0]} in {home / 'JPEGImages'}{more}")
    return paths
