"""Cache of compiled kernels on disk.

Numba keeps the machine code of a function in the folder ``NUMBA_CACHE_DIR`` if that is set, otherwise in
``__pycache__`` beside the source, otherwise in the cache folder of the user. We keep that order, with four changes:

- If none of these folders can be written to, Numba raises an error when the function is defined. We then use a private
  folder below the system's temporary folder, and if there is none, compile in every process.
- Numba numbers its files and keeps an index of them. Processes that save at the same time, for different types or
  processors, may take the same number, and then one of them later runs the code of the other. Here the name of a file
  contains a hash of its key (source code, types and processor), so there is no index. The key is also stored in the
  file, and compared when the file is read.
- Processes that need the same kernels at the same time, such as the workers of a cluster, would all compile them. Here
  one of them compiles under a lock, and the others wait and load what it has saved.
- Numba compiles a function again if its own file has changed, but not if a function that it calls from another file
  has. Here a change of any file in this folder compiles all kernels again.

This builds on classes of Numba that are not documented. If they are missing, caching is left to Numba.
"""

import hashlib
import os
import pickle
import stat
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.core.serialize import dumps

from ilfs.files import write_atomically
from ilfs.kernels._compiling import begin_compiling, end_compiling
from ilfs.kernels._lock import FolderLock

HASH_CHARACTERS = 24  # of SHA-256 in the name of a file: 96 bits
PRIVATE_FOLDER = 0o700
OTHER_USERS = 0o077  # permissions of everybody but the owner


def keep_on_disk(dispatcher: Any) -> None:
    """Cache the compiled versions of a kernel on disk."""
    if not hasattr(dispatcher, "_cache"):  # a plain function (NUMBA_DISABLE_JIT), or a Numba that has changed
        return
    with suppress(RuntimeError):  # there is nowhere to write
        dispatcher._cache = KernelCache(dispatcher.py_func)
        dispatcher.compile = dispatcher._cache.releasing_the_lock(dispatcher.compile)


class KernelFiles:
    """Files of the compiled versions of one kernel, each named by a hash of its key."""

    def __init__(self, folder: str, base: str, stamp: Any) -> None:
        self._folder, self._base, self._stamp = Path(folder), base, (numba.__version__, stamp, source_hash())

    def _path(self, key: Any) -> Path:
        name = hashlib.sha256(repr((self._stamp, key)).encode()).hexdigest()[:HASH_CHARACTERS]
        return self._folder / f"{self._base}.{name}.nbc"

    def load(self, key: Any) -> Any:
        """Read the version with this key; return None if there is none."""
        # A damaged file costs a compilation, not the fit.
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            content = self._path(key).read_bytes()
            stamp, stored_key, data = pickle.loads(content)
            if (stamp, stored_key) == (self._stamp, key):
                return data
        return None

    def save(self, key: Any, data: Any) -> None:
        """Write the version with this key."""
        # A full disk must not stop the fit: the kernel is compiled and works.
        with suppress(OSError), write_atomically(self._path(key)) as file:
            file.write(dumps((self._stamp, key, data)))  # type: ignore[no-untyped-call]


@cache
def source_hash() -> str:
    """Hash all source files of this folder."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def folder_lock(folder: str) -> FolderLock:
    """Return the lock of a folder of compiled kernels, one object for all kernels."""
    return FolderLock(Path(folder, "ilfs-kernels.lock"))


class TemporaryFolder:
    """Locator of a private cache folder below the system's temporary folder.

    Cached code is run when it is loaded. So a folder of this name is not used if another user owns it or may write to
    it.
    """

    def __init__(self, folder: Path, line: int) -> None:
        self._folder, self._line = folder, line

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "TemporaryFolder | None":
        """Return a locator, or None if there is no such folder."""
        user = os.getuid() if hasattr(os, "getuid") else None
        folder = Path(tempfile.gettempdir(), "ilfs-kernels" if user is None else f"ilfs-kernels-{user}")
        try:
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            found = folder.lstat()
        except OSError:
            return None
        is_private = user is None or (found.st_uid == user and not found.st_mode & OTHER_USERS)
        if not (stat.S_ISDIR(found.st_mode) and is_private):
            return None
        # Copies of the package at different paths may be of different versions.
        below = folder / hashlib.sha256(os.path.dirname(os.path.abspath(file)).encode()).hexdigest()[:HASH_CHARACTERS]
        return cls(below, function.__code__.co_firstlineno)

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        self._folder.mkdir(exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return a hash of the source code."""
        return source_hash()

    def get_disambiguator(self) -> str:
        """Return a text that distinguishes functions of the same name in one file."""
        return str(self._line)


class KernelCacheImpl(caching.CompileResultCacheImpl):
    """Numba's implementation of the cache, with the temporary folder as one more location."""

    _locator_classes = [*caching.CompileResultCacheImpl._locator_classes, TemporaryFolder]  # noqa: RUF012


class KernelCache(caching.FunctionCache):
    """The compiled versions of one kernel on disk."""

    _impl_class = KernelCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        locator = self._impl.locator
        files = KernelFiles(self.cache_path, self._impl.filename_base, locator.get_source_stamp())
        self._cache_file = files  # type: ignore[assignment]
        self._lock = folder_lock(self.cache_path)
        # Per thread: another thread may ask for the kernel before this one has released the lock.
        self._this_thread = threading.local()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a version from disk; return None if it must be compiled.

        If there is no file yet, wait for the lock of the folder and look again, because another process may have
        compiled the version meanwhile. `releasing_the_lock` releases the lock.
        """
        loaded = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if loaded is not None:
            return loaded
        begin_compiling(self.cache_path)
        self._lock.acquire()
        self._this_thread.holds_lock = True
        return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def releasing_the_lock(self, compile_version: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Wrap the function that loads or compiles a version: release the lock after it, even after an interrupt."""

        @wraps(compile_version)
        def wrapped(sig: Any) -> Any:
            try:
                return compile_version(sig)
            finally:
                if getattr(self._this_thread, "holds_lock", False):
                    self._this_thread.holds_lock = False
                    self._lock.release()
                    end_compiling()

        return wrapped
