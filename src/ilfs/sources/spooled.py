"""Streams that can be read only once, written to a temporary file and read from there.

Anything with Arrow's PyCapsule stream interface may be such a stream: a ``RecordBatchReader`` of pyarrow, a relation of
DuckDB. The file has no name, or is deleted as soon as it is closed, so nothing is left behind, even if the process ends
by an error.
"""

import errno
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ilfs.importing import check_installed
from ilfs.sources.arrow import ArrowReader, arranged, one_line_errors
from ilfs.sources.roles import Request

SPOOLED_ROWS = 8192  # rows of a batch in the temporary file


class SpooledReader(ArrowReader):
    """Reader of a stream of record batches, which is written to a temporary file first.

    Parameters
    ----------
    stream : pyarrow.RecordBatchReader
        The stream; all of it is read.
    request : Request
        Target, weight and columns to drop.
    """

    def __init__(self, stream: Any, request: Request) -> None:
        # The columns are checked before the stream is read.
        ArrowReader.from_request(stream.schema, lambda *_: (), request)
        self._file = tempfile.TemporaryFile(prefix="ilfs-", suffix=".arrow")  # noqa: SIM115  closed by `close`
        try:
            n_rows = spool(stream, self._file, request.name)
        except BaseException:
            self.close()
            raise
        columns = (request.target, request.drop, request.weight)
        super().__init__(stream.schema, self._read, *columns, name=request.name, n_rows=n_rows)

    def _read(self, names: Sequence[str], max_rows: int) -> Iterator[Any]:
        import pyarrow

        yield from ipc_batches(pyarrow.PythonFile(self._file, mode="r"), names, max_rows)

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()


def spool(stream: Any, file: Any, name: str) -> int:
    """Write a stream of record batches to a file, and return the number of rows."""
    import pyarrow

    n_rows = 0
    sink = pyarrow.PythonFile(file, mode="w")
    with disk_errors(name), one_line_errors(f"{name} cannot be read to its end"):
        with pyarrow.ipc.new_file(sink, stream.schema) as writer:
            for batch in stream:
                n_rows += batch.num_rows
                for start in range(0, batch.num_rows, SPOOLED_ROWS):
                    writer.write_batch(batch.slice(start, SPOOLED_ROWS))
        file.flush()
    return n_rows


@contextmanager
def disk_errors(name: str) -> Iterator[None]:
    """Turn the error of a full disk into one sentence that says what to do."""
    try:
        yield
    except (ValueError, OSError) as error:
        if getattr(error, "errno", None) != errno.ENOSPC and "No space left" not in str(error):
            raise
        raise OSError(errno.ENOSPC, no_space(name)) from None


def no_space(name: str) -> str:
    """Format the message for a disk that is full."""
    return (
        f"{name} can be read only once, so it is written to a temporary file in {tempfile.gettempdir()}, which has no "
        "space left: let the environment variable TMPDIR name a folder with more space, or write the table to Parquet "
        "files and pass ilfs.read(folder)"
    )


def ipc_batches(file: Any, names: Sequence[str], max_rows: int) -> Iterator[Any]:
    """Read some columns of a file in Arrow's IPC format (Feather)."""
    from pyarrow import ipc

    with ipc.open_file(file) as everything:
        fields = [everything.schema.names.index(name) for name in names]
    options = ipc.IpcReadOptions(included_fields=sorted(fields)) if fields else ipc.IpcReadOptions()
    with ipc.open_file(file, options=options) as reader:
        for number in range(reader.num_record_batches):
            batch = arranged(reader.get_batch(number), names)
            for start in range(0, batch.num_rows, max_rows):
                yield batch.slice(start, max_rows)


def open_stream(X: Any, request: Request) -> SpooledReader:
    """Make a reader of anything with Arrow's PyCapsule stream interface."""
    check_installed("pyarrow", "parquet", f"reading {type(X).__name__}")
    import pyarrow

    return SpooledReader(pyarrow.RecordBatchReader.from_stream(X), request)


def open_scanner(X: Any, request: Request) -> SpooledReader:
    """Make a reader of a pyarrow scanner, which may be over a stream."""
    return SpooledReader(X.to_reader(), request)
