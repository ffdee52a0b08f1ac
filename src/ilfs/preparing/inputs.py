"""The input: a file, files, standard input or a registered data set, and its format."""

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import BinaryIO

from ilfs.choices import DELIMITED_ENDINGS, INPUT_FORMATS, PARQUET_ENDINGS, STANDARD_INPUT
from ilfs.datasets.naming import suggestion
from ilfs.datasets.readers import ENDINGS
from ilfs.datasets.registry import REGISTRY
from ilfs.reading.paths import ending_of, files_of

OTHER_TABLES = (".feather", ".arrow", ".xlsx", ".xlsm", ".h5ad")
ENDING_OF_FORMAT = {name: f".{name}" for name in INPUT_FORMATS}
COMPRESSED_STARTS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz"}


@dataclass(frozen=True)
class Input:
    """An input that was found.

    Parameters
    ----------
    name : str
        Name in messages.
    path : str
        Path, folder or pattern of the files; empty for a registered data set.
    files : tuple of Path
        The files.
    ending : str
        Ending that says the format, in lower case.
    is_temporary : bool, default=False
        True if the file was written from standard input, and is to be deleted.
    """

    name: str
    path: str = ""
    files: tuple[Path, ...] = ()
    ending: str = ""
    is_temporary: bool = False

    @property
    def is_dataset(self) -> bool:
        """True if the input is a registered data set."""
        return not self.files

    @property
    def is_text(self) -> bool:
        """True if the files are delimited text."""
        return self.ending in DELIMITED_ENDINGS

    @property
    def is_parquet(self) -> bool:
        """True if the files are Parquet."""
        return self.ending in PARQUET_ENDINGS


def find_input(path: str | os.PathLike[str], input_format: str | None = None, stdin: BinaryIO | None = None) -> Input:
    """Find out what a path stands for.

    Parameters
    ----------
    path : str or path
        A file, a folder, a pattern, the name of a registered data set, or ``-`` for standard input.
    input_format : str, optional
        Name of the format, if the ending of the file does not say it.
    stdin : binary file, optional
        Standard input; that of the process by default.

    Returns
    -------
    Input
        The input.
    """
    text = os.fspath(path)
    if not text:
        raise ValueError("input must be a file, a folder, a pattern or the name of a data set, got an empty text")
    forced = forced_ending(input_format)
    if text == STANDARD_INPUT:
        return of_standard_input(forced or ".csv", stdin or sys.stdin.buffer)
    if is_dataset(text):
        return Input(text)
    if not Path(text).exists() and Path(text).name == text and not Path(text).suffix and not has_magic(text):
        raise FileNotFoundError(
            f"no file and no data set is called {text!r}{suggestion(text)}: ilfs datasets lists the data sets"
        )
    files = tuple(files_of(text))
    endings = sorted({forced or ending_of(file) for file in files})
    if len(endings) > 1:
        raise ValueError(f"all files of {text} must have the same format, got {' and '.join(endings)}")
    name = Path(text).name or text
    check_ending(endings[0], name)
    if len(files) > 1 and not (endings[0] in PARQUET_ENDINGS or endings[0] in DELIMITED_ENDINGS):
        raise ValueError(f"{text} must be one file in this format ({endings[0]}), got {len(files)} files")
    return Input(name, text, files, endings[0])


def is_dataset(text: str) -> bool:
    """Check if a text names a registered data set, and no file."""
    return not Path(text).exists() and text in REGISTRY


def forced_ending(input_format: str | None) -> str | None:
    """Return the ending of a format that was named."""
    if input_format is None:
        return None
    if input_format.lower().lstrip(".") not in INPUT_FORMATS:
        raise ValueError(f"input_format must be one of {', '.join(INPUT_FORMATS)}, got {input_format!r}")
    return ENDING_OF_FORMAT[input_format.lower().lstrip(".")]


def check_ending(ending: str, name: str) -> None:
    """Raise if a format is not supported."""
    if ending == ".xls":
        raise ValueError(f"{name} must be saved in a newer format: in Excel, save it as .xlsx or .csv")
    known = {*ENDING_OF_FORMAT.values(), *ENDINGS, *OTHER_TABLES, *PARQUET_ENDINGS}
    if ending not in known and not name.lower().endswith(ENDINGS):
        got = f"got {ending!r}" if ending else "got no ending"
        raise ValueError(
            f"the name of {name} must end in its format ({', '.join(INPUT_FORMATS)}), {got}: or state it, "
            "input_format='csv'"
        )


def of_standard_input(ending: str, stdin: BinaryIO) -> Input:
    """Copy standard input to a private file; an error on the way leaves nothing."""
    head = stdin.read(8)
    if not head:
        raise ValueError("standard input is empty")
    packed = next((one for start, one in COMPRESSED_STARTS.items() if head.startswith(start)), "")
    handle, name = tempfile.mkstemp(prefix="ilfs-", suffix=f"{ending}{packed}")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(head)
            shutil.copyfileobj(stdin, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Input("standard input", name, (Path(name),), ending, is_temporary=True)
