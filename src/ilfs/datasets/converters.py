"""Conversion of the files of a public source to a data set: one function for each kind of source."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np
from scipy import sparse

from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.openml import in_float32
from ilfs.datasets.readers import read_table
from ilfs.datasets.readers.challenge import read_challenge
from ilfs.datasets.readers.idx import read_idx_array
from ilfs.datasets.reviews import is_review, polarity_of
from ilfs.datasets.spec import PublicSource, Spec
from ilfs.datasets.two_digits import gina_of
from ilfs.datasets.unpacking import unpack

Files = Mapping[str, Path]
Converter = Callable[[Files, Spec, PublicSource, Path], Dataset]


def convert(files: Files, spec: Spec, source: PublicSource, folder: Path) -> Dataset:
    """Convert the files of a source, and apply what the registry says of rows and classes.

    Parameters
    ----------
    files : mapping
        The path of each file by the name that the source gives it.
    spec : Spec
        The data set.
    source : PublicSource
        The source.
    folder : Path
        A folder for temporary files.

    Returns
    -------
    Dataset
        The data set in float32.
    """
    table = CONVERTERS[source.converter](files, spec, source, folder)
    if source.leave_out:
        kept = np.setdiff1d(np.arange(table.n_samples), source.leave_out)
        table = replace(table, X=table.X[kept], y=table.y[kept])
    renamed = dict(source.class_names)
    return in_float32(replace(table, class_names=tuple(renamed.get(name, name) for name in table.class_names)))


def from_table(files: Files, spec: Spec, source: PublicSource, folder: Path) -> Dataset:  # noqa: ARG001
    """Read the only file, by its ending."""
    (path,) = files.values()
    return read_table(path, name=spec.name)


def from_package(files: Files, spec: Spec, source: PublicSource, folder: Path) -> Dataset:
    """Read a table in the archive of an R package."""
    (path,) = files.values()
    found = unpack(path, folder, lambda name: name == source.member)
    if not found:
        raise ValueError(f"{path} must contain {source.member}, got no such file")
    return read_table(found[source.member], name=spec.name)


def from_kent_ridge(files: Files, spec: Spec, source: PublicSource, folder: Path) -> Dataset:  # noqa: ARG001
    """Read a zip archive with one names file of C4.5 and one or more data files, the training rows first."""
    (path,) = files.values()
    found = unpack(path, folder, lambda name: name.lower().endswith((".names", ".data")))
    names = [one for one in found.values() if one.suffix.lower() == ".names"]
    rows = sorted(
        (one for one in found.values() if one not in names), key=lambda one: ("train" not in one.name, one.name)
    )
    if len(names) != 1 or not rows:
        raise ValueError(f"{path} must contain one .names file and .data files, got {', '.join(found) or 'none'}")
    pair = folder / "table.names"
    names[0].replace(pair)
    pair.with_suffix(".data").write_bytes(b"\n".join(one.read_bytes() for one in rows))
    return read_table(pair, name=spec.name)


def from_challenge(files: Files, spec: Spec, source: PublicSource, folder: Path) -> Dataset:  # noqa: ARG001
    """Read training and validation rows of a task of the NIPS 2003 challenge, alone or in an archive."""
    if len(files) == 1:
        (path,) = files.values()
        unpacked = unpack(path, folder, lambda name: name.endswith((".data", ".labels")))
        files = {PurePosixPath(name).name: one for name, one in unpacked.items()}
    names = [(f"{spec.name}_{part}.data", f"{spec.name}_{part}.labels") for part in ("train", "valid")]
    if missing := [name for pair in names for name in pair if name not in files]:
        raise ValueError(f"the files of {spec.title} must include {missing[0]}, got {', '.join(files) or 'none'}")
    pairs = [(files[rows], files[labels]) for rows, labels in names]
    table = read_challenge(pairs, spec.features or 0, spec.name, DEFAULT_LIMITS)
    return replace(table, X=sparse.csr_array(table.X))


def from_reviews(files: Files, spec: Spec, source: PublicSource, folder: Path) -> Dataset:  # noqa: ARG001
    """Count the words of the review corpus, in a zip or tar archive."""
    (path,) = files.values()
    found = unpack(path, folder, is_review)
    if len(found) != spec.samples:
        raise ValueError(f"{path} must contain {spec.samples} reviews, got {len(found)}")
    # The corpus is in ASCII but for a few marks, which are in no word.
    texts = {name: one.read_bytes().decode("latin-1") for name, one in found.items()}
    return polarity_of(texts, spec.name, spec.features or 0)


def from_mnist(files: Files, spec: Spec, source: PublicSource, folder: Path) -> Dataset:  # noqa: ARG001
    """Rebuild GINA from the training images of MNIST and their labels."""
    images, digits = (read_idx_array(files[file.name], DEFAULT_LIMITS) for file in source.files)
    if images.ndim != 3 or digits.shape != images.shape[:1]:
        raise ValueError(f"MNIST must be images with one label each, got shapes {images.shape} and {digits.shape}")
    return gina_of(images, digits, spec.name, spec.samples or 0)


CONVERTERS: dict[str, Converter] = {
    "table": from_table,
    "package": from_package,
    "kent_ridge": from_kent_ridge,
    "challenge": from_challenge,
    "reviews": from_reviews,
    "mnist": from_mnist,
}
