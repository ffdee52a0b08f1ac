"""Atomic writing: a file appears complete under its name, or not at all."""

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

TOKEN_BYTES = 8  # random bytes in the name of a temporary file
# A temporary file is named after its target. Longer names are cut, because file systems allow only 255 bytes.
MAX_NAME_CHARACTERS = 40
ORDINARY_MODE = 0o666  # permissions of a new file before the umask is applied

REMEDIES = {
    errno.ENOENT: "make its folder first",
    errno.ENOTDIR: "choose a path whose folder is not a file",
    errno.EEXIST: "choose a path whose folder is not a file",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.EISDIR: "choose the path of a file",
    errno.ENOSPC: "free some space or choose another disk",
    errno.EDQUOT: "free some space or choose another disk",
    errno.EFBIG: "free some space or choose another disk",
}


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces the target only if the ``with`` block ends without an error.

    Several threads and processes may write to one path at the same time: each writes to its own temporary file in the
    same folder, and a reader sees the old content or that of one writer. After an error or Ctrl-C the temporary file is
    removed; only a killed process leaves one, named ``.<name>.<random>.part``. A symbolic link stays a link, an
    existing file keeps its permissions, and pipes and devices are written to directly.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.

    Yields
    ------
    file object
        Open for bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.files import write_atomically
    >>> path = Path(tempfile.mkdtemp(), "note.txt")
    >>> with write_atomically(path) as file:
    ...     _ = file.write(b"complete")
    ...     path.exists()
    False
    >>> path.read_bytes()
    b'complete'
    """
    path = Path(path)
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary = _temporary_name(target)
    try:
        with _opened_directly(path) if _is_pipe_or_device(path) else _renamed(temporary, target) as file:
            yield file
    except OSError as error:
        of_this_file = error.errno is not None and error.filename in (None, *map(str, (path, target, temporary)))
        if not of_this_file:  # an error from the caller's block
            raise
        raise writing_error(path, error) from error


def write_text_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8 with `write_atomically`.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.
    text : str
        Its content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.files import write_text_atomically
    >>> path = Path(tempfile.mkdtemp(), "note.txt")
    >>> write_text_atomically(path, "complete")
    >>> path.read_text()
    'complete'
    """
    with write_atomically(path) as file:
        file.write(text.encode("utf-8"))


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error if a file cannot be written, before the work begins whose result it is to hold.

    A temporary file is made beside the target and removed. An existing target is not changed; pipes and devices are not
    opened.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.

    Examples
    --------
    >>> from ilfs.files import check_writable
    >>> check_writable("/nowhere/ranking.csv")
    Traceback (most recent call last):
    FileNotFoundError: '/nowhere/ranking.csv' cannot be written (No such file or directory): make its folder first
    """
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))
        if _is_pipe_or_device(path):
            return
        with suppress(FileNotFoundError):
            target.stat()  # a name that is too long has no file
        temporary = _temporary_name(target)
        try:
            _create(temporary, target).close()
        finally:
            with suppress(OSError):
                temporary.unlink()
    except OSError as error:
        raise writing_error(path, error) from error


def remove_leftovers(path: Path) -> None:
    """Remove temporary files that killed writers of a path have left; the caller must hold the lock of its writers."""
    if len(path.name) > MAX_NAME_CHARACTERS:  # a shortened name could belong to another target
        return
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * TOKEN_BYTES}}}\.part")
    for leftover in [file for file in path.parent.iterdir() if pattern.fullmatch(file.name)]:
        leftover.unlink(missing_ok=True)


def writing_error(path: Path, error: OSError) -> OSError:
    """Build an error of the same type and ``errno`` whose message says why a file cannot be written and what to do."""
    reason = f"{str(path)!r} cannot be written ({error.strerror or error})"
    remedy = REMEDIES.get(error.errno or 0)
    described = type(error)(f"{reason}: {remedy}" if remedy else reason)
    described.errno = error.errno
    return described


def _temporary_name(target: Path) -> Path:
    return target.with_name(f".{target.name[:MAX_NAME_CHARACTERS]}.{secrets.token_hex(TOKEN_BYTES)}.part")


def _is_pipe_or_device(path: Path) -> bool:
    """Return True for targets such as ``/dev/stdout``, which a rename would replace by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _opened_directly(path: Path) -> IO[bytes]:
    return path.open("wb")


@contextmanager
def _renamed(temporary: Path, target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that is renamed after its content has reached the disk, and removed after any error."""
    try:
        with _create(temporary, target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        with suppress(OSError):  # it was renamed or never created
            temporary.unlink()


def _create(temporary: Path, target: Path) -> IO[bytes]:
    """Create the temporary file with the permissions of the target, or those of a new file if there is none.

    `tempfile.mkstemp` would give 0600, and the umask cannot be read without changing it for all threads.
    """
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    file = open(temporary, "xb", opener=partial(os.open, mode=ORDINARY_MODE if mode is None else mode))  # noqa: SIM115
    if mode is not None:
        temporary.chmod(mode)  # the umask may have removed some
    return file
