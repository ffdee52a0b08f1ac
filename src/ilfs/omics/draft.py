"""Changing a large file as a whole or not at all, without copying it."""

import os
from typing import IO, Protocol

PAGE = 4096  # bytes that are kept together; changes are spread over a file in pieces of about a hundred bytes


class Buffer(Protocol):
    """Memory that takes the bytes that are read, such as a bytearray."""

    def __len__(self) -> int: ...
    def __setitem__(self, place: slice, content: bytes) -> None: ...


class Draft:
    """The new content of a file. It is kept in memory until `commit` puts it into the file.

    It reads and writes as a binary file does, so that h5py can work on it. h5py itself would write to the file bit by
    bit: a full disk or a killed process could leave a file of many gigabytes that cannot be opened any more.

    Parameters
    ----------
    file : binary file
        Open for reading and writing, without a buffer.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.omics.draft import Draft
    >>> path = Path(tempfile.mkdtemp(), "words")
    >>> path.write_bytes(b"cells")
    5
    >>> with path.open("r+b", buffering=0) as file:
    ...     draft = Draft(file)
    ...     _ = draft.seek(4), draft.write(b" type")
    ...     print(path.read_bytes())
    ...     draft.commit()
    b'cells'
    >>> path.read_bytes()
    b'cell type'
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._old_size = self._size = file.seek(0, os.SEEK_END)
        self._kept = self._old_size  # bytes of the file that are part of the new content unless a page replaces them
        self._pages: dict[int, bytearray] = {}
        self._position = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a place and return it."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        """Return the place where the next byte is read or written."""
        return self._position

    def flush(self) -> None:
        """Do nothing: `commit` writes."""

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer with the bytes that follow, and return how many there were."""
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def read(self, count: int) -> bytes:
        """Return at most `count` of the bytes that follow."""
        start, end = self._position, min(self._position + count, self._size)
        content = bytearray(self._read_file(start, end - start))
        for number in self._pages_between(start, end):
            if (page := self._pages.get(number)) is not None:
                first, last = max(number * PAGE, start), min((number + 1) * PAGE, end)
                content[first - start : last - start] = page[first - number * PAGE : last - number * PAGE]
        self._position = max(start, end)
        return bytes(content)

    def write(self, content: bytes) -> int:
        """Write bytes at this place, and return how many there were."""
        source = bytes(content)
        start, end = self._position, self._position + len(source)
        for number in self._pages_between(start, end):
            page = self._page(number)
            first, last = max(number * PAGE, start), min((number + 1) * PAGE, end)
            page[first - number * PAGE : last - number * PAGE] = source[first - start : last - start]
        self._position = end
        self._size = max(self._size, end)
        return len(source)

    def truncate(self, size: int) -> int:
        """Cut the content, or lengthen it with zeros, and return its new size."""
        self._kept = min(self._kept, size)
        self._pages = {number: page for number, page in self._pages.items() if number * PAGE < size}
        if (page := self._pages.get(size // PAGE)) is not None:
            page[size % PAGE :] = bytes(PAGE - size % PAGE)
        self._size = size
        return size

    def commit(self) -> None:
        """Put the content into the file; after an error or Ctrl-C the file is as it was.

        What lies behind the old end is written first. Programs that read the file do not see it yet, and a full disk is
        noticed here. The few changes before the old end come last.
        """
        changes = self._changes()
        try:
            self._lengthen()
            self._write_pieces({start: new for start, (_, new) in changes.items()})
        except BaseException:
            self._write_pieces({start: old for start, (old, _) in changes.items()})
            self._file.truncate(self._old_size)
            raise
        self._file.truncate(self._size)

    def _lengthen(self) -> None:
        """Write what lies behind the old end."""
        beyond = (number for number in sorted(self._pages) if (number + 1) * PAGE > self._old_size)
        pieces = {}
        for number in beyond:
            start = max(number * PAGE, self._old_size)
            pieces[start] = bytes(self._pages[number][start - number * PAGE : self._size - number * PAGE])
        self._write_pieces(pieces)

    def _changes(self) -> dict[int, tuple[bytes, bytes]]:
        """Return the old and the new bytes of the pages that differ before the old end, by their place."""
        changes = {}
        for number in sorted(self._pages):
            start = number * PAGE
            old = self._file_bytes(start, min(PAGE, self._old_size - start))
            new = bytes(self._pages[number][: len(old)])
            if new != old:
                changes[start] = old, new
        return changes

    def _write_pieces(self, pieces: dict[int, bytes]) -> None:
        """Write bytes to their places, and wait until they are on the disk."""
        for start, content in pieces.items():
            self._file.seek(start)
            written = 0
            while written < len(content):  # a disk that is nearly full takes a part
                written += self._file.write(content[written:])
        self._file.flush()
        os.fsync(self._file.fileno())

    def _page(self, number: int) -> bytearray:
        """Return a page that can be written to."""
        if number not in self._pages:
            self._pages[number] = bytearray(self._read_file(number * PAGE, PAGE))
        return self._pages[number]

    def _read_file(self, start: int, count: int) -> bytes:
        """Read from the part of the file that is kept; zeros follow it."""
        content = self._file_bytes(start, min(count, self._kept - start))
        return content + bytes(max(count, 0) - len(content))

    def _file_bytes(self, start: int, count: int) -> bytes:
        """Read from the file; nothing if the count is negative."""
        if count <= 0:
            return b""
        self._file.seek(start)
        return self._file.read(count)

    @staticmethod
    def _pages_between(start: int, end: int) -> range:
        """Return the numbers of the pages that hold bytes of a range."""
        return range(start // PAGE, -(-end // PAGE))
