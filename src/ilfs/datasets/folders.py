"""Folders in which files of data sets are searched for."""

import os
import sys
from pathlib import Path


def data_folder() -> Path | None:
    """Return the folder in the environment variable ``ILFS_DATA``, or None if it is not set."""
    named = os.environ.get("ILFS_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Return the cache folder: ``ILFS_CACHE`` if it is set, else ``ilfs`` in the system's folder for caches."""
    named = os.environ.get("ILFS_CACHE")
    return Path(named).expanduser() if named else _caches() / "ilfs"


def _caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".cache"  # the XDG rules ignore relative folders
