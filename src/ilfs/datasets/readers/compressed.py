"""Opening of files that may be compressed, or zipped as the only file of an archive."""

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ilfs.datasets.checks import MAX_QUOTED_LENGTH
from ilfs.datasets.limits import ReadError
from ilfs.npz import reason_of

PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zip")
# A damaged archive may give a position before its start, which is an OSError.
DAMAGED_ZIP = (EOFError, OSError, OverflowError, RuntimeError, zlib.error, zipfile.BadZipFile)
MAC_FOLDER = "__MACOSX/"  # macOS adds this folder to archives


@contextmanager
def open_bytes(path: Path) -> Generator[IO[bytes], None, None]:
    """Open a file for bytes, decompressed if its name ends in .gz, .bz2, .xz or .zip; a damaged one is a ValueError."""
    opened = {".gz": _gunzipped, ".bz2": _of_bzip2, ".xz": _of_xz, ".zip": _unzipped}.get(path.suffix.lower(), _plain)
    with opened(path) as file:
        yield file


@contextmanager
def _plain(path: Path) -> Generator[IO[bytes], None, None]:
    with path.open("rb") as file:
        yield file


@contextmanager
def _gunzipped(path: Path) -> Generator[IO[bytes], None, None]:
    try:
        with gzip.open(path, "rb") as file:
            yield file  # type: ignore[misc]  # a GzipFile reads bytes
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} must be a complete gzip file: {error}") from error


@contextmanager
def _of_bzip2(path: Path) -> Generator[IO[bytes], None, None]:
    try:
        with bz2.open(path, "rb") as file:
            yield file
    except (EOFError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # an error of the system, not of the format
            raise
        raise ValueError(f"{path} must be a complete bzip2 file: {error}") from error


@contextmanager
def _of_xz(path: Path) -> Generator[IO[bytes], None, None]:
    try:
        with lzma.open(path, "rb") as file:
            yield file
    except (EOFError, lzma.LZMAError) as error:
        raise ValueError(f"{path} must be a complete xz file: {error}") from error


@contextmanager
def _unzipped(path: Path) -> Generator[IO[bytes], None, None]:
    with path.open("rb") as packed:  # opened here, since ZipFile leaves a damaged file open
        try:
            with zipfile.ZipFile(packed) as archive, archive.open(_only_member(archive, path)) as file:
                yield file
        except ReadError:
            raise
        except DAMAGED_ZIP as error:
            what = f"{path} must be a complete zip archive without a password"
            raise ValueError(f"{what}: {reason_of(error)}") from error


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [info for info in archive.infolist() if not info.filename.startswith(MAC_FOLDER) and is_file(info)]
    if len(members) != 1:
        named = ", ".join(info.filename[:MAX_QUOTED_LENGTH] for info in members[:3]) + ", ..." * (len(members) > 3)
        raise ReadError(f"the zip archive {path} must hold one file, got {named or 'none'}")
    return members[0]


def is_file(info: zipfile.ZipInfo) -> bool:
    """Return True unless a member of an archive is a folder or has no name, which Python before 3.12 cannot take."""
    return bool(info.filename) and not info.is_dir()
