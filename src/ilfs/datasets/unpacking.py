"""Files in zip and tar archives, extracted into a folder without their paths and with a limit on their size."""

import errno
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from ilfs.datasets.limits import DEFAULT_LIMITS, ReadError
from ilfs.datasets.readers.compressed import is_file
from ilfs.files import writing_error
from ilfs.npz import reason_of

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
MAX_MEMBERS = 100_000
DAMAGED = (
    OSError,
    EOFError,
    OverflowError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)
Member = tuple[str, int, Callable[[], IO[bytes] | None]]


def unpack(path: Path, folder: Path, wanted: Callable[[str], bool] = lambda _: True) -> dict[str, Path]:
    """Extract the wanted files of a zip or tar archive.

    Parameters
    ----------
    path : Path
        The archive.
    folder : Path
        The folder to write to, which must exist. The folders of the archive are left out.
    wanted : callable
        Tells by its path in the archive if a file is wanted.

    Returns
    -------
    dict
        The path of each extracted file by its path in the archive.
    """
    left, found = DEFAULT_LIMITS.allowed_bytes(path), dict[str, Path]()
    try:
        with _opened(path) as members:
            for name, size, opened in members:
                left -= size if wanted(name) else 0
                if left < 0 or len(found) > MAX_MEMBERS:
                    raise ReadError(f"{path} must hold at most {DEFAULT_LIMITS.allowed_bytes(path):,} bytes, got more")
                if wanted(name) and (source := opened()) is not None:
                    found[name] = folder / f"{len(found)}-{PurePosixPath(name).name}"
                    with source, found[name].open("wb") as target:
                        shutil.copyfileobj(source, target)
    except ReadError:
        raise
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno in FULL_DISK:
            raise writing_error(folder, error) from error
        raise ValueError(f"{path} must be a complete zip or tar archive: {reason_of(error)}") from error
    return found


@contextmanager
def _opened(path: Path) -> Generator[Generator[Member, None, None], None, None]:
    with path.open("rb") as file:
        if zipfile.is_zipfile(file):
            file.seek(0)
            with zipfile.ZipFile(file) as archive:
                yield _zip_members(archive)
        else:
            file.seek(0)
            with tarfile.open(fileobj=file, mode="r:*") as archive:
                yield _tar_members(archive)


def _zip_members(archive: zipfile.ZipFile) -> Generator[Member, None, None]:
    for info in archive.infolist():
        if is_file(info):
            yield info.filename, info.file_size, lambda info=info: archive.open(info)  # type: ignore[misc]


def _tar_members(archive: tarfile.TarFile) -> Generator[Member, None, None]:
    for info in archive:
        if info.isreg():
            yield info.name, info.size, lambda info=info: archive.extractfile(info)  # type: ignore[misc]
