"""Limits on the memory that reading a file may take, so that a small file cannot exhaust it."""

from dataclasses import dataclass
from pathlib import Path

from ilfs.parameters import check_integer, check_positive


class ReadError(ValueError):
    """Error whose message is complete: it names the file, so readers pass it on unchanged."""


@dataclass(frozen=True)
class ReadLimits:
    r"""Limits on the size of a table in a file.

    A compressed file, or one that merely declares the size of its table, may be small and still fill the memory. Each
    limit is checked before the memory is used. The defaults are far above the size of common tables; raise them for a
    file that you trust.

    Parameters
    ----------
    max_line_length : int, default=33554432
        Characters in a line of a text file (1.8 million columns of 18 characters).
    max_bytes : int, default=268435456
        Bytes that the table may take in memory.
    max_expansion : float, default=100.0
        A table may also take this many times the size of its file. The larger of the two limits applies, so that large
        files do not need another ``max_bytes``.
    max_columns : int, default=16777216
        Columns of a sparse table. A single large index in a small file is enough to declare a very wide table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.datasets import ReadLimits, read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "words.svm"
    ...     _ = path.write_text("0 20000000:1\n1 3:1\n")
    ...     read_table(path, limits=ReadLimits(max_columns=20_000_000))
    <Dataset words: 2 samples x 20000000 features; classes 0 1, 1 1>
    """

    max_line_length: int = 2**25
    max_bytes: int = 2**28
    max_expansion: float = 100.0
    max_columns: int = 2**24

    def __post_init__(self) -> None:
        for name in ("max_line_length", "max_bytes", "max_columns"):
            check_integer(name, getattr(self, name), 1)
        check_positive("max_expansion", self.max_expansion)

    def allowed_bytes(self, path: Path) -> int:
        """Return the number of bytes that the table of a file may take in memory.

        Parameters
        ----------
        path : Path
            The file.

        Returns
        -------
        int
            The larger of the two limits.
        """
        return max(self.max_bytes, int(self.max_expansion * path.stat().st_size))

    def check_bytes(self, n_bytes: int, path: Path) -> None:
        """Raise an error if a table takes more memory than allowed.

        Parameters
        ----------
        n_bytes : int
            Bytes of the table in memory.
        path : Path
            The file.
        """
        if n_bytes > self.allowed_bytes(path):
            raise self.too_many_bytes(n_bytes, path)

    def too_many_bytes(self, n_bytes: int, path: Path) -> ReadError:
        """Make the error for a table that takes more memory than allowed.

        Parameters
        ----------
        n_bytes : int
            Bytes of the table in memory.
        path : Path
            The file.

        Returns
        -------
        ReadError
            States the numbers and how to raise the limit.
        """
        return ReadError(
            f"the table in {path} ({path.stat().st_size:,} bytes) must take at most {self.allowed_bytes(path):,} bytes "
            f"in memory, got {n_bytes:,} or more; if you trust the file: limits=ReadLimits(max_bytes={2 * n_bytes})"
        )

    def check_columns(self, n_columns: int, path: Path) -> None:
        """Raise an error if a sparse table has more columns than allowed.

        Parameters
        ----------
        n_columns : int
            Columns of the table.
        path : Path
            The file.
        """
        if n_columns > self.max_columns:
            raise ReadError(
                f"the sparse table in {path} must have at most {self.max_columns:,} columns, got {n_columns:,}; "
                f"if you trust the file: limits=ReadLimits(max_columns={n_columns})"
            )

    def too_long_line(self, path: Path) -> ReadError:
        """Make the error for a line that is longer than allowed.

        Parameters
        ----------
        path : Path
            The file.

        Returns
        -------
        ReadError
            States the limit and how to raise it.
        """
        return ReadError(
            f"a line of {path} must have at most {self.max_line_length:,} characters, got more; "
            f"if you trust the file: limits=ReadLimits(max_line_length={16 * self.max_line_length})"
        )


DEFAULT_LIMITS = ReadLimits()
