"""Where files of data sets are looked for."""

import os
import sys
from pathlib import Path


def data_folder() -> Path | None:
    """The folder that the environment variable ``ILFS_DATA`` names."""
    named = os.environ.get("ILFS_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """The user's cache: ``ILFS_CACHE``, or ``ilfs`` in the folder that the operating system has for caches."""
    named = os.environ.get("ILFS_CACHE")
    return Path(named).expanduser() if named else _caches() / "ilfs"


def _caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".cache"  # the XDG rules ignore relative folders
