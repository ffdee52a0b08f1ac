"""Load a data set by its name, from disk or by a download, or a table from a file."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ilfs.datasets.archive import read_archive
from ilfs.datasets.bundled import load_bundled
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.fetching import NotFetchedError, Progress, fetch
from ilfs.datasets.folders import cache_folder, data_folder
from ilfs.datasets.limits import DEFAULT_LIMITS, ReadLimits
from ilfs.datasets.named_truths import load_truth
from ilfs.datasets.naming import Column, Query, parse, suggestion
from ilfs.datasets.openml import fetch_openml_copy, openml_file, read_openml
from ilfs.datasets.readers import ENDINGS, columns_of, read_table
from ilfs.datasets.registry import REGISTRY
from ilfs.datasets.roles import with_roles
from ilfs.datasets.spec import Spec
from ilfs.datasets.voc_archive import read_voc_archive
from ilfs.datasets.voc_options import VOC_YEARS, VocOptions
from ilfs.warn import warn


def load(
    name_or_path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    drop: Column | Sequence[Column] = (),
    limits: ReadLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    voc: VocOptions | None = None,
) -> Dataset:
    """Load a data set by its name, or a table from a file.

    The file ``<name>.npz`` is looked for in the folder that the environment variable ``ILFS_DATA`` names, then in the
    user's cache (``ILFS_CACHE``, or the folder that the operating system has for caches). If it is not there, it is
    downloaded into the cache: from the servers that ``ILFS_MIRROR`` names (addresses of folders, separated by spaces),
    verified by size and SHA-256, or as a copy from OpenML where the registry knows one. ``ILFS_OFFLINE=1`` forbids
    downloads. If you name a VOCdevkit folder and a network (``ILFS_VOC_DEVKIT``, ``ILFS_VOC_NETWORK``), ``voc2007`` and
    ``voc2012`` are made from these instead.

    Parameters
    ----------
    name_or_path : str or path
        A name of :data:`ilfs.datasets.REGISTRY`, or of any other ``.npz`` file of the same format in those folders; or
        the path of a file, which :func:`ilfs.datasets.read_table` reads. After the path, a string may state the target
        and columns to drop, for example in a suite: ``genes.csv?target=diagnosis&drop=sample&drop=-1``. The names of
        columns are decoded as in addresses (``%26`` is ``&``), whole numbers are positions, and a column whose name is
        a number must be in quotes: ``drop='1017'``. In the same way ``groups=donor`` names a column of groups and
        ``folds=fold`` one of fold numbers (`Dataset`), which are then not features.
    target : str or int, optional
        The column of a file that holds the classes.
    drop : str, int or a sequence of them, default=()
        Columns of a file to leave out.
    limits : ReadLimits, optional
        Limits on the memory that a file may ask for; see :func:`ilfs.datasets.read_table`.
    progress : callable, optional
        Called during a download from a mirror with the number of bytes received and the size of the file; while
        features of VOC images are computed, with the number of images done and of all, for each of the two parts.
    voc : VocOptions, optional
        Images and network of ``voc2007`` and ``voc2012``; by default those that the environment variables name.

    Returns
    -------
    Dataset
        The data set. A file on disk is not hashed until ``checksum`` is read. If a registered file has another size
        than the registry states, there is a warning; `check_registered` also compares the SHA-256. Two cases do hash:
        a download from a mirror is verified, and the features of VOC are cached by the content of the images.

    Examples
    --------
    >>> from ilfs.datasets import load
    >>> load("wine")
    <Dataset wine: 178 samples x 13 features; classes class_0 59, class_1 71, class_2 48>
    """
    name, dropped = os.fspath(name_or_path), columns_of(drop)
    may_be_name = isinstance(name_or_path, str)
    read = partial(_load_one, may_be_name=may_be_name, limits=limits, progress=progress, voc=voc or VocOptions())
    if may_be_name and name not in REGISTRY and "?" in name and not Path(name).exists():
        query = _query_of(name, target, dropped)
        return with_roles(query, partial(read, query.path))
    return read(name, target, dropped)


def _query_of(name: str, target: Column | None, drop: tuple[Column, ...]) -> Query:
    """Combine path and columns of a name such as ``genes.csv?target=diagnosis`` with the arguments."""
    query = parse(name)
    if query.target is not None and target is not None:
        raise ValueError(f"target must be None for {name!r}, which states it, got {target!r}")
    if query.path in REGISTRY and (query.groups, query.folds) != (None, None):
        raise ValueError(f"groups and folds must be none for {query.path!r}, whose columns are known, got {name!r}")
    return query._replace(target=query.target if target is None else target, drop=(*query.drop, *drop))


def _load_one(
    name: str,
    target: Column | None,
    drop: tuple[Column, ...],
    *,
    may_be_name: bool,
    limits: ReadLimits,
    progress: Progress | None,
    voc: VocOptions,
) -> Dataset:
    """Load a registered data set, or a file that is not registered."""
    spec = REGISTRY.get(name) if may_be_name else None
    if spec is None:
        return _load_unregistered(name, target, drop, limits)
    if target is not None:
        raise ValueError(f"target must be None for {name!r}, whose classes are known, got {target!r}")
    if drop:
        raise ValueError(f"drop must be empty for {name!r}, whose features are known, got {drop[0]!r}")
    return _load_registered(spec, progress, voc)


def _load_registered(spec: Spec, progress: Progress | None, voc: VocOptions) -> Dataset:
    if spec.origin == "scikit-learn":
        return load_bundled(spec.name)
    if spec.origin == "synthetic":
        return load_truth(spec.name).table
    if spec.name in VOC_YEARS and voc.or_environment().is_given:
        from ilfs.datasets.voc import voc_table

        return voc_table(VOC_YEARS[spec.name], voc, progress)
    return _on_disk(spec) or _downloaded(spec, progress)


def _load_unregistered(name: str, target: Column | None, drop: tuple[Column, ...], limits: ReadLimits) -> Dataset:
    if Path(name).exists() or name.lower().endswith(ENDINGS):
        return read_table(name, target, drop=drop, limits=limits)
    path = _find(f"{name}.npz")
    if path is not None:
        if target is not None or drop:
            return read_table(path, target, name, drop=drop, limits=limits)
        return read_archive(path, name, limits=limits)
    called = f"no file and no data set is called {name!r}{suggestion(name)}"
    raise FileNotFoundError(f"{called}: ilfs datasets lists the names")


def _on_disk(spec: Spec) -> Dataset | None:
    path = _find(spec.file)
    if path is not None:
        size = path.stat().st_size
        if spec.sha256 and spec.size not in (0, size):
            warn(f"{path} is not the registered file: its size must be {spec.size:,} bytes, got {size:,}")
        return _read(path, spec)
    path = find_copy(spec)  # made from a public source: its bytes are not those of the registered file
    return None if path is None else read_openml(path, spec)


def _read(path: Path, spec: Spec) -> Dataset:
    """Read the file of a registered data set."""
    if spec.name in VOC_YEARS:
        return read_voc_archive(path, spec.name, VOC_YEARS[spec.name])
    return read_archive(path, spec.name, spec.split)


def find_copy(spec: Spec) -> Path | None:
    """Find the file that `load` would read, or None if there is none on disk."""
    copies = [spec.file, spec.fetched_file, *([openml_file(spec)] if spec.openml else [])]
    return next((path for path in map(_find, copies) if path is not None), None)


def check_registered(table: Dataset) -> None:
    """Warn if a registered data set was read from a file other than the registered one; this hashes the file.

    Parameters
    ----------
    table : Dataset
        A data set that `load` has returned.
    """
    spec = REGISTRY.get(table.name)
    if spec is not None and spec.sha256 and table.file is not None and table.checksum != spec.sha256:
        warn(f"{table.file} is not the registered file: its SHA-256 must be {spec.sha256}, got {table.checksum}")


def _find(file: str) -> Path | None:
    folders = (data_folder(), cache_folder())
    paths = (folder / file for folder in folders if folder is not None)
    return next((path for path in paths if path.is_file()), None)


def _downloaded(spec: Spec, progress: Progress | None) -> Dataset:
    failures = []
    for download in (from_mirrors, _from_openml):
        try:
            table = download(spec, progress)
        except NotFetchedError as failure:
            failures.append(str(failure))
        else:
            if table is not None:
                return table
    raise FileNotFoundError(_missing(spec, failures))


def from_mirrors(spec: Spec, progress: Progress | None) -> Dataset | None:
    """Download the registered file from the servers in ``ILFS_MIRROR``; return None if there are none."""
    mirrors = os.environ.get("ILFS_MIRROR", "").split()
    if is_offline() or not mirrors or not spec.size:
        return None
    path = cache_folder() / spec.file
    urls = [f"{mirror.rstrip('/')}/{spec.file}" for mirror in mirrors]
    fetch(path, urls, sha256=spec.sha256, size=spec.size, progress=progress)
    return _read(path, spec)


def _from_openml(spec: Spec, progress: Progress | None) -> Dataset | None:
    if is_offline() or spec.openml is None:
        return None
    path = cache_folder() / openml_file(spec)
    fetch_openml_copy(path, spec, progress)
    return read_openml(path, spec)


def whereabouts(spec: Spec) -> str:
    """Return how a data set can be loaded, without loading it.

    ``"yes"`` if it is on disk, ``"made"`` if it is generated on request, ``"mirror"`` or ``"OpenML"`` if it would be
    downloaded from there, ``"fetch"`` if `ilfs.datasets.fetch_dataset` may get it, otherwise ``"no"``.
    """
    if spec.origin == "synthetic":
        return "made"
    if spec.name in VOC_YEARS and VocOptions().or_environment().is_complete:
        return "made"
    if spec.origin == "scikit-learn" or find_copy(spec):
        return "yes"
    if is_offline():
        return "no"
    if spec.size and os.environ.get("ILFS_MIRROR", "").split():
        return "mirror"
    return "OpenML" if spec.openml else "fetch" if spec.sources else "no"


def is_offline() -> bool:
    """Return True if ``ILFS_OFFLINE`` forbids downloads."""
    return os.environ.get("ILFS_OFFLINE", "") not in ("", "0")


def _missing(spec: Spec, failures: list[str]) -> str:
    """Format the message for a missing data set: why it was not downloaded, where to put its file, where to get it."""
    missing = "; ".join([f"{spec.title} is not here", *failures])
    return f"{missing}: {what_to_do(spec)}. Source: {spec.source}; see docs/datasets.md"


def what_to_do(spec: Spec) -> str:
    """Return what to do to get a data set that is not on disk."""
    run = [f"run ilfs datasets fetch {spec.name}"] if spec.sources else []
    put = [f"put {spec.file} into {_folder_to_put_into()}"] if spec.size else []
    return ", or ".join([*run, *put, *([spec.advice] if spec.advice else [])])


def _folder_to_put_into() -> str:
    folder = data_folder()
    if folder is None:
        return f"{cache_folder()}, or into a folder that the environment variable ILFS_DATA names"
    return f"{folder}, which ILFS_DATA names" + ("" if folder.is_dir() else ", though there is no such folder")
