"""The svmlight (libsvm) format, which stays sparse."""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scipy import sparse

from ilfs.datasets.checks import MAX_EXACT_INTEGER, inexact_integer
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadError, ReadLimits
from ilfs.datasets.npz import reason_of
from ilfs.datasets.readers.assemble import Drop, Target, assemble, exact_number
from ilfs.datasets.readers.text import bounded_lines

LARGE_INTEGER = re.compile(rb":[+-]?+0*+([0-9]{16,}+)(?![.eE])")  # begins at colons, for linear time


def read_svmlight(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read an svmlight file; its features are counted from 0 or from 1, whichever fits."""
    from sklearn.datasets import load_svmlight_file

    if target is not None:
        raise ValueError(f"target must be None for {path}, whose rows begin with their class, got {target!r}")
    if drop:
        raise ValueError(f"drop must be empty for {path}, whose columns have no names, got {drop[0]!r}")
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            checked = CheckedLines(file, path, limits)
            X, _ = load_svmlight_file(checked)
    except ReadError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} must be a whole gzip file: {error}") from error
    except (ValueError, OverflowError) as error:
        what = f"{path} must be in the svmlight format (class index:value ...)"
        raise ValueError(f"{what}: {reason_of(error)}") from error
    return assemble(path, name, sparse.csr_array(X), checked.labels, limits)


class CheckedLines:
    """Lines for scikit-learn's reader, which converts classes to floats: here they are kept with all their digits.

    Parameters
    ----------
    file : binary file
        The open file.
    path : Path
        Its path, for messages.
    limits : ReadLimits
        Limits on the lines.
    """

    def __init__(self, file: BinaryIO | gzip.GzipFile, path: Path, limits: ReadLimits) -> None:
        self.file, self.path, self.limits = file, path, limits
        self.labels: list[str] = []
        self._known: dict[bytes, str] = {}

    def read(self, size: int = -1) -> bytes:
        """Bytes of the file; scikit-learn takes an object that has this method for a file."""
        return self.file.read(size)

    def __iter__(self) -> Iterator[bytes]:
        for line in bounded_lines(self.file, self.path, self.limits):
            content = line.partition(b"#")[0]
            first = content.split(maxsplit=1)[:1]
            if first:
                self.labels.append(self._label(first[0]))
                self._check_values(content)
            yield content

    def _label(self, word: bytes) -> str:
        if word not in self._known:
            label = word.decode("latin-1")
            if exact_number(label) is None:
                raise ReadError(
                    f"{self.path} must be in the svmlight format (class index:value ...): the class must be a number, "
                    f"got {label[:60]!r} in row {len(self.labels) + 1}"
                )
            self._known[word] = label
        return self._known[word]

    def _check_values(self, content: bytes) -> None:
        for match in LARGE_INTEGER.finditer(content):
            if len(match[1]) > 16 or int(match[1]) > MAX_EXACT_INTEGER:
                index = content[: match.start()].split()[-1].decode("latin-1")
                raise inexact_integer(f"column {index[:60]}", match[1].decode(), len(self.labels), self.path)
