"""Reader of the svmlight (libsvm) format, which gives a sparse matrix."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from scipy import sparse

from ilfs.datasets.checks import MAX_EXACT_INTEGER, inexact_integer
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadError, ReadLimits
from ilfs.datasets.readers.assemble import Drop, Target, assemble, exact_number
from ilfs.datasets.readers.compressed import open_bytes
from ilfs.datasets.readers.text import bounded_lines
from ilfs.npz import reason_of

LARGE_INTEGER = re.compile(rb":[+-]?+0*+([0-9]{16,}+)(?![.eE])")  # a match starts at a colon, so the time is linear


def read_svmlight(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read an svmlight file, whose features are numbered from 0 if an index 0 occurs, else from 1."""
    from sklearn.datasets import load_svmlight_file

    if target is not None:
        raise ValueError(f"target must be None for {path}, as svmlight rows start with their class, got {target!r}")
    if drop:
        raise ValueError(f"drop must be empty for {path}, as svmlight columns have no names, got {drop[0]!r}")
    with open_bytes(path) as file:
        try:
            checked = CheckedLines(file, path, limits)
            X, _ = load_svmlight_file(checked)
        except ReadError:
            raise
        except (ValueError, OverflowError) as error:
            what = f"{path} must be in the svmlight format (class index:value ...)"
            raise ValueError(f"{what}: {reason_of(error)}") from error
    return assemble(path, name, sparse.csr_array(X), checked.labels, limits)


class CheckedLines:
    """Lines for scikit-learn's reader, with the classes stored separately.

    scikit-learn converts classes to floats, which may merge large integers; ``labels`` keeps them as text. ``n_rows``
    is the number of rows so far.

    Parameters
    ----------
    file : binary file
        The open file.
    path : Path
        Its path, for messages.
    limits : ReadLimits
        Limits on the lines.
    """

    def __init__(self, file: IO[bytes], path: Path, limits: ReadLimits) -> None:
        self.file, self.path, self.limits = file, path, limits
        self.labels: list[str] = []
        self.n_rows = 0
        self._known: dict[bytes, str] = {}

    def read(self, size: int = -1) -> bytes:
        """Read bytes; scikit-learn recognises a file by this method."""
        return self.file.read(size)

    def __iter__(self) -> Iterator[bytes]:
        for line in bounded_lines(self.file, self.path, self.limits):
            content = line.partition(b"#")[0]
            first = content.split(maxsplit=1)[:1]
            if first:
                self.n_rows += 1
                self.labels.append(self._label(first[0]))
                self._check_values(content)
            yield content

    def _label(self, word: bytes) -> str:
        if word not in self._known:
            label = word.decode("latin-1")
            if exact_number(label) is None:
                raise ReadError(
                    f"{self.path} must be in the svmlight format (class index:value ...): the class must be a number, "
                    f"got {label[:60]!r} in row {self.n_rows}"
                )
            self._known[word] = label
        return self._known[word]

    def _check_values(self, content: bytes) -> None:
        for match in LARGE_INTEGER.finditer(content):
            if len(match[1]) > 16 or int(match[1]) > MAX_EXACT_INTEGER:
                index = content[: match.start()].split()[-1].decode("latin-1")
                raise inexact_integer(f"column {index[:60]}", match[1].decode(), self.n_rows, self.path)
