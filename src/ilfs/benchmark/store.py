"""Results in one SQLite file: a row a cell, written in one transaction with all its figures.

The file survives a power cut at any moment: what a transaction has written is there, and nothing else. Several
processes may work on it. Each claims a cell before it computes it; the claim of a process that is gone, or of one that
has not been heard of for a while, is void.
"""

import json
import os
import platform
import socket
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ilfs.benchmark.classifiers import LINEAR_SVM
from ilfs.benchmark.protocol import Measurement, Outcome, versions

FORMAT = 2  # 2: metrics are by classifier
PATIENCE = 60.0  # seconds to wait for another process that writes
SILENCE = 300.0  # seconds without a sign of life, after which a process on another machine counts as gone

TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY,
    identity TEXT NOT NULL,
    experiment TEXT NOT NULL,
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    split INTEGER NOT NULL,
    description TEXT NOT NULL,
    versions TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    reason TEXT NOT NULL,
    seconds REAL,
    seconds_judged REAL,
    peak_megabytes REAL,
    host TEXT NOT NULL,
    finished REAL NOT NULL,
    columns TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_identity ON cells (identity);
CREATE TABLE IF NOT EXISTS figures (
    key TEXT NOT NULL REFERENCES cells (key) ON DELETE CASCADE,
    size INTEGER NOT NULL,
    metric TEXT NOT NULL,
    class INTEGER NOT NULL,
    value REAL,
    classifier TEXT NOT NULL,
    PRIMARY KEY (key, classifier, size, metric, class)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    heard REAL NOT NULL
);
"""


@dataclass(frozen=True)
class Row:
    """A finished cell as it is in the file."""

    key: str
    identity: str
    experiment: str
    dataset: str
    method: str
    split: int
    status: str
    reason: str
    seconds: float | None
    seconds_judged: float | None
    peak_megabytes: float | None
    versions: str
    host: str
    columns: str

    @property
    def is_done(self) -> bool:
        """Whether it has figures."""
        return self.status == "done"

    @property
    def order(self) -> list[int]:
        """The first columns of the order, as many as were judged."""
        first: list[int] = json.loads(self.columns)
        return first


class Store:
    """The file.

    Parameters
    ----------
    path : path-like
        Made if it is not there; refused if it is something else than such a file.

    Examples
    --------
    >>> import tempfile
    >>> from ilfs.benchmark import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     len(store.rows())
    0
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder of the store {self.path} does not exist")
        try:
            self._connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        except sqlite3.Error as error:
            raise ValueError(f"the store {self.path} cannot be used: {error}") from None
        try:
            with self._in_words():
                self._open()
        except OSError as error:
            self.close()
            raise ValueError(str(error)) from None

    def _open(self) -> None:
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA synchronous = FULL")
        tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:  # else nothing is written, so that a file that may only be read can be
            self._make_tables()
        elif not {"about", "cells", "figures", "claims"} <= tables:
            raise sqlite3.DatabaseError("it is a database of something else")
        found = self._connection.execute("SELECT value FROM about WHERE name = 'format'").fetchone()
        if found != (str(FORMAT),):
            what = "no format" if found is None else f"format {found[0]}"
            raise sqlite3.DatabaseError(f"it has {what}, this version of ilfs reads format {FORMAT}")

    def _make_tables(self) -> None:
        with self._writing():
            for statement in TABLES.split(";\n"):
                self._connection.execute(statement)
            self._connection.execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (str(FORMAT),))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; nothing of it is there if it does not come to its end."""
        with self._in_words():
            self._roll_back()  # what Ctrl-C may have cut off between two lines
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        if self._connection.in_transaction:  # on a full disk SQLite has ended it already
            self._connection.execute("ROLLBACK")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Say which file it is that is full, locked, damaged or only to be read."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise OSError(f"the store {self.path} cannot be used: {error}") from None

    def _read(self, query: str, *values: str) -> list[Any]:
        with self._in_words():
            return self._connection.execute(query, values).fetchall()

    def statuses(self) -> dict[str, str]:
        """Of all finished cells, by key."""
        return dict(self._read("SELECT key, status FROM cells"))

    def claim(self, key: str, *, again: bool = False) -> bool:
        """Whether this process is to compute the cell: nobody has, and nobody is at it.

        Parameters
        ----------
        key : str
            Of the cell.
        again : bool
            Whether a cell that failed is to be computed once more.

        Returns
        -------
        bool
            If so, others are told that this process is at it.
        """
        with self._writing():
            found = self._connection.execute("SELECT status FROM cells WHERE key = ?", (key,)).fetchone()
            if found is not None and not (again and found[0] == "failed"):
                return False
            claim = self._connection.execute("SELECT host, process, heard FROM claims WHERE key = ?", (key,)).fetchone()
            if claim is not None and _is_alive(*claim):
                return False
            self._connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)",
                (key, socket.gethostname(), os.getpid(), time.time()),
            )
        return True

    def give_back(self) -> None:
        """Take back the claims of this process: it will not compute these cells now."""
        with self._writing():
            self._connection.execute(
                "DELETE FROM claims WHERE host = ? AND process = ?", (socket.gethostname(), os.getpid())
            )

    def sign_of_life(self) -> None:
        """Say that this process is still at its cells."""
        with self._writing():
            self._connection.execute(
                "UPDATE claims SET heard = ? WHERE host = ? AND process = ?",
                (time.time(), socket.gethostname(), os.getpid()),
            )

    def write(
        self,
        key: str,
        identity: str,
        description: dict[str, Any],
        outcome: Outcome | None,
        *,
        reason: str = "",
        peak_megabytes: float | None = None,
    ) -> None:
        """Write a finished cell, in place of a failed one if there is one; what is done stays.

        Parameters
        ----------
        key, identity, description
            Of the cell.
        outcome : Outcome or None
            What came of it, None if it failed.
        reason : str
            Why it failed.
        peak_megabytes : float, optional
            Memory that it took.
        """
        with self._writing():
            self._connection.execute("DELETE FROM cells WHERE key = ? AND status = 'failed'", (key,))
            written = self._connection.execute(
                "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key,
                    identity,
                    description["experiment"],
                    description["dataset"],
                    description["method"],
                    description["split"],
                    json.dumps(description, sort_keys=True),
                    json.dumps(versions(), sort_keys=True),
                    "failed" if outcome is None else "done",
                    reason,
                    None if outcome is None else outcome.seconds,
                    None if outcome is None else outcome.seconds_judged,
                    peak_megabytes,
                    json.dumps(host_facts(), sort_keys=True),
                    time.time(),
                    json.dumps([] if outcome is None else outcome.order),
                ),
            ).rowcount
            if written and outcome is not None:
                self._connection.executemany(
                    "INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?)",
                    [(key, *Measurement(*figure)) for figure in outcome.figures],
                )
            self._connection.execute("DELETE FROM claims WHERE key = ?", (key,))

    def rows(self, identities: Sequence[str] | None = None) -> list[Row]:
        """Finished cells; of several with the same identity the last that is done, or else the last.

        Parameters
        ----------
        identities : sequence of str, optional
            Of which cells; all by default.

        Returns
        -------
        list of Row
            In no particular order.
        """
        columns = ", ".join(Row.__dataclass_fields__)
        found: dict[str, Row] = {}
        wanted = None if identities is None else set(identities)
        for values in self._read(f"SELECT {columns} FROM cells ORDER BY status DESC, finished, key"):
            row = Row(**dict(zip(Row.__dataclass_fields__, values, strict=True)))
            if wanted is None or row.identity in wanted:
                found[row.identity] = row
        return list(found.values())

    def figures(self, metric: str, classifier: str = LINEAR_SVM) -> dict[tuple[str, int, int], float]:
        """One metric of all cells.

        Parameters
        ----------
        metric : str
            Which.
        classifier : str
            By which classifier.

        Returns
        -------
        dict
            By key, size and class.
        """
        query = "SELECT key, size, class, value FROM figures WHERE metric = ? AND classifier = ?"
        found = self._read(query, metric, classifier)
        return {(key, size, k): float("nan") if value is None else value for key, size, k, value in found}


def host_facts() -> dict[str, Any]:
    """Where a cell was computed."""
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def _is_alive(host: str, process: int, heard: float) -> bool:
    """Whether a process still runs, or on another machine has been heard of."""
    if host != socket.gethostname():
        return time.time() - heard < SILENCE
    if process == os.getpid():
        return False  # of an earlier run of this process, which is over
    if os.name == "posix":
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
    return time.time() - heard < SILENCE  # a number may be used again by another process
