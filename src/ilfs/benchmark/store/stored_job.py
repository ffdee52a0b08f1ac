"""A finished job as a row of the result file."""

import hashlib
import json
import os
import platform
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

CHECKSUM_LENGTH = 16  # hexadecimal digits


@dataclass(frozen=True)
class StoredJob:
    """A finished job as it is in the file; versions, host, columns and provenance are JSON text."""

    key: str
    identity: str
    experiment: str
    dataset: str
    method: str
    split: int
    status: str
    reason: str
    seconds: float | None
    seconds_evaluated: float | None
    peak_megabytes: float | None
    versions: str
    host: str
    columns: str
    provenance: str = "{}"
    checksum: str = ""

    @property
    def is_done(self) -> bool:
        """True if the job has metrics, False if it failed."""
        return self.status == "done"

    @property
    def order(self) -> list[int]:
        """The best columns, as many as were evaluated."""
        first: list[int] = json.loads(self.columns)
        return first

    def check(self, measurements: Iterable[Sequence[Any]]) -> None:
        """Raise a ValueError if the row is not as this library writes it.

        Parameters
        ----------
        measurements : iterable of sequences
            Size, metric, class, value and classifier of every value of the job.
        """
        order, numbers = json.loads(self.columns), (self.seconds, self.seconds_evaluated, self.peak_megabytes)
        if not isinstance(order, list) or not all(type(column) is int and column >= 0 for column in order):
            raise ValueError("the order must be a list of columns")
        if not isinstance(self.split, int) or not all(one is None or isinstance(one, int | float) for one in numbers):
            raise ValueError("split, seconds and memory must be numbers")
        if self.checksum not in ("", row_checksum(self.columns, measurements)):
            raise ValueError("its values are not those that were written")


def row_checksum(order: str, measurements: Iterable[Sequence[Any]]) -> str:
    """Checksum of the order and the values of a job, which SQLite itself does not protect.

    Parameters
    ----------
    order : str
        The best columns, as JSON.
    measurements : iterable of sequences
        Size, metric, class, value and classifier of every value.

    Returns
    -------
    str
        The same for values as they are computed and as SQLite returns them: SQLite stores NaN as NULL.
    """
    values = sorted(
        [str(classifier), str(metric), size, k, None if value is None or value != value else float(value).hex()]
        for size, metric, k, value, classifier in measurements
    )
    return hashlib.sha256(json.dumps([order, values]).encode()).hexdigest()[:CHECKSUM_LENGTH]


def host_facts() -> dict[str, Any]:
    """Describe the computer and the Python that computed a job."""
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
