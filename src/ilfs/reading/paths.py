"""Files of a path, a folder or a pattern, in the order of their names."""

import os
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ilfs.choices import PARQUET_ENDINGS
from ilfs.datasets.readers.compressed import PACKED_ENDINGS
from ilfs.sources.parquet import ParquetPart

NULL_KEY = "__HIVE_DEFAULT_PARTITION__"


def files_of(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that a path, a folder of Parquet files or a pattern stands for, in the order of their names.

    Parameters
    ----------
    path : str or path
        A file, a folder, or a pattern with ``*``, ``?``, ``[...]`` or ``**``.

    Returns
    -------
    list of Path
        At least one file.
    """
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"path must be text or a path, got {path!r}")
    one = Path(text)
    if one.is_dir():
        return parquet_files(one)
    if one.exists() or not has_magic(text):
        if not one.is_file():
            raise FileNotFoundError(f"there is no file {one.absolute()}")
        return [one]
    found = [Path(match) for match in sorted(glob(text, recursive=True))]
    files = [file for match in found for file in (parquet_files(match) if match.is_dir() else [match])]
    if not files:
        raise FileNotFoundError(f"path must match at least one file, got {text!r}, which matches none")
    return files


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders, except hidden ones."""
    found = sorted(file for file in folder.rglob("*") if file.suffix.lower() in PARQUET_ENDINGS and file.is_file())
    files = [file for file in found if not is_hidden(file.relative_to(folder))]
    if not files:
        raise FileNotFoundError(f"the folder {folder} must hold at least one Parquet file, got none")
    return files


def is_hidden(path: Path) -> bool:
    """Check if a name begins with ``_`` or a dot, as those of files that other programs write beside the data."""
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def parquet_parts(files: Sequence[Path]) -> list[ParquetPart]:
    """Return Parquet files with the values that the names of their folders state, such as ``year=2024``."""
    keys = [partition_keys(file) for file in files]
    numeric = {name for name in keys[0] if all(is_whole(one.get(name)) for one in keys)}
    return [
        ParquetPart(file, {name: key_scalar(value, name in numeric) for name, value in one.items()})
        for file, one in zip(files, keys, strict=True)
    ]


def partition_keys(file: Path) -> dict[str, str | None]:
    """Return names and values that the names of a file's folders state; None is a missing value."""
    pairs = [part.split("=", 1) for part in file.parts[:-1] if "=" in part]
    return {unquote(name): None if value == NULL_KEY else unquote(value) for name, value in pairs if name}


def is_whole(value: str | None) -> bool:
    """Check if a value is missing or a whole number."""
    return value is None or value.removeprefix("-").isdecimal()


def key_scalar(value: str | None, is_number: bool) -> Any:
    """Convert a value to a pyarrow scalar."""
    import pyarrow

    if is_number:
        return pyarrow.scalar(None if value is None else int(value), pyarrow.int64())
    return pyarrow.scalar(value, pyarrow.string())


def ending_of(file: Path) -> str:
    """Return the ending of a file's name, without that of a compressed file."""
    plain = file.with_suffix("") if file.suffix.lower() in PACKED_ENDINGS else file
    return plain.suffix.lower()
