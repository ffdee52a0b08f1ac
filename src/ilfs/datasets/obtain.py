"""Fetch a registered data set from its public sources, verify it, and put it where `load` finds it.

Sources are tried in the order of the registry. A source fails if a file cannot be downloaded or has a wrong checksum,
if it cannot be read, or if the counts are not those of the registry. If the values are known and differ, the next
source is tried; if none has the known values, the first whose counts are right is stored, with a note that they differ.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ilfs.datasets.archive import read_provenance, write_archive
from ilfs.datasets.converters import convert
from ilfs.datasets.dataset import Dataset, file_checksum, values_checksum
from ilfs.datasets.fetching import NotFetchedError, Progress, exclusively, fetch
from ilfs.datasets.folders import cache_folder
from ilfs.datasets.loading import find_copy, from_mirrors, is_offline, load
from ilfs.datasets.naming import registered
from ilfs.datasets.openml import check_sizes, download_openml
from ilfs.datasets.spec import PublicSource, Spec
from ilfs.datasets.two_digits import has_registered_pixels
from ilfs.datasets.voc_options import VOC_YEARS, VocOptions
from ilfs.files import write_atomically, writing_error
from ilfs.words import listed

Say = Callable[[str], None]
OF_REGISTERED_FILE = "values and their order are those of the registered file"
OTHER_VALUES = "values or their order differ from the registered file, so results differ from the published ones"
UNKNOWN_VALUES = "no checksum is known for its values"


@dataclass(frozen=True)
class Fetched:
    """A data set that is on disk now.

    Parameters
    ----------
    name : str
        Name of the data set.
    path : Path or None
        Its file; None if it needs none.
    source : str
        The source that it was made from, or where it was already.
    verified : str
        What was verified.
    differs : str
        Differences from the data of the paper.
    is_new : bool
        False if it was there before.
    """

    name: str
    path: Path | None
    source: str
    verified: str
    differs: str
    is_new: bool


def fetch_dataset(
    name: str,
    *,
    folder: Path | str | None = None,
    again: bool = False,
    say: Say | None = None,
    progress: Progress | None = None,
) -> Fetched:
    """Fetch a data set from its public sources, verify it and store it in the cache folder.

    Parameters
    ----------
    name : str
        A name of :data:`ilfs.datasets.REGISTRY`.
    folder : path, optional
        A folder with files of a source that you have downloaded yourself. Nothing is then downloaded.
    again : bool, default=False
        Fetch it even if it is there already.
    say : callable, optional
        Called with a sentence for each step.
    progress : callable, optional
        Called during a download with the number of bytes received and the size of the file (0 if it is not known).

    Returns
    -------
    Fetched
        Where the data set is, what was verified, and what differs from the paper.

    Examples
    --------
    >>> from ilfs.datasets import fetch_dataset
    >>> fetch_dataset("iris").source
    'comes with scikit-learn'
    """
    spec = registered(name)
    steps = _Steps(spec, None if folder is None else _existing(Path(folder)), say or (lambda _: None), progress)
    if spec.origin in ("scikit-learn", "synthetic"):
        made = "comes with scikit-learn" if spec.origin == "scikit-learn" else "made when it is loaded"
        return Fetched(name, None, made, "", spec.differs, is_new=False)
    there = None if again else find_copy(spec)
    if there is not None:
        return _found(spec, there)
    if spec.name in VOC_YEARS:
        return _voc(spec)
    return steps.fetched(again=again)


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.absolute()}")
    return folder


def _found(spec: Spec, path: Path) -> Fetched:
    """Describe a data set that is on disk; the registered file is hashed."""
    provenance = read_provenance(path)
    if path.name == spec.file and spec.sha256:
        is_right = file_checksum(path) == spec.sha256
        verified = "SHA-256 as registered" if is_right else "its SHA-256 is not the registered one"
        return Fetched(spec.name, path, "on disk", verified, spec.differs, is_new=False)
    verified = provenance.get("verified", "")
    return Fetched(
        spec.name, path, provenance.get("source", "on disk"), verified, _differs(spec, provenance), is_new=False
    )


def _differs(spec: Spec, provenance: Mapping[str, str]) -> str:
    return provenance.get("differs", spec.differs)


def _voc(spec: Spec) -> Fetched:
    """Compute the features of VOC, if images and network are named."""
    if not VocOptions().or_environment().is_complete:
        raise NotFetchedError(f"{spec.title} cannot be fetched: {spec.advice}")
    table = load(spec.name)
    verified = f"{table.n_samples} samples, {table.n_features} features"
    return Fetched(spec.name, None, "computed from the images", verified, spec.differs, is_new=True)


@dataclass(frozen=True)
class _Steps:
    """The steps of fetching one data set."""

    spec: Spec
    folder: Path | None
    say: Say
    progress: Progress | None

    def fetched(self, *, again: bool) -> Fetched:
        """Store the data set from the best source, unless another process has done so meanwhile."""
        path = cache_folder() / self.spec.fetched_file
        with exclusively(path):
            if path.is_file() and not again:
                return _found(self.spec, path)
            return self._from_mirror() or self._stored(path)

    def _from_mirror(self) -> Fetched | None:
        """Download the registered file from ``ILFS_MIRROR``, if it is set."""
        if self.folder is not None:
            return None
        try:
            table = from_mirrors(self.spec, self.progress)
        except NotFetchedError as failure:
            self.say(str(failure))
            return None
        if table is None or table.file is None:
            return None
        differs = self.spec.differs
        return Fetched(self.spec.name, table.file, "ILFS_MIRROR", "SHA-256 as registered", differs, is_new=True)

    def _stored(self, path: Path) -> Fetched:
        table, source, verified = self._best()
        differs = source.differs or self.spec.differs
        provenance = {
            "source": source.title,
            "addresses": " ".join(url for file in source.files for url in file.urls[:1]),
            "licence": source.licence,
            "verified": verified,
            "differs": differs,
            "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        }
        with write_atomically(path) as file:
            write_archive(file, table, fetched=json.dumps(provenance))
        return Fetched(self.spec.name, path, source.title, verified, differs, is_new=True)

    def _best(self) -> tuple[Dataset, PublicSource, str]:
        """Return the first table with the known values, or else the first with the right counts."""
        failures, second = list[str](), None
        for source in self.spec.sources:
            try:
                table, verified = self._from(source)
            except (NotFetchedError, ValueError, FileNotFoundError) as failure:
                self.say(f"{source.title}: {failure}")
                failures.append(f"{source.title}: {failure}")
                continue
            if not verified.endswith(OTHER_VALUES):
                return table, source, verified
            self.say(f"{source.title}: {OTHER_VALUES}; looking for another source")
            second = second or (table, source, verified)
        if second is None:
            raise NotFetchedError(self._why_not(failures))
        return second

    def _why_not(self, failures: list[str]) -> str:
        if not failures:
            return f"no public source of {self.spec.title} is known; its source: {self.spec.source}"
        return f"no source gave {self.spec.title} ({'; '.join(failures)})"

    def _from(self, source: PublicSource) -> tuple[Dataset, str]:
        """Convert and verify the files of one source."""
        with _temporary_folder() as temporary:
            (temporary / "unpacked").mkdir()
            if source.openml is not None and self.folder is None:
                self._check_online()
                self.say(f"fetching {source.title}")
                table = download_openml(source.openml, temporary / source.files[0].name, self.spec.name, self.progress)
            else:
                files = self._downloaded(source, temporary) if self.folder is None else self._local(source)
                self.say(f"converting {', '.join(path.name for path in files.values())}")
                table = self._converted(files, source, temporary)
        check_sizes(table, self.spec, source.class_sizes, source.title)
        return table, self._verified(table, source)

    def _converted(self, files: Mapping[str, Path], source: PublicSource, temporary: Path) -> Dataset:
        try:
            return convert(files, self.spec, source, temporary / "unpacked")
        except ValueError as error:  # the temporary folder does not exist any more when the user reads the message
            raise ValueError(str(error).replace(f"{temporary}{os.sep}", "")) from error

    def _check_online(self) -> None:
        if is_offline():
            raise NotFetchedError("ILFS_OFFLINE forbids downloads")

    def _downloaded(self, source: PublicSource, temporary: Path) -> dict[str, Path]:
        self._check_online()
        for file in source.files:
            self.say(f"fetching {file.name} ({source.title})")
            fetch(temporary / file.name, file.urls, sha256=file.sha256, md5=file.md5, progress=self.progress)
        return {file.name: temporary / file.name for file in source.files}

    def _local(self, source: PublicSource) -> dict[str, Path]:
        """Find the files of a source in the folder of the user; a gzipped file may be there unpacked."""
        folder, found = self.folder or Path(), dict[str, Path]()
        for file in source.files:
            paths = [folder / name for name in (file.name, file.name.removesuffix(".gz"), f"{file.name}.gz")]
            path = next((path for path in paths if path.is_file()), None)
            if path is None:
                raise NotFetchedError(f"there is no {file.name} in {folder}")
            found[file.name] = path
        return found

    def _verified(self, table: Dataset, source: PublicSource) -> str:
        classes = listed([str(size) for size in table.class_sizes])
        sizes = f"{table.n_samples} samples, {table.n_features} features, classes of {classes}"
        if source.converter == "mnist":
            pixels = "the pixels are" if has_registered_pixels(table) else "the pixels are not"
            return f"{sizes}; {pixels} those of the registered file"
        if not source.values:
            return f"{sizes}; {UNKNOWN_VALUES}"
        return f"{sizes}; {OF_REGISTERED_FILE if values_checksum(table) == source.values else OTHER_VALUES}"


@contextmanager
def _temporary_folder() -> Any:
    """Make a folder in the cache for downloads, which is removed in the end."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".fetching-")
    except OSError as error:
        raise writing_error(cache_folder(), error) from error
    with made as folder:
        yield Path(folder)
