"""Results in one SQLite file: a row a job, written in one transaction with all its figures.

The file survives a power cut at any moment: what a transaction has written is there, and nothing else. Several
processes may work on it. Each claims a job before it computes it; the claim of a process that is gone, or of one that
has not been heard of for a while, is void.

Format 2 records with every row the code and the versions that it was computed with, with every metric the classifier,
and in the table ``about`` the suite of the last run. A file of format 1 is read as it is, and becomes one of format 2
when it is first written to.
"""

import hashlib
import json
import os
import platform
import socket
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ilfs.benchmark.evaluation.protocol import Measurement, Outcome
from ilfs.benchmark.provenance.describe import versions

FORMAT = 2
CHECKSUM_LENGTH = 16
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
    columns TEXT NOT NULL,
    provenance TEXT NOT NULL DEFAULT '{}',
    recompute INTEGER NOT NULL DEFAULT 0,
    checksum TEXT NOT NULL DEFAULT ''
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
OF_FORMAT_1 = ("linear_svm", "")  # classifiers of files that do not name them: that one, or none for times and memory
FROM_FORMAT_1 = (
    "ALTER TABLE cells ADD COLUMN provenance TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE cells ADD COLUMN recompute INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE cells ADD COLUMN checksum TEXT NOT NULL DEFAULT ''",  # none for what was there
    "ALTER TABLE figures RENAME TO figures_of_format_1",
    TABLES[TABLES.index("CREATE TABLE IF NOT EXISTS figures") : TABLES.index("CREATE TABLE IF NOT EXISTS claims")],
    "INSERT INTO figures SELECT key, size, metric, class, value, "
    "CASE WHEN metric IN ('seconds', 'peak_megabytes') THEN '' ELSE 'linear_svm' END FROM figures_of_format_1",
    "DROP TABLE figures_of_format_1",
)


@dataclass(frozen=True)
class Row:
    """A finished job as it is in the file."""

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
    provenance: str = "{}"
    checksum: str = ""

    @property
    def is_done(self) -> bool:
        """Whether it has figures."""
        return self.status == "done"

    @property
    def order(self) -> list[int]:
        """The first columns of the order, as many as were judged."""
        first: list[int] = json.loads(self.columns)
        return first

    def check(self) -> None:
        """Refuse a row that this library has not written."""
        order, numbers = json.loads(self.columns), (self.seconds, self.seconds_judged, self.peak_megabytes)
        if not isinstance(order, list) or not all(type(column) is int and column >= 0 for column in order):
            raise ValueError("the order must be a list of columns")
        if not isinstance(self.split, int) or not all(one is None or isinstance(one, int | float) for one in numbers):
            raise ValueError("split, seconds and memory must be numbers")


class Store:
    """The file.

    Parameters
    ----------
    path : path-like
        The file is made when the first row or claim is written; refused if it is something else than such a file.

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
        self._opened: sqlite3.Connection | None = None
        self._format = FORMAT
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder of the store {self.path} does not exist")
        if not self.path.exists():
            return
        try:
            with self._in_words():
                self._open()
        except OSError as error:
            self.close()
            raise ValueError(str(error)) from None

    def _open(self) -> None:
        """Connect and check the file. Nothing is written, so that a file that may only be read can be."""
        connection = self._opened = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return
        if not {"about", "cells", "figures", "claims"} <= tables:
            raise sqlite3.DatabaseError("it is a database of something else")
        self._format = self._read_format()
        (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"it is damaged: {' '.join(str(verdict).split())}")

    def _read_format(self) -> int:
        """Format of the file, if this version reads it."""
        found = self._connection.execute("SELECT value FROM about WHERE name = 'format'").fetchone()
        number = int(found[0]) if found is not None and str(found[0]).isdecimal() else 0
        if not 1 <= number <= FORMAT:
            has = f"format {found[0]}" if found is not None else "no format"
            remedy = ": update ilfs" if number > FORMAT else ""
            raise sqlite3.DatabaseError(f"it has {has}, this version of ilfs reads formats 1 to {FORMAT}{remedy}")
        return number

    @property
    def _connection(self) -> sqlite3.Connection:
        """The connection; the file is made if there is none."""
        if self._opened is None:
            self._open()
        assert self._opened is not None
        return self._opened

    def _prepare(self) -> None:
        """Make the tables, or those of an older format new, in the transaction that needs them."""
        if not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in TABLES.split(";\n"):
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO about VALUES ('format', ?)", (str(FORMAT),))
        elif self._format < FORMAT and self._read_format() < FORMAT:  # else another process was faster
            for statement in FROM_FORMAT_1:
                self._connection.execute(statement)
            self._connection.execute("UPDATE about SET value = ? WHERE name = 'format'", (str(FORMAT),))
        self._format = FORMAT

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; nothing of it is there if it does not come to its end."""
        is_new = not self.path.exists()
        before = self._format
        with self._in_words():
            self._roll_back()  # what Ctrl-C may have cut off between two lines
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._prepare()
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._format = before
                self._roll_back()
                if is_new:
                    self._remove_empty()
                raise

    def _remove_empty(self) -> None:
        """Remove the file if nothing could be written to it, as on a full disk."""
        self.close()
        self._opened = None
        with suppress(OSError):
            if not self.path.stat().st_size:
                self.path.unlink()

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
        except UnicodeDecodeError:
            raise OSError(f"the store {self.path} is damaged: it has text that is not UTF-8") from None
        except sqlite3.Error as error:
            reason = "".join(c if c.isprintable() else "?" for c in str(error))
            raise OSError(f"the store {self.path} cannot be used: {reason}") from None

    def _read(self, query: str, *values: str) -> list[Any]:
        if self._is_empty():
            return []
        with self._in_words():
            return self._connection.execute(query, values).fetchall()

    def _is_empty(self) -> bool:
        """Check if the file does not exist or has no tables, now and not only when it was opened."""
        if self._opened is None and not self.path.exists():
            return True
        with self._in_words():
            return not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

    def statuses(self) -> dict[str, str]:
        """Status of each finished job by its key, without jobs that are marked for recomputing."""
        which = "WHERE recompute = 0" if self._has_format_2() else ""
        return dict(self._read(f"SELECT key, status FROM cells {which}"))

    def _has_format_2(self) -> bool:
        return not self._is_empty() and self._format >= 2

    def last_run(self) -> dict[str, Any] | None:
        """Description of the last run, as stored by `remember`; None if there is none."""
        found = self._read("SELECT value FROM about WHERE name = 'last_run'")
        try:
            run = json.loads(found[0][0]) if found else None
        except (ValueError, TypeError, RecursionError):
            raise OSError(f"the store {self.path} is damaged: its last run is not JSON; name the suite") from None
        return run if isinstance(run, dict) else None

    def remember(self, last_run: dict[str, Any]) -> None:
        """Store the description of a run, so that tables can be made of it later.

        Parameters
        ----------
        last_run : dict
            Plain data.
        """
        if self.last_run() != last_run:  # a file that may only be read can be run, if nothing is missing
            with self._writing():
                self._connection.execute(
                    "INSERT OR REPLACE INTO about VALUES ('last_run', ?)", (json.dumps(last_run, sort_keys=True),)
                )

    def mark_for_recompute(self, keys: Iterable[str]) -> None:
        """Let finished jobs be computed again; their rows stay until the new ones are there.

        Parameters
        ----------
        keys : iterable of str
            Of the jobs; those without a row are no matter.
        """
        if not self._is_empty():
            with self._writing():
                self._connection.executemany("UPDATE cells SET recompute = 1 WHERE key = ?", [(key,) for key in keys])

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
            found = self._connection.execute("SELECT status, recompute FROM cells WHERE key = ?", (key,)).fetchone()
            if found is not None and not found[1] and not (again and found[0] == "failed"):
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
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a finished job, in place of a failed or marked one if there is one; what else is done stays.

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
        provenance : mapping, optional
            Code and versions that it was computed with.
        """
        order = json.dumps([] if outcome is None else outcome.order)
        figures = [] if outcome is None else [Measurement(*figure) for figure in outcome.figures]
        with self._writing():
            self._connection.execute("DELETE FROM cells WHERE key = ? AND (status = 'failed' OR recompute = 1)", (key,))
            written = self._connection.execute(
                "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
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
                    order,
                    json.dumps(dict(provenance or {}), sort_keys=True),
                    checksum_of(order, figures),
                ),
            ).rowcount
            if written:
                self._connection.executemany(
                    "INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?)", [(key, *figure) for figure in figures]
                )
            self._connection.execute("DELETE FROM claims WHERE key = ?", (key,))

    def rows(self, identities: Sequence[str] | None = None, keys: Iterable[str] = ()) -> list[Row]:
        """Finished jobs, one for each identity: the one with a wanted key, else the last that is done, else the last.

        Parameters
        ----------
        identities : sequence of str, optional
            Of which jobs; all by default.
        keys : iterable of str
            Which rows come before all others of their identity.

        Returns
        -------
        list of Row
            In no particular order.
        """
        names = list(Row.__dataclass_fields__)
        if not self._has_format_2():
            names = [name for name in names if name not in ("provenance", "checksum")]
        columns = ", ".join(names)
        found: dict[str, Row] = {}
        wanted, first = None if identities is None else set(identities), set(keys)
        for values in self._read(f"SELECT {columns} FROM cells ORDER BY status DESC, finished, key"):
            row = Row(**dict(zip(names, values, strict=True)))
            is_settled = row.identity in found and found[row.identity].key in first
            if (wanted is None or row.identity in wanted) and not is_settled:
                found[row.identity] = row
        figures = self._figures_by_key() if any(row.checksum for row in found.values()) else {}
        for row in found.values():
            self._check(row, figures.get(row.key, []))
        return list(found.values())

    def _figures_by_key(self) -> dict[str, list[Any]]:
        by_key: dict[str, list[Any]] = defaultdict(list)
        for key, *figure in self._read("SELECT key, size, metric, class, value, classifier FROM figures"):
            by_key[key].append(figure)
        return by_key

    def _check(self, row: Row, figures: list[Any]) -> None:
        try:
            row.check()
            if row.checksum not in ("", checksum_of(row.columns, figures)):
                raise ValueError("its values are not those that were written")
        except (ValueError, TypeError, RecursionError) as error:
            raise OSError(
                f"the store {self.path} is damaged in the row of {row.dataset}, {row.method}, split {row.split} "
                f"({error}): ilfs bench run --recompute replaces it"
            ) from None

    def figures(self, metric: str, classifier: str | None = None) -> dict[tuple[str, int, int], float]:
        """One metric of all jobs.

        Parameters
        ----------
        metric : str
            Which.
        classifier : str, optional
            By which classifier; by default the linear SVM, or none for times and memory.

        Returns
        -------
        dict
            By key, size and class.
        """
        wanted = OF_FORMAT_1[metric in ("seconds", "peak_megabytes")] if classifier is None else classifier
        query = "SELECT key, size, class, value FROM figures WHERE metric = ?"
        if self._has_format_2():
            found = self._read(f"{query} AND classifier = ?", metric, wanted)
        else:
            found = self._read(query, metric) if wanted in OF_FORMAT_1 else []
        if wrong := next((row for row in found if not isinstance(row[3], float | int | None)), None):
            raise OSError(
                f"the store {self.path} is damaged: a value of {metric} must be a number, got {wrong[3]!r}; "
                "ilfs bench run --recompute replaces it"
            )
        return {(key, size, k): float("nan") if value is None else value for key, size, k, value in found}


def checksum_of(order: str, figures: Iterable[Sequence[Any]]) -> str:
    """Checksum of the order and the values of a job, which SQLite itself does not protect.

    Parameters
    ----------
    order : str
        The first columns, as JSON.
    figures : iterable of sequences
        Size, metric, class, value and classifier of every value.

    Returns
    -------
    str
        The same for the values as they are computed and as SQLite returns them, which has no NaN.
    """
    values = sorted(
        [str(classifier), str(metric), size, k, None if value is None or value != value else float(value).hex()]
        for size, metric, k, value, classifier in figures
    )
    return hashlib.sha256(json.dumps([order, values]).encode()).hexdigest()[:CHECKSUM_LENGTH]


def host_facts() -> dict[str, Any]:
    """Where a job was computed."""
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
